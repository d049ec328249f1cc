#include "core/cluster/nodes.h"

#include "support/ground.h"
#include "support/test.h"

static const struct room *room(struct ground *g, const char *node)
{
    return &g->cluster->nodes.room[ground_node(g, node).i];
}

static struct cell cell(struct ground *g, const char *node, const char *resource)
{
    struct cluster *c = g->cluster;
    const struct cell *found =
        nodes_cell(&c->nodes, ground_node(g, node),
                   resources_get(&c->specs.resources, &c->names, str_of(resource)));
    return found ? *found : (struct cell){0};
}

TEST(nodes, only_the_columns_that_differ_are_written)
{
    static const struct {
        const char *line;
        uint32_t columns;
    } story[] = {
        {"node n cpu=8 memory=1Gi", COLUMN_PRESENCE | COLUMN_ALLOC | COLUMN_LABELS},
        {"node n memory=1024Mi cpu=8000m", 0}, /* the same in other words */
        {"node n cpu=8 memory=1Gi zone=a", COLUMN_LABELS},
        {"node n cpu=8 memory=1Gi zone=b", COLUMN_LABELS},
        {"node n cpu=8 memory=1Gi zone=b host=h", COLUMN_LABELS},
        {"node n cpu=4 memory=1Gi zone=b host=h", COLUMN_ALLOC},
        {"node n cpu=4 memory=1Gi zone=b host=h gpu=2", COLUMN_ALLOC},
        {"node n gpu=2 cpu=4 memory=1Gi host=h zone=b", 0},
        {"node n cpu=4 memory=1Gi zone=b host=h gpu=1", COLUMN_ALLOC},
        {"node n cpu=4 memory=1Gi zone=b host=h", COLUMN_ALLOC},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5", COLUMN_ALLOC},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5 cordoned", COLUMN_CORDON},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5 taint:a=b:NoSchedule",
         COLUMN_CORDON | COLUMN_TAINTS},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5 image:x=1Mi", COLUMN_TAINTS | COLUMN_IMAGES},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5 image:y=1Mi image:x=1Mi", COLUMN_IMAGES},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5 image:x=1Mi image:y=1Mi", 0},
        {"node n cpu=4 memory=1Gi zone=b host=h pods=5 image:x=1Mi image:y=2Mi", COLUMN_IMAGES},
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(story); i++) {
        test_case("%s", story[i].line);
        EXPECT_INT(ground_add(&g, "%s", story[i].line), story[i].columns);
    }
}

TEST(nodes, a_row_read_back_is_the_row_that_was_put)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8 memory=1Gi gpu=2 storage=5Gi zone=a taint:a=b:NoExecute cordoned "
                   "image:x=3Mi image:y=4Mi pods=7");
    struct cluster *c = g.cluster;
    node_id n = ground_node(&g, "n");
    struct node_row row = nodes_get(&c->nodes, n, &g.mem);
    EXPECT(row.is_present && row.is_cordoned);
    EXPECT_INT(row.cpu_milli, 8000);
    EXPECT_INT(row.memory, 1 << 30);
    EXPECT_INT(row.pods, 7);
    EXPECT_INT(row.n_others, 2);
    EXPECT_INT(row.n_images, 2);
    EXPECT_INT(row.hostname, ground_sym(&g, "n"));
    EXPECT_INT(cluster_put_node(c, n, &row), 0);
}

TEST(nodes, sums_follow_the_pods)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8 memory=8Gi gpu=2");
    ground_add(&g, "pod a cpu=1 memory=1Gi gpu=1 on=n");
    ground_add(&g, "pod b on=n");
    EXPECT_INT(room(&g, "n")->cpu_used, 1000);
    EXPECT_INT(room(&g, "n")->memory_used, 1 << 30);
    EXPECT_INT(room(&g, "n")->cpu_nonzero, 1100);
    EXPECT_INT(room(&g, "n")->memory_nonzero, (1 << 30) + (200 << 20));
    EXPECT_INT(room(&g, "n")->pods_used, 2);
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").used, 1);

    cluster_take(g.cluster, ground_pod(&g, "a"));
    EXPECT_INT(room(&g, "n")->cpu_used, 0);
    EXPECT_INT(room(&g, "n")->cpu_nonzero, 100);
    EXPECT_INT(room(&g, "n")->pods_used, 1);
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").used, 0);
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").alloc, 2);
}

TEST(nodes, a_resource_in_use_outlives_its_allocatable_and_goes_with_its_last_user)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8 gpu=2 example.com/a=1");
    ground_add(&g, "pod a gpu=2 on=n");
    ground_add(&g, "node n cpu=8"); /* the driver died */
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").alloc, 0);
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").used, 2);
    EXPECT_INT(room(&g, "n")->cells->n, 1);
    cluster_take(g.cluster, ground_pod(&g, "a"));
    EXPECT(room(&g, "n")->cells == NULL);
}

TEST(nodes, a_pods_scalars_may_be_none_of_the_nodes)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8");
    ground_add(&g, "pod a gpu=1 on=n");
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").used, 1);
    EXPECT_INT(cell(&g, "n", "nvidia.com/gpu").alloc, 0);
}

TEST(nodes, a_port_is_taken_by_protocol_number_and_address)
{
    static const struct {
        const char *used, *wanted;
        bool is_taken;
    } cases[] = {
        {"port:80", "port:80", true},
        {"port:80", "port:81", false},
        {"port:80", "port:80/UDP", false},
        {"port:80/SCTP", "port:80/SCTP", true},
        {"port:1.1.1.1:80", "port:1.1.1.2:80", false},
        {"port:1.1.1.1:80", "port:1.1.1.1:80", true},
        {"port:1.1.1.1:80", "port:80", true}, /* 0.0.0.0 is every address */
        {"port:80", "port:1.1.1.1:80", true},
        {"port:81 port:80", "port:79 port:80", true},
        {"port:80", "cpu=1", false},
        {"cpu=1", "port:80", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].used, cases[i].wanted);
        AUTO(ground) g = {0};
        ground_add(&g, "node n cpu=8");
        ground_add(&g, "pod a %s on=n", cases[i].used);
        ground_add(&g, "pod b %s", cases[i].wanted);
        const struct spec *s = cluster_spec(g.cluster, ground_pod(&g, "b"));
        EXPECT_INT(nodes_port_taken(&g.cluster->nodes, ground_node(&g, "n"), s->ports, s->n_ports,
                                    g.cluster->any_ip),
                   cases[i].is_taken);
    }
}

TEST(nodes, a_port_used_twice_is_free_when_the_second_has_gone)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n cpu=8");
    ground_add(&g, "pod a port:80 port:70 on=n");
    ground_add(&g, "pod b port:80 port:90 on=n"); /* bound by somebody who did not look */
    const struct used_ports *used = g.cluster->nodes.ports[ground_node(&g, "n").i];
    EXPECT_INT(used->n, 3);
    EXPECT_INT(used->at[1].uses, 2);
    cluster_take(g.cluster, ground_pod(&g, "a"));
    used = g.cluster->nodes.ports[ground_node(&g, "n").i];
    EXPECT_INT(used->n, 2);
    EXPECT_INT(used->at[0].port.port, 80);
    EXPECT_INT(used->at[0].uses, 1);
    cluster_take(g.cluster, ground_pod(&g, "b"));
    EXPECT(g.cluster->nodes.ports[ground_node(&g, "n").i] == NULL);
}

TEST(nodes, an_image_has_the_size_that_its_first_node_said)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 image:x=5Mi");
    ground_add(&g, "node n2 image:x=7Mi image:y=1Mi");
    struct nodes *n = &g.cluster->nodes;
    sym x = ground_sym(&g, "x");
    EXPECT_INT(images_state(&n->known_images, x).size_bytes, 5 << 20);
    EXPECT_INT(images_state(&n->known_images, x).nodes, 2);
    EXPECT_INT(images_state(&n->known_images, ground_sym(&g, "z")).nodes, 0);
    EXPECT(nodes_has_image(n, ground_node(&g, "n2"), ground_sym(&g, "y")));
    EXPECT(!nodes_has_image(n, ground_node(&g, "n1"), ground_sym(&g, "y")));
    ground_add(&g, "node n1 cpu=1");
    EXPECT_INT(images_state(&n->known_images, x).nodes, 1);
    EXPECT_INT(images_state(&n->known_images, x).size_bytes, 5 << 20);
    ground_add(&g, "node n2 cpu=1");
    EXPECT_INT(images_state(&n->known_images, x).nodes, 0);
}

TEST(nodes, a_number_is_used_again_and_starts_empty)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 cpu=8 gpu=2 zone=a taint:a=b:NoSchedule image:x=1Mi cordoned");
    struct cluster *c = g.cluster;
    node_id was = ground_node(&g, "n1");
    cluster_put_node(c, was, &NODE_ROW_ABSENT);
    EXPECT_INT(c->nodes.present, 0);
    nodes_release(&c->nodes, &c->names, was);
    EXPECT_INT(ground_node(&g, "n1").i, ID_NONE);

    ground_add(&g, "node n2");
    node_id is = ground_node(&g, "n2");
    EXPECT_INT(is.i, was.i);
    struct node_row row = nodes_get(&c->nodes, is, &g.mem);
    EXPECT_INT(row.cpu_milli, 0);
    EXPECT_INT(row.labels, 0);
    EXPECT_INT(row.taints, 0);
    EXPECT_INT(row.n_others, 0);
    EXPECT_INT(row.n_images, 0);
    EXPECT(!row.is_cordoned);
    EXPECT_INT(row.pods, 110);
}

TEST(nodes, hostnames_that_two_nodes_share_are_counted)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n1 host=h");
    ground_add(&g, "node n2");
    EXPECT_INT(g.cluster->nodes.shared_hostnames, 0);
    ground_add(&g, "node n2 host=h");
    EXPECT_INT(g.cluster->nodes.shared_hostnames, 1);
    ground_add(&g, "node n3 host=h");
    EXPECT_INT(g.cluster->nodes.shared_hostnames, 1); /* hostnames, not nodes */
    ground_add(&g, "node n4 host=");
    ground_add(&g, "node n5 host=");
    EXPECT_INT(g.cluster->nodes.shared_hostnames, 1); /* no label is shared by nobody */
    cluster_put_node(g.cluster, ground_node(&g, "n2"), &NODE_ROW_ABSENT);
    ground_add(&g, "node n3");
    EXPECT_INT(g.cluster->nodes.shared_hostnames, 0);
}

TEST(nodes, columns_grow_and_keep_what_they_hold)
{
    AUTO(ground) g = {0};
    for (int i = 0; i < 1000; i++)
        ground_add(&g, "node n%d cpu=%d", i, i + 1);
    EXPECT_INT(g.cluster->nodes.present, 1000);
    EXPECT_INT(room(&g, "n0")->cpu_alloc, 1000);
    EXPECT_INT(room(&g, "n999")->cpu_alloc, 1000000);
    EXPECT_INT(room(&g, "n64")->cpu_alloc, 65000);
}
