#include "kube/extender_client.h"

#include "desk.h"
#include "support/objects.h"
#include "support/test.h"

static const struct extender extenders[] = {
    {.url = STR("http://x/s/"),
     .verbs = {STR("filter"), STR("score")},
     .timeout_ms = 700,
     .knows_nodes = true},
};

struct scene {
    struct desk desk;
    struct extender_client extender_client;
    struct effects effects;
    struct arena mem;
};

static void scene_done(struct scene *s)
{
    extender_client_done(&s->extender_client);
    effects_done(&s->effects);
    arena_done(&s->mem);
    desk_done(&s->desk);
}

static void open(struct scene *s)
{
    desk_init(&s->desk);
    extender_client_init(&s->extender_client, 100, &s->desk.listener);
    extender_client_set_extenders(&s->extender_client, extenders, 1);
}

static void ask(struct scene *s, effect_id id, enum extender_verb verb, const char *uid)
{
    static struct str nodes[] = {STR("n1"), STR("n\"2")};
    struct extender_ask about = {.verb = verb};
    about.nodes.at = nodes;
    about.nodes.n = 2;
    effects_clear(&s->effects);
    struct effect e = {.id = id,
                       .kind = EFFECT_ASK,
                       .namespace = STR("default"),
                       .pod = STR("a"),
                       .uid = str_of(uid),
                       .ask = &about};
    vec_push(&s->effects.list, e);
    extender_client_take(&s->extender_client, 0, &s->effects, &s->desk.out);
}

static void hear(struct scene *s, struct reply reply)
{
    extender_client_hear(&s->extender_client, 0, &reply, &s->desk.out);
}

static void answer(struct scene *s, int status, const char *body)
{
    request_id id = s->desk.last;
    hear(s, reply_head(id, status));
    hear(s, reply_data(id, body));
    hear(s, reply_end(id));
}

#define READ_A "READ GET /api/v1/namespaces/default/pods/a\n"
#define POD_A  "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{}}"
#define ARGS   "{\"Pod\":" POD_A ",\"Nodes\":null,\"NodeNames\":[\"n1\",\"n\\\"2\"]}"

TEST(extender_client_of_test, the_pod_is_read_and_passed_on_as_it_came)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 7, EXTENDER_FILTER, "u");
    EXPECT_TEXT(desk_log(&s.desk), READ_A);
    answer(&s, 200, POD_A);
    REQUIRE(s.desk.out.list.n == 1);
    EXPECT_INT(s.desk.out.list.at[0].timeout_ms, 700);
    EXPECT(s.desk.out.list.at[0].is_question);
    EXPECT_TEXT(desk_log(&s.desk), "EXTENDER 0 POST filter " ARGS "\n");
    answer(&s, 200, "{\"NodeNames\":[\"n1\"]}");
    EXPECT_TEXT(desk_log(&s.desk), "answer 7: n1\n");
}

TEST(extender_client_of_test, it_is_read_once_for_all_questions_until_it_changes)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 7, EXTENDER_FILTER, "u");
    desk_log(&s.desk);
    answer(&s, 200, POD_A);
    desk_log(&s.desk);
    answer(&s, 200, "{}");
    desk_log(&s.desk);
    ask(&s, 8, EXTENDER_PRIORITIZE, "u");
    EXPECT_TEXT(desk_log(&s.desk), "EXTENDER 0 POST score " ARGS "\n");
    answer(&s, 200, "[{\"Host\":\"n1\",\"Score\":3}]");
    EXPECT_TEXT(desk_log(&s.desk), "answer 8: n1=3\n");

    struct change change = {.kind = CHANGE_PUT, .object = object_of(&s.mem, "pod a uid=u")};
    extender_client_see(&s.extender_client, &change);
    ask(&s, 9, EXTENDER_FILTER, "u");
    EXPECT_TEXT(desk_log(&s.desk), READ_A);
}

TEST(extender_client_of_test, a_pod_that_cannot_be_read_is_an_error)
{
    static const struct {
        int status;
        const char *body, *log;
    } cases[] = {
        {404, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"not found\"}",
         "answer 7: error reading what extenders must be shown: not found\n"},
        {200, "{\"metadata\":{\"uid\":\"another\"}}",
         "answer 7: error reading what extenders must be shown: it is gone\n"},
        {200, "}",
         "answer 7: error reading what extenders must be shown: '}' stands where a value should "
         "be\n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open(&s);
        ask(&s, 7, EXTENDER_FILTER, "u");
        desk_log(&s.desk);
        answer(&s, cases[i].status, cases[i].body);
        EXPECT_TEXT(desk_log(&s.desk), cases[i].log);
    }
}

TEST(extender_client_of_test, failures_are_in_upstreams_words)
{
    static const struct {
        int status;
        const char *body, *log;
    } cases[] = {
        {503, "",
         "answer 7: error failed filter with extender at URL http://x/s/filter, code 503\n"},
        {200, "", "answer 7: error EOF\n"},
        {200, "[]", "answer 7: error [] is not an object\n"},
        {0, "", "answer 7: error Post \"http://x/s/filter\": connection reset\n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open(&s);
        ask(&s, 7, EXTENDER_FILTER, "u");
        desk_log(&s.desk);
        answer(&s, 200, POD_A);
        desk_log(&s.desk);
        if (cases[i].status)
            answer(&s, cases[i].status, cases[i].body);
        else
            hear(&s, reply_lost(s.desk.last, true));
        EXPECT_TEXT(desk_log(&s.desk), cases[i].log);
    }
}

TEST(extender_client_of_test, what_others_were_asked_is_forgotten_with_them)
{
    AUTO(scene) s = {0};
    open(&s);
    ask(&s, 7, EXTENDER_FILTER, "u");
    desk_log(&s.desk);
    extender_client_set_extenders(&s.extender_client, extenders, 1);
    answer(&s, 200, POD_A);
    EXPECT_TEXT(desk_log(&s.desk), "");
}

TEST(extender_client_of_test, of_many_pods_the_oldest_are_forgotten)
{
    AUTO(scene) s = {0};
    open(&s);
    for (int i = 0; i < 300; i++) {
        char uid[20], pod[100];
        snprintf(uid, sizeof(uid), "u%d", i);
        snprintf(pod, sizeof(pod), "{\"metadata\":{\"uid\":\"u%d\"}}", i);
        ask(&s, 7, EXTENDER_FILTER, uid);
        desk_log(&s.desk);
        answer(&s, 200, pod);
        desk_log(&s.desk);
        answer(&s, 200, "{}");
    }
    EXPECT_INT(s.extender_client.raws.n_pods, 257);
    ask(&s, 7, EXTENDER_FILTER, "u299");
    EXPECT(str_starts(str_of(desk_log(&s.desk)), STR("answer 7:\nEXTENDER")));
    ask(&s, 8, EXTENDER_FILTER, "u1");
    EXPECT_TEXT(desk_log(&s.desk), READ_A);
}

/* --- those who do not know the nodes --- */

static const struct extender forgetful[] = {
    {.url = STR("http://y"),
     .verbs = {STR("filter"), STR("score"), STR("evict")},
     .timeout_ms = 700},
};

static void open_forgetful(struct scene *s)
{
    desk_init(&s->desk);
    extender_client_init(&s->extender_client, 100, &s->desk.listener);
    extender_client_set_extenders(&s->extender_client, forgetful, 1);
}

#define NODE(name, version)                                                                        \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"

static void ask_nodes(struct scene *s, uint32_t n)
{
    struct extender_ask about = {.verb = EXTENDER_FILTER};
    about.nodes.n = n;
    about.nodes.at = arena_array(&s->mem, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        about.nodes.at[i] = arena_printf(&s->mem, "n%u", i + 1);
    effects_clear(&s->effects);
    struct effect e = {.id = 7,
                       .kind = EFFECT_ASK,
                       .namespace = STR("default"),
                       .pod = STR("a"),
                       .uid = STR("u"),
                       .ask = &about};
    vec_push(&s->effects.list, e);
    extender_client_take(&s->extender_client, 0, &s->effects, &s->desk.out);
}

/* Answers the request with this number, counted from the first. */
static void answer_nth(struct scene *s, request_id nth, int status, const char *body)
{
    hear(s, reply_head(100 + nth, status));
    hear(s, reply_data(100 + nth, body));
    hear(s, reply_end(100 + nth));
}

TEST(extender_client_of_test, nodes_are_shown_as_they_came_to_those_who_do_not_know_them)
{
    AUTO(scene) s = {0};
    open_forgetful(&s);
    ask_nodes(&s, 2);
    EXPECT_TEXT(desk_log(&s.desk), READ_A "READ GET /api/v1/nodes/n1\n"
                                          "READ GET /api/v1/nodes/n2\n");
    answer_nth(&s, 1, 200, POD_A);
    answer_nth(&s, 3, 404, "{}"); /* it is gone: it is left out */
    EXPECT_TEXT(desk_log(&s.desk), "");
    answer_nth(&s, 2, 200, NODE("n1", "5"));
    EXPECT_TEXT(desk_log(&s.desk), "EXTENDER 0 POST filter {\"Pod\":" POD_A
                                   ",\"Nodes\":{\"metadata\":{},\"items\":[" NODE(
                                       "n1", "5") "]},\"NodeNames\":null}\n");
    answer(&s, 200, "{\"Nodes\":{\"items\":[" NODE("n1", "5") "]}}");
    EXPECT_TEXT(desk_log(&s.desk), "answer 7: node n1\n");
}

TEST(extender_client_of_test, a_node_is_read_again_only_if_the_watch_told_of_a_newer_one)
{
    static const struct {
        const char *seen;
        bool is_read;
    } cases[] = {
        {"", false},
        {"5", false},
        {"6", true},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open_forgetful(&s);
        ask_nodes(&s, 1);
        desk_log(&s.desk);
        answer_nth(&s, 1, 200, POD_A);
        answer_nth(&s, 2, 200, NODE("n1", "5"));
        desk_log(&s.desk);
        answer(&s, 200, "{}");
        desk_log(&s.desk);
        struct change change = {.kind = CHANGE_PUT, .object = object_of(&s.mem, "node n1")};
        struct meta meta = *change.object.meta;
        meta.resource_version = str_of(cases[i].seen);
        change.object.meta = &meta;
        if (cases[i].seen[0])
            extender_client_see(&s.extender_client, &change);
        ask_nodes(&s, 1);
        const char *log = desk_log(&s.desk);
        EXPECT(str_starts(str_of(log), cases[i].is_read ? STR("READ GET /api/v1/nodes/n1\n")
                                                        : STR("EXTENDER 0 POST filter")));
    }
}

TEST(extender_client_of_test, many_nodes_are_read_as_a_list_page_by_page)
{
    AUTO(scene) s = {0};
    open_forgetful(&s);
    ask_nodes(&s, 20);
    EXPECT_TEXT(desk_log(&s.desk), "READ GET /api/v1/nodes?limit=500\n" READ_A);
    answer_nth(&s, 2, 200, POD_A);
    answer_nth(&s, 1, 200,
               "{\"items\":[" NODE("n1", "5") "," NODE("other", "5") "],\"metadata\":"
                                                                     "{\"continue\":\"x\"}}");
    EXPECT_TEXT(desk_log(&s.desk), "READ GET /api/v1/nodes?limit=500&continue=x\n");
    answer(&s, 200, "{\"items\":[" NODE("n2", "6") "]}"); /* the others are gone */
    const char *log = desk_log(&s.desk);
    EXPECT(strstr(log, "\"items\":[" NODE("n1", "5") "," NODE("n2", "6") "]"));
}

TEST(extender_client_of_test, what_cannot_be_read_fails_all_who_need_it)
{
    AUTO(scene) s = {0};
    open_forgetful(&s);
    ask_nodes(&s, 20);
    ask_nodes(&s, 20);
    EXPECT_TEXT(desk_log(&s.desk), "READ GET /api/v1/nodes?limit=500\n" READ_A);
    hear(&s, reply_lost(101, false));
    EXPECT_TEXT(desk_log(&s.desk),
                "answer 7: error reading what extenders must be shown: connection reset\n"
                "answer 7: error reading what extenders must be shown: connection reset\n");
    ask_nodes(&s, 20);
    EXPECT(str_starts(str_of(desk_log(&s.desk)), STR("READ GET /api/v1/nodes?limit=500\n")));
}

TEST(extender_client_of_test, who_wrote_which_field_is_left_out)
{
    static const char *const cases[][2] = {
        {"{\"metadata\":{\"uid\":\"u\",\"managedFields\":[{\"a\":[]}]}}",
         "{\"metadata\":{\"uid\":\"u\"}}"},
        {"{\"metadata\":{\"managedFields\":[1],\"uid\":\"u\"},\"spec\":{}}",
         "{\"metadata\":{\"uid\":\"u\"},\"spec\":{}}"},
        {"{\"metadata\":{\"uid\":\"u\",\"managedFields\" : [1]}}",
         "{\"metadata\":{\"uid\":\"u\",\"managedFields\" : [1]}}"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scene) s = {0};
        open(&s);
        ask(&s, 7, EXTENDER_FILTER, "u");
        desk_log(&s.desk);
        answer(&s, 200, cases[i][0]);
        struct str log = str_of(desk_log(&s.desk)), begin = STR("EXTENDER 0 POST filter {\"Pod\":");
        EXPECT(str_starts(log, begin));
        EXPECT(str_starts(str_part(log, begin.n, log.n), str_of(cases[i][1])));
    }
}

TEST(extender_client_of_test, victims_are_shown_by_uid_or_whole)
{
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        AUTO(scene) s = {0};
        open_forgetful(&s);
        struct extender x = forgetful[0];
        x.knows_nodes = !is_whole;
        extender_client_set_extenders(&s.extender_client, &x, 1);
        struct extender_ask about = {.verb = EXTENDER_PREEMPT};
        struct str uids[] = {STR("v")}, pods[] = {STR("default/b")};
        struct extender_victims victims = {.node = STR("n1"), .violations = 2};
        victims.uids.at = uids;
        victims.pods.at = pods;
        victims.uids.n = victims.pods.n = 1;
        about.victims.at = &victims;
        about.victims.n = 1;
        struct effect e = {.id = 7,
                           .kind = EFFECT_ASK,
                           .namespace = STR("default"),
                           .pod = STR("a"),
                           .uid = STR("u"),
                           .ask = &about};
        vec_push(&s.effects.list, e);
        extender_client_take(&s.extender_client, 0, &s.effects, &s.desk.out);
        EXPECT_TEXT(desk_log(&s.desk),
                    is_whole ? READ_A "READ GET /api/v1/namespaces/default/pods/b\n" : READ_A);
        answer_nth(&s, 1, 200, POD_A);
        if (is_whole)
            answer_nth(&s, 2, 200, "{\"metadata\":{\"uid\":\"v\"}}");
        EXPECT_TEXT(desk_log(&s.desk),
                    is_whole ? "EXTENDER 0 POST evict {\"Pod\":" POD_A
                               ",\"NodeNameToMetaVictims\":null,\"NodeNameToVictims\":{\"n1\":"
                               "{\"Pods\":[{\"metadata\":{\"uid\":\"v\"}}],"
                               "\"NumPDBViolations\":2}}}\n"
                             : "EXTENDER 0 POST evict {\"Pod\":" POD_A
                               ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"n1\":"
                               "{\"Pods\":[{\"UID\":\"v\"}],\"NumPDBViolations\":2}}}\n");
        answer(&s, 200, "{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"v\"}]}}}");
        EXPECT_TEXT(desk_log(&s.desk), "answer 7: n1:1\n");
    }
}
