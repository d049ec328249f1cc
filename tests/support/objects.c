#include "support/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/model/check.h"
#include "core/model/default.h"
#include "core/model/envelope.h"

#define add_to(mem, list, ...)                                                                     \
    do {                                                                                           \
        __typeof__((list)->at) add_all_ = arena_alloc((mem), ((list)->n + 1) * sizeof(*add_all_)); \
        if ((list)->n)                                                                             \
            memcpy(add_all_, (list)->at, (list)->n * sizeof(*add_all_));                           \
        add_all_[(list)->n++] = (__VA_ARGS__);                                                     \
        (list)->at = add_all_;                                                                     \
    } while (0)

/* --- pieces of text --- */

static void no_sense(struct str word)
{
    printf("Bail out! no sense in \"" STR_FMT "\"\n", STR_ARG(word));
    abort();
}

/* What stands before `separator`, which is taken off `rest` together with it. */
static struct str cut(struct str *rest, char separator)
{
    size_t at = str_find(*rest, separator);
    struct str part = str_part(*rest, 0, at);
    *rest = str_part(*rest, at + 1, rest->n);
    return part;
}

/* Is it `name` and something? Then `value` is that. */
static bool is(struct str word, const char *name, struct str *value)
{
    struct str prefix = str_of(name);
    if (!str_starts(word, prefix))
        return false;
    *value = str_part(word, prefix.n, word.n);
    return true;
}

static int64_t number(struct str text)
{
    int64_t n;
    if (!str_int(text, &n))
        no_sense(text);
    return n;
}

static void add_pair(struct arena *mem, pair_list *list, struct str text)
{
    struct str key = cut(&text, '=');
    add_to(mem, list, (struct pair){key, text});
}

static void add_amount(struct arena *mem, amount_list *list, struct str name, struct str value)
{
    struct amount a = {.name = str_equal(name, STR("gpu"))       ? STR("nvidia.com/gpu")
                               : str_equal(name, STR("storage")) ? STR("ephemeral-storage")
                                                                 : name};
    if (!quantity_parse(value, &a.quantity))
        no_sense(value);
    add_to(mem, list, a);
}

/* Is the word an amount? Then it joins the list. */
static bool is_amount(struct arena *mem, struct str word, amount_list *list)
{
    static const char *const names[] = {"cpu", "memory", "pods", "gpu", "storage"};
    struct str name = cut(&word, '=');
    bool is_one = str_find(name, '/') < name.n || str_starts(name, STR("hugepages-"));
    for (size_t i = 0; i < LEN(names); i++)
        is_one |= str_equal(name, str_of(names[i]));
    if (is_one && str_find(name, ':') == name.n)
        add_amount(mem, list, name, word);
    else
        is_one = false;
    return is_one;
}

static struct str topology_key(struct str key)
{
    return str_equal(key, STR("zone"))   ? STR("topology.kubernetes.io/zone")
           : str_equal(key, STR("host")) ? STR("kubernetes.io/hostname")
                                         : key;
}

/* --- nodes --- */

static void node_word(struct arena *mem, struct node *node, struct str word)
{
    struct str v;
    if (is(word, "zone=", &v)) {
        add_to(mem, &node->meta.labels, (struct pair){topology_key(STR("zone")), v});
    } else if (is(word, "host=", &v)) {
        struct pair *host = &node->meta.labels.at[0];
        host->value = v;
    } else if (is(word, "note:", &v)) {
        add_pair(mem, &node->meta.annotations, v);
    } else if (is(word, "label:", &v)) {
        add_pair(mem, &node->meta.labels, v);
    } else if (is(word, "image:", &v)) {
        struct str name = cut(&v, '=');
        struct quantity size;
        if (!quantity_parse(v, &size))
            no_sense(word);
        struct container_image image = {.size_bytes = quantity_value(size)};
        add_to(mem, &image.names, name);
        add_to(mem, &node->status.images, image);
    } else if (is(word, "taint:", &v)) {
        struct taint taint = {.key = cut(&v, '=')};
        taint.value = cut(&v, ':');
        taint.effect = v;
        add_to(mem, &node->spec.taints, taint);
    } else if (str_equal(word, STR("cordoned"))) {
        node->spec.unschedulable = true;
    } else if (!is_amount(mem, word, &node->status.allocatable)) {
        no_sense(word);
    }
}

static struct node *node_of(struct arena *mem, struct str name, struct str rest)
{
    struct node *node = arena_array(mem, struct node, 1);
    node->meta = (struct meta){.name = name, .created_ms = TIME_NONE, .deleted_ms = TIME_NONE};
    add_to(mem, &node->meta.labels, (struct pair){topology_key(STR("host")), name});
    while (rest.n) {
        struct str word = cut(&rest, ' ');
        if (word.n)
            node_word(mem, node, word);
    }
    if (node->meta.labels.at[0].value.n == 0) { /* "host=": no such label */
        node->meta.labels.at++;
        node->meta.labels.n--;
    }
    bool has_pods = false;
    list_each(&node->status.allocatable, a)
        has_pods |= str_equal(a->name, STR("pods"));
    if (!has_pods)
        add_amount(mem, &node->status.allocatable, STR("pods"), STR("110"));
    return node;
}

/* --- pods: rules --- */

static struct requirement requirement_of(struct arena *mem, struct str line)
{
    struct requirement r = {.key = cut(&line, ':')};
    r.op = cut(&line, ':');
    while (line.n)
        add_to(mem, &r.values, cut(&line, '|'));
    return r;
}

static struct node_selector_term term_of(struct arena *mem, struct str lines)
{
    struct node_selector_term term = {0};
    while (lines.n) {
        struct requirement r = requirement_of(mem, cut(&lines, '&'));
        if (r.key.p[0] == '@') {
            r.key = str_part(r.key, 1, r.key.n);
            add_to(mem, &term.match_fields, r);
        } else {
            add_to(mem, &term.match_expressions, r);
        }
    }
    return term;
}

static struct node_affinity *affinity_of(struct arena *mem, struct pod *pod)
{
    if (!pod->spec.affinity)
        pod->spec.affinity = arena_array(mem, struct affinity, 1);
    if (!pod->spec.affinity->node)
        pod->spec.affinity->node = arena_array(mem, struct node_affinity, 1);
    return pod->spec.affinity->node;
}

static struct node_selector *required_of(struct arena *mem, struct pod *pod)
{
    struct node_affinity *affinity = affinity_of(mem, pod);
    if (!affinity->required)
        affinity->required = arena_array(mem, struct node_selector, 1);
    return affinity->required;
}

static struct label_selector *selector_of(struct arena *mem, struct str text)
{
    if (str_equal(text, STR("-")))
        return NULL;
    struct label_selector *s = arena_array(mem, struct label_selector, 1);
    while (text.n && !str_equal(text, STR("*")))
        add_pair(mem, &s->match_labels, cut(&text, '&'));
    return s;
}

static void add_spread(struct arena *mem, struct pod *pod, struct str text)
{
    struct spread_constraint s = {.topology_key = topology_key(cut(&text, ':'))};
    s.max_skew = (int32_t)number(cut(&text, ':'));
    struct str how = cut(&text, ':'), v;
    s.when_unsatisfiable =
        str_equal(how, STR("hard")) ? STR("DoNotSchedule") : STR("ScheduleAnyway");
    s.label_selector = selector_of(mem, cut(&text, ':'));
    while (text.n) {
        struct str option = cut(&text, ':');
        if (is(option, "min=", &v))
            s.min_domains = (int32_t)number(v);
        else if (is(option, "affinity=", &v))
            s.node_affinity_policy = v;
        else if (is(option, "taints=", &v))
            s.node_taints_policy = v;
        else if (is(option, "keys=", &v))
            while (v.n)
                add_to(mem, &s.match_label_keys, cut(&v, '|'));
        else
            no_sense(option);
    }
    add_to(mem, &pod->spec.spread, s);
}

/* A term of pod affinity: K:SELECTOR[:OPTION…]. */
static void add_company(struct arena *mem, struct pod *pod, bool is_anti, struct str text)
{
    struct pod_affinity_term t = {.topology_key = topology_key(cut(&text, ':'))};
    int32_t weight = 0;
    t.label_selector = selector_of(mem, cut(&text, ':'));
    while (text.n) {
        struct str option = cut(&text, ':'), v;
        if (is(option, "weight=", &v))
            weight = (int32_t)number(v);
        else if (is(option, "like=", &v))
            t.namespace_selector = selector_of(mem, v);
        else if (is(option, "in=", &v))
            while (v.n)
                add_to(mem, &t.namespaces, cut(&v, '|'));
        else
            no_sense(option);
    }
    if (!pod->spec.affinity)
        pod->spec.affinity = arena_array(mem, struct affinity, 1);
    struct pod_affinity **a = is_anti ? &pod->spec.affinity->anti : &pod->spec.affinity->pod;
    if (!*a)
        *a = arena_array(mem, struct pod_affinity, 1);
    if (weight)
        add_to(mem, &(*a)->preferred, (struct preferred_pod_term){weight, t});
    else
        add_to(mem, &(*a)->required, t);
}

static void add_toleration(struct arena *mem, struct pod *pod, struct str text)
{
    struct toleration t = {.key = cut(&text, ':')};
    t.op = cut(&text, ':');
    t.value = cut(&text, ':');
    t.effect = text;
    add_to(mem, &pod->spec.tolerations, t);
}

static bool rule_word(struct arena *mem, struct pod *pod, struct str word)
{
    struct str v;
    if (is(word, "tolerate:", &v)) {
        add_toleration(mem, pod, v);
    } else if (is(word, "select:", &v)) {
        add_pair(mem, &pod->spec.node_selector, v);
    } else if (is(word, "require:", &v)) {
        add_to(mem, &required_of(mem, pod)->terms, term_of(mem, v));
    } else if (str_equal(word, STR("require"))) {
        required_of(mem, pod);
    } else if (is(word, "prefer:", &v)) {
        int32_t weight = (int32_t)number(cut(&v, ':'));
        add_to(mem, &affinity_of(mem, pod)->preferred,
               (struct preferred_node_term){weight, term_of(mem, v)});
    } else if (is(word, "spread:", &v)) {
        add_spread(mem, pod, v);
    } else if (is(word, "near:", &v)) {
        add_company(mem, pod, false, v);
    } else if (is(word, "apart:", &v)) {
        add_company(mem, pod, true, v);
    } else {
        return false;
    }
    return true;
}

/* --- pods: containers --- */

/* The container that words are about; containers are kept in the order of the line. */
struct building {
    struct pod *pod;
    bool is_init, is_guaranteed;
};

static struct container *container_of(struct building *b)
{
    struct pod *pod = b->pod;
    return b->is_init ? &pod->spec.init_containers.at[pod->spec.init_containers.n - 1]
                      : &pod->spec.containers.at[pod->spec.containers.n - 1];
}

static void add_container(struct arena *mem, struct building *b, bool is_init, struct str restart)
{
    struct pod *pod = b->pod;
    uint32_t number = is_init ? pod->spec.init_containers.n : pod->spec.containers.n;
    struct container c = {.name = STR("main"), .image = STR("app"), .restart_policy = restart};
    if (is_init || number)
        c.name = arena_printf(mem, "%s-%u", is_init ? "init" : "more", number);
    b->is_init = is_init;
    if (is_init)
        add_to(mem, &b->pod->spec.init_containers, c);
    else
        add_to(mem, &b->pod->spec.containers, c);
}

static void add_port(struct arena *mem, struct container *c, struct str text)
{
    struct container_port port = {0};
    size_t colon = str_find(text, ':');
    if (colon < text.n) {
        port.host_ip = str_part(text, 0, colon);
        text = str_part(text, colon + 1, text.n);
    }
    port.host_port = (int32_t)number(cut(&text, '/'));
    port.protocol = text;
    add_to(mem, &c->ports, port);
}

static struct resource_requirements *resources_of(struct arena *mem,
                                                  struct resource_requirements **at)
{
    if (!*at)
        *at = arena_array(mem, struct resource_requirements, 1);
    (*at)->has_requests = true;
    return *at;
}

static void add_actual(struct arena *mem, struct pod *pod, struct str word)
{
    if (pod->status.containers.n == 0)
        add_to(mem, &pod->status.containers, (struct container_status){.name = STR("main")});
    is_amount(mem, word, &resources_of(mem, &pod->status.containers.at[0].resources)->requests);
}

static bool container_word(struct arena *mem, struct building *b, struct str word)
{
    struct str v;
    if (str_equal(word, STR("and")))
        add_container(mem, b, false, (struct str){0});
    else if (str_equal(word, STR("init")))
        add_container(mem, b, true, (struct str){0});
    else if (str_equal(word, STR("sidecar")))
        add_container(mem, b, true, STR("Always"));
    else if (str_equal(word, STR("guaranteed")))
        b->is_guaranteed = true;
    else if (is(word, "image:", &v))
        container_of(b)->image = v;
    else if (is(word, "port:", &v))
        add_port(mem, container_of(b), v);
    else if (is(word, "overhead:", &v))
        is_amount(mem, v, &b->pod->spec.overhead);
    else if (is(word, "total:", &v))
        is_amount(mem, v, &resources_of(mem, &b->pod->spec.resources)->requests);
    else if (is(word, "actual:", &v))
        add_actual(mem, b->pod, v);
    else if (is_amount(mem, word, &container_of(b)->resources.requests))
        container_of(b)->resources.has_requests = true;
    else
        return false;
    return true;
}

/* --- pods --- */

static void add_owner(struct arena *mem, struct pod *pod, struct str text)
{
    struct owner owner = {.kind = cut(&text, '='), .name = text, .is_controller = true};
    static const struct {
        const char *kind, *api_version;
    } others[] = {
        {"ReplicationController", "v1"},
        {"Job", "batch/v1"},
        {"RayCluster", "ray.io/v1"},
        {"MPIJob", "kubeflow.org/v2beta1"},
    };
    owner.api_version = STR("apps/v1");
    for (size_t i = 0; i < LEN(others); i++)
        if (str_equal(owner.kind, str_of(others[i].kind)))
            owner.api_version = str_of(others[i].api_version);
    add_to(mem, &pod->meta.owners, owner);
}

static void add_claim(struct arena *mem, struct pod *pod, struct str name)
{
    struct volume volume = {.name = name, .claim = arena_array(mem, struct claim_source, 1)};
    volume.claim->claim_name = name;
    add_to(mem, &pod->spec.volumes, volume);
}

/* A scheduler has evicted it, and it is on its way out. */
static void preempt(struct arena *mem, struct pod *pod)
{
    pod->meta.deleted_ms = 0;
    add_to(mem, &pod->status.conditions,
           (struct pod_condition){.type = STR("DisruptionTarget"),
                                  .status = STR("True"),
                                  .reason = STR("PreemptionByScheduler")});
}

/* A disk that stands in the pod: KIND:NAME[:ro]; of Ceph's the name is POOL/IMAGE@MONITOR|…. */
static bool add_disk(struct arena *mem, struct pod *pod, struct str word)
{
    struct str kind = cut(&word, ':'), name = cut(&word, ':'), rest = name;
    struct volume v = {.name = name};
    struct disk_source *disk = arena_array(mem, struct disk_source, 1);
    *disk = (struct disk_source){.id = name, .read_only = word.n > 0, .kind = STR("Managed")};
    struct {
        const char *kind;
        struct disk_source **at;
    } kinds[] = {
        {"gce", &v.gce_disk},      {"aws", &v.aws_disk},     {"iscsi", &v.iscsi},
        {"rbd", &v.rbd},           {"azure", &v.azure_disk}, {"cinder", &v.cinder},
        {"portworx", &v.portworx}, {"vsphere", &v.vsphere},
    };
    for (size_t i = 0; i < LEN(kinds); i++)
        if (str_equal(kind, str_of(kinds[i].kind)))
            *kinds[i].at = disk;
    if (v.rbd) {
        disk->pool = cut(&rest, '/');
        disk->id = cut(&rest, '@');
        while (rest.n)
            add_to(mem, &disk->monitors, cut(&rest, '|'));
    }
    if (str_equal(kind, STR("ephemeral")))
        v.ephemeral = arena_array(mem, struct ephemeral_source, 1);
    else if (str_equal(kind, STR("csi"))) {
        v.csi = arena_array(mem, struct csi_source, 1);
        v.csi->driver = name;
    }
    add_to(mem, &pod->spec.volumes, v);
    return true;
}

static void add_gang(struct arena *mem, struct pod *pod, struct str word)
{
    struct pair name = {STR("pod-group.scheduling.kubenexus.io/name"), cut(&word, ':')};
    struct pair size = {STR("pod-group.scheduling.kubenexus.io/min-available"), word};
    add_to(mem, &pod->meta.labels, name);
    if (word.n)
        add_to(mem, &pod->meta.labels, size);
    pod->spec.scheduler_name = STR("kubenexus-scheduler");
}

static bool head_word(struct arena *mem, struct pod *pod, struct str word)
{
    struct str v;
    if (is(word, "namespace=", &v))
        pod->meta.namespace = v;
    else if (is(word, "uid=", &v))
        pod->meta.uid = v;
    else if (is(word, "scheduler=", &v))
        pod->spec.scheduler_name = v;
    else if (is(word, "on=", &v))
        pod->spec.node_name = v;
    else if (is(word, "preempts=", &v))
        pod->spec.preemption_policy = v;
    else if (is(word, "phase=", &v))
        pod->status.phase = v;
    else if (is(word, "nominated=", &v))
        pod->status.nominated_node_name = v;
    else if (is(word, "label:", &v))
        add_pair(mem, &pod->meta.labels, v);
    else if (is(word, "note:", &v))
        add_pair(mem, &pod->meta.annotations, v);
    else if (is(word, "class=", &v))
        pod->spec.priority_class_name = v;
    else if (is(word, "gang=", &v))
        add_gang(mem, pod, v);
    else if (is(word, "group=", &v))
        pod->spec.scheduling_group = v;
    else if (is(word, "created=", &v))
        pod->meta.created_ms = number(v) * 1000;
    else if (is(word, "owner:", &v))
        add_owner(mem, pod, v);
    else if (is(word, "gate:", &v))
        add_to(mem, &pod->spec.gates, (struct scheduling_gate){v});
    else if (is(word, "claim:", &v))
        add_claim(mem, pod, v);
    else if (is(word, "disk:", &v))
        add_disk(mem, pod, v);
    else if (is(word, "device:", &v))
        add_to(mem, &pod->spec.resource_claims,
               (struct resource_claim_ref){.name = v, .claim_name = v});
    else if (str_equal(word, STR("deleting")))
        pod->meta.deleted_ms = 0;
    else if (str_equal(word, STR("preempted")))
        preempt(mem, pod);
    else if (is(word, "started=", &v))
        pod->status.start_ms = number(v) * 1000;
    else if (is(word, "priority=", &v)) {
        pod->spec.has_priority = true;
        pod->spec.priority = (int32_t)number(v);
    } else
        return false;
    return true;
}

static struct pod *pod_of(struct arena *mem, struct str name, struct str rest)
{
    struct pod *pod = arena_array(mem, struct pod, 1);
    struct building b = {.pod = pod};
    pod->meta = (struct meta){
        .name = name,
        .namespace = STR("default"),
        .uid = name,
        .created_ms = TIME_NONE,
        .deleted_ms = TIME_NONE,
    };
    pod->spec.scheduler_name = STR("default-scheduler");
    pod->status.phase = STR("Pending");
    pod->status.start_ms = TIME_NONE;
    add_container(mem, &b, false, (struct str){0});
    while (rest.n) {
        struct str word = cut(&rest, ' ');
        if (word.n && !head_word(mem, pod, word) && !rule_word(mem, pod, word) &&
            !container_word(mem, &b, word))
            no_sense(word);
    }
    list_each(&pod->spec.init_containers, c)
        c->resources.limits = b.is_guaranteed ? c->resources.requests : c->resources.limits;
    list_each(&pod->spec.containers, c)
        c->resources.limits = b.is_guaranteed ? c->resources.requests : c->resources.limits;
    return pod;
}

/* --- what selects pods --- */

static void read_selecting(struct arena *mem, struct str rest, struct meta *meta,
                           struct label_selector **selector)
{
    *selector = arena_array(mem, struct label_selector, 1);
    meta->namespace = STR("default");
    while (rest.n) {
        struct str word = cut(&rest, ' '), v;
        if (is(word, "namespace=", &v))
            meta->namespace = v;
        else if (str_equal(word, STR("none")))
            *selector = NULL;
        else if (word.n)
            add_pair(mem, &(*selector)->match_labels, word);
    }
}

static struct object selecting_of(struct arena *mem, enum kind kind, struct str name,
                                  struct str rest)
{
    struct object o = {.kind = kind, .meta = arena_alloc(mem, kind_info_get(kind)->size)};
    struct label_selector *selector;
    o.meta->name = name;
    read_selecting(mem, rest, o.meta, &selector);
    pair_list labels = selector ? selector->match_labels : (pair_list){0};
    if (kind == KIND_SERVICE)
        o.service->selector = labels;
    else if (kind == KIND_REPLICATION_CONTROLLER)
        o.replication_controller->selector = labels;
    else
        o.replica_set->selector = selector;
    return o;
}

static struct object budget_of(struct arena *mem, struct str name, struct str rest)
{
    struct disruption_budget *b = arena_array(mem, struct disruption_budget, 1);
    b->meta.name = name;
    b->meta.namespace = STR("default");
    b->selector = arena_array(mem, struct label_selector, 1);
    while (rest.n) {
        struct str word = cut(&rest, ' '), v;
        if (is(word, "namespace=", &v))
            b->meta.namespace = v;
        else if (is(word, "allowed=", &v))
            b->disruptions_allowed = (int32_t)number(v);
        else if (is(word, "evicted=", &v))
            add_to(mem, &b->disrupted_pods, (struct disrupted_pod){.name = v});
        else if (word.n)
            add_pair(mem, &b->selector->match_labels, word);
    }
    return (struct object){.kind = KIND_DISRUPTION_BUDGET, .disruption_budget = b};
}

static struct object namespace_of(struct arena *mem, struct str name, struct str rest)
{
    struct object o = {.kind = KIND_NAMESPACE, .namespace = arena_array(mem, struct namespace, 1)};
    o.meta->name = name;
    while (rest.n) {
        struct str word = cut(&rest, ' '), v;
        if (is(word, "label:", &v))
            add_pair(mem, &o.meta->labels, v);
        else if (word.n)
            no_sense(word);
    }
    return o;
}

struct object object_of_json(struct arena *mem, const char *json)
{
    struct str text = arena_str(mem, str_of(json));
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            ((char *)(uintptr_t)text.p)[i] = '"';
    struct envelope v;
    struct object o;
    struct error e = {0};
    bool is_read = envelope_read(ENCODING_JSON, text, mem, &v, &e) &&
                   envelope_object(&v, mem, &o, &e) && o.kind != KIND_NONE && object_check(&o, &e);
    if (!is_read)
        no_sense(e.text[0] ? str_of(e.text) : text);
    object_default(&o, mem);
    return o;
}

struct object object_of(struct arena *mem, const char *line)
{
    if (line[0] == '{')
        return object_of_json(mem, line);

    static const struct {
        const char *name;
        enum kind kind;
    } selecting[] = {
        {"service", KIND_SERVICE},
        {"replicaset", KIND_REPLICA_SET},
        {"statefulset", KIND_STATEFUL_SET},
        {"replicationcontroller", KIND_REPLICATION_CONTROLLER},
    };
    struct str rest = arena_str(mem, str_of(line)), kind = cut(&rest, ' '), name = cut(&rest, ' ');
    if (str_equal(kind, STR("node")))
        return (struct object){.kind = KIND_NODE, .node = node_of(mem, name, rest)};
    if (str_equal(kind, STR("pod")))
        return (struct object){.kind = KIND_POD, .pod = pod_of(mem, name, rest)};
    if (str_equal(kind, STR("namespace")))
        return namespace_of(mem, name, rest);
    if (str_equal(kind, STR("budget")))
        return budget_of(mem, name, rest);
    for (size_t i = 0; i < LEN(selecting); i++)
        if (str_equal(kind, str_of(selecting[i].name)))
            return selecting_of(mem, selecting[i].kind, name, rest);
    no_sense(kind);
    return (struct object){0};
}
