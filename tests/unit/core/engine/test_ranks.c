/* Members of a gang are numbered along the tree of domains, and told so. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define OURS   "scheduler=kubenexus-scheduler "
#define RACK   "label:network.kubenexus.io/rack-id="
#define CLIQUE "label:nvidia.com/gpu.clique="
#define INDEX  "label:batch.kubernetes.io/job-completion-index="

static struct str told(const struct stage *s, const char *pod, const char *key)
{
    const struct effect *e = stage_effect(s, pod);
    for (uint32_t i = 0; e && e->kind == EFFECT_BIND && i < e->annotations.n; i++)
        if (str_equal(e->annotations.at[i].key, str_of(key)))
            return e->annotations.at[i].value;
    return STR("-");
}

/* "1@n0 0@n1 -@n2": rank and node of the pods named, which stand one letter each. */
static const char *ranks(struct stage *s, const char *pods)
{
    buf_clear(&s->text);
    for (const char *p = pods; *p; p++) {
        char name[2] = {*p, 0};
        const struct effect *e = stage_effect(s, name);
        buf_printf(&s->text, "%s" STR_FMT "@" STR_FMT, p == pods ? "" : " ",
                   STR_ARG(told(s, name, "kubenexus.io/rank")),
                   STR_ARG(e ? e->node : (struct str){0}));
    }
    buf_add_bytes(&s->text, "", 1);
    return s->text.p;
}

/* Two racks of two nodes with one GPU each: w and y, x and z. */
static void put_racks(struct stage *s)
{
    stage_put(s, "node w cpu=8 gpu=1 " RACK "a " CLIQUE "c1");
    stage_put(s, "node x cpu=8 gpu=1 " RACK "b " CLIQUE "c2");
    stage_put(s, "node y cpu=8 gpu=1 " RACK "a " CLIQUE "c1");
    stage_put(s, "node z cpu=8 gpu=1 " RACK "b " CLIQUE "c2");
}

TEST(ranks, follow_the_tree_of_domains)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    for (const char *p = "dcba"; *p; p++) /* they do not number themselves: who came first */
        stage_put(&s, "pod %c gpu=1 gang=g:4 " OURS, *p);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "dcba"), "0@w 1@y 2@x 3@z");
}

TEST(ranks, are_those_that_members_name_themselves_where_they_can_trade_places)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    for (int i = 0; i < 4; i++)
        stage_put(&s, "pod %c gpu=1 gang=g:4 " OURS INDEX "%d", "abcd"[i], 3 - i);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "abcd"), "3@z 2@x 1@y 0@w");
}

TEST(ranks, of_members_of_several_kinds_are_neighbours_where_they_are)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    stage_put(&s, "pod a gpu=1 gang=g:6 " OURS);
    stage_put(&s, "pod b gpu=1 gang=g:6 " OURS);
    stage_put(&s, "pod c gpu=1 gang=g:6 " OURS);
    stage_put(&s, "pod d gpu=1 gang=g:6 " OURS);
    stage_put(&s, "pod e cpu=5 gang=g:6 " OURS);
    stage_put(&s, "pod f cpu=5 gang=g:6 " OURS);
    stage_run(&s);
    bool seen[6] = {false};
    uint32_t last = 0;
    for (const char *n = "wyxz"; *n; n++) /* along the tree no number comes before an earlier one */
        for (const char *p = "abcdef"; *p; p++) {
            char name[2] = {*p, 0};
            int64_t rank;
            REQUIRE(str_int(told(&s, name, "kubenexus.io/rank"), &rank) && rank < 6);
            if (stage_effect(&s, name)->node.p[0] != *n)
                continue;
            EXPECT(!seen[rank]);
            seen[rank] = true;
            EXPECT((uint32_t)rank / 3 >= last / 3); /* three in each rack */
            last = (uint32_t)rank;
        }
}

TEST(ranks, of_those_who_are_lost_go_to_those_who_replace_them)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    for (const char *p = "abcd"; *p; p++)
        stage_put(&s, "pod %c gpu=1 gang=g:4 " OURS, *p);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "abcd"), "0@w 1@y 2@x 3@z");
    stage_remove(&s, "pod b");
    stage_put(&s, "pod e gpu=1 gang=g:4 " OURS);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "e"), "1@y");
}

TEST(ranks, are_known_after_a_restart)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    stage_put(&s, "pod a gpu=1 gang=g:4 on=w note:kubenexus.io/rank=0 " OURS);
    stage_put(&s, "pod c gpu=1 gang=g:4 on=x note:kubenexus.io/rank=2 " OURS);
    stage_put(&s, "pod d gpu=1 gang=g:4 on=z note:kubenexus.io/rank=3 " OURS);
    stage_put(&s, "pod e gpu=1 gang=g:4 " OURS);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "e"), "1@y");
}

TEST(ranks, that_make_no_sense_are_nobodys)
{
    static const char *const notes[] = {"-1", "x", "16777215", "99999999999", "1000"};
    for (size_t i = 0; i < LEN(notes); i++) {
        AUTO(stage) s = {0};
        put_racks(&s);
        stage_put(&s, "pod a gpu=1 gang=g:2 on=w note:kubenexus.io/rank=%s " OURS, notes[i]);
        stage_put(&s, "pod b gpu=1 gang=g:2 " OURS);
        stage_run(&s);
        test_case("%s", notes[i]);
        EXPECT_TEXT(ranks(&s, "b"), "0@y");
    }
}

TEST(ranks, go_to_who_follows_later)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    stage_put(&s, "pod t gpu=1 on=w " OURS);
    for (const char *p = "abcd"; *p; p++)
        stage_put(&s, "pod %c gpu=1 gang=g:3 " OURS, *p);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "abc"), "0@y 1@x 2@z");
    stage_remove(&s, "pod t");
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "d"), "3@w");
}

TEST(ranks, come_with_the_domain_as_a_selector)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    stage_put(&s, "node q cpu=8 gpu=1 " RACK "c");
    stage_put(&s, "pod a gpu=1 gang=g:5 " OURS);
    for (const char *p = "bcde"; *p; p++)
        stage_put(&s, "pod %c gpu=1 gang=g:5 " OURS, *p);
    stage_run(&s);
    for (const char *p = "abcde"; *p; p++) {
        char name[2] = {*p, 0};
        REQUIRE(stage_effect(&s, name));
        struct str domain = told(&s, name, "kubenexus.io/domain");
        if (stage_effect(&s, name)->node.p[0] == 'q')
            EXPECT_STR(domain, "network.kubenexus.io/rack-id=c");
        if (stage_effect(&s, name)->node.p[0] == 'z')
            EXPECT_STR(domain, "network.kubenexus.io/rack-id=b,nvidia.com/gpu.clique=c2");
    }
}

TEST(ranks, are_told_to_nobody_without_a_tree_and_to_nobody_alone)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "pod a cpu=1 gang=g:2 " OURS);
    stage_put(&s, "pod b cpu=1 gang=g:2 " OURS);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "ab"), "-@n -@n");
    stage_put(&s, "node n cpu=8 " RACK "a");
    stage_put(&s, "pod c cpu=1 " OURS);
    stage_run(&s);
    EXPECT_TEXT(ranks(&s, "c"), "-@n");
}

TEST(ranks, do_not_make_a_binding_insist_on_the_pod_as_it_was)
{
    AUTO(stage) s = {0};
    put_racks(&s);
    stage_put(&s, "pod a cpu=1 gang=g:2 " OURS);
    stage_put(&s, "pod b cpu=1 gang=g:2 " OURS);
    stage_put(&s, "pod c gpu=1 gang=h:2 " OURS);
    stage_put(&s, "pod d gpu=1 gang=h:2 " OURS);
    stage_run(&s);
    EXPECT_STR(told(&s, "b", "kubenexus.io/rank"), "1");
    EXPECT(!stage_effect(&s, "b")->is_exact);
    EXPECT(stage_effect(&s, "d")->is_exact);
}
