#include "core/model/partial_pod.h"

#include "core/base/hash.h"
#include "core/model/tables.h"
#include "core/wire/proto.h"

static const struct field read_partial_meta[] = {
    {FIELD(TIME, "deletionTimestamp", 9, struct pod, meta.deleted_ms)},
    {FIELD(INT64, "generation", 7, struct pod, meta.generation)},
    {FIELD_ENTRIES("labels", 11, struct pod, meta.labels, pair_fields)},
    {FIELD(STR, "name", 1, struct pod, meta.name)},
    {FIELD(STR, "namespace", 3, struct pod, meta.namespace)},
    {FIELD(STR, "resourceVersion", 6, struct pod, meta.resource_version)},
    {FIELD(STR, "uid", 5, struct pod, meta.uid)},
    FIELD_END,
};

static const struct field read_partial_spec[] = {
    {FIELD(STR, "nodeName", 10, struct pod, spec.node_name)},
    {FIELD(STR, "schedulerName", 19, struct pod, spec.scheduler_name)},
    FIELD_END,
};

static const struct field read_partial_status[] = {
    {FIELD_MESSAGES("conditions", 2, struct pod, status.conditions, pod_condition_fields)},
    {FIELD(STR, "nominatedNodeName", 11, struct pod, status.nominated_node_name)},
    {FIELD(STR, "phase", 1, struct pod, status.phase)},
    {FIELD(TIME, "startTime", 7, struct pod, status.start_ms)},
    FIELD_END,
};

static const struct field read_partial_pod[] = {
    {FIELD_PART("metadata", 1, read_partial_meta)},
    {FIELD_PART("spec", 2, read_partial_spec)},
    {FIELD_PART("status", 3, read_partial_status)},
    FIELD_END,
};

/* Of the status: resourceClaimStatuses, extendedResourceClaimStatus, allocatedResources, resources;
 * and name, allocatedResources, resources of each container. */
static const struct proto_part container_part = {.whole = PROTO_FIELD(1) | PROTO_FIELD(10) |
                                                          PROTO_FIELD(11)};
static const struct proto_part status_part = {.whole = PROTO_FIELD(15) | PROTO_FIELD(18) |
                                                       PROTO_FIELD(19) | PROTO_FIELD(20),
                                              .inside = PROTO_FIELD(8) | PROTO_FIELD(10),
                                              .of = &container_part};

/* A label that servers put on a pod with its binding. */
static bool is_of_node(struct str label)
{
    struct proto_value key;
    struct error e;
    return proto_take(&label, &key, &e) && key.number == 1 && key.wire == PROTO_BYTES &&
           str_starts(key.bytes, STR("topology.kubernetes.io/"));
}

static uint64_t digest_meta(struct str meta, uint64_t digest)
{
    enum { UID = 5, LABEL = 11, ANNOTATION = 12, OWNER = 13 };
    struct proto_value v;
    struct error e;
    while (proto_take(&meta, &v, &e)) {
        if (v.wire != PROTO_BYTES)
            continue;
        bool counts = v.number == UID || v.number == ANNOTATION || v.number == OWNER ||
                      (v.number == LABEL && !is_of_node(v.bytes));
        if (counts)
            digest = hash_pair(hash_pair(digest, v.number), str_hash(v.bytes));
    }
    return digest;
}

uint64_t partial_pod_digest(const struct envelope *v, const struct pod *pod)
{
    enum { META = 1, STATUS = 3 };
    struct str rest = v->raw;
    struct proto_value part;
    struct error e;
    uint64_t digest = (uint64_t)pod->meta.generation;
    if (v->encoding != ENCODING_PROTO || digest == 0)
        return 0;
    while (proto_take(&rest, &part, &e)) {
        if (part.number == META && part.wire == PROTO_BYTES)
            digest = digest_meta(part.bytes, digest);
        else if (part.number == STATUS && part.wire == PROTO_BYTES)
            digest = proto_digest(part.bytes, &status_part, digest);
    }
    return digest;
}

bool partial_pod_read(const struct envelope *v, struct arena *mem, struct pod *out)
{
    struct error e;
    const struct kind_info *info = kind_info_find(v->api_version, v->kind);
    if (!info || info->kind != KIND_POD ||
        !encoding_read(v->encoding, v->raw, read_partial_pod, out, mem, &e))
        return false;
    out->digest = partial_pod_digest(v, out);
    out->is_partial = true;
    return true;
}
