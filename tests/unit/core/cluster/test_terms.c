#include "core/cluster/terms.h"

#include "core/cluster/cluster.h"
#include "core/cluster/read.h"
#include "support/ground.h"
#include "support/test.h"

static struct shape *shape_of(struct ground *g, const char *pod)
{
    uint32_t shape = pods_at(&g->cluster->pods, ground_pod(g, pod))->shape;
    return &g->cluster->pods.shapes.at[shape];
}

/* How many of the known terms mean the pod. */
static uint32_t meant(struct ground *g, const char *pod)
{
    struct shape *shape = shape_of(g, pod);
    terms_meet(g->cluster, shape);
    for (uint32_t i = 1; i < shape->meant_by.n; i++)
        EXPECT(shape->meant_by.at[i - 1] < shape->meant_by.at[i]);
    return shape->meant_by.n;
}

TEST(terms, equal_terms_of_different_pods_are_one)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod a cpu=1 apart:host:app=x");
    ground_add(&g, "pod b cpu=2 apart:host:app=x");
    ground_add(&g, "pod c apart:zone:app=x");
    EXPECT_INT(shape_of(&g, "a")->terms.at[0], shape_of(&g, "b")->terms.at[0]);
    EXPECT(shape_of(&g, "a")->terms.at[0] != shape_of(&g, "c")->terms.at[0]);
    EXPECT_INT(g.cluster->terms.at.at[shape_of(&g, "a")->terms.at[0]].shapes, 2);
}

TEST(terms, a_shape_learns_of_terms_that_come_later)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod x label:app=x");
    ground_add(&g, "pod y label:app=y");
    EXPECT_INT(meant(&g, "x"), 0);
    ground_add(&g, "pod a apart:host:app=x");
    EXPECT_INT(meant(&g, "x"), 1);
    ground_add(&g, "pod b near:host:app=x");
    ground_add(&g, "pod c apart:zone:app=x");
    EXPECT_INT(meant(&g, "x"), 3);
    EXPECT_INT(meant(&g, "y"), 0);
}

TEST(terms, whoever_reads_labels_of_namespaces_has_a_way_to_see_them)
{
    AUTO(ground) g = {0};
    ground_add(&g, "namespace known label:team=a");
    struct cluster *c = ground_cluster(&g);
    ground_add(&g, "pod any label:app=x");
    struct label_selector team = {0}, none = {0};
    struct pair pair = {STR("team"), STR("a")};
    team.match_labels.at = &pair;
    team.match_labels.n = 1;
    selector_id everybody = read_selector(c, &none);
    static const struct {
        const char *namespace;
        bool is_picky; /* it wants team=a; else any labels will do */
        bool seen[3];  /* by the seeker, by pods on nodes, by hints */
    } cases[] = {
        {"known", true, {true, true, false}},
        {"known", false, {true, true, true}},
        {"unknown", true, {false, false, false}},
        {"unknown", false, {true, true, true}},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        for (int sight = SIGHT_SEEKER; sight <= SIGHT_HINT; sight++) {
            test_case("%s, %d, sight %d", cases[i].namespace, cases[i].is_picky, sight);
            struct shape shape = *shape_of(&g, "any");
            shape.namespace = ground_sym(&g, cases[i].namespace);
            selector_id like = cases[i].is_picky ? read_selector(c, &team) : everybody;
            struct reach r = {.selector = everybody, .like = like};
            EXPECT_INT(reach_means(c, r, &shape, (enum sight)sight), cases[i].seen[sight]);
        }
}

TEST(terms, without_namespaces_a_term_means_its_own)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod a apart:host:app=x");
    const struct shape *shape = shape_of(&g, "a");
    const struct spec *spec = specs_at(&g.cluster->specs, shape->spec);
    sym other = ground_sym(&g, "other");
    struct reach r = reach_of(spec, &spec->pod_terms[0], &other);
    EXPECT_INT(r.n, 1);
    EXPECT_INT(r.namespaces[0], other);
    EXPECT_INT(r.like, ID_NONE);
}
