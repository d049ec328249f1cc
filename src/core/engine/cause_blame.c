/* What a rule is about: which label, which taint, which volume, how much of what. */

#include "core/base/likeness.h"
#include "core/engine/cause.h"
#include "core/engine/inside.h"

struct blaming {
    struct engine *k;
    struct cause *x;
    const struct spec *spec;
    const uint32_t *refused; /* nodes */
    uint32_t n;
};

static struct str text_of(const struct engine *k, sym s)
{
    return names_text(&k->cluster->names, s);
}

/* Is `text` more like what was written than the best so far? */
static bool is_nearer(const struct engine *k, struct str text, struct str written, sym best)
{
    if (!likeness_is_near(text, written))
        return false;
    if (best == SYM_NONE)
        return true;
    uint32_t distance = likeness_distance(text, written);
    uint32_t least = likeness_distance(text_of(k, best), written);
    return distance < least || (distance == least && str_compare(text, text_of(k, best)) < 0);
}

/* --- labels --- */

static bool holds(const struct cluster *c, const struct match *m, node_id node)
{
    sym value = m->is_name ? c->nodes.name[node.i] : cluster_label(c, node, m->key);
    bool is_listed = false;
    int64_t number;
    for (uint32_t i = 0; i < m->n_values; i++)
        is_listed |= m->values[i] == value;
    switch (m->op) {
    case MATCH_IN:
        return value != SYM_NONE && is_listed;
    case MATCH_NOT_IN:
        return value == SYM_NONE || !is_listed;
    case MATCH_EXISTS:
        return value != SYM_NONE;
    case MATCH_MISSING:
        return value == SYM_NONE;
    case MATCH_GREATER:
    case MATCH_LESS:
        break;
    }
    bool is_number = value != SYM_NONE && str_int(names_text(&c->names, value), &number);
    return is_number && (m->op == MATCH_GREATER ? number > m->number : number < m->number);
}

/* Which of the lines the fewest nodes satisfy; the first of them. */
static const struct match *hardest(const struct cluster *c, const struct match *lines, uint32_t n,
                                   const struct match *so_far, uint32_t *fewest)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = 0;
        for (uint32_t node = 0; node < c->nodes.n; node++)
            count += nodes_is_present(&c->nodes, (node_id){node}) &&
                     holds(c, &lines[i], (node_id){node});
        if (count < *fewest) {
            *fewest = count;
            so_far = &lines[i];
        }
    }
    return so_far;
}

/* The key of a node that looks most like what was written. */
static sym nearest_key(const struct engine *k, struct str written)
{
    const struct cluster *c = k->cluster;
    sym best = SYM_NONE;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        uint32_t n;
        const struct pair_sym *pairs =
            lists_at(&c->names.label_sets, c->nodes.labels[i], sizeof(*pairs), &n);
        for (uint32_t p = 0; nodes_is_present(&c->nodes, (node_id){i}) && p < n; p++)
            if (pairs[p].key != best && is_nearer(k, text_of(k, pairs[p].key), written, best))
                best = pairs[p].key;
    }
    return best;
}

/* The value of the key that looks most like what was written. */
static sym nearest_value(const struct engine *k, sym key, struct str written)
{
    const struct cluster *c = k->cluster;
    sym best = SYM_NONE;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        bool is_there = nodes_is_present(&c->nodes, (node_id){i});
        sym value = is_there ? cluster_label(c, (node_id){i}, key) : SYM_NONE;
        if (value != SYM_NONE && value != best && is_nearer(k, text_of(k, value), written, best))
            best = value;
    }
    return best;
}

static bool is_key_known(const struct cluster *c, sym key)
{
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}) &&
            cluster_label(c, (node_id){i}, key) != SYM_NONE)
            return true;
    return false;
}

static void take_line(struct blaming *b, const struct match *m)
{
    struct cause *x = b->x;
    bool is_positive = m->op == MATCH_IN || m->op == MATCH_EXISTS;
    x->key = m->key;
    x->value = m->op == MATCH_IN && m->n_values ? m->values[0] : SYM_NONE;
    x->is_known = m->is_name || is_key_known(b->k->cluster, m->key);
    if (!is_positive || m->is_name)
        x->is_known = true;
    else if (!x->is_known)
        x->nearest = nearest_key(b->k, text_of(b->k, m->key));
    else if (x->value != SYM_NONE)
        x->nearest = nearest_value(b->k, m->key, text_of(b->k, x->value));
}

static void blame_label(struct blaming *b)
{
    const struct cluster *c = b->k->cluster;
    const struct rules *rules = matches_rules_at(&c->matches, b->spec->rules);
    uint32_t fewest = UINT32_MAX;
    const struct match *line = hardest(c, rules->selector, rules->n_selector, NULL, &fewest);
    for (uint32_t i = 0; i < rules->n_required; i++)
        if (rules->n_required == 1 || !line)
            line = hardest(c, rules->required[i].all, rules->required[i].n, line, &fewest);
    if (line)
        take_line(b, line);
}

/* --- taints --- */

static const char *effect_name(enum taint_effect effect)
{
    return effect == EFFECT_NO_EXECUTE ? "NoExecute" : "NoSchedule";
}

/* The first taint of the node that the pod does not tolerate; NULL: none. */
static const struct taint_sym *untolerated(const struct cluster *c, tolerations_id tolerations,
                                           uint32_t node)
{
    uint32_t n_taints, n;
    const struct taint_sym *taint =
        lists_at(&c->names.taint_sets, c->nodes.taints[node], sizeof(*taint), &n_taints);
    const struct toleration_sym *t = lists_at(&c->names.tolerations, tolerations, sizeof(*t), &n);
    for (uint32_t i = 0; i < n_taints; i++)
        if ((taint[i].effect == EFFECT_NO_SCHEDULE || taint[i].effect == EFFECT_NO_EXECUTE) &&
            !tolerations_cover(t, n, taint[i], NULL))
            return &taint[i];
    return NULL;
}

/* The taint that most of the nodes have; of equals, the first node's. */
static void blame_taint(struct blaming *b)
{
    const struct cluster *c = b->k->cluster;
    uint32_t most = 0;
    for (uint32_t i = 0; i < b->n && most <= b->n - i; i++) {
        const struct taint_sym *t = untolerated(c, b->spec->tolerations, b->refused[i]), *other;
        uint32_t count = 0;
        for (uint32_t k = i; t && k < b->n; k++) {
            other = untolerated(c, b->spec->tolerations, b->refused[k]);
            count += other && other->key == t->key && other->value == t->value;
        }
        if (count <= most)
            continue;
        most = count;
        b->x->key = t->key;
        b->x->value = t->value;
        b->x->effect = effect_name(t->effect);
    }
}

/* --- volumes --- */

static void take_volume(struct blaming *b, sym name, const struct volume_facts *v)
{
    static const struct str keys[] = {STR(LABEL_ZONE), STR(LABEL_REGION), STR(LABEL_BETA_ZONE)};
    const struct cluster *c = b->k->cluster;
    const struct rules *rules = matches_rules_at(&c->matches, v->rules);
    b->x->object = name;
    for (uint32_t i = 0; i < rules->n_required && b->x->key == SYM_NONE; i++)
        if (rules->required[i].n && rules->required[i].all[0].n_values) {
            b->x->key = rules->required[i].all[0].key;
            b->x->value = rules->required[i].all[0].values[0];
        }
    for (size_t i = 0; i < LEN(keys) && b->x->key == SYM_NONE; i++) {
        sym key = names_find(&c->names, keys[i]);
        sym value = key == SYM_NONE ? SYM_NONE : names_label(&c->names, v->labels, key);
        if (value != SYM_NONE) {
            b->x->key = key;
            b->x->value = value;
        }
    }
}

/* The first volume of the pod that says where it can be used. */
static void blame_volume(struct blaming *b)
{
    const struct cluster *c = b->k->cluster;
    shape_id shape = b->k->planner.benches.at[b->x->bench].shape;
    sym namespace = c->pods.shapes.at[shape].namespace;
    for (uint32_t i = 0; i < b->spec->n_volumes && b->x->key == SYM_NONE; i++) {
        const struct volume_use *use = &b->spec->volumes[i];
        const struct claim_facts *claim =
            use->kind == VOLUME_CLAIM ? volumes_claim(&c->volumes, namespace, use->name) : NULL;
        const struct volume_facts *v = claim ? volumes_volume(&c->volumes, claim->volume) : NULL;
        if (v)
            take_volume(b, claim->volume, v);
    }
}

/* --- amounts --- */

static void blame_memory(struct blaming *b)
{
    const struct cluster *c = b->k->cluster;
    const struct wishes *w = &b->spec->wishes;
    b->x->ask = w->vram_each_bytes ? w->vram_each_bytes : w->vram_total_bytes;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct hardware *h = nodes_hardware(&c->nodes, (node_id){b->refused[i]});
        b->x->most = MAX(b->x->most, (int64_t)h->vram_bytes);
    }
}

static int64_t offered(const struct cluster *c, node_id node, resource_id resource)
{
    const struct room *room = &c->nodes.room[node.i];
    const struct cell *cell = nodes_cell(&c->nodes, node, resource);
    return resource == RESOURCE_CPU      ? room->cpu_alloc
           : resource == RESOURCE_MEMORY ? room->memory_alloc
           : cell                        ? cell->alloc
                                         : 0;
}

/* A resource that nodes have under a name like this one. */
static sym nearest_resource(const struct engine *k, resource_id resource)
{
    const struct cluster *c = k->cluster;
    const struct resources *r = &c->specs.resources;
    sym best = SYM_NONE;
    for (uint32_t i = 0; i < r->names.n; i++)
        for (uint32_t node = 0; i != resource && node < c->nodes.n; node++) {
            bool is_there =
                nodes_is_present(&c->nodes, (node_id){node}) && offered(c, (node_id){node}, i) > 0;
            if (is_there && r->names.at[i] != best &&
                is_nearer(k, text_of(k, r->names.at[i]), text_of(k, r->names.at[resource]), best))
                best = r->names.at[i];
        }
    return best;
}

/* Is this the resource of which the largest node is the furthest from what is asked for? */
static void blame_offer_of(struct blaming *b, resource_id resource, int64_t ask)
{
    const struct cluster *c = b->k->cluster;
    struct cause *x = b->x;
    int64_t most = 0;
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}))
            most = MAX(most, offered(c, (node_id){i}, resource));
    if (most >= ask || (x->ask && (double)most / (double)ask >= (double)x->most / (double)x->ask))
        return;
    x->resource = resource;
    x->ask = ask;
    x->most = most;
}

/* None is too much by itself: `ask` stays 0. */
static void blame_offer(struct blaming *b)
{
    const struct pod_request *ask = &b->spec->ask;
    for (uint32_t i = 0; i < ask->n_others; i++)
        blame_offer_of(b, ask->others[i].resource, ask->others[i].amount);
    if (ask->cpu_milli)
        blame_offer_of(b, RESOURCE_CPU, ask->cpu_milli);
    if (ask->memory)
        blame_offer_of(b, RESOURCE_MEMORY, ask->memory);
    if (b->x->ask && b->x->most == 0 && b->x->resource >= RESOURCE_FIRST_SCALAR)
        b->x->nearest = nearest_resource(b->k, b->x->resource);
}

int64_t engine_free_of(const struct cluster *c, node_id node, resource_id resource)
{
    const struct room *room = &c->nodes.room[node.i];
    const struct cell *cell = nodes_cell(&c->nodes, node, resource);
    int64_t used = resource == RESOURCE_CPU      ? room->cpu_used
                   : resource == RESOURCE_MEMORY ? room->memory_used
                   : cell                        ? cell->used
                                                 : 0;
    return wrap_sub(offered(c, node, resource), used);
}

/* Pods for which a node would have room, were there enough of `but`. */
static uint64_t room_but(const struct cluster *c, const struct spec *spec, node_id node,
                         resource_id but)
{
    uint64_t n = UINT32_MAX;
    for (uint32_t i = 0; i <= spec->ask.n_others + 1; i++) {
        bool is_other = i < spec->ask.n_others;
        resource_id r = is_other                  ? spec->ask.others[i].resource
                        : i == spec->ask.n_others ? RESOURCE_CPU
                                                  : RESOURCE_MEMORY;
        int64_t ask = is_other            ? spec->ask.others[i].amount
                      : r == RESOURCE_CPU ? spec->ask.cpu_milli
                                          : spec->ask.memory;
        int64_t free = r == but || ask <= 0 ? 0 : engine_free_of(c, node, r);
        if (r != but && ask > 0)
            n = MIN(n, free > 0 ? (uint64_t)(free / ask) : 0);
    }
    return n;
}

/* Is this resource alone what keeps the unit from nodes that have the rest of what it needs? */
static void blame_room_of(struct blaming *b, resource_id but, int64_t ask)
{
    const struct cluster *c = b->k->cluster;
    uint64_t with = 0;
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        node_id node = {i};
        if (!nodes_is_present(&c->nodes, node) || engine_node_room(c, b->spec, node, true) == 0)
            continue;
        uint64_t room = room_but(c, b->spec, node, but);
        with += MIN(room, (uint64_t)UINT32_MAX);
        nodes += room > 0 && engine_node_room(c, b->spec, node, false) == 0;
    }
    if (with < b->x->need || nodes <= b->x->nodes)
        return;
    b->x->resource = but;
    b->x->ask = ask;
    b->x->nodes = nodes;
}

/* The nodes have enough free of all but one resource. */
static void blame_room(struct blaming *b)
{
    const struct pod_request *ask = &b->spec->ask;
    b->x->nodes = 0;
    if (ask->n_others == 0)
        return;
    if (ask->cpu_milli)
        blame_room_of(b, RESOURCE_CPU, ask->cpu_milli);
    if (ask->memory)
        blame_room_of(b, RESOURCE_MEMORY, ask->memory);
}

void engine_blame(struct engine *k, struct cause *x, const uint32_t *refused, uint32_t n)
{
    const struct class *class = k->planner.benches.at[x->bench].class;
    struct blaming b = {k, x, specs_at(&k->cluster->specs, class->spec), refused, n};
    if (x->rule == CAUSE_OFFER)
        blame_offer(&b);
    else if (x->rule == CAUSE_LABEL || x->rule == CAUSE_NAME)
        blame_label(&b);
    else if (x->rule == CAUSE_TAINT)
        blame_taint(&b);
    else if (x->rule == CAUSE_VOLUME)
        blame_volume(&b);
    else if (x->rule == CAUSE_MEMORY)
        blame_memory(&b);
    else if (x->rule == CAUSE_ROOM)
        blame_room(&b);
}
