/* Twice as many objects cost twice as much to read, to decide about and to let go, of whatever kind
 * they are and whatever they are to each other. In each scene there are a few nodes, and n of each
 * of some objects. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "scenes.h"
#include "support/test.h"

#define IN_PROPORTION 2.3
#define BY_PAIRS      4.0

enum { NODES = 3 };

static struct cost play(const struct scene *scene, uint32_t n)
{
    struct engine_config config = {.publishes = true};
    struct engine *k = engine_new(&config);
    struct cost before = cost_so_far;
    for (uint32_t i = 0; i < NODES; i++)
        scene_apply(k, 0, CHANGE_PUT, "node n# cpu=64 memory=64Gi pods=100000 zone=z#", i);
    for (uint32_t i = 0; i < n; i++)
        scene_apply_each(k, 0, CHANGE_PUT, scene, i);
    scene_run(k, 0);
    scene_apply(k, 0, CHANGE_PUT, "node more# cpu=1 memory=1Gi", 0); /* wakes those who wait */
    scene_run(k, 0);
    for (uint32_t i = 0; i < n; i++)
        scene_apply_each(k, 0, CHANGE_REMOVE, scene, i);
    scene_run(k, 0);
    struct cost after = cost_so_far;
    engine_free(k);
    return (struct cost){after.steps - before.steps, after.bytes - before.bytes};
}

static void judge(const struct scene *scene, const char *what, const uint64_t *costs, double most)
{
    test_case("%s, %s: %llu, %llu, %llu", scene->name, what, (unsigned long long)costs[0],
              (unsigned long long)costs[1], (unsigned long long)costs[2]);
    EXPECT((double)costs[1] <= most * (double)costs[0]);
    EXPECT((double)costs[2] <= most * (double)costs[1]);
}

static void try_scene(const struct scene *scene, double most)
{
    const char *wanted = getenv("COST_SCENE");
    uint64_t steps[3], bytes[3];
    if (wanted && !strstr(scene->name, wanted))
        return;
    for (uint32_t times = 0; times < 3; times++) {
        struct cost c = play(scene, scene->least << times);
        steps[times] = c.steps;
        bytes[times] = c.bytes;
    }
    if (getenv("COST_VERBOSE"))
        printf("# %-36s %10llu %10llu %10llu, bytes %10llu\n", scene->name,
               (unsigned long long)steps[0], (unsigned long long)steps[1],
               (unsigned long long)steps[2], (unsigned long long)bytes[2]);
    judge(scene, "steps", steps, most);
    judge(scene, "bytes", bytes, IN_PROPORTION);
}

TEST(cost, of_many_objects_is_in_proportion)
{
    for (uint32_t i = 0; i < n_scenes; i++)
        try_scene(&scenes[i], IN_PROPORTION);
}

TEST(cost, of_held_room_is_in_proportion)
{
    for (uint32_t i = 0; i < n_held; i++)
        try_scene(&held[i], IN_PROPORTION);
}

/* One driver and its workers, which come. */
static uint64_t play_workers(uint32_t n, bool run)
{
    struct engine_config config = {.publishes = true};
    struct engine *k = engine_new(&config);
    const char *worker = run ? "pod w# cpu=1m on=n1" OF_APP("a") : "pod w# cpu=1m" OF_APP("a");
    uint64_t before = cost_so_far.steps;
    for (uint32_t i = 0; i < NODES; i++)
        scene_apply(k, 0, CHANGE_PUT, "node n# cpu=64 memory=64Gi pods=100000", i);
    scene_apply(k, 0, CHANGE_PUT, "pod d cpu=1m" OF_APP("a") MAKES("#", "1m"), n);
    for (uint32_t i = 0; i < n; i++) {
        scene_apply(k, 0, CHANGE_PUT, worker, i);
        if (!run)
            scene_run(k, 0);
    }
    scene_run(k, 0);
    for (uint32_t i = 0; i < n; i++)
        scene_apply(k, 0, CHANGE_REMOVE, "pod w#", i);
    scene_run(k, 0);
    uint64_t after = cost_so_far.steps;
    engine_free(k);
    return after - before;
}

TEST(cost, of_a_driver_is_in_proportion_to_its_workers)
{
    enum { LEAST = 200 };
    for (int run = 0; run < 2; run++) {
        uint64_t few = play_workers(LEAST, run), more = play_workers(2 * LEAST, run),
                 most = play_workers(4 * LEAST, run);
        test_case("%d: %llu, %llu, %llu", run, (unsigned long long)few, (unsigned long long)more,
                  (unsigned long long)most);
        EXPECT((double)more <= IN_PROPORTION * (double)few);
        EXPECT((double)most <= IN_PROPORTION * (double)more);
    }
}

TEST(cost, of_pairs_is_that_of_a_glance)
{
    for (uint32_t i = 0; i < n_pairs; i++)
        try_scene(&pairs[i], BY_PAIRS);
}

TEST(cost, of_telling_why_is_that_of_a_glance_at_each_node)
{
    for (uint32_t i = 0; i < n_told; i++)
        try_scene(&told[i], BY_PAIRS);
}
