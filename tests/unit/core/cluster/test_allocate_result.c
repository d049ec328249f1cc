/* What a claim's status says of the devices that were found: the search itself is test_allocate's.
 */

#include "core/cluster/allocate.h"
#include "support/ground.h"
#include "support/test.h"

#define RESOURCE       "'apiVersion':'resource.k8s.io/v1','kind':"
#define CONFIG(driver) "{'opaque':{'driver':'" driver "','parameters':{'x':1}}}"
#define CLASS(name, config)                                                                        \
    "{" RESOURCE "'DeviceClass','metadata':{'name':'" name "'},'spec':{'config':[" config "]}}"
#define ASK(name, class) "{'name':'" name "','exactly':{'deviceClassName':'" class "'}}"
#define SELECTED(keys)   "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[" keys "]}]}"
#define HAS(key)         "{'key':'" key "','operator':'Exists'}"

static void put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    devices_put(ground_cluster(g), &o);
}

static void put_slice(struct ground *g, const char *pool, const char *where, const char *devices)
{
    put(g, arena_printf(&g->mem,
                        "{" RESOURCE "'ResourceSlice','metadata':{'name':'%s'},'spec':{'driver':"
                        "'d','pool':{'name':'%s','generation':1,'resourceSliceCount':1},%s,"
                        "'devices':[%s]}}",
                        pool, pool, where, devices)
               .p);
}

/* What a claim of these requests is given on node n. */
static struct device_allocation *give(struct ground *g, const char *devices, const char *share)
{
    struct object o = object_of_json(
        &g->mem, arena_printf(&g->mem,
                              "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':"
                              "'default'},'spec':{'devices':{%s}}}",
                              devices)
                     .p);
    const struct resource_claim *claim = o.resource_claim;
    struct allocator *a = allocator_new(g->cluster, &claim, 1, &g->mem);
    node_id node = ground_node(g, "n");
    EXPECT(allocator_run(a, g->cluster, node) == ALLOCATE_DONE);
    struct device_allocation *given =
        allocator_result(a, g->cluster, 0, node, str_of(share), &g->mem);
    allocator_done(a);
    return given;
}

/* "r r/x": which requests each configuration is for; "*" for all, + for the class's. */
static const char *config_text(struct ground *g, const struct device_allocation *given)
{
    buf_clear(&g->text);
    list_each(&given->config, c) {
        buf_printf(&g->text, "%s" STR_FMT ":", c->is_class ? "+" : "", STR_ARG(c->config->driver));
        list_each(&c->requests, name)
            buf_printf(&g->text, " " STR_FMT, STR_ARG(*name));
        buf_printf(&g->text, "%s;", c->requests.n ? "" : " *");
    }
    return g->text.n ? g->text.p : "";
}

TEST(allocate_result, classes_then_the_claim_configure_what_was_chosen)
{
#define FOR(requests, driver) "{'requests':[" requests "],'opaque':{'driver':'" driver "'}}"
#define EITHER                                                                                     \
    "{'name':'r','firstAvailable':[{'name':'x','deviceClassName':'none'},{'name':'y',"             \
    "'deviceClassName':'gpu'}]}"
    static const struct {
        const char *rule, *claim, *config;
    } cases[] = {
        /* clang-format off */
        {"a class for all its requests, which are all", "'requests':[" ASK("a", "gpu") "]",
         "+gpu: *;"},
        {"a class once, though two requests are of it",
         "'requests':[" ASK("a", "gpu") "," ASK("b", "gpu") "]", "+gpu: *;"},
        {"each class for its own", "'requests':[" ASK("a", "gpu") "," ASK("b", "nic") "]",
         "+gpu: a;+nic: b;"},
        {"the claim behind its classes",
         "'requests':[" ASK("a", "gpu") "],'config':[" FOR("", "mine") "]", "+gpu: *;mine: *;"},
        {"the claim for some",
         "'requests':[" ASK("a", "gpu") "," ASK("b", "gpu") "],'config':[" FOR("'b'", "mine") "]",
         "+gpu: *;mine: b;"},
        {"nothing for an alternative that was not chosen",
         "'requests':[" EITHER "," ASK("s", "gpu") "],'config':[" FOR("'r/x'", "no") "," FOR(
             "'r/y'", "yes") "]",
         "+gpu: *;yes: r/y;"},
        /* clang-format on */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].rule);
        ground_add(&g, "node n");
        put(&g, CLASS("gpu", CONFIG("gpu")));
        put(&g, CLASS("nic", CONFIG("nic")));
        put(&g, "{" RESOURCE "'DeviceClass','metadata':{'name':'none'},'spec':{'selectors':[{"
                "'cel':{'expression':'false'}}]}}");
        put_slice(&g, "p", "'nodeName':'n'", "{'name':'d0'},{'name':'d1'}");
        EXPECT_TEXT(config_text(&g, give(&g, cases[i].claim, "")), cases[i].config);
    }
}

TEST(allocate_result, where_several_are_good_is_where_each_is_and_nothing_is_said_twice)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n label:zone=a label:rack=b");
    put(&g, CLASS("gpu", ""));
    put_slice(&g, "one", SELECTED(HAS("zone") "," HAS("rack")), "{'name':'d0'}");
    put_slice(&g, "two", SELECTED(HAS("rack") "," HAS("zone")), "{'name':'d0'}");
    const struct device_allocation *given =
        give(&g, "'requests':[" ASK("a", "gpu") "," ASK("b", "gpu") "]", "");
    REQUIRE(given->node_selector && given->node_selector->terms.n == 1);
    EXPECT_INT(given->node_selector->terms.at[0].match_expressions.n, 2);
    EXPECT_INT(given->node_selector->terms.at[0].match_fields.n, 0);
}

TEST(allocate_result, a_share_of_a_device_has_an_id_of_its_own_and_the_same_each_time)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n");
    put(&g, CLASS("gpu", ""));
    put_slice(&g, "p", "'nodeName':'n'",
              "{'name':'whole'},{'name':'shared','allowMultipleAllocations':true,'capacity':{"
              "'memory':{'value':'80Gi'}}}");
#define SHARED(name, gib)                                                                          \
    "{'name':'" name "','exactly':{'deviceClassName':'gpu','selectors':[{'cel':{'expression':"     \
    "'device.allowMultipleAllocations'}}],'capacity':{'requests':{'memory':'" gib "Gi'}}}}"
    static const char claim[] =
        "'requests':[" SHARED("a", "10") "," SHARED("b", "20") "," ASK("c", "gpu") "]";
    const struct device_allocation *given = give(&g, claim, "pod-uid");
    REQUIRE(given->results.n == 3);
    const struct device_result *r = given->results.at;
    EXPECT_INT(r[0].share_id.n, 36); /* a UUID */
    EXPECT_INT(r[1].share_id.n, 36);
    EXPECT(!str_equal(r[0].share_id, r[1].share_id));
    EXPECT_INT(r[0].consumed.n, 1);
    EXPECT_STR(give(&g, claim, "pod-uid")->results.at[0].share_id, r[0].share_id.p);
    EXPECT_STR(r[2].device, "whole");
    EXPECT_INT(r[2].share_id.n + r[2].consumed.n, 0);
}
