#include "core/config/inside.h"
#include "core/wire/json_read.h"
#include "support/test.h"

static bool read(struct arena *mem, const char *json, struct file_config *out)
{
    struct error e = {0};
    size_t where;
    *out = (struct file_config){0};
    return json_read(str_of(json), file_config_fields, out, mem, &where, &e);
}

TEST(fields, every_point_of_a_profile_has_its_name)
{
    static const struct {
        const char *name;
        enum point point;
    } cases[] = {
        {"preEnqueue", POINT_PRE_ENQUEUE},
        {"queueSort", POINT_QUEUE_SORT},
        {"preFilter", POINT_PRE_FILTER},
        {"filter", POINT_FILTER},
        {"postFilter", POINT_POST_FILTER},
        {"preScore", POINT_PRE_SCORE},
        {"score", POINT_SCORE},
        {"reserve", POINT_RESERVE},
        {"permit", POINT_PERMIT},
        {"preBind", POINT_PRE_BIND},
        {"bind", POINT_BIND},
        {"postBind", POINT_POST_BIND},
        {"placementGenerate", POINT_PLACEMENT_GENERATE},
        {"placementScore", POINT_PLACEMENT_SCORE},
        {"podGroupPostFilter", POINT_POD_GROUP_POST_FILTER},
    };
    EXPECT_INT(LEN(cases), N_POINTS);
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct file_config file;
        test_case("%s", cases[i].name);
        struct str json = arena_printf(&mem,
                                       "{\"profiles\":[{\"plugins\":{\"%s\":{\"enabled\":[{"
                                       "\"name\":\"A\",\"weight\":3}],\"disabled\":[{\"name\":"
                                       "\"*\"}]}}}]}",
                                       cases[i].name);
        REQUIRE(read(&mem, json.p, &file) && file.profiles.n == 1);
        for (enum point p = 0; p < N_POINTS; p++)
            EXPECT_INT(file.profiles.at[0].points[p].enabled.n, p == cases[i].point);
        const struct file_set *set = &file.profiles.at[0].points[cases[i].point];
        EXPECT_STR(set->enabled.at[0].name, "A");
        EXPECT_INT(set->enabled.at[0].weight, 3);
        EXPECT_STR(set->disabled.at[0].name, "*");
    }
}

/* Where zero is a choice, what was said is told from what was not. */
TEST(fields, what_was_not_said_is_told_from_zero)
{
    static const char said[] =
        "{\"parallelism\":0,\"percentageOfNodesToScore\":0,\"podInitialBackoffSeconds\":0,"
        "\"podMaxBackoffSeconds\":0,\"enableProfiling\":false,\"enableContentionProfiling\":false,"
        "\"leaderElection\":{\"leaderElect\":false},\"profiles\":[{\"schedulerName\":\"\","
        "\"percentageOfNodesToScore\":0}]}";
    for (int is_said = 0; is_said < 2; is_said++) {
        AUTO(arena) mem = {0};
        struct file_config f;
        test_case("%s", is_said ? "said" : "not said");
        REQUIRE(read(&mem, is_said ? said : "{\"profiles\":[{}]}", &f) && f.profiles.n == 1);
        EXPECT_INT(f.has_parallelism, is_said);
        EXPECT_INT(f.has_percentage, is_said);
        EXPECT_INT(f.has_first_backoff, is_said);
        EXPECT_INT(f.has_most_backoff, is_said);
        EXPECT_INT(f.has_profiles_itself, is_said);
        EXPECT_INT(f.has_profiles_contention, is_said);
        EXPECT_INT(f.election.has_is_on, is_said);
        EXPECT_INT(f.profiles.at[0].has_name, is_said);
        EXPECT_INT(f.profiles.at[0].has_percentage, is_said);
    }
}

TEST(fields, arguments_and_rates_are_kept_as_they_stand)
{
    AUTO(arena) mem = {0};
    struct file_config f;
    REQUIRE(read(&mem,
                 "{\"clientConnection\":{\"qps\":0.5},\"profiles\":[{\"pluginConfig\":[{\"name\":"
                 "\"A\",\"args\":{\"x\": [1]}}]}]}",
                 &f));
    EXPECT_STR(f.client.qps, "0.5");
    EXPECT_STR(f.profiles.at[0].args.at[0].args, "{\"x\": [1]}");
}
