#pragma once

#include "core/framework/class.h"

/* One class, one node: the questions that scans, views, pinned pods and trials have in common. */

/* The first row filter that refuses; 0: none. Only those whose columns are in `columns` are asked
 * (the others passed before, and nothing they read has changed). */
reason_id row_filter(const struct cluster *c, const struct class *class, node_id node,
                     uint32_t columns);

/* A score that is none: some plugin left the range of 0 to 100, as happens where sums of absurd
 * requests wrap. Upstream fails the whole attempt then. */
#define ROW_BROKEN INT32_MIN

/* The weighted sum of the row scores, or ROW_BROKEN. */
int32_t row_score(const struct cluster *c, const struct class *class, node_id node);

/* What the plugins that judge nodes by what they are (plugin.suits) give the node, weighted. */
int64_t row_suits(const struct cluster *c, const struct class *class, node_id node);

/* Upstream's words for a node whose row score is ROW_BROKEN; they live in `mem`. */
struct str row_broken_text(const struct cluster *c, const struct class *class, node_id node,
                           struct arena *mem);

/* The node's key: class->n_keys numbers. Only the parts that read one of `columns` are written. */
void row_key(const struct cluster *c, const struct class *class, node_id node, uint32_t columns,
             uint32_t *out);

/* All filters: those on rows in the profile's order, then those on keys, as in a scan. */
reason_id row_judge(const struct cluster *c, const struct class *class, node_id node);

/* Puts the pod, which fits, on the node, on the GPUs that the class would choose. */
void row_place(struct cluster *c, const struct class *class, pod_id pod, node_id node);

/* Do pods of the class leave alone the node that this pod is nominated to? Held room
 * (engine/reservation/reservation.h), whose priority is above all others, leaves every such node
 * alone. */
bool row_heeds(const struct cluster *c, const struct class *class, pod_id nominated);

/* Are pods other than `self`, of the class's priority or higher, nominated to this node? */
bool row_has_nominated(const struct cluster *c, const struct class *class, node_id node,
                       pod_id self);

/* The same as row_judge(), as if those pods were on the node already; and if that passes, without
 * them. */
reason_id row_judge_nominated(struct cluster *c, const struct class *class, node_id node,
                              pod_id self);

/* For views, which keep rows: the row filters' verdict after a change in these columns;
 * `did_fit`: none of them refused the node before. Pods of the class's priority or higher that are
 * nominated to it are counted, unless the class has filters on keys. */
reason_id row_look(struct cluster *c, const struct class *class, node_id node, uint32_t columns,
                   bool did_fit);

/* Whichever of the two applies. */
static inline reason_id row_verdict(struct cluster *c, const struct class *class, node_id node,
                                    pod_id self)
{
    return row_has_nominated(c, class, node, self) ? row_judge_nominated(c, class, node, self)
                                                   : row_judge(c, class, node);
}
