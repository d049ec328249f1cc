#include "kube/kinds.h"

#include "support/test.h"

TEST(kinds, have_paths_by_their_group)
{
    static const struct {
        const char *api_version, *path;
    } cases[] = {
        {"v1", "/api/v1"},
        {"apps/v1", "/apis/apps/v1"},
        {"scheduling.k8s.io/v1", "/apis/scheduling.k8s.io/v1"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(buf) path = {0};
        path_add_group(&path, cases[i].api_version);
        EXPECT_STR(buf_str(&path), cases[i].path);
    }
}

TEST(kinds, escape_what_a_query_may_not_hold)
{
    AUTO(buf) path = {0};
    buf_add(&path, STR("/p"));
    path_add_query(&path, "a", STR("x-1._~Z"));
    path_add_query(&path, "b", STR("=&?+ é"));
    path_add_query(&path, "c", STR(""));
    EXPECT_STR(buf_str(&path), "/p?a=x-1._~Z&b=%3D%26%3F%2B%20%C3%A9&c=");
}

TEST(kinds, are_named_as_rbac_names_them)
{
    AUTO(buf) name = {0};
    watched_add_name(&name, &watched_kinds[WATCHED_KIND_REPLICA_SET]);
    buf_add_char(&name, ' ');
    watched_add_name(&name, &watched_kinds[WATCHED_KIND_POD]);
    EXPECT_STR(buf_str(&name), "replicasets.apps pods");
}
