#pragma once

#include "core/framework/class.h"

/* What one plugin says of every node by what the node *is* (labels, taints, images), kept once for
 * all classes of which it says the same.
 *
 * A thousand classes that differ in what they request have a few kinds of tolerations and rules
 * between them, and a node's labels seldom change. So a plugin that says on which numbers its
 * answer depends beside such columns (plugin.likeness) is asked once per node, not once per node
 * and scan: its answers stand as a byte per node, the *code*, and as a bit, does the node pass? The
 * change log brings them up to date, and costs nothing while only pods come and go. A facet lives
 * as long as the classes that hold it. */

enum { FACET_CODES = 255, FACET_WORD = 64 };

struct facet_answer {
    reason_id refused; /* 0: the node passes, and the key counts */
    uint32_t nodes;    /* that are told so */
};

struct facet {
    const struct plugin *plugin;
    uint32_t holders; /* classes */
    uint32_t columns; /* that it reads */
    uint32_t n_keys;
    uint64_t seen;  /* has read the log up to here, if there was something in it for facets */
    uint32_t cap;   /* nodes it has codes for; a multiple of FACET_WORD */
    uint8_t *codes; /* by node; 0: not there */
    uint64_t *pass; /* a bit for each node */
    VEC(struct facet_answer) answers; /* by code */
    VEC(uint32_t) keys;               /* by code, n_keys each */
    uint32_t open;                    /* answers that pass and that some node is told */
    uint32_t last;                    /* that was given: the next node is mostly told the same */
    bool is_broad;                    /* more answers than codes: it says nothing */
    struct match_words likeness;
};

struct facets {
    VEC(struct facet *) at;
    struct match_words scratch;
    VEC(uint64_t) marked; /* a bit for each node */
};

/* Sees to it that each part of the class that can has a facet, up to date. */
void facets_prepare(struct facets *f, struct cluster *c, const struct class *class);

/* The class is going away. */
void facets_forget(struct facets *f, const struct class *class);
void facets_done(struct facets *f);

/* The facet of a part, as facets_prepare() left it; NULL: the plugin must be asked. */
static inline const struct facet *facet_of(const struct class_part *part)
{
    return part->facet && !part->facet->is_broad ? part->facet : NULL;
}

static inline reason_id facet_refusal(const struct facet *f, uint32_t node)
{
    return f->answers.at[f->codes[node]].refused;
}

static inline const uint32_t *facet_key(const struct facet *f, uint32_t node)
{
    return f->keys.at + (size_t)f->codes[node] * f->n_keys;
}
