#include "property/recount.h"

#include "core/model/resources.h"
#include "core/model/selector.h"
#include "core/model/taint.h"

struct counting {
    struct world *w;
    const struct engine *k;
    const struct cluster *c;
    struct arena *mem;
    uint32_t place[WORLD_PODS]; /* where each pod is */
    struct str name[GEN_GHOSTS];
    node_id node[GEN_GHOSTS];
};

static struct str text_of(const struct counting *x, sym s)
{
    return names_text(&x->c->names, s);
}

static sym find(const struct counting *x, struct str text)
{
    return names_find(&x->c->names, text);
}

static pod_id row_of(const struct counting *x, const struct pod *pod)
{
    return pods_find(&x->c->pods, find(x, pod->meta.namespace), pod->meta.name);
}

static const struct node *object_of(const struct counting *x, uint32_t number)
{
    return number < GEN_NODES ? x->w->nodes[number].object : NULL;
}

#define CHECK(x, truth, ...)                                                                       \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            world_fail((x)->w, "does not hold: " #truth ": " __VA_ARGS__);                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* What takes long is looked at whole while it is little; of much, a part in turn. */
static bool is_next(const struct counting *x, uint32_t i, uint32_t n)
{
    uint32_t turns = 1 + n / 32;
    return i % turns == x->w->operation % turns;
}

/* --- what a node's row says --- */

static void check_labels(const struct counting *x, uint32_t number, node_id node)
{
    const struct node *object = object_of(x, number);
    uint32_t n = 0, has_host = x->c->nodes.hostname[node.i] != SYM_NONE;
    lists_at(&x->c->names.label_sets, x->c->nodes.labels[node.i], sizeof(struct pair_sym), &n);
    CHECK(x, n + has_host == object->meta.labels.n, "n%u", number);
    list_each(&object->meta.labels, l) {
        struct str value = text_of(x, cluster_label(x->c, node, find(x, l->key)));
        CHECK(x, str_equal(value, l->value), "n%u", number);
    }
}

static void check_taints(const struct counting *x, uint32_t number, node_id node)
{
    const struct node *object = object_of(x, number);
    static const struct str effects[] = {STR(""), STR("NoSchedule"), STR("PreferNoSchedule"),
                                         STR("NoExecute")};
    uint32_t n;
    const struct taint_sym *t =
        lists_at(&x->c->names.taint_sets, x->c->nodes.taints[node.i], sizeof(*t), &n);
    CHECK(x, n == object->spec.taints.n, "n%u", number);
    for (uint32_t i = 0; i < n; i++) {
        const struct taint *want = &object->spec.taints.at[i];
        bool same = str_equal(text_of(x, t[i].key), want->key) &&
                    str_equal(text_of(x, t[i].value), want->value) &&
                    str_equal(effects[t[i].effect], want->effect);
        CHECK(x, same, "taint %u of n%u", i, number);
    }
}

static void check_images(const struct counting *x, uint32_t number, node_id node)
{
    const struct node *object = object_of(x, number);
    CHECK(x, x->c->nodes.images[node.i].n == object->status.images.n, "n%u", number);
    list_each(&object->status.images, image) {
        uint32_t having = 0;
        for (uint32_t i = 0; i < GEN_NODES; i++)
            if (object_of(x, i))
                list_each(&object_of(x, i)->status.images, other)
                    having += str_equal(image->names.at[0], other->names.at[0]);
        sym name = find(x, image->names.at[0]);
        CHECK(x, nodes_has_image(&x->c->nodes, node, name), "n%u", number);
        CHECK(x, images_state(&x->c->nodes.known_images, name).nodes == having, "n%u", number);
    }
}

/* --- sums --- */

struct sums {
    int64_t cpu, memory, cpu_nonzero, memory_nonzero, gpu, huge, ephemeral;
    int32_t pods;
};

static int64_t amount_of(amount_list l, struct str name, bool is_milli)
{
    list_each(&l, a)
        if (str_equal(a->name, name))
            return is_milli ? quantity_milli(a->quantity) : quantity_value(a->quantity);
    return 0;
}

static void add_pod(const struct counting *x, const struct pod *pod, struct sums *s)
{
    amount_list held = pod_requests(pod, (struct request_rules){true, true, false, 0}, x->mem);
    amount_list shown = pod_requests(pod, (struct request_rules){true, true, true, 0}, x->mem);
    s->cpu += amount_of(held, STR("cpu"), true);
    s->memory += amount_of(held, STR("memory"), false);
    s->cpu_nonzero += amount_of(shown, STR("cpu"), true);
    s->memory_nonzero += amount_of(shown, STR("memory"), false);
    s->gpu += amount_of(held, STR("nvidia.com/gpu"), false);
    s->huge += amount_of(held, STR("hugepages-2Mi"), false);
    s->ephemeral += amount_of(held, STR("ephemeral-storage"), false);
    s->pods++;
}

static void check_cell(const struct counting *x, node_id node, struct str name, int64_t used,
                       int64_t alloc)
{
    uint32_t resource = resources_find(&x->c->specs.resources, name);
    const struct cell *cell =
        resource == MAP_NONE ? NULL : nodes_cell(&x->c->nodes, node, resource);
    CHECK(x, cell ? cell->used == used && cell->alloc == alloc : !used && !alloc,
          STR_FMT " of node %u", STR_ARG(name), node.i);
}

/* What the pods on a node have of its GPUs, as their rows say it. */
static void check_gpus(const struct counting *x, uint32_t number, node_id node)
{
    int32_t used[GPUS_MOST] = {0};
    const struct node_gpus *g = x->c->nodes.gpus[node.i];
    for (uint32_t i = x->c->nodes.first_pod[node.i]; i != ID_NONE;
         i = x->c->pods.rows.at[i].after) {
        struct gpu_ask ask = cluster_spec(x->c, (pod_id){i})->gpus;
        gpu_mask gpus = x->c->pods.rows.at[i].gpus;
        CHECK(x, (uint32_t)__builtin_popcount(gpus) <= ask.count, "n%u", number);
        CHECK(x, !gpus || ask.count, "n%u", number);
        for (uint32_t k = 0; k < GPUS_MOST; k++)
            used[k] += gpus >> k & 1 ? (int32_t)x->c->pods.rows.at[i].gpu_milli : 0;
    }
    for (uint32_t k = 0; k < GPUS_MOST; k++)
        CHECK(x, used[k] == (g ? g->used[k] : 0), "GPU %u of n%u", k, number);
}

static void check_sums(const struct counting *x, uint32_t number, node_id node,
                       const struct sums *used)
{
    static const amount_list none = {0};
    const struct room *room = &x->c->nodes.room[node.i];
    const struct node *object = object_of(x, number);
    amount_list have = object ? object->status.allocatable : none;
    bool used_agrees = room->cpu_used == used->cpu && room->memory_used == used->memory &&
                       room->cpu_nonzero == used->cpu_nonzero &&
                       room->memory_nonzero == used->memory_nonzero &&
                       room->pods_used == used->pods;
    bool alloc_agrees = room->cpu_alloc == amount_of(have, STR("cpu"), true) &&
                        room->memory_alloc == amount_of(have, STR("memory"), false) &&
                        room->pods_alloc == amount_of(have, STR("pods"), false);
    CHECK(x, used_agrees && alloc_agrees, "n%u", number);
    check_cell(x, node, STR("nvidia.com/gpu"), used->gpu,
               amount_of(have, STR("nvidia.com/gpu"), false));
    check_gpus(x, number, node);
    check_cell(x, node, STR("hugepages-2Mi"), used->huge,
               amount_of(have, STR("hugepages-2Mi"), false));
    check_cell(x, node, STR("ephemeral-storage"), used->ephemeral,
               amount_of(have, STR("ephemeral-storage"), false));
}

/* Distinct host ports of the pods on a node, one by one; returns how many uses the row should have.
 */
static uint32_t count_ports(const struct counting *x, const struct pod *pod, node_id node)
{
    const struct spec *spec = cluster_spec(x->c, row_of(x, pod));
    const struct used_ports *have = x->c->nodes.ports[node.i];
    for (uint32_t i = 0; i < spec->n_ports; i++) {
        bool is_there = false;
        for (uint32_t k = 0; have && k < have->n; k++)
            is_there |= have->at[k].port.port == spec->ports[i].port &&
                        have->at[k].port.protocol == spec->ports[i].protocol &&
                        have->at[k].port.ip == spec->ports[i].ip;
        if (!is_there)
            world_fail(x->w, "a port of " STR_FMT " is not in use", STR_ARG(pod->meta.name));
    }
    return spec->n_ports;
}

/* --- nodes --- */

static void check_list(const struct counting *x, uint32_t number, node_id node, int32_t pods)
{
    const struct pod_row *rows = x->c->pods.rows.at;
    uint32_t before = ID_NONE;
    int32_t n = 0;
    for (uint32_t p = x->c->nodes.first_pod[node.i]; p != ID_NONE; p = rows[p].after) {
        CHECK(x, rows[p].text && rows[p].node == node.i && rows[p].before == before && n < pods,
              "list of n%u", number);
        before = p;
        n++;
    }
    CHECK(x, n == pods, "n%u: %d pods on its list, %d on it", number, n, pods);
}

static bool is_nominated(const struct counting *x, uint32_t number)
{
    vec_each(&x->c->nominations, n)
        if (str_equal(text_of(x, n->node), x->name[number]))
            return true;
    return false;
}

static void check_node(const struct counting *x, uint32_t number)
{
    node_id node = x->node[number];
    struct sums used = {0};
    uint32_t uses = 0, counted = 0;
    for (uint32_t i = 0; i < WORLD_PODS; i++)
        if (x->place[i] == number)
            used.pods++;
    bool is_present = object_of(x, number);
    CHECK(x, (node.i != ID_NONE) == (is_present || used.pods), "n%u", number);
    if (node.i == ID_NONE)
        return;
    used.pods = 0;
    for (uint32_t i = 0; i < WORLD_PODS; i++)
        if (x->place[i] == number) {
            add_pod(x, x->w->pods[i].object, &used);
            uses += count_ports(x, x->w->pods[i].object, node);
        }
    for (uint32_t i = 0; x->c->nodes.ports[node.i] && i < x->c->nodes.ports[node.i]->n; i++)
        counted += x->c->nodes.ports[node.i]->at[i].uses;
    CHECK(x, uses == counted, "ports of n%u", number);
    uint8_t flags = x->c->nodes.flags[node.i];
    CHECK(x, !(flags & NODE_PRESENT) == !is_present, "n%u", number);
    CHECK(x, !(flags & NODE_NOMINATED) == !is_nominated(x, number), "n%u", number);
    check_sums(x, number, node, &used);
    check_list(x, number, node, used.pods);
    if (!is_present)
        return;
    CHECK(x, !(flags & NODE_CORDONED) == !object_of(x, number)->spec.unschedulable, "n%u", number);
    check_labels(x, number, node);
    check_taints(x, number, node);
    if (is_next(x, number, 4 * x->c->nodes.present))
        check_images(x, number, node);
}

static void check_hostnames(const struct counting *x)
{
    uint32_t present = 0, shared = 0;
    for (uint32_t i = 0; i < x->c->nodes.n; i++) {
        if (!(x->c->nodes.flags[i] & NODE_PRESENT))
            continue;
        present++;
        uint32_t before = 0, after = 0;
        for (uint32_t k = 0; k < x->c->nodes.n; k++)
            if (x->c->nodes.flags[k] & NODE_PRESENT && k != i &&
                x->c->nodes.hostname[i] != SYM_NONE &&
                x->c->nodes.hostname[k] == x->c->nodes.hostname[i])
                *(k < i ? &before : &after) += 1;
        shared += before == 0 && after > 0;
    }
    CHECK(x, present == x->c->nodes.present && shared == x->c->nodes.shared_hostnames,
          "%u present, %u shared", present, shared);
}

/* --- tallies and spreads --- */

static struct str op_name(enum match_op op)
{
    static const struct str names[] = {
        [MATCH_IN] = STR("In"),         [MATCH_NOT_IN] = STR("NotIn"),
        [MATCH_EXISTS] = STR("Exists"), [MATCH_MISSING] = STR("DoesNotExist"),
        [MATCH_GREATER] = STR("Gt"),    [MATCH_LESS] = STR("Lt"),
    };
    return names[op];
}

static struct requirement line_of(const struct counting *x, const struct match *m)
{
    struct requirement line = {.key = text_of(x, m->key), .op = op_name(m->op)};
    line.values.at = arena_array(x->mem, struct str, m->n_values + 1);
    for (uint32_t i = 0; i < m->n_values; i++)
        line.values.at[line.values.n++] = text_of(x, m->values[i]);
    if (m->op == MATCH_GREATER || m->op == MATCH_LESS)
        line.values.at[line.values.n++] = arena_printf(x->mem, "%ld", m->number);
    return line;
}

static struct label_selector *selector_of(const struct counting *x, selector_id id)
{
    struct selector s = matches_selector_at(&x->c->matches, id);
    struct label_selector *out = arena_array(x->mem, struct label_selector, 1);
    out->match_expressions.at = arena_array(x->mem, struct requirement, s.n);
    for (uint32_t i = 0; i < s.n; i++)
        out->match_expressions.at[out->match_expressions.n++] = line_of(x, &s.all[i]);
    return out;
}

/* Does a term with this reach, of the pod to be placed, mean the pod? */
static bool means(const struct counting *x, const struct reach *r, const struct pod *pod)
{
    bool is_in = false;
    for (uint32_t i = 0; i < r->n; i++)
        is_in |= str_equal(text_of(x, r->namespaces[i]), pod->meta.namespace);
    for (uint32_t i = 0; i < GEN_NAMESPACES && !is_in && r->like != ID_NONE; i++) {
        const struct label_selector *like = selector_of(x, r->like);
        const struct namespace *n = x->w->namespaces[i].object.namespace;
        is_in = like->match_expressions.n == 0 ||
                (x->w->namespaces[i].exists && str_equal(n->meta.name, pod->meta.namespace) &&
                 label_selector_matches(like, n->meta.labels));
    }
    return is_in && r->selector != ID_NONE &&
           label_selector_matches(selector_of(x, r->selector), pod->meta.labels);
}

static bool all_mean(const struct counting *x, const struct tally *t, const struct pod *pod)
{
    const uint32_t *w = t->reaches;
    for (uint32_t i = 0; i < t->n_reaches; i++, w += 3 + w[2]) {
        struct reach r = {w[0], w[1], w + 3, w[2]};
        if (!means(x, &r, pod))
            return false;
    }
    return true;
}

static bool is_term(const struct term *t, const struct pod_term *p, struct reach r)
{
    if (t->key != p->key || t->weight != p->weight || t->is_anti != (bool)p->is_anti ||
        t->reach.selector != r.selector || t->reach.like != r.like || t->reach.n != r.n)
        return false;
    for (uint32_t i = 0; i < r.n; i++)
        if (t->reach.namespaces[i] != r.namespaces[i])
            return false;
    return true;
}

/* How often the pod has the term. */
static uint32_t has_term(const struct counting *x, uint32_t term, const struct pod *pod)
{
    pod_id row = row_of(x, pod);
    const struct spec *spec = cluster_spec(x->c, row);
    sym namespace = find(x, pod->meta.namespace);
    uint32_t n = 0;
    for (uint32_t i = 0; i < spec->n_pod_terms; i++)
        n += is_term(&x->c->terms.at.at[term], &spec->pod_terms[i],
                     reach_of(spec, &spec->pod_terms[i], &namespace));
    return n;
}

/* How often the tally must count the pod. */
static uint32_t times(const struct counting *x, const struct tally *t, uint32_t pod_number)
{
    const struct pod *pod = x->w->pods[pod_number].object;
    switch (t->kind) {
    case TALLY_SELECTED:
        return !x->w->pods[pod_number].plan.is_deleted &&
               str_equal(pod->meta.namespace, text_of(x, t->namespace)) &&
               label_selector_matches(selector_of(x, t->selector), pod->meta.labels);
    case TALLY_MEANT:
        return all_mean(x, t, pod);
    case TALLY_HAVING:
        return has_term(x, t->term, pod);
    }
    return 0;
}

static void check_tally(const struct counting *x, uint32_t t, uint32_t *on_node)
{
    const struct tally *tally = &x->c->counts.tallies.at[t];
    uint32_t nodes = 0;
    memset(on_node, 0, GEN_GHOSTS * sizeof(*on_node));
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        if (x->place[i] == GEN_NOWHERE)
            continue;
        uint32_t n = times(x, tally, i);
        nodes += n && on_node[x->place[i]] == 0;
        on_node[x->place[i]] += n;
    }
    CHECK(x, tally->on_node.n == nodes, "tally %u of kind %d", t, (int)tally->kind);
    for (uint32_t i = 0; i < GEN_GHOSTS; i++)
        if (on_node[i])
            CHECK(x, counts_on_node(&x->c->counts, t, x->node[i]) == on_node[i], "tally %u on n%u",
                  t, i);
}

static bool term_allows(const struct counting *x, const struct node_term *t,
                        const struct node *node)
{
    struct node_selector_term term = {0};
    term.match_expressions.at = arena_array(x->mem, struct requirement, t->n);
    term.match_fields.at = arena_array(x->mem, struct requirement, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->all[i].is_name)
            term.match_fields.at[term.match_fields.n++] = line_of(x, &t->all[i]);
        else
            term.match_expressions.at[term.match_expressions.n++] = line_of(x, &t->all[i]);
    }
    return !t->is_broken && node_term_matches(&term, node->meta.labels, node->meta.name);
}

static bool rules_allow(const struct counting *x, rules_id id, const struct node *node)
{
    const struct rules *r = matches_rules_at(&x->c->matches, id);
    for (uint32_t i = 0; i < r->n_selector; i++) {
        struct requirement line = line_of(x, &r->selector[i]);
        if (!requirement_matches(&line, node->meta.labels))
            return false;
    }
    if (r->is_pinned) /* the class has no name of its own; such counts decide nothing */
        return false;
    for (uint32_t t = 0; t < r->n_required; t++)
        if (term_allows(x, &r->required[t], node))
            return true;
    return !r->has_required;
}

static bool tolerates(const struct counting *x, tolerations_id id, const struct node *node)
{
    static const struct str effects[] = {STR(""), STR("NoSchedule"), STR("PreferNoSchedule"),
                                         STR("NoExecute"), STR("Other")};
    uint32_t n;
    const struct toleration_sym *list = lists_at(&x->c->names.tolerations, id, sizeof(*list), &n);
    list_each(&node->spec.taints, taint) {
        bool is_covered = str_equal(taint->effect, STR("PreferNoSchedule"));
        for (uint32_t i = 0; i < n; i++) {
            struct toleration t = {text_of(x, list[i].key),
                                   list[i].op == TOLERATES_EXISTS ? STR("Exists") : STR("Equal"),
                                   text_of(x, list[i].value), effects[list[i].effect]};
            is_covered |= toleration_covers(&t, taint, false);
        }
        if (!is_covered)
            return false;
    }
    return true;
}

static struct str label_of(const struct node *node, struct str key)
{
    list_each(&node->meta.labels, l)
        if (str_equal(l->key, key))
            return l->value;
    return (struct str){0};
}

static bool includes(const struct counting *x, const struct spread *s, const struct node *node)
{
    if (!node || !label_of(node, text_of(x, s->key)).n)
        return false;
    for (uint32_t i = 0; i < s->n_keys; i++)
        if (!label_of(node, text_of(x, s->keys[i])).n)
            return false;
    return (s->rules == 0 || rules_allow(x, s->rules, node)) &&
           (s->tolerations == ID_NONE || tolerates(x, s->tolerations, node));
}

struct expected {
    struct str value;
    int64_t pods;
    uint32_t nodes;
};

static void check_domains(const struct counting *x, uint32_t id, struct expected *want, uint32_t n)
{
    const struct counts *counts = &x->c->counts;
    int64_t least = n ? INT64_MAX : 0;
    const struct spread *s = &counts->spreads.at[id];
    uint32_t met = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (s->is_sparse)
            want[i].nodes = 0;
        if (s->is_sparse && want[i].pods == 0)
            continue;
        met++;
        const struct domain *d = counts_domain(counts, id, find(x, want[i].value));
        CHECK(x, d && d->pods == want[i].pods && d->nodes == want[i].nodes,
              "spread %u, domain " STR_FMT ": %ld pods, %u nodes wanted", id,
              STR_ARG(want[i].value), want[i].pods, want[i].nodes);
        least = MIN(least, want[i].pods);
    }
    CHECK(x, counts_domains(counts, id) == met, "spread %u", id);
    CHECK(x, s->is_sparse || counts_least(counts, id) == least, "spread %u", id);
}

static void check_spread(const struct counting *x, uint32_t id, const uint32_t *on_node)
{
    const struct spread *s = &x->c->counts.spreads.at[id];
    struct expected want[GEN_NODES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < GEN_NODES; i++) {
        const struct node *node = object_of(x, i);
        if (!includes(x, s, node))
            continue;
        struct str value = label_of(node, text_of(x, s->key));
        uint32_t at = 0;
        while (at < n && !str_equal(want[at].value, value))
            at++;
        if (at == n)
            want[n++] = (struct expected){value, 0, 0};
        want[at].nodes++;
        want[at].pods += s->tally == ID_NONE ? 0 : on_node[i];
    }
    check_domains(x, id, want, n);
}

static void check_counts(const struct counting *x)
{
    uint32_t on_node[GEN_GHOSTS];
    const struct counts *counts = &x->c->counts;
    for (uint32_t t = 0; t < counts->tallies.n; t++) {
        if (!counts->tallies.at[t].number || !is_next(x, t, counts->tallies.n))
            continue;
        check_tally(x, t, on_node);
        for (uint32_t s = 0; s < counts->spreads.n; s++)
            if (counts->spreads.at[s].uses && counts->spreads.at[s].tally == t)
                check_spread(x, s, on_node);
    }
    for (uint32_t s = 0; s < counts->spreads.n; s++)
        if (counts->spreads.at[s].uses && counts->spreads.at[s].tally == ID_NONE &&
            is_next(x, s, counts->spreads.n))
            check_spread(x, s, on_node);
}

/* --- pods --- */

static bool is_ours(const struct pod *pod)
{
    return !str_equal(pod->spec.scheduler_name, STR("another-scheduler"));
}

static void check_place(const struct counting *x, const struct pod_slot *p, enum queue_place place)
{
    bool waits = place == QUEUE_ACTIVE || place == QUEUE_BACKING_OFF || place == QUEUE_PARKED;
    bool is_right = p->object->spec.gates.n ? place == QUEUE_PARKED : waits;
    if (world_place(p) != GEN_NOWHERE || !is_ours(p->object) || p->plan.is_deleted)
        is_right = place == QUEUE_NOWHERE;
    CHECK(x, is_right, "p%u is in place %d of the queue", p->plan.number, place);
}

static void check_pods(const struct counting *x)
{
    uint32_t n = 0, places[QUEUE_IN_FLIGHT + 1] = {0};
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        const struct pod_slot *p = &x->w->pods[i];
        if (!p->object)
            continue;
        pod_id row = row_of(x, p->object);
        CHECK(x, row.i != ID_NONE, "p%u", i);
        const struct pod_row *r = pods_at(&x->c->pods, row);
        uint32_t place = x->place[i];
        struct str node = r->node == ID_NONE ? STR("") : text_of(x, x->c->nodes.name[r->node]);
        CHECK(x, str_equal(pod_uid(r), p->object->meta.uid), "p%u", i);
        CHECK(x, str_equal(node, place == GEN_NOWHERE ? STR("") : x->name[place]),
              "p%u is on " STR_FMT, i, STR_ARG(node));
        CHECK(x, !(r->flags & POD_TERMINATING) == !p->plan.is_deleted, "p%u", i);
        check_place(x, p, queue_where(x->k->queue, row.i));
        places[queue_where(x->k->queue, row.i)]++;
        n++;
    }
    CHECK(x, n == x->c->pods.n, "%u pods", n);
    for (enum queue_place place = QUEUE_ACTIVE; place <= QUEUE_IN_FLIGHT; place++)
        CHECK(x, queue_count(x->k->queue, place) == places[place], "place %d", place);
}

static void check_nominations(const struct counting *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < WORLD_PODS; i++) {
        const struct pod_slot *p = &x->w->pods[i];
        if (!p->object || p->plan.nominated == GEN_NOWHERE || x->place[i] != GEN_NOWHERE ||
            !is_ours(p->object))
            continue;
        pod_id row = row_of(x, p->object);
        uint32_t found = 0;
        vec_each(&x->c->nominations, nomination)
            found += nomination->pod.i == row.i &&
                     str_equal(text_of(x, nomination->node), x->name[p->plan.nominated]);
        CHECK(x, found == 1, "p%u is nominated", i);
        CHECK(x, pods_at(&x->c->pods, row)->nominated == find(x, x->name[p->plan.nominated]),
              "p%u is nominated", i);
        n++;
    }
    CHECK(x, n == x->c->nominations.n, "%u nominated", n);
}

/* The GPUs of the nodes that have each value of the label. */
static void check_cliques(const struct counting *x)
{
    const struct cliques *q = &x->c->cliques;
    sym key = find(x, STR("nvidia.com/gpu.clique"));
    uint32_t nodes = 0, most = 0;
    vec_each(&q->at, clique) {
        struct clique want = {.value = clique->value};
        for (uint32_t i = 0; i < x->c->nodes.n && clique->value != SYM_NONE; i++) {
            const struct node_gpus *g = x->c->nodes.gpus[i];
            if (!nodes_is_present(&x->c->nodes, (node_id){i}) ||
                cluster_label(x->c, (node_id){i}, key) != clique->value)
                continue;
            want.nodes++;
            for (uint32_t gpu = 0; g && gpu < g->n; gpu++) {
                want.gpus += g->there >> gpu & 1;
                want.idle += gpus_left(g, gpu) == GPU_WHOLE;
            }
        }
        nodes += want.nodes;
        most = MAX(most, want.gpus);
        CHECK(x, clique->value == SYM_NONE || (want.nodes && want.nodes == clique->nodes));
        CHECK(x, clique->value == SYM_NONE || want.gpus == clique->gpus);
        CHECK(x, clique->value == SYM_NONE || want.idle == clique->idle);
    }
    CHECK(x, nodes == q->nodes && most == q->most);
    for (uint32_t i = 0; i < x->c->nodes.n; i++) {
        bool is_there = key != SYM_NONE && nodes_is_present(&x->c->nodes, (node_id){i});
        sym value = is_there ? cluster_label(x->c, (node_id){i}, key) : SYM_NONE;
        CHECK(x, cliques_value(q, (node_id){i}) == value);
    }
}

bool recount(struct world *w, const struct engine *k)
{
    struct counting x = {.w = w, .k = k, .c = k->cluster, .mem = &w->mem};
    for (uint32_t i = 0; i < WORLD_PODS; i++)
        x.place[i] = world_place(&w->pods[i]);
    for (uint32_t i = 0; i < GEN_GHOSTS; i++) {
        x.name[i] = gen_node_name(&w->mem, i);
        sym name = find(&x, x.name[i]);
        x.node[i] = name == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&x.c->nodes, name);
    }
    check_pods(&x);
    check_nominations(&x);
    for (uint32_t i = 0; i < GEN_GHOSTS && !w->has_failed; i++)
        check_node(&x, i);
    check_hostnames(&x);
    if (!w->has_failed)
        check_counts(&x);
    if (!w->has_failed)
        check_cliques(&x);
    return !w->has_failed;
}
