/* What comes of the pods in these files: an engine is told of all objects in the order in which
 * they stand there, and decides until nobody has a turn. Prints a line for each pod that got a
 * node. It shares nothing with `kubenexus explain` but the engine itself. */

#include <stdio.h>

#include "core/engine/engine.h"
#include "io/files/manifest_read.h"

enum { SOON_MS = 5000 };

static int64_t latest(const struct objects *set)
{
    int64_t latest_ms = 0;
    vec_each(&set->all, o)
        latest_ms = MAX(latest_ms, o->meta->created_ms);
    return latest_ms;
}

static void carry_out(struct engine *k, int64_t now_ms, const struct effects *effects)
{
    vec_each(&effects->list, e)
        if (e->kind == EFFECT_BIND) {
            printf(STR_FMT "/" STR_FMT " " STR_FMT "\n", STR_ARG(e->namespace), STR_ARG(e->pod),
                   STR_ARG(e->node));
            engine_settle(k, now_ms, e->id, NULL);
        }
}

static void decide(struct engine *k, int64_t now_ms)
{
    int64_t end_ms = now_ms + SOON_MS;
    struct effects effects = {0};
    while (now_ms <= end_ms) {
        while (engine_step(k, now_ms, &effects)) {
            carry_out(k, now_ms, &effects);
            effects_clear(&effects);
        }
        int64_t next_ms = engine_next_ms(k, now_ms);
        now_ms = MAX(next_ms, now_ms + 1);
    }
    effects_done(&effects);
}

static bool run(const char *file)
{
    AUTO(objects) set = {0};
    struct error e = {0};
    if (!objects_read(&set, &file, 1, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return false;
    }
    struct engine *k = engine_new(&(struct engine_config){.max_unsettled = UINT32_MAX});
    vec_each(&set.all, o)
        engine_apply(k, latest(&set), &(struct change){CHANGE_PUT, *o});
    decide(k, latest(&set));
    engine_free(k);
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        printf("# %s\n", argv[i]);
        if (!run(argv[i]))
            return 2;
    }
    return 0;
}
