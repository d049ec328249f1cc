#include "core/cluster/cliques.h"

#include "core/cluster/cluster.h"
#include "core/model/topology.h"

void cliques_done(struct cliques *q)
{
    map_done(&q->by_value);
    vec_done(&q->at);
    vec_done(&q->of);
}

sym cliques_value(const struct cliques *q, node_id node)
{
    uint32_t at = node.i < q->of.n ? q->of.at[node.i].clique : 0;
    return at ? q->at.at[at - 1].value : SYM_NONE;
}

const struct clique *cliques_find(const struct cliques *q, sym value)
{
    uint32_t at = map_find(&q->by_value, value);
    return at == MAP_NONE ? NULL : &q->at.at[at];
}

/* What its labels say. */
static sym told_value(const struct cluster *c, node_id node)
{
    sym value = SYM_NONE;
    if (!nodes_is_present(&c->nodes, node))
        return SYM_NONE;
    for (uint32_t i = 0; i < n_topology_keys && value == SYM_NONE; i++) {
        if (topology_keys[i].kind != TOPOLOGY_CLIQUE)
            continue;
        sym key = names_find(&c->names, topology_keys[i].key);
        value = key == SYM_NONE ? SYM_NONE : cluster_label(c, node, key);
    }
    return value;
}

static uint32_t place_of(struct cliques *q, sym value)
{
    uint32_t at = map_find(&q->by_value, value);
    if (at != MAP_NONE)
        return at;
    for (at = 0; at < q->at.n && q->at.at[at].value != SYM_NONE;)
        at++;
    if (at == q->at.n)
        vec_push(&q->at, (struct clique){0});
    q->at.at[at] = (struct clique){.value = value};
    map_put(&q->by_value, value, at);
    return at;
}

/* The node is in no clique any more. */
static void leave(struct cliques *q, struct clique_share *share)
{
    struct clique *clique = &q->at.at[share->clique - 1];
    clique->gpus -= share->gpus;
    clique->idle -= share->idle;
    q->nodes--;
    if (--clique->nodes == 0) {
        map_remove(&q->by_value, clique->value);
        clique->value = SYM_NONE;
    }
    *share = (struct clique_share){0};
}

static void join(struct cliques *q, struct clique_share *share, sym value)
{
    uint32_t at = place_of(q, value);
    q->at.at[at].nodes++;
    q->nodes++;
    share->clique = at + 1;
}

static void measure(struct cliques *q)
{
    q->most = 0;
    vec_each(&q->at, clique)
        q->most = clique->value == SYM_NONE ? q->most : MAX(q->most, clique->gpus);
}

void cliques_use(struct cluster *c, node_id node)
{
    struct cliques *q = &c->cliques;
    if (LIKELY(node.i >= q->of.n || !q->of.at[node.i].clique))
        return;
    struct clique_share *share = &q->of.at[node.i];
    struct clique *clique = &q->at.at[share->clique - 1];
    const struct node_gpus *g = c->nodes.gpus[node.i];
    uint32_t gpus = g ? (uint32_t)__builtin_popcount(g->there) : 0;
    uint32_t idle = g ? (uint32_t)__builtin_popcount(gpus_idle(g)) : 0;
    clique->idle += idle - share->idle;
    share->idle = idle;
    if (gpus == share->gpus)
        return;
    clique->gpus += gpus - share->gpus;
    share->gpus = gpus;
    measure(q);
}

void cliques_put(struct cluster *c, node_id node)
{
    struct cliques *q = &c->cliques;
    sym value = told_value(c, node);
    if (value == cliques_value(q, node)) {
        cliques_use(c, node);
        return;
    }
    while (q->of.n <= node.i)
        vec_push(&q->of, (struct clique_share){0});
    if (q->of.at[node.i].clique) {
        leave(q, &q->of.at[node.i]);
        measure(q);
    }
    if (value == SYM_NONE)
        return;
    join(q, &q->of.at[node.i], value);
    cliques_use(c, node);
}
