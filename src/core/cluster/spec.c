/* A spec is interned as its bytes: a fixed head (struct spec with list pointers left 0), then its
 * lists one after another, each at an offset that is a multiple of 8. The lists of a struct spec
 * point into those bytes, which do not move. */

#include "core/cluster/spec.h"

#include <stdlib.h>

#include "core/model/gang.h"
#include "core/model/gpu_share.h"
#include "core/model/limits.h"
#include "core/model/migrate.h"
#include "core/model/our_keys.h"
#include "core/model/resources.h"

int64_t request_amount(const struct pod_request *r, resource_id resource)
{
    if (resource == RESOURCE_CPU)
        return r->cpu_milli;
    if (resource == RESOURCE_MEMORY)
        return r->memory;
    for (uint32_t i = 0; i < r->n_others; i++)
        if (r->others[i].resource == resource)
            return r->others[i].amount;
    return 0;
}

/* --- reading a pod --- */

VEC_TYPE(needs, struct need);
VEC_TYPE(sym_vec, sym);

/* All lists of a spec while it is being read. */
struct reading {
    struct specs *specs;
    struct names *names;
    struct matches *matches;
    struct arena *mem;
    struct needs ask, hold, score;
    VEC(struct host_port) ports;
    struct sym_vec images, match_keys, gates, namespaces, monitors, held;
    VEC(struct volume_use) volumes;
    VEC(struct spread_rule) spread;
    VEC(struct pod_term) pod_terms;
    VEC(struct pair_sym) misread;
    VEC(struct claim_use) claims;
    VEC(struct device_need) device_asks;
    VEC(struct pinned_ask) pinned;
};

static sym keep(struct reading *r, struct str text)
{
    sym s = names_get(r->names, text);
    vec_push(&r->held, s);
    return s;
}

static int by_resource(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    return (x->resource > y->resource) - (x->resource < y->resource);
}

static void read_request(struct reading *r, const struct pod *pod, struct request_rules rules,
                         struct pod_request *out, struct needs *others)
{
    amount_list total = pod_requests(pod, rules, r->mem);
    *out = (struct pod_request){0};
    list_each(&total, a) {
        if (str_equal(a->name, STR("cpu"))) {
            out->cpu_milli = quantity_milli(a->quantity);
        } else if (str_equal(a->name, STR("memory"))) {
            out->memory = quantity_value(a->quantity);
        } else if (str_equal(a->name, STR("ephemeral-storage")) || resource_is_scalar(a->name)) {
            struct need need = {resources_get(&r->specs->resources, r->names, a->name), 0,
                                quantity_value(a->quantity)};
            if (need.amount)
                vec_push(others, need);
        }
    }
    if (others->n > 1)
        qsort(others->at, others->n, sizeof(struct need), by_resource);
}

static enum protocol protocol_of(struct str text)
{
    if (text.n == 0 || str_equal(text, STR("TCP")))
        return PROTOCOL_TCP;
    if (str_equal(text, STR("UDP")))
        return PROTOCOL_UDP;
    return str_equal(text, STR("SCTP")) ? PROTOCOL_SCTP : PROTOCOL_OTHER;
}

static int by_port(const void *a, const void *b)
{
    const struct host_port *x = a, *y = b;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (x->protocol != y->protocol)
        return x->protocol < y->protocol ? -1 : 1;
    return (x->ip > y->ip) - (x->ip < y->ip);
}

static void read_ports(struct reading *r, const struct container *container)
{
    list_each(&container->ports, p) {
        if (p->host_port <= 0 || p->host_port > UINT16_MAX)
            continue;
        struct host_port port = {0};
        port.ip = keep(r, p->host_ip.n ? p->host_ip : STR("0.0.0.0"));
        port.port = (uint16_t)p->host_port;
        port.protocol = (uint16_t)protocol_of(p->protocol);
        vec_push(&r->ports, port);
    }
}

static void sort_ports(struct reading *r)
{
    if (r->ports.n > 1)
        qsort(r->ports.at, r->ports.n, sizeof(struct host_port), by_port);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < r->ports.n; i++)
        if (distinct == 0 || by_port(&r->ports.at[distinct - 1], &r->ports.at[i]) != 0)
            r->ports.at[distinct++] = r->ports.at[i];
    r->ports.n = distinct;
}

struct str image_name(struct str image, struct arena *mem)
{
    size_t slash = image.n;
    while (slash > 0 && image.p[slash - 1] != '/')
        slash--;
    if (str_find(str_part(image, slash, image.n), ':') < image.n - slash)
        return image;
    return arena_join(mem, image, STR(":latest"));
}

static bool is_sidecar(const struct container *c)
{
    return str_equal(c->restart_policy, STR("Always"));
}

static void read_device_asks(struct reading *r, const struct container *container, uint32_t number,
                             bool is_short_lived)
{
    list_each(&container->resources.requests, a) {
        bool is_device = resource_is_extended(a->name) ||
                         str_starts(a->name, STR("deviceclass.resource.kubernetes.io/"));
        if (!is_device || a->quantity.nano == 0)
            continue;
        struct device_need need = {
            .resource = resources_get(&r->specs->resources, r->names, a->name),
            .container = number,
            .is_short_lived = is_short_lived,
            .container_name = keep(r, container->name),
        };
        quantity_integer(a->quantity, &need.amount);
        list_each(&container->resources.requests, other)
            need.place += str_compare(other->name, a->name) < 0;
        vec_push(&r->device_asks, need);
    }
}

/* CPU and memory are pinned for Guaranteed pods, CPU by whole cores; devices for all. */
static void read_pinned(struct reading *r, const struct container *container, bool is_guaranteed,
                        bool is_short_lived)
{
    struct pinned_ask ask = {.is_short_lived = is_short_lived};
    list_each(&container->resources.requests, a) {
        bool is_cpu = str_equal(a->name, STR("cpu")), is_gpu = gpus_is_resource(a->name);
        bool is_memory = str_equal(a->name, STR("memory"));
        int64_t milli = is_cpu ? quantity_milli(a->quantity) : 0;
        int64_t amount = MIN(MAX(quantity_value(a->quantity), (int64_t)0), (int64_t)1 << 40);
        if (is_cpu && is_guaranteed && milli % 1000 == 0)
            ask.cpu_milli = amount * 1000;
        else if (is_memory && is_guaranteed)
            ask.memory = amount;
        else if (is_gpu)
            ask.gpus += amount;
    }
    ask.resources = (ask.cpu_milli > 0 ? NUMA_CPU : 0) | (ask.memory > 0 ? NUMA_MEMORY : 0) |
                    (ask.gpus > 0 ? NUMA_GPU : 0);
    if (ask.resources)
        vec_push(&r->pinned, ask);
}

static void read_containers(struct reading *r, const struct pod *pod)
{
    uint32_t number = 0;
    bool is_guaranteed = pod_is_guaranteed(pod);
    list_each(&pod->spec.init_containers, c) {
        vec_push(&r->images, keep(r, image_name(c->image, r->mem)));
        if (is_sidecar(c))
            read_ports(r, c);
        read_device_asks(r, c, number++, !is_sidecar(c));
        read_pinned(r, c, is_guaranteed, !is_sidecar(c));
    }
    list_each(&pod->spec.containers, c) {
        vec_push(&r->images, keep(r, image_name(c->image, r->mem)));
        read_ports(r, c);
        read_device_asks(r, c, number++, false);
        read_pinned(r, c, is_guaranteed, false);
    }
    list_each(&pod->spec.volumes, v)
        if (v->image)
            vec_push(&r->images, keep(r, image_name(v->image->reference, r->mem)));
    sort_ports(r);
}

static selector_id read_selector(struct reading *r, const struct label_selector *from)
{
    if (!from)
        return ID_NONE;
    struct match_vec all = {0};
    match_add_selector(&all, r->names, from, r->mem);
    selector_id id = matches_selector(r->matches, r->names, all.at, all.n);
    vec_done(&all);
    return id;
}

static void read_spread(struct reading *r, const struct pod *pod)
{
    list_each(&pod->spec.spread, c) {
        struct spread_rule rule;
        memset(&rule, 0, sizeof(rule)); /* its bytes are interned, padding too */
        rule.key = keep(r, c->topology_key);
        rule.max_skew = c->max_skew;
        rule.min_domains = c->min_domains > 0 ? c->min_domains : 1;
        rule.selector = read_selector(r, c->label_selector);
        rule.match_key_at = r->match_keys.n;
        rule.n_match_keys = c->match_label_keys.n;
        rule.is_hard = str_equal(c->when_unsatisfiable, STR("DoNotSchedule"));
        rule.honors_affinity = !str_equal(c->node_affinity_policy, STR("Ignore"));
        rule.honors_taints = str_equal(c->node_taints_policy, STR("Honor"));
        vec_push(&r->spread, rule);
        list_each(&c->match_label_keys, key)
            vec_push(&r->match_keys, keep(r, *key));
    }
}

static int by_number(const void *a, const void *b)
{
    const sym *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Appends the term's namespaces, sorted, each once. */
static void read_namespaces(struct reading *r, const struct pod_affinity_term *from,
                            struct pod_term *term)
{
    term->namespace_at = r->namespaces.n;
    list_each(&from->namespaces, name)
        vec_push(&r->namespaces, keep(r, *name));
    sym *all = r->namespaces.at + term->namespace_at;
    uint32_t n = r->namespaces.n - term->namespace_at;
    if (n > 1)
        qsort(all, n, sizeof(*all), by_number);
    for (uint32_t i = 0; i < n; i++)
        if (term->n_namespaces == 0 || all[i] != all[term->n_namespaces - 1])
            all[term->n_namespaces++] = all[i];
    r->namespaces.n = term->namespace_at + term->n_namespaces;
}

static void read_pod_term(struct reading *r, const struct pod_affinity_term *from, int32_t weight,
                          bool is_anti)
{
    struct pod_term term = {
        .key = keep(r, from->topology_key),
        .selector = read_selector(r, from->label_selector),
        .like = read_selector(r, from->namespace_selector),
        .weight = weight,
        .is_anti = is_anti,
    };
    read_namespaces(r, from, &term);
    vec_push(&r->pod_terms, term);
}

static void read_pod_affinity(struct reading *r, const struct pod_affinity *affinity, bool is_anti)
{
    if (!affinity)
        return;
    list_each(&affinity->required, term)
        read_pod_term(r, term, 0, is_anti);
    list_each(&affinity->preferred, preferred)
        read_pod_term(r, &preferred->term, preferred->weight, is_anti);
}

static tolerations_id read_tolerations(struct reading *r, const struct pod *pod)
{
    VEC(struct toleration_sym) all = {0};
    list_each(&pod->spec.tolerations, t) {
        struct toleration_sym s;
        memset(&s, 0, sizeof(s));
        s.key = t->key.n ? names_get(r->names, t->key) : SYM_NONE;
        s.value = names_get(r->names, t->value);
        s.op = str_equal(t->op, STR("Exists")) ? TOLERATES_EXISTS
               : str_equal(t->op, STR("Lt"))   ? TOLERATES_LESS
               : str_equal(t->op, STR("Gt"))   ? TOLERATES_GREATER
                                               : TOLERATES_EQUAL;
        s.effect = taint_effect_of(t->effect);
        vec_push(&all, s);
    }
    tolerations_id id = names_tolerations(r->names, all.at, all.n);
    vec_done(&all);
    return id;
}

static uint32_t container_features(const struct container *container)
{
    uint32_t features = 0;
    list_each(&container->restart_policy_rules, rule)
        if (str_equal(rule->action, STR("RestartAllContainers")))
            features |= FEATURE_RESTART_ALL;
    list_each(&container->volume_mounts, mount)
        if (mount->bind_mount_options.n)
            features |= FEATURE_BIND_MOUNT;
    return features;
}

static uint32_t read_features(const struct pod *pod)
{
    bool has_users = pod->spec.host_network && pod->spec.has_host_users && !pod->spec.host_users;
    uint32_t features = has_users ? FEATURE_HOST_USERS : 0;
    list_each(&pod->spec.init_containers, c)
        features |= container_features(c);
    list_each(&pod->spec.containers, c)
        features |= container_features(c);
    return features;
}

static void read_disk(struct reading *r, const struct volume *v, struct volume_use *use)
{
    struct str handle;
    use->in_tree = migrate_inline(v, r->mem, &handle);
    const struct disk_source *disk = v->gce_disk ? v->gce_disk : v->aws_disk;
    use->kind = VOLUME_DISK;
    use->is_read_only = disk && disk->read_only;
    use->name = disk ? keep(r, disk->id) : SYM_NONE;
    use->handle = handle.p ? keep(r, handle) : SYM_NONE;
}

static void read_rbd(struct reading *r, const struct disk_source *rbd, struct volume_use *use)
{
    use->kind = VOLUME_RBD;
    use->is_read_only = rbd->read_only;
    use->name = keep(r, rbd->id);
    use->pool = keep(r, rbd->pool);
    use->monitor_at = r->monitors.n;
    use->n_monitors = rbd->monitors.n;
    list_each(&rbd->monitors, monitor)
        vec_push(&r->monitors, keep(r, *monitor));
}

/* The claim of an ephemeral volume is named after the pod and the volume. */
static void read_ephemeral(struct reading *r, const struct pod *pod, const struct volume *v,
                           struct volume_use *use)
{
    use->kind = VOLUME_EPHEMERAL;
    use->name = keep(r, arena_join(r->mem, pod->meta.name, STR("-"), v->name));
    use->pod = keep(r, pod->meta.name);
    use->pod_uid = keep(r, pod->meta.uid);
}

/* False if it is of a kind that no plugin looks at. */
static bool read_volume(struct reading *r, const struct pod *pod, const struct volume *v,
                        struct volume_use *use)
{
    struct str ignored;
    memset(use, 0, sizeof(*use));
    use->name = use->handle = use->pod = use->pod_uid = use->pool = SYM_NONE;
    if (v->claim) {
        use->kind = VOLUME_CLAIM;
        use->name = keep(r, v->claim->claim_name);
    } else if (v->ephemeral) {
        read_ephemeral(r, pod, v, use);
    } else if (v->iscsi) {
        use->kind = VOLUME_ISCSI;
        use->name = keep(r, v->iscsi->id);
        use->is_read_only = v->iscsi->read_only;
    } else if (v->rbd) {
        read_rbd(r, v->rbd, use);
    } else if (v->csi) {
        use->kind = VOLUME_CSI;
        use->name = keep(r, v->csi->driver);
    } else if (migrate_inline(v, r->mem, &ignored)) {
        read_disk(r, v, use);
    } else {
        return false;
    }
    return true;
}

static void read_volumes(struct reading *r, const struct pod *pod)
{
    list_each(&pod->spec.volumes, v) {
        struct volume_use use;
        if (read_volume(r, pod, v, &use))
            vec_push(&r->volumes, use);
    }
}

static int64_t accelerators(const struct resources *r, const struct needs *needs)
{
    int64_t sum = 0;
    vec_each(needs, need)
        if (r->are_accelerators.at[need->resource])
            sum = wrap_add(sum, need->amount);
    return sum;
}

/* What its labels and annotations say. */
static void read_said(struct reading *r, const struct pod *pod, struct spec *s)
{
    struct pod_said said;
    struct misreads misread = {0};
    struct gang_identity gang;
    bool is_gang = gang_identity_of(pod, &gang) && gang.minimum != 1;
    pod_said_read(pod, &said);
    s->accelerators = accelerators(&r->specs->resources, &r->ask);
    s->class = pod_classify(pod, &said, is_gang, s->accelerators, &misread);
    s->wishes = pod_wishes(&said, &misread);
    s->numa_gang =
        is_gang && s->wishes.numa_policy > NUMA_NONE ? keep(r, gang.group.value) : SYM_NONE;
    s->queue = pod_says(&said, MEANS_QUEUE) ? keep(r, said.by[MEANS_QUEUE].value) : SYM_NONE;
    our_keys_check(&pod->meta.labels, ON_POD, &misread);
    our_keys_check(&pod->meta.annotations, ON_POD, &misread);
    vec_each(&misread, m)
        vec_push(&r->misread, (struct pair_sym){keep(r, m->key), keep(r, m->value)});
    vec_done(&misread);
}

/* --- GPUs --- */

static uint32_t whole_gpus(const struct reading *r)
{
    int64_t all = 0;
    vec_each(&r->hold, need)
        if (gpus_is_resource(names_text(r->names, r->specs->resources.names.at[need->resource])))
            all = MAX(all, need->amount);
    return (uint32_t)MIN(all, (int64_t)UINT32_MAX);
}

static uint32_t mebibytes(int64_t bytes)
{
    return (uint32_t)MIN(bytes / (1 << 20) + (bytes % (1 << 20) > 0), (int64_t)UINT32_MAX);
}

static void read_gpus(struct reading *r, const struct pod *pod, struct spec *s)
{
    uint32_t whole = whole_gpus(r), vram_mib = mebibytes(s->wishes.vram_each_bytes);
    struct gpu_share share = gpu_share_read(pod, whole, r->mem);
    s->gpu_error = share.error.n ? keep(r, share.error) : SYM_NONE;
    s->gpus = (struct gpu_ask){.count = whole, .milli = GPU_WHOLE};
    if (share.count)
        s->gpus = (struct gpu_ask){share.count, share.milli, share.mib, 0};
    s->gpus.vram_mib = s->gpus.count ? vram_mib : 0;
}

/* --- claims --- */

static const struct resource_claim_status *claim_status(const struct pod *pod, struct str name)
{
    list_each(&pod->status.resource_claims, status)
        if (str_equal(status->name, name))
            return status;
    return NULL;
}

static void read_claims(struct reading *r, const struct pod *pod)
{
    list_each(&pod->spec.resource_claims, from) {
        struct claim_use use = {CLAIM_NAMED, SYM_NONE, SYM_NONE, SYM_NONE};
        const struct resource_claim_status *status = claim_status(pod, from->name);
        bool is_unknown = from->claim_name.n == 0 && from->template_name.n == 0;
        if (from->claim_name.n == 0 && !is_unknown && status && !status->has_claim)
            continue;
        if (from->claim_name.n) {
            use.name = keep(r, from->claim_name);
        } else {
            use.kind = is_unknown ? CLAIM_UNKNOWN : status ? CLAIM_MADE : CLAIM_AWAITED;
            use.name = is_unknown ? keep(r, from->name)
                       : status   ? keep(r, status->claim_name)
                                  : SYM_NONE;
            use.pod = keep(r, pod->meta.name);
            use.pod_uid = keep(r, pod->meta.uid);
        }
        vec_push(&r->claims, use);
    }
}

/* Of cpu and memory alone. */
static struct pod_request read_both(struct reading *r, const struct pod *pod,
                                    struct request_rules rules)
{
    struct pod_request both;
    struct needs ignored = {0};
    read_request(r, pod, rules, &both, &ignored);
    vec_done(&ignored);
    return both;
}

static void read_requests(struct reading *r, const struct pod *pod, struct spec *s)
{
    static const struct request_rules ask = {.pod_level = true, .drift = DRIFT_FILTER};
    static const struct request_rules score = {.default_missing = true};
    struct request_rules hold = {.status_aware = true, .pod_level = true};
    struct request_rules nonzero = {true, true, true, 0};
    struct pod_request with_defaults, for_cpu, for_memory;
    read_request(r, pod, ask, &s->ask, &r->ask);
    if (LIKELY(pod_requests_agree(pod))) {
        for_cpu = for_memory = with_defaults = s->hold = s->score = s->ask;
        vec_each(&r->ask, need) {
            vec_push(&r->hold, *need);
            vec_push(&r->score, *need);
        }
    } else {
        hold.drift = nonzero.drift = pod_drift_held(pod, r->mem);
        read_request(r, pod, hold, &s->hold, &r->hold);
        read_request(r, pod, score, &s->score, &r->score);
        with_defaults = read_both(r, pod, nonzero);
        hold.drift = pod_drift_scored(pod, false);
        for_cpu = read_both(r, pod, hold);
        hold.drift = pod_drift_scored(pod, true);
        for_memory = read_both(r, pod, hold);
    }
    s->balance_cpu_milli = for_cpu.cpu_milli;
    s->balance_memory = for_memory.memory;
    s->hold_nonzero_cpu_milli = with_defaults.cpu_milli;
    s->hold_nonzero_memory = with_defaults.memory;
}

static void read_head(struct reading *r, const struct pod *pod, sym *pin, struct spec *s)
{
    s->scheduler_name = keep(r, pod->spec.scheduler_name);
    s->priority = pod->spec.has_priority ? pod->spec.priority : 0;
    s->preempts = !str_equal(pod->spec.preemption_policy, STR("Never"));
    s->tolerations = read_tolerations(r, pod);
    s->rules = matches_rules(r->matches, r->names, pod, pod->spec.spread.n ? NULL : pin);
    s->features = read_features(pod);
    s->left_claim = SYM_NONE;
    read_requests(r, pod, s);
}

/* --- bytes and back --- */

static void add_list(struct buf *b, const void *p, size_t bytes)
{
    static const char zero[8];
    buf_add_bytes(b, p, bytes);
    buf_add_bytes(b, zero, -bytes & 7);
}

/* Each list of a spec, in the order of its bytes: member, counter, what is read. */
#define SPEC_LISTS(LIST_OF)                                                                        \
    LIST_OF(ask.others, ask.n_others, ask)                                                         \
    LIST_OF(hold.others, hold.n_others, hold)                                                      \
    LIST_OF(score.others, score.n_others, score)                                                   \
    LIST_OF(ports, n_ports, ports)                                                                 \
    LIST_OF(images, n_images, images)                                                              \
    LIST_OF(spread, n_spread, spread)                                                              \
    LIST_OF(match_keys, n_match_keys, match_keys)                                                  \
    LIST_OF(gates, n_gates, gates)                                                                 \
    LIST_OF(pod_terms, n_pod_terms, pod_terms)                                                     \
    LIST_OF(namespaces, n_namespaces, namespaces)                                                  \
    LIST_OF(volumes, n_volumes, volumes)                                                           \
    LIST_OF(monitors, n_monitors, monitors)                                                        \
    LIST_OF(misread, n_misread, misread)                                                           \
    LIST_OF(claims, n_claims, claims)                                                              \
    LIST_OF(device_asks, n_device_asks, device_asks)                                               \
    LIST_OF(pinned, n_pinned, pinned)

static void encode(struct reading *r, struct spec *s, struct buf *out)
{
#define COUNT(member, counter, from) s->counter = r->from.n;
#define ADD(member, counter, from)   add_list(out, r->from.at, r->from.n * sizeof(*r->from.at));
    SPEC_LISTS(COUNT)
    buf_clear(out);
    buf_add_bytes(out, s, sizeof(*s));
    SPEC_LISTS(ADD)
#undef COUNT
#undef ADD
}

static void decode(struct str bytes, struct spec *s)
{
    const char *p = bytes.p;
    memcpy(s, p, sizeof(*s));
    p += sizeof(*s);
#define POINT(member, counter, from)                                                               \
    s->member = s->counter ? (const void *)p : NULL;                                               \
    p += (s->counter * sizeof(*s->member) + 7) & ~(size_t)7;
    SPEC_LISTS(POINT)
#undef POINT
    assert(p == bytes.p + bytes.n);
}

/* Holds (+1) or drops (-1) the interned things that a spec refers to by number. */
static void hold_parts(struct resources *resources, struct names *names, struct matches *matches,
                       const struct spec *s, int sign)
{
    void (*change)(struct intern *, uint32_t) = sign > 0 ? intern_hold : intern_drop;
    const struct pod_request *requests[] = {&s->ask, &s->hold, &s->score};
    for (size_t k = 0; k < LEN(requests); k++)
        for (uint32_t i = 0; i < requests[k]->n_others; i++)
            change(&resources->table, requests[k]->others[i].resource);
    for (uint32_t i = 0; i < s->n_device_asks; i++)
        change(&resources->table, s->device_asks[i].resource);
    change(&names->tolerations.table, s->tolerations);
    change(&matches->rules.table, s->rules);
    for (uint32_t i = 0; i < s->n_spread; i++)
        if (s->spread[i].selector != ID_NONE)
            change(&matches->selectors.table, s->spread[i].selector);
    for (uint32_t i = 0; i < s->n_pod_terms; i++) {
        if (s->pod_terms[i].selector != ID_NONE)
            change(&matches->selectors.table, s->pod_terms[i].selector);
        if (s->pod_terms[i].like != ID_NONE)
            change(&matches->selectors.table, s->pod_terms[i].like);
    }
}

/* The spec whose bytes are in `scratch`. */
static spec_id intern_spec(struct specs *s, struct names *names, struct matches *matches,
                           const sym *held, uint32_t n_held)
{
    bool is_new;
    spec_id id = lists_get(&s->table, names, s->scratch.p, s->scratch.n, held, n_held, &is_new);
    if (is_new) {
        if (id >= s->at.n)
            vec_resize(&s->at, id + 1);
        decode(intern_bytes(&s->table.table, id), &s->at.at[id]);
        hold_parts(&s->resources, names, matches, &s->at.at[id], +1);
    }
    return id;
}

/* What no node has counts on none; a GPU may be told of after its user. */
static bool is_offered(void *ctx, struct str name)
{
    if (resource_is_well_known(name))
        return true;
    const struct reading *r = ctx;
    resource_id id = resources_find(&r->specs->resources, name);
    return id != ID_NONE && r->specs->resources.are_offered.at[id];
}

spec_id specs_read(struct specs *s, struct names *names, struct matches *matches,
                   const struct pod *pod, sym *pin)
{
    struct reading r = {.specs = s, .names = names, .matches = matches, .mem = &s->mem};
    struct spec head;
    memset(&head, 0, sizeof(head)); /* its bytes are interned, padding too */
    if (pin)
        *pin = SYM_NONE;
    struct str excess = pod_excess(pod, r.mem);
    struct pod left;
    if (UNLIKELY(excess.n)) {
        left = pod_without_excess(pod, is_offered, &r, r.mem);
        pod = &left;
    }
    head.excess = excess.n ? keep(&r, excess) : SYM_NONE;
    read_head(&r, pod, pin, &head);
    read_said(&r, pod, &head);
    read_gpus(&r, pod, &head);
    read_containers(&r, pod);
    read_spread(&r, pod);
    read_volumes(&r, pod);
    read_claims(&r, pod);
    list_each(&pod->spec.gates, gate)
        vec_push(&r.gates, keep(&r, gate->name));
    if (pod->spec.affinity) {
        read_pod_affinity(&r, pod->spec.affinity->pod, false);
        read_pod_affinity(&r, pod->spec.affinity->anti, true);
    }

    encode(&r, &head, &s->scratch);
    spec_id id = intern_spec(s, names, matches, r.held.at, r.held.n);
#define DONE(member, counter, from) vec_done(&r.from);
    SPEC_LISTS(DONE)
#undef DONE
    vec_done(&r.held);
    arena_reset(&s->mem);
    return id;
}

spec_id specs_leave(struct specs *s, struct names *names, struct matches *matches, spec_id id,
                    sym claim)
{
    VEC(sym) held = {0};
    const struct kept *kept = &s->table.kept.at[id];
    for (uint32_t i = 0; i < kept->n; i++)
        vec_push(&held, kept->at[i]);
    vec_push(&held, claim);
    buf_clear(&s->scratch);
    buf_add(&s->scratch, intern_bytes(&s->table.table, id));
    memcpy(s->scratch.p + offsetof(struct spec, left_claim), &claim, sizeof(claim));
    spec_id other = intern_spec(s, names, matches, held.at, held.n);
    vec_done(&held);
    return other;
}

/* --- the table --- */

struct sweeping {
    struct specs *specs;
    struct names *names;
    struct matches *matches;
};

static void spec_gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    hold_parts(&x->specs->resources, x->names, x->matches, &x->specs->at.at[id], -1);
}

void specs_init(struct specs *s, struct names *names)
{
    *s = (struct specs){0};
    resources_init(&s->resources, names);
}

void specs_tidy(struct specs *s, struct names *names, struct matches *matches, enum tidy how)
{
    struct sweeping x = {s, names, matches};
    lists_tidy(&s->table, names, how, spec_gone, &x);
    resources_tidy(&s->resources, names, how);
    if (how == TIDY_ALL)
        intern_fit(&s->table.table, &s->at);
}

void specs_done(struct specs *s)
{
    lists_done(&s->table);
    vec_done(&s->at);
    resources_done(&s->resources);
    buf_done(&s->scratch);
    arena_done(&s->mem);
}
