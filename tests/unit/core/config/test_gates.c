#include "core/config/gates.h"

#include "support/test.h"

TEST(gates, have_kube_schedulers_defaults)
{
    static const struct feature_gates gates = {0};
    EXPECT(feature_gate_is_on(&gates, STR("SchedulerAsyncPreemption")));
    EXPECT(feature_gate_is_on(&gates, STR("StorageCapacityScoring")));
    EXPECT(!feature_gate_is_on(&gates, STR("GenericWorkload")));
    EXPECT(!feature_gate_is_on(&gates, STR("SchedulerAsyncAPICalls")));
    EXPECT(!feature_gate_is_on(&gates, STR("CompositePodGroup")));
}

TEST(gates, are_set_by_name_and_the_last_word_counts)
{
    struct feature_gates gates = {0};
    struct error e;
    EXPECT(feature_gates_add(&gates, STR("GenericWorkload=true,kube:CompositePodGroup=T"), &e));
    EXPECT(feature_gate_is_on(&gates, STR("GenericWorkload")));
    EXPECT(feature_gate_is_on(&gates, STR("CompositePodGroup")));
    EXPECT(feature_gates_add(&gates, STR(" GenericWorkload = 0 ,"), &e));
    EXPECT(!feature_gate_is_on(&gates, STR("GenericWorkload")));
    EXPECT(feature_gate_is_on(&gates, STR("CompositePodGroup")));
    EXPECT(feature_gates_add(&gates, STR(""), &e));
}

TEST(gates, all_of_a_stage_yield_to_those_that_are_named)
{
    struct feature_gates gates = {0};
    struct error e;
    REQUIRE(
        feature_gates_add(&gates, STR("CompositePodGroup=false,AllAlpha=true,AllBeta=false"), &e));
    EXPECT(!feature_gate_is_on(&gates, STR("CompositePodGroup")));
    EXPECT(feature_gate_is_on(&gates, STR("SchedulerPreQueueingHints")));
    EXPECT(!feature_gate_is_on(&gates, STR("SchedulerAsyncPreemption")));
    EXPECT(feature_gate_is_on(&gates, STR("DynamicResourceAllocation"))); /* GA */
}

TEST(gates, refuse_what_upstream_refuses_and_change_nothing)
{
    static const char *const cases[][2] = {
        {"GenericWorkload=true,Nope=true", "unrecognized feature gate: Nope"},
        {"other:GenericWorkload=true", "unrecognized feature gate: other:GenericWorkload"},
        {"GenericWorkload", "missing bool value for GenericWorkload"},
        {"GenericWorkload=yes", "invalid value of GenericWorkload=yes"},
        {"SchedulerQueueingHints=false", "unrecognized feature gate: SchedulerQueueingHints"},
        {"NodeDeclaredFeatures=false",
         "cannot set feature gate NodeDeclaredFeatures to false, feature is locked to true"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct feature_gates gates = {0};
        struct error e;
        test_case("%s", cases[i][0]);
        EXPECT(!feature_gates_add(&gates, str_of(cases[i][0]), &e));
        EXPECT_TEXT(e.text, cases[i][1]);
        EXPECT(!feature_gate_is_on(&gates, STR("GenericWorkload")));
    }
    struct feature_gates gates = {0};
    struct error e;
    EXPECT(feature_gates_add(&gates, STR("NodeDeclaredFeatures=true"), &e));
}

TEST(gates, that_change_nothing_here_are_named)
{
    struct feature_gates gates = {0};
    struct error e;
    AUTO(buf) names = {0};
    REQUIRE(feature_gates_add(
        &gates,
        STR("TaintTolerationComparisonOperators=true,OpportunisticBatching=true,AllBeta=true"),
        &e));
    REQUIRE(feature_gates_add(&gates, STR("CompositePodGroup=false"), &e));
    feature_gates_without_effect(&gates, &names);
    EXPECT_STR(buf_str(&names), "CompositePodGroup=false,OpportunisticBatching=true");
}
