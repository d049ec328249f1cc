/* What is counted of gangs. */

#include "core/engine/gang/gang.h"

static const double size_list[] = {1, 2, 5, 10, 20, 50, 100, 200, 500},
                    wait_list[] = {1, 5, 10, 30, 60, 120, 300, 600},
                    landed_list[] = {5, 15, 30, 60, 120, 300, 600, 1200};
const struct bounds gang_size_bounds = {.n = LEN(size_list), .list = size_list},
                    gang_wait_bounds = {.n = LEN(wait_list), .list = wait_list},
                    gang_landed_bounds = {.n = LEN(landed_list), .list = landed_list};

struct gang_counts *engine_gang_row(const struct engine *k, sym namespace, sym group)
{
    vec_each(&k->figures->gangs, c)
        if (c->namespace == namespace && c->group == group)
            return c;
    return NULL;
}

static struct gang_counts *add_row(struct engine *k, sym namespace, sym group)
{
    intern_hold(&k->cluster->names.text, namespace);
    if (group != SYM_NONE)
        intern_hold(&k->cluster->names.text, group);
    vec_push(&k->figures->gangs, ((struct gang_counts){.namespace = namespace, .group = group}));
    return &vec_last(&k->figures->gangs);
}

static uint32_t namespaces(const struct engine *k)
{
    uint32_t n = 0;
    vec_each(&k->figures->gangs, c)
        n += c->group == SYM_NONE;
    return n;
}

/* Of all groups in the namespace; where there are too many of them, of all the others. */
static struct gang_counts *counts_of(struct engine *k, sym namespace)
{
    struct gang_counts *row = engine_gang_row(k, namespace, SYM_NONE);
    if (row)
        return row;
    if (namespaces(k) < GANG_NAMESPACES_MOST)
        return add_row(k, namespace, SYM_NONE);
    sym other = names_get(&k->cluster->names, STR("other"));
    row = engine_gang_row(k, other, SYM_NONE);
    return row ? row : add_row(k, other, SYM_NONE);
}

static uint32_t own_rows(const struct engine *k)
{
    uint32_t n = 0;
    vec_each(&k->figures->gangs, c)
        n += c->group != SYM_NONE;
    return n;
}

/* Where what has the label pod_group is counted: in a row of its own, or in its namespace's. Two
 * groups of one name, of different APIs, share a row. */
static struct gang_counts *counts_of_group(struct engine *k, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct gang_counts *row = engine_gang_row(k, g->namespace, g->name);
    if (row)
        return row;
    bool is_told_apart =
        g->members.n && engine_gang_args(k, (pod_id){g->members.at[0]}).counts_groups;
    return is_told_apart && own_rows(k) < GANG_ROWS_MOST ? add_row(k, g->namespace, g->name)
                                                         : counts_of(k, g->namespace);
}

void engine_add_histogram(struct histogram *to, const struct histogram *from)
{
    for (size_t i = 0; i < LEN(to->counts); i++)
        to->counts[i] += from->counts[i];
    to->sum += from->sum;
}

void engine_end_counts(struct engine *k, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct gang_counts *row = g->members.n || g->has_object || k->figures->gangs.n == 0
                                  ? NULL
                                  : engine_gang_row(k, g->namespace, g->name);
    if (LIKELY(!row))
        return;
    struct gang_counts was = *row;
    vec_remove(&k->figures->gangs, (uint32_t)(row - k->figures->gangs.at));
    struct gang_counts *all = counts_of(k, was.namespace);
    all->starved += was.starved;
    engine_add_histogram(&all->waits, &was.waits);
    engine_add_histogram(&all->sizes, &was.sizes);
    for (size_t i = 0; i < GANG_SIZES; i++)
        engine_add_histogram(&all->landed[i], &was.landed[i]);
    intern_drop(&k->cluster->names.text, was.namespace);
    intern_drop(&k->cluster->names.text, was.group);
}

/* When the first of those who wait, or were placed just now, came. */
static int64_t came_ms(const struct engine *k, uint32_t group)
{
    int64_t first = INT64_MAX;
    vec_each(&k->cluster->groups.at.at[group].members, i)
        first = MIN(first, k->units.at[*i].first_ms);
    return first;
}

void engine_count_gang(struct engine *k, uint32_t group, enum gang_standing standing)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct gang_counts *c = counts_of(k, g->namespace);
    c->by_standing[standing]++;
    if (standing != GANG_HAS_ROOM)
        return;
    histogram_add(&c->all_sizes, &gang_size_bounds, g->members.n);
    c = counts_of_group(k, group);
    histogram_add(&c->waits, &gang_wait_bounds, (double)(k->now_ms - came_ms(k, group)) / 1000);
    histogram_add(&c->sizes, &gang_size_bounds, g->members.n);
}

void engine_gang_takes_off(struct engine *k, uint32_t group, uint32_t pods)
{
    k->gangs->all.at[group].landing = pods;
}

void engine_gang_lands(struct engine *k, uint32_t group, bool is_bound)
{
    if (group >= k->gangs->all.n || k->gangs->all.at[group].landing == 0)
        return;
    struct gang *gang = &k->gangs->all.at[group];
    const struct group *g = &k->cluster->groups.at.at[group];
    gang->landing = is_bound ? gang->landing - 1 : 0;
    if (!is_bound || gang->landing)
        return;
    uint32_t size = 0;
    while (size < LEN(size_list) && g->members.n > size_list[size])
        size++;
    histogram_add(&counts_of_group(k, group)->landed[size], &gang_landed_bounds,
                  (double)(k->now_ms - came_ms(k, group)) / 1000);
}

void engine_count_starved(struct engine *k, uint32_t unit)
{
    sym namespace = pods_shape(&k->cluster->pods, (pod_id){unit})->namespace;
    bool is_gang = engine_gang_led_by(k, unit);
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    (is_gang ? counts_of_group(k, group) : counts_of(k, namespace))->starved++;
}
