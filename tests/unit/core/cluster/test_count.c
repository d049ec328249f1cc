#include "core/cluster/count.h"

#include "core/cluster/read.h"
#include "support/ground.h"
#include "support/test.h"

/* A tally of the pods of the namespace default with the label app=web. */
static uint32_t use_web(struct ground *g)
{
    struct cluster *c = ground_cluster(g);
    struct object s = object_of(&g->mem, "service s app=web");
    return counts_use_tally(c, ground_sym(g, "default"),
                            read_map_selector(c, &s.service->selector));
}

static uint32_t use_spread(struct ground *g, uint32_t tally, const char *key)
{
    sym keys[1] = {ground_sym(g, key)};
    struct spread_ask ask = {
        .tally = tally, .key = keys[0], .tolerations = ID_NONE, .keys = keys, .n_keys = 1};
    return counts_use_spread(g->cluster, &ask);
}

static int64_t in_domain(struct ground *g, uint32_t spread, const char *value)
{
    const struct domain *d = counts_domain(&g->cluster->counts, spread, ground_sym(g, value));
    return d ? d->pods : -1;
}

static int64_t on(struct ground *g, uint32_t tally, const char *node)
{
    return counts_on_node(&g->cluster->counts, tally, ground_node(g, node));
}

TEST(count, a_tally_counts_matching_pods_of_its_namespace_that_stay)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 cpu=8");
    ground_add(&g, "pod before label:app=web on=n1");
    ground_add(&g, "pod going label:app=web on=n1 deleting");
    uint32_t web = use_web(&g);
    EXPECT_INT(on(&g, web, "n1"), 1); /* made by looking at what is there */
    ground_add(&g, "pod a label:app=web label:x=1 on=n1");
    ground_add(&g, "pod b label:app=db on=n1");
    ground_add(&g, "pod c label:app=web namespace=other on=n1");
    ground_add(&g, "pod d label:app=web");
    ground_add(&g, "pod e label:app=web on=n1 deleting");
    EXPECT_INT(on(&g, web, "n1"), 2);
    EXPECT_INT(counts_on_node(&g.cluster->counts, ID_NONE, ground_node(&g, "n1")), 0);
    cluster_take(g.cluster, ground_pod(&g, "a"));
    cluster_take(g.cluster, ground_pod(&g, "e"));
    EXPECT_INT(on(&g, web, "n1"), 1);
    counts_drop_tally(g.cluster, web);
}

TEST(count, the_same_question_is_one_tally_until_its_last_user_has_gone)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1");
    uint32_t one = use_web(&g), other = use_web(&g);
    EXPECT_INT(one, other);
    counts_drop_tally(g.cluster, one);
    ground_add(&g, "pod a label:app=web on=n1");
    EXPECT_INT(on(&g, other, "n1"), 1);
    counts_drop_tally(g.cluster, other);
    cluster_take(g.cluster, ground_pod(&g, "a")); /* nobody counts: nothing to go wrong */
    EXPECT_INT(use_web(&g), one);                 /* the number is used again */
    EXPECT_INT(on(&g, one, "n1"), 0);
    counts_drop_tally(g.cluster, one);
}

TEST(count, a_shape_forgets_tallies_that_are_gone)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    ground_add(&g, "node n1");
    uint32_t web = use_web(&g);
    ground_add(&g, "pod a label:app=web on=n1");
    counts_drop_tally(c, web);
    intern_sweep(&c->counts.tally_table, NULL, NULL); /* as when many have gone */
    struct object s = object_of(&g.mem, "service s app=db");
    uint32_t db =
        counts_use_tally(c, ground_sym(&g, "default"), read_map_selector(c, &s.service->selector));
    EXPECT_INT(db, web); /* another question under the number */
    EXPECT_INT(on(&g, db, "n1"), 0);
    ground_add(&g, "pod b label:app=web on=n1");
    EXPECT_INT(on(&g, db, "n1"), 0);
    counts_drop_tally(c, db);
}

TEST(count, a_spread_sums_a_tally_per_value_of_its_key)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 label:z=a");
    ground_add(&g, "node n2 label:z=a");
    ground_add(&g, "node n3 label:z=b");
    ground_add(&g, "node n4");
    ground_add(&g, "pod p label:app=web on=n1");
    uint32_t web = use_web(&g), by_zone = use_spread(&g, web, "z");
    ground_add(&g, "pod q label:app=web on=n2");
    ground_add(&g, "pod r label:app=web on=n4"); /* in no domain */
    EXPECT_INT(counts_domains(&g.cluster->counts, by_zone), 2);
    EXPECT_INT(in_domain(&g, by_zone, "a"), 2);
    EXPECT_INT(in_domain(&g, by_zone, "b"), 0); /* a domain without pods is a domain */
    EXPECT_INT(in_domain(&g, by_zone, "c"), -1);
    EXPECT_INT(counts_least(&g.cluster->counts, by_zone), 0);
    ground_add(&g, "pod s label:app=web on=n3");
    EXPECT_INT(counts_least(&g.cluster->counts, by_zone), 1);
    cluster_take(g.cluster, ground_pod(&g, "p"));
    cluster_take(g.cluster, ground_pod(&g, "q"));
    EXPECT_INT(counts_least(&g.cluster->counts, by_zone), 0);
    counts_drop_spread(g.cluster, by_zone);
    counts_drop_tally(g.cluster, web);
}

TEST(count, a_domain_comes_with_its_first_node_and_goes_with_its_last)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 label:z=a");
    ground_add(&g, "pod p label:app=web on=n2"); /* its node has not come yet */
    uint32_t web = use_web(&g), by_zone = use_spread(&g, web, "z");
    EXPECT_INT(in_domain(&g, by_zone, "b"), -1);
    ground_add(&g, "node n2 label:z=b");
    EXPECT_INT(in_domain(&g, by_zone, "b"), 1);
    EXPECT_INT(counts_least(&g.cluster->counts, by_zone), 0);
    ground_add(&g, "node n1 label:z=b"); /* moves */
    EXPECT_INT(in_domain(&g, by_zone, "a"), -1);
    EXPECT_INT(counts_least(&g.cluster->counts, by_zone), 1);
    cluster_put_node(g.cluster, ground_node(&g, "n2"), &NODE_ROW_ABSENT);
    EXPECT_INT(in_domain(&g, by_zone, "b"), 0);
    cluster_put_node(g.cluster, ground_node(&g, "n1"), &NODE_ROW_ABSENT);
    EXPECT_INT(counts_domains(&g.cluster->counts, by_zone), 0);
    EXPECT_INT(counts_least(&g.cluster->counts, by_zone), 0);
    counts_drop_spread(g.cluster, by_zone);
    counts_drop_tally(g.cluster, web);
}

TEST(count, a_spread_leaves_out_nodes_that_its_constraint_does)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 label:z=a label:rack=1 label:disk=ssd");
    ground_add(&g, "node n2 label:z=b label:disk=ssd"); /* a key is missing */
    ground_add(&g, "node n3 label:z=c label:rack=1");   /* the rules say no */
    ground_add(&g, "node n4 label:z=d label:rack=1 label:disk=ssd taint:a=b:NoSchedule");
    ground_add(&g, "node n5 label:z=e label:rack=1 label:disk=ssd taint:soft=b:PreferNoSchedule");
    ground_add(&g, "pod p select:disk=ssd");
    const struct spec *spec = cluster_spec(g.cluster, ground_pod(&g, "p"));
    sym keys[2] = {ground_sym(&g, "z"), ground_sym(&g, "rack")};
    struct spread_ask ask = {
        .tally = ID_NONE,
        .key = keys[0],
        .rules = spec->rules,
        .tolerations = spec->tolerations,
        .keys = keys,
        .n_keys = 2,
    };
    uint32_t s = counts_use_spread(g.cluster, &ask);
    EXPECT_INT(counts_domains(&g.cluster->counts, s), 2);
    EXPECT_INT(in_domain(&g, s, "a"), 0);
    EXPECT_INT(in_domain(&g, s, "e"), 0);
    ask.tolerations = ID_NONE; /* taints do not matter */
    uint32_t without_taints = counts_use_spread(g.cluster, &ask);
    EXPECT(without_taints != s);
    EXPECT_INT(counts_domains(&g.cluster->counts, without_taints), 3);
    ask.rules = 0;
    uint32_t without_rules = counts_use_spread(g.cluster, &ask);
    EXPECT_INT(counts_domains(&g.cluster->counts, without_rules), 4);
    counts_drop_spread(g.cluster, s);
    counts_drop_spread(g.cluster, without_taints);
    counts_drop_spread(g.cluster, without_rules);
}

TEST(count, a_spread_follows_what_happens_to_its_nodes)
{
    static const struct {
        const char *change;
        int64_t pods; /* in domain a; -1: there is none */
    } story[] = {
        {"node n1 label:z=a", 1},
        {"node n1 label:z=a cpu=5", 1},
        {"node n1 label:z=a taint:x=y:NoExecute", -1},
        {"node n1 label:z=a", 1},
        {"node n1", -1},
        {"node n1 label:z=a cordoned", 1},
    };
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 label:z=a");
    ground_add(&g, "pod p label:app=web on=n1");
    uint32_t web = use_web(&g);
    sym key = ground_sym(&g, "z");
    struct spread_ask ask = {.tally = web, .key = key, .keys = &key, .n_keys = 1};
    uint32_t s = counts_use_spread(g.cluster, &ask);
    for (size_t i = 0; i < LEN(story); i++) {
        ground_add(&g, "%s", story[i].change);
        EXPECT_INT(in_domain(&g, s, "a"), story[i].pods);
    }
    counts_drop_spread(g.cluster, s);
    counts_drop_tally(g.cluster, web);
}
