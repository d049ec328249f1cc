#include "core/cluster/identity.h"

#include "core/model/gang.h"
#include "support/ground.h"
#include "support/test.h"

static struct identity identity(struct ground *g, const char *pod,
                                const struct identity_rules *rules)
{
    struct cluster *c = ground_cluster(g);
    return identity_of(c, pods_shape(&c->pods, ground_pod(g, pod)), rules);
}

static void name_space(struct ground *g, const char *label, const char *value)
{
    struct cluster *c = ground_cluster(g);
    struct pair_sym pair = {ground_sym(g, label), ground_sym(g, value)};
    cluster_put_namespace(c, ground_sym(g, "default"), names_label_set(&c->names, &pair, 1));
}

TEST(identity, the_tier_is_the_namespaces_then_the_classes_then_silver)
{
    static const struct {
        const char *label, *value, *pod;
        enum tier tier;
        enum tier_source source;
    } cases[] = {
        {"tenant.kubenexus.io/tier", "gold", "", TIER_GOLD, TIER_OF_NAMESPACE},
        {"tenant.kubenexus.io/tier", "Bronze", "class=high-priority", TIER_BRONZE,
         TIER_OF_NAMESPACE},
        {"scheduling.kubenexus.io/tier", "gold", "", TIER_GOLD, TIER_OF_NAMESPACE},
        {"tenant.kubenexus.io/tier", "platinum", "", TIER_SILVER, TIER_DEFAULT},
        {"tenant.kubenexus.io/name", "recsys-prod", "", TIER_GOLD, TIER_OF_TENANT},
        {"tenant.kubenexus.io/name", "staging.ml", "", TIER_SILVER, TIER_OF_TENANT},
        {"tenant.kubenexus.io/name", "dev", "", TIER_BRONZE, TIER_OF_TENANT},
        {"tenant.kubenexus.io/name", "product-team", "", TIER_SILVER, TIER_DEFAULT},
        {"other", "x", "class=high-priority", TIER_GOLD, TIER_OF_CLASS},
        {"other", "x", "class=low-priority", TIER_BRONZE, TIER_OF_CLASS},
        {"other", "x", "", TIER_SILVER, TIER_DEFAULT},
        /* a pod may lower its tier, not raise it */
        {"tenant.kubenexus.io/tier", "gold", "note:tenant.kubenexus.io/tier=bronze", TIER_BRONZE,
         TIER_OF_POD},
        {"tenant.kubenexus.io/tier", "bronze", "note:tenant.kubenexus.io/tier=gold", TIER_BRONZE,
         TIER_OF_NAMESPACE},
        {"other", "x", "note:tenant.kubenexus.io/tier=gold", TIER_SILVER, TIER_DEFAULT},
        {"other", "x", "label:tenant.kubenexus.io/tier=bronze", TIER_BRONZE, TIER_OF_POD},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(ground) g = {0};
        test_case("%s=%s %s", cases[i].label, cases[i].value, cases[i].pod);
        ground_add(&g, "pod p %s", cases[i].pod);
        name_space(&g, cases[i].label, cases[i].value);
        struct identity is = identity(&g, "p", NULL);
        EXPECT_INT(is.tier, cases[i].tier);
        EXPECT_INT(is.tier_source, cases[i].source);
        EXPECT_INT(identity_has_tier(&is), cases[i].source != TIER_DEFAULT);
    }
}

TEST(identity, configuration_decides_the_default_and_who_may_rise)
{
    AUTO(ground) g = {0};
    struct identity_rules rules = {.default_tier = TIER_BRONZE, .lets_pods_rise = true};
    ground_add(&g, "pod plain");
    ground_add(&g, "pod proud note:tenant.kubenexus.io/tier=gold");
    struct identity plain = identity(&g, "plain", &rules), proud = identity(&g, "proud", &rules);
    EXPECT_INT(plain.tier, TIER_BRONZE);
    EXPECT_INT(plain.tier_source, TIER_CONFIGURED);
    EXPECT_INT(proud.tier, TIER_GOLD);
    EXPECT_INT(proud.tier_source, TIER_OF_POD);
}

TEST(identity, the_tenant_is_the_queue_then_the_name_then_the_namespace)
{
    AUTO(ground) g = {0};
    ground_add(&g, "pod queued label:kueue.x-k8s.io/queue-name=q");
    ground_add(&g, "pod p");
    EXPECT_INT(identity(&g, "p", NULL).tenant, ground_sym(&g, "default"));
    name_space(&g, "tenant.kubenexus.io/name", "ml");
    EXPECT_INT(identity(&g, "p", NULL).tenant, ground_sym(&g, "ml"));
    EXPECT_INT(identity(&g, "queued", NULL).tenant, ground_sym(&g, "q"));
}

/* Every spelling that the table of gangs has. */
TEST(identity, a_pod_in_a_gang_is_known_as_such)
{
    for (uint32_t i = 0; i < n_gang_keys; i++) {
        if (gang_keys[i].meaning != GANG_NAME ||
            str_find(gang_keys[i].key, '/') == gang_keys[i].key.n)
            continue;
        AUTO(ground) g = {0};
        test_case(STR_FMT, STR_ARG(gang_keys[i].key));
        ground_add(&g, "pod l label:" STR_FMT "=g", STR_ARG(gang_keys[i].key));
        ground_add(&g, "pod n note:" STR_FMT "=g", STR_ARG(gang_keys[i].key));
        EXPECT(identity(&g, "l", NULL).is.is_gang);
        EXPECT(identity(&g, "n", NULL).is.is_gang);
        EXPECT_INT(identity(&g, "l", NULL).is.workload, WORKLOAD_TRAINING);
    }
    AUTO(ground) g = {0};
    ground_add(&g, "pod alone label:pod-group.scheduling.kubenexus.io/name=g "
                   "label:pod-group.scheduling.kubenexus.io/min-available=1");
    EXPECT(!identity(&g, "alone", NULL).is.is_gang);
}

TEST(identity, says_why)
{
    AUTO(ground) g = {0};
    AUTO(buf) text = {0};
    ground_add(&g, "pod p class=high-priority");
    struct identity is = identity(&g, "p", NULL);
    identity_tier_text(&is, &text);
    EXPECT_STR(buf_str(&text), "priority class high-priority");
}
