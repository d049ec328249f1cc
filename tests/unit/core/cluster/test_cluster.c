#include "core/cluster/cluster.h"

#include "support/ground.h"
#include "support/test.h"

TEST(cluster, the_tie_order_depends_on_seed_and_name_alone)
{
    struct cluster *a = cluster_new(7), *b = cluster_new(7), *c = cluster_new(8);
    node_id first = cluster_claim(a, names_get(&a->names, STR("n1")));
    cluster_claim(b, names_get(&b->names, STR("n0"))); /* another number for n1 */
    node_id second = cluster_claim(b, names_get(&b->names, STR("n1")));
    node_id third = cluster_claim(c, names_get(&c->names, STR("n1")));
    EXPECT(first.i != second.i);
    EXPECT(a->nodes.tie_order[first.i] == b->nodes.tie_order[second.i]);
    EXPECT(a->nodes.tie_order[first.i] != c->nodes.tie_order[third.i]);
    EXPECT(b->nodes.tie_order[0] != b->nodes.tie_order[1]);
    cluster_free(a);
    cluster_free(b);
    cluster_free(c);
}

TEST(cluster, where_the_tie_order_is_equal_the_name_decides)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node b");
    ground_add(&g, "node a");
    struct cluster *c = g.cluster;
    uint32_t a = ground_node(&g, "a").i, b = ground_node(&g, "b").i;
    c->nodes.tie_order[a] = c->nodes.tie_order[b] = 5;
    EXPECT(cluster_wins_tie(c, a, b) && !cluster_wins_tie(c, b, a));
    c->nodes.tie_order[b] = 4;
    EXPECT(cluster_wins_tie(c, b, a));
}

TEST(cluster, a_claimed_name_keeps_its_number)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    node_id ghost = cluster_claim(c, ground_sym(&g, "n1"));
    EXPECT(!nodes_is_present(&c->nodes, ghost));
    EXPECT_INT(c->nodes.present, 0);
    ground_add(&g, "node n1 cpu=1");
    EXPECT_INT(ground_node(&g, "n1").i, ghost.i);
    EXPECT(nodes_is_present(&c->nodes, ghost));
}

TEST(cluster, hostname_is_read_as_any_label)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 zone=a host=h");
    struct cluster *c = g.cluster;
    node_id n = ground_node(&g, "n1");
    EXPECT_INT(cluster_label(c, n, c->matches.hostname), ground_sym(&g, "h"));
    EXPECT_INT(cluster_label(c, n, ground_sym(&g, "topology.kubernetes.io/zone")),
               ground_sym(&g, "a"));
    EXPECT_INT(cluster_label(c, n, ground_sym(&g, "rack")), SYM_NONE);
}

TEST(cluster, hard_taints_must_all_be_tolerated_and_soft_ones_are_counted)
{
    static const struct {
        const char *node, *pod;
        bool is_tolerated;
        uint32_t soft;
    } cases[] = {
        {"", "", true, 0},
        {"taint:a=1:NoSchedule", "", false, 0},
        {"taint:a=1:NoExecute", "", false, 0},
        {"taint:a=1:PreferNoSchedule", "", true, 1},
        {"taint:a=1:NoSchedule taint:b=1:NoExecute", "tolerate:a:Exists::", false, 0},
        {"taint:a=1:NoSchedule taint:b=1:NoExecute",
         "tolerate:a:Exists:: tolerate:b:Exists::", true, 0},
        {"taint:a=1:PreferNoSchedule taint:b=1:PreferNoSchedule", "tolerate:a:Exists::", true, 1},
        {"taint:a=1:PreferNoSchedule", "tolerate:a:Exists::PreferNoSchedule", true, 0},
        {"taint:a=1:PreferNoSchedule", "tolerate:a:Exists::NoSchedule", true, 1},
        {"taint:a=1:PreferNoSchedule", "tolerate::Exists::", true, 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].node, cases[i].pod);
        AUTO(ground) g = {0};
        ground_add(&g, "node n %s", cases[i].node);
        ground_add(&g, "pod p %s", cases[i].pod);
        tolerations_id t = cluster_spec(g.cluster, ground_pod(&g, "p"))->tolerations;
        node_id n = ground_node(&g, "n");
        EXPECT_INT(cluster_taints_tolerated(g.cluster, t, n), cases[i].is_tolerated);
        EXPECT_INT(cluster_soft_taints(g.cluster, t, n), cases[i].soft);
    }
}

TEST(cluster, a_sweep_changes_nothing_that_is_in_use)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 cpu=8 gpu=1 zone=a taint:t=v:NoSchedule image:x=5Mi");
    ground_add(&g, "service web app=web");
    for (int i = 0; i < 3000; i++) { /* pods that come and go, each with names of its own */
        ground_add(&g, "pod p%d label:job=j%d tolerate:t%d:Exists:: select:s=v%d", i, i, i, i);
        buf_clear(&g.text);
        buf_printf(&g.text, "p%d", i);
        pods_remove(&g.cluster->pods, ground_pod(&g, g.text.p));
    }
    ground_add(&g, "pod a label:app=web tolerate:t:Exists:: on=n1 gpu=1");
    ground_add(&g, "pod b nominated=n1");
    AUTO(buf) before = {0};
    cluster_dump(g.cluster, &before);
    uint32_t live = g.cluster->names.text.live;

    cluster_tidy(g.cluster, TIDY_IF_WANTED);
    cluster_tidy(g.cluster, TIDY_IF_WANTED); /* what the first let go of */

    EXPECT(g.cluster->names.text.live < live / 2);
    EXPECT(str_equal(ground_dump(&g), buf_str(&before)));
    const struct shape *shape = pods_shape(&g.cluster->pods, ground_pod(&g, "a"));
    EXPECT(workloads_selector(&g.cluster->workloads, &g.cluster->names, &g.cluster->matches,
                              shape) != ID_NONE);
    EXPECT(cluster_taints_tolerated(
        g.cluster, specs_at(&g.cluster->specs, shape->spec)->tolerations, ground_node(&g, "n1")));
}

TEST(cluster, remembered_verdicts_on_label_sets_do_not_outlive_a_sweep)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod p select:disk=ssd");
    rules_id rules = cluster_spec(g.cluster, ground_pod(&g, "p"))->rules;
    for (int i = 0; i < 3000; i++) { /* label sets that come, are asked about, and go */
        ground_add(&g, "node n label:x=%d label:disk=ssd", i);
        EXPECT(cluster_rules_allow(g.cluster, rules, ground_node(&g, "n"), SYM_NONE));
    }
    ground_add(&g, "node n");
    cluster_tidy(g.cluster, TIDY_IF_WANTED);
    for (int i = 0; i < 3000; i++) { /* their numbers come back with other labels */
        ground_add(&g, "node n label:y=%d", i);
        if (!EXPECT(!cluster_rules_allow(g.cluster, rules, ground_node(&g, "n"), SYM_NONE)))
            break;
    }
}
