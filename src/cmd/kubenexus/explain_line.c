#include "cmd/kubenexus/explain_line.h"

#include "core/engine/engine.h"
#include "core/plugins/plugins.h"

static bool keeps_line(const struct scheduler_config *config, struct str scheduler)
{
    for (uint32_t i = 0; i < config->n_profiles; i++)
        for (uint32_t k = 0; k < config->profiles[i].n; k++)
            if (str_equal(config->profiles[i].name, scheduler) &&
                config->profiles[i].plugins[k].plugin->keeps_line)
                return true;
    return false;
}

int64_t explain_latest_ms(const struct objects *set)
{
    int64_t latest = 0;
    vec_each(&set->all, o) {
        latest = MAX(latest, o->meta->created_ms);
        if (o->kind == KIND_POD)
            latest = MAX(latest, o->pod->status.start_ms);
    }
    return latest;
}

static bool is_about(const struct effect *e, const struct pod *pod)
{
    bool is_lines = false;
    for (uint32_t i = 0; i < n_plugins; i++)
        is_lines = is_lines || (plugins[i]->keeps_line && e->rejected_by >> i & 1);
    return e->kind == EFFECT_REFUSE && is_lines && str_equal(e->pod, pod->meta.name) &&
           str_equal(e->namespace, pod->meta.namespace);
}

struct str explain_line(const struct objects *set, const struct pod *target,
                        const struct scheduler_config *config, struct arena *mem)
{
    struct str told = {0};
    if (!keeps_line(config, target->spec.scheduler_name))
        return told;
    struct engine_config own = {.profiles = config->profiles,
                                .n_profiles = config->n_profiles,
                                .max_unsettled = UINT32_MAX};
    struct engine *engine = engine_new(&own);
    struct effects effects = {0};
    int64_t now_ms = explain_latest_ms(set);
    vec_each(&set->all, o)
        engine_apply(engine, now_ms, &(struct change){CHANGE_PUT, *o});
    while (engine_step(engine, now_ms, &effects))
        continue;
    vec_each(&effects.list, e)
        if (is_about(e, target))
            told = arena_str(mem, e->message);
    effects_done(&effects);
    engine_free(engine);
    return told;
}
