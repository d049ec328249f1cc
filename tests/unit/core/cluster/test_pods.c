#include "core/cluster/pods.h"

#include "support/ground.h"
#include "support/test.h"

TEST(pods, a_pod_is_found_by_namespace_and_name)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod a uid=u1");
    ground_add(&g, "pod a uid=u2 namespace=other");
    struct pods *p = &g.cluster->pods;
    pod_id one = ground_pod(&g, "a");
    pod_id two = pods_find(p, ground_sym(&g, "other"), STR("a"));
    EXPECT(one.i != two.i);
    EXPECT_STR(pod_name(pods_at(p, one)), "a");
    EXPECT_STR(pod_uid(pods_at(p, one)), "u1");
    EXPECT_STR(pod_uid(pods_at(p, two)), "u2");
    EXPECT_INT(ground_pod(&g, "b").i, ID_NONE);
    EXPECT_INT(pods_find(p, ground_sym(&g, "third"), STR("a")).i, ID_NONE);
    EXPECT_INT(pods_find(p, SYM_NONE, STR("a")).i, ID_NONE);
}

TEST(pods, a_pod_may_have_no_uid)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod a uid=");
    EXPECT_STR(pod_uid(pods_at(&g.cluster->pods, ground_pod(&g, "a"))), "");
}

TEST(pods, every_pod_is_found_after_others_have_left)
{
    enum { N = 500 };
    AUTO(ground) g = {0};
    char name[8];
    for (int i = 0; i < N; i++)
        ground_add(&g, "pod p%d", i);
    struct pods *p = &g.cluster->pods;
    for (int i = 0; i < N; i += 3) {
        buf_clear(&g.text);
        buf_printf(&g.text, "p%d", i);
        pods_remove(p, ground_pod(&g, g.text.p));
    }
    EXPECT_INT(p->n, N - (N + 2) / 3);
    for (int i = 0; i < N; i++) {
        buf_clear(&g.text);
        buf_printf(&g.text, "p%d", i);
        memcpy(name, g.text.p, g.text.n + 1);
        pod_id pod = ground_pod(&g, name);
        if (i % 3 == 0)
            EXPECT_INT(pod.i, ID_NONE);
        else if (EXPECT(pod.i != ID_NONE))
            EXPECT_STR(pod_name(pods_at(p, pod)), name);
    }
}

TEST(pods, a_number_is_used_again)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod a nominated=n1");
    pod_id was = ground_pod(&g, "a");
    cluster_nominate(g.cluster, was, SYM_NONE);
    pods_remove(&g.cluster->pods, was);
    ground_add(&g, "pod b");
    EXPECT_INT(ground_pod(&g, "b").i, was.i);
    const struct pod_row *row = pods_at(&g.cluster->pods, was);
    EXPECT_INT(row->node, ID_NONE);
    EXPECT_INT(row->nominated, SYM_NONE);
    EXPECT_INT(row->flags, 0);
}

TEST(pods, pods_of_one_template_share_their_shape)
{
    static const struct {
        const char *one, *other;
        bool is_same;
    } cases[] = {
        {"pod a cpu=1 label:x=1", "pod b cpu=1 label:x=1", true},
        {"pod a label:x=1 label:y=2", "pod b label:y=2 label:x=1", true},
        {"pod a label:x=1", "pod b label:x=2", false},
        {"pod a cpu=1", "pod b cpu=2", false},
        {"pod a cpu=1", "pod b cpu=1 namespace=other", false},
        {"pod a owner:ReplicaSet=r", "pod b owner:ReplicaSet=r", true},
        {"pod a owner:ReplicaSet=r", "pod b owner:ReplicaSet=s", false},
        {"pod a owner:ReplicaSet=r", "pod b owner:StatefulSet=r", false},
        {"pod a owner:Job=r", "pod b owner:Job=s", true}, /* selects none */
        {"pod a require:@metadata.name:In:n1", "pod b require:@metadata.name:In:n2", true},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].one, cases[i].other);
        AUTO(ground) g = {0};
        ground_add(&g, "%s", cases[i].one);
        ground_add(&g, "%s", cases[i].other);
        const struct pod_row *rows = g.cluster->pods.rows.at;
        EXPECT_INT(rows[0].shape == rows[1].shape, cases[i].is_same);
    }
}

TEST(pods, a_shape_that_comes_back_under_a_swept_number_was_born_anew)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    uint64_t last = 0;
    for (int i = 0; i < 3000; i++) {
        ground_add(&g, "pod p label:x=%d", i);
        pod_id p = ground_pod(&g, "p");
        uint64_t born = pods_shape(&c->pods, p)->born;
        EXPECT(born > last);
        last = born;
        pods_remove(&c->pods, p);
    }
    uint32_t many = c->pods.shape_table.live;
    cluster_tidy(c, TIDY_IF_WANTED);
    EXPECT(c->pods.shape_table.live < many);
    ground_add(&g, "pod p label:x=0");
    EXPECT(pods_shape(&c->pods, ground_pod(&g, "p"))->born > last);
}

TEST(pods, a_reshaped_pod_holds_its_new_shape_alone)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod a cpu=1");
    ground_add(&g, "pod b cpu=2");
    struct pods *p = &g.cluster->pods;
    pod_id a = ground_pod(&g, "a");
    shape_id was = pods_at(p, a)->shape, is = pods_at(p, ground_pod(&g, "b"))->shape;
    pods_reshape(p, a, is);
    EXPECT_INT(p->shape_table.entries.at[was].holds, 0);
    EXPECT_INT(p->shape_table.entries.at[is].holds, 2);
    EXPECT_INT(ground_pod(&g, "a").i, a.i);
}
