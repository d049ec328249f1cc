#include "core/model/pod_group.h"

#include "core/model/envelope.h"
#include "core/model/owner.h"
#include "support/test.h"

#define V1BETA1(spec)                                                                              \
    "{\"apiVersion\":\"scheduling.k8s.io/v1beta1\",\"kind\":\"PodGroup\",\"spec\":" spec "}"
#define ALPHA3(spec)                                                                               \
    "{\"apiVersion\":\"scheduling.k8s.io/v1alpha3\",\"kind\":\"PodGroup\",\"spec\":" spec "}"
#define ALPHA2(spec)                                                                               \
    "{\"apiVersion\":\"scheduling.k8s.io/v1alpha2\",\"kind\":\"PodGroup\",\"spec\":" spec "}"
TEST(pod_group, says_the_same_in_every_version_on_the_wire)
{
#define CASE(kind, encoding, text, minimum, goes_whole, key)                                       \
    {                                                                                              \
        KIND_##kind, ENCODING_##encoding, {text, sizeof(text) - 1}, minimum, goes_whole, key       \
    }
    static const struct {
        enum kind kind;
        enum encoding encoding;
        struct str text;
        int minimum;
        bool goes_whole;
        const char *key;
    } cases[] = {
        /* clang-format off */
        CASE(POD_GROUP, JSON, V1BETA1("{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}},\"disruptionMode\":{\"single\":{}}}"), 2, false, ""),
        CASE(POD_GROUP, JSON, V1BETA1("{\"schedulingPolicy\":{\"gang\":{\"minCount\":2}},\"disruptionMode\":{\"all\":{}},"
                                      "\"schedulingConstraints\":{\"topology\":[{\"key\":\"rack\"}]}}"), 2, true, "rack"),
        CASE(POD_GROUP, JSON, ALPHA3("{\"schedulingPolicy\":{\"basic\":{}},\"disruptionMode\":{\"all\":{}}}"), 0, true, ""),
        CASE(POD_GROUP_ALPHA2, JSON, ALPHA2("{\"schedulingPolicy\":{\"gang\":{\"minCount\":3}},\"disruptionMode\":\"PodGroup\"}"), 3, true, ""),
        CASE(POD_GROUP_ALPHA2, JSON, ALPHA2("{\"schedulingPolicy\":{\"gang\":{\"minCount\":3}},\"disruptionMode\":\"Pod\","
                                            "\"schedulingConstraints\":{\"topology\":[{\"key\":\"rack\"}]}}"), 3, false, "rack"),
        /* as a server writes them */
        CASE(POD_GROUP, PROTO, "k8s\x00\x0a\x25\x0a\x19scheduling.k8s.io/v1beta1\x12\x08PodGroup\x12\x10\x12\x0e\x1a\x04\x12\x02\x08\x02" "2\x02\x0a\x00\x3a\x00\x40\x00", 2, false, ""),
        CASE(POD_GROUP, PROTO, "k8s\x00\x0a\x26\x0a\x1ascheduling.k8s.io/v1alpha3\x12\x08PodGroup\x12\x10\x12\x0e\x1a\x04\x12\x02\x08\x02" "2\x02\x12\x00\x3a\x00\x40\x00", 2, true, ""),
        CASE(POD_GROUP_ALPHA2, PROTO, "k8s\x00\x0a\x26\x0a\x1ascheduling.k8s.io/v1alpha2\x12\x08PodGroup\x12\x1b\x12\x19\x12\x04\x12\x02\x08\x03\x1a\x08\x0a\x06\x0a\x04rack\x2a\x03Pod2\x00" "8\x00", 3, false, "rack"),
        /* clang-format on */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        struct envelope v;
        struct object o;
        struct error e = {0};
        struct pod_group group;
        test_case("%zu", i);
        struct str text = cases[i].text;
        if (!EXPECT(envelope_read(cases[i].encoding, text, &mem, &v, &e) &&
                    envelope_object(&v, &mem, &o, &e)) ||
            !EXPECT_INT(o.kind, cases[i].kind) || !EXPECT(pod_group_of(&o, &mem, &group))) {
            EXPECT_TEXT(e.text, "");
            continue;
        }
        EXPECT_INT(group.minimum, cases[i].minimum);
        EXPECT_INT(group.goes_whole, cases[i].goes_whole);
        EXPECT_STR(group.topology.n ? group.topology.at[0].key : STR(""), cases[i].key);
    }
}

TEST(pod_group, a_workload_of_1_35_has_its_groups_inside)
{
    static const struct str texts[] = {
        STR("{\"apiVersion\":\"scheduling.k8s.io/v1alpha1\",\"kind\":\"Workload\",\"spec\":"
            "{\"podGroups\":[{\"name\":\"a\",\"policy\":{\"basic\":{}}},{\"name\":\"b\","
            "\"policy\":{\"gang\":{\"minCount\":4}}}]}}"),
        STR("k8s\x00\x0a\x26\x0a\x1ascheduling.k8s.io/v1alpha1\x12\x08Workload\x12\x18\x12\x16"
            "\x12\x07\x0a\x01\x61\x1a\x02\x12\x00\x12\x0b\x0a\x01\x62\x1a\x06\x1a\x04\x08\x04"
            "\x10\x00"),
    };
    for (size_t i = 0; i < LEN(texts); i++) {
        AUTO(arena) mem = {0};
        struct envelope v;
        struct object o;
        struct error e = {0};
        test_case("%zu", i);
        if (!EXPECT(envelope_read(i ? ENCODING_PROTO : ENCODING_JSON, texts[i], &mem, &v, &e) &&
                    envelope_object(&v, &mem, &o, &e)) ||
            !EXPECT_INT(o.kind, KIND_WORKLOAD) || !EXPECT_INT(o.workload->groups.n, 2)) {
            EXPECT_TEXT(e.text, "");
            continue;
        }
        EXPECT_STR(o.workload->groups.at[0].name, "a");
        EXPECT_INT(o.workload->groups.at[0].minimum, 0);
        EXPECT_STR(o.workload->groups.at[1].name, "b");
        EXPECT_INT(o.workload->groups.at[1].minimum, 4);
    }
}
