/* What happened, for those who wait. */

#include "core/engine/unit/unit.h"
#include "core/plugins/plugins.h"

enum { /* as upstream */
       EXTENDERS_HEAR = EVENT_NODE | EVENT_ASSIGNED_POD | EVENT_TARGET_POD | EVENT_CLAIM |
                        EVENT_VOLUME | EVENT_STORAGE_CLASS | EVENT_CSI_NODE | EVENT_CSI_DRIVER |
                        EVENT_CAPACITY | EVENT_RESOURCE_CLAIM | EVENT_DEVICE_CLASS,
};

bool engine_listens(const struct wake *wake, const struct event *event)
{
    return wake->resource == event->resource && wake->actions & event->actions;
}

uint64_t engine_interested(const struct engine *k, const struct event *event)
{
    uint64_t all = event->resource == EVENT_TARGET_POD ? UNSUPPORTED_BIT : 0;
    if (event->resource & EXTENDERS_HEAR)
        all |= EXTENDER_BIT;
    for (uint32_t i = 0; i < n_plugins + EXTERNALS_MOST; i++) {
        const struct plugin *plugin = engine_plugin(k, i);
        for (const struct wake *w = plugin ? plugin->wakes : NULL; w && w->resource; w++)
            if (engine_listens(w, event))
                all |= (uint64_t)1 << i;
    }
    return all;
}

uint64_t engine_all_plugins(const struct engine *k, uint32_t unit)
{
    const struct profile *profile = engine_profile_of(k, (pod_id){unit});
    uint64_t bits = 0;
    for (uint32_t i = 0; i < profile->n; i++)
        bits |= (uint64_t)1 << profile->plugins[i].number;
    return bits;
}

enum event_resource engine_resource_of(enum kind kind)
{
    static const enum event_resource resources[KIND_COUNT] = {
        [KIND_PERSISTENT_VOLUME] = EVENT_VOLUME,     [KIND_PERSISTENT_VOLUME_CLAIM] = EVENT_CLAIM,
        [KIND_STORAGE_CLASS] = EVENT_STORAGE_CLASS,  [KIND_CSI_NODE] = EVENT_CSI_NODE,
        [KIND_CSI_DRIVER] = EVENT_CSI_DRIVER,        [KIND_CSI_STORAGE_CAPACITY] = EVENT_CAPACITY,
        [KIND_VOLUME_ATTACHMENT] = EVENT_ATTACHMENT, [KIND_RESOURCE_CLAIM] = EVENT_RESOURCE_CLAIM,
    };
    return resources[kind];
}

void engine_event(struct engine *k, const struct event *event)
{
    queue_event(k->queue, k->now_ms, event);
    k->above->heard(k, event);
}

void engine_tell_pod(struct engine *k, uint32_t actions, const struct shape *old_shape,
                     const struct shape *new_shape, sym node)
{
    if (actions == 0)
        return;
    struct event event = {
        .resource = EVENT_ASSIGNED_POD,
        .actions = actions,
        .old_shape = old_shape,
        .new_shape = new_shape,
        .pod_node = node,
    };
    engine_event(k, &event);
}

void engine_tell_nomination_ended(struct engine *k, const struct shape *shape, sym node,
                                  pod_id whose)
{
    struct event event = {
        .resource = EVENT_ASSIGNED_POD,
        .actions = ACTION_DELETE,
        .old_shape = shape,
        .pod_node = node,
        .but = whose.i + 1,
        .has_limit = true,
        .priority_limit = specs_at(&k->cluster->specs, shape->spec)->priority,
    };
    engine_event(k, &event);
}
