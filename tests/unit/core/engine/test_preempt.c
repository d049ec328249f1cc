#include "core/base/rng.h"
#include "core/engine/explain.h"
#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

/* "n1: a b" (the victims sorted), or what upstream says. */
static struct str plan_for(struct stage *s, const char *pod, struct explanation *x)
{
    explanation_done(x);
    *x = (struct explanation){0};
    bool is_known = engine_explain(s->engine, STR("default"), str_of(pod), x);
    assert(is_known);
    if (!x->preemption)
        return STR("not tried");
    if (!x->preemption->best)
        return x->preemption->message;
    struct str text = arena_printf(&x->mem, STR_FMT ":", STR_ARG(x->preemption->best->node));
    for (uint32_t i = 0; i < x->preemption->best->n_victims; i++) {
        struct str name = x->preemption->best->victims[i];
        size_t slash = str_find(name, '/');
        text = arena_printf(&x->mem, STR_FMT " " STR_FMT, STR_ARG(text),
                            STR_ARG(str_part(name, slash + 1, name.n)));
    }
    return text;
}

TEST(preempt, the_least_important_go_and_as_few_as_needed)
{
    static const struct {
        const char *there; /* ";" between pods; all on n1, which has 4 CPUs */
        const char *pod;
        const char *plan;
    } cases[] = {
        {"a cpu=4", "cpu=1 priority=1", "n1: a"},
        {"a cpu=2;b cpu=2 priority=5", "cpu=1 priority=9", "n1: a"},
        {"a cpu=2;b cpu=2 priority=5", "cpu=3 priority=9", "n1: a b"},
        {"a cpu=1 started=1;b cpu=1 started=2;c cpu=2 priority=9", "cpu=1 priority=9", "n1: b"},
        {"a cpu=3;b cpu=1", "cpu=1 priority=9", "n1: b"},
        {"a cpu=4 priority=9", "cpu=1 priority=9",
         "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
        {"a cpu=3 priority=9;b cpu=1", "cpu=2 priority=9",
         "preemption: 0/1 nodes are available: 1 Insufficient cpu."},
        {"a cpu=4", "cpu=5 priority=9",
         "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
        {"a cpu=4", "cpu=1 priority=1 preempts=Never",
         "preemption: not eligible due to preemptionPolicy=Never."},
        {"a cpu=1 port:80;b cpu=1", "cpu=1 port:80 priority=1", "n1: a"},
        {"a cpu=1 label:app=x;b cpu=1", "apart:host:app=x priority=1", "n1: a"},
        {"a cpu=1 apart:host:app=y;b cpu=1", "label:app=y priority=1", "n1: a"},
        {"a cpu=4", "select:disk=ssd priority=1",
         "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].there, cases[i].pod);
        AUTO(stage) s = {0};
        AUTO(explanation) x = {0};
        stage_put(&s, "node n1 cpu=4");
        struct str rest = str_of(cases[i].there);
        while (rest.n) {
            size_t end = str_find(rest, ';');
            stage_put(&s, "pod " STR_FMT " on=n1", STR_ARG(str_part(rest, 0, end)));
            rest = str_part(rest, MIN(end + 1, rest.n), rest.n);
        }
        stage_put(&s, "pod p %s", cases[i].pod);
        EXPECT_STR(plan_for(&s, "p", &x), cases[i].plan);
    }
}

TEST(preempt, budgets_are_violated_last)
{
    static const struct {
        const char *budget;
        const char *victim; /* of a (protected, started first), b and c on n1 */
    } cases[] = {
        {"budget x allowed=0 app=other", "n1: c"},
        {"budget x allowed=0 app=c", "n1: b"},
        {"budget x allowed=1 app=c", "n1: c"},
        {"budget x allowed=0 app=c evicted=c", "n1: c"},
        {"budget x allowed=0 app=c namespace=y", "n1: c"},
        {"budget x allowed=0", "n1: c"}, /* it selects nobody */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].budget);
        AUTO(stage) s = {0};
        AUTO(explanation) x = {0};
        stage_put(&s, "node n1 cpu=3");
        stage_put(&s, "pod a cpu=1 on=n1 started=1 label:app=a");
        stage_put(&s, "pod b cpu=1 on=n1 started=2 label:app=b");
        stage_put(&s, "pod c cpu=1 on=n1 started=3 label:app=c");
        stage_put(&s, "pod p cpu=1 priority=1");
        stage_put(&s, "%s", cases[i].budget);
        EXPECT_STR(plan_for(&s, "p", &x), cases[i].victim);
    }
}

TEST(preempt, a_budget_that_no_victim_can_spare_is_violated_and_counted)
{
    AUTO(stage) s = {0};
    AUTO(explanation) x = {0};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "pod a cpu=1 on=n1 label:app=a");
    stage_put(&s, "pod p cpu=1 priority=1");
    stage_put(&s, "budget x allowed=0 app=a");
    EXPECT_STR(plan_for(&s, "p", &x), "n1: a");
    EXPECT_INT(x.preemption->best->violations, 1);
    stage_remove(&s, "budget x");
    EXPECT_STR(plan_for(&s, "p", &x), "n1: a");
    EXPECT_INT(x.preemption->best->violations, 0);
}

TEST(preempt, the_node_with_the_least_harm_is_chosen)
{
    static const struct {
        const char *on_n1, *on_n2; /* what fills them */
        const char *chosen;
    } cases[] = {
        {"priority=5", "priority=4", "n2"},                     /* the lower highest priority */
        {"priority=4 started=9", "priority=4 started=5", "n1"}, /* who has run for less time */
        {"priority=4 label:app=a", "priority=5", "n2"},         /* no budget violated */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].on_n1, cases[i].on_n2);
        AUTO(stage) s = {0};
        stage_put(&s, "node n1 cpu=1");
        stage_put(&s, "node n2 cpu=1");
        stage_put(&s, "budget x allowed=0 app=a");
        stage_put(&s, "pod a cpu=1 on=n1 %s", cases[i].on_n1);
        stage_put(&s, "pod b cpu=1 on=n2 %s", cases[i].on_n2);
        stage_put(&s, "pod p cpu=1 priority=9");
        stage_run(&s);
        const struct effect *e = stage_effect(&s, "p");
        REQUIRE(e && e->kind == EFFECT_NOMINATE);
        EXPECT_STR(e->node, cases[i].chosen);
    }
}

/* A full node, and a pod that is worth more than the two on it. */
static void set_up(struct stage *s)
{
    stage_put(s, "node n1 cpu=2");
    stage_put(s, "pod a cpu=1 on=n1");
    stage_put(s, "pod b cpu=1 on=n1");
    stage_put(s, "pod p cpu=2 priority=9 uid=u1");
}

TEST(preempt, victims_are_evicted_and_the_pod_follows_when_they_are_gone)
{
    AUTO(stage) s = {0};
    set_up(&s);
    EXPECT_INT(stage_run(&s), 4); /* refused, nominated, two evictions */
    const struct effect *said = &s.effects.list.at[0];
    EXPECT_INT(said->kind, EFFECT_REFUSE);
    EXPECT_STR(said->message, "0/1 nodes are available: 1 Insufficient cpu. preemption: found a "
                              "potential placement for pod on node n1, preempting 2 victims");
    const struct effect *e = stage_effect(&s, "a");
    REQUIRE(e && e->kind == EFFECT_EVICT);
    EXPECT_STR(e->node, "n1");
    EXPECT_STR(e->by_uid, "u1");
    EXPECT_STR(e->by_scheduler, "default-scheduler");
    stage_settle(&s, "a", NULL);
    stage_settle(&s, "b", NULL);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    stage_put(&s, "pod a cpu=1 on=n1 preempted");
    stage_put(&s, "pod b cpu=1 on=n1 preempted");
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    stage_remove(&s, "pod a");
    stage_remove(&s, "pod b");
    s.now_ms = 20000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n1");
}

TEST(preempt, nobody_else_takes_the_room_meanwhile)
{
    AUTO(stage) s = {0};
    set_up(&s);
    stage_run(&s);
    stage_remove(&s, "pod a");
    stage_put(&s, "pod small cpu=1 priority=8");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "small"), "parked");
    stage_put(&s, "pod great cpu=1 priority=10"); /* who is worth more may */
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "great"), "assumed on n1");
}

TEST(preempt, the_pod_is_held_back_while_evictions_are_under_way)
{
    AUTO(stage) s = {0};
    set_up(&s);
    stage_run(&s);
    effect_id b = stage_effect(&s, "b")->id;
    stage_settle(&s, "a", NULL);
    stage_remove(&s, "pod a"); /* gone before the other is even told */
    EXPECT_TEXT(stage_fate(&s, "p"), "gated");
    engine_settle(s.engine, s.now_ms, b, NULL);
    EXPECT_TEXT(stage_fate(&s, "p"), "active");
}

TEST(preempt, a_failed_eviction_lets_the_pod_look_again)
{
    AUTO(stage) s = {0};
    set_up(&s);
    stage_run(&s);
    stage_settle(&s, "a", "somebody was faster");
    EXPECT_TEXT(stage_fate(&s, "p"), "gated"); /* the other one is still to come */
    stage_settle(&s, "b", NULL);
    EXPECT_TEXT(stage_fate(&s, "p"), "active");
}

TEST(preempt, a_pod_waits_for_those_that_it_has_evicted)
{
    AUTO(stage) s = {0};
    AUTO(explanation) x = {0};
    set_up(&s);
    stage_run(&s);
    stage_settle(&s, "a", NULL);
    stage_settle(&s, "b", NULL);
    stage_put(&s, "pod a cpu=1 on=n1 preempted");
    EXPECT_STR(plan_for(&s, "p", &x),
               "preemption: not eligible due to a terminating pod on the nominated node.");
    stage_put(&s, "pod a cpu=1 on=n1 deleting"); /* for another reason: it may evict again */
    EXPECT_STR(plan_for(&s, "p", &x), "n1: a b");
}

TEST(preempt, a_nominated_node_that_the_pod_may_not_go_to_does_not_keep_it_from_evicting)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "node n2 cpu=1");
    stage_put(&s, "pod a cpu=1 on=n1 preempted");
    stage_put(&s, "pod b cpu=1 on=n2");
    stage_put(&s, "pod p cpu=1 priority=1 nominated=n1 require:@metadata.name:In:n2");
    stage_run(&s);
    const struct effect *e = stage_effect(&s, "p");
    REQUIRE(e && e->kind == EFFECT_NOMINATE);
    EXPECT_STR(e->node, "n2");
}

TEST(preempt, a_pod_that_goes_leaves_its_evictions_to_end)
{
    AUTO(stage) s = {0};
    set_up(&s);
    stage_run(&s);
    effect_id a = stage_effect(&s, "a")->id, b = stage_effect(&s, "b")->id;
    stage_remove(&s, "pod p");
    engine_settle(s.engine, s.now_ms, a, NULL);
    engine_settle(s.engine, s.now_ms, b, NULL);
    EXPECT_INT(s.engine->preemption->evictions.n, 0);
    EXPECT_INT(s.engine->cluster->nominations.n, 0);
}

TEST(preempt, less_important_pods_lose_their_nomination)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2");
    stage_put(&s, "pod a cpu=2 on=n1");
    stage_put(&s, "pod low cpu=2 priority=1 nominated=n1");
    stage_put(&s, "pod p cpu=2 priority=9");
    stage_run(&s);
    bool is_cleared = false;
    vec_each(&s.effects.list, e)
        is_cleared |= e->kind == EFFECT_NOMINATE && str_equal(e->pod, STR("low")) && !e->node.n;
    EXPECT(is_cleared);
}

TEST(preempt, prices_follow_pods_nominations_and_budgets)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "node n2 cpu=1");
    stage_put(&s, "pod a cpu=1 on=n1 priority=5");
    stage_put(&s, "pod b cpu=1 on=n2 priority=6 label:app=b");
    stage_put(&s, "pod p cpu=1 priority=9");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "p")->node, "n1");
    stage_put(&s, "pod q cpu=1 priority=9"); /* n1 is promised to p */
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "q")->node, "n2");
    stage_remove(&s, "pod p");
    stage_remove(&s, "pod q");
    stage_put(&s, "pod a cpu=1 on=n1 priority=7");
    stage_put(&s, "pod r cpu=1 priority=9");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "r")->node, "n2");
    stage_remove(&s, "pod r");
    stage_put(&s, "budget x allowed=0 app=b");
    stage_put(&s, "pod t cpu=1 priority=9");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "t")->node, "n1");
}

/* Nodes are tried in the order of what they cost at least, and not all of them: the one that is
 * taken is among those that do the least harm when all are tried. */
TEST(preempt, where_counts_matter_the_best_node_is_found_without_trying_all)
{
    struct rng rng = rng_seeded(test_seed());
    uint32_t found = 0;
    for (int round = 0; round < 200; round++) {
        test_case("round %d", round);
        AUTO(stage) s = {0};
        AUTO(explanation) x = {0};
        for (int n = 0; n < 8; n++)
            stage_put(&s, "node n%d cpu=4 zone=z%d", n, n % 3);
        stage_put(&s, "budget b app=a allowed=1");
        for (int p = 0; p < 30; p++) {
            int node = (int)rng_below(&rng, 8), priority = (int)rng_below(&rng, 3);
            int started = (int)rng_below(&rng, 4), app = 'a' + (char)rng_below(&rng, 3);
            stage_put(&s, "pod p%d on=n%d cpu=1 priority=%d started=%d label:app=%c", p, node,
                      priority, started, app);
        }
        int cpu = 1 + (int)rng_below(&rng, 4);
        stage_put(&s, "pod high cpu=%d priority=5 apart:%s:app=a", cpu,
                  rng_below(&rng, 2) ? "zone" : "host");
        struct str best = plan_for(&s, "high", &x);
        stage_run(&s);
        const struct effect *last = stage_effect(&s, "high");
        if (!x.preemption || !x.preemption->best) {
            EXPECT(last->kind != EFFECT_NOMINATE);
            continue;
        }
        bool is_tie = false;
        for (uint32_t i = 0; i < x.preemption->n_ties; i++)
            is_tie |= str_equal(x.preemption->ties[i], last->node);
        found += is_tie;
        EXPECT(is_tie && best.n);
    }
    EXPECT(found > 50);
}

/* --- groups that go as a whole --- */

/* The built-in default-scheduler with the gate GenericWorkload. */
struct with_groups {
    struct profile_plugin plugins[64];
    struct profile profile;
};

static void use_groups(struct stage *s, struct with_groups *w)
{
    uint32_t number = 0;
    while (!str_equal(str_of(plugins[number]->name), STR("GangScheduling")))
        number++;
    w->profile = built_in_profiles[0];
    memcpy(w->plugins, w->profile.plugins, w->profile.n * sizeof(*w->plugins));
    w->plugins[w->profile.n++] =
        (struct profile_plugin){.plugin = plugins[number], .number = number};
    w->profile.plugins = w->plugins;
    s->config.rules.profiles = &w->profile;
    s->config.rules.n_profiles = 1;
}

static void put_group(struct stage *s, const char *name, int minimum, const char *mode)
{
    stage_put(s,
              "{'apiVersion':'scheduling.k8s.io/v1beta1','kind':'PodGroup','metadata':{'name':'%s',"
              "'namespace':'default'},'spec':{'schedulingPolicy':{'gang':{'minCount':%d}},"
              "'disruptionMode':{'%s':{}}}}",
              name, minimum, mode);
}

/* The group l has a pod on n1 and one on n2, which are full. */
TEST(preempt, a_group_goes_as_a_whole_if_it_says_so)
{
    static const struct {
        const char *mode, *members, *more, *who;
        const char *plan;
    } cases[] = {
        {"all", "", "", "", "n1: l-0 l-1"},
        {"all", "", "", "group=g", "n1: l-0 l-1"},
        {"single", "", "", "", "n1: l-0"},
        {"single", "", "", "group=g", "n1: l-0"},
        {"all", "", "a on=n1 cpu=2", "", "n1: a"},
        {"all", "", "a on=n1 cpu=2 priority=1", "", "n1: l-0 l-1"},
        {"single", "", "a on=n1 cpu=2", "", "n1: a"},
        {"all", "priority=9", "", "",
         "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
         "1 Preemption is not helpful for scheduling."},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s / %s / %s", cases[i].mode, cases[i].members, cases[i].more,
                  cases[i].who);
        AUTO(stage) s = {0};
        AUTO(explanation) x = {0};
        struct with_groups w;
        use_groups(&s, &w);
        stage_put(&s, "node n1 cpu=%d", cases[i].more[0] ? 4 : 2);
        stage_put(&s, "node n2 cpu=2");
        put_group(&s, "l", 2, cases[i].mode);
        put_group(&s, "g", 1, "single");
        stage_put(&s, "pod l-0 group=l on=n1 cpu=2");
        stage_put(&s, "pod l-1 group=l on=n2 cpu=2 %s", cases[i].members);
        if (cases[i].more[0])
            stage_put(&s, "pod %s", cases[i].more);
        stage_put(&s, "pod p cpu=1 priority=5 select:kubernetes.io/hostname=n1 %s", cases[i].who);
        EXPECT_STR(plan_for(&s, "p", &x), cases[i].plan);
    }
}

static bool is_evicted(const struct stage *s, const char *pod)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_EVICT && str_equal(e->pod, str_of(pod)))
            return true;
    return false;
}

enum { HERD = 24, GROUPS = 4 };

struct herd {
    struct with_groups profile;
    struct rng rng;
    uint32_t group[HERD]; /* GROUPS: it is in none */
    int priority[HERD];
    bool is_whole[GROUPS];
};

static void put_herd(struct stage *s, struct herd *h)
{
    use_groups(s, &h->profile);
    for (int n = 0; n < 6; n++)
        stage_put(s, "node n%d cpu=4 zone=z%d", n, n % 3);
    stage_put(s, "budget b app=a allowed=1");
    for (int g = 0; g < GROUPS; g++) {
        char name[3] = {'g', (char)('0' + g), 0};
        h->is_whole[g] = rng_below(&h->rng, 2);
        put_group(s, name, 1 + (int)rng_below(&h->rng, 2), h->is_whole[g] ? "all" : "single");
    }
    for (uint32_t p = 0; p < HERD; p++) {
        h->group[p] = (uint32_t)rng_below(&h->rng, GROUPS + 2);
        h->group[p] = MIN(h->group[p], (uint32_t)GROUPS);
        h->priority[p] = (int)rng_below(&h->rng, 4);
        char group[9] = "group=g0";
        group[7] = (char)('0' + h->group[p]);
        int node = (int)rng_below(&h->rng, 6), started = (int)rng_below(&h->rng, 4);
        stage_put(s, "pod p%u on=n%d cpu=1 priority=%d started=%d label:app=%c %s", p, node,
                  h->priority[p], started, 'a' + (char)rng_below(&h->rng, 3),
                  h->group[p] < GROUPS ? group : "");
    }
}

/* Who goes is less important, and goes with all of its group; nobody does for nothing. */
static void check_evicted(const struct stage *s, const struct herd *h)
{
    bool is_out[HERD], has_lost[GROUPS + 1] = {0};
    uint32_t n = 0;
    for (uint32_t p = 0; p < HERD; p++) {
        char name[8];
        snprintf(name, sizeof(name), "p%u", p);
        is_out[p] = is_evicted(s, name);
        has_lost[h->group[p]] |= is_out[p];
        n += is_out[p];
        EXPECT(!is_out[p] || h->priority[p] < 3);
    }
    for (uint32_t p = 0; p < HERD; p++) {
        bool is_whole = h->group[p] < GROUPS && h->is_whole[h->group[p]];
        EXPECT(!is_whole || is_out[p] == has_lost[h->group[p]]);
    }
    EXPECT(n > 0);
}

static bool is_tie(const struct explanation *x, struct str node)
{
    for (uint32_t i = 0; i < x->preemption->n_ties; i++)
        if (str_equal(x->preemption->ties[i], node))
            return true;
    return false;
}

TEST(preempt, of_a_group_that_goes_as_a_whole_all_go_or_none)
{
    uint32_t found = 0;
    for (int round = 0; round < 300; round++) {
        test_case("round %d", round);
        AUTO(stage) s = {0};
        AUTO(explanation) x = {0};
        struct herd h = {.rng = rng_seeded(test_seed() + (uint64_t)round)};
        put_herd(&s, &h);
        int cpu = 1 + (int)rng_below(&h.rng, 4);
        stage_put(&s, "pod high cpu=%d priority=3 %s", cpu,
                  rng_below(&h.rng, 3) ? "" : "apart:zone:app=a");
        plan_for(&s, "high", &x);
        stage_run(&s);
        if (!x.preemption || !x.preemption->best)
            continue;
        found++;
        EXPECT(is_tie(&x, stage_effect(&s, "high")->node));
        check_evicted(&s, &h);
    }
    EXPECT(found > 100);
}
