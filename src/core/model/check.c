/* Checks mirror pkg/apis/core/validation. Almost all objects pass: what fails is checked a second
 * time, then with `path`, which says where in the object a check is. */

#include "core/model/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/model/owner.h"

struct check {
    struct error *e;
    bool has_path;
    char path[160];
    size_t n;
};

/* Goes down a step; the result is for leave(). */
static size_t enter(struct check *c, const char *fmt, ...) PRINTF(2, 3);
static size_t enter(struct check *c, const char *fmt, ...)
{
    size_t before = c->n;
    va_list args;
    if (!c->has_path)
        return before;
    va_start(args, fmt);
    int more = vsnprintf(c->path + c->n, sizeof(c->path) - c->n, fmt, args);
    va_end(args);
    assert(more >= 0);
    c->n = MIN(c->n + (size_t)more, sizeof(c->path) - 1);
    return before;
}

static bool leave(struct check *c, size_t before, bool is_fine)
{
    if (is_fine && c->has_path) {
        c->n = before;
        c->path[before] = '\0';
    }
    return is_fine;
}

static bool refuse(struct check *c, const char *field, struct str value, const char *wrong)
{
    return error_set(c->e, ERROR_INVALID, "%s%s%s: \"" STR_FMT "\" %s", c->path,
                     c->n && field[0] ? "." : "", field, STR_ARG(str_part(value, 0, 60)), wrong);
}

static bool refuse_int(struct check *c, const char *field, int32_t value, const char *wrong)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d", value);
    return error_set(c->e, ERROR_INVALID, "%s%s%s: %.*s %s", c->path, c->n ? "." : "", field, n,
                     text, wrong);
}

static bool missing(struct check *c, const char *field)
{
    return error_set(c->e, ERROR_INVALID, "%s%s%s: missing", c->path, c->n ? "." : "", field);
}

/* `words` are separated by one space. */
static bool is_one_of(struct str value, const char *words)
{
    for (struct str rest = str_of(words); rest.n;) {
        size_t end = str_find(rest, ' ');
        if (str_equal(str_part(rest, 0, end), value))
            return true;
        rest = str_part(rest, end + 1, rest.n);
    }
    return false;
}

static bool check_word(struct check *c, const char *field, struct str value, const char *words)
{
    char wrong[120];
    if (is_one_of(value, words))
        return true;
    if (value.n == 0)
        return missing(c, field);
    snprintf(wrong, sizeof(wrong), "is not one of %s", words);
    return refuse(c, field, value, wrong);
}

static bool check_optional(struct check *c, const char *field, struct str value, const char *words)
{
    return value.n == 0 || check_word(c, field, value, words);
}

static bool check_requirement(struct check *c, const struct requirement *r, const char *operators)
{
    if (r->key.n == 0)
        return missing(c, "key");
    if (!check_word(c, "operator", r->op, operators))
        return false;
    if (is_one_of(r->op, "In NotIn") && r->values.n == 0)
        return missing(c, "values");
    if (is_one_of(r->op, "Exists DoesNotExist") && r->values.n)
        return refuse(c, "values", r->op, "takes no values");
    if (is_one_of(r->op, "Gt Lt") && r->values.n != 1)
        return refuse(c, "values", r->op, "takes one value");
    return true;
}

static bool check_selector(struct check *c, const char *field, const struct label_selector *s)
{
    if (!s)
        return true;
    list_each(&s->match_expressions, r) {
        size_t up = enter(c, "%s%s.matchExpressions[%zu]", c->n ? "." : "", field,
                          (size_t)(r - s->match_expressions.at));
        if (!leave(c, up, check_requirement(c, r, "In NotIn Exists DoesNotExist")))
            return false;
    }
    return true;
}

static bool check_field_requirement(struct check *c, const struct requirement *r)
{
    if (!check_requirement(c, r, "In NotIn"))
        return false;
    if (r->values.n != 1)
        return refuse(c, "values", r->op, "takes one value");
    return str_equal(r->key, STR("metadata.name")) ||
           refuse(c, "key", r->key, "is not metadata.name");
}

static bool check_node_term(struct check *c, const struct node_selector_term *t)
{
    list_each(&t->match_expressions, r) {
        size_t up = enter(c, ".matchExpressions[%zu]", (size_t)(r - t->match_expressions.at));
        if (!leave(c, up, check_requirement(c, r, "In NotIn Exists DoesNotExist Gt Lt")))
            return false;
    }
    list_each(&t->match_fields, r) {
        size_t up = enter(c, ".matchFields[%zu]", (size_t)(r - t->match_fields.at));
        if (!leave(c, up, check_field_requirement(c, r)))
            return false;
    }
    return true;
}

static bool check_weight(struct check *c, int32_t weight)
{
    return (weight >= 1 && weight <= 100) || refuse_int(c, "weight", weight, "is not in 1–100");
}

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static bool check_preferred_node(struct check *c, const struct preferred_node_term *p)
{
    size_t up = enter(c, ".preference");
    return leave(c, up, check_node_term(c, &p->preference)) && check_weight(c, p->weight);
}

static bool check_node_affinity(struct check *c, const struct node_affinity *a)
{
    if (a->required) {
        list_each(&a->required->terms, t) {
            size_t up = enter(c, "." REQUIRED ".nodeSelectorTerms[%zu]",
                              (size_t)(t - a->required->terms.at));
            if (!leave(c, up, check_node_term(c, t)))
                return false;
        }
    }
    list_each(&a->preferred, p) {
        size_t up = enter(c, "." PREFERRED "[%zu]", (size_t)(p - a->preferred.at));
        if (!leave(c, up, check_preferred_node(c, p)))
            return false;
    }
    return true;
}

static bool check_pod_term(struct check *c, const struct pod_affinity_term *t)
{
    if (t->topology_key.n == 0)
        return missing(c, "topologyKey");
    return check_selector(c, "labelSelector", t->label_selector) &&
           check_selector(c, "namespaceSelector", t->namespace_selector);
}

static bool check_preferred_pod(struct check *c, const struct preferred_pod_term *p)
{
    size_t up = enter(c, ".podAffinityTerm");
    return leave(c, up, check_pod_term(c, &p->term)) && check_weight(c, p->weight);
}

static bool check_pod_affinity(struct check *c, const struct pod_affinity *a)
{
    list_each(&a->required, t) {
        size_t up = enter(c, "." REQUIRED "[%zu]", (size_t)(t - a->required.at));
        if (!leave(c, up, check_pod_term(c, t)))
            return false;
    }
    list_each(&a->preferred, p) {
        size_t up = enter(c, "." PREFERRED "[%zu]", (size_t)(p - a->preferred.at));
        if (!leave(c, up, check_preferred_pod(c, p)))
            return false;
    }
    return true;
}

static bool check_affinity(struct check *c, const struct affinity *a)
{
    if (!a)
        return true;
    size_t up = enter(c, ".affinity.nodeAffinity");
    if (!leave(c, up, !a->node || check_node_affinity(c, a->node)))
        return false;
    up = enter(c, ".affinity.podAffinity");
    if (!leave(c, up, !a->pod || check_pod_affinity(c, a->pod)))
        return false;
    up = enter(c, ".affinity.podAntiAffinity");
    return leave(c, up, !a->anti || check_pod_affinity(c, a->anti));
}

static bool check_toleration(struct check *c, const struct toleration *t)
{
    if (!check_optional(c, "operator", t->op, "Equal Exists Lt Gt") ||
        !check_optional(c, "effect", t->effect, "NoSchedule PreferNoSchedule NoExecute"))
        return false;
    if (t->key.n == 0 && !str_equal(t->op, STR("Exists")))
        return refuse(c, "operator", t->op, "must be Exists where key is empty");
    return true;
}

static bool check_spread(struct check *c, const struct spread_constraint *s)
{
    if (s->max_skew <= 0)
        return refuse_int(c, "maxSkew", s->max_skew, "is not greater than 0");
    if (s->min_domains < 0)
        return refuse_int(c, "minDomains", s->min_domains, "is not greater than 0");
    if (s->topology_key.n == 0)
        return missing(c, "topologyKey");
    return check_word(c, "whenUnsatisfiable", s->when_unsatisfiable,
                      "DoNotSchedule ScheduleAnyway") &&
           check_optional(c, "nodeAffinityPolicy", s->node_affinity_policy, "Honor Ignore") &&
           check_optional(c, "nodeTaintsPolicy", s->node_taints_policy, "Honor Ignore") &&
           check_selector(c, "labelSelector", s->label_selector);
}

static bool check_container(struct check *c, const struct container *container)
{
    list_each(&container->ports, port) {
        size_t up = enter(c, ".ports[%zu]", (size_t)(port - container->ports.at));
        if (port->host_port < 0 || port->host_port > 65535)
            return refuse_int(c, "hostPort", port->host_port, "is not a port");
        if (!leave(c, up, check_optional(c, "protocol", port->protocol, "TCP UDP SCTP")))
            return false;
    }
    return check_optional(c, "restartPolicy", container->restart_policy, "Always OnFailure Never");
}

static bool check_containers(struct check *c, const char *field, const struct container *at,
                             uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t up = enter(c, ".%s[%u]", field, i);
        if (!leave(c, up, check_container(c, &at[i])))
            return false;
    }
    return true;
}

static bool check_volumes(struct check *c, const struct pod *pod)
{
    list_each(&pod->spec.volumes, v) {
        size_t up = enter(c, ".volumes[%zu]", (size_t)(v - pod->spec.volumes.at));
        bool has_name = !v->claim || v->claim->claim_name.n > 0;
        if (!leave(c, up, has_name || missing(c, "persistentVolumeClaim.claimName")))
            return false;
    }
    return true;
}

static bool check_pod(struct check *c, const struct pod *pod)
{
    size_t up = enter(c, "spec");
    list_each(&pod->spec.tolerations, t) {
        size_t spec = enter(c, ".tolerations[%zu]", (size_t)(t - pod->spec.tolerations.at));
        if (!leave(c, spec, check_toleration(c, t)))
            return false;
    }
    list_each(&pod->spec.spread, s) {
        size_t spec =
            enter(c, ".topologySpreadConstraints[%zu]", (size_t)(s - pod->spec.spread.at));
        if (!leave(c, spec, check_spread(c, s)))
            return false;
    }
    return leave(
        c, up,
        check_containers(c, "containers", pod->spec.containers.at, pod->spec.containers.n) &&
            check_containers(c, "initContainers", pod->spec.init_containers.at,
                             pod->spec.init_containers.n) &&
            check_optional(c, "preemptionPolicy", pod->spec.preemption_policy,
                           "Never PreemptLowerPriority") &&
            check_volumes(c, pod) && check_affinity(c, pod->spec.affinity));
}

static bool check_workers(struct check *c, const struct pod *worker)
{
    size_t up = enter(c, "spec.leaderWorkerTemplate.workerTemplate.");
    return leave(c, up, check_pod(c, worker));
}

static bool check_node(struct check *c, const struct node *node)
{
    list_each(&node->spec.taints, t) {
        size_t up = enter(c, "spec.taints[%zu]", (size_t)(t - node->spec.taints.at));
        if (t->key.n == 0)
            return missing(c, "key");
        if (!leave(c, up,
                   check_word(c, "effect", t->effect, "NoSchedule PreferNoSchedule NoExecute")))
            return false;
    }
    return true;
}

static bool check_persistent_volume(struct check *c, const struct persistent_volume *v)
{
    for (uint32_t i = 0; v->spec.node_affinity && i < v->spec.node_affinity->terms.n; i++) {
        size_t up = enter(c, "spec.nodeAffinity.required.nodeSelectorTerms[%u]", i);
        if (!leave(c, up, check_node_term(c, &v->spec.node_affinity->terms.at[i])))
            return false;
    }
    return check_optional(c, "spec.volumeMode", v->spec.mode, "Block Filesystem");
}

static bool check_name(struct check *c, const char *field, struct str name)
{
    if (name.n > 253)
        return refuse(c, field, name, "… is longer than 253 bytes");
    if (str_find(name, '/') < name.n)
        return refuse(c, field, name, "has a slash");
    return true;
}

static bool check_object(struct check *c, const struct object *object)
{
    if (object->meta->name.n == 0)
        return missing(c, "metadata.name");
    if (!check_name(c, "metadata.name", object->meta->name) ||
        !check_name(c, "metadata.namespace", object->meta->namespace))
        return false;
    switch (object->kind) {
    case KIND_POD:
        return object->pod->template.n || check_pod(c, object->pod); /* one like it was */
    case KIND_LEADER_WORKER_SET:
        return !object->owner_object->worker || check_workers(c, object->owner_object->worker);
    case KIND_NODE:
        return check_node(c, object->node);
    case KIND_REPLICA_SET:
    case KIND_STATEFUL_SET:
        return check_selector(c, "spec.selector", object->replica_set->selector);
    case KIND_JOB:
        return check_selector(c, "spec.selector", object->job->selector);
    case KIND_DISRUPTION_BUDGET:
        return check_selector(c, "spec.selector", object->disruption_budget->selector);
    case KIND_PRIORITY_CLASS:
        return check_optional(c, "preemptionPolicy", object->priority_class->preemption_policy,
                              "Never PreemptLowerPriority");
    case KIND_PERSISTENT_VOLUME:
        return check_persistent_volume(c, object->persistent_volume);
    case KIND_PERSISTENT_VOLUME_CLAIM:
        return check_selector(c, "spec.selector", object->persistent_volume_claim->spec.selector) &&
               check_optional(c, "spec.volumeMode", object->persistent_volume_claim->spec.mode,
                              "Block Filesystem");
    case KIND_STORAGE_CLASS:
        return check_optional(c, "volumeBindingMode", object->storage_class->binding_mode,
                              "Immediate WaitForFirstConsumer");
    case KIND_QUEUE:
        return (!object->queue->spec.namespaces ||
                check_selector(c, "spec.namespaces.selector",
                               object->queue->spec.namespaces->selector)) &&
               queue_check(object->queue, c->e);
    case KIND_CSI_STORAGE_CAPACITY:
        return check_selector(c, "nodeTopology", object->csi_storage_capacity->node_topology);
    default:
        return true;
    }
}

bool object_check(const struct object *object, struct error *e)
{
    struct check first = {.e = e}, again = {.e = e, .has_path = true};
    return check_object(&first, object) || check_object(&again, object);
}
