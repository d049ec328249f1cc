/* Who borrows, lends and is entitled to what (L1-L3): of each resource alone, in integers. */

#include "core/fair/ledger.h"

#include "core/fair/inside.h"

/* --- entitled --- */

static int64_t *demand_at(struct fair *f, uint32_t queue)
{
    return f->demand.at + (size_t)queue * f->stride;
}

static int64_t *entitled_at(struct fair *f, uint32_t queue)
{
    return f->entitled.at + (size_t)queue * f->stride;
}

/* A sum of asks that left the integers is more than anybody has. */
static int64_t wanted(const struct cell *c)
{
    return c->waiting < 0 ? INT64_MAX : sum_of(c->used, c->waiting);
}

/* What the queue and its own lanes want; an inner queue, what its children do, and the pods that are
 * left at it. */
static void find_demand(struct fair *f)
{
    for (uint32_t i = f->top_down.n; i-- > 0;) {
        const struct queue *q = queue_at(f, f->top_down.at[i]);
        int64_t *demand = demand_at(f, f->top_down.at[i]);
        for (uint32_t r = 0; r < f->capacity.n; r++) {
            bool is_there =
                q->kind != QUEUE_PHANTOM; /* who waits in one that is not, waits for it */
            int64_t all = is_there ? wanted(&q->cells[r]) : q->cells[r].used;
            int64_t own = q->cells[r].waiting;
            bool is_inner = false;
            vec_each(&q->children, child) {
                const struct cell *c = &queue_at(f, *child)->cells[r];
                int64_t over = wanted(c) - demand_at(f, *child)[r];
                all -= MIN(over, all);
                own = wrap_sub(own, c->waiting);
                is_inner |= queue_at(f, *child)->kind != QUEUE_PART;
            }
            if (is_inner) /* who waits there waits in no leaf */
                all -= MIN(own, all);
            demand[r] = MIN(all, q->cells[r].max);
        }
    }
}

/* A child that wants more than its base, in a division. */
struct want {
    uint32_t queue, weight;
    int64_t more;
};

static int64_t part_of(int64_t rest, uint32_t weight, uint64_t weights)
{
    return (int64_t)((__int128)rest * weight / (int64_t)weights);
}

/* Those that want no more than their part get what they want, and the others share again. */
static void divide(struct fair *f, struct want *wants, uint32_t n, int64_t rest, uint32_t r)
{
    for (bool is_any = true; n && is_any;) {
        uint64_t weights = 0;
        for (uint32_t i = 0; i < n; i++)
            weights += wants[i].weight;
        int64_t given = 0;
        uint32_t left = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (wants[i].more <= part_of(rest, wants[i].weight, weights)) {
                entitled_at(f, wants[i].queue)[r] += wants[i].more;
                given += wants[i].more;
            } else {
                wants[left++] = wants[i];
            }
        }
        is_any = left < n;
        n = left;
        if (is_any) {
            rest -= given;
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            entitled_at(f, wants[i].queue)[r] += part_of(rest, wants[i].weight, weights);
    }
}

static void entitle_children(struct fair *f, uint32_t number, uint32_t r, struct want *wants)
{
    const struct queue *q = queue_at(f, number);
    int64_t rest = entitled_at(f, number)[r];
    uint32_t n = 0;
    vec_each(&q->children, child) {
        const struct queue *c = queue_at(f, *child);
        int64_t demand = demand_at(f, *child)[r], base = MIN(c->cells[r].effective, demand);
        rest -= MAX(base, c->cells[r].kept);
        entitled_at(f, *child)[r] = base;
        if (demand > base)
            wants[n++] = (struct want){*child, c->weight, demand - base};
    }
    divide(f, wants, n, MAX(0, rest), r);
}

static void entitle(struct fair *f)
{
    settle(f);
    if (!f->is_entitled_stale)
        return;
    f->is_entitled_stale = false;
    vec_resize(&f->demand, f->queues.n * f->stride);
    vec_resize(&f->entitled, f->queues.n * f->stride);
    find_demand(f);
    for (uint32_t r = 0; r < f->capacity.n; r++)
        entitled_at(f, FAIR_ROOT)[r] = f->capacity.at[r];
    struct want *wants = mem_alloc(f->queues.n * sizeof(*wants));
    vec_each(&f->top_down, number)
        for (uint32_t r = 0; r < f->capacity.n; r++)
            entitle_children(f, *number, r, wants);
    mem_free(wants);
}

int64_t fair_entitled(struct fair *f, uint32_t queue, uint32_t resource)
{
    entitle(f);
    assert(is_in_tree(queue_at(f, queue)) && resource < f->capacity.n);
    return entitled_at(f, queue)[resource];
}

/* --- borrowed and lent --- */

static int by_name(const void *a, const void *b, void *ctx)
{
    const struct fair_row *x = a, *y = b;
    return str_compare(fair_name(ctx, x->queue), fair_name(ctx, y->queue));
}

static int64_t idle_of(const struct fair_row *row)
{
    return MAX(0, row->guaranteed - row->used);
}

/* The most idle first, then by name; rows are in order of names. */
static int by_idle(const void *a, const void *b)
{
    const struct fair_row *x = *(struct fair_row *const *)a, *y = *(struct fair_row *const *)b;
    if (idle_of(x) != idle_of(y))
        return idle_of(x) > idle_of(y) ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void lend(struct fair_row *rows, uint32_t n, int64_t rest)
{
    int64_t idle = 0, left = rest;
    for (uint32_t i = 0; i < n; i++)
        idle = sum_of(idle, idle_of(&rows[i]));
    struct fair_row **order = mem_alloc(n * sizeof(*order));
    for (uint32_t i = 0; i < n; i++) {
        order[i] = &rows[i];
        rows[i].lent = idle ? (int64_t)((__int128)rest * idle_of(&rows[i]) / idle) : 0;
        left -= rows[i].lent;
    }
    qsort(order, n, sizeof(struct fair_row *), by_idle);
    for (uint32_t i = 0; i < n && left > 0; i++) {
        int64_t more = MIN(left, idle_of(order[i]) - order[i]->lent);
        order[i]->lent += more;
        left -= more;
    }
    mem_free(order);
}

int64_t fair_rows(struct fair *f, uint32_t parent, uint32_t resource, struct fair_row *rows)
{
    entitle(f);
    const struct queue *q = queue_at(f, parent);
    int64_t borrowed = 0, used = 0, effective = 0;
    uint32_t n = 0;
    vec_each(&q->children, child) {
        const struct cell *c = &queue_at(f, *child)->cells[resource];
        rows[n++] = (struct fair_row){
            .queue = *child,
            .guaranteed = c->effective,
            .entitled = entitled_at(f, *child)[resource],
            .max = c->max,
            .used = c->used,
            .borrowed = MAX(0, c->used - c->effective),
            .waiting = c->waiting,
        };
        borrowed += MAX(0, c->used - c->effective);
        used += c->used;
        effective += c->effective;
    }
    if (n == 0)
        return 0;
    qsort_r(rows, n, sizeof(*rows), by_name, f);
    int64_t room = MAX(q->cells[resource].effective, used);
    int64_t commons = MIN(borrowed, MAX(0, room - effective));
    lend(rows, n, borrowed - commons);
    return commons;
}
