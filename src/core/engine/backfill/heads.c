/* Heads (rules O10 and O11 of docs/guide/queues.md). Where queues say whose turn it is, a profile's
 * LinePolicy says whether those who come behind a unit that finds no room may pass it. Several such
 * units are heads at a time, in the order in which they were refused. Each holds up only those who
 * want what it wants: the GPU models that its pods could have. */

#include <stdlib.h>

#include "core/engine/backfill/line.h"

/* --- what a unit contends for --- */

enum { BY_RESOURCE = 1, BY_MODEL = 2 };

static uint64_t mark_of(uint32_t kind, uint32_t number)
{
    return (uint64_t)kind << 32 | number;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

VEC_TYPE(marks, uint64_t);

/* What accelerators are called on this node: by their model, else by the resource. */
static void add_node(const struct engine *k, const struct class *class, node_id node,
                     struct marks *out)
{
    const struct cluster *c = k->cluster;
    const struct node_gpus *gpus = c->nodes.gpus[node.i];
    const struct pod_request *ask = &specs_at(&c->specs, class->spec)->ask;
    if (gpus && gpus->model != SYM_NONE) {
        vec_push(out, mark_of(BY_MODEL, gpus->model));
        return;
    }
    for (uint32_t i = 0; i < ask->n_others; i++)
        if (c->specs.resources.are_accelerators.at[ask->others[i].resource])
            vec_push(out, mark_of(BY_RESOURCE, ask->others[i].resource));
}

static void add_class(const struct engine *k, const struct class *class, struct marks *out)
{
    const struct cluster *c = k->cluster;
    if (!specs_at(&c->specs, class->spec)->accelerators) {
        vec_push(out, mark_of(BY_RESOURCE, RESOURCE_CPU));
        return;
    }
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}) && engine_could_hold(k, class, (node_id){i}))
            add_node(k, class, (node_id){i}, out);
}

static struct class *class_of(struct engine *k, uint32_t pod)
{
    return classes_of(&k->classes, pods_at(&k->cluster->pods, (pod_id){pod})->shape);
}

/* Sorted, each once. */
static void contention_of(struct engine *k, uint32_t unit, struct marks *out)
{
    uint32_t n = 0;
    if (engine_gang_led_by(k, unit)) {
        const struct class *last = NULL;
        uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
        vec_each(&k->cluster->groups.at.at[group].members, pod) {
            struct class *class = engine_is_ready(k, (pod_id){*pod}) ? class_of(k, *pod) : NULL;
            if (class && class != last)
                add_class(k, class, out);
            last = class ? class : last;
        }
    } else {
        add_class(k, class_of(k, unit), out);
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof(*out->at), by_number);
    for (uint32_t i = 0; i < out->n; i++)
        if (i == 0 || out->at[i] != out->at[i - 1])
            out->at[n++] = out->at[i];
    out->n = n;
}

static bool contends(const struct line *head, const struct marks *marks)
{
    uint32_t i = 0, j = 0;
    while (i < head->contends.n && j < marks->n) {
        if (head->contends.at[i] == marks->at[j])
            return true;
        if (head->contends.at[i] < marks->at[j])
            i++;
        else
            j++;
    }
    return false;
}

/* --- heads --- */

static void free_head(struct line *head)
{
    vec_done(&head->ends);
    vec_done(&head->steps);
    vec_done(&head->contends);
    mem_free(head);
}

void engine_rename_head(struct line *l, uint32_t unit, uint32_t to)
{
    for (uint32_t i = 0; i < l->heads.n; i++) {
        if (l->heads.at[i]->head != unit)
            continue;
        l->heads.at[i]->head = to;
        if (to != ID_NONE)
            return;
        free_head(l->heads.at[i]);
        vec_remove(&l->heads, i);
        vec_clear(&l->minded);
        l->is_stale = true; /* others may go now */
        return;
    }
}

void engine_forget_heads(struct line *l)
{
    vec_each(&l->heads, head)
        free_head(*head);
    vec_clear(&l->heads);
    vec_clear(&l->minded);
}

void engine_heads_done(struct line *l)
{
    engine_forget_heads(l);
    vec_done(&l->heads);
    vec_done(&l->minded);
}

static struct fair_key key_of(struct engine *k, uint32_t unit)
{
    struct fair *tree = k->shares->tree;
    struct fair_key key =
        fair_key(tree, fair_leaf(tree, fair_queue_of(tree, unit)), fair_ask_of(tree, unit));
    arena_reset(&k->shares->mem);
    return key;
}

/* A head that borrows holds up no unit that is within its guarantee. */
void engine_mind_heads(struct engine *k, struct line *l, uint32_t unit)
{
    vec_clear(&l->minded);
    const struct stander *is = &k->shares->standers.at[unit];
    if (LIKELY(l->heads.n == 0) || is->is_first)
        return;
    struct marks marks = {0};
    contention_of(k, unit, &marks);
    for (uint32_t i = 0; i < l->heads.n; i++) {
        const struct line *head = l->heads.at[i];
        bool yields = k->shares->chosen_key.class == 0 && key_of(k, head->head).class == 1;
        if (!yields && head->head != unit && contends(head, &marks))
            vec_push(&l->minded, i);
    }
    vec_done(&marks);
}

bool engine_is_barred(const struct line *l)
{
    vec_each(&l->minded, i)
        if (l->heads.at[*i]->args->policy == LINE_FIFO)
            return true;
    return false;
}

bool engine_may_pass_heads(struct engine *k, struct line *l, uint32_t unit)
{
    vec_each(&l->minded, i)
        if (engine_delays_head(k, l->heads.at[*i], unit))
            return false;
    return true;
}

void engine_add_head(struct engine *k, struct line *l, uint32_t unit)
{
    const struct line_args *args = engine_line_args(k, unit);
    for (uint32_t i = 0; i < l->heads.n; i++)
        if (l->heads.at[i]->head == unit)
            return;
    bool may_lead = args && args->policy != LINE_FIRST_FIT &&
                    !k->shares->standers.at[unit].is_first && l->heads.n < k->shares->args->heads;
    if (!may_lead)
        return;
    struct line *head = mem_alloc(sizeof(*head));
    *head = (struct line){.args = args, .bit = l->bit, .head = ID_NONE};
    if (!engine_make_head(k, head, unit)) {
        free_head(head);
        return;
    }
    struct marks marks = {0};
    contention_of(k, unit, &marks);
    head->contends.at = marks.at;
    head->contends.n = marks.n;
    head->contends.cap = marks.cap;
    vec_push(&l->heads, head);
}

int64_t engine_heads_ms(const struct line *l)
{
    int64_t first_ms = INT64_MAX;
    vec_each(&l->heads, head)
        if ((*head)->args->policy != LINE_FIFO)
            first_ms = MIN(first_ms, (*head)->start_ms);
    return first_ms;
}
