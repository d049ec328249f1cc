#include "pool.h"

#include <stdio.h>
#include <time.h>

static const char *const rules[] = {"", "A1", "A2", "A3", "A4", "A5", "A6"};

static struct fair_request request(struct pool *p, uint32_t unit)
{
    const struct pool_unit *u = &p->units.at[unit];
    return (struct fair_request){.queue = u->queue,
                                 .namespace = FAIR_NONE,
                                 .ask = {u->ask, u->n},
                                 .is_taken = true,
                                 .is_new_job = true,
                                 .is_preemptible = true};
}

/* "A2 at b: 16 limit, 12 used, 4 kept, 8 wanted" */
static const char *told(struct pool *p, const struct fair_request *r)
{
    static char text[200];
    struct fair_refusal why = {0};
    if (fair_admits(p->f, r, &why))
        return "";
    struct str at = fair_name(p->f, why.at);
    int n = snprintf(text, sizeof(text), "%s at " STR_FMT, rules[why.rule], STR_ARG(at));
    if (why.rule != FAIR_A1)
        snprintf(text + n, sizeof(text) - (size_t)n, ": %ld limit, %ld used, %ld kept, %ld wanted",
                 (long)why.limit, (long)why.used, (long)why.kept, (long)why.wanted);
    return text;
}

TEST(admit, what_is_lent_is_what_others_may_take)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=16");
    uint32_t a = pool_queue(&p, "a", "gpu=8 lend.gpu=2"), b = pool_queue(&p, "b", "");
    pool_wait_often(&p, b, "gpu=1", 20);
    EXPECT_INT(pool_round(&p, 99), 10);
    EXPECT_INT(pool_entitled(&p, b, "gpu"), 10);
    struct fair_request r = request(&p, 15);
    EXPECT_TEXT(told(&p, &r), "A2 at root: 16 limit, 10 used, 6 kept, 1 wanted");
    struct fair_refusal why;
    EXPECT(!fair_admits(p.f, &r, &why));
    EXPECT_INT(fair_kept_for(p.f, why.at, why.resource), a);
    uint32_t gang = pool_wait(&p, a, "gpu=6");
    r = request(&p, gang);
    EXPECT(fair_admits(p.f, &r, NULL));
    pool_round(&p, 99);
    EXPECT_INT(pool_used(&p, a, "gpu"), 6);
    fair_check(p.f);
}

/* A refusal makes no words: all refusals together cost less than the words of a tenth of them, which
 * look at every queue. */
TEST(admit, a_refusal_looks_at_the_queues_above_it_alone)
{
    enum { QUEUES = 2000, REFUSALS = 5000, WORDS = 500 };
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=2000");
    for (uint32_t i = 0; i < QUEUES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "q%u", i);
        pool_queue(&p, name, "gpu=1 lend.gpu=0");
    }
    struct fair_request r = request(&p, pool_wait(&p, pool_queue(&p, "b", ""), "gpu=1"));
    struct fair_refusal why;
    EXPECT(!fair_admits(p.f, &r, &why));
    clock_t began = clock();
    for (uint32_t i = 0; i < REFUSALS; i++)
        fair_admits(p.f, &r, &why);
    clock_t refused = clock();
    for (uint32_t i = 0; i < WORDS; i++)
        EXPECT(fair_kept_for(p.f, why.at, why.resource) != FAIR_NONE);
    EXPECT(refused - began < clock() - refused);
}

TEST(admit, says_which_rule_at_which_queue)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=64");
    pool_queue(&p, "top", "max.gpu=16 jobs=3");
    uint32_t a = pool_queue(&p, "a", "parent=top gpu=4 lend.gpu=0"),
             b = pool_queue(&p, "b", "parent=top max.gpu=14"),
             held = pool_queue(&p, "held", "hold"), below = pool_queue(&p, "below", "parent=held"),
             drained = pool_queue(&p, "drained", "drain"),
             split = pool_queue(&p, "split", "split each.gpu=2 eachjobs=3"),
             full = pool_queue(&p, "full", "jobs=1"), missing = fair_get(p.f, STR("missing")),
             top = fair_find(p.f, STR("top")), lost = pool_queue(&p, "lost", "parent=nobody"),
             part = fair_part(p.f, split, STR("ann"));
    uint32_t big = pool_wait(&p, b, "gpu=12");
    pool_start(&p, big);
    pool_start(&p, pool_wait(&p, full, "gpu=1"));
    pool_start(&p, pool_wait(&p, part, "gpu=1"));
    const struct {
        uint32_t queue;
        const char *ask, *told;
    } cases[] = {
        {a, "gpu=4", ""},
        {a, "gpu=5", "A2 at top: 16 limit, 12 used, 4 kept, 5 wanted"},
        {b, "gpu=1", "A2 at top: 16 limit, 12 used, 4 kept, 1 wanted"},
        {b, "gpu=3", "A2 at b: 14 limit, 12 used, 0 kept, 3 wanted"},
        {b, "cpu=3", ""},
        {held, "gpu=1", "A1 at held"},
        {below, "gpu=1", "A1 at held"},
        {drained, "gpu=1", "A1 at drained"},
        {missing, "gpu=1", "A1 at missing"},
        {top, "gpu=1", "A1 at top"},
        {lost, "gpu=1", "A1 at lost"},
        {full, "gpu=1", "A3 at full: 1 limit, 1 used, 0 kept, 1 wanted"},
        {part, "gpu=1", ""},
        {part, "gpu=2", "A4 at split/ann: 2 limit, 1 used, 0 kept, 2 wanted"},
        {fair_part(p.f, split, STR("bob")), "gpu=2", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        struct fair_request r = request(&p, pool_wait(&p, cases[i].queue, cases[i].ask));
        EXPECT_TEXT(told(&p, &r), cases[i].told);
    }
    struct fair_request r = request(&p, pool_wait(&p, full, "gpu=1"));
    r.is_new_job = false;
    EXPECT_TEXT(told(&p, &r), "");
    r.is_taken = false;
    EXPECT_TEXT(told(&p, &r), "A1 at full");
    fair_check(p.f);
}

TEST(admit, counts_jobs_of_a_part)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=64");
    uint32_t split = pool_queue(&p, "split", "split eachjobs=1"),
             ann = fair_part(p.f, split, STR("ann"));
    pool_start(&p, pool_wait(&p, ann, "gpu=1"));
    struct fair_request r = request(&p, pool_wait(&p, ann, "gpu=1"));
    EXPECT_TEXT(told(&p, &r), "A4 at split/ann: 1 limit, 1 used, 0 kept, 1 wanted");
    r = request(&p, pool_wait(&p, fair_part(p.f, split, STR("bob")), "gpu=1"));
    EXPECT_TEXT(told(&p, &r), "");
}

TEST(admit, no_more_than_a_namespace_may_have)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=64");
    uint32_t a = pool_queue(&p, "a", ""), unit = pool_wait(&p, a, "gpu=3");
    struct fair_amount most = {.resource = 0, .amount = 4};
    uint32_t space = fair_namespace(p.f, STR("a"), (struct fair_ask){&most, 1});
    EXPECT(space != a);
    struct fair_request r = request(&p, unit);
    r.namespace = space;
    EXPECT_TEXT(told(&p, &r), "");
    fair_count(p.f, space, r.ask, 1);
    EXPECT_TEXT(told(&p, &r), "A4 at a: 4 limit, 3 used, 0 kept, 3 wanted");
    EXPECT_INT(fair_used(p.f, FAIR_ROOT, 0), 0);
    fair_check(p.f);
}

TEST(admit, who_may_not_be_evicted_within_the_guarantee_alone)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=8 cpu=8");
    pool_queue(&p, "top", "gpu=4");
    uint32_t a = pool_queue(&p, "a", "parent=top gpu=4"), b = pool_queue(&p, "b", "parent=top");
    const struct {
        uint32_t queue;
        const char *ask, *told;
    } cases[] = {
        {a, "gpu=4", ""},
        {a, "gpu=5", "A6 at a: 4 limit, 0 used, 0 kept, 5 wanted"},
        {b, "gpu=1", "A6 at b: 0 limit, 0 used, 0 kept, 1 wanted"},
        {b, "cpu=8", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        struct fair_request r = request(&p, pool_wait(&p, cases[i].queue, cases[i].ask));
        r.is_preemptible = false;
        EXPECT_TEXT(told(&p, &r), cases[i].told);
    }
    pool_start(&p, pool_wait(&p, b, "gpu=1")); /* borrows at b, within the guarantee of top */
    struct fair_request r = request(&p, pool_wait(&p, a, "gpu=4"));
    r.is_preemptible = false;
    EXPECT_TEXT(told(&p, &r), "A6 at top: 4 limit, 1 used, 0 kept, 4 wanted");
}

TEST(admit, knows_the_room_that_limits_leave_for_a_kind)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu@H100=16");
    uint32_t top = pool_queue(&p, "top", "max.gpu@H100=8"),
             a = pool_queue(&p, "a", "parent=top max.gpu@H100=6"),
             b = pool_queue(&p, "b", "parent=top"), at;
    EXPECT_INT(fair_room(p.f, a, 0, &at), 6);
    EXPECT_INT(at, a);
    pool_start(&p, pool_wait(&p, b, "gpu@H100=5"));
    EXPECT_INT(fair_room(p.f, a, 0, &at), 3);
    EXPECT_INT(at, top);
    EXPECT_INT(fair_room(p.f, fair_get(p.f, STR("free")), 0, &at), FAIR_NO_LIMIT);
}
