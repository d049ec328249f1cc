#include "core/cluster/quotas.h"

#include "support/objects.h"
#include "support/test.h"

struct shelf {
    struct names names;
    struct quotas quotas;
    struct arena mem;
};

static void shelf_done(struct shelf *s)
{
    quotas_done(&s->quotas);
    names_done(&s->names);
    arena_done(&s->mem);
}

/* `rest` is its spec and status. */
static void put(struct shelf *s, const char *namespace, const char *name, const char *rest)
{
    struct str json = arena_printf(&s->mem,
                                   "{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':"
                                   "'%s','namespace':'%s'},%s}",
                                   name, namespace, rest);
    struct object o = object_of_json(&s->mem, json.p);
    quotas_put(&s->quotas, &s->names, o.resource_quota);
}

static void drop(struct shelf *s, const char *namespace, const char *name)
{
    struct meta meta = {.namespace = str_of(namespace), .name = str_of(name)};
    quotas_remove(&s->quotas, &s->names, &meta);
}

static int64_t left(struct shelf *s, const char *namespace, const char *resource)
{
    return quotas_left(&s->quotas, names_get(&s->names, str_of(namespace)),
                       names_get(&s->names, str_of(resource)));
}

#define STATUS(hard, used) "'status':{'hard':{" hard "},'used':{" used "}}"

TEST(quotas, leave_what_is_not_used_in_every_spelling)
{
    AUTO(shelf) s = {0};
    names_init(&s.names);
    put(&s, "a", "q",
        STATUS("'requests.cpu':'4','memory':'2Gi','count/pods':'5','limits.nvidia.com/gpu':'1',"
               "'requests.nvidia.com/gpu':'8','count/services':'1'",
               "'requests.cpu':'1500m','memory':'1Gi','count/pods':'7'"));
    EXPECT_INT(left(&s, "a", "cpu"), 2500);
    EXPECT_INT(left(&s, "a", "memory"), (int64_t)1 << 30);
    EXPECT_INT(left(&s, "a", "pods"), -2);
    EXPECT_INT(left(&s, "a", "nvidia.com/gpu"), 8);
    EXPECT(left(&s, "a", "services") == INT64_MAX);
    EXPECT(left(&s, "b", "cpu") == INT64_MAX);
    put(&s, "a", "q", STATUS("'cpu':'3','requests.cpu':'9'", "'cpu':'1','requests.cpu':'1'"));
    EXPECT_INT(left(&s, "a", "cpu"), 2000);
    EXPECT(left(&s, "a", "memory") == INT64_MAX);
}

TEST(quotas, of_a_namespace_count_together_and_go)
{
    AUTO(shelf) s = {0};
    names_init(&s.names);
    put(&s, "a", "q1", STATUS("'pods':'1'", ""));
    put(&s, "a", "q2", STATUS("'pods':'2'", ""));
    put(&s, "a", "q3", STATUS("'pods':'3'", ""));
    EXPECT_INT(left(&s, "a", "pods"), 1);
    drop(&s, "a", "q1");
    EXPECT_INT(left(&s, "a", "pods"), 2);
    drop(&s, "a", "q3");
    EXPECT_INT(left(&s, "a", "pods"), 2);
    drop(&s, "a", "q3");
    drop(&s, "a", "q2");
    EXPECT(left(&s, "a", "pods") == INT64_MAX);
    EXPECT_INT(s.quotas.of_namespace.n, 0);
    EXPECT_INT(s.quotas.by_name.n, 0);
    put(&s, "a", "q2", STATUS("'pods':'4'", ""));
    EXPECT_INT(left(&s, "a", "pods"), 4);
}

TEST(quotas, of_some_pods_only_bound_nobody)
{
    AUTO(shelf) s = {0};
    names_init(&s.names);
    put(&s, "a", "q", "'spec':{'scopes':['Terminating']}," STATUS("'pods':'1'", ""));
    put(&s, "a", "r",
        "'spec':{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':"
        "'In','values':['high']}]}}," STATUS("'pods':'2'", ""));
    EXPECT(left(&s, "a", "pods") == INT64_MAX);
    put(&s, "a", "r", "'spec':{'scopeSelector':{}}," STATUS("'pods':'2'", ""));
    EXPECT_INT(left(&s, "a", "pods"), 2);
}
