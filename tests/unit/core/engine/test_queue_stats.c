#include "core/engine/queue_stats.h"

#include "core/engine/step/step.h"
#include "core/wire/metric_text.h"
#include "support/stage.h"
#include "support/test.h"

#define OURS "scheduler=kubenexus-scheduler"
#define IN   "label:scheduling.kubenexus.io/queue="

static bool says(const struct stage *s, const char *line)
{
    return stage_counts(s, queue_metrics, n_queue_metrics, line);
}

/* Is it anywhere on the page? */
static bool has(const struct stage *s, const char *part)
{
    AUTO(buf) page = {0};
    buf_add_char(&page, '\n');
    metric_text_add(&page, queue_metrics, n_queue_metrics, s->engine);
    return strstr(page.p, part) != NULL;
}

static void queue(struct stage *s, const char *name, const char *spec)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'%s'},'spec':{'namespaces':{'selector':{}}%s%s}}",
              name, *spec ? "," : "", spec);
}

TEST(queue_stats, without_queues_there_are_none)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "pod p gpu=2 " OURS);
    stage_run(&s);
    EXPECT(!has(&s, "kubenexus_queue"));
}

TEST(queue_stats, tell_how_queues_stand_and_what_happened)
{
    AUTO(stage) s = {0};
    queue(&s, "a",
          "'guaranteed':{'nvidia.com/gpu':2},'max':{'nvidia.com/gpu':3},"
          "'budgets':[{'resource':'nvidia.com/gpu','hours':10,'window':'Day'}]");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=4");
    stage_put(&s, "pod p gpu=2 " IN "a " OURS);
    stage_put(&s, "pod q gpu=2 " IN "a " OURS);
    stage_put(&s, "pod r gpu=1 " IN "b " OURS);
    stage_run(&s);
    s.now_ms += 3600000;
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_queue_guaranteed{queue=\"a\",resource=\"nvidia.com/gpu\"} 2"));
    EXPECT(says(&s, "kubenexus_queue_entitled{queue=\"a\",resource=\"nvidia.com/gpu\"} 3"));
    EXPECT(says(&s, "kubenexus_queue_max{queue=\"a\",resource=\"nvidia.com/gpu\"} 3"));
    EXPECT(has(&s, "kubenexus_queue_max{queue=\"a\"") &&
           !has(&s, "kubenexus_queue_max{queue=\"b\""));
    EXPECT(says(&s, "kubenexus_queue_used{queue=\"a\",resource=\"nvidia.com/gpu\"} 2"));
    EXPECT(says(&s, "kubenexus_queue_borrowed{queue=\"b\",resource=\"nvidia.com/gpu\"} 1"));
    EXPECT(says(&s, "kubenexus_queue_lent{queue=\"a\",resource=\"nvidia.com/gpu\"} 0"));
    EXPECT(says(&s, "kubenexus_queue_waiting{queue=\"a\",resource=\"nvidia.com/gpu\"} 2"));
    EXPECT(says(&s, "kubenexus_queue_share{queue=\"b\"} 0.25"));
    EXPECT(says(&s, "kubenexus_queue_jobs{queue=\"a\",state=\"running\"} 1"));
    EXPECT(says(&s, "kubenexus_queue_jobs{queue=\"a\",state=\"waiting\"} 1"));
    EXPECT(says(&s, "kubenexus_queue_jobs{queue=\"a\",state=\"blocked\"} 1"));
    EXPECT(says(&s, "kubenexus_queue_wait_seconds_count{queue=\"a\"} 1"));
    EXPECT(says(&s, "kubenexus_queue_usage_seconds_total{queue=\"a\",resource=\"nvidia.com/gpu\"} "
                    "7200"));
    EXPECT(says(&s, "kubenexus_queue_budget_hours{queue=\"a\",resource=\"nvidia.com/gpu\",window="
                    "\"Day\"} 10"));
    EXPECT(says(&s, "kubenexus_queue_budget_spent_hours{queue=\"a\",resource=\"nvidia.com/gpu\","
                    "window=\"Day\"} 2"));
    EXPECT(says(&s, "kubenexus_queue_refusals_total{queue=\"a\",rule=\"A2\"} 1"));
}

TEST(queue_stats, who_went_for_whom_is_counted)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'nvidia.com/gpu':4}");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=4");
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod b%d gpu=1 " IN "b " OURS, i);
    stage_run(&s);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod b%d gpu=1 on=n started=%d " IN "b " OURS, i, i);
    stage_put(&s, "pod a gpu=2 " IN "a " OURS);
    stage_run(&s);
    uint32_t gone = 0;
    bool goes[4];
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "b%d", i);
        const struct effect *e = stage_effect(&s, name);
        goes[i] = e && e->kind == EFFECT_EVICT;
        if (goes[i])
            stage_settle(&s, name, NULL);
        gone += goes[i];
    }
    for (int i = 0; i < 4; i++) /* effects speak of pods as long as these are there */
        if (goes[i])
            stage_remove(&s, "pod b%d gpu=1 " IN "b " OURS, i);
    EXPECT_INT(gone, 2);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n");
    EXPECT(says(&s, "kubenexus_queue_evictions_total{queue=\"b\",by=\"a\",kind=\"reclaim\"} 2"));
}

TEST(queue_stats, of_many_queues_the_last_are_one)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < QUEUES_SHOWN + 5; i++) {
        char name[16];
        snprintf(name, sizeof(name), "q%04d", i);
        queue(&s, name, "'guaranteed':{'nvidia.com/gpu':1}");
    }
    stage_put(&s, "node n gpu=2000");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_queue_guaranteed{queue=\"q0998\",resource=\"nvidia.com/gpu\"} 1"));
    EXPECT(says(&s, "kubenexus_queue_guaranteed{queue=\"other\",resource=\"nvidia.com/gpu\"} 6"));
}

TEST(queue_stats, queues_that_only_pods_name_take_no_names_from_others)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'max':{'cpu':'1'}");
    stage_put(&s, "node n cpu=8");
    for (uint32_t i = 0; i < 1001; i++)
        stage_put(&s, "pod p%u cpu=1 " IN "q%u " OURS, i, i);
    stage_run(&s);
    stage_put(&s, "pod p cpu=2 " IN "a " OURS);
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_queue_refusals_total{queue=\"other\",rule=\"A1\"} 1001"));
    EXPECT(says(&s, "kubenexus_queue_refusals_total{queue=\"a\",rule=\"A2\"} 1"));
}
