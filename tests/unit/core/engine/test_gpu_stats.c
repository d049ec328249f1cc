#include "core/engine/gpu_stats.h"

#include <stdlib.h>
#include <time.h>

#include "core/base/rng.h"
#include "core/engine/step/step.h"
#include "core/wire/metric_text.h"
#include "support/stage.h"
#include "support/test.h"

#define MODEL "label:gpu.kubenexus.io/model="
#define RACK  "label:network.kubenexus.io/rack-id="

static bool says(const struct stage *s, const char *line)
{
    return stage_counts(s, gpu_metrics, n_gpu_metrics, line);
}

static void scrape(const struct stage *s, struct buf *page)
{
    buf_clear(page);
    metric_text_add(page, engine_metrics, n_engine_metrics, s->engine);
    metric_text_add(page, gang_metrics, n_gang_metrics, s->engine);
    metric_text_add(page, gpu_metrics, n_gpu_metrics, s->engine);
    metric_text_add(page, placement_metrics, n_placement_metrics, s->engine);
    buf_add_char(page, '\0');
}

/* The sum of all samples whose lines begin so, and hold this. */
static double sum_of(const struct buf *page, const char *begins, const char *holds)
{
    double sum = 0;
    struct str rest = {page->p, page->n - 1};
    while (rest.n) {
        struct str line = str_take(&rest, '\n');
        char text[400];
        snprintf(text, sizeof(text), STR_FMT, STR_ARG(line));
        if (strncmp(text, begins, strlen(begins)) == 0 && strstr(text, holds))
            sum += strtod(strrchr(text, ' '), NULL);
    }
    return sum;
}

TEST(gpu_stats, a_gpu_is_in_one_state)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node whole gpu=4 " MODEL "H100 " RACK "r1");
    stage_put(&s, "node started gpu=4 " MODEL "H100 " RACK "r2");
    stage_put(&s, "node full gpu=2 " MODEL "L4");
    stage_put(&s, "node cpu cpu=8 " RACK "r3");
    stage_put(&s, "pod a gpu=1 on=started namespace=red");
    stage_put(&s, "pod b gpu=2 on=full namespace=blue");
    stage_put(&s, "pod c note:gpu-fraction=0.5 on=started namespace=blue");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_gpus{state=\"whole\",model=\"H100\"} 4"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"fragment\",model=\"H100\"} 2"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"used\",model=\"H100\"} 2"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"used\",model=\"L4\"} 2"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"whole\",model=\"L4\"} 0"));
    EXPECT(says(&s, "kubenexus_gpus_by_rack{state=\"whole\",rack=\"r1\"} 4"));
    EXPECT(says(&s, "kubenexus_gpus_by_rack{state=\"used\",rack=\"r2\"} 2"));
    EXPECT(says(&s, "kubenexus_gpus_by_rack{state=\"used\"} 2")); /* it names none */
    EXPECT(says(&s, "kubenexus_gpus_by_tenant{tenant=\"red\"} 1"));
    EXPECT(says(&s, "kubenexus_gpus_by_tenant{tenant=\"blue\"} 2.5"));
    EXPECT(says(&s, "kubenexus_gpu_islands{state=\"whole\",model=\"H100\"} 1"));
    EXPECT(says(&s, "kubenexus_gpu_islands{state=\"started\",model=\"H100\"} 1"));
    EXPECT(says(&s, "kubenexus_gpu_islands{state=\"full\",model=\"L4\"} 1"));
}

TEST(gpu_stats, room_that_is_reserved_or_held_is_told_apart)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8 cpu=8 memory=32Gi");
    stage_put(&s, "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1',"
                  "'metadata':{'name':'r','namespace':'default'},'spec':{'resources':"
                  "{'nvidia.com/gpu':'3'}}}");
    stage_run(&s);
    EXPECT(says(&s, "kubenexus_gpus{state=\"reserved\"} 3"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"fragment\"} 5"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"used\"} 0"));
    stage_put(&s, "pod d scheduler=kubenexus-scheduler cpu=1 label:spark-app-id=a "
                  "note:kubenexus.io/executor-count=2 note:kubenexus.io/executor-cpu=1 "
                  "note:kubenexus.io/executor-memory=1 note:kubenexus.io/executor-gpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n");
    EXPECT(says(&s, "kubenexus_gpus{state=\"reserved\"} 3"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"held\"} 4"));
    EXPECT(says(&s, "kubenexus_gpus{state=\"fragment\"} 1"));
}

TEST(gpu_stats, what_an_eviction_costs_is_counted_when_it_is_carried_out)
{
    AUTO(stage) s = {.now_ms = 1000000};
    stage_put(&s, "node n gpu=4 cpu=8");
    stage_put(&s, "pod low gpu=4 cpu=1 on=n started=900");
    stage_put(&s, "pod high gpu=4 cpu=1 priority=10");
    stage_run(&s);
    REQUIRE(stage_effect(&s, "low") && stage_effect(&s, "low")->kind == EFFECT_EVICT);
    EXPECT(says(&s, "kubenexus_gpu_evicted_seconds_total 0"));
    stage_settle(&s, "low", NULL);
    EXPECT(says(&s, "kubenexus_gpu_evicted_seconds_total 400"));
}

/* --- many worlds --- */

enum { NODES = 40, MODELS = 12, RACKS = 40, TENANTS = 20 };

/* What the test itself knows. */
struct world {
    struct stage stage;
    struct rng rng;
    uint32_t gpus[NODES], used[NODES], model[NODES], rack[NODES];
    uint32_t by_tenant[TENANTS];
    uint32_t pods;
};

static void world_done(struct world *w)
{
    stage_done(&w->stage);
}

static void add_node(struct world *w, uint32_t i)
{
    w->gpus[i] = (uint32_t)rng_below(&w->rng, 9);
    w->model[i] = (uint32_t)rng_below(&w->rng, MODELS);
    w->rack[i] = (uint32_t)rng_below(&w->rng, RACKS);
    stage_put(&w->stage, "node n%u cpu=64 gpu=%u " MODEL "m%u " RACK "r%u", i, w->gpus[i],
              w->model[i], w->rack[i]);
}

static void add_pod(struct world *w)
{
    uint32_t node = (uint32_t)rng_below(&w->rng, NODES), left = w->gpus[node] - w->used[node];
    uint32_t n = left ? 1 + (uint32_t)rng_below(&w->rng, left) : 0;
    uint32_t tenant = (uint32_t)rng_below(&w->rng, TENANTS);
    stage_put(&w->stage, "pod p%u cpu=1 gpu=%u on=n%u namespace=t%u", w->pods++, n, node, tenant);
    w->used[node] += n;
    w->by_tenant[tenant] += n;
}

struct told {
    uint32_t whole, fragment, used, islands[3];
};

static struct told recount(const struct world *w, uint32_t model)
{
    struct told t = {0};
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t idle = w->gpus[i] - w->used[i];
        if (w->gpus[i] == 0 || (model != UINT32_MAX && w->model[i] != model))
            continue;
        t.used += w->used[i];
        *(w->used[i] ? &t.fragment : &t.whole) += idle;
        t.islands[w->used[i] == 0 ? 0 : idle ? 1 : 2]++;
    }
    return t;
}

static void expect_all(const struct world *w, const struct buf *page)
{
    struct told t = recount(w, UINT32_MAX);
    static const char *const tables[] = {"kubenexus_gpus{", "kubenexus_gpus_by_rack{"};
    for (size_t i = 0; i < LEN(tables); i++) {
        EXPECT_REAL(sum_of(page, tables[i], "\"whole\""), t.whole);
        EXPECT_REAL(sum_of(page, tables[i], "\"fragment\""), t.fragment);
        EXPECT_REAL(sum_of(page, tables[i], "\"used\""), t.used);
    }
    EXPECT_REAL(sum_of(page, "kubenexus_gpus_by_tenant{", ""), t.used);
    EXPECT_REAL(sum_of(page, "kubenexus_gpu_islands{", "\"whole\""), t.islands[0]);
    EXPECT_REAL(sum_of(page, "kubenexus_gpu_islands{", "\"started\""), t.islands[1]);
    EXPECT_REAL(sum_of(page, "kubenexus_gpu_islands{", "\"full\""), t.islands[2]);
}

/* Those that have series of their own; the others are one. */
static void expect_each(const struct world *w, const struct buf *page)
{
    for (uint32_t model = 0; model < MODELS; model++) {
        char label[32];
        struct told t = recount(w, model);
        snprintf(label, sizeof(label), "model=\"m%u\"", model);
        if (!strstr(page->p, label))
            continue;
        EXPECT_REAL(sum_of(page, "kubenexus_gpus{state=\"whole\"", label), t.whole);
        EXPECT_REAL(sum_of(page, "kubenexus_gpus{state=\"fragment\"", label), t.fragment);
        EXPECT_REAL(sum_of(page, "kubenexus_gpus{state=\"used\"", label), t.used);
    }
    for (uint32_t tenant = 0; tenant < TENANTS; tenant++) {
        char label[32];
        snprintf(label, sizeof(label), "tenant=\"t%u\"", tenant);
        if (strstr(page->p, label))
            EXPECT_REAL(sum_of(page, "kubenexus_gpus_by_tenant{", label), w->by_tenant[tenant]);
    }
}

TEST(gpu_stats, what_is_told_equals_a_recount)
{
    for (uint64_t i = 0; i < 40; i++) {
        AUTO(world) w = {.rng = rng_seeded(test_seed() * 1000 + i)};
        AUTO(buf) page = {0};
        test_case("world %llu of seed %llu", (unsigned long long)i,
                  (unsigned long long)test_seed());
        for (uint32_t n = 0; n < NODES; n++)
            add_node(&w, n);
        for (uint64_t n = rng_below(&w.rng, 60); n > 0; n--)
            add_pod(&w);
        scrape(&w.stage, &page);
        expect_all(&w, &page);
        expect_each(&w, &page);
    }
}

static uint32_t series_in(const struct buf *page)
{
    uint32_t n = 0;
    struct str rest = {page->p, page->n - 1};
    while (rest.n)
        n += str_take(&rest, '\n').p[0] != '#';
    return n;
}

static int64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* 5,000 nodes in 125 racks with 20 models, pods of 200 namespaces, gangs among them. */
static void fill(struct stage *s)
{
    for (uint32_t i = 0; i < 5000; i++)
        stage_put(s, "node n%u cpu=64 memory=256Gi gpu=8 " MODEL "m%u " RACK "r%u", i, i % 20,
                  i / 40);
    for (uint32_t i = 0; i < 4000; i++)
        stage_put(s, "pod p%u cpu=1 gpu=%u on=n%u namespace=t%u", i, 1 + i % 8, i, i % 200);
    for (uint32_t i = 0; i < 600; i++)
        stage_put(s, "pod g%u cpu=1 gpu=1 gang=g%u:2 namespace=t%u", i, i / 2, i / 2 % 200);
    for (uint32_t i = 0; i < 100; i++)
        stage_put(s, "pod q%u cpu=1 gpu=9 namespace=t%u scheduler=kubenexus-scheduler", i, i);
    stage_run(s);
}

TEST(gpu_stats, there_are_no_more_than_two_thousand_series_at_five_thousand_nodes)
{
    AUTO(stage) s = {0};
    AUTO(buf) page = {0};
    fill(&s);
    int64_t before_us = cpu_us();
    scrape(&s, &page);
    int64_t took_us = cpu_us() - before_us;
    test_case("%u series, %lld us", series_in(&page), (long long)took_us);
    EXPECT(series_in(&page) <= 2000);
    EXPECT(took_us <= 25000); /* sanitizers included */
    EXPECT_REAL(sum_of(&page, "kubenexus_gpus{", ""), 40000);
    EXPECT_REAL(sum_of(&page, "kubenexus_gpus_by_rack{", ""), 40000);
    EXPECT(strstr(page.p, "model=\"other\"") && strstr(page.p, "rack=\"other\"") &&
           strstr(page.p, "tenant=\"other\"") && strstr(page.p, "namespace=\"other\""));
    EXPECT(!strstr(page.p, "=\"\"")); /* a label without a value is none */
}
