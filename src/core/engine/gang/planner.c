/* A gang in one step: one transaction in which at least its minimum finds nodes, or no trace.
 *
 * Those who wait are placed class by class, the pods that ask for most first, and each class is
 * placed from its view. Before any of that the columns of free room say how many pods of each class
 * the cluster has room for at most: a gang that cannot be met is refused for the price of a sum,
 * and the sum is kept as long as nothing changes.
 * Where they sit with regard to each other is for domains.c to say. */

#include <stdlib.h>

#include "core/engine/gang/gang.h"
#include "core/engine/prebind/prebind.h"
#include "core/framework/row.h"

/* --- who sits where --- */

static uint32_t member_class_of(struct planner *p, struct class *class, shape_id shape)
{
    for (uint32_t i = p->member_classes.n; i-- > 0;)
        if (p->member_classes.at[i].class == class)
            return i;
    struct member_class member_class = {
        .class = class, .shape = shape, .order = p->member_classes.n};
    vec_push(&p->member_classes, member_class);
    return p->member_classes.n - 1;
}

/* What a pod takes of the resources that are counted in devices. */
static int64_t devices(const struct spec *spec)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < spec->ask.n_others; i++)
        if (spec->ask.others[i].resource >= RESOURCE_FIRST_SCALAR)
            n = wrap_add(n, spec->ask.others[i].amount);
    return n;
}

/* Do members of class `a` ask for more than those of `b`? Strict and total. */
static bool is_larger(const struct engine *k, const struct member_class *a,
                      const struct member_class *b)
{
    const struct specs *specs = &k->cluster->specs;
    const struct spec *x = specs_at(specs, a->class->spec), *y = specs_at(specs, b->class->spec);
    int64_t x_devices = devices(x), y_devices = devices(y);
    if (x_devices != y_devices)
        return x_devices > y_devices;
    if (x->ask.cpu_milli != y->ask.cpu_milli)
        return x->ask.cpu_milli > y->ask.cpu_milli;
    if (x->ask.memory != y->ask.memory)
        return x->ask.memory > y->ask.memory;
    return a->order < b->order;
}

static void order_member_classes(struct engine *k, struct planner *p)
{
    for (uint32_t i = 1; i < p->member_classes.n; i++) {
        struct member_class member_class = p->member_classes.at[i];
        uint32_t at = i;
        for (; at > 0 && is_larger(k, &member_class, &p->member_classes.at[at - 1]); at--)
            p->member_classes.at[at] = p->member_classes.at[at - 1];
        p->member_classes.at[at] = member_class;
    }
    VEC(uint32_t) place = {0}; /* of the member class that had this number */
    vec_resize(&place, p->member_classes.n);
    for (uint32_t i = 0, first = 0; i < p->member_classes.n; i++) {
        place.at[p->member_classes.at[i].order] = i;
        p->member_classes.at[i].first = first;
        first += p->member_classes.at[i].n;
    }
    vec_each(&p->members, member)
        member->order = place.at[member->order];
    vec_done(&place);
}

static int by_order(const void *a, const void *b)
{
    const struct gang_member *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->is_nominated != y->is_nominated)
        return x->is_nominated ? -1 : 1;
    if (x->choice != y->choice) /* who can go anywhere does not take the only node of another */
        return x->choice < y->choice ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

void planner_sort(struct planner *p)
{
    if (p->members.n > 1)
        qsort(p->members.at, p->members.n, sizeof(*p->members.at), by_order);
}

enum { RANK_KEYS = 4 };

/* The labels that may say which number a pod has within its job; SYM_NONE: nobody has it. */
static void find_rank_keys(const struct cluster *c, sym keys[RANK_KEYS])
{
    static const struct str texts[RANK_KEYS] = {
        STR("batch.kubernetes.io/job-completion-index"), STR("training.kubeflow.org/replica-index"),
        STR("leaderworkerset.sigs.k8s.io/worker-index"), STR("apps.kubernetes.io/pod-index")};
    for (size_t i = 0; i < RANK_KEYS; i++)
        keys[i] = names_find(&c->names, texts[i]);
}

/* The pod's number within its job: as a label says, or the end of its name. */
static uint32_t rank_of(const struct cluster *c, const sym keys[RANK_KEYS], pod_id pod)
{
    int64_t rank;
    for (size_t i = 0; i < RANK_KEYS; i++) {
        sym value = keys[i] == SYM_NONE
                        ? SYM_NONE
                        : names_label(&c->names, pods_shape(&c->pods, pod)->labels, keys[i]);
        if (value != SYM_NONE && str_int(names_text(&c->names, value), &rank) && rank >= 0 &&
            rank < ID_NONE)
            return (uint32_t)rank;
    }
    struct str name = pod_name(pods_at(&c->pods, pod));
    size_t begin = name.n;
    while (begin > 0 && name.p[begin - 1] >= '0' && name.p[begin - 1] <= '9')
        begin--;
    bool is_number = begin > 0 && name.p[begin - 1] == '-' && name.n - begin <= 9;
    return is_number && str_int(str_part(name, begin, name.n), &rank) ? (uint32_t)rank : ID_NONE;
}

/* One that may be placed now; false: it cannot be judged. */
static bool member(struct engine *k, struct planner *p, pod_id pod, const sym rank_keys[RANK_KEYS])
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    struct class *class = classes_of(&k->classes, row->shape);
    k->units.at[pod.i].profile =
        (uint8_t)k->figures->counts.of.at[class->profile - k->config.rules.profiles];
    if (class->error.n)
        return false;
    uint32_t member_class = member_class_of(p, class, row->shape);
    p->member_classes.at[member_class].n++;
    struct gang_member member = {.pod = pod.i,
                                 .order = member_class,
                                 .node = ID_NONE,
                                 .rank = rank_of(k->cluster, rank_keys, pod),
                                 .arrival = k->units.at[pod.i].arrival,
                                 .is_nominated = row->nominated != SYM_NONE,
                                 .nominated = row->nominated};
    vec_push(&p->members, member);
    return true;
}

/* Those who are still to come are placed with those who are there, as slots. */
static void list_company(struct engine *k, struct planner *p, uint32_t group,
                         const sym rank_keys[RANK_KEYS])
{
    uint32_t ended = group_ended(&k->cluster->groups.at.at[group]);
    k->above->list_company(k, group, p);
    for (uint32_t i = 0; i < p->company.n && p->members.n + p->held + ended < p->wants; i++)
        (void)member(k, p, (pod_id){p->company.at[i]}, rank_keys);
}

struct named {
    struct str name;
    uint32_t member;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = str_compare_numbered(x->name, y->name);
    return order ? order : (x->member > y->member) - (x->member < y->member);
}

/* Where queues count pods apart, the first by name are the minimum: those that went and came back
 * are what they were. */
static void number_by_name(const struct engine *k, struct planner *p)
{
    VEC(struct named) names = {0};
    for (uint32_t i = 0; i < p->members.n; i++)
        vec_push(&names,
                 ((struct named){
                     pod_name(pods_at(&k->cluster->pods, (pod_id){p->members.at[i].pod})), i}));
    if (names.n > 1)
        qsort(names.at, names.n, sizeof(*names.at), by_name);
    for (uint32_t i = 0; i < names.n; i++)
        p->members.at[names.at[i].member].arrival = i;
    vec_done(&names);
}

/* Everybody of the group who may be placed now. */
static void list_all(struct engine *k, struct planner *p, uint32_t group)
{
    sym rank_keys[RANK_KEYS];
    find_rank_keys(k->cluster, rank_keys);
    vec_clear(&p->members);
    vec_clear(&p->member_classes);
    vec_clear(&p->unjudged);
    p->takes_turns = k->above->takes_turns(k, k->gangs->all.at[group].leader);
    vec_each(&k->cluster->groups.at.at[group].members, i)
        if (engine_is_ready(k, (pod_id){*i}) && !member(k, p, (pod_id){*i}, rank_keys))
            vec_push(&p->unjudged, *i);
    list_company(k, p, group, rank_keys);
    order_member_classes(k, p);
    if (UNLIKELY(p->takes_turns))
        number_by_name(k, p);
    planner_sort(p);
}

/* --- how many have room --- */

/* Does the profile compare all that pods ask for with what nodes have? */
static bool compares_all(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++) {
        const struct profile_plugin *p = &profile->plugins[i];
        const struct fit_args *args = p->args;
        if (p->plugin->about == ABOUT_ROOM)
            return !(p->off & PROFILE_NO_FILTER) &&
                   (!args || (args->ignored_resources.n == 0 && args->ignored_groups.n == 0));
    }
    return false;
}

static uint64_t room_on(const struct engine *k, const struct class *class, node_id node)
{
    const struct cluster *c = k->cluster;
    if (!nodes_is_present(&c->nodes, node))
        return 0;
    uint64_t n = engine_node_room(c, specs_at(&c->specs, class->spec), node, false);
    return n && row_filter(c, class, node, COLUMN_ALL) ? 0 : n;
}

/* By member class and node, for domains to be ordered by; returns the sum. */
static uint64_t measure_nodes(struct engine *k, struct planner *p, uint32_t b)
{
    const struct member_class *member_class = &p->member_classes.at[b];
    uint32_t nodes = k->cluster->nodes.n;
    bool counts = compares_all(member_class->class->profile);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        bool is_there = nodes_is_present(&k->cluster->nodes, (node_id){i});
        uint64_t n = counts     ? room_on(k, member_class->class, (node_id){i})
                     : is_there ? UINT32_MAX
                                : 0;
        sum += n;
        p->fits.at[b * nodes + i] = (uint32_t)MIN(n, (uint64_t)UINT32_MAX);
    }
    return sum;
}

static uint64_t sum_nodes(const struct engine *k, const struct class *class)
{
    uint64_t sum = 0;
    if (!compares_all(class->profile))
        return UINT32_MAX;
    for (uint32_t i = 0; i < k->cluster->nodes.n; i++)
        sum += room_on(k, class, (node_id){i});
    return sum;
}

static void note_room(struct engine *k, const struct class *class, uint64_t room)
{
    *class_row(&k->gangs->rooms, class) = (struct class_room){k->cluster->log.end + 1, room};
}

uint64_t engine_room(struct engine *k, const struct class *class)
{
    const struct class_room *known = class_row_if(&k->gangs->rooms, class);
    if (known && known->at == k->cluster->log.end + 1)
        return known->room;
    uint64_t room = class->refusal ? 0 : sum_nodes(k, class);
    note_room(k, class, room);
    return room;
}

void engine_forget_room(struct engine *k, const struct class *class)
{
    struct class_room *known = class_row_if(&k->gangs->rooms, class);
    if (known)
        *known = (struct class_room){0};
}

void engine_forget_rooms_of(struct engine *k, const struct planner *p)
{
    vec_each(&p->member_classes, member_class)
        engine_forget_room(k, member_class->class);
}

void engine_forget_rooms(struct engine *k)
{
    vec_clear(&k->gangs->rooms);
}

void engine_trim_rooms(struct engine *k)
{
    class_rows_trim(&k->gangs->rooms);
}

/* What the cluster as a whole has room for, remembered of the class. */
static void measure(struct engine *k, struct planner *p, bool by_node)
{
    if (by_node)
        vec_resize(&p->fits, p->member_classes.n * k->cluster->nodes.n);
    for (uint32_t b = 0; b < p->member_classes.n; b++) {
        struct member_class *member_class = &p->member_classes.at[b];
        if (by_node && !member_class->class->refusal)
            note_room(k, member_class->class, measure_nodes(k, p, b));
        member_class->room = engine_room(k, member_class->class);
    }
}

/* Places so many members of the class, if they find room. */
static uint32_t fill(struct engine *k, struct planner *p, const struct member_class *member_class)
{
    struct cluster *c = k->cluster;
    uint32_t placed = 0;
    for (uint32_t i = 0;
         i < c->nodes.n && placed < member_class->n && !member_class->class->refusal; i++) {
        uint64_t room = room_on(k, member_class->class, (node_id){i});
        for (; room && placed < member_class->n; room--, placed++) {
            pod_id pod = {p->members.at[member_class->first + placed].pod};
            cluster_nominate(c, pod, SYM_NONE);
            cluster_place(c, pod, (node_id){i});
        }
    }
    return placed;
}

uint64_t engine_joint_room(struct engine *k, struct planner *p)
{
    uint64_t sum = 0;
    struct txn t = txn_begin(k->cluster);
    vec_each(&p->member_classes, member_class)
        sum += fill(k, p, member_class);
    txn_undo(k->cluster, t);
    return sum;
}

/* --- a trial --- */

/* The class of the members, for those that are to be in one domain. */
static struct class *class_inside(struct engine *k, struct planner *p,
                                  struct member_class *member_class)
{
    if (!member_class->inside || member_class->inside->reserves)
        member_class->inside = classes_within(&k->classes, member_class->shape, p->within);
    struct class *class = member_class->inside;
    for (uint32_t i = 0; i < class->n_parts; i++) {
        if (!class->parts[i].plugin->gangs)
            continue;
        struct gang_domain *domain = class->parts[i].state;
        domain->which = p->which;
        for (uint32_t level = 0; level < domain->n; level++)
            domain->values[level] =
                cluster_label(k->cluster, (node_id){p->at}, domain->keys[level]);
    }
    return class;
}

static struct class *class_here(struct engine *k, struct planner *p,
                                struct member_class *member_class)
{
    bool is_stale = !member_class->here ||
                    member_class->here->reserves; /* others may have taken what it wants */
    if (UNLIKELY(is_stale))
        member_class->here = p->which ? class_inside(k, p, member_class)
                                      : classes_of(&k->classes, member_class->shape);
    return member_class->here;
}

void engine_open_domain(struct planner *p, uint32_t which, uint32_t node)
{
    p->which = which;
    p->at = node;
    p->n_near = 0;
    p->opened++;
    vec_each(&p->member_classes, member_class)
        member_class->here = which ? NULL : member_class->class;
    vec_each(&p->domain_views, domain_view)
        domain_view_close(domain_view);
}

void engine_open_piece(struct engine *k, struct planner *p, uint32_t which, uint32_t first,
                       uint32_t n)
{
    uint32_t few = MIN((uint32_t)DOMAIN_VIEW_MOST_NODES, MAX(64u, k->cluster->nodes.present / 8));
    engine_open_domain(p, which, p->domain_nodes.at[first]);
    p->near = first;
    p->n_near = which && n <= few ? n : 0;
}

/* Decides from the domain view of the member class, if the domain has few nodes; false: it cannot
 * say. */
static bool decide_near(struct engine *k, struct planner *p, pod_id pod,
                        struct member_class *member_class, struct verdict *out)
{
    uint32_t b = (uint32_t)(member_class - p->member_classes.at);
    if (p->n_near == 0 || !engine_may_view(k, pod, member_class->class) ||
        member_class->class->reserves)
        return false;
    while (p->domain_views.n <= b)
        vec_push(&p->domain_views, (struct domain_view){0});
    struct domain_view *domain_view = &p->domain_views.at[b];
    struct decision d;
    if (!domain_view->class)
        domain_view_open(domain_view, k->cluster, member_class->class, &p->domain_nodes.at[p->near],
                         p->n_near);
    if (!domain_view_decide(domain_view, k->cluster, &k->deciding.views.decider, &d))
        return false;
    if (k->config.checks_views)
        engine_check_scan(k, pod, class_here(k, p, member_class), d);
    *out = (struct verdict){d.node, d.feasible, ID_NONE, BY_VIEW, 0, NULL};
    return true;
}

/* The class's next member fits nowhere: neither do those behind it. */
static void note_refusal(struct engine *k, struct planner *p,
                         const struct member_class *member_class, const struct verdict *v)
{
    bool is_first = p->text.n == 0;
    p->refused_by |= verdict_plugins(v, &k->classes.reasons, member_class->here);
    p->refused_by |= member_class->class->asks ? EXTENDER_BIT : 0;
    if (is_first && v->why)
        why_text(v->why, &k->classes.reasons, member_class->here, &p->text);
}

/* Where a member of the class goes; ID_NONE: it fits nowhere. */
static uint32_t decide(struct engine *k, struct planner *p, pod_id pod,
                       struct member_class *member_class)
{
    struct verdict v;
    k->figures->stats.decisions++;
    if (UNLIKELY(p->is_told) && member_class->class->asks && !engine_is_slot(k, pod.i)) {
        v = k->above->decide_as_answered(k, pod, class_here(k, p, member_class));
        if (v.node == ID_NONE)
            note_refusal(k, p, member_class, &v);
        return v.node;
    }
    bool is_near = decide_near(k, p, pod, member_class, &v);
    if (is_near && (v.node != ID_NONE || p->is_silent)) {
        p->has_withheld |= v.node == ID_NONE;
        return v.node;
    }
    const struct class *class = class_here(k, p, member_class);
    v = engine_decide(k, pod, member_class->here);
    bool is_broken = v.error || (v.feasible > 1 && (class->score_error.n || v.broken != ID_NONE));
    if (v.node != ID_NONE && !is_broken)
        return v.node;
    if (v.error && p->text.n == 0)
        buf_add(&p->text, class_error_text(member_class->here, &k->classes.reasons, v.error));
    note_refusal(k, p, member_class, &v);
    return ID_NONE;
}

/* Places the class's next member; false: it fits nowhere. */
static bool place_next(struct engine *k, struct planner *p, struct member_class *member_class)
{
    struct gang_member *member = &p->members.at[member_class->first + member_class->placed];
    pod_id pod = {member->pod};
    uint32_t node = decide(k, p, pod, member_class);
    if (node == ID_NONE)
        return false;
    const struct class *class =
        member_class->here ? member_class->here : member_class->class; /* they choose alike */
    cluster_nominate(k->cluster, pod, SYM_NONE);
    row_place(k->cluster, class, pod, (node_id){node});
    engine_reserve(k, pod, class, p->mem);
    member->node = node;
    member->leaf = p->opened;
    member_class->placed++;
    return true;
}

void engine_trade_nodes(struct engine *k, struct planner *p)
{
    vec_each(&p->member_classes, member_class) {
        struct gang_member *at = &p->members.at[member_class->first];
        if (member_class->class->reserves || (p->is_told && member_class->class->asks))
            continue;
        engine_sort_placements(k, p, member_class->first, member_class->placed);
        for (uint32_t i = 0; i < member_class->placed; i++) {
            at[i].node = p->placements.at[i].node;
            at[i].leaf = p->placements.at[i].leaf;
        }
        for (uint32_t i = 0; i < member_class->placed; i++)
            if (pods_at(&k->cluster->pods, (pod_id){at[i].pod})->node != at[i].node)
                cluster_take(k->cluster, (pod_id){at[i].pod});
        for (uint32_t i = 0; i < member_class->placed; i++)
            if (pods_at(&k->cluster->pods, (pod_id){at[i].pod})->node == ID_NONE)
                row_place(k->cluster, member_class->class, (pod_id){at[i].pod},
                          (node_id){at[i].node});
    }
}

bool engine_place_nominated(struct engine *k, struct planner *p)
{
    vec_each(&p->member_classes, member_class)
        while (member_class->placed < member_class->n &&
               p->members.at[member_class->first + member_class->placed].is_nominated)
            if (!place_next(k, p, member_class))
                return false;
    return true;
}

uint32_t engine_place_members(struct engine *k, struct planner *p, uint32_t most, bool is_reversed)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < p->member_classes.n; i++) {
        struct member_class *member_class =
            &p->member_classes.at[is_reversed ? p->member_classes.n - 1 - i : i];
        while (placed < most && member_class->placed < member_class->n &&
               place_next(k, p, member_class))
            placed++;
    }
    return placed;
}

/* --- the step --- */

/* Lists those who wait and measures the room for them; false if too few are there. */
bool engine_list_members(struct engine *k, struct planner *p, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    list_all(k, p, group);
    p->also = 0;
    uint32_t running = engine_presence(k, group).running;
    uint32_t have = running + group_ended(g) + p->held;
    uint32_t minimum = MAX((uint32_t)group_minimum(g), p->wants);
    bool may_go_on = group < k->gangs->all.n && k->gangs->all.at[group].goes_on;
    bool goes_on =
        running && (group_comes_in_turn(g) || (may_go_on && have + p->members.n < minimum));
    p->need = goes_on || have >= minimum ? 0 : minimum - have;
    if (p->members.n == 0 || p->need > p->members.n || group_lacks_object(g))
        return false;
    engine_find_levels(k, p, group);
    measure(k, p, p->n_levels > 0);
    return true;
}

/* Is there room for enough of them, by sums alone? */
bool planner_has_hope(const struct planner *p)
{
    uint64_t room = 0;
    vec_each(&p->member_classes, member_class)
        room += MIN(member_class->room, (uint64_t)member_class->n);
    return room >= MAX(p->need, 1u);
}

void engine_list_alone(struct engine *k, struct planner *p, pod_id pod, struct class *class)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    vec_clear(&p->members);
    vec_clear(&p->member_classes);
    vec_push(&p->member_classes,
             (struct member_class){.class = class, .shape = row->shape, .n = 1});
    struct gang_member member = {.pod = pod.i, .is_nominated = row->nominated != SYM_NONE};
    vec_push(&p->members, member);
    p->need = 1;
    p->wants = p->held = 0;
    vec_clear(&p->company);
    p->n_levels = 0;
    p->required = p->within = SYM_NONE;
    p->takes_turns = false;
}

bool engine_list_and_place_some(struct engine *k, struct planner *p, uint32_t group)
{
    uint64_t decisions = k->figures->stats.decisions;
    p->is_silent = true;
    bool may = !p->is_told && engine_list_members(k, p, group) && engine_place_some(k, p, group);
    p->is_silent = false;
    k->figures->stats.decisions = decisions;
    return may;
}

bool engine_try_members(struct engine *k, struct planner *p, uint32_t group)
{
    engine_forget_rooms_of(k, p); /* others have come and gone in the trial */
    measure(k, p, p->n_levels > 0);
    engine_forget_rooms_of(k, p);
    p->is_frugal = true;
    bool is_placed = planner_has_hope(p) && engine_place_gang(k, p, group, p->need);
    p->is_frugal = false;
    return is_placed;
}

bool engine_gang_fits(struct engine *k, struct planner *p, uint32_t unit)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    p->only_asks = true;
    struct txn trial = txn_begin(k->cluster);
    bool fits = engine_list_members(k, p, group) && planner_has_hope(p) &&
                engine_place_gang(k, p, group, p->need);
    engine_undo_gang(k, p, trial);
    arena_reset(p->mem);
    engine_forget_rooms_of(k, p); /* what was true in the trial is not true any more */
    return fits;
}

enum gang_outcome engine_try_gang(struct engine *k, struct planner *p, uint32_t group,
                                  struct effects *out)
{
    p->mem = &out->mem;
    if (!engine_list_members(k, p, group))
        return GANG_MISSING;
    if (!planner_has_hope(p))
        return GANG_HOPELESS;
    struct txn t = txn_begin(k->cluster);
    bool is_placed = engine_place_gang(k, p, group, p->need);
    engine_undo_gang(k, p, t);
    return is_placed ? GANG_PLACED : GANG_REFUSED;
}
