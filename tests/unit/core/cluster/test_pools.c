#include "core/cluster/pools.h"

#include "support/ground.h"
#include "support/test.h"

#define SLICE(name, driver, pool, generation, count, rest)                                         \
    "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'" name          \
    "'},'spec':{'driver':'" driver "','pool':{'name':'" pool "','generation':" generation          \
    ",'resourceSliceCount':" count "}," rest "}}"
#define HERE(devices)  "'nodeName':'n','devices':[" devices "]"
#define THERE(devices) "'nodeName':'other','devices':[" devices "]"
#define CARD(name, rest)                                                                           \
    "{'name':'" name "','consumesCounters':[{'counterSet':'c','counters':{'m':{'value':'1'}}" rest \
    "}]}"
#define COUNTERS "'nodeName':'n','sharedCounters':[{'name':'c','counters':{'m':{'value':'2'}}}]"

/* What node n reaches: pools with their devices, "-" of one that is incomplete, "!" of one that
 * contradicts itself. */
static const struct {
    const char *rule, *slices[3], *pools;
} cases[] = {
    {"pools come by driver and name",
     {SLICE("a", "y", "p", "1", "1", HERE("{'name':'1'}")),
      SLICE("b", "x", "q", "1", "1", HERE("{'name':'2'}")),
      SLICE("c", "x", "p", "1", "1", HERE("{'name':'3'}"))},
     "x/p:3 x/q:2 y/p:1"},
    {"slices come by name",
     {SLICE("b", "x", "p", "1", "2", HERE("{'name':'1'},{'name':'0'}")),
      SLICE("a", "x", "p", "1", "2", HERE("{'name':'2'}"))},
     "x/p:2,1,0"},
    {"one that must be made ready comes last",
     {SLICE("a", "x", "p", "1", "1", HERE("{'name':'1','bindingConditions':['c']}")),
      SLICE("b", "y", "p", "1", "1", HERE("{'name':'2'}"))},
     "y/p:2 x/p:1"},
    {"an older generation does not count",
     {SLICE("a", "x", "p", "1", "1", HERE("{'name':'1'}")),
      SLICE("b", "x", "p", "3", "1", HERE("{'name':'2'}"))},
     "x/p:2"},
    {"it waits for all slices", {SLICE("a", "x", "p", "1", "2", HERE("{'name':'1'}"))}, "x/p-"},
    {"slices of other nodes count",
     {SLICE("a", "x", "p", "1", "2", HERE("{'name':'1'}")),
      SLICE("b", "x", "p", "1", "2", THERE("{'name':'2'}"))},
     "x/p:1"},
    {"one that is replaced elsewhere is gone",
     {SLICE("a", "x", "p", "1", "2", HERE("{'name':'1'}")),
      SLICE("b", "x", "p", "2", "2", THERE("{'name':'2'}"))},
     ""},
    {"a name stands once",
     {SLICE("a", "x", "p", "1", "2", HERE("{'name':'1'}")),
      SLICE("b", "x", "p", "1", "2", HERE("{'name':'1'}"))},
     "x/p!"},
    {"counters must be there", {SLICE("a", "x", "p", "1", "1", HERE(CARD("1", "")))}, "x/p!"},
    {"counters may be elsewhere in the pool",
     {SLICE("a", "x", "p", "1", "2", HERE(CARD("1", ""))),
      SLICE("b", "x", "p", "1", "2", COUNTERS)},
     "x/p:1"},
    {"a feature that is off makes it incomplete",
     {SLICE("a", "x", "p", "1", "2", HERE(CARD("1", ",'compatibilityGroups':['g']"))),
      SLICE("b", "x", "p", "1", "2", COUNTERS)},
     "x/p-"},
    {"a slice that says nothing of nodes is no one's",
     {SLICE("a", "x", "p", "1", "1", "'devices':[{'name':'1'}]")},
     ""},
};

static void put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    devices_put(ground_cluster(g), &o);
}

TEST(pools, are_what_a_node_reaches)
{
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        AUTO(buf) text = {0};
        test_case("%s", cases[i].rule);
        ground_add(&g, "node n");
        for (size_t k = 0; k < LEN(cases[i].slices) && cases[i].slices[k]; k++)
            put(&g, cases[i].slices[k]);
        struct pools p = pools_gather(g.cluster, ground_node(&g, "n"), &g.mem);
        uint32_t at = 0;
        for (uint32_t k = 0; k < p.n; k++) {
            bool is_first = true;
            buf_printf(&text, "%s" STR_FMT "/" STR_FMT "%s", k ? " " : "", STR_ARG(p.at[k].driver),
                       STR_ARG(p.at[k].name),
                       p.at[k].is_incomplete ? "-"
                       : p.at[k].is_invalid  ? "!"
                                             : "");
            for (; at < p.n_candidates && p.candidates[at].pool == &p.at[k]; at++) {
                buf_printf(&text, "%s" STR_FMT, is_first ? ":" : ",",
                           STR_ARG(p.candidates[at].device->name));
                is_first = false;
            }
        }
        EXPECT_STR(buf_str(&text), cases[i].pools);
    }
}

TEST(pools, counters_last_until_they_are_used_up)
{
    AUTO(ground) g = {0};
    ground_add(&g, "node n");
    put(&g,
        SLICE("a", "x", "p", "1", "2", HERE(CARD("1", "") "," CARD("2", "") "," CARD("3", ""))));
    put(&g, SLICE("b", "x", "p", "1", "2", COUNTERS));
    struct pools p = pools_gather(g.cluster, ground_node(&g, "n"), &g.mem);
    REQUIRE(p.n_candidates == 3);
    EXPECT(pools_count(&p.candidates[0], +1) && pools_count(&p.candidates[1], +1));
    EXPECT(!pools_count(&p.candidates[2], +1));
    pools_count(&p.candidates[0], -1);
    EXPECT(pools_count(&p.candidates[2], +1));
}
