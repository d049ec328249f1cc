#include "property/world_gen.h"

#include "property/world_nexus.h"

#define PICK(r, pool) ((pool)[rng_below((r), LEN(pool))])

static const struct str zone_key = STR("topology.kubernetes.io/zone");
static const struct str host_key = STR("kubernetes.io/hostname");
static const struct str rack_key = STR("example.com/rack");
static const struct str unschedulable = STR("node.kubernetes.io/unschedulable");

static const struct str zones[] = {STR("z0"), STR("z1"), STR("z2")};
static const struct str racks[] = {STR("r0"), STR("r1"), STR("r2"),
                                   STR("r3"), STR("r4"), STR("r5")};
static const struct str disks[] = {STR("ssd"), STR("hdd")};
static const struct str numbers[] = {STR("1"), STR("4"), STR("16"), STR("x7"), STR("-3")};
static const struct str apps[] = {STR("a0"), STR("a1"), STR("a2")};
static const struct str tiers[] = {STR("front"), STR("back")};
static const struct str claims[] = {STR("c0"), STR("c1"), STR("c2")};
static const struct str namespaces[] = {STR("ns0"), STR("ns1"), STR("ns2")};
static const struct str images[] = {
    STR("img0:latest"), STR("img1:v1"), STR("registry.example/img2:v2"),
    STR("img3:latest"), STR("img4:v1"), STR("img5:v9"),
};
enum { USED_IMAGES = LEN(images) - 1 }; /* of the last, nodes say different sizes: no pod has it */

bool chance(struct rng *r, uint32_t one_in)
{
    return rng_below(r, one_in) == 0;
}

/* --- small parts --- */

static void add_pair(pair_list *l, struct str key, struct str value)
{
    l->at[l->n++] = (struct pair){key, value};
}

static void add_amount(amount_list *l, struct str name, struct str text)
{
    struct amount a = {.name = name};
    bool is_good = quantity_parse(text, &a.quantity);
    assert(is_good);
    l->at[l->n++] = a;
}

static str_list one(struct arena *mem, struct str value)
{
    str_list l = {arena_array(mem, struct str, 1), 1};
    l.at[0] = value;
    return l;
}

struct str gen_node_name(struct arena *mem, uint32_t number)
{
    return arena_printf(mem, "n%u", number);
}

struct str gen_namespace_name(uint32_t number)
{
    return namespaces[number];
}

/* --- nodes --- */

static void node_labels(struct arena *mem, const struct node_plan *plan, struct node *out)
{
    struct rng r = rng_seeded(plan->labels);
    pair_list *l = &out->meta.labels;
    l->at = arena_array(mem, struct pair, 8);
    if (!chance(&r, 40))
        add_pair(l, host_key,
                 gen_node_name(mem, plan->is_named_as_next ? plan->number ^ 1 : plan->number));
    if (!chance(&r, 12))
        add_pair(l, zone_key, PICK(&r, zones));
    if (!chance(&r, 6))
        add_pair(l, rack_key, PICK(&r, racks));
    if (!chance(&r, 3))
        add_pair(l, STR("disk"), PICK(&r, disks));
    if (!chance(&r, 3))
        add_pair(l, STR("cores"), PICK(&r, numbers));
    if (chance(&r, 10)) /* text that soon nobody holds: numbers are used again */
        add_pair(l, STR("serial"), arena_printf(mem, "%lx", rng_next(&r)));
}

static struct str taint_effect(struct rng *r)
{
    static const struct str effects[] = {STR("NoSchedule"), STR("PreferNoSchedule"),
                                         STR("PreferNoSchedule"), STR("NoExecute")};
    return PICK(r, effects);
}

static void node_taints(struct arena *mem, const struct node_plan *plan, struct node *out)
{
    static const struct str values[] = {STR(""), STR("a"), STR("b")};
    struct rng r = rng_seeded(plan->taints);
    uint32_t n = chance(&r, 3) ? (uint32_t)rng_below(&r, 4) : 0;
    out->spec.taints.at = arena_array(mem, struct taint, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out->spec.taints.at[out->spec.taints.n++] = (struct taint){
            chance(&r, 2) ? STR("k0") : STR("k1"), PICK(&r, values), taint_effect(&r)};
    if (plan->is_cordoned && !chance(&r, 3))
        out->spec.taints.at[out->spec.taints.n++] =
            (struct taint){unschedulable, STR(""), STR("NoSchedule")};
}

static void node_alloc(struct arena *mem, const struct node_plan *plan, struct node *out)
{
    static const struct str cpus[] = {STR("2"), STR("4"), STR("8"),  STR("16"),    STR("3500m"),
                                      STR("4"), STR("8"), STR("16"), STR("3500m"), STR("0")};
    static const struct str memories[] = {STR("4Gi"), STR("8Gi"), STR("16Gi"), STR("5000M"),
                                          STR("4Gi"), STR("8Gi"), STR("16Gi"), STR("0")};
    static const struct str pods[] = {STR("3"),  STR("10"), STR("110"),
                                      STR("20"), STR("20"), STR("0")};
    static const struct str gpus[] = {STR("1"), STR("4"), STR("8"), STR("0")};
    struct rng r = rng_seeded(plan->alloc);
    amount_list *l = &out->status.allocatable;
    out->status.has_allocatable = true;
    l->at = arena_array(mem, struct amount, 8);
    if (!chance(&r, 40))
        add_amount(l, STR("cpu"), PICK(&r, cpus));
    if (!chance(&r, 40))
        add_amount(l, STR("memory"), PICK(&r, memories));
    if (!chance(&r, 40))
        add_amount(l, STR("pods"), PICK(&r, pods));
    if (chance(&r, 3))
        add_amount(l, STR("nvidia.com/gpu"), PICK(&r, gpus));
    if (chance(&r, 4))
        add_amount(l, STR("hugepages-2Mi"), chance(&r, 2) ? STR("64Mi") : STR("0"));
    if (!chance(&r, 3))
        add_amount(l, STR("ephemeral-storage"), chance(&r, 2) ? STR("10Gi") : STR("1Gi"));
}

static void node_images(struct arena *mem, const struct node_plan *plan, struct node *out)
{
    struct rng r = rng_seeded(plan->images);
    out->status.images.at = arena_array(mem, struct container_image, LEN(images) + 1);
    for (uint32_t i = 0; i < LEN(images); i++) {
        if (!chance(&r, 4))
            continue;
        int64_t megabytes = i == USED_IMAGES && chance(&r, 2) ? 700 : 90 * (i + 1);
        out->status.images.at[out->status.images.n++] =
            (struct container_image){one(mem, images[i]), megabytes << 20};
    }
    if (chance(&r, 12))
        out->status.images.at[out->status.images.n++] = (struct container_image){
            one(mem, arena_printf(mem, "odd%lx:v1", rng_next(&r))), 1 << 28};
}

struct node *gen_node(struct arena *mem, const struct node_plan *plan)
{
    struct node *out = arena_array(mem, struct node, 1);
    out->meta.name = gen_node_name(mem, plan->number);
    out->meta.created_ms = out->meta.deleted_ms = TIME_NONE;
    out->spec.unschedulable = plan->is_cordoned;
    node_labels(mem, plan, out);
    gen_hardware(mem, plan->labels, out);
    node_taints(mem, plan, out);
    node_alloc(mem, plan, out);
    node_images(mem, plan, out);
    return out;
}

/* --- pods: what selects them --- */

static void pod_labels(struct arena *mem, uint64_t seed, struct pod *out)
{
    struct rng r = rng_seeded(seed);
    pair_list *l = &out->meta.labels;
    l->at = arena_array(mem, struct pair, 4);
    if (!chance(&r, 12))
        add_pair(l, STR("app"), PICK(&r, apps));
    if (!chance(&r, 3))
        add_pair(l, STR("tier"), PICK(&r, tiers));
    if (chance(&r, 8))
        add_pair(l, STR("serial"), arena_printf(mem, "%lx", rng_next(&r)));
}

static void pod_owner(struct arena *mem, struct rng *r, struct pod *out)
{
    static const struct {
        struct str api_version, kind;
    } kinds[] = {
        {STR("apps/v1"), STR("ReplicaSet")},
        {STR("apps/v1"), STR("StatefulSet")},
        {STR("v1"), STR("ReplicationController")},
        {STR("batch/v1"), STR("Job")},
    };
    if (!chance(r, 2))
        return;
    uint32_t kind = (uint32_t)rng_below(r, LEN(kinds));
    out->meta.owners.at = arena_array(mem, struct owner, 1);
    out->meta.owners.n = 1;
    struct owner *owner = out->meta.owners.at;
    owner->api_version = kinds[kind].api_version;
    owner->kind = kinds[kind].kind;
    owner->name = arena_printf(mem, "o%u", (uint32_t)rng_below(r, GEN_OWNERS));
    owner->is_controller = !chance(r, 10);
}

/* A selector on the labels of pods: nothing, everything, or some. */
static struct label_selector *pod_selector(struct arena *mem, struct rng *r)
{
    static const struct str ops[] = {STR("In"), STR("NotIn"), STR("Exists"), STR("DoesNotExist")};
    if (chance(r, 12))
        return NULL;
    struct label_selector *s = arena_array(mem, struct label_selector, 1);
    if (chance(r, 12))
        return s;
    if (!chance(r, 3)) {
        s->match_labels.at = arena_array(mem, struct pair, 2);
        add_pair(&s->match_labels, STR("app"), PICK(r, apps));
        if (chance(r, 4))
            add_pair(&s->match_labels, STR("tier"), PICK(r, tiers));
        return s;
    }
    struct requirement *line = arena_array(mem, struct requirement, 1);
    *line = (struct requirement){.key = STR("app"), .op = PICK(r, ops)};
    if (str_equal(line->op, STR("In")) || str_equal(line->op, STR("NotIn"))) {
        line->values.at = arena_array(mem, struct str, 2);
        line->values.at[line->values.n++] = PICK(r, apps);
        line->values.at[line->values.n++] = PICK(r, apps);
    }
    s->match_expressions.at = line;
    s->match_expressions.n = 1;
    return s;
}

/* --- pods: where they may go --- */

static struct requirement node_line(struct arena *mem, struct rng *r)
{
    static const struct str ops[] = {STR("In"),           STR("In"), STR("NotIn"), STR("Exists"),
                                     STR("DoesNotExist"), STR("Gt"), STR("Lt")};
    struct requirement line = {.op = PICK(r, ops)};
    if (str_equal(line.op, STR("Gt")) || str_equal(line.op, STR("Lt"))) {
        line.key = STR("cores");
        line.values = one(mem, chance(r, 20) ? STR("many") : STR("3"));
        return line;
    }
    uint32_t which = (uint32_t)rng_below(r, 4);
    line.key = which == 0 ? zone_key : which == 1 ? rack_key : which == 2 ? STR("disk") : host_key;
    if (str_equal(line.op, STR("Exists")) || str_equal(line.op, STR("DoesNotExist")))
        return line;
    line.values.at = arena_array(mem, struct str, 2);
    for (uint32_t i = 0; i < 2; i++)
        line.values.at[line.values.n++] =
            which == 0   ? PICK(r, zones)
            : which == 1 ? PICK(r, racks)
            : which == 2 ? PICK(r, disks)
                         : gen_node_name(mem, (uint32_t)rng_below(r, GEN_NODES));
    return line;
}

static struct requirement name_line(struct arena *mem, uint32_t node, bool is_in)
{
    return (struct requirement){
        .key = STR("metadata.name"),
        .op = is_in ? STR("In") : STR("NotIn"),
        .values = one(mem, gen_node_name(mem, node)),
    };
}

static void node_term(struct arena *mem, struct rng *r, struct node_selector_term *out)
{
    out->match_expressions.at = arena_array(mem, struct requirement, 2);
    out->match_fields.at = arena_array(mem, struct requirement, 2);
    if (!chance(r, 10))
        out->match_expressions.at[out->match_expressions.n++] = node_line(mem, r);
    if (chance(r, 4))
        out->match_expressions.at[out->match_expressions.n++] = node_line(mem, r);
    if (chance(r, 8)) {
        uint32_t node = (uint32_t)rng_below(r, GEN_NODES);
        out->match_fields.at[out->match_fields.n++] = name_line(mem, node, chance(r, 3));
    }
}

/* Terms that all name nodes: one (as DaemonSets do), several, or a contradiction. */
static void naming_terms(struct arena *mem, struct rng *r, uint32_t first,
                         struct node_selector *out)
{
    uint32_t n = chance(r, 3) ? 3 : 1;
    bool is_one = chance(r, 2);
    out->terms.at = arena_array(mem, struct node_selector_term, n);
    for (out->terms.n = 0; out->terms.n < n; out->terms.n++) {
        struct node_selector_term *t = &out->terms.at[out->terms.n];
        t->match_expressions.at = arena_array(mem, struct requirement, 1);
        t->match_fields.at = arena_array(mem, struct requirement, 2);
        uint32_t node = is_one ? first : (first + out->terms.n) % GEN_GHOSTS;
        t->match_fields.at[t->match_fields.n++] = name_line(mem, node, true);
        if (chance(r, 6))
            t->match_fields.at[t->match_fields.n++] = name_line(mem, node + chance(r, 2), true);
        if (chance(r, 4))
            t->match_expressions.at[t->match_expressions.n++] = node_line(mem, r);
    }
}

static void pod_affinity(struct arena *mem, struct rng *r, uint32_t number, struct pod *out)
{
    bool is_required = chance(r, 4), is_named = chance(r, 6), is_preferred = chance(r, 4);
    if (!is_required && !is_preferred && !is_named)
        return;
    struct node_affinity *a = arena_array(mem, struct node_affinity, 1);
    out->spec.affinity = arena_array(mem, struct affinity, 1);
    out->spec.affinity->node = a;
    if (is_named || is_required)
        a->required = arena_array(mem, struct node_selector, 1);
    if (is_named) {
        naming_terms(mem, r, number % GEN_GHOSTS, a->required);
    } else if (is_required) {
        a->required->terms.at = arena_array(mem, struct node_selector_term, 2);
        a->required->terms.n = chance(r, 30) ? 0 : chance(r, 3) ? 2 : 1;
        for (uint32_t i = 0; i < a->required->terms.n; i++)
            node_term(mem, r, &a->required->terms.at[i]);
    }
    if (!is_preferred)
        return;
    a->preferred.n = chance(r, 3) ? 2 : 1;
    a->preferred.at = arena_array(mem, struct preferred_node_term, 2);
    for (uint32_t i = 0; i < a->preferred.n; i++) {
        a->preferred.at[i].weight = 1 + (int32_t)rng_below(r, 100);
        node_term(mem, r, &a->preferred.at[i].preference);
    }
}

static void pod_tolerations(struct arena *mem, struct rng *r, bool one_more, struct pod *out)
{
    static const struct str ops[] = {STR("Exists"), STR("Equal"), STR("")};
    uint32_t n = chance(r, 2) ? 0 : (uint32_t)rng_below(r, 3);
    out->spec.tolerations.at = arena_array(mem, struct toleration, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct toleration *t = &out->spec.tolerations.at[out->spec.tolerations.n++];
        t->key = chance(r, 2) ? STR("k0") : STR("k1");
        t->op = PICK(r, ops);
        t->value = STR("a");
        t->effect = chance(r, 2) ? STR("") : taint_effect(r);
        if (chance(r, 6))
            *t = (struct toleration){unschedulable, STR("Exists"), STR(""), STR("")};
        if (chance(r, 12))
            *t = (struct toleration){STR(""), STR("Exists"), STR(""), STR("")};
    }
    if (one_more)
        out->spec.tolerations.at[out->spec.tolerations.n++] =
            (struct toleration){STR("k0"), STR("Exists"), STR(""), STR("")};
}

static void pod_spread(struct arena *mem, struct rng *r, struct pod *out)
{
    bool is_by_host = chance(r, 5); /* the kind with the most ways to go wrong: make sure of some */
    uint32_t n = is_by_host || chance(r, 3) ? 1 + (uint32_t)rng_below(r, 3) : 0;
    out->spec.spread.at = arena_array(mem, struct spread_constraint, n);
    for (out->spec.spread.n = 0; out->spec.spread.n < n; out->spec.spread.n++) {
        struct spread_constraint *s = &out->spec.spread.at[out->spec.spread.n];
        uint32_t key = is_by_host ? 2 : (uint32_t)rng_below(r, 3);
        bool is_hard = chance(r, 2) || is_by_host;
        is_by_host = false;
        s->max_skew = 1 + (int32_t)rng_below(r, 3);
        s->topology_key = key == 0 ? zone_key : key == 1 ? rack_key : host_key;
        s->when_unsatisfiable = is_hard ? STR("DoNotSchedule") : STR("ScheduleAnyway");
        s->label_selector = pod_selector(mem, r);
        s->node_affinity_policy = chance(r, 3) ? STR("Ignore") : STR("");
        s->node_taints_policy = chance(r, 3) ? STR("Honor") : STR("");
        if (chance(r, 5) && str_equal(s->when_unsatisfiable, STR("DoNotSchedule")))
            s->min_domains = 1 + (int32_t)rng_below(r, 4);
        if (chance(r, 5))
            s->match_label_keys = one(mem, STR("tier"));
    }
}

/* A term of pod affinity: any topology, within the namespace or beyond. */
static struct pod_affinity_term pod_term(struct arena *mem, struct rng *r)
{
    struct pod_affinity_term t = {
        .label_selector = pod_selector(mem, r),
        .topology_key = chance(r, 3)   ? host_key
                        : chance(r, 2) ? zone_key
                                       : rack_key,
    };
    if (chance(r, 5))
        t.namespaces = one(mem, PICK(r, namespaces));
    if (chance(r, 4)) {
        t.namespace_selector = arena_array(mem, struct label_selector, 1);
        t.namespace_selector->match_labels.at = arena_array(mem, struct pair, 1);
        if (!chance(r, 4))
            add_pair(&t.namespace_selector->match_labels, STR("team"), PICK(r, apps));
    }
    return t;
}

static struct pod_affinity *pod_terms(struct arena *mem, struct rng *r)
{
    struct pod_affinity *a = arena_array(mem, struct pod_affinity, 1);
    a->required.at = arena_array(mem, struct pod_affinity_term, 2);
    a->preferred.at = arena_array(mem, struct preferred_pod_term, 2);
    a->required.n = chance(r, 2) ? 1 + (uint32_t)chance(r, 4) : 0;
    a->preferred.n = chance(r, 2) ? 1 + (uint32_t)chance(r, 2) : 0;
    for (uint32_t i = 0; i < a->required.n; i++)
        a->required.at[i] = pod_term(mem, r);
    for (uint32_t i = 0; i < a->preferred.n; i++) {
        a->preferred.at[i].weight = 1 + (int32_t)rng_below(r, 100);
        a->preferred.at[i].term = pod_term(mem, r);
    }
    return a;
}

/* Whom the pod seeks and avoids. */
static void pod_company(struct arena *mem, struct rng *r, struct pod *out)
{
    if (!chance(r, 5))
        return;
    if (!out->spec.affinity)
        out->spec.affinity = arena_array(mem, struct affinity, 1);
    if (chance(r, 2))
        out->spec.affinity->pod = pod_terms(mem, r);
    if (chance(r, 2))
        out->spec.affinity->anti = pod_terms(mem, r);
}

/* --- pods: what they ask for --- */

static void container_requests(struct arena *mem, struct rng *r, struct container *out)
{
    static const struct str cpus[] = {STR("0"), STR("100m"), STR("250m"), STR("500m"), STR("1")};
    static const struct str memories[] = {STR("0"), STR("128Mi"), STR("300M"), STR("1Gi")};
    static const struct str gpus[] = {STR("0"), STR("1"), STR("1"), STR("2"), STR("4")};
    amount_list *l = &out->resources.requests;
    l->at = arena_array(mem, struct amount, 6);
    out->resources.has_requests = true;
    if (!chance(r, 4))
        add_amount(l, STR("cpu"), PICK(r, cpus));
    if (!chance(r, 4))
        add_amount(l, STR("memory"), PICK(r, memories));
    if (chance(r, 8))
        add_amount(l, STR("nvidia.com/gpu"), PICK(r, gpus));
    if (chance(r, 10))
        add_amount(l, STR("ephemeral-storage"), STR("400Mi"));
    if (chance(r, 20))
        add_amount(l, STR("hugepages-2Mi"), STR("4Mi"));
}

static void container_ports(struct arena *mem, struct rng *r, struct container *out)
{
    static const struct str ips[] = {STR(""), STR("0.0.0.0"), STR("10.0.0.1"), STR("10.0.0.2")};
    if (!chance(r, 8))
        return;
    out->ports.at = arena_array(mem, struct container_port, 2);
    out->ports.n = 1 + (uint32_t)chance(r, 3);
    list_each(&out->ports, port) {
        port->host_port = 8080 + (int32_t)rng_below(r, 3);
        port->protocol = chance(r, 4) ? STR("UDP") : STR("TCP");
        port->host_ip = PICK(r, ips);
    }
}

static void pod_containers(struct arena *mem, struct rng *r, const struct pod_plan *plan,
                           struct pod *out)
{
    uint64_t seed = rng_next(r);
    struct rng requests = rng_seeded(plan->requests ? plan->requests : seed);
    out->spec.containers.n = 1 + (uint32_t)chance(r, 4);
    out->spec.containers.at = arena_array(mem, struct container, 2);
    for (uint32_t i = 0; i < out->spec.containers.n; i++) {
        struct container *c = &out->spec.containers.at[i];
        c->name = i ? STR("side") : STR("main");
        c->image = chance(r, 2)   ? images[rng_below(r, USED_IMAGES)]
                   : chance(r, 2) ? STR("img0")
                                  : STR("img3");
        container_requests(mem, &requests, c);
        container_ports(mem, r, c);
    }
    if (chance(r, 4)) /* of class Guaranteed, if both cpu and memory are there */
        list_each(&out->spec.containers, c)
            c->resources.limits = c->resources.requests;
    if (!chance(r, 10))
        return;
    out->spec.init_containers.n = 1;
    out->spec.init_containers.at = arena_array(mem, struct container, 1);
    struct container *first = out->spec.init_containers.at;
    first->name = STR("first");
    first->image = images[rng_below(r, USED_IMAGES)];
    first->restart_policy = chance(r, 2) ? STR("Always") : STR("");
    container_requests(mem, &requests, first);
}

static void pod_oddities(struct arena *mem, struct rng *r, const struct pod_plan *plan,
                         struct pod *out)
{
    if (chance(r, 40)) {
        out->spec.resource_claims.n = 1;
        out->spec.resource_claims.at = arena_array(mem, struct resource_claim_ref, 1);
    }
    if (chance(r, 12)) {
        out->spec.gates.n = plan->is_ungated ? 0 : 1;
        out->spec.gates.at = arena_array(mem, struct scheduling_gate, 1);
        out->spec.gates.at[0].name = STR("example.com/wait");
    }
    if (chance(r, 8)) {
        out->spec.node_selector.at = arena_array(mem, struct pair, 1);
        out->spec.has_node_selector = true;
        if (chance(r, 2))
            add_pair(&out->spec.node_selector, STR("disk"), PICK(r, disks));
        else
            add_pair(&out->spec.node_selector, zone_key, PICK(r, zones));
    }
}

/* A share of a GPU; some of these make no sense. */
static void pod_share(struct arena *mem, struct rng *r, struct pod *out)
{
    static const struct str shares[] = {STR("0.25"), STR("0.5"), STR("0.7"), STR("2")};
    if (!chance(r, 8))
        return;
    out->meta.annotations.at = arena_array(mem, struct pair, 1);
    add_pair(&out->meta.annotations, STR("gpu-fraction"), PICK(r, shares));
}

/* A disk of its own, or a claim; few names, so that pods meet. */
static void pod_volumes(struct arena *mem, struct rng *r, struct pod *out)
{
    if (!chance(r, 8))
        return;
    out->spec.volumes.n = 1;
    out->spec.volumes.at = arena_array(mem, struct volume, 1);
    struct volume *v = out->spec.volumes.at;
    if (chance(r, 2)) {
        v->claim = arena_array(mem, struct claim_source, 1);
        v->claim->claim_name = PICK(r, claims);
        return;
    }
    struct disk_source *disk = arena_array(mem, struct disk_source, 1);
    disk->id = PICK(r, claims);
    disk->read_only = chance(r, 2);
    if (chance(r, 2))
        v->iscsi = disk;
    else
        v->gce_disk = disk;
}

static void pod_standing(struct rng *r, struct pod *out)
{
    static const int32_t priorities[] = {0, 0, 0, 10, 1000, -5};
    out->spec.scheduler_name = chance(r, 10)  ? STR("another-scheduler")
                               : chance(r, 2) ? STR("kubenexus-scheduler")
                                              : STR("default-scheduler");
    out->spec.priority = PICK(r, priorities);
    out->spec.has_priority = true;
}

struct pod *gen_pod(struct arena *mem, const struct pod_plan *plan)
{
    struct rng r = rng_seeded(plan->template);
    struct pod *out = arena_array(mem, struct pod, 1);
    out->meta.namespace = gen_namespace_name(plan->namespace);
    out->meta.name = arena_printf(mem, "p%u", plan->number);
    out->meta.uid = arena_printf(mem, "u%u-%u", plan->number, plan->incarnation);
    out->meta.created_ms = TIME_NONE;
    out->meta.deleted_ms = plan->is_deleted ? 1000 : TIME_NONE;
    uint64_t labels = rng_next(&r);
    pod_labels(mem, plan->labels ? plan->labels : labels, out);
    pod_owner(mem, &r, out);
    pod_standing(&r, out);
    pod_tolerations(mem, &r, plan->is_tolerant, out);
    pod_affinity(mem, &r, plan->number, out);
    pod_spread(mem, &r, out);
    pod_company(mem, &r, out);
    pod_containers(mem, &r, plan, out);
    pod_oddities(mem, &r, plan, out);
    pod_share(mem, &r, out);
    pod_volumes(mem, &r, out);
    gen_wishes(mem, &r, out);
    if (plan->node != GEN_NOWHERE)
        out->spec.node_name = gen_node_name(mem, plan->node);
    if (plan->nominated != GEN_NOWHERE)
        out->status.nominated_node_name = gen_node_name(mem, plan->nominated);
    if (plan->is_preempted) {
        out->status.conditions.n = 1;
        out->status.conditions.at = arena_array(mem, struct pod_condition, 1);
        out->status.conditions.at[0] = (struct pod_condition){
            .type = STR("DisruptionTarget"),
            .status = STR("True"),
            .reason = STR("PreemptionByScheduler"),
        };
    }
    out->status.phase = plan->is_finished ? STR("Succeeded") : STR("Pending");
    out->status.start_ms = TIME_NONE;
    return out;
}

/* --- what selects pods --- */

static void set_meta(struct meta *out, struct str namespace, struct str name)
{
    out->namespace = namespace;
    out->name = name;
    out->created_ms = out->deleted_ms = TIME_NONE;
}

static pair_list plain_selector(struct arena *mem, struct rng *r)
{
    pair_list l = {arena_array(mem, struct pair, 2), 0};
    if (chance(r, 10))
        return l;
    add_pair(&l, STR("app"), PICK(r, apps));
    if (chance(r, 3))
        add_pair(&l, STR("tier"), PICK(r, tiers));
    return l;
}

struct object gen_service(struct arena *mem, struct rng *r, uint32_t namespace, uint32_t number)
{
    struct service *s = arena_array(mem, struct service, 1);
    set_meta(&s->meta, gen_namespace_name(namespace), arena_printf(mem, "s%u", number));
    s->selector = plain_selector(mem, r);
    return (struct object){.kind = KIND_SERVICE, .service = s};
}

struct object gen_owner(struct arena *mem, struct rng *r, uint32_t namespace, uint32_t number)
{
    struct str name = arena_printf(mem, "o%u", number);
    if (number % 3 == 2) {
        struct replication_controller *c = arena_array(mem, struct replication_controller, 1);
        set_meta(&c->meta, gen_namespace_name(namespace), name);
        c->selector = plain_selector(mem, r);
        return (struct object){.kind = KIND_REPLICATION_CONTROLLER, .replication_controller = c};
    }
    struct replica_set *s = arena_array(mem, struct replica_set, 1);
    set_meta(&s->meta, gen_namespace_name(namespace), name);
    s->selector = pod_selector(mem, r);
    return (struct object){.kind = number % 3 ? KIND_STATEFUL_SET : KIND_REPLICA_SET,
                           .replica_set = s};
}

struct object gen_budget(struct arena *mem, struct rng *r, uint32_t namespace, uint32_t number)
{
    struct disruption_budget *b = arena_array(mem, struct disruption_budget, 1);
    set_meta(&b->meta, gen_namespace_name(namespace), arena_printf(mem, "b%u", number));
    b->selector = pod_selector(mem, r);
    b->disruptions_allowed = (int32_t)rng_below(r, 3);
    if (chance(r, 4)) {
        b->disrupted_pods.at = arena_array(mem, struct disrupted_pod, 1);
        b->disrupted_pods.at[0].name = arena_printf(mem, "p%u", (uint32_t)rng_below(r, 20));
        b->disrupted_pods.n = 1;
    }
    return (struct object){.kind = KIND_DISRUPTION_BUDGET, .disruption_budget = b};
}

struct object gen_namespace(struct arena *mem, struct rng *r, uint32_t namespace)
{
    struct namespace *n = arena_array(mem, struct namespace, 1);
    set_meta(&n->meta, (struct str){0}, gen_namespace_name(namespace));
    static const struct str ranks[] = {STR("gold"), STR("silver"), STR("bronze"), STR("odd")};
    n->meta.labels.at = arena_array(mem, struct pair, 2);
    add_pair(&n->meta.labels, STR("team"), PICK(r, apps));
    if (chance(r, 2))
        add_pair(&n->meta.labels, STR("tenant.kubenexus.io/tier"), PICK(r, ranks));
    return (struct object){.kind = KIND_NAMESPACE, .namespace = n};
}

/* --- volumes --- */

static struct object storage_object(struct arena *mem, enum kind kind, struct str namespace,
                                    struct str name)
{
    struct object o = {.kind = kind, .meta = arena_alloc(mem, kind_info_get(kind)->size)};
    set_meta(o.meta, namespace, name);
    return o;
}

static struct object gen_claim(struct arena *mem, struct rng *r, uint32_t number)
{
    static const struct str modes[] = {STR("ReadWriteOnce"), STR("ReadWriteOncePod")};
    struct object o =
        storage_object(mem, KIND_PERSISTENT_VOLUME_CLAIM, gen_namespace_name(number / LEN(claims)),
                       claims[number % LEN(claims)]);
    struct persistent_volume_claim *c = o.persistent_volume_claim;
    c->spec.access_modes = one(mem, PICK(r, modes));
    c->spec.volume_name = chance(r, 4) ? (struct str){0} : arena_printf(mem, "v%u", number % 3);
    c->spec.storage_class = chance(r, 3) ? STR("fast") : STR("slow");
    c->meta.annotations.at = arena_array(mem, struct pair, 1);
    if (c->spec.volume_name.n)
        add_pair(&c->meta.annotations, STR("pv.kubernetes.io/bind-completed"), STR("yes"));
    return o;
}

static struct object gen_volume(struct arena *mem, struct rng *r, uint32_t number)
{
    struct object o = storage_object(mem, KIND_PERSISTENT_VOLUME, (struct str){0},
                                     arena_printf(mem, "v%u", number));
    struct persistent_volume *v = o.persistent_volume;
    v->spec.csi = arena_array(mem, struct csi_source, 1);
    *v->spec.csi = (struct csi_source){STR("d.example"), o.meta->name};
    v->meta.labels.at = arena_array(mem, struct pair, 1);
    if (chance(r, 2))
        add_pair(&v->meta.labels, zone_key, PICK(r, zones));
    if (chance(r, 3)) {
        v->spec.node_affinity = arena_array(mem, struct node_selector, 1);
        v->spec.node_affinity->terms.n = 1;
        v->spec.node_affinity->terms.at = arena_array(mem, struct node_selector_term, 1);
        node_term(mem, r, v->spec.node_affinity->terms.at);
    }
    return o;
}

static struct object gen_csi_node(struct arena *mem, struct rng *r, uint32_t number)
{
    struct object o =
        storage_object(mem, KIND_CSI_NODE, (struct str){0}, gen_node_name(mem, number));
    o.csi_node->drivers.n = 2;
    o.csi_node->drivers.at = arena_array(mem, struct csi_node_driver, 2);
    o.csi_node->drivers.at[0] =
        (struct csi_node_driver){STR("d.example"), true, (int32_t)rng_below(r, 3)};
    o.csi_node->drivers.at[1] =
        (struct csi_node_driver){STR("pd.csi.storage.gke.io"), true, (int32_t)rng_below(r, 3)};
    return o;
}

struct object gen_storage(struct arena *mem, struct rng *r, uint32_t number)
{
    if (number < 9)
        return gen_claim(mem, r, number);
    if (number < 12)
        return gen_volume(mem, r, number - 9);
    if (number < 14) {
        struct object o = storage_object(mem, KIND_STORAGE_CLASS, (struct str){0},
                                         number == 12 ? STR("fast") : STR("slow"));
        o.storage_class->binding_mode = STR("Immediate"); /* nobody binds claims that wait yet */
        o.storage_class->provisioner = chance(r, 2) ? STR("d.example") : STR("e.example");
        return o;
    }
    if (number < 20)
        return gen_csi_node(mem, r, number - 14);
    if (number >= 24)
        return gen_gpu_slice(mem, r, gen_node_name(mem, number - 24));
    struct object o = storage_object(mem, KIND_VOLUME_ATTACHMENT, (struct str){0},
                                     arena_printf(mem, "a%u", number));
    o.volume_attachment->attacher = STR("d.example");
    o.volume_attachment->node_name = gen_node_name(mem, (uint32_t)rng_below(r, 6));
    o.volume_attachment->volume_name = arena_printf(mem, "v%u", (uint32_t)rng_below(r, 3));
    return o;
}
