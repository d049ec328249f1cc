#include "core/engine/runtimes.h"

void runtimes_done(struct runtimes *r)
{
    vec_each(&r->keys, k)
        recent_done(&k->recent);
    vec_done(&r->keys);
    map_done(&r->by_key);
}

/* A place for one more key. */
static uint32_t make_room(struct runtimes *r)
{
    if (r->keys.n < RUNTIMES_MOST) {
        vec_push(&r->keys, (struct runtime){0});
        return r->keys.n - 1;
    }
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < r->keys.n; i++)
        if (r->keys.at[i].noted < r->keys.at[oldest].noted)
            oldest = i;
    map_remove(&r->by_key, r->keys.at[oldest].key);
    recent_done(&r->keys.at[oldest].recent);
    return oldest;
}

static struct runtime *key_get(struct runtimes *r, uint64_t key)
{
    uint32_t i = map_find(&r->by_key, key);
    if (i == MAP_NONE) {
        i = make_room(r);
        r->keys.at[i] = (struct runtime){.key = key};
        map_put(&r->by_key, key, i);
    }
    return &r->keys.at[i];
}

void runtimes_note(struct runtimes *r, struct kin kin, int64_t ran_ms)
{
    for (uint32_t i = 0; i < RUNTIME_LEVELS; i++) {
        struct runtime *k = key_get(r, kin.at[i]);
        k->noted = ++r->notes;
        recent_add(&k->recent, ran_ms);
    }
}

int64_t runtimes_expect_ms(const struct runtimes *r, struct kin kin, int64_t ran_ms)
{
    for (uint32_t i = 0; i < RUNTIME_LEVELS; i++) {
        uint32_t at = map_find(&r->by_key, kin.at[i]);
        if (at == MAP_NONE)
            continue;
        const struct recent *recent = &r->keys.at[at].recent;
        if (recent_count_above(recent, ran_ms) >= RUNTIME_LEAST)
            return recent_median_above(recent, ran_ms);
    }
    return ran_ms * 2;
}
