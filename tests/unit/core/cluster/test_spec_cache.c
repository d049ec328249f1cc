#include "core/cluster/spec_cache.h"

#include "core/cluster/read.h"
#include "support/ground.h"
#include "support/test.h"

/* What the pod of these words comes to as one of a template, which must be what it comes to alone;
 * ID_NONE if it does not. */
static shape_id like(struct ground *g, const char *template, const char *words)
{
    struct cluster *c = ground_cluster(g);
    char line[512];
    snprintf(line, sizeof(line), "pod p %s", words);
    struct pod *pod = object_of(&g->mem, line).pod;
    sym pin = SYM_NONE, alone_pin = SYM_NONE;
    pod->template = str_of(template);
    shape_id got = read_pod_shape(c, pod, &pin);
    pod->template = (struct str){0};
    shape_id alone = read_pod_shape(c, pod, &alone_pin);
    return got == alone && pin == alone_pin ? got : ID_NONE;
}

static uint32_t kept(const struct ground *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; g->cluster->spec_cache.at && i < SPEC_CACHE_PLACES; i++)
        n += g->cluster->spec_cache.at[i].bytes.n > 0;
    return n;
}

TEST(spec_cache, pods_that_are_the_same_in_all_that_counts_share_a_shape)
{
    static const char *const words[] = {
        "cpu=1",
        "cpu=1",
        "cpu=1 namespace=other",
        "cpu=1 label:app=web",
        "cpu=1 note:scheduling.kubenexus.io/gpu-fraction=0.5",
        "cpu=1 note:scheduling.kubenexus.io/gpu-fraction=0.25",
        "cpu=1 owner:Job=j",
        "cpu=1 owner:Notebook=j",
        "cpu=1 actual:cpu=3",
        "cpu=1",
        "cpu=1 label:app=web",
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(words); i++) {
        test_case("%s", words[i]);
        EXPECT(like(&g, "cpu=1", words[i]) != ID_NONE);
    }
    EXPECT(like(&g, "cpu=2", "cpu=2") != like(&g, "cpu=1", "cpu=1"));
    EXPECT(kept(&g) >= 3);
}

TEST(spec_cache, what_was_kept_is_given_again)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    sym pin;
    struct pod *pod = object_of(&g.mem, "pod p cpu=1").pod;
    pod->template = STR("t");
    shape_id first = read_pod_shape(c, pod, &pin);
    pod = object_of(&g.mem, "pod p cpu=7").pod; /* which cannot be, and so is not looked at */
    pod->template = STR("t");
    pin = 7;
    EXPECT_INT(read_pod_shape(c, pod, &pin), first);
    EXPECT_INT(pin, SYM_NONE);
    cluster_tidy(c, TIDY_IF_WANTED); /* it is held */
    EXPECT_INT(read_pod_shape(c, pod, &pin), first);
    EXPECT_INT(specs_at(&c->specs, c->pods.shapes.at[first].spec)->ask.cpu_milli, 1000);
}

TEST(spec_cache, nothing_is_kept_of_pods_that_are_like_no_other)
{
    static const char *const words[] = {"cpu=1 device:c1", "cpu=1 disk:ephemeral:v",
                                        "cpu=1 actual:cpu=3"};
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(words); i++) {
        test_case("%s", words[i]);
        EXPECT(like(&g, "t", words[i]) != ID_NONE);
        EXPECT_INT(kept(&g), 0);
    }
    EXPECT(like(&g, "t", "cpu=1 require:@metadata.name:In:n1") != ID_NONE); /* names a node */
    EXPECT(like(&g, "", "cpu=1") != ID_NONE);                               /* no template */
    EXPECT_INT(kept(&g), 0);
}

TEST(spec_cache, a_pod_that_left_a_claim_is_like_no_other)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    sym pin;
    struct pod *one = object_of(&g.mem, "pod a uid=u1 gpu=1").pod;
    struct pod *other = object_of(&g.mem, "pod b uid=u2 gpu=1").pod;
    one->template = other->template = STR("t");
    shape_id plain = read_pod_shape(c, one, &pin);
    EXPECT_INT(kept(&g), 1);
    EXPECT_INT(read_pod_shape(c, other, &pin), plain);

    struct object claim = object_of(
        &g.mem, "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1','metadata':{"
                "'name':'b-claim','namespace':'default','uid':'c1','resourceVersion':'1',"
                "'annotations':{'resource.kubernetes.io/extended-resource-claim':'true'},"
                "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'b','uid':'u2',"
                "'controller':true}]},'spec':{}}");
    devices_put(c, &claim);
    EXPECT(read_pod_shape(c, other, &pin) != plain);
    EXPECT_INT(read_pod_shape(c, one, &pin), plain);
}

TEST(spec_cache, what_is_forgotten_is_held_no_more)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    shape_id shape = like(&g, "t", "cpu=1");
    EXPECT_INT(kept(&g), 1);
    EXPECT_INT(c->pods.shape_table.entries.at[shape].holds, 1);
    spec_cache_clear(&c->spec_cache, &c->pods);
    EXPECT_INT(kept(&g), 0);
    EXPECT_INT(c->pods.shape_table.entries.at[shape].holds, 0);
    EXPECT_INT(like(&g, "t", "cpu=1"), shape); /* it is still findable */
    EXPECT_INT(kept(&g), 1);
}
