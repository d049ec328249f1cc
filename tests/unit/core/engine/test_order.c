#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

/* The order in which the pods of the last run got their node, as "a b c". */
static struct str order(struct stage *s)
{
    buf_clear(&s->text);
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_BIND)
            buf_printf(&s->text, "%s" STR_FMT, s->text.n ? " " : "", STR_ARG(e->pod));
    return buf_str(&s->text);
}

#define NEXUS "scheduler=kubenexus-scheduler"

TEST(order, is_priority_then_age_then_name)
{
    AUTO(stage) s = {.now_ms = 10000};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod d " NEXUS " created=5");
    stage_put(&s, "pod c " NEXUS " created=5");
    stage_put(&s, "pod b " NEXUS " created=4");
    stage_put(&s, "pod a " NEXUS " created=9 priority=7");
    stage_run(&s);
    EXPECT_STR(order(&s), "a b c d");
}

TEST(order, who_has_waited_for_a_minute_goes_before_all_but_the_critical)
{
    AUTO(stage) s = {.now_ms = 0};
    stage_put(&s, "node n1 cpu=1 memory=8Gi");
    stage_put(&s, "pod x cpu=1 on=n1");
    stage_put(&s, "pod old cpu=1 " NEXUS " created=0 preempts=Never");
    stage_run(&s);
    s.now_ms = 60000; /* a minute is not more than a minute */
    stage_put(&s, "pod new cpu=1 " NEXUS " created=60 priority=100 preempts=Never");
    stage_put(&s, "node n2 cpu=1 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "new");
    s.now_ms = 75000;
    stage_put(&s, "pod next cpu=1 " NEXUS " created=60 priority=100 preempts=Never");
    stage_put(&s, "pod vital cpu=1 " NEXUS " created=60 priority=1000000000 preempts=Never");
    stage_put(&s, "node n3 cpu=2 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "vital old");
}

TEST(order, how_long_is_long_is_configured)
{
    struct coscheduling_args args = COSCHEDULING_DEFAULTS;
    args.starve_ms = 300000;
    AUTO(stage) s = {0};
    stage_set_gangs(&s, &args);
    stage_put(&s, "node n1 cpu=1 memory=8Gi");
    stage_put(&s, "pod x cpu=1 on=n1");
    stage_put(&s, "pod old cpu=1 " NEXUS " created=0 preempts=Never");
    stage_run(&s);
    s.now_ms = 61000;
    stage_run(&s);
    EXPECT(!s.engine->units.at[1].is_starving);
    s.now_ms = 301000;
    stage_run(&s);
    EXPECT(s.engine->units.at[1].is_starving);
}

TEST(order, gold_tenants_have_a_little_more_priority)
{
    AUTO(stage) s = {.now_ms = 10000};
    stage_put(&s, "namespace rich label:tenant.kubenexus.io/tier=gold");
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod a " NEXUS " created=1 priority=19");
    stage_put(&s, "pod b " NEXUS " created=1 priority=20");
    stage_put(&s, "pod c " NEXUS " created=9 namespace=rich");
    stage_put(&s, "pod d " NEXUS " created=1 priority=21");
    stage_run(&s);
    EXPECT_STR(order(&s), "d b c a");
}

TEST(order, pods_of_other_profiles_stand_in_line_as_ever)
{
    AUTO(stage) s = {.now_ms = 0};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod z created=3");
    stage_put(&s, "pod y created=1");
    stage_put(&s, "pod x created=2 priority=1");
    stage_run(&s);
    EXPECT_STR(order(&s), "x z y");
}

TEST(order, a_gang_has_the_age_and_name_of_the_gang)
{
    AUTO(stage) s = {.now_ms = 10000};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod p0 gang=g:2 created=3");
    stage_put(&s, "pod q0 gang=h:2 created=1");
    stage_put(&s, "pod q1 gang=h:2 created=9");
    stage_put(&s, "pod p1 gang=g:2 created=1");
    stage_run(&s);
    EXPECT_STR(order(&s), "p0 p1 q0 q1");
}

/* Those that came early lend no age to those that came late. */
TEST(order, a_gang_has_waited_since_the_last_of_those_who_wait_came)
{
    AUTO(stage) s = {.now_ms = 100000};
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_put(&s, "pod early-0 cpu=1 gang=g:2 created=1");
    stage_put(&s, "pod early-1 cpu=99 gang=g:2 created=1");
    stage_put(&s, "pod late cpu=1 gang=g:2 created=99");
    stage_put(&s, "pod other cpu=1 " NEXUS " created=90 priority=1");
    EXPECT(!s.engine->units.at[s.engine->gangs->all.at[0].leader].is_starving);
    stage_run(&s);
    EXPECT_STR(order(&s), "other early-0 late");
}

TEST(order, a_late_member_of_a_gang_that_runs_is_young)
{
    AUTO(stage) s = {.now_ms = 100000};
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 created=1 on=n1");
    stage_put(&s, "pod g-1 cpu=1 gang=g:2 created=1 on=n1");
    stage_put(&s, "pod g-2 cpu=1 gang=g:2 created=97");
    stage_put(&s, "pod other cpu=1 " NEXUS " created=98 priority=100");
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "other g-2");
}

TEST(order, what_is_left_of_a_gang_is_as_old_as_those_who_are_left)
{
    AUTO(stage) s = {.now_ms = 100000};
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 created=1");
    stage_put(&s, "pod g-1 cpu=1 gang=g:2 created=1 priority=100");
    stage_put(&s, "pod g-2 cpu=1 gang=g:2 created=99");
    stage_remove(&s, "pod g-1"); /* nor does it leave its priority behind */
    stage_put(&s, "pod other cpu=1 " NEXUS " created=98 priority=50");
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "other g-0 g-2");

    AUTO(stage) t = {.now_ms = 100000}; /* who came late has gone: the others have waited long */
    stage_put(&t, "pod g-0 cpu=1 gang=g:2 created=1");
    stage_put(&t, "pod g-1 cpu=1 gang=g:2 created=1");
    stage_put(&t, "pod g-2 cpu=1 gang=g:2 created=99");
    stage_remove(&t, "pod g-2");
    stage_put(&t, "pod other cpu=1 " NEXUS " created=98 priority=50");
    stage_put(&t, "node n1 cpu=8 memory=8Gi");
    stage_run(&t);
    EXPECT_STR(order(&t), "g-0 g-1 other");
}

/* A group of the same name, made anew, or an old pod that is moved into it, makes nobody older. */
#define GROUP_MADE(uid, second)                                                                    \
    "{'kind':'PodGroup','apiVersion':'scheduling.x-k8s.io/v1alpha1','metadata':{'name':'g',"       \
    "'namespace':'default','uid':'" uid "','creationTimestamp':'1970-01-01T00:00:" second "Z'},"   \
    "'spec':{'minMember':2}}"

TEST(order, neither_an_old_name_nor_an_old_pod_makes_a_gang_old)
{
    AUTO(stage) s = {.now_ms = 100000};
    stage_put(&s, GROUP_MADE("first", "01"));
    stage_put(&s, "pod g-0 cpu=1 gang=g:2 created=1");
    stage_put(&s, "pod g-1 cpu=1 gang=g:2 created=1");
    stage_remove(&s, "pod g-0");
    stage_remove(&s, "pod g-1");
    stage_remove(&s, GROUP_MADE("first", "01"));
    stage_put(&s, GROUP_MADE("second", "59"));
    stage_put(&s, "pod old cpu=1 " NEXUS " created=1 priority=-1");
    stage_put(&s, "pod g-2 cpu=1 gang=g:2 created=97");
    stage_put(&s, "pod g-3 cpu=1 gang=g:2 created=97");
    stage_put(&s, "pod old cpu=1 gang=g:2 created=1 priority=-1");
    stage_put(&s, "pod other cpu=1 " NEXUS " created=98 priority=100");
    stage_put(&s, "node n1 cpu=8 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "other g-2 g-3 old");
}

/* A full node is freed: who was refused a second ago has its turn like all others. */
static void free_a_node(struct stage *s, const char *first, const char *second)
{
    stage_put(s, "node n1 cpu=2 memory=8Gi");
    stage_put(s, "pod x cpu=2 on=n1");
    s->now_ms = 1000;
    for (int i = 0; i < 2; i++)
        stage_put(s, "pod g-%d cpu=1 created=1 preempts=Never %s", i, first);
    stage_run(s);
    s->now_ms = 30000;
    for (int i = 0; i < 2; i++)
        stage_put(s, "pod h-%d cpu=1 created=30 preempts=Never %s", i, second);
    stage_run(s);
    stage_remove(s, "pod x");
    stage_run(s);
}

TEST(order, counts_however_lately_a_unit_was_refused)
{
    AUTO(stage) s = {0};
    free_a_node(&s, "gang=g:2", "gang=h:2 priority=5");
    EXPECT_STR(order(&s), "h-0 h-1");

    AUTO(stage) tenants = {0};
    stage_put(&tenants, "namespace rich label:tenant.kubenexus.io/tier=gold");
    free_a_node(&tenants, "gang=g:2", "gang=h:2 namespace=rich");
    EXPECT_STR(order(&tenants), "h-0 h-1");

    AUTO(stage) pods = {0};
    free_a_node(&pods, NEXUS, NEXUS " priority=5");
    EXPECT_STR(order(&pods), "h-0 h-1");
}

TEST(order, of_pods_of_other_profiles_lets_those_go_first_whose_backoff_is_over)
{
    AUTO(stage) s = {0};
    free_a_node(&s, "", "priority=5");
    EXPECT_STR(order(&s), "g-0 g-1");
}

TEST(order, a_member_that_is_being_bound_makes_its_gang_no_more_important)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod g-%d cpu=1 " NEXUS " gang=g:2 created=%d", i, i);
    stage_put(&s, "pod x cpu=1 " NEXUS " created=9 preempts=Never");
    stage_run(&s);
    EXPECT_STR(order(&s), "g-0 g-1");
    stage_put(&s, "pod x cpu=1 " NEXUS " created=9 priority=5 preempts=Never");
    stage_put(&s, "pod g-0 cpu=1 " NEXUS " gang=g:2 created=0 priority=10 label:a=b");
    stage_put(&s, "node n2 cpu=1 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "x");
}

TEST(order, a_member_that_leaves_as_it_changes_takes_its_priority_along)
{
    AUTO(stage) s = {0};
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod g-%d cpu=1 " NEXUS " gang=g:2 created=%d priority=%d", i, i,
                  i == 1 ? 10 : 0);
    stage_put(&s, "pod g-1 cpu=1 gang=g:2 scheduler=nobody created=1 priority=0");
    stage_put(&s, "pod x cpu=1 " NEXUS " created=9 priority=7");
    stage_put(&s, "node n1 cpu=3 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "x g-0 g-2");
}

TEST(order, an_error_is_waited_out)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=8Gi");
    stage_put(&s, "pod a cpu=1 priority=9 " NEXUS);
    stage_run(&s);
    stage_settle(&s, "a", "the API server is in trouble");
    stage_put(&s, "pod b cpu=1 " NEXUS);
    stage_run(&s);
    EXPECT_STR(order(&s), "b");
}

TEST(order, a_tenant_may_turn_out_to_be_gold_later)
{
    AUTO(stage) s = {.now_ms = 10000};
    stage_put(&s, "pod a " NEXUS " cpu=1 created=1");
    stage_put(&s, "pod b " NEXUS " cpu=1 created=9 namespace=rich");
    stage_put(&s, "namespace rich label:tenant.kubenexus.io/tier=gold");
    stage_put(&s, "node n1 cpu=2 memory=8Gi");
    stage_run(&s);
    EXPECT_STR(order(&s), "b a");
}
