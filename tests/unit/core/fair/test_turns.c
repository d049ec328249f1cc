#include "core/fair/inside.h"
#include "pool.h"

/* The worked examples of the order: who starts, and in which order. */

TEST(turns, of_the_paper_that_found_dominant_shares)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "cpu=9 memory=18");
    uint32_t a = pool_queue(&p, "a", ""), b = pool_queue(&p, "b", "");
    for (uint32_t i = 0; i < 9; i++) {
        pool_wait(&p, a, "cpu=1 memory=4");
        pool_wait(&p, b, "cpu=3 memory=1");
    }
    EXPECT_INT(pool_round(&p, 99), 5);
    EXPECT_TEXT(p.started, "a b a b a");
    EXPECT_INT(fair_share(p.f, a), 666666666);
    EXPECT_INT(fair_share(p.f, b), 666666666);
    fair_check(p.f);
}

TEST(turns, of_two_namespaces_without_any_object)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "pods=6");
    uint32_t queue = pool_queue(&p, "default", "split");
    uint32_t x = fair_part(p.f, queue, STR("x")), y = fair_part(p.f, queue, STR("y"));
    pool_wait_often(&p, x, "pods=1", 6);
    pool_wait_often(&p, y, "pods=1", 6);
    pool_round(&p, 99);
    EXPECT_TEXT(p.started, "default/x default/y default/x default/y default/x default/y");
    fair_check(p.f);
}

TEST(turns, by_weight)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=16");
    uint32_t a = pool_queue(&p, "a", "weight=3"), b = pool_queue(&p, "b", "");
    for (uint32_t i = 0; i < 20; i++) {
        pool_wait(&p, a, "gpu=1");
        pool_wait(&p, b, "gpu=1");
    }
    pool_round(&p, 8);
    EXPECT_TEXT(p.started, "a b a a b a a a");
    pool_round(&p, 99);
    EXPECT_INT(pool_used(&p, a, "gpu"), 12);
    EXPECT_INT(pool_used(&p, b, "gpu"), 4);
}

TEST(turns, share_the_rest_by_weight)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t queues[] = {pool_queue(&p, "a", "gpu=40"), pool_queue(&p, "b", "gpu=20 weight=3"),
                         pool_queue(&p, "c", "")};
    static const int64_t used[] = {48, 44, 8}, borrowed[] = {8, 24, 8};
    for (size_t i = 0; i < LEN(queues); i++)
        pool_wait_often(&p, queues[i], "gpu=1", 100);
    pool_round(&p, 200);
    struct fair_row rows[3];
    EXPECT_INT(fair_rows(p.f, FAIR_ROOT, fair_resource(p.f, STR("gpu")), rows), 40);
    for (size_t i = 0; i < LEN(queues); i++) {
        test_case("queue %zu", i);
        EXPECT_INT(rows[i].queue, queues[i]);
        EXPECT_INT(rows[i].used, used[i]);
        EXPECT_INT(rows[i].entitled, used[i]);
        EXPECT_INT(rows[i].borrowed, borrowed[i]);
        EXPECT_INT(rows[i].lent, 0);
    }
}

TEST(turns, of_a_lower_level_are_not_bought_with_another_resource)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "r1=10 r2=10");
    uint32_t n1 = pool_queue(&p, "n1", "");
    pool_queue(&p, "n2", "");
    uint32_t n21 = pool_queue(&p, "n21", "parent=n2"), n22 = pool_queue(&p, "n22", "parent=n2");
    pool_wait_often(&p, n1, "r1=1", 140);
    pool_wait_often(&p, n21, "r1=1", 140);
    pool_wait_often(&p, n22, "r2=1", 140);
    pool_round(&p, 99);
    uint32_t oldest = 0;
    for (uint32_t step = 0; step < 120; step++) {
        for (; !p.units.at[oldest].runs; oldest = (oldest + 1) % p.units.n)
            ;
        pool_end(&p, oldest);
        pool_round(&p, 99);
        if (step >= 40)
            EXPECT(pool_used(&p, n21, "r1") >= 4);
    }
    EXPECT_INT(pool_used(&p, n1, "r1"), 5);
    EXPECT_INT(pool_used(&p, n21, "r1"), 5);
    EXPECT_INT(pool_used(&p, n22, "r2"), 10);
}

TEST(turns, are_judged_by_what_is_guaranteed)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=12 cpu=100");
    uint32_t a = pool_queue(&p, "a", "gpu=4"), b = pool_queue(&p, "b", "");
    for (uint32_t i = 0; i < 20; i++) {
        pool_wait(&p, a, "gpu=1 cpu=8");
        pool_wait(&p, b, "gpu=1 cpu=1");
    }
    pool_round(&p, 8);
    EXPECT_TEXT(p.started, "a a a a b a b a");
    EXPECT_INT(pool_entitled(&p, a, "gpu"), 8);
    EXPECT_INT(pool_entitled(&p, b, "gpu"), 4);
    pool_round(&p, 99);
    EXPECT_INT(pool_used(&p, a, "gpu"), 8);
    EXPECT_INT(pool_used(&p, b, "gpu"), 4);
}

TEST(turns, within_a_guarantee_come_first)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    uint32_t a = pool_queue(&p, "a", "gpu=4"), b = pool_queue(&p, "b", "");
    uint32_t older = pool_wait(&p, b, "gpu=8"), younger = pool_wait(&p, a, "gpu=4");
    EXPECT(fair_precedes(p.f, younger, older));
    EXPECT(!fair_precedes(p.f, older, younger));
    pool_round(&p, 99);
    EXPECT_TEXT(p.started, "a");
}

TEST(turns, within_guarantees_go_by_what_is_filled)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=12");
    uint32_t a = pool_queue(&p, "a", "gpu=8"), b = pool_queue(&p, "b", "gpu=4");
    pool_wait_often(&p, a, "gpu=1", 8);
    pool_wait_often(&p, b, "gpu=1", 4);
    pool_round(&p, 99);
    EXPECT_TEXT(p.started, "a b a a b a a b a a b a");
}

TEST(turns, of_the_most_important_come_before_all_queues)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    uint32_t a = pool_queue(&p, "a", "gpu=4"), b = pool_queue(&p, "b", "");
    pool_wait(&p, a, "gpu=1");
    uint32_t first = pool_wait(&p, b, "gpu=1"), other = pool_wait(&p, b, "gpu=1");
    fair_leave(p.f, first);
    p.units.at[first].priority = 2000000000;
    struct fair_ask ask = {p.units.at[first].ask, 1};
    fair_enter(p.f, first, b, 77, ask, true);
    EXPECT_INT(fair_next(p.f), first);
    EXPECT(fair_precedes(p.f, first, other));
    fair_leave(p.f, first);
    EXPECT_INT(fair_next(p.f), 0);
    fair_check(p.f);
}

/* --- who is out --- */

TEST(turns, are_had_once_a_round)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    uint32_t a = pool_queue(&p, "a", ""), b = pool_queue(&p, "b", "");
    uint32_t one = pool_wait(&p, a, "gpu=1"), two = pool_wait(&p, a, "gpu=1"),
             other = pool_wait(&p, b, "gpu=1");
    EXPECT_INT(fair_next(p.f), one);
    fair_out(p.f, one);
    EXPECT_INT(fair_next(p.f), two);
    fair_out_everywhere(p.f, two);
    EXPECT(fair_is_out(p.f, other));
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    fair_check(p.f);
    fair_new_round(p.f);
    fair_out_kind(p.f, one);
    EXPECT_INT(fair_next(p.f), other);
    uint32_t late = pool_wait(&p, a, "gpu=1"); /* of a kind that had its turn */
    EXPECT(fair_is_out(p.f, late));
    fair_leave(p.f, other);
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    fair_new_round(p.f);
    EXPECT_INT(fair_next(p.f), one);
    fair_check(p.f);
}

TEST(turns, that_are_held_come_back_when_something_happens_there)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    uint32_t top = pool_queue(&p, "top", "");
    uint32_t a = pool_queue(&p, "a", "parent=top"), b = pool_queue(&p, "b", "parent=top"),
             c = pool_queue(&p, "c", "");
    uint32_t one = pool_wait(&p, a, "gpu=1");
    fair_hold(p.f, one, top);
    fair_new_round(p.f);
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    fair_wake(p.f, c);
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    fair_wake(p.f, b);
    EXPECT_INT(fair_next(p.f), one);
    fair_hold(p.f, one, a);
    fair_wake(p.f, b);
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    pool_capacity(&p, "gpu=9");
    EXPECT_INT(fair_next(p.f), one);
    fair_check(p.f);
}

TEST(turns, that_are_held_stay_so_when_capacity_is_what_it_was)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    uint32_t a = pool_queue(&p, "a", ""), one = pool_wait(&p, a, "gpu=1");
    EXPECT_INT(fair_next(p.f), one);
    fair_hold(p.f, one, a);
    pool_capacity(&p, "gpu=7"); /* an outsider is placed, and taken back */
    pool_capacity(&p, "gpu=8");
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    pool_capacity(&p, "gpu=7");
    EXPECT_INT(fair_next(p.f), one);
    fair_check(p.f);
}

TEST(turns, stay_with_a_unit_that_is_renamed)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    uint32_t a = pool_queue(&p, "a", "");
    pool_wait_often(&p, a, "gpu=1", 5);
    for (uint32_t u = 0; u < 5; u += 2)
        fair_out(p.f, u);
    EXPECT_INT(fair_next(p.f), 1);
    vec_resize(&p.units, 20);
    static const uint32_t renamed[] = {1, 4, 3};
    for (size_t i = 0; i < LEN(renamed); i++) {
        p.units.at[10 + renamed[i]] = p.units.at[renamed[i]];
        fair_rename(p.f, renamed[i], 10 + renamed[i]);
    }
    EXPECT_INT(fair_next(p.f), 11);
    fair_new_round(p.f);
    fair_check(p.f);
    static const uint32_t order[] = {0, 2, 11, 13, 14};
    for (size_t i = 0; i < LEN(order); i++) {
        EXPECT_INT(fair_next(p.f), order[i]);
        fair_leave(p.f, order[i]);
    }
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
}

/* Keys compared a turn: the logarithm of the children, not their number. */
TEST(turns, among_a_thousand_leaves_cost_few_comparisons)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100000");
    for (uint32_t i = 0; i < 10; i++) {
        char top[8] = {'t', (char)('0' + i)};
        pool_queue(&p, top, "");
        for (uint32_t j = 0; j < 100; j++) {
            char name[16] = {'q', (char)('0' + i), '-', (char)('0' + j / 10), (char)('0' + j % 10)};
            char text[] = "parent=t0 gpu=2 weight=1";
            text[8] = top[1];
            text[22] = (char)('1' + j % 7);
            pool_wait_often(&p, pool_queue(&p, name, text), "gpu=1", 8);
        }
    }
    fair_next(p.f);
    uint64_t most = 0, all = fair_comparisons(p.f);
    for (uint32_t turn = 0; turn < 4000; turn++) {
        uint64_t since = fair_comparisons(p.f);
        uint32_t unit = fair_next(p.f);
        pool_start(&p, unit);
        fair_next(p.f);
        most = MAX(most, fair_comparisons(p.f) - since);
    }
    EXPECT((fair_comparisons(p.f) - all) / 4000 <= 40);
    EXPECT(most <= 60);
    fair_check(p.f);
}

TEST(turns, the_largest_numbers_are_forgotten_with_those_who_had_them)
{
    AUTO(pool) p;
    pool_begin(&p);
    uint32_t q = pool_queue(&p, "q", ""), first = pool_wait(&p, q, "gpu=1");
    pool_wait_often(&p, q, "gpu=1", 100);
    for (uint32_t unit = 10; unit < 101; unit++)
        fair_leave(p.f, unit);
    fair_trim(p.f);
    EXPECT_INT(p.f->units.n, 10);
    EXPECT_INT(fair_next(p.f), first);
    fair_check(p.f);
    for (uint32_t unit = 0; unit < 10; unit++)
        fair_leave(p.f, unit);
    fair_trim(p.f);
    EXPECT(p.f->units.n == 0 && fair_next(p.f) == FAIR_NONE);
    fair_check(p.f);
}
