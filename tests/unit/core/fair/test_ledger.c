#include "pool.h"

TEST(ledger, says_how_much_each_lends)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=16");
    uint32_t a = pool_queue(&p, "a", "gpu=8"), b = pool_queue(&p, "b", "gpu=8");
    pool_wait_often(&p, b, "gpu=4", 4);
    pool_round(&p, 99);
    struct fair_row rows[2];
    EXPECT_INT(fair_rows(p.f, FAIR_ROOT, 0, rows), 0);
    EXPECT_INT(rows[0].queue, a);
    EXPECT_INT(rows[0].lent, 8);
    EXPECT_INT(rows[1].borrowed, 8);
    EXPECT_INT(rows[1].queue, b);
    EXPECT_INT(rows[0].entitled, 0);
    EXPECT_INT(rows[1].entitled, 16);
}

TEST(ledger, rounds_to_the_most_idle_first)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=16");
    pool_queue(&p, "c", "gpu=5");
    pool_queue(&p, "b", "gpu=5");
    pool_queue(&p, "a", "gpu=6");
    uint32_t d = pool_queue(&p, "d", "");
    pool_wait_often(&p, d, "gpu=1", 7);
    pool_round(&p, 99);
    static const int64_t lent[] = {3, 2, 2, 0}; /* of 7 by 6/16, 5/16, 5/16: 2, 2, 2 and one left */
    struct fair_row rows[4];
    EXPECT_INT(fair_rows(p.f, FAIR_ROOT, 0, rows), 0);
    for (size_t i = 0; i < LEN(lent); i++)
        EXPECT_INT(rows[i].lent, lent[i]);
}

TEST(ledger, entitles_at_each_level)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t ml = pool_queue(&p, "ml", "gpu=40 max.gpu=70"),
             a = pool_queue(&p, "a", "parent=ml gpu=20 weight=3"),
             b = pool_queue(&p, "b", "parent=ml weight=1"),
             ops = pool_queue(&p, "ops", "gpu=30 lend.gpu=10"),
             split = pool_queue(&p, "split", "split each.gpu=2");
    uint32_t ann = fair_part(p.f, split, STR("ann")), bob = fair_part(p.f, split, STR("bob"));
    pool_wait(&p, a, "gpu=100");
    pool_wait(&p, b, "gpu=100");
    pool_wait(&p, ann, "gpu=50");
    pool_wait(&p, bob, "gpu=1");
    const struct {
        uint32_t queue;
        int64_t entitled;
    } cases[] = {
        /* of 100: 40 for ml, 20 kept by ops, 40 that nobody is guaranteed: 3 for the parts, ml has its most */
        {FAIR_ROOT, 100}, {ml, 70}, {ops, 0}, {split, 3},
        {ann, 2},         {bob, 1}, {a, 57},  {b, 12}, /* 20 + 3/4 and 1/4 of 50 */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        EXPECT_INT(fair_entitled(p.f, cases[i].queue, 0), cases[i].entitled);
    }
    pool_wait(&p, ops, "gpu=35");
    EXPECT_INT(fair_entitled(p.f, ops, 0), 35);
    EXPECT_INT(fair_entitled(p.f, ml, 0), 62);
}
