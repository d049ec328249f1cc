#include "support/ground.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/cluster/read.h"

void ground_done(struct ground *g)
{
    cluster_free(g->cluster);
    arena_done(&g->mem);
    buf_done(&g->text);
}

struct cluster *ground_cluster(struct ground *g)
{
    if (!g->cluster)
        g->cluster = cluster_new(1);
    return g->cluster;
}

sym ground_sym(struct ground *g, const char *text)
{
    return names_get(&ground_cluster(g)->names, str_of(text));
}

node_id ground_node(struct ground *g, const char *name)
{
    return nodes_find(&g->cluster->nodes, ground_sym(g, name));
}

pod_id ground_pod(struct ground *g, const char *name)
{
    return pods_find(&g->cluster->pods, ground_sym(g, "default"), str_of(name));
}

static uint32_t add_node(struct ground *g, const struct node *from)
{
    struct cluster *c = g->cluster;
    struct node_row row = read_node(c, from, &g->mem);
    return cluster_put_node(c, cluster_claim(c, names_get(&c->names, from->meta.name)), &row);
}

static void add_pod(struct ground *g, const struct pod *from)
{
    struct cluster *c = g->cluster;
    sym pin;
    shape_id shape = read_pod_shape(c, from, &pin);
    pod_id pod = pods_add(&c->pods, shape, from->meta.name, from->meta.uid);
    if (from->meta.deleted_ms != TIME_NONE)
        pods_at(&c->pods, pod)->flags |= POD_TERMINATING;
    if (pin != SYM_NONE)
        intern_hold(&c->names.text, pin);
    pods_at(&c->pods, pod)->pin = pin;
    if (from->spec.node_name.n)
        cluster_place(c, pod, cluster_claim(c, names_get(&c->names, from->spec.node_name)));
    else if (from->status.nominated_node_name.n)
        cluster_nominate(c, pod, names_get(&c->names, from->status.nominated_node_name));
}

static void add_selecting(struct ground *g, const struct object *o)
{
    struct cluster *c = g->cluster;
    sym namespace = names_get(&c->names, o->meta->namespace);
    sym name = names_get(&c->names, o->meta->name);
    if (o->kind == KIND_SERVICE)
        workloads_put_service(&c->workloads, &c->names, &c->matches, namespace, name,
                              read_map_selector(c, &o->service->selector));
    else if (o->kind == KIND_REPLICATION_CONTROLLER)
        workloads_put_owner(&c->workloads, &c->names, &c->matches, namespace,
                            OWNER_REPLICATION_CONTROLLER, name,
                            read_map_selector(c, &o->replication_controller->selector));
    else
        workloads_put_owner(&c->workloads, &c->names, &c->matches, namespace,
                            o->kind == KIND_REPLICA_SET ? OWNER_REPLICA_SET : OWNER_STATEFUL_SET,
                            name, read_selector(c, o->replica_set->selector));
}

uint32_t ground_add(struct ground *g, const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    assert(length < (int)sizeof(line));
    ground_cluster(g);
    struct object o = object_of(&g->mem, line);
    if (o.kind == KIND_NODE)
        return add_node(g, o.node);
    if (o.kind == KIND_POD)
        add_pod(g, o.pod);
    else if (o.kind == KIND_NAMESPACE)
        cluster_put_namespace(g->cluster, names_get(&g->cluster->names, o.meta->name),
                              read_labels(g->cluster, &o.namespace->meta.labels));
    else if (o.kind >= KIND_PERSISTENT_VOLUME)
        volumes_put(g->cluster, &o);
    else
        add_selecting(g, &o);
    return 0;
}

void ground_put_gpus(struct ground *g, const char *node, const char *devices)
{
    struct str json = arena_printf(
        &g->mem,
        "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'%s'},'spec':"
        "{'driver':'gpu.nvidia.com','nodeName':'%s','pool':{'name':'%s','resourceSliceCount':1},"
        "'devices':[%s]}}",
        node, node, node, devices);
    struct object o = object_of_json(&g->mem, json.p);
    devices_put(ground_cluster(g), &o);
}

struct str ground_dump(struct ground *g)
{
    buf_clear(&g->text);
    cluster_dump(ground_cluster(g), &g->text);
    return buf_str(&g->text);
}
