#pragma once

#include "core/base/buf.h"
#include "core/model/pod_keys.h"

/* What a pod is, as far as the pod object alone says: its kind of work, whether it may be stopped,
 * which tier of tenant it claims to belong to; each with the sign that decided. A pure function:
 * same object, same answer. What its namespace adds is in core/cluster/identity.h.
 *
 * A pod that shows no sign is a service, as kube-scheduler treats every pod; `is_assumed` then says
 * that nobody said so, and our plugins leave such a pod to kube-scheduler's rules. */

enum workload {
    WORKLOAD_UNKNOWN, /* nobody looked */
    WORKLOAD_SERVICE,
    WORKLOAD_INTERACTIVE,
    WORKLOAD_INFERENCE,
    WORKLOAD_BATCH,
    WORKLOAD_TRAINING,
    N_WORKLOADS,
};

/* Rising. */
enum tier { TIER_NONE, TIER_BRONZE, TIER_SILVER, TIER_GOLD, N_TIERS };

/* What kind of thing a sign is. */
enum sign_kind {
    SIGN_NONE,
    SIGN_KEY,        /* a label or annotation: `which` of pod_keys */
    SIGN_ANNOTATION, /* the same where it stood as an annotation */
    SIGN_OWNER,      /* its controller's kind */
    SIGN_IMAGE,      /* a word in an image's name */
    SIGN_GANG,       /* it belongs to a gang */
    SIGN_MANY,       /* it is batch work that asks for several accelerators */
    SIGN_CLASS,      /* its priority class */
    SIGN_PRIORITY,   /* a priority below zero */
};

struct sign {
    uint8_t kind;  /* enum sign_kind */
    uint8_t which; /* a row of that kind's table */
};

/* Small numbers without padding: it is a part of a spec's interned bytes. */
struct classified {
    uint8_t workload; /* enum workload */
    uint8_t is_assumed;
    struct sign workload_sign;
    uint8_t is_gang;
    uint8_t is_preemptible;
    struct sign preemptible_sign;
    uint8_t own_tier, class_tier; /* enum tier: by its own word, and by its priority class */
    struct sign own_tier_sign, class_tier_sign;
};

/* `accelerators` is how many of them it asks for. */
struct classified pod_classify(const struct pod *pod, const struct pod_said *said, bool is_gang,
                               int64_t accelerators, struct misreads *misread);

struct str workload_name(enum workload workload); /* "training"; "unknown" */
struct str tier_name(enum tier tier);             /* "gold"; "unknown" */

/* N_TIERS and N_WORKLOADS if it is none. */
enum tier tier_of(struct str name);
enum workload workload_of(struct str name);

/* The tier of a tenant whose name says it: production, staging, development; TIER_NONE: it does
 * not. */
enum tier tier_by_words(struct str tenant);

/* "label spark-role", "owner PyTorchJob": appended. */
void sign_text(struct sign sign, struct buf *out);
