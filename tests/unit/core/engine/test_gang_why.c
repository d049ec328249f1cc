#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

TEST(gang_why, a_gang_without_room_says_what_is_short)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=64 memory=64Gi gpu=5");
    stage_put(&s, "node n2 cpu=64 memory=64Gi gpu=5");
    stage_put(&s, "pod x gpu=5 on=n2");
    for (int i = 0; i < 8; i++)
        stage_put(&s, "pod a-%d cpu=8 gpu=1 memory=1Gi gang=a:8", i);
    EXPECT_INT(stage_run(&s), 8);
    for (int i = 0; i < 8; i++) {
        const char *names[] = {"a-0", "a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "a-7"};
        EXPECT_STR(stage_effect(&s, names[i])->message,
                   "gang a needs 8 x (1 nvidia.com/gpu, 8 cpu, 1Gi memory); 5 fit now; short of 3 "
                   "nvidia.com/gpu");
    }
}

TEST(gang_why, a_gang_larger_than_the_cluster_is_told_at_once)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=64Gi");
    for (int i = 0; i < 5; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:5", i);
    stage_run(&s);
    EXPECT_STR(
        stage_effect(&s, "a-0")->message,
        "gang a needs 5 x (1 cpu); 4 fit now; short of 1 cpu; the nodes hold 4, even when empty");
}

TEST(gang_why, a_gang_that_came_before_all_nodes_is_told_anew_with_the_first)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod a-0 gpu=16 gang=a:2");
    stage_put(&s, "pod a-1 gpu=16 gang=a:2");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "no node offers nvidia.com/gpu; each pod of gang a wants 16 nvidia.com/gpu. "
               "no nodes available to schedule pods");
    stage_put(&s, "node n1 cpu=4 memory=64Gi gpu=8"); /* helps nobody */
    stage_run(&s);
    const struct effect *said = stage_effect(&s, "a-0");
    EXPECT_STR(
        said ? said->message : STR("nothing"),
        "no node has more than 8 nvidia.com/gpu; each pod of gang a wants 16 nvidia.com/gpu. "
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
}

TEST(gang_why, numbers_are_told_anew_after_five_minutes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=64 memory=64Gi gpu=8");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d gpu=8 gang=a:3", i);
    EXPECT_INT(stage_run(&s), 3);
    stage_put(&s, "node n2 cpu=64 memory=64Gi gpu=8"); /* is too little */
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms += 5 * 60000 + 1;
    EXPECT_INT(stage_run(&s), 3);
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "gang a needs 3 x (8 nvidia.com/gpu); 2 fit now; short of 8 nvidia.com/gpu; the "
               "nodes hold 2, even when empty");
}

TEST(gang_why, a_gang_of_several_kinds_of_pods_names_them_all)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=64Gi gpu=1");
    stage_put(&s, "pod a-0 cpu=500m gang=a:3");
    stage_put(&s, "pod a-1 gpu=1 gang=a:3");
    stage_put(&s, "pod a-2 gpu=1 gang=a:3");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "gang a needs 2 x (1 nvidia.com/gpu) and 1 x (500m cpu); 2 fit now; short of 1 "
               "nvidia.com/gpu; the nodes hold 2, even when empty");
}

TEST(gang_why, a_gang_that_no_search_places_says_what_stood_in_the_way)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=64Gi");
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:2 label:app=a apart:host:app=a", i);
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a-0")->message,
               "gang a needs 2 x (1 cpu) at once: 0/1 nodes are available: 1 node(s) didn't match "
               "pod anti-affinity rules.");
}

TEST(gang_why, the_same_is_not_said_twice)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=64Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3", i);
    EXPECT_INT(stage_run(&s), 3);
    for (int i = 1; i < 5; i++) {
        s.now_ms = i * 60000;
        stage_put(&s, "pod x cpu=1 on=n1");
        stage_remove(&s, "pod x");
        EXPECT_INT(stage_run(&s), 0);
    }
    stage_put(&s, "pod a-3 cpu=1 gang=a:3"); /* who is new has not heard it */
    EXPECT_INT(stage_run(&s), 1);
}

TEST(gang_why, pods_of_two_templates_do_not_count_the_same_room_twice)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=64 memory=64Gi gpu=2");
    stage_put(&s, "pod a-0 gpu=1 cpu=2 gang=a:4");
    for (int i = 1; i < 4; i++)
        stage_put(&s, "pod a-%d gpu=1 cpu=1 gang=a:4", i);
    stage_run(&s);
    const char *said = stage_effect(&s, "a-0")->message.p;
    EXPECT(strstr(said, "; 2 fit now; short of 2 nvidia.com/gpu"));
    EXPECT_TEXT(stage_fate(&s, "a-0"), "parked");
}
