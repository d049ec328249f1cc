#include "core/engine/preemption/preemption.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/stage.h"
#include "support/test.h"

/* Who goes for whom where queues say so: stories of one node n, whose pods have run for a while. */

#define IN "label:scheduling.kubenexus.io/queue="

static void queue(struct stage *s, const char *name, const char *spec)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'%s'},'spec':{'namespaces':{'selector':{}}%s%s}}",
              name, *spec ? "," : "", spec);
}

/* "QUEUE GUARANTEED [PARENT];…": GPUs. */
static void put_queues(struct stage *s, const char *lines)
{
    struct str rest = str_of(lines);
    while (rest.n) {
        struct str line = str_take(&rest, ';'), name = str_take(&line, ' ');
        struct str gpus = str_take(&line, ' ');
        char text[64] = "", spec[200];
        memcpy(text, name.p, name.n);
        snprintf(spec, sizeof(spec), "'guaranteed':{'nvidia.com/gpu':'" STR_FMT "'}%s" STR_FMT "%s",
                 STR_ARG(gpus), line.n ? ",'parent':'" : "", STR_ARG(line), line.n ? "'" : "");
        queue(s, text, spec);
    }
}

static void put_pods(struct stage *s, const char *lines, const char *words)
{
    struct str rest = str_of(lines);
    while (rest.n) {
        struct str line = str_take(&rest, ';');
        stage_put(s, "pod " STR_FMT " scheduler=kubenexus-scheduler%s", STR_ARG(line), words);
    }
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static const char *evicted(struct stage *s)
{
    struct str names[100];
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_EVICT && n < LEN(names))
            names[n++] = e->pod;
    if (n > 1)
        qsort(names, n, sizeof(*names), by_text);
    buf_clear(&s->text);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&s->text, "%s" STR_FMT, i ? " " : "", STR_ARG(names[i]));
    return n ? s->text.p : "";
}

struct story {
    const char *name;
    int gpus;
    const char *queues, *running, *comes;
    const char *evicted;
};

static const struct story stories[] = {
    {"a guarantee is taken back from the youngest (example 5)", 16, "a 8;b 8",
     "b1-0 gpu=2 gang=b1:2 started=1 " IN "b;b1-1 gpu=2 gang=b1:2 started=1 " IN
     "b;b2-0 gpu=2 gang=b2:2 started=2 " IN "b;b2-1 gpu=2 gang=b2:2 started=2 " IN
     "b;b3-0 gpu=2 gang=b3:2 started=3 " IN "b;b3-1 gpu=2 gang=b3:2 started=3 " IN
     "b;b4-0 gpu=2 gang=b4:2 started=4 " IN "b;b4-1 gpu=2 gang=b4:2 started=4 " IN "b",
     "a-0 gpu=4 gang=a:2 " IN "a;a-1 gpu=4 gang=a:2 " IN "a", "b3-0 b3-1 b4-0 b4-1"},
    {"pods beyond a minimum go first (example 6)", 6, "a 2;b 2",
     "b-0 gpu=1 gang=b:2 started=1 " IN "b;b-1 gpu=1 gang=b:2 started=1 " IN
     "b;b-2 gpu=1 gang=b:2 started=1 " IN "b;b-3 gpu=1 gang=b:2 started=1 " IN
     "b;b-4 gpu=1 gang=b:2 started=1 " IN "b;b-5 gpu=1 gang=b:2 started=1 " IN "b",
     "a-0 gpu=1 gang=a:2 " IN "a;a-1 gpu=1 gang=a:2 " IN "a", "b-4 b-5"},
    {"a gang that is partly borrowed goes whole (example 7)", 16, "a 8;b 8",
     "small gpu=4 started=1 " IN "b;big-0 gpu=6 gang=big:2 started=2 " IN
     "b;big-1 gpu=6 gang=big:2 started=2 " IN "b",
     "a-0 gpu=4 gang=a:2 " IN "a;a-1 gpu=4 gang=a:2 " IN "a", "big-0 big-1"},
    {"what is covered at any level is safe (example 20)", 5, "ml 0;a 2 ml;b 0 ml;ops 1",
     "b-0 gpu=1 started=1 " IN "b;b-1 gpu=1 started=2 " IN "b;b-2 gpu=1 started=2 " IN
     "b;a-0 gpu=1 started=3 " IN "a;a-1 gpu=1 started=4 " IN "a",
     "ops gpu=1 " IN "ops", "b-2"},
    {"a queue beyond its guarantee takes nothing from others", 4, "a 1;b 0",
     "a-0 gpu=1 started=1 " IN "a;b-0 gpu=3 started=2 " IN "b", "a-1 gpu=1 " IN "a", ""},
    {"priority acts in its own queue alone (example 19)", 4, "a 0;b 0",
     "a-0 gpu=1 started=1 " IN "a;a-1 gpu=1 started=2 " IN "a;b-0 gpu=2 started=3 " IN "b",
     "hot gpu=1 priority=9 " IN "a", "a-1"},
    {"what is covered is never taken by what is not (example 15)", 6, "a 4",
     "y gpu=4 started=1 " IN "a", "z gpu=6 priority=1 " IN "a", ""},
    {"nobody is evicted beyond guarantees (example 14)", 6, "a 3;b 3",
     "a-0 gpu=5 started=1 " IN "a;b-0 gpu=1 started=2 " IN "b", "a-1 gpu=1 " IN "a", ""},
    {"who may not be evicted is not", 4, "a 4;b 0",
     "b-0 gpu=2 label:workload.kubenexus.io/preemptible=false started=1 " IN
     "b;b-1 gpu=2 started=2 " IN "b",
     "a-0 gpu=4 " IN "a", ""},
    {"who was never given a queue keeps its services", 4, "a 4;b 0",
     "web gpu=2 started=1;job gpu=2 label:workload.kubenexus.io/type=batch started=1",
     "a-0 gpu=2 " IN "a", "job"},
    {"the most important evict by rank, whatever the queue", 2, "a 2;b 0",
     "a-0 gpu=1 started=1 " IN "a;a-1 gpu=1 started=2 " IN "a",
     "system gpu=1 priority=2000000000 " IN "b", "a-1"},
};

static void begin(struct stage *s, const struct story *story)
{
    test_case("%s", story->name);
    s->now_ms = 100000;
    put_queues(s, story->queues);
    stage_put(s, "node n gpu=%d", story->gpus);
    put_pods(s, story->running, " on=n phase=Running");
    stage_run(s);
    put_pods(s, story->comes, "");
    stage_run(s);
}

TEST(reclaim, takes_what_no_guarantee_pays_for)
{
    for (size_t i = 0; i < LEN(stories); i++) {
        AUTO(stage) s = {0};
        begin(&s, &stories[i]);
        EXPECT_TEXT(evicted(&s), stories[i].evicted);
    }
}

/* The victims are gone: the unit starts before anybody else, and a second round does nothing. */
TEST(reclaim, ends_with_the_unit_in_its_place)
{
    AUTO(stage) s = {0};
    begin(&s, &stories[0]);
    static const char *const gone[] = {"b3-0", "b3-1", "b4-0", "b4-1"};
    for (size_t i = 0; i < LEN(gone); i++)
        stage_settle(&s, gone[i], NULL);
    for (size_t i = 0; i < LEN(gone); i++)
        stage_remove(&s, "pod %s", gone[i]);
    put_pods(&s, "b9 gpu=4 created=1 " IN "b", ""); /* older, and it would fit */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a-0"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "a-1"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "b9"), "parked");
    REQUIRE(s.effects.turns.n == 1);
    const struct queue_turn *turn = &s.effects.turns.at[0];
    EXPECT_STR(turn->unit, "default/a");
    EXPECT_INT(turn->class, 0);
    REQUIRE(turn->victims.n == 2);
    EXPECT_STR(turn->victims.at[0].unit, "default/b3");
    EXPECT_INT(turn->victims.at[0].pods, 2);
    EXPECT_INT(turn->victims.at[0].rule, QUEUE_BY_R4);
    stage_run(&s);
    EXPECT_INT(s.effects.turns.n, 0);
    EXPECT_TEXT(evicted(&s), "");
}

TEST(reclaim, tells_victims_whose_guarantee_it_is)
{
    AUTO(stage) s = {0};
    begin(&s, &stories[0]);
    EXPECT_STR(
        stage_effect(&s, "b4-0")->message,
        "for default/a (queue a takes back 8 nvidia.com/gpu of its guaranteed 8; queue b had "
        "borrowed 8; 0.2 GPU-hours lost)");
    AUTO(stage) t = {0};
    begin(&t, &stories[5]);
    EXPECT_STR(stage_effect(&t, "a-1")->message,
               "for default/hot (more important, in queue a; 0.0 GPU-hours lost)");
}

/* What the guarantee is taken back for is held firmly: for somebody of lower priority, too. */
TEST(reclaim, holds_the_room_for_whom_it_was_made)
{
    AUTO(stage) s = {0};
    begin(&s, &(struct story){"firm", 4, "a 2;b 0",
                              "b-0 gpu=2 started=1 " IN "b;b-1 gpu=2 started=2 " IN "b",
                              "a-0 gpu=2 " IN "a", ""});
    EXPECT_TEXT(evicted(&s), "b-1");
    stage_settle(&s, "b-1", NULL);
    put_pods(&s, "b-2 gpu=2 priority=1000 created=1 " IN "b", "");
    stage_remove(&s, "pod b-1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a-0"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "b-2"), "parked");
}

TEST(reclaim, waits_until_a_minimum_has_run_long_enough)
{
    AUTO(stage) s = {0};
    s.now_ms = 100000;
    put_queues(&s, "a 2");
    queue(&s, "b", "'minRunSeconds':60");
    stage_put(&s, "node n gpu=2");
    put_pods(&s, "b-0 gpu=2 started=50 " IN "b", " on=n phase=Running");
    put_pods(&s, "a-0 gpu=2 " IN "a", "");
    stage_run(&s);
    EXPECT_TEXT(evicted(&s), "");
    s.now_ms = 109999;
    stage_run(&s);
    EXPECT_TEXT(evicted(&s), "");
    s.now_ms = 110000;
    stage_run(&s);
    EXPECT_TEXT(evicted(&s), "b-0");
}

TEST(reclaim, makes_way_under_a_limit_of_the_own_queue)
{
    AUTO(stage) s = {0};
    s.now_ms = 100000;
    queue(&s, "a", "'max':{'nvidia.com/gpu':'2'}");
    queue(&s, "one", "'maxJobs':1");
    stage_put(&s, "node n gpu=8");
    put_pods(&s,
             "a-0 gpu=1 started=1 " IN "a;a-1 gpu=1 started=2 " IN "a;one-0 gpu=1 started=1 " IN
             "one",
             " on=n phase=Running");
    put_pods(&s, "hot gpu=1 priority=9 " IN "a;cold gpu=1 " IN "a;next gpu=1 priority=9 " IN "one",
             "");
    stage_run(&s);
    EXPECT_TEXT(evicted(&s), "a-1 one-0");
}
