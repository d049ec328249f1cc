#include "core/engine/gang_stats.h"

#include <stdlib.h>

#include "core/engine/inside.h"

static const double size_list[] = {1, 2, 5, 10, 20, 50, 100, 200, 500},
                    wait_list[] = {1, 5, 10, 30, 60, 120, 300, 600},
                    landed_list[] = {5, 15, 30, 60, 120, 300, 600, 1200};
static const struct bounds size_bounds = {.n = LEN(size_list), .list = size_list},
                           wait_bounds = {.n = LEN(wait_list), .list = wait_list},
                           landed_bounds = {.n = LEN(landed_list), .list = landed_list};

/* --- counting --- */

static struct gang_counts *find_row(const struct engine *k, sym namespace, sym group)
{
    vec_each(&k->gang_counts, c)
        if (c->namespace == namespace && c->group == group)
            return c;
    return NULL;
}

static struct gang_counts *add_row(struct engine *k, sym namespace, sym group)
{
    intern_hold(&k->cluster->names.text, namespace);
    if (group != SYM_NONE)
        intern_hold(&k->cluster->names.text, group);
    vec_push(&k->gang_counts, ((struct gang_counts){.namespace = namespace, .group = group}));
    return &vec_last(&k->gang_counts);
}

static uint32_t namespaces(const struct engine *k)
{
    uint32_t n = 0;
    vec_each(&k->gang_counts, c)
        n += c->group == SYM_NONE;
    return n;
}

/* Of all groups in the namespace; where there are too many of them, of all the others. */
static struct gang_counts *counts_of(struct engine *k, sym namespace)
{
    struct gang_counts *row = find_row(k, namespace, SYM_NONE);
    if (row)
        return row;
    if (namespaces(k) < GANG_NAMESPACES_MOST)
        return add_row(k, namespace, SYM_NONE);
    sym other = names_get(&k->cluster->names, STR("other"));
    row = find_row(k, other, SYM_NONE);
    return row ? row : add_row(k, other, SYM_NONE);
}

static uint32_t own_rows(const struct engine *k)
{
    uint32_t n = 0;
    vec_each(&k->gang_counts, c)
        n += c->group != SYM_NONE;
    return n;
}

/* Where what has the label pod_group is counted: in a row of its own, or in its namespace's. Two
 * groups of one name, of different APIs, share a row. */
static struct gang_counts *counts_of_group(struct engine *k, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct gang_counts *row = find_row(k, g->namespace, g->name);
    if (row)
        return row;
    bool is_told_apart =
        g->members.n && engine_gang_args(k, (pod_id){g->members.at[0]}).counts_groups;
    return is_told_apart && own_rows(k) < GANG_ROWS_MOST ? add_row(k, g->namespace, g->name)
                                                         : counts_of(k, g->namespace);
}

static void add_all(struct histogram *to, const struct histogram *from)
{
    for (size_t i = 0; i < LEN(to->counts); i++)
        to->counts[i] += from->counts[i];
    to->sum += from->sum;
}

void engine_end_counts(struct engine *k, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct gang_counts *row = g->members.n || g->has_object || k->gang_counts.n == 0
                                  ? NULL
                                  : find_row(k, g->namespace, g->name);
    if (LIKELY(!row))
        return;
    struct gang_counts was = *row;
    vec_remove(&k->gang_counts, (uint32_t)(row - k->gang_counts.at));
    struct gang_counts *all = counts_of(k, was.namespace);
    all->starved += was.starved;
    add_all(&all->waits, &was.waits);
    add_all(&all->sizes, &was.sizes);
    for (size_t i = 0; i < GANG_SIZES; i++)
        add_all(&all->landed[i], &was.landed[i]);
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

void engine_count_gang(struct engine *k, int64_t now_ms, uint32_t group,
                       enum gang_standing standing)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct gang_counts *c = counts_of(k, g->namespace);
    c->by_standing[standing]++;
    if (standing != GANG_HAS_ROOM)
        return;
    histogram_add(&c->all_sizes, &size_bounds, g->members.n);
    c = counts_of_group(k, group);
    histogram_add(&c->waits, &wait_bounds, (double)(now_ms - came_ms(k, group)) / 1000);
    histogram_add(&c->sizes, &size_bounds, g->members.n);
}

void engine_gang_takes_off(struct engine *k, uint32_t group, uint32_t pods)
{
    k->gangs.at[group].landing = pods;
}

void engine_gang_lands(struct engine *k, int64_t now_ms, uint32_t group, bool is_bound)
{
    if (group >= k->gangs.n || k->gangs.at[group].landing == 0)
        return;
    struct gang *gang = &k->gangs.at[group];
    const struct group *g = &k->cluster->groups.at.at[group];
    gang->landing = is_bound ? gang->landing - 1 : 0;
    if (!is_bound || gang->landing)
        return;
    uint32_t size = 0;
    while (size < LEN(size_list) && g->members.n > size_list[size])
        size++;
    histogram_add(&counts_of_group(k, group)->landed[size], &landed_bounds,
                  (double)(now_ms - came_ms(k, group)) / 1000);
}

void engine_count_starved(struct engine *k, uint32_t unit)
{
    sym namespace = pods_shape(&k->cluster->pods, (pod_id){unit})->namespace;
    bool is_gang = engine_gang_led_by(k, unit);
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    (is_gang ? counts_of_group(k, group) : counts_of(k, namespace))->starved++;
}

/* --- the rows --- */

static struct str name_of(const struct engine *k, const struct gang_counts *c)
{
    return names_text(&k->cluster->names, c->namespace);
}

static struct str group_of(const struct engine *k, const struct gang_counts *c)
{
    return c->group == SYM_NONE ? STR("") : names_text(&k->cluster->names, c->group);
}

static void read_decisions(const void *source, const struct metric_sink *out)
{
    static const struct {
        enum gang_standing standing;
        struct str outcome;
    } outcomes[] = {
        {GANG_HAS_ROOM,       STR("success")               },
        {GANG_WAITED_IN_VAIN, STR("timeout")               },
        {GANG_LACKS_PODS,     STR("insufficient_pods")     },
        {GANG_LACKS_ROOM,     STR("insufficient_resources")},
        {GANG_UNJUDGED,       STR("error")                 },
    };
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        for (size_t i = 0; i < LEN(outcomes) && c->group == SYM_NONE; i++)
            metric_put(out, (struct str[]){outcomes[i].outcome, name_of(k, c)},
                       (double)c->by_standing[outcomes[i].standing]);
}

static void read_attempts(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    uint64_t good = 0, bad = 0;
    vec_each(&k->gang_counts, c) {
        good += c->by_standing[GANG_HAS_ROOM];
        bad += c->by_standing[GANG_LACKS_PODS] + c->by_standing[GANG_LACKS_ROOM] +
               c->by_standing[GANG_UNJUDGED];
    }
    metric_put(out, &STR("success"), (double)good);
    metric_put(out, &STR("failure"), (double)bad);
}

static void read_starved(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        metric_put(out, (struct str[]){name_of(k, c), group_of(k, c)}, (double)c->starved);
}

static void read_waits(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        metric_put_histogram(out, (struct str[]){name_of(k, c), group_of(k, c)}, &c->waits);
}

static void read_sizes(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        if (c->group == SYM_NONE)
            metric_put_histogram(out, (struct str[]){name_of(k, c)}, &c->all_sizes);
}

static void read_landed(const void *source, const struct metric_sink *out)
{
    static const struct str sizes[GANG_SIZES] = {STR("1"),   STR("2"),   STR("5"),   STR("10"),
                                                 STR("20"),  STR("50"),  STR("100"), STR("200"),
                                                 STR("500"), STR("500+")};
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        for (size_t i = 0; i < GANG_SIZES; i++)
            if (histogram_count(&c->landed[i]))
                metric_put_histogram(out, (struct str[]){name_of(k, c), group_of(k, c), sizes[i]},
                                     &c->landed[i]);
}

/* Of all namespaces together, as the labels of these names want it; a row of its own is called
 * NAMESPACE/NAME. `in` is where the histogram stands in a row. */
static void read_all(const struct engine *k, const struct metric_sink *out, size_t in)
{
    struct histogram all = {0};
    vec_each(&k->gang_counts, c) {
        const struct histogram *h = (const struct histogram *)((const char *)c + in);
        if (c->group == SYM_NONE) {
            add_all(&all, h);
            continue;
        }
        AUTO(buf) name = {0};
        buf_printf(&name, STR_FMT "/" STR_FMT, STR_ARG(name_of(k, c)), STR_ARG(group_of(k, c)));
        metric_put_histogram(out, (struct str[]){buf_str(&name)}, h);
    }
    metric_put_histogram(out, &STR(""), &all);
}

static void read_all_waits(const void *source, const struct metric_sink *out)
{
    read_all(source, out, offsetof(struct gang_counts, waits));
}

static void read_all_sizes(const void *source, const struct metric_sink *out)
{
    read_all(source, out, offsetof(struct gang_counts, sizes));
}

/* A number for each namespace, or group of it, that has one. */
typedef VEC(struct sum {
    sym namespace;
    sym group;
    uint32_t n;
}) sums;

static void add_sum(sums *s, sym namespace, sym group, uint32_t n)
{
    vec_each(s, sum)
        if (sum->namespace == namespace && sum->group == group) {
            sum->n += n;
            return;
        }
    vec_resize(s, s->n + 1);
    s->at[s->n - 1].namespace = namespace;
    s->at[s->n - 1].group = group;
    s->at[s->n - 1].n = n;
}

/* Those with the most stay, ties by name; the rest is "other"'s, and so is what is called that. */
static int by_number(const void *a, const void *b, void *ctx)
{
    const struct names *names = ctx;
    const struct sum *x = a, *y = b;
    int by_name = str_compare(names_text(names, x->namespace), names_text(names, y->namespace));
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : by_name;
}

static void put_sums(const struct engine *k, sums *of, const struct metric_sink *out)
{
    struct names *names = &k->cluster->names;
    struct str other = STR("other");
    uint32_t kept = 0, rest = 0;
    bool has_other = false;
    if (of->n > 1)
        qsort_r(of->at, of->n, sizeof(*of->at), by_number, names);
    vec_each(of, sum) {
        struct str namespace = names_text(names, sum->namespace);
        bool has_row = sum->group != SYM_NONE;
        bool stays = has_row || (kept < GANG_NAMESPACES_MOST && !str_equal(namespace, other));
        struct str group = has_row ? names_text(names, sum->group) : STR("");
        kept += stays && !has_row;
        rest += stays ? 0 : sum->n;
        has_other |= !stays;
        if (stays)
            metric_put(out, (struct str[]){namespace, group}, sum->n);
    }
    if (has_other)
        metric_put(out, (struct str[]){other, STR("")}, rest);
    vec_done(of);
}

static void read_waiting(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    sums waiting = {0};
    for (uint32_t i = 0; i < k->gangs.n && i < k->cluster->groups.at.n; i++) {
        const struct group *g = &k->cluster->groups.at.at[i];
        if (g->members.n == 0 || !group_is_gang(g))
            continue;
        struct muster m = engine_muster(k, i);
        bool has_row = find_row(k, g->namespace, g->name);
        add_sum(&waiting, g->namespace, has_row ? g->name : SYM_NONE, m.ready + m.held);
    }
    put_sums(k, &waiting, out);
}

/* Since the first of those came who still wait. */
static void read_oldest(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    int64_t first_ms = k->now_ms;
    for (uint32_t i = 0; i < k->gangs.n && i < k->cluster->groups.at.n; i++) {
        const struct group *g = &k->cluster->groups.at.at[i];
        vec_each(&g->members, member)
            if (group_is_gang(g) && pod_is_waiting(pods_at(&k->cluster->pods, (pod_id){*member})))
                first_ms = MIN(first_ms, k->units.at[*member].first_ms);
    }
    metric_put(out, NULL, (double)(k->now_ms - first_ms) / 1000);
}

static void read_reservations(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    sums held = {0};
    vec_each(&k->holds.bookings, b)
        if (b->name != SYM_NONE && !b->is_over)
            add_sum(&held, b->namespace, SYM_NONE, 1);
    put_sums(k, &held, out);
}

const struct metric gang_metrics[] = {
    METRIC(
        "kubenexus_gang_scheduling_decisions_total", COUNTER, "outcome,namespace", NULL,
        read_decisions,
        "Decisions about gangs: success (placed with their minimum), timeout (told that pods are "
        "missing), insufficient_pods (some went before they could be placed), "
        "insufficient_resources, error."),
    METRIC("kubenexus_gang_scheduling_attempts_total", COUNTER, "status", NULL, read_attempts,
           "Attempts to place gangs, by how they ended: success, failure."),
    METRIC("kubenexus_gang_waiting_time_seconds", HISTOGRAM, "namespace,pod_group", &wait_bounds,
           read_waits, "Time from the first pod of a gang until the gang was placed."),
    METRIC("kubenexus_gang_wait_time_seconds", HISTOGRAM, "pod_group", &wait_bounds, read_all_waits,
           "The same, of all namespaces."),
    METRIC("kubenexus_gang_completion_latency_seconds", HISTOGRAM, "namespace,pod_group,gang_size",
           &landed_bounds, read_landed,
           "Time from the first pod of a gang until all that were placed together were bound, by "
           "size: at most so many pods."),
    METRIC("kubenexus_gang_starvation_preventions_total", COUNTER, "namespace,pod_group", NULL,
           read_starved,
           "Pods and gangs that went ahead of others because they had waited too long."),
    METRIC("kubenexus_pod_group_size", HISTOGRAM, "namespace", &size_bounds, read_sizes,
           "Pods of gangs that were placed."),
    METRIC("kubenexus_gang_size", HISTOGRAM, "pod_group", &size_bounds, read_all_sizes,
           "The same, of all namespaces."),
    METRIC("kubenexus_waiting_pods", GAUGE, "namespace,pod_group", NULL, read_waiting,
           "Pods of gangs that wait for a node."),
    METRIC("kubenexus_oldest_waiting_gang_seconds", GAUGE, NULL, NULL, read_oldest,
           "How long the gang has waited that has waited longest: since the first of those of its "
           "pods came that still wait; 0: none waits."),
    METRIC("kubenexus_resource_reservations", GAUGE, "namespace", NULL, read_reservations,
           "Reservations that hold room or look for it, ours included."),
};
const uint32_t n_gang_metrics = LEN(gang_metrics);
