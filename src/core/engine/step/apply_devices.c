/* Devices and who has them, and what nodes report of their NUMA nodes, as they come and go. */

#include "core/engine/step/step.h"
#include "core/model/claim_write.h"

/* A taint rule is part of the slices that it taints: with it, they have changed. */
static void tell_devices(struct engine *k, const struct object *o, uint32_t actions)
{
    if (actions == 0)
        return;
    struct names *names = &k->cluster->names;
    bool is_class = o->kind == KIND_DEVICE_CLASS;
    struct str resource = is_class ? o->device_class->extended_resource : (struct str){0};
    struct event event = {
        .resource = o->kind == KIND_RESOURCE_CLAIM ? EVENT_RESOURCE_CLAIM
                    : is_class                     ? EVENT_DEVICE_CLASS
                                                   : EVENT_RESOURCE_SLICE,
        .actions = o->kind == KIND_DEVICE_TAINT_RULE ? ACTION_OTHER : actions,
        .namespace = names_find(names, o->meta->namespace),
        .name = names_find(names, o->meta->name),
        .resource_name = resource.n ? names_find(names, resource) : SYM_NONE,
        .pod_node = SYM_NONE,
    };
    engine_event(k, &event);
}

/* The pod whose extended resources the object, a claim, is for; ID_NONE: there is none. */
static pod_id owner_of(const struct engine *k, const struct object *o)
{
    const struct cluster *c = k->cluster;
    sym namespace = names_find(&c->names, o->meta->namespace);
    const struct kept_object *claim =
        o->kind == KIND_RESOURCE_CLAIM
            ? devices_claim(&c->devices, namespace, names_find(&c->names, o->meta->name))
            : NULL;
    const struct owner *owner = claim ? claim_extended_owner(claim->object.meta) : NULL;
    pod_id pod = {owner ? pods_find(&c->pods, namespace, owner->name).i : ID_NONE};
    bool is_same = pod.i != ID_NONE && str_equal(pod_uid(pods_at(&c->pods, pod)), owner->uid);
    return is_same ? pod : (pod_id){ID_NONE};
}

void engine_put_devices(struct engine *k, const struct object *o)
{
    tell_devices(k, o, devices_put(k->cluster, o));
    engine_see_leftover(k, owner_of(k, o));
}

void engine_remove_devices(struct engine *k, const struct object *o)
{
    pod_id owner = owner_of(k, o);
    tell_devices(k, o, devices_remove(k->cluster, o));
    engine_see_leftover(k, owner);
}

void engine_put_topology(struct engine *k, const struct object *o, bool is_there)
{
    struct cluster *c = k->cluster;
    bool differs = numa_reports_put(c, o->meta->name, is_there ? o->node_topology : NULL);
    node_id node = nodes_find(&c->nodes, names_find(&c->names, o->meta->name));
    if (!differs || node.i == ID_NONE || !nodes_is_present(&c->nodes, node))
        return;
    struct node_row row = nodes_get(&c->nodes, node, &k->mem);
    struct event event = {
        .resource = EVENT_NODE,
        .actions = ACTION_NODE_DECLARED_FEATURE,
        .node = node,
        .old_row = &row,
        .new_row = &row,
        .pod_node = SYM_NONE,
    };
    engine_event(k, &event);
    arena_reset(&k->mem);
}
