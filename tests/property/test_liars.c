/* Tenants who lie. In the namespace of a liar pods say whatever they like: every label and
 * annotation that anybody reads, with values of every kind. Beside them live the pods of another
 * namespace, in two engines that are told the same but for the lies: in one the liar's pods say
 * nothing.
 *
 * - If the liar's pods never start, or run where others bound them, nothing differs for the
 *   neighbour: the same pods start on the same nodes in the same order, and who waits is told the
 *   same.
 * - If they take part, the neighbour may well get other nodes. But no text that reaches its
 *   namespace has a name from the liar's; and where the neighbour's pods are more important, none
 * of them waits for room that is held for the liar. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/engine/step/step.h"
#include "core/model/gang.h"
#include "core/model/our_keys.h"
#include "core/plugins/plugins.h"
#include "property/world.h"
#include "support/objects.h"
#include "support/test.h"

enum {
    HISTORIES = 150,
    OPERATIONS = 60,
    NODES = 4,
    HONEST = 8,
    LIARS = 8,
    LIES_MOST = 6,
    LINE = 2000,
};

/* In every name of the liar's. */
#define MARK "zorro"

enum part { NEVER_STARTS, RUNS, TAKES_PART, PARTS };

/* An engine, and what has become of the neighbour's pods in it. */
struct side {
    struct engine *engine;
    struct effects effects;
    uint32_t node[HONEST]; /* + 1; 0: none */
    uint32_t liars[LIARS]; /* the same of the liar's */
    char *told[HONEST];    /* what the pod heard last; owned */
    uint64_t bound, hash;  /* how many of the neighbour's; which, where, in which order */
};

struct history {
    uint64_t seed, operation;
    struct rng rng;
    enum part part;
    int64_t now_ms;
    struct engine_config config;
    struct side sides[2]; /* who hears no lies, and who does */
    struct honest {
        bool is_there, is_gang;
        uint32_t run, gpus, priority, group;
        int64_t created_s;
    } honest[HONEST];
    struct liar {
        bool is_there;
        uint32_t run, gpus, node;
        int64_t created_s;
        char lies[LINE];
    } liars[LIARS];
    struct arena mem;
    bool has_failed;
    uint64_t compared;
};

static uint32_t draw(struct history *h, uint32_t n)
{
    return (uint32_t)rng_below(&h->rng, n);
}

static bool is_tracing(void)
{
    return getenv("PROPERTY_TRACE");
}

static void fail(struct history *h, const char *what)
{
    if (!h->has_failed)
        printf("# seed %" PRIu64 ", operation %" PRIu64 ", part %d: %s\n", h->seed, h->operation,
               h->part, what);
    h->has_failed = true;
}

/* --- lies --- */

/* That nobody of ours owns, and others read. */
static const char *const foreign_keys[] = {
    "spark-app-id",
    "spark-app-selector",
    "app.kubernetes.io/instance",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "training.kubeflow.org/replica-index",
    "kubernetes.io/config.mirror",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "controller.kubernetes.io/pod-deletion-cost",
    "volcano.sh/preemptable",
};

static const char *const values[] = {
    "true",       "false",       "gold",
    "bronze",     "production",  "high-priority",
    "isolated",   "1",           "2",
    "3",          "100",         "-1",
    "0.5",        "1h",          "1ms",
    "8Gi",        "b-0",         "g0",
    MARK "-g0",   MARK "-app",   "training",
    "driver",     "auto",        "zone",
    "single",     "restricted",  "nvlink",
    "0,1,2,3",    "x=y",         "999999",
    "{\"a\":[]}", "best-effort", "kubernetes.io/hostname",
    "shared",
};

/* What is asked for is no lie, in whatever words. */
static bool is_a_request(struct str key)
{
    return str_equal(key, STR("scheduling.kubenexus.io/gpu-fraction")) ||
           str_equal(key, STR("scheduling.kubenexus.io/gpu-memory"));
}

static struct str draw_key(struct history *h)
{
    for (;;) {
        uint32_t all = n_our_keys + n_gang_keys + n_pod_keys + (uint32_t)LEN(foreign_keys);
        uint32_t i = draw(h, all);
        if (i < n_our_keys && !(our_keys[i].on & ON_POD))
            continue;
        if (i < n_our_keys)
            return our_keys[i].text;
        i -= n_our_keys;
        if (i < n_gang_keys)
            return gang_keys[i].key;
        i -= n_gang_keys;
        return i < n_pod_keys ? pod_keys[i].text : str_of(foreign_keys[i - n_pod_keys]);
    }
}

static size_t add_lie(struct history *h, struct liar *l, size_t n)
{
    struct str key = draw_key(h);
    bool is_label = draw(h, 2);
    const char *value = values[draw(h, LEN(values))];
    if (is_a_request(key))
        return n;
    return n + (size_t)snprintf(l->lies + n, LINE - n, " %s:" STR_FMT "=%s",
                                is_label ? "label" : "note", STR_ARG(key), value);
}

/* One that takes several words: that it is a driver whose workers will come, or in a gang. */
static size_t add_tale(struct history *h, struct liar *l, size_t n)
{
    if (draw(h, 2))
        return n + (size_t)snprintf(l->lies + n, LINE - n,
                                    " label:spark-app-id=" MARK "-%u "
                                    "note:kubenexus.io/executor-count=%u "
                                    "note:kubenexus.io/executor-gpu=%u",
                                    draw(h, 2), 1 + draw(h, 8), 1 + draw(h, 4));
    return n + (size_t)snprintf(l->lies + n, LINE - n, " gang=" MARK "-%u:%u", draw(h, 2),
                                1 + draw(h, 3));
}

static void draw_lies(struct history *h, struct liar *l)
{
    size_t n = 0;
    l->lies[0] = '\0';
    if (draw(h, 2))
        n = add_tale(h, l, n);
    for (uint32_t i = 1 + draw(h, LIES_MOST); i > 0; i--)
        n = add_lie(h, l, n);
    assert(n < LINE);
}

/* --- what there is --- */

static void tell(struct history *h, uint32_t side, enum change_kind kind, const char *line)
{
    struct change change = {kind, object_of(&h->mem, line)};
    if (is_tracing())
        printf("# %" PRId64 " %u %s %s\n", h->now_ms, side, kind == CHANGE_PUT ? "put" : "remove",
               line);
    engine_apply(h->sides[side].engine, h->now_ms, &change);
    arena_reset(&h->mem);
}

static void add_place(char *line, uint32_t node)
{
    size_t n = strlen(line);
    if (node)
        snprintf(line + n, LINE - n, " on=n%u phase=Running", node - 1);
}

static void put_honest(struct history *h, uint32_t side, uint32_t i)
{
    const struct honest *p = &h->honest[i];
    char line[LINE];
    int n = snprintf(line, sizeof(line),
                     "pod b-%u uid=b-%u-%u namespace=b gpu=%u priority=%u created=%" PRId64 " %s",
                     i, i, p->run, p->gpus, p->priority, p->created_s,
                     h->part == TAKES_PART ? "" : "preempts=Never ");
    if (!p->is_gang)
        snprintf(line + n, sizeof(line) - (size_t)n, "scheduler=kubenexus-scheduler");
    else if (p->group)
        snprintf(line + n, sizeof(line) - (size_t)n,
                 "scheduler=kubenexus-scheduler label:scheduling.x-k8s.io/pod-group=g1");
    else
        snprintf(line + n, sizeof(line) - (size_t)n, "gang=g0:2");
    add_place(line, h->sides[side].node[i]);
    tell(h, side, CHANGE_PUT, line);
}

static void put_liar(struct history *h, uint32_t side, uint32_t i)
{
    const struct liar *p = &h->liars[i];
    char line[LINE];
    snprintf(line, sizeof(line),
             "pod " MARK "-%u uid=" MARK "-%u-%u namespace=" MARK " gpu=%u created=%" PRId64
             " scheduler=kubenexus-scheduler%s%s",
             i, i, p->run, p->gpus, p->created_s, h->part == NEVER_STARTS ? " select:no=where" : "",
             side ? p->lies : "");
    add_place(line, h->sides[side].liars[i]);
    tell(h, side, CHANGE_PUT, line);
}

static void remove_honest(struct history *h, uint32_t side, uint32_t i)
{
    char line[64];
    snprintf(line, sizeof(line), "pod b-%u namespace=b", i);
    h->sides[side].node[i] = 0;
    mem_free(h->sides[side].told[i]);
    h->sides[side].told[i] = NULL;
    tell(h, side, CHANGE_REMOVE, line);
}

static void remove_liar(struct history *h, uint32_t side, uint32_t i)
{
    char line[64];
    snprintf(line, sizeof(line), "pod " MARK "-%u namespace=" MARK, i);
    h->sides[side].liars[i] = 0;
    tell(h, side, CHANGE_REMOVE, line);
}

/* --- what becomes of it --- */

static bool has_mark(struct str text)
{
    for (size_t i = 0; i + strlen(MARK) <= text.n; i++)
        if (memcmp(text.p + i, MARK, strlen(MARK)) == 0)
            return true;
    return false;
}

/* No word of the liar's names reaches the neighbour. */
static void read_texts(struct history *h, const struct effect *e)
{
    bool has = has_mark(e->message) || has_mark(e->by_scheduler) || has_mark(e->node);
    bool is_theirs = str_equal(e->namespace, STR("b"));
    list_each(&e->annotations, a)
        has |= has_mark(a->key) || has_mark(a->value);
    if (e->kind == EFFECT_PUBLISH || e->kind == EFFECT_WRITE) {
        is_theirs = str_equal(e->write.namespace, STR("b"));
        for (uint32_t i = 0; i < e->write.n_patches; i++)
            has |= has_mark(e->write.patches[i].meta) || has_mark(e->write.patches[i].body);
    }
    if (!is_theirs || !has)
        return;
    printf("# the neighbour reads: " STR_FMT "\n", STR_ARG(e->message));
    fail(h, "a name reaches another namespace");
}

static void keep_told(struct side *s, uint32_t i, struct str text)
{
    mem_free(s->told[i]);
    s->told[i] = mem_alloc(text.n + 1);
    memcpy(s->told[i], text.p, text.n);
}

static uint32_t number_in(struct str name)
{
    return (uint32_t)(name.p[name.n - 1] - '0');
}

static void take_binding(struct history *h, uint32_t side, const struct effect *e)
{
    struct side *s = &h->sides[side];
    uint32_t i = number_in(e->pod), node = number_in(e->node);
    engine_settle(s->engine, h->now_ms, e->id, NULL);
    if (!str_equal(e->namespace, STR("b"))) {
        s->liars[i] = node + 1;
        put_liar(h, side, i);
        return;
    }
    s->node[i] = node + 1;
    s->bound++;
    s->hash = hash_pair(hash_pair(s->hash, i), node);
    put_honest(h, side, i);
}

static void take_eviction(struct history *h, uint32_t side, const struct effect *e)
{
    uint32_t i = number_in(e->pod);
    engine_settle(h->sides[side].engine, h->now_ms, e->id, NULL);
    if (str_equal(e->namespace, STR("b")))
        remove_honest(h, side, i);
    else
        remove_liar(h, side, i);
}

static bool take_effect(struct history *h, uint32_t side, const struct effect *e)
{
    bool is_theirs = str_equal(e->namespace, STR("b"));
    if (is_tracing() && e->kind != EFFECT_PUBLISH)
        printf("# %" PRId64 " %u effect %d " STR_FMT " " STR_FMT " " STR_FMT "\n", h->now_ms, side,
               e->kind, STR_ARG(e->pod), STR_ARG(e->node), STR_ARG(e->message));
    read_texts(h, e);
    if (e->kind == EFFECT_BIND)
        take_binding(h, side, e);
    else if (e->kind == EFFECT_EVICT)
        take_eviction(h, side, e);
    else if (is_theirs && (e->kind == EFFECT_REFUSE || e->kind == EFFECT_FAIL))
        keep_told(&h->sides[side], number_in(e->pod), e->message);
    return e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT;
}

static void decide(struct history *h, uint32_t side)
{
    struct side *s = &h->sides[side];
    bool has_moved = true;
    for (int turns = 0; has_moved && turns < 1000; turns++) {
        has_moved = false;
        effects_clear(&s->effects);
        while (engine_step(s->engine, h->now_ms, &s->effects))
            continue;
        for (uint32_t i = 0; i < s->effects.list.n; i++) {
            const struct effect e = s->effects.list.at[i];
            has_moved |= take_effect(h, side, &e);
        }
    }
    if (has_moved)
        fail(h, "an engine does not come to rest");
}

/* --- what must hold --- */

static void compare_starts(struct history *h)
{
    const struct side *plain = &h->sides[0], *lied = &h->sides[1];
    if (plain->bound != lied->bound || plain->hash != lied->hash)
        fail(h, "lies change who starts, where or in which order");
}

static void compare_texts(struct history *h)
{
    const struct side *plain = &h->sides[0], *lied = &h->sides[1];
    for (uint32_t i = 0; i < HONEST && !h->has_failed; i++) {
        const char *a = plain->told[i] ? plain->told[i] : "";
        const char *b = lied->told[i] ? lied->told[i] : "";
        if (!h->honest[i].is_there || plain->node[i] || !strcmp(a, b))
            continue;
        printf("# b-%u hears\n#   %s\n# and with lies\n#   %s\n", i, a, b);
        fail(h, "lies change what somebody is told");
    }
}

/* The unit that the pod waits with; ID_NONE: it does not. */
static uint32_t unit_of(const struct engine *k, const char *namespace, const char *name)
{
    const struct cluster *c = k->cluster;
    pod_id pod = pods_find(&c->pods, names_find(&c->names, str_of(namespace)), str_of(name));
    if (pod.i == ID_NONE)
        return ID_NONE;
    uint32_t group = engine_gang_of(k, pod);
    uint32_t unit = group == ID_NONE ? pod.i : k->gangs->all.at[group].leader;
    return unit == ID_NONE || queue_where(k->queue, unit) == QUEUE_NOWHERE ? ID_NONE : unit;
}

/* A liar goes before somebody else only if it would without its lies. */
static void check_order(struct history *h)
{
    char liar[16], honest[16];
    for (uint32_t i = 0; i < LIARS; i++)
        for (uint32_t j = 0; j < HONEST; j++) {
            bool is_before[2] = {false};
            snprintf(liar, sizeof(liar), MARK "-%u", i);
            snprintf(honest, sizeof(honest), "b-%u", j);
            for (uint32_t side = 0; side < 2; side++) {
                const struct engine *k = h->sides[side].engine;
                uint32_t a = unit_of(k, MARK, liar), b = unit_of(k, "b", honest);
                is_before[side] = a != ID_NONE && b != ID_NONE && engine_before(k, a, b);
                h->compared += a != ID_NONE && b != ID_NONE;
            }
            if (is_before[1] && !is_before[0])
                fail(h, "lies get somebody a better place in the queue");
        }
}

/* Who is more important than all that the liar has does not wait for what is held for it. */
static void check_important(struct history *h)
{
    for (uint32_t i = 0; i < HONEST; i++) {
        const char *told = h->sides[1].told[i];
        bool waits = h->honest[i].is_there && !h->sides[1].node[i] && told;
        if (waits && h->honest[i].priority && strstr(told, "is kept for another namespace"))
            fail(h, "an important pod waits for room that a liar holds");
    }
}

/* --- what happens --- */

static void change_honest(struct history *h)
{
    uint32_t i = draw(h, HONEST);
    struct honest *p = &h->honest[i];
    bool was_there = p->is_there, is_gang = draw(h, 2), group = draw(h, 2);
    *p = (struct honest){.is_there = !was_there,
                         .is_gang = is_gang,
                         .run = p->run + 1,
                         .gpus = 1 + draw(h, 4),
                         .priority = (is_gang ? group : draw(h, 3) == 0) ? 1000 : 0,
                         .group = group,
                         .created_s = h->now_ms / 1000};
    for (uint32_t side = 0; side < 2; side++)
        was_there ? remove_honest(h, side, i) : put_honest(h, side, i);
}

static void change_liar(struct history *h)
{
    uint32_t i = draw(h, LIARS);
    struct liar *p = &h->liars[i];
    bool stays = p->is_there && draw(h, 2), was_there = p->is_there;
    draw_lies(h, p);
    if (!stays) {
        p->is_there = !was_there;
        p->run++;
        p->gpus = 1 + draw(h, 4);
        p->created_s = h->now_ms / 1000;
    }
    for (uint32_t side = 0; side < 2; side++) {
        if (!stays && !was_there && h->part == RUNS)
            h->sides[side].liars[i] = 1 + i % NODES;
        p->is_there ? put_liar(h, side, i) : remove_liar(h, side, i);
    }
}

static void operate(struct history *h)
{
    uint32_t what = draw(h, 100);
    if (what < 40)
        change_honest(h);
    else if (what < 80)
        change_liar(h);
    else
        h->now_ms += draw(h, 4) ? draw(h, 20000) : 70000;
}

/* --- a history --- */

struct setup {
    struct profile profile;
    struct profile_plugin plugins[64];
    struct coscheduling_args gangs;
    struct line_args line;
};

static void configure(struct history *h, struct setup *setup)
{
    const struct profile *own = built_in_profiles;
    uint32_t n = 0, number = 0;
    while (!str_equal(own->name, STR("kubenexus-scheduler")))
        own++;
    setup->gangs = COSCHEDULING_DEFAULTS;
    if (h->part == RUNS) { /* what is held for those to come is another matter: test_slots.c */
        setup->gangs.names_holders = true;
        setup->gangs.repair_ms = 0;
    }
    for (; n < own->n; n++) {
        setup->plugins[n] = own->plugins[n];
        if (setup->plugins[n].plugin->gangs)
            setup->plugins[n].args = &setup->gangs;
    }
    while (!plugins[number]->keeps_line)
        number++;
    setup->line = LINE_DEFAULTS;
    if (h->part != RUNS && draw(h, 3) == 0)
        setup->plugins[n++] = (struct profile_plugin){plugins[number], number, 0, &setup->line, 0};
    setup->profile = (struct profile){own->name, setup->plugins, n};
    h->config = (struct engine_config){.rules = {.profiles = &setup->profile, .n_profiles = 1},
                                       .publishes = true};
}

static void tell_surroundings(struct history *h, uint32_t side)
{
    for (uint32_t i = 0; i < NODES; i++) {
        char line[64];
        snprintf(line, sizeof(line), "node n%u cpu=32 memory=64Gi gpu=4", i);
        tell(h, side, CHANGE_PUT, line);
    }
    tell(h, side, CHANGE_PUT, "namespace " MARK " label:tenant.kubenexus.io/tier=bronze");
    tell(h, side, CHANGE_PUT,
         "{'apiVersion':'scheduling.x-k8s.io/v1alpha1','kind':'PodGroup','metadata':{"
         "'name':'g1','namespace':'b'},'spec':{'minMember':2}}");
}

static void begin(struct history *h, struct setup *setup)
{
    configure(h, setup);
    for (uint32_t side = 0; side < 2; side++) {
        h->sides[side].engine = engine_new(&h->config);
        tell_surroundings(h, side);
    }
}

/* Who waits hears anew what is so now: before, it depends on when it was asked last. */
static void restart(struct history *h)
{
    for (uint32_t side = 0; side < 2; side++) {
        struct side *s = &h->sides[side];
        engine_free(s->engine);
        s->engine = engine_new(&h->config);
        tell_surroundings(h, side);
        for (uint32_t i = 0; i < LIARS; i++)
            if (h->liars[i].is_there)
                put_liar(h, side, i);
        for (uint32_t i = 0; i < HONEST; i++) {
            mem_free(s->told[i]);
            s->told[i] = NULL;
            if (h->honest[i].is_there)
                put_honest(h, side, i);
        }
        decide(h, side);
    }
    h->now_ms += 11000; /* for those who lack members */
    decide(h, 0);
    decide(h, 1);
    if (h->part != TAKES_PART) {
        compare_starts(h);
        compare_texts(h);
    }
}

static void history_done(struct history *h)
{
    for (uint32_t side = 0; side < 2; side++) {
        struct side *s = &h->sides[side];
        engine_free(s->engine);
        effects_done(&s->effects);
        for (uint32_t i = 0; i < HONEST; i++)
            mem_free(s->told[i]);
    }
    arena_done(&h->mem);
}

/* What all histories of a test have seen. */
struct sights {
    uint64_t bound, compared;
};

static bool live(uint64_t seed, uint64_t operations, enum part part, struct sights *seen)
{
    enum { LIFE = 20 };
    struct setup setup;
    AUTO(history) h = {.seed = seed, .rng = rng_seeded(seed), .part = part, .now_ms = 1000000};
    begin(&h, &setup);
    for (; h.operation < operations && !h.has_failed; h.operation++) {
        operate(&h);
        decide(&h, 0);
        decide(&h, 1);
        part == TAKES_PART ? check_important(&h) : compare_starts(&h);
        if (part == NEVER_STARTS)
            check_order(&h);
        if (h.operation % LIFE == LIFE - 1)
            restart(&h);
    }
    seen->bound += h.sides[1].bound;
    seen->compared += h.compared;
    return EXPECT(!h.has_failed);
}

static struct sights try_part(enum part part)
{
    uint64_t first = property_number("PROPERTY_SEED", 1);
    uint64_t seeds = property_number("PROPERTY_SEEDS", HISTORIES);
    uint64_t operations = property_number("PROPERTY_OPERATIONS", OPERATIONS);
    struct sights seen = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!live(seed, operations, part, &seen))
            return seen;
    EXPECT(seen.bound > seeds * operations / 20);
    return seen;
}

TEST(property, what_pods_say_that_never_start_changes_nothing_for_others)
{
    struct sights seen = try_part(NEVER_STARTS);
    EXPECT(seen.compared > seen.bound);
}

TEST(property, what_pods_say_that_run_changes_nothing_for_others)
{
    try_part(RUNS);
}

TEST(property, liars_hold_nothing_from_who_is_more_important_and_nobody_hears_their_names)
{
    try_part(TAKES_PART);
}
