/* The victim groups, and in which order they go. */

#include <stdlib.h>

#include "core/engine/preemption/preemption.h"
#include "core/framework/row.h"

enum { CRITICAL = 1000000000 };

bool importance_is_below(struct importance a, struct importance b,
                         const struct eviction_args *rules)
{
    if (rules->tier_first && a.tier != b.tier)
        return a.tier < b.tier;
    return a.tier <= b.tier && a.priority < b.priority;
}

struct str work_name(enum work work)
{
    static const struct str names[N_WORKS] = {
        [WORK_BACKFILL] = STR("backfill"),       [WORK_BATCH] = STR("batch"),
        [WORK_TRAINING] = STR("training"),       [WORK_INFERENCE] = STR("inference"),
        [WORK_INTERACTIVE] = STR("interactive"), [WORK_SERVICE] = STR("service"),
    };
    return names[work];
}

static enum work work_of(const struct identity *identity)
{
    static const enum work works[N_WORKLOADS] = {
        [WORKLOAD_UNKNOWN] = WORK_SERVICE,
        [WORKLOAD_SERVICE] = WORK_SERVICE,
        [WORKLOAD_INTERACTIVE] = WORK_INTERACTIVE,
        [WORKLOAD_INFERENCE] = WORK_INFERENCE,
        [WORKLOAD_BATCH] = WORK_BATCH,
        [WORKLOAD_TRAINING] = WORK_TRAINING,
    };
    return identity->is.is_preemptible ? WORK_BACKFILL : works[identity->is.workload];
}

/* --- one pod --- */

enum { KNOWN = 64 };

/* What is asked of each pod that may go. */
struct looking {
    struct engine *k;
    const struct preemptor *e;
    struct victim_groups *out;
    struct known { /* who pods of some shapes are, by shape */
        const struct shape *shape;
        struct identity identity;
    } known[KNOWN];
};

static const struct identity *identify(struct looking *l, const struct shape *shape)
{
    struct known *known = &l->known[(uintptr_t)(shape - l->k->cluster->pods.shapes.at) % KNOWN];
    if (known->shape != shape) {
        known->shape = shape;
        known->identity = classes_identify(&l->k->classes, l->e->profile, shape);
    }
    return &known->identity;
}

/* Since when it has run; before it has started: since now. */
static int64_t began_ms(int64_t now_ms, const struct pod_row *row)
{
    return row->start_ms == TIME_NONE ? now_ms : MIN(row->start_ms, now_ms);
}

int64_t engine_work_lost_ms(const struct engine *k, pod_id pod)
{
    int64_t ran_ms = k->now_ms - began_ms(k->now_ms, pods_at(&k->cluster->pods, pod));
    return wrap_mul(cluster_spec(k->cluster, pod)->accelerators, ran_ms);
}

static bool is_spared(const struct looking *l, sym namespace)
{
    struct str name = names_text(&l->k->cluster->names, namespace);
    list_each(&l->e->rules.spared, spared)
        if (str_equal(*spared, name))
            return true;
    return false;
}

static bool has_run_enough(const struct looking *l, const struct pod_row *row)
{
    int64_t next_candidate_ms = began_ms(l->k->now_ms, row) + l->e->rules.least_run_ms;
    if (l->e->rules.least_run_ms == 0 || next_candidate_ms <= l->k->now_ms)
        return true;
    l->out->next_candidate_ms = MIN(l->out->next_candidate_ms, next_candidate_ms);
    return false;
}

/* Is its room reserved for its group, whoever has it? */
static bool is_reserved(const struct looking *l, pod_id pod)
{
    int64_t until_ms = engine_reserved_until_ms(l->k, pod);
    if (until_ms > l->k->now_ms)
        l->out->next_candidate_ms = MIN(l->out->next_candidate_ms, until_ms);
    return until_ms > l->k->now_ms;
}

/* Has the server refused to let it go, lately? */
static bool is_refused(const struct looking *l, pod_id pod)
{
    int64_t until_ms = engine_refused_until_ms(l->k, pod);
    if (until_ms > l->k->now_ms)
        l->out->next_candidate_ms = MIN(l->out->next_candidate_ms, until_ms);
    return until_ms > l->k->now_ms;
}

/* The pod as a part of a victim group; false if it may not go. */
static bool look_at(struct looking *l, pod_id pod, struct victim_group *into)
{
    struct cluster *c = l->k->cluster;
    const struct pod_row *row = pods_at(&c->pods, pod);
    const struct shape *shape = engine_work_of(l->k, pod);
    const struct spec *spec = cluster_spec(c, pod);
    bool is_slot = row->flags & POD_SLOT;
    if ((spec->priority >= CRITICAL && !is_slot) ||
        (!l->e->rules.tier_first && spec->priority >= l->e->importance.priority))
        return false;
    const struct identity *identity = identify(l, shape);
    struct importance importance = {identity->tier, spec->priority};
    if (!importance_is_below(importance, l->e->importance, &l->e->rules))
        return false;
    if (is_spared(l, shape->namespace) ||
        (l->e->rules.preemptible_alone && !identity->is.is_preemptible))
        return false;
    if (!is_slot && (l->e->takes_slots_alone || !has_run_enough(l, row) || is_reserved(l, pod) ||
                     is_refused(l, pod)))
        return false;
    into->importance.tier = MAX(into->importance.tier, importance.tier);
    into->importance.priority =
        into->n ? MAX(into->importance.priority, importance.priority) : importance.priority;
    into->is_guarded |= (row->flags & POD_GUARDED) != 0;
    into->worth = MAX(into->worth, (uint32_t)work_of(identity));
    into->lost_ms = wrap_add(into->lost_ms, engine_work_lost_ms(l->k, pod));
    into->start_ms = MAX(into->start_ms, began_ms(l->k->now_ms, row));
    return true;
}

/* --- victim groups --- */

static void add_pod(struct victim_groups *out, struct victim_group *victim_group, pod_id pod)
{
    if (victim_group->n++ == 0)
        victim_group->first = out->pods.n;
    vec_push(&out->pods, pod);
}

static uint32_t add_victim_group(const struct looking *l, struct victim_group victim_group)
{
    const struct cluster *c = l->k->cluster;
    pod_id first = l->out->pods.at[victim_group.first];
    victim_group.number = l->out->at.n;
    victim_group.node = pods_at(&c->pods, first)->node;
    victim_group.namespace = names_text(&c->names, pods_shape(&c->pods, first)->namespace);
    victim_group.name = pod_name(pods_at(&c->pods, first));
    vec_push(&l->out->at, victim_group);
    return victim_group.number;
}

static void add_alone(struct looking *l, pod_id pod, uint32_t group, uint32_t core)
{
    struct victim_group victim_group = {
        .group = group, .core = core, .is_surplus = group != ID_NONE};
    if (!look_at(l, pod, &victim_group))
        return;
    add_pod(l->out, &victim_group, pod);
    add_victim_group(l, victim_group);
}

static bool is_on_the_way_out(const struct pod_row *row)
{
    return row->flags & POD_GOING;
}

struct mate {
    pod_id pod;
    int32_t priority;
    int64_t start_ms;
    struct str name;
    bool may_go;
};

/* Those who could be spared first. */
static int by_need(const void *a, const void *b)
{
    const struct mate *x = a, *y = b;
    if (x->may_go != y->may_go)
        return x->may_go ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->start_ms != y->start_ms)
        return x->start_ms > y->start_ms ? -1 : 1;
    return str_compare(y->name, x->name); /* the last of a Job's first */
}

VEC_TYPE(mates, struct mate);

static void find_mates(struct looking *l, const struct group *g, struct mates *out)
{
    const struct cluster *c = l->k->cluster;
    vec_each(&g->members, i) {
        const struct pod_row *row = pods_at(&c->pods, (pod_id){*i});
        if (row->node == ID_NONE || is_on_the_way_out(row))
            continue;
        struct victim_group alone = {0};
        struct mate mate = {{*i},
                            cluster_spec(c, (pod_id){*i})->priority,
                            began_ms(l->k->now_ms, row),
                            pod_name(row),
                            look_at(l, (pod_id){*i}, &alone)};
        vec_push(out, mate);
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_need);
}

/* Those without whom the gang is broken, as one victim group; ID_NONE if somebody of it may not
 * go. */
static uint32_t add_core(struct looking *l, uint32_t group, const struct mates *mates,
                         uint32_t spare)
{
    struct victim_group core = {.group = group, .core = ID_NONE};
    if (mates->n == 0 || !vec_last(mates).may_go)
        return ID_NONE; /* those who may not go are the last */
    for (uint32_t i = spare; i < mates->n; i++)
        if (look_at(l, mates->at[i].pod, &core))
            add_pod(l->out, &core, mates->at[i].pod);
    return core.n ? add_victim_group(l, core) : ID_NONE;
}

/* A gang goes as a whole, or some that it has beyond its minimum do, if it lets them. */
static void add_gang(struct looking *l, uint32_t group)
{
    const struct group *g = &l->k->cluster->groups.at.at[group];
    struct mates mates = {0};
    find_mates(l, g, &mates);
    uint32_t minimum = (uint32_t)group_minimum(g), have = mates.n + group_ended(g);
    bool is_whole = g->goes_whole || group_lacks_object(g); /* who knows what it needs? */
    uint32_t spare = is_whole || have <= minimum ? 0 : MIN(have - minimum, mates.n);
    uint32_t core = add_core(l, group, &mates, spare);
    for (uint32_t i = 0; i < spare && mates.at[i].may_go; i++)
        add_alone(l, mates.at[i].pod, group, core);
    vec_done(&mates);
}

static bool goes_together(const struct group *g)
{
    return g->goes_whole || group_is_gang(g);
}

static void add(struct looking *l, pod_id pod)
{
    const struct cluster *c = l->k->cluster;
    uint32_t group = groups_of(&c->groups, pod);
    if (is_on_the_way_out(pods_at(&c->pods, pod)))
        return;
    if (group == ID_NONE || !goes_together(&c->groups.at.at[group])) {
        add_alone(l, pod, ID_NONE, ID_NONE);
        return;
    }
    if (group == l->e->group || map_find(&l->out->groups, group) != MAP_NONE)
        return;
    map_put(&l->out->groups, group, 1);
    add_gang(l, group);
}

/* Could evicting on this node help some pod of the unit? */
static bool is_useful(struct engine *k, struct planner *p, node_id node)
{
    vec_each(&p->member_classes, member_class) {
        pod_id self = {p->members.at[member_class->first].pod};
        if (member_class->class->refusal ||
            !preempt_concerns(k->cluster, member_class->class, node, self))
            continue;
        reason_id reason = row_verdict(k->cluster, member_class->class, node, self);
        if (!reason || reasons_at(&k->classes.reasons, reason)->code == CODE_UNSCHEDULABLE)
            return true;
    }
    return false;
}

void victim_groups_find(struct engine *k, struct planner *p, const struct preemptor *e,
                        struct victim_groups *out)
{
    const struct cluster *c = k->cluster;
    struct looking l = {.k = k, .e = e, .out = out};
    vec_clear(&out->at);
    vec_clear(&out->pods);
    map_clear(&out->groups);
    out->next_candidate_ms = INT64_MAX;
    out->is_by_queues = false;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        if (!nodes_is_present(&c->nodes, (node_id){i}) || c->nodes.first_pod[i] == ID_NONE ||
            !is_useful(k, p, (node_id){i}))
            continue;
        for (uint32_t pod = c->nodes.first_pod[i]; pod != ID_NONE; pod = c->pods.rows.at[pod].after)
            add(&l, (pod_id){pod});
    }
}

/* --- plain ones --- */

/* Is there something about it that kube-scheduler does not see? Those alike are as `first`. */
static bool is_special(struct looking *l, pod_id pod, struct victim_group *first)
{
    const struct cluster *c = l->k->cluster;
    uint32_t group = groups_of(&c->groups, pod);
    struct victim_group victim_group = {0};
    if ((group != ID_NONE && goes_together(&c->groups.at.at[group])) ||
        cluster_spec(c, pod)->accelerators || !look_at(l, pod, &victim_group))
        return true;
    if (first->n++ == 0) {
        first->importance = victim_group.importance;
        first->worth = victim_group.worth;
    }
    return victim_group.importance.tier != first->importance.tier ||
           victim_group.worth != first->worth;
}

bool victim_groups_are_plain(struct engine *k, const struct preemptor *e)
{
    const struct cluster *c = k->cluster;
    struct victim_groups unused = {0};
    struct looking l = {.k = k, .e = e, .out = &unused};
    struct victim_group first = {0};
    for (uint32_t i = 0; i < c->nodes.n; i++)
        for (uint32_t pod = c->nodes.first_pod[i]; pod != ID_NONE; pod = c->pods.rows.at[pod].after)
            if (cluster_spec(c, (pod_id){pod})->priority < e->importance.priority &&
                is_special(&l, (pod_id){pod}, &first))
                return false;
    return true;
}

/* --- the order --- */

static int by_cost(const void *a, const void *b)
{
    const struct victim_group *x = a, *y = b;
    if (x->is_protected != y->is_protected)
        return x->is_protected ? 1 : -1;
    for (uint32_t i = 0; i < LEN(x->keys); i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] < y->keys[i] ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    int order = str_compare(x->namespace, y->namespace);
    order = order ? order : str_compare(x->name, y->name);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int64_t key_of(const struct victim_group *p, enum victim_key key)
{
    switch (key) {
    case VICTIM_TIER:
        return p->importance.tier;
    case VICTIM_PRIORITY:
        return p->importance.priority;
    case VICTIM_WORKLOAD:
        return p->worth;
    case VICTIM_LOST_WORK:
        return p->lost_ms;
    case VICTIM_START:
        return -p->start_ms;
    case N_VICTIM_KEYS:
        break;
    }
    return 0;
}

static bool is_about_time(enum victim_key key)
{
    return key == VICTIM_LOST_WORK || key == VICTIM_START;
}

/* What all that may go from a node would lose. */
struct clearing {
    int64_t lost_ms;
    uint32_t pods;
};

static struct clearing *clear_nodes(struct engine *k, const struct victim_groups *p)
{
    struct clearing *nodes =
        arena_array(&k->preemption->preemption_search.mem, struct clearing, k->cluster->nodes.n);
    vec_each(&p->at, victim_group) {
        nodes[victim_group->node].lost_ms =
            wrap_add(nodes[victim_group->node].lost_ms, victim_group->lost_ms);
        nodes[victim_group->node].pods += victim_group->n;
    }
    return nodes;
}

static int64_t rank_of(const struct cluster *c, const struct victim_group *victim_group)
{
    return (int64_t)(c->nodes.tie_order[victim_group->node] >> 1); /* nodes stay apart */
}

/* Victim groups that are worth the same go node by node, from the node that loses least on. */
static void key_by_node(struct engine *k, const struct preemptor *e, struct victim_groups *p)
{
    const struct clearing *nodes = clear_nodes(k, p);
    vec_each(&p->at, victim_group) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < N_VICTIM_KEYS; i++)
            if (!is_about_time(e->rules.order[i]))
                victim_group->keys[n++] = key_of(victim_group, e->rules.order[i]);
        victim_group->keys[n++] = nodes[victim_group->node].lost_ms;
        victim_group->keys[n++] = nodes[victim_group->node].pods;
        victim_group->keys[n++] = rank_of(k->cluster, victim_group);
        victim_group->keys[n] = -victim_group->start_ms;
    }
}

static void key_whole_nodes(struct engine *k, struct victim_groups *p)
{
    const struct clearing *nodes = clear_nodes(k, p);
    vec_each(&p->at, victim_group) {
        memset(victim_group->keys, 0, sizeof(victim_group->keys));
        victim_group->keys[0] = nodes[victim_group->node].pods;
        victim_group->keys[1] = nodes[victim_group->node].lost_ms;
        victim_group->keys[2] = rank_of(k->cluster, victim_group);
    }
}

static void key_by_loss(const struct preemptor *e, struct victim_groups *p)
{
    vec_each(&p->at, victim_group) {
        memset(victim_group->keys, 0, sizeof(victim_group->keys));
        for (uint32_t i = 0; i < N_VICTIM_KEYS; i++)
            victim_group->keys[i] = key_of(victim_group, e->rules.order[i]);
    }
}

static int by_queues(const void *a, const void *b)
{
    const struct victim_group *x = a, *y = b;
    if (x->is_protected != y->is_protected)
        return x->is_protected ? 1 : -1;
    int order = reclaim_compare(x, y);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int compare(const struct victim_groups *p, const struct victim_group *a,
                   const struct victim_group *b)
{
    return p->is_by_queues ? by_queues(a, b) : by_cost(a, b);
}

static void swap(struct victim_groups *p, uint32_t a, uint32_t b)
{
    struct victim_group was = p->at.at[a];
    p->at.at[a] = p->at.at[b];
    p->at.at[b] = was;
}

static void sort_some(struct victim_groups *p, uint32_t from, uint32_t to)
{
    if (to - from > 1)
        qsort(p->at.at + from, to - from, sizeof(*p->at.at), p->is_by_queues ? by_queues : by_cost);
}

/* Brings the cheapest `n` to the front, with some more, in no order; returns how many those are.
 * Most are dearer than one of a sample: they need not be sorted. */
static uint32_t bring_forward(struct victim_groups *p, uint32_t n)
{
    enum { SAMPLE = 1024, MORE = 16 };
    if (p->at.n < 2 * n || p->at.n < 2 * SAMPLE)
        return p->at.n;
    uint32_t step = p->at.n / SAMPLE, reach = 0;
    for (uint32_t i = 0; i < SAMPLE; i++)
        swap(p, i, i * step);
    sort_some(p, 0, SAMPLE);
    uint32_t bound = (uint32_t)((uint64_t)n * SAMPLE * 5 / 4 / p->at.n) + MORE;
    struct victim_group pivot = p->at.at[MIN(bound, (uint32_t)SAMPLE - 1)];
    for (uint32_t i = 0; i < p->at.n; i++)
        if (compare(p, &p->at.at[i], &pivot) <= 0)
            swap(p, reach++, i);
    return reach < n ? p->at.n : reach;
}

static void note_places(struct victim_groups *p)
{
    vec_resize(&p->place, p->at.n);
    for (uint32_t i = 0; i < p->at.n; i++)
        p->place.at[p->at.at[i].number] = i;
}

/* The first `n` in order, and then what goes with them. */
static void sort(struct victim_groups *p, uint32_t n)
{
    sort_some(p, 0, bring_forward(p, n));
    note_places(p);
    p->n_looked_at = n;
    for (uint32_t i = n; i < p->at.n; i++)
        if (p->at.at[i].core != ID_NONE && p->place.at[p->at.at[i].core] < n)
            swap(p, p->n_looked_at++, i);
    sort_some(p, n, p->n_looked_at);
    if (p->n_looked_at > n)
        note_places(p);
}

/* Those that would overdraw a budget if all before them went, and drivers. */
static void protect(struct engine *k, struct victim_groups *p)
{
    const struct cluster *c = k->cluster;
    int32_t *allowed = c->budgets.at.n
                           ? budgets_allowed(&c->budgets, &k->preemption->preemption_search.mem)
                           : NULL;
    vec_each(&p->at, victim_group) {
        victim_group->is_protected = victim_group->is_guarded;
        for (uint32_t i = 0; allowed && i < victim_group->n; i++)
            if (!budgets_allow(c, p->pods.at[victim_group->first + i], allowed))
                victim_group->is_protected = true;
    }
    k->preemption->preemption_search.overdrawn = ID_NONE;
    for (uint32_t i = c->budgets.at.n; allowed && i-- > 0;)
        if (allowed[i] < 0 && allowed[i] < c->budgets.at.at[i].allowed)
            k->preemption->preemption_search.overdrawn = i;
}

void victim_groups_sort(struct engine *k, const struct preemptor *e, enum victim_order order,
                        struct victim_groups *p)
{
    if (p->is_by_queues)
        reclaim_key(k, order, p);
    else if (order == ORDER_BY_LOSS)
        key_by_loss(e, p);
    else if (order == ORDER_BY_NODE)
        key_by_node(k, e, p);
    else
        key_whole_nodes(k, p);
    vec_each(&p->at, victim_group)
        victim_group->is_out = victim_group->is_protected = false;
    if (k->cluster->budgets.at.n) /* who overdraws one depends on all that would go before */
        sort(p, p->at.n);
    protect(k, p);
    sort(p, MIN(p->at.n, (uint32_t)MOST_VICTIM_GROUPS));
}

/* --- in and out --- */

static struct victim_group *core_of(const struct victim_groups *p,
                                    const struct victim_group *victim_group)
{
    return victim_group->core == ID_NONE ? NULL : &p->at.at[p->place.at[victim_group->core]];
}

bool victim_group_may_return(const struct victim_groups *p, const struct victim_group *victim_group)
{
    const struct victim_group *core = core_of(p, victim_group);
    return victim_group->is_out && !(core && core->is_out);
}

void victim_groups_take(struct victim_groups *p, uint32_t n)
{
    for (uint32_t i = 0; i < p->n_looked_at; i++)
        p->at.at[i].is_out = i < n;
    for (uint32_t i = 0; i < p->n_looked_at; i++) {
        const struct victim_group *core = core_of(p, &p->at.at[i]);
        if (core && core->is_out)
            p->at.at[i].is_out = true;
    }
}

void victim_groups_done(struct victim_groups *p)
{
    vec_done(&p->at);
    vec_done(&p->pods);
    vec_done(&p->place);
    map_done(&p->groups);
}
