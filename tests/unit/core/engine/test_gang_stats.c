#include "core/engine/gang_stats.h"

#include "core/engine/step/step.h"

#include "core/plugins/args.h"
#include "support/stage.h"
#include "support/test.h"

static bool says(const struct stage *s, const char *line)
{
    return stage_counts(s, gang_metrics, n_gang_metrics, line);
}

#define DECISIONS(outcome, n)                                                                      \
    "kubenexus_gang_scheduling_decisions_total{outcome=\"" outcome "\",namespace=\"default\"} " n

TEST(gang_stats, attempts_waits_and_sizes_of_gangs_are_counted)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    stage_put(&s, "pod a-0 cpu=1 gang=a:3");
    stage_put(&s, "pod a-1 cpu=1 gang=a:3");
    stage_run(&s);
    s.now_ms = 11000;
    stage_run(&s); /* told that one is missing */
    EXPECT(says(&s, DECISIONS("timeout", "1")));
    EXPECT(says(&s, "kubenexus_gang_scheduling_attempts_total{status=\"failure\"} 0"));
    stage_put(&s, "pod a-2 cpu=1 gang=a:3");
    stage_run(&s);
    EXPECT(says(&s, DECISIONS("insufficient_resources", "1")));
    EXPECT(says(&s, "kubenexus_gang_scheduling_attempts_total{status=\"failure\"} 1"));
    EXPECT(says(&s, "kubenexus_waiting_pods{namespace=\"default\"} 3"));
    s.now_ms = 20000;
    stage_put(&s, "node n2 cpu=2 memory=8Gi");
    stage_run(&s);
    EXPECT(says(&s, DECISIONS("success", "1")));
    EXPECT(says(&s, "kubenexus_gang_scheduling_attempts_total{status=\"success\"} 1"));
    EXPECT(says(&s, "kubenexus_gang_waiting_time_seconds_sum{namespace=\"default\"} 20"));
    EXPECT(says(&s, "kubenexus_gang_wait_time_seconds_count 1"));
    EXPECT(says(&s, "kubenexus_pod_group_size_bucket{namespace=\"default\",le=\"5\"} 1"));
    EXPECT(says(&s, "kubenexus_pod_group_size_bucket{namespace=\"default\",le=\"2\"} 0"));
    EXPECT(says(&s, "kubenexus_gang_size_sum 3"));
    EXPECT(says(&s, "kubenexus_waiting_pods{namespace=\"default\"} 0"));
    s.now_ms = 22000;
    stage_settle(&s, "a-0", NULL);
    stage_settle(&s, "a-1", NULL);
    s.now_ms = 25000;
    stage_settle(&s, "a-2", NULL);
    EXPECT(says(&s, "kubenexus_gang_completion_latency_seconds_sum{namespace=\"default\","
                    "gang_size=\"5\"} 25"));
}

static void tell_apart(struct stage *s)
{
    struct coscheduling_args args = COSCHEDULING_DEFAULTS;
    args.counts_groups = true;
    stage_set_gangs(s, &args);
}

#define WAIT(group, n)                                                                             \
    "kubenexus_gang_waiting_time_seconds_sum{namespace=\"default\",pod_group=\"" group "\"} " n

TEST(gang_stats, groups_are_told_apart_where_the_profile_asks_and_until_they_are_gone)
{
    AUTO(stage) s = {0};
    tell_apart(&s);
    for (int i = 0; i < 2; i++) {
        stage_put(&s, "pod a-%d cpu=1 gang=a:2", i);
        stage_put(&s, "pod b-%d cpu=1 gang=b:2", i);
    }
    s.now_ms = 7000;
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_run(&s); /* a has room */
    EXPECT(says(&s, WAIT("a", "7")));
    EXPECT(!says(&s, WAIT("b", "0")));
    EXPECT(says(&s, "kubenexus_gang_wait_time_seconds_count{pod_group=\"default/a\"} 1"));
    EXPECT(says(&s, "kubenexus_gang_size_sum{pod_group=\"default/a\"} 2"));
    EXPECT(says(&s, "kubenexus_gang_size_sum 0"));
    EXPECT(says(&s, "kubenexus_pod_group_size_sum{namespace=\"default\"} 2"));
    EXPECT(says(&s, DECISIONS("success", "1")));
    EXPECT(says(&s, "kubenexus_waiting_pods{namespace=\"default\"} 2"));
    stage_remove(&s, "pod a-0");
    EXPECT(says(&s, WAIT("a", "7")));
    stage_remove(&s, "pod a-1"); /* what it counted is not lost */
    EXPECT(!says(&s, WAIT("a", "7")));
    EXPECT(says(&s, "kubenexus_gang_waiting_time_seconds_sum{namespace=\"default\"} 7"));
    EXPECT(says(&s, "kubenexus_gang_size_sum 2"));
}

TEST(gang_stats, so_many_groups_and_no_more_have_rows_of_their_own)
{
    AUTO(stage) s = {.config.max_unsettled = 2 * (GANG_ROWS_MOST + 3)};
    tell_apart(&s);
    stage_put(&s, "node n1 cpu=100 memory=800Gi pods=2000");
    for (int i = 0; i < GANG_ROWS_MOST + 3; i++)
        for (int m = 0; m < 2; m++)
            stage_put(&s, "pod g%d-%d cpu=1m gang=g%d:2", i, m, i);
    EXPECT_INT(stage_run(&s), 2 * (GANG_ROWS_MOST + 3));
    EXPECT_INT(s.engine->figures->gangs.n, GANG_ROWS_MOST + 1);
    EXPECT(says(&s, "kubenexus_gang_size_sum{pod_group=\"default/g0\"} 2"));
    EXPECT(says(&s, "kubenexus_gang_size_sum 6"));
}

TEST(gang_stats, who_starves_and_what_is_reserved)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=8Gi");
    stage_put(&s, "pod a cpu=2 scheduler=kubenexus-scheduler");
    stage_put(&s, "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1',"
                  "'metadata':{'name':'r','namespace':'other'},'spec':{'resources':{'cpu':'1'}}}");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_resource_reservations{namespace=\"other\"} 1"));
    s.now_ms = 61000;
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_gang_starvation_preventions_total{namespace=\"default\"} 1"));
}

TEST(gang_stats, the_oldest_gang_is_as_old_as_those_of_its_pods_that_wait)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    EXPECT(says(&s, "kubenexus_oldest_waiting_gang_seconds 0"));
    s.now_ms = 10000;
    stage_put(&s, "pod a-0 cpu=1 gang=a:2 on=n1");
    s.now_ms = 30000;
    stage_put(&s, "pod a-1 cpu=2 gang=a:2");
    stage_put(&s, "pod alone cpu=2");
    stage_run(&s);
    s.now_ms = 35000;
    stage_put(&s, "pod b-0 cpu=2 gang=b:2");
    stage_run(&s);
    s.now_ms = 90000;
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_oldest_waiting_gang_seconds 60"));
    stage_remove(&s, "pod a-1");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_oldest_waiting_gang_seconds 55"));
}

TEST(gang_stats, many_namespaces_have_series_together)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 3 * GANG_NAMESPACES_MOST; i++)
        for (int m = 0; m < 2 + i % 3; m++)
            stage_put(&s, "pod g-%d cpu=1 gang=g:9 namespace=n%d", m, i);
    s.now_ms = 20000;
    stage_run(&s);
    uint32_t rows = 0;
    vec_each(&s.engine->figures->gangs, c)
        rows += c->group == SYM_NONE;
    EXPECT(rows <= GANG_NAMESPACES_MOST + 1);
    EXPECT(says(&s, "kubenexus_waiting_pods{namespace=\"n11\"} 4")); /* of those with the most */
    EXPECT(says(&s, "kubenexus_waiting_pods{namespace=\"other\"} 40"));
}

TEST(gang_stats, what_is_served_of_gangs)
{
    static const struct {
        const char *name, *labels;
        enum metric_type type;
        uint32_t bounds;
    } rows[] = {
        {"gang_scheduling_decisions_total", "outcome,namespace", METRIC_COUNTER, 0},
        {"gang_scheduling_attempts_total", "status", METRIC_COUNTER, 0},
        {"gang_waiting_time_seconds", "namespace,pod_group", METRIC_HISTOGRAM, 8},
        {"gang_wait_time_seconds", "pod_group", METRIC_HISTOGRAM, 8},
        {"gang_completion_latency_seconds", "namespace,pod_group,gang_size", METRIC_HISTOGRAM, 8},
        {"gang_starvation_preventions_total", "namespace,pod_group", METRIC_COUNTER, 0},
        {"pod_group_size", "namespace", METRIC_HISTOGRAM, 9},
        {"gang_size", "pod_group", METRIC_HISTOGRAM, 9},
        {"waiting_pods", "namespace,pod_group", METRIC_GAUGE, 0},
        {"oldest_waiting_gang_seconds", NULL, METRIC_GAUGE, 0},
        {"resource_reservations", "namespace", METRIC_GAUGE, 0},
    };
    EXPECT_INT(n_gang_metrics, LEN(rows));
    for (uint32_t i = 0; i < n_gang_metrics; i++) {
        const struct metric *m = &gang_metrics[i];
        EXPECT_TEXT(m->name + strlen("kubenexus_"), rows[i].name);
        EXPECT_TEXT(m->labels, rows[i].labels);
        EXPECT_INT(m->type, rows[i].type);
        EXPECT_INT(m->bounds ? m->bounds->n : 0, rows[i].bounds);
    }
}
