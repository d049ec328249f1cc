/* Who goes first. Profiles whose order is that of gangs let units age: a unit's key is stored, and
 * changes when its timer says that it starves, and a gang's with those of its pods that wait. Other
 * units are ordered by priority and by their time in line, among each other and among those. */

#include "core/engine/gang/gang.h"

static struct str name_of(const struct engine *k, uint32_t unit, const struct group *group)
{
    return group ? names_text(&k->cluster->names, group->name)
                 : pod_name(pods_at(&k->cluster->pods, (pod_id){unit}));
}

/* The group, if the unit is a gang. */
static const struct group *group_of(const struct engine *k, uint32_t unit)
{
    return engine_gang_led_by(k, unit)
               ? &k->cluster->groups.at.at[groups_of(&k->cluster->groups, (pod_id){unit})]
               : NULL;
}

/* --- ages --- */

static int64_t made_ms(const struct engine *k, uint32_t pod)
{
    int64_t created_ms = pods_at(&k->cluster->pods, (pod_id){pod})->created_ms;
    return created_ms == TIME_NONE ? k->units.at[pod].first_ms : created_ms;
}

int64_t engine_age_ms(const struct engine *k, uint32_t unit)
{
    const struct gang *gang = engine_gang_led_by(k, unit);
    return gang ? gang->since_ms : made_ms(k, unit);
}

int64_t engine_starves_ms(const struct engine *k, uint32_t unit)
{
    const struct unit *u = &k->units.at[unit];
    if (!u->ages || u->is_starving)
        return INT64_MAX;
    int64_t limit_ms = engine_gang_args(k, (pod_id){unit}).starve_ms;
    return engine_age_ms(k, unit) + limit_ms + 1; /* longer than that */
}

static void add_age(struct engine *k, struct gang *gang, uint32_t pod)
{
    gang->since_ms = MAX(gang->since_ms, made_ms(k, pod));
    gang->priority = MAX(gang->priority, k->units.at[pod].priority);
}

/* By the members that wait, but for this one (ID_NONE: all). Where it goes, nobody stands out more
 * than the gang did with it: mostly others are as young and as important, and the first of them
 * are enough. */
static void recount(struct engine *k, uint32_t group, uint32_t but)
{
    struct gang *gang = &k->gangs->all.at[group], was = *gang;
    gang->since_ms = INT64_MIN;
    gang->priority = INT32_MIN;
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        if (*i != but && engine_waits_with(k, (pod_id){*i}, group))
            add_age(k, gang, *i);
        if (but != ID_NONE && gang->since_ms >= was.since_ms && gang->priority >= was.priority)
            return;
    }
}

static void reorder(struct engine *k, uint32_t leader)
{
    struct unit *u = &k->units.at[leader];
    u->is_starving = false;
    u->is_starving = engine_starves_ms(k, leader) <= k->now_ms;
    queue_reorder(k->queue, leader);
    k->above->touched(k, leader);
    engine_set_timer(k, leader);
}

static void age_anew(struct engine *k, uint32_t group, uint32_t but)
{
    const struct gang *gang = &k->gangs->all.at[group];
    int64_t since_ms = gang->since_ms;
    int32_t priority = gang->priority;
    recount(k, group, but);
    if (gang->since_ms != since_ms || gang->priority != priority)
        reorder(k, gang->leader);
}

void engine_age_anew(struct engine *k, uint32_t group)
{
    age_anew(k, group, ID_NONE);
}

void engine_age_with(struct engine *k, uint32_t group, pod_id pod)
{
    struct gang *gang = &k->gangs->all.at[group], was = *gang;
    add_age(k, gang, pod.i);
    if (gang->since_ms != was.since_ms || gang->priority != was.priority)
        reorder(k, gang->leader);
}

void engine_age_without(struct engine *k, pod_id pod)
{
    uint32_t group = groups_of(&k->cluster->groups, pod);
    const struct gang *gang = group < k->gangs->all.n ? &k->gangs->all.at[group] : NULL;
    if (!gang || gang->leader == ID_NONE)
        return;
    k->above->lessened(k, gang->leader);
    int32_t its = k->units.at[pod.i].priority;
    bool stands_out = its == gang->priority && its > k->units.at[gang->leader].priority;
    if (made_ms(k, pod.i) >= gang->since_ms || stands_out)
        age_anew(k, group, pod.i);
}

static struct queue_key queue_key_of(const struct engine *k, uint32_t unit)
{
    const struct unit *u = &k->units.at[unit];
    struct queue_key s = {
        .priority = u->priority,
        .since_ms = queue_since_ms(k->queue, unit),
        .arrival = u->arrival,
    };
    if (!u->ages)
        return s;
    const struct group *group = group_of(k, unit);
    const struct gang *gang = engine_gang_led_by(k, unit);
    s.priority = gang ? gang->priority : u->priority;
    s.since_ms = engine_age_ms(k, unit);
    s.is_starving = u->is_starving;
    s.boost = u->boost;
    s.namespace =
        names_text(&k->cluster->names, pods_shape(&k->cluster->pods, (pod_id){unit})->namespace);
    s.name = name_of(k, unit, group);
    return s;
}

bool engine_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct engine *k = ctx;
    struct queue_key x = queue_key_of(k, a), y = queue_key_of(k, b);
    return k->served.order->before(&x, &y);
}

struct coscheduling_args engine_gang_args(const struct engine *k, pod_id pod)
{
    const struct profile_plugin *gangs = engine_gangs_of(k, pod);
    return gangs && gangs->args ? *(const struct coscheduling_args *)gangs->args
                                : COSCHEDULING_DEFAULTS;
}

/* --- tenants --- */

/* Is the pod a gold tenant's, as its profile tells tenants apart? */
static bool is_gold(struct engine *k, pod_id pod)
{
    const struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    return class && identity_has_tier(&class->identity) && class->identity.tier == TIER_GOLD;
}

/* --- timers --- */

static bool due_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct engine *k = ctx;
    int64_t x = k->units.at[a].due_ms, y = k->units.at[b].due_ms;
    return x != y ? x < y : a < b;
}

void engine_stop_timer(struct engine *k, uint32_t unit)
{
    if (heap_has(&k->timers.heap, unit))
        heap_remove(&k->timers.heap, unit);
}

/* When a pod that waits by itself is tried again. Few have such a time. It is kept by its low half:
 * it is less than 24 days away. */
enum { FARTHEST_WAKE_MS = 20 * 86400000 };

int64_t engine_wakes_ms(const struct engine *k, uint32_t unit)
{
    uint32_t low = k->timers.wakes.n ? map_find(&k->timers.wakes, unit) : MAP_NONE;
    return low == MAP_NONE ? INT64_MAX : k->now_ms + (int32_t)(low - (uint32_t)k->now_ms);
}

void engine_wake_at(struct engine *k, uint32_t unit, int64_t at_ms)
{
    uint32_t low = (uint32_t)MIN(at_ms, k->now_ms + FARTHEST_WAKE_MS);
    map_put(&k->timers.wakes, unit, low == MAP_NONE ? low + 1 : low);
    engine_set_timer(k, unit);
}

void engine_set_timer(struct engine *k, uint32_t unit)
{
    k->timers.heap.before = due_before;
    k->timers.heap.ctx = k;
    const struct gang *gang = engine_gang_led_by(k, unit);
    int64_t due_ms = MIN(engine_starves_ms(k, unit), engine_wakes_ms(k, unit));
    due_ms = MIN(due_ms, gang ? gang->gather_ms : INT64_MAX);
    due_ms =
        MIN(due_ms,
            gang ? k->above->next_preemption_ms(k, groups_of(&k->cluster->groups, (pod_id){unit}))
                 : INT64_MAX);
    if (heap_has(&k->timers.heap, unit) && k->units.at[unit].due_ms == due_ms)
        return;
    engine_stop_timer(k, unit);
    k->units.at[unit].due_ms = due_ms;
    if (due_ms != INT64_MAX)
        heap_add(&k->timers.heap, unit);
}

static void find_boost(struct engine *k, uint32_t unit)
{
    struct unit *u = &k->units.at[unit];
    bool has_one = u->ages && is_gold(k, (pod_id){unit});
    u->boost = has_one ? (int16_t)engine_gang_args(k, (pod_id){unit}).gold_boost : 0;
}

struct tenants {
    struct engine *k;
    sym namespace; /* SYM_NONE: all */
    VEC(uint32_t) units;
};

static void add_unit(void *ctx, uint32_t unit)
{
    struct tenants *t = ctx;
    bool is_one = t->namespace == SYM_NONE ||
                  pods_shape(&t->k->cluster->pods, (pod_id){unit})->namespace == t->namespace;
    if (is_one && t->k->units.at[unit].ages)
        vec_push(&t->units, unit);
}

void engine_review_boosts(struct engine *k, sym namespace)
{
    struct tenants t = {.k = k, .namespace = namespace};
    queue_each(k->queue, add_unit, &t);
    vec_each(&t.units, unit) {
        int16_t was = k->units.at[*unit].boost;
        find_boost(k, *unit);
        if (k->units.at[*unit].boost != was)
            queue_reorder(k->queue, *unit);
    }
    vec_done(&t.units);
}

void engine_begin_wait(struct engine *k, uint32_t unit)
{
    struct unit *u = &k->units.at[unit];
    const struct profile *profile = engine_profile_of(k, (pod_id){unit});
    u->ages = profile && engine_order_of(profile)->gangs;
    u->is_starving = false;
    find_boost(k, unit);
    u->is_starving = engine_starves_ms(k, unit) <= k->now_ms;
    map_remove(&k->timers.wakes, unit); /* of an earlier wait */
    k->above->entered(k, unit);
    engine_set_timer(k, unit);
}

int64_t engine_timer_ms(const struct engine *k)
{
    return k->timers.heap.n ? k->units.at[k->timers.heap.at[0]].due_ms : INT64_MAX;
}
