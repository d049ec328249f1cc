#include "core/config/config.h"

#include "core/plugins/args.h"
#include "read.h"

TEST(extenders, every_field_is_read)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "extenders:\n"
                          "- urlPrefix: https://gpu.example:8443/v1/\n"
                          "  filterVerb: filter\n  prioritizeVerb: score\n  preemptVerb: evict\n"
                          "  bindVerb: bind\n  weight: 3\n  enableHTTPS: true\n"
                          "  httpTimeout: 1500ms\n  nodeCacheCapable: true\n  ignorable: true\n"
                          "  managedResources:\n  - {name: example.com/gpu}\n"
                          "  tlsConfig: {serverName: gpu, caData: Y2E=, certData: Y2VydA==,\n"
                          "    keyFile: /key}\n"));
    REQUIRE(c.n_extenders == 1);
    const struct extender *x = &c.extenders[0];
    EXPECT_STR(x->url, "https://gpu.example:8443/v1/");
    EXPECT_STR(x->verbs[EXTENDER_FILTER], "filter");
    EXPECT_STR(x->verbs[EXTENDER_PRIORITIZE], "score");
    EXPECT_STR(x->verbs[EXTENDER_PREEMPT], "evict");
    EXPECT_STR(x->verbs[EXTENDER_BIND], "bind");
    EXPECT_INT(x->weight, 3);
    EXPECT_INT(x->timeout_ms, 1500);
    EXPECT(x->knows_nodes && x->is_ignorable && !x->tls.is_unverified);
    REQUIRE(x->resources.n == 1);
    EXPECT_STR(x->resources.at[0], "example.com/gpu");
    EXPECT_STR(x->tls.server_name, "gpu");
    EXPECT_STR(x->tls.ca_pem, "ca");
    EXPECT_STR(x->tls.cert_pem, "cert");
    EXPECT_STR(x->tls.key_file, "/key");
}

TEST(extenders, five_seconds_are_the_default_and_those_that_may_fail_come_last)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "extenders: [{urlPrefix: 'http://a', ignorable: true},"
                          " {urlPrefix: 'http://b'}, {urlPrefix: 'http://c', ignorable: true}]"));
    REQUIRE(c.n_extenders == 3);
    EXPECT_STR(c.extenders[0].url, "http://b");
    EXPECT_STR(c.extenders[1].url, "http://a");
    EXPECT_STR(c.extenders[2].url, "http://c");
    EXPECT_INT(c.extenders[0].timeout_ms, 5000);
}

TEST(extenders, enableHTTPS_without_authorities_believes_any_server)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "extenders: [{urlPrefix: 'https://a', enableHTTPS: true}]"));
    EXPECT(c.extenders[0].tls.is_unverified);
}

TEST(extenders, what_makes_no_sense_is_refused_with_line_and_path)
{
    static const char *const cases[][2] = {
        {"extenders: {}", "3 extenders: the value is not a list"},
        {"extenders: [{}]", "3 extenders[0].urlPrefix: missing"},
        {"extenders: [{urlPrefix: ftp://a}]",
         "3 extenders[0].urlPrefix: \"ftp://a\" does not begin with https:// or http://"},
        {"extenders: [{urlPrefix: 'http://u:secret@a:x'}]",
         "3 extenders[0].urlPrefix: \"a\" has no port between 1 and 65535"},
        {"extenders: [{urlPrefix: 'http://a', tlsConfig: {keyData: 17}}]",
         "3 extenders[0].tlsConfig.keyData: the value is not text"},
        {"extenders: [{urlPrefix: 'http://u@a'}]",
         "3 extenders[0].urlPrefix: a user in it is not supported"},
        {"extenders:\n- urlPrefix: http://a\n  filterVerb: a b",
         "5 extenders[0].filterVerb: \"a b\" holds a character that no path has"},
        {"extenders:\n- urlPrefix: http://a\n  prioritizeVerb: p",
         "4 extenders[0].weight: 0: must have a positive weight applied to it"},
        {"extenders:\n- urlPrefix: http://a\n  weight: many",
         "5 extenders[0].weight: \"many\" is not a 64-bit integer"},
        {"extenders:\n- urlPrefix: http://a\n  httpTimeout: -1s",
         "5 extenders[0].httpTimeout: must not be negative"},
        {"extenders:\n- urlPrefix: http://a\n  httpTimeout: 5",
         "5 extenders[0].httpTimeout: 5 is not a duration (15s, 1m30s)"},
        {"extenders: [{urlPrefix: 'http://a', bindVerb: b}, {urlPrefix: 'http://b', bindVerb: b}]",
         "3 extenders: found 2 extenders implementing bind: only one extender can implement bind"},
        {"extenders:\n- urlPrefix: http://a\n  managedResources:\n  - name: cpu",
         "6 extenders[0].managedResources[0].name: \"cpu\" is an invalid extended resource name"},
        {"extenders:\n- urlPrefix: http://a\n  managedResources: [{name: e.com/a}]\n"
         "- urlPrefix: http://b\n  managedResources: [{name: e.com/a}]",
         "7 extenders[1].managedResources[0].name: \"e.com/a\": duplicate extender managed "
         "resource "
         "name"},
        {"extenders:\n- urlPrefix: http://a\n  tlsConfig: {caData: '!'}",
         "5 extenders[0].tlsConfig.caData: is not base64"},
        {"extenders:\n- urlPrefix: http://a\n  tlsConfig: {certFile: /a}",
         "5 extenders[0].tlsConfig: a certificate and its key come together"},
        {"extenders:\n- urlPrefix: http://a\n  tlsConfig: {caFile: /a, insecure: true}",
         "5 extenders[0].tlsConfig.insecure: specifying a root certificates file with the insecure "
         "flag is not allowed"},
        {"extenders:\n- urlPrefix: http://a\n  filterverb: f",
         "5 extenders[0].filterverb: there is no such field"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(config_errors(&c, cases[i][0]), cases[i][1]);
}

TEST(extenders, resources_they_take_care_of_replace_what_each_profile_ignores)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles:\n- schedulerName: a\n- schedulerName: b\n  pluginConfig:\n"
                          "  - name: NodeResourcesFit\n    args: {ignoredResources: [e.com/x]}\n"
                          "extenders:\n- urlPrefix: http://a\n  managedResources:\n"
                          "  - {name: e.com/a, ignoredByScheduler: true}\n  - {name: e.com/b}\n"));
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < c.profiles[i].n; j++) {
            const struct profile_plugin *p = &c.profiles[i].plugins[j];
            if (!str_equal(str_of(p->plugin->name), STR("NodeResourcesFit")))
                continue;
            const struct fit_args *args = p->args;
            REQUIRE(args && args->ignored_resources.n == 1);
            EXPECT_STR(args->ignored_resources.at[0], "e.com/a");
        }
}
