#include "core/cluster/demand.h"

#include "core/base/real.h"
#include "core/cluster/cluster.h"

void demand_watch(struct demand *d, bool is_watched)
{
    if (d->is_watched == is_watched)
        return;
    *d = (struct demand){.is_watched = is_watched, .generation = d->generation + 1};
    d->mix.largest = GPU_SIZES_USUAL;
    for (uint32_t i = 1; i <= GPU_SIZES_USUAL; i++)
        d->mix.of[i] = 1.0 / GPU_SIZES_USUAL;
}

static void add(double *sizes, struct gpu_ask ask)
{
    sizes[MIN(ask.count, (uint32_t)GPUS_MOST)] += (double)ask.count * ask.milli;
}

void demand_note(struct demand *d, struct gpu_ask ask)
{
    if (UNLIKELY(d->is_watched))
        add(d->recent, ask);
}

static void let_fade(struct demand *d, int64_t now_ms)
{
    static const double ln_2 = 0.693147180559945309;
    double lives = (double)MAX(now_ms - d->reviewed_ms, (int64_t)0) / DEMAND_HALF_LIFE_MS;
    double left = real_exp(-ln_2 * lives);
    for (uint32_t i = 0; i <= GPUS_MOST; i++)
        d->recent[i] *= left;
    d->reviewed_ms = now_ms;
}

static void add_waiting(const struct cluster *c, double *sizes)
{
    for (uint32_t i = 0; i < c->pods.rows.n; i++) {
        const struct pod_row *row = &c->pods.rows.at[i];
        if (pod_is_waiting(row) && !(row->flags & POD_TERMINATING))
            add(sizes, cluster_spec(c, (pod_id){i})->gpus);
    }
    for (uint32_t i = 1; i <= GPUS_MOST; i++)
        sizes[i] += (double)c->kueue.sizes[i] * i * GPU_WHOLE;
}

static uint32_t largest_of(const struct node_gpus *g)
{
    uint32_t most = 0;
    for (uint32_t i = 0; g && i < g->n; i++)
        most = MAX(most, (uint32_t)__builtin_popcount(g->island[i] & g->there));
    return most;
}

/* GPUs of the largest island. */
static uint32_t largest(const struct cluster *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}))
            most = MAX(most, largest_of(c->nodes.gpus[i]));
    return most ? most : GPU_SIZES_USUAL;
}

static struct gpu_mix mix_of(const double *sizes, uint32_t largest)
{
    struct gpu_mix mix = {.largest = largest};
    double all = 0;
    for (uint32_t i = 1; i <= GPUS_MOST; i++)
        all += sizes[i];
    for (uint32_t i = 1; i <= GPUS_MOST; i++)
        mix.of[MIN(i, largest)] += sizes[i] / all;
    return mix;
}

/* How much of the one must move to make it the other. */
static double distance(const struct gpu_mix *a, const struct gpu_mix *b)
{
    double moved = 0;
    for (uint32_t i = 1; i <= GPUS_MOST; i++)
        moved += a->of[i] > b->of[i] ? a->of[i] - b->of[i] : 0;
    return moved;
}

void demand_review(struct cluster *c, int64_t now_ms)
{
    struct demand *d = &c->demand;
    double sizes[GPUS_MOST + 1];
    let_fade(d, now_ms);
    memcpy(sizes, d->recent, sizeof(sizes));
    add_waiting(c, sizes);
    for (uint32_t i = 1; i <= GPU_SIZES_USUAL; i++)
        sizes[i] += DEMAND_FIRST * GPU_WHOLE;
    struct gpu_mix mix = mix_of(sizes, largest(c));
    if (mix.largest != d->mix.largest || distance(&mix, &d->mix) >= DEMAND_MOVES) {
        d->mix = mix;
        d->generation++;
    }
    d->due_ms = now_ms + DEMAND_REVIEW_MS;
}

void gpu_mix_text(const struct gpu_mix *mix, struct buf *out)
{
    for (uint32_t i = 1; i <= mix->largest; i++)
        if (mix->of[i] > 0)
            buf_printf(out, "%s%u=%.1f%%", out->n ? "," : "", i, 100 * mix->of[i]);
}
