#pragma once

#include "core/framework/sweep.h"
#include "core/framework/why.h"

/* The scan: filters and scores all nodes for one pod, as kube-scheduler would. It is the truth that
 * views are checked against, and the path of pods that are alone in their class. */

struct scan {
    /* By node, of the last run: a bucket, SCAN_REFUSED | reason, or ID_NONE (no candidate). Of what
     * is out by facets there is only SCAN_REFUSED: scan_home() knows. */
    VEC(uint32_t) home;
    const struct class *class; /* that was asked for then */
    struct facets facets;
    struct sweep sweep;
    struct buckets buckets;
    struct decider decider;
    VEC(uint64_t) leads;  /* by bucket: how good its best node is */
    VEC(uint32_t) key;    /* of one node */
    VEC(uint32_t) broken; /* nodes whose score is none */
};

#define SCAN_REFUSED 0x80000000u

/* Judges all nodes. `self` is the pod that asks: its own nomination does not stand in its way. With
 * `all_scores`, every bucket's shared score is worked out even where it cannot matter. */
struct decision scan_run(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                         bool all_scores);

/* Judges these nodes alone, where the class leaves no others; `home` is filled for them only. */
struct decision scan_some(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                          const sym *names, uint32_t n, bool all_scores);

/* Of a node that the last run judged: its bucket, SCAN_REFUSED | reason, or ID_NONE. */
uint32_t scan_home(const struct scan *s, const struct cluster *c, uint32_t node);

/* Of a node that the last run judged: does it fit? And then, if that was with `all_scores`: its
 * score, all told. */
bool scan_fits(const struct scan *s, node_id node);
reason_id scan_refusal(const struct scan *s, const struct cluster *c,
                       node_id node); /* 0: it does */
int64_t scan_total(const struct scan *s, const struct cluster *c, const struct class *class,
                   node_id node);

/* Why nothing fitted: of the last run. For scan_some(), `names` are the nodes it judged. */
void scan_why(const struct scan *s, const struct cluster *c, struct why *out);
void scan_some_why(const struct scan *s, const struct cluster *c, const struct class *class,
                   const sym *names, uint32_t n, struct why *out);

/* The error of the last run, which judged the nodes that the class allows; 0: none. */
reason_id scan_error(const struct scan *s, const struct cluster *c, const struct class *class,
                     const struct reasons *reasons);

/* Does the last run, of all nodes, say of each what it is told when it is asked about alone
 * (row.h)? For tests and debugging. */
bool scan_is_true(struct scan *s, struct cluster *c, const struct class *class, pod_id self);

/* The class is going away. */
void scan_forget(struct scan *s, const struct class *class);
void scan_done(struct scan *s);
