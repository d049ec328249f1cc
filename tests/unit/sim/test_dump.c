#include "sim/dump.h"

#include "core/engine/backfill/runtimes.h"
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

static const struct dump_options hourly = {.run_ms = 3600000};

TEST(dump, bound_pods_stay_pending_ones_are_scheduled_and_finished_ones_are_gone)
{
    struct amount room[] = {{STR("cpu"), plan_quantity(4, NANO_PER_UNIT)},
                            {STR("pods"), plan_quantity(2, NANO_PER_UNIT)}};
    struct pair rack = {STR("topology.kubernetes.io/rack"), STR("r7")};
    struct node nodes[] = {node_of("n0", &rack, room), node_of("n1", NULL, room)};
    struct pod pods[] = {
        pod_of("bound", "n0", "Running"),  pod_of("waiting", "", "Pending"),
        pod_of("over", "n0", "Succeeded"), pod_of("leaving", "", "Pending"),
        pod_of("lost", "gone", "Running"),
    };
    pods[3].meta.deleted_ms = 1;
    struct object objects[] = {
        {.kind = KIND_NODE, .node = &nodes[0]}, {.kind = KIND_NODE, .node = &nodes[1]},
        {.kind = KIND_POD, .pod = &pods[0]},    {.kind = KIND_POD, .pod = &pods[1]},
        {.kind = KIND_POD, .pod = &pods[2]},    {.kind = KIND_POD, .pod = &pods[3]},
        {.kind = KIND_POD, .pod = &pods[4]},
    };
    AUTO(plan) p = {0};
    struct error e = {0};
    plan_init(&p);
    REQUIRE(dump_add(&p, objects, LEN(objects), hourly, &e) && plan_finish(&p, &e));
    EXPECT_TEXT(p.group_word, "rack");
    EXPECT_STR(p.groups.at[0], "r7");
    EXPECT_STR(p.groups.at[1], "elsewhere");

    struct world *w = world_new(&p, &(struct engine_config){0});
    while (world_next_ms(w) == 0 && world_turn(w))
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

/* What a world makes of pods on one node of four CPUs; "a" runs there. */
struct scene {
    struct amount room[2], ask[1];
    struct container container;
    struct node node;
    struct pair note, label;
    struct owner owner;
    struct pod pods[2];
    struct reservation memory;
    struct object objects[4];
    uint32_t n;
    struct plan plan;
    struct world *world;
};

enum { NOON = 12 * 3600000 };

static void scene_init(struct scene *s)
{
    s->room[0] = (struct amount){STR("cpu"), plan_quantity(4, NANO_PER_UNIT)};
    s->room[1] = (struct amount){STR("pods"), plan_quantity(9, NANO_PER_UNIT)};
    s->ask[0] = (struct amount){STR("cpu"), plan_quantity(3, NANO_PER_UNIT)};
    s->container.resources.requests = (amount_list){s->ask, 1};
    s->container.resources.has_requests = true;
    s->node = node_of("n0", NULL, s->room);
    s->pods[0] = pod_of("a", "n0", "Running");
    s->pods[1] = pod_of("b", "", "Pending");
    for (size_t i = 0; i < LEN(s->pods); i++) {
        s->pods[i].spec.containers.at = &s->container;
        s->pods[i].spec.containers.n = 1;
        s->objects[i + 1] = (struct object){.kind = KIND_POD, .pod = &s->pods[i]};
    }
    s->objects[0] = (struct object){.kind = KIND_NODE, .node = &s->node};
    s->n = 3;
    s->pods[0].status.start_ms = NOON - 1800000; /* half an hour before the dump */
    s->pods[1].meta.created_ms = NOON;
}

static const struct books *play(struct scene *s, int64_t until_ms)
{
    struct error e = {0};
    plan_init(&s->plan);
    s->plan.until_ms = DUMP_UNTIL_MS;
    EXPECT(dump_add(&s->plan, s->objects, s->n, hourly, &e));
    EXPECT(plan_finish(&s->plan, &e));
    s->world = world_new(&s->plan, &(struct engine_config){0});
    while (world_next_ms(s->world) <= until_ms && world_turn(s->world))
        continue;
    return world_books(s->world);
}

static void scene_done(struct scene *s)
{
    world_free(s->world);
    plan_done(&s->plan);
}

TEST(dump, what_runs_counts_from_time_0_and_ends_when_it_says)
{
    AUTO(scene) s = {0};
    scene_init(&s);
    s.note = (struct pair){STR("scheduling.kubenexus.io/expected-duration"), STR("45m")};
    s.pods[0].meta.annotations = (pair_list){&s.note, 1};
    const struct books *b = play(&s, 14 * 60000);
    EXPECT_INT(s.plan.epoch_ms, NOON);
    EXPECT_REAL(b->used_first.at[0], 3000);
    EXPECT_TEXT(world_fate(s.world, "a"), "runs on n0");
    EXPECT_TEXT(world_fate(s.world, "b"), "waits");
    while (world_next_ms(s.world) <= 15 * 60000 && world_turn(s.world))
        continue;
    EXPECT_TEXT(world_fate(s.world, "a"), "ended");
    EXPECT_TEXT(world_fate(s.world, "b"), "runs on n0");
    while (world_turn(s.world))
        continue;
    EXPECT_INT(b->end_ms, 75 * 60000); /* b says nothing: an hour */
    EXPECT_REAL(b->timeline.at[books_room(b, 0)].total, 4000.0 * 75 * 60000);
    EXPECT_REAL(b->timeline.at[books_used(b, 0)].total, 3000.0 * 75 * 60000);
}

TEST(dump, a_deadline_and_the_default_say_when_it_ends_too)
{
    static const struct {
        int64_t deadline_s, ran_min, ends_min;
    } cases[] = {
        {3600, 30, 30},
        {0, 30, 30},   /* an hour is assumed */
        {0, 90, 90},   /* as long again as it has run */
        {600, 30, 30}, /* the same of one beyond its deadline */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        scene_init(&s);
        s.pods[0].status.start_ms = NOON - cases[i].ran_min * 60000;
        s.pods[0].spec.has_active_deadline = cases[i].deadline_s > 0;
        s.pods[0].spec.active_deadline_seconds = cases[i].deadline_s;
        play(&s, cases[i].ends_min * 60000 - 1);
        EXPECT_TEXT(world_fate(s.world, "a"), "runs on n0");
        while (world_next_ms(s.world) <= cases[i].ends_min * 60000 && world_turn(s.world))
            continue;
        EXPECT_TEXT(world_fate(s.world, "a"), "ended");
    }
}

TEST(dump, what_services_run_runs_on_and_time_goes_on_for_who_waits)
{
    AUTO(scene) s = {0};
    scene_init(&s);
    s.owner = (struct owner){.kind = STR("ReplicaSet"), .name = STR("web"), .is_controller = true};
    s.pods[0].meta.owners.at = &s.owner;
    s.pods[0].meta.owners.n = 1;
    const struct books *b = play(&s, INT64_MAX);
    EXPECT_TEXT(world_fate(s.world, "a"), "runs on n0");
    EXPECT_TEXT(world_fate(s.world, "b"), "waits");
    EXPECT_INT(b->end_ms, DUMP_UNTIL_MS);
    EXPECT_REAL(b->timeline.at[books_used(b, 0)].total, 3000.0 * DUMP_UNTIL_MS);
}

TEST(dump, who_is_evicted_is_made_again_if_it_has_an_owner)
{
    for (int has_owner = 0; has_owner < 2; has_owner++) {
        AUTO(scene) s = {0};
        scene_init(&s);
        s.owner = (struct owner){.kind = STR("Job"), .name = STR("a"), .is_controller = true};
        s.pods[0].meta.owners.at = &s.owner;
        s.pods[0].meta.owners.n = (uint32_t)has_owner;
        s.pods[1].spec.has_priority = true;
        s.pods[1].spec.priority = 9;
        const struct books *b = play(&s, INT64_MAX);
        EXPECT_INT(b->evicted.pods, 1);
        EXPECT_REAL(b->evicted.work, 3000.0 * 1800000); /* half an hour before time 0 */
        EXPECT_INT(b->classes.at[0].created, 1 + has_owner);
        EXPECT_INT(b->classes.at[0].ended, 1 + has_owner);
    }
}

TEST(dump, what_was_learned_says_how_long_it_runs)
{
    AUTO(scene) s = {0};
    AUTO(runtimes) known = {0};
    AUTO(buf) text = {0};
    scene_init(&s);
    for (uint64_t i = 0; i < RUNTIME_LEAST; i++) /* of other kin: the last key is everybody's */
        runtimes_note(&known, (struct kin){{7 + i, 70 + i, 0}}, 40 * 60000);
    runtimes_write(&known, &text);
    s.note = (struct pair){STR("scheduling.kubenexus.io/run-times"), buf_str(&text)};
    field_init(reservation_fields, &s.memory);
    s.memory.meta.name = STR("kubenexus-run-times");
    s.memory.meta.namespace = STR("kube-system");
    s.memory.meta.uid = STR("m");
    s.memory.meta.annotations = (pair_list){&s.note, 1};
    s.label = (struct pair){STR("app.kubernetes.io/managed-by"), STR("kubenexus-scheduler")};
    s.memory.meta.labels = (pair_list){&s.label, 1};
    s.objects[s.n++] = (struct object){.kind = KIND_RESERVATION, .reservation = &s.memory};
    play(&s, 9 * 60000); /* it has run for half an hour: ten minutes are left */
    EXPECT_TEXT(world_fate(s.world, "a"), "runs on n0");
    while (world_next_ms(s.world) <= 11 * 60000 && world_turn(s.world))
        continue;
    EXPECT_TEXT(world_fate(s.world, "a"), "ended");
    EXPECT_TEXT(world_fate(s.world, "b"), "runs on n0");
}
