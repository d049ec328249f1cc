#include "core/model/default.h"

#include <stdlib.h>

#include "core/model/owner.h"

/* --- pods --- */

static int by_name(const void *a, const void *b)
{
    const struct str *x = a, *y = b;
    return str_compare(*x, *y);
}

/* The names of the list in order, to be looked up by halving: there may be thousands. */
static struct str *names_of(amount_list list, struct arena *mem)
{
    struct str *names = arena_array(mem, struct str, list.n);
    for (uint32_t i = 0; i < list.n; i++)
        names[i] = list.at[i].name;
    if (list.n > 1)
        qsort(names, list.n, sizeof(*names), by_name);
    return names;
}

/* A limit without a request is the request, too. */
static void requests_from_limits(struct resource_requirements *r, struct arena *mem)
{
    if (!r->limits.n)
        return;
    const struct str *known = names_of(r->requests, mem);
    struct amount *all = arena_array(mem, struct amount, r->requests.n + r->limits.n);
    uint32_t n = 0;
    list_each(&r->requests, request)
        all[n++] = *request;
    list_each(&r->limits, limit)
        if (!r->requests.n || !bsearch(&limit->name, known, r->requests.n, sizeof(*known), by_name))
            all[n++] = *limit;
    r->has_requests |= n > r->requests.n;
    r->requests = (amount_list){all, n};
}

static void default_container(struct container *c, bool host_network, struct arena *mem)
{
    requests_from_limits(&c->resources, mem);
    list_each(&c->ports, port) {
        if (port->protocol.n == 0)
            port->protocol = STR("TCP");
        if (host_network && port->host_port == 0)
            port->host_port = port->container_port;
    }
}

static void default_text(struct str *text, struct str to)
{
    if (text->n == 0)
        *text = to;
}

static void default_volume(struct volume *v)
{
    if (v->rbd)
        default_text(&v->rbd->pool, STR("rbd"));
    if (v->azure_disk)
        default_text(&v->azure_disk->kind, STR("Shared"));
}

static void default_pod(struct pod *pod, struct arena *mem)
{
    list_each(&pod->spec.volumes, v)
        default_volume(v);
    if (pod->spec.scheduler_name.n == 0)
        pod->spec.scheduler_name = STR("default-scheduler");
    if (pod->status.phase.n == 0)
        pod->status.phase = STR("Pending");
    list_each(&pod->spec.containers, c)
        default_container(c, pod->spec.host_network, mem);
    list_each(&pod->spec.init_containers, c)
        default_container(c, pod->spec.host_network, mem);
}

static void default_node(struct node *node)
{
    if (!node->status.has_allocatable)
        node->status.allocatable = node->status.capacity;
}

/* Every namespace carries its name as a label, whatever the manifest says. */
static void default_namespace(struct namespace *ns, struct arena *mem)
{
    if (ns->phase.n == 0)
        ns->phase = STR("Active");
    struct str key = STR("kubernetes.io/metadata.name");
    list_each(&ns->meta.labels, label) {
        if (str_equal(label->key, key)) {
            label->value = ns->meta.name;
            return;
        }
    }
    struct pair *all = arena_array(mem, struct pair, ns->meta.labels.n + 1);
    uint32_t n = 0;
    while (n < ns->meta.labels.n && str_compare(ns->meta.labels.at[n].key, key) < 0) {
        all[n] = ns->meta.labels.at[n];
        n++;
    }
    all[n] = (struct pair){key, ns->meta.name};
    for (uint32_t i = n; i < ns->meta.labels.n; i++)
        all[i + 1] = ns->meta.labels.at[i];
    ns->meta.labels = (pair_list){all, ns->meta.labels.n + 1};
}

static void default_job(struct job *job)
{
    if (!job->has_parallelism) {
        if (!job->has_completions) {
            job->completions = 1;
            job->has_completions = true;
        }
        job->parallelism = 1;
        job->has_parallelism = true;
    }
    if (job->completion_mode.n == 0)
        job->completion_mode = STR("NonIndexed");
}

static void default_persistent_volume(struct persistent_volume *v)
{
    default_text(&v->spec.mode, STR("Filesystem"));
    default_text(&v->phase, STR("Pending"));
    if (v->spec.azure_disk)
        default_text(&v->spec.azure_disk->kind, STR("Shared"));
}

static void default_claim(struct persistent_volume_claim *claim)
{
    default_text(&claim->spec.mode, STR("Filesystem"));
    default_text(&claim->phase, STR("Pending"));
}

static void default_ask(struct device_ask *ask)
{
    default_text(&ask->mode, STR("ExactCount"));
    if (str_equal(ask->mode, STR("ExactCount")) && ask->count == 0)
        ask->count = 1;
    list_each(&ask->tolerations, t)
        default_text(&t->op, STR("Equal"));
}

static void default_resource_claim(struct resource_claim *claim)
{
    list_each(&claim->spec.requests, request) {
        if (request->exactly)
            default_ask(request->exactly);
        list_each(&request->first_available, ask)
            default_ask(ask);
    }
}

void object_default_template(struct object *object, struct arena *mem)
{
    if (object->kind == KIND_LEADER_WORKER_SET && object->owner_object->worker)
        default_pod(object->owner_object->worker, mem);
}

void object_default(struct object *object, struct arena *mem)
{
    const struct kind_info *info = kind_info_get(object->kind);
    struct meta *meta = object->meta;
    if (info->is_namespaced && meta->namespace.n == 0)
        meta->namespace = STR("default");
    if (meta->uid.n == 0) /* names are unique, so this is, too */
        meta->uid = arena_printf(mem, "%s/" STR_FMT "/" STR_FMT, info->name,
                                 STR_ARG(meta->namespace), STR_ARG(meta->name));
    switch (object->kind) {
    case KIND_POD:
        default_pod(object->pod, mem);
        break;
    case KIND_NODE:
        default_node(object->node);
        break;
    case KIND_NAMESPACE:
        default_namespace(object->namespace, mem);
        break;
    case KIND_REPLICATION_CONTROLLER:
        if (object->replication_controller->selector.n == 0)
            object->replication_controller->selector =
                object->replication_controller->template_labels;
        break;
    case KIND_LEADER_WORKER_SET:
        object_default_template(object, mem);
        break;
    case KIND_JOB:
        default_job(object->job);
        break;
    case KIND_PERSISTENT_VOLUME:
        default_persistent_volume(object->persistent_volume);
        break;
    case KIND_PERSISTENT_VOLUME_CLAIM:
        default_claim(object->persistent_volume_claim);
        break;
    case KIND_RESOURCE_CLAIM:
        default_resource_claim(object->resource_claim);
        break;
    case KIND_STORAGE_CLASS:
        default_text(&object->storage_class->binding_mode, STR("Immediate"));
        break;
    default:
        break;
    }
}
