#include "core/cluster/cliques.h"

#include "core/cluster/cluster.h"
#include "support/ground.h"
#include "support/test.h"

#define CLIQUE "label:nvidia.com/gpu.clique="

/* "c1: 5 of 8 on 2": idle and all GPUs, and nodes. */
static const char *says(struct ground *g, const char *value)
{
    static char text[64];
    struct cluster *c = ground_cluster(g);
    const struct clique *q = cliques_find(&c->cliques, names_find(&c->names, str_of(value)));
    if (!q)
        return "none";
    snprintf(text, sizeof(text), "%u of %u on %u", q->idle, q->gpus, q->nodes);
    return text;
}

TEST(cliques, count_the_idle_GPUs_of_their_nodes)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node a gpu=4 " CLIQUE "c1");
    ground_add(&g, "node b gpu=4 " CLIQUE "c1");
    ground_add(&g, "node d gpu=8 " CLIQUE "c2");
    ground_add(&g, "node e gpu=8");
    EXPECT_TEXT(says(&g, "c1"), "8 of 8 on 2");
    EXPECT_TEXT(says(&g, "c2"), "8 of 8 on 1");
    EXPECT_INT(ground_cluster(&g)->cliques.nodes, 3);
    EXPECT_INT(ground_cluster(&g)->cliques.most, 8);
    ground_add(&g, "pod p gpu=3 on=a");
    ground_add(&g, "pod q note:gpu-fraction=0.5 on=b");
    EXPECT_TEXT(says(&g, "c1"), "4 of 8 on 2");
}

TEST(cliques, follow_labels_and_what_nodes_have)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    ground_add(&g, "node a gpu=4 " CLIQUE "c1");
    ground_add(&g, "node b gpu=4 " CLIQUE "c1");
    ground_add(&g, "pod p gpu=1 on=a");
    ground_add(&g, "node a gpu=4 " CLIQUE "c2");
    EXPECT_TEXT(says(&g, "c1"), "4 of 4 on 1");
    EXPECT_TEXT(says(&g, "c2"), "3 of 4 on 1");
    ground_add(&g, "node a gpu=8 " CLIQUE "c2");
    EXPECT_TEXT(says(&g, "c2"), "7 of 8 on 1");
    EXPECT_INT(c->cliques.most, 8);
    cluster_put_node(c, ground_node(&g, "a"), &NODE_ROW_ABSENT);
    EXPECT_TEXT(says(&g, "c2"), "none");
    EXPECT_INT(c->cliques.most, 4);
    ground_add(&g, "node b gpu=4");
    EXPECT_TEXT(says(&g, "c1"), "none");
    EXPECT_INT(c->cliques.nodes, 0);
}

TEST(cliques, are_named_by_the_first_label_that_is_there)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node a gpu=4 label:topology.k8s.aws/ultraserver-id=u " CLIQUE "c1");
    ground_add(&g, "node b gpu=4 label:topology.k8s.aws/ultraserver-id=u");
    EXPECT_TEXT(says(&g, "c1"), "4 of 4 on 1");
    EXPECT_TEXT(says(&g, "u"), "4 of 4 on 1");
}

TEST(cliques, are_as_before_when_a_transaction_is_undone)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    ground_add(&g, "node a gpu=4 " CLIQUE "c1");
    ground_add(&g, "node b gpu=4 " CLIQUE "c1");
    ground_add(&g, "pod p gpu=2 on=a");
    ground_add(&g, "pod q gpu=3");
    struct txn t = txn_begin(c);
    cluster_place(c, ground_pod(&g, "q"), ground_node(&g, "b"));
    EXPECT_TEXT(says(&g, "c1"), "3 of 8 on 2");
    cluster_take(c, ground_pod(&g, "p"));
    EXPECT_TEXT(says(&g, "c1"), "5 of 8 on 2");
    cluster_put_node(c, ground_node(&g, "a"), &NODE_ROW_ABSENT);
    EXPECT_TEXT(says(&g, "c1"), "1 of 4 on 1");
    txn_undo(c, t);
    EXPECT_TEXT(says(&g, "c1"), "6 of 8 on 2");
}
