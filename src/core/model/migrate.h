#pragma once

#include "core/model/storage.h"

/* Disks that Kubernetes once drove by itself, seen as what they are today: volumes of a CSI driver.
 *
 * kube-scheduler counts such a disk against the driver's limits, and reads a volume's zone under
 * the driver's own topology key. Which of the plugins a node has handed over is told by its
 * CSINode. */

enum in_tree {
    IN_TREE_NONE,
    IN_TREE_GCE,
    IN_TREE_AWS,
    IN_TREE_AZURE,
    IN_TREE_CINDER,
    IN_TREE_PORTWORX,
    IN_TREE_AZURE_FILE, /* this and the next have a driver, too, but the scheduler never asks it */
    IN_TREE_VSPHERE,
    N_IN_TREE,
};

/* kubernetes.io/aws-ebs, …: the plugin of that name; IN_TREE_NONE: no such plugin. */
enum in_tree in_tree_of(struct str provisioner);

/* The driver that took over. */
struct str in_tree_driver(enum in_tree plugin);

/* Does kube-scheduler 1.37 hold its disks for the driver's? */
static inline bool in_tree_is_migrated(enum in_tree plugin)
{
    return plugin >= IN_TREE_GCE && plugin <= IN_TREE_PORTWORX;
}

/* The plugins that a CSINode's annotation names, as bits 1 << plugin. */
uint32_t in_tree_named(struct str annotation);

/* A disk that stands in a pod; IN_TREE_NONE if it is none of these. `handle` is what the driver
 * calls it; NULL bytes: it cannot be translated. */
enum in_tree migrate_inline(const struct volume *v, struct arena *mem, struct str *handle);

/* The same of a persistent volume; `affinity` is the nodes it can be reached from, in the driver's
 * terms (NULL: all). */
enum in_tree migrate_volume(const struct persistent_volume *v, struct arena *mem,
                            struct str *handle, const struct node_selector **affinity);

/* The next piece of a list of zones ("a__b"), taken off `rest`. */
struct str zones_next(struct str *rest);

#define LABEL_ZONE        "topology.kubernetes.io/zone"
#define LABEL_REGION      "topology.kubernetes.io/region"
#define LABEL_BETA_ZONE   "failure-domain.beta.kubernetes.io/zone"
#define LABEL_BETA_REGION "failure-domain.beta.kubernetes.io/region"
