#pragma once

#include "core/cluster/cluster.h"
#include "support/objects.h"

/* A cluster for tests, without anybody who schedules: objects are put into its rows as they come.
 *
 *     AUTO(ground) g = {0};
 *     ground_add(&g, "node n1 cpu=8");
 *     ground_add(&g, "pod a cpu=1 on=n1");
 */
struct ground {
    struct cluster *cluster; /* made with the first object */
    struct arena mem;
    struct buf text;
};

void ground_done(struct ground *g);

/* The cluster, made if there is none yet. */
struct cluster *ground_cluster(struct ground *g);

/* Puts the object that the line describes (support/objects.h). A node may come again: its row
 * changes. A pod is new; with on=NODE it is there at once. Returns the columns of a node that
 * differ. */
uint32_t ground_add(struct ground *g, const char *fmt, ...) PRINTF(2, 3);

/* A driver's slice of GPUs on the node: "{'name':'gpu-0',…},…" (support/objects.h), all there are.
 */
void ground_put_gpus(struct ground *g, const char *node, const char *devices);

sym ground_sym(struct ground *g, const char *text);
node_id ground_node(struct ground *g, const char *name);
pod_id ground_pod(struct ground *g, const char *name); /* of the namespace default */

/* Everything in the cluster as text; lives until the next call. */
struct str ground_dump(struct ground *g);
