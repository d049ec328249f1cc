/* The rows of slots are put and removed here, below what happens to pods that come and go: a slot
 * is in no group, has no labels, runs nowhere and asks nobody. */

#include "core/cluster/read.h"
#include "core/engine/reservation/reservation.h"

static pod_id add(struct engine *k, shape_id shape, const struct meta *meta)
{
    pod_id pod = pods_add(&k->cluster->pods, shape, meta->name, meta->uid);
    struct pod_row *row = pods_at(&k->cluster->pods, pod);
    row->created_ms = meta->created_ms;
    row->start_ms = TIME_NONE;
    engine_add_unit(k, pod);
    return pod;
}

pod_id engine_add_slot(struct engine *k, shape_id shape, struct str name)
{
    return add(k, shape, &(struct meta){.name = name, .created_ms = k->now_ms});
}

pod_id engine_put_slot(struct engine *k, const struct pod *from)
{
    struct cluster *c = k->cluster;
    sym pin;
    pod_id pod = pods_find(&c->pods, names_get(&c->names, from->meta.namespace), from->meta.name);
    shape_id shape = read_pod_shape(c, from, &pin);
    if (pod.i != ID_NONE && pods_at(&c->pods, pod)->shape == shape &&
        pods_at(&c->pods, pod)->pin == pin)
        return pod;
    if (pod.i != ID_NONE)
        engine_remove_slot(k, pod);
    pod = add(k, shape, &from->meta);
    engine_set_pin(k, pod, pin);
    engine_stand(k, pod, true);
    return pod;
}

void engine_remove_slot(struct engine *k, pod_id pod)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    shape_id shape = row->shape;
    node_id node = {row->node};
    sym nominated = row->nominated, name = node.i == ID_NONE ? SYM_NONE : c->nodes.name[node.i];
    intern_hold(&c->pods.shape_table, shape); /* it must last for the event */
    engine_leave(k, pod);
    cluster_nominate(c, pod, SYM_NONE);
    engine_set_pin(k, pod, SYM_NONE);
    if (node.i != ID_NONE) {
        intern_hold(&c->names.text, name);
        cluster_take(c, pod);
        engine_release_node(k, node);
    }
    pods_remove(&c->pods, pod);
    if (node.i != ID_NONE) {
        engine_tell_pod(k, ACTION_DELETE, &c->pods.shapes.at[shape], NULL, name);
        intern_drop(&c->names.text, name);
    } else if (nominated != SYM_NONE) {
        engine_tell_nomination_ended(k, &c->pods.shapes.at[shape], nominated, (pod_id){ID_NONE});
    }
    intern_drop(&c->pods.shape_table, shape);
}
