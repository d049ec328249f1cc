#pragma once

#include "core/base/buf.h"

/* Why a unit does not start: one cause, as data. It is found in one place (cause.c for a gang as a
 * whole, cause_alone.c for a pod on its own), and worded in one place (cause_words.c); conditions,
 * events and explanations say the same for that reason.
 *
 * The rules form a funnel: all nodes are there at its top, and each rule leaves fewer. The rules of
 * what nodes are come first, then the domain that the gang must be in, then who has the room now.
 * The cause is the first rule that leaves room for too few pods. Whatever is said to be never so
 * rests on upper bounds: the nodes would not do even if nothing ran on them. */

enum cause_rule {
    CAUSE_NONE,
    CAUSE_MEMBERS, /* too few pods are there */
    CAUSE_REFUSED, /* no node is asked: as `reason` says */
    CAUSE_ONLY,    /* the only node that the pod may use will not do: as `reason` says; 0: it is
                    * not there */
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

const char *cause_rule_name(enum cause_rule rule);

enum { CAUSE_BYTES_MOST = 200 }; /* of the first sentence of what its owner reads */

/* Cuts what stands behind `from` to that length. */
void engine_shorten(struct buf *out, size_t from);

/* "starts when 2 pods on n1 are gone" */
void engine_word_way(uint32_t victims, struct str node, struct buf *out);
