#include "sim/dump_gangs.h"

#include "core/model/tables.h"
#include "support/test.h"

static struct pod member(const char *name, struct pair *labels, uint32_t n)
{
    struct pod pod = {0};
    field_init(pod_fields, &pod);
    pod.meta.name = str_of(name);
    pod.meta.namespace = STR("team");
    pod.meta.labels = (pair_list){labels, n};
    return pod;
}

static void add(struct dump_gangs *g, struct plan *p, struct pod *pod)
{
    struct error e = {0};
    struct plan_job job = {.runs_ms = 1, .pods = 1, .work = dump_gangs_join(g, p, pod)};
    EXPECT(plan_add_job(p, job, &e));
}

TEST(dump_gangs, pods_that_say_it_are_one_work_with_the_minimum_they_say)
{
    struct pair ours[] = {
        {STR("pod-group.scheduling.kubenexus.io/min-available"), STR("2")},
        {STR("pod-group.scheduling.kubenexus.io/name"), STR("wolf")},
    };
    struct pod a = member("a", ours, 2), b = member("b", ours, 2), alone = member("c", NULL, 0);
    struct pod elsewhere = member("a", ours, 2);
    struct dump_gangs g = {0};
    AUTO(plan) p = {0};
    plan_init(&p);
    elsewhere.meta.namespace = STR("other");
    add(&g, &p, &a);
    add(&g, &p, &alone);
    add(&g, &p, &b);
    add(&g, &p, &elsewhere);
    dump_gangs_finish(&g, &p);
    REQUIRE(p.works.n == 3);
    EXPECT_INT(p.works.at[0].pods, 2);
    EXPECT_INT(p.works.at[0].minimum, 2);
    EXPECT_INT(p.jobs.at[2].first_member, 1);
    EXPECT_INT(p.works.at[1].minimum, 1);
    EXPECT_INT(p.works.at[2].pods, 1); /* a gang is of one namespace */
    dump_gangs_done(&g);
}

TEST(dump_gangs, the_object_that_pods_name_says_how_many)
{
    struct pair label = {STR("scheduling.x-k8s.io/pod-group"), STR("pack")};
    struct pod_group group = {.minimum = 6};
    struct pod pods[] = {member("a", &label, 1), member("b", &label, 1)};
    struct object object = {.kind = KIND_SIGS_POD_GROUP, .pod_group = &group};
    struct dump_gangs g = {0};
    AUTO(plan) p = {0};
    plan_init(&p);
    group.meta.name = STR("pack");
    group.meta.namespace = STR("team");
    dump_gangs_learn(&g, &object);
    for (size_t i = 0; i < LEN(pods); i++)
        add(&g, &p, &pods[i]);
    dump_gangs_finish(&g, &p);
    REQUIRE(p.works.n == 1);
    EXPECT_INT(p.works.at[0].pods, 2);
    EXPECT_INT(p.works.at[0].minimum, 6);
    dump_gangs_done(&g);
}
