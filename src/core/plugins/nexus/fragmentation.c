#include "core/plugins/nexus/fragmentation.h"

#include <stdlib.h>

#include "core/base/hash.h"

enum { MEMO_BITS = 13, SEEN_BITS = 12, MODELS_MOST = 64 };

#define MEMO_GPUS FRAGMENTATION_MEMO_GPUS

static int by_amount(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint32_t find_size(struct fragmentation *f, int32_t milli)
{
    uint32_t at = 0;
    while (at < f->n_sizes && f->sizes[at].milli != milli)
        at++;
    if (at == f->n_sizes)
        f->sizes[f->n_sizes++].milli = milli;
    return at;
}

static uint32_t find_want(struct fragmentation *f, const struct gpu_demand *d)
{
    uint32_t size = find_size(f, (int32_t)d->milli), at = 0;
    while (at < f->n_wants && (f->wants[at].size != size || f->wants[at].count != d->count))
        at++;
    if (at == f->n_wants)
        f->wants[f->n_wants++] = (struct fragmentation_want){.size = size, .count = d->count};
    return at;
}

/* The numbers of the sizes, the smallest first. */
static void order_sizes(struct fragmentation *f)
{
    f->rising = mem_alloc(f->n * sizeof(*f->rising));
    for (uint32_t i = 0; i < f->n_sizes; i++) {
        uint32_t at = i;
        for (; at > 0 && f->sizes[f->rising[at - 1]].milli > f->sizes[i].milli; at--)
            f->rising[at] = f->rising[at - 1];
        f->rising[at] = i;
    }
}

static void find_kinds(struct fragmentation *f, const struct gpu_demand *demand)
{
    f->kinds = mem_alloc(f->n * sizeof(*f->kinds));
    f->sizes = mem_alloc(f->n * sizeof(*f->sizes));
    f->wants = mem_alloc(f->n * sizeof(*f->wants));
    for (uint32_t i = 0; i < f->n; i++) {
        f->kinds[i].share = demand[i].share;
        f->kinds[i].cpu_milli = demand[i].cpu_milli;
        f->kinds[i].want = find_want(f, &demand[i]);
    }
    order_sizes(f);
}

static void find_steps(struct fragmentation *f)
{
    int64_t *all = mem_alloc(f->n * sizeof(*all));
    for (uint32_t i = 0; i < f->n; i++)
        all[i] = f->kinds[i].cpu_milli;
    if (f->n > 1)
        qsort(all, f->n, sizeof(*all), by_amount);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->n_steps == 0 || all[f->n_steps - 1] != all[i])
            all[f->n_steps++] = all[i];
    f->steps = all;
}

/* The model's number; n_models if no kind names it. */
static uint32_t find_model(const struct fragmentation *f, sym model)
{
    uint32_t i = 0;
    while (i < f->n_models && f->models[i] != model)
        i++;
    return i;
}

/* A kind that wants no GPU minds no model. */
static void find_models(struct fragmentation *f, struct cluster *c, const struct gpu_demand *demand)
{
    f->models = mem_alloc(MODELS_MOST * sizeof(*f->models));
    for (uint32_t i = 0; i < f->n; i++) {
        const struct gpu_demand *d = &demand[i];
        uint64_t *allowed = &f->kinds[i].allowed;
        *allowed = d->models.n && d->count ? 0 : UINT64_MAX;
        list_each(&d->models, name) {
            sym model = names_get(&c->names, *name);
            uint32_t at = find_model(f, model);
            if (at == f->n_models && at + 1 < MODELS_MOST) {
                intern_hold(&c->names.text, model);
                f->models[f->n_models++] = model;
            }
            *allowed |= (uint64_t)1 << at;
        }
    }
}

void fragmentation_init(struct fragmentation *f, struct cluster *c, const struct gpu_demand *demand,
                        uint32_t n)
{
    *f = (struct fragmentation){.n = n};
    find_kinds(f, demand);
    find_steps(f);
    find_models(f, c, demand);
    f->memo = mem_alloc(sizeof(*f->memo) << MEMO_BITS);
    f->gains = mem_alloc(sizeof(*f->gains) << MEMO_BITS);
    f->seen = mem_alloc(sizeof(*f->seen) << SEEN_BITS);
}

void fragmentation_done(struct fragmentation *f, struct cluster *c)
{
    for (uint32_t i = 0; i < f->n_models; i++)
        intern_drop(&c->names.text, f->models[i]);
    mem_free(f->models);
    mem_free(f->kinds);
    mem_free(f->wants);
    mem_free(f->steps);
    mem_free(f->sizes);
    mem_free(f->rising);
    mem_free(f->memo);
    mem_free(f->gains);
    mem_free(f->seen);
}

/* The loss at each number of idle GPUs, and then the least concave one above it: the points of its
 * hull, with straight lines between them. */
static void even_out(double *loss, uint32_t largest)
{
    for (uint32_t from = 0, to; from < largest; from = to) {
        to = from + 1;
        for (uint32_t i = to + 1; i <= largest; i++)
            if ((loss[i] - loss[from]) * (to - from) >= (loss[to] - loss[from]) * (i - from))
                to = i;
        double rise = (loss[to] - loss[from]) / (to - from);
        for (uint32_t i = from + 1; i < to; i++)
            loss[i] = loss[from] + rise * (i - from);
    }
}

struct gpu_mix fragmentation_even(const struct gpu_mix *mix)
{
    double loss[GPUS_MOST + 1] = {0}, more = 0, before = 1;
    struct gpu_mix even = {.largest = mix->largest};
    for (uint32_t i = mix->largest; i > 0; i--) {
        loss[i] = i * more;
        more += mix->of[i];
    }
    even_out(loss, mix->largest);
    for (uint32_t i = 1; i <= mix->largest; i++) {
        double want_more = i < mix->largest ? loss[i] / i : 0;
        even.of[i] = MAX(before - want_more, 0.0);
        before = want_more;
    }
    return even;
}

void fragmentation_observe(struct fragmentation *f, struct cluster *c)
{
    struct gpu_mix mix = fragmentation_even(&c->demand.mix);
    struct gpu_demand kinds[GPUS_MOST];
    uint32_t n = 0;
    for (uint32_t i = 1; i <= mix.largest; i++)
        if (mix.of[i] > 0)
            kinds[n++] = (struct gpu_demand){.count = i, .milli = GPU_WHOLE, .share = mix.of[i]};
    fragmentation_init(f, c, kinds, n);
    f->generation = c->demand.generation;
}

struct fragmentation_state fragmentation_state(const struct cluster *c, node_id node)
{
    const struct room *room = &c->nodes.room[node.i];
    const struct node_gpus *g = c->nodes.gpus[node.i];
    struct fragmentation_state s;
    s.model = g ? g->model : SYM_NONE;
    s.cpu_milli = wrap_sub(room->cpu_alloc, room->cpu_used);
    s.n = g ? g->n : 0;
    s.island = g ? g->island : NULL;
    s.gpus = g;
    for (uint32_t i = 0; i < s.n; i++)
        s.left[i] = gpus_left(g, i);
    return s;
}

/* --- the measure --- */

/* What is left of each GPU, the least first. */
static void sort_left(const struct fragmentation_state *s, int32_t *sorted)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > s->left[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = s->left[i];
    }
}

/* On how many GPUs a pod of each size fits, and what is left of the others. */
static void fit_sizes(struct fragmentation *f, const struct fragmentation_state *s)
{
    int32_t left[GPUS_MOST], below = 0;
    uint32_t at = 0;
    sort_left(s, left);
    for (uint32_t k = 0; k < f->n_sizes; k++) { /* they rise */
        struct fragmentation_size *size = &f->sizes[f->rising[k]];
        for (; at < s->n && left[at] < size->milli; at++)
            below += left[at];
        size->fitting = s->n - at;
        size->below = below;
    }
}

/* What is a fragment for who wants so many GPUs of that size: all that is idle if they do not fit,
 * else what is left of GPUs that are too small for them. */
static void fit_wants(struct fragmentation *f, int32_t idle)
{
    for (uint32_t i = 0; i < f->n_wants; i++) {
        struct fragmentation_want *w = &f->wants[i];
        const struct fragmentation_size *size = &f->sizes[w->size];
        bool has_gpus = size->fitting >= w->count;
        w->fragment[false] = (double)idle;
        w->fragment[true] = (double)(w->count && has_gpus ? size->below : idle);
        w->part[false] = w->count == 0 ? NO_GPU_NOR_CPU : has_gpus ? LACKS_CPU : LACKS_BOTH;
        w->part[true] = w->count == 0 ? NO_GPU : LACKS_GPU;
    }
}

static double work_out(struct fragmentation *f, const struct fragmentation_state *s, uint32_t model)
{
    double parts[N_FRAGMENTATION_PARTS] = {0}, all = 0;
    int32_t idle = 0;
    for (uint32_t i = 0; i < s->n; i++)
        idle += s->left[i];
    fit_sizes(f, s);
    fit_wants(f, idle);
    for (uint32_t k = 0; k < f->n; k++) {
        const struct fragmentation_kind *kind = &f->kinds[k];
        const struct fragmentation_want *want = &f->wants[kind->want];
        bool has_cpu = s->cpu_milli >= kind->cpu_milli;
        if (LIKELY(kind->allowed >> model & 1))
            parts[want->part[has_cpu]] += kind->share * want->fragment[has_cpu];
        else
            parts[OTHER_MODEL] += kind->share * (double)idle;
    }
    for (uint32_t i = 0; i < N_FRAGMENTATION_PARTS; i++)
        all += parts[i];
    return all;
}

/* How many steps the node's idle CPU reaches. */
static uint32_t steps_reached(struct fragmentation *f, int64_t cpu_milli)
{
    uint32_t low = 0, high = f->n_steps;
    if (f->has_step && f->last_cpu == cpu_milli)
        return f->last_step;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (f->steps[middle] <= cpu_milli)
            low = middle + 1;
        else
            high = middle;
    }
    f->has_step = true;
    f->last_cpu = cpu_milli;
    f->last_step = low;
    return low;
}

/* The GPUs' amounts, the largest first, as two numbers. */
static void pack(const struct fragmentation_state *s, uint64_t *out)
{
    uint16_t sorted[MEMO_GPUS] = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] < s->left[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = (uint16_t)s->left[i];
    }
    memcpy(out, sorted, sizeof(sorted));
}

/* What is remembered of a state, but for the amount. */
static struct fragmentation_memo key_of(struct fragmentation *f,
                                        const struct fragmentation_state *s)
{
    struct fragmentation_memo key = {.state = 1 + find_model(f, s->model) +
                                              (MODELS_MOST + 1) * steps_reached(f, s->cpu_milli)};
    pack(s, key.left);
    return key;
}

static bool is_of(const struct fragmentation_memo *at, const struct fragmentation_memo *key,
                  uint32_t change)
{
    return at->state == key->state && at->change == change && at->left[0] == key->left[0] &&
           at->left[1] == key->left[1];
}

/* The place of a key in a memo; what is there is forgotten if it is of another one. */
static struct fragmentation_memo *recall(struct fragmentation_memo *memo,
                                         const struct fragmentation_memo *key, uint32_t change)
{
    uint64_t hash =
        hash_pair(hash_pair(key->left[0], key->left[1]), (uint64_t)change << 32 | key->state);
    struct fragmentation_memo *at = &memo[hash >> (64 - MEMO_BITS)];
    if (!is_of(at, key, change)) {
        *at = *key;
        at->change = change;
        at->amount = NOT_KNOWN;
    }
    return at;
}

static double of_island(struct fragmentation *f, const struct fragmentation_state *s)
{
    if (s->n > MEMO_GPUS)
        return work_out(f, s, find_model(f, s->model));
    struct fragmentation_memo key = key_of(f, s), *memo = recall(f->memo, &key, 0);
    if (memo->amount == NOT_KNOWN)
        memo->amount = work_out(f, s, find_model(f, s->model));
    return memo->amount;
}

static bool has_same(const int32_t *a, const int32_t *b)
{
    int32_t differs = 0;
    for (uint32_t i = 0; i < MEMO_GPUS; i++)
        differs |= a[i] ^ b[i];
    return differs == 0;
}

/* The key of a node's state: mostly as it was when another class asked. */
static const struct fragmentation_memo *see_node(struct fragmentation *f, const struct cluster *c,
                                                 node_id node)
{
    static const struct node_gpus none = {.model = SYM_NONE};
    const struct node_gpus *g = c->nodes.gpus[node.i] ? c->nodes.gpus[node.i] : &none;
    const struct room *room = &c->nodes.room[node.i];
    struct fragmentation_seen *seen = &f->seen[node.i & ((1u << SEEN_BITS) - 1)];
    int64_t cpu_milli = wrap_sub(room->cpu_alloc, room->cpu_used);
    bool is_as_it_was = seen->key.state && seen->cpu_milli == cpu_milli && seen->n == g->n &&
                        seen->model == g->model && seen->claimed == g->claimed &&
                        has_same(seen->used, g->used);
    if (is_as_it_was)
        return &seen->key;
    struct fragmentation_state s = fragmentation_state(c, node);
    *seen = (struct fragmentation_seen){.n = g->n,
                                        .claimed = g->claimed,
                                        .model = g->model,
                                        .cpu_milli = cpu_milli,
                                        .key = key_of(f, &s)};
    memcpy(seen->used, g->used, sizeof(seen->used));
    return &seen->key;
}

double *fragmentation_gain(struct fragmentation *f, const struct cluster *c, node_id node,
                           int64_t cpu_milli, struct gpu_ask ask)
{
    const struct node_gpus *g = c->nodes.gpus[node.i];
    bool is_plain = !ask.share_mib && !ask.vram_mib; /* what a GPU is matters to the others */
    if (!is_plain || ask.count > MEMO_GPUS || (g && (g->n > MEMO_GPUS || !g->are_joined)))
        return NULL;
    const struct room *room = &c->nodes.room[node.i];
    int64_t left = wrap_sub(wrap_sub(room->cpu_alloc, room->cpu_used), cpu_milli);
    uint32_t step = steps_reached(f, left);
    assert(step < 1 << 16);
    const struct fragmentation_memo *key = see_node(f, c, node);
    uint32_t change = step << 16 | ask.count << 10 | ask.milli;
    if (!f->last || !is_of(f->last, key, change))
        f->last = recall(f->gains, key, change);
    return &f->last->amount;
}

double fragmentation_of(struct fragmentation *f, const struct fragmentation_state *s)
{
    gpu_mask seen = 0;
    double all = 0;
    if (LIKELY(!s->gpus || s->gpus->are_joined))
        return of_island(f, s);
    for (uint32_t i = 0; i < s->n; i++) {
        if (seen >> i & 1)
            continue;
        struct fragmentation_state part = {.model = s->model, .cpu_milli = s->cpu_milli};
        for (uint32_t k = i; k < s->n; k++)
            if (s->island[i] >> k & 1)
                part.left[part.n++] = s->left[k];
        all += of_island(f, &part);
        seen |= s->island[i];
    }
    return all;
}
