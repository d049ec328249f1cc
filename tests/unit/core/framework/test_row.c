#include "core/framework/row.h"

#include "fakes.h"
#include "support/judge.h"
#include "support/test.h"

/* The text of a reason; "fits" for none. */
static void expect_reason(struct judge *j, reason_id id, const char *wanted)
{
    EXPECT_STR(id ? reasons_at(&j->classes.reasons, id)->texts[0] : STR("fits"), wanted);
}

TEST(row, the_first_filter_that_refuses_is_told)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "node n cpu=1 label:bad=1");
    ground_add(&j.ground, "pod a cpu=2");
    const struct class *class = judge_class(&j, "a");
    node_id n = ground_node(&j.ground, "n");
    struct cluster *c = j.ground.cluster;
    expect_reason(&j, row_filter(c, class, n, COLUMN_ALL), "is bad");
    expect_reason(&j, row_filter(c, class, n, COLUMN_USED), "no room"); /* labels are as before */
    EXPECT_INT(row_filter(c, class, n, COLUMN_TAINTS), 0);              /* nobody's */
    expect_reason(&j, row_judge(c, class, n), "is bad");
}

TEST(row, scores_are_weighted_and_keys_written)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "node n cpu=7 label:z=5");
    ground_add(&j.ground, "pod a cpu=2");
    const struct class *class = judge_class(&j, "a");
    node_id n = ground_node(&j.ground, "n");
    EXPECT_INT(row_score(j.ground.cluster, class, n), 14);
    uint32_t key[4] = {0};
    row_key(j.ground.cluster, class, n, COLUMN_ALL, key);
    EXPECT_INT(key[0], ground_sym(&j.ground, "5"));
}

TEST(row, judging_asks_keys_too)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "node n cpu=7 label:z=closed");
    ground_add(&j.ground, "pod a cpu=2");
    const struct class *class = judge_class(&j, "a");
    node_id n = ground_node(&j.ground, "n");
    EXPECT_INT(row_filter(j.ground.cluster, class, n, COLUMN_ALL), 0);
    expect_reason(&j, row_judge(j.ground.cluster, class, n), "zone is closed");
}

TEST(row, keys_are_asked_last_as_in_a_scan)
{
    static const struct profile_plugin zone_first[] = {
        {.plugin = &fake_zone, .number = 2, .weight = 3},
        {.plugin = &fake_label, .number = 0},
    };
    static const struct profile profile = {STR("default-scheduler"), zone_first, LEN(zone_first)};
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n cpu=7 label:z=closed label:bad=1");
    ground_add(&j.ground, "pod a cpu=2");
    const struct class *class = judge_class(&j, "a");
    expect_reason(&j, row_judge(j.ground.cluster, class, ground_node(&j.ground, "n")), "is bad");
    EXPECT_TEXT(judge_verdict(&j, "a", "n"), "UU FakeLabel: is bad");
}

TEST(row, pods_nominated_to_the_node_count_if_they_are_as_important)
{
    static const struct {
        const char *nominated;
        bool counts;
    } cases[] = {
        {"pod x cpu=3 priority=5 nominated=n", true},  {"pod x cpu=3 priority=6 nominated=n", true},
        {"pod x cpu=3 priority=4 nominated=n", false}, {"pod x cpu=3 nominated=n", false},
        {"pod x cpu=3 priority=5 nominated=m", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].nominated);
        AUTO(judge) j = {.profile = &fake_profile};
        ground_add(&j.ground, "node n cpu=4");
        ground_add(&j.ground, "%s", cases[i].nominated);
        ground_add(&j.ground, "pod a cpu=2 priority=5");
        const struct class *class = judge_class(&j, "a");
        node_id n = ground_node(&j.ground, "n");
        pod_id self = ground_pod(&j.ground, "a");
        EXPECT_INT(row_has_nominated(j.ground.cluster, class, n, self), cases[i].counts);
        AUTO(buf) before = {0};
        cluster_dump(j.ground.cluster, &before);
        uint64_t log = j.ground.cluster->log.end;
        expect_reason(&j, row_judge_nominated(j.ground.cluster, class, n, self),
                      cases[i].counts ? "no room" : "fits");
        EXPECT(str_equal(ground_dump(&j.ground), buf_str(&before))); /* it was a trial */
        EXPECT_INT(j.ground.cluster->log.end, log);
    }
}

TEST(row, a_pods_own_nomination_is_not_in_its_way)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "node n cpu=4");
    ground_add(&j.ground, "pod a cpu=3 nominated=n");
    const struct class *class = judge_class(&j, "a");
    node_id n = ground_node(&j.ground, "n");
    EXPECT(!row_has_nominated(j.ground.cluster, class, n, ground_pod(&j.ground, "a")));
    EXPECT(row_has_nominated(j.ground.cluster, class, n, (pod_id){ID_NONE}));
}

TEST(row, a_node_must_do_with_nominated_pods_and_without)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "node n cpu=8 label:bad=1"); /* room for both, but bad */
    ground_add(&j.ground, "pod x cpu=3 nominated=n");
    ground_add(&j.ground, "pod a cpu=2");
    expect_reason(&j,
                  row_judge_nominated(j.ground.cluster, judge_class(&j, "a"),
                                      ground_node(&j.ground, "n"), ground_pod(&j.ground, "a")),
                  "is bad");
}
