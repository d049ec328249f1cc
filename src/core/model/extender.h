#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/str.h"
#include "core/base/vec.h"

/* An HTTP extender: a server of somebody else's that has a say in where pods go. What a
 * KubeSchedulerConfiguration says of it, and what it answers (kube-scheduler's extender/v1). */

enum extender_verb {
    EXTENDER_FILTER,     /* which of these nodes will do? */
    EXTENDER_PRIORITIZE, /* how well does each? */
    EXTENDER_PREEMPT,    /* on which of these nodes may these pods go? */
    EXTENDER_BIND,       /* it binds the pod, instead of us */
    EXTENDER_VERBS,
};

enum { EXTENDERS_MOST = 32 };

struct extender_tls {
    bool is_unverified;
    struct str server_name; /* whom the certificate must name; empty: the host */
    struct str cert_file, key_file, ca_file;
    struct str cert_pem, key_pem, ca_pem; /* before the files */
};

struct extender {
    struct str url;                   /* its prefix, as it was written */
    struct str verbs[EXTENDER_VERBS]; /* what stands behind it; empty: it has no say there */
    int64_t weight;                   /* of its scores */
    int64_t timeout_ms;
    bool knows_nodes;                 /* nodeCacheCapable: names are enough for it */
    bool is_ignorable;                /* if it fails, things go on as if it were not there */
    LIST(const struct str) resources; /* it minds only pods that ask for one of these; none: all */
    struct extender_tls tls;
};

/* "http://a/b/filter": the verb's URL; lives in `mem`. */
struct str extender_url(const struct extender *x, enum extender_verb verb, struct arena *mem);

struct extender_refusal {
    struct str node, why;
};

struct extender_score {
    struct str node;
    int64_t score; /* 0..10, or whatever it says */
};

struct extender_victims {
    struct str node;
    LIST(struct str) uids;
    LIST(struct str) pods; /* of a question: namespace/name of each of them */
    int64_t violations;
};

/* What an extender answered, or why it did not. */
struct extender_answer {
    struct str error; /* nothing else counts then; empty: there is none */

    /* to EXTENDER_FILTER: who is left, by names or as objects, and why the others are not */
    LIST(struct str) names, nodes;
    bool has_names, has_nodes;
    LIST(struct extender_refusal) failed, unresolvable;

    LIST(struct extender_score) scores;    /* to EXTENDER_PRIORITIZE */
    LIST(struct extender_victims) victims; /* to EXTENDER_PREEMPT: the nodes that are left */
};

/* Reads as Go does: the case of names does not count. Texts are pieces of `text` or live in `mem`.
 * An error that the answer itself speaks of is in it. */
bool extender_read(enum extender_verb verb, struct str text, struct arena *mem,
                   struct extender_answer *out, struct error *e) MUST_USE;
