#include "core/cluster/read.h"

#include "support/ground.h"
#include "support/test.h"

static struct node_row row_of(struct ground *g, const char *line)
{
    return read_node(ground_cluster(g), object_of(&g->mem, line).node, &g->mem);
}

TEST(read, a_node_in_the_clusters_terms)
{
    AUTO(ground) g = {0};
    struct node_row row = row_of(&g, "node n cpu=1500m memory=2Ki storage=1 gpu=3 pods=9 cordoned "
                                     "zone=a taint:k=v:NoExecute image:b=2 image:a=1");
    struct cluster *c = g.cluster;
    EXPECT(row.is_present && row.is_cordoned);
    EXPECT_INT(row.cpu_milli, 1500);
    EXPECT_INT(row.memory, 2048);
    EXPECT_INT(row.pods, 9);
    EXPECT_INT(row.n_others, 2);
    EXPECT(row.others[0].resource < row.others[1].resource);
    EXPECT_INT(row.others[0].resource, RESOURCE_EPHEMERAL);
    EXPECT_INT(row.others[1].amount, 3);
    EXPECT_INT(row.hostname, ground_sym(&g, "n"));
    EXPECT_INT(names_label(&c->names, row.labels, ground_sym(&g, "topology.kubernetes.io/zone")),
               ground_sym(&g, "a"));
    EXPECT_INT(names_label(&c->names, row.labels, c->matches.hostname), SYM_NONE); /* taken out */
    EXPECT_INT(row.n_images, 2);
    EXPECT(row.images[0].name < row.images[1].name);
}

TEST(read, nodes_of_one_shape_share_their_labels)
{
    AUTO(ground) g = {0};
    struct node_row a = row_of(&g, "node a zone=z label:gpu=h200");
    struct node_row b = row_of(&g, "node b label:gpu=h200 zone=z");
    EXPECT_INT(a.labels, b.labels);
    EXPECT(a.hostname != b.hostname);
    struct node_row without = row_of(&g, "node c host=");
    EXPECT_INT(without.hostname, SYM_NONE);
    EXPECT_INT(without.labels, 0);
}

TEST(read, amounts_of_a_node_are_rounded_up_and_zeros_left_out)
{
    AUTO(ground) g = {0};
    struct node_row row = row_of(&g, "node n cpu=1500u memory=1500m gpu=0 example.com/x=0");
    EXPECT_INT(row.cpu_milli, 2);
    EXPECT_INT(row.memory, 2);
    EXPECT_INT(row.n_others, 0);
    EXPECT_INT(row_of(&g, "node n pods=9999999999").pods, INT32_MAX);
    EXPECT_INT(row_of(&g, "node n pods=0").pods, 0);
}

TEST(read, an_image_named_twice_is_there_once)
{
    AUTO(ground) g = {0};
    EXPECT_INT(row_of(&g, "node n image:a=1 image:b=1 image:a=1").n_images, 2);
}

TEST(read, only_the_controller_of_a_kind_that_selects_pods_is_an_owner)
{
    static const struct {
        const char *api_version, *kind;
        bool is_controller;
        enum owner_kind owner;
    } cases[] = {
        {"apps/v1", "ReplicaSet", true, OWNER_REPLICA_SET},
        {"apps/v1", "StatefulSet", true, OWNER_STATEFUL_SET},
        {"v1", "ReplicationController", true, OWNER_REPLICATION_CONTROLLER},
        {"apps/v1", "ReplicaSet", false, OWNER_NONE},
        {"batch/v1", "Job", true, OWNER_NONE},
        {"apps/v1", "ReplicationController", true, OWNER_NONE},
        {"my/v1", "ReplicaSet", true, OWNER_NONE},
    };
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    for (size_t i = 0; i < LEN(cases); i++) {
        struct object o = object_of(&g.mem, "pod p owner:ReplicaSet=r");
        struct owner *owner = &o.pod->meta.owners.at[0];
        owner->api_version = str_of(cases[i].api_version);
        owner->kind = str_of(cases[i].kind);
        owner->is_controller = cases[i].is_controller;
        sym pin;
        shape_id shape = read_pod_shape(c, o.pod, &pin);
        EXPECT_INT(c->pods.shapes.at[shape].owner_kind, cases[i].owner);
        EXPECT_INT(c->pods.shapes.at[shape].owner == SYM_NONE, cases[i].owner == OWNER_NONE);
    }
}

TEST(read, no_selector_and_an_empty_one_are_opposites)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    struct label_selector empty = {0};
    EXPECT_INT(read_selector(c, NULL), ID_NONE);
    selector_id all = read_selector(c, &empty);
    EXPECT(all != ID_NONE);
    EXPECT(selector_matches(matches_selector_at(&c->matches, all), &c->names, 0));
}

TEST(read, a_pin_stays_in_the_spec_where_the_cluster_keeps_pins)
{
    AUTO(ground) g = {0};
    ground_cluster(&g)->keeps_pins = true;
    ground_add(&g, "pod a require:@metadata.name:In:n1");
    EXPECT_INT(pods_at(&g.cluster->pods, ground_pod(&g, "a"))->pin, SYM_NONE);
    rules_id rules = cluster_spec(g.cluster, ground_pod(&g, "a"))->rules;
    EXPECT(matches_rules_at(&g.cluster->matches, rules)->is_restricted);
}
