/* Between begin and undo nothing happened.
 *
 * A world lives on; now and then a tree of nested transactions is grown in its engine's cluster and
 * taken back: pods placed and taken, nodes changed, added and removed, numbers claimed for new
 * names, pods nominated, volumes taken, while views decide on what they see in the middle of it and
 * are compared with a scan each time. After an undo the cluster is what it was, byte for byte, and
 * views still say what a scan says. A commit changes nothing by itself. */

#include <inttypes.h>

#include "core/base/hash.h"
#include "core/cluster/read.h"
#include "property/recount.h"
#include "property/world.h"
#include "support/test.h"

enum { SEEDS = 3, OPERATIONS = 12000, DEEPEST = 5, CHANGES = 12 };

struct trial {
    struct world *w;
    struct engine *k;
    struct cluster *c;
    struct rng rng;
    struct arena mem; /* of the rows that are put */
    uint32_t depth;
    uint64_t changes, undone, decisions;
};

static void dump(const struct trial *t, struct buf *out)
{
    buf_clear(out);
    cluster_dump(t->c, out);
}

static void expect_same(struct trial *t, const struct buf *was, const char *when)
{
    AUTO(buf) is = {0};
    dump(t, &is);
    if (!str_equal(buf_str(was), buf_str(&is))) {
        size_t at = 0;
        while (at < was->n && at < is.n && was->p[at] == is.p[at])
            at++;
        while (at > 0 && was->p[at - 1] != '\n')
            at--;
        world_fail(t->w, "%s at depth %u: was %.60s …, is %.60s …", when, t->depth, was->p + at,
                   is.p + at);
    }
}

/* A random pod that is on a node, or on none; ID_NONE if it is not easily found. */
static pod_id any_pod(struct trial *t, bool is_placed)
{
    for (uint32_t i = 0; i < 20 && t->c->pods.rows.n; i++) {
        pod_id pod = {(uint32_t)rng_below(&t->rng, t->c->pods.rows.n)};
        const struct pod_row *row = pods_at(&t->c->pods, pod);
        if (row->text && (row->node != ID_NONE) == is_placed)
            return pod;
    }
    return (pod_id){ID_NONE};
}

static node_id any_node(struct trial *t)
{
    for (uint32_t i = 0; i < 20 && t->c->nodes.n; i++) {
        node_id node = {(uint32_t)rng_below(&t->rng, t->c->nodes.n)};
        if (t->c->nodes.flags[node.i])
            return node;
    }
    return (node_id){ID_NONE};
}

/* --- changes --- */

static void place(struct trial *t)
{
    pod_id pod = any_pod(t, false);
    node_id node = any_node(t);
    if (pod.i == ID_NONE || node.i == ID_NONE)
        return;
    cluster_nominate(t->c, pod, SYM_NONE);
    cluster_place(t->c, pod, node);
}

static void take(struct trial *t)
{
    pod_id pod = any_pod(t, true);
    if (pod.i != ID_NONE)
        cluster_take(t->c, pod);
}

static void put(struct trial *t, node_id node)
{
    struct node_plan plan = {
        .number = (uint32_t)rng_below(&t->rng, GEN_NODES),
        .labels = rng_next(&t->rng),
        .taints = rng_next(&t->rng),
        .alloc = rng_next(&t->rng),
        .images = rng_next(&t->rng),
        .is_cordoned = chance(&t->rng, 4),
    };
    struct node_row row = read_node(t->c, gen_node(&t->mem, &plan), &t->mem);
    if (chance(&t->rng, 4))
        row = NODE_ROW_ABSENT;
    cluster_put_node(t->c, node, &row);
}

static void change_node(struct trial *t)
{
    node_id node = any_node(t);
    if (node.i != ID_NONE)
        put(t, node);
}

static void claim(struct trial *t)
{
    struct str name = arena_printf(&t->mem, "x%u", (uint32_t)rng_below(&t->rng, 100));
    node_id node = cluster_claim(t->c, names_get(&t->c->names, name));
    if (chance(&t->rng, 2))
        put(t, node);
}

static void nominate(struct trial *t)
{
    pod_id pod = any_pod(t, false);
    node_id node = any_node(t);
    if (pod.i == ID_NONE || node.i == ID_NONE)
        return;
    sym name = chance(&t->rng, 3)   ? SYM_NONE
               : chance(&t->rng, 3) ? names_get(&t->c->names, STR("nobody"))
                                    : t->c->nodes.name[node.i];
    cluster_nominate(t->c, pod, name);
}

static void assume(struct trial *t)
{
    struct things *volumes = &t->c->volumes.of[THING_VOLUME];
    uint32_t i = (uint32_t)rng_below(&t->rng, volumes->at.n);
    struct volume_facts facts;
    if (volumes->at.at[i].facts == ID_NONE)
        return;
    memcpy(&facts, things_facts(volumes, i), sizeof(facts));
    facts.claim_namespace = t->c->empty;
    facts.claim_name =
        names_get(&t->c->names, arena_printf(&t->mem, "c%u", (uint32_t)rng_below(&t->rng, 3)));
    uint32_t assumed = volumes_facts(t->c, THING_VOLUME, &facts);
    cluster_assume(t->c, THING_VOLUME, i, chance(&t->rng, 4) ? ID_NONE : assumed);
}

/* A view reads the log, uncommitted changes included; the engine compares it with a scan. */
static void decide(struct trial *t)
{
    pod_id pod = any_pod(t, false);
    if (pod.i == ID_NONE)
        return;
    struct class *class = classes_of(&t->k->classes, pods_at(&t->c->pods, pod)->shape);
    if (!class || class->error.n)
        return;
    engine_decide(t->k, pod, class);
    t->decisions++;
}

static void (*const changes[])(struct trial *) = {
    place, place, place, take, take, change_node, change_node, claim, nominate, assume, decide,
};

/* --- trials --- */

static void grow(struct trial *t)
{
    AUTO(buf) was = {0};
    dump(t, &was);
    uint64_t log_end = t->c->log.end, decisions = t->decisions;
    uint32_t numbers = t->c->nodes.n;
    struct txn txn = txn_begin(t->c);
    t->depth++;
    for (uint64_t n = rng_below(&t->rng, CHANGES); n > 0; n--) {
        if (t->depth < DEEPEST && chance(&t->rng, 5))
            grow(t);
        changes[rng_below(&t->rng, LEN(changes))](t);
        t->changes++;
        t->w->work++;
    }
    if (t->depth > 1 && chance(&t->rng, 3)) { /* the outermost is always taken back */
        AUTO(buf) changed = {0};
        dump(t, &changed);
        txn_commit(t->c, txn);
        expect_same(t, &changed, "commit");
    } else {
        txn_undo(t->c, txn);
        t->undone++;
        expect_same(t, &was, "undo");
        if (t->c->nodes.n != numbers)
            world_fail(t->w, "%u numbers of nodes instead of %u", t->c->nodes.n, numbers);
        if (decisions == t->decisions && t->c->log.end != log_end)
            world_fail(t->w, "an undone trial that nobody saw is in the log");
    }
    t->depth--;
}

/* Classes are made, and count their pods, outside of transactions. */
static void know_all_classes(struct trial *t)
{
    for (uint32_t i = 0; i < t->c->pods.rows.n; i++)
        if (t->c->pods.rows.at[i].text)
            classes_of(&t->k->classes, t->c->pods.rows.at[i].shape);
}

static void try(struct trial *t)
{
    t->rng = rng_seeded(hash_pair(t->w->seed + 1, t->w->operation));
    t->w->doing = "transactions";
    arena_reset(&t->mem);
    know_all_classes(t);
    for (uint32_t i = 0; i < 8; i++)
        decide(t);
    grow(t);
    for (uint32_t i = 0; i < 8; i++)
        decide(t);
    recount(t->w, t->k);
}

static void add_volumes(struct trial *t)
{
    for (int i = 0; i < 4; i++) {
        struct persistent_volume v = {.meta.name = arena_printf(&t->mem, "own-%d", i)};
        struct object object = {.kind = KIND_PERSISTENT_VOLUME, .persistent_volume = &v};
        engine_apply(t->k, 0, &(struct change){CHANGE_PUT, object});
    }
}

static void run(uint64_t seed, uint64_t operations)
{
    struct world *w = mem_alloc(sizeof(*w));
    world_init(w, seed);
    world_add_engine(w, (struct engine_config){.checks_views = true});
    struct trial t = {.w = w, .k = w->engines[0], .c = w->engines[0]->cluster};
    add_volumes(&t);
    for (; w->work < operations && !w->has_failed; w->operation++) {
        world_operate(w);
        w->work++;
        if (w->operation % 4 == 0 && w->operation > 50)
            try(&t);
    }
    printf("# seed %" PRIu64 ": %" PRIu64 " operations, %" PRIu64
           " changes in transactions, %" PRIu64 " undone, %" PRIu64
           " decisions around and inside\n",
           seed, w->operation, t.changes, t.undone, t.decisions);
    EXPECT(!w->has_failed);
    EXPECT(t.changes > 0 && t.undone > 0 && t.decisions > 0);
    arena_done(&t.mem);
    world_done(w);
    mem_free(w);
}

TEST(property, an_undone_transaction_leaves_no_trace)
{
    uint64_t first = property_number("PROPERTY_SEED", 1);
    uint64_t seeds = property_number("PROPERTY_SEEDS", SEEDS);
    uint64_t operations = property_number("PROPERTY_OPERATIONS", OPERATIONS);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        run(seed, operations);
}
