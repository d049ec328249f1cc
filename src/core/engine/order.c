/* Who goes first. Profiles whose order is that of gangs let units age: a unit's key is stored, and
 * changes once, when its timer says that it starves. Other units are ordered by priority and by
 * their time in line, among each other and among those. */

#include "core/engine/inside.h"

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

static int64_t age_ms(const struct engine *k, uint32_t unit, const struct group *group)
{
    int64_t created_ms =
        group ? group->born_ms : pods_at(&k->cluster->pods, (pod_id){unit})->created_ms;
    return created_ms == TIME_NONE || created_ms == INT64_MAX ? k->units.at[unit].first_ms
                                                              : created_ms;
}

int64_t engine_age_ms(const struct engine *k, uint32_t unit)
{
    return age_ms(k, unit, group_of(k, unit));
}

static struct standing standing_of(const struct engine *k, uint32_t unit)
{
    const struct unit *u = &k->units.at[unit];
    struct standing s = {
        .priority = u->priority,
        .since_ms = queue_since_ms(k->queue, unit),
        .arrival = u->arrival,
    };
    if (!u->ages)
        return s;
    const struct group *group = group_of(k, unit);
    const struct gang *gang = engine_gang_led_by(k, unit);
    s.priority = gang ? gang->priority : u->priority;
    s.since_ms = age_ms(k, unit, group);
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
    struct standing x = standing_of(k, a), y = standing_of(k, b);
    return k->order->before(&x, &y);
}

struct coscheduling_args engine_gang_args(const struct engine *k, pod_id pod)
{
    const struct profile *profile = engine_profile_of(k, pod);
    const struct profile_plugin *gangs = profile ? profile_gangs(profile) : NULL;
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
    if (heap_has(&k->timers, unit))
        heap_remove(&k->timers, unit);
}

static int64_t starves_ms(const struct engine *k, uint32_t unit)
{
    const struct unit *u = &k->units.at[unit];
    if (!u->ages || u->is_starving)
        return INT64_MAX;
    int64_t limit_ms = engine_gang_args(k, (pod_id){unit}).starve_ms;
    return age_ms(k, unit, group_of(k, unit)) + limit_ms + 1; /* longer than that */
}

/* When a pod that waits by itself is tried again. Few have such a time, and it is in whole seconds,
 * as what it follows from. */
static int64_t wakes_ms(const struct engine *k, uint32_t unit)
{
    uint32_t s = k->wakes.n ? map_find(&k->wakes, unit) : MAP_NONE;
    return s == MAP_NONE ? INT64_MAX : (int64_t)s * 1000;
}

void engine_wake_at(struct engine *k, uint32_t unit, int64_t at_ms)
{
    map_put(&k->wakes, unit, (uint32_t)MIN((at_ms + 999) / 1000, (int64_t)UINT32_MAX - 1));
    engine_set_timer(k, unit);
}

void engine_set_timer(struct engine *k, uint32_t unit)
{
    k->timers.before = due_before;
    k->timers.ctx = k;
    engine_stop_timer(k, unit);
    const struct gang *gang = engine_gang_led_by(k, unit);
    int64_t due_ms = MIN(starves_ms(k, unit), wakes_ms(k, unit));
    due_ms = MIN(due_ms, gang ? gang->gather_ms : INT64_MAX);
    due_ms = MIN(due_ms, gang ? engine_pursuit_ms(gang) : INT64_MAX);
    k->units.at[unit].due_ms = due_ms;
    if (due_ms != INT64_MAX)
        heap_add(&k->timers, unit);
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

void engine_begin_wait(struct engine *k, int64_t now_ms, uint32_t unit)
{
    struct unit *u = &k->units.at[unit];
    const struct profile *profile = engine_profile_of(k, (pod_id){unit});
    u->ages = profile && engine_order_of(profile)->gangs;
    u->is_starving = false;
    find_boost(k, unit);
    u->is_starving = starves_ms(k, unit) <= now_ms;
    map_remove(&k->wakes, unit); /* of an earlier wait */
    engine_forget_refusal(k, unit);
    engine_set_timer(k, unit);
}

int64_t engine_timer_ms(const struct engine *k)
{
    return k->timers.n ? k->units.at[k->timers.at[0]].due_ms : INT64_MAX;
}

bool engine_tick(struct engine *k, int64_t now_ms, struct effects *out)
{
    uint32_t before = out->list.n;
    while (engine_timer_ms(k) <= now_ms) {
        uint32_t unit = heap_take(&k->timers);
        if (starves_ms(k, unit) <= now_ms) {
            k->units.at[unit].is_starving = true;
            engine_count_starved(k, unit);
            queue_reorder(k->queue, unit);
            engine_let_keep(k, now_ms, unit);
        }
        if (wakes_ms(k, unit) <= now_ms) {
            map_remove(&k->wakes, unit);
            queue_activate(k->queue, now_ms, unit);
        }
        const struct gang *gang = engine_gang_led_by(k, unit);
        if (gang && gang->gather_ms <= now_ms)
            engine_end_gathering(k, now_ms, unit, out);
        if (gang && engine_pursuit_ms(gang) <= now_ms)
            engine_review_pursuit(k, now_ms, groups_of(&k->cluster->groups, (pod_id){unit}), out);
        engine_set_timer(k, unit);
    }
    return out->list.n > before;
}
