#include "sim/dump.h"

#include "core/model/default.h"
#include "core/model/tables.h"
#include "sim/world.h"
#include "support/test.h"

static struct node node_of(const char *name, struct pair *label, struct amount *cpu)
{
    struct node node = {0};
    field_init(node_fields, &node);
    node.meta.name = str_of(name);
    node.meta.labels = (pair_list){label, label ? 1 : 0};
    node.status.allocatable = (amount_list){cpu, 2};
    node.status.has_allocatable = true;
    return node;
}

static struct pod pod_of(const char *name, const char *node, const char *phase)
{
    struct pod pod = {0};
    field_init(pod_fields, &pod);
    pod.meta.name = str_of(name);
    pod.meta.namespace = STR("team");
    pod.spec.scheduler_name = STR("default-scheduler");
    pod.spec.node_name = str_of(node);
    pod.status.phase = str_of(phase);
    return pod;
}

TEST(dump, bound_pods_stay_pending_ones_are_scheduled_and_finished_ones_are_gone)
{
    struct amount room[] = {
        {STR("cpu"),  plan_quantity(4, NANO_PER_UNIT)},
        {STR("pods"), plan_quantity(2, NANO_PER_UNIT)}
    };
    struct pair rack = {STR("topology.kubernetes.io/rack"), STR("r7")};
    struct node nodes[] = {node_of("n0", &rack, room), node_of("n1", NULL, room)};
    struct pod pods[] = {
        pod_of("bound", "n0", "Running"),  pod_of("waiting", "", "Pending"),
        pod_of("over", "n0", "Succeeded"), pod_of("leaving", "", "Pending"),
        pod_of("lost", "gone", "Running"),
    };
    pods[3].meta.deleted_ms = 1;
    struct object objects[] = {
        {.kind = KIND_NODE, .node = &nodes[0]},
        {.kind = KIND_NODE, .node = &nodes[1]},
        {.kind = KIND_POD,  .pod = &pods[0]  },
        {.kind = KIND_POD,  .pod = &pods[1]  },
        {.kind = KIND_POD,  .pod = &pods[2]  },
        {.kind = KIND_POD,  .pod = &pods[3]  },
        {.kind = KIND_POD,  .pod = &pods[4]  },
    };
    AUTO(plan) p = {0};
    struct error e = {0};
    plan_init(&p);
    REQUIRE(dump_add(&p, objects, LEN(objects), &e) && plan_finish(&p, &e));
    EXPECT_TEXT(p.group_word, "rack");
    EXPECT_STR(p.groups.at[0], "r7");
    EXPECT_STR(p.groups.at[1], "elsewhere");

    struct world *w = world_new(&p, &(struct engine_config){0});
    while (world_turn(w))
        continue;
    EXPECT_TEXT(world_fate(w, "bound"), "runs on n0");
    EXPECT_TEXT(world_fate(w, "waiting"), "runs on n1"); /* the emptier one */
    EXPECT_TEXT(world_fate(w, "over"), "never came");
    EXPECT_TEXT(world_fate(w, "leaving"), "never came");
    EXPECT_TEXT(world_fate(w, "lost"), "never came");
    EXPECT_INT(world_books(w)->classes.at[0].created, 1);
    EXPECT_INT(world_books(w)->classes.at[0].bound, 1);
    world_free(w);
}
