/* Which queues there are, and what was said about each. How they hang together: shape.c.
 *
 * A name is found by its hash: queues by their own, parts with the number of their leaf, namespaces
 * with FAIR_NONE. */

#include "core/fair/inside.h"

#include "core/base/hash.h"

enum { VALUE_BYTES_MOST = 63 };

/* --- one queue --- */

static uint64_t key_of(struct str name, enum queue_kind kind, uint32_t leaf)
{
    uint64_t hash = str_hash_secretly(name);
    return kind == QUEUE_PART || kind == QUEUE_NAMESPACE ? hash_pair(hash, leaf) : hash;
}

static char *text_of(struct str s)
{
    char *text = mem_alloc(s.n + 1);
    if (s.n)
        memcpy(text, s.p, s.n);
    return text;
}

bool is_in_tree(const struct queue *q)
{
    return q->kind != QUEUE_FREE && q->kind != QUEUE_NAMESPACE;
}

static uint32_t free_number(struct fair *f)
{
    if (f->free_queues.n)
        return vec_pop(&f->free_queues);
    vec_push(&f->queues, (struct queue *)mem_alloc(sizeof(struct queue)));
    return f->queues.n - 1;
}

static void set_plain(struct queue *q)
{
    q->weight = 1;
    q->max_jobs = q->each_max_jobs = q->min_run_ms = -1;
    q->stop = FAIR_OPEN;
    q->is_split = false;
}

static uint32_t add_queue(struct fair *f, struct str name, enum queue_kind kind)
{
    uint32_t number = free_number(f);
    struct queue *q = f->queues.at[number];
    *q = (struct queue){.f = f,
                        .name = text_of(name),
                        .name_n = (uint32_t)name.n,
                        .kind = kind,
                        .parent = FAIR_NONE,
                        .head = FAIR_NONE};
    set_plain(q);
    q->cells = mem_alloc(f->stride * sizeof(*q->cells));
    for (uint32_t r = 0; r < f->stride; r++)
        q->cells[r].max = FAIR_NO_LIMIT;
    past_grow(f, q, 0, f->stride);
    turns_begin(q);
    return number;
}

static void drop_spec(struct fair *f, struct queue *q)
{
    mem_free(q->limits.block);
    mem_free(q->parent_name);
    mem_free(q->invalid);
    q->limits = (struct limits){0};
    q->parent_name = q->invalid = NULL;
    set_plain(q);
    budget_keep(f, q, NULL, 0);
}

static void free_queue(struct fair *f, uint32_t number)
{
    struct queue *q = f->queues.at[number];
    drop_spec(f, q);
    mem_free(q->name);
    mem_free(q->cells);
    mem_free(q->past);
    mem_free(q->sums);
    vec_done(&q->accounts);
    vec_done(&q->children);
    vec_done(&q->lanes);
    vec_done(&q->places);
    vec_done(&q->held);
    heap_done(&q->lane_heap);
    heap_done(&q->heap);
    *q = (struct queue){.kind = QUEUE_FREE};
}

struct fair *fair_new(const struct fair_order *order)
{
    struct fair *f = mem_alloc(sizeof(*f));
    f->order = *order;
    f->is_gamma_empty = true;
    f->due_ms = INT64_MAX;
    uint32_t root = add_queue(f, STR("root"), QUEUE_ROOT);
    assert(root == FAIR_ROOT);
    f->is_tree_stale = true;
    turns_begin_firsts(f);
    return f;
}

void fair_free(struct fair *f)
{
    for (uint32_t q = 0; q < f->queues.n; q++) {
        if (f->queues.at[q]->kind != QUEUE_FREE)
            free_queue(f, q);
        mem_free(f->queues.at[q]);
    }
    vec_done(&f->queues);
    vec_done(&f->free_queues);
    vec_done(&f->top_down);
    map_done(&f->by_name);
    intern_done(&f->resources);
    vec_done(&f->capacity);
    vec_done(&f->is_guaranteed);
    vec_done(&f->settled);
    vec_done(&f->asked);
    vec_done(&f->demand);
    vec_done(&f->entitled);
    vec_done(&f->budgeted);
    vec_done(&f->rises);
    lanes_done(f);
    mem_free(f);
}

/* --- resources --- */

static void grow_cells(struct fair *f, struct queue *q, uint32_t stride)
{
    q->cells = mem_resize(q->cells, stride * sizeof(*q->cells));
    memset(q->cells + f->stride, 0, (stride - f->stride) * sizeof(*q->cells));
    for (uint32_t r = f->stride; r < stride; r++)
        q->cells[r].max = FAIR_NO_LIMIT;
    past_grow(f, q, f->stride, stride);
}

uint32_t fair_resource(struct fair *f, struct str name)
{
    bool is_new;
    uint32_t number = intern_get(&f->resources, name, &is_new);
    if (!is_new)
        return number;
    intern_hold(&f->resources, number);
    vec_push(&f->capacity, 0);
    vec_push(&f->is_guaranteed, false);
    assert(number == f->capacity.n - 1);
    if (number < f->stride)
        return number;
    uint32_t stride = f->stride + RESOURCES_AT_ONCE;
    for (uint32_t q = 0; q < f->queues.n; q++)
        if (f->queues.at[q]->kind != QUEUE_FREE)
            grow_cells(f, f->queues.at[q], stride);
    f->stride = stride;
    f->is_capacity_stale = f->is_entitled_stale = true;
    return number;
}

uint32_t fair_find_resource(const struct fair *f, struct str name)
{
    _Static_assert(INTERN_NONE == FAIR_NONE, "no number, no resource");
    return intern_find(&f->resources, name);
}

uint32_t fair_n_resources(const struct fair *f)
{
    return f->capacity.n;
}

struct str fair_resource_name(const struct fair *f, uint32_t resource)
{
    return intern_bytes(&f->resources, resource);
}

void fair_set_capacity(struct fair *f, uint32_t resource, int64_t amount)
{
    assert(resource < f->capacity.n && amount >= 0);
    if (f->capacity.at[resource] == amount)
        return;
    f->capacity.at[resource] = amount;
    f->is_capacity_stale = true;
}

int64_t fair_capacity(const struct fair *f, uint32_t resource)
{
    return f->capacity.at[resource];
}

/* --- what is said about a queue --- */

static bool ask_equal(struct fair_ask a, struct fair_ask b)
{
    if (a.n != b.n)
        return false;
    for (uint32_t i = 0; i < a.n; i++)
        if (a.at[i].resource != b.at[i].resource || a.at[i].amount != b.at[i].amount)
            return false;
    return true;
}

static struct fair_ask keep_ask(struct fair_amount **at, struct fair_ask from)
{
    struct fair_ask kept = {*at, from.n};
    for (uint32_t i = 0; i < from.n; i++)
        *(*at)++ =
            (struct fair_amount){.resource = from.at[i].resource, .amount = from.at[i].amount};
    return kept;
}

static struct limits limits_of(const struct fair_spec *s)
{
    size_t n = (size_t)s->guaranteed.n + s->max.n + s->lend.n + s->each_max.n;
    struct fair_amount *at = mem_alloc(n * sizeof(*at));
    struct limits l = {.block = at};
    l.guaranteed = keep_ask(&at, s->guaranteed);
    l.max = keep_ask(&at, s->max);
    l.lend = keep_ask(&at, s->lend);
    l.each_max = keep_ask(&at, s->each_max);
    return l;
}

static bool says_budgets(const struct queue *q, const struct fair_spec *s)
{
    if (q->accounts.n != s->n_budgets)
        return false;
    for (uint32_t i = 0; i < s->n_budgets; i++) {
        const struct fair_budget *a = &q->accounts.at[i].budget, *b = &s->budgets[i];
        if (a->resource != b->resource || a->window != b->window || a->period_ms != b->period_ms ||
            a->limit != b->limit || a->is_hard != b->is_hard)
            return false;
    }
    return true;
}

static struct str said(const char *text)
{
    return text ? str_of(text) : STR("");
}

/* A spec that cannot be read is a plain one. */
static bool says(const struct queue *q, const struct fair_spec *s)
{
    return str_equal(said(q->invalid), s->invalid) && str_equal(said(q->parent_name), s->parent) &&
           ask_equal(q->limits.guaranteed, s->guaranteed) && ask_equal(q->limits.max, s->max) &&
           ask_equal(q->limits.lend, s->lend) && ask_equal(q->limits.each_max, s->each_max) &&
           q->weight == s->weight && q->max_jobs == s->max_jobs && q->min_run_ms == s->min_run_ms &&
           q->stop == s->stop && q->is_split == s->is_split &&
           q->each_max_jobs == s->each_max_jobs && says_budgets(q, s);
}

static void keep_spec(struct fair *f, struct queue *q, const struct fair_spec *s)
{
    struct limits limits = limits_of(s);
    char *parent = text_of(s->parent), *invalid = s->invalid.n ? text_of(s->invalid) : NULL;
    mem_free(q->limits.block);
    mem_free(q->parent_name);
    mem_free(q->invalid);
    q->limits = limits;
    q->parent_name = parent;
    q->invalid = invalid;
    q->weight = s->weight;
    q->max_jobs = s->max_jobs;
    q->each_max_jobs = s->each_max_jobs;
    q->min_run_ms = s->min_run_ms;
    q->stop = s->stop;
    q->is_split = s->is_split;
    budget_keep(f, q, s->budgets, s->n_budgets);
}

uint32_t fair_put(struct fair *f, struct str name, const struct fair_spec *spec)
{
    struct fair_spec plain = FAIR_SPEC_PLAIN;
    plain.invalid = spec->invalid;
    if (spec->invalid.n)
        spec = &plain;
    assert(spec->weight > 0);
    uint32_t number = fair_get(f, name);
    struct queue *q = queue_at(f, number);
    if (q->kind == QUEUE_OBJECT && says(q, spec))
        return number;
    f->n_objects += q->kind != QUEUE_OBJECT;
    q->kind = QUEUE_OBJECT;
    keep_spec(f, q, spec);
    f->is_tree_stale = true;
    return number;
}

/* The parent's name stays: that is where a phantom is counted. */
void fair_remove(struct fair *f, struct str name)
{
    uint32_t number = fair_find(f, name);
    if (number == FAIR_NONE || queue_at(f, number)->kind != QUEUE_OBJECT)
        return;
    struct queue *q = queue_at(f, number);
    char *parent_name = q->parent_name;
    q->parent_name = NULL;
    drop_spec(f, q);
    q->parent_name = parent_name;
    q->kind = QUEUE_PHANTOM;
    f->n_objects--;
    f->n_made++;
    f->is_tree_stale = true;
}

/* --- finding --- */

uint32_t fair_find(const struct fair *f, struct str name)
{
    return map_find(&f->by_name, key_of(name, QUEUE_OBJECT, 0));
}

uint32_t fair_get(struct fair *f, struct str name)
{
    uint32_t number = fair_find(f, name);
    if (number != FAIR_NONE)
        return number;
    number = add_queue(f, name, QUEUE_PHANTOM);
    map_put(&f->by_name, key_of(name, QUEUE_OBJECT, 0), number);
    f->queues.at[number]->state = FAIR_PHANTOM;
    f->n_made++;
    if (!f->is_tree_stale)
        shape_add_child(f, FAIR_ROOT, number);
    return number;
}

uint32_t fair_part(struct fair *f, uint32_t leaf, struct str value)
{
    struct queue *q = queue_at(f, leaf);
    if (!q->is_split)
        return leaf;
    value = str_part(value, 0, VALUE_BYTES_MOST);
    uint32_t part = map_find(&f->by_name, key_of(value, QUEUE_PART, leaf));
    if (part != FAIR_NONE)
        return part;
    if (q->n_parts >= FAIR_PARTS_MOST && !str_equal(value, STR("*")))
        return fair_part(f, leaf, STR("*"));
    settle(f);
    char name[256 + VALUE_BYTES_MOST]; /* a queue's name has 253 bytes at most */
    uint32_t own = MIN(q->name_n, 255u);
    memcpy(name, q->name, own);
    name[own] = '/';
    if (value.n)
        memcpy(name + own + 1, value.p, value.n);
    part = add_queue(f, (struct str){name, own + 1 + value.n}, QUEUE_PART);
    map_put(&f->by_name, key_of(value, QUEUE_PART, leaf), part);
    shape_add_child(f, leaf, part);
    f->n_made++;
    return part;
}

uint32_t fair_namespace(struct fair *f, struct str name, struct fair_ask max)
{
    uint64_t key = key_of(name, QUEUE_NAMESPACE, FAIR_NONE);
    uint32_t number = map_find(&f->by_name, key);
    if (number == FAIR_NONE) {
        number = add_queue(f, name, QUEUE_NAMESPACE);
        map_put(&f->by_name, key, number);
    }
    struct queue *q = queue_at(f, number);
    for (uint32_t r = 0; r < f->stride; r++)
        q->cells[r].max = ask_amount(max, r, FAIR_NO_LIMIT);
    f->epoch++;
    return number;
}

/* --- forgetting --- */

static bool is_idle(const struct fair *f, const struct queue *q)
{
    if (q->jobs || q->n_waiting || q->held.n)
        return false;
    for (uint32_t r = 0; r < f->capacity.n; r++)
        if (q->cells[r].used || q->cells[r].waiting)
            return false;
    return true;
}

uint32_t fair_n_made(const struct fair *f)
{
    return f->n_made;
}

static struct str value_of(const struct fair *f, const struct queue *part)
{
    uint32_t own = MIN(queue_at(f, part->parent)->name_n, 255u);
    return (struct str){part->name + own + 1, part->name_n - own - 1};
}

static void forget(struct fair *f, uint32_t number)
{
    struct queue *q = queue_at(f, number);
    bool is_part = q->kind == QUEUE_PART;
    struct str name = is_part ? value_of(f, q) : (struct str){q->name, q->name_n};
    map_remove(&f->by_name, key_of(name, q->kind, q->parent));
    if (is_part)
        queue_at(f, q->parent)->n_parts--;
    free_queue(f, number);
    vec_push(&f->free_queues, number);
}

void fair_sweep(struct fair *f, void (*gone)(void *ctx, uint32_t queue), void *ctx)
{
    turns_freshen(f);
    f->n_made = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->top_down.n; i++) {
        uint32_t number = f->top_down.at[i];
        const struct queue *q = queue_at(f, number);
        bool may_go = q->kind == QUEUE_PART || (q->kind == QUEUE_PHANTOM && q->children.n == 0);
        if (!may_go || !is_idle(f, q)) {
            f->top_down.at[kept++] = number;
            continue;
        }
        if (gone)
            gone(ctx, number);
        shape_remove_child(f, number);
        forget(f, number);
    }
    f->top_down.n = kept;
}

/* --- questions --- */

uint32_t fair_n_queues(const struct fair *f)
{
    return f->queues.n;
}

bool fair_is_queue(const struct fair *f, uint32_t queue)
{
    return queue < f->queues.n && queue != FAIR_ROOT && is_in_tree(f->queues.at[queue]);
}

bool fair_is_part(const struct fair *f, uint32_t queue)
{
    return queue_at(f, queue)->kind == QUEUE_PART;
}

struct str fair_name(const struct fair *f, uint32_t queue)
{
    const struct queue *q = queue_at(f, queue);
    return (struct str){q->name, q->name_n};
}

uint32_t fair_leaf(const struct fair *f, uint32_t queue)
{
    const struct queue *q = queue_at(f, queue);
    return q->kind == QUEUE_PART ? q->parent : queue;
}

uint32_t fair_weight(struct fair *f, uint32_t queue)
{
    return queue_at(f, queue)->weight;
}
