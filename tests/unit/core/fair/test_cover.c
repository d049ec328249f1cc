#include "core/base/arena.h"
#include "pool.h"

/* Running pieces, given by the order in which they started. */

struct running {
    struct pool pool;
    struct arena mem;
    struct fair_piece pieces[32], u;
    struct fair_amount asks[33];
    uint32_t n;
};

static void running_done(struct running *x)
{
    pool_done(&x->pool);
    arena_done(&x->mem);
}

static struct fair_piece piece_of(struct running *x, uint32_t queue, int64_t gpus, int64_t rank,
                                  struct fair_amount *at)
{
    *at = (struct fair_amount){.resource = fair_resource(x->pool.f, STR("gpu")), .amount = gpus};
    return (struct fair_piece){
        .queue = queue, .minimum = FAIR_NONE, .rank = rank, .start_ms = x->n, .ask = {at, 1}};
}

static uint32_t run(struct running *x, uint32_t queue, int64_t gpus, int64_t rank)
{
    x->pieces[x->n] = piece_of(x, queue, gpus, rank, &x->asks[x->n]);
    fair_count(x->pool.f, queue, x->pieces[x->n].ask, 1);
    return x->n++;
}

static uint32_t run_beyond(struct running *x, uint32_t minimum, int64_t gpus)
{
    uint32_t piece = run(x, x->pieces[minimum].queue, gpus, x->pieces[minimum].rank);
    x->pieces[piece].is_beyond = true;
    x->pieces[piece].minimum = minimum;
    return piece;
}

static struct fair_cover *wants(struct running *x, uint32_t queue, int64_t gpus, int64_t rank)
{
    x->u = piece_of(x, queue, gpus, rank, &x->asks[32]);
    return fair_cover(x->pool.f, x->pieces, x->n, &x->u, &x->mem);
}

/* What may go, a letter a piece: `-` nothing, `r` by R4, `p` by R5. */
static const char *taken(const struct running *x, const struct fair_cover *c)
{
    static char text[33];
    for (uint32_t i = 0; i < x->n; i++)
        text[i] = "-rp"[fair_take(c, i)];
    text[x->n] = 0;
    return text;
}

TEST(cover, gives_back_what_is_borrowed)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=16");
    uint32_t a = pool_queue(&x.pool, "a", "gpu=8"), b = pool_queue(&x.pool, "b", "gpu=8");
    for (uint32_t i = 0; i < 4; i++)
        run(&x, b, 4, 0);
    struct fair_cover *c = wants(&x, a, 8, 0);
    EXPECT_TEXT(taken(&x, c), "--rr");
    EXPECT(fair_is_exposed(c, 2, b) && !fair_is_exposed(c, 1, b));
    EXPECT(fair_rises(c, (const uint32_t[]){2, 3}, 2));
    EXPECT(!fair_rises(c, (const uint32_t[]){0, 1, 2},
                       3)); /* b would have less than it is guaranteed */
    EXPECT_INT(fair_debt(c, 2), 500000000000000000);
    EXPECT_TEXT(taken(&x, wants(&x, a, 9, 0)), "----"); /* more than a is guaranteed */
}

TEST(cover, of_pods_beyond_a_minimum_comes_last)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=10");
    uint32_t a = pool_queue(&x.pool, "a", "gpu=4"), b = pool_queue(&x.pool, "b", "gpu=4");
    uint32_t minimum = run(&x, b, 4, 0);
    for (uint32_t i = 0; i < 6; i++)
        run_beyond(&x, minimum, 1);
    EXPECT_TEXT(taken(&x, wants(&x, a, 4, 0)), "-rrrrrr");
}

TEST(cover, of_a_gang_that_is_partly_borrowed_is_none)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=16");
    uint32_t a = pool_queue(&x.pool, "a", "gpu=8"), b = pool_queue(&x.pool, "b", "gpu=8");
    run(&x, b, 4, 0);
    uint32_t big = run(&x, b, 10, 0);
    run_beyond(&x, big, 1); /* would fit beside the first, but its minimum is not covered */
    run(&x, b, 1, 0);       /* is looked at next */
    struct fair_cover *c = wants(&x, a, 8, 0);
    EXPECT_TEXT(taken(&x, c), "-rr-");
    EXPECT(fair_rises(c, (const uint32_t[]){1, 2}, 2));
}

TEST(cover, at_each_level_saves_from_other_queues)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=12");
    pool_queue(&x.pool, "ml", "");
    uint32_t a = pool_queue(&x.pool, "a", "parent=ml gpu=4"),
             b = pool_queue(&x.pool, "b", "parent=ml"), ops = pool_queue(&x.pool, "ops", "gpu=4");
    for (uint32_t i = 0; i < 8; i++)
        run(&x, b, 1, 0);
    for (uint32_t i = 0; i < 4; i++)
        run(&x, a, 1, 0);
    struct fair_cover *c = wants(&x, ops, 4, 0);
    EXPECT_TEXT(taken(&x, c), "----rrrr----");
    EXPECT(!fair_is_exposed(c, 8, a) && fair_is_exposed(c, 8, fair_find(x.pool.f, STR("ml"))));
}

TEST(cover, lets_priority_act_in_its_own_queue)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=10");
    uint32_t a = pool_queue(&x.pool, "a", "gpu=4 split"), b = pool_queue(&x.pool, "b", "");
    uint32_t ann = fair_part(x.pool.f, a, STR("ann")), bob = fair_part(x.pool.f, a, STR("bob"));
    run(&x, ann, 4, 0);
    run(&x, b, 4, 0);
    run(&x, bob, 1, 1);
    EXPECT_TEXT(taken(&x, wants(&x, ann, 2, 1)), "p--"); /* would be covered: what is not is */
    EXPECT_TEXT(taken(&x, wants(&x, ann, 4, 1)),
                "p--"); /* not covered, but neither is the victim */
    x.pieces[2].rank = 0;
    EXPECT_TEXT(taken(&x, wants(&x, ann, 4, 1)), "p-p");
    EXPECT_TEXT(taken(&x, wants(&x, ann, 6, 1)), "--p"); /* takes nothing that is covered */
    EXPECT_TEXT(taken(&x, wants(&x, bob, 4, 0)), "---");
    EXPECT_TEXT(taken(&x, wants(&x, b, 4, 1)), "-p-");
    struct fair_cover *c = wants(&x, b, 4, 1);
    EXPECT(fair_rises(c, (const uint32_t[]){1}, 1));
    EXPECT(!fair_rises(wants(&x, b, 4, 0), (const uint32_t[]){1}, 1)); /* nothing rises */
}

TEST(cover, takes_nothing_covered_for_what_is_not)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=16");
    uint32_t a = pool_queue(&x.pool, "a", "gpu=4");
    pool_queue(&x.pool, "c", "gpu=4");
    run(&x, a, 4, 0);
    struct fair_cover *c = wants(&x, a, 6, 1); /* the pinned loop */
    EXPECT_TEXT(taken(&x, c), "-");
    EXPECT(!fair_rises(c, (const uint32_t[]){0}, 1));
}

TEST(cover, by_shares_protects_what_each_is_entitled_to)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=8");
    uint32_t a = pool_queue(&x.pool, "a", ""), b = pool_queue(&x.pool, "b", "");
    for (uint32_t i = 0; i < 8; i++)
        run(&x, a, 1, 0);
    pool_wait_often(&x.pool, b, "gpu=1", 8);
    EXPECT_TEXT(taken(&x, wants(&x, b, 1, 0)), "--------");
    fair_set_reclaim(x.pool.f, FAIR_BY_SHARE);
    EXPECT_TEXT(taken(&x, wants(&x, b, 1, 0)), "----rrrr");
    EXPECT_TEXT(taken(&x, wants(&x, b, 5, 0)), "--------");
    fair_set_reclaim(x.pool.f, FAIR_NEVER);
    EXPECT_TEXT(taken(&x, wants(&x, b, 1, 0)), "--------");
}

/* Kueue 7101: gangs of 2 run, a gang of 6, 5, 4 or 3 comes. */
TEST(cover, by_shares_ends)
{
    static const struct {
        int64_t gpus;
        const char *taken;
    } cases[] = {{6, "----"}, {5, "----"}, {4, "--rr"}, {3, "--rr"}};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("a gang of %ld", (long)cases[i].gpus);
        AUTO(running) x = {0};
        pool_begin(&x.pool);
        pool_capacity(&x.pool, "gpu=8");
        fair_set_reclaim(x.pool.f, FAIR_BY_SHARE);
        uint32_t p1 = pool_queue(&x.pool, "p1", ""), p2 = pool_queue(&x.pool, "p2", "");
        for (uint32_t n = 0; n < 4; n++)
            run(&x, p1, 2, 0);
        char ask[] = "gpu=0";
        ask[4] = (char)('0' + cases[i].gpus);
        pool_wait(&x.pool, p2, ask);
        EXPECT_TEXT(taken(&x, wants(&x, p2, cases[i].gpus, 0)), cases[i].taken);
    }
}

TEST(cover, of_a_queue_whose_soft_budget_is_spent_is_none)
{
    AUTO(running) x = {0};
    pool_begin(&x.pool);
    pool_capacity(&x.pool, "gpu=8");
    uint32_t gpu = fair_resource(x.pool.f, STR("gpu"));
    uint32_t a = pool_queue(&x.pool, "a", "gpu=4");
    struct fair_amount guaranteed = {.resource = gpu, .amount = 4};
    struct fair_budget budget = {.resource = gpu, .window = FAIR_DAY, .limit = 4000};
    struct fair_spec spec = FAIR_SPEC_PLAIN;
    spec.guaranteed = (struct fair_ask){&guaranteed, 1};
    spec.budgets = &budget;
    spec.n_budgets = 1;
    uint32_t b = fair_put(x.pool.f, STR("b"), &spec);
    fair_pass(x.pool.f, 0);
    run(&x, b, 4, 0);
    EXPECT_TEXT(taken(&x, wants(&x, a, 4, 0)), "-");
    fair_pass(x.pool.f, 999);
    EXPECT_TEXT(taken(&x, wants(&x, a, 4, 0)), "-");
    fair_pass(x.pool.f, 1000);
    EXPECT_TEXT(taken(&x, wants(&x, a, 4, 0)), "r");
}
