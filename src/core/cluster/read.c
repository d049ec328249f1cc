#include "core/cluster/read.h"

#include <stdlib.h>

#include "core/model/resources.h"

VEC_TYPE(pair_syms, struct pair_sym);

static label_set_id label_set(struct cluster *c, const pair_list *labels, sym left_out, sym *value)
{
    struct pair_syms pairs = {0};
    list_each(labels, l) {
        struct pair_sym pair = {names_get(&c->names, l->key), names_get(&c->names, l->value)};
        if (pair.key == left_out)
            *value = pair.value;
        else
            vec_push(&pairs, pair);
    }
    label_set_id id = names_label_set(&c->names, pairs.at, pairs.n);
    vec_done(&pairs);
    return id;
}

label_set_id read_labels(struct cluster *c, const pair_list *labels)
{
    return label_set(c, labels, SYM_NONE, NULL);
}

static int by_key(const void *a, const void *b)
{
    const struct pair_sym *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void leave_one_of_each(struct pair_syms *pairs)
{
    uint32_t n = 0;
    if (pairs->n > 1)
        qsort(pairs->at, pairs->n, sizeof(*pairs->at), by_key);
    for (uint32_t i = 0; i < pairs->n; i++)
        if (n == 0 || pairs->at[n - 1].key != pairs->at[i].key)
            pairs->at[n++] = pairs->at[i];
    pairs->n = n;
}

static label_set_id read_features(struct cluster *c, const struct node *node)
{
    struct pair_syms pairs = {0};
    sym none = names_get(&c->names, STR(""));
    list_each(&node->status.declared_features, feature)
        vec_push(&pairs, (struct pair_sym){names_get(&c->names, *feature), none});
    leave_one_of_each(&pairs);
    label_set_id id = names_label_set(&c->names, pairs.at, pairs.n);
    vec_done(&pairs);
    return id;
}

static taint_set_id read_taints(struct cluster *c, const struct node *node)
{
    VEC(struct taint_sym) taints = {0};
    list_each(&node->spec.taints, t)
        vec_push(&taints,
                 (struct taint_sym){names_get(&c->names, t->key), names_get(&c->names, t->value),
                                    taint_effect_of(t->effect)});
    taint_set_id id = names_taint_set(&c->names, taints.at, taints.n);
    vec_done(&taints);
    return id;
}

static void read_hardware(struct cluster *c, const struct node *node, struct node_row *row,
                          struct arena *mem)
{
    struct hardware_room room;
    struct misreads misread = {0};
    row->hardware = nodes_hardware_get(&c->nodes, hardware_read(node, &room, &misread));
    if (UNLIKELY(misread.n))
        row->misread = arena_copy(mem, misread.at, misread.n * sizeof(*misread.at));
    row->n_misread = misread.n;
    vec_done(&misread);
}

static int by_resource(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    return (x->resource > y->resource) - (x->resource < y->resource);
}

static void read_allocatable(struct cluster *c, const struct node *node, struct node_row *row,
                             struct arena *mem)
{
    const amount_list *have = &node->status.allocatable;
    struct need *others = arena_array(mem, struct need, have->n);
    list_each(have, a) {
        if (str_equal(a->name, STR("cpu"))) {
            row->cpu_milli = quantity_milli(a->quantity);
        } else if (str_equal(a->name, STR("memory"))) {
            row->memory = quantity_value(a->quantity);
        } else if (str_equal(a->name, STR("pods"))) {
            row->pods = (int32_t)MIN(quantity_value(a->quantity), (int64_t)INT32_MAX);
        } else if (str_equal(a->name, STR("ephemeral-storage")) || resource_is_scalar(a->name)) {
            int64_t amount = quantity_value(a->quantity);
            resource_id id = resources_get(&c->specs.resources, &c->names, a->name);
            resources_offer(&c->specs.resources, id);
            if (amount)
                others[row->n_others++] = (struct need){id, 0, amount};
        }
    }
    if (row->n_others > 1)
        qsort(others, row->n_others, sizeof(*others), by_resource);
    row->others = others;
}

static int by_image(const void *a, const void *b)
{
    const struct node_image *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static void read_images(struct cluster *c, const struct node *node, struct node_row *row,
                        struct arena *mem)
{
    uint32_t n = 0, kept = 0;
    list_each(&node->status.images, image)
        n += image->names.n;
    struct node_image *images = arena_array(mem, struct node_image, n);
    n = 0;
    list_each(&node->status.images, image)
        list_each(&image->names, name)
            images[n++] = (struct node_image){names_get(&c->names, *name), image->size_bytes};
    if (n > 1)
        qsort(images, n, sizeof(*images), by_image);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || images[kept - 1].name != images[i].name)
            images[kept++] = images[i];
    row->images = images;
    row->n_images = kept;
}

struct node_row read_node(struct cluster *c, const struct node *node, struct arena *mem)
{
    struct node_row row = NODE_ROW_ABSENT;
    row.is_present = true;
    row.is_cordoned = node->spec.unschedulable;
    row.labels = label_set(c, &node->meta.labels, c->matches.hostname, &row.hostname);
    row.features = read_features(c, node);
    row.taints = read_taints(c, node);
    read_hardware(c, node, &row, mem);
    read_allocatable(c, node, &row, mem);
    read_images(c, node, &row, mem);
    return row;
}

/* The controller, if it is of a kind whose selector default spreading uses. */
static void read_owner(struct cluster *c, const struct pod *pod, struct shape *shape)
{
    static const struct {
        struct str api_version, kind;
        enum owner_kind owner;
    } kinds[] = {
        {STR("v1"), STR("ReplicationController"), OWNER_REPLICATION_CONTROLLER},
        {STR("apps/v1"), STR("ReplicaSet"), OWNER_REPLICA_SET},
        {STR("apps/v1"), STR("StatefulSet"), OWNER_STATEFUL_SET},
    };
    shape->owner_kind = OWNER_NONE;
    shape->owner = SYM_NONE;
    list_each(&pod->meta.owners, o) {
        if (!o->is_controller)
            continue;
        for (size_t i = 0; i < LEN(kinds); i++)
            if (str_equal(o->api_version, kinds[i].api_version) &&
                str_equal(o->kind, kinds[i].kind)) {
                shape->owner_kind = kinds[i].owner;
                shape->owner = names_get(&c->names, o->name);
            }
        return;
    }
}

/* Pods of one application may share what is reserved for it. */
static sym app_of(const struct names *names, label_set_id labels)
{
    static const struct str keys[] = {
        STR("scheduling.kubenexus.io/app-id"),
        STR("spark-app-id"),
        STR("ray.io/cluster"),
    };
    sym app = SYM_NONE;
    for (size_t i = 0; i < LEN(keys) && app == SYM_NONE; i++) {
        sym key = names_find(names, keys[i]);
        app = key == SYM_NONE ? SYM_NONE : names_label(names, labels, key);
    }
    return app;
}

/* The shape of these parts, with its terms. */
static shape_id shape_of(struct cluster *c, struct shape parts)
{
    bool is_new;
    shape_id id = pods_shape_get(&c->pods, &c->names, &c->specs, parts, &is_new);
    if (!is_new)
        return id;
    c->pods.shapes.at[id].app = app_of(&c->names, parts.labels);
    terms_take(&c->terms, &c->names, &c->matches, specs_at(&c->specs, parts.spec),
               &c->pods.shapes.at[id]);
    return id;
}

/* The spec of a pod that waits, with the claim for its extended resources that an earlier try may
 * have left. */
static spec_id leave(struct cluster *c, spec_id spec, struct str uid)
{
    sym left = devices_extended(&c->devices, names_find(&c->names, uid));
    if (specs_at(&c->specs, spec)->left_claim == left)
        return spec;
    return specs_leave(&c->specs, &c->names, &c->matches, spec, left);
}

/* Has the pod left a claim, as others of its spec have not? */
static bool has_left(const struct cluster *c, spec_id spec, const struct pod *pod)
{
    const struct spec *s = specs_at(&c->specs, spec);
    return s->n_device_asks && pod->spec.node_name.n == 0 &&
           devices_extended(&c->devices, names_find(&c->names, pod->meta.uid)) != s->left_claim;
}

shape_id read_pod_shape(struct cluster *c, const struct pod *pod, sym *pin)
{
    struct shape parts = {0};
    *pin = SYM_NONE;
    shape_id known = spec_cache_find(&c->spec_cache, pod, !c->keeps_pins);
    if (known != ID_NONE && !has_left(c, c->pods.shapes.at[known].spec, pod))
        return known;
    parts.spec = specs_read(&c->specs, &c->names, &c->matches, pod, c->keeps_pins ? NULL : pin);
    bool may_be_cached = !has_left(c, parts.spec, pod);
    if (!may_be_cached)
        parts.spec = leave(c, parts.spec, pod->meta.uid);
    parts.labels = read_labels(c, &pod->meta.labels);
    parts.namespace = names_get(&c->names, pod->meta.namespace);
    read_owner(c, pod, &parts);
    shape_id shape = shape_of(c, parts);
    if (*pin == SYM_NONE && may_be_cached)
        spec_cache_keep(&c->spec_cache, &c->pods, shape);
    return shape;
}

shape_id read_left_of(struct cluster *c, pod_id pod)
{
    struct shape parts = *pods_shape(&c->pods, pod);
    parts.spec = leave(c, parts.spec, pod_uid(pods_at(&c->pods, pod)));
    return shape_of(c, parts);
}

shape_id read_labels_of(struct cluster *c, const struct pod *pod, pod_id known)
{
    const struct shape *was = pods_shape(&c->pods, known);
    struct shape parts = {.spec = was->spec,
                          .labels = read_labels(c, &pod->meta.labels),
                          .namespace = was->namespace,
                          .owner_kind = was->owner_kind,
                          .owner = was->owner};
    return shape_of(c, parts);
}

selector_id read_selector(struct cluster *c, const struct label_selector *selector)
{
    if (!selector)
        return ID_NONE;
    struct match_vec all = {0};
    match_add_selector(&all, &c->names, selector, &c->mem);
    selector_id id = matches_selector(&c->matches, &c->names, all.at, all.n);
    vec_done(&all);
    arena_reset(&c->mem);
    return id;
}

selector_id read_map_selector(struct cluster *c, const pair_list *selector)
{
    struct match_vec all = {0};
    match_add_pairs(&all, &c->names, selector->at, selector->n, &c->mem);
    selector_id id = matches_selector(&c->matches, &c->names, all.at, all.n);
    vec_done(&all);
    arena_reset(&c->mem);
    return id;
}
