#include "core/engine/stats.h"

#include "core/engine/step/step.h"

/* --- the rows --- */

static void read_attempts(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    vec_each(&k->figures->counts.profiles, p) {
        const struct {
            struct str result;
            uint64_t n;
        } rows[] = {
            {STR("scheduled"), p->scheduled},
            {STR("unschedulable"), p->unschedulable},
            {STR("error"), p->error},
        };
        for (size_t i = 0; i < LEN(rows); i++)
            metric_put(out, (struct str[]){rows[i].result, p->name}, (double)rows[i].n);
    }
}

static void read_attempts_of_a_pod(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    metric_put_histogram(out, NULL, &k->figures->counts.attempts);
}

static void read_waits(const void *source, const struct metric_sink *out)
{
    static const struct str labels[] = {
        STR("1"), STR("2"),  STR("3"),  STR("4"),  STR("5"),  STR("6"),  STR("7"),   STR("8"),
        STR("9"), STR("10"), STR("11"), STR("12"), STR("13"), STR("14"), STR("15+"),
    };
    const struct engine *k = source;
    _Static_assert(LEN(labels) == LEN(k->figures->counts.waits), "a label for each");
    for (size_t i = 0; i < LEN(labels); i++)
        if (histogram_count(&k->figures->counts.waits[i]))
            metric_put_histogram(out, &labels[i], &k->figures->counts.waits[i]);
}

static void read_preemptions(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    metric_put(out, NULL, (double)k->figures->counts.preemptions);
}

static void read_victims(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    metric_put_histogram(out, NULL, &k->figures->counts.victims);
}

/* What the waiting units say of themselves. */
struct waiting {
    const struct engine *engine;
    uint32_t pods[QUEUE_IN_FLIGHT + 1]; /* by place */
    uint32_t gated;
    VEC(uint32_t) refused; /* pods by profile and plugin */
};

/* A gang is as many as wait in it. */
static uint32_t pods_of(const struct engine *k, uint32_t unit)
{
    if (!engine_gang_led_by(k, unit))
        return 1;
    struct presence m = engine_presence(k, groups_of(&k->cluster->groups, (pod_id){unit}));
    return m.ready + m.held;
}

enum { MASK = 64 }; /* bits of a mask of plugins */

static void look_at(void *ctx, uint32_t unit)
{
    struct waiting *w = ctx;
    const struct engine *k = w->engine;
    uint64_t rejectors = queue_rejectors(k->queue, unit);
    uint32_t pods = pods_of(k, unit);
    w->pods[queue_where(k->queue, unit)] += pods;
    w->gated += queue_gate(k->queue, unit) ? pods : 0;
    const struct spec *spec = cluster_spec(k->cluster, (pod_id){unit});
    struct str name = names_text(&k->cluster->names, spec->scheduler_name);
    uint32_t profile = 0;
    while (profile < k->figures->counts.profiles.n &&
           !str_equal(k->figures->counts.profiles.at[profile].name, name))
        profile++;
    for (uint32_t i = 0; i < MASK && profile < k->figures->counts.profiles.n; i++)
        w->refused.at[profile * MASK + i] += rejectors >> i & 1 ? pods : 0;
}

static struct waiting look_at_all(const struct engine *k)
{
    struct waiting w = {.engine = k};
    vec_resize(&w.refused, k->figures->counts.profiles.n * MASK);
    queue_each(k->queue, look_at, &w);
    return w;
}

static void read_pending(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    struct waiting w = look_at_all(k);
    vec_done(&w.refused);
    const struct {
        struct str queue;
        uint32_t n;
    } rows[] = {
        {STR("active"), w.pods[QUEUE_ACTIVE]},
        {STR("backoff"), w.pods[QUEUE_BACKING_OFF]},
        {STR("unschedulable"), w.pods[QUEUE_PARKED] - w.gated},
        {STR("gated"), w.gated},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        metric_put(out, &rows[i].queue, rows[i].n);
}

static void read_refused(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    struct waiting w = look_at_all(k);
    for (uint32_t p = 0; p < k->figures->counts.profiles.n; p++)
        for (uint32_t i = 0; i < MASK; i++)
            if (w.refused.at[p * MASK + i] && (engine_plugin(k, i) || i == EXTENDER_PLUGIN))
                metric_put(out,
                           (struct str[]){i == EXTENDER_PLUGIN ? STR("Extender")
                                                               : str_of(engine_plugin(k, i)->name),
                                          k->figures->counts.profiles.at[p].name},
                           w.refused.at[p * MASK + i]);
    vec_done(&w.refused);
}

/* kube-scheduler's label of what brought a unit to a place. */
static struct str cause_label(uint32_t cause, char *room, size_t n)
{
    static const char *const own[] = {
        [QUEUE_ADDED] = "UnscheduledPodAdd",       [QUEUE_ATTEMPT_ENDED] = "ScheduleAttemptFailure",
        [QUEUE_BACKOFF_ENDED] = "BackoffComplete", [QUEUE_TAKEN_EARLY] = "PopFromBackoffQ",
        [QUEUE_ACTIVATED] = "ForceActivate",       [QUEUE_FLUSHED] = "UnschedulableTimeout",
    };
    static const char *const resources[] = {
        "Node",
        "AssignedPod",
        "TargetPod",
        "", /* EVENT_ANY is no cause */
        "PersistentVolumeClaim",
        "PersistentVolume",
        "storage.k8s.io/StorageClass",
        "storage.k8s.io/CSINode",
        "storage.k8s.io/CSIDriver",
        "storage.k8s.io/CSIStorageCapacity",
        "storage.k8s.io/VolumeAttachment",
        "resource.k8s.io/ResourceClaim",
        "resource.k8s.io/DeviceClass",
        "resource.k8s.io/ResourceSlice",
        "Namespace",
    };
    static const char *const actions[] = {
        "Add",
        "Delete",
        "UpdateNodeAllocatable",
        "UpdateNodeLabel",
        "UpdateNodeTaint",
        "UpdateNodeCondition",
        "UpdateNodeAnnotation",
        "UpdateNodeDeclaredFeature",
        "UpdateNodePreemptionPolicy",
        "UpdatePodLabel",
        "UpdatePodScaleDown",
        "UpdatePodScaleUp",
        "UpdatePodToleration",
        "UpdatePodSchedulingGatesEliminated",
        "UpdatePodGeneratedResourceClaim",
        "Update",
    };
    if (cause < QUEUE_EVENTS)
        return str_of(own[cause]);
    cause -= QUEUE_EVENTS;
    int len = snprintf(room, n, "%s%s", resources[cause / 16], actions[cause % 16]);
    return (struct str){room, (size_t)len};
}

static void read_incoming(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    static const struct {
        enum queue_place place;
        struct str queue;
    } places[] = {
        {QUEUE_ACTIVE, STR("active")},
        {QUEUE_BACKING_OFF, STR("backoff")},
        {QUEUE_PARKED, STR("unschedulable")},
    };
    for (size_t i = 0; i < LEN(places); i++)
        for (uint32_t cause = 0; cause < QUEUE_CAUSES; cause++) {
            char room[64];
            uint64_t n = queue_incoming(k->queue, places[i].place, cause);
            if (n)
                metric_put(out,
                           (struct str[]){places[i].queue, cause_label(cause, room, sizeof(room))},
                           (double)n);
        }
}

static void read_cache_size(const void *source, const struct metric_sink *out)
{
    const struct cluster *c = ((const struct engine *)source)->cluster;
    uint32_t placed = 0, assumed = 0;
    vec_each(&c->pods.rows, row) {
        bool is_placed = row->text && row->node != ID_NONE;
        placed += is_placed;
        assumed += is_placed && row->flags & POD_ASSUMED && !(row->flags & POD_BOUND);
    }
    metric_put(out, &STR("nodes"), c->nodes.present);
    metric_put(out, &STR("pods"), placed);
    metric_put(out, &STR("assumed_pods"), assumed);
}

static void read_ways(const void *source, const struct metric_sink *out)
{
    struct engine_stats s = engine_stats(source);
    metric_put(out, &STR("view"), (double)s.by_view);
    metric_put(out, &STR("scan"), (double)s.by_scan);
    metric_put(out, &STR("named"), (double)s.by_pin);
    metric_put(out, &STR("repeated"), (double)s.repeated);
}

static void read_views(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, engine_stats(source).views);
}

static void read_claims(const void *source, const struct metric_sink *out)
{
    const struct engine *k = source;
    metric_put(out, &STR("success"), (double)k->figures->counts.claims_made);
    metric_put(out, &STR("failure"), (double)k->figures->counts.claims_failed);
}

static void read_ends_learned(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, (double)engine_stats(source).ends_learned);
}

static void read_views_built(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, (double)engine_stats(source).views_built);
}

static void read_views_evicted(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, (double)engine_stats(source).views_evicted);
}

static void read_rows(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, (double)engine_stats(source).rows_caught_up);
}

static void read_classes(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, engine_stats(source).classes);
}

const struct metric engine_metrics[] = {
    METRIC("scheduler_schedule_attempts_total", COUNTER, "result,profile", NULL, read_attempts,
           "Attempts to schedule pods, by how they ended: scheduled (bound), unschedulable (fits "
           "nowhere), error."),
    METRIC("scheduler_pod_scheduling_attempts", HISTOGRAM, NULL, &attempts_bounds,
           read_attempts_of_a_pod, "Attempts that it took until a pod was bound."),
    METRIC("scheduler_pod_scheduling_sli_duration_seconds", HISTOGRAM, "attempts", &pod_wait_bounds,
           read_waits, "Time from a pod's entry into the queue until it was bound, by attempts."),
    METRIC("scheduler_pending_pods", GAUGE, "queue", NULL, read_pending,
           "Pods that wait: active (ready), backoff, unschedulable (until something changes), "
           "gated."),
    METRIC("scheduler_queue_incoming_pods_total", COUNTER, "queue,event", NULL, read_incoming,
           "Pods that came into a queue, by what brought them."),
    METRIC("scheduler_unschedulable_pods", GAUGE, "plugin,profile", NULL, read_refused,
           "Waiting pods, by plugin that refused or holds them; a pod counts for each of them."),
    METRIC("scheduler_cache_size", GAUGE, "type", NULL, read_cache_size,
           "What is known: nodes, pods (on nodes), assumed_pods (placed, not confirmed yet)."),
    METRIC("scheduler_preemption_attempts_total", COUNTER, NULL, NULL, read_preemptions,
           "Attempts to make room for a pod that fits nowhere, successful or not."),
    METRIC("scheduler_preemption_victims", HISTOGRAM, NULL, &victims_bounds, read_victims,
           "Pods that had to go for one that fits nowhere else."),
    METRIC("dynamic_resource_allocation_resourceclaim_creates_total", COUNTER, "status", NULL,
           read_claims,
           "ResourceClaims made for extended resources that devices stand for: success, failure."),
    METRIC("kubenexus_decisions_total", COUNTER, "by", NULL, read_ways,
           "Decisions, by how they were made: view, scan (all nodes), named (a node or a few), "
           "repeated (a refusal that could not have changed)."),
    METRIC("kubenexus_run_times_learned_total", COUNTER, NULL, NULL, read_ends_learned,
           "Pods and gangs that have ended and whose run time was learned, by earlier processes "
           "too where what they learned was kept."),
    METRIC("kubenexus_classes", GAUGE, NULL, NULL, read_classes,
           "Classes: sets of pods that no plugin can tell apart."),
    METRIC("kubenexus_views", GAUGE, NULL, NULL, read_views,
           "Views: classes whose verdict and score of every node are kept."),
    METRIC("kubenexus_views_rebuilt_total", COUNTER, NULL, NULL, read_views_built,
           "Views built from all nodes, the first time or again."),
    METRIC("kubenexus_views_evicted_total", COUNTER, NULL, NULL, read_views_evicted,
           "Views given up for lack of memory."),
    METRIC("kubenexus_view_rows_total", COUNTER, NULL, NULL, read_rows,
           "Nodes judged anew because they had changed since a view's last decision."),
};
const uint32_t n_engine_metrics = LEN(engine_metrics);
