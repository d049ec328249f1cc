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
    for (uint32_t i = 0; i < wants->n; i++) {
        uint32_t has = nodes_has_image(&c->nodes, node, wants->images[i]);
        out[i / 32] = (i % 32 ? out[i / 32] : 0) | has << (i % 32);
    }
}

static void likeness(const void *cls, struct match_words *out)
{
    const struct wants *wants = cls;
    for (uint32_t i = 0; i < wants->n; i++)
        vec_push(out, wants->images[i]);
}

static bool mark(const struct cluster *c, const void *cls, uint32_t thing, uint64_t *nodes)
{
    const struct wants *wants = cls;
    if (thing == wants->n)
        return false;
    images_mark(&c->nodes.known_images, wants->images[thing], nodes);
    return true;
}

/* What having the image is worth: its size, times the share of nodes that have it. */
static int64_t worth(const struct cluster *c, sym image)
{
    struct image_state state = images_state(&c->nodes.known_images, image);
    double share = (double)state.nodes / (double)c->nodes.present;
    return trunc_i64((double)state.size_bytes * share);
}

static int64_t score(int64_t sum, uint32_t n_images)
{
    int64_t most = wrap_mul(most_bytes_each, n_images);
    if (sum < least_bytes)
        sum = least_bytes;
    else if (sum > most)
        sum = most;
    return most == least_bytes ? 0 : wrap_mul(100, sum - least_bytes) / (most - least_bytes);
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    const struct wants *wants = cls;
    if (wants->n ==
        1) { /* the common case, without a branch: which nodes have it is anybody's guess */
        int64_t without = score(0, 1), with = score(worth(c, wants->images[0]), 1);
        for (uint32_t i = 0; i < f->n; i++)
            raw[i] = normal[i] = *feasible_key(f, i) & 1 ? with : without;
        return;
    }
    for (uint32_t i = 0; i < f->n; i++)
        raw[i] = 0;
    for (uint32_t k = 0; k < wants->n; k++) {
        int64_t bytes = worth(c, wants->images[k]);
        for (uint32_t i = 0; i < f->n; i++)
            if (feasible_key(f, i)[k / 32] >> (k % 32) & 1)
                raw[i] = wrap_add(raw[i], bytes);
    }
    int64_t last_sum = -1, last_score = 0; /* few sums are different */
    for (uint32_t i = 0; i < f->n; i++) {
        if (raw[i] != last_sum) {
            last_sum = raw[i];
            last_score = score(last_sum, wants->n);
        }
        raw[i] = normal[i] = last_score;
    }
}

const struct plugin plugin_image_locality = {
    .name = "ImageLocality",
    .key_columns = COLUMN_IMAGES,
    .class_size = sizeof(struct wants),
    .learn = learn,
    .key = key,
    .likeness = likeness,
    .mark = mark,
    .key_score = key_score,
};
