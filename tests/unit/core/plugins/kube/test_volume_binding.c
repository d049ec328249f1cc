#include "core/plugins/plugins.h"
#include "storage.h"
#include "support/judge.h"
#include "support/test.h"

static const struct plugin *const binding = &plugin_volume_binding;
static const struct profile_plugin list[] = {
    {.plugin = &plugin_volume_binding, .number = 10, .weight = 1}};
static const struct profile profile = {STR("default-scheduler"), list, LEN(list)};

#define NO_NODE   "UU VolumeBinding: node(s) didn't match PersistentVolume's node affinity"
#define NO_VOLUME "UU VolumeBinding: node(s) didn't find available persistent volumes to bind"
#define NO_SPACE  "UU VolumeBinding: node(s) did not have enough free storage"
#define WAITING   ",'storageClassName':'fast'"

TEST(volume_binding, a_claim_that_cannot_be_used_refuses_everywhere)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "pod p claim:c");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "refused: persistentvolumeclaim \"c\" not found");
    ground_add(&j.ground, CLAIM("c", "ReadWriteOnce", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "refused: pod has unbound immediate PersistentVolumeClaims");
    ground_add(&j.ground,
               CLAIM("c", "ReadWriteOnce", ",'volumeName':'v'}, 'status':{'phase':'Lost'"));
    EXPECT_TEXT(
        judge_verdict(&j, "p", "n"),
        "refused: persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\"");
    ground_add(&j.ground, BOUND("c", "v"));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "UU VolumeBinding: node(s) unavailable due to one or "
                                             "more pvc(s) bound to non-existent pv(s)");
    ground_add(&j.ground, VOLUME("v", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}

TEST(volume_binding, an_ephemeral_claim_must_be_the_pods_own)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, VOLUME("v", ""));
    ground_add(&j.ground, "pod p uid=u disk:ephemeral:e");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "refused: waiting for ephemeral volume controller to "
                                             "create the persistentvolumeclaim \"p-e\"");
    ground_add(&j.ground, BOUND("p-e", "v"));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"),
                "refused: PVC default/p-e was not created for pod default/p (pod is not owner)");
    ground_add(&j.ground, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':"
                          "'p-e','ownerReferences':[{'kind':'Pod','name':'p','uid':'u',"
                          "'controller':true}],'annotations':{'pv.kubernetes.io/bind-completed':"
                          "'yes'}},'spec':{'volumeName':'v'}}");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
}

TEST(volume_binding, the_node_must_reach_a_bound_volume)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a zone=a");
    ground_add(&j.ground, "node b zone=b");
    ground_add(&j.ground, VOLUME("v", REACH("topology.kubernetes.io/zone", "a")));
    ground_add(&j.ground, VOLUME("w", REACH("kubernetes.io/hostname", "a")));
    ground_add(&j.ground, BOUND("c", "v"));
    ground_add(&j.ground, BOUND("d", "w"));
    ground_add(&j.ground, "pod p claim:c claim:d");
    EXPECT_TEXT(judge_verdict(&j, "p", "a"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "b"), NO_NODE);
}

TEST(volume_binding, a_claim_that_waits_takes_the_smallest_volume_that_will_do)
{
    /* clang-format off */
    static const struct {
        const char *volume, *verdict;
    } cases[] = {
        {"",                                                                  "fits"   },
        {",'claimRef':{'namespace':'default','name':'c'}",                    "fits"   },
        {",'claimRef':{'namespace':'default','name':'c','uid':'claim-c'}",    "fits"   },
        {",'claimRef':{'namespace':'default','name':'c','uid':'before'}",     NO_VOLUME},
        {",'claimRef':{'namespace':'other','name':'c'}",                      NO_VOLUME},
        {",'capacity':{'storage':'5Gi'}",                                     "fits"   },
        {",'capacity':{'storage':'5368709119'}",                              NO_VOLUME},
        {",'accessModes':['ReadWriteOnce','ReadOnlyMany']",                   "fits"   },
        {",'accessModes':['ReadWriteMany']",                                  NO_VOLUME},
        {",'volumeMode':'Block'",                                             NO_VOLUME},
        {",'storageClassName':'slow'",                                        NO_VOLUME},
        {",'volumeAttributesClassName':'gold'",                               NO_VOLUME},
        {"},'status':{'phase':'Released'",                                    NO_VOLUME},
        {REACH("zone", "elsewhere"),                                          NO_VOLUME},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].volume);
        AUTO(judge) j = {.profile = &profile};
        ground_add(&j.ground, "node n");
        ground_add(&j.ground, CLASS("fast", "kubernetes.io/no-provisioner", WAITS));
        ground_add(&j.ground, CLAIM("c", "ReadWriteOnce", WAITING));
        ground_add(&j.ground, VOLUME("v", "%s"), cases[i].volume);
        ground_add(&j.ground, "pod p claim:c");
        EXPECT_TEXT(judge_verdict(&j, "p", "n"), cases[i].verdict);
    }
}

TEST(volume_binding, two_claims_need_two_volumes)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, CLASS("fast", "kubernetes.io/no-provisioner", WAITS));
    ground_add(&j.ground, CLAIM("c", "ReadWriteOnce", WAITING));
    ground_add(&j.ground, CLAIM("d", "ReadWriteOnce", WAITING));
    ground_add(&j.ground, VOLUME("v", ""));
    ground_add(&j.ground, "pod p claim:c claim:d");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), NO_VOLUME);
    ground_add(&j.ground, VOLUME("w", ""));
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    EXPECT(judge_class(&j, "p")->reserves);
    EXPECT_INT(judge_score(&j, binding, "p", "n").raw, 50); /* 10 of 20 Gi */
    j.ground.cluster->overlooks_capacity = true;
    ground_add(&j.ground, VOLUME("x", ""));
    EXPECT(!judge_score(&j, binding, "p", "n").takes_part);
}

#define TRACKS                                                                                     \
    "{" STORAGE ",'kind':'CSIDriver','metadata':{'name':'d.example'},'spec':{'storageCapacity':"   \
    "true}}"
#define ROOM(name, zone, rest)                                                                     \
    "{" STORAGE ",'kind':'CSIStorageCapacity','metadata':{'name':'" name "'},'storageClassName':"  \
    "'fast','nodeTopology':{'matchLabels':{'topology.kubernetes.io/zone':'" zone "'}}" rest "}"

TEST(volume_binding, a_volume_is_made_where_the_class_can_and_there_is_room)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a zone=a");
    ground_add(&j.ground, "node b zone=b");
    ground_add(&j.ground, "node c zone=c");
    ground_add(&j.ground, CLASS("fast", "d.example",
                                WAITS ",'allowedTopologies':[{'matchLabelExpressions':[{'key':"
                                      "'topology.kubernetes.io/zone','values':['a','b']}]}]"));
    ground_add(&j.ground, CLAIM("w", "ReadWriteOnce", WAITING));
    ground_add(&j.ground, "pod p claim:w");
    EXPECT_TEXT(judge_verdict(&j, "p", "a"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "c"), NO_VOLUME);

    ground_add(&j.ground, TRACKS);
    EXPECT_TEXT(judge_verdict(&j, "p", "a"), NO_SPACE);
    ground_add(&j.ground, ROOM("a", "a", ",'capacity':'20Gi'"));
    ground_add(&j.ground, ROOM("b", "b", ",'capacity':'20Gi','maximumVolumeSize':'4Gi'"));
    EXPECT_TEXT(judge_verdict(&j, "p", "a"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "b"), NO_SPACE);
    EXPECT_INT(judge_score(&j, binding, "p", "a").raw, 75);
}

TEST(volume_binding, a_claim_whose_node_is_chosen_goes_there)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node a");
    ground_add(&j.ground, "node b");
    ground_add(&j.ground, CLASS("fast", "d.example", WAITS));
    ground_add(&j.ground, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':"
                          "'c','annotations':{'volume.kubernetes.io/selected-node':'a'}},'spec':{"
                          "'storageClassName':'fast'}}");
    ground_add(&j.ground, "pod p claim:c");
    EXPECT_TEXT(judge_verdict(&j, "p", "a"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "b"), NO_VOLUME);
}

TEST(volume_binding, a_pod_without_claims_scores_nothing_anywhere)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n");
    ground_add(&j.ground, "pod p disk:gce:a");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    EXPECT(judge_score(&j, binding, "p", "n").takes_part);
    EXPECT_INT(judge_score(&j, binding, "p", "n").raw, 0);
    EXPECT_INT(judge_class(&j, "p")->n_scores, 0);
}

TEST(volume_binding, a_migrated_volume_is_reached_by_its_drivers_zone)
{
    AUTO(judge) j = {.profile = &profile};
    ground_add(&j.ground, "node n label:topology.ebs.csi.aws.com/zone=a");
    ground_add(&j.ground, "node m zone=a");
    ground_add(&j.ground, VOLUME("v", ",'awsElasticBlockStore':{'volumeID':'vol-1'}" REACH(
                                          "topology.kubernetes.io/zone", "a")));
    ground_add(&j.ground, BOUND("c", "v"));
    ground_add(&j.ground, "pod p claim:c");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), NO_NODE);
    ground_add(&j.ground, "{" STORAGE ",'kind':'CSINode','metadata':{'name':'n','annotations':{"
                          "'storage.alpha.kubernetes.io/migrated-plugins':"
                          "'kubernetes.io/gce-pd,kubernetes.io/aws-ebs'}}}");
    EXPECT_TEXT(judge_verdict(&j, "p", "n"), "fits");
    EXPECT_TEXT(judge_verdict(&j, "p", "m"), "fits");
}
