/* What happened outside becomes rows, and events for those who wait. An object is compared with its
 * row, and only what differs is written: a heartbeat changes nothing and wakes nobody. */

#include "core/cluster/read.h"
#include "core/engine/step/step.h"
#include "core/model/mirror.h"
#include "core/model/owner.h"

/* --- pods --- */

static bool is_finished(const struct pod *pod)
{
    return str_equal(pod->status.phase, STR("Succeeded")) ||
           str_equal(pod->status.phase, STR("Failed"));
}

/* Which properties of a pod differ between two shapes. */
static uint32_t differences(const struct cluster *c, const struct shape *was,
                            const struct shape *is)
{
    const struct spec *a = specs_at(&c->specs, was->spec), *b = specs_at(&c->specs, is->spec);
    uint32_t actions = 0, n_was, n_is;
    if (was->labels != is->labels)
        actions |= ACTION_POD_LABEL;
    if (engine_shrinks(&a->hold, &b->hold))
        actions |= ACTION_POD_SCALE_DOWN;
    if (engine_shrinks(&b->hold, &a->hold))
        actions |= ACTION_POD_SCALE_UP;
    if (a->n_gates && !b->n_gates)
        actions |= ACTION_POD_GATES_GONE;
    lists_at(&c->names.tolerations, a->tolerations, sizeof(struct toleration_sym), &n_was);
    lists_at(&c->names.tolerations, b->tolerations, sizeof(struct toleration_sym), &n_is);
    if (n_was != n_is)
        actions |= ACTION_POD_TOLERATION;
    bool has_claims =
        a->n_claims == b->n_claims && a->left_claim == b->left_claim &&
        (a->n_claims == 0 || !memcmp(a->claims, b->claims, a->n_claims * sizeof(*a->claims)));
    if (!has_claims)
        actions |= ACTION_POD_CLAIMS;
    return actions ? actions : ACTION_UPDATE;
}

/* Is it leaving, and why? */
static uint32_t flags_of(const struct pod *from)
{
    if (from->meta.deleted_ms == TIME_NONE)
        return 0;
    list_each(&from->status.conditions, condition)
        if (str_equal(condition->type, STR("DisruptionTarget")))
            return str_equal(condition->status, STR("True")) &&
                           str_equal(condition->reason, STR("PreemptionByScheduler"))
                       ? POD_TERMINATING | POD_PREEMPTED
                       : POD_TERMINATING;
    return POD_TERMINATING;
}

static void set_start(struct cluster *c, struct pod_row *row, int64_t start_ms)
{
    if (row->start_ms != start_ms && row->node != ID_NONE)
        change_log_add(&c->log, (node_id){row->node}, COLUMN_WORTH);
    row->start_ms = start_ms;
}

static bool is_ours(const struct engine *k, const struct pod *pod)
{
    return classes_profile(&k->classes, pod->spec.scheduler_name) != NULL;
}

static sym nominated_name(struct engine *k, const struct pod *pod)
{
    return pod->status.nominated_node_name.n && is_ours(k, pod)
               ? names_get(&k->cluster->names, pod->status.nominated_node_name)
               : SYM_NONE;
}

static void add_pod(struct engine *k, const struct pod *from, shape_id shape, sym pin)
{
    struct cluster *c = k->cluster;
    pod_id pod = pods_add(&c->pods, shape, from->meta.name, from->meta.uid);
    struct pod_row *row = pods_at(&c->pods, pod);
    row->digest = from->digest;
    row->created_ms = from->meta.created_ms;
    row->start_ms = from->status.start_ms;
    row->flags = flags_of(from) | (from->spec.node_name.n ? POD_BOUND : 0);
    engine_add_unit(k, pod);
    engine_set_pin(k, pod, pin);
    engine_set_group(k, pod, from);
    engine_hear_pods_queue(k, pod, &from->meta);
    engine_join_app(k, pod);
    engine_hear_run_time(k, pod, from);
    if (from->spec.node_name.n) {
        sym node = names_get(&c->names, from->spec.node_name);
        engine_put_on_node(k, pod, node, from);
        engine_tell_pod(k, ACTION_ADD, NULL, pods_shape(&c->pods, pod), node);
    } else if (is_ours(k, from)) {
        cluster_nominate(c, pod, nominated_name(k, from));
        engine_stand(k, pod, true);
    }
    if (from->meta.annotations.n || groups_of(&c->groups, pod) != ID_NONE)
        engine_put_driver(k, pod, from);
}

static void set_priority(struct engine *k, pod_id pod)
{
    int32_t *priority = &k->units.at[pod.i].priority, was = *priority;
    *priority = cluster_spec(k->cluster, pod)->priority;
    k->last.lowest = MIN(k->last.lowest, *priority);
    uint32_t group = *priority == was ? ID_NONE : groups_of(&k->cluster->groups, pod);
    if (engine_leader_of(k, group) != ID_NONE)
        engine_age_anew(k, group);
}

/* Gives the row its new shape and flags, with the sums of its node following; returns what differs.
 */
static uint32_t rewrite(struct engine *k, pod_id pod, shape_id shape, uint32_t flags)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    uint32_t actions = row->shape == shape ? 0
                                           : differences(c, &c->pods.shapes.at[row->shape],
                                                         &c->pods.shapes.at[shape]);
    if (!actions && row->flags == flags)
        return 0;
    bool must_move = row->node != ID_NONE && (actions || (row->flags ^ flags) & POD_TERMINATING);
    node_id node = {row->node};
    gpu_mask gpus = row->gpus;
    uint32_t zone = row->zone;
    struct gpu_ask had = cluster_spec(c, pod)->gpus;
    if (must_move)
        cluster_take(c, pod);
    if (actions) {
        engine_leave_app(k, pod);
        pods_reshape(&c->pods, pod, shape);
    }
    row->flags = flags | (row->flags & POD_KEPT_FLAGS);
    struct gpu_ask has = cluster_spec(c, pod)->gpus;
    bool keeps_gpus = had.count == has.count && had.milli == has.milli;
    if (must_move)
        cluster_place_on_gpus(c, pod, node, keeps_gpus ? gpus : 0);
    if (must_move && row->flags & POD_ZONE_TOLD && zone)
        cluster_set_zone(c, pod, zone);
    if (actions)
        engine_join_app(k, pod);
    set_priority(k, pod); /* it is on its node again: it does not wait with its gang */
    return actions;
}

/* The API says which node the pod is on. */
static void update_placed(struct engine *k, const struct pod *from, pod_id pod, shape_id shape,
                          uint32_t flags)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    sym node = names_get(&c->names, from->spec.node_name);
    bool was_bound = row->flags & POD_BOUND;
    bool is_elsewhere = row->node != ID_NONE && c->nodes.name[row->node] != node;
    sym left = is_elsewhere ? c->nodes.name[row->node] : SYM_NONE;
    shape_id old_shape = row->shape;
    intern_hold(&c->pods.shape_table, old_shape);
    if (is_elsewhere) {
        intern_hold(&c->names.text, left);
        engine_take_off(k, pod);
    }
    uint32_t actions = rewrite(k, pod, shape, flags | POD_BOUND);
    engine_leave(k, pod);
    if (row->node == ID_NONE)
        engine_put_on_node(k, pod, node, from);
    engine_give_up(k, pod);
    if (!was_bound || is_elsewhere)
        actions = ACTION_ADD;
    engine_tell_pod(k, actions, actions == ACTION_ADD ? NULL : &c->pods.shapes.at[old_shape],
                    pods_shape(&c->pods, pod), node);
    if (is_elsewhere) { /* somebody was faster than we */
        engine_tell_pod(k, ACTION_DELETE, &c->pods.shapes.at[old_shape], NULL, left);
        intern_drop(&c->names.text, left);
    }
    intern_drop(&c->pods.shape_table, old_shape);
}

/* The pod, which waits by itself if it waits, is another than it was. */
static void tell_itself(struct engine *k, pod_id pod, uint32_t actions, shape_id old_shape)
{
    const struct pods *pods = &k->cluster->pods;
    struct event event = {
        .resource = EVENT_TARGET_POD,
        .actions = actions,
        .old_shape = &pods->shapes.at[old_shape],
        .new_shape = pods_shape(pods, pod),
        .pod_node = SYM_NONE,
    };
    queue_touch(k->queue, k->now_ms, pod.i, &event);
    engine_touch_line(k, pod.i);
}

/* It is deleted, and will not be bound. */
static void give_up_assumed(struct engine *k, pod_id pod)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    sym node = c->nodes.name[row->node];
    intern_hold(&c->names.text, node);
    engine_give_up(k, pod);
    engine_take_off(k, pod);
    row->flags = POD_TERMINATING;
    engine_give_back(k, pod, node, LEAVING_LOST);
    engine_tell_pod(k, ACTION_DELETE, &c->pods.shapes.at[row->shape], NULL, node);
    intern_drop(&c->names.text, node);
}

/* We placed the pod, and the API does not say so yet. Should the binding fail, it waits as it is
 * now. */
static void update_assumed(struct engine *k, pod_id pod, shape_id shape, uint32_t flags)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    shape_id old_shape = row->shape;
    if (flags & POD_TERMINATING && !(row->flags & POD_TERMINATING)) {
        give_up_assumed(k, pod);
        return;
    }
    intern_hold(&c->pods.shape_table, old_shape);
    uint32_t actions = rewrite(k, pod, shape, row->flags);
    engine_tell_pod(k, actions, &c->pods.shapes.at[old_shape], pods_shape(&c->pods, pod),
                    c->nodes.name[row->node]);
    intern_drop(&c->pods.shape_table, old_shape);
}

static void update_waiting(struct engine *k, const struct pod *from, pod_id pod, shape_id shape,
                           uint32_t flags, bool has_moved)
{
    struct cluster *c = k->cluster;
    struct pod_row *row = pods_at(&c->pods, pod);
    shape_id old_shape = row->shape;
    intern_hold(&c->pods.shape_table, old_shape);
    sym was_nominated = row->nominated, nominated = nominated_name(k, from);
    uint32_t actions = rewrite(k, pod, shape, flags);
    if (actions) /* what is nominated there is another thing now: the node's row must say so */
        cluster_nominate(c, pod, SYM_NONE);
    if (was_nominated != SYM_NONE && nominated != was_nominated)
        intern_hold(&c->names.text, was_nominated);
    cluster_nominate(c, pod, nominated);
    if (actions & ACTION_POD_GATES_GONE)
        engine_tell_soon(k, pod);
    engine_stand(k, pod, actions || has_moved);
    if (actions && engine_gang_of(k, pod) == ID_NONE)
        tell_itself(k, pod, actions, old_shape);
    if (was_nominated != SYM_NONE && nominated != was_nominated) {
        engine_tell_nomination_ended(k, &c->pods.shapes.at[old_shape], was_nominated,
                                     (pod_id){ID_NONE});
        intern_drop(&c->names.text, was_nominated);
    }
    intern_drop(&c->pods.shape_table, old_shape);
}

/* A pod that was bound stays so: one that is not any more (its API server was set back) has nothing
 * to do with the one we knew. */
static bool is_another_pod(const struct pod_row *row, const struct pod *from)
{
    bool has_another_uid = from->meta.uid.n && !str_equal(pod_uid(row), from->meta.uid);
    return has_another_uid || (row->flags & POD_BOUND && from->spec.node_name.n == 0);
}

bool engine_knows(const struct engine *k, const struct pod *partial)
{
    const struct cluster *c = k->cluster;
    pod_id pod =
        pods_find(&c->pods, names_find(&c->names, partial->meta.namespace), partial->meta.name);
    if (pod.i == ID_NONE || partial->digest == 0)
        return false;
    const struct pod_row *row = pods_at(&c->pods, pod);
    return row->digest == partial->digest && !is_another_pod(row, partial);
}

void engine_see_leftover(struct engine *k, pod_id pod)
{
    struct cluster *c = k->cluster;
    const struct pod_row *row = pod.i == ID_NONE ? NULL : pods_at(&c->pods, pod);
    if (!row || row->flags & (POD_BOUND | POD_ASSUMED) || !cluster_spec(c, pod)->n_device_asks)
        return;
    shape_id shape = read_left_of(c, pod), old_shape = row->shape;
    intern_hold(&c->pods.shape_table, old_shape);
    uint32_t actions = rewrite(k, pod, shape, row->flags);
    if (actions)
        tell_itself(k, pod, actions, old_shape);
    intern_drop(&c->pods.shape_table, old_shape);
}

static void put_pod(struct engine *k, const struct pod *from)
{
    struct cluster *c = k->cluster;
    pod_id pod = pods_find(&c->pods, names_find(&c->names, from->meta.namespace), from->meta.name);
    bool is_another = pod.i != ID_NONE && is_another_pod(pods_at(&c->pods, pod), from);
    if (pod.i != ID_NONE && (is_another || is_finished(from))) {
        bool has_ended = !is_another && str_equal(from->status.phase, STR("Succeeded"));
        engine_remove_pod(k, pod, has_ended);
        pod.i = ID_NONE;
    }
    if (is_finished(from))
        return;
    assert(!from->is_partial || pod.i != ID_NONE);
    sym pin = SYM_NONE;
    shape_id shape =
        from->is_partial ? read_labels_of(c, from, pod) : read_pod_shape(c, from, &pin);
    if (pod.i == ID_NONE) {
        add_pod(k, from, shape, pin);
        return;
    }
    uint32_t flags = flags_of(from);
    if (!from->is_partial)
        engine_set_pin(k, pod, pin);
    pods_at(&c->pods, pod)->digest = from->digest;
    set_start(c, pods_at(&c->pods, pod), from->status.start_ms);
    uint32_t group = groups_of(&c->groups, pod);
    bool has_moved = !from->is_partial && engine_set_group(k, pod, from);
    bool is_elsewhere = !from->is_partial && engine_hear_pods_queue(k, pod, &from->meta);
    if (!from->is_partial)
        engine_hear_run_time(k, pod, from);
    if (from->spec.node_name.n)
        update_placed(k, from, pod, shape, flags);
    else if (pods_at(&c->pods, pod)->flags & POD_ASSUMED)
        update_assumed(k, pod, shape, flags);
    else
        update_waiting(k, from, pod, shape, flags, has_moved || is_elsewhere);
    if (!from->is_partial && (has_moved || groups_of(&c->groups, pod) != ID_NONE))
        engine_put_driver(k, pod, from);
    if (flags & POD_TERMINATING || has_moved)
        engine_free_rooms_of_lost(k, group);
}

/* --- nodes --- */

static uint32_t node_actions(const struct node_row *was, uint32_t columns)
{
    if (!was->is_present)
        return ACTION_ADD;
    uint32_t actions = 0;
    if (columns & COLUMN_ALLOC)
        actions |= ACTION_NODE_ALLOCATABLE;
    if (columns & COLUMN_LABELS)
        actions |= ACTION_NODE_LABEL;
    if (columns & COLUMN_FEATURES)
        actions |= ACTION_NODE_DECLARED_FEATURE;
    if (columns & COLUMN_TAINTS || (columns & COLUMN_CORDON && was->is_cordoned))
        actions |= ACTION_NODE_TAINT;
    return actions;
}

/* Keeps the interned sets of a row alive while an event refers to them. */
static void slot_row(struct cluster *c, const struct node_row *row, bool slots)
{
    void (*change)(struct intern *, uint32_t) = slots ? intern_hold : intern_drop;
    change(&c->names.label_sets.table, row->labels);
    change(&c->names.label_sets.table, row->features);
    change(&c->names.taint_sets.table, row->taints);
    if (row->hostname != SYM_NONE)
        change(&c->names.text, row->hostname);
}

static void put_node(struct engine *k, const struct node *from)
{
    struct cluster *c = k->cluster;
    node_id node = cluster_claim(c, names_get(&c->names, from->meta.name));
    struct node_row was = nodes_get(&c->nodes, node, &k->mem);
    struct node_row is = read_node(c, from, &k->mem);
    slot_row(c, &was, true);
    uint32_t columns = cluster_put_node(c, node, &is);
    engine_see_capacity(k, columns);
    engine_see_labels(k, node, from, &is);
    uint32_t actions = columns ? node_actions(&was, columns) : 0;
    if (actions) {
        struct event event = {
            .resource = EVENT_NODE,
            .actions = actions,
            .node = node,
            .old_row = was.is_present ? &was : NULL,
            .new_row = &is,
            .pod_node = SYM_NONE,
        };
        engine_event(k, &event);
    }
    slot_row(c, &was, false);
    arena_reset(&k->mem);
}

static void remove_node(struct engine *k, struct str name)
{
    struct cluster *c = k->cluster;
    node_id node = nodes_find(&c->nodes, names_find(&c->names, name));
    if (node.i == ID_NONE || !nodes_is_present(&c->nodes, node))
        return;
    struct node_row was = nodes_get(&c->nodes, node, &k->mem);
    struct event event = {
        .resource = EVENT_NODE,
        .actions = ACTION_DELETE,
        .node = node,
        .old_row = &was,
        .pod_node = SYM_NONE,
    };
    engine_event(k, &event);
    engine_forget_labels(k, node);
    engine_see_capacity(k, cluster_put_node(c, node, &NODE_ROW_ABSENT));
    engine_release_node(k, node);
    arena_reset(&k->mem);
}

/* --- what selects pods --- */

static void put_budget(struct cluster *c, const struct disruption_budget *from)
{
    VEC(sym) evicted = {0};
    list_each(&from->disrupted_pods, pod)
        vec_push(&evicted, names_get(&c->names, pod->name));
    struct budget_ask ask = {
        .namespace = names_get(&c->names, from->meta.namespace),
        .name = names_get(&c->names, from->meta.name),
        .selector = read_selector(c, from->selector),
        .allowed = from->disruptions_allowed,
        .evicted = evicted.at,
        .n_evicted = evicted.n,
    };
    budgets_put(c, &ask);
    vec_done(&evicted);
}

static void remove_budget(struct cluster *c, const struct meta *meta)
{
    struct budget_ask ask = {
        .namespace = names_get(&c->names, meta->namespace),
        .name = names_get(&c->names, meta->name),
        .selector = ID_NONE,
    };
    budgets_put(c, &ask);
}

static enum owner_kind owner_kind_of(enum kind kind)
{
    return kind == KIND_REPLICATION_CONTROLLER ? OWNER_REPLICATION_CONTROLLER
           : kind == KIND_REPLICA_SET          ? OWNER_REPLICA_SET
                                               : OWNER_STATEFUL_SET;
}

static void put_selecting(struct cluster *c, const struct object *o)
{
    sym namespace = names_get(&c->names, o->meta->namespace),
        name = names_get(&c->names, o->meta->name);
    struct workloads *w = &c->workloads;
    if (o->kind == KIND_SERVICE) {
        if (o->service->selector.n == 0)
            workloads_remove_service(w, &c->names, &c->matches, namespace, name);
        else
            workloads_put_service(w, &c->names, &c->matches, namespace, name,
                                  read_map_selector(c, &o->service->selector));
        return;
    }
    selector_id selector = o->kind == KIND_REPLICATION_CONTROLLER
                               ? read_map_selector(c, &o->replication_controller->selector)
                               : read_selector(c, o->replica_set->selector);
    workloads_put_owner(w, &c->names, &c->matches, namespace, owner_kind_of(o->kind), name,
                        selector);
}

static void remove_selecting(struct cluster *c, const struct object *o)
{
    sym namespace = names_get(&c->names, o->meta->namespace),
        name = names_get(&c->names, o->meta->name);
    if (o->kind == KIND_SERVICE)
        workloads_remove_service(&c->workloads, &c->names, &c->matches, namespace, name);
    else
        workloads_remove_owner(&c->workloads, &c->names, &c->matches, namespace,
                               owner_kind_of(o->kind), name);
}

/* --- volumes and who provides them --- */

static void tell_storage(struct engine *k, const struct object *o, uint32_t actions, sym driver)
{
    struct names *names = &k->cluster->names;
    struct event event = {
        .resource = engine_resource_of(o->kind),
        .actions = actions,
        .namespace = names_find(names, o->meta->namespace),
        .name = driver == SYM_NONE ? names_find(names, o->meta->name) : driver,
        .pod_node = SYM_NONE,
    };
    engine_event(k, &event);
}

static void put_storage(struct engine *k, const struct object *o)
{
    uint32_t actions = volumes_put(k->cluster, o);
    if (actions)
        tell_storage(k, o, actions, SYM_NONE);
}

static void remove_storage(struct engine *k, const struct object *o)
{
    sym driver =
        o->kind == KIND_VOLUME_ATTACHMENT
            ? volumes_attacher(&k->cluster->volumes, names_find(&k->cluster->names, o->meta->name))
            : SYM_NONE;
    if (volumes_remove(k->cluster, o))
        tell_storage(k, o, ACTION_DELETE, driver);
}

/* --- all --- */

static void hear_namespace(struct engine *k, const struct object *o, bool is_there)
{
    struct cluster *c = k->cluster;
    sym name =
        is_there ? names_get(&c->names, o->meta->name) : names_find(&c->names, o->meta->name);
    label_set_id labels = is_there ? read_labels(c, &o->meta->labels) : ID_NONE;
    struct event event = {.resource = EVENT_NAMESPACE, .actions = ACTION_OTHER, .name = name};
    label_set_id before = name == SYM_NONE ? ID_NONE : map_find(&c->namespaces, name);
    bool is_tenants = identity_is_said(c, before) || identity_is_said(c, labels);
    engine_see_namespace(k, name, is_there ? o->namespace : NULL);
    bool differs = cluster_put_namespace(c, name, labels);
    if (engine_hear_namespaces_queue(k, name, is_there ? o->meta : NULL, differs))
        engine_event(k, &(struct event){.resource = EVENT_ANY});
    if (!differs)
        return;
    if (is_tenants)
        engine_review_boosts(k, name);
    engine_event(k, &event);
}

/* Did the pod, which is gone, run and was not deleted? */
static bool is_done(const struct pod_row *row)
{
    return row->flags & POD_BOUND && !(row->flags & POD_GOING);
}

/* Whoever watches pods that have not ended hears of an end as of a removal. */
static void remove_pod(struct engine *k, const struct meta *meta)
{
    struct cluster *c = k->cluster;
    pod_id pod = pods_find(&c->pods, names_find(&c->names, meta->namespace), meta->name);
    if (pod.i != ID_NONE)
        engine_remove_pod(k, pod, is_done(pods_at(&c->pods, pod)));
}

static void put_group(struct engine *k, const struct object *o, bool is_there)
{
    if (kind_is_owner(o->kind))
        engine_put_idler(k, o, is_there);
    uint32_t group = engine_put_group(k, o, is_there);
    if (group != ID_NONE)
        engine_hear_groups_queue(k, group, is_there ? o->meta : NULL);
    if (group != ID_NONE && is_there && o->kind == KIND_LEADER_WORKER_SET)
        engine_liken_company(k, group);
    engine_free_rooms_of_lost(k, group);
}

/* The object is there, as it is now; or (then only its names are to be looked at) gone. */
/* It may be one of ours that says what was learned. */
static void put_reservation(struct engine *k, const struct object *o, bool is_there)
{
    bool is_memory = is_there ? reservation_is_mirror(o->reservation) &&
                                    engine_read_saved_run_times(k, o->reservation)
                              : engine_lose_saved_run_times(k, o->meta);
    if (!is_memory && is_there)
        engine_put_reservation(k, o->reservation);
    else if (!is_memory)
        engine_remove_reservation(k, o->meta);
}

static void hear(struct engine *k, const struct object *o, bool is_there)
{
    struct cluster *c = k->cluster;
    switch (o->kind) {
    case KIND_POD:
        is_there ? put_pod(k, o->pod) : remove_pod(k, o->meta);
        break;
    case KIND_NODE:
        is_there ? put_node(k, o->node) : remove_node(k, o->meta->name);
        break;
    case KIND_NAMESPACE:
        hear_namespace(k, o, is_there);
        break;
    case KIND_DISRUPTION_BUDGET:
        is_there ? put_budget(c, o->disruption_budget) : remove_budget(c, o->meta);
        break;
    case KIND_SERVICE:
    case KIND_REPLICATION_CONTROLLER:
    case KIND_REPLICA_SET:
    case KIND_STATEFUL_SET:
        is_there ? put_selecting(c, o) : remove_selecting(c, o);
        break;
    case KIND_PERSISTENT_VOLUME:
    case KIND_PERSISTENT_VOLUME_CLAIM:
    case KIND_STORAGE_CLASS:
    case KIND_CSI_NODE:
    case KIND_CSI_DRIVER:
    case KIND_CSI_STORAGE_CAPACITY:
    case KIND_VOLUME_ATTACHMENT:
        is_there ? put_storage(k, o) : remove_storage(k, o);
        break;
    case KIND_POD_GROUP:
    case KIND_POD_GROUP_ALPHA2:
    case KIND_SIGS_POD_GROUP:
    case KIND_VOLCANO_POD_GROUP:
    case KIND_JOB:
    case KIND_JOB_SET:
    case KIND_JAX_JOB:
    case KIND_MPI_JOB:
    case KIND_PADDLE_JOB:
    case KIND_PYTORCH_JOB:
    case KIND_TF_JOB:
    case KIND_XGBOOST_JOB:
    case KIND_RAY_CLUSTER:
    case KIND_LEADER_WORKER_SET:
        put_group(k, o, is_there);
        break;
    case KIND_WORKLOAD:
        engine_put_workload(k, o, is_there);
        break;
    case KIND_RESERVATION:
        put_reservation(k, o, is_there);
        break;
    case KIND_CLUSTER_QUEUE:
    case KIND_LOCAL_QUEUE:
    case KIND_KUEUE_WORKLOAD:
        engine_put_kueue(k, o, is_there);
        break;
    case KIND_QUEUE:
        engine_put_shares(k, o, is_there);
        break;
    case KIND_RESOURCE_QUOTA:
        engine_put_quota(k, o, is_there);
        break;
    case KIND_RESOURCE_CLAIM:
    case KIND_RESOURCE_SLICE:
    case KIND_DEVICE_CLASS:
    case KIND_DEVICE_TAINT_RULE:
        is_there ? engine_put_devices(k, o) : engine_remove_devices(k, o);
        break;
    case KIND_NODE_TOPOLOGY:
        engine_put_topology(k, o, is_there);
        break;
    case KIND_NONE: /* the others say nothing to the plugins there are */
    case KIND_PRIORITY_CLASS:
    case KIND_COUNT:
        break;
    }
}

void engine_apply(struct engine *k, int64_t now_ms, const struct change *change)
{
    engine_begin_call(k, now_ms);
    assert(change->object.kind != KIND_NONE && change->object.meta->name.n); /* it was checked */
    engine_tidy(k);
    hear(k, &change->object, change->kind == CHANGE_PUT);
}
