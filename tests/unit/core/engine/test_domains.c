#include "core/engine/step/step.h"
#include "core/model/topology.h"
#include "support/stage.h"
#include "support/test.h"

#define RACK   "label:network.kubenexus.io/rack-id="
#define SWITCH "label:network.kubenexus.io/fabric-id="
#define CLIQUE "label:nvidia.com/gpu.clique="
#define STRICT "note:scheduling.kubenexus.io/co-locate=strict"

/* Nodes n0, n1, …: where they are, with `free` cores each. */
static void put_nodes(struct stage *s, uint32_t from, uint32_t n, int free, const char *where)
{
    for (uint32_t i = from; i < from + n; i++)
        stage_put(s, "node n%u cpu=%d memory=64Gi %s", i, free, where);
}

static void put_gang(struct stage *s, uint32_t n, const char *more)
{
    for (uint32_t i = 0; i < n; i++)
        stage_put(s, "pod a-%u cpu=1 gang=a:%u %s", i, n, more);
}

/* "0 0 3": the nodes of a-0, a-1, …; "-" for one that is not bound. */
static const char *members(struct stage *s, uint32_t n)
{
    buf_clear(&s->text);
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "a-%u", i);
        const struct effect *e = stage_effect(s, name);
        bool is_bound = e && e->kind == EFFECT_BIND;
        buf_printf(&s->text, "%s" STR_FMT, i ? " " : "",
                   STR_ARG(is_bound ? str_part(e->node, 1, e->node.n) : STR("-")));
    }
    buf_add_bytes(&s->text, "", 1);
    return s->text.p;
}

TEST(domains, the_tightest_that_holds_the_gang_is_taken)
{
    static const struct {
        const char *where[3];
        int free[3];
        const char *expect;
    } cases[] = {
        /* a switch before a rack before any two nodes */
        {{RACK "r " SWITCH "s1", RACK "r " SWITCH "s2", RACK "q " SWITCH "s2"},
         {2, 2, 2},
         "1 1 2 2"},
        {{RACK "r " SWITCH "s1", RACK "q " SWITCH "s1", RACK "r " SWITCH "s2"},
         {2, 2, 3},
         "0 0 1 1"},
        {{RACK "r " SWITCH "s1", RACK "q " SWITCH "s2", RACK "r " SWITCH "s3"},
         {2, 3, 2},
         "0 0 2 2"},
        {{RACK "q", RACK "r", ""}, {2, 2, 3}, "0 0 1 1"},
        /* the one with least to spare */
        {{RACK "r", RACK "q", RACK "p"}, {6, 4, 5}, "1 1 1 1"},
        {{CLIQUE "c.1", CLIQUE "c.2", CLIQUE "c.3"}, {3, 9, 4}, "2 2 2 2"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        for (uint32_t n = 0; n < 3; n++)
            put_nodes(&s, n, 1, cases[i].free[n], cases[i].where[n]);
        put_gang(&s, 4, "");
        stage_run(&s);
        EXPECT_TEXT(members(&s, 4), cases[i].expect);
    }
}

TEST(domains, a_strict_gang_waits_for_one_clique)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 0, 1, 3, CLIQUE "u.1 " RACK "r");
    put_nodes(&s, 1, 1, 3, CLIQUE "u.2 " RACK "r");
    put_gang(&s, 4, STRICT);
    stage_run(&s);
    EXPECT_TEXT(members(&s, 4), "- - - -");
    s.now_ms = 20000;
    put_nodes(&s, 2, 1, 4, CLIQUE "u.3 " RACK "q");
    stage_run(&s);
    EXPECT_TEXT(members(&s, 4), "2 2 2 2");
}

TEST(domains, strict_means_the_tightest_domains_that_the_gang_could_use)
{
    AUTO(stage) s = {0}; /* the cliques are of other hardware: a switch it is */
    put_nodes(&s, 0, 1, 8, CLIQUE "u.1 label:kind=gb");
    put_nodes(&s, 1, 1, 2, SWITCH "s1 label:kind=hgx");
    put_nodes(&s, 2, 2, 2, SWITCH "s2 label:kind=hgx");
    put_gang(&s, 4, STRICT " select:kind=hgx");
    stage_run(&s);
    EXPECT_TEXT(members(&s, 4), "2 2 3 3");
    AUTO(stage) t = {0}; /* a clique is asked for, and there is none */
    put_nodes(&t, 0, 1, 8, SWITCH "s1");
    put_gang(&t, 4, "note:scheduling.kubenexus.io/require-clique=true");
    stage_run(&t);
    EXPECT_TEXT(members(&t, 4), "- - - -");
}

TEST(domains, a_gang_that_fits_no_domain_is_split_evenly_over_few)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 0, 2, 3, RACK "r0");
    put_nodes(&s, 2, 1, 2, RACK "r1");
    put_nodes(&s, 3, 2, 3, RACK "r2");
    put_gang(&s, 8, "");
    stage_run(&s);
    uint32_t in[3] = {0};
    for (const char *p = members(&s, 8); *p; p++)
        if (*p >= '0' && *p <= '9')
            in[*p <= '1' ? 0 : *p == '2' ? 1 : 2]++;
    EXPECT_INT(in[0], 4);
    EXPECT_INT(in[1], 0);
    EXPECT_INT(in[2], 4);
}

TEST(domains, ranks_follow_the_tree)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 0, 1, 2, RACK "r3");
    put_nodes(&s, 1, 1, 2, RACK "r1");
    put_nodes(&s, 2, 1, 2, RACK "r2");
    for (uint32_t i = 6; i-- > 0;) /* they come in the other order */
        stage_put(&s, "pod a-%u cpu=1 gang=a:6", i);
    stage_run(&s);
    EXPECT_TEXT(members(&s, 6), "1 1 2 2 0 0");
}

TEST(domains, replacements_return_to_where_the_gang_is)
{
    static const struct {
        int free[3]; /* in its clique, in its rack, elsewhere */
        const char *expect;
    } cases[] = {
        {{1, 1, 1}, "- - - 2"},
        {{0, 1, 1}, "- - - 3"},
        {{0, 0, 1}, "- - - 4"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        put_nodes(&s, 0, 2, 2, CLIQUE "u.1 " RACK "r");
        put_nodes(&s, 2, 1, cases[i].free[0], CLIQUE "u.1 " RACK "r");
        put_nodes(&s, 3, 1, cases[i].free[1], CLIQUE "u.2 " RACK "r");
        put_nodes(&s, 4, 1, cases[i].free[2], CLIQUE "u.3 " RACK "q");
        for (uint32_t p = 0; p < 3; p++)
            stage_put(&s, "pod a-%u cpu=1 gang=a:4 on=n%u phase=Running", p, p / 2);
        stage_put(&s, "pod other cpu=1 on=n1 phase=Running");
        stage_put(&s, "pod a-3 cpu=1 gang=a:4");
        stage_run(&s);
        EXPECT_TEXT(members(&s, 4), cases[i].expect);
    }
}

TEST(domains, every_label_in_the_table_keeps_a_gang_together)
{
    for (uint32_t i = 0; i < n_topology_keys; i++) {
        AUTO(stage) s = {0};
        for (uint32_t n = 0; n < 8; n++)
            stage_put(&s, "node n%u cpu=2 memory=8Gi label:" STR_FMT "=d%u", n,
                      STR_ARG(topology_keys[i].key), n % 2);
        put_gang(&s, 6, "");
        stage_run(&s);
        const char *text = members(&s, 6);
        bool is_odd = (text[0] - '0') % 2;
        for (; *text; text += text[1] ? 2 : 1) {
            EXPECT(*text != '-');
            EXPECT_INT((*text - '0') % 2, is_odd);
        }
    }
}

TEST(domains, a_rack_has_its_name_within_its_zone)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 0, 1, 2, RACK "1 zone=a");
    put_nodes(&s, 1, 1, 2, RACK "1 zone=b");
    put_nodes(&s, 2, 1, 2, RACK "2 zone=b");
    put_gang(&s, 4, "");
    stage_run(&s);
    EXPECT_TEXT(members(&s, 4), "1 1 2 2"); /* not 0 and 1, which only share a name */
}

TEST(domains, a_gang_goes_where_the_network_suits_it)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 0, 2, 2, RACK "r label:network.kubenexus.io/fabric-type=ethernet");
    put_nodes(&s, 2, 3, 2, RACK "q label:network.kubenexus.io/fabric-type=infiniband");
    put_gang(&s, 4, "");
    stage_run(&s);
    for (const char *p = members(&s, 4); *p; p++)
        EXPECT(*p == ' ' || *p >= '2');
}

TEST(domains, who_does_not_care_is_not_kept_together)
{
    AUTO(stage) s = {0}; /* packing alone: the fullest node first, whatever its rack */
    put_nodes(&s, 0, 1, 3, RACK "r");
    put_nodes(&s, 1, 1, 8, RACK "q");
    put_gang(&s, 4, "note:scheduling.kubenexus.io/co-locate=none");
    stage_run(&s);
    EXPECT_TEXT(members(&s, 4), "0 0 0 1");
}

TEST(domains, members_beyond_the_minimum_go_elsewhere_rather_than_wait)
{
    AUTO(stage) s = {0};
    put_nodes(&s, 0, 1, 4, RACK "r");
    put_nodes(&s, 1, 1, 1, RACK "q");
    for (uint32_t i = 0; i < 6; i++)
        stage_put(&s, "pod a-%u cpu=1 gang=a:3", i);
    stage_run(&s);
    EXPECT_TEXT(members(&s, 6), "0 0 0 0 1 -");
}

TEST(domains, a_level_costs_eight_trials_at_most)
{
    AUTO(stage) s = {0}; /* sums say yes for every rack; anti-affinity says no */
    for (uint32_t i = 0; i < 40; i++)
        stage_put(&s, "node n%u cpu=8 memory=8Gi " RACK "r%u", i, i);
    for (uint32_t i = 0; i < 2; i++)
        stage_put(&s, "pod a-%u cpu=1 gang=a:2 label:app=a apart:host:app=a", i);
    stage_run(&s);
    EXPECT(stage_effect(&s, "a-0")->kind == EFFECT_BIND);
    EXPECT(engine_stats(s.engine).decisions <= 8 * 2 + 4);
}

/* Sums say yes for both racks; anti-affinity says no. Nodes elsewhere have reasons of their own. */
TEST(domains, a_refused_gang_hears_of_all_nodes_whatever_was_looked_at)
{
    for (int no_views = 0; no_views < 2; no_views++) {
        AUTO(stage)
        s = {.config = {.checks_views = true, .no_views = no_views}};
        test_case("%s", no_views ? "without views" : "with views");
        stage_put(&s, "node n0 cpu=8 memory=8Gi " RACK "r");
        stage_put(&s, "node n1 cpu=8 memory=8Gi " RACK "q");
        stage_put(&s, "node n2 cpu=8 memory=8Gi taint:a=b:NoSchedule");
        for (uint32_t i = 0; i < 2; i++)
            stage_put(&s, "pod a-%u cpu=1 gang=a:2 " STRICT " label:app=a apart:host:app=a", i);
        stage_run(&s);
        EXPECT_STR(stage_effect(&s, "a-0")->message,
                   "gang a needs 2 x (1 cpu) at once: 0/3 nodes are available: 1 node(s) didn't "
                   "match pod anti-affinity rules, 1 node(s) had untolerated taint(s), 1 node(s) "
                   "outside the gang's domain.");
        stage_put(&s, "node n2 cpu=8 memory=8Gi " RACK "r"); /* it may end the wait */
        stage_run(&s);
        EXPECT(stage_effect(&s, "a-0")->kind == EFFECT_BIND);
    }
}
