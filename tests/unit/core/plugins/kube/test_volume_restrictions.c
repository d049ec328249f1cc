#include "core/plugins/plugins.h"
#include "storage.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const restrictions = &plugin_volume_restrictions;
static const struct profile_plugin list[] = {{.plugin = &plugin_volume_restrictions, .number = 8}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char no_disk[] = "U VolumeRestrictions: node(s) had no available disk";
static const char in_use[] =
    "U VolumeRestrictions: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
    "access mode already in-use by another pod";

TEST(volume_restrictions, a_disk_that_cannot_be_shared_refuses)
{
    static const struct {
        const char *used, *wanted, *verdict;
    } cases[] = {
        {"disk:gce:a", "disk:gce:a", no_disk},
        {"disk:gce:a", "disk:gce:a:ro", no_disk},
        {"disk:gce:a:ro", "disk:gce:a:ro", "fits"},
        {"disk:gce:a", "disk:gce:b", "fits"},
        {"disk:gce:a", "disk:aws:a", "fits"},
        {"disk:aws:a:ro", "disk:aws:a:ro", no_disk}, /* one pod only, whatever for */
        {"disk:iscsi:a", "disk:iscsi:a:ro", no_disk},
        {"disk:iscsi:a:ro", "disk:iscsi:a:ro", "fits"},
        {"disk:rbd:p/i@m1|m2", "disk:rbd:p/i@m3|m2", no_disk},
        {"disk:rbd:p/i@m1", "disk:rbd:p/i@m2", "fits"},
        {"disk:rbd:p/i@m1", "disk:rbd:q/i@m1", "fits"},
        {"disk:rbd:p/i@m1:ro", "disk:rbd:p/i@m1:ro", "fits"},
        {"disk:azure:a", "disk:azure:a", "fits"},
        {"disk:gce:a deleting", "disk:gce:a", no_disk},
        {"disk:gce:a disk:aws:b", "disk:gce:c disk:aws:b", no_disk},
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

TEST(volume_restrictions, a_claim_for_one_pod_refuses_everywhere)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "node m");
    ground_add(&j.ground, CLAIM("c", "ReadWriteOncePod", ""));
    ground_add(&j.ground, CLAIM("d", "ReadWriteOnce", ""));
    ground_add(&j.ground, "pod p claim:c");
    ground_add(&j.ground, "pod q claim:d");
    ground_add(&j.ground, "pod other claim:c on=gone");
    EXPECT_INT(judge_class(&j, "p")->n_parts, 0); /* a node that is not there uses nothing */
    ground_add(&j.ground, "pod there claim:c claim:d on=n");
    EXPECT_TEXT(judge_verdict(&j, "p", "m"), in_use);
    EXPECT_TEXT(judge_verdict(&j, "q", "n"), "fits");
    cluster_take(j.ground.cluster, ground_pod(&j.ground, "there"));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    ground_add(&j.ground, "node gone");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), in_use);
}

TEST(volume_restrictions, a_claim_must_be_there)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "pod p claim:data");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "refused: persistentvolumeclaim \"data\" not found");
    ground_add(&j.ground, CLAIM("data", "ReadWriteOnce", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}

TEST(volume_restrictions, who_had_the_disk_or_the_claim_wakes)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, CLAIM("c", "ReadWriteOnce", ""));
    ground_add(&j.ground, "pod p claim:c disk:gce:a");
    static const struct {
        const char *gone;
        bool wakes;
    } cases[] = {
        {"pod q disk:gce:a on=n", true},
        {"pod q disk:gce:b on=n", false},
        {"pod q claim:c on=n", true},
        {"pod q claim:d on=n", false},
        {"pod q claim:c namespace=other on=n", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].gone);
        EXPECT_INT(judge_wakes(&j, restrictions, "p", EVENT_ASSIGNED_POD, ACTION_DELETE,
                               cases[i].gone, NULL),
                   cases[i].wakes);
    }
    EXPECT(judge_wakes(&j, restrictions, "p", EVENT_NODE, ACTION_ADD, NULL, "node m"));
}
