/* From a claim for devices to a bound pod, through the whole engine. */

#include <stdio.h>

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define RESOURCE "'apiVersion':'resource.k8s.io/v1','kind':"
#define CLASS    "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}"
#define SLICE(devices)                                                                             \
    "{" RESOURCE "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d','nodeName':'n',"    \
    "'pool':{'name':'n','generation':1,'resourceSliceCount':1},'devices':[" devices "]}}"
#define CLAIM(name, version, meta, status)                                                         \
    "{" RESOURCE "'ResourceClaim','metadata':{'name':'" name                                       \
    "','namespace':'default','uid':'u-" name "','resourceVersion':'" version "'" meta              \
    "},'spec':{'devices':{'requests':[{'name':'r',"                                                \
    "'exactly':{'deviceClassName':'gpu'}}]}}" status "}"
#define OURS ",'finalizers':['resource.kubernetes.io/delete-protection']"
#define GIVEN(device, more)                                                                        \
    ",'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'n',"       \
    "'device':'" device "'" more "}]}},'reservedFor':[{'resource':'pods','name':'p','uid':'p'}]}"

static const struct effect *write_of(const struct stage *s, const char *claim)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_WRITE && str_equal(e->write.name, str_of(claim)))
            return e;
    return NULL;
}

static const struct effect *failure_of(const struct stage *s)
{
    static const struct effect none = {0};
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_FAIL)
            return e;
    return &none;
}

static void settle(struct stage *s, effect_id effect, enum error_kind kind)
{
    struct error why = {.kind = kind, .text = "no"};
    engine_settle(s->engine, s->now_ms, effect, kind ? &why : NULL);
}

/* One device, and two pods whose claims want it. */
static void open(struct stage *s)
{
    stage_put(s, "node n cpu=8");
    stage_put(s, CLASS);
    stage_put(s, SLICE("{'name':'d0'}"));
    stage_put(s, CLAIM("c", "7", "", ""));
    stage_put(s, CLAIM("e", "8", "", ""));
    stage_put(s, "pod p device:c cpu=1");
    stage_put(s, "pod q device:e cpu=1");
    stage_run(s);
}

TEST(devices_engine, a_claim_is_written_before_its_pod_is_bound_and_nobody_else_gets_its_device)
{
    AUTO(stage) s = {0};
    open(&s);
    const struct effect *e = write_of(&s, "c");
    REQUIRE(e && e->write.n_patches == 2);
    EXPECT_INT(e->write.version, 7);
    EXPECT(!write_of(&s, "e"));
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    EXPECT_TEXT(stage_fate(&s, "q"), "parked");
    effect_id effect = e->id;
    stage_put(&s, CLAIM("c", "9", OURS, "")); /* half of it */
    EXPECT_INT(stage_run(&s), 0);
    settle(&s, effect, ERROR_NONE);
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, CLAIM("c", "10", OURS, GIVEN("d0", "")));
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
    EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
    EXPECT_TEXT(stage_fate(&s, "q"), "parked");
    s.now_ms += 20000;
    stage_put(&s, CLAIM("c", "11", OURS, "")); /* and given back */
    stage_run(&s);
    EXPECT(write_of(&s, "e"));
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
}

TEST(devices_engine, a_device_that_was_certainly_not_written_is_there_for_others)
{
    AUTO(stage) s = {0};
    open(&s);
    REQUIRE(write_of(&s, "c"));
    EXPECT_TEXT(stage_fate(&s, "q"), "parked");
    settle(&s, write_of(&s, "c")->id, ERROR_DENIED);
    EXPECT(strcmp(stage_fate(&s, "q"), "parked"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
    EXPECT_INT(s.engine->cluster->devices.promises.n, 1);
    EXPECT_INT(s.engine->prebind->all.n, 1);
}

TEST(devices_engine, after_a_conflict_the_claim_decides)
{
    static const struct {
        const char *comes, *fate;
    } cases[] = {
        {CLAIM("c", "9", ",'labels':{'a':'b'}", ""), "backing off"}, /* somebody was faster */
        {CLAIM("c", "9", OURS, GIVEN("d0", "")), "assumed on n"},    /* it was our own write */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].comes);
        open(&s);
        REQUIRE(write_of(&s, "c"));
        settle(&s, write_of(&s, "c")->id, ERROR_CONFLICT);
        EXPECT_INT(stage_run(&s), 0);
        EXPECT_INT(s.engine->cluster->devices.promises.n, 1);
        stage_put(&s, "%s", cases[i].comes);
        EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), cases[i].fate);
        EXPECT_INT(!strcmp(stage_fate(&s, "q"), "parked"), i == 1); /* it has the device, or not */
    }
}

TEST(devices_engine, a_pod_waits_for_a_device_to_be_made_ready)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, CLASS);
    stage_put(&s, SLICE("{'name':'d0','bindingConditions':['Attached']}"));
    stage_put(&s, CLAIM("c", "7", OURS, ""));
    stage_put(&s, "pod p device:c cpu=1");
    stage_run(&s);
    REQUIRE(write_of(&s, "c") && write_of(&s, "c")->write.n_patches == 1);
    settle(&s, write_of(&s, "c")->id, ERROR_NONE);
#define WAITS ",'bindingConditions':['Attached']"
    stage_put(&s, CLAIM("c", "8", OURS, GIVEN("d0", WAITS)));
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms += 10 * 60 * 1000;
    stage_run(&s);
    EXPECT_STR(
        failure_of(&s)->message,
        "running PreBind plugin \"DynamicResources\": device binding timeout: claim=default/c");
}

TEST(devices_engine, a_claim_that_only_stands_in_the_way_is_freed)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, CLASS);
    stage_put(&s, SLICE("{'name':'d0'}"));
    stage_put(&s, CLAIM("c", "7", OURS,
                        ",'status':{'allocation':{'devices':{},'nodeSelector':{"
                        "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':"
                        "'In','values':['gone']}]}]}}}"));
    stage_put(&s, "pod p device:c cpu=1");
    stage_run(&s);
    const struct effect *e = write_of(&s, "c");
    REQUIRE(e && e->write.n_patches == 1);
    EXPECT_STR(e->write.patches[0].body,
               "\"status\":{\"allocation\":null,\"devices\":null,\"reservedFor\":null}");
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    settle(&s, e->id, ERROR_NONE);
    EXPECT_INT(s.engine->prebind->all.n, 0);
    s.now_ms += 20000;
    stage_put(&s, CLAIM("c", "8", OURS, ""));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(devices_engine, a_claim_is_in_the_way_only_where_others_let_the_pod_pass)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, CLASS);
    stage_put(&s, CLAIM("c", "7", OURS,
                        ",'status':{'allocation':{'devices':{},'nodeSelector':{"
                        "'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':"
                        "'In','values':['gone']}]}]}}}"));
    stage_put(&s, "pod p device:c cpu=1 near:zone:app=none");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    EXPECT(!write_of(&s, "c"));
}

/* --- extended resources --- */

#define STANDS_FOR_X                                                                               \
    "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'},'spec':{'extendedResourceName':'e/x'}}"
#define MADE(name, version, status)                                                                \
    "{" RESOURCE "'ResourceClaim','metadata':{'name':'%s','namespace':'default','uid':'u-made',"   \
    "'resourceVersion':'" version "','annotations':{'resource.kubernetes.io/"                      \
    "extended-resource-claim':'true'},'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':"  \
    "'" name "','uid':'" name "','controller':true}]" OURS "},'spec':{'devices':{'requests':[{"    \
    "'name':'container-0-request-1','exactly':{'deviceClassName':'gpu'}}]}}" status "}"

static void open_extended(struct stage *s)
{
    stage_put(s, "node n cpu=8");
    stage_put(s, STANDS_FOR_X);
    stage_put(s, SLICE("{'name':'d0'}"));
    stage_put(s, "pod p cpu=1 e/x=1");
    stage_run(s);
}

/* The claim that is written for the pod. */
static const struct effect *write_for(const struct stage *s, const char *pod)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_WRITE && str_equal(e->pod, str_of(pod)))
            return e;
    return NULL;
}

struct claim_name {
    char text[64];
};

static struct claim_name name_for(const struct stage *s, const char *pod)
{
    const struct effect *e = write_for(s, pod);
    struct claim_name name = {"none"};
    if (e)
        snprintf(name.text, sizeof(name.text), STR_FMT, STR_ARG(e->write.name));
    return name;
}

TEST(devices_engine, a_claim_is_made_for_extended_resources_that_devices_stand_for)
{
    AUTO(stage) s = {0};
    open_extended(&s);
    const struct effect *e = write_for(&s, "p");
    REQUIRE(e && e->write.n_patches == 3);
    const struct patch *patches = e->write.patches;
    EXPECT_INT(patches[0].verb, OBJECT_CREATE);
    EXPECT_STR(patches[0].body,
               "\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"spec\":{"
               "\"devices\":{\"requests\":[{\"name\":\"container-0-request-1\",\"exactly\":{"
               "\"deviceClassName\":\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}");
    EXPECT_INT(patches[1].kind, KIND_POD);
    EXPECT_INT(patches[2].verb, OBJECT_PATCH);
    EXPECT_STR(patches[2].part, "status");
    effect_id effect = e->id;
    struct claim_name made = name_for(&s, "p");
    const char *name = made.text;
    EXPECT(!strncmp(name, "p-extended-resources-", 21) && strlen(name) == 26);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    stage_put(&s, "pod q cpu=1 e/x=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "parked"); /* the device is promised */
    settle(&s, effect, ERROR_NONE);
    EXPECT(stage_counts(
        &s, engine_metrics, n_engine_metrics,
        "dynamic_resource_allocation_resourceclaim_creates_total{status=\"success\"} 1"));
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, MADE("p", "5", ""), name); /* half of it */
    EXPECT_INT(stage_run(&s), 0);
    EXPECT_INT(s.engine->cluster->devices.promises.n, 1);
    stage_put(&s, MADE("p", "6", GIVEN("d0", "")), name);
    EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
    EXPECT_TEXT(stage_fate(&s, "q"), "parked");
}

/* What a class has learned must not point into a table that moves when other pods come. */
TEST(devices_engine, a_class_is_asked_again_after_many_other_pods_have_come)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, STANDS_FOR_X);
    stage_put(&s, SLICE("{'name':'d0'}"));
    stage_put(&s, "pod p cpu=1 e/x=1 scheduler=kubenexus-scheduler");
    for (int i = 0; i < 300; i++)
        stage_put(&s, "pod other-%d cpu=%dm scheduler=nobody", i, i + 1);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(devices_engine, a_claim_that_comes_with_its_devices_is_all_that_was_promised)
{
    AUTO(stage) s = {0};
    open_extended(&s);
    settle(&s, write_for(&s, "p")->id, ERROR_NONE);
    stage_put(&s, MADE("p", "6", GIVEN("d0", "")), name_for(&s, "p").text);
    EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
}

TEST(devices_engine, a_claim_that_was_made_and_never_comes_is_given_up)
{
    AUTO(stage) s = {0};
    open_extended(&s);
    settle(&s, write_for(&s, "p")->id, ERROR_NONE);
    EXPECT_INT(stage_run(&s), 0);
    s.now_ms += 10 * 60 * 1000;
    stage_run(&s);
    EXPECT_STR(failure_of(&s)->message,
               "running PreBind plugin \"DynamicResources\": the claim is gone");
    EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
    s.now_ms += 20000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(devices_engine, nodes_that_offer_the_resource_themselves_need_no_claim)
{
    AUTO(stage) s = {0};
    stage_put(&s, STANDS_FOR_X);
    stage_put(&s, "node m cpu=8 e/x=1");
    stage_put(&s, "pod p cpu=1 e/x=1");
    stage_run(&s);
    EXPECT(!write_for(&s, "p"));
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
}

/* Whatever is left of a try that came to nothing goes before the next one. */
TEST(devices_engine, a_claim_that_an_earlier_try_left_is_removed_and_made_anew)
{
    for (int seen_after = 0; seen_after < 2; seen_after++) {
        AUTO(stage) s = {0};
        test_case("seen %s the failure", seen_after ? "after" : "before");
        open_extended(&s);
        struct claim_name made = name_for(&s, "p");
        const char *first = made.text;
        effect_id effect = write_for(&s, "p")->id;
        if (!seen_after)
            stage_put(&s, MADE("p", "5", ""), first);
        settle(&s, effect, ERROR_DENIED);
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
        EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
        if (seen_after)
            stage_put(&s, MADE("p", "5", ""), first);
        s.now_ms += 20000;
        stage_run(&s);
        const struct effect *e = write_for(&s, "p");
        REQUIRE(e && e->write.n_patches == 2);
        EXPECT_STR(e->write.name, first);
        EXPECT_STR(e->write.patches[0].meta,
                   "\"uid\":\"u-made\",\"$deleteFromPrimitiveList/finalizers\":["
                   "\"resource.kubernetes.io/delete-protection\"]");
        EXPECT_INT(e->write.patches[1].verb, OBJECT_DELETE);
        EXPECT_TEXT(stage_fate(&s, "p"), "parked");
        settle(&s, e->id, ERROR_NONE);
        stage_remove(&s, MADE("p", "5", ""), first);
        s.now_ms += 20000;
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
        EXPECT(strcmp(name_for(&s, "p").text, first));
        EXPECT(strcmp(name_for(&s, "p").text, "none"));
    }
}

TEST(devices_engine, claims_of_pods_that_run_are_not_in_the_way_of_their_siblings)
{
    AUTO(stage) s = {0};
    open_extended(&s);
    stage_put(&s, MADE("p", "6", GIVEN("d0", "")), name_for(&s, "p").text);
    settle(&s, write_for(&s, "p")->id, ERROR_NONE);
    stage_run(&s);
    stage_put(&s, "pod p cpu=1 e/x=1 on=n");
    stage_put(&s, SLICE("{'name':'d0'},{'name':'d1'}"));
    stage_put(&s, "pod q cpu=1 e/x=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
    EXPECT_INT(
        cluster_spec(s.engine->cluster,
                     pods_find(&s.engine->cluster->pods,
                               names_find(&s.engine->cluster->names, STR("default")), STR("p")))
            ->left_claim,
        SYM_NONE);
}

/* gpu-1 and gpu-3 are joined by NVLink, gpu-0 and gpu-2 by nothing. */
TEST(devices_engine, gpus_of_a_claim_are_upstreams_or_in_a_profile_that_cares_the_best_joined)
{
#define JOINED(name, domain)                                                                       \
    "{'name':'" name "','attributes':{'nvlinkDomain':{'string':'" domain "'}}}"
    static const struct {
        const char *scheduler, *first, *second;
    } cases[] = {
        {"default-scheduler", "gpu-0", "gpu-1"},
        {"kubenexus-scheduler", "gpu-1", "gpu-3"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].scheduler);
        stage_put(&s, "node n cpu=8");
        stage_put(&s, CLASS);
        stage_put(&s, "{" RESOURCE "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':"
                      "'gpu.nvidia.com','nodeName':'n','pool':{'name':'n','generation':1,"
                      "'resourceSliceCount':1},'devices':[" JOINED("gpu-0", "a") "," JOINED(
                          "gpu-1", "b") "," JOINED("gpu-2", "c") "," JOINED("gpu-3", "b") "]}}");
        stage_put(&s, "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':'default',"
                      "'uid':'u-c','resourceVersion':'7'},'spec':{'devices':{'requests':[{'name':"
                      "'r','exactly':{'deviceClassName':'gpu','count':2}}]}}}");
        stage_put(&s, "pod p device:c cpu=1 scheduler=%s", cases[i].scheduler);
        stage_run(&s);
        REQUIRE(s.engine->cluster->devices.promises.n == 1);
        const struct device_allocation *given =
            s.engine->cluster->devices.promises.at[0].allocation;
        REQUIRE(given->results.n == 2);
        EXPECT_STR(given->results.at[0].device, cases[i].first);
        EXPECT_STR(given->results.at[1].device, cases[i].second);
    }
}
