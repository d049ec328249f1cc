/* Who may have to go, and in which order; whole stories of evictions are test_evict's. */

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

TEST(victim_groups, importance_is_priority_within_a_tier_or_the_tier_first)
{
    static const struct {
        struct importance a, b;
        bool is_below, is_below_tier_first;
    } cases[] = {
        {{TIER_SILVER, 1}, {TIER_SILVER, 2}, true, true},
        {{TIER_SILVER, 2}, {TIER_SILVER, 2}, false, false}, /* never one's equal */
        {{TIER_SILVER, 3}, {TIER_SILVER, 2}, false, false},
        {{TIER_BRONZE, 1}, {TIER_GOLD, 2}, true, true},
        {{TIER_BRONZE, 2}, {TIER_GOLD, 1}, false, true}, /* whatever their priorities */
        {{TIER_BRONZE, 1}, {TIER_GOLD, 1}, false, true},
        {{TIER_GOLD, 1}, {TIER_BRONZE, 2}, false, false}, /* not one of a higher tier */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct eviction_args rules = eviction_defaults;
        test_case("case %zu", i);
        rules.tier_first = false;
        EXPECT_INT(importance_is_below(cases[i].a, cases[i].b, &rules), cases[i].is_below);
        rules.tier_first = true;
        EXPECT_INT(importance_is_below(cases[i].a, cases[i].b, &rules),
                   cases[i].is_below_tier_first);
    }
}

/* Nobody is below himself, and of two at most one is below the other: no cycles of evictions. */
TEST(victim_groups, importance_is_a_strict_order)
{
    for (int tier_first = 0; tier_first < 2; tier_first++) {
        struct eviction_args rules = eviction_defaults;
        rules.tier_first = tier_first;
        for (uint32_t x = 0; x < 16; x++)
            for (uint32_t y = 0; y < 16; y++)
                for (uint32_t z = 0; z < 16; z++) {
                    struct importance a = {x / 4, (int32_t)(x % 4)}, b = {y / 4, (int32_t)(y % 4)},
                                      c = {z / 4, (int32_t)(z % 4)};
                    bool ab = importance_is_below(a, b, &rules),
                         bc = importance_is_below(b, c, &rules);
                    EXPECT(!(ab && importance_is_below(b, a, &rules)));
                    EXPECT(!(ab && bc) || importance_is_below(a, c, &rules));
                }
    }
}

/* Victim groups made by hand, one pod each, on the only node of the stage. */
static void add(struct victim_groups *p, struct victim_group victim_group)
{
    victim_group.number = victim_group.first = p->at.n;
    victim_group.n = victim_group.n ? victim_group.n : 1;
    vec_push(&p->at, victim_group);
    vec_push(&p->place, victim_group.number);
}

static const char *order(const struct victim_groups *p)
{
    static char text[16];
    uint32_t n = 0;
    vec_each(&p->at, victim_group)
        text[n++] = victim_group->name.p[0];
    text[n] = 0;
    return text;
}

TEST(victim_groups, go_by_the_keys_of_the_rules_and_then_by_name)
{
    AUTO(stage) s = {0};
    struct victim_groups p = {0};
    struct preemptor e = {.rules = eviction_defaults};
    stage_put(&s, "node n");
    add(&p, (struct victim_group){.name = STR("f"), .importance = {TIER_GOLD, 0}});
    add(&p, (struct victim_group){.name = STR("e"), .importance = {TIER_BRONZE, 5}});
    add(&p, (struct victim_group){
                .name = STR("d"), .worth = WORK_SERVICE, .importance = {TIER_BRONZE, 1}});
    add(&p, (struct victim_group){.name = STR("c"), .lost_ms = 9, .importance = {TIER_BRONZE, 1}});
    add(&p, (struct victim_group){.name = STR("b"), .start_ms = 1, .importance = {TIER_BRONZE, 1}});
    add(&p, (struct victim_group){.name = STR("a"), .start_ms = 2, .importance = {TIER_BRONZE, 1}});
    add(&p, (struct victim_group){.name = STR("A"), .start_ms = 2, .importance = {TIER_BRONZE, 1}});
    static const enum victim_key keys[N_VICTIM_KEYS] = {
        VICTIM_TIER, VICTIM_PRIORITY, VICTIM_WORKLOAD, VICTIM_LOST_WORK, VICTIM_START};
    memcpy(e.rules.order, keys, sizeof(keys));
    victim_groups_sort(s.engine, &e, ORDER_BY_LOSS, &p);
    EXPECT_TEXT(order(&p), "Aabcdef");
    e.rules.order[0] = VICTIM_START; /* who started last goes first, whatever its tier */
    e.rules.order[4] = VICTIM_TIER;
    victim_groups_sort(s.engine, &e, ORDER_BY_LOSS, &p);
    EXPECT_TEXT(order(&p), "Aabfcde");
    vec_each(&p.at, victim_group)
        EXPECT_INT(p.place.at[victim_group->number], (uint32_t)(victim_group - p.at.at));
    victim_groups_done(&p);
}

TEST(victim_groups, what_a_gang_has_beyond_its_minimum_goes_with_the_rest_of_it)
{
    struct victim_groups p = {0};
    add(&p, (struct victim_group){.name = STR("s"), .core = 1, .is_surplus = true});
    add(&p, (struct victim_group){.name = STR("c"), .core = ID_NONE, .n = 2});
    add(&p, (struct victim_group){.name = STR("t"), .core = 1, .is_surplus = true});
    add(&p, (struct victim_group){.name = STR("x"), .core = ID_NONE});
    p.n_looked_at = p.at.n;
    static const struct {
        uint32_t taken;
        bool is_out[4], may_return[4];
    } cases[] = {
        {0, {0, 0, 0, 0}, {0, 0, 0, 0}},
        {1, {1, 0, 0, 0}, {1, 0, 0, 0}}, /* one of the surplus: by itself */
        {2, {1, 1, 1, 0}, {0, 1, 0, 0}}, /* the core: the others are of no use without it */
        {4, {1, 1, 1, 1}, {0, 1, 0, 1}},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("the first %u", cases[i].taken);
        victim_groups_take(&p, cases[i].taken);
        for (uint32_t k = 0; k < 4; k++) {
            EXPECT_INT(p.at.at[k].is_out, cases[i].is_out[k]);
            EXPECT_INT(victim_group_may_return(&p, &p.at.at[k]), cases[i].may_return[k]);
        }
    }
    victim_groups_done(&p);
}

TEST(victim_groups, lose_the_time_that_their_accelerators_were_busy)
{
    static const struct {
        const char *pod;
        int64_t lost_ms;
    } cases[] = {
        {"gpu=4 started=90", 40000},
        {"gpu=1 started=0", 100000},
        {"gpu=4", 0},             /* it has not started */
        {"gpu=4 started=200", 0}, /* by a clock that is ahead of ours */
        {"cpu=4 started=0", 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].pod);
        stage_put(&s, "node n gpu=8");
        stage_put(&s, "pod p on=n %s", cases[i].pod);
        struct cluster *c = s.engine->cluster;
        pod_id p = pods_find(&c->pods, names_find(&c->names, STR("default")), STR("p"));
        s.engine->now_ms = 100000;
        EXPECT_INT(engine_work_lost_ms(s.engine, p), cases[i].lost_ms);
    }
}
