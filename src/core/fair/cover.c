/* What is covered, at each queue (R3), and what follows from it (R4, R5, R7). */

#include "core/fair/cover_inside.h"
#include "core/fair/ledger.h"

void fair_set_reclaim(struct fair *f, enum fair_reclaim how)
{
    f->reclaim = how;
    f->epoch++;
}

uint64_t fair_epoch(struct fair *f)
{
    settle(f);
    return f->epoch;
}

/* --- R9: what is guaranteed, and of what --- */

bool cover_counts(const struct fair *f, uint32_t resource)
{
    return f->reclaim == FAIR_BY_SHARE || f->is_guaranteed.at[resource];
}

static int64_t paid_for(struct fair *f, uint32_t queue, uint32_t resource)
{
    int64_t guarantee = guarantee_of(queue_at(f, queue), resource);
    return f->reclaim == FAIR_BY_SHARE ? MAX(guarantee, fair_entitled(f, queue, resource))
                                       : guarantee;
}

/* Q14 with that. */
static bool is_within(const struct fair_cover *c, uint32_t queue)
{
    bool is_any = false;
    for (uint32_t i = 0; i < c->u->ask.n; i++) {
        struct fair_amount a = c->u->ask.at[i];
        if (!cover_counts(c->f, a.resource))
            continue;
        is_any = true;
        if (sum_of(queue_at(c->f, queue)->cells[a.resource].used, a.amount) >
            paid_for(c->f, queue, a.resource))
            return false;
    }
    return is_any;
}

/* --- order --- */

static int by_rank(const void *a, const void *b)
{
    const struct fair_piece *x = ((const struct place *)a)->piece,
                            *y = ((const struct place *)b)->piece;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (x->is_beyond != y->is_beyond)
        return x->is_beyond ? 1 : -1;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? -1 : 1;
    if (x->placed != y->placed)
        return x->placed < y->placed ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* u is the newest minimum of its rank. */
static bool is_after_u(const struct fair_piece *p, const struct fair_piece *u)
{
    return p->rank < u->rank || (p->rank == u->rank && p->is_beyond);
}

/* --- R3 --- */

static bool is_covered(const struct fair_cover *c, struct fair_ask ask, uint32_t queue)
{
    const int64_t *sums = sums_at(c, queue);
    bool is_any = false;
    for (uint32_t i = 0; i < ask.n; i++) {
        uint32_t r = ask.at[i].resource;
        if (!cover_counts(c->f, r))
            continue;
        is_any = true;
        if (sum_of(sums[r], ask.at[i].amount) > paid_for(c->f, queue, r))
            return false;
    }
    return is_any;
}

static void cover(const struct fair_cover *c, struct fair_ask ask, uint32_t queue)
{
    int64_t *sums = sums_at(c, queue);
    for (uint32_t i = 0; i < ask.n; i++)
        if (cover_counts(c->f, ask.at[i].resource))
            sums[ask.at[i].resource] = sum_of(sums[ask.at[i].resource], ask.at[i].amount);
}

/* At which of the queues above it a piece would be covered; with `counted`, it is from now on. */
static uint16_t cover_piece(const struct fair_cover *c, const struct fair_piece *p, bool counted)
{
    uint16_t covered = 0;
    for (uint32_t at = fair_leaf(c->f, p->queue); at != FAIR_ROOT;
         at = queue_at(c->f, at)->parent) {
        if (!is_covered(c, p->ask, at))
            continue;
        covered |= bit_of(queue_at(c->f, at));
        if (counted)
            cover(c, p->ask, at);
    }
    return covered;
}

/* Beyond a minimum only where that is covered. */
static uint16_t cover_beyond(const struct fair_cover *c, const struct fair_piece *p,
                             uint16_t minimum)
{
    uint16_t covered = 0;
    for (uint32_t at = fair_leaf(c->f, p->queue); at != FAIR_ROOT;
         at = queue_at(c->f, at)->parent) {
        uint16_t bit = bit_of(queue_at(c->f, at));
        if (!(minimum & bit) || !is_covered(c, p->ask, at))
            continue;
        covered |= bit;
        cover(c, p->ask, at);
    }
    return covered;
}

/* All pieces but those that are gone, one after another; u at its place, counted if `has_started`.
 */
uint16_t cover_all(const struct fair_cover *c, const bool *gone, bool has_started,
                   uint16_t *covered)
{
    memset(c->sums, 0, (size_t)c->f->queues.n * c->f->stride * sizeof(*c->sums));
    uint16_t of_u = 0;
    bool is_u_due = true;
    for (uint32_t i = 0; i <= c->n; i++) {
        if (is_u_due && (i == c->n || is_after_u(c->order[i].piece, c->u))) {
            is_u_due = false;
            of_u = cover_piece(c, c->u, has_started);
        }
        if (i == c->n || (gone && gone[c->order[i].index]))
            continue;
        const struct fair_piece *p = c->order[i].piece;
        uint16_t *own = &covered[c->order[i].index];
        if (!p->is_beyond)
            *own = cover_piece(c, p, true);
        else if (p->minimum != FAIR_NONE)
            *own = cover_beyond(c, p, covered[p->minimum]);
    }
    return of_u;
}

struct fair_cover *fair_cover(struct fair *f, const struct fair_piece *pieces, uint32_t n,
                              const struct fair_piece *u, struct arena *mem)
{
    settle(f);
    struct fair_cover *c = arena_alloc(mem, sizeof(*c));
    *c = (struct fair_cover){.f = f, .pieces = pieces, .u = u, .n = n, .mem = mem};
    c->order = arena_array(mem, struct place, n);
    for (uint32_t i = 0; i < n; i++)
        c->order[i] = (struct place){&pieces[i], i};
    qsort(c->order, n, sizeof(*c->order), by_rank);
    c->sums = arena_array(mem, int64_t, (size_t)f->queues.n * f->stride);
    c->covered = arena_array(mem, uint16_t, n);
    c->u_covered = cover_all(c, NULL, false, c->covered);
    c->u_leaf = fair_leaf(f, u->queue);
    for (uint32_t at = c->u_leaf; at != FAIR_ROOT; at = queue_at(f, at)->parent)
        if (is_within(c, at))
            c->u_within |= bit_of(queue_at(f, at));
    return c;
}

/* --- R4, R5 --- */

bool fair_is_exposed(const struct fair_cover *c, uint32_t piece, uint32_t queue)
{
    return !(c->covered[piece] & bit_of(queue_at(c->f, queue)));
}

static uint32_t child_towards(const struct fair *f, uint32_t top, uint32_t queue)
{
    while (queue_at(f, queue)->parent != top)
        queue = queue_at(f, queue)->parent;
    return queue;
}

/* The depths from a queue's own up to another's. */
static uint16_t depths(const struct fair *f, uint32_t queue, uint32_t up_to)
{
    uint16_t bits = 0;
    for (uint32_t at = queue;; at = queue_at(f, at)->parent) {
        bits |= bit_of(queue_at(f, at));
        if (at == up_to)
            return bits;
    }
}

static enum fair_take take_other(const struct fair_cover *c, uint32_t piece, uint32_t leaf)
{
    if (c->f->reclaim == FAIR_NEVER)
        return FAIR_KEEP;
    uint32_t top = fair_common(c->f, leaf, c->u_leaf);
    if (top == leaf || top == c->u_leaf)
        return FAIR_KEEP; /* what is left at a queue that has children now */
    uint32_t a = child_towards(c->f, top, c->u_leaf), b = child_towards(c->f, top, leaf);
    bool is_within = c->u_within & bit_of(queue_at(c->f, a));
    return is_within && !(c->covered[piece] & depths(c->f, leaf, b)) ? FAIR_RECLAIM : FAIR_KEEP;
}

enum fair_take fair_take(const struct fair_cover *c, uint32_t piece)
{
    const struct fair_piece *p = &c->pieces[piece];
    uint32_t leaf = fair_leaf(c->f, p->queue);
    if (leaf != c->u_leaf)
        return take_other(c, piece, leaf);
    return p->rank < c->u->rank && !(c->covered[piece] & ~c->u_covered) ? FAIR_PRIORITY : FAIR_KEEP;
}

uint64_t fair_debt(const struct fair_cover *c, uint32_t piece)
{
    uint32_t leaf = fair_leaf(c->f, c->pieces[piece].queue),
             top = fair_common(c->f, leaf, c->u_leaf);
    if (top == leaf)
        return 0;
    const struct queue *b = queue_at(c->f, child_towards(c->f, top, leaf));
    unsigned __int128 debt =
        (unsigned __int128)share_of(c->f, b, c->u->ask) * 1000000000 / b->weight;
    return debt > UINT64_MAX ? UINT64_MAX : (uint64_t)debt;
}
