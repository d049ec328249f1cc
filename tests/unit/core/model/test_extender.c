#include "core/model/extender.h"

#include "core/base/buf.h"
#include "support/test.h"

static struct extender_answer read(enum extender_verb verb, const char *text, struct arena *mem)
{
    struct extender_answer a = {0};
    struct error e = {0};
    EXPECT(extender_read(verb, str_of(text), mem, &a, &e));
    EXPECT_TEXT(e.text, "");
    return a;
}

TEST(extender, the_verb_follows_its_prefix_behind_one_slash)
{
    struct arena mem = {0};
    struct extender x = {.url = STR("http://a:1/b//"), .verbs = {STR("filter")}};
    EXPECT_STR(extender_url(&x, EXTENDER_FILTER, &mem), "http://a:1/b/filter");
    arena_done(&mem);
}

TEST(extender, a_filter_says_who_is_left_and_why_others_are_not)
{
    struct arena mem = {0};
    struct extender_answer a =
        read(EXTENDER_FILTER,
             "{\"NodeNames\":[\"n1\",\"n2\"],\"FailedNodes\":{\"n3\":\"busy\"},"
             "\"FailedAndUnresolvableNodes\":{\"n4\":\"old\"},\"Error\":\"\",\"Nodes\":null}",
             &mem);
    EXPECT(a.has_names && !a.has_nodes);
    REQUIRE(a.names.n == 2 && a.failed.n == 1 && a.unresolvable.n == 1);
    EXPECT_STR(a.names.at[1], "n2");
    EXPECT_STR(a.failed.at[0].node, "n3");
    EXPECT_STR(a.failed.at[0].why, "busy");
    EXPECT_STR(a.unresolvable.at[0].node, "n4");
    arena_done(&mem);
}

TEST(extender, the_case_of_names_does_not_count)
{
    struct arena mem = {0};
    struct extender_answer a = read(
        EXTENDER_FILTER,
        "{\"nodes\":{\"Items\":[{\"metadata\":{\"name\":\"n1\"}}]},\"failedNodes\":{\"N\":\"m\"}}",
        &mem);
    EXPECT(!a.has_names && a.has_nodes);
    REQUIRE(a.nodes.n == 1 && a.failed.n == 1);
    EXPECT_STR(a.nodes.at[0], "n1");
    EXPECT_STR(a.failed.at[0].node, "N"); /* that of nodes does */
    arena_done(&mem);
}

TEST(extender, scores_are_a_list)
{
    struct arena mem = {0};
    struct extender_answer a =
        read(EXTENDER_PRIORITIZE, " [{\"Host\":\"n1\",\"Score\":7},{\"host\":\"n2\"}]\n", &mem);
    REQUIRE(a.scores.n == 2);
    EXPECT_STR(a.scores.at[0].node, "n1");
    EXPECT_INT(a.scores.at[0].score, 7);
    EXPECT_INT(a.scores.at[1].score, 0);
    EXPECT_INT(read(EXTENDER_PRIORITIZE, "null", &mem).scores.n, 0);
    arena_done(&mem);
}

TEST(extender, victims_are_told_by_their_uids)
{
    struct arena mem = {0};
    struct extender_answer a = read(EXTENDER_PREEMPT,
                                    "{\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"u1\"}"
                                    ",{\"UID\":\"u2\"}],\"NumPDBViolations\":1},\"n1\":{}}}",
                                    &mem);
    REQUIRE(a.victims.n == 2); /* by name */
    EXPECT_STR(a.victims.at[0].node, "n1");
    EXPECT_INT(a.victims.at[0].uids.n, 0);
    REQUIRE(a.victims.at[1].uids.n == 2);
    EXPECT_STR(a.victims.at[1].uids.at[1], "u2");
    EXPECT_INT(a.victims.at[1].violations, 1);
    arena_done(&mem);
}

TEST(extender, an_error_may_be_the_answer)
{
    struct arena mem = {0};
    EXPECT_STR(read(EXTENDER_BIND, "{\"Error\":\"no\"}", &mem).error, "no");
    EXPECT_STR(read(EXTENDER_FILTER, "{\"error\":\"no\"}", &mem).error, "no");
    EXPECT_STR(read(EXTENDER_BIND, "null", &mem).error, "");
    arena_done(&mem);
}

TEST(extender, what_is_no_answer_is_an_error)
{
    static const struct {
        enum extender_verb verb;
        const char *text, *error;
    } cases[] = {
        {EXTENDER_FILTER, "", "EOF"},
        {EXTENDER_FILTER, "[]", "[] is not an object"},
        {EXTENDER_PRIORITIZE, "{}", "scores: {} is not a list"},
        {EXTENDER_FILTER, "{\"NodeNames\":[1]}", "NodeNames[0]: 1 is not text"},
        {EXTENDER_PRIORITIZE, "[{\"Score\":1.5}]", "scores[0].Score: 1.5 is not a 64-bit integer"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct arena mem = {0};
        struct extender_answer a;
        struct error e = {0};
        EXPECT(!extender_read(cases[i].verb, str_of(cases[i].text), &mem, &a, &e));
        EXPECT_TEXT(e.text, cases[i].error);
        arena_done(&mem);
    }
}
