#include "core/framework/bucket.h"

void buckets_reset(struct buckets *b, uint32_t n_keys)
{
    intern_done(&b->table);
    vec_clear(&b->keys);
    vec_reserve(&b->keys, 1); /* a key of no numbers has an address, too */
    vec_clear(&b->at);
    vec_clear(&b->live);
    b->n_keys = n_keys;
    b->last = 0;
}

void buckets_done(struct buckets *b)
{
    intern_done(&b->table);
    vec_done(&b->keys);
    vec_done(&b->at);
    vec_done(&b->live);
}

uint32_t buckets_get(struct buckets *b, const uint32_t *key)
{
    bool is_new;
    struct str bytes = {(const char *)key, b->n_keys * sizeof(uint32_t)};
    if (b->last < b->at.n && memcmp(buckets_key(b, b->last), key, bytes.n) == 0)
        return b->last;
    b->last = intern_get(&b->table, bytes, &is_new);
    if (is_new) {
        vec_push(&b->at, (struct bucket){.best = ID_NONE});
        for (uint32_t i = 0; i < b->n_keys; i++)
            vec_push(&b->keys, key[i]);
    }
    return b->last;
}

void buckets_wake(struct buckets *b, uint32_t i)
{
    b->at.at[i].at_live = b->live.n;
    vec_push(&b->live, i);
}

void buckets_rest(struct buckets *b, uint32_t i)
{
    uint32_t hole = b->at.at[i].at_live, last = vec_pop(&b->live);
    b->at.at[i].nodes = 0;
    if (last == i)
        return;
    b->live.at[hole] = last;
    b->at.at[last].at_live = hole;
}

void decider_reserve(struct decider *d, uint32_t n)
{
    vec_reserve(&d->raw, n);
    vec_reserve(&d->normal, n);
    vec_reserve(&d->sums, n);
}

void decider_done(struct decider *d)
{
    vec_done(&d->which);
    vec_done(&d->nodes);
    vec_done(&d->raw);
    vec_done(&d->normal);
    vec_done(&d->sums);
}

static reason_id filter_key(const struct cluster *c, const struct class *class, const uint32_t *key)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        const struct class_part *part = &class->parts[i];
        if (!part->filters || !part->plugin->key_filter)
            continue;
        reason_id reason = part->plugin->key_filter(c, part->state, key + part->key_at);
        if (reason)
            return reason;
    }
    return 0;
}

/* Which buckets pass; returns how many nodes they have. */
static uint32_t filter(const struct cluster *c, const struct class *class, struct buckets *b,
                       struct decider *d)
{
    uint32_t feasible = 0;
    vec_clear(&d->which);
    vec_reserve(&d->which, b->live.n);
    vec_reserve(&d->nodes, b->live.n);
    vec_each(&b->live, i) {
        struct bucket *bucket = &b->at.at[*i];
        bucket->shared = 0;
        bucket->refused = class->has_key_filter ? filter_key(c, class, buckets_key(b, *i)) : 0;
        if (bucket->refused)
            continue;
        d->nodes.at[d->which.n] = bucket->nodes;
        d->which.at[d->which.n++] = *i;
        feasible += bucket->nodes;
    }
    return feasible;
}

void buckets_score(const struct cluster *c, const struct class_part *part, const struct buckets *b,
                   struct decider *d)
{
    decider_reserve(d, d->which.n);
    struct feasible f = {
        .n = d->which.n,
        .which = d->which.at,
        .nodes = d->nodes.at,
        .keys = b->keys.at + part->key_at,
        .stride = b->n_keys,
        .sums = d->sums.at,
    };
    part->plugin->key_score(c, part->state, &f, d->raw.at, d->normal.at);
}

static void score(const struct cluster *c, const struct class *class, struct buckets *b,
                  struct decider *d)
{
    for (uint32_t p = 0; p < class->n_parts; p++) {
        const struct class_part *part = &class->parts[p];
        if (!class_part_scores_keys(part))
            continue;
        buckets_score(c, part, b, d);
        for (uint32_t i = 0; i < d->which.n; i++)
            b->at.at[d->which.at[i]].shared += part->weight * d->normal.at[i];
    }
}

struct decision buckets_decide(const struct cluster *c, const struct class *class,
                               struct buckets *b, struct decider *d, bool all_scores)
{
    struct decision decision = {.node = ID_NONE, .broken = ID_NONE};
    decision.feasible = filter(c, class, b, d);
    if (d->which.n > 1 || all_scores)
        score(c, class, b, d);
    int64_t best = INT64_MIN; /* first how much, then who: few have it, so few branches go wrong */
    for (uint32_t i = 0; i < d->which.n; i++) {
        const struct bucket *bucket = &b->at.at[d->which.at[i]];
        best = MAX(best, bucket->shared + bucket->local);
    }
    for (uint32_t i = 0; i < d->which.n; i++) {
        const struct bucket *bucket = &b->at.at[d->which.at[i]];
        if (bucket->shared + bucket->local != best ||
            (decision.node != ID_NONE && !cluster_wins_tie(c, bucket->best, decision.node)))
            continue;
        decision.node = bucket->best;
        decision.total = best;
    }
    return decision;
}
