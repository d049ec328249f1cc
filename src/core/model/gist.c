#include "core/model/gist.h"

#include "core/model/tables.h"

/* More than a node has of anything, and so little that many pods together do not overflow. */
#define AMOUNT_MOST ((__int128)100000000000000 * 1000000000)

/* Any text is a quantity. */
static const char *read_amount(struct str text, void *out)
{
    struct quantity *q = out;
    if (quantity_scalar.read(text, out))
        *q = (struct quantity){.nano = AMOUNT_MOST};
    return NULL;
}

static const struct field_scalar amount_scalar = {.wrong = "is not a quantity",
                                                  .read = read_amount};

static const struct field some_amount_fields[] = {
    {FIELD(STR, "key", 1, struct amount, name)},
    {FIELD(SCALAR, "value", 2, struct amount, quantity), .scalar = &amount_scalar},
    FIELD_END,
};

static const struct field resources_gist[] = {
    {FIELD_ENTRIES("requests", 2, struct resource_requirements, requests, some_amount_fields),
     FIELD_HAS(struct resource_requirements, has_requests)},
    FIELD_END,
};

static const struct field container_gist[] = {
    {FIELD(STR, "name", 1, struct container, name)},
    {FIELD_STRUCT("resources", 8, struct container, resources, resources_gist)},
    {FIELD(STR, "restartPolicy", 24, struct container, restart_policy)},
    FIELD_END,
};

static const struct field meta_gist[] = {
    {FIELD(TIME, "creationTimestamp", 8, struct meta, created_ms)},
    {FIELD(TIME, "deletionTimestamp", 9, struct meta, deleted_ms)},
    {FIELD(INT64, "generation", 7, struct meta, generation)},
    {FIELD(STR, "name", 1, struct meta, name)},
    {FIELD(STR, "namespace", 3, struct meta, namespace)},
    {FIELD(STR, "resourceVersion", 6, struct meta, resource_version)},
    {FIELD(STR, "uid", 5, struct meta, uid)},
    FIELD_END,
};

static const struct field spec_gist[] = {
    {FIELD_MESSAGES("containers", 2, struct pod, spec.containers, container_gist)},
    {FIELD_MESSAGES("initContainers", 20, struct pod, spec.init_containers, container_gist)},
    {FIELD(STR, "nodeName", 10, struct pod, spec.node_name)},
    {FIELD_ENTRIES("overhead", 32, struct pod, spec.overhead, some_amount_fields)},
    {FIELD(INT32, "priority", 25, struct pod, spec.priority),
     FIELD_HAS(struct pod, spec.has_priority)},
    {FIELD_REF("resources", 40, struct pod, spec.resources, resources_gist)},
    {FIELD(STR, "schedulerName", 19, struct pod, spec.scheduler_name)},
    FIELD_END,
};

static const struct field status_gist[] = {
    {FIELD_MESSAGES("conditions", 2, struct pod, status.conditions, pod_condition_fields)},
    {FIELD(STR, "phase", 1, struct pod, status.phase)},
    FIELD_END,
};

static const struct field pod_gist[] = {
    {FIELD_STRUCT("metadata", 1, struct pod, meta, meta_gist)},
    {FIELD_PART("spec", 2, spec_gist)},
    {FIELD_PART("status", 3, status_gist)},
    FIELD_END,
};

static const struct field node_gist[] = {
    {FIELD_STRUCT("metadata", 1, struct node, meta, meta_gist)},
    FIELD_END,
};

static const struct field queue_gist[] = {
    {FIELD_STRUCT("metadata", 1, struct queue_object, meta, meta_gist)},
    FIELD_END,
};

static const struct field *gist_of(enum kind kind)
{
    return kind == KIND_POD     ? pod_gist
           : kind == KIND_NODE  ? node_gist
           : kind == KIND_QUEUE ? queue_gist
                                : NULL;
}

static bool read(const struct envelope *v, const struct field *fields, void *out, struct arena *mem)
{
    struct error e;
    return encoding_read(v->encoding, v->raw, fields, out, mem, &e);
}

bool gist_mark(struct object *object, struct str why, struct arena *mem)
{
    if (object->kind == KIND_POD)
        object->pod->unread = arena_str(mem, why);
    else if (object->kind == KIND_NODE)
        object->node->spec.unschedulable = true;
    else if (object->kind == KIND_QUEUE)
        object->queue->invalid = arena_str(mem, why);
    return gist_of(object->kind);
}

bool gist_read(const struct envelope *v, struct str why, struct arena *mem, struct object *out)
{
    const struct kind_info *info = kind_info_find(v->api_version, v->kind);
    const struct field *fields = info ? gist_of(info->kind) : NULL;
    if (!fields)
        return false;
    *out = (struct object){.kind = info->kind, .meta = arena_alloc(mem, info->size)};
    return read(v, fields, out->meta, mem) && gist_mark(out, why, mem);
}
