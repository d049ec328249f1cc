/* Whatever waits starts within one round of the event that lets it start. Units of our own profile,
 * pods and gangs with every kind of wish, live through random histories: nodes come, go, are
 * tainted, cordoned, labelled and grow; pods beside them come, end and change; volumes,
 * reservations and namespaces change; nobody waits for a clock. After each event, when the engine
 * has nothing more to do, an engine that sees the same for the first time must find nothing to
 * start either.
 *
 * Evictions are left out (every unit is as important as any other): they have gaps and timers of
 * their own, which test_gangs.c knows. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "property/world.h"
#include "support/objects.h"
#include "support/test.h"

enum { SEEDS = 400, OPERATIONS = 60, NODES = 5, UNITS = 5, MEMBERS = 4, FILLERS = 6, VOLUMES = 2 };

/* Numbers of the objects there may be, in the order in which an engine is told of them. */
enum {
    NODE_0,
    NAMESPACE = NODE_0 + NODES,
    VOLUME_0,
    CLAIM_0 = VOLUME_0 + VOLUMES,
    RESERVATION_NAME = CLAIM_0 + VOLUMES,
    FILLER_0,
    POD_0 = FILLER_0 + FILLERS,
    ITEMS = POD_0 + UNITS * MEMBERS,
};

struct item {
    char line[600];
    bool is_there;
};

/* What a pod may ask for beside room. */
enum longing {
    LONGS_DISK = 1 << 0,     /* a label of nodes */
    LONGS_TOLERATE = 1 << 1, /* one of the two taints */
    LONGS_PORT = 1 << 2,
    LONGS_APART = 1 << 3, /* from its own kind, by host */
    LONGS_ALONE = 1 << 4, /* from pods beside it */
    LONGS_NEAR = 1 << 5,  /* those, by zone */
    LONGS_SPREAD = 1 << 6,
    LONGS_RACK = 1 << 7, /* all of the gang in one */
    LONGS_CLAIM = 1 << 8,
    LONGS_TEAM = 1 << 9, /* near pods of namespaces with a label */
    LONGINGS = 10,
};

struct want {
    uint32_t members; /* 1: a pod on its own */
    uint32_t cpu[2], gpu, longings;
    bool tolerates_all;
    uint32_t node[MEMBERS]; /* + 1; 0: none */
    bool is_there[MEMBERS];
    uint32_t runs;
};

struct history {
    uint64_t seed, operation;
    struct rng rng;
    int64_t now_ms;
    struct item items[ITEMS];
    struct want wants[UNITS];
    struct profile profile;
    struct profile_plugin plugins[64];
    struct coscheduling_args gangs;
    struct engine *engine;
    struct effects effects;
    struct arena mem;
    uint64_t bound, checks;
    bool has_failed;
};

static uint32_t draw(struct history *h, uint32_t n)
{
    return (uint32_t)(rng_next(&h->rng) % n);
}

static bool is_tracing(void)
{
    return getenv("PROPERTY_TRACE");
}

/* --- what there is --- */

static void tell(struct history *h, struct engine *k, enum change_kind kind, const char *line)
{
    struct change change = {kind, object_of(&h->mem, line)};
    engine_apply(k, h->now_ms, &change);
    arena_reset(&h->mem);
}

static void put(struct history *h, uint32_t number, const char *fmt, ...) PRINTF(3, 4);
static void put(struct history *h, uint32_t number, const char *fmt, ...)
{
    struct item *t = &h->items[number];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->line, sizeof(t->line), fmt, args);
    va_end(args);
    assert(n < (int)sizeof(t->line));
    t->is_there = true;
    if (is_tracing())
        printf("# %" PRId64 " put %s\n", h->now_ms, t->line);
    tell(h, h->engine, CHANGE_PUT, t->line);
}

static void take_away(struct history *h, uint32_t number)
{
    struct item *t = &h->items[number];
    if (!t->is_there)
        return;
    t->is_there = false;
    if (is_tracing())
        printf("# %" PRId64 " remove %s\n", h->now_ms, t->line);
    tell(h, h->engine, CHANGE_REMOVE, t->line);
}

static void put_node(struct history *h, uint32_t i)
{
    static const char *const extras[] = {"",
                                         "",
                                         "",
                                         " cordoned",
                                         " taint:a=x:NoSchedule",
                                         " taint:b=x:NoSchedule",
                                         " taint:a=x:NoExecute"};
    char rack[24] = "";
    if (draw(h, 6))
        snprintf(rack, sizeof(rack), " label:rack=r%u", draw(h, 2));
    uint32_t cpu = 1 + draw(h, 4), gpu = draw(h, 3);
    const char *disk = draw(h, 2) ? " label:disk=ssd" : "";
    put(h, NODE_0 + i, "node n%u cpu=%u gpu=%u memory=64Gi zone=z%u%s%s%s", i, cpu, gpu, i % 2,
        rack, disk, extras[draw(h, LEN(extras))]);
}

static void put_filler(struct history *h, uint32_t i)
{
    uint32_t cpu = draw(h, 3), gpu = draw(h, 2), app = draw(h, 2), node = draw(h, NODES);
    put(h, FILLER_0 + i,
        "pod f%u uid=f%" PRIu64 " namespace=other cpu=%u gpu=%u label:app=%s on=n%u%s", i,
        h->operation, cpu, gpu, app ? "x" : "y", node, draw(h, 4) ? "" : " port:81");
}

static void put_pod(struct history *h, uint32_t u, uint32_t m)
{
    const struct want *w = &h->wants[u];
    char text[400] = "", on[24] = "";
    size_t n = 0;
    const char *const words[LONGINGS] = {"select:disk=ssd",
                                         "tolerate:a:Exists::",
                                         "port:80",
                                         "apart:host:unit=u#",
                                         "apart:host:app=x:in=other",
                                         "near:zone:app=y:in=other",
                                         "spread:zone:1:hard:unit=u#",
                                         "note:scheduling.kubenexus.io/required-topology=rack",
                                         "claim:c#",
                                         "near:zone:app=y:like=team=x"};
    for (uint32_t i = 0; i < LONGINGS; i++) {
        if (!(w->longings >> i & 1))
            continue;
        size_t at = n;
        n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", words[i]);
        char *number = strchr(text + at, '#');
        if (number)
            *number = (char)('0' + (1u << i == LONGS_CLAIM ? u % VOLUMES : u));
    }
    if (w->node[m])
        snprintf(on, sizeof(on), " on=n%u", w->node[m] - 1);
    char gang[32] = " scheduler=kubenexus-scheduler";
    if (w->members > 1)
        snprintf(gang, sizeof(gang), " gang=u%u:%u", u, w->members);
    put(h, POD_0 + u * MEMBERS + m,
        "pod u%u-%u uid=u%u-%u-%u label:unit=u%u cpu=%u gpu=%u created=%u preempts=Never%s%s%s%s",
        u, m, u, m, w->runs, u, w->cpu[m % 2], w->gpu, 100 + u, gang, text,
        w->tolerates_all ? " tolerate::Exists::" : "", on);
}

static void put_volume(struct history *h, uint32_t i)
{
    put(h, VOLUME_0 + i,
        "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v%u'},'spec':{"
        "'claimRef':{'namespace':'default','name':'c%u'},'nodeAffinity':{'required':{"
        "'nodeSelectorTerms':[{'matchExpressions':[{'key':'disk','operator':'%s','values':['ssd']}]"
        "}]}}},'status':{'phase':'Bound'}}",
        i, i, draw(h, 2) ? "In" : "NotIn");
}

static void put_claim(struct history *h, uint32_t i)
{
    put(h, CLAIM_0 + i,
        "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c%u','annotations':{"
        "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'v%u'},"
        "'status':{'phase':'Bound'}}",
        i, i);
}

static void put_reservation_info(struct history *h)
{
    uint32_t unit = draw(h, UNITS);
    put(h, RESERVATION_NAME,
        "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'ResourceReservation','metadata':{"
        "'name':'b','namespace':'default','uid':'b%" PRIu64 "'},'spec':{'podGroupName':'u%u',"
        "'reservations':{'one':{'cpu':'%u'}}}}",
        h->operation, unit, 1 + draw(h, 2));
}

static void put_namespace(struct history *h)
{
    put(h, NAMESPACE, "namespace other label:team=%s", draw(h, 2) ? "x" : "y");
}

/* --- engines --- */

static struct engine *start_engine(struct history *h, bool checks)
{
    struct engine_config config = {.rules = {.profiles = &h->profile, .n_profiles = 1},
                                   .checks_views = checks,
                                   .no_views = !checks,
                                   .publishes = true};
    struct engine *k = engine_new(&config);
    for (uint32_t i = 0; i < ITEMS; i++)
        if (h->items[i].is_there)
            tell(h, k, CHANGE_PUT, h->items[i].line);
    return k;
}

static void take_binding(struct history *h, effect_id id, uint32_t u, uint32_t m, uint32_t node)
{
    if (is_tracing())
        printf("# %" PRId64 " bind u%u-%u to n%u\n", h->now_ms, u, m, node);
    h->bound++;
    h->wants[u].node[m] = node + 1;
    engine_settle(h->engine, h->now_ms, id, NULL);
    put_pod(h, u, m);
}

static void decide(struct history *h)
{
    bool has_moved = true;
    while (has_moved) {
        has_moved = false;
        effects_clear(&h->effects);
        while (engine_step(h->engine, h->now_ms, &h->effects))
            continue;
        for (uint32_t i = 0; i < h->effects.list.n; i++) {
            const struct effect e = h->effects.list.at[i];
            if (is_tracing() && e.kind == EFFECT_REFUSE)
                printf("# %" PRId64 " refuse " STR_FMT ": " STR_FMT "\n", h->now_ms, STR_ARG(e.pod),
                       STR_ARG(e.message));
            if (e.kind != EFFECT_BIND)
                continue;
            has_moved = true;
            take_binding(h, e.id, (uint32_t)(e.pod.p[1] - '0'), (uint32_t)(e.pod.p[3] - '0'),
                         (uint32_t)(e.node.p[1] - '0'));
        }
    }
}

/* Where the pod's unit is, and who refused it. */
static void say_where(const struct history *h, struct str name)
{
    static const char *const places[] = {"nowhere", "active", "backing off", "parked", "in flight"};
    const struct engine *k = h->engine;
    pod_id pod = pods_find(&k->cluster->pods, names_find(&k->cluster->names, STR("default")), name);
    uint32_t group = engine_gang_of(k, pod), unit = pod.i;
    if (group != ID_NONE && k->gangs->all.at[group].leader != ID_NONE)
        unit = k->gangs->all.at[group].leader;
    printf("#    %s%s, refused by", places[queue_where(k->queue, unit)],
           queue_gate(k->queue, unit) ? " (gated)" : "");
    for (uint32_t i = 0; i < n_plugins; i++)
        if (queue_rejectors(k->queue, unit) >> i & 1)
            printf(" %s", plugins[i]->name);
    printf("\n");
}

/* Would somebody start who waits? (Where room is held is a matter of when it was reserved.) */
static void check(struct history *h)
{
    if (h->items[RESERVATION_NAME].is_there)
        return;
    struct engine *k = start_engine(h, false);
    struct effects effects = {0};
    h->checks++;
    while (engine_step(k, h->now_ms, &effects))
        continue;
    vec_each(&effects.list, e) {
        if (e->kind != EFFECT_BIND || h->has_failed)
            continue;
        printf("# seed %" PRIu64 ", operation %" PRIu64 ": " STR_FMT
               " waits and could start on " STR_FMT "\n",
               h->seed, h->operation, STR_ARG(e->pod), STR_ARG(e->node));
        h->has_failed = true;
        say_where(h, e->pod);
    }
    effects_done(&effects);
    engine_free(k);
}

/* --- events --- */

static void change_unit(struct history *h, uint32_t u)
{
    struct want *w = &h->wants[u];
    uint32_t m = draw(h, w->members);
    bool is_running = w->node[m];
    if (!w->is_there[m] || is_running) { /* they go together, and come together */
        for (uint32_t i = 0; i < w->members; i++)
            take_away(h, POD_0 + u * MEMBERS + i);
        memset(w->node, 0, sizeof(w->node));
        w->runs++;
        for (uint32_t i = 0; i < w->members; i++) {
            w->is_there[i] = true;
            put_pod(h, u, i);
        }
    } else if (!w->tolerates_all && draw(h, 4) == 0) {
        w->tolerates_all = true;
        for (uint32_t i = 0; i < w->members; i++)
            put_pod(h, u, i);
    }
}

static void change_pods_beside(struct history *h)
{
    uint32_t i = draw(h, FILLERS);
    struct item *t = &h->items[FILLER_0 + i];
    if (!t->is_there)
        put_filler(h, i);
    else if (draw(h, 4))
        take_away(h, FILLER_0 + i);
    else { /* another label */
        char *app = strstr(t->line, "app=");
        char line[600];
        app[4] = app[4] == 'x' ? 'y' : 'x';
        snprintf(line, sizeof(line), "%s", t->line);
        put(h, FILLER_0 + i, "%s", line);
    }
}

static void change_storage(struct history *h)
{
    uint32_t i = draw(h, VOLUMES);
    bool is_claim = draw(h, 2);
    uint32_t number = (is_claim ? CLAIM_0 : VOLUME_0) + i;
    if (draw(h, 3) == 0)
        take_away(h, number);
    else if (is_claim)
        put_claim(h, i);
    else
        put_volume(h, i);
}

static void operate(struct history *h)
{
    uint32_t what = draw(h, 100), i = draw(h, NODES);
    if (what < 40)
        draw(h, 6) ? put_node(h, i) : take_away(h, NODE_0 + i);
    else if (what < 60)
        change_pods_beside(h);
    else if (what < 78)
        change_unit(h, draw(h, UNITS));
    else if (what < 88)
        change_storage(h);
    else if (what < 92)
        draw(h, 2) ? put_reservation_info(h) : take_away(h, RESERVATION_NAME);
    else if (what < 95)
        put_namespace(h);
    else
        h->now_ms += draw(h, 3000);
}

static void begin(struct history *h)
{
    const struct profile *own = built_in_profiles;
    while (!str_equal(own->name, STR("kubenexus-scheduler")))
        own++;
    h->gangs = COSCHEDULING_DEFAULTS;
    h->gangs.starve_ms = INT64_MAX / 4; /* what starving gangs keep is a state of the engine … */
    h->gangs.repair_ms = 0;             /* … as is what is kept for lost members */
    memcpy(h->plugins, own->plugins, own->n * sizeof(*own->plugins));
    for (uint32_t i = 0; i < own->n; i++)
        if (h->plugins[i].plugin->gangs)
            h->plugins[i].args = &h->gangs;
    h->profile = (struct profile){own->name, h->plugins, own->n};
    for (uint32_t u = 0; u < UNITS; u++) {
        struct want *w = &h->wants[u];
        *w = (struct want){.members = draw(h, 3) ? 2 + draw(h, MEMBERS - 1) : 1,
                           .cpu = {1 + draw(h, 2), 1 + draw(h, 2)},
                           .gpu = draw(h, 2)};
        if (draw(h, 3)) /* one kind of member: whether it fits is no matter of luck */
            w->cpu[1] = w->cpu[0];
        for (uint32_t i = 0; i < 2; i++)
            w->longings |= 1u << draw(h, LONGINGS);
        w->longings &= draw(h, 4) ? UINT32_MAX : 0;
        if (w->members == 1)
            w->longings &= ~(uint32_t)LONGS_RACK;
    }
    h->engine = start_engine(h, h->seed % 2);
}

static void history_done(struct history *h)
{
    engine_free(h->engine);
    effects_done(&h->effects);
    arena_done(&h->mem);
}

static bool live(uint64_t seed, uint64_t operations)
{
    AUTO(history) h = {.seed = seed, .rng = rng_seeded(seed), .now_ms = 1000000};
    begin(&h);
    for (; h.operation < operations && !h.has_failed; h.operation++) {
        operate(&h);
        decide(&h);
        check(&h);
    }
    if (getenv("PROPERTY_COUNTS"))
        printf("# seed %" PRIu64 ": %" PRIu64 " bound\n", seed, h.bound);
    return EXPECT(!h.has_failed);
}

TEST(property, who_waits_starts_with_the_event_that_lets_it)
{
    uint64_t first = property_number("PROPERTY_SEED", 1);
    uint64_t seeds = property_number("PROPERTY_SEEDS", SEEDS);
    uint64_t operations = property_number("PROPERTY_OPERATIONS", OPERATIONS);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!live(seed, operations))
            return;
}
