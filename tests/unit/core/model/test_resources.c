#include "core/model/resources.h"

#include "core/base/buf.h"
#include "core/model/default.h"
#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "support/test.h"

static struct pod *pod_of(const char *json, struct arena *mem)
{
    struct error e = {0};
    size_t where;
    struct pod *pod = arena_alloc(mem, sizeof(*pod));
    if (!EXPECT(json_read(str_of(json), pod_fields, pod, mem, &where, &e)))
        EXPECT_TEXT(e.text, "");
    struct object object = {.kind = KIND_POD, .pod = pod};
    object_default(&object, mem);
    return pod;
}

/* "cpu=1/500 memory=…": whole and thousandths, by name. */
static void print(amount_list total, struct buf *out)
{
    struct str last = {0};
    for (uint32_t i = 0; i < total.n; i++) {
        const struct amount *next = NULL;
        list_each(&total, a) {
            if (str_compare(a->name, last) > 0 && (!next || str_compare(a->name, next->name) < 0))
                next = a;
        }
        last = next->name;
        buf_printf(out, "%s" STR_FMT "=%ld/%ld", out->n ? " " : "", STR_ARG(last),
                   quantity_value(next->quantity), quantity_milli(next->quantity));
    }
}

static void expect_requests(const char *json, struct request_rules rules, const char *wanted)
{
    AUTO(arena) mem = {0};
    AUTO(buf) got = {0};
    print(pod_requests(pod_of(json, &mem), rules, &mem), &got);
    buf_add(&got, STR(""));
    if (!EXPECT_TEXT(got.p, wanted))
        EXPECT_TEXT(NULL, json);
}

TEST(pod_requests, equal_upstream_for_each_of_its_callers)
{
    static const struct {
        const char *json, *plain, *aware, *non_zero, *score;
    } cases[] = {
#define CASE(json, plain, aware, non_zero, score) {json, plain, aware, non_zero, score},
#include "request_cases.def"
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct request_rules rules = {.pod_level = true};
        expect_requests(cases[i].json, rules, cases[i].plain);
        rules.status_aware = true;
        expect_requests(cases[i].json, rules, cases[i].aware);
        rules.default_missing = true;
        expect_requests(cases[i].json, rules, cases[i].non_zero);
        expect_requests(cases[i].json, (struct request_rules){.default_missing = true},
                        cases[i].score);
    }
}

TEST(pod_requests, that_are_said_to_agree_do)
{
    static const struct {
        const char *json, *plain, *aware, *non_zero, *score;
    } cases[] = {
#include "request_cases.def"
    };
    uint32_t agreeing = 0;
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        if (!pod_requests_agree(pod_of(cases[i].json, &mem)))
            continue;
        agreeing++;
        EXPECT_TEXT(cases[i].aware, cases[i].plain);
        EXPECT_TEXT(cases[i].non_zero, cases[i].plain);
        EXPECT_TEXT(cases[i].score, cases[i].plain);
    }
    EXPECT(agreeing > 0 && agreeing < LEN(cases));
}

TEST(pod_requests, of_a_container_that_asks_for_nothing_are_defaulted_where_an_explicit_0_is_not)
{
    static const struct request_rules rules = {.default_missing = true};
    expect_requests("{\"spec\":{\"containers\":[{}]}}", rules,
                    "cpu=1/100 memory=209715200/209715200000");
    expect_requests("{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":0}}}]}}",
                    rules, "cpu=0/0 memory=209715200/209715200000");
}

TEST(pod_requests, round_once_for_the_whole_pod)
{
    expect_requests("{\"spec\":{\"containers\":["
                    "{\"resources\":{\"requests\":{\"cpu\":\"1500u\",\"memory\":\"1.1\"}}},"
                    "{\"resources\":{\"requests\":{\"cpu\":\"1500u\",\"memory\":\"1.1\"}}}]}}",
                    (struct request_rules){0},
                    "cpu=1/4 memory=3/2200"); /* cpu twice: when stored */
}

/* A pod as a whole, and what follows the requests. */
#define LEVEL(requests, spec, more)                                                                \
    "{\"spec\":{\"containers\":[{}],\"overhead\":{\"cpu\":\"1\",\"memory\":\"1Mi\"}," spec         \
    "\"resources\":{\"requests\":{" requests "}}}" more "}"
#define LEVELS(cpu, memory) "\"cpu\":\"" cpu "\",\"memory\":\"" memory "\""
#define STATUS              ",\"status\":{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}"

TEST(pod_requests, drift_as_upstream_sums_up_again_what_it_has_changed)
{
    static const struct {
        const char *json, *after;
    } cases[] = {
        {LEVEL(LEVELS("2", "512Mi"), "", ""), "cpu=3/3000 memory=537919488/537919488000"},
        {LEVEL(LEVELS("2", "0.5Gi"), "", ""), "cpu=3/3000 memory=540016640/540016640000"},
        {LEVEL(LEVELS("2000000000000000000.0e-18", "512Mi"), "", ""),
         "cpu=5/5000 memory=537919488/537919488000"},
        {LEVEL(LEVELS("2", "0.5Gi"), "", STATUS), "cpu=3/3000 memory=540016640/540016640000"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        expect_requests(cases[i].json,
                        (struct request_rules){.status_aware = true, .pod_level = true, .drift = 2},
                        cases[i].after);
}

TEST(pod_requests, drift_by_the_sums_before)
{
    static const struct {
        const char *json;
        int32_t held, memory;
    } cases[] = {
        {LEVEL(LEVELS("2", "0.5Gi"), "", ""), 2, 5},
        {LEVEL("\"memory\":\"0.5Gi\"", "", ""), 2, 5}, /* overhead has cpu */
        {LEVEL(LEVELS("2", "0.5Gi"), "", STATUS), 2, 4},
        {LEVEL(LEVELS("2", "0.5Gi"), "\"nodeName\":\"n\",", ""), 0, 5},
        {"{\"spec\":{\"containers\":[{}],\"nodeName\":\"n\",\"resources\":{\"requests\":{"
         "\"memory\":\"1\"}}}}",
         1, 5},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].json);
        AUTO(arena) mem = {0};
        const struct pod *pod = pod_of(cases[i].json, &mem);
        EXPECT_INT(pod_drift_held(pod, &mem), cases[i].held);
        EXPECT_INT(pod_drift_scored(pod, true), cases[i].memory);
        EXPECT_INT(pod_drift_scored(pod, false), 4);
    }
}

TEST(resource, names_say_which_are_scalars)
{
    static const struct {
        const char *name;
        bool is_scalar, is_extended;
    } cases[] = {
        {"cpu", false, false},
        {"memory", false, false},
        {"ephemeral-storage", false, false},
        {"pods", false, false},
        {"storage", false, false},
        {"nvidia.com/gpu", true, true},
        {"example.com/a_b.c-D", true, true},
        {"example.com/-x", false, false},
        {"example.com/", false, false},
        {"/x", false, false},
        {"Example.com/x", false, false},
        {"a..b/x", false, false},
        {"a/b/c", false, false},
        {"requests.nvidia.com/gpu", false, false},
        {"kubernetes.io/batch-cpu", true, false},
        {"x.kubernetes.io/y", true, false},
        {"hugepages-2Mi", true, false},
        {"attachable-volumes-aws-ebs", true, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct str name = str_of(cases[i].name);
        if (!EXPECT(resource_is_scalar(name) == cases[i].is_scalar) ||
            !EXPECT(resource_is_extended(name) == cases[i].is_extended))
            EXPECT_TEXT(NULL, cases[i].name);
    }
}

TEST(resources, a_pod_is_guaranteed_if_all_of_it_is_limited_to_what_it_requests)
{
#define C(requests, limits) "{'resources':{'requests':{" requests "},'limits':{" limits "}}}"
#define BOTH                "'cpu':'2','memory':'1Gi'"
    /* clang-format off */
    static const struct {
        const char *spec;
        bool is_guaranteed;
    } cases[] = {
        {"'containers':[" C(BOTH, BOTH) "]",                                           true },
        {"'containers':[" C("", BOTH) "]",                                             true }, /* limits stand for requests */
        {"'containers':[" C(BOTH, "'cpu':'2000m','memory':'1024Mi'") "]",              true },
        {"'containers':[" C(BOTH, "'cpu':'2'") "]",                                    false},
        {"'containers':[" C("'cpu':'1','memory':'1Gi'", BOTH) "]",                     false},
        {"'containers':[{}]",                                                          false},
        {"'containers':[" C(BOTH, BOTH) ",{}]",                                        false},
        {"'initContainers':[{}],'containers':[" C(BOTH, BOTH) "]",                     false},
        {"'initContainers':[" C(BOTH, BOTH) "],'containers':[" C(BOTH, BOTH) "]",      true },
        {"'resources':{'requests':{" BOTH "},'limits':{" BOTH "}},'containers':[{}]",  true },
        {"'resources':{'limits':{'cpu':'2'}},'containers':[" C(BOTH, BOTH) "]",        false},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) json = {0};
        test_case("%s", cases[i].spec);
        buf_printf(&json, "{'spec':{%s}}%c", cases[i].spec, 0);
        for (size_t k = 0; k < json.n; k++)
            json.p[k] = json.p[k] == '\'' ? '"' : json.p[k];
        EXPECT_INT(pod_is_guaranteed(pod_of(json.p, &mem)), cases[i].is_guaranteed);
    }
}
