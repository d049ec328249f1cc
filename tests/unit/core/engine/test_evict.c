#include <stdlib.h>

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

/* An engine whose kubenexus-scheduler has these rules. */
struct ruled {
    struct eviction_args rules;
    struct profile_plugin plugins[64];
    struct profile profiles[2];
};

static void use_rules(struct stage *s, struct ruled *r)
{
    r->profiles[0] = built_in_profiles[0];
    r->profiles[1] = built_in_profiles[1];
    memcpy(r->plugins, r->profiles[1].plugins, r->profiles[1].n * sizeof(*r->plugins));
    for (uint32_t i = 0; i < r->profiles[1].n; i++)
        if (r->plugins[i].plugin->evicts)
            r->plugins[i].args = &r->rules;
    r->profiles[1].plugins = r->plugins;
    s->config.rules.profiles = r->profiles;
    s->config.rules.n_profiles = LEN(r->profiles);
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* The pods with effects of this kind in the last run: "a b", sorted. */
static const char *who(struct stage *s, enum effect_kind kind)
{
    struct str names[200];
    uint32_t n = 0;
    vec_each(&s->effects.list, e)
        if (e->kind == kind && n < LEN(names))
            names[n++] = e->pod;
    if (n > 1)
        qsort(names, n, sizeof(*names), by_text);
    buf_clear(&s->text);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&s->text, "%s" STR_FMT, i ? " " : "", STR_ARG(names[i]));
    return n ? s->text.p : "";
}

/* "line;line": each is put, behind `prefix`. */
static void put_all(struct stage *s, const char *prefix, const char *lines)
{
    struct str rest = str_of(lines);
    while (rest.n) {
        size_t end = str_find(rest, ';');
        stage_put(s, "%s" STR_FMT, prefix, STR_ARG(str_part(rest, 0, end)));
        rest = str_part(rest, MIN(end + 1, rest.n), rest.n);
    }
}

/* The victims are gone; what is evicted next, or bound. */
static void let_go(struct stage *s)
{
    VEC(struct str) names = {0};
    struct arena mem = {0};
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_EVICT) {
            engine_settle(s->engine, s->now_ms, e->id, NULL);
            vec_push(&names, arena_str(&mem, e->pod));
        }
    vec_each(&names, name)
        stage_remove(s, "pod " STR_FMT, STR_ARG(*name));
    vec_done(&names);
    arena_done(&mem);
    s->now_ms += 11000; /* nobody backs off any more */
    stage_run(s);
}

/* Puts the gang g of these pods ("N x words;N x words"); one pod is alone. */
static void put_gang(struct stage *s, const char *lines, int minimum)
{
    struct str rest = str_of(lines);
    for (int n = 0; rest.n;) {
        struct str words = str_take(&rest, ';');
        int64_t count;
        bool is_number = str_int(str_take(&words, 'x'), &count);
        assert(is_number);
        for (; count > 0; count--, n++)
            if (minimum > 1)
                stage_put(s, "pod g-%d gang=g:%d " STR_FMT, n, minimum, STR_ARG(words));
            else
                stage_put(s, "pod g-%d scheduler=kubenexus-scheduler " STR_FMT, n, STR_ARG(words));
    }
}

/* On n1 and n2, which have 4 CPUs each. */
struct story {
    const char *there;
    const char *gang;
    int minimum;
    const char *victims, *bound;
};

static void tell_story(struct stage *s, const struct story *story)
{
    test_case("%s / %s", story->there, story->gang);
    put_all(s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi");
    put_all(s, "pod ", story->there);
    put_gang(s, story->gang, story->minimum);
    stage_run(s);
    EXPECT_TEXT(who(s, EFFECT_EVICT), story->victims);
    EXPECT_TEXT(who(s, EFFECT_BIND), "");
    let_go(s);
    EXPECT_TEXT(who(s, EFFECT_EVICT), "");
    EXPECT_TEXT(who(s, EFFECT_BIND), story->bound);
}

TEST(evict, a_gang_evicts_whom_it_must_and_binds_when_they_are_gone)
{
    static const struct story cases[] = {
        {"a cpu=4 on=n1;b cpu=4 on=n2 priority=5", "1xcpu=4 priority=9", 1, "a", "g-0"},
        {"a cpu=4 on=n1;b cpu=4 on=n2", "2xcpu=4 priority=9", 2, "a b", "g-0 g-1"},
        /* free room counts */
        {"a cpu=4 on=n1", "2xcpu=4 priority=9", 2, "a", "g-0 g-1"},
        {"a cpu=2 on=n1;b cpu=3 on=n2", "3xcpu=2 priority=9", 3, "b", "g-0 g-1 g-2"},
        /* who is not in the way stays */
        {"a cpu=1 on=n1;b cpu=3 on=n1;c cpu=4 on=n2 priority=9",
         "1xcpu=3 priority=9;1xcpu=1 priority=9", 2, "a b", "g-0 g-1"},
        {"a cpu=1 on=n1;b cpu=3 on=n1;c cpu=4 on=n2 priority=9",
         "1xcpu=2 priority=9;1xcpu=1 priority=9", 2, "b", "g-0 g-1"},
        /* nobody goes for a part of the gang */
        {"a cpu=4 on=n1;b cpu=4 on=n2 priority=9", "2xcpu=4 priority=9", 2, "", ""},
        {"a cpu=4 on=n1;b cpu=4 on=n2", "2xcpu=5 priority=9", 2, "", ""},
        /* nor for those beyond its minimum */
        {"a cpu=4 on=n1;b cpu=4 on=n2", "3xcpu=4 priority=9", 2, "a b", "g-0 g-1"},
        /* nor of its equals, nor of who may not go */
        {"a cpu=4 on=n1 priority=9", "2xcpu=4 priority=9", 2, "", ""},
        {"a cpu=4 on=n1", "2xcpu=4 priority=9 preempts=Never", 2, "", ""},
        {"a cpu=4 on=n1 priority=2000000000", "2xcpu=4 priority=2000000001", 2, "", ""},
        {"a cpu=4 on=n1 namespace=kube-system", "2xcpu=4 priority=9", 2, "", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        tell_story(&s, &cases[i]);
    }
}

TEST(evict, a_gang_goes_whole_or_what_it_has_beyond_its_minimum)
{
#define LOW2 "l-0 cpu=2 gang=l:2 on=n1;l-1 cpu=2 gang=l:2 on=n2"
#define LOW3 "l-0 cpu=2 gang=l:2 on=n1;l-1 cpu=2 gang=l:2 on=n2;l-2 cpu=2 gang=l:2 on=n2"
#define HIGH "h-0 cpu=2 priority=9 on=n1"
    static const struct story cases[] = {
        {LOW2 ";" HIGH ";h-1 cpu=2 priority=9 on=n2", "1xcpu=2 priority=9", 1, "l-0 l-1", "g-0"},
        {LOW3 ";" HIGH, "1xcpu=2 priority=9", 1, "l-2", "g-0"},
        {LOW3 ";" HIGH, "2xcpu=2 priority=9", 2, "l-0 l-1 l-2", "g-0 g-1"},
        {LOW3 ";" HIGH, "1xcpu=4 priority=9", 1, "l-0 l-1 l-2", "g-0"},
        /* a single pod rather than a gang */
        {LOW2 ";" HIGH ";x cpu=2 on=n2 label:workload.kubenexus.io/type=training",
         "2xcpu=1 priority=9", 2, "x", "g-0 g-1"},
        /* one of its members is important: it stays whole */
        {"l-0 cpu=4 gang=l:2 on=n1;l-1 cpu=4 gang=l:2 on=n2 priority=20", "1xcpu=2 priority=9", 1,
         "", ""},
        {"l-0 cpu=4 gang=l:1 on=n1;l-1 cpu=4 gang=l:1 on=n2 priority=20", "1xcpu=2 priority=9", 1,
         "l-0", "g-0"},
        /* of two gangs the one that is less important */
        {"l-0 cpu=2 gang=l:2 on=n1 priority=1;l-1 cpu=2 gang=l:2 on=n2 priority=1;"
         "m-0 cpu=2 gang=m:2 on=n1;m-1 cpu=2 gang=m:2 on=n2",
         "2xcpu=2 priority=9", 2, "m-0 m-1", "g-0 g-1"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        tell_story(&s, &cases[i]);
    }
}

TEST(evict, a_group_that_says_so_goes_whole_or_not_at_all)
{
    static const struct {
        const char *spec, *victims;
    } cases[] = {
        {"'schedulingPolicy':{'gang':{'minCount':2}},'disruptionMode':{'single':{}}", "l-2"},
        {"'schedulingPolicy':{'gang':{'minCount':2}},'disruptionMode':{'all':{}}", "l-0 l-1 l-2"},
        {"'schedulingPolicy':{'basic':{}},'disruptionMode':{'all':{}}", "l-0 l-1 l-2"},
        {"'schedulingPolicy':{'basic':{}}", "l-0"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].spec);
        put_all(&s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi");
        stage_put(&s,
                  "{'apiVersion':'scheduling.k8s.io/v1beta1','kind':'PodGroup','metadata':"
                  "{'name':'l','namespace':'default'},'spec':{%s}}",
                  cases[i].spec);
        put_all(&s, "pod ",
                "l-0 cpu=2 group=l on=n1;l-1 cpu=2 group=l on=n2;l-2 cpu=2 group=l "
                "on=n2;" HIGH);
        put_gang(&s, "1xcpu=2 priority=9", 1);
        stage_run(&s);
        EXPECT_TEXT(who(&s, EFFECT_EVICT), cases[i].victims);
        let_go(&s);
        EXPECT_TEXT(who(&s, EFFECT_BIND), "g-0");
    }
}

TEST(evict, a_group_of_which_nobody_knows_the_size_goes_whole_or_not_at_all)
{
    AUTO(stage) s = {0};
    put_all(&s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi");
    put_all(&s, "pod ",
            "l-0 cpu=2 group=l on=n1;l-1 cpu=2 group=l on=n2;l-2 cpu=2 group=l on=n2;" HIGH);
    put_gang(&s, "1xcpu=2 priority=9", 1);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "l-0 l-1 l-2");
}

TEST(evict, who_loses_least_goes_first)
{
    /* a and b, one on each node, are all alike but for this */
    static const struct {
        const char *a, *b;
        const char *victim;
    } cases[] = {
        {"namespace=silver", "namespace=bronze", "b"},
        {"namespace=gold priority=1", "namespace=bronze priority=5", "b"},
        {"priority=2", "priority=1", "b"},
        {"label:workload.kubenexus.io/type=service", "label:workload.kubenexus.io/type=batch", "b"},
        {"label:workload.kubenexus.io/type=inference", "label:workload.kubenexus.io/type=training",
         "b"},
        {"label:workload.kubenexus.io/type=training", "label:workload.kubenexus.io/type=batch",
         "b"},
        {"label:workload.kubenexus.io/type=batch",
         "label:workload.kubenexus.io/type=service label:workload.kubenexus.io/preemptible=true",
         "b"},
        {"gpu=1 started=100", "gpu=1 started=900", "b"},
        {"gpu=1 started=900", "started=100", "b"},
        {"started=100", "started=900", "b"},
        {"label:app=a", "priority=5", "b"}, /* a has a budget */
    };
    for (size_t i = 0; i < LEN(cases); i++)
        for (int turn = 0; turn < 2; turn++) {
            test_case("%s / %s / %d", cases[i].a, cases[i].b, turn);
            AUTO(stage) s = {.now_ms = 1000000};
            put_all(&s, "namespace ",
                    "gold label:tenant.kubenexus.io/tier=gold;silver "
                    "label:tenant.kubenexus.io/tier=silver;bronze "
                    "label:tenant.kubenexus.io/tier=bronze");
            put_all(&s, "node ", "n1 cpu=4 memory=8Gi gpu=1;n2 cpu=4 memory=8Gi gpu=1");
            stage_put(&s, "budget x allowed=0 app=a");
            stage_put(&s, "pod a cpu=4 on=n%d %s", 1 + turn, cases[i].a);
            stage_put(&s, "pod b cpu=4 on=n%d %s", 2 - turn, cases[i].b);
            stage_put(&s, "pod g-0 cpu=2 gang=g:2 priority=9 namespace=gold");
            stage_put(&s, "pod g-1 cpu=2 gang=g:2 priority=9 namespace=gold");
            stage_run(&s);
            EXPECT_TEXT(who(&s, EFFECT_EVICT), cases[i].victim);
        }
}

TEST(evict, the_rules_say_who_may_go)
{
    static const struct {
        const char *rule;
        const char *victims;
    } cases[] = {
        /* a: bronze, priority 5, service; b: gold, priority 1, batch, protected by a budget; c:
  * silver, priority 20, backfill */
        {"defaults", "a"},
        {"priority first", "b"},
        {"workload first", "b"},
        {"tier over priority", "a"},
        {"tier over priority, alone", "c"},
        {"preemptible only", ""},
        {"preemptible only, and tiers", "c"},
        {"bronze is spared", "b"},
        {"budgets, and bronze spared", ""},
        {"nobody", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].rule);
        static const struct str bronze[] = {STR("bronze")};
        struct ruled r = {.rules = eviction_defaults};
        AUTO(stage) s = {.now_ms = 1000000};
        const char *rule = cases[i].rule;
        bool tiers = str_starts(str_of(rule), STR("tier over")) || i == 6;
        r.rules.tier_first = tiers;
        r.rules.preemptible_alone = i == 5 || i == 6;
        r.rules.most_victims = i == 9 ? 0 : 50;
        r.rules.keeps_budgets = i == 8;
        if (i == 1 || i == 2) {
            r.rules.order[0] = i == 1 ? VICTIM_PRIORITY : VICTIM_WORKLOAD;
            r.rules.order[i] = VICTIM_TIER;
        }
        if (i == 7 || i == 8) {
            r.rules.spared.at = bronze;
            r.rules.spared.n = 1;
        }
        use_rules(&s, &r);
        put_all(&s, "namespace ",
                "gold label:tenant.kubenexus.io/tier=gold;silver "
                "label:tenant.kubenexus.io/tier=silver;bronze "
                "label:tenant.kubenexus.io/tier=bronze");
        put_all(&s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi;n3 cpu=4 memory=8Gi");
        stage_put(&s, "budget x namespace=gold allowed=0 app=b");
        if (i != 4)
            stage_put(&s, "pod a cpu=4 on=n1 namespace=bronze priority=5 "
                          "label:workload.kubenexus.io/type=service");
        stage_put(&s,
                  "pod b cpu=4 on=n2 namespace=gold priority=%d label:app=b "
                  "label:workload.kubenexus.io/type=batch",
                  i == 4 ? 9 : 1);
        stage_put(&s, "pod c cpu=4 on=n3 namespace=silver priority=20 "
                      "label:workload.kubenexus.io/preemptible=true");
        if (i == 4)
            stage_remove(&s, "node n1");
        if (i == 1 || i == 2)
            stage_remove(&s, "budget x namespace=gold");
        stage_put(&s, "pod g-0 cpu=2 gang=g:2 priority=9 namespace=gold");
        stage_put(&s, "pod g-1 cpu=2 gang=g:2 priority=9 namespace=gold");
        stage_run(&s);
        EXPECT_TEXT(who(&s, EFFECT_EVICT), cases[i].victims);
    }
}

TEST(evict, a_budget_that_is_kept_is_named_to_those_in_its_namespace)
{
    static const struct {
        const char *namespace, *who;
    } cases[] = {
        {"gold", "PodDisruptionBudget x"},
        {"silver", "a PodDisruptionBudget of another namespace"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct ruled r = {.rules = eviction_defaults};
        AUTO(stage) s = {.now_ms = 1000000};
        r.rules.keeps_budgets = true;
        use_rules(&s, &r);
        stage_put(&s, "node n1 cpu=4 memory=8Gi");
        stage_put(&s, "budget x namespace=gold allowed=0 app=b");
        stage_put(&s, "pod b cpu=4 on=n1 namespace=gold label:app=b");
        for (int j = 0; j < 2; j++)
            stage_put(&s, "pod g-%d cpu=2 gang=g:2 priority=9 namespace=%s", j, cases[i].namespace);
        stage_run(&s);
        AUTO(buf) want = {0};
        buf_printf(&want,
                   "gang g needs 2 x (2 cpu); 0 fit now; short of 4 cpu; preemption: not helpful: "
                   "those who would "
                   "make room are kept by %s.",
                   cases[i].who);
        EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
        EXPECT_STR(stage_effect(&s, "g-0")->message, want.p);
        stage_put(&s, "budget x namespace=gold allowed=1 app=b");
        stage_put(&s, "pod g-2 cpu=2 gang=g:2 priority=9 namespace=%s", cases[i].namespace);
        s.now_ms += 60000;
        stage_run(&s);
        EXPECT_TEXT(who(&s, EFFECT_EVICT), "b");
    }
}

/* A full node, and who is on it may not go for another half a minute. */
static void put_young(struct stage *s, struct ruled *r)
{
    r->rules.least_run_ms = 60000;
    use_rules(s, r);
    put_all(s, "node ", "n1 cpu=4 memory=8Gi");
    stage_put(s, "pod a cpu=4 on=n1 started=970");
}

TEST(evict, who_has_not_run_long_enough_is_left_alone_until_then)
{
    struct ruled r = {.rules = eviction_defaults};
    AUTO(stage) s = {.now_ms = 1000000};
    put_young(&s, &r);
    put_gang(&s, "2xcpu=2 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 1030000);
    s.now_ms = 1029999;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    s.now_ms = 1030000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a");
}

TEST(evict, who_may_go_later_does_not_keep_others_from_going_now)
{
    struct ruled r = {.rules = eviction_defaults};
    AUTO(stage) s = {.now_ms = 1000000};
    put_young(&s, &r);
    put_gang(&s, "2xcpu=2 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    stage_put(&s, "pod b cpu=4 on=n2 started=10");
    put_all(&s, "node ", "n2 cpu=4 memory=8Gi");
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "b");
}

TEST(evict, a_pod_comes_back_when_who_is_in_its_way_has_run_long_enough)
{
    struct ruled r = {.rules = eviction_defaults};
    AUTO(stage) s = {.now_ms = 1000000};
    put_young(&s, &r);
    stage_put(&s, "pod x cpu=2 priority=9 scheduler=kubenexus-scheduler");
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), 1030000);
    s.now_ms = 1029999;
    EXPECT_INT(stage_run(&s), 0); /* nothing has happened: it is not even tried */
    s.now_ms = 1030000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a");
}

TEST(evict, the_fewest_go_that_make_room)
{
    AUTO(stage) s = {.now_ms = 1000000};
    for (int n = 0; n < 10; n++) /* to clear n4 costs one pod, any other four */
        stage_put(&s, "node n%d cpu=4 memory=8Gi", n);
    for (int n = 0; n < 10; n++)
        for (int i = 0; i < (n == 4 || n == 7 ? 1 : 4); i++)
            stage_put(&s, "pod p%d-%d cpu=%d on=n%d started=900", n, i, n == 4 || n == 7 ? 4 : 1,
                      n);
    put_gang(&s, "2xcpu=4 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "p4-0 p7-0");
}

/* More candidates than are looked at, of which the cheapest free nothing that would do. */
TEST(evict, thousands_of_small_pods_do_not_hide_those_who_are_in_the_way)
{
    enum { NODES = 60, SMALL = 80 };
    for (int alone = 0; alone < 2; alone++) {
        AUTO(stage) s = {0};
        test_case("%s", alone ? "a pod alone" : "a gang");
        for (int n = 0; n < NODES; n++)
            stage_put(&s, "node n%d cpu=7 memory=8Gi", n);
        for (int n = 0; n < NODES; n++)
            for (int i = 0; i < SMALL; i++)
                stage_put(&s, "pod small%d-%d cpu=1m on=n%d namespace=tenant", n, i, n);
        for (int n = 0; n < NODES; n++)
            stage_put(&s, "pod large%02d cpu=6 priority=5 on=n%d", n, n);
        put_gang(&s, alone ? "1xcpu=4 priority=9" : "2xcpu=4 priority=9", alone ? 1 : 2);
        stage_run(&s);
        EXPECT(strncmp(who(&s, EFFECT_EVICT), "large", strlen("large")) == 0);
        let_go(&s);
        EXPECT_TEXT(who(&s, EFFECT_BIND), alone ? "g-0" : "g-0 g-1");
    }
}

TEST(evict, no_more_go_than_the_rules_allow)
{
    struct ruled r = {.rules = eviction_defaults};
    AUTO(stage) s = {0};
    r.rules.most_victims = 3;
    use_rules(&s, &r);
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    for (int i = 0; i < 8; i++)
        stage_put(&s, "pod p-%d cpu=1 on=n1", i);
    put_gang(&s, "2xcpu=2 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    EXPECT_STR(stage_effect(&s, "g-0")->message,
               "gang g needs 2 x (2 cpu); 0 fit now; short of 4 cpu; preemption: more pods would "
               "have to go than maxVictims allows.");
    put_gang(&s, "2xcpu=1 priority=9", 2);
    s.now_ms += 20000;
    stage_run(&s);
    EXPECT_INT(strlen(who(&s, EFFECT_EVICT)), strlen("p-0 p-1"));
}

TEST(evict, a_gang_and_its_victims_are_told)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "l-0 cpu=2 gang=l:2 on=n1;l-1 cpu=2 gang=l:2 on=n1");
    put_gang(&s, "2xcpu=1 priority=9", 2);
    stage_run(&s);
    const struct effect *e = NULL;
    vec_each(&s.effects.list, x)
        if (x->kind == EFFECT_REFUSE && str_equal(x->pod, STR("g-1")))
            e = x;
    REQUIRE(e);
    EXPECT_STR(e->message, "starts when 2 pods on its nodes are gone. gang g needs 2 x (1 cpu); 0 "
                           "fit now; short of 2 cpu; preemption: preempting 2 victims: gang l (2 "
                           "pods)");
    EXPECT_TEXT(who(&s, EFFECT_NOMINATE), "g-0 g-1");
    EXPECT_STR(stage_effect(&s, "l-0")->node, "n1");
    EXPECT_STR(stage_effect(&s, "l-0")->by_scheduler, "kubenexus-scheduler");
}

TEST(evict, victims_in_other_namespaces_are_not_named)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=5 memory=8Gi");
    put_all(&s, "pod ",
            "l-0 cpu=1 gang=l:2 on=n1 namespace=b;l-1 cpu=1 gang=l:2 on=n1 namespace=b;"
            "mine cpu=1 on=n1;theirs cpu=1 on=n1 namespace=c;own cpu=1 on=n1");
    put_gang(&s, "2xcpu=2500m priority=9", 2);
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "g-1")->node, "n1");
    const struct effect *e = NULL;
    vec_each(&s.effects.list, x)
        if (x->kind == EFFECT_REFUSE)
            e = x;
    REQUIRE(e);
    EXPECT_STR(e->message,
               "starts when 5 pods on its nodes are gone. gang g needs 2 x (2500m cpu); "
               "0 fit now; short of 5 cpu; preemption: preempting 5 victims: mine, "
               "own, 3 of other namespaces");
}

TEST(evict, a_third_gang_cannot_take_the_room)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "l-0 cpu=2 gang=l:2 on=n1;l-1 cpu=2 gang=l:2 on=n1");
    put_gang(&s, "2xcpu=2 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "l-0 l-1");
    stage_settle(&s, "l-0", NULL);
    stage_settle(&s, "l-1", NULL);
    put_all(&s, "pod ", "l-0 cpu=2 gang=l:2 on=n1 preempted;l-1 cpu=2 gang=l:2 on=n1 preempted");
    stage_put(&s, "pod t-0 cpu=2 gang=t:2 priority=9");
    stage_put(&s, "pod t-1 cpu=2 gang=t:2 priority=9");
    stage_remove(&s, "pod l-0");
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_BIND), "");
    EXPECT_TEXT(who(&s, EFFECT_EVICT), ""); /* nor does the gang evict again */
    stage_remove(&s, "pod l-1");
    stage_put(&s, "pod z cpu=1 priority=9"); /* nor anybody else */
    stage_run(&s);
    s.now_ms += 15000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "g-1"), "assumed on n1");
    EXPECT_TEXT(stage_fate(&s, "z"), "parked");
}

TEST(evict, room_is_held_for_a_bounded_time)
{
    struct ruled r = {.rules = eviction_defaults};
    AUTO(stage) s = {0};
    r.rules.hold_ms = 60000;
    use_rules(&s, &r);
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "a cpu=2 on=n1;b cpu=2 on=n1 priority=1");
    put_gang(&s, "2xcpu=2 priority=9", 2);
    stage_run(&s);
    stage_settle(&s, "a", NULL);
    stage_settle(&s, "b", NULL);
    put_all(&s, "pod ", "a cpu=2 on=n1 preempted;b cpu=2 on=n1 preempted priority=1");
    stage_remove(&s, "pod a"); /* b takes its time */
    stage_put(&s, "pod z cpu=1 priority=9");
    s.now_ms = 59999;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "z"), "parked");
    s.now_ms = 60000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_NOMINATE), "g-0 g-1"); /* none any more */
    EXPECT_TEXT(stage_fate(&s, "z"), "assumed on n1");
}

TEST(evict, a_gang_waits_for_pods_that_are_leaving_before_it_evicts_others)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "a cpu=2 on=n1 deleting;b cpu=2 on=n1");
    put_gang(&s, "2xcpu=1 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    stage_remove(&s, "pod a");
    stage_run(&s);
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "g-0"), "assumed on n1");
}

TEST(evict, a_gang_evicts_again_only_after_a_while)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=8Gi");
    stage_put(&s, "pod a cpu=4 on=n1");
    put_gang(&s, "2xcpu=2 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a");
    stage_settle(&s, "a", "no"); /* the API server refuses */
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    s.now_ms = 29999;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    s.now_ms = 30000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a");
}

TEST(evict, hopeless_gangs_cost_one_search)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 20; i++) {
        stage_put(&s, "node n%d cpu=4 memory=8Gi", i);
        stage_put(&s, "pod a%d cpu=2 on=n%d", i, i);
        stage_put(&s, "pod b%d cpu=2 on=n%d priority=20", i, i);
    }
    for (int g = 0; g < 10; g++)
        for (int i = 0; i < 30; i++)
            stage_put(&s, "pod g%d-%d cpu=2 gang=g%d:30 priority=9", g, i, g);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    uint64_t logged = engine_stats(s.engine).rows_logged,
             decided = engine_stats(s.engine).decisions;
    s.now_ms = 400000; /* everybody is tried again */
    stage_run(&s);
    EXPECT_INT(engine_stats(s.engine).rows_logged, logged);
    EXPECT_INT(engine_stats(s.engine).decisions, decided);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
}

/* --- evictions that fail --- */

static effect_id plan_of(struct stage *s, const char *pod)
{
    return stage_effect(s, pod)->plan;
}

static void settle_all(struct stage *s, const char *refused)
{
    struct error denied, busy;
    error_set(&denied, ERROR_DENIED, "no");
    error_set(&busy, ERROR_BUSY, "another may not");
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_EVICT)
            engine_settle(s->engine, s->now_ms, e->id,
                          str_equal(e->pod, str_of(refused)) ? &denied : &busy);
}

TEST(evict, several_that_go_for_one_gang_are_one_plan)
{
    AUTO(stage) s = {0};
    put_all(&s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi;n3 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "a cpu=4 on=n1;b cpu=4 on=n2;c cpu=4 on=n3 priority=3");
    put_gang(&s, "2xcpu=4 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a b");
    EXPECT(plan_of(&s, "a") != 0 && plan_of(&s, "a") == plan_of(&s, "b"));
    stage_put(&s, "pod h cpu=4 priority=9 scheduler=kubenexus-scheduler");
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "c");
    EXPECT(plan_of(&s, "c") == 0); /* by itself */
}

TEST(evict, who_may_not_go_is_left_alone_and_others_are_looked_for_at_once)
{
    AUTO(stage) s = {0};
    put_all(&s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi;n3 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "a cpu=4 on=n1;b cpu=4 on=n2;c cpu=4 on=n3 priority=3");
    put_gang(&s, "2xcpu=4 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a b");
    settle_all(&s, "a");
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "b c");
    settle_all(&s, "b");
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), ""); /* one is not enough: nobody goes, */
    EXPECT_TEXT(stage_fate(&s, "g-0"), "parked");
    stage_put(&s, "node n4 cpu=1 memory=8Gi");
    stage_put(&s, "pod d cpu=1");
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n4"); /* and nothing is held */
    s.now_ms += 300000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a b"); /* in time it is asked again */
}

TEST(evict, nobody_else_goes_while_some_are_leaving)
{
    AUTO(stage) s = {0};
    put_all(&s, "node ", "n1 cpu=4 memory=8Gi;n2 cpu=4 memory=8Gi;n3 cpu=4 memory=8Gi");
    put_all(&s, "pod ", "a cpu=4 on=n1;b cpu=4 on=n2;c cpu=4 on=n3 priority=3");
    put_gang(&s, "2xcpu=4 priority=9", 2);
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "a b");
    effect_id a = stage_effect(&s, "a")->id, b = stage_effect(&s, "b")->id;
    struct error denied;
    error_set(&denied, ERROR_DENIED, "no");
    engine_settle(s.engine, s.now_ms, b, &denied); /* although it was said that it would */
    engine_settle(s.engine, s.now_ms, a, NULL);
    stage_put(&s, "pod a cpu=4 on=n1 preempted");
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "");
    stage_remove(&s, "pod a");
    s.now_ms += 11000;
    stage_run(&s);
    EXPECT_TEXT(who(&s, EFFECT_EVICT), "c"); /* what became free is not given up */
}
