#include "pool.h"

enum { TICK = 1000 };

static void use(struct pool *p, uint32_t queue, int64_t amount)
{
    struct fair_amount a = {.resource = 0, .amount = amount < 0 ? -amount : amount};
    fair_count(p->f, queue, (struct fair_ask){&a, 1}, amount < 0 ? -1 : 1);
}

TEST(past, fades_by_half_in_a_half_life)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8000");
    uint32_t a = pool_queue(&p, "a", ""), b = pool_queue(&p, "b", "");
    fair_pass(p.f, 0);
    fair_set_half_life(p.f, 64 * TICK);
    use(&p, a, 8000);
    fair_pass(p.f, 64 * TICK);
    EXPECT_INT(fair_history(p.f, a, 0) >> 16, 3999);
    use(&p, a, -8000);
    for (uint32_t i = 0; i < 8; i++) {
        pool_wait(&p, a, "gpu=1000");
        pool_wait(&p, b, "gpu=1000");
    }
    pool_round(&p, 99);
    EXPECT_INT(pool_used(&p, a, "gpu"), 2000);
    EXPECT_INT(pool_used(&p, b, "gpu"), 6000);
    fair_pass(p.f, 128 * TICK);
    EXPECT_INT(fair_history(p.f, a, 0) >> 16, 2999);
    EXPECT_INT(fair_history(p.f, b, 0) >> 16, 2999);
}

TEST(past, is_the_same_in_one_step_and_in_many)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8000");
    uint32_t a = pool_queue(&p, "a", ""), b = pool_queue(&p, "b", "");
    fair_pass(p.f, 12345);
    fair_set_half_life(p.f, 64 * TICK);
    use(&p, a, 777);
    for (uint32_t i = 0; i < 50; i++) { /* a trial leaves no trace */
        use(&p, a, 5000);
        use(&p, a, -5000);
    }
    fair_pass(p.f, 12345 + 5 * TICK + 300);
    use(&p, b, 777); /* later: for the tick's rest */
    uint64_t one = fair_history(p.f, a, 0);
    for (int64_t t = 12345 + 5 * TICK + 300; t < 12345 + 40 * TICK; t += 77)
        fair_pass(p.f, t);
    fair_pass(p.f, 12345 + 40 * TICK);
    EXPECT(fair_history(p.f, a, 0) > one);

    AUTO(pool) q;
    pool_begin(&q);
    pool_capacity(&q, "gpu=8000");
    uint32_t c = pool_queue(&q, "a", ""), d = pool_queue(&q, "b", "");
    fair_pass(q.f, 12345);
    fair_set_half_life(q.f, 64 * TICK);
    use(&q, c, 777);
    fair_pass(q.f, 12345 + 5 * TICK + 300);
    use(&q, d, 777);
    fair_pass(q.f, 12345 + 40 * TICK);
    EXPECT_INT(fair_history(q.f, c, 0), fair_history(p.f, a, 0));
    EXPECT_INT(fair_history(q.f, d, 0), fair_history(p.f, b, 0));
    EXPECT_INT(fair_next_ms(q.f), 53 * TICK);
    EXPECT_INT(fair_used_time(q.f, c, 0), 777 * 40 * TICK);
    EXPECT_INT(fair_used_time(p.f, FAIR_ROOT, 0), 777 * 40 * TICK + 777 * (35 * TICK - 300));
}

TEST(past, is_caught_up_with_after_a_restart)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8000");
    uint32_t a = pool_queue(&p, "a", "");
    fair_pass(p.f, 0);
    fair_set_half_life(p.f, 64 * TICK);
    fair_pass(p.f, 5000 * TICK);
    fair_set_history(p.f, a, 0, 8000 << 16, 4936 * TICK);
    EXPECT_INT(fair_history(p.f, a, 0) >> 16, 3999);
    fair_set_history(p.f, a, 0, 8000 << 16, 903 * TICK);
    EXPECT_INT(fair_history(p.f, a, 0), 0);
}

/* --- budgets --- */

static const int64_t HOUR = 3600000, DAY = 24 * 3600000;

static uint32_t with_budget(struct pool *p, struct fair_budget budget)
{
    struct fair_spec spec = FAIR_SPEC_PLAIN;
    spec.budgets = &budget;
    spec.n_budgets = 1;
    return fair_put(p->f, STR("a"), &spec);
}

TEST(budget, has_the_windows_of_the_calendar)
{
    static const struct {
        struct fair_budget budget;
        int64_t now_ms, from_ms, until_ms;
    } cases[] = {
        {{.window = FAIR_DAY}, 20776 * DAY + 5, 20776 * DAY, 20777 * DAY},
        {{.window = FAIR_WEEK}, 20776 * DAY, 20773 * DAY, 20780 * DAY}, /* Thursday 2026-11-19 */
        {{.window = FAIR_WEEK}, 20773 * DAY, 20773 * DAY, 20780 * DAY}, /* Monday */
        {{.window = FAIR_WEEK}, 20773 * DAY - 1, 20766 * DAY, 20773 * DAY}, /* Sunday */
        {{.window = FAIR_MONTH}, 20776 * DAY, 20758 * DAY, 20788 * DAY},
        {{.window = FAIR_MONTH}, 20787 * DAY + DAY - 1, 20758 * DAY, 20788 * DAY},
        {{.window = FAIR_MONTH}, 19782 * DAY, 19754 * DAY, 19783 * DAY}, /* 2024-02-29 */
        {{.window = FAIR_PERIOD, .period_ms = 7 * HOUR}, 50 * HOUR, 49 * HOUR, 56 * HOUR},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        AUTO(pool) p;
        pool_begin(&p);
        pool_capacity(&p, "gpu=8");
        fair_pass(p.f, cases[i].now_ms);
        struct fair_account a = fair_account(p.f, with_budget(&p, cases[i].budget), 0);
        EXPECT_INT(a.from_ms, cases[i].from_ms);
        EXPECT_INT(a.until_ms, cases[i].until_ms);
    }
}

TEST(budget, is_spent_to_the_millisecond_and_new_in_the_next_window)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    fair_pass(p.f, 100 * DAY);
    uint32_t a = with_budget(
        &p, (struct fair_budget){.window = FAIR_DAY, .limit = 10 * HOUR, .is_hard = true});
    uint32_t unit = pool_wait(&p, a, "gpu=1");
    struct fair_amount one = {.resource = 0, .amount = 1};
    struct fair_request r = {.queue = a,
                             .namespace = FAIR_NONE,
                             .ask = {&one, 1},
                             .is_taken = true,
                             .is_preemptible = true};
    use(&p, a, 3);
    EXPECT_INT(fair_account(p.f, a, 0).lasts_until_ms, 100 * DAY + 10 * HOUR / 3);
    EXPECT_INT(fair_next_ms(p.f), 100 * DAY + 10 * HOUR / 3);
    fair_pass(p.f, 100 * DAY + 9 * HOUR / 3);
    EXPECT(fair_account(p.f, a, 0).is_low);
    EXPECT(fair_admits(p.f, &r, NULL));
    fair_pass(p.f, 100 * DAY + 10 * HOUR / 3);
    struct fair_refusal why;
    EXPECT(!fair_admits(p.f, &r, &why));
    EXPECT_INT(why.rule, FAIR_A5);
    EXPECT_INT(fair_key(p.f, a, r.ask).class, 1);
    fair_hold(p.f, unit, a);
    EXPECT_INT(fair_next(p.f), FAIR_NONE);
    EXPECT_INT(fair_next_ms(p.f), 101 * DAY);
    fair_pass(p.f, 101 * DAY + HOUR);
    EXPECT_INT(fair_account(p.f, a, 0).spent, 3 * HOUR);
    EXPECT_INT(fair_next(p.f), unit);
    use(&p, a, -3);
    EXPECT_INT(fair_account(p.f, a, 0).lasts_until_ms, -1);
    fair_set_spent(p.f, a, 0, 10 * HOUR, 101 * DAY);
    EXPECT(!fair_admits(p.f, &r, NULL));
    fair_set_spent(p.f, a, 0, 0, 100 * DAY); /* of another window */
    EXPECT(!fair_admits(p.f, &r, NULL));
}

TEST(budget, that_is_soft_puts_its_subtree_last)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8");
    fair_pass(p.f, 0);
    uint32_t a = with_budget(&p, (struct fair_budget){.window = FAIR_DAY, .limit = 10});
    uint32_t below = pool_queue(&p, "below", "parent=a gpu=4"), other = pool_queue(&p, "other", "");
    uint32_t one = pool_wait(&p, below, "gpu=1"), two = pool_wait(&p, other, "gpu=1");
    struct fair_amount ask = {.resource = 0, .amount = 1};
    EXPECT_INT(fair_next(p.f), one);
    use(&p, a, 1);
    fair_pass(p.f, 10);
    EXPECT_INT(fair_next(p.f), two);
    EXPECT_INT(fair_key(p.f, below, (struct fair_ask){&ask, 1}).class, 2);
    EXPECT(!fair_within(p.f, a, (struct fair_ask){&ask, 1}));
    fair_pass(p.f, DAY);
    EXPECT_INT(fair_next(p.f), one);
    fair_check(p.f);
}
