#include "core/model/limits.h"

#include "support/objects.h"
#include "support/test.h"

/* A pod that says a thing so many times. */
static void say_labels(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->meta.labels = (pair_list){arena_array(mem, struct pair, n), n};
}

static void say_gates(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.gates.at = arena_array(mem, struct scheduling_gate, n);
    pod->spec.gates.n = n;
}

static void say_tolerations(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.tolerations.at = arena_array(mem, struct toleration, n);
    pod->spec.tolerations.n = n;
}

static void say_lines(struct pod *pod, uint32_t n, struct arena *mem)
{
    struct node_selector *required = arena_array(mem, struct node_selector, 1);
    struct node_selector_term *term = arena_array(mem, struct node_selector_term, 1);
    term->match_expressions.at = arena_array(mem, struct requirement, n);
    term->match_expressions.n = n - 1; /* the term counts, too */
    required->terms.at = term;
    required->terms.n = 1;
    pod->spec.affinity = arena_array(mem, struct affinity, 1);
    pod->spec.affinity->node = arena_array(mem, struct node_affinity, 1);
    pod->spec.affinity->node->required = required;
}

static void say_values(struct pod *pod, uint32_t n, struct arena *mem)
{
    say_lines(pod, 2, mem);
    struct requirement *line = pod->spec.affinity->node->required->terms.at->match_expressions.at;
    line->values = (str_list){arena_array(mem, struct str, n), n};
}

static void say_terms(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.affinity = arena_array(mem, struct affinity, 1);
    struct pod_affinity *both[2];
    for (uint32_t i = 0; i < LEN(both); i++)
        both[i] = arena_array(mem, struct pod_affinity, 1);
    pod->spec.affinity->pod = both[0];
    pod->spec.affinity->anti = both[1];
    both[0]->required.at = arena_array(mem, struct pod_affinity_term, n);
    both[0]->required.n = n / 2;
    both[1]->preferred.at = arena_array(mem, struct preferred_pod_term, n);
    both[1]->preferred.n = n - n / 2;
}

static void say_spread(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.spread.at = arena_array(mem, struct spread_constraint, n);
    pod->spec.spread.n = n;
}

static struct container *container(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.containers.at = arena_array(mem, struct container, n);
    pod->spec.containers.n = n;
    return pod->spec.containers.at;
}

/* Each name twice. */
static void say_resources(struct pod *pod, uint32_t n, struct arena *mem)
{
    struct container *c = container(pod, 2, mem);
    for (uint32_t i = 0; i < 2; i++) {
        c[i].resources.requests = (amount_list){arena_array(mem, struct amount, n), n};
        for (uint32_t k = 0; k < n; k++)
            c[i].resources.requests.at[k].name = arena_printf(mem, "example.com/r%u", k);
    }
}

static void say_containers(struct pod *pod, uint32_t n, struct arena *mem)
{
    container(pod, n - 1, mem);
    pod->spec.init_containers.at = arena_array(mem, struct container, 1);
    pod->spec.init_containers.n = 1;
}

static void say_ports(struct pod *pod, uint32_t n, struct arena *mem)
{
    struct container *c = container(pod, 1, mem);
    c->ports.at = arena_array(mem, struct container_port, n);
    c->ports.n = n;
}

static void say_volumes(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.volumes.at = arena_array(mem, struct volume, n);
    pod->spec.volumes.n = n;
}

static void say_claims(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.resource_claims.at = arena_array(mem, struct resource_claim_ref, n);
    pod->spec.resource_claims.n = n;
}

TEST(limits, a_pod_may_say_as_much_as_the_limit_and_no_more)
{
    static void (*const say[LIMIT_COUNT])(struct pod *, uint32_t, struct arena *) = {
        [LIMIT_GATES] = say_gates,         [LIMIT_TOLERATIONS] = say_tolerations,
        [LIMIT_REQUIREMENTS] = say_lines,  [LIMIT_VALUES] = say_values,
        [LIMIT_TERMS] = say_terms,         [LIMIT_SPREAD] = say_spread,
        [LIMIT_RESOURCES] = say_resources, [LIMIT_CONTAINERS] = say_containers,
        [LIMIT_PORTS] = say_ports,         [LIMIT_VOLUMES] = say_volumes,
        [LIMIT_CLAIMS] = say_claims,       [LIMIT_LABELS] = say_labels,
    };
    struct arena mem = {0};
    for (uint32_t i = 0; i < LIMIT_COUNT; i++) {
        const struct limit *limit = &pod_limits[i];
        struct pod pod = {0};
        test_case("%s", limit->what);
        say[i](&pod, limit->most, &mem);
        EXPECT_STR(pod_excess(&pod, &mem), "");
        pod = (struct pod){0};
        say[i](&pod, limit->most + 1, &mem);
        struct str wanted = arena_printf(&mem, "%u %s, of which a pod may have %u", limit->most + 1,
                                         limit->what, limit->most);
        EXPECT_STR(pod_excess(&pod, &mem), wanted.p);
        EXPECT(limit->why[0]);
    }
    arena_done(&mem);
}

static bool is_cpu(void *ctx, struct str resource)
{
    (void)ctx;
    return str_equal(resource, STR("cpu"));
}

TEST(limits, of_a_pod_beyond_one_all_else_is_left)
{
    struct arena mem = {0};
    struct object o =
        object_of(&mem, "pod p cpu=2 memory=1Gi priority=7 on=n port:80 "
                        "tolerate:a:Exists:: spread:zone:1:hard:* init cpu=3 sidecar cpu=1");
    say_spread(o.pod, pod_limits[LIMIT_SPREAD].most + 1, &mem);
    struct pod left = pod_without_excess(o.pod, is_cpu, NULL, &mem);
    EXPECT_STR(left.meta.name, "p");
    EXPECT_STR(left.spec.node_name, "n");
    EXPECT_INT(left.spec.priority, 7);
    EXPECT_INT(left.spec.spread.n, 0);
    EXPECT_INT(left.spec.tolerations.n, 1);
    EXPECT_INT(left.spec.containers.n, 1);
    EXPECT_INT(left.spec.containers.at[0].ports.n, 1);
    EXPECT_INT(left.spec.containers.at[0].resources.requests.n, 2);
    EXPECT_INT(left.spec.init_containers.n, o.pod->spec.init_containers.n);
    arena_done(&mem);
}

TEST(limits, of_too_many_resources_those_are_left_that_count)
{
    struct arena mem = {0};
    struct object o = object_of(&mem, "pod p cpu=2 and cpu=1");
    struct container *c = o.pod->spec.containers.at;
    say_resources(o.pod, pod_limits[LIMIT_RESOURCES].most + 1, &mem);
    o.pod->spec.containers.at[1] = c[0];
    struct pod left = pod_without_excess(o.pod, is_cpu, NULL, &mem);
    EXPECT_INT(left.spec.containers.n, 2);
    EXPECT_INT(left.spec.containers.at[0].resources.requests.n, 0);
    EXPECT_INT(left.spec.containers.at[1].resources.requests.n, 1);
    arena_done(&mem);
}
