#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const ports = &plugin_node_ports;
static const struct profile_plugin list[] = {{.plugin = &plugin_node_ports, .number = 6}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char refused[] =
    "U NodePorts: node(s) didn't have free ports for the requested pod ports";

TEST(node_ports, a_port_in_use_refuses)
{
    static const struct {
        const char *used, *wanted, *verdict;
    } cases[] = {
        {"port:80", "port:80", refused},
        {"port:80", "port:8080", "fits"},
        {"port:80", "port:80/UDP", "fits"},
        {"port:10.0.0.1:80", "port:10.0.0.2:80", "fits"},
        {"port:10.0.0.1:80", "port:80", refused},
        {"port:80", "port:10.0.0.1:80", refused},
        {"sidecar port:80", "port:80", refused},
        {"init port:80", "port:80", "fits"},      /* it ends before the pod runs */
        {"port:80", "port:80 deleting", refused}, /* whoever asks */
        {"port:80 deleting", "port:80", refused}, /* still there */
        {"port:80", "", "fits"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].used, cases[i].wanted);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n");
        ground_add(&j.ground, "pod there %s on=n", cases[i].used);
        ground_add(&j.ground, "pod p %s", cases[i].wanted);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(node_ports, a_pod_without_host_ports_is_not_its_business)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "pod p port:0");
    EXPECT_INT(judge_class(&j, "p")->n_parts, 0);
}

TEST(node_ports, a_clashing_pod_that_leaves_wakes)
{
    static const struct {
        enum event_resource resource;
        uint32_t action;
        const char *was, *is;
        bool wakes;
    } cases[] = {
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q port:80 on=n", NULL, true},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q port:80 nominated=n", NULL, true},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q port:80", NULL, false},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q port:81 on=n", NULL, false},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q port:80/UDP on=n", NULL, false},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q port:1.1.1.1:80 on=n", NULL, true},
        {EVENT_ASSIGNED_POD, ACTION_DELETE, "pod q cpu=1 on=n", NULL, false},
        {EVENT_ASSIGNED_POD, ACTION_ADD, NULL, "pod q port:80 on=n", false},
        {EVENT_NODE, ACTION_ADD, NULL, "node n", true},
        {EVENT_NODE, ACTION_NODE_LABEL, "node n", "node n zone=a", false},
    };
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "pod p port:80");
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        EXPECT_INT(judge_wakes(&j, ports, "p", cases[i].resource, cases[i].action, cases[i].was,
                               cases[i].is),
                   cases[i].wakes);
    }
}
