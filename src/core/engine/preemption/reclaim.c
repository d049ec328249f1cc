/* Who may go where queues say so (rules R1-R10 of the design of queues).
 *
 * What runs comes in pieces, as it started: a gang's minimum, a pod beyond one, a pod alone. Each
 * is a victim group here; core/fair tells which of them guarantees pay for, and so who may go for
 * whom: pieces of other queues that nobody's guarantee pays for (R4), less important ones of the
 * unit's own queue
 * (R5). A unit that O1 puts first evicts whoever is less important, as everywhere; the order in
 * which they go is the queues' in any case. */

#include <stdlib.h>

#include "core/engine/preemption/preemption.h"
#include "core/model/resources.h"

enum { CRITICAL = 1000000000 };

/* --- beginning --- */

static struct reclaiming *reclaim_of(struct engine *k)
{
    return &k->preemption->preemption_search.reclaim;
}

/* Less important is who has a lower tier, where the rules put tiers first, and then priority. */
static int64_t importance_number(struct importance importance, const struct eviction_args *rules)
{
    return importance.priority + (rules->tier_first ? (int64_t)importance.tier << 33 : 0);
}

int64_t reclaim_begin(struct engine *k, const struct preemptor *e)
{
    struct reclaiming *r = reclaim_of(k);
    r->is_on = engine_is_queued(k, e->unit);
    r->cover = NULL;
    vec_clear(&r->pieces);
    if (!r->is_on)
        return 0;
    r->is_first = k->shares->standers.at[e->unit].is_first;
    r->request = engine_request(k, e->unit, &k->preemption->preemption_search.mem);
    r->u = (struct fair_piece){.queue = r->request.queue,
                               .minimum = FAIR_NONE,
                               .rank = importance_number(e->importance, &e->rules),
                               .start_ms = k->now_ms,
                               .ask = r->request.ask};
    int64_t may_ms = engine_age_ms(k, e->unit) + k->shares->args->reclaim_delay_ms;
    return may_ms <= k->now_ms ? 0 : may_ms;
}

/* --- members in the order in which they came --- */

struct member {
    pod_id pod;
    int64_t start_ms;
    uint64_t placed;
    struct str name;
};

VEC_TYPE(members, struct member);

static int by_start(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? -1 : 1;
    if (x->placed != y->placed)
        return x->placed < y->placed ? -1 : 1;
    return str_compare_numbered(x->name, y->name);
}

static struct member member_of(const struct engine *k, pod_id pod)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    int64_t start_ms = row->start_ms == TIME_NONE ? k->now_ms : MIN(row->start_ms, k->now_ms);
    uint64_t placed =
        pod.i < k->shares->charged.n ? k->shares->charged.at[pod.i].placed : UINT32_MAX;
    return (struct member){pod, start_ms, placed, pod_name(row)};
}

static void find_members(const struct engine *k, const struct group *g, struct members *out)
{
    vec_each(&g->members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        if (row->node != ID_NONE && !(row->flags & POD_GOING))
            vec_push(out, member_of(k, (pod_id){*i}));
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_start);
}

/* --- pieces, and the victim groups that go with them --- */

struct looking {
    struct engine *k;
    const struct preemptor *e;
    struct victim_groups *out;
    int64_t *sums; /* by resource in the tree; all 0 between two pieces */
};

static struct fair_ask ask_of(const struct looking *l, const struct member *members, uint32_t n)
{
    uint32_t most = 0, filled = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct fair_ask one = engine_ask_of(l->k, members[i].pod);
        for (uint32_t a = 0; a < one.n; a++)
            l->sums[one.at[a].resource] = capped_add(l->sums[one.at[a].resource], one.at[a].amount);
        most = one.n ? MAX(most, one.at[one.n - 1].resource + 1) : most;
    }
    for (uint32_t r = 0; r < most; r++)
        filled += l->sums[r] > 0;
    struct fair_amount *at =
        arena_array(&l->k->preemption->preemption_search.mem, struct fair_amount, filled);
    filled = 0;
    for (uint32_t r = 0; r < most; r++) {
        if (l->sums[r] > 0)
            at[filled++] = (struct fair_amount){.resource = r, .amount = l->sums[r]};
        l->sums[r] = 0;
    }
    return (struct fair_ask){at, filled};
}

static bool is_spared(const struct looking *l, sym namespace)
{
    struct str name = names_text(&l->k->cluster->names, namespace);
    list_each(&l->e->rules.spared, spared)
        if (str_equal(*spared, name))
            return true;
    return false;
}

/* Kueue has admitted it, and takes it back if need be. */
static bool is_kueues(const struct looking *l, const struct shape *shape)
{
    const struct names *names = &l->k->cluster->names;
    sym key = names_find(names, STR("kueue.x-k8s.io/managed"));
    return key != SYM_NONE && names_label(names, shape->labels, key) != SYM_NONE;
}

/* R2, but for what rests on time and on whose the pod is. */
static bool may_go(const struct looking *l, pod_id pod, const struct identity *identity,
                   bool is_beyond)
{
    const struct engine *k = l->k;
    const struct shape *shape = pods_shape(&k->cluster->pods, pod);
    if (cluster_spec(k->cluster, pod)->priority >= CRITICAL || is_spared(l, shape->namespace) ||
        (l->e->rules.preemptible_alone && !identity->is.is_preemptible))
        return false;
    return k->preemption->preemption_search.reclaim.is_first ||
           ((is_beyond || !engine_is_kept(k, pod)) && !is_kueues(l, shape));
}

/* Those who were never given a queue lose no web server to one (R2). */
static bool is_shy(const struct looking *l, uint32_t queue, const struct identity *identity)
{
    return str_equal(engine_leaf_name(l->k, queue), STR("default")) &&
           !engine_team(l->k, STR("default")) && !identity->is.is_preemptible &&
           identity->is.workload != WORKLOAD_BATCH && identity->is.workload != WORKLOAD_TRAINING;
}

static void add_victim_group(const struct looking *l, struct victim_group victim_group,
                             const struct member *members)
{
    const struct cluster *c = l->k->cluster;
    victim_group.number = l->out->at.n;
    victim_group.first = l->out->pods.n;
    for (uint32_t i = 0; i < victim_group.n; i++)
        vec_push(&l->out->pods, members[i].pod);
    victim_group.node = pods_at(&c->pods, members[0].pod)->node;
    victim_group.namespace = names_text(&c->names, pods_shape(&c->pods, members[0].pod)->namespace);
    victim_group.name = members[0].name;
    victim_group.unit = victim_group.group == ID_NONE
                            ? victim_group.name
                            : names_text(&c->names, c->groups.at.at[victim_group.group].name);
    vec_push(&l->out->at, victim_group);
}

/* A piece, and the victim group if its pods may go at all; its number, ID_NONE: none. `busy`:
 * accelerators that are lost with it. */
static uint32_t add(const struct looking *l, const struct member *members, uint32_t n,
                    uint32_t queue, uint32_t group, uint32_t core, int64_t busy,
                    struct fair_piece piece)
{
    struct engine *k = l->k;
    struct reclaiming *r = reclaim_of(k);
    bool is_piece = queue != NOBODYS;
    struct victim_group victim_group = {.n = n,
                                        .group = group,
                                        .core = core,
                                        .is_surplus = piece.is_beyond,
                                        .piece = is_piece ? r->pieces.n : ID_NONE};
    bool may = is_piece || r->is_first, is_one_shy = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct pod_row *row = pods_at(&k->cluster->pods, members[i].pod);
        const struct shape *shape = engine_work_of(k, members[i].pod);
        struct identity identity = classes_identify(&k->classes, l->e->profile, shape);
        int32_t priority = cluster_spec(k->cluster, members[i].pod)->priority;
        victim_group.importance.tier =
            i ? MAX(victim_group.importance.tier, identity.tier) : identity.tier;
        victim_group.importance.priority =
            i ? MAX(victim_group.importance.priority, priority) : priority;
        victim_group.is_guarded |= (row->flags & POD_GUARDED) != 0;
        may = may && may_go(l, members[i].pod, &identity, piece.is_beyond);
        is_one_shy |= is_piece && is_shy(l, queue, &identity);
    }
    victim_group.start_ms = members[0].start_ms;
    victim_group.lost_ms = wrap_mul(busy, k->now_ms - members[0].start_ms);
    victim_group.is_protected = is_one_shy; /* until the order is found */
    if (is_piece) {
        piece.queue = queue;
        piece.rank = importance_number(victim_group.importance, &l->e->rules);
        piece.start_ms = members[0].start_ms;
        piece.placed = members[0].placed;
        piece.ask = ask_of(l, members, n);
        vec_push(&r->pieces, piece);
    }
    if (!may)
        return ID_NONE;
    add_victim_group(l, victim_group, members);
    return l->out->at.n - 1;
}

static int64_t accelerators(const struct engine *k, const struct member *members, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += cluster_spec(k->cluster, members[i].pod)->accelerators;
    return sum;
}

/* With the minimum all of the gang's work is lost. */
static void add_gang(const struct looking *l, uint32_t group)
{
    struct engine *k = l->k;
    const struct group *g = &k->cluster->groups.at.at[group];
    struct members all = {0};
    find_members(k, g, &all);
    uint32_t minimum = (uint32_t)group_minimum(g), ended = group_ended(g), core = ID_NONE;
    bool is_whole = g->goes_whole || group_lacks_object(g); /* who knows what it needs? */
    uint32_t n = is_whole ? all.n : MIN(all.n, minimum > ended ? minimum - ended : 0);
    uint32_t piece = FAIR_NONE;
    struct fair_piece of = {.minimum = FAIR_NONE};
    if (n) {
        uint32_t queue = engine_queue_of_pod(k, all.at[0].pod);
        piece = queue == NOBODYS ? FAIR_NONE : reclaim_of(k)->pieces.n;
        core = add(l, all.at, n, queue, group, ID_NONE, accelerators(k, all.at, all.n), of);
    }
    for (uint32_t i = n; i < all.n; i++) {
        of = (struct fair_piece){.is_beyond = true, .minimum = piece};
        add(l, &all.at[i], 1, engine_queue_of_pod(k, all.at[i].pod), group, core,
            accelerators(k, &all.at[i], 1), of);
    }
    vec_done(&all);
}

static void look_at(const struct looking *l, pod_id pod)
{
    struct engine *k = l->k;
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    uint32_t group = groups_of(&k->cluster->groups, pod);
    const struct group *g = group == ID_NONE ? NULL : &k->cluster->groups.at.at[group];
    if (row->flags & (POD_GOING | POD_SLOT))
        return;
    if (!g || !(g->goes_whole || group_is_gang(g))) {
        struct member alone = member_of(k, pod);
        struct fair_piece piece = {.minimum = FAIR_NONE};
        add(l, &alone, 1, engine_queue_of_pod(k, pod), ID_NONE, ID_NONE, accelerators(k, &alone, 1),
            piece);
        return;
    }
    if (map_find(&l->out->groups, group) != MAP_NONE)
        return;
    map_put(&l->out->groups, group, 1);
    add_gang(l, group);
}

/* --- candidates --- */

/* R4, R5, or O1's; and whether it may go by that. */
static bool is_taken(const struct looking *l, struct victim_group *victim_group)
{
    const struct reclaiming *r = reclaim_of(l->k);
    bool is_below = importance_is_below(victim_group->importance, l->e->importance, &l->e->rules);
    bool is_one_shy = victim_group->is_protected;
    victim_group->is_protected = false;
    if (victim_group->group != ID_NONE && victim_group->group == l->e->group)
        return false;
    victim_group->by = QUEUE_BY_O1;
    if (r->is_first)
        return is_below;
    enum fair_take take = fair_take(r->cover, victim_group->piece);
    victim_group->by = take == FAIR_RECLAIM ? QUEUE_BY_R4 : QUEUE_BY_R5;
    return take == FAIR_RECLAIM ? !is_one_shy : take == FAIR_PRIORITY && is_below;
}

/* R6: pods beyond a minimum may always go. */
static int64_t least_run_ms(const struct looking *l, const struct victim_group *victim_group)
{
    const struct reclaiming *r = reclaim_of(l->k);
    if (r->is_first || victim_group->is_surplus)
        return r->is_first ? l->e->rules.least_run_ms : 0;
    uint32_t queue = r->pieces.at[victim_group->piece].queue;
    int64_t own_ms = fair_min_run_ms(l->k->shares->tree, queue);
    return own_ms < 0 ? l->e->rules.least_run_ms : own_ms;
}

/* Has each of its pods run long enough, and is none kept for its group or by the server's word? */
static bool has_new_candidate(const struct looking *l, const struct victim_group *victim_group)
{
    const struct engine *k = l->k;
    int64_t next_candidate_ms = 0, least_ms = least_run_ms(l, victim_group);
    for (uint32_t i = 0; i < victim_group->n; i++) {
        pod_id pod = l->out->pods.at[victim_group->first + i];
        next_candidate_ms =
            MAX(next_candidate_ms, least_ms ? member_of(k, pod).start_ms + least_ms : 0);
        next_candidate_ms = MAX(next_candidate_ms, engine_reserved_until_ms(k, pod));
        next_candidate_ms = MAX(next_candidate_ms, engine_refused_until_ms(k, pod));
    }
    if (next_candidate_ms <= k->now_ms)
        return true;
    l->out->next_candidate_ms = MIN(l->out->next_candidate_ms, next_candidate_ms);
    return false;
}

/* Those that may go stay, under new numbers. */
static void keep_candidates(const struct looking *l)
{
    struct victim_groups *p = l->out;
    uint32_t *renamed = arena_array(&l->k->preemption->preemption_search.mem, uint32_t, p->at.n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->at.n; i++) {
        struct victim_group *victim_group = &p->at.at[i];
        renamed[i] = ID_NONE;
        if (!is_taken(l, victim_group) || !has_new_candidate(l, victim_group))
            continue;
        victim_group->core = victim_group->core == ID_NONE ? ID_NONE : renamed[victim_group->core];
        victim_group->number = renamed[i] = n;
        p->at.at[n++] = *victim_group;
    }
    p->at.n = n;
}

void reclaim_find(struct engine *k, const struct preemptor *e, struct victim_groups *out)
{
    struct preemption_search *x = &k->preemption->preemption_search;
    const struct cluster *c = k->cluster;
    struct looking l = {k, e, out, NULL};
    vec_clear(&out->at);
    vec_clear(&out->pods);
    map_clear(&out->groups);
    out->next_candidate_ms = INT64_MAX;
    out->is_by_queues = true;
    l.sums = arena_array(&x->mem, int64_t, fair_n_resources(k->shares->tree));
    for (uint32_t i = 0; i < c->nodes.n; i++)
        for (uint32_t pod = c->nodes.first_pod[i]; pod != ID_NONE; pod = c->pods.rows.at[pod].after)
            look_at(&l, (pod_id){pod});
    struct reclaiming *r = &x->reclaim;
    if (!r->is_first)
        r->cover = fair_cover(k->shares->tree, r->pieces.at, r->pieces.n, &r->u, &x->mem);
    keep_candidates(&l);
}

/* --- their order (R7) --- */

struct clearing {
    int64_t lost_ms;
    uint32_t pods;
};

static int64_t debt_of(const struct reclaiming *r, const struct victim_group *victim_group)
{
    uint64_t debt = victim_group->by == QUEUE_BY_R4 ? fair_debt(r->cover, victim_group->piece) : 0;
    return debt > INT64_MAX ? INT64_MAX : (int64_t)debt;
}

void reclaim_key(struct engine *k, enum victim_order order, struct victim_groups *p)
{
    struct preemption_search *x = &k->preemption->preemption_search;
    struct clearing *nodes = arena_array(&x->mem, struct clearing, k->cluster->nodes.n);
    vec_each(&p->at, victim_group) {
        nodes[victim_group->node].lost_ms =
            wrap_add(nodes[victim_group->node].lost_ms, victim_group->lost_ms);
        nodes[victim_group->node].pods += victim_group->n;
    }
    vec_each(&p->at, victim_group) {
        uint32_t n = 0;
        memset(victim_group->keys, 0, sizeof(victim_group->keys));
        victim_group->keys[n++] = victim_group->by != QUEUE_BY_R4;
        victim_group->keys[n++] = -debt_of(&x->reclaim, victim_group);
        victim_group->keys[n++] = !victim_group->is_surplus;
        victim_group->keys[n++] = victim_group->importance.priority;
        if (order == ORDER_BY_NODE) {
            victim_group->keys[n++] = nodes[victim_group->node].lost_ms;
            victim_group->keys[n++] = nodes[victim_group->node].pods;
            victim_group->keys[n++] = (int64_t)(k->cluster->nodes.tie_order[victim_group->node] >>
                                                1); /* nodes stay apart */
        } else {
            victim_group->keys[n++] = victim_group->lost_ms;
        }
        victim_group->keys[n] = -victim_group->start_ms;
    }
}

int reclaim_compare(const struct victim_group *a, const struct victim_group *b)
{
    for (uint32_t i = 0; i < LEN(a->keys); i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i] ? -1 : 1;
    int order = str_compare(b->namespace, a->namespace);
    order = order ? order : str_compare(b->unit, a->unit);
    return order ? order : str_compare_numbered(b->name, a->name);
}

/* --- in a trial --- */

/* The unit's seats are counted already: they are taken off the sums, and put back. */
static void count_members(struct engine *k, const struct planner *planner, int sign)
{
    vec_each(&planner->members, member)
        if (member->node != ID_NONE)
            engine_count_moved(k, (pod_id){member->pod}, sign);
}

bool reclaim_admits(struct engine *k, uint32_t unit, const struct planner *planner)
{
    const struct reclaiming *r = reclaim_of(k);
    struct fair_refusal why;
    if (!r->is_on || r->is_first)
        return true;
    if (planner)
        count_members(k, planner, -1);
    bool may = engine_admits_request(k, unit, &r->request, &why);
    if (planner)
        count_members(k, planner, +1);
    return may;
}

/* --- words --- */

/* Of what it is taken back: the first that somebody is guaranteed, accelerators before others. */
static uint32_t told_resource(struct fair *tree, struct fair_ask ask)
{
    uint32_t found = FAIR_NONE;
    for (uint32_t i = 0; i < ask.n; i++) {
        uint32_t r = ask.at[i].resource;
        bool is_accelerator = resource_is_accelerator(fair_resource_name(tree, r));
        if (fair_is_guaranteed(tree, r) && (found == FAIR_NONE || is_accelerator))
            found = r;
    }
    return found;
}

static uint32_t child_towards(struct fair *tree, uint32_t top, uint32_t queue)
{
    while (fair_parent(tree, queue) != top && fair_parent(tree, queue) != FAIR_NONE)
        queue = fair_parent(tree, queue);
    return queue;
}

static void word_taking(struct engine *k, uint32_t unit, uint32_t victims, struct buf *out)
{
    struct fair *tree = k->shares->tree;
    uint32_t own = fair_leaf(tree, fair_queue_of(tree, unit)),
             top = fair_common(tree, own, victims);
    struct fair_ask ask = fair_ask_of(tree, unit);
    uint32_t r = told_resource(tree, ask);
    if (r == FAIR_NONE)
        return;
    uint32_t a = child_towards(tree, top, own), b = child_towards(tree, top, victims);
    int64_t wants = 0, over = fair_used(tree, b, r) - fair_effective(tree, b, r);
    for (uint32_t i = 0; i < ask.n; i++)
        wants = ask.at[i].resource == r ? ask.at[i].amount : wants;
    buf_printf(out, "queue " STR_FMT " takes back ", STR_ARG(fair_name(tree, a)));
    engine_tell_amount(k, r, wants, out);
    buf_add(out, STR(" of its guaranteed "));
    engine_tell_number(k, r, fair_effective(tree, a, r), out);
    buf_printf(out, "; queue " STR_FMT " had borrowed ", STR_ARG(fair_name(tree, b)));
    engine_tell_number(k, r, MAX(over, (int64_t)0), out);
    buf_add(out, STR("; "));
}

void reclaim_word(struct engine *k, uint32_t unit, const struct eviction_plan *plan,
                  const struct victim_note *victim, struct buf *out)
{
    const struct cluster *c = k->cluster;
    const struct gang *gang = engine_gang_led_by(k, unit);
    sym namespace = pods_shape(&c->pods, (pod_id){unit})->namespace;
    uint32_t queue = engine_queue_of_pod(k, victim->pod);
    if (engine_may_name(k, namespace, pods_shape(&c->pods, victim->pod)->namespace))
        buf_printf(
            out, "for " STR_FMT "/" STR_FMT " (", STR_ARG(names_text(&c->names, namespace)),
            STR_ARG(gang ? names_text(&c->names,
                                      c->groups.at.at[groups_of(&c->groups, (pod_id){unit})].name)
                         : pod_name(pods_at(&c->pods, (pod_id){unit}))));
    else
        buf_add(out, STR("for pods of another namespace ("));
    if (victim->by == QUEUE_BY_R4)
        word_taking(k, unit, fair_leaf(k->shares->tree, queue), out);
    else if (queue != NOBODYS)
        buf_printf(out, "more important, in queue " STR_FMT "; ",
                   STR_ARG(engine_leaf_name(k, queue)));
    int64_t tenths = plan->cost.lost_ms / 360000;
    buf_printf(out, "%lld.%lld GPU-hours lost)", (long long)(tenths / 10),
               (long long)(tenths % 10));
}

/* --- what makes cycles impossible --- */

void reclaim_check(struct engine *k)
{
    const struct preemption_search *x = &k->preemption->preemption_search;
    const struct reclaiming *r = &x->reclaim;
    if (!r->is_on || r->is_first)
        return;
    VEC(uint32_t) gone = {0};
    vec_each(&x->victim_groups.at, victim_group) {
        if (!victim_group->is_out)
            continue;
        assert(fair_take(r->cover, victim_group->piece) != FAIR_KEEP);
        vec_push(&gone, victim_group->piece);
    }
    assert(gone.n == 0 || fair_rises(r->cover, gone.at, gone.n));
    vec_done(&gone);
}
