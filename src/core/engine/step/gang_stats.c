#include "core/engine/gang_stats.h"

#include <stdlib.h>

#include "core/engine/step/step.h"

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
        {GANG_HAS_ROOM, STR("success")},
        {GANG_WAITED_IN_VAIN, STR("timeout")},
        {GANG_LACKS_PODS, STR("insufficient_pods")},
        {GANG_LACKS_ROOM, STR("insufficient_resources")},
        {GANG_UNJUDGED, STR("error")},
    };
    const struct engine *k = source;
    vec_each(&k->figures->gangs, c)
        for (size_t i = 0; i < LEN(outcomes) && c->group == SYM_NONE; i++)
            metric_put(out, (struct str[]){outcomes[i].outcome, name_of(k, c)},
                       (double)c->by_standing[outcomes[i].standing]);
}

static void read_attempts(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    uint64_t good = 0, bad = 0;
    vec_each(&k->figures->gangs, c) {
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
    vec_each(&k->figures->gangs, c)
        metric_put(out, (struct str[]){name_of(k, c), group_of(k, c)}, (double)c->starved);
}

static void read_waits(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->figures->gangs, c)
        metric_put_histogram(out, (struct str[]){name_of(k, c), group_of(k, c)}, &c->waits);
}

static void read_sizes(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->figures->gangs, c)
        if (c->group == SYM_NONE)
            metric_put_histogram(out, (struct str[]){name_of(k, c)}, &c->all_sizes);
}

static void read_landed(const void *source, const struct metric_sink *out)
{
    static const struct str sizes[GANG_SIZES] = {STR("1"),   STR("2"),   STR("5"),   STR("10"),
                                                 STR("20"),  STR("50"),  STR("100"), STR("200"),
                                                 STR("500"), STR("500+")};
    const struct engine *k = source;
    vec_each(&k->figures->gangs, c)
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
    vec_each(&k->figures->gangs, c) {
        const struct histogram *h = (const struct histogram *)((const char *)c + in);
        if (c->group == SYM_NONE) {
            engine_add_histogram(&all, h);
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
    for (uint32_t i = 0; i < k->cluster->groups.at.n && engine_gang_at(k, i); i++) {
        const struct group *g = &k->cluster->groups.at.at[i];
        if (g->members.n == 0 || !group_is_gang(g))
            continue;
        struct presence m = engine_presence(k, i);
        bool has_row = engine_gang_row(k, g->namespace, g->name);
        add_sum(&waiting, g->namespace, has_row ? g->name : SYM_NONE, m.ready + m.held);
    }
    put_sums(k, &waiting, out);
}

/* Since the first of those came who still wait. */
static void read_oldest(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    int64_t first_ms = k->now_ms;
    for (uint32_t i = 0; i < k->cluster->groups.at.n && engine_gang_at(k, i); i++) {
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
    for (uint32_t i = 0; i < engine_n_reservations(k); i++) {
        const struct reservation_info *b = engine_reservation_at(k, i);
        if (b->name != SYM_NONE && !b->is_over)
            add_sum(&held, b->namespace, SYM_NONE, 1);
    }
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
    METRIC("kubenexus_gang_waiting_time_seconds", HISTOGRAM, "namespace,pod_group",
           &gang_wait_bounds, read_waits,
           "Time from the first pod of a gang until the gang was placed."),
    METRIC("kubenexus_gang_wait_time_seconds", HISTOGRAM, "pod_group", &gang_wait_bounds,
           read_all_waits, "The same, of all namespaces."),
    METRIC("kubenexus_gang_completion_latency_seconds", HISTOGRAM, "namespace,pod_group,gang_size",
           &gang_landed_bounds, read_landed,
           "Time from the first pod of a gang until all that were placed together were bound, by "
           "size: at most so many pods."),
    METRIC("kubenexus_gang_starvation_preventions_total", COUNTER, "namespace,pod_group", NULL,
           read_starved,
           "Pods and gangs that went ahead of others because they had waited too long."),
    METRIC("kubenexus_pod_group_size", HISTOGRAM, "namespace", &gang_size_bounds, read_sizes,
           "Pods of gangs that were placed."),
    METRIC("kubenexus_gang_size", HISTOGRAM, "pod_group", &gang_size_bounds, read_all_sizes,
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
