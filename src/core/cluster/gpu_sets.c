#include "core/cluster/gpu_sets.h"

/* What joins two GPUs: three counts in one number, so that sums add up and compare by importance.
 * There are fewer than 2^16 pairs. */
static uint64_t tie(const struct node_gpus *g, uint32_t a, uint32_t b)
{
    uint64_t link = g->peers[a] >> b & 1;
    uint64_t root = g->root[a] && g->root[a] == g->root[b];
    uint64_t zone = g->zone[a] && g->zone[a] == g->zone[b];
    return link << 32 | root << 16 | zone;
}

uint64_t gpu_sets_worth(const struct node_gpus *g, gpu_mask set)
{
    uint64_t worth = 0;
    for (uint32_t a = 0; a < g->n; a++)
        for (uint32_t b = a + 1; b < g->n && set >> a & 1; b++)
            worth += set >> b & 1 ? tie(g, a, b) : 0;
    return worth;
}

/* --- the search --- */

struct search {
    uint32_t n, k; /* to choose from, to choose */
    uint32_t number[GPUS_MOST];
    uint64_t ties[GPUS_MOST][GPUS_MOST];
    uint64_t company[GPUS_MOST]; /* the ties of one with all others */
    uint64_t memory[GPUS_MOST];
    uint32_t twin[GPUS_MOST]; /* one before it that nothing tells apart from it; itself: none */

    bool has_best;
    uint64_t worth, broken, cost; /* of the best */
    gpu_mask best;                /* by place in this list, as all sets here */
};

/* Could the two change places unnoticed? */
static bool are_twins(const struct search *s, uint32_t a, uint32_t b)
{
    if (s->memory[a] != s->memory[b])
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (i != a && i != b && s->ties[a][i] != s->ties[b][i])
            return false;
    return true;
}

/* Fills what will be looked at: to clear all of it costs more than most searches. */
static void prepare(struct search *s, const struct node_gpus *g, gpu_mask from, uint32_t k)
{
    s->n = 0;
    s->k = k;
    s->has_best = false;
    s->best = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (from >> i & 1)
            s->number[s->n++] = i;
    for (uint32_t a = 0; a < s->n; a++) {
        s->company[a] = 0;
        s->memory[a] = g->vram_mib[s->number[a]];
        s->ties[a][a] = 0;
        for (uint32_t b = 0; b < a; b++) {
            uint64_t ties = tie(g, s->number[a], s->number[b]);
            s->ties[a][b] = s->ties[b][a] = ties;
            s->company[a] += ties;
            s->company[b] += ties;
        }
    }
    for (uint32_t a = 0; a < s->n; a++) {
        s->twin[a] = a;
        for (uint32_t b = a; b-- > 0 && s->twin[a] == a;) /* the nearest one */
            if (are_twins(s, a, b))
                s->twin[a] = b;
    }
}

static bool is_better(const struct search *s, uint64_t worth, uint64_t broken, uint64_t cost)
{
    if (!s->has_best || worth != s->worth)
        return !s->has_best || worth > s->worth;
    return broken != s->broken ? broken < s->broken : cost < s->cost;
}

/* All sets that have `set` of the first `at`, in the order of their numbers; `missing` are still to
 * be chosen. Of twins the first ones are taken. */
static void try(struct search *s, uint32_t at, gpu_mask set, uint32_t missing, uint64_t worth,
                uint64_t broken, uint64_t cost)
{
    if (missing == 0) {
        if (is_better(s, worth, broken, cost)) {
            s->has_best = true;
            s->worth = worth;
            s->broken = broken;
            s->cost = cost;
            s->best = set;
        }
        return;
    }
    if (s->n - at < missing)
        return;
    uint32_t twin = s->twin[at];
    if (twin == at || set >> twin & 1) {
        uint64_t more = 0;
        for (uint32_t i = 0; i < at; i++)
            more += set >> i & 1 ? s->ties[at][i] : 0;
        try(s, at + 1, set | (gpu_mask)1 << at, missing - 1, worth + more, broken + s->company[at],
            cost + s->memory[at]);
    }
    try(s, at + 1, set, missing, worth, broken, cost);
}

/* From each GPU on, always the one that goes best with those chosen. */
static void grow(struct search *s, uint32_t start)
{
    gpu_mask set = (gpu_mask)1 << start;
    uint64_t worth = 0, broken = s->company[start], cost = s->memory[start];
    for (uint32_t have = 1; have < s->k; have++) {
        uint32_t next = GPUS_MOST;
        uint64_t most = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            uint64_t more = 0;
            if (set >> i & 1)
                continue;
            for (uint32_t b = 0; b < s->n; b++)
                more += set >> b & 1 ? s->ties[i][b] : 0;
            if (next == GPUS_MOST || more > most ||
                (more == most && s->company[i] < s->company[next])) {
                next = i;
                most = more;
            }
        }
        set |= (gpu_mask)1 << next;
        worth += most;
        broken += s->company[next];
        cost += s->memory[next];
    }
    if (is_better(s, worth, broken, cost)) {
        s->has_best = true;
        s->worth = worth;
        s->broken = broken;
        s->cost = cost;
        s->best = set;
    }
}

static gpu_mask lowest(gpu_mask from, uint32_t k)
{
    gpu_mask out = 0;
    for (; k > 0; k--) {
        out |= from & (~from + 1);
        from &= from - 1;
    }
    return out;
}

gpu_mask gpu_sets_best(const struct node_gpus *g, gpu_mask from, uint32_t k)
{
    struct search s;
    gpu_mask out = 0;
    if ((uint32_t)__builtin_popcount(from) <= k)
        return from;
    if (k == 0)
        return 0;
    if (LIKELY(g->are_alike))
        return lowest(from, k);
    prepare(&s, g, from, k);
    if (s.n <= GPU_SETS_EXACT)
        try(&s, 0, 0, k, 0, 0, 0);
    else
        for (uint32_t i = 0; i < s.n; i++)
            grow(&s, i);
    for (uint32_t i = 0; i < s.n; i++)
        if (s.best >> i & 1)
            out |= (gpu_mask)1 << s.number[i];
    return out;
}
