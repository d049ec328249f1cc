#pragma once

#include "core/base/intern.h"
#include "core/cluster/allocate.h"
#include "core/cluster/pools.h"
#include "core/model/cel.h"

/* What an allocator knows and has found, for the files that search and that tell. */

enum { RESULTS_MOST = 32 }; /* devices of one claim */

/* Of a part of the search. PAUSED: it is put down, and goes on from the allocator's trail. */
enum verdict { NO, YES, TOO_MANY, FAILED, PAUSED };

/* A request, or one of its alternatives. */
struct ask {
    const struct device_ask *ask;
    struct str request, name; /* of an alternative its own name, too; else empty */
    const struct device_class *class;
    const struct cel **selectors; /* of the class, then its own */
    uint32_t n_selectors;
    struct str wrong;      /* why it can never be judged; empty: it can */
    uint32_t wrong_at;     /* which selector is wrong: only a device that comes so far fails */
    struct str wrong_text; /* in these words */
    bool *is_under;        /* by constraint of its claim: is the request one of those it means? */
    uint8_t *matches;      /* by candidate: 0 unknown, 1 no, 2 yes, 3 cannot be said */
    uint32_t cost;         /* of judging one device by its selectors, in steps */
    uint32_t wanted;       /* devices, on this node */
    uint32_t *all;         /* of mode All: the candidates */
    uint32_t *order;       /* in which candidates are tried; NULL: as they are */
};

struct constraint {
    const struct device_constraint *from;
    const struct device_attribute *attribute; /* that all share */
    uint32_t n;                               /* devices under it */
    const struct device_attribute *seen[RESULTS_MOST];
};

struct request {
    uint32_t first, n; /* asks; n > 1 or an alternative: one of them is enough */
    bool is_choice;
    uint32_t chosen;
};

struct found {
    uint32_t candidate;
    const struct ask *ask;
};

struct claim {
    const struct resource_claim *claim;
    struct request *requests;
    struct constraint *constraints;
    struct found found[RESULTS_MOST];
    uint32_t n_found;
};

/* A node as it was: what devices it can reach, and which of them are free. */
struct placement {
    uint32_t node;
    uint64_t newest, generation; /* of its row in the change log; of devices */
};

/* What came of a search that is not worth making twice. */
struct known {
    struct placement placement;
    enum allocate_outcome outcome;
    int64_t score;
    struct str error;
    uint32_t *trail; /* that leads to the solution */
    uint32_t n_trail;
};

/* Candidates of one node by kind, and what could not be completed (allocate_alike.c). */
struct alike {
    bool is_ready, is_off, keeps_dead_ends;
    uint32_t next;       /* candidates before it have their kind */
    uint32_t *kind;      /* by candidate */
    uint32_t *before;    /* by candidate: the last one before it of its kind; ID_NONE: none */
    uint32_t *value;     /* by candidate and constraint of all claims: equal for equal values */
    uint32_t n_values;   /* of a candidate */
    VEC(uint32_t) last;  /* by kind: its last candidate so far */
    VEC(uint32_t) words; /* scratch */
    struct intern kinds, values, dead_ends;
};

struct allocator {
    struct arena *mem, run; /* `run` is reset when another node is begun */
    struct claim *claims;
    uint32_t n_claims;
    struct ask *asks;
    uint32_t n_asks;
    struct effort *effort;
    uint64_t most; /* hard steps of one decision; 0: no bound */

    const struct cluster *cluster;
    node_id node;
    struct pools pools; /* of this node */
    uint8_t
        *gpus; /* by candidate: its number among the node's GPUs, + 1; NULL: it does not matter */
    struct str error;
    uint64_t steps; /* on this node */
    bool is_read;   /* what hangs on the node is read */
    struct alike alike;
    uint64_t steps_plain; /* until it is asked which candidates are alike */

    /* Where each loop of the search stands, the innermost first: of one that was put down, or that
     * has found a solution. A search that begins with a trail goes straight there. */
    VEC(uint32_t) trail;
    bool is_paused, is_cut;     /* the last search was put down; had to end before its time */
    struct placement placement; /* where that was */
    struct str late;            /* the decision took too long: in these words; empty: it did not */
    VEC(struct known) known;
    struct map known_at; /* node → number of what is known */
};

static inline bool allocate_is_in_use(const struct allocator *a, const struct claim *claim,
                                      const struct ask *ask, const struct candidate *x)
{
    uint64_t bit = (uint64_t)1 << (claim - a->claims);
    if (ask->ask->is_admin)
        return x->given_to & bit;
    return x->given_to || devices_is_taken(&a->cluster->devices, x->index->id);
}

struct str allocate_full_name(const struct resource_claim *claim, struct arena *mem);

/* --- allocate_node.c --- */

/* So many steps were made. */
void allocate_spend(struct allocator *a, uint64_t steps);

/* May the search make another one? YES, PAUSED or FAILED. */
enum verdict allocate_may_go_on(struct allocator *a);

/* --- allocate.c --- */

/* Of what is to be searched from this request of this claim on. */
enum verdict allocate_search(struct allocator *a, uint32_t claim, uint32_t request);

/* FAILED, in these words. */
enum verdict allocate_fail(struct allocator *a, struct str text);
enum verdict allocate_fail_capacity(struct allocator *a, const struct claim *claim,
                                    const struct ask *ask, const struct candidate *x,
                                    const char *doing, struct str why);

/* Do the selectors mean the candidate, and can it be reached? FAILED: a selector cannot say. */
enum verdict allocate_selects(struct allocator *a, const struct claim *claim, struct ask *ask,
                              uint32_t candidate);
bool allocate_is_tainted(const struct allocator *a, const struct candidate *x,
                         const struct ask *ask);
const struct device_attribute *allocate_attribute(const struct candidate *x,
                                                  const struct device_constraint *k);

/* --- allocate_alike.c --- */

/* Gives candidates their kinds; PAUSED: not all have theirs yet. */
enum verdict alike_learn(struct allocator *a);
void alike_begin(struct allocator *a);
void alike_done(struct alike *k);

/* Was a candidate of the same kind among those from `from` on tried before this one? */
bool alike_was_tried(const struct allocator *a, const struct claim *claim, const struct ask *ask,
                     uint32_t from, uint32_t candidate);

/* Is it known, or is it to be known, that what is found so far cannot be completed from this
 * request on? */
bool alike_is_dead_end(struct allocator *a, uint32_t claim, uint32_t request);
void alike_note_dead_end(struct allocator *a, uint32_t claim, uint32_t request);
