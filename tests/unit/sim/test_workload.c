#include "sim/workload.h"

#include "core/base/buf.h"
#include "sim/demo.h"
#include "support/test.h"

/* A plan from a scenario's text. */
struct made {
    struct scenario scenario;
    struct plan plan;
};

static void made_done(struct made *m)
{
    plan_done(&m->plan);
    scenario_done(&m->scenario);
}

static bool make(struct made *m, struct str yaml, uint64_t seed)
{
    struct error e = {0};
    plan_init(&m->plan);
    m->plan.seed = seed;
    bool is_fine = scenario_read(&m->scenario, "f", yaml, &e) &&
                   workload_add(&m->plan, &m->scenario, &e) && plan_finish(&m->plan, &e);
    EXPECT_TEXT(e.text, "");
    return is_fine;
}

static void dump_jobs(const struct plan *p, const char *only, struct buf *out)
{
    vec_each(&p->jobs, j) {
        if (!only || str_equal(p->classes.at[j->class], str_of(only)))
            buf_printf(out, STR_FMT " %lld %lld %u %u\n", STR_ARG(j->name), (long long)j->at_ms,
                       (long long)j->runs_ms, j->pods, j->template);
    }
}

TEST(workload, the_same_seed_gives_the_same_jobs_and_another_others)
{
    AUTO(made) a = {0};
    AUTO(made) b = {0};
    AUTO(made) c = {0};
    REQUIRE(make(&a, demo_scenario(), 1) && make(&b, demo_scenario(), 1) &&
            make(&c, demo_scenario(), 2));
    AUTO(buf) x = {0};
    AUTO(buf) y = {0};
    AUTO(buf) z = {0};
    dump_jobs(&a.plan, NULL, &x);
    dump_jobs(&b.plan, NULL, &y);
    dump_jobs(&c.plan, NULL, &z);
    EXPECT(x.n > 10000 && str_equal(buf_str(&x), buf_str(&y)));
    EXPECT(!str_equal(buf_str(&x), buf_str(&z)));
}

#define NODE "until: 1d\nnodes: [{name: m, cpu: 1, memory: 1Gi}]\n"
#define A    "- {name: a, arrival: {rate: 60/h}, duration: {mean: 5m}}\n"

TEST(workload, a_class_does_not_change_when_another_is_added)
{
    AUTO(made) alone = {0};
    AUTO(made) both = {0};
    REQUIRE(make(&alone, STR(NODE "jobs:\n" A), 4));
    REQUIRE(make(&both, STR(NODE "jobs:\n- {name: b, arrival: {rate: 9/h}}\n" A), 4));
    AUTO(buf) x = {0};
    AUTO(buf) y = {0};
    vec_each(&both.plan.jobs, j) /* the only thing that may differ */
        j->template = 0;
    dump_jobs(&alone.plan, "a", &x);
    dump_jobs(&both.plan, "a", &y);
    EXPECT(x.n > 100 && str_equal(buf_str(&x), buf_str(&y)));
}

TEST(workload, poisson_arrivals_come_at_their_rate_and_in_order)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m, STR(NODE "jobs: [{name: a, arrival: {rate: 60/h}}]\n"), test_seed()));
    EXPECT(m.plan.jobs.n > 1250 && m.plan.jobs.n < 1640); /* 1440 ± 5 deviations */
    for (uint32_t i = 1; i < m.plan.jobs.n; i++)
        EXPECT(m.plan.jobs.at[i - 1].at_ms <= m.plan.jobs.at[i].at_ms);
}

TEST(workload, uniform_arrivals_are_evenly_apart)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m,
                 STR(NODE "jobs: [{name: a, arrival: {process: uniform, count: 3, from: 1h, "
                          "until: 5h}}]\n"),
                 1));
    REQUIRE(m.plan.jobs.n == 3);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_INT(m.plan.jobs.at[i].at_ms, (i + 2) * 3600000);
}

TEST(workload, a_count_with_poisson_gives_exactly_so_many)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m,
                 STR(NODE "jobs: [{name: a, arrival: {process: poisson, count: 500, from: 2h, "
                          "until: 3h}}]\n"),
                 1));
    REQUIRE(m.plan.jobs.n == 500);
    EXPECT(m.plan.jobs.at[0].at_ms >= 7200000 && m.plan.jobs.at[499].at_ms < 10800000);
    EXPECT(m.plan.jobs.at[250].at_ms > 8400000 && m.plan.jobs.at[250].at_ms < 9600000);
}

TEST(workload, bursts_come_at_their_times)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m, STR(NODE "jobs: [{name: a, arrival: {count: 2, at: [3h, 1h]}}]\n"), 1));
    REQUIRE(m.plan.jobs.n == 4);
    EXPECT_INT(m.plan.jobs.at[1].at_ms, 3600000);
    EXPECT_INT(m.plan.jobs.at[2].at_ms, 3 * 3600000);
}

TEST(workload, arrivals_follow_the_profile_of_the_day)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m,
                 STR("until: 2d\nnodes: [{name: m, cpu: 1, memory: 1Gi}]\n"
                     "jobs: [{name: a, arrival: {rate: 100/h, profile: [0, 1, 3, 0]}}]\n"),
                 test_seed()));
    uint32_t parts[8] = {0};
    vec_each(&m.plan.jobs, j)
        parts[j->at_ms / 21600000]++;
    for (int day = 0; day < 2; day++) {
        EXPECT_INT(parts[day * 4], 0);
        EXPECT(parts[day * 4 + 1] > 500 && parts[day * 4 + 1] < 700);   /* 600 */
        EXPECT(parts[day * 4 + 2] > 1600 && parts[day * 4 + 2] < 2000); /* 1800 */
        EXPECT_INT(parts[day * 4 + 3], 0);
    }
}

TEST(workload, nodes_stand_in_racks_and_racks_in_zones)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m,
                 STR("nodes: [{name: m, count: 12, cpu: 1, memory: 1Gi, racks: {count: 3}, "
                     "zones: [east, west], labels: {topology.kubernetes.io/zone: mine, a: b}}]\n"),
                 1));
    REQUIRE(m.plan.nodes.n == 12 && m.plan.groups.n == 3);
    const struct node *last = m.plan.nodes.at[11].node;
    EXPECT_STR(last->meta.name, "m-11");
    EXPECT_STR(m.plan.nodes.at[2].node->meta.name, "m-02");
    EXPECT_INT(m.plan.nodes.at[11].group, 2);
    static const struct {
        const char *key, *value;
    } labels[] = {{"a", "b"},
                  {"kubernetes.io/hostname", "m-11"},
                  {"network.kubenexus.io/rack-id", "m-r2"},
                  {"topology.kubernetes.io/zone", "mine"}};
    REQUIRE(last->meta.labels.n == LEN(labels));
    for (size_t i = 0; i < LEN(labels); i++) {
        EXPECT_STR(last->meta.labels.at[i].key, labels[i].key);
        EXPECT_STR(last->meta.labels.at[i].value, labels[i].value);
    }
}

TEST(workload, too_many_pods_are_refused)
{
    AUTO(made) m = {0};
    struct error e = {0};
    plan_init(&m.plan);
    REQUIRE(scenario_read(&m.scenario, "f",
                          STR(NODE "jobs: [{name: a, pods: 5000000, arrival: {count: 3}}]\n"), &e));
    EXPECT(!workload_add(&m.plan, &m.scenario, &e));
    EXPECT_TEXT(e.text, "job class a: more than 5000000 pods in all");
}

TEST(workload, a_template_that_the_api_server_would_refuse_is_refused)
{
    AUTO(made) m = {0};
    struct error e = {0};
    plan_init(&m.plan);
    REQUIRE(scenario_read(&m.scenario, "f",
                          STR(NODE "jobs: [{name: a, template: {spec: {tolerations: [{key: x, "
                                   "operator: Perhaps}]}}}]\n"),
                          &e));
    EXPECT(!workload_add(&m.plan, &m.scenario, &e));
    EXPECT(str_starts(str_of(e.text), STR("job class a: ")));
}

TEST(workload, pods_say_their_queue_and_user)
{
    AUTO(made) m = {0};
    REQUIRE(make(&m,
                 STR("nodes: [{name: m, cpu: 1, memory: 1Gi}]\nqueues: [{name: q}]\n"
                     "jobs: [{name: a, queue: q, user: ann, template: {metadata: {labels: {z: w}}}}"
                     "]\n"),
                 1));
    REQUIRE(m.plan.templates.n == 1 && m.plan.objects.n == 1);
    EXPECT_INT(m.plan.objects.at[0].kind, KIND_QUEUE);
    EXPECT_STR(m.plan.objects.at[0].meta->name, "q");
    const struct pod *pod = m.plan.templates.at[0];
    REQUIRE(pod->meta.labels.n == 3 && pod->meta.annotations.n == 1);
    EXPECT_STR(pod->meta.labels.at[1].key, "scheduling.kubenexus.io/queue");
    EXPECT_STR(pod->meta.labels.at[1].value, "q");
    EXPECT_STR(pod->meta.annotations.at[0].key, "scheduling.kubenexus.io/user");
    EXPECT_STR(pod->meta.annotations.at[0].value, "ann");
    EXPECT_STR(pod->spec.scheduler_name, "kubenexus-scheduler");
}
