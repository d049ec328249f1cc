/* Between a verdict and its placement: extenders are asked, while others are decided. The unit is
 * in flight meanwhile. Filters are asked one after the other, each about the nodes that the one
 * before it left; then scores, all at once. What is left is looked at again, as the cluster is by
 * then: a node that does not fit any more is out, and if none is left the pod is decided anew.
 *
 * A pod keeps no room while it is asked about. So two pods may be told of the same room, and the
 * second of them asks again; upstream, which waits for each answer, has that only with bindings. */

#include "core/engine/extender/extender.h"
#include "core/framework/row.h"

/* Reasons are kept for ever, and extenders may say whatever they like. */
enum { REASONS_MOST = 4096, REASON_BYTES_MOST = 1024 };

struct extender_call *engine_find_extender_call(struct engine *k, pod_id pod)
{
    vec_each(&k->extender->all, s)
        if (s->pod == pod.i)
            return s;
    return NULL;
}

/* In flight for its sake; ID_NONE: none is. */
static uint32_t unit_of(const struct engine *k, const struct extender_call *s)
{
    return s->group == ID_NONE ? s->pod : engine_leader_of(k, s->group);
}

static bool is_in_flight(const struct engine *k, const struct extender_call *s)
{
    uint32_t unit = unit_of(k, s);
    return unit != ID_NONE && queue_where(k->queue, unit) == QUEUE_IN_FLIGHT;
}

bool engine_is_asking_about(const struct engine *k, uint32_t group)
{
    return group < k->extender->open.n && k->extender->open.at[group] > 0;
}

/* Are all questions about its unit answered? */
static bool is_answered(const struct engine *k, const struct extender_call *s)
{
    return s->open.n == 0 && !engine_is_asking_about(k, s->group);
}

static void drop_nodes(struct engine *k, struct extender_call *s)
{
    vec_each(&s->nodes, node)
        intern_drop(&k->cluster->names.text, node->node);
    vec_clear(&s->nodes);
}

void engine_drop_offers(struct engine *k, struct extender_call *s)
{
    vec_each(&s->offers, offer)
        intern_drop(&k->cluster->names.text, offer->node);
    vec_clear(&s->offers);
}

static void release(struct extender_call *s)
{
    vec_done(&s->nodes);
    vec_done(&s->open);
    vec_done(&s->refused_for_now);
    vec_done(&s->offers);
    why_done(&s->why);
    mem_free(s->error);
    arena_done(&s->mem);
}

static void forget(struct engine *k, struct extender_call *s)
{
    if (s->group != ID_NONE && s->open.n)
        k->extender->open.at[s->group] -= s->open.n;
    drop_nodes(k, s);
    engine_drop_offers(k, s);
    vec_each(&s->refused_for_now, node)
        intern_drop(&k->cluster->names.text, *node);
    release(s);
    vec_remove(&k->extender->all, (uint32_t)(s - k->extender->all.at));
}

void engine_forget_extender_call(struct engine *k, pod_id pod)
{
    struct extender_call *s = k->extender->all.n ? engine_find_extender_call(k, pod) : NULL;
    if (s)
        forget(k, s);
}

void engine_stop_extender_call(struct engine *k, pod_id pod)
{
    struct extender_call *s = k->extender->all.n ? engine_find_extender_call(k, pod) : NULL;
    uint32_t group = s ? s->group : ID_NONE;
    if (s)
        forget(k, s);
    if (group == ID_NONE)
        return;
    vec_each(&k->extender->all, other)
        if (other->group == group)
            return;
    uint32_t unit = engine_leader_of(k, group); /* nobody would come back to it */
    if (unit != ID_NONE && queue_where(k->queue, unit) == QUEUE_IN_FLIGHT)
        queue_fail(k->queue, k->now_ms, unit);
}

void engine_recall_all(struct engine *k)
{
    while (k->extender->all.n) {
        struct extender_call *s = &vec_last(&k->extender->all);
        if (is_in_flight(k, s))
            queue_hold(k->queue, k->now_ms, unit_of(k, s), EXTENDER_BIT);
        forget(k, s);
    }
}

void engine_hold_answers(struct engine *k, bool holds)
{
    void (*change)(struct intern *, uint32_t) = holds ? intern_hold : intern_drop;
    struct intern *reasons = &k->classes.reasons.table;
    vec_each(&k->extender->all, s) {
        change(reasons, s->silent);
        vec_each(&s->why.lines, line)
            change(reasons, line->reason);
    }
}

struct extender_calls *extender_calls_new(void)
{
    return mem_alloc(sizeof(struct extender_calls));
}

void engine_extender_calls_done(struct engine *k)
{
    vec_each(&k->extender->all, s)
        release(s);
    vec_done(&k->extender->all);
    vec_done(&k->extender->open);
    why_done(&k->extender->answered_why);
    mem_free(k->extender);
}

uint32_t engine_unit_of_extender_call(const struct engine *k, uint32_t i)
{
    return unit_of(k, &k->extender->all.at[i]);
}

void engine_forget_reasons(struct engine *k)
{
    k->extender->n_reasons = 0;
}

uint32_t engine_n_extender_calls(const struct engine *k)
{
    return k->extender->all.n;
}

bool engine_has_answered(const struct engine *k)
{
    vec_each(&k->extender->all, s)
        if (is_answered(k, s))
            return true;
    return false;
}

bool engine_next_answered(struct engine *k, uint32_t *unit)
{
    for (uint32_t i = 0; i < k->extender->all.n;) {
        struct extender_call *s = &k->extender->all.at[i];
        *unit = unit_of(k, s);
        if (!is_in_flight(k, s))
            forget(k, s);
        else if (is_answered(k, s))
            return true;
        else
            i++;
    }
    return false;
}

/* --- asking --- */

static const struct extender *extender_at(const struct engine *k, uint32_t i)
{
    return &k->config.rules.extenders[i];
}

struct extender_ask *engine_put_question(struct engine *k, struct extender_call *s,
                                         uint32_t extender, enum extender_verb verb,
                                         struct effects *out)
{
    struct extender_ask *about = arena_alloc(&out->mem, sizeof(*about));
    about->extender = extender;
    about->verb = verb;
    struct effect *effect = engine_emit(k, (pod_id){s->pod}, EFFECT_ASK, out);
    effect->ask = about;
    vec_push(&s->open, (struct question){effect->id, extender});
    if (s->group != ID_NONE && s->group >= k->extender->open.n)
        vec_resize(&k->extender->open, s->group + 1);
    if (s->group != ID_NONE)
        k->extender->open.at[s->group]++;
    return about;
}

static void ask(struct engine *k, struct extender_call *s, uint32_t extender,
                enum extender_verb verb, struct effects *out)
{
    struct extender_ask *about = engine_put_question(k, s, extender, verb, out);
    struct str *names = arena_array(&out->mem, struct str, s->nodes.n);
    for (uint32_t i = 0; i < s->nodes.n; i++)
        names[i] = names_text(&k->cluster->names, s->nodes.at[i].node);
    about->nodes.at = names;
    about->nodes.n = s->nodes.n;
}

/* Asks the next filter, from `turn` on; false if there is none. */
static bool ask_filter(struct engine *k, struct extender_call *s, const struct class *class,
                       struct effects *out)
{
    for (; s->turn < k->config.rules.n_extenders; s->turn++)
        if (class->asks >> s->turn & 1 && extender_at(k, s->turn)->verbs[EXTENDER_FILTER].n) {
            ask(k, s, s->turn++, EXTENDER_FILTER, out);
            return true;
        }
    return false;
}

/* False if nobody is there to be asked. */
static bool ask_scores(struct engine *k, struct extender_call *s, const struct class *class,
                       struct effects *out)
{
    s->phase = ASKS_SCORES;
    for (uint32_t i = 0; i < k->config.rules.n_extenders; i++)
        if (class->asks >> i & 1 && extender_at(k, i)->verbs[EXTENDER_PRIORITIZE].n)
            ask(k, s, i, EXTENDER_PRIORITIZE, out);
    return s->open.n > 0;
}

/* --- beginning --- */

static void offer(struct engine *k, struct extender_call *s, uint32_t node)
{
    sym name = k->cluster->nodes.name[node];
    intern_hold(&k->cluster->names.text, name);
    vec_push(&s->nodes, (struct candidate){name, 0});
}

/* A node that is left out without a word has upstream's status of nodes that nobody judged. */
static reason_id silent_reason(struct engine *k, const struct class *class)
{
    if (!class->restricted_by)
        return reasons_get(&k->classes.reasons, EXTENDER_PLUGIN, CODE_UNRESOLVABLE, NULL, 0);
    const struct reason *absent = reasons_at(&k->classes.reasons, class->absent);
    struct str text = absent->texts[0];
    return reasons_get(&k->classes.reasons, EXTENDER_PLUGIN, CODE_UNRESOLVABLE, &text, 1);
}

void engine_offer_fitting(struct engine *k, struct extender_call *s, const struct class *class)
{
    s->silent = silent_reason(k, class);
    const struct nodes *nodes = &k->cluster->nodes;
    for (uint32_t i = 0; i < nodes->n; i++)
        if (nodes_is_present(nodes, (node_id){i}) &&
            (!class->only || class_names(class, nodes->name[i])) &&
            scan_fits(&k->deciding.scan, (node_id){i}))
            offer(k, s, i);
    if (class->only)
        scan_some_why(&k->deciding.scan, k->cluster, class, class->only, class->n_only, &s->why);
    else
        scan_why(&k->deciding.scan, k->cluster, &s->why);
}

struct extender_call *engine_begin_extender_call(struct engine *k, pod_id pod, uint32_t group)
{
    const struct extender_call *was = engine_find_extender_call(k, pod);
    if (was && was->group != group)
        engine_stop_extender_call(k, pod); /* it has left a gang */
    else
        engine_forget_extender_call(k, pod);
    vec_push(&k->extender->all,
             (struct extender_call){.pod = pod.i,
                                    .group = group,
                                    .shape = pods_at(&k->cluster->pods, pod)->shape,
                                    .born = pods_shape(&k->cluster->pods, pod)->born});
    return &vec_last(&k->extender->all);
}

void engine_call_extenders(struct engine *k, pod_id pod, struct class *class, struct verdict v,
                           bool ignores_nomination, struct effects *out)
{
    struct extender_call *s = engine_begin_extender_call(k, pod, ID_NONE);
    s->is_of_nominated = !ignores_nomination && pods_at(&k->cluster->pods, pod)->nominated ==
                                                    k->cluster->nodes.name[v.node];
    s->silent = silent_reason(k, class);
    if (s->is_of_nominated || class->is_pinned)
        offer(k, s, v.node);
    else
        engine_offer_fitting(k, s, class);
    if (class->is_pinned) {
        s->why.nodes = k->cluster->nodes.present;
        why_add(&s->why, class->absent, s->why.nodes - 1);
    }
    engine_ask_on(k, s, class, out);
}

/* --- hearing --- */

void engine_note_failure(struct extender_call *s, const struct extender *x, struct str why)
{
    if (x->is_ignorable || s->error)
        return;
    s->error = mem_alloc(why.n + 1);
    memcpy(s->error, why.p, why.n);
}

static reason_id reason_of(struct engine *k, enum code code, struct str text)
{
    struct reasons *reasons = &k->classes.reasons;
    uint32_t before = reasons->table.live;
    text = k->extender->n_reasons < REASONS_MOST ? str_part(text, 0, REASON_BYTES_MOST)
                                                 : STR("node(s) were refused by an extender");
    reason_id reason = reasons_get(reasons, EXTENDER_PLUGIN, code, &text, 1);
    k->extender->n_reasons += reasons->table.live - before;
    return reason;
}

static const struct extender_refusal *find_refusal(const struct extender_refusal *all, uint32_t n,
                                                   struct str node)
{
    uint32_t low = 0; /* they are sorted by name */
    while (n > low) {
        uint32_t middle = low + (n - low) / 2;
        int order = str_compare(all[middle].node, node);
        if (order == 0)
            return &all[middle];
        if (order < 0)
            low = middle + 1;
        else
            n = middle;
    }
    return NULL;
}

static void leave_out(struct engine *k, struct extender_call *s, const struct candidate *c,
                      const struct extender_answer *a)
{
    struct str name = names_text(&k->cluster->names, c->node);
    const struct extender_refusal *never =
        find_refusal(a->unresolvable.at, a->unresolvable.n, name);
    const struct extender_refusal *now = find_refusal(a->failed.at, a->failed.n, name);
    reason_id reason = never ? reason_of(k, CODE_UNRESOLVABLE, never->why)
                       : now ? reason_of(k, CODE_UNSCHEDULABLE, now->why)
                             : s->silent;
    why_add(&s->why, reason, 1);
    if (now && !never)
        vec_push(&s->refused_for_now, c->node); /* which holds it from now on */
    else
        intern_drop(&k->cluster->names.text, c->node);
}

/* By node: where it stands among the candidates. */
static struct map places(const struct extender_call *s)
{
    struct map at = {0};
    for (uint32_t i = 0; i < s->nodes.n; i++)
        map_put(&at, s->nodes.at[i].node, i);
    return at;
}

/* Marks those that the extender names; false if it names another one. */
static bool mark(struct engine *k, const struct extender_call *s, const struct extender *x,
                 const struct str *names, uint32_t n, bool *is_left, struct str *why)
{
    struct map at = places(s);
    uint32_t place = 0;
    for (uint32_t i = 0; i < n && place != MAP_NONE; i++) {
        sym name = names_find(&k->cluster->names, names[i]);
        place = name == SYM_NONE ? MAP_NONE : map_find(&at, name);
        if (place != MAP_NONE)
            is_left[place] = true;
        else
            *why = arena_printf(&k->mem,
                                "extender \"" STR_FMT "\" claims a filtered node \"" STR_FMT
                                "\" which is not found in the input node list",
                                STR_ARG(x->url), STR_ARG(names[i]));
    }
    map_done(&at);
    return place != MAP_NONE;
}

static void hear_filter(struct engine *k, struct extender_call *s, const struct extender *x,
                        const struct extender_answer *a)
{
    bool by_name = x->knows_nodes && a->has_names;
    const struct str *names = by_name ? a->names.at : a->nodes.at;
    uint32_t n = by_name ? a->names.n : a->nodes.n, kept = 0;
    bool *is_left = arena_array(&k->mem, bool, s->nodes.n);
    struct str why = {0};
    if (!mark(k, s, x, names, n, is_left, &why)) {
        engine_note_failure(s, x, why);
        return;
    }
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        if (is_left[i])
            s->nodes.at[kept++] = s->nodes.at[i];
        else
            leave_out(k, s, &s->nodes.at[i], a);
    }
    s->nodes.n = kept;
}

/* Of its own range, 0 to 10, it makes that of plugins. */
static void hear_scores(struct engine *k, struct extender_call *s, const struct extender *x,
                        const struct extender_answer *a)
{
    struct map at = places(s);
    for (uint32_t i = 0; i < a->scores.n; i++) {
        sym name = names_find(&k->cluster->names, a->scores.at[i].node);
        uint32_t place = name == SYM_NONE ? MAP_NONE : map_find(&at, name);
        if (place == MAP_NONE)
            continue;
        int64_t *score = &s->nodes.at[place].score;
        *score = wrap_add(*score, wrap_mul(wrap_mul(a->scores.at[i].score, x->weight), 10));
    }
    map_done(&at);
}

static struct extender_call *find_open(struct engine *k, effect_id effect, uint32_t *extender)
{
    vec_each(&k->extender->all, s)
        for (uint32_t i = 0; i < s->open.n; i++)
            if (s->open.at[i].effect == effect) {
                *extender = s->open.at[i].extender;
                vec_remove(&s->open, i);
                if (s->group != ID_NONE)
                    k->extender->open.at[s->group]--;
                return s;
            }
    return NULL;
}

void engine_hear_answer(struct engine *k, effect_id effect, const struct extender_answer *answer)
{
    uint32_t extender;
    struct extender_call *s = find_open(k, effect, &extender);
    if (!s)
        return; /* nobody wants to know any more */
    const struct extender *x = extender_at(k, extender);
    if (answer->error.n && s->phase != ASKS_SCORES)
        engine_note_failure(s, x, answer->error);
    else if (answer->error.n)
        ; /* no score from it */
    else if (s->phase == ASKS_SCORES)
        hear_scores(k, s, x, answer);
    else if (s->phase == ASKS_WHO_GOES)
        engine_hear_victims(k, s, x, answer);
    else
        hear_filter(k, s, x, answer);
    arena_reset(&k->mem);
}

/* --- going on --- */

uint32_t engine_best_answered(struct engine *k, const struct extender_call *s, pod_id pod,
                              struct class *class, struct decision *d)
{
    struct cluster *c = k->cluster;
    sym *names = arena_array(&k->mem, sym, s->nodes.n);
    for (uint32_t i = 0; i < s->nodes.n; i++)
        names[i] = s->nodes.at[i].node;
    *d = scan_some(&k->deciding.scan, c, class, pod, names, s->nodes.n, true);
    uint32_t best = ID_NONE;
    int64_t most = 0;
    for (uint32_t i = 0; d->node != ID_NONE && i < s->nodes.n; i++) {
        node_id node = nodes_find(&c->nodes, names[i]);
        if (node.i == ID_NONE || !nodes_is_present(&c->nodes, node) ||
            !scan_fits(&k->deciding.scan, node))
            continue;
        int64_t total =
            wrap_add(scan_total(&k->deciding.scan, c, class, node), s->nodes.at[i].score);
        if (best == ID_NONE || total > most ||
            (total == most && cluster_wins_tie(c, node.i, best))) {
            best = node.i;
            most = total;
        }
    }
    return best;
}

/* The best of those that are left, as the cluster is now; false if none of them will do. */
static bool choose(struct engine *k, const struct extender_call *s, pod_id pod, struct class *class,
                   struct effects *out)
{
    struct cluster *c = k->cluster;
    struct decision d;
    uint32_t best = engine_best_answered(k, s, pod, class, &d);
    arena_reset(&k->mem);
    if (best == ID_NONE)
        return false;
    if (class->score_error.n && d.feasible > 1)
        k->above->fail(k, pod, class->score_error, true, out);
    else if (d.broken != ID_NONE && d.feasible > 1)
        k->above->fail(k, pod, row_broken_text(c, class, (node_id){d.broken}, &out->mem), true,
                       out);
    else
        k->above->place_in_turn(k, pod, class, best, out);
    return true;
}

void engine_ask_again(struct engine *k, pod_id pod, struct class *class, bool ignores_nomination,
                      struct effects *out)
{
    engine_forget_extender_call(k, pod);
    k->above->judge(k, pod, class, ignores_nomination, out);
}

/* No node is left. */
static void turn_down(struct engine *k, const struct extender_call *s, pod_id pod,
                      struct class *class, struct effects *out)
{
    struct why why = {0}; /* `s` may be gone before all of it is told */
    why_copy(&why, &s->why);
    AUTO(bits) refused_for_now = {0};
    vec_each(&s->refused_for_now, name) {
        node_id node = nodes_find(&k->cluster->nodes, *name);
        if (node.i != ID_NONE)
            bits_add(&refused_for_now, node.i);
    }
    engine_count_on(k, &refused_for_now);
    k->above->turn_down(k, pod, class, &why, out);
    engine_count_on(k, NULL);
    why_done(&why);
}

static void conclude(struct engine *k, struct extender_call *s, pod_id pod, struct class *class,
                     struct effects *out)
{
    if (s->is_of_nominated && (s->error || s->nodes.n == 0)) {
        engine_ask_again(k, pod, class, true, out);
    } else if (s->error) {
        k->above->fail(k, pod, str_of(s->error), true, out);
    } else if (s->nodes.n == 0) {
        turn_down(k, s, pod, class, out);
    } else if (class->refusal || !choose(k, s, pod, class, out)) {
        engine_ask_again(k, pod, class, false, out);
    }
}

bool extender_call_is_of(const struct extender_call *s, const struct pods *pods, pod_id pod)
{
    return s->shape == pods_at(pods, pod)->shape && s->born == pods_shape(pods, pod)->born;
}

bool engine_ask_on(struct engine *k, struct extender_call *s, const struct class *class,
                   struct effects *out)
{
    bool goes_on = !s->error && s->nodes.n && s->phase == ASKS_WHO_FITS;
    return goes_on &&
           (ask_filter(k, s, class, out) || (s->nodes.n > 1 && ask_scores(k, s, class, out)));
}

bool engine_resume_extender_call(struct engine *k, pod_id pod, struct class *class,
                                 struct effects *out)
{
    struct extender_call *s = k->extender->all.n ? engine_find_extender_call(k, pod) : NULL;
    if (!s)
        return false;
    if (s->open.n || s->group != ID_NONE ||
        !extender_call_is_of(s, &k->cluster->pods,
                             pod)) { /* the pod has been away, or is not what was asked about */
        engine_stop_extender_call(k, pod);
        return false;
    }
    if (s->phase == ASKS_WHO_GOES) {
        engine_resume_extender_call_for_victims(k, s, pod, class, out);
        return true;
    }
    if (!engine_ask_on(k, s, class, out))
        conclude(k, s, pod, class, out);
    return true;
}
