#include "core/cluster/identity.h"

#include "core/cluster/cluster.h"

/* Of two that are there the first one counts. */
static const struct str tier_keys[] = {STR("tenant.kubenexus.io/tier"),
                                       STR("scheduling.kubenexus.io/tier")};
static const struct str tenant_key = STR("tenant.kubenexus.io/name");

static sym label(const struct cluster *c, label_set_id labels, struct str key)
{
    sym s = names_find(&c->names, key);
    return s == SYM_NONE || labels == ID_NONE ? SYM_NONE : names_label(&c->names, labels, s);
}

bool identity_is_said(const struct cluster *c, label_set_id labels)
{
    bool is_said = label(c, labels, tenant_key) != SYM_NONE;
    for (size_t i = 0; i < LEN(tier_keys); i++)
        is_said |= label(c, labels, tier_keys[i]) != SYM_NONE;
    return is_said;
}

static void by_namespace(const struct cluster *c, label_set_id labels, struct identity *out)
{
    for (size_t i = 0; i < LEN(tier_keys); i++) {
        sym value = label(c, labels, tier_keys[i]);
        enum tier tier = value == SYM_NONE ? N_TIERS : tier_of(names_text(&c->names, value));
        if (tier < N_TIERS) {
            out->tier = tier;
            out->tier_source = TIER_OF_NAMESPACE;
            return;
        }
    }
    sym tenant = label(c, labels, tenant_key);
    enum tier tier = tenant == SYM_NONE ? TIER_NONE : tier_by_words(names_text(&c->names, tenant));
    if (tier != TIER_NONE) {
        out->tier = tier;
        out->tier_source = TIER_OF_TENANT;
    }
}

static void by_queue(const struct cluster *c, sym namespace, sym queue, struct identity *out)
{
    enum tier tier = queue == SYM_NONE ? TIER_NONE : kueue_tier(&c->kueue, namespace, queue);
    if (tier == TIER_NONE)
        return;
    out->tier = tier;
    out->tier_source = TIER_OF_KUEUE;
}

struct identity identity_of(struct cluster *c, const struct shape *shape,
                            const struct identity_rules *rules)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    label_set_id labels = map_find(&c->namespaces, shape->namespace);
    sym tenant = label(c, labels, tenant_key);
    bool has_default = rules && rules->default_tier != TIER_NONE;
    struct identity out = {
        .is = spec->class,
        .tier = has_default ? rules->default_tier : TIER_SILVER,
        .tier_source = has_default ? TIER_CONFIGURED : TIER_DEFAULT,
        .tenant = spec->queue != SYM_NONE ? spec->queue
                  : tenant != SYM_NONE    ? tenant
                                          : shape->namespace,
    };
    if (spec->class.class_tier != TIER_NONE) {
        out.tier = spec->class.class_tier;
        out.tier_source = TIER_OF_CLASS;
    }
    by_namespace(c, labels, &out);
    by_queue(c, shape->namespace, spec->queue, &out);
    enum tier own = spec->class.own_tier;
    if (own != TIER_NONE && (own < out.tier || (rules && rules->lets_pods_rise))) {
        out.tier = own;
        out.tier_source = TIER_OF_POD;
    }
    return out;
}

void identity_tier_text(const struct identity *i, struct buf *out)
{
    switch (i->tier_source) {
    case TIER_DEFAULT:
        buf_printf(out, "nothing says otherwise");
        return;
    case TIER_CONFIGURED:
        buf_printf(out, "the default of the configuration");
        return;
    case TIER_OF_CLASS:
        sign_text(i->is.class_tier_sign, out);
        return;
    case TIER_OF_NAMESPACE:
        buf_printf(out, "its namespace's label " STR_FMT, STR_ARG(tier_keys[0]));
        return;
    case TIER_OF_KUEUE:
        buf_printf(out, "its queue's " STR_FMT, STR_ARG(tier_keys[0]));
        return;
    case TIER_OF_TENANT:
        buf_printf(out, "its namespace's label " STR_FMT, STR_ARG(tenant_key));
        return;
    case TIER_OF_POD:
        sign_text(i->is.own_tier_sign, out);
        return;
    }
}
