/* A search that leaves out what it need not try, and one that is put down and taken up again, find
 * what a search finds that tries everything in one go. */

#include "core/base/rng.h"
#include "core/cluster/allocate_inside.h"
#include "support/ground.h"
#include "support/test.h"

#define RESOURCE "'apiVersion':'resource.k8s.io/v1','kind':"

enum { CLAIMS_MOST = 2 };

static void put(struct ground *g, struct str json)
{
    struct object o = object_of_json(&g->mem, json.p);
    devices_put(ground_cluster(g), &o);
}

/* True in `of` of a hundred. */
static bool is_one(struct rng *rng, uint32_t of)
{
    return rng_below(rng, 100) < of;
}

static uint32_t up_to(struct rng *rng, uint32_t most)
{
    return (uint32_t)rng_below(rng, most + 1);
}

static void add_device(struct buf *json, struct rng *rng, uint32_t i, bool is_plain)
{
    buf_printf(json, "%s{'name':'d%u','attributes':{'id':{'int':%u}", i ? "," : "", i, i);
    if (!is_one(rng, 10))
        buf_printf(json, ",'m':{'string':'%c'}", 'a' + (int)up_to(rng, 3));
    buf_printf(json, ",'k':{'int':%u}}", up_to(rng, 1));
    if (!is_plain && is_one(rng, 15))
        buf_printf(json, ",'allowMultipleAllocations':true,'capacity':{'c':{'value':'4'}}");
    if (!is_plain && is_one(rng, 15))
        buf_printf(json, ",'taints':[{'key':'t','effect':'NoSchedule'}]");
    if (!is_plain && is_one(rng, 40))
        buf_printf(json, ",'consumesCounters':[{'counterSet':'s','counters':{'n':{'value':'%u'}}}]",
                   1 + up_to(rng, 2));
    buf_printf(json, "}");
}

static void put_devices(struct ground *g, struct rng *rng, uint32_t n)
{
    AUTO(buf) json = {0};
    bool is_plain = is_one(rng, 50);
    put(g, STR("{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}"));
    put(g, STR("{" RESOURCE "'ResourceSlice','metadata':{'name':'c'},'spec':{'driver':'d',"
               "'nodeName':'n','pool':{'name':'p','generation':1,'resourceSliceCount':2},"
               "'sharedCounters':[{'name':'s','counters':{'n':{'value':'4'}}}]}}"));
    buf_printf(&json, "{" RESOURCE
                      "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d','nodeName':'n',"
                      "'pool':{'name':'p','generation':1,'resourceSliceCount':2},'devices':[");
    for (uint32_t i = 0; i < n; i++)
        add_device(&json, rng, i, is_plain);
    buf_printf(&json, "]}}%c", 0);
    put(g, buf_str(&json));
    for (uint32_t i = 0; i < n; i++)
        if (is_one(rng, 10))
            put(g, arena_printf(&g->mem,
                                "{" RESOURCE "'ResourceClaim','metadata':{'name':'t%u','namespace':"
                                "'default'},'status':{'allocation':{'devices':{'results':[{"
                                "'driver':'d','pool':'p','device':'d%u'}]}}}}",
                                i, i));
}

static void add_ask(struct buf *json, struct rng *rng)
{
    static const char *const selectors[] = {
        "device.attributes[\\'d\\'].m == \\'a\\'", /* an error where there is none */
        "device.attributes[\\'d\\'].k == 1",
        "device.attributes[\\'d\\'].id < 6",
    };
    buf_printf(json, "'deviceClassName':'gpu'");
    if (is_one(rng, 5))
        buf_printf(json, ",'allocationMode':'All'");
    else
        buf_printf(json, ",'count':%u", 1 + up_to(rng, 2) / 2);
    if (is_one(rng, 5))
        buf_printf(json, ",'adminAccess':true");
    if (is_one(rng, 10))
        buf_printf(json, ",'tolerations':[{'operator':'Exists'}]");
    if (is_one(rng, 20))
        buf_printf(json, ",'capacity':{'requests':{'c':'%u'}}", 1 + up_to(rng, 3));
    if (is_one(rng, 30))
        buf_printf(json, ",'selectors':[{'cel':{'expression':'%s'}}]",
                   selectors[is_one(rng, 5) ? 0 : 1 + up_to(rng, 1)]);
}

static const struct resource_claim *draw_claim(struct ground *g, struct rng *rng, uint32_t number)
{
    AUTO(buf) json = {0};
    uint32_t n = 1 + up_to(rng, 4);
    buf_printf(&json,
               "{" RESOURCE "'ResourceClaim','metadata':{'name':'c%u','namespace':'default'},"
               "'spec':{'devices':{'requests':[",
               number);
    for (uint32_t i = 0; i < n; i++) {
        bool is_choice = is_one(rng, 10);
        buf_printf(&json, "%s{'name':'r%u',%s", i ? "," : "", i,
                   is_choice ? "'firstAvailable':[{'name':'x'," : "'exactly':{");
        add_ask(&json, rng);
        if (is_choice) {
            buf_printf(&json, "},{'name':'y',");
            add_ask(&json, rng);
        }
        buf_printf(&json, is_choice ? "}]}" : "}}");
    }
    buf_printf(&json, "],'constraints':[");
    for (uint32_t i = 0, most = up_to(rng, 2); i < most; i++) {
        static const char *const of[] = {"", "", "'requests':['r0'],",
                                         "'requests':['r1','r2','r3'],"};
        const char *requests = of[up_to(rng, 3)];
        const char *kind = is_one(rng, 60) ? "match" : "distinct";
        const char *attribute = is_one(rng, 70) ? "m" : "k";
        buf_printf(&json, "%s{%s'%sAttribute':'d/%s'}", i ? "," : "", requests, kind, attribute);
    }
    buf_printf(&json, "]}}}%c", 0);
    return object_of_json(&g->mem, arena_str(&g->mem, buf_str(&json)).p).resource_claim;
}

/* What comes of it, in words. */
static struct str outcome(struct ground *g, struct allocator *a, enum allocate_outcome is)
{
    struct str text = arena_printf(&g->mem, "%d", (int)is);
    if (is == ALLOCATE_FAILED)
        return arena_str(&g->mem, allocator_error(a));
    for (uint32_t c = 0; is == ALLOCATE_DONE && c < a->n_claims; c++) {
        struct device_allocation *all =
            allocator_result(a, g->cluster, c, ground_node(g, "n"), STR("share"), &g->mem);
        list_each(&all->results, r)
            text = arena_printf(&g->mem, STR_FMT " %u/" STR_FMT "=" STR_FMT, STR_ARG(text), c,
                                STR_ARG(r->request), STR_ARG(r->device));
    }
    return text;
}

/* In goes of so many steps. */
static enum allocate_outcome run_in_goes(struct ground *g, struct allocator *a, uint32_t steps,
                                         uint32_t *goes)
{
    enum allocate_outcome is = ALLOCATE_UNFINISHED;
    int64_t score;
    for (*goes = 0; is == ALLOCATE_UNFINISHED && *goes < 100000; ++*goes) {
        g->cluster->effort = (struct effort){.most = steps, .may_pause = true};
        is = allocator_judge(a, g->cluster, ground_node(g, "n"), &score);
        EXPECT_INT(g->cluster->effort.is_paused, is == ALLOCATE_UNFINISHED);
    }
    g->cluster->effort = (struct effort){0};
    return is;
}

TEST(allocate_alike, finds_what_a_search_finds_that_tries_everything_in_one_go)
{
    struct rng rng = {test_seed()};
    uint32_t dead_ends = 0, put_down = 0, outcomes[ALLOCATE_UNFINISHED] = {0};
    for (uint32_t round = 0; round < 1500; round++) {
        AUTO(ground) g = {0};
        const struct resource_claim *claims[CLAIMS_MOST];
        uint32_t n = 1 + up_to(&rng, CLAIMS_MOST - 1), goes;
        test_case("round %u", round);
        ground_add(&g, "node n");
        put_devices(&g, &rng, 2 + up_to(&rng, 8));
        for (uint32_t i = 0; i < n; i++)
            claims[i] = draw_claim(&g, &rng, i);
        node_id node = ground_node(&g, "n");
        struct allocator *plain = allocator_new(g.cluster, claims, n, &g.mem);
        struct allocator *sparing = allocator_new(g.cluster, claims, n, &g.mem);
        struct allocator *halting = allocator_new(g.cluster, claims, n, &g.mem);
        plain->steps_plain = UINT64_MAX;
        sparing->steps_plain = halting->steps_plain = round % 3 * 20;
        enum allocate_outcome is = allocator_run(plain, g.cluster, node);
        outcomes[is]++;
        struct str expected = outcome(&g, plain, is);
        EXPECT_STR(outcome(&g, sparing, allocator_run(sparing, g.cluster, node)), expected.p);
        dead_ends += sparing->steps < plain->steps;
        is = run_in_goes(&g, halting, 1000, &goes);
        put_down += goes > 1;
        if (is == ALLOCATE_DONE)
            is = allocator_run(halting, g.cluster, node); /* by its trail, if there is one */
        EXPECT_STR(outcome(&g, halting, is), expected.p);
        allocator_done(plain);
        allocator_done(sparing);
        allocator_done(halting);
    }
    EXPECT(dead_ends > 20);
    EXPECT(put_down > 20);
    for (uint32_t i = 0; i < ALLOCATE_UNFINISHED; i++)
        EXPECT(outcomes[i] > 20 || i == ALLOCATE_INVALID);
}

/* Sixteen devices in groups of three, and of eight requests the last four want one group. */
static struct allocator *open_puzzle(struct ground *g, const struct resource_claim **claim)
{
    AUTO(buf) json = {0};
    ground_add(g, "node n");
    put(g, STR("{" RESOURCE "'DeviceClass','metadata':{'name':'gpu'}}"));
    buf_printf(&json, "{" RESOURCE
                      "'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d','nodeName':'n',"
                      "'pool':{'name':'p','generation':1,'resourceSliceCount':1},'devices':[");
    for (int i = 0; i < 16; i++)
        buf_printf(&json, "%s{'name':'d%d','attributes':{'id':{'int':%d},'g':{'int':%d}}}",
                   i ? "," : "", i, i, i / 3);
    buf_printf(&json, "]}}%c", 0);
    put(g, buf_str(&json));
    buf_clear(&json);
    buf_printf(&json, "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':'default'},"
                      "'spec':{'devices':{'requests':[");
    for (int i = 0; i < 8; i++)
        buf_printf(&json, "%s{'name':'r%d','exactly':{'deviceClassName':'gpu','count':1}}",
                   i ? "," : "", i);
    buf_printf(&json,
               "],'constraints':[{'requests':['r4','r5','r6','r7'],'matchAttribute':'d/g'}]"
               "}}}%c",
               0);
    *claim = object_of_json(&g->mem, arena_str(&g->mem, buf_str(&json)).p).resource_claim;
    return allocator_new(g->cluster, claim, 1, &g->mem);
}

TEST(allocate_alike, a_claim_that_cannot_be_met_is_found_out_in_a_few_steps)
{
    AUTO(ground) g = {0};
    const struct resource_claim *claim;
    struct allocator *a = open_puzzle(&g, &claim);
    EXPECT_INT(allocator_run(a, g.cluster, ground_node(&g, "n")), ALLOCATE_NOTHING);
    EXPECT(a->steps < 50000); /* of more than a million ways */
    allocator_done(a);
}

TEST(allocate_alike, what_was_hard_to_find_out_is_known_until_something_changes)
{
    AUTO(ground) g = {0};
    const struct resource_claim *claim;
    struct allocator *a = open_puzzle(&g, &claim);
    node_id node = ground_node(&g, "n");
    int64_t score;
    EXPECT_INT(allocator_judge(a, g.cluster, node, &score), ALLOCATE_NOTHING);
    a->steps = 0;
    EXPECT_INT(allocator_judge(a, g.cluster, node, &score), ALLOCATE_NOTHING);
    EXPECT_INT(a->steps, 0);
    change_log_add(&g.cluster->log, node, COLUMN_USED); /* a pod came */
    EXPECT_INT(allocator_judge(a, g.cluster, node, &score), ALLOCATE_NOTHING);
    EXPECT_INT(a->steps, 0);
    change_log_add(&g.cluster->log, node, COLUMN_LABELS);
    EXPECT_INT(allocator_judge(a, g.cluster, node, &score), ALLOCATE_NOTHING);
    EXPECT(a->steps > STEPS_EASY);
    allocator_done(a);
}

TEST(allocate_alike, where_nothing_can_be_put_down_a_step_has_an_end)
{
    AUTO(ground) g = {0};
    const struct resource_claim *claim;
    struct allocator *a = open_puzzle(&g, &claim);
    node_id node = ground_node(&g, "n");
    int64_t score;
    a->steps_plain = UINT64_MAX;
    g.cluster->effort = (struct effort){.most = 5000};
    EXPECT_INT(allocator_judge(a, g.cluster, node, &score), ALLOCATE_FAILED);
    EXPECT_STR(allocator_error(a), "node n: timed out trying to allocate devices");
    EXPECT(a->steps < STEPS_EASY + 5100);
    g.cluster->effort = (struct effort){.most = 50000}; /* a step later there is time again */
    a->steps_plain = 64;
    EXPECT_INT(allocator_judge(a, g.cluster, node, &score), ALLOCATE_NOTHING);
    allocator_done(a);
}
