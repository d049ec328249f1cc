/* Who may have to go, and in which order; whole stories of evictions are test_evict's. */

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

TEST(parties, rank_is_priority_within_a_tier_or_the_tier_first)
{
    static const struct {
        struct rank a, b;
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
        EXPECT_INT(rank_is_below(cases[i].a, cases[i].b, &rules), cases[i].is_below);
        rules.tier_first = true;
        EXPECT_INT(rank_is_below(cases[i].a, cases[i].b, &rules), cases[i].is_below_tier_first);
    }
}

/* Nobody is below himself, and of two at most one is below the other: no cycles of evictions. */
TEST(parties, ranks_are_a_strict_order)
{
    for (int tier_first = 0; tier_first < 2; tier_first++) {
        struct eviction_args rules = eviction_defaults;
        rules.tier_first = tier_first;
        for (uint32_t x = 0; x < 16; x++)
            for (uint32_t y = 0; y < 16; y++)
                for (uint32_t z = 0; z < 16; z++) {
                    struct rank a = {x / 4, (int32_t)(x % 4)}, b = {y / 4, (int32_t)(y % 4)},
                                c = {z / 4, (int32_t)(z % 4)};
                    bool ab = rank_is_below(a, b, &rules), bc = rank_is_below(b, c, &rules);
                    EXPECT(!(ab && rank_is_below(b, a, &rules)));
                    EXPECT(!(ab && bc) || rank_is_below(a, c, &rules));
                }
    }
}

/* Parties made by hand, one pod each, on the only node of the stage. */
static void add(struct parties *p, struct party party)
{
    party.number = party.first = p->at.n;
    party.n = party.n ? party.n : 1;
    vec_push(&p->at, party);
    vec_push(&p->place, party.number);
}

static const char *order(const struct parties *p)
{
    static char text[16];
    uint32_t n = 0;
    vec_each(&p->at, party)
        text[n++] = party->name.p[0];
    text[n] = 0;
    return text;
}

TEST(parties, go_by_the_keys_of_the_rules_and_then_by_name)
{
    AUTO(stage) s = {0};
    struct parties p = {0};
    struct evicting e = {.rules = eviction_defaults};
    stage_put(&s, "node n");
    add(&p, (struct party){.name = STR("f"), .rank = {TIER_GOLD, 0}});
    add(&p, (struct party){.name = STR("e"), .rank = {TIER_BRONZE, 5}});
    add(&p, (struct party){.name = STR("d"), .worth = WORK_SERVICE, .rank = {TIER_BRONZE, 1}});
    add(&p, (struct party){.name = STR("c"), .lost_ms = 9, .rank = {TIER_BRONZE, 1}});
    add(&p, (struct party){.name = STR("b"), .start_ms = 1, .rank = {TIER_BRONZE, 1}});
    add(&p, (struct party){.name = STR("a"), .start_ms = 2, .rank = {TIER_BRONZE, 1}});
    add(&p, (struct party){.name = STR("A"), .start_ms = 2, .rank = {TIER_BRONZE, 1}});
    static const enum victim_key keys[N_VICTIM_KEYS] = {
        VICTIM_TIER, VICTIM_PRIORITY, VICTIM_WORKLOAD, VICTIM_LOST_WORK, VICTIM_START};
    memcpy(e.rules.order, keys, sizeof(keys));
    parties_sort(s.engine, &e, ORDER_BY_LOSS, &p);
    EXPECT_TEXT(order(&p), "Aabcdef");
    e.rules.order[0] = VICTIM_START; /* who started last goes first, whatever its tier */
    e.rules.order[4] = VICTIM_TIER;
    parties_sort(s.engine, &e, ORDER_BY_LOSS, &p);
    EXPECT_TEXT(order(&p), "Aabfcde");
    vec_each(&p.at, party)
        EXPECT_INT(p.place.at[party->number], (uint32_t)(party - p.at.at));
    parties_done(&p);
}

TEST(parties, what_a_gang_has_beyond_its_minimum_goes_with_the_rest_of_it)
{
    struct parties p = {0};
    add(&p, (struct party){.name = STR("s"), .core = 1, .is_surplus = true});
    add(&p, (struct party){.name = STR("c"), .core = ID_NONE, .n = 2});
    add(&p, (struct party){.name = STR("t"), .core = 1, .is_surplus = true});
    add(&p, (struct party){.name = STR("x"), .core = ID_NONE});
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
        parties_take(&p, cases[i].taken);
        for (uint32_t k = 0; k < 4; k++) {
            EXPECT_INT(p.at.at[k].is_out, cases[i].is_out[k]);
            EXPECT_INT(party_may_return(&p, &p.at.at[k]), cases[i].may_return[k]);
        }
    }
    parties_done(&p);
}

TEST(parties, lose_the_time_that_their_accelerators_were_busy)
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
