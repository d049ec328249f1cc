#include "core/engine/gang_stats.h"

#include "core/engine/inside.h"

static const double size_list[] = {1, 2, 5, 10, 20, 50, 100, 200, 500},
                    wait_list[] = {1, 5, 10, 30, 60, 120, 300, 600},
                    landed_list[] = {5, 15, 30, 60, 120, 300, 600, 1200};
static const struct bounds size_bounds = {.n = LEN(size_list), .list = size_list},
                           wait_bounds = {.n = LEN(wait_list), .list = wait_list},
                           landed_bounds = {.n = LEN(landed_list), .list = landed_list};

/* --- counting --- */

static struct gang_counts *counts_of(struct engine *k, sym namespace)
{
    vec_each(&k->gang_counts, c)
        if (c->namespace == namespace)
            return c;
    intern_hold(&k->cluster->names.text, namespace);
    vec_push(&k->gang_counts, ((struct gang_counts){.namespace = namespace}));
    return &vec_last(&k->gang_counts);
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
    histogram_add(&c->sizes, &size_bounds, g->members.n);
    histogram_add(&c->waits, &wait_bounds, (double)(now_ms - came_ms(k, group)) / 1000);
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
    histogram_add(&counts_of(k, g->namespace)->landed[size], &landed_bounds,
                  (double)(now_ms - came_ms(k, group)) / 1000);
}

void engine_count_starved(struct engine *k, uint32_t unit)
{
    counts_of(k, pods_shape(&k->cluster->pods, (pod_id){unit})->namespace)->starved++;
}

/* --- the rows --- */

static struct str name_of(const struct engine *k, const struct gang_counts *c)
{
    return names_text(&k->cluster->names, c->namespace);
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
        for (size_t i = 0; i < LEN(outcomes); i++)
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
        metric_put(out, (struct str[]){name_of(k, c), STR("")}, (double)c->starved);
}

static void read_waits(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        metric_put_histogram(out, (struct str[]){name_of(k, c), STR("")}, &c->waits);
}

static void read_sizes(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->gang_counts, c)
        metric_put_histogram(out, (struct str[]){name_of(k, c)}, &c->sizes);
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
                metric_put_histogram(out, (struct str[]){name_of(k, c), STR(""), sizes[i]},
                                     &c->landed[i]);
}

/* Of all namespaces together, as the labels of these names want it. */
static void add_all(struct histogram *to, const struct histogram *from)
{
    for (size_t i = 0; i < LEN(to->counts); i++)
        to->counts[i] += from->counts[i];
    to->sum += from->sum;
}

static void read_all_waits(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    struct histogram all = {0};
    vec_each(&k->gang_counts, c)
        add_all(&all, &c->waits);
    metric_put_histogram(out, &STR(""), &all);
}

static void read_all_sizes(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    struct histogram all = {0};
    vec_each(&k->gang_counts, c)
        add_all(&all, &c->sizes);
    metric_put_histogram(out, &STR(""), &all);
}

/* A number for each namespace that has one. */
typedef VEC(struct {
    sym namespace;
    uint32_t n;
}) sums;

static void add_sum(sums *s, sym namespace, uint32_t n)
{
    vec_each(s, sum)
        if (sum->namespace == namespace) {
            sum->n += n;
            return;
        }
    vec_resize(s, s->n + 1);
    s->at[s->n - 1].namespace = namespace;
    s->at[s->n - 1].n = n;
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
        add_sum(&waiting, g->namespace, m.ready + m.held);
    }
    vec_each(&waiting, sum)
        metric_put(out, (struct str[]){names_text(&k->cluster->names, sum->namespace), STR("")},
                   sum->n);
    vec_done(&waiting);
}

static void read_reservations(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    sums held = {0};
    vec_each(&k->holds.bookings, b)
        if (b->name != SYM_NONE && !b->is_over)
            add_sum(&held, b->namespace, 1);
    vec_each(&held, sum)
        metric_put(out, (struct str[]){names_text(&k->cluster->names, sum->namespace)}, sum->n);
    vec_done(&held);
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
    METRIC("kubenexus_resource_reservations", GAUGE, "namespace", NULL, read_reservations,
           "Reservations that hold room or look for it, ours included."),
};
const uint32_t n_gang_metrics = LEN(gang_metrics);
