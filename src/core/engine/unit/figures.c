/* What is counted while it happens; what can be told from rows when somebody asks is not
 * (step/stats.c). */

#include "core/engine/unit/unit.h"

const struct bounds attempts_bounds = {.first = 1, .factor = 2, .n = 5},
                    pod_wait_bounds = {.first = 0.01, .factor = 2, .n = 20},
                    victims_bounds = {.first = 1, .factor = 2, .n = 7};

static uint32_t counts_of(struct engine_counts *c, struct str profile)
{
    for (uint32_t i = 0; i < c->profiles.n; i++)
        if (str_equal(c->profiles.at[i].name, profile))
            return i;
    struct str name = {mem_copy(profile.p, profile.n), profile.n};
    vec_push(&c->profiles, (struct profile_counts){.name = name});
    return c->profiles.n - 1;
}

void engine_count_profiles(struct engine *k)
{
    vec_clear(&k->figures->counts.of);
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++)
        vec_push(&k->figures->counts.of,
                 counts_of(&k->figures->counts, k->config.rules.profiles[i].name));
}

void engine_count_bound(struct engine_counts *c, uint32_t profile, uint32_t attempts,
                        int64_t waited_ms)
{
    c->profiles.at[profile].scheduled++;
    histogram_add(&c->attempts, &attempts_bounds, attempts);
    histogram_add(&c->waits[MIN(attempts, (uint32_t)LEN(c->waits)) - 1], &pod_wait_bounds,
                  (double)waited_ms / 1000);
}

void engine_count_victims(struct engine_counts *c, uint32_t victims)
{
    histogram_add(&c->victims, &victims_bounds, victims);
}

void engine_counts_done(struct engine_counts *c)
{
    vec_each(&c->profiles, p)
        mem_free((char *)(uintptr_t)p->name.p);
    vec_done(&c->profiles);
    vec_done(&c->of);
}

struct figures *figures_new(void)
{
    return mem_alloc(sizeof(struct figures));
}

void figures_free(struct figures *f)
{
    engine_counts_done(&f->counts);
    placement_counts_done(&f->placements);
    vec_done(&f->gangs);
    mem_free(f);
}

/* Parts of shared ones included. */
double engine_gpus_in_row(const struct cluster *c, const struct pod_row *row)
{
    struct gpu_ask ask = cluster_spec(c, (pod_id){(uint32_t)(row - c->pods.rows.at)})->gpus;
    return row->gpus ? (double)__builtin_popcount(row->gpus) * row->gpu_milli / GPU_WHOLE
                     : (double)ask.count * ask.milli / GPU_WHOLE;
}

double engine_gpus_of(const struct engine *k, pod_id pod)
{
    return engine_gpus_in_row(k->cluster, pods_at(&k->cluster->pods, pod));
}

void engine_count_evicted(struct engine *k, double gpus, int64_t since_ms)
{
    if (since_ms != TIME_NONE && k->now_ms > since_ms)
        k->figures->counts.evicted_gpu_seconds += gpus * (double)(k->now_ms - since_ms) / 1000;
}
