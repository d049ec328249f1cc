#include "core/config/config.h"

#include "read.h"

TEST(config, an_empty_configuration_is_kube_schedulers_default)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, ""));
    EXPECT_INT(c.n_profiles, 1);
    EXPECT_STR(c.profiles[0].name, "default-scheduler");
    EXPECT_INT(c.notes.n, 0);
    EXPECT_INT(c.first_backoff_ms, 1000);
    EXPECT_INT(c.most_backoff_ms, 10000);
    EXPECT_INT(c.parallelism, 16);
    EXPECT(c.leader_election.is_on);
    EXPECT_INT(c.leader_election.lease_ms, 15000);
    EXPECT_INT(c.leader_election.renew_ms, 10000);
    EXPECT_INT(c.leader_election.retry_ms, 2000);
    EXPECT_STR(c.leader_election.namespace, "kube-system");
    EXPECT_STR(c.leader_election.name, "kube-scheduler");
    EXPECT_STR(c.client.kubeconfig, "");
    EXPECT_STR(c.client.content_type, "application/vnd.kubernetes.protobuf");
    EXPECT_REAL(c.client.qps, 0);
    EXPECT_INT(c.client.burst, 0);
    EXPECT(c.profiles_itself && !c.delays_cache);
}

TEST(config, every_field_is_read)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "parallelism: 4\n"
                          "podInitialBackoffSeconds: 2\n"
                          "podMaxBackoffSeconds: 30\n"
                          "enableProfiling: false\n"
                          "delayCacheUntilActive: true\n"
                          "clientConnection:\n"
                          "  kubeconfig: /etc/k\n"
                          "  acceptContentTypes: application/json\n"
                          "  contentType: text/x\n"
                          "  qps: 7.5\n"
                          "  burst: 9\n"
                          "leaderElection:\n"
                          "  leaderElect: true\n"
                          "  leaseDuration: 1m\n"
                          "  renewDeadline: 40.5s\n"
                          "  retryPeriod: 2500ms\n"
                          "  resourceLock: leases\n"
                          "  resourceName: lock\n"
                          "  resourceNamespace: space\n"));
    EXPECT_INT(c.parallelism, 4);
    EXPECT_INT(c.first_backoff_ms, 2000);
    EXPECT_INT(c.most_backoff_ms, 30000);
    EXPECT(!c.profiles_itself && c.delays_cache);
    EXPECT_STR(c.client.kubeconfig, "/etc/k");
    EXPECT_STR(c.client.accept_content_types, "application/json");
    EXPECT_STR(c.client.content_type, "text/x");
    EXPECT_REAL(c.client.qps, 7.5);
    EXPECT_INT(c.client.burst, 9);
    EXPECT_INT(c.leader_election.lease_ms, 60000);
    EXPECT_INT(c.leader_election.renew_ms, 40500);
    EXPECT_INT(c.leader_election.retry_ms, 2500);
    EXPECT_STR(c.leader_election.name, "lock");
    EXPECT_STR(c.leader_election.namespace, "space");
}

TEST(config, json_is_read_as_yaml_is)
{
    AUTO(scheduler_config) c = {0};
    EXPECT(
        scheduler_config_read(&c, STR("{\n\t\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n"
                                      "\t\"kind\": \"KubeSchedulerConfiguration\",\n"
                                      "\t\"podInitialBackoffSeconds\": 3\n}\n")));
    EXPECT_INT(c.first_backoff_ms, 3000);
}

TEST(config, zero_durations_mean_the_defaults)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "leaderElection: {leaseDuration: 0s, retryPeriod: '0'}"));
    EXPECT_INT(c.leader_election.lease_ms, 15000);
    EXPECT_INT(c.leader_election.retry_ms, 2000);
}

TEST(config, an_election_that_is_off_is_not_judged)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(
        config_of(&c, "leaderElection: {leaderElect: false, leaseDuration: -1s, resourceLock: x}"));
    EXPECT(!c.leader_election.is_on);
}

TEST(config, what_makes_no_sense_is_refused_with_line_and_path)
{
    static const char *const cases[][2] = {
        {"parallelism: 0", "3 parallelism: 0: should be an integer value greater than zero"},
        {"parallelism: many", "3 parallelism: \"many\" is not a 32-bit integer"},
        {"parallelism: 1.5", "3 parallelism: 1.5 is not a 32-bit integer"},
        {"percentageOfNodesToScore: 101",
         "3 percentageOfNodesToScore: 101: not in valid range [0-100]"},
        {"profiles:\n- percentageOfNodesToScore: -1",
         "4 profiles[0].percentageOfNodesToScore: -1: not in valid range [0-100]"},
        {"podInitialBackoffSeconds: 0", "3 podInitialBackoffSeconds: 0: must be greater than 0"},
        {"podInitialBackoffSeconds: 9223372036854775807",
         "3 podInitialBackoffSeconds: 9223372036854775807: must be greater than 0 and at most "
         "1000000000"},
        {"podMaxBackoffSeconds: 9223372036854775807",
         "3 podMaxBackoffSeconds: 9223372036854775807: must be at most 1000000000"},
        {"podInitialBackoffSeconds: 11",
         "1 podMaxBackoffSeconds: 10: must be greater than or equal to podInitialBackoffSeconds"},
        {"leaderElection:\n  leaseDuration: 10s",
         "4 leaderElection.leaseDuration: must be greater than renewDeadline (10000 ms)"},
        {"leaderElection:\n  renewDeadline: -1s\n",
         "4 leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod (2000 ms)\n"
         "4 leaderElection.renewDeadline: must be greater than zero"},
        {"leaderElection: {retryPeriod: 9s}",
         "3 leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod (9000 ms)"},
        {"leaderElection: {retryPeriod: 9}",
         "3 leaderElection.retryPeriod: 9 is not a duration (15s, 1m30s)"},
        {"leaderElection: {resourceLock: endpoints}",
         "3 leaderElection.resourceLock: \"endpoints\": resourceLock value must be \"leases\""},
        {"clientConnection: {burst: -1}", "3 clientConnection.burst: -1: must be non-negative"},
        {"clientConnection: {qps: '5'}", "3 clientConnection.qps: \"5\" is not a number"},
        {"clientConnection: [1]", "3 clientConnection: [1] is not an object"},
        {"profiles: {}", "3 profiles: {} is not a list"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(config_errors(&c, cases[i][0]), cases[i][1]);
}

TEST(config, unknown_and_doubled_fields_are_refused_with_line_and_path)
{
    static const char *const cases[][2] = {
        {"paralelism: 1", "3 paralelism: there is no such field"},
        {"Parallelism: 1", "3 Parallelism: there is no such field"},
        {"healthzBindAddress: a", "3 healthzBindAddress: there is no such field"},
        {"profiles:\n- schedulerName: a\n  plugins:\n    score:\n      enabled:\n      - {name: "
         "ImageLocality, wait: 1}",
         "8 profiles[0].plugins.score.enabled[0].wait: there is no such field"},
        {"profiles:\n- plugins:\n    scores: {}",
         "5 profiles[0].plugins.scores: there is no such field"},
        {"profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      strategy: 1",
         "7 profiles[0].pluginConfig[0].args.strategy: there is no such field"},
        {"parallelism: 1\nparallelism: 2", "4 parallelism: is there twice"},
        {"profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      "
         "scoringStrategy: {type: LeastAllocated,\n        type: MostAllocated}",
         "8 profiles[0].pluginConfig[0].args.scoringStrategy.type: is there twice"},
        {"\"a\\nb\": 1", "3 a b: there is no such field"}, /* still one line */
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(config_errors(&c, cases[i][0]), cases[i][1]);
}

TEST(config, all_errors_are_found_at_once_in_the_order_of_lines)
{
    AUTO(scheduler_config) c = {0};
    EXPECT_TEXT(config_errors(&c, "nonsense: 1\nparallelism: 0\npercentageOfNodesToScore: 200\n"),
                "3 nonsense: there is no such field\n"
                "4 parallelism: 0: should be an integer value greater than zero\n"
                "5 percentageOfNodesToScore: 200: not in valid range [0-100]");
}

TEST(config, there_is_an_end_to_errors)
{
    AUTO(scheduler_config) c = {0};
    AUTO(buf) text = {0};
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "a%d: 1\n", i);
    EXPECT(!config_of(&c, text.p));
    EXPECT_INT(c.errors.n, 100);
}

TEST(config, other_documents_are_refused)
{
    static const struct {
        const char *text;
        uint32_t line;
        const char *error;
    } cases[] = {
        {"", 0, "empty"},
        {"# nothing\n", 0, "empty"},
        {"a: [", 2, "did not find expected node content"},
        {"7", 1, "the value is not an object"},
        {"kind: KubeSchedulerConfiguration", 1,
         "missing: kubescheduler.config.k8s.io/v1 is wanted"},
        {"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration", 1,
         "\"kubescheduler.config.k8s.io/v1beta3\" is not kubescheduler.config.k8s.io/v1"},
        {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod", 2,
         "\"Pod\" is not KubeSchedulerConfiguration"},
        {"apiVersion: kubescheduler.config.k8s.io/v1", 1,
         "missing: KubeSchedulerConfiguration is wanted"},
        {"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n---\na: 1",
         4, "a second document"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        test_case("%s", cases[i].text);
        EXPECT(!scheduler_config_read(&c, str_of(cases[i].text)));
        REQUIRE(c.errors.n == 1);
        EXPECT_INT(c.errors.at[0].line, cases[i].line);
        EXPECT_STR(c.errors.at[0].text, cases[i].error);
    }
}

TEST(config, a_file_has_a_largest_size)
{
    AUTO(buf) text = {0};
    AUTO(scheduler_config) c = {0};
    for (int i = 0; i <= CONFIG_BYTES_MOST / 8; i++)
        buf_add(&text, STR("# 45678\n"));
    EXPECT(!scheduler_config_read(&c, buf_str(&text)));
    EXPECT_STR(c.errors.at[0].text, "larger than 1 MiB");
}

TEST(config, what_has_no_effect_is_said)
{
    static const char *const cases[][2] = {
        {"parallelism: 8", "3 parallelism: 8: one thread decides, whatever it says"},
        {"percentageOfNodesToScore: 0", ""},
        {"percentageOfNodesToScore: 50",
         "3 percentageOfNodesToScore: 50: all nodes that fit are scored, whatever it says"},
        {"profiles: [{percentageOfNodesToScore: 50}]",
         "3 profiles[0].percentageOfNodesToScore: 50: all nodes that fit are scored, whatever it "
         "says"},
        {"enableProfiling: true",
         "3 enableProfiling: there is no Go runtime here whose profile could be served"},
        {"enableContentionProfiling: true",
         "3 enableContentionProfiling: there is no Go runtime here whose profile could be served"},
        {"delayCacheUntilActive: true",
         "3 delayCacheUntilActive: a standby keeps its cache warm, whatever it says"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(config_notes(&c, cases[i][0]), cases[i][1]);
}

TEST(config, durations_are_gos)
{
    static const struct {
        const char *text;
        int64_t lease_ms; /* -1: none */
    } cases[] = {
        {"1h", 3600000},
        {"1h1m1s", 3661000},
        {"1.5h", 5400000},
        {".5m", 30000},
        {"30.s", 30000},
        {"+20s", 20000},
        {"20000ms", 20000},
        {"2e1s", -1},
        {"20", -1},
        {"20 s", -1},
        {"s", -1},
        {"1d", -1},
        {"", -1},
        {"-", -1},
        {".s", -1},
        {"99999999999999h", -1},
        {"20000000000ns", 20000},
        {"20000000us", 20000},
        {"20000000\xc2\xb5s", 20000},
        {"500000h", 1800000000000},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        AUTO(buf) text = {0};
        buf_printf(&text, "leaderElection: {leaseDuration: '%s'}", cases[i].text);
        test_case("%s", cases[i].text);
        if (EXPECT_INT(config_of(&c, text.p), cases[i].lease_ms >= 0) && cases[i].lease_ms >= 0)
            EXPECT_INT(c.leader_election.lease_ms, cases[i].lease_ms);
    }
}
