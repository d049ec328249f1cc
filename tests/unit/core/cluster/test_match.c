#include "core/cluster/match.h"

#include "support/ground.h"
#include "support/test.h"

/* Does a pod with these rules accept the node of this line? */
static bool accepts(struct ground *g, const char *rules, const char *node)
{
    struct cluster *c = ground_cluster(g);
    char line[256] = "pod p ";
    assert(strlen(rules) < 200);
    memcpy(line + 6, rules, strlen(rules));
    struct object o = object_of(&g->mem, line);
    rules_id id = matches_rules(&c->matches, &c->names, o.pod, NULL);
    ground_add(g, "%s", node);
    return cluster_rules_allow(c, id, ground_node(g, "n"), SYM_NONE);
}

TEST(match, each_operator_of_node_affinity)
{
    static const struct {
        const char *rules, *node;
        bool fits;
    } cases[] = {
        {"", "node n", true},
        {"select:disk=ssd", "node n label:disk=ssd", true},
        {"select:disk=ssd", "node n label:disk=hdd", false},
        {"select:disk=ssd", "node n", false},
        {"select:disk=ssd select:gen=2", "node n label:disk=ssd", false},
        {"require:disk:In:ssd|nvme", "node n label:disk=nvme", true},
        {"require:disk:In:ssd|nvme", "node n label:disk=hdd", false},
        {"require:disk:In:ssd", "node n", false},
        {"require:disk:NotIn:hdd", "node n label:disk=ssd", true},
        {"require:disk:NotIn:hdd", "node n label:disk=hdd", false},
        {"require:disk:NotIn:hdd", "node n", true},
        {"require:disk:Exists", "node n label:disk=", true},
        {"require:disk:Exists", "node n", false},
        {"require:disk:DoesNotExist", "node n", true},
        {"require:disk:DoesNotExist", "node n label:disk=x", false},
        {"require:gen:Gt:4", "node n label:gen=5", true},
        {"require:gen:Gt:4", "node n label:gen=4", false},
        {"require:gen:Lt:4", "node n label:gen=-3", true},
        {"require:gen:Lt:4", "node n label:gen=4", false},
        {"require:gen:Lt:4", "node n label:gen=3x", false},
        {"require:gen:Lt:4", "node n", false},
        {"require:gen:Gt:-1", "node n label:gen=5", false},
        {"require:disk:NotIn:-a", "node n", false},
        {"require:disk:In:-a", "node n label:disk=-a", false},
        {"require:gen:Gt:four", "node n label:gen=5", false},
        {"require:gen:Gt:4|5", "node n label:gen=9", false},
        {"require:gen:Near:4", "node n label:gen=4", false},
        {"require:disk:In", "node n label:disk=ssd", false},
        {"require:disk:Exists:ssd", "node n label:disk=ssd", false},
        {"require:@metadata.name:In:n", "node n", true},
        {"require:@metadata.name:In:m", "node n", false},
        {"require:@metadata.name:NotIn:n", "node n", false},
        {"require:@metadata.name:NotIn:m", "node n", true},
        {"require:@metadata.name:Exists", "node n", false},
        {"require:@metadata.name:In:n|m", "node n", false},
        {"require:@metadata.uid:In:n", "node n", false},
        {"select:kubernetes.io/hostname=h", "node n host=h", true},
        {"select:kubernetes.io/hostname=n", "node n host=h", false},
        {"select:kubernetes.io/hostname=n", "node n host=", false},
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].rules, cases[i].node);
        EXPECT_INT(accepts(&g, cases[i].rules, cases[i].node), cases[i].fits);
    }
}

TEST(match, terms_are_alternatives_and_their_lines_are_not)
{
    static const char node[] = "node n label:disk=ssd label:gen=5";
    static const struct {
        const char *rules;
        bool fits;
    } cases[] = {
        {"require:disk:In:hdd require:gen:Gt:4", true},
        {"require:disk:In:ssd&gen:Gt:5", false},
        {"require:disk:In:ssd&gen:Gt:4", true},
        {"require:disk:In:hdd require:gen:Gt:5", false},
        {"require:disk:In:ssd select:gen=4", false}, /* selector and terms */
        {"require:", false},                         /* an empty term */
        {"require: require:disk:Exists", true},
        {"require", false},                             /* no term at all */
        {"require:gen:Gt:x require:disk:Exists", true}, /* a broken one is passed over */
        {"require:disk:In:ssd&@metadata.name:In:m", false},
        {"require:disk:In:hdd&@metadata.name:In:n", false},
        {"require:disk:In:ssd&@metadata.name:In:n", true},
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].rules);
        EXPECT_INT(accepts(&g, cases[i].rules, node), cases[i].fits);
    }
}

static rules_id rules_of(struct ground *g, const char *line, sym *pin)
{
    struct cluster *c = ground_cluster(g);
    return matches_rules(&c->matches, &c->names, object_of(&g->mem, line).pod, pin);
}

TEST(match, preferences_add_up_their_weights)
{
    static const struct {
        const char *rules;
        int64_t sum;
    } cases[] = {
        {"prefer:10:disk:In:ssd", 10},
        {"prefer:10:disk:In:hdd", 0},
        {"prefer:10:disk:In:ssd prefer:5:gen:Gt:4", 15},
        {"prefer:0:disk:In:ssd", 0},
        {"prefer:7:", 0}, /* an empty preference */
        {"prefer:7:disk:In:ssd&gen:Lt:4", 0},
        {"prefer:7:@metadata.name:In:n", 7},
    };
    AUTO(ground) g = {0};
    ground_add(&g, "node n label:disk=ssd label:gen=5");
    struct cluster *c = g.cluster;
    struct node_labels node = cluster_node_labels(c, ground_node(&g, "n"));
    for (size_t i = 0; i < LEN(cases); i++) {
        char line[128] = "pod p ";
        memcpy(line + 6, cases[i].rules, strlen(cases[i].rules));
        const struct rules *r = matches_rules_at(&c->matches, rules_of(&g, line, NULL));
        EXPECT_INT(rules_prefer(r, &c->matches, &c->names, node, SYM_NONE), cases[i].sum);
    }
}

TEST(match, a_preferred_number_that_is_none_is_told_in_upstreams_words)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    const struct rules *good =
        matches_rules_at(&c->matches, rules_of(&g, "pod p prefer:1:gen:Gt:4", NULL));
    EXPECT_STR(good->error, "");
    const struct rules *weightless =
        matches_rules_at(&c->matches, rules_of(&g, "pod p prefer:0:gen:Gt:x", NULL));
    EXPECT_STR(weightless->error, "");
    const struct rules *one = matches_rules_at(
        &c->matches, rules_of(&g, "pod p prefer:1:gen:Gt:4 prefer:1:a:Exists&gen:Lt:x", NULL));
    EXPECT_STR(one->error,
               "[1].matchExpressions[1].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
               "operators, the value must be an integer");
    const struct rules *sign =
        matches_rules_at(&c->matches, rules_of(&g, "pod p prefer:1:gen:Lt:-5", NULL));
    EXPECT_STR(sign->error, "[0].matchExpressions[0].values[0][gen]: Invalid value: \"-5\": not a "
                            "valid label value");
    const struct rules *two = matches_rules_at(
        &c->matches, rules_of(&g, "pod p prefer:1:gen:Gt:y prefer:1:gen:Lt:x", NULL));
    EXPECT(two->error.n > 2 && two->error.p[0] == '[' && two->error.p[1] == '[');
}

TEST(match, equal_rules_are_one_and_no_rules_are_0)
{
    AUTO(ground) g = {0};
    EXPECT_INT(rules_of(&g, "pod p cpu=1", NULL), 0);
    rules_id a = rules_of(&g, "pod p require:disk:In:a|b", NULL);
    EXPECT(a != 0);
    EXPECT_INT(rules_of(&g, "pod q cpu=1 require:disk:In:b|a", NULL), a); /* values are a set */
    EXPECT(rules_of(&g, "pod p require:disk:NotIn:a|b", NULL) != a);
    EXPECT(rules_of(&g, "pod p prefer:1:disk:In:a|b", NULL) != a);
    EXPECT(rules_of(&g, "pod p require", NULL) != 0);
    EXPECT(rules_of(&g, "pod p prefer:1:a:Exists", NULL) !=
           rules_of(&g, "pod p prefer:2:a:Exists", NULL));
}

TEST(match, pods_pinned_in_the_same_way_share_their_rules)
{
    AUTO(ground) g = {0};
    sym p1, p2;
    rules_id r1 = rules_of(&g, "pod a require:@metadata.name:In:n1", &p1);
    rules_id r2 = rules_of(&g, "pod b require:@metadata.name:In:n2", &p2);
    EXPECT_INT(r1, r2);
    EXPECT_INT(p1, ground_sym(&g, "n1"));
    EXPECT_INT(p2, ground_sym(&g, "n2"));
    EXPECT(matches_rules_at(&g.cluster->matches, r1)->is_pinned);
    EXPECT(rules_of(&g, "pod c require:@metadata.name:In:n1", NULL) !=
           r1); /* not asked for a pin */
}

TEST(match, only_one_node_named_by_every_term_is_a_pin)
{
    static const struct {
        const char *line;
        bool is_pinned;
    } cases[] = {
        {"pod p require:@metadata.name:In:n1", true},
        {"pod p require:disk:Exists&@metadata.name:In:n1", true},
        {"pod p require:@metadata.name:In:n1 require:a:Exists&@metadata.name:In:n1", true},
        {"pod p require:@metadata.name:In:n1 require:@metadata.name:In:n2", false},
        {"pod p require:@metadata.name:In:n1 require:disk:Exists", false},
        {"pod p require:@metadata.name:NotIn:n1", false},
        {"pod p require:@metadata.name:In:n1&@metadata.name:In:n1", false},
        {"pod p require:@metadata.name:In:n1&gen:Gt:x", false},
        {"pod p select:kubernetes.io/hostname=n1", false},
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].line);
        sym pin;
        rules_of(&g, cases[i].line, &pin);
        EXPECT_INT(pin != SYM_NONE, cases[i].is_pinned);
    }
}

TEST(match, the_nodes_that_terms_name_are_their_union)
{
    static const struct {
        const char *line;
        bool is_restricted;
        uint32_t n;
    } cases[] = {
        {"pod p require:@metadata.name:In:n1", true, 1},
        {"pod p require:@metadata.name:In:n1 require:@metadata.name:In:n2", true, 2},
        {"pod p require:@metadata.name:In:n1 require:@metadata.name:In:n1&disk:Exists", true, 1},
        {"pod p require:@metadata.name:In:n1&@metadata.name:In:n2", true, 0},
        {"pod p require:@metadata.name:In:n1 require:disk:Exists", false, 0},
        {"pod p require:@metadata.name:NotIn:n1", false, 0},
        {"pod p select:disk=ssd", false, 0},
        {"pod p require", false, 0},
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].line);
        rules_id id = rules_of(&g, cases[i].line, NULL);
        const struct rules *r = matches_rules_at(&g.cluster->matches, id);
        EXPECT_INT(r->is_restricted, cases[i].is_restricted);
        EXPECT_INT(r->n_names, cases[i].n);
    }
}

/* --- selectors --- */

static selector_id selector_of(struct ground *g, struct label_selector *from)
{
    struct cluster *c = ground_cluster(g);
    struct match_vec all = {0};
    match_add_selector(&all, &c->names, from, &g->mem);
    selector_id id = matches_selector(&c->matches, &c->names, all.at, all.n);
    vec_done(&all);
    return id;
}

static label_set_id labels_of(struct ground *g, const char *line)
{
    ground_add(g, "%s", line);
    return pods_shape(&g->cluster->pods, ground_pod(g, "p"))->labels;
}

TEST(match, each_operator_of_a_label_selector)
{
    static struct str web[] = {STR("web"), STR("api")};
    static const struct {
        struct requirement line;
        bool with_web, with_db, without;
    } cases[] = {
        {{STR("app"), STR("In"), {web, 2}}, true, false, false},
        {{STR("app"), STR("NotIn"), {web, 2}}, false, true, true},
        {{STR("app"), STR("Exists"), {0}}, true, true, false},
        {{STR("app"), STR("DoesNotExist"), {0}}, false, false, true},
    };
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    label_set_id with_web = labels_of(&g, "pod p label:app=web label:x=1");
    pods_remove(&c->pods, ground_pod(&g, "p"));
    label_set_id with_db = labels_of(&g, "pod p label:app=db");
    for (size_t i = 0; i < LEN(cases); i++) {
        struct requirement line = cases[i].line;
        struct label_selector from = {.match_expressions = {&line, 1}};
        struct selector s = matches_selector_at(&c->matches, selector_of(&g, &from));
        EXPECT_INT(selector_matches(s, &c->names, with_web), cases[i].with_web);
        EXPECT_INT(selector_matches(s, &c->names, with_db), cases[i].with_db);
        EXPECT_INT(selector_matches(s, &c->names, 0), cases[i].without);
    }
}

TEST(match, an_empty_selector_matches_everything)
{
    AUTO(ground) g = {0};
    struct label_selector from = {0};
    struct selector s = matches_selector_at(&ground_cluster(&g)->matches, selector_of(&g, &from));
    EXPECT_INT(s.n, 0);
    EXPECT(selector_matches(s, &g.cluster->names, 0));
}

TEST(match, two_ways_of_writing_a_selector_meet_in_one_number)
{
    AUTO(ground) g = {0};
    struct str web[] = {STR("web"), STR("api")}, turned[] = {STR("api"), STR("web")},
               one[] = {STR("v")};
    struct requirement lines[] = {{STR("app"), STR("In"), {web, 2}},
                                  {STR("tier"), STR("Exists"), {0}}};
    struct requirement back[] = {{STR("tier"), STR("Exists"), {0}},
                                 {STR("app"), STR("In"), {turned, 2}},
                                 {STR("app"), STR("In"), {web, 2}}};
    struct requirement as_line[] = {{STR("k"), STR("In"), {one, 1}}};
    struct pair as_pair[] = {{STR("k"), STR("v")}};
    struct label_selector a = {.match_expressions = {lines, 2}};
    struct label_selector b = {.match_expressions = {back, 3}};
    EXPECT_INT(selector_of(&g, &a), selector_of(&g, &b));
    struct label_selector c = {.match_expressions = {as_line, 1}};
    struct label_selector d = {.match_labels = {as_pair, 1}};
    EXPECT_INT(selector_of(&g, &c), selector_of(&g, &d));
    EXPECT(selector_of(&g, &a) != selector_of(&g, &c));
}

/* --- tolerations --- */

TEST(match, a_toleration_covers_a_taint_by_key_value_and_effect)
{
    static const struct {
        const char *toleration; /* KEY:OP:VALUE:EFFECT */
        bool covers;            /* gpu=yes:NoSchedule */
    } cases[] = {
        {"gpu:Equal:yes:NoSchedule", true},
        {"gpu::yes:NoSchedule", true}, /* Equal is what an absent operator means */
        {"gpu:Equal:no:NoSchedule", false},
        {"gpu:Equal::NoSchedule", false},
        {"cpu:Equal:yes:NoSchedule", false},
        {"gpu:Equal:yes:NoExecute", false},
        {"gpu:Equal:yes:", true}, /* any effect */
        {"gpu:Exists::NoSchedule", true},
        {"gpu:Exists::", true},
        {":Exists::", true}, /* everything */
        {":Exists::NoExecute", false},
        {":Equal:yes:", true},
        {":Equal:no:", false},
        {"gpu:Lt:yes:NoSchedule", false},
        {"gpu:Gt:yes:NoSchedule", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].toleration);
        AUTO(ground) g = {0};
        ground_add(&g, "node n taint:gpu=yes:NoSchedule");
        ground_add(&g, "pod p tolerate:%s", cases[i].toleration);
        tolerations_id t = cluster_spec(g.cluster, ground_pod(&g, "p"))->tolerations;
        EXPECT_INT(cluster_taints_tolerated(g.cluster, t, ground_node(&g, "n")), cases[i].covers);
    }
}

TEST(match, numbers_compared_by_lt_and_gt_never_match)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n taint:gen=5:NoSchedule");
    ground_add(&g, "pod a tolerate:gen:Gt:4:NoSchedule tolerate:gen:Lt:6:NoSchedule");
    tolerations_id t = cluster_spec(g.cluster, ground_pod(&g, "a"))->tolerations;
    EXPECT(!cluster_taints_tolerated(g.cluster, t, ground_node(&g, "n")));
}
