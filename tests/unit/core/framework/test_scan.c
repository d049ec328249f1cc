#include "core/framework/scan.h"

#include "fakes.h"
#include "support/judge.h"
#include "support/test.h"

static void furnish(struct ground *g)
{
    ground_add(g, "node small cpu=1 label:z=5");
    ground_add(g, "node big cpu=8 label:z=5");
    ground_add(g, "node bad cpu=9 label:z=5 label:bad=1");
    ground_add(g, "node shut cpu=9 label:z=closed");
    ground_add(g, "pod ghost cpu=1 on=elsewhere"); /* its node is no candidate */
}

TEST(scan, judges_every_node_that_is_there)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j.ground);
    ground_add(&j.ground, "pod p cpu=2");
    EXPECT_TEXT(judge_scan(&j, "p"), "big");
    EXPECT_TEXT(judge_verdict(&j, "p", "small"), "U FakeRoom: no room");
    EXPECT_TEXT(judge_verdict(&j, "p", "bad"), "UU FakeLabel: is bad");
    EXPECT_TEXT(judge_verdict(&j, "p", "shut"), "U FakeZone: zone is closed");
    EXPECT_INT(scan_home(&j.scan, j.ground.cluster, ground_node(&j.ground, "elsewhere").i),
               ID_NONE);
}

TEST(scan, counts_the_reasons_when_nothing_fits)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j.ground);
    ground_add(&j.ground, "pod p cpu=9");
    EXPECT_TEXT(judge_scan(&j, "p"), "");
    AUTO(why) why = {0};
    AUTO(buf) text = {0};
    scan_why(&j.scan, j.ground.cluster, &why);
    why_text(&why, &j.classes.reasons, judge_class(&j, "p"), &text);
    EXPECT_STR(buf_str(&text), "0/4 nodes are available: 1 is bad, 1 zone is closed, 2 no room.");
}

TEST(scan, a_node_nominated_for_others_is_judged_with_them)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j.ground);
    ground_add(&j.ground, "pod x cpu=7 nominated=big");
    ground_add(&j.ground, "pod p cpu=2");
    EXPECT_TEXT(judge_verdict(&j, "p", "big"), "U FakeRoom: no room");
    EXPECT_TEXT(judge_verdict(&j, "x", "big"), "fits");
}

TEST(scan, among_equals_the_first_in_tie_order_wins_whatever_the_number)
{
    AUTO(judge) j = {.profile = &fake_profile};
    for (int i = 0; i < 20; i++)
        ground_add(&j.ground, "node n%d cpu=8 label:z=%d", i, i % 2 ? 5 : 50);
    ground_add(&j.ground, "pod p cpu=1");
    for (uint32_t best = 0; best < 20; best += 2) {
        for (uint32_t i = 0; i < 20; i++)
            j.ground.cluster->nodes.tie_order[i] = 100 + i;
        j.ground.cluster->nodes.tie_order[best] = 7;
        j.ground.cluster->nodes.tie_order[best + 1] = 3; /* of the worse zone */
        struct str name = names_text(&j.ground.cluster->names, j.ground.cluster->nodes.name[best]);
        EXPECT_STR(name, judge_scan(&j, "p"));
    }
}

TEST(scan, some_nodes_alone_can_be_judged)
{
    AUTO(judge) j = {.profile = &fake_profile};
    furnish(&j.ground);
    ground_add(&j.ground, "pod p cpu=2");
    struct class *class = judge_class(&j, "p");
    class->absent = reasons_get(&j.classes.reasons, 64, CODE_UNRESOLVABLE,
                                (struct str[]){STR("not asked for")}, 1);
    sym names[] = {ground_sym(&j.ground, "bad"), ground_sym(&j.ground, "elsewhere"),
                   ground_sym(&j.ground, "nobody")};
    pod_id p = ground_pod(&j.ground, "p");
    EXPECT_INT(scan_some(&j.scan, j.ground.cluster, class, p, names, 3, false).node, ID_NONE);
    AUTO(why) why = {0};
    AUTO(buf) text = {0};
    scan_some_why(&j.scan, j.ground.cluster, class, names, 3, &why);
    why_text(&why, &j.classes.reasons, class, &text);
    EXPECT_STR(buf_str(&text), "0/4 nodes are available: 1 is bad, 3 not asked for.");
    sym good[] = {ground_sym(&j.ground, "small"), ground_sym(&j.ground, "big")};
    EXPECT_INT(scan_some(&j.scan, j.ground.cluster, class, p, good, 2, false).node,
               ground_node(&j.ground, "big").i);
}
