/* Brings tenants and hardware of the same tier together: gold on the best GPUs, bronze kept off
 * them. Among nodes that suit a tenant alike the cheaper one is preferred. Only for pods that ask
 * for accelerators, and only where somebody said which tier the pod is of.
 *
 * A node may be reserved for tenants of a tier and above; then a pod that nobody said a tier of
 * counts as of the lowest. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

enum { N_HARDWARE = HARDWARE_PREMIUM + 1, NEUTRAL = 50, COST_PART = 9 };

/* By tier of tenant, then of hardware: none, economy, standard, premium. */
static const uint8_t defaults[N_TIERS][N_HARDWARE] = {
    [TIER_BRONZE] = {NEUTRAL, 100, 20, 20},
    [TIER_SILVER] = {NEUTRAL, 70, 100, 20},
    [TIER_GOLD] = {NEUTRAL, 60, 70, 100},
};

struct match_up {
    uint8_t scores[N_HARDWARE];
    uint32_t allowed; /* hardware tiers, as bits */
    enum tier tier;
    reason_id refused, reserved;
};

/* The tiers that the tenant may use: its own list, or else its tier's; all if there is neither. */
static uint32_t allowed_tiers(const struct learning *l, const struct tenant_args *args)
{
    struct str tenant = names_text(&l->cluster->names, l->identity->tenant);
    uint32_t by_tier = ~(uint32_t)0;
    for (uint32_t i = 0; args && i < args->allowed.n; i++) {
        const struct allowed_tiers *a = &args->allowed.at[i];
        if (a->tenant.n && str_equal(a->tenant, tenant))
            return a->hardware;
        if (!a->tenant.n && a->tier == l->identity->tier)
            by_tier = a->hardware;
    }
    return by_tier;
}

static void learn(struct learning *l, void *cls)
{
    struct match_up *m = cls;
    const struct tenant_args *args = l->args;
    if (l->spec->accelerators == 0 || l->identity->tier == TIER_NONE)
        return;
    m->allowed = allowed_tiers(l, args) | 1u << HARDWARE_NONE; /* who says nothing may be any */
    m->refused = learning_reason(l, CODE_UNRESOLVABLE,
                                 "node(s) had hardware of a tier that the tenant may not use");
    m->tier = identity_has_tier(l->identity) ? l->identity->tier : TIER_BRONZE;
    m->reserved = learning_reason(l, CODE_UNRESOLVABLE, "node(s) were reserved for a higher tier");
    memcpy(m->scores, defaults[l->identity->tier], sizeof(m->scores));
    for (uint32_t h = HARDWARE_ECONOMY; args && args->has_scores && h < N_HARDWARE; h++)
        m->scores[h] = args->scores[l->identity->tier][h];
    l->filters = true;
    l->scores = identity_has_tier(l->identity);
    l->n_keys = l->scores ? 2 : 0;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct match_up *m = cls;
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    return h->reserved > m->tier ? m->reserved : m->allowed >> h->tier & 1 ? 0 : m->refused;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct hardware *h = nodes_hardware(&c->nodes, node);
    (void)cls;
    out[0] = h->tier;
    out[1] = h->cost;
}

/* The tiers' scores are at least ten apart where they differ, so cost breaks ties and no more. A
 * node that does not say what it costs counts as the dearest. */
static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    const struct match_up *m = cls;
    uint32_t least = UINT32_MAX, most = 0;
    (void)c;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t cost = feasible_key(f, i)[1];
        least = cost ? MIN(least, cost) : least;
        most = MAX(most, cost);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t *of = feasible_key(f, i);
        int64_t dear = of[1] ? (int64_t)of[1] - least : (int64_t)most - least;
        raw[i] = m->scores[of[0]];
        normal[i] = MAX(raw[i] - (most > least ? COST_PART * dear / (most - least) : 0), 0);
    }
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL | ACTION_NODE_DECLARED_FEATURE, NULL},
    {EVENT_NAMESPACE, ACTION_UPDATE, NULL},
    {0},
};

const struct plugin plugin_tenant_hardware_affinity_score = {
    .name = "TenantHardwareAffinityScore",
    .row_columns = COLUMN_FEATURES,
    .key_columns = COLUMN_FEATURES,
    .class_size = sizeof(struct match_up),
    .suits = true,
    .learn = learn,
    .row_filter = row_filter,
    .key = key,
    .key_score = key_score,
    .wakes = wakes,
};
