#include "core/cluster/workloads.h"

#include "support/ground.h"
#include "support/test.h"

/* Does the selector that pods of this line are spread by match the labels of the pod "other"? */
static const char *spread_of(struct ground *g, const char *pod)
{
    struct cluster *c = g->cluster;
    const struct shape *shape = pods_shape(&c->pods, ground_pod(g, pod));
    selector_id id = workloads_selector(&c->workloads, &c->names, &c->matches, shape);
    if (id == ID_NONE)
        return "none";
    buf_clear(&g->text);
    struct selector s = matches_selector_at(&c->matches, id);
    for (uint32_t i = 0; i < s.n; i++)
        buf_printf(&g->text, "%s" STR_FMT, i ? " " : "",
                   STR_ARG(names_text(&c->names, s.all[i].values[0])));
    return g->text.p;
}

TEST(workloads, a_pod_is_spread_by_its_services_and_its_owner_together)
{
    AUTO(ground) g = {0};
    ground_cluster(&g);
    ground_sym(&g, "app"), ground_sym(&g, "tier"), ground_sym(&g, "rs"); /* the order of keys */
    ground_add(&g, "service web app=web");
    ground_add(&g, "service back tier=back");
    ground_add(&g, "service elsewhere app=web namespace=other");
    ground_add(&g, "replicaset r rs=r1");
    ground_add(&g, "pod a label:app=web");
    ground_add(&g, "pod b label:app=web label:tier=back");
    ground_add(&g, "pod c label:app=web owner:ReplicaSet=r");
    ground_add(&g, "pod d label:app=db");
    ground_add(&g, "pod e label:app=db owner:ReplicaSet=unknown");
    ground_add(&g, "pod f label:app=db owner:StatefulSet=r");
    ground_add(&g, "pod h owner:Job=r");
    EXPECT_TEXT(spread_of(&g, "a"), "web");
    EXPECT_TEXT(spread_of(&g, "b"), "web back");
    EXPECT_TEXT(spread_of(&g, "c"), "web r1");
    EXPECT_TEXT(spread_of(&g, "d"), "none");
    EXPECT_TEXT(spread_of(&g, "e"), "none");
    EXPECT_TEXT(spread_of(&g, "f"), "none"); /* the name is another kind's */
    EXPECT_TEXT(spread_of(&g, "h"), "none");
}

TEST(workloads, each_kind_of_owner_selects_its_pods)
{
    AUTO(ground) g = {0};
    ground_add(&g, "replicationcontroller o x=rc");
    ground_add(&g, "replicaset o x=rs");
    ground_add(&g, "statefulset o x=ss");
    ground_add(&g, "pod a owner:ReplicationController=o");
    ground_add(&g, "pod b owner:ReplicaSet=o");
    ground_add(&g, "pod c owner:StatefulSet=o");
    EXPECT_TEXT(spread_of(&g, "a"), "rc");
    EXPECT_TEXT(spread_of(&g, "b"), "rs");
    EXPECT_TEXT(spread_of(&g, "c"), "ss");
}

TEST(workloads, an_owner_without_a_selector_selects_nothing)
{
    AUTO(ground) g = {0};
    ground_add(&g, "replicaset o none");
    ground_add(&g, "pod a owner:ReplicaSet=o");
    EXPECT_TEXT(spread_of(&g, "a"), "none");
}

static bool rose(const struct workloads *w, sym namespace, uint64_t *generation)
{
    uint64_t before = *generation;
    *generation = workloads_generation(w, namespace);
    return *generation > before;
}

TEST(workloads, the_generation_rises_when_a_selector_of_the_namespace_changes)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    struct workloads *w = &c->workloads;
    sym here = ground_sym(&g, "default"), web = ground_sym(&g, "web");
    EXPECT_INT(workloads_generation(w, here), 0);
    ground_add(&g, "service web app=web");
    uint64_t first = workloads_generation(w, here);
    EXPECT(first > 0);
    ground_add(&g, "service web app=web"); /* nothing new */
    EXPECT_INT(workloads_generation(w, here), first);
    ground_add(&g, "service other app=web namespace=other");
    EXPECT_INT(workloads_generation(w, here), first);
    ground_add(&g, "service web app=api");
    EXPECT(rose(w, here, &first));
    ground_add(&g, "replicaset web app=web");
    EXPECT(rose(w, here, &first));
    EXPECT(workloads_remove_service(w, &c->names, &c->matches, here, web));
    EXPECT(!workloads_remove_service(w, &c->names, &c->matches, here, web));
    EXPECT(rose(w, here, &first));
    EXPECT(!workloads_remove_owner(w, &c->names, &c->matches, here, OWNER_STATEFUL_SET, web));
    EXPECT(workloads_remove_owner(w, &c->names, &c->matches, here, OWNER_REPLICA_SET, web));
    EXPECT(rose(w, here, &first)); /* though the namespace has nothing any more */
    ground_add(&g, "pod a label:app=api owner:ReplicaSet=web");
    EXPECT_TEXT(spread_of(&g, "a"), "none");
}

TEST(workloads, a_namespace_that_has_nothing_is_forgotten)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    struct workloads *w = &c->workloads;
    sym service = ground_sym(&g, "web");
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        ground_add(&g, "namespace %s label:team=a", name);
        ground_add(&g, "service web app=web namespace=%s", name);
        sym namespace = ground_sym(&g, name);
        EXPECT(workloads_remove_service(w, &c->names, &c->matches, namespace, service));
        EXPECT(cluster_put_namespace(c, namespace, ID_NONE));
    }
    EXPECT_INT(w->rows.n, 1);
}
