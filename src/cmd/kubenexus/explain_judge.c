#include "cmd/kubenexus/explain_judge.h"

#include <stdlib.h>

#include "core/base/likeness.h"
#include "core/engine/engine.h"
#include "core/model/owner.h"

int64_t explain_latest_ms(const struct objects *set)
{
    int64_t latest = MAX(set->dumped_ms, (int64_t)0);
    vec_each(&set->all, o) {
        latest = MAX(latest, o->meta->created_ms);
        if (o->kind == KIND_POD)
            latest = MAX(latest, o->pod->status.start_ms);
    }
    return latest;
}

/* --- telling an engine --- */

/* Owners and PodGroups are heard once the pods that name them are known; pods come in the order in
 * which they were made, whatever the order of the files. */
static uint32_t turn_of(enum kind kind)
{
    return kind_is_owner(kind) || kind == KIND_JOB || kind == KIND_WORKLOAD ? 2 : kind == KIND_POD;
}

static int by_turn(const void *a, const void *b)
{
    const struct object *x = *(const struct object *const *)a;
    const struct object *y = *(const struct object *const *)b;
    uint32_t x_turn = turn_of(x->kind), y_turn = turn_of(y->kind);
    if (x_turn != y_turn)
        return x_turn < y_turn ? -1 : 1;
    if (x_turn == 1 && x->meta->created_ms != y->meta->created_ms)
        return x->meta->created_ms < y->meta->created_ms ? -1 : 1;
    int namespaces = x_turn == 1 ? str_compare(x->meta->namespace, y->meta->namespace) : 0;
    int names = x_turn == 1 ? str_compare(x->meta->name, y->meta->name) : 0;
    return namespaces ? namespaces : names ? names : (x > y) - (x < y);
}

static void tell(struct engine *k, int64_t now_ms, const struct objects *set)
{
    VEC(const struct object *) order = {0};
    vec_each(&set->all, o)
        vec_push(&order, o);
    if (order.n > 1)
        qsort(order.at, order.n, sizeof(*order.at), by_turn);
    vec_each(&order, o)
        engine_apply(k, now_ms, &(struct change){CHANGE_PUT, **o});
    vec_done(&order);
}

/* `is_at_work`: an engine that decides, but without extenders, which are servers elsewhere; else
 * one that is only asked. */
static struct engine *engine_for(const struct judging *j, int64_t now_ms, bool is_at_work)
{
    const struct scheduler_config *c = j->config;
    struct engine *k = engine_new(&(struct engine_config){
        .seed = j->seed,
        .keeps_pins = !is_at_work,
        .names_others = true,
        .rules = {.profiles = c->profiles,
                  .n_profiles = c->n_profiles,
                  .extenders = c->extenders,
                  .n_extenders = is_at_work ? 0 : c->n_extenders},
        .max_unsettled = UINT32_MAX,
    });
    tell(k, now_ms, j->set);
    return k;
}

struct engine *explain_engine(const struct objects *set, const struct scheduler_config *config,
                              int64_t now_ms)
{
    return engine_for(&(struct judging){.set = set, .config = config}, now_ms, true);
}

void explain_line_up(struct engine *k, int64_t now_ms)
{
    struct effects effects = {0};
    while (engine_stats(k).active && engine_step(k, now_ms, &effects))
        effects_clear(&effects);
    effects_done(&effects);
}

/* --- the verdict --- */

static void take_sentence(struct judgement *out, struct str text)
{
    size_t end = 0;
    while (end < text.n && !(text.p[end] == '.' && (end + 1 == text.n || text.p[end + 1] == ' ')))
        end++;
    out->x.verdict.headline = str_part(text, 0, MIN(end, (size_t)CAUSE_BYTES_MOST));
}

/* What happens to the pod counts for more than what was found out about it. */
static void say_what_happens(struct judgement *out)
{
    struct explained_verdict *v = &out->x.verdict;
    if (out->f.is_placed) {
        v->starts = true;
        v->node = out->f.node;
        v->rule = STR("Starts");
    } else if (v->starts || !v->headline.n) {
        bool is_told = out->f.message.n;
        v->starts = false;
        v->node = (struct str){0};
        v->rule = STR("Turn");
        take_sentence(out, is_told ? out->f.message : STR("it has no turn"));
        out->x.line = is_told ? out->f.message : out->x.line;
    }
    if (v->starts)
        v->headline = arena_printf(&out->mem, "starts now on " STR_FMT, STR_ARG(v->node));
}

static void add_hint(struct judgement *out, struct str hint)
{
    struct explained_verdict *v = &out->x.verdict;
    if (hint.n && v->headline.n + hint.n <= CAUSE_BYTES_MOST)
        v->headline = arena_printf(&out->mem, STR_FMT STR_FMT, STR_ARG(v->headline), STR_ARG(hint));
}

/* What the pod is told, and what a reader of the files may know beside it. */
static void say_way(struct judgement *out, uint32_t victims, struct str node, struct str budget,
                    struct str names)
{
    AUTO(buf) text = {0};
    engine_word_way(victims, node, &text);
    if (budget.n)
        buf_printf(&text, ", against PodDisruptionBudget " STR_FMT, STR_ARG(budget));
    buf_printf(&text, ": " STR_FMT, STR_ARG(names));
    out->x.verdict.rule = STR("Evicts");
    out->x.verdict.headline = arena_str(&out->mem, buf_str(&text));
}

/* Which units it waits for, if that is known: the plan is the one that --preempt shows. */
static void say_who_must_go(struct judgement *out)
{
    struct explained_verdict *v = &out->x.verdict;
    const struct explained_eviction *e = out->x.eviction;
    const struct explained_preemption *p = out->x.preemption;
    bool is_alone = !out->x.gang;
    if (v->starts)
        return;
    if (e && e->is_found && e->n_victims && out->f.evicted) {
        struct str node = is_alone ? e->places[0].node : STR("its nodes");
        say_way(out, e->n_victims, node, e->budget, e->message);
    } else if (is_alone && p && p->best && p->best->n_victims && out->f.evicted) {
        struct str names = p->best->n_victims == 1 ? p->best->victims[0]
                                                   : arena_printf(&out->mem, STR_FMT " and more",
                                                                  STR_ARG(p->best->victims[0]));
        say_way(out, p->best->n_victims, p->best->node, p->best->budget, names);
    } else if (e && str_equal(v->rule, STR("Room"))) {
        add_hint(out, e->hint);
    }
    v->headline = str_part(v->headline, 0, MIN(v->headline.n, (size_t)CAUSE_BYTES_MOST));
}

/* The served name that looks most like the one that is asked for; of equals the first by name. */
static struct str nearest_served(const struct scheduler_config *c, struct str name)
{
    static const struct str built_in[] = {STR("default-scheduler"), STR("kubenexus-scheduler")};
    struct str best = {0};
    for (uint32_t i = 0; i < (c->n_profiles ? c->n_profiles : LEN(built_in)); i++) {
        struct str served = c->n_profiles ? c->profiles[i].name : built_in[i];
        uint32_t distance = likeness_distance(served, name);
        uint32_t least = best.n ? likeness_distance(best, name) : UINT32_MAX;
        if (likeness_is_near(served, name) &&
            (distance < least || (distance == least && str_compare(served, best) < 0)))
            best = served;
    }
    return best;
}

static void say_unserved(const struct judging *j, struct judgement *out)
{
    struct explained_verdict *v = &out->x.verdict;
    AUTO(buf) text = {0};
    v->starts = false;
    v->rule = STR("SchedulerName");
    v->value = j->scheduler;
    v->nearest = nearest_served(j->config, v->value);
    buf_printf(&text, "no profile serves schedulerName " STR_FMT, STR_ARG(v->value));
    if (v->nearest.n)
        buf_printf(&text, " (nearest: " STR_FMT ")", STR_ARG(v->nearest));
    buf_add(&text, STR(": none of ours will start it"));
    v->headline = arena_str(&out->mem, buf_str(&text));
}

/* --- the whole --- */

static void look(const struct judging *j, struct engine *k, int64_t now_ms, struct explanation *x)
{
    const struct meta *meta = &j->target->meta;
    bool is_there = engine_explain(k, meta->namespace, meta->name, x);
    assert(is_there);
    (void)engine_explain_eviction(k, now_ms, meta->namespace, meta->name, x);
}

/* Nodes as they are before anybody has a turn, with the verdict on what happens. */
static void look_plainly(const struct judging *j, int64_t now_ms, struct explanation *x)
{
    struct explained_verdict verdict = x->verdict;
    struct explained_eviction *eviction = x->eviction;
    struct explained_gang *gang = x->gang;
    struct arena mem = x->mem; /* what these point at goes on living */
    struct engine *k = engine_for(j, now_ms, false);
    *x = (struct explanation){.mem = mem};
    look(j, k, now_ms, x);
    x->verdict = verdict;
    x->eviction = eviction;
    x->gang = gang;
    engine_free(k);
}

void explain_judge(const struct judging *j, struct judgement *out)
{
    const struct meta *meta = &j->target->meta;
    int64_t now_ms = explain_latest_ms(j->set);
    struct engine *k = engine_for(j, now_ms, true);
    engine_foresee(k, now_ms, meta->namespace, meta->name, &out->mem, &out->f);
    engine_free(k);
    k = engine_for(j, now_ms, false);
    if (out->f.ahead)
        engine_forward(k, now_ms, out->f.steps);
    look(j, k, now_ms, &out->x);
    engine_free(k);
    if (j->is_plain && out->f.ahead)
        look_plainly(j, now_ms, &out->x);
    if (j->is_unserved)
        say_unserved(j, out);
    else
        say_what_happens(out);
    say_who_must_go(out);
}

void judgement_done(struct judgement *j)
{
    explanation_done(&j->x);
    arena_done(&j->mem);
}
