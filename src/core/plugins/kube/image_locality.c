/* Prefers nodes that have the pod's images already, weighing large ones more and those that are
 * everywhere anyway less. How many nodes have an image is a fact of the cluster, so a node's key is
 * only which of the pod's images it has; what that is worth is worked out when a decision is made.
 */

#include "core/framework/plugin.h"

enum { MOST_IMAGES = 32 * PLUGIN_MOST_KEYS };

static const int64_t least_bytes = 23LL << 20, most_bytes_each = 1000LL << 20;

struct wants {
    const sym *images; /* live as long as the spec, which the class holds */
    uint32_t n;
};

static void learn(struct learning *l, void *cls)
{
    struct wants *wants = cls;
    *wants = (struct wants){l->spec->images, MIN(l->spec->n_images, (uint32_t)MOST_IMAGES)};
    l->scores = true;
    l->n_keys = (wants->n + 31) / 32;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct wants *wants = cls;
    memset(out, 0, (wants->n + 31) / 32 * sizeof(*out));
    for (uint32_t i = 0; i < wants->n; i++)
        if (nodes_has_image(&c->nodes, node, wants->images[i]))
            out[i / 32] |= 1u << (i % 32);
}

static int64_t bytes_there(const struct cluster *c, const struct wants *wants,
                           const uint32_t *key_of)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < wants->n; i++) {
        if (!(key_of[i / 32] >> (i % 32) & 1))
            continue;
        struct image_state image = nodes_image(&c->nodes, wants->images[i]);
        double share = (double)image.nodes / (double)c->nodes.present;
        sum = wrap_add(sum, trunc_i64((double)image.size_bytes * share));
    }
    return sum;
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    const struct wants *wants = cls;
    int64_t most = wrap_mul(most_bytes_each, wants->n);
    for (uint32_t i = 0; i < f->n; i++) {
        int64_t sum = wants->n ? bytes_there(c, wants, feasible_key(f, i)) : 0;
        sum = MIN(MAX(sum, least_bytes), MAX(most, least_bytes));
        raw[i] = normal[i] =
            most > least_bytes ? wrap_mul(100, sum - least_bytes) / (most - least_bytes) : 0;
    }
}

const struct plugin plugin_image_locality = {
    .name = "ImageLocality",
    .summary = "Prefers nodes that already have the pod's images.",
    .key_columns = COLUMN_IMAGES,
    .class_size = sizeof(struct wants),
    .weight = 1,
    .learn = learn,
    .key = key,
    .key_score = key_score,
};
