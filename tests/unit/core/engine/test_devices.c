/* From a claim for devices to a bound pod, through the whole engine. */

#include "core/engine/inside.h"
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
    EXPECT_INT(s.engine->preparations.n, 1);
}

TEST(devices_engine, after_a_conflict_the_claim_decides)
{
    static const struct {
        const char *comes, *fate;
    } cases[] = {
        {CLAIM("c", "9",  ",'labels':{'a':'b'}", ""),  "backing off" }, /* somebody was faster */
        { CLAIM("c",      "9", OURS,            GIVEN("d0", "")), "assumed on n"}, /* it was our own write */
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
    EXPECT_INT(s.engine->preparations.n, 0);
    s.now_ms += 20000;
    stage_put(&s, CLAIM("c", "8", OURS, ""));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(devices_engine, extended_resources_that_devices_stand_for_are_not_placed_yet)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'},'spec':{"
                  "'extendedResourceName':'e/x'}}");
    stage_put(&s, SLICE("{'name':'d0'}"));
    stage_put(&s, "pod p cpu=1 e/x=1");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "p")->message, "not supported yet: claims for extended resources");
    EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
    EXPECT_INT(s.engine->cluster->devices.promises.n, 0);
    stage_put(&s, "node m cpu=8 e/x=1");
    s.now_ms += 20000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on m");
}
