#include "property/truth.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/engine/explain.h"
#include "property/standing.h"

/* What a recount costs grows with what there is, and with how often it is made: it is made often in
 * the small clusters of stories, and every so manieth time in long histories. */
enum { LITTLE = 1024, OFTEN = 20000, PART = 256 };

static void fail(const char *call, const char *fault)
{
    fprintf(stderr, "after %s: %s\n", call, fault);
    abort();
}

static bool is_looked_at(const struct cluster *c)
{
    static uint64_t calls;
    uint64_t size = c->nodes.n * (uint64_t)(c->pods.rows.n + 1);
    calls++;
    return (size <= LITTLE && calls < OFTEN) || calls % PART == 0;
}

/* --- what a trial may not change --- */

static uint64_t hash_room(const struct cluster *c, uint32_t i)
{
    const struct room *room = &c->nodes.room[i];
    const struct node_gpus *gpus = c->nodes.gpus[i];
    uint64_t hash = hash_bytes(room, offsetof(struct room, cells)), cells = 0;
    for (uint32_t k = 0; room->cells && k < room->cells->n; k++) {
        const struct cell *cell = &room->cells->at[k];
        uint64_t sums = hash_pair((uint64_t)cell->used, (uint64_t)cell->alloc);
        cells += cell->used || cell->alloc ? hash_pair(sums, cell->resource) : 0;
    }
    if (gpus) {
        for (uint32_t k = 0; k < GPUS_MOST; k++)
            hash = gpus->used[k] ? hash_pair(hash, (uint64_t)gpus->used[k] << 8 | k) : hash;
        hash = hash_pair(hash, gpus->claimed);
    }
    hash = hash_pair(hash, (uint64_t)c->nodes.flags[i] << 32 | c->nodes.first_pod[i]);
    return hash_pair(hash, cells);
}

static uint64_t hash_row(const struct pod_row *row)
{
    uint64_t hash = hash_pair(row->node, row->nominated);
    if (row->node == ID_NONE)
        return hash;
    hash = hash_pair(hash, (uint64_t)row->before << 32 | row->after);
    return hash_pair(hash, (uint64_t)row->gpus << 32 | row->gpu_milli << 8 | row->zone);
}

/* Of those that were made by then: a trial may make others. */
static uint64_t hash_tallies(const struct cluster *c, uint64_t until)
{
    uint64_t hash = 0;
    vec_each(&c->counts.tallies, t)
        for (uint32_t i = 0; t->number && t->number <= until && i < c->nodes.n; i++) {
            int64_t pods =
                counts_on_node(&c->counts, (uint32_t)(t - c->counts.tallies.at), (node_id){i});
            hash += pods ? hash_pair(t->number, (uint64_t)pods << 32 | i) : 0;
        }
    return hash;
}

static uint64_t last_tally(const struct cluster *c)
{
    uint64_t last = 0;
    vec_each(&c->counts.tallies, t)
        last = MAX(last, t->number);
    return last;
}

static uint64_t hash_cluster(const struct cluster *c, uint64_t until)
{
    uint64_t hash = hash_pair(c->nodes.n, c->devices.promises.n);
    for (uint32_t i = 0; i < c->nodes.n; i++)
        hash = hash_pair(hash, hash_room(c, i));
    vec_each(&c->pods.rows, row)
        hash = row->text ? hash_pair(hash, hash_row(row)) : hash;
    vec_each(&c->nominations, n)
        hash = hash_pair(hash, (uint64_t)n->pod.i << 32 | n->node);
    vec_each(&c->priorities, p)
        hash = hash_pair(hash, (uint64_t)(uint32_t)p->priority << 32 | p->pods);
    return hash_pair(hash, hash_tallies(c, until));
}

/* --- transactions --- */

struct opened {
    const struct cluster *cluster;
    uint64_t last_tally, hash;
    bool is_looked_at;
};

static VEC(struct opened) opened;

struct txn __real_txn_begin(struct cluster *c);
void __real_txn_commit(struct cluster *c, struct txn t);
void __real_txn_undo(struct cluster *c, struct txn t);
struct txn __wrap_txn_begin(struct cluster *c);
void __wrap_txn_commit(struct cluster *c, struct txn t);
void __wrap_txn_undo(struct cluster *c, struct txn t);

struct txn __wrap_txn_begin(struct cluster *c)
{
    struct opened o = {.cluster = c, .is_looked_at = is_looked_at(c)};
    if (o.is_looked_at) {
        o.last_tally = last_tally(c);
        o.hash = hash_cluster(c, o.last_tally);
    }
    vec_push(&opened, o);
    return __real_txn_begin(c);
}

static struct opened close_last(const struct cluster *c)
{
    if (opened.n == 0 || vec_last(&opened).cluster != c)
        fail("a transaction", "it is not the last that began");
    struct opened o = vec_pop(&opened);
    if (opened.n == 0)
        vec_done(&opened);
    return o;
}

void __wrap_txn_commit(struct cluster *c, struct txn t)
{
    close_last(c);
    __real_txn_commit(c, t);
}

void __wrap_txn_undo(struct cluster *c, struct txn t)
{
    struct opened o = close_last(c);
    __real_txn_undo(c, t);
    if (o.is_looked_at && hash_cluster(c, o.last_tally) != o.hash)
        fail("txn_undo", "it left a trace");
}

/* --- explanations --- */

bool __real_engine_explain(struct engine *k, struct str namespace, struct str name,
                           struct explanation *out);
bool __wrap_engine_explain(struct engine *k, struct str namespace, struct str name,
                           struct explanation *out);

static uint64_t hash_engine(const struct engine *k, uint64_t until)
{
    uint64_t hash = hash_cluster(k->cluster, until);
    for (uint32_t i = 0; i < k->units.n; i++) {
        hash =
            hash_pair(hash, (uint64_t)queue_where(k->queue, i) << 32 | queue_attempts(k->queue, i));
        hash = hash_pair(hash, hash_bytes(&k->units.at[i].due_ms, sizeof(int64_t)));
        hash = hash_pair(hash, k->units.at[i].attempts);
    }
    vec_each(&k->reservations->all, b)
        vec_each(&b->slots, hold)
            hash = hash_pair(hash, (uint64_t)hold->pod << 32 | hold->user);
    vec_each(&k->lines->at, l)
        hash = hash_pair(hash, (uint64_t)l->head << 32 | l->order.n);
    hash = hash_pair(hash, hash_bytes(&k->figures->stats, sizeof(k->figures->stats)));
    hash = hash_pair(hash, k->last.effect);
    return hash_pair(hash, k->unsettled.n);
}

bool __wrap_engine_explain(struct engine *k, struct str namespace, struct str name,
                           struct explanation *out)
{
    engine_match_slots(k); /* who uses up which hold is worked out before, as with the next step */
    uint64_t last = last_tally(k->cluster), before = hash_engine(k, last);
    bool is_there = __real_engine_explain(k, namespace, name, out);
    if (hash_engine(k, last) != before)
        fail("engine_explain", "it left a trace");
    return is_there;
}

/* --- between two calls --- */

void truth_check(const struct engine *k, const char *call)
{
    if (!is_looked_at(k->cluster))
        return;
    const char *fault = standing_fault(k, false);
    if (fault)
        fail(call, fault);
}
