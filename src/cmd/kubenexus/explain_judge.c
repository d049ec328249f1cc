#include "cmd/kubenexus/explain_judge.h"

#include <stdlib.h>

#include "core/engine/engine.h"
#include "core/model/crew.h"

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
    return kind_is_crew(kind) || kind == KIND_JOB || kind == KIND_WORKLOAD ? 2 : kind == KIND_POD;
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
        .profiles = c->profiles,
        .n_profiles = c->n_profiles,
        .extenders = c->extenders,
        .n_extenders = is_at_work ? 0 : c->n_extenders,
        .max_unsettled = UINT32_MAX,
    });
    tell(k, now_ms, j->set);
    return k;
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
        v->rule = STR("Evicts");
        v->headline = arena_printf(
            &out->mem, "starts when %u pod%s on its nodes %s gone%s: " STR_FMT, e->n_victims,
            e->n_victims == 1 ? "" : "s", e->n_victims == 1 ? "is" : "are",
            e->violations ? ", against a disruption budget" : "", STR_ARG(e->message));
    } else if (is_alone && p && p->best && p->best->n_victims && out->f.evicted) {
        v->rule = STR("Evicts");
        v->headline = arena_printf(
            &out->mem,
            "starts when %u pod%s of lower priority on " STR_FMT " %s gone: " STR_FMT "%s%s",
            p->best->n_victims, p->best->n_victims == 1 ? "" : "s", STR_ARG(p->best->node),
            p->best->n_victims == 1 ? "is" : "are", STR_ARG(p->best->victims[0]),
            p->best->n_victims > 1 ? " and more" : "",
            p->best->violations ? ", against a disruption budget" : "");
    } else if (e && str_equal(v->rule, STR("Room"))) {
        add_hint(out, e->hint);
    }
    v->headline = str_part(v->headline, 0, MIN(v->headline.n, (size_t)CAUSE_BYTES_MOST));
}

static void say_unserved(const struct judging *j, struct judgement *out)
{
    struct explained_verdict *v = &out->x.verdict;
    v->starts = false;
    v->rule = STR("SchedulerName");
    v->value = j->scheduler;
    v->headline = arena_printf(
        &out->mem, "no profile serves schedulerName " STR_FMT ": none of ours will start it",
        STR_ARG(v->value));
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
