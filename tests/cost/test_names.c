/* What objects call things is forgotten with them: after names by the thousand, in every place
 * where an object may name something, the scheduler holds as many bytes as before the first. (Those
 * of the blocks that it has, counted where it asks for them and gives them back.)
 *
 * COST_NAMES=1000000 tries so many names in each scene, COST_SCENE=gangs only scenes that are
 * called so in part. They come and go over an hour of the engine's time.
 * COST_APART=2000 is the number of pods that stay away from others. */

#include <stdio.h>
#include <stdlib.h>

#include "count.h"
#include "scenes.h"
#include "support/objects.h"
#include "support/test.h"

#define BEGAN_WITH 1.1

enum { NODES = 100, STANDING = 1000, NAMES = 4000, AT_A_TIME = 100, HOUR_MS = 3600000 };

/* Pods that stay, so that there is something to begin with. */
static const struct scene standing = {
    "those who stay", 0, {"pod stays# cpu=1m label:app=a scheduler=kubenexus-scheduler"}};

static struct engine *world(void)
{
    struct engine_config config = {.publishes = true};
    struct engine *k = engine_new(&config);
    for (uint32_t i = 0; i < NODES; i++)
        scene_apply(k, 0, CHANGE_PUT, "node n# cpu=64 memory=64Gi pods=100000 zone=z#", i);
    for (uint32_t i = 0; i < STANDING; i++)
        scene_apply_each(k, 0, CHANGE_PUT, &standing, i);
    scene_run(k, 0);
    engine_trim(k);
    return k;
}

/* So many come, are decided about, and go. */
static void wave(struct engine *k, int64_t now_ms, const struct scene *scene, uint32_t first)
{
    for (uint32_t i = first; i < first + AT_A_TIME; i++)
        scene_apply_each(k, now_ms, CHANGE_PUT, scene, i);
    scene_run(k, now_ms);
    for (uint32_t i = first; i < first + AT_A_TIME; i++)
        scene_apply_each(k, now_ms, CHANGE_REMOVE, scene, i);
    scene_run(k, now_ms);
}

static void try_scene(const struct scene *scene, uint32_t names)
{
    const char *wanted = getenv("COST_SCENE");
    if (wanted && !strstr(scene->name, wanted))
        return;
    struct engine *k = world();
    int64_t began = cost_held;
    uint32_t waves = names / AT_A_TIME;
    for (uint32_t i = 0; i < waves; i++)
        wave(k, (int64_t)HOUR_MS * i / waves, scene, i * AT_A_TIME);
    engine_trim(k);
    test_case("%s: %lld bytes, and then %lld", scene->name, (long long)began, (long long)cost_held);
    if (getenv("COST_VERBOSE"))
        printf("# %-40s %10lld %10lld: %lld a name\n", scene->name, (long long)began,
               (long long)cost_held, (long long)(cost_held - began) / names);
    EXPECT((double)cost_held <= BEGAN_WITH * (double)began);
    engine_free(k);
}

TEST(cost, of_names_is_over_when_nobody_has_them)
{
    const char *asked = getenv("COST_NAMES");
    uint32_t names = asked ? (uint32_t)strtoul(asked, NULL, 10) : NAMES;
    int64_t before = cost_held;
    for (uint32_t i = 0; i < n_scenes; i++)
        try_scene(&scenes[i], names);
    for (uint32_t i = 0; i < n_pairs; i++)
        try_scene(&pairs[i], names);
    EXPECT_INT(cost_held, before);
}

enum { APART = 500, TERMS = 50, APART_MOST = 32 << 10 /* bytes for each */ };

/* A pod that stays away from pods of so many kinds, each of which nobody else knows. */
static void put_apart(struct engine *k, uint32_t i)
{
    struct arena mem = {0};
    char line[4096];
    int n = snprintf(line, sizeof(line), "pod p%u cpu=1m", i);
    for (uint32_t t = 0; t < TERMS; t++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " apart:zone:k%u-%u=v", i, t);
    struct change change = {CHANGE_PUT, object_of(&mem, line)};
    engine_apply(k, 0, &change);
    arena_done(&mem);
}

TEST(cost, of_terms_that_nobody_meets_is_what_they_say)
{
    struct engine *k = world();
    const char *asked = getenv("COST_APART");
    uint32_t apart = asked ? (uint32_t)strtoul(asked, NULL, 10) : APART;
    int64_t began = cost_held, most = (int64_t)apart * APART_MOST;
    for (uint32_t i = 0; i < apart; i++)
        put_apart(k, i);
    int64_t read = cost_held;
    scene_run(k, 0);
    int64_t decided = cost_held;
    engine_trim(k);
    test_case("%lld bytes when read, %lld when decided, %lld at last", (long long)(read - began),
              (long long)(decided - began), (long long)(cost_held - began));
    EXPECT_INT(engine_stats(k).bound, STANDING + apart);
    EXPECT(decided - began <= most + most / 4);
    EXPECT(cost_held - began <= most);
    if (getenv("COST_VERBOSE"))
        printf("# apart: %lld, %lld, %lld\n", (long long)(read - began),
               (long long)(decided - began), (long long)(cost_held - began));
    engine_free(k);
}
