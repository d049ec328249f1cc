#include "core/plugins/plugins.h"
#include "storage.h"
#include "support/judge.h"
#include "support/test.h"

static const struct profile_plugin list[] = {{.plugin = &plugin_volume_zone, .number = 11}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};
static const char elsewhere[] = "UU VolumeZone: node(s) had no available volume zone";

#define ZONE      "topology.kubernetes.io/zone"
#define REGION    "topology.kubernetes.io/region"
#define BETA_ZONE "failure-domain.beta.kubernetes.io/zone"

TEST(volume_zone, the_node_must_be_in_the_volumes_zone)
{
    static const struct {
        const char *volume, *node, *verdict;
    } cases[] = {
        {LABELLED_VOLUME("v", "'" ZONE "':'a'"), "zone=a", "fits"},
        {LABELLED_VOLUME("v", "'" ZONE "':'a'"), "zone=b", elsewhere},
        {LABELLED_VOLUME("v", "'" ZONE "':'a__b'"), "zone=b", "fits"},
        {LABELLED_VOLUME("v", "'" ZONE "':'a__b'"), "zone=c", elsewhere},
        {LABELLED_VOLUME("v", "'" ZONE "':'a__'"), "zone=c", "fits"},
        {LABELLED_VOLUME("v", "'" ZONE "':'a'"), "label:x=y", "fits"},
        {LABELLED_VOLUME("v", "'" ZONE "':'a'"), "label:" REGION "=r", elsewhere},
        {LABELLED_VOLUME("v", "'" ZONE "':'a'"), "label:" BETA_ZONE "=a", elsewhere},
        {LABELLED_VOLUME("v", "'" BETA_ZONE "':'a'"), "zone=a", "fits"},
        {LABELLED_VOLUME("v", "'" BETA_ZONE "':'a'"), "zone=a label:" BETA_ZONE "=b", elsewhere},
        {LABELLED_VOLUME("v", "'" ZONE "':'a','" REGION "':'r1__r2'"), "zone=a label:" REGION "=r2",
         "fits"},
        {LABELLED_VOLUME("v", "'" ZONE "':'a','" REGION "':'r1__r2'"), "zone=a label:" REGION "=r3",
         elsewhere},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].volume, cases[i].node);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n %s", cases[i].node);
        ground_add(&j.ground, "%s", cases[i].volume);
        ground_add(&j.ground, BOUND("c", "v"));
        ground_add(&j.ground, "pod p claim:c");
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(volume_zone, what_is_missing_is_named)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n zone=a");
    ground_add(&j.ground, "pod p claim:c");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "refused: persistentvolumeclaim \"c\" not found");
    ground_add(&j.ground, CLAIM("c", "ReadWriteOnce", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "refused: PersistentVolumeClaim had no pv name and storageClass name");
    ground_add(&j.ground, CLAIM("c", "ReadWriteOnce", ",'storageClassName':'s'"));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "refused: storageclass.storage.k8s.io \"s\" not found");
    ground_add(&j.ground, CLASS("s", "d.example", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "refused: PersistentVolume had no name");
    ground_add(&j.ground, CLASS("s", "d.example", WAITS));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    ground_add(&j.ground, BOUND("c", "v"));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "refused: persistentvolume \"v\" not found");
    ground_add(&j.ground, VOLUME("v", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}
