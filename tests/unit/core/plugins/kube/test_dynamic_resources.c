#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct profile_plugin listed[] = {
    {.plugin = &plugin_node_resources_fit, .number = 7, .weight = 1},
    {.plugin = &plugin_dynamic_resources, .number = 14, .weight = 2},
};
static const struct profile profile = {STR("default-scheduler"), listed, LEN(listed)};

#define RESOURCE "'apiVersion':'resource.k8s.io/v1','kind':"
#define CLASS    "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}"
#define NAMED                                                                                      \
    "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'},'spec':{'extendedResourceName':'e/x'}}"
#define SLICE(node)                                                                                \
    "{" RESOURCE "'ResourceSlice','metadata':{'name':'" node "'},'spec':{'driver':'d','nodeName':" \
    "'" node "','pool':{'name':'" node "','generation':1,'resourceSliceCount':1},'devices':["      \
    "{'name':'d0'},{'name':'d1'}]}}"
#define CLAIM(rest)                                                                                \
    "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':'default'},'spec':{"          \
    "'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'gpu'}}]}}" rest "}"
#define ON(node)                                                                                   \
    ",'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'" node     \
    "','device':'d0'}]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':"              \
    "'metadata.name','operator':'In','values':['" node "']}]}]}}"

static void put(struct judge *j, const char *json)
{
    struct object o = object_of_json(&j->ground.mem, json);
    devices_put(ground_cluster(&j->ground), &o);
}

static void set_stage(struct judge *j)
{
    ground_add(&j->ground, "node n1 cpu=4");
    ground_add(&j->ground, "node n2 cpu=4");
    ground_add(&j->ground, "pod a cpu=1 device:c");
    put(j, CLASS);
    put(j, SLICE("n1"));
}

#define NOTHING "UU DynamicResources: cannot allocate all claims"

TEST(dynamic_resources, a_claim_needs_devices_where_the_pod_goes)
{
    AUTO(judge) j = {.profile = &profile};
    set_stage(&j);
    put(&j, CLAIM(""));
    EXPECT_TEXT(judge_verdict(&j, "a", "n1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "a", "n2"), NOTHING);
    put(&j, SLICE("n2"));
    EXPECT_TEXT(judge_verdict(&j, "a", "n2"), "fits");
}

TEST(dynamic_resources, a_claim_that_has_its_devices_names_the_node)
{
    AUTO(judge) j = {.profile = &profile};
    set_stage(&j);
    put(&j, CLAIM(ON("n2") "}"));
    EXPECT_TEXT(judge_verdict(&j, "a", "n1"),
                "UU DynamicResources: resourceclaim not available on the node");
    EXPECT_TEXT(judge_verdict(&j, "a", "n2"), "fits");
}

static const char *refusal(struct judge *j)
{
    const struct class *class = judge_class(j, "a");
    return class->refusal ? class->refusal_text.p : "";
}

TEST(dynamic_resources, a_pod_waits_for_claims_and_classes_that_are_not_there)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1 cpu=4");
    ground_add(&j.ground, "pod a cpu=1 device:c");
    struct cluster *c = j.ground.cluster;
    const struct shape *shape = pods_shape(&c->pods, ground_pod(&j.ground, "a"));
    struct str why = {0};
    EXPECT(plugin_dynamic_resources.gate(c, shape, &j.ground.mem, &why));
    EXPECT_STR(why, "could not find ResourceClaim \"default/c\"");
    put(&j, CLAIM(""));
    EXPECT(!plugin_dynamic_resources.gate(c, shape, &j.ground.mem, &why));
    EXPECT_TEXT(refusal(&j), "request r: device class gpu does not exist");
    put(&j, CLASS);
    EXPECT_TEXT(refusal(&j), "");
}

TEST(dynamic_resources, what_is_promised_to_one_pod_is_not_given_to_another)
{
    AUTO(judge) j = {.profile = &profile};
    set_stage(&j);
    put(&j, CLAIM(""));
    struct object o = object_of_json(&j.ground.mem, CLAIM(ON("n1") "}"));
    struct promise promise = {
        .namespace = ground_sym(&j.ground, "default"),
        .claim = ground_sym(&j.ground, "c"),
        .mem = mem_alloc(sizeof(struct arena)),
        .allocation = o.resource_claim->status.allocation,
    };
    devices_give(j.ground.cluster, promise);
    EXPECT_TEXT(refusal(&j), "resource claim default/c is in the process of being allocated");
    devices_break(j.ground.cluster, promise.namespace, promise.claim);
    EXPECT_TEXT(refusal(&j), "");
}

TEST(dynamic_resources, devices_stand_for_an_extended_resource_that_no_plugin_offers)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1 cpu=4");
    ground_add(&j.ground, "node n2 cpu=4 e/x=1");
    ground_add(&j.ground, "node n3 cpu=4");
    ground_add(&j.ground, "pod a cpu=1 e/x=2");
    put(&j, SLICE("n1"));
    EXPECT_TEXT(judge_verdict(&j, "a", "n1"), "UU NodeResourcesFit: Insufficient e/x");
    put(&j, NAMED);
    EXPECT_TEXT(judge_verdict(&j, "a", "n1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "a", "n2"), "UU NodeResourcesFit: Insufficient e/x");
    EXPECT_TEXT(judge_verdict(&j, "a", "n3"), NOTHING);
}

TEST(dynamic_resources, init_containers_use_the_devices_of_later_ones)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n1 cpu=4");
    ground_add(&j.ground, "pod a e/x=1 init e/x=2");
    ground_add(&j.ground, "pod b e/x=2 init e/x=2");
    ground_add(&j.ground, "pod c e/x=2 init e/x=3");
    put(&j, SLICE("n1"));
    put(&j, NAMED);
    EXPECT_TEXT(judge_verdict(&j, "a", "n1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "b", "n1"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "c", "n1"), NOTHING);
}

TEST(dynamic_resources, a_claim_that_only_stands_in_the_way_can_be_given_up)
{
    AUTO(judge) j = {.profile = &profile};
    set_stage(&j);
    struct post_filter_result post_filter_result;
    struct cluster *c = j.ground.cluster;
    pod_id pod = ground_pod(&j.ground, "a");
    put(&j, CLAIM(ON("n3") "}"));
    EXPECT(strcmp(judge_verdict(&j, "a", "n1"), "fits"));
    const struct class *class = judge_class(&j, "a");
    const void *state = class->parts[1].state;
    EXPECT(plugin_dynamic_resources.post_filter(c, state, pod, &post_filter_result));
    EXPECT(post_filter_result.prebind_task.name == ground_sym(&j.ground, "c") &&
           post_filter_result.prebind_task.n_patches == 1);
    EXPECT_TEXT(post_filter_result.text, "deallocation of ResourceClaim completed");
    EXPECT(
        !plugin_dynamic_resources.post_filter(c, state, pod, &post_filter_result)); /* asked once */
    put(&j, CLAIM(ON("n3") ",'reservedFor':[{'resource':'pods','name':'b','uid':'b'}]}"));
    EXPECT(strcmp(judge_verdict(&j, "a", "n1"), "fits"));
    state = judge_class(&j, "a")->parts[1].state;
    EXPECT(!plugin_dynamic_resources.post_filter(c, state, pod,
                                                 &post_filter_result)); /* somebody uses it */
}

TEST(dynamic_resources, a_pod_takes_its_devices_and_says_what_to_write)
{
    AUTO(judge) j = {.profile = &profile};
    set_stage(&j);
    put(&j, CLAIM(""));
    EXPECT_TEXT(judge_verdict(&j, "a", "n1"), "fits");
    struct cluster *c = j.ground.cluster;
    struct reserving r = {
        .cluster = c,
        .pod = ground_pod(&j.ground, "a"),
        .node = ground_node(&j.ground, "n1"),
        .mem = &j.ground.mem,
    };
    struct txn t = txn_begin(c);
    plugin_dynamic_resources.reserve(&r, judge_class(&j, "a")->parts[1].state);
    txn_commit(c, t);
    REQUIRE(r.prebind_tasks.n == 1 && r.prebind_tasks.at[0].n_patches == 2);
    EXPECT_STR(r.prebind_tasks.at[0].patches[0].meta,
               "\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]");
    EXPECT_STR(r.prebind_tasks.at[0].patches[1].part, "status");
    EXPECT_STR(r.prebind_tasks.at[0].patches[1].body,
               "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
               "\"driver\":\"d\",\"pool\":\"n1\",\"device\":\"d0\"}]},\"nodeSelector\":{"
               "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
               "\"operator\":\"In\",\"values\":[\"n1\"]}]}]}},\"reservedFor\":[{\"resource\":"
               "\"pods\",\"name\":\"a\",\"uid\":\"a\"}]}");
    EXPECT(devices_is_taken(&c->devices, ground_sym(&j.ground, "d/n1/d0")));
    struct prebind_ask ask = {
        .cluster = c, .pod = r.pod, .prebind_task = &r.prebind_tasks.at[0], .mem = &j.ground.mem};
    EXPECT_INT(plugin_dynamic_resources.look(&ask), PREBIND_OPEN);
    ask.is_late = true;
    EXPECT_INT(plugin_dynamic_resources.look(&ask), PREBIND_FAILED);
    plugin_dynamic_resources.release(c, &r.prebind_tasks.at[0]);
    EXPECT(!devices_is_taken(&c->devices, ground_sym(&j.ground, "d/n1/d0")));
    EXPECT_INT(plugin_dynamic_resources.look(&ask), PREBIND_FAILED);
    vec_done(&r.prebind_tasks);
}

TEST(dynamic_resources, an_event_wakes_whom_it_may_help)
{
    AUTO(judge) j = {.profile = &profile};
    set_stage(&j);
    put(&j, CLAIM(""));
    static const struct {
        const char *name;
        uint32_t actions;
        bool wakes;
    } cases[] = {
        {"c", ACTION_ADD, true},
        {"other", ACTION_ADD, false},
        {"c", ACTION_OTHER, false},
        {"c", ACTION_OTHER | ACTION_CLAIM_STATUS, true},
        {"other", ACTION_OTHER | ACTION_CLAIM_STATUS, false},
        {"other", ACTION_OTHER | ACTION_CLAIM_STATUS | ACTION_CLAIM_FREED, true},
        {"other", ACTION_DELETE, false},
        {"other", ACTION_DELETE | ACTION_CLAIM_FREED, true},
    };
    const struct wake *wake = plugin_dynamic_resources.wakes;
    while (wake->resource != EVENT_RESOURCE_CLAIM)
        wake++;
    const struct shape *shape = pods_shape(&j.ground.cluster->pods, ground_pod(&j.ground, "a"));
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s %x", cases[i].name, cases[i].actions);
        struct event e = {
            .resource = EVENT_RESOURCE_CLAIM,
            .actions = cases[i].actions,
            .namespace = ground_sym(&j.ground, "default"),
            .name = ground_sym(&j.ground, cases[i].name),
        };
        EXPECT_INT(wake->hint(j.ground.cluster, shape, &e), cases[i].wakes);
    }
}
