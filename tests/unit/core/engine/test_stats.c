#include "core/engine/stats.h"

#include "support/stage.h"
#include "support/test.h"

static bool says(const struct stage *s, const char *line)
{
    return stage_counts(s, engine_metrics, n_engine_metrics, line);
}

#define ATTEMPTS(result, n)                                                                        \
    "scheduler_schedule_attempts_total{result=\"" result "\",profile=\"default-scheduler\"} " n

TEST(stats, an_attempt_counts_when_its_outcome_is_known)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_put(&s, "pod b cpu=1");
    stage_put(&s, "pod c cpu=1");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a")->profile, "default-scheduler");
    EXPECT(says(&s, ATTEMPTS("scheduled", "0")));
    EXPECT(says(&s, ATTEMPTS("unschedulable", "1")));
    EXPECT(says(&s, "scheduler_cache_size{type=\"assumed_pods\"} 2"));
    s.now_ms = 15;
    stage_settle(&s, "a", NULL);
    stage_settle(&s, "b", "gone wrong");
    EXPECT(says(&s, ATTEMPTS("scheduled", "1")));
    EXPECT(says(&s, ATTEMPTS("error", "1")));
    EXPECT(says(&s, "scheduler_pod_scheduling_attempts_count 1"));
    EXPECT(says(
        &s, "scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"1\",le=\"0.01\"} 0"));
    EXPECT(says(
        &s, "scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"1\",le=\"0.02\"} 1"));
    EXPECT(says(&s, "scheduler_cache_size{type=\"pods\"} 1"));
    EXPECT(says(&s, "scheduler_cache_size{type=\"nodes\"} 1"));
}

TEST(stats, waiting_pods_are_told_by_queue_and_by_who_refused_them)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "node n2 cpu=2 memory=4Gi cordoned");
    stage_put(&s, "pod a cpu=4");
    stage_put(&s, "pod b cpu=3");
    stage_put(&s, "pod c gate:wait cpu=1");
    stage_run(&s);
    stage_put(&s, "pod d cpu=1");
    EXPECT(says(&s, "scheduler_pending_pods{queue=\"active\"} 1"));
    EXPECT(says(&s, "scheduler_pending_pods{queue=\"backoff\"} 0"));
    EXPECT(says(&s, "scheduler_pending_pods{queue=\"unschedulable\"} 2"));
    EXPECT(says(&s, "scheduler_pending_pods{queue=\"gated\"} 1"));
    static const char *const plugins[][2] = {
        {"NodeResourcesFit", "2"}, {"NodeUnschedulable", "2"}, {"SchedulingGates", "1"}};
    for (size_t i = 0; i < LEN(plugins); i++) {
        char line[128];
        snprintf(line, sizeof(line),
                 "scheduler_unschedulable_pods{plugin=\"%s\",profile=\"default-scheduler\"} %s",
                 plugins[i][0], plugins[i][1]);
        EXPECT(says(&s, line));
    }
    EXPECT(says(
        &s, "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"UnscheduledPodAdd\"} 3"));
    stage_put(&s, "node n3 cpu=8 memory=4Gi");
    EXPECT(says(&s, "scheduler_queue_incoming_pods_total{queue=\"backoff\",event=\"NodeAdd\"} 2"));
}

TEST(stats, gangs_are_counted_by_their_pods)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    for (int i = 0; i < 2; i++) {
        stage_put(&s, "pod a-%d cpu=1 gang=a:2", i); /* is placed */
        stage_put(&s, "pod b-%d cpu=1 gang=b:2", i); /* finds no room */
        stage_put(&s, "pod c-%d cpu=1 gang=c:3", i); /* lacks one */
    }
    stage_run(&s);
    EXPECT(says(&s, "scheduler_pending_pods{queue=\"unschedulable\"} 2"));
    EXPECT(says(&s, "scheduler_pending_pods{queue=\"gated\"} 2"));
}

TEST(stats, preemption_counts_attempts_and_victims)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "pod a cpu=1 priority=0");
    stage_put(&s, "pod b cpu=1 priority=0");
    stage_run(&s);
    stage_settle(&s, "a", NULL);
    stage_settle(&s, "b", NULL);
    stage_put(&s, "pod a cpu=1 priority=0 on=n1");
    stage_put(&s, "pod b cpu=1 priority=0 on=n1");
    stage_put(&s, "pod c cpu=3 priority=10"); /* in vain: the node is too small */
    stage_run(&s);
    EXPECT(says(&s, "scheduler_preemption_attempts_total 1"));
    EXPECT(says(&s, "scheduler_preemption_victims_count 0"));
    stage_put(&s, "pod d cpu=2 priority=10");
    stage_run(&s);
    EXPECT(says(&s, "scheduler_preemption_attempts_total 2"));
    EXPECT(says(&s, "scheduler_preemption_victims_sum 2"));
    EXPECT(says(&s, "scheduler_preemption_victims_bucket{le=\"2\"} 1"));
}

TEST(stats, every_metric_has_a_name_a_help_and_a_reader)
{
    for (uint32_t i = 0; i < n_engine_metrics; i++) {
        const struct metric *m = &engine_metrics[i];
        test_case("%s", m->name);
        bool is_counter = str_ends(str_of(m->name), STR("_total"));
        EXPECT(m->help && m->help[strlen(m->help) - 1] == '.' && m->read);
        EXPECT(is_counter == (m->type == METRIC_COUNTER));
        EXPECT((m->bounds != NULL) == (m->type == METRIC_HISTOGRAM));
    }
}
