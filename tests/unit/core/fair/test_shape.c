#include "core/base/arena.h"
#include "pool.h"

static int64_t effective(struct pool *p, uint32_t queue)
{
    return fair_effective(p->f, queue, fair_resource(p->f, STR("gpu")));
}

static const char *state_text(struct pool *p, uint32_t queue)
{
    static char text[100];
    AUTO(arena) mem = {0};
    struct str s = fair_state_text(p->f, queue, &mem);
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    return text;
}

TEST(shape, backs_guarantees_in_proportion)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=9");
    uint32_t a = pool_queue(&p, "a", "gpu=12"), b = pool_queue(&p, "b", "gpu=6");
    EXPECT_INT(effective(&p, a), 6);
    EXPECT_INT(effective(&p, b), 3);
    pool_wait_often(&p, a, "gpu=1", 20);
    pool_wait_often(&p, b, "gpu=1", 20);
    pool_round(&p, 99);
    EXPECT_INT(pool_used(&p, a, "gpu"), 6);
    EXPECT_INT(pool_used(&p, b, "gpu"), 3);
    pool_capacity(&p, "gpu=18");
    EXPECT_INT(effective(&p, a), 12);
    EXPECT_INT(fair_guaranteed(p.f, FAIR_ROOT, 0), 18);
    fair_check(p.f);
}

TEST(shape, counts_a_guarantee_as_the_total_of_its_subtree)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t top = pool_queue(&p, "top", "gpu=10 max.gpu=20"),
             a = pool_queue(&p, "a", "parent=top gpu=8"),
             b = pool_queue(&p, "b", "parent=top gpu=8 max.gpu=8");
    EXPECT_INT(effective(&p, top), 16); /* the children's sum is more */
    EXPECT_INT(effective(&p, a), 8);
    pool_queue(&p, "a", "parent=top gpu=24");
    EXPECT_INT(effective(&p, top), 20); /* Q12 */
    EXPECT_INT(effective(&p, a), 15);
    EXPECT_INT(effective(&p, b), 5);
    fair_check(p.f);
}

TEST(shape, holds_what_hangs_nowhere)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t a = pool_queue(&p, "a", "parent=b"), b = pool_queue(&p, "b", "parent=c"),
             c = pool_queue(&p, "c", "parent=a"), d = pool_queue(&p, "d", "parent=a"),
             e = pool_queue(&p, "e", "parent=nobody"),
             f = pool_queue(&p, "f", "parent=e invalid=spec.max"),
             self = pool_queue(&p, "self", "parent=self");
    const struct {
        uint32_t queue;
        enum fair_state state;
        uint32_t parent;
        const char *text;
    } cases[] = {
        {a, FAIR_PARENT_CYCLE, FAIR_ROOT, "a -> b -> c -> a"},
        {b, FAIR_PARENT_CYCLE, FAIR_ROOT, "b -> c -> a -> b"},
        {c, FAIR_PARENT_CYCLE, FAIR_ROOT, "c -> a -> b -> c"},
        {d, FAIR_PARENT_CYCLE, a, "a -> b -> c -> a"},
        {e, FAIR_PARENT_MISSING, FAIR_ROOT, "parent nobody does not exist"},
        {f, FAIR_INVALID, FAIR_ROOT, "spec.max"},
        {self, FAIR_PARENT_CYCLE, FAIR_ROOT, "self -> self"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        EXPECT_INT(fair_state(p.f, cases[i].queue), cases[i].state);
        EXPECT_INT(fair_parent(p.f, cases[i].queue), cases[i].parent);
        EXPECT_TEXT(state_text(&p, cases[i].queue), cases[i].text);
    }
    pool_queue(&p, "c", "");
    EXPECT_INT(fair_state(p.f, a), FAIR_ACTIVE);
    EXPECT_INT(fair_parent(p.f, b), c);
    EXPECT_INT(fair_depth(p.f, d), 4);
    fair_check(p.f);
}

TEST(shape, is_eight_deep_at_most)
{
    AUTO(pool) p;
    pool_begin(&p);
    char name[] = "a", text[] = "parent=a";
    for (uint32_t i = 0; i < 10; i++) {
        name[0] = (char)('a' + i);
        text[7] = (char)('a' + i - 1);
        pool_queue(&p, name, i ? text : "");
    }
    EXPECT_INT(fair_depth(p.f, fair_find(p.f, STR("h"))), 8);
    EXPECT_INT(fair_state(p.f, fair_find(p.f, STR("h"))), FAIR_ACTIVE);
    for (size_t i = 0; i < 2; i++) {
        uint32_t deep = fair_find(p.f, i ? STR("i") : STR("j"));
        EXPECT_INT(fair_state(p.f, deep), FAIR_TOO_DEEP);
        EXPECT_INT(fair_depth(p.f, deep), 1);
    }
}

TEST(shape, has_ten_thousand_queues_at_most)
{
    AUTO(pool) p;
    pool_begin(&p);
    char name[] = "q00000";
    for (uint32_t i = 0; i < 10001; i++) {
        for (uint32_t d = 0, rest = i; d < 5; d++, rest /= 10)
            name[5 - d] = (char)('0' + rest % 10);
        pool_queue(&p, name, "");
    }
    EXPECT_INT(fair_state(p.f, fair_find(p.f, STR("q09999"))), FAIR_ACTIVE);
    EXPECT_INT(fair_state(p.f, fair_find(p.f, STR("q10000"))), FAIR_TOO_MANY);
    fair_remove(p.f, STR("q00000"));
    EXPECT_INT(fair_state(p.f, fair_find(p.f, STR("q10000"))), FAIR_ACTIVE);
}

TEST(shape, keeps_a_deleted_queue_while_it_is_used)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t top = pool_queue(&p, "top", ""), a = pool_queue(&p, "a", "parent=top gpu=8");
    uint32_t unit = pool_wait(&p, a, "gpu=3");
    pool_start(&p, unit);
    fair_remove(p.f, STR("a"));
    EXPECT_INT(fair_state(p.f, a), FAIR_PHANTOM);
    EXPECT_INT(fair_parent(p.f, a), top);
    EXPECT_INT(effective(&p, a), 0);
    EXPECT_INT(pool_used(&p, top, "gpu"), 3);
    fair_sweep(p.f, NULL, NULL);
    EXPECT_INT(fair_find(p.f, STR("a")), a);
    fair_check(p.f);
    EXPECT_INT(pool_queue(&p, "a", "parent=top gpu=8"), a);
    EXPECT_INT(effective(&p, a), 8);
    fair_remove(p.f, STR("a"));
    pool_end(&p, unit);
    fair_sweep(p.f, NULL, NULL);
    EXPECT_INT(fair_find(p.f, STR("a")), FAIR_NONE);
    fair_check(p.f);
}

TEST(shape, tells_the_first_names_of_a_long_cycle)
{
    AUTO(pool) p;
    AUTO(arena) mem = {0};
    pool_begin(&p);
    for (uint32_t i = 0; i < 500; i++)
        pool_queue(&p, arena_printf(&mem, "q%u", i).p,
                   arena_printf(&mem, "parent=q%u", (i + 1) % 500).p);
    uint32_t below = pool_queue(&p, "below", "parent=q499");
    EXPECT_INT(fair_state(p.f, below), FAIR_PARENT_CYCLE);
    EXPECT_STR(fair_state_text(p.f, below, &mem),
               "q499 -> q0 -> q1 -> q2 -> q3 -> q4 -> q5 -> q6 -> q7 -> q8 -> q9 -> q10 -> q11 -> "
               "q12 -> q13 -> q14 -> q15 -> ... -> q499");
}

TEST(shape, moves_what_is_used_with_its_queue)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t x = pool_queue(&p, "x", ""), y = pool_queue(&p, "y", ""),
             a = pool_queue(&p, "a", "parent=x split");
    uint32_t part = fair_part(p.f, a, STR("ann"));
    pool_start(&p, pool_wait(&p, part, "gpu=3"));
    pool_wait(&p, part, "gpu=2");
    pool_queue(&p, "a", "parent=y split gpu=2 lend.gpu=0");
    EXPECT_INT(pool_used(&p, x, "gpu"), 0);
    EXPECT_INT(pool_used(&p, y, "gpu"), 3);
    EXPECT_INT(fair_waiting(p.f, y, 0), 2);
    EXPECT_INT(fair_jobs(p.f, y), 1);
    EXPECT_INT(fair_n_waiting(p.f, x), 0);
    fair_check(p.f);
}

TEST(shape, of_a_leaf_that_gets_a_child_keeps_its_pods)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t a = pool_queue(&p, "a", "max.gpu=10");
    pool_start(&p, pool_wait(&p, a, "gpu=3"));
    uint32_t b = pool_queue(&p, "b", "parent=a gpu=4 lend.gpu=0");
    EXPECT_INT(fair_charge(p.f, a, 0), 7);
    pool_wait_often(&p, b, "gpu=1", 20);
    EXPECT_INT(pool_round(&p, 99), 7);
    fair_check(p.f);
}

TEST(shape, gives_each_part_its_place)
{
    AUTO(pool) p;
    pool_begin(&p);
    pool_capacity(&p, "gpu=100");
    uint32_t a = pool_queue(&p, "a", "split each.gpu=3"), b = pool_queue(&p, "b", "");
    EXPECT_INT(fair_part(p.f, b, STR("ann")), b);
    uint32_t ann = fair_part(p.f, a, STR("ann")), bob = fair_part(p.f, a, STR("bob"));
    EXPECT(ann != bob && fair_is_part(p.f, ann) && !fair_is_part(p.f, a));
    EXPECT_INT(fair_part(p.f, a, STR("ann")), ann);
    EXPECT_STR(fair_name(p.f, ann), "a/ann");
    EXPECT_INT(fair_leaf(p.f, ann), a);
    EXPECT_INT(fair_max(p.f, ann, 0), 3);
    uint32_t unit = pool_wait(&p, bob, "gpu=1");
    fair_sweep(p.f, NULL, NULL);
    EXPECT(!fair_is_queue(p.f, ann) && fair_is_queue(p.f, bob));
    EXPECT_INT(fair_next(p.f), unit);
    fair_check(p.f);
    char value[6] = "00000";
    for (uint32_t i = 0; i < FAIR_PARTS_MOST; i++) {
        for (uint32_t d = 0, rest = i; d < 5; d++, rest /= 10)
            value[4 - d] = (char)('0' + rest % 10);
        fair_part(p.f, a, str_of(value));
    }
    EXPECT_STR(fair_name(p.f, fair_part(p.f, a, STR("more"))), "a/*");
    EXPECT_INT(fair_part(p.f, a, STR("even-more")), fair_part(p.f, a, STR("more")));
}

TEST(shape, inherits_run_times_and_stops)
{
    AUTO(pool) p;
    pool_begin(&p);
    uint32_t top = pool_queue(&p, "top", "minrun=5000 hold"), a = pool_queue(&p, "a", "parent=top"),
             b = pool_queue(&p, "b", "parent=top minrun=0"), c = pool_queue(&p, "c", "");
    EXPECT_INT(fair_min_run_ms(p.f, a), 5000);
    EXPECT_INT(fair_min_run_ms(p.f, b), 0);
    EXPECT_INT(fair_min_run_ms(p.f, c), -1);
    EXPECT(fair_is_stopped(p.f, a, FAIR_HOLD) && !fair_is_stopped(p.f, a, FAIR_DRAIN));
    EXPECT_INT(fair_common(p.f, a, b), top);
    EXPECT_INT(fair_common(p.f, a, c), FAIR_ROOT);
    EXPECT_INT(fair_common(p.f, a, top), top);
}
