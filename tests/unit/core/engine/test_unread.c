/* Pods that run, and of which not all can be read, or which say more than a pod may say: what they
 * take of their node is what it would be if they could. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* What pods on a node ask for, in many ways. */
static const char *const asks[] = {
    "cpu=1500m memory=3Gi storage=1Gi gpu=2",
    "cpu=1 init cpu=3 memory=1Gi sidecar cpu=2 gpu=1",
    "cpu=1 overhead:cpu=250m overhead:memory=64Mi",
    "cpu=1 and cpu=2 total:cpu=5 total:memory=2Gi",
    "cpu=1 actual:cpu=4 actual:memory=1Gi",
    "example.com/fpga=3 hugepages-2Mi=4Mi",
    "cpu=1 port:80 port:127.0.0.1:81/UDP",
    "cpu=1 disk:gce:d",
    "cpu=1 label:app=a apart:host:app=a",
};

/* Makes of a pod one that is not as we can read it. */
struct spoil {
    const char *what;
    void (*fn)(struct pod *pod, struct arena *mem);
};

static void gate(struct pod *pod, struct arena *mem)
{
    pod->spec.gates.n = 1000;
    pod->spec.gates.at = arena_array(mem, struct scheduling_gate, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        pod->spec.gates.at[i].name = arena_printf(mem, "g%u", i);
}

static void tolerate(struct pod *pod, struct arena *mem)
{
    pod->spec.tolerations.n = 1000;
    pod->spec.tolerations.at = arena_array(mem, struct toleration, 1000);
}

static void spread(struct pod *pod, struct arena *mem)
{
    pod->spec.spread.n = 1000;
    pod->spec.spread.at = arena_array(mem, struct spread_constraint, 1000);
}

static void name_resources(struct pod *pod, struct arena *mem)
{
    struct resource_requirements *r = &pod->spec.containers.at[0].resources;
    amount_list all = {arena_array(mem, struct amount, 1000 + r->requests.n), 1000};
    for (uint32_t i = 0; i < 1000; i++)
        all.at[i] = (struct amount){arena_printf(mem, "example.com/a%u", i), {.nano = 1000000000}};
    list_each(&r->requests, a)
        all.at[all.n++] = *a;
    r->requests = all;
}

static void claim(struct pod *pod, struct arena *mem)
{
    pod->spec.resource_claims.n = 1000;
    pod->spec.resource_claims.at = arena_array(mem, struct resource_claim_ref, 1000);
}

static void unread(struct pod *pod, struct arena *mem)
{
    (void)mem;
    pod->unread = STR("spec.tolerations[0].operator: \"Near\" is not one of …");
}

static const struct spoil spoils[] = {
    {"gates", gate},         {"tolerations", tolerate},
    {"constraints", spread}, {"resources", name_resources},
    {"claims", claim},       {"unread", unread},
};

static void put(struct stage *s, const char *ask, const struct spoil *spoil)
{
    struct arena mem = {0};
    char line[500];
    snprintf(line, sizeof(line), "pod p on=n1 scheduler=another %s", ask);
    struct object o = object_of(&mem, line);
    if (spoil)
        spoil->fn(o.pod, &mem);
    struct change change = {CHANGE_PUT, o};
    engine_apply(s->engine, s->now_ms, &change);
    arena_done(&mem);
}

#define NODE                                                                                       \
    "node n1 cpu=64 memory=256Gi storage=100Gi gpu=8 example.com/fpga=8 hugepages-2Mi=1Gi zone=z"

/* What is used of everything; and who else fits. */
static void look(struct stage *s, struct buf *out)
{
    static const char *const rivals[] = {"cpu=1 port:80", "cpu=1 port:127.0.0.1:81/UDP",
                                         "cpu=1 disk:gce:d", "cpu=1 label:app=a"};
    const struct cluster *c = s->engine->cluster;
    node_id n1 = nodes_find(&c->nodes, names_find(&c->names, STR("n1")));
    const struct room *room = &c->nodes.room[n1.i];
    buf_printf(out, "cpu %lld memory %lld pods %d", (long long)room->cpu_used,
               (long long)room->memory_used, room->pods_used);
    for (uint32_t i = 0; i < room->cells->n; i++)
        if (room->cells->at[i].alloc)
            buf_printf(out, " " STR_FMT " %lld",
                       STR_ARG(names_text(
                           &c->names, c->specs.resources.names.at[room->cells->at[i].resource])),
                       (long long)room->cells->at[i].used);
    for (size_t i = 0; i < LEN(rivals); i++) {
        char name[20];
        snprintf(name, sizeof(name), "rival%zu", i);
        stage_put(s, "pod %s %s", name, rivals[i]);
        stage_run(s);
        buf_printf(out, " %s", stage_fate(s, name));
        stage_remove(s, "pod %s", name);
    }
}

static void compare(const char *ask, const struct spoil *spoil)
{
    AUTO(buf) is = {0}, should_be = {0};
    AUTO(stage) whole = {0}, part = {0};
    stage_put(&whole, NODE);
    stage_put(&part, NODE);
    put(&whole, ask, NULL);
    put(&part, ask, spoil);
    look(&whole, &should_be);
    look(&part, &is);
    test_case("%s, %s", ask, spoil->what);
    buf_add_char(&should_be, '\0');
    EXPECT_STR(buf_str(&is), should_be.p);
}

TEST(unread, what_a_pod_takes_counts_whatever_else_it_says)
{
    for (size_t i = 0; i < LEN(asks); i++)
        for (size_t k = 0; k < LEN(spoils); k++) {
            bool is_about_terms = strstr(asks[i], "apart:") && spoils[k].fn == unread;
            if (!is_about_terms) /* they may be what could not be read */
                compare(asks[i], &spoils[k]);
        }
}

TEST(unread, a_pod_counts_for_gpus_that_its_node_has_later)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n0 cpu=1");
    put(&s, "gpu=8", &spoils[3]);
    stage_put(&s, NODE);
    stage_put(&s, "pod q gpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "parked");
}

TEST(unread, a_pod_is_scheduled_by_nobody_and_told_why)
{
    AUTO(stage) s = {0};
    stage_put(&s, NODE);
    struct object o = object_of(&s.mem, "pod p cpu=1");
    unread(o.pod, &s.mem);
    struct change change = {CHANGE_PUT, o};
    engine_apply(s.engine, s.now_ms, &change);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    EXPECT_STR(stage_effect(&s, "p")->message,
               "cannot be read in full: spec.tolerations[0].operator: "
               "\"Near\" is not one of …");
}
