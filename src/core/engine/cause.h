#pragma once

#include "core/engine/gang.h"

/* Why a unit does not start: one cause, as data. It is found in one place (cause.c) for a pod alone
 * and for a gang as a whole, and worded in one place (cause_words.c); conditions, events and
 * explanations say the same for that reason.
 *
 * The rules form a funnel: all nodes are there at its top, and each rule leaves fewer. The rules of
 * what nodes are come first, then the domain that the gang must be in, then who has the room now.
 * The cause is the first rule that leaves room for too few pods. Whatever is said to be never so
 * rests on upper bounds: the nodes would not do even if nothing ran on them. */

enum cause_rule {
    CAUSE_NONE,
    CAUSE_MEMBERS, /* too few pods are there */
    CAUSE_REFUSED, /* no node is asked: as `reason` says */
    CAUSE_OFFER,   /* no node has as much of a resource, or any of it */
    CAUSE_SUM,     /* all nodes together are too small */
    CAUSE_NAME,    /* its rules name nodes */
    CAUSE_LABEL,   /* nodeSelector, required affinity */
    CAUSE_TAINT,
    CAUSE_CORDON,
    CAUSE_VOLUME, /* a volume can be reached from some nodes only */
    CAUSE_MEMORY, /* of GPUs */
    CAUSE_NODE,   /* another rule about what nodes are: as `reason` says */
    CAUSE_DOMAIN, /* no domain is large enough */
    CAUSE_ROOM,   /* pods that run have the room */
    CAUSE_HELD,   /* it is kept for others */
    CAUSE_USE,    /* another rule about what is in use: as `reason` says */
    CAUSE_NEAR,   /* no domain has room now */
    CAUSE_SEARCH, /* no way to place all was found */
    CAUSE_LINE,   /* it would delay the head of its line */
};

struct cause {
    enum cause_rule rule;
    uint32_t group;  /* ID_NONE: a pod alone */
    uint32_t need;   /* pods that must be placed now, … */
    uint64_t have;   /* … and for how many of them the rule leaves room; the rules before it, */
    uint64_t before; /* for so many */
    uint32_t nodes, left; /* that the rule was asked about; that it let pass */
    uint32_t bench;       /* of k->planner: whose pods lack most */
    sym key, value;       /* of a label or a taint, or of the domain with the most room */
    sym nearest;          /* what was perhaps meant; SYM_NONE: nothing looks like it */
    sym object;           /* a volume; a booking's name */
    const char *effect;   /* of a taint */
    bool is_known;        /* some node has the label's key */
    resource_id resource;
    int64_t ask, most; /* of the resource, or of GPU memory: by a pod; on any node */
    int64_t until_ms;  /* the room is kept; INT64_MAX: nobody knows */
    reason_id reason;
};

/* What one rule of the funnel left. */
struct cause_step {
    enum cause_rule rule;
    const char *plugin; /* NULL: the rule is the engine's own */
    uint32_t nodes;     /* that are left */
    uint64_t pods;      /* of the unit for which they have room, as far as it needs any */
};

enum { CAUSE_STEPS_MOST = 48 };

struct cause_steps {
    struct cause_step at[CAUSE_STEPS_MOST];
    uint32_t n;
};

/* Of the unit in k->planner, whose seats and needs are there. */
struct cause engine_find_cause(struct engine *k, uint32_t group, enum gang_outcome why);

/* The whole funnel, whatever the cause. */
void engine_list_funnel(struct engine *k, uint32_t group, struct cause_steps *out);

/* Fills in what the rule is about: the label, the taint, the volume, the resource that it is that
 * these nodes were refused for. */
void engine_blame(struct engine *k, struct cause *x, const uint32_t *refused, uint32_t n);

/* What is free of the resource on the node; below 0 where more is used than there is. */
int64_t engine_free_of(const struct cluster *c, node_id node, resource_id resource);

/* The cause as the first sentence of what its owner reads: at most CAUSE_BYTES_MOST long. */
enum { CAUSE_BYTES_MOST = 200 };
void engine_word_cause(struct engine *k, int64_t now_ms, const struct cause *x, struct buf *out);

/* "8 x (1 nvidia.com/gpu, 8 cpu) and 1 x (2 cpu)": what the unit in k->planner needs. */
void engine_word_needs(const struct engine *k, struct buf *out);

/* Calls for each resource that the pod asks for: devices first. */
void engine_each_need(const struct spec *spec,
                      void (*fn)(void *ctx, resource_id resource, int64_t amount), void *ctx);

/* "8 nvidia.com/gpu", "500m cpu", "2Gi memory" */
void engine_word_amount(const struct engine *k, resource_id resource, int64_t amount,
                        struct buf *out);
const char *cause_rule_name(enum cause_rule rule);
