#pragma once

#include "core/cluster/cluster.h"
#include "core/model/object.h"

/* Objects from outside in the cluster's terms. Nothing is changed but the tables of interned
 * things; what comes back is held by nobody until it is put into a row. */

/* Lists live in `mem`. */
struct node_row read_node(struct cluster *c, const struct node *node, struct arena *mem);

/* `pin` receives the node that the pod names and that was taken out of its spec, or SYM_NONE. */
shape_id read_pod_shape(struct cluster *c, const struct pod *pod, sym *pin);

/* The shape of a pod whose spec is known: other labels may have come. */
shape_id read_labels_of(struct cluster *c, const struct pod *pod, pod_id known);

/* The same of a pod that waits: a claim for its extended resources may have come or gone. */
shape_id read_left_of(struct cluster *c, pod_id pod);

label_set_id read_labels(struct cluster *c, const pair_list *labels);

/* ID_NONE for a NULL selector, which selects nothing. */
selector_id read_selector(struct cluster *c, const struct label_selector *selector);
selector_id read_map_selector(struct cluster *c, const pair_list *selector);
