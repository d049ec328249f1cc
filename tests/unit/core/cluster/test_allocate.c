#include "core/cluster/allocate.h"

#include "core/base/rng.h"
#include "core/cluster/gpu_sets.h"
#include "support/ground.h"
#include "support/test.h"

#define RESOURCE "'apiVersion':'resource.k8s.io/v1','kind':"
#define CLASS    "{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}"
#define SLICE(name, pool, generation, count, rest)                                                 \
    "{" RESOURCE "'ResourceSlice','metadata':{'name':'" name "'},'spec':{'driver':'d','pool':{"    \
    "'name':'" pool "','generation':" generation ",'resourceSliceCount':" count "}," rest "}}"
#define HERE(devices)      SLICE("s", "n", "1", "1", "'nodeName':'n','devices':[" devices "]")
#define DEVICE(name, more) "{'name':'" name "'" more "}"
#define MODEL(model)       ",'attributes':{'model':{'string':'" model "'}}"
#define TWO                HERE(DEVICE("d0", MODEL("a")) "," DEVICE("d1", MODEL("b")))
#define TAKEN(device)                                                                              \
    "{" RESOURCE "'ResourceClaim','metadata':{'name':'taken','namespace':'default'},'status':{"    \
    "'allocation':{'devices':{'results':[{'driver':'d','pool':'n','device':'" device "'}]}}}}"
#define REQUESTS(requests, more) "'requests':[" requests "]" more
#define ASK(name, more)          "{'name':'" name "','exactly':{'deviceClassName':'gpu'" more "}}"
#define OTHER(name, more)        "{'name':'" name "','deviceClassName':'gpu'" more "}"
#define WHERE(text)              ",'selectors':[{'cel':{'expression':'" text "'}}]"

/* What a claim with these requests is given on node n of a cluster with these objects:
 * request=device, or why nothing. */
static const struct {
    const char *rule, *objects[3], *claim, *given;
} cases[] = {
    {"the first device that is free", {TWO}, REQUESTS(ASK("r", ""), ""), "r=d0"},
    {"not one that somebody has", {TWO, TAKEN("d0")}, REQUESTS(ASK("r", ""), ""), "r=d1"},
    {"as many as are asked for", {TWO}, REQUESTS(ASK("r", ",'count':2"), ""), "r=d0 r=d1"},
    {"not fewer", {TWO, TAKEN("d1")}, REQUESTS(ASK("r", ",'count':2"), ""), "nothing"},
    {"each once", {TWO}, REQUESTS(ASK("a", "") "," ASK("b", ""), ""), "a=d0 b=d1"},
    {"whom a selector means",
     {TWO},
     REQUESTS(ASK("r", WHERE("device.attributes[\\'d\\'].model == \\'b\\'")), ""),
     "r=d1"},
    {"going back where the first choice leaves nothing",
     {TWO},
     REQUESTS(ASK("a", "") "," ASK("b", WHERE("device.attributes[\\'d\\'].model == \\'a\\'")), ""),
     "a=d1 b=d0"},
    {"all", {TWO}, REQUESTS(ASK("r", ",'allocationMode':'All'"), ""), "r=d0 r=d1"},
    {"all or none",
     {TWO, TAKEN("d0")},
     REQUESTS(ASK("r", ",'allocationMode':'All'"), ""),
     "nothing"},
    {"all of nothing is nothing",
     {TWO},
     REQUESTS(ASK("r", ",'allocationMode':'All'" WHERE("false")), ""),
     "nothing"},
    {"the first alternative that works",
     {TWO},
     REQUESTS("{'name':'r','firstAvailable':[" OTHER("x", ",'count':3") "," OTHER("y", "") "]}",
              ""),
     "r/y=d0"},
    {"an alternative that leaves enough for others",
     {TWO},
     REQUESTS("{'name':'r','firstAvailable':[" OTHER("x", ",'count':2") "," OTHER(
                  "y", "") "]}," ASK("s", ""),
              ""),
     "r/y=d0 s=d1"},
    {"an administrator what others have",
     {TWO, TAKEN("d0")},
     REQUESTS(ASK("r", ",'adminAccess':true"), ""),
     "r=d0"},
    {"devices that are alike",
     {HERE(DEVICE("d0", MODEL("a")) "," DEVICE("d1", MODEL("b")) "," DEVICE("d2", MODEL("b")))},
     REQUESTS(ASK("r", ",'count':2"), ",'constraints':[{'matchAttribute':'d/model'}]"),
     "r=d1 r=d2"},
    {"devices that differ",
     {HERE(DEVICE("d0", MODEL("b")) "," DEVICE("d1", MODEL("b")) "," DEVICE("d2", MODEL("a")))},
     REQUESTS(ASK("r", ",'count':2"), ",'constraints':[{'distinctAttribute':'d/model'}]"),
     "r=d0 r=d2"},
    {"alike only where the constraint says so",
     {TWO},
     REQUESTS(ASK("a", "") "," ASK("b", ""),
              ",'constraints':[{'requests':['a'],'matchAttribute':'d/model'}]"),
     "a=d0 b=d1"},
    {"no tainted ones",
     {HERE(DEVICE("d0", ",'taints':[{'key':'k','effect':'NoSchedule'}]") "," DEVICE(
         "d1", ",'taints':[{'key':'k','effect':'None'}]"))},
     REQUESTS(ASK("r", ""), ""),
     "r=d1"},
    {"tainted ones, if they are tolerated",
     {HERE(DEVICE("d0", ",'taints':[{'key':'k','effect':'NoSchedule'}]"))},
     REQUESTS(ASK("r", ",'tolerations':[{'key':'k','operator':'Exists'}]"), ""),
     "r=d0"},
    {"none that a rule taints",
     {TWO, "{" RESOURCE "'DeviceTaintRule','metadata':{'name':'t'},'spec':{'deviceSelector':{"
           "'device':'d0'},'taint':{'key':'k','effect':'NoExecute'}}}"},
     REQUESTS(ASK("r", ""), ""),
     "r=d1"},
    {"what the counters of a card leave",
     {SLICE(
          "a", "n", "1", "2",
          "'nodeName':'n','devices':["
          "{'name':'half','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'2'}}}]},"
          "{'name':'most','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'3'}}}]},"
          "{'name':'rest','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'2'}}}]}"
          "]"),
      SLICE("b", "n", "1", "2",
            "'nodeName':'n','sharedCounters':[{'name':'c','counters':{'m':{'value':'4'}}}]")},
     REQUESTS(ASK("r", ",'count':2"), ""),
     "r=half r=rest"},
    {"what others leave of a card",
     {SLICE(
          "a", "n", "1", "2",
          "'nodeName':'n','devices':["
          "{'name':'d0','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'2'}}}]},"
          "{'name':'d1','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'3'}}}]}]"),
      SLICE("b", "n", "1", "2",
            "'nodeName':'n','sharedCounters':[{'name':'c','counters':{'m':{'value':'4'}}}]"),
      TAKEN("d0")},
     REQUESTS(ASK("r", ""), ""),
     "nothing"},
    {"shares of one device while they last",
     {HERE(DEVICE("d0", ",'allowMultipleAllocations':true,'capacity':{'m':{'value':'4'}}"))},
     REQUESTS(ASK("r", ",'capacity':{'requests':{'m':'2'}}") "," ASK(
                  "s", ",'capacity':{'requests':{'m':'2'}}"),
              ""),
     "r=d0 s=d0"},
    {"no more than there is",
     {HERE(DEVICE("d0", ",'allowMultipleAllocations':true,'capacity':{'m':{'value':'4'}}"))},
     REQUESTS(ASK("r", ",'capacity':{'requests':{'m':'2'}}") "," ASK(
                  "s", ",'capacity':{'requests':{'m':'3'}}"),
              ""),
     "nothing"},
    {"the newest generation",
     {SLICE("a", "n", "1", "1", "'nodeName':'n','devices':[{'name':'old'}]"),
      SLICE("b", "n", "2", "1", "'nodeName':'n','devices':[{'name':'new'}]")},
     REQUESTS(ASK("r", ""), ""),
     "r=new"},
    {"nothing of a pool that is not all there",
     {SLICE("a", "n", "1", "2", "'nodeName':'n','devices':[{'name':'d0'}]")},
     REQUESTS(ASK("r", ""), ""),
     "nothing"},
    {"a pool that is complete elsewhere",
     {SLICE("a", "n", "1", "2", "'nodeName':'n','devices':[{'name':'d0'}]"),
      SLICE("b", "n", "1", "2", "'nodeName':'other','devices':[{'name':'d1'}]")},
     REQUESTS(ASK("r", ""), ""),
     "r=d0"},
    {"nothing of a pool that is being replaced elsewhere",
     {SLICE("a", "n", "1", "2", "'nodeName':'n','devices':[{'name':'d0'}]"),
      SLICE("b", "n", "2", "1", "'nodeName':'other','devices':[{'name':'d1'}]")},
     REQUESTS(ASK("r", ""), ""),
     "nothing"},
    {"nothing of a pool with a name twice",
     {HERE("{'name':'d0'},{'name':'d0'}")},
     REQUESTS(ASK("r", ""), ""),
     "invalid"},
    {"what every node reaches",
     {SLICE("a", "x", "1", "1", "'allNodes':true,'devices':[{'name':'d0'}]")},
     REQUESTS(ASK("r", ""), ""),
     "r=d0"},
    {"each device for its own node",
     {SLICE("a", "x", "1", "1",
            "'perDeviceNodeSelection':true,'devices':[{'name':'d0','nodeName':'other'},"
            "{'name':'d1','nodeName':'n'}]")},
     REQUESTS(ASK("r", ""), ""),
     "r=d1"},
    {"devices that must be made ready last",
     {SLICE("a", "a", "1", "1",
            "'nodeName':'n','devices':[{'name':'d0','bindingConditions':['c']}]"),
      SLICE("b", "b", "1", "1", "'nodeName':'n','devices':[{'name':'d1'}]")},
     REQUESTS(ASK("r", ""), ""),
     "r=d1"},
    {"an error where a selector fails",
     {TWO},
     REQUESTS(ASK("r", WHERE("device.attributes[\\'d\\'].none == 1")), ""),
     "claim default/c: selector #0 on device d/n/d0: CEL runtime error: no such key: none. "
     "consider "
     "using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for "
     "optional fields"},
    {"an error where all is not known",
     {SLICE("a", "n", "1", "2", "'nodeName':'n','devices':[{'name':'d0'}]")},
     REQUESTS(ASK("r", ",'allocationMode':'All'"), ""),
     "claim default/c, request r: asks for all devices, but resource pool d/n is currently being "
     "updated"},
    {"no more than 32",
     {TWO},
     REQUESTS(ASK("r", ",'count':33"), ""),
     "claim default/c: number of requested devices 33 exceeds the claim limit of 32"},
};

static void put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    devices_put(ground_cluster(g), &o);
}

static struct str outcome(struct ground *g, struct allocator *a, bool is_joined)
{
    node_id node = ground_node(g, "n");
    switch ((is_joined ? allocator_run_joined : allocator_run)(a, g->cluster, node)) {
    case ALLOCATE_NOTHING:
        return STR("nothing");
    case ALLOCATE_UNFINISHED:
        return STR("put down");
    case ALLOCATE_INVALID:
        return STR("invalid");
    case ALLOCATE_FAILED:
        return allocator_error(a);
    case ALLOCATE_DONE:
        break;
    }
    struct str text = {0};
    struct device_allocation *all = allocator_result(a, g->cluster, 0, node, STR("share"), &g->mem);
    list_each(&all->results, r)
        text = arena_printf(&g->mem, STR_FMT "%s" STR_FMT "=" STR_FMT, STR_ARG(text),
                            text.n ? " " : "", STR_ARG(r->request), STR_ARG(r->device));
    return text;
}

TEST(allocate, gives)
{
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].rule);
        ground_add(&g, "node n");
        put(&g, CLASS);
        for (size_t k = 0; k < LEN(cases[i].objects) && cases[i].objects[k]; k++)
            put(&g, cases[i].objects[k]);
        struct str text = arena_printf(&g.mem,
                                       "{" RESOURCE "'ResourceClaim','metadata':{'name':'c',"
                                       "'namespace':'default'},'spec':{'devices':{%s}}}",
                                       cases[i].claim);
        struct object o = object_of_json(&g.mem, text.p);
        const struct resource_claim *claim = o.resource_claim;
        struct allocator *a = allocator_new(g.cluster, &claim, 1, &g.mem);
        EXPECT_STR(outcome(&g, a, false), cases[i].given);
        EXPECT_STR(outcome(&g, a, true), cases[i].given);  /* these are no GPUs */
        EXPECT_STR(outcome(&g, a, false), cases[i].given); /* a run leaves nothing behind */
        allocator_done(a);
    }
}

TEST(allocate, says_where_the_devices_are_good)
{
    static const struct {
        const char *slice, *field;
    } rules[] = {
        {SLICE("a", "x", "1", "1", "'nodeName':'n','devices':[{'name':'d0'}]"), "metadata.name"},
        {SLICE("a", "x", "1", "1", "'allNodes':true,'devices':[{'name':'d0'}]"), NULL},
        {SLICE("a", "x", "1", "1", "'allNodes':true,'devices':[{'name':'d0','bindsToNode':true}]"),
         "metadata.name"},
        {SLICE("a", "x", "1", "1",
               "'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':"
               "'Exists'}]}]},'devices':[{'name':'d0'},{'name':'d1'}]"),
         "zone"},
    };
    for (size_t i = 0; i < LEN(rules); i++) {
        AUTO(ground) g = {0};
        test_case("%s", rules[i].slice);
        ground_add(&g, "node n label:zone=a");
        put(&g, CLASS);
        put(&g, rules[i].slice);
        struct object o = object_of_json(
            &g.mem, "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':'default'},"
                    "'spec':{'devices':{" REQUESTS(ASK("r", ""), "") "}}}");
        const struct resource_claim *claim = o.resource_claim;
        struct allocator *a = allocator_new(g.cluster, &claim, 1, &g.mem);
        node_id node = ground_node(&g, "n");
        REQUIRE(allocator_run(a, g.cluster, node) == ALLOCATE_DONE);
        const struct node_selector *where =
            allocator_result(a, g.cluster, 0, node, STR("s"), &g.mem)->node_selector;
        const struct node_selector_term *term = where ? where->terms.at : NULL;
        struct str field = !term                  ? (struct str){0}
                           : term->match_fields.n ? term->match_fields.at[0].key
                                                  : term->match_expressions.at[0].key;
        EXPECT_STR(field, rules[i].field ? rules[i].field : "");
        allocator_done(a);
    }
}

TEST(allocate, gives_up_a_search_that_does_not_end)
{
    AUTO(ground) g = {0};
    struct buf text = {0};
    ground_add(&g, "node n");
    put(&g, CLASS);
    buf_add(&text, STR("{" RESOURCE "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d',"
                       "'pool':{'name':'n','generation':1,'resourceSliceCount':1},'nodeName':'n',"
                       "'devices':["));
    for (int i = 0; i < 40; i++)
        buf_printf(&text, "%s{'name':'d%d','attributes':{'m':{'int':%d}}}", i ? "," : "", i, i / 2);
    buf_add(&text, STR("]}}"));
    put(&g, text.p);
    buf_done(&text);
    struct object o = object_of_json(
        &g.mem,
        "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':'default'},"
        "'spec':{'devices':{'requests':[" ASK("r", ",'count':21") "],'constraints':[{"
                                                                  "'distinctAttribute':'d/m'}]}}}");
    const struct resource_claim *claim = o.resource_claim;
    struct allocator *a = allocator_new(g.cluster, &claim, 1, &g.mem);
    allocator_set_time(a, 50);
    EXPECT_STR(outcome(&g, a, false), "node n: timed out trying to allocate devices");
    EXPECT(g.cluster->effort.spent >= 50 * STEPS_A_MS);
    EXPECT(g.cluster->effort.spent < 51 * STEPS_A_MS);
    allocator_done(a);
}

/* --- GPUs that are joined --- */

#define GPU(name, domain, zone)                                                                    \
    "{'name':'" name "','attributes':{'nvlinkDomain':{'string':'" domain                           \
    "'},'numaNode':{'int':" zone "},'type':{'string':'gpu'}}}"
#define GPUS                                                                                       \
    "{" RESOURCE "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'gpu.nvidia.com',"      \
    "'nodeName':'n','pool':{'name':'n','generation':1,'resourceSliceCount':1},'devices':[" GPU(    \
        "gpu-0", "a",                                                                              \
        "0") "," GPU("gpu-1", "b",                                                                 \
                     "0") "," GPU("gpu-2", "c",                                                    \
                                  "0") "," GPU("gpu-3", "b",                                       \
                                               "1") "," GPU("gpu-4", "c",                          \
                                                            "1") "," GPU("gpu-5", "c", "1") "]}}"
#define HAS_GPU(device)                                                                            \
    "{" RESOURCE "'ResourceClaim','metadata':{'name':'taken','namespace':'default'},'status':{"    \
    "'allocation':{'devices':{'results':[{'driver':'gpu.nvidia.com','pool':'n','device':'" device  \
    "'}]}}}}"
#define ZONE "device.attributes[\\'gpu.nvidia.com\\'].numaNode"

/* Domains: a of gpu-0, b of 1 and 3, c of 2, 4 and 5. */
TEST(allocate, of_gpus_that_will_do_those_that_are_joined_best_come_first)
{
    /* clang-format off */
    static const struct {
        const char *rule, *claim, *taken, *given, *upstream;
    } gpus[] = {
        {"a pair that is joined",                  REQUESTS(ASK("r", ",'count':2"), ""),           NULL,    "r=gpu-4 r=gpu-5",                 "r=gpu-0 r=gpu-1"},
        {"one that leaves the others whole",       REQUESTS(ASK("r", ""), ""),                     NULL,    "r=gpu-0",                         "r=gpu-0"},
        {"three that are joined",                  REQUESTS(ASK("r", ",'count':3"), ""),           NULL,    "r=gpu-2 r=gpu-4 r=gpu-5",         "r=gpu-0 r=gpu-1 r=gpu-2"},
        {"not those that somebody has",            REQUESTS(ASK("r", ",'count':2"), ""),           "gpu-4", "r=gpu-1 r=gpu-3",                 "r=gpu-0 r=gpu-1"},
        {"each request its own",                   REQUESTS(ASK("a", ",'count':3") "," ASK("b", ",'count':2"), ""), NULL,
         "a=gpu-2 a=gpu-4 a=gpu-5 b=gpu-1 b=gpu-3", "a=gpu-0 a=gpu-1 a=gpu-2 b=gpu-3 b=gpu-4"},
        {"of those that are selected",             REQUESTS(ASK("r", ",'count':2" WHERE(ZONE " == 0")), ""), NULL, "r=gpu-0 r=gpu-1",          "r=gpu-0 r=gpu-1"},
        {"what a constraint allows",               REQUESTS(ASK("r", ",'count':2"), ",'constraints':[{'matchAttribute':'gpu.nvidia.com/numaNode'}]"), "gpu-4",
         "r=gpu-1 r=gpu-0",                        "r=gpu-0 r=gpu-1"},
        {"where there is no choice, what there is", REQUESTS(ASK("r", ",'allocationMode':'All'"), ""), NULL,
         "r=gpu-0 r=gpu-1 r=gpu-2 r=gpu-3 r=gpu-4 r=gpu-5", "r=gpu-0 r=gpu-1 r=gpu-2 r=gpu-3 r=gpu-4 r=gpu-5"},
        {"more than there are",                    REQUESTS(ASK("r", ",'count':7"), ""),           NULL,    "nothing",                         "nothing"},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(gpus); i++) {
        AUTO(ground) g = {0};
        test_case("%s", gpus[i].rule);
        ground_add(&g, "node n");
        put(&g, CLASS);
        put(&g, GPUS);
        if (gpus[i].taken)
            put(&g, arena_printf(&g.mem, HAS_GPU("%s"), gpus[i].taken).p);
        struct str text = arena_printf(&g.mem,
                                       "{" RESOURCE "'ResourceClaim','metadata':{'name':'c',"
                                       "'namespace':'default'},'spec':{'devices':{%s}}}",
                                       gpus[i].claim);
        struct object o = object_of_json(&g.mem, text.p);
        const struct resource_claim *claim = o.resource_claim;
        struct allocator *a = allocator_new(g.cluster, &claim, 1, &g.mem);
        EXPECT_STR(outcome(&g, a, true), gpus[i].given);
        EXPECT_STR(outcome(&g, a, false), gpus[i].upstream);
        allocator_done(a);
    }
}

/* A slice of n GPUs that few things tell apart. */
static void put_gpus(struct ground *g, struct rng *rng, uint32_t n)
{
    uint32_t kinds = 1 + (uint32_t)rng_below(rng, 4);
    AUTO(buf) json = {0};
    buf_printf(&json, "{" RESOURCE "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':"
                      "'gpu.nvidia.com','nodeName':'n','pool':{'name':'n','generation':1,"
                      "'resourceSliceCount':1},'devices':[");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&json,
                   "%s{'name':'gpu-%u','attributes':{'nvlinkDomain':{'string':'%u'},'pcieRoot':{"
                   "'string':'%u'},'numaNode':{'int':%u}}}",
                   i ? "," : "", i, (uint32_t)rng_below(rng, kinds),
                   (uint32_t)rng_below(rng, kinds), (uint32_t)rng_below(rng, 2));
    buf_printf(&json, "]}}%c", 0);
    put(g, json.p);
}

static void give_away(struct ground *g, uint32_t gpu)
{
    put(g, arena_printf(&g->mem,
                        "{" RESOURCE "'ResourceClaim','metadata':{'name':'t%u','namespace':"
                        "'default'},'status':{'allocation':{'devices':{'results':[{'driver':"
                        "'gpu.nvidia.com','pool':'n','device':'gpu-%u'}]}}}}",
                        gpu, gpu)
               .p);
}

static struct resource_claim *claim_of(struct ground *g, uint32_t k)
{
    return object_of_json(&g->mem, arena_printf(&g->mem,
                                                "{" RESOURCE "'ResourceClaim','metadata':{'name':"
                                                "'c','namespace':'default'},'spec':{'devices':{"
                                                "'requests':[{'name':'r','exactly':{"
                                                "'deviceClassName':'gpu','count':%u}}]}}}",
                                                k)
                                       .p)
        .resource_claim;
}

/* Up to eight GPUs, some of them taken, joined at random: no set of those that are free has pairs
 * that are worth more. */
TEST(allocate, no_other_set_of_up_to_eight_gpus_is_joined_better)
{
    struct rng rng = {test_seed()};
    for (uint32_t round = 0; round < 150; round++) {
        AUTO(ground) g = {0};
        uint32_t n = 2 + (uint32_t)rng_below(&rng, 7), k = 1 + (uint32_t)rng_below(&rng, 4);
        gpu_mask taken = (gpu_mask)rng_below(&rng, 1u << n), set = 0;
        ground_add(&g, "node n");
        put(&g, CLASS);
        put_gpus(&g, &rng, n);
        for (uint32_t i = 0; i < n; i++)
            if (taken >> i & 1)
                give_away(&g, i);
        const struct resource_claim *claim = claim_of(&g, k);
        struct allocator *a = allocator_new(g.cluster, &claim, 1, &g.mem);
        node_id node = ground_node(&g, "n");
        test_case("round %u: %u of %u, %x taken", round, k, n, taken);
        bool is_done = allocator_run_joined(a, g.cluster, node) == ALLOCATE_DONE;
        EXPECT_INT(is_done, k + (uint32_t)__builtin_popcount(taken) <= n);
        if (is_done) {
            const struct node_gpus *books = g.cluster->nodes.gpus[node.i];
            const struct device_allocation *given =
                allocator_result(a, g.cluster, 0, node, STR(""), &g.mem);
            list_each(&given->results, r)
                set |= (gpu_mask)1 << (r->device.p[r->device.n - 1] - '0');
            EXPECT_INT(__builtin_popcount(set), k);
            EXPECT_INT(set & taken, 0);
            for (gpu_mask other = 1; other < 1u << n; other++)
                if (!(other & taken) && (uint32_t)__builtin_popcount(other) == k)
                    EXPECT(gpu_sets_worth(books, other) <= gpu_sets_worth(books, set));
        }
        allocator_done(a);
    }
}
