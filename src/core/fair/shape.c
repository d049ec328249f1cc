/* The tree as it hangs together (2.7), and what is guaranteed in it (Q10-Q13, Q15).
 *
 * When the shape changes, what was summed over subtrees is first taken apart again: each queue keeps
 * what is its own, hangs where it belongs now, and all is summed anew. */

#include "core/fair/inside.h"

/* --- sums, apart and together --- */

static void add_cells(struct queue *to, const struct queue *from, uint32_t n, int sign)
{
    for (uint32_t r = 0; r < n; r++) {
        to->cells[r].used = wrap_add(to->cells[r].used, sign * from->cells[r].used);
        to->cells[r].waiting = wrap_add(to->cells[r].waiting, sign * from->cells[r].waiting);
    }
    to->jobs += (uint32_t)sign * from->jobs;
    to->n_waiting += (uint32_t)sign * from->n_waiting;
}

/* From the top: what a child still holds of its subtree is what its parent has of it. */
static void take_apart(struct fair *f)
{
    vec_each(&f->top_down, number) {
        struct queue *q = queue_at(f, *number);
        vec_each(&q->children, child)
            add_cells(q, queue_at(f, *child), f->capacity.n, -1);
    }
}

static void put_together(struct fair *f)
{
    for (uint32_t i = f->top_down.n; i-- > 1;) {
        const struct queue *q = queue_at(f, f->top_down.at[i]);
        add_cells(queue_at(f, q->parent), q, f->capacity.n, 1);
    }
}

/* --- who hangs where --- */

static void find_parent(struct fair *f, struct queue *q)
{
    q->state = q->kind == QUEUE_PHANTOM ? FAIR_PHANTOM : FAIR_ACTIVE;
    q->parent = FAIR_ROOT;
    if (q->invalid) {
        q->state = FAIR_INVALID;
    } else if (q->parent_name && q->parent_name[0]) {
        uint32_t parent = fair_find(f, str_of(q->parent_name));
        bool is_there = parent != FAIR_NONE && queue_at(f, parent)->kind == QUEUE_OBJECT;
        q->parent = is_there ? parent : FAIR_ROOT;
        if (!is_there && q->state == FAIR_ACTIVE)
            q->state = FAIR_PARENT_MISSING;
    }
}

static int by_name(const void *a, const void *b, void *ctx)
{
    struct fair *f = ctx;
    return str_compare(fair_name(f, *(const uint32_t *)a), fair_name(f, *(const uint32_t *)b));
}

/* The last by name of too many objects. */
static void refuse_too_many(struct fair *f)
{
    VEC(uint32_t) objects = {0};
    for (uint32_t q = 0; q < f->queues.n; q++)
        if (f->queues.at[q]->kind == QUEUE_OBJECT)
            vec_push(&objects, q);
    qsort_r(objects.at, objects.n, sizeof(*objects.at), by_name, f);
    for (uint32_t i = FAIR_QUEUES_MOST; i < objects.n; i++) {
        queue_at(f, objects.at[i])->state = FAIR_TOO_MANY;
        queue_at(f, objects.at[i])->parent = FAIR_ROOT;
    }
    vec_done(&objects);
}

static void hang_at_root(struct queue *q, enum fair_state state)
{
    q->parent = FAIR_ROOT;
    if (q->state == FAIR_ACTIVE)
        q->state = state;
}

/* `seen`, by queue: on which walk up it was met first, 0: on none. A walk that meets itself has
 * found a cycle; one that meets what hangs below a cycle hangs there, too. */
static void cut_cycles(struct fair *f, uint32_t *seen)
{
    for (uint32_t start = 1; start < f->queues.n; start++) {
        if (!is_in_tree(f->queues.at[start]))
            continue;
        uint32_t walk = start, at = start;
        for (; at != FAIR_ROOT && !seen[at]; at = queue_at(f, at)->parent)
            seen[at] = walk;
        bool is_below = at != FAIR_ROOT && queue_at(f, at)->state == FAIR_PARENT_CYCLE;
        bool is_found = at != FAIR_ROOT && !is_below && seen[at] == walk;
        if (!is_found && !is_below)
            continue;
        for (uint32_t q = start; q != at; q = queue_at(f, q)->parent)
            if (queue_at(f, q)->state == FAIR_ACTIVE)
                queue_at(f, q)->state = FAIR_PARENT_CYCLE;
        while (is_found && queue_at(f, at)->parent != FAIR_ROOT) {
            struct queue *q = queue_at(f, at);
            at = q->parent;
            hang_at_root(q, FAIR_PARENT_CYCLE);
        }
    }
}

/* `depth`, by queue, of the tree as it is written; 0: not known yet. */
static uint32_t written_depth(struct fair *f, uint32_t *depth, uint32_t start)
{
    uint32_t steps = 0, at = start;
    for (; at != FAIR_ROOT && !depth[at]; at = queue_at(f, at)->parent)
        steps++;
    uint32_t deepest = (at == FAIR_ROOT ? 0 : depth[at]) + steps;
    at = start;
    for (uint32_t d = deepest; at != FAIR_ROOT && !depth[at]; d--, at = queue_at(f, at)->parent)
        depth[at] = d;
    return deepest;
}

static void cut_depth(struct fair *f, uint32_t *depth)
{
    for (uint32_t q = 1; q < f->queues.n; q++)
        if (is_in_tree(f->queues.at[q]) && f->queues.at[q]->kind != QUEUE_PART)
            written_depth(f, depth, q);
    for (uint32_t q = 1; q < f->queues.n; q++)
        if (depth[q] > FAIR_DEPTH_MOST)
            hang_at_root(f->queues.at[q], FAIR_TOO_DEEP);
}

static void find_parents(struct fair *f)
{
    for (uint32_t q = 1; q < f->queues.n; q++)
        if (is_in_tree(f->queues.at[q]) && f->queues.at[q]->kind != QUEUE_PART)
            find_parent(f, f->queues.at[q]);
    if (f->n_objects > FAIR_QUEUES_MOST)
        refuse_too_many(f);
    uint32_t *scratch = mem_alloc(f->queues.n * sizeof(*scratch));
    cut_cycles(f, scratch);
    memset(scratch, 0, f->queues.n * sizeof(*scratch));
    cut_depth(f, scratch);
    mem_free(scratch);
}

static void place_child(struct fair *f, uint32_t parent, uint32_t queue)
{
    struct queue *above = queue_at(f, parent), *q = queue_at(f, queue);
    q->parent = parent;
    q->slot = above->children.n;
    q->depth = above->depth + 1;
    assert(q->depth <= FAIR_DEPTH_MOST + (q->kind == QUEUE_PART));
    vec_push(&above->children, queue);
}

static void hang_up(struct fair *f)
{
    for (uint32_t q = 0; q < f->queues.n; q++)
        vec_clear(&f->queues.at[q]->children);
    for (uint32_t q = 1; q < f->queues.n; q++)
        if (is_in_tree(f->queues.at[q]))
            vec_push(&queue_at(f, f->queues.at[q]->parent)->children, q);
    vec_clear(&f->top_down);
    vec_push(&f->top_down, FAIR_ROOT);
    for (uint32_t i = 0; i < f->top_down.n; i++) {
        struct queue *q = queue_at(f, f->top_down.at[i]);
        uint32_t n = q->children.n;
        vec_clear(&q->children);
        for (uint32_t c = 0; c < n; c++) {
            uint32_t child = q->children.at[c];
            place_child(f, f->top_down.at[i], child);
            vec_push(&f->top_down, child);
        }
    }
}

/* --- limits and guarantees --- */

static void set_max(struct fair *f, struct queue *q)
{
    struct fair_ask max =
        q->kind == QUEUE_PART ? queue_at(f, q->parent)->limits.each_max : q->limits.max;
    for (uint32_t r = 0; r < f->stride; r++)
        q->cells[r].max = FAIR_NO_LIMIT;
    for (uint32_t i = 0; i < max.n; i++)
        q->cells[max.at[i].resource].max = max.at[i].amount;
}

static void find_gamma(struct fair *f)
{
    if (f->is_guaranteed.n)
        memset(f->is_guaranteed.at, 0, f->is_guaranteed.n * sizeof(*f->is_guaranteed.at));
    f->is_gamma_empty = true;
    f->limits_jobs = false;
    vec_each(&f->top_down, number) {
        const struct queue *q = queue_at(f, *number);
        f->limits_jobs |= q->max_jobs >= 0 || q->each_max_jobs >= 0;
        struct fair_ask g = q->limits.guaranteed;
        for (uint32_t i = 0; i < g.n; i++) {
            if (g.at[i].amount <= 0)
                continue;
            f->is_guaranteed.at[g.at[i].resource] = true;
            f->is_gamma_empty = false;
        }
    }
}

static void find_asked(struct fair *f)
{
    uint32_t stride = f->stride, n = f->capacity.n;
    vec_resize(&f->asked, f->queues.n * stride);
    if (f->asked.n)
        memset(f->asked.at, 0, f->asked.n * sizeof(*f->asked.at));
    for (uint32_t i = f->top_down.n; i-- > 1;) {
        uint32_t number = f->top_down.at[i];
        const struct queue *q = queue_at(f, number);
        int64_t *own = f->asked.at + (size_t)number * stride,
                *above = f->asked.at + (size_t)q->parent * stride;
        for (uint32_t g = 0; g < q->limits.guaranteed.n; g++) {
            struct fair_amount a = q->limits.guaranteed.at[g];
            own[a.resource] = MAX(own[a.resource], a.amount);
        }
        for (uint32_t r = 0; r < n; r++)
            above[r] = sum_of(above[r], own[r]);
    }
}

static int64_t part_of(int64_t asked, int64_t room, int64_t sum)
{
    return sum <= room ? asked : (int64_t)((__int128)asked * room / sum);
}

/* What a queue's children are guaranteed of it. */
static void back_children(struct fair *f, const struct queue *q, uint32_t r)
{
    int64_t room = q->cells[r].effective, sum = 0;
    vec_each(&q->children, child)
        sum = sum_of(sum, f->asked.at[(size_t)*child * f->stride + r]);
    vec_each(&q->children, child) {
        struct queue *c = queue_at(f, *child);
        struct cell *cell = &c->cells[r];
        int64_t backed = part_of(f->asked.at[(size_t)*child * f->stride + r], room, sum);
        cell->effective = MIN(backed, cell->max);
        int64_t lend = ask_amount(c->limits.lend, r, -1);
        cell->kept = lend < 0 ? 0 : MAX(0, cell->effective - lend);
    }
}

static void charge_all(struct fair *f)
{
    for (uint32_t i = 0; i < f->top_down.n; i++) {
        struct queue *q = queue_at(f, f->top_down.at[i]);
        for (uint32_t r = 0; r < f->capacity.n; r++)
            q->cells[r].below = q->cells[r].used;
    }
    for (uint32_t i = f->top_down.n; i-- > 1;) {
        const struct queue *q = queue_at(f, f->top_down.at[i]);
        struct cell *above = queue_at(f, q->parent)->cells;
        for (uint32_t r = 0; r < f->capacity.n; r++)
            above[r].below = wrap_add(above[r].below, charge_of(&q->cells[r]) - q->cells[r].used);
    }
}

static void guarantee(struct fair *f)
{
    find_gamma(f);
    find_asked(f);
    struct queue *root = queue_at(f, FAIR_ROOT);
    for (uint32_t r = 0; r < f->capacity.n; r++)
        root->cells[r].effective = f->capacity.at[r];
    vec_each(&f->top_down, number)
        for (uint32_t r = 0; r < f->capacity.n; r++)
            back_children(f, queue_at(f, *number), r);
    charge_all(f);
}

/* --- all of it --- */

static void reshape(struct fair *f)
{
    past_note_all(f);
    turns_forget(f);
    take_apart(f);
    find_parents(f);
    hang_up(f);
    put_together(f);
    vec_each(&f->top_down, number)
        set_max(f, queue_at(f, *number));
}

/* Capacity that came back to what it was, as after a trial, changes nothing. */
static bool is_capacity_new(struct fair *f)
{
    uint32_t n = f->capacity.n;
    size_t size = n * sizeof(*f->capacity.at);
    if (f->settled.n == n && (n == 0 || !memcmp(f->settled.at, f->capacity.at, size)))
        return false;
    vec_resize(&f->settled, n);
    memcpy(f->settled.at, f->capacity.at, size);
    return true;
}

void shape_settle_slowly(struct fair *f)
{
    bool is_new = f->is_tree_stale, is_other = is_capacity_new(f);
    f->is_tree_stale = f->is_capacity_stale = false;
    if (!is_new && !is_other)
        return;
    if (is_new)
        reshape(f);
    guarantee(f);
    budget_settle(f);
    f->is_entitled_stale = true;
    f->epoch++;
    lanes_wake_all(f);
    turns_stale_all(f);
}

/* Nothing is guaranteed to it and nothing used: all sums stay. */
void shape_add_child(struct fair *f, uint32_t parent, uint32_t queue)
{
    place_child(f, parent, queue);
    vec_push(&f->top_down, queue);
    struct queue *q = queue_at(f, queue), *above = queue_at(f, parent);
    above->n_parts += q->kind == QUEUE_PART;
    q->is_last = above->is_last;
    set_max(f, q);
    vec_resize(&f->asked, f->queues.n * f->stride);
    if (f->stride)
        memset(f->asked.at + (size_t)queue * f->stride, 0, f->stride * sizeof(*f->asked.at));
    f->is_entitled_stale = true;
}

void shape_remove_child(struct fair *f, uint32_t queue)
{
    struct queue *q = queue_at(f, queue), *above = queue_at(f, q->parent);
    assert(!heap_has(&above->heap, q->slot) && q->children.n == 0);
    uint32_t last = vec_pop(&above->children);
    if (last == queue)
        return;
    struct queue *moved = queue_at(f, last);
    bool stands = heap_has(&above->heap, moved->slot);
    if (stands)
        heap_remove(&above->heap, moved->slot);
    moved->slot = q->slot;
    above->children.at[q->slot] = last;
    if (stands)
        heap_add(&above->heap, moved->slot);
}

/* --- questions --- */

enum fair_state fair_state(struct fair *f, uint32_t queue)
{
    settle(f);
    return queue_at(f, fair_leaf(f, queue))->state;
}

uint32_t fair_parent(struct fair *f, uint32_t queue)
{
    settle(f);
    return queue_at(f, queue)->parent;
}

const uint32_t *fair_children(struct fair *f, uint32_t queue, uint32_t *n)
{
    settle(f);
    *n = queue_at(f, queue)->children.n;
    return queue_at(f, queue)->children.at;
}

uint32_t fair_depth(struct fair *f, uint32_t queue)
{
    settle(f);
    return queue_at(f, queue)->depth;
}

uint32_t fair_common(struct fair *f, uint32_t a, uint32_t b)
{
    settle(f);
    while (a != b) {
        const struct queue *x = queue_at(f, a), *y = queue_at(f, b);
        if (x->depth >= y->depth)
            a = x->parent;
        if (y->depth >= x->depth)
            b = y->parent;
    }
    return a;
}

int64_t fair_min_run_ms(struct fair *f, uint32_t queue)
{
    settle(f);
    for (uint32_t at = queue; at != FAIR_NONE; at = queue_at(f, at)->parent)
        if (queue_at(f, at)->min_run_ms >= 0)
            return queue_at(f, at)->min_run_ms;
    return -1;
}

bool fair_is_stopped(struct fair *f, uint32_t queue, enum fair_stop stop)
{
    settle(f);
    for (uint32_t at = queue; at != FAIR_NONE; at = queue_at(f, at)->parent)
        if (queue_at(f, at)->stop == stop)
            return true;
    return false;
}

static uint32_t parent_said(const struct fair *f, uint32_t queue)
{
    return fair_find(f, str_of(queue_at(f, queue)->parent_name));
}

/* The queue itself if it is on the cycle, else where its ancestors enter that. One that starts a
 * whole cycle ahead meets one that starts at the queue just there. */
static uint32_t cycle_entry(const struct fair *f, uint32_t queue)
{
    uint32_t on = queue, ahead = queue, entry = queue;
    for (uint32_t i = 0; i < f->n_objects; i++)
        on = parent_said(f, on);
    uint32_t at = on;
    do {
        at = parent_said(f, at);
        ahead = parent_said(f, ahead);
    } while (at != on);
    for (; entry != ahead; ahead = parent_said(f, ahead))
        entry = parent_said(f, entry);
    return entry;
}

/* `a -> b -> a`; of a long one the first names. */
static struct str cycle_text(const struct fair *f, uint32_t queue, struct arena *mem)
{
    enum { NAMES_MOST = 16 };
    uint32_t entry = cycle_entry(f, queue), at = entry, n = 0;
    struct str text = fair_name(f, entry);
    do {
        at = parent_said(f, at);
        bool is_told = n++ < NAMES_MOST || at == entry;
        if (is_told || n == NAMES_MOST + 1)
            text = arena_join(mem, text, STR(" -> "), is_told ? fair_name(f, at) : STR("..."));
    } while (at != entry);
    return text;
}

struct str fair_state_text(struct fair *f, uint32_t queue, struct arena *mem)
{
    settle(f);
    queue = fair_leaf(f, queue);
    const struct queue *q = queue_at(f, queue);
    switch (q->state) {
    case FAIR_PARENT_MISSING:
        return arena_join(mem, STR("parent "), str_of(q->parent_name), STR(" does not exist"));
    case FAIR_PARENT_CYCLE:
        return cycle_text(f, queue, mem);
    case FAIR_INVALID:
        return arena_str(mem, str_of(q->invalid));
    case FAIR_TOO_DEEP:
        return STR("too deep");
    case FAIR_TOO_MANY:
        return STR("too many queues");
    case FAIR_PHANTOM:
        return STR("it does not exist");
    case FAIR_ACTIVE:
        break;
    }
    return STR("");
}
