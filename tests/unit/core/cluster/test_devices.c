#include "core/cluster/devices.h"

#include "core/cluster/event.h"
#include "support/ground.h"
#include "support/test.h"

#define RESOURCE "'apiVersion':'resource.k8s.io/v1','kind':"
#define SLICE(name, spec)                                                                          \
    "{" RESOURCE "'ResourceSlice','metadata':{'name':'" name "'},'spec':{'driver':'d','pool':{"    \
    "'name':'p','generation':1,'resourceSliceCount':1}," spec "}}"
#define CLAIM(rest)                                                                                \
    "{" RESOURCE "'ResourceClaim','metadata':{'name':'c','namespace':'default'" rest "}"
#define GIVEN(more)                                                                                \
    "},'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p',"      \
    "'device':'d0'" more "}]}}}"
#define CLASS(name, rest) "{" RESOURCE "'DeviceClass','metadata':{'name':'" name "'" rest "}"

static uint32_t put(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    return devices_put(ground_cluster(g), &o);
}

static uint32_t take(struct ground *g, const char *json)
{
    struct object o = object_of_json(&g->mem, json);
    return devices_remove(ground_cluster(g), &o);
}

TEST(devices, what_differs_is_told_and_what_does_not_is_no_news)
{
    /* clang-format off */
    static const struct {
        const char *was, *is;
        uint32_t actions;
    } cases[] = {
        {CLAIM("}"),         CLAIM(",'labels':{'a':'b'}}"),     0},
        {CLAIM("}"),         CLAIM(",'resourceVersion':'77'}"), 0},
        {CLAIM("}"),         CLAIM(GIVEN("")),                  ACTION_OTHER | ACTION_CLAIM_STATUS},
        {CLAIM(GIVEN("")),   CLAIM("}"), ACTION_OTHER | ACTION_CLAIM_STATUS | ACTION_CLAIM_FREED},
        {CLAIM("}"),         CLAIM(",'deletionTimestamp':'2026-01-01T00:00:00Z'}"), ACTION_OTHER},
        {CLAIM("}"),         CLAIM(",'finalizers':['f']}"),     ACTION_OTHER},
        {SLICE("s", "'nodeName':'n','devices':[{'name':'d0'}]"),
         SLICE("s", "'nodeName':'n','devices':[{'name':'d1'}]"), ACTION_OTHER},
        {SLICE("s", "'nodeName':'n'"), SLICE("s", "'allNodes':true"), ACTION_OTHER},
        {CLASS("a", "}"),    CLASS("a", "},'spec':{'selectors':[{'cel':{'expression':'true'}}]}"),
         ACTION_OTHER},
        {CLASS("a", "}"),    CLASS("a", "},'spec':{'extendedResourceName':'e/x'}"),
         ACTION_OTHER | ACTION_CLASS_RENAMED},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].was, cases[i].is);
        AUTO(ground) g = {0};
        EXPECT_INT(put(&g, cases[i].was), ACTION_ADD);
        uint64_t generation = g.cluster->devices.generation;
        EXPECT_INT(put(&g, cases[i].was), 0);
        EXPECT_INT(g.cluster->devices.generation, generation);
        EXPECT_INT(put(&g, cases[i].is), cases[i].actions);
        EXPECT_INT(g.cluster->devices.generation > generation, cases[i].actions != 0);
        EXPECT(take(&g, cases[i].is) & ACTION_DELETE);
        EXPECT_INT(take(&g, cases[i].is), 0);
    }
}

TEST(devices, a_version_is_kept_where_nothing_else_changes)
{
    AUTO(ground) g = {0};
    put(&g, CLAIM(",'resourceVersion':'9'}"));
    EXPECT_INT(put(&g, CLAIM(",'resourceVersion':'10'}")), 0);
    EXPECT_INT(put(&g, CLAIM(",'resourceVersion':'11'}")), 0);
    const struct kept_object *k =
        devices_claim(&g.cluster->devices, ground_sym(&g, "default"), ground_sym(&g, "c"));
    REQUIRE(k);
    EXPECT_STR(k->object.meta->resource_version, "11");
}

TEST(devices, a_claim_takes_its_devices_until_it_lets_go)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    put(&g, CLAIM(GIVEN("")));
    sym id = ground_sym(&g, "d/p/d0");
    EXPECT(devices_is_taken(&c->devices, id) && !devices_is_shared(&c->devices, id));
    put(&g, CLAIM(GIVEN(",'adminAccess':true"))); /* who only looks after it does not have it */
    EXPECT(!devices_is_taken(&c->devices, id));
    put(&g, CLAIM(GIVEN(",'shareID':'s','consumedCapacity':{'memory':'2Gi'}")));
    EXPECT(!devices_is_taken(&c->devices, id) && devices_is_shared(&c->devices, id));
    EXPECT(devices_consumed(&c->devices, id, ground_sym(&g, "memory")) ==
           (__int128)2 * 1024 * 1024 * 1024 * 1000000000);
    EXPECT_INT(take(&g, CLAIM("}")), ACTION_DELETE | ACTION_CLAIM_FREED);
    EXPECT(!devices_is_shared(&c->devices, id));
    EXPECT(devices_consumed(&c->devices, id, ground_sym(&g, "memory")) == 0);
}

static struct promise promise_to(struct ground *g)
{
    struct object claim = object_of_json(&g->mem, CLAIM(GIVEN("")));
    return (struct promise){
        .namespace = ground_sym(g, "default"),
        .claim = ground_sym(g, "c"),
        .mem = mem_alloc(sizeof(struct arena)),
        .allocation = claim.resource_claim->status.allocation,
    };
}

static bool is_promised(struct ground *g)
{
    return devices_promise(&g->cluster->devices, ground_sym(g, "default"), ground_sym(g, "c"));
}

TEST(devices, what_is_promised_is_taken_until_the_claim_comes_as_it_is_now)
{
#define AT(version, more) CLAIM(",'resourceVersion':'" version "'" more)
#define OURS              ",'finalizers':['resource.kubernetes.io/delete-protection']"
    static const struct {
        const char *comes;
        bool stays;
    } cases[] = {
        {AT("1", "}"), true},             /* it is listed again */
        {AT("1", GIVEN("")), false},      /* where nobody counts versions */
        {AT("2", OURS "}"), true},        /* half of what we write */
        {AT("3", OURS GIVEN("")), false}, /* all of it */
        {AT("2", ",'labels':{'a':'b'}}"),
         false}, /* somebody was faster: we cannot write any more */
        {AT("2", GIVEN(",'shareID':'s'")), false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s", cases[i].comes);
        put(&g, AT("1", "}"));
        struct cluster *c = g.cluster;
        sym id = ground_sym(&g, "d/p/d0");
        uint64_t generation = c->devices.generation;
        devices_give(c, promise_to(&g));
        EXPECT(c->devices.generation > generation);
        EXPECT(devices_is_taken(&c->devices, id) && is_promised(&g));
        put(&g, cases[i].comes);
        EXPECT_INT(is_promised(&g), cases[i].stays);
        take(&g, CLAIM("}"));
        EXPECT(!is_promised(&g) && !devices_is_taken(&c->devices, id));
    }
}

TEST(devices, a_promise_can_be_broken_or_undone)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    sym id = ground_sym(&g, "d/p/d0");
    struct txn t = txn_begin(c);
    cluster_promise(c, promise_to(&g));
    EXPECT(devices_is_taken(&c->devices, id));
    txn_undo(c, t);
    EXPECT(!devices_is_taken(&c->devices, id) && !is_promised(&g));
    devices_give(c, promise_to(&g));
    EXPECT(devices_break(c, ground_sym(&g, "default"), ground_sym(&g, "c")));
    EXPECT(!devices_is_taken(&c->devices, id));
    EXPECT(!devices_break(c, ground_sym(&g, "default"), ground_sym(&g, "c")));
}

TEST(devices, the_newest_class_stands_for_an_extended_resource)
{
#define NAMED(name, day)                                                                           \
    CLASS(name, ",'creationTimestamp':'2026-01-0" day                                              \
                "T00:00:00Z'},'spec':{'extendedResourceName':'e/x'}")
    AUTO(ground) g = {0};
    const struct devices *d = &ground_cluster(&g)->devices;
    EXPECT(!devices_class_of(d, STR("e/x")));
    put(&g, NAMED("b", "2"));
    put(&g, NAMED("c", "1"));
    EXPECT_STR(devices_class_of(d, STR("e/x"))->meta.name, "b");
    put(&g, NAMED("a", "2"));
    EXPECT_STR(devices_class_of(d, STR("e/x"))->meta.name, "a");
    EXPECT_STR(devices_class_of(d, STR(DEVICE_CLASS_PREFIX "c"))->meta.name, "c");
    EXPECT(!devices_class_of(d, STR(DEVICE_CLASS_PREFIX "d")));
    EXPECT(!devices_class_of(d, STR("")));
    take(&g, NAMED("a", "2"));
    EXPECT_STR(devices_class_of(d, STR("e/x"))->meta.name, "b");
}

TEST(devices, slices_of_a_node_and_of_a_pool_are_found_as_they_come_and_go)
{
    AUTO(ground) g = {0};
    const struct devices *d = &ground_cluster(&g)->devices;
    static const char *const slices[] = {
        SLICE("a", "'nodeName':'n'"),
        SLICE("b", "'nodeName':'n'"),
        SLICE("c", "'nodeName':'n'"),
        SLICE("d", "'allNodes':true"),
    };
    for (size_t gone = 0; gone < LEN(slices); gone++) {
        for (size_t i = 0; i < LEN(slices); i++)
            put(&g, slices[i]);
        take(&g, slices[gone]);
        uint32_t of_node = 0, of_pool = 0;
        uint64_t pool = (uint64_t)ground_sym(&g, "d") << 32 | ground_sym(&g, "p");
        const struct kept_object *at = d->of[KEPT_SLICE].at.at;
        for (uint32_t i = devices_first(d, OF_NODE, ground_sym(&g, "n")); i != ID_NONE;
             i = at[i].slice->next[OF_NODE])
            of_node++;
        for (uint32_t i = devices_first(d, OF_POOL, pool); i != ID_NONE;
             i = at[i].slice->next[OF_POOL])
            of_pool++;
        test_case("without %zu", gone);
        EXPECT_INT(of_node, gone == 3 ? 3 : 2);
        EXPECT_INT(of_pool, 3);
        EXPECT_INT(d->elsewhere.n, gone == 3 ? 0 : 1);
    }
}
