/* Does the node's network suit the work?
 *
 * A pod may name the loosest fabric it can live with: looser ones, and nodes that do not say what
 * they have, are refused. Training is drawn to the tightest fabric; what serves requests to plain
 * Ethernet, which leaves the rest to training. Only pods that ask for accelerators, belong to a
 * gang or say that the network matters are judged. Which rack or clique a gang goes to is decided
 * for the gang as a whole, not here. */

#include "core/framework/plugin.h"

struct network {
    uint8_t scores[N_FABRICS];
    enum fabric least;
    reason_id too_loose;
};

static const uint8_t base[N_FABRICS] = {
    [FABRIC_UNKNOWN] = 50,    [FABRIC_ETHERNET] = 40, [FABRIC_ROCE] = 60,
    [FABRIC_INFINIBAND] = 75, [FABRIC_NVLINK] = 90,   [FABRIC_NVSWITCH] = 100,
};

/* What the kind of work adds: to work that talks among itself, and to work that talks to others. */
static const int8_t inward[N_FABRICS] = {
    [FABRIC_ETHERNET] = -20, [FABRIC_ROCE] = -20, [FABRIC_INFINIBAND] = 15, [FABRIC_NVSWITCH] = 15};
static const int8_t outward[N_FABRICS] = {
    [FABRIC_ETHERNET] = 10, [FABRIC_ROCE] = 10, [FABRIC_INFINIBAND] = -5, [FABRIC_NVSWITCH] = -5};

/* Work that talks to others wants the reverse of the base: a tight fabric is wasted on it. Where
 * the network matters most, what is not the best counts half as much again as a loss; so the best
 * stay apart. */
static int64_t fabric_score(enum fabric fabric, bool is_inward, bool is_sensitive)
{
    int64_t score = is_inward                  ? base[fabric] + inward[fabric]
                    : fabric == FABRIC_UNKNOWN ? base[fabric]
                                               : 100 - base[fabric] + outward[fabric];
    score = MIN(MAX(score, 0), 100);
    return is_sensitive ? MAX(score - (100 - score) / 2, 0) : score;
}

static void learn(struct learning *l, void *cls)
{
    struct network *n = cls;
    const struct classified *is = &l->identity->is;
    const struct wishes *w = &l->spec->wishes;
    bool is_sensitive = w->network_sensitive == WISH_YES;
    bool is_known = is->workload != WORKLOAD_UNKNOWN && !is->is_assumed;
    bool is_inward = is_sensitive || is->is_gang || is->workload == WORKLOAD_BATCH ||
                     is->workload == WORKLOAD_TRAINING;
    n->least = w->min_fabric;
    n->too_loose = learning_reason(l, CODE_UNRESOLVABLE,
                                   "node(s) had no network fabric of the tier asked for");
    for (uint32_t i = 0; i < N_FABRICS; i++)
        n->scores[i] = (uint8_t)fabric_score(i, is_inward, is_sensitive);
    l->filters = n->least != FABRIC_UNKNOWN;
    l->scores = is_sensitive || l->filters || is->is_gang ||
                (is_known && l->spec->accelerators > 0 && w->network_sensitive != WISH_NO);
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct network *n = cls;
    return nodes_hardware(&c->nodes, node)->fabric < n->least ? n->too_loose : 0;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct network *n = cls;
    return n->scores[nodes_hardware(&c->nodes, node)->fabric];
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL | ACTION_NODE_DECLARED_FEATURE, NULL},
    {0},
};

const struct plugin plugin_network_fabric_score = {
    .name = "NetworkFabricScore",
    .knows_levels = true,
    .row_columns = COLUMN_FEATURES,
    .class_size = sizeof(struct network),
    .suits = true,
    .learn = learn,
    .row_filter = row_filter,
    .row_score = row_score,
    .wakes = wakes,
};
