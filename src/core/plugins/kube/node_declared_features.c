/* A pod that uses a feature which not every kubelet has goes to a node that declares it. Asked
 * after the filters on keys, as upstream does, so it is one itself. */

#include "core/framework/plugin.h"

static const struct str names_of[] = {STR("RestartAllContainersOnContainerExits"),
                                      STR("UserNamespacesHostNetworkSupport"),
                                      STR("VolumeBindMountOptions")};

struct needs {
    sym features[LEN(names_of)]; /* held */
    uint32_t n;
    reason_id missing;
};

static void learn(struct learning *l, void *cls)
{
    struct needs *needs = cls;
    for (uint32_t i = 0; i < LEN(names_of); i++)
        if (l->spec->features >> i & 1) {
            sym feature = names_get(&l->cluster->names, names_of[i]);
            intern_hold(&l->cluster->names.text, feature);
            needs->features[needs->n++] = feature;
        }
    needs->missing =
        learning_reason(l, CODE_UNRESOLVABLE, "node(s) didn't match Pod's required features");
    l->filters = needs->n > 0;
    l->n_keys = 1;
}

static void forget(struct cluster *c, void *cls)
{
    const struct needs *needs = cls;
    for (uint32_t i = 0; i < needs->n; i++)
        intern_drop(&c->names.text, needs->features[i]);
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct needs *needs = cls;
    *out = 1;
    for (uint32_t i = 0; i < needs->n; i++)
        *out &= names_label(&c->names, c->nodes.features[node.i], needs->features[i]) != SYM_NONE;
}

static reason_id key_filter(const struct cluster *c, const void *cls, const uint32_t *key)
{
    (void)c;
    return *key ? 0 : ((const struct needs *)cls)->missing;
}

static bool hint_pod(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    (void)shape;
    return e->old_shape && e->new_shape &&
           specs_at(&c->specs, e->old_shape->spec)->features !=
               specs_at(&c->specs, e->new_shape->spec)->features;
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_DECLARED_FEATURE, NULL},
    {EVENT_TARGET_POD, ACTION_UPDATE, hint_pod},
    {0},
};

const struct plugin plugin_node_declared_features = {
    .name = "NodeDeclaredFeatures",
    .key_columns = COLUMN_FEATURES,
    .class_size = sizeof(struct needs),
    .learn = learn,
    .forget = forget,
    .key = key,
    .key_filter = key_filter,
    .wakes = wakes,
};
