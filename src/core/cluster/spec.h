#pragma once

#include "core/base/buf.h"
#include "core/base/map.h"
#include "core/cluster/gpus.h"
#include "core/cluster/match.h"
#include "core/cluster/names.h"
#include "core/cluster/resource_ids.h"
#include "core/model/classify.h"
#include "core/model/wishes.h"

/* A pod's spec as plugins read it: numbers and symbols, interned, so that all pods of a template
 * share one. What plugins cannot tell apart has the same number here. */

struct need {
    resource_id resource;
    uint32_t pad; /* 0: needs are compared as bytes */
    int64_t amount;
};

/* One of the sums that upstream makes of a pod's requests (kube-scheduler differs by caller).
 * Amounts of the resources other than cpu and memory are sorted by number; zero amounts are left
 * out. */
struct pod_request {
    int64_t cpu_milli, memory;
    const struct need *others;
    uint32_t n_others;
};

struct host_port {
    sym ip;
    uint16_t port;
    uint16_t protocol; /* enum protocol */
};

enum protocol { PROTOCOL_TCP, PROTOCOL_UDP, PROTOCOL_SCTP, PROTOCOL_OTHER };

/* One topology spread constraint as the pod has it. */
struct spread_rule {
    sym key;
    int32_t max_skew, min_domains;
    selector_id selector; /* with matchLabelKeys not yet merged; ID_NONE: matches nothing */
    uint32_t match_key_at, n_match_keys; /* in spec.match_keys */
    bool is_hard;
    bool honors_affinity, honors_taints;
};

/* A term of pod affinity or anti-affinity as the pod has it. It means the pods that its selector
 * matches in the namespaces it lists and in those whose labels it selects; in the pod's own, if it
 * does neither. */
struct pod_term {
    sym key;
    selector_id selector;                /* ID_NONE: means nobody */
    selector_id like;                    /* which namespaces by their labels; ID_NONE: none */
    uint32_t namespace_at, n_namespaces; /* in spec.namespaces; sorted, distinct */
    int32_t weight;                      /* of a preference; 0: required */
    uint32_t is_anti;
};

/* A volume of the pod that a plugin looks at. */
enum volume_kind {
    VOLUME_CLAIM,     /* `name` is a claim's */
    VOLUME_EPHEMERAL, /* the same, and the claim must be made for this very pod */
    VOLUME_DISK,      /* in-tree: `name` is the disk's, `handle` what its CSI driver calls it */
    VOLUME_ISCSI,
    VOLUME_RBD,
    VOLUME_CSI, /* `name` is the driver's */
};

struct volume_use {
    enum volume_kind kind;
    uint32_t in_tree;      /* enum in_tree, of VOLUME_DISK */
    uint32_t is_read_only; /* a whole word: volumes are compared as bytes */
    sym name;
    sym handle;                      /* SYM_NONE: it cannot be translated */
    sym pod, pod_uid;                /* of VOLUME_EPHEMERAL */
    sym pool;                        /* of VOLUME_RBD */
    uint32_t monitor_at, n_monitors; /* the same; in spec.monitors */
};

/* A resource claim of the pod. Those that are not wanted after all are left out. */
enum claim_use_kind {
    CLAIM_NAMED,   /* any pod may use it */
    CLAIM_MADE,    /* from a template, for this very pod */
    CLAIM_AWAITED, /* the same, and it is not there yet */
    CLAIM_UNKNOWN, /* of a kind that we do not know */
};

struct claim_use {
    enum claim_use_kind kind;
    sym name;         /* of the claim; of CLAIM_UNKNOWN, what the pod calls it; SYM_NONE: none */
    sym pod, pod_uid; /* SYM_NONE: any; of a pod, not of a template */
};

/* What a container asks for of an extended resource, which devices may stand for. */
struct device_need {
    resource_id resource;
    uint32_t container;      /* its number, init containers first */
    uint32_t place;          /* of the resource's name among those that the container asks for */
    uint32_t is_short_lived; /* an init container that ends before the others start */
    sym container_name;
    uint32_t pad;   /* 0: needs are compared as bytes */
    int64_t amount; /* 0: it is not written as an integer, and asks for no device */
};

/* What the kubelet may pin to NUMA nodes for a container (cluster/kubelet.h). */
struct pinned_ask {
    int64_t cpu_milli, memory, gpus;
    uint32_t resources;      /* NUMA_*: those that it does pin */
    uint32_t is_short_lived; /* an init container that ends before the others start */
};

/* What a node must declare. */
enum feature { FEATURE_RESTART_ALL = 1, FEATURE_HOST_USERS = 2, FEATURE_BIND_MOUNT = 4 };

struct spec {
    sym scheduler_name;
    int32_t priority;
    bool preempts;
    tolerations_id tolerations;
    rules_id rules;

    struct pod_request ask;  /* what Filter compares: spec alone */
    struct pod_request hold; /* what it takes on a node: the larger of spec and status */
    struct pod_request
        score; /* what NodeResourcesFit scores: spec alone, no pod level, with defaults */
    int64_t hold_nonzero_cpu_milli, hold_nonzero_memory; /* the same as hold, with defaults */
    int64_t balance_cpu_milli, balance_memory; /* what is balanced: hold, as far as upstream's sums
                                                  do not drift (model/resources.h) */

    const struct host_port *ports; /* sorted, distinct */
    uint32_t n_ports;
    const sym *images; /* normalised, one per container, init container and image volume */
    uint32_t n_images;
    const struct spread_rule *spread;
    uint32_t n_spread;
    const sym *match_keys;
    uint32_t n_match_keys;
    const sym *gates;
    uint32_t n_gates;
    const struct pod_term *pod_terms;
    uint32_t n_pod_terms;
    const sym *namespaces;
    uint32_t n_namespaces;
    const struct volume_use *volumes;
    uint32_t n_volumes;
    const sym *monitors;
    uint32_t n_monitors;
    uint32_t features; /* enum feature */
    struct gpu_ask gpus;
    sym gpu_error; /* why what it says of GPUs makes no sense; SYM_NONE: it does */
    sym excess; /* the limit that the pod exceeds (model/limits.h), and then only what it requests
                 * stands here; SYM_NONE: none */

    struct classified class; /* what it is, and where it wants to be */
    struct wishes wishes;
    sym queue;     /* of Kueue that it came through; SYM_NONE: none */
    sym numa_gang; /* its gang, where it says how the gang lies on NUMA nodes; SYM_NONE: none */
    int64_t accelerators;           /* of any kind that it asks for */
    const struct pair_sym *misread; /* keys whose values mean nothing to us */
    uint32_t n_misread;
    const struct claim_use *claims;
    uint32_t n_claims;
    const struct device_need *device_asks;
    uint32_t n_device_asks;
    const struct pinned_ask
        *pinned; /* by container, in their order; those that pin nothing aside */
    uint32_t n_pinned;
    sym left_claim; /* for extended resources of a pod that waits: an earlier try left it */
};

struct specs {
    struct lists table;
    VEC(struct spec) at;
    struct resources resources;
    struct buf scratch;
    struct arena mem; /* scratch of one reading */
};

void specs_init(struct specs *s, struct names *names);
void specs_done(struct specs *s);
void specs_tidy(struct specs *s, struct names *names, struct matches *matches, enum tidy how);

/* The pod's spec; nobody holds it yet. With `pin` not NULL, the node a DaemonSet's pod names is
 * taken out of the spec and put there (SYM_NONE if there is none). */
spec_id specs_read(struct specs *s, struct names *names, struct matches *matches,
                   const struct pod *pod, sym *pin);

/* The same spec of a pod that has this claim left, or none (SYM_NONE). */
spec_id specs_leave(struct specs *s, struct names *names, struct matches *matches, spec_id id,
                    sym claim);

static inline const struct spec *specs_at(const struct specs *s, spec_id id)
{
    return &s->at.at[id];
}

/* How much of a resource a request names. */
int64_t request_amount(const struct pod_request *r, resource_id resource);

/* An image's name as nodes report it: with ":latest" where it has no tag or digest. */
struct str image_name(struct str image, struct arena *mem);
