#include "core/plugins/plugins.h"
#include "storage.h"
#include "support/judge.h"
#include "support/test.h"

static const struct profile_plugin list[] = {{.plugin = &plugin_node_volume_limits, .number = 9}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char full[] = "U NodeVolumeLimits: node(s) exceed max volume count";

/* Claims c0…c3, bound to volumes v0…v3 of d.example. */
static void add_claims(struct ground *g)
{
    ground_add(g, "node n");
    ground_add(g, VOLUME("v0", CSI("h0")));
    ground_add(g, VOLUME("v1", CSI("h1")));
    ground_add(g, VOLUME("v2", CSI("h2")));
    ground_add(g, VOLUME("v3", CSI("h0"))); /* the same disk as v0 */
    ground_add(g, BOUND("c0", "v0"));
    ground_add(g, BOUND("c1", "v1"));
    ground_add(g, BOUND("c2", "v2"));
    ground_add(g, BOUND("c3", "v3"));
}

TEST(node_volume_limits, a_volume_counts_once_up_to_the_limit)
{
    static const struct {
        const char *there, *wanted, *limits, *verdict;
    } cases[] = {
        {"claim:c0", "claim:c1", LIMIT("d.example", "2"), "fits"},
        {"claim:c0", "claim:c1", LIMIT("d.example", "1"), full},
        {"claim:c0", "claim:c1 claim:c2", LIMIT("d.example", "2"), full},
        {"claim:c0", "claim:c0", LIMIT("d.example", "1"), "fits"},
        {"claim:c0", "claim:c3", LIMIT("d.example", "1"), "fits"},
        {"claim:c0 claim:c3", "claim:c1", LIMIT("d.example", "2"), "fits"},
        {"claim:gone", "claim:c1", LIMIT("d.example", "1"), "fits"},
        {"claim:c0 claim:c1", "claim:c0", LIMIT("d.example", "1"), "fits"},
        {"", "claim:c0", LIMIT("d.example", "0"), full},
        {"claim:c0", "claim:c1", LIMIT("e.example", "0"), "fits"},
        {"claim:c0", "claim:c1", "{'name':'d.example'}", "fits"},
        {"disk:aws:vol-1", "disk:aws:vol-2", LIMIT("ebs.csi.aws.com", "1"), full},
        {"disk:aws:vol-1", "disk:aws:vol-1", LIMIT("ebs.csi.aws.com", "1"), "fits"},
        {"disk:gce:a", "disk:gce:b", LIMIT("pd.csi.storage.gke.io", "1"), full},
        {"disk:vsphere:a", "disk:vsphere:b", LIMIT("csi.vsphere.vmware.com", "0"), "fits"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s / %s", cases[i].there, cases[i].wanted, cases[i].limits);
        AUTO(judge) j = {.profile = &profile};
        add_claims(&j.ground);
        ground_add(&j.ground, CSI_NODE("n", "%s"), cases[i].limits);
        ground_add(&j.ground, "pod there %s on=n", cases[i].there);
        ground_add(&j.ground, "pod p %s", cases[i].wanted);
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(node_volume_limits, a_claim_without_a_volume_counts_for_its_class)
{
    AUTO(judge) j = {.profile = &profile};
    add_claims(&j.ground);
    ground_add(&j.ground, CLASS("s", "d.example", WAITS));
    ground_add(&j.ground, CLAIM("w", "ReadWriteOnce", ",'storageClassName':'s'"));
    ground_add(&j.ground, CSI_NODE("n", LIMIT("d.example", "1")));
    ground_add(&j.ground, "pod there claim:c0 on=n");
    ground_add(&j.ground, "pod p claim:w");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), full);
    ground_add(&j.ground, CLASS("s", "other.example", WAITS));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}

TEST(node_volume_limits, a_driver_nobody_knew_before_the_pod_counts_too)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, CLASS("s", "kubernetes.io/cinder", WAITS));
    ground_add(&j.ground, CLAIM("w", "ReadWriteOnce", ",'storageClassName':'s'"));
    ground_add(&j.ground, "pod p disk:aws:vol-1");
    ground_add(&j.ground, "pod q claim:w");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "q", "n"), "fits");
    ground_add(&j.ground, CSI_NODE("n", LIMIT("ebs.csi.aws.com",
                                              "0") "," LIMIT("cinder.csi.openstack.org", "0")));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), full);
    EXPECT_TEXT(judge_verdict(&j, "q", "n"), full);
}

TEST(node_volume_limits, what_is_attached_without_a_pod_counts_too)
{
    AUTO(judge) j = {.profile = &profile};
    add_claims(&j.ground);
    ground_add(&j.ground, CSI_NODE("n", LIMIT("d.example", "1")));
    ground_add(&j.ground, "pod p claim:c0");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    ground_add(&j.ground, "{" STORAGE ",'kind':'VolumeAttachment','metadata':{'name':'a'},'spec':{"
                          "'attacher':'d.example','nodeName':'n','source':{'persistentVolumeName':"
                          "'v1'}}}");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), full);
    ground_add(&j.ground, "{" STORAGE ",'kind':'VolumeAttachment','metadata':{'name':'a'},'spec':{"
                          "'attacher':'d.example','nodeName':'m','source':{'persistentVolumeName':"
                          "'v1'}}}");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}

TEST(node_volume_limits, a_driver_may_insist_on_being_there)
{
    AUTO(judge) j = {.profile = &profile};
    add_claims(&j.ground);
    ground_add(&j.ground, "pod p claim:c0");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    ground_add(&j.ground, "{" STORAGE ",'kind':'CSIDriver','metadata':{'name':'d.example'},'spec':{"
                          "'preventPodSchedulingIfMissing':true}}");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "U NodeVolumeLimits: d.example CSI driver is not installed on the node");
    j.ground.cluster->overlooks_drivers = true; /* when it is not to, another class is learned */
    ground_add(&j.ground, VOLUME("v9", CSI("h9")));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    j.ground.cluster->overlooks_drivers = false;
    ground_add(&j.ground, CSI_NODE("n", "{'name':'d.example'}"));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}

TEST(node_volume_limits, a_disk_that_no_driver_can_be_told_of_is_an_error)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "node m");
    ground_add(&j.ground, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'spec':{"
                          "'volumes':[{'name':'v','awsElasticBlockStore':{'volumeID':"
                          "'aws://z/disk'}}]}}");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits"); /* no CSINode: nobody is told */
    ground_add(&j.ground, CSI_NODE("n", ""));
    struct class *class = judge_class(&j, "p");
    EXPECT(class->may_fail);
    EXPECT_TEXT(judge_verdict(&j, "p", "m"), "fits");
    reason_id error = scan_error(&j.scan, j.ground.cluster, class, &j.classes.reasons);
    EXPECT_INT(reasons_at(&j.classes.reasons, error)->code, CODE_ERROR);
}
