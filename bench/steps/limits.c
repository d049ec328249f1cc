/* Pods that say as much as a pod may say, in a large and full cluster: one that fits, and one that
 * fits nowhere and is told why. */

#include <stdio.h>

#include "core/model/limits.h"
#include "steps.h"
#include "support/test.h"

enum { LOAD_NODES = 5000, LOAD_PODS = 40000, KEYS = 64 };

#define text(mem, fmt, n) arena_printf(mem, fmt, n)

/* --- what a pod says, as often as it may --- */

static void say_lines(struct pod *pod, uint32_t n, struct arena *mem)
{
    struct node_selector *required = arena_array(mem, struct node_selector, 1);
    struct node_selector_term *term = arena_array(mem, struct node_selector_term, 1);
    term->match_expressions.at = arena_array(mem, struct requirement, n);
    term->match_expressions.n = n - 1;
    for (uint32_t i = 0; i < n; i++)
        term->match_expressions.at[i] =
            (struct requirement){.key = text(mem, "no-%u", i), .op = STR("DoesNotExist")};
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
    *line = (struct requirement){.key = STR("topology.kubernetes.io/zone"), .op = STR("NotIn")};
    line->values = (str_list){arena_array(mem, struct str, n), n};
    for (uint32_t i = 0; i < n; i++)
        line->values.at[i] = text(mem, "none-%u", i);
}

static struct label_selector *select_app(struct arena *mem, uint32_t i)
{
    struct label_selector *s = arena_array(mem, struct label_selector, 1);
    s->match_labels.at = arena_array(mem, struct pair, 1);
    s->match_labels.n = 1;
    s->match_labels.at[0] = (struct pair){STR("app"), text(mem, "a%u", i)};
    return s;
}

static void say_terms(struct pod *pod, uint32_t n, struct arena *mem)
{
    struct pod_affinity *anti = arena_array(mem, struct pod_affinity, 1);
    anti->preferred.at = arena_array(mem, struct preferred_pod_term, n);
    for (uint32_t i = 0; i < n; i++)
        anti->preferred.at[anti->preferred.n++] = (struct preferred_pod_term){
            .weight = 1,
            .term = {.topology_key = text(mem, "key-%u", i), .label_selector = select_app(mem, i)}};
    pod->spec.affinity = arena_array(mem, struct affinity, 1);
    pod->spec.affinity->anti = anti;
}

static void say_spread(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.spread.at = arena_array(mem, struct spread_constraint, n);
    for (uint32_t i = 0; i < n; i++)
        pod->spec.spread.at[pod->spec.spread.n++] =
            (struct spread_constraint){.max_skew = 100000,
                                       .topology_key = text(mem, "key-%u", i),
                                       .when_unsatisfiable = STR("DoNotSchedule"),
                                       .label_selector = select_app(mem, i)};
}

static void say_tolerations(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->spec.tolerations.at = arena_array(mem, struct toleration, n);
    for (uint32_t i = 0; i < n; i++)
        pod->spec.tolerations.at[pod->spec.tolerations.n++] =
            (struct toleration){.key = text(mem, "other-%u", i), .op = STR("Exists")};
}

static void say_ports(struct pod *pod, uint32_t n, struct arena *mem)
{
    struct container *c = &pod->spec.containers.at[0];
    c->ports.at = arena_array(mem, struct container_port, n);
    for (uint32_t i = 0; i < n; i++)
        c->ports.at[c->ports.n++] =
            (struct container_port){.host_port = (int32_t)(1000 + i), .protocol = STR("TCP")};
}

static void say_resources(struct pod *pod, uint32_t n, struct arena *mem)
{
    amount_list *r = &pod->spec.containers.at[0].resources.requests;
    uint32_t before = r->n;
    struct amount *at = arena_array(mem, struct amount, n);
    memcpy(at, r->at, before * sizeof(*at));
    for (uint32_t i = before; i < n; i++)
        at[i] = (struct amount){text(mem, "example.com/r%u", i), {.nano = 0}};
    *r = (amount_list){at, n};
}

static void say_labels(struct pod *pod, uint32_t n, struct arena *mem)
{
    pod->meta.labels = (pair_list){arena_array(mem, struct pair, n), n};
    for (uint32_t i = 0; i < n; i++)
        pod->meta.labels.at[i] = (struct pair){text(mem, "l%u", i), STR("v")};
}

static const struct {
    enum pod_limit limit;
    void (*say)(struct pod *pod, uint32_t n, struct arena *mem);
} sayings[] = {
    {LIMIT_REQUIREMENTS, say_lines},
    {LIMIT_VALUES, say_values},
    {LIMIT_TERMS, say_terms},
    {LIMIT_SPREAD, say_spread},
    {LIMIT_TOLERATIONS, say_tolerations},
    {LIMIT_PORTS, say_ports},
    {LIMIT_RESOURCES, say_resources},
    {LIMIT_LABELS, say_labels},
};

/* --- the cluster --- */

static void put_cluster(struct stage *s, struct clock *c)
{
    char line[8000];
    for (uint32_t i = 0; i < LOAD_NODES; i++) {
        int n = snprintf(line, sizeof(line), "node n%u cpu=64 memory=256Gi gpu=8 pods=500 zone=z%u",
                         i, i % 3);
        for (uint32_t k = 0; k < KEYS; k++)
            n += snprintf(line + n, sizeof(line) - (size_t)n, " label:key-%u=%u", k, i % (k + 1));
        if (i % 2)
            snprintf(line + n, sizeof(line) - (size_t)n, " taint:own-%u=v:NoSchedule", i);
        steps_put(s, c, "%s", line);
    }
    for (uint32_t i = 0; i < LOAD_PODS; i++)
        steps_put(s, c, "pod full%u cpu=1 gpu=1 on=n%u label:app=a%u", i, i % LOAD_NODES, i % KEYS);
}

TEST(steps, limits)
{
    AUTO(stage) s = {0};
    struct clock all = {0};
    put_cluster(&s, &all);
    steps_run(&s, &all);
    for (size_t i = 0; i < LEN(sayings); i++)
        for (int fits = 1; fits >= 0; fits--) {
            const struct limit *limit = &pod_limits[sayings[i].limit];
            struct arena mem = {0};
            char load[100], line[100];
            snprintf(load, sizeof(load), "5,000 nodes; 8 pods with %u %s that fit%s", limit->most,
                     limit->what, fits ? "" : " nowhere");
            struct clock c = {.load = load};
            for (int k = 0; k < 8; k++) {
                snprintf(line, sizeof(line), "pod p%zu-%d-%d cpu=%s scheduler=kubenexus-scheduler",
                         i, fits, k, fits ? "1" : "60");
                struct object o = object_of(&mem, line);
                sayings[i].say(o.pod, limit->most, &mem);
                steps_put_object(&s, &c, o);
            }
            steps_run(&s, &c);
            steps_say(&c);
            arena_done(&mem);
        }
}
