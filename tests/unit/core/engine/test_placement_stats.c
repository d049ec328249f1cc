#include "core/engine/placement_stats.h"

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define MODEL         "label:gpu.kubenexus.io/model="
#define OURS          " scheduler=kubenexus-scheduler "
#define ZONE(i, what) " label:numa.kubenexus.io/node-" #i "-" what

static bool says(const struct stage *s, const char *line)
{
    return stage_counts(s, placement_metrics, n_placement_metrics, line);
}

TEST(placement_stats, a_decision_counts_once_and_by_who_refused)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=2 gpu=2");
    stage_put(&s, "node m cpu=2 gpu=2");
    stage_put(&s, "pod a cpu=1 gpu=1 label:workload.kubenexus.io/type=training");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_scheduling_attempts_total{result=\"scheduled\"} 1"));
    EXPECT(says(&s, "kubenexus_gpu_allocation_success_total{workload_type=\"training\",gpu_count="
                    "\"1\",topology_aware=\"true\"} 1"));
    EXPECT(says(&s, "kubenexus_gpu_data_source_usage_total{source=\"none\"} 1"));
    stage_put(&s, "pod b cpu=1 gpu=8 label:workload.kubenexus.io/type=batch");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_scheduling_attempts_total{result=\"unschedulable\",plugin="
                    "\"NodeResourcesFit\"} 1"));
    EXPECT(says(&s, "kubenexus_gpu_allocation_failures_total{reason=\"NodeResourcesFit\","
                    "workload_type=\"batch\"} 1"));
    EXPECT(says(&s, "kubenexus_scheduling_attempts_total{result=\"scheduled\"} 1"));
}

/* Four GPUs are an island: broken by one, started by another, filled by the third. */
TEST(placement_stats, what_a_placement_does_to_an_island_is_counted)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=4 label:nvidia.com/gpu.topology=nvlink");
    stage_put(&s, "pod a cpu=1 gpu=1" OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_fragmentation_events_total{event_type=\"island_broken\",prevented="
                    "\"false\"} 1"));
    EXPECT(says(&s, "kubenexus_island_protection_events_total{protection_type=\"pristine_island\","
                    "prevented=\"false\"} 1"));
    EXPECT(says(&s, "kubenexus_fragmentation_score_sum{resource_type=\"gpu\"} 75"));
    stage_put(&s, "pod b cpu=1 gpu=1" OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_fragmentation_events_total{event_type=\"island_broken\",prevented="
                    "\"true\"} 1"));
    stage_put(&s, "pod c cpu=1 gpu=2" OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_perfect_fit_placements_total{island_size=\"4\",topology_type="
                    "\"nvlink\"} 1"));
    EXPECT(says(&s, "kubenexus_island_completions_total{island_size=\"4\",topology_quality="
                    "\"nvlink\"} 1"));
    EXPECT(says(&s, "kubenexus_topology_decisions_total{topology_type=\"nvlink\",success=\"true\","
                    "constraint_type=\"preferred\"} 1"));
    EXPECT(says(&s, "kubenexus_topology_quality_score_sum{topology_type=\"nvlink\"} 100"));
    EXPECT(says(&s, "kubenexus_island_quality_score_sum{topology_type=\"nvlink\"} 240"));
    EXPECT(says(&s, "kubenexus_fragmentation_score_sum{resource_type=\"gpu\"} 125"));
}

TEST(placement_stats, a_whole_island_that_is_filled_at_once_is_a_perfect_fit_and_none_broken)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=8");
    stage_put(&s, "pod a cpu=1 gpu=8" OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_perfect_fit_placements_total{island_size=\"8\",topology_type="
                    "\"unknown\"} 1"));
    EXPECT_INT(s.engine->figures->placements.fragmented.n, 0);
    EXPECT_INT(s.engine->figures->placements.completed.n, 0);
}

TEST(placement_stats, memory_of_gpus_that_is_asked_for_is_counted)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8 gpu=2 label:gpu.kubenexus.io/vram=80Gi");
    stage_put(&s, "pod a cpu=1 gpu=2 label:workload.kubenexus.io/type=inference "
                  "note:scheduling.kubenexus.io/vram-request=40G" OURS);
    stage_put(&s, "pod b cpu=1 gpu=1 label:workload.kubenexus.io/type=inference "
                  "note:scheduling.kubenexus.io/vram-request=100G" OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_vram_placement_decisions_total{outcome=\"placed\",workload_type="
                    "\"inference\",data_source=\"manual_labels\"} 1"));
    EXPECT(says(&s, "kubenexus_vram_placement_decisions_total{outcome=\"refused\",workload_type="
                    "\"inference\"} 1"));
    EXPECT(says(&s, "kubenexus_vram_requested_bytes_sum{namespace=\"default\",workload_type="
                    "\"inference\"} 80000000000"));
    EXPECT(says(&s, "kubenexus_gpu_data_source_usage_total{source=\"manual_labels\"} 1"));
}

TEST(placement_stats, where_on_numa_nodes_pods_lie_is_counted)
{
    AUTO(stage) s = {0};
    stage_put(&s,
              "node n cpu=32 memory=128Gi label:numa.kubenexus.io/node-count=2" ZONE(0, "cpus=0-15")
                  ZONE(1, "cpus=16-31") ZONE(0, "memory=68719476736") ZONE(1, "memory=68719476736")
                      ZONE(0, "distance-1=21") ZONE(1, "distance-0=21"));
    stage_put(&s, "pod a cpu=8 memory=1Gi label:workload.kubenexus.io/type=batch "
                  "note:scheduling.kubenexus.io/numa-policy=single-numa-node" OURS);
    stage_put(&s, "pod b cpu=20 memory=1Gi label:workload.kubenexus.io/type=batch "
                  "note:scheduling.kubenexus.io/numa-policy=best-effort" OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_numa_placement_decisions_total{policy=\"single-numa-node\",outcome="
                    "\"single_numa\",workload_type=\"batch\"} 1"));
    EXPECT(says(&s, "kubenexus_numa_placement_decisions_total{policy=\"best-effort\",outcome="
                    "\"cross_numa\",workload_type=\"batch\"} 1"));
    EXPECT(says(&s, "kubenexus_topology_decisions_total{topology_type=\"numa\",success=\"true\","
                    "constraint_type=\"required\"} 1"));
    EXPECT(says(&s, "kubenexus_topology_decisions_total{topology_type=\"numa\",success=\"false\","
                    "constraint_type=\"preferred\"} 1"));
    EXPECT(says(&s, "kubenexus_numa_fit_quality_score_count{policy=\"single-numa-node\"} 1"));
    EXPECT(says(&s, "kubenexus_numa_distance_penalty_total{distance_level=\"near\"} 1"));
}

TEST(placement_stats, many_namespaces_have_series_together)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=800 gpu=32 label:gpu.kubenexus.io/vram=80Gi");
    for (int i = 0; i < 3 * PLACEMENT_NAMESPACES; i++)
        stage_put(
            &s, "pod a cpu=1 gpu=1 namespace=n%d note:scheduling.kubenexus.io/vram-request=4G" OURS,
            i);
    EXPECT_INT(stage_run(&s), 3 * PLACEMENT_NAMESPACES);
    EXPECT_INT(s.engine->figures->placements.vram_asked.n, PLACEMENT_NAMESPACES + 1);
}

/* Of the contract's table those that are served; DESIGN and docs/reference say why others are not.
 */
TEST(placement_stats, what_is_served_of_placements)
{
    static const struct {
        const char *name, *labels;
        enum metric_type type;
        uint32_t bounds;
    } rows[] = {
        {"scheduling_attempts_total", "result,plugin", METRIC_COUNTER, 0},
        {"vram_placement_decisions_total", "outcome,workload_type,data_source", METRIC_COUNTER, 0},
        {"vram_requested_bytes", "namespace,workload_type", METRIC_HISTOGRAM, 8},
        {"topology_decisions_total", "topology_type,success,constraint_type", METRIC_COUNTER, 0},
        {"topology_quality_score", "topology_type", METRIC_HISTOGRAM, 7},
        {"gpu_data_source_usage_total", "source", METRIC_COUNTER, 0},
        {"gpu_allocation_success_total", "workload_type,gpu_count,topology_aware", METRIC_COUNTER,
         0},
        {"gpu_allocation_failures_total", "reason,workload_type", METRIC_COUNTER, 0},
        {"fragmentation_events_total", "event_type,prevented", METRIC_COUNTER, 0},
        {"fragmentation_score", "resource_type", METRIC_HISTOGRAM, 8},
        {"island_protection_events_total", "protection_type,prevented", METRIC_COUNTER, 0},
        {"perfect_fit_placements_total", "island_size,topology_type", METRIC_COUNTER, 0},
        {"island_completions_total", "island_size,topology_quality", METRIC_COUNTER, 0},
        {"island_quality_score", "topology_type", METRIC_HISTOGRAM, 4},
        {"numa_placement_decisions_total", "policy,outcome,workload_type", METRIC_COUNTER, 0},
        {"numa_fit_quality_score", "policy", METRIC_HISTOGRAM, 7},
        {"numa_distance_penalty_total", "distance_level", METRIC_COUNTER, 0},
        {"numa_gang_affinity_success_total", "gang_policy,numa_id", METRIC_COUNTER, 0},
    };
    EXPECT_INT(n_placement_metrics, LEN(rows));
    for (uint32_t i = 0; i < n_placement_metrics && i < LEN(rows); i++) {
        const struct metric *m = &placement_metrics[i];
        EXPECT_TEXT(m->name + strlen("kubenexus_"), rows[i].name);
        EXPECT_TEXT(m->labels, rows[i].labels);
        EXPECT_INT(m->type, rows[i].type);
        EXPECT_INT(m->bounds ? m->bounds->n : 0, rows[i].bounds);
    }
}
