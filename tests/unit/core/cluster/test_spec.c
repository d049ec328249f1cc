#include "core/cluster/spec.h"

#include "support/ground.h"
#include "support/test.h"

static const struct spec *spec_of(struct ground *g, const char *words)
{
    struct cluster *c = ground_cluster(g);
    char line[512];
    assert(strlen(words) < 500);
    memcpy(line, "pod p ", 6);
    memcpy(line + 6, words, strlen(words) + 1);
    spec_id id = specs_read(&c->specs, &c->names, &c->matches, object_of(&g->mem, line).pod, NULL);
    return specs_at(&c->specs, id);
}

static int64_t asked(struct ground *g, const struct pod_request *r, const char *resource)
{
    struct cluster *c = g->cluster;
    return request_amount(r, resources_get(&c->specs.resources, &c->names, str_of(resource)));
}

TEST(spec, each_caller_has_its_own_sum_of_the_requests)
{
    enum { MI = 1 << 20 };
    static const struct {
        const char *words;
        int64_t ask, hold, score, nonzero; /* of cpu, in thousandths */
        int64_t memory_score;              /* of memory, in MiB */
    } cases[] = {
        {"cpu=1 memory=1Gi", 1000, 1000, 1000, 1000, 1024},
        {"", 0, 0, 100, 100, 200},
        {"cpu=1", 1000, 1000, 1000, 1000, 200},
        {"cpu=0 memory=0", 0, 0, 0, 0, 0}, /* zero is said */
        {"cpu=1 and and cpu=2", 3000, 3000, 3100, 3100, 600},
        {"cpu=1 memory=1Gi init cpu=5 memory=1Mi", 5000, 5000, 5000, 5000, 1024},
        {"cpu=1 memory=1Mi sidecar cpu=2 memory=1Mi", 3000, 3000, 3000, 3000, 2},
        {"total:cpu=4", 4000, 4000, 100, 4000, 200}, /* a quirk */
        {"cpu=1 overhead:cpu=250m", 1250, 1250, 1250, 1250, 200},
        {"cpu=1 actual:cpu=3", 1000, 3000, 1000, 3000, 200},
        {"cpu=3 actual:cpu=1", 3000, 3000, 3000, 3000, 200},
        {"cpu=1500u and cpu=1500u", 3, 3, 3, 3, 400}, /* round once */
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].words);
        const struct spec *s = spec_of(&g, cases[i].words);
        EXPECT_INT(s->ask.cpu_milli, cases[i].ask);
        EXPECT_INT(s->hold.cpu_milli, cases[i].hold);
        EXPECT_INT(s->score.cpu_milli, cases[i].score);
        EXPECT_INT(s->hold_nonzero_cpu_milli, cases[i].nonzero);
        EXPECT_INT(s->score.memory, cases[i].memory_score * MI);
    }
}

TEST(spec, scalars_are_kept_by_number_without_zeros_and_unknown_names)
{
    AUTO(ground) g = {0};
    const struct spec *s =
        spec_of(&g, "gpu=2 hugepages-2Mi=4Mi example.com/fpga=0 storage=1Gi example.com/tpu=3");
    EXPECT_INT(s->ask.n_others, 4);
    for (uint32_t i = 1; i < s->ask.n_others; i++)
        EXPECT(s->ask.others[i - 1].resource < s->ask.others[i].resource);
    EXPECT_INT(asked(&g, &s->ask, "nvidia.com/gpu"), 2);
    EXPECT_INT(asked(&g, &s->ask, "hugepages-2Mi"), 4 << 20);
    EXPECT_INT(asked(&g, &s->ask, "ephemeral-storage"), 1 << 30);
    EXPECT_INT(asked(&g, &s->ask, "example.com/tpu"), 3);
    EXPECT_INT(asked(&g, &s->ask, "example.com/fpga"), 0);
    EXPECT_INT(asked(&g, &s->ask, "cpu"), 0);
    EXPECT_INT(asked(&g, &s->ask, "pods"), 0);
}

TEST(spec, what_plugins_cannot_tell_apart_is_one_spec)
{
    static const struct {
        const char *one, *other;
        bool is_same;
    } cases[] = {
        {"cpu=1", "cpu=1000m", true},
        {"cpu=1 gpu=1", "gpu=1 cpu=1", true},
        {"uid=a label:x=1 on=n", "uid=b nominated=m", true}, /* of the row */
        {"port:80", "port:0.0.0.0:80/TCP", true},
        {"port:80 port:81", "port:81 port:80", true},
        {"port:80 and port:80", "port:80 and", true},
        {"image:nginx", "image:nginx:latest", true},
        {"gpu=0", "", true},
        {"priority=0", "", true},
        {"cpu=1", "cpu=1001m", false},
        {"cpu=1", "memory=1", false},
        {"cpu=1 and", "cpu=1", false},
        {"priority=1", "", false},
        {"preempts=Never", "", false},
        {"scheduler=kubenexus-scheduler", "", false},
        {"port:80", "port:80/UDP", false},
        {"port:80", "port:127.0.0.1:80", false},
        {"image:a", "image:b", false},
        {"gate:a", "", false},
        {"tolerate:a:Exists::", "", false},
        {"tolerate:a:Exists::", "tolerate:a:Equal::", false},
        {"tolerate::Equal:v:", "tolerate::Exists:v:", false},
        {"select:a=b", "", false},
        {"spread:zone:1:hard:a=b", "", false},
        {"spread:zone:1:hard:a=b", "spread:zone:1:soft:a=b", false},
        {"spread:zone:1:hard:a=b", "spread:zone:2:hard:a=b", false},
        {"spread:zone:1:hard:a=b", "spread:zone:1:hard:a=c", false},
        {"spread:zone:1:hard:a=b", "spread:zone:1:hard:a=b:min=1", true}, /* the default */
        {"spread:zone:1:hard:a=b", "spread:zone:1:hard:a=b:min=2", false},
        {"spread:zone:1:hard:*", "spread:zone:1:hard:-", false},
        {"claim:a", "", false},
    };
    AUTO(ground) g = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].one, cases[i].other);
        const struct spec *one = spec_of(&g, cases[i].one);
        size_t at = (size_t)(one - g.cluster->specs.at.at);
        size_t other = (size_t)(spec_of(&g, cases[i].other) - g.cluster->specs.at.at);
        EXPECT_INT(at == other, cases[i].is_same);
    }
}

TEST(spec, host_ports_are_those_of_containers_that_run)
{
    AUTO(ground) g = {0};
    const struct spec *s = spec_of(&g, "port:80 port:0 init port:81 sidecar port:82 and port:83");
    EXPECT_INT(s->n_ports, 3);
    EXPECT_INT(s->ports[0].port, 80);
    EXPECT_INT(s->ports[1].port, 82);
    EXPECT_INT(s->ports[2].port, 83);
    EXPECT_INT(s->ports[0].ip, g.cluster->any_ip);
    EXPECT_INT(s->ports[0].protocol, PROTOCOL_TCP);
}

TEST(spec, an_image_without_a_tag_is_the_latest)
{
    static const struct {
        const char *image, *name;
    } cases[] = {
        {"nginx", "nginx:latest"},
        {"nginx:1.25", "nginx:1.25"},
        {"reg:5000/team/app", "reg:5000/team/app:latest"}, /* the colon of a port */
        {"reg:5000/team/app:v1", "reg:5000/team/app:v1"},
        {"app@sha256:abc", "app@sha256:abc"},
        {"reg:5000/app@sha256:ab", "reg:5000/app@sha256:ab"},
        {"", ":latest"},
    };
    AUTO(arena) mem = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_STR(image_name(str_of(cases[i].image), &mem), cases[i].name);
}

TEST(spec, images_are_one_per_container_twice_if_named_twice)
{
    AUTO(ground) g = {0};
    const struct spec *s = spec_of(&g, "image:a and image:a init image:b");
    EXPECT_INT(s->n_images, 3);
    EXPECT_STR(names_text(&g.cluster->names, s->images[0]), "b:latest");
    EXPECT_INT(s->images[1], s->images[2]);
}

TEST(spec, spread_constraints_come_with_their_defaults)
{
    AUTO(ground) g = {0};
    const struct spec *s = spec_of(
        &g,
        "spread:zone:1:hard:a=b spread:host:2:soft:-:min=3:affinity=Ignore:taints=Honor:keys=v|w");
    EXPECT_INT(s->n_spread, 2);
    const struct spread_rule *a = &s->spread[0], *b = &s->spread[1];
    EXPECT(a->is_hard && a->honors_affinity && !a->honors_taints);
    EXPECT_INT(a->min_domains, 1);
    EXPECT(a->selector != ID_NONE);
    EXPECT(!b->is_hard && !b->honors_affinity && b->honors_taints);
    EXPECT_INT(b->max_skew, 2);
    EXPECT_INT(b->min_domains, 3);
    EXPECT_INT(b->selector, ID_NONE);
    EXPECT_INT(b->key, g.cluster->matches.hostname);
    EXPECT_INT(b->n_match_keys, 2);
    EXPECT_INT(s->match_keys[b->match_key_at], ground_sym(&g, "v"));
}

TEST(spec, terms_of_pod_affinity_keep_their_namespaces_sorted_and_once)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    ground_sym(&g, "z"); /* known before a: it sorts first */
    const struct spec *s = spec_of(&g, "near:zone:app=a:in=a|z|a apart:host:-:weight=7:like=*");
    REQUIRE(s->n_pod_terms == 2);
    const struct pod_term *near = &s->pod_terms[0], *apart = &s->pod_terms[1];
    EXPECT_INT(near->n_namespaces, 2);
    EXPECT_STR(names_text(&c->names, s->namespaces[near->namespace_at]), "z");
    EXPECT_STR(names_text(&c->names, s->namespaces[near->namespace_at + 1]), "a");
    EXPECT_INT(near->like, ID_NONE);
    EXPECT_INT(near->weight, 0);
    EXPECT(!near->is_anti && near->selector != ID_NONE);
    EXPECT(apart->is_anti && apart->selector == ID_NONE && apart->like != ID_NONE);
    EXPECT_INT(apart->weight, 7);
    EXPECT_INT(apart->n_namespaces, 0);
}

TEST(spec, a_pin_is_taken_out_unless_the_pod_is_spread)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    static const struct {
        const char *line;
        bool is_taken;
    } cases[] = {
        {"pod p require:@metadata.name:In:n1", true},
        {"pod p require:@metadata.name:In:n1 spread:zone:1:hard:a=b", false},
        {"pod p require:disk:In:n1", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        sym pin;
        specs_read(&c->specs, &c->names, &c->matches, object_of(&g.mem, cases[i].line).pod, &pin);
        EXPECT_INT(pin == ground_sym(&g, "n1"), cases[i].is_taken);
    }
}

TEST(spec, a_sweep_frees_what_specs_held)
{
    AUTO(ground) g = {0};
    struct cluster *c = ground_cluster(&g);
    ground_add(&g, "pod kept cpu=7 tolerate:kept:Exists:: select:kept=v");
    for (int i = 0; i < 3000; i++) {
        char line[64] = "pod p tolerate:0000:Exists:: select:x=0000 cpu=1";
        for (int k = 3, rest = i; k >= 0; k--, rest /= 10)
            line[15 + k] = line[38 + k] = (char)('0' + rest % 10);
        specs_read(&c->specs, &c->names, &c->matches, object_of(&g.mem, line).pod, NULL);
    }
    EXPECT(names_find(&c->names, STR("2999")) != SYM_NONE);
    uint32_t rules = c->matches.rules.table.live;

    cluster_tidy(c, TIDY_IF_WANTED);

    EXPECT_INT(names_find(&c->names, STR("2999")), SYM_NONE);
    EXPECT(c->matches.rules.table.live < rules);
    EXPECT_INT(cluster_spec(c, ground_pod(&g, "kept"))->ask.cpu_milli, 7000);
    EXPECT(names_find(&c->names, STR("kept")) != SYM_NONE);
}
