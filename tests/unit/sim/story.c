#include "unit/sim/story.h"

#include "sim/workload.h"
#include "support/test.h"

bool story_open(struct story *s, const char *yaml, uint64_t seed)
{
    struct error e = {0};
    plan_init(&s->plan);
    s->plan.seed = seed;
    bool is_fine = scenario_read(&s->scenario, "story", str_of(yaml), &e) &&
                   workload_add(&s->plan, &s->scenario, &e) && plan_finish(&s->plan, &e);
    EXPECT_TEXT(e.text, "");
    if (is_fine)
        s->world = world_new(&s->plan, &(struct engine_config){.checks_views = true});
    return is_fine;
}

void story_done(struct story *s)
{
    world_free(s->world);
    plan_done(&s->plan);
    scenario_done(&s->scenario);
}

void story_run_until(struct story *s, int64_t ms)
{
    while (world_next_ms(s->world) <= ms && world_turn(s->world))
        continue;
}

void story_run(struct story *s)
{
    while (world_turn(s->world))
        continue;
}

const char *story_fate(struct story *s, const char *pod)
{
    return world_fate(s->world, pod);
}
