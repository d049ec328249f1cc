#include "core/framework/aspect.h"

static void aspect_done(struct aspect *a)
{
    intern_done(&a->table);
    vec_done(&a->keys);
    vec_done(&a->nodes);
    vec_done(&a->worth);
    vec_done(&a->number);
}

void aspects_done(struct aspects *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        aspect_done(&a->at[i]);
    mem_free(a->at);
    vec_done(&a->totals);
    *a = (struct aspects){0};
}

void aspects_reset(struct aspects *a, const struct class *class)
{
    aspects_done(a);
    a->at = mem_alloc((class->n_parts + 1) * sizeof(*a->at));
    for (uint32_t i = 0; i < class->n_parts; i++) {
        if (!class_part_scores_keys(&class->parts[i]))
            continue;
        a->at[a->n] = (struct aspect){.part = &class->parts[i]};
        vec_reserve(&a->at[a->n].keys, 1); /* a key of no numbers has an address, too */
        a->n++;
    }
}

void aspects_add(struct aspects *all, const uint32_t *key)
{
    for (uint32_t i = 0; i < all->n; i++) {
        struct aspect *a = &all->at[i];
        const uint32_t *own = key + a->part->key_at;
        uint32_t n = a->part->n_keys;
        bool is_new;
        vec_push(&a->number,
                 intern_get(&a->table, (struct str){(const char *)own, n * sizeof(*own)}, &is_new));
        if (!is_new)
            continue;
        vec_push(&a->nodes, 0);
        vec_push(&a->worth, 0);
        for (uint32_t k = 0; k < n; k++)
            vec_push(&a->keys, own[k]);
    }
}

void aspects_count(struct aspects *a, uint32_t bucket, int32_t more)
{
    a->nodes += (uint32_t)more;
    for (uint32_t i = 0; i < a->n; i++)
        a->at[i].nodes.at[a->at[i].number.at[bucket]] += (uint32_t)more;
}

/* Asks the plugin about each aspect that a node has; false if that is one and the same for all,
 * which tells nothing apart: `common` takes it. */
static bool ask(const struct cluster *c, struct aspect *a, struct decider *d, int64_t *common)
{
    uint32_t n = 0;
    vec_reserve(&d->which, a->nodes.n);
    vec_reserve(&d->nodes, a->nodes.n);
    decider_reserve(d, a->nodes.n);
    for (uint32_t i = 0; i < a->nodes.n; i++) {
        d->which.at[n] = i;
        d->nodes.at[n] = a->nodes.at[i];
        n += a->nodes.at[i] > 0;
    }
    struct feasible f = {.n = n,
                         .which = d->which.at,
                         .nodes = d->nodes.at,
                         .keys = a->keys.at,
                         .stride = a->part->n_keys,
                         .sums = d->sums.at};
    a->part->plugin->key_score(c, a->part->state, &f, d->raw.at, d->normal.at);
    for (uint32_t i = 0; i < n; i++)
        a->worth.at[d->which.at[i]] = a->part->weight * d->normal.at[i];
    if (n == 1)
        *common += a->worth.at[d->which.at[0]];
    return n > 1;
}

static void add_worth(const struct aspect *a, const struct buckets *b, int64_t *totals)
{
    const uint32_t *live = b->live.at, *number = a->number.at;
    const int64_t *worth = a->worth.at;
    for (uint32_t i = 0; i < b->live.n; i++)
        totals[i] += worth[number[live[i]]];
}

struct decision aspects_decide(const struct cluster *c, struct aspects *a, const struct buckets *b,
                               struct decider *d)
{
    struct decision decision = {.node = ID_NONE, .broken = ID_NONE, .feasible = a->nodes};
    int64_t common = 0, best = INT64_MIN;
    vec_reserve(&a->totals, b->live.n);
    int64_t *totals = a->totals.at;
    for (uint32_t i = 0; i < b->live.n; i++)
        totals[i] = b->at.at[b->live.at[i]].local;
    for (uint32_t i = 0; b->live.n > 1 && i < a->n; i++)
        if (ask(c, &a->at[i], d, &common))
            add_worth(&a->at[i], b, totals);
    for (uint32_t i = 0; i < b->live.n; i++)
        best = MAX(best, totals[i]);
    for (uint32_t i = 0; i < b->live.n; i++) {
        uint32_t node = b->at.at[b->live.at[i]].best;
        if (totals[i] != best ||
            (decision.node != ID_NONE && !cluster_wins_tie(c, node, decision.node)))
            continue;
        decision.node = node;
        decision.total = best + common;
    }
    return decision;
}
