/* Which rule keeps a unit from starting: the first of the funnel that leaves room for too few. */

#include "core/engine/step/cause.h"

#include "core/engine/step/step.h"
#include "core/framework/row.h"
#include "core/plugins/plugins.h"

/* The funnel while it is made: what of the nodes' room each rule takes away, by rule and member
 * class. */
struct sifting {
    struct engine *k;
    struct planner *planner; /* the unit */
    struct arena mem;
    struct cause_step rules[CAUSE_STEPS_MOST]; /* nodes: those that it was the first to refuse */
    uint32_t n_rules;
    const struct plugin *plugins[CAUSE_STEPS_MOST]; /* of each rule; NULL: the engine's own */
    uint64_t *rooms; /* by rule and member class: room on the nodes it refused */
    uint64_t *left;  /* by member class: on nodes that no rule refused */
    uint32_t nodes_left;
    struct map domains; /* values of the required label → index of … */
    VEC(struct place {
        sym value;
        bool is_home; /* some of the gang run there */
    })
    places;
    VEC(uint64_t) by_place; /* and member class: on nodes that no rule refused */
};

static uint32_t n_member_classes(const struct sifting *s)
{
    return s->planner->member_classes.n;
}

/* For how many of the unit there is room, given room by member class. An upper bound. */
static uint64_t pods_of(const struct planner *p, const uint64_t *rooms)
{
    uint64_t pods = 0;
    for (uint32_t b = 0; b < p->member_classes.n; b++)
        pods += MIN(rooms[b], (uint64_t)p->member_classes.at[b].n);
    return pods;
}

static uint32_t need_of(const struct planner *p)
{
    return MAX(p->need, 1u);
}

/* --- what nodes are --- */

static const struct spec *spec_of(const struct engine *k, const struct planner *p,
                                  uint32_t member_class)
{
    return specs_at(&k->cluster->specs, p->member_classes.at[member_class].class->spec);
}

static enum cause_rule rule_of(const struct plugin *plugin)
{
    static const enum cause_rule rules[] = {
        [ABOUT_ANYTHING] = CAUSE_NODE,     [ABOUT_NAMES] = CAUSE_NAME,
        [ABOUT_LABELS] = CAUSE_LABEL,      [ABOUT_TAINTS] = CAUSE_TAINT,
        [ABOUT_CORDONS] = CAUSE_CORDON,    [ABOUT_VOLUMES] = CAUSE_VOLUME,
        [ABOUT_GPU_MEMORY] = CAUSE_MEMORY, [ABOUT_ROOM] = CAUSE_NODE,
    };
    return rules[plugin->about];
}

static void add_rule(struct sifting *s, enum cause_rule rule, const struct plugin *plugin)
{
    for (uint32_t i = 0; i < s->n_rules; i++)
        if (plugin && s->plugins[i] == plugin)
            return;
    if (s->n_rules == CAUSE_STEPS_MOST)
        return;
    s->plugins[s->n_rules] = plugin;
    s->rules[s->n_rules++] =
        (struct cause_step){.rule = rule, .plugin = plugin ? plugin->name : NULL};
}

static bool is_asked(const struct class_part *part)
{
    return part->filters && part->plugin->row_filter && part->plugin->about != ABOUT_ROOM;
}

static void list_plugins(struct sifting *s, const struct class *class, bool are_late)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        enum cause_rule rule = rule_of(class->parts[i].plugin);
        bool is_late = rule == CAUSE_CORDON || rule == CAUSE_TAINT;
        if (is_asked(&class->parts[i]) && is_late == are_late)
            add_rule(s, rule, class->parts[i].plugin);
    }
}

/* What a pod asks for comes first; cordons and taints, which others put on nodes, come last. */
static void list_rules(struct sifting *s)
{
    add_rule(s, CAUSE_OFFER, NULL);
    add_rule(s, CAUSE_NAME, NULL);
    vec_each(&s->planner->member_classes, member_class)
        list_plugins(s, member_class->class, false);
    vec_each(&s->planner->member_classes, member_class)
        list_plugins(s, member_class->class, true);
}

/* The class's part of the plugin; NULL: it has nothing to say. */
static const struct class_part *part_of(const struct class *class, const struct plugin *plugin)
{
    for (uint32_t i = 0; plugin && i < class->n_parts; i++)
        if (class->parts[i].plugin == plugin)
            return is_asked(&class->parts[i]) ? &class->parts[i] : NULL;
    return NULL;
}

/* The reason why the node will never do for the rule, whoever leaves it; 0: it may. */
static reason_id refusal_by(const struct sifting *s, uint32_t rule, const struct class *class,
                            node_id node)
{
    const struct class_part *part = part_of(class, s->plugins[rule]);
    reason_id reason = part ? part->plugin->row_filter(s->k->cluster, part->state, node) : 0;
    bool is_for_good =
        reason && reasons_at(&s->k->classes.reasons, reason)->code != CODE_UNSCHEDULABLE;
    return is_for_good ? reason : 0;
}

static bool is_named(const struct engine *k, const struct class *class, node_id node)
{
    sym name = k->cluster->nodes.name[node.i];
    return !class->only || class_names(class, name);
}

/* The first rule that refuses the node to members of the class; n_rules: none. */
static uint32_t first_refusal(const struct sifting *s, uint32_t member_class, node_id node,
                              uint64_t room)
{
    const struct class *class = s->planner->member_classes.at[member_class].class;
    if (room == 0)
        return 0;
    if (!is_named(s->k, class, node))
        return 1;
    uint32_t rule = 2;
    while (rule < s->n_rules && !(!class->is_pinned && refusal_by(s, rule, class, node)))
        rule++;
    return rule;
}

/* --- domains --- */

static uint32_t place_of(struct sifting *s, node_id node)
{
    sym required = s->planner->required;
    sym value = required == SYM_NONE ? SYM_NONE : cluster_label(s->k->cluster, node, required);
    if (value == SYM_NONE)
        return ID_NONE;
    uint32_t at = map_find(&s->domains, value);
    if (at != MAP_NONE)
        return at;
    map_put(&s->domains, value, s->places.n);
    vec_push(&s->places, (struct place){.value = value});
    for (uint32_t b = 0; b < n_member_classes(s); b++)
        vec_push(&s->by_place, 0);
    return s->places.n - 1;
}

static bool mark_homes(struct sifting *s, uint32_t group)
{
    const struct cluster *c = s->k->cluster;
    bool is_bound = false;
    if (group == ID_NONE)
        return false;
    vec_each(&c->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&c->pods, (pod_id){*i});
        bool runs = row->node != ID_NONE && !(row->flags & POD_GOING);
        uint32_t at = runs ? place_of(s, (node_id){row->node}) : ID_NONE;
        if (at != ID_NONE)
            is_bound = s->places.at[at].is_home = true;
    }
    return is_bound;
}

static bool comes_before(const struct sifting *s, uint32_t place, uint32_t other)
{
    const struct names *names = &s->k->cluster->names;
    return str_compare(names_text(names, s->places.at[place].value),
                       names_text(names, s->places.at[other].value)) < 0;
}

/* The place with the most room for the unit, of equals the first by name; ID_NONE: there is none.
 */
static uint32_t best_place(struct sifting *s, uint32_t group, uint64_t *pods)
{
    bool is_bound = mark_homes(s, group);
    uint32_t best = ID_NONE;
    *pods = 0;
    for (uint32_t i = 0; i < s->places.n; i++) {
        uint64_t here = pods_of(s->planner, &s->by_place.at[(size_t)i * n_member_classes(s)]);
        if ((is_bound && !s->places.at[i].is_home) ||
            (best != ID_NONE && (here < *pods || (here == *pods && !comes_before(s, i, best)))))
            continue;
        best = i;
        *pods = here;
    }
    return best;
}

static void forget_places(struct sifting *s)
{
    map_clear(&s->domains);
    vec_clear(&s->places);
    vec_clear(&s->by_place);
}

/* Would they do: all nodes together, or those of one domain? */
static bool suffices(const struct sifting *s, uint32_t place)
{
    const struct planner *p = s->planner;
    if (p->required == SYM_NONE)
        return pods_of(p, s->left) >= need_of(p);
    return place != ID_NONE &&
           pods_of(p, &s->by_place.at[(size_t)place * n_member_classes(s)]) >= need_of(p);
}

static void sift_node(struct sifting *s, node_id node, uint32_t *place)
{
    uint32_t last = 0;
    *place = place_of(s, node);
    for (uint32_t b = 0; b < n_member_classes(s); b++) {
        uint64_t room = engine_node_room(s->k->cluster, spec_of(s->k, s->planner, b), node, true);
        uint32_t rule = first_refusal(s, b, node, room);
        last = MAX(last, rule);
        if (rule < s->n_rules) {
            s->rooms[(size_t)rule * n_member_classes(s) + b] += room;
            continue;
        }
        s->left[b] += room;
        if (*place != ID_NONE)
            s->by_place.at[(size_t)*place * n_member_classes(s) + b] += room;
    }
    if (last < s->n_rules)
        s->rules[last].nodes++;
    else
        s->nodes_left++;
}

/* False, at the first node that makes it plain: what nodes are is not the cause. */
static bool sift(struct sifting *s, bool is_thorough)
{
    const struct nodes *nodes = &s->k->cluster->nodes;
    s->rooms = arena_array(&s->mem, uint64_t, s->n_rules * n_member_classes(s));
    s->left = arena_array(&s->mem, uint64_t, n_member_classes(s));
    for (uint32_t i = 0; i < nodes->n; i++) {
        uint32_t place;
        if (!nodes_is_present(nodes, (node_id){i}))
            continue;
        sift_node(s, (node_id){i}, &place);
        if (!is_thorough && suffices(s, place))
            return false;
    }
    return true;
}

/* --- the words' data --- */

static uint32_t worst_class(const struct planner *p, const uint64_t *rooms)
{
    uint32_t worst = 0;
    uint64_t most = 0;
    for (uint32_t b = 0; b < p->member_classes.n; b++) {
        uint64_t n = p->member_classes.at[b].n, lack = n - MIN(rooms[b], n);
        if (lack > most)
            worst = b;
        most = MAX(most, lack);
    }
    return worst;
}

static void blame_step(struct sifting *s, uint32_t rule, const uint64_t *rooms, struct cause *x)
{
    const struct nodes *nodes = &s->k->cluster->nodes;
    uint32_t *refused = arena_array(&s->mem, uint32_t, nodes->n), n = 0;
    struct why why = {0};
    x->rule = s->rules[rule].rule;
    x->member_class = worst_class(s->planner, rooms);
    const struct class *class = s->planner->member_classes.at[x->member_class].class;
    for (uint32_t i = 0; i < nodes->n; i++) {
        node_id node = {i};
        if (!nodes_is_present(nodes, node))
            continue;
        uint64_t room =
            engine_node_room(s->k->cluster, spec_of(s->k, s->planner, x->member_class), node, true);
        uint32_t first = first_refusal(s, x->member_class, node, room);
        x->nodes += first >= rule;
        x->left += first > rule;
        if (first != rule)
            continue;
        why_add(&why, refusal_by(s, rule, class, node), 1);
        refused[n++] = i;
    }
    x->reason = why_weightiest(&why, &s->k->classes.reasons);
    why_done(&why);
    engine_blame(s->k, s->planner, x, refused, n);
}

/* The first rule that leaves too little, looking at the funnel from its top. */
static bool find_step(struct sifting *s, struct cause *x)
{
    const struct planner *p = s->planner;
    uint64_t *rooms = arena_array(&s->mem, uint64_t, n_member_classes(s));
    memcpy(rooms, s->left, n_member_classes(s) * sizeof(*rooms));
    for (uint32_t r = 0; r < s->n_rules; r++)
        for (uint32_t b = 0; b < n_member_classes(s); b++)
            rooms[b] = rooms[b] + s->rooms[(size_t)r * n_member_classes(s) + b];
    for (uint32_t r = 0; r < s->n_rules; r++) {
        x->before = pods_of(p, rooms);
        for (uint32_t b = 0; b < n_member_classes(s); b++)
            rooms[b] -= s->rooms[(size_t)r * n_member_classes(s) + b];
        x->have = pods_of(p, rooms);
        if (x->have < need_of(p)) {
            blame_step(s, r, rooms, x);
            return true;
        }
    }
    return false;
}

/* --- who has the room --- */

/* True: some of the unit have room there. */
static bool use_node(struct sifting *s, node_id node, struct cause *x, uint64_t *in_use)
{
    const struct reasons *reasons = &s->k->classes.reasons;
    uint32_t place = place_of(s, node);
    bool has_room = false;
    for (uint32_t b = 0; b < n_member_classes(s); b++) {
        const struct class *class = s->planner->member_classes.at[b].class;
        uint64_t room = engine_node_room(s->k->cluster, spec_of(s->k, s->planner, b), node, false);
        if (room == 0 || !is_named(s->k, class, node))
            continue;
        reason_id reason = row_filter(s->k->cluster, class, node, COLUMN_ALL);
        if (reason && reasons_at(reasons, reason)->code != CODE_UNSCHEDULABLE)
            continue;
        if (reason) {
            in_use[b] += room;
            x->reason = reason;
            continue;
        }
        has_room = true;
        s->left[b] += room;
        if (place != ID_NONE)
            s->by_place.at[(size_t)place * n_member_classes(s) + b] += room;
    }
    return has_room;
}

/* Room now; `in_use`: that rules about use take away, beyond what is left. */
static void measure_use(struct sifting *s, struct cause *x, uint64_t *in_use)
{
    const struct nodes *nodes = &s->k->cluster->nodes;
    forget_places(s);
    memset(s->left, 0, n_member_classes(s) * sizeof(*s->left));
    memset(in_use, 0, n_member_classes(s) * sizeof(*in_use));
    s->nodes_left = 0;
    for (uint32_t i = 0; i < nodes->n; i++)
        if (nodes_is_present(nodes, (node_id){i}))
            s->nodes_left += use_node(s, (node_id){i}, x, in_use);
}

static uint64_t with_use(struct sifting *s, const uint64_t *in_use)
{
    uint64_t *both = arena_array(&s->mem, uint64_t, n_member_classes(s));
    for (uint32_t b = 0; b < n_member_classes(s); b++)
        both[b] = s->left[b] + in_use[b];
    return pods_of(s->planner, both);
}

void cause_take_holder(const struct engine *k, const struct planner *p, struct cause *x,
                       const struct reservation_info *b)
{
    shape_id shape = p->member_classes.at[0].shape;
    x->object = b->name;
    x->owner = b->namespace;
    x->names_owner = engine_may_name(k, b->namespace, k->cluster->pods.shapes.at[shape].namespace);
    x->key = b->group;
    x->until_ms = b->ends_ms;
}

/* The same as if nothing were held; says whose slot is in the way. */
static uint64_t without_slots(struct sifting *s, struct cause *x, uint64_t *in_use)
{
    struct cluster *c = s->k->cluster;
    struct txn t = txn_begin(c);
    uint32_t most = 0;
    for (uint32_t i = 0; i < engine_n_reservations(s->k); i++) {
        const struct reservation_info *b = engine_reservation_at(s->k, i);
        uint32_t held = 0;
        vec_each(&b->slots, slot) {
            if (b->name == SYM_NONE || pods_at(&c->pods, (pod_id){slot->pod})->node == ID_NONE)
                continue;
            cluster_take(c, (pod_id){slot->pod});
            held++;
        }
        if (held <= most)
            continue;
        most = held;
        cause_take_holder(s->k, s->planner, x, b);
    }
    measure_use(s, x, in_use);
    uint64_t pods = with_use(s, in_use);
    txn_undo(c, t);
    return pods;
}

static void find_use(struct sifting *s, struct cause *x, enum gang_outcome why)
{
    const struct planner *p = s->planner;
    uint64_t *in_use = arena_array(&s->mem, uint64_t, n_member_classes(s)), near = 0;
    s->left = s->left ? s->left : arena_array(&s->mem, uint64_t, n_member_classes(s));
    bool has_slots = engine_n_slots(s->k);
    uint64_t unheld = has_slots ? without_slots(s, x, in_use) : 0;
    measure_use(s, x, in_use);
    uint64_t now = pods_of(p, s->left), more = with_use(s, in_use);
    uint32_t place = best_place(s, x->group, &near);
    x->have = now;
    x->before = MAX(unheld, more);
    x->left = s->nodes_left;
    x->member_class = worst_class(p, s->left);
    if (more < need_of(p) && unheld < need_of(p))
        x->rule = CAUSE_ROOM;
    else if (more < need_of(p))
        x->rule = CAUSE_HELD;
    else if (now < need_of(p))
        x->rule = CAUSE_USE;
    else if (p->required != SYM_NONE && near < need_of(p))
        x->rule = CAUSE_NEAR;
    else
        x->rule = why == GANG_HOPELESS ? CAUSE_ROOM : CAUSE_SEARCH;
    if (x->rule == CAUSE_NEAR) {
        x->nodes = s->places.n;
        x->have = near;
        x->key = p->required;
        x->value = place == ID_NONE ? SYM_NONE : s->places.at[place].value;
    }
    if (x->rule == CAUSE_ROOM)
        engine_blame(s->k, s->planner, x, NULL, 0);
}

/* Is there too little of one resource on all nodes together? That is the cheapest way to know that
 * it is room that is short, and the most frequent. */
static bool is_short(const struct sifting *s, resource_id resource, int64_t ask)
{
    const struct cluster *c = s->k->cluster;
    uint64_t room = 0;
    for (uint32_t i = 0; ask > 0 && i < c->nodes.n && room < need_of(s->planner); i++) {
        bool is_there = nodes_is_present(&c->nodes, (node_id){i});
        int64_t free = is_there ? engine_free_of(c, (node_id){i}, resource) : 0;
        room += free > 0 ? (uint64_t)(free / ask) : 0;
    }
    return ask > 0 && room < need_of(s->planner);
}

static bool is_plainly_short(const struct sifting *s, enum gang_outcome why)
{
    const struct pod_request *ask = &spec_of(s->k, s->planner, 0)->ask;
    bool is_short_of_device = false;
    if (why != GANG_HOPELESS || n_member_classes(s) > 1 || engine_n_slots(s->k))
        return false;
    for (uint32_t i = 0; i < ask->n_others && !is_short_of_device; i++)
        is_short_of_device = is_short(s, ask->others[i].resource, ask->others[i].amount);
    return is_short_of_device || is_short(s, RESOURCE_CPU, ask->cpu_milli) ||
           is_short(s, RESOURCE_MEMORY, ask->memory);
}

/* --- the whole --- */

static bool find_domain(struct sifting *s, struct cause *x)
{
    const struct planner *p = s->planner;
    uint64_t pods = 0;
    uint32_t place = p->required == SYM_NONE ? ID_NONE : best_place(s, x->group, &pods);
    if (p->required == SYM_NONE || pods >= need_of(p))
        return false;
    x->rule = CAUSE_DOMAIN;
    x->have = pods;
    x->key = p->required;
    x->value = place == ID_NONE ? SYM_NONE : s->places.at[place].value;
    x->nodes = s->places.n;
    return true;
}

/* The first rule of the funnel by itself: it takes no more than sums. */
static bool find_sum(struct sifting *s, struct cause *x)
{
    const struct engine *k = s->k;
    const struct nodes *nodes = &k->cluster->nodes;
    uint64_t *rooms = arena_array(&s->mem, uint64_t, n_member_classes(s));
    uint32_t *large = arena_array(&s->mem, uint32_t, n_member_classes(s));
    for (uint32_t i = 0; i < nodes->n && pods_of(s->planner, rooms) < need_of(s->planner); i++)
        for (uint32_t b = 0; b < n_member_classes(s) && nodes_is_present(nodes, (node_id){i});
             b++) {
            uint64_t room =
                engine_node_room(k->cluster, spec_of(k, s->planner, b), (node_id){i}, true);
            rooms[b] += room;
            large[b] += room > 0;
        }
    x->have = x->before = pods_of(s->planner, rooms);
    if (x->have >= need_of(s->planner))
        return false;
    x->member_class = worst_class(s->planner, rooms);
    x->nodes = nodes->present;
    x->left = large[x->member_class];
    x->rule = x->have ? CAUSE_SUM : CAUSE_OFFER;
    engine_blame(s->k, s->planner, x, NULL, 0);
    return true;
}

static bool find_nature(struct sifting *s, struct cause *x)
{
    list_rules(s);
    return find_sum(s, x) || (sift(s, false) && (find_step(s, x) || find_domain(s, x)));
}

/* What nodes are or, if that is not it, who has them. */
static struct cause find(struct sifting *s, enum gang_outcome why, struct cause x)
{
    if (find_nature(s, &x))
        return x;
    x.rule = CAUSE_ROOM;
    x.have = MIN(s->planner->member_classes.at[0].room, (uint64_t)x.need);
    if (!is_plainly_short(s, why))
        find_use(s, &x, why);
    return x;
}

static bool is_refused(const struct planner *p, struct cause *x)
{
    for (uint32_t b = 0; b < p->member_classes.n; b++)
        if (p->member_classes.at[b].class->refusal) {
            x->rule = CAUSE_REFUSED;
            x->member_class = b;
            x->reason = p->member_classes.at[b].class->refusal;
            return true;
        }
    return false;
}

static void sifting_done(struct sifting *s)
{
    arena_done(&s->mem);
    map_done(&s->domains);
    vec_done(&s->places);
    vec_done(&s->by_place);
}

struct cause cause_of(uint32_t group, uint32_t need)
{
    return (struct cause){.group = group,
                          .need = need,
                          .key = SYM_NONE,
                          .value = SYM_NONE,
                          .nearest = SYM_NONE,
                          .object = SYM_NONE,
                          .owner = SYM_NONE};
}

bool engine_find_nature(struct engine *k, struct planner *planner, struct cause *x)
{
    struct sifting s = {.k = k, .planner = planner};
    bool is = find_nature(&s, x);
    sifting_done(&s);
    return is;
}

struct cause engine_find_cause(struct engine *k, struct planner *planner, uint32_t group,
                               enum gang_outcome why)
{
    struct cause x = cause_of(group, need_of(planner));
    if (why == GANG_MISSING || why == GANG_BEHIND) {
        x.rule = why == GANG_MISSING ? CAUSE_MEMBERS : CAUSE_LINE;
        return x;
    }
    if (why == GANG_PLACED || is_refused(planner, &x))
        return x;
    struct sifting s = {.k = k, .planner = planner};
    x = find(&s, why, x);
    sifting_done(&s);
    return x;
}

/* --- for people --- */

static void put_step(struct cause_steps *out, struct cause_step step)
{
    if (out->n < CAUSE_STEPS_MOST)
        out->at[out->n++] = step;
}

/* Rules that took no node away are left out. */
static void list_rules_left(struct sifting *s, struct cause_steps *out)
{
    const struct planner *p = s->planner;
    uint64_t *rooms = arena_array(&s->mem, uint64_t, n_member_classes(s));
    uint32_t nodes = s->k->cluster->nodes.present;
    memcpy(rooms, s->left, n_member_classes(s) * sizeof(*rooms));
    for (uint32_t i = 0; i < s->n_rules * n_member_classes(s); i++)
        rooms[i % n_member_classes(s)] += s->rooms[i];
    for (uint32_t r = 0; r < s->n_rules; r++) {
        for (uint32_t b = 0; b < n_member_classes(s); b++)
            rooms[b] -= s->rooms[(size_t)r * n_member_classes(s) + b];
        nodes -= s->rules[r].nodes;
        if (s->rules[r].nodes || r == 0)
            put_step(out, (struct cause_step){s->rules[r].rule, s->rules[r].plugin, nodes,
                                              pods_of(p, rooms)});
    }
}

static void list_domain(struct sifting *s, enum cause_rule rule, uint32_t group, uint32_t nodes,
                        struct cause_steps *out)
{
    uint64_t pods;
    if (s->planner->required != SYM_NONE && best_place(s, group, &pods) != ID_NONE)
        put_step(out, (struct cause_step){rule, NULL, nodes, pods});
}

void engine_list_funnel(struct engine *k, struct planner *planner, uint32_t group,
                        struct cause_steps *out)
{
    struct sifting s = {.k = k, .planner = planner};
    struct cause x = {.group = group};
    out->n = 0;
    list_rules(&s);
    sift(&s, true);
    list_rules_left(&s, out);
    list_domain(&s, CAUSE_DOMAIN, group, s.nodes_left, out);
    find_use(&s, &x, GANG_REFUSED);
    put_step(out, (struct cause_step){CAUSE_ROOM, NULL, x.left, x.have});
    list_domain(&s, CAUSE_NEAR, group, x.left, out);
    sifting_done(&s);
}
