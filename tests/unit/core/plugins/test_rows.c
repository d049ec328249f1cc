/* What plugins say of many nodes at once, and what they share between classes (framework/sweep.h,
 * framework/facet.h), against what they say of each node for each class alone. */

#include "core/base/rng.h"
#include "core/plugins/plugins.h"
#include "support/judge.h"
#include "support/test.h"

enum { NODES = 400, PODS = 24, ROUNDS = 12 };

static const char *any(struct rng *r, const char *const *words, size_t n)
{
    return words[rng_below(r, n)];
}

static void put_node(struct judge *j, struct rng *r)
{
    static const char *const cpus[] = {"0", "1", "4", "64", "96", "999999999999"};
    static const char *const memories[] = {"0", "1Gi", "7Gi", "512Gi", "8Ei", "9007199254740993"};
    static const char *const more[] = {
        "",
        "taint:a=b:NoSchedule",
        "taint:a=b:PreferNoSchedule",
        "gpu=8 label:disk=ssd",
        "cordoned",
        "image:x:1=50Mi pods=2",
        "image:x:1=50Mi image:y:1=70Mi",
        "label:disk=ssd zone=a",
        "gpu=1",
        "zone=b image:y:1=9000Mi",
        "pods=0",
    };
    ground_add(&j->ground, "node n%u cpu=%s memory=%s %s %s", (unsigned)rng_below(r, NODES),
               any(r, cpus, LEN(cpus)), any(r, memories, LEN(memories)), any(r, more, LEN(more)),
               rng_below(r, 2) ? "label:side=left" : "");
}

static void put_pod(struct judge *j, struct rng *r, const char *name, const char *where)
{
    static const char *const asks[] = {
        "",
        "cpu=100m memory=1Gi",
        "cpu=1 memory=1Gi gpu=1",
        "cpu=7 memory=3Gi",
        "cpu=900000000000 memory=6Ei",
        "memory=1",
        "cpu=2 memory=2Gi require:disk:In:ssd",
        "cpu=101m tolerate:a:Exists:: image:x:1",
        "cpu=102m image:y:1 image:x:1",
        "cpu=103m select:side=left image:x:1",
        "cpu=104m select:side=left prefer:5:disk:In:ssd",
        "cpu=105m port:80",
        "cpu=106m label:app=a spread:zone:1:soft:app=a",
        "cpu=107m label:app=a spread:host:1:hard:app=a",
    };
    ground_add(&j->ground, "pod %s %s %s", name, any(r, asks, LEN(asks)), where);
}

/* A change that facets, strips or both must see. */
static void change(struct judge *j, struct rng *r, uint32_t i)
{
    char name[32], where[32];
    snprintf(name, sizeof(name), "there-%u", i);
    snprintf(where, sizeof(where), "%s=n%u", rng_below(r, 9) ? "on" : "nominated",
             (unsigned)rng_below(r, NODES));
    if (rng_below(r, 3))
        put_node(j, r);
    else
        put_pod(j, r, name, where);
}

static void expect_truth(const struct profile *profile, uint64_t seed)
{
    AUTO(judge) j = {.profile = profile};
    struct rng r = rng_seeded(seed);
    uint32_t changes = 0;
    char name[32];
    for (uint32_t i = 0; i < 2 * NODES; i++)
        put_node(&j, &r);
    for (uint32_t i = 0; i < PODS; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        put_pod(&j, &r, name, "");
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < PODS; i++) {
            snprintf(name, sizeof(name), "p%u", i);
            struct class *class = judge_class(&j, name);
            test_case("seed %u, round %u, %s", (unsigned)seed, round, name);
            judge_scan(&j, name);
            if (!class->refusal && !class->error.n)
                EXPECT(scan_is_true(&j.scan, j.ground.cluster, class, ground_pod(&j.ground, name)));
        }
        for (uint32_t i = 0; i < 40; i++)
            change(&j, &r, changes++);
    }
}

TEST(rows, all_at_once_are_told_what_each_is_told)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        expect_truth(&built_in_profiles[BUILT_IN_KUBE], seed);
}

TEST(rows, of_our_own_profile_are_told_what_each_is_told)
{
    struct profile ours = built_in_profiles[BUILT_IN_KUBENEXUS];
    ours.name = STR("default-scheduler");
    expect_truth(&ours, 4);
}

static const struct facet *facet_for(struct judge *j, const char *pod, const struct plugin *plugin)
{
    const struct class *class = judge_class(j, pod);
    judge_scan(j, pod);
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].plugin == plugin)
            return facet_of(&class->parts[i]);
    return NULL;
}

TEST(facet, is_shared_by_classes_that_differ_elsewhere)
{
    AUTO(judge) j = {.profile = &built_in_profiles[BUILT_IN_KUBE]};
    ground_add(&j.ground, "node n cpu=8 image:x:1=50Mi");
    ground_add(&j.ground, "pod a cpu=1 image:x:1");
    ground_add(&j.ground, "pod b cpu=2 image:x:1");
    ground_add(&j.ground, "pod c cpu=2 image:y:1 tolerate:a:Exists::");
    const struct facet *image = facet_for(&j, "a", &plugin_image_locality);
    const struct facet *taint = facet_for(&j, "a", &plugin_taint_toleration);
    if (!EXPECT(image && taint))
        return;
    EXPECT(facet_for(&j, "b", &plugin_image_locality) == image);
    EXPECT(facet_for(&j, "b", &plugin_taint_toleration) == taint);
    EXPECT(facet_for(&j, "c", &plugin_image_locality) != image);
    EXPECT(facet_for(&j, "c", &plugin_taint_toleration) != taint);
    EXPECT_INT(image->holders, 2);
}

TEST(facet, reads_nothing_while_only_pods_come)
{
    AUTO(judge) j = {.profile = &built_in_profiles[BUILT_IN_KUBE]};
    ground_add(&j.ground, "node n cpu=8");
    ground_add(&j.ground, "pod a cpu=1");
    const struct facet *taint = facet_for(&j, "a", &plugin_taint_toleration);
    if (!EXPECT(taint != NULL))
        return;
    uint64_t seen = taint->seen;
    ground_add(&j.ground, "pod b cpu=1 on=n");
    facet_for(&j, "a", &plugin_taint_toleration);
    EXPECT_INT(taint->seen, seen);
    ground_add(&j.ground, "node n cpu=8 taint:a=b:NoSchedule");
    EXPECT_TEXT(judge_scan(&j, "a"), "");
    EXPECT(taint->seen > seen);
}

TEST(facet, with_too_many_answers_says_nothing)
{
    AUTO(judge) j = {.profile = &built_in_profiles[BUILT_IN_KUBE]};
    for (unsigned i = 0; i < 300; i++) {
        ground_add(&j.ground, "node n%u cpu=8 %s %s %s %s %s %s %s %s %s", i,
                   i & 1 ? "image:a:1=9Mi" : "", i & 2 ? "image:b:1=9Mi" : "",
                   i & 4 ? "image:c:1=9Mi" : "", i & 8 ? "image:d:1=9Mi" : "",
                   i & 16 ? "image:e:1=9Mi" : "", i & 32 ? "image:f:1=9Mi" : "",
                   i & 64 ? "image:g:1=9Mi" : "", i & 128 ? "image:h:1=9Mi" : "",
                   i & 256 ? "image:i:1=9Mi" : "");
    }
    ground_add(&j.ground,
               "pod p image:a:1 init image:b:1 init image:c:1 init image:d:1 init image:e:1 init "
               "image:f:1 init image:g:1 init image:h:1 init image:i:1");
    EXPECT(facet_for(&j, "p", &plugin_image_locality) == NULL);
    EXPECT(
        scan_is_true(&j.scan, j.ground.cluster, judge_class(&j, "p"), ground_pod(&j.ground, "p")));
}
