#include "core/cluster/txn.h"

#include "core/cluster/read.h"
#include "support/ground.h"
#include "support/test.h"

static void forget_node(struct ground *g, const char *name)
{
    node_id node = ground_node(g, name);
    cluster_put_node(g->cluster, node, &NODE_ROW_ABSENT);
    nodes_release(&g->cluster->nodes, &g->cluster->names, node);
}

/* A cluster with something of everything. */
static void furnish(struct ground *g)
{
    ground_add(g, "node gone1");
    ground_add(g, "node gone2");
    ground_add(g, "node n1 cpu=8 memory=8Gi gpu=2 zone=a image:x=5Mi taint:t=v:NoSchedule");
    ground_add(g, "node n2 cpu=8 memory=8Gi zone=b image:x=5Mi");
    ground_add(g, "pod a cpu=1 gpu=1 port:80 label:app=web on=n1");
    ground_add(g, "pod b cpu=2 label:app=web on=n1");
    ground_add(g, "pod c cpu=3 port:81 on=n1");
    ground_add(g, "pod d cpu=4 gpu=1 port:82 label:app=web");
    ground_add(g, "pod g cpu=1 note:gpu-fraction=0.3 on=n1");
    ground_add(g, "pod h cpu=1 note:gpu-fraction=0.4");
    ground_add(g, "pod e cpu=1 nominated=n1");
    ground_add(g, "pod f cpu=1 nominated=n2");
    struct object s = object_of(&g->mem, "service s app=web");
    selector_id web = read_map_selector(g->cluster, &s.service->selector);
    sym key = ground_sym(g, "topology.kubernetes.io/zone");
    struct spread_ask ask = {
        .tally = counts_use_tally(g->cluster, ground_sym(g, "default"), web),
        .key = key,
        .tolerations = ID_NONE,
        .keys = &key,
        .n_keys = 1,
    };
    counts_use_spread(g->cluster, &ask);
    forget_node(g, "gone1"); /* two numbers that are free */
    forget_node(g, "gone2");
}

static void put(struct ground *g, const char *line)
{
    ground_add(g, "%s", line);
}

static void place(struct ground *g, const char *pod_and_node)
{
    char pod[2] = {pod_and_node[0], 0};
    cluster_place(g->cluster, ground_pod(g, pod), ground_node(g, pod_and_node + 2));
}

static void take(struct ground *g, const char *pod)
{
    cluster_take(g->cluster, ground_pod(g, pod));
}

static void claim(struct ground *g, const char *node)
{
    cluster_claim(g->cluster, ground_sym(g, node));
}

static void nominate(struct ground *g, const char *pod_and_node)
{
    char pod[2] = {pod_and_node[0], 0};
    cluster_nominate(g->cluster, ground_pod(g, pod),
                     pod_and_node[1] ? ground_sym(g, pod_and_node + 2) : SYM_NONE);
}

static void remove_node(struct ground *g, const char *node)
{
    cluster_put_node(g->cluster, ground_node(g, node), &NODE_ROW_ABSENT);
}

struct step {
    void (*run)(struct ground *, const char *);
    const char *what;
};

static const struct step steps[] = {
    {place, "d n1"},
    {place, "d n2"},
    {take, "a"}, /* the last, the middle and the first of its node's list */
    {take, "g"},
    {place, "h n1"},
    {take, "b"},
    {take, "c"},
    {put, "node n1 cpu=4 memory=8Gi gpu=1 zone=a image:x=5Mi taint:t=v:NoSchedule"},
    {put, "node n1 cpu=8 memory=8Gi gpu=2 zone=b host=other image:x=5Mi taint:t=v:NoSchedule"},
    {put, "node n1 cpu=8 memory=8Gi gpu=2 zone=a image:y=1Mi cordoned"},
    {put, "node n3 cpu=1 zone=c image:x=5Mi"},
    {remove_node, "n1"},
    {remove_node, "n2"},
    {claim, "n9"},
    {nominate, "d n1"},
    {nominate, "e n2"},
    {nominate, "e"},
    {nominate, "f"},
};

TEST(txn, every_operation_is_undone_without_a_trace)
{
    AUTO(ground) g = {0};
    furnish(&g);
    AUTO(buf) before = {0};
    cluster_dump(g.cluster, &before);
    for (size_t i = 0; i < LEN(steps); i++) {
        test_case("%s", steps[i].what);
        uint64_t log = g.cluster->log.end;
        struct txn t = txn_begin(g.cluster);
        steps[i].run(&g, steps[i].what);
        EXPECT(!str_equal(ground_dump(&g), buf_str(&before))); /* it did something */
        txn_undo(g.cluster, t);
        EXPECT(str_equal(ground_dump(&g), buf_str(&before)));
        EXPECT_INT(g.cluster->log.end, log);
        EXPECT_INT(g.cluster->journal.n, 0);
    }
}

TEST(txn, all_operations_together_are_undone_backwards)
{
    AUTO(ground) g = {0};
    furnish(&g);
    AUTO(buf) before = {0};
    cluster_dump(g.cluster, &before);
    for (size_t first = 0; first < LEN(steps); first++) { /* each begins once */
        struct txn t = txn_begin(g.cluster);
        for (size_t i = 0; i < LEN(steps); i++) {
            const struct step *s = &steps[(first + i) % LEN(steps)];
            bool is_placed = pods_at(&g.cluster->pods, ground_pod(&g, "d"))->node != ID_NONE;
            if (s->run == place && is_placed)
                take(&g, "d");
            if (s->run == nominate && s->what[0] == 'd' && is_placed)
                continue;
            s->run(&g, s->what);
        }
        txn_undo(g.cluster, t);
        EXPECT(str_equal(ground_dump(&g), buf_str(&before)));
    }
}

TEST(txn, a_committed_inner_transaction_goes_with_the_outer_one)
{
    AUTO(ground) g = {0};
    furnish(&g);
    AUTO(buf) before = {0};
    cluster_dump(g.cluster, &before);
    struct txn outer = txn_begin(g.cluster);
    place(&g, "d n2");
    struct txn inner = txn_begin(g.cluster);
    take(&g, "b");
    txn_commit(g.cluster, inner);
    txn_undo(g.cluster, outer);
    EXPECT(str_equal(ground_dump(&g), buf_str(&before)));
}

TEST(txn, an_undone_inner_transaction_leaves_the_outer_one)
{
    AUTO(ground) g = {0};
    furnish(&g);
    struct txn outer = txn_begin(g.cluster);
    place(&g, "d n2");
    struct txn inner = txn_begin(g.cluster);
    take(&g, "d");
    place(&g, "d n1");
    txn_undo(g.cluster, inner);
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "d"))->node, ground_node(&g, "n2").i);
    txn_commit(g.cluster, outer);
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "d"))->node, ground_node(&g, "n2").i);
    EXPECT_INT(g.cluster->journal.n, 0);
    EXPECT_INT(g.cluster->depth, 0);
}

TEST(txn, a_pod_that_moved_away_and_back_finds_its_place_in_the_list)
{
    AUTO(ground) g = {0};
    furnish(&g);
    AUTO(buf) before = {0};
    cluster_dump(g.cluster, &before);
    struct txn t = txn_begin(g.cluster);
    take(&g, "b"); /* from between a and c */
    place(&g, "b n2");
    take(&g, "b");
    place(&g, "b n1");
    txn_undo(g.cluster, t);
    EXPECT(str_equal(ground_dump(&g), buf_str(&before)));
}

TEST(txn, outside_a_transaction_nothing_is_written_down)
{
    AUTO(ground) g = {0};
    furnish(&g);
    place(&g, "d n2");
    EXPECT_INT(g.cluster->journal.n, 0);
}

TEST(txn, what_a_reader_saw_is_logged_once_more_by_undo)
{
    AUTO(ground) g = {0};
    furnish(&g);
    struct change_log *log = &g.cluster->log;
    struct txn t = txn_begin(g.cluster);
    place(&g, "d n2");
    log->read_up_to = log->end; /* a view looks */
    uint64_t seen = log->end;
    txn_undo(g.cluster, t);
    EXPECT_INT(log->end, seen + 1);
    EXPECT_INT(change_log_at(log, seen)->node, ground_node(&g, "n2").i);
    EXPECT(change_log_at(log, seen)->columns & COLUMN_USED);
}

TEST(txn, a_placement_logs_the_columns_it_touches)
{
    static const struct {
        const char *words;
        uint32_t columns;
        bool is_counted; /* by a tally: a column, too */
    } cases[] = {
        {"cpu=1", COLUMN_USED, false},
        {"", COLUMN_USED, false},
        {"port:90", COLUMN_USED | COLUMN_PORTS, false},
        {"label:app=web", COLUMN_USED, true},
        {"label:app=web deleting", COLUMN_USED, false},
        {"label:app=web port:91", COLUMN_USED | COLUMN_PORTS, true},
    };
    AUTO(ground) g = {0};
    furnish(&g);
    const struct change_log *log = &g.cluster->log;
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].words);
        uint64_t before = log->end;
        ground_add(&g, "pod p%zu %s on=n2", i, cases[i].words);
        EXPECT_INT(log->end, before + 1);
        uint32_t columns = change_log_at(log, before)->columns;
        EXPECT_INT(columns & (COLUMN_USED | COLUMN_PORTS), cases[i].columns);
        EXPECT_INT((columns & ~(uint32_t)(COLUMN_USED | COLUMN_PORTS)) != 0, cases[i].is_counted);
    }
}

TEST(txn, a_node_that_comes_or_goes_changes_in_every_column)
{
    AUTO(ground) g = {0};
    furnish(&g);
    const struct change_log *log = &g.cluster->log;
    ground_add(&g, "node n3");
    EXPECT_INT(change_log_at(log, log->end - 1)->columns, COLUMN_ALL);
    remove_node(&g, "n3");
    EXPECT_INT(change_log_at(log, log->end - 1)->columns, COLUMN_ALL);
    uint64_t end = log->end;
    remove_node(&g, "n3"); /* it is gone already */
    EXPECT_INT(log->end, end);
}

TEST(txn, nominations_are_kept_in_the_order_they_came_and_mark_their_nodes)
{
    AUTO(ground) g = {0};
    furnish(&g);
    struct cluster *c = g.cluster;
    uint8_t *flags = c->nodes.flags;
    node_id n1 = ground_node(&g, "n1"), n2 = ground_node(&g, "n2");
    EXPECT_INT(c->nominations.n, 2);
    EXPECT(flags[n1.i] & NODE_NOMINATED && flags[n2.i] & NODE_NOMINATED);
    nominate(&g, "e n2"); /* behind f */
    EXPECT_INT(c->nominations.at[1].pod.i, ground_pod(&g, "e").i);
    EXPECT(!(flags[n1.i] & NODE_NOMINATED));
    EXPECT_INT(change_log_at(&c->log, c->log.newest[n1.i])->columns, COLUMN_NOMINATED);
    nominate(&g, "f");
    EXPECT(flags[n2.i] & NODE_NOMINATED); /* e's */
    uint64_t end = c->log.end;
    nominate(&g, "e n2"); /* nothing new */
    EXPECT_INT(c->log.end, end);
    nominate(&g, "f n7"); /* a node nobody knows yet */
    ground_add(&g, "node n7");
    EXPECT(c->nodes.flags[ground_node(&g, "n7").i] & NODE_NOMINATED);
}
