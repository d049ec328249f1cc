/* What a rule is about: which label, which taint, which volume, how much of what. */

#include <stdlib.h>

#include "core/base/likeness.h"
#include "core/engine/step/cause.h"
#include "core/engine/step/step.h"

struct blaming {
    struct engine *k;
    const struct planner *planner; /* the unit */
    struct cause *x;
    const struct spec *spec;
    const uint32_t *refused; /* nodes */
    uint32_t n;
};

/* A cause is found for each pod that is refused, so it may not cost more than a scan: what would be
 * looked at more often than this is looked at in part. */
enum { LOOKS_MOST = 500000 };

/* How many of `n` things can be compared with each node. */
static uint32_t few_enough(const struct cluster *c, uint32_t n)
{
    uint32_t most = LOOKS_MOST / MAX(c->nodes.n, 1u);
    return MIN(n, MAX(most, 1u));
}

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

static bool slots(const struct cluster *c, const struct match *m, node_id node)
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
    for (uint32_t i = 0; i < few_enough(c, n); i++) {
        uint32_t count = 0;
        for (uint32_t node = 0; node < c->nodes.n; node++)
            count += nodes_is_present(&c->nodes, (node_id){node}) &&
                     slots(c, &lines[i], (node_id){node});
        if (count < *fewest) {
            *fewest = count;
            so_far = &lines[i];
        }
    }
    return so_far;
}

/* A search for the name that looks most like what was written: each is compared once. */
struct guess {
    const struct engine *k;
    struct str written;
    struct map seen;
    uint32_t looks;
    sym best;
};

static void guess(struct guess *g, sym name)
{
    if (++g->looks > LOOKS_MOST || map_find(&g->seen, name) != MAP_NONE)
        return;
    map_put(&g->seen, name, 0);
    if (is_nearer(g->k, text_of(g->k, name), g->written, g->best))
        g->best = name;
}

static sym guessed(struct guess *g)
{
    map_done(&g->seen);
    return g->best;
}

/* The key of a node. */
static sym nearest_key(const struct engine *k, struct str written)
{
    const struct cluster *c = k->cluster;
    struct guess g = {.k = k, .written = written, .best = SYM_NONE};
    for (uint32_t i = 0; i < c->nodes.n && g.looks <= LOOKS_MOST; i++) {
        uint32_t n;
        const struct pair_sym *pairs =
            lists_at(&c->names.label_sets, c->nodes.labels[i], sizeof(*pairs), &n);
        for (uint32_t p = 0; nodes_is_present(&c->nodes, (node_id){i}) && p < n; p++)
            guess(&g, pairs[p].key);
    }
    return guessed(&g);
}

/* The value of the key. */
static sym nearest_value(const struct engine *k, sym key, struct str written)
{
    const struct cluster *c = k->cluster;
    struct guess g = {.k = k, .written = written, .best = SYM_NONE};
    for (uint32_t i = 0; i < c->nodes.n && g.looks <= LOOKS_MOST; i++) {
        bool is_there = nodes_is_present(&c->nodes, (node_id){i});
        sym value = is_there ? cluster_label(c, (node_id){i}, key) : SYM_NONE;
        if (value != SYM_NONE)
            guess(&g, value);
    }
    return guessed(&g);
}

static bool is_key_known(const struct cluster *c, sym key)
{
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}) &&
            cluster_label(c, (node_id){i}, key) != SYM_NONE)
            return true;
    return false;
}

/* The first by name; SYM_NONE: there is none. */
static sym first_value(const struct engine *k, const struct match *m)
{
    sym first = SYM_NONE;
    for (uint32_t i = 0; i < m->n_values; i++)
        if (first == SYM_NONE || str_compare(text_of(k, m->values[i]), text_of(k, first)) < 0)
            first = m->values[i];
    return first;
}

static void take_line(struct blaming *b, const struct match *m)
{
    struct cause *x = b->x;
    bool is_positive = m->op == MATCH_IN || m->op == MATCH_EXISTS;
    x->key = m->key;
    x->value = m->op == MATCH_IN ? first_value(b->k, m) : SYM_NONE;
    x->n_values = m->n_values;
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
    return effect == TAINT_NO_EXECUTE ? "NoExecute" : "NoSchedule";
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
        if ((taint[i].effect == TAINT_NO_SCHEDULE || taint[i].effect == TAINT_NO_EXECUTE) &&
            !tolerations_cover(t, n, taint[i], NULL))
            return &taint[i];
    return NULL;
}

static int taint_order(const struct engine *k, const struct taint_sym *a, const struct taint_sym *b)
{
    int keys = str_compare(text_of(k, a->key), text_of(k, b->key));
    int values = str_compare(text_of(k, a->value), text_of(k, b->value));
    return keys ? keys : values ? values : strcmp(effect_name(a->effect), effect_name(b->effect));
}

static int by_number(const void *a, const void *b)
{
    const struct taint_sym *x = *(const struct taint_sym *const *)a,
                           *y = *(const struct taint_sym *const *)b;
    return x->key != y->key       ? (x->key > y->key) - (x->key < y->key)
           : x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                  : (int)x->effect - (int)y->effect;
}

/* The taint that most of the nodes have; of equals, the first by name. Nodes with one set of taints
 * are asked once. */
static void blame_taint(struct blaming *b)
{
    const struct cluster *c = b->k->cluster;
    const struct taint_sym **at = arena_array(&b->k->mem, const struct taint_sym *, b->n),
                           *best = NULL;
    struct map of_set = {0}; /* set → place in `at` of a node that has it */
    uint32_t n = 0, most = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t set = c->nodes.taints[b->refused[i]], same = map_find(&of_set, set);
        const struct taint_sym *t =
            same != MAP_NONE ? at[same] : untolerated(c, b->spec->tolerations, b->refused[i]);
        if (!t)
            continue;
        if (same == MAP_NONE)
            map_put(&of_set, set, n);
        at[n++] = t;
    }
    map_done(&of_set);
    if (n)
        qsort(at, n, sizeof(*at), by_number);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_number(&at[i], &at[end]) == 0; end++)
            continue;
        if (end - i < most || (end - i == most && taint_order(b->k, at[i], best) >= 0))
            continue;
        most = end - i;
        best = at[i];
    }
    if (!best)
        return;
    b->x->key = best->key;
    b->x->value = best->value;
    b->x->effect = effect_name(best->effect);
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
            b->x->value = first_value(b->k, &rules->required[i].all[0]);
            b->x->n_values = rules->required[i].all[0].n_values;
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
    shape_id shape = b->planner->member_classes.at[b->x->member_class].shape;
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

/* A resource that nodes have under a name like this one. */
static sym nearest_resource(const struct engine *k, resource_id resource)
{
    const struct cluster *c = k->cluster;
    const struct resources *r = &c->specs.resources;
    struct guess g = {.k = k, .written = text_of(k, r->names.at[resource]), .best = SYM_NONE};
    for (uint32_t i = 0; i < c->nodes.n && g.looks <= LOOKS_MOST; i++) {
        const struct cells *cells = c->nodes.room[i].cells;
        bool is_there = nodes_is_present(&c->nodes, (node_id){i});
        for (uint32_t j = 0; is_there && cells && j < cells->n; j++)
            if (cells->at[j].resource != resource && cells->at[j].alloc > 0)
                guess(&g, r->names.at[cells->at[j].resource]);
    }
    return guessed(&g);
}

/* Is this the resource of which the largest node is the furthest from what is asked for? */
static void blame_offer_of(void *ctx, resource_id resource, int64_t ask)
{
    const struct blaming *b = ctx;
    const struct cluster *c = b->k->cluster;
    struct cause *x = b->x;
    int64_t most = 0;
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}))
            most = MAX(most, engine_offered(c, (node_id){i}, resource));
    if (most >= ask || (x->ask && (double)most / (double)ask >= (double)x->most / (double)x->ask))
        return;
    x->resource = resource;
    x->ask = ask;
    x->most = most;
}

/* None is too much by itself: `ask` stays 0. */
static void blame_offer(struct blaming *b)
{
    spec_id spec = b->planner->member_classes.at[b->x->member_class].class->spec;
    engine_each_need(b->k, spec, blame_offer_of, b);
    if (b->x->ask && b->x->most == 0 && b->x->resource >= RESOURCE_FIRST_SCALAR)
        b->x->nearest = nearest_resource(b->k, b->x->resource);
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

void engine_blame(struct engine *k, const struct planner *planner, struct cause *x,
                  const uint32_t *refused, uint32_t n)
{
    const struct class *class = planner->member_classes.at[x->member_class].class;
    struct blaming b = {k, planner, x, specs_at(&k->cluster->specs, class->spec), refused, n};
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
