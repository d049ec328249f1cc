#include "kube/pending.h"

#include "support/objects.h"
#include "support/test.h"

static void see(struct pending *p, struct arena *mem, enum change_kind kind, const char *line)
{
    pending_see(p, &(struct change){.kind = kind, .object = object_of(mem, line)});
}

static struct pending_row *find(struct pending *p, const char *pod, const char *uid)
{
    return pending_find(p, STR("default"), str_of(pod), str_of(uid));
}

TEST(pending, knows_the_pods_that_wait)
{
    struct pending p = {0};
    struct arena mem = {0};
    see(&p, &mem, CHANGE_PUT, "pod a uid=1 scheduler=nexus");
    see(&p, &mem, CHANGE_PUT, "pod b uid=2 on=n1");
    see(&p, &mem, CHANGE_PUT, "node a");
    REQUIRE(find(&p, "a", "1"));
    EXPECT_STR(pending_scheduler(&p, find(&p, "a", "1")), "nexus");
    EXPECT(!find(&p, "a", "2"));
    EXPECT(!find(&p, "b", "2"));
    see(&p, &mem, CHANGE_REMOVE, "node a");
    EXPECT(find(&p, "a", "1"));

    find(&p, "a", "1")->told = 5;
    see(&p, &mem, CHANGE_PUT, "pod a uid=3");
    EXPECT(!find(&p, "a", "1"));
    REQUIRE(find(&p, "a", "3"));
    EXPECT_INT(find(&p, "a", "3")->told, 0);
    see(&p, &mem, CHANGE_PUT, "pod a uid=3 on=n1");
    EXPECT(!find(&p, "a", "3"));

    see(&p, &mem, CHANGE_PUT, "pod c");
    see(&p, &mem, CHANGE_REMOVE, "pod c");
    EXPECT_INT(p.by_name.n, 0);
    EXPECT_INT(p.rows.n, 1);
    pending_done(&p);
    arena_done(&mem);
}

TEST(pending, remembers_generations_that_are_not_the_first)
{
    struct pending p = {0};
    struct arena mem = {0};
    for (int64_t generation = 0; generation < 4; generation++) {
        struct change change = {.kind = CHANGE_PUT, .object = object_of(&mem, "pod a on=n1")};
        change.object.meta->generation = generation;
        pending_see(&p, &change);
        EXPECT_INT(pending_generation(&p, STR("default"), STR("a")), generation);
        EXPECT_INT(p.generation_of.n, generation != 1);
    }
    see(&p, &mem, CHANGE_REMOVE, "pod a");
    EXPECT_INT(p.generation_of.n, 0);
    pending_done(&p);
    arena_done(&mem);
}

TEST(pending, marks_differ_by_reason_and_message)
{
    EXPECT(pending_mark(STR("a"), STR("b")) != pending_mark(STR("b"), STR("a")));
    EXPECT(pending_mark(STR("a"), STR("b")) != pending_mark(STR("a"), STR("c")));
    EXPECT(pending_mark(STR(""), STR("")) != 0);
}

TEST(pending, gives_back_the_rows_of_pods_that_are_gone)
{
    struct pending p = {0};
    struct arena mem = {0};
    static const char *const pods[] = {"pod a uid=1", "pod b uid=2", "pod c uid=3", "pod d uid=4"};
    for (size_t i = 0; i < LEN(pods); i++)
        see(&p, &mem, CHANGE_PUT, pods[i]);
    see(&p, &mem, CHANGE_REMOVE, pods[0]);
    see(&p, &mem, CHANGE_REMOVE, pods[2]);
    see(&p, &mem, CHANGE_REMOVE, pods[3]);
    pending_trim(&p);
    EXPECT_INT(p.rows.cap, 2);
    EXPECT_INT(p.free.cap, 1);
    EXPECT(find(&p, "b", "2") && !find(&p, "c", "3"));
    see(&p, &mem, CHANGE_PUT, pods[3]);
    EXPECT(find(&p, "d", "4") == &p.rows.at[0]);
    see(&p, &mem, CHANGE_REMOVE, pods[1]);
    see(&p, &mem, CHANGE_REMOVE, pods[3]);
    pending_trim(&p);
    EXPECT(!p.rows.at && !p.by_name.slots && !p.schedulers.slots);
    pending_done(&p);
    arena_done(&mem);
}

TEST(pending, pods_whose_names_were_chosen_to_collide_are_two)
{
    struct str a = STR("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe"
                       "aaaaaaaa"
                       "0123456789abcdef");
    struct str b = STR("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe"
                       "bbbbbbbb"
                       "0123456789abcdef");
    EXPECT(str_hash(a) == str_hash(b));
    EXPECT(pod_key(STR("default"), a) != pod_key(STR("default"), b));
    EXPECT(pod_key(a, STR("p")) != pod_key(b, STR("p")));
    EXPECT(pending_mark(STR("Unschedulable"), a) != pending_mark(STR("Unschedulable"), b));
}
