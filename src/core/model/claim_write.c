#include "core/model/claim_write.h"

#include "core/model/patch.h"
#include "core/model/put.h"

static void put_some(struct json_writer *j, const char *key, struct str value)
{
    if (value.n)
        put_text(j, key, value);
}

static void put_texts(struct json_writer *j, const char *key, const str_list *values)
{
    if (values->n == 0)
        return;
    put_open(j, key, '[');
    list_each(values, value)
        json_put_str(j, *value);
    json_put_close(j, ']');
}

static void put_tolerations(struct json_writer *j, const device_toleration_list *all)
{
    if (all->n == 0)
        return;
    put_open(j, "tolerations", '[');
    list_each(all, t) {
        json_put_open(j, '{');
        put_some(j, "key", t->key);
        put_some(j, "operator", t->op);
        put_some(j, "value", t->value);
        put_some(j, "effect", t->effect);
        if (t->has_seconds) {
            json_put_key(j, STR("tolerationSeconds"));
            json_put_int(j, t->seconds);
        }
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
}

static void put_result(struct json_writer *j, const struct device_result *r)
{
    json_put_open(j, '{');
    put_some(j, "request", r->request);
    put_some(j, "driver", r->driver);
    put_some(j, "pool", r->pool);
    put_some(j, "device", r->device);
    if (r->is_admin) {
        json_put_key(j, STR("adminAccess"));
        json_put_bool(j, true);
    }
    put_tolerations(j, &r->tolerations);
    put_texts(j, "bindingConditions", &r->binding_conditions);
    put_texts(j, "bindingFailureConditions", &r->binding_failure_conditions);
    put_some(j, "shareID", r->share_id);
    put_amounts(j, "consumedCapacity", &r->consumed);
    json_put_close(j, '}');
}

static void put_config(struct json_writer *j, const struct given_config *c)
{
    json_put_open(j, '{');
    put_some(j, "source", c->is_class ? STR("FromClass") : STR("FromClaim"));
    put_texts(j, "requests", &c->requests);
    put_open(j, "opaque", '{');
    put_some(j, "driver", c->config->driver);
    json_put_key(j, STR("parameters"));
    json_put_raw(j, c->config->parameters.n ? c->config->parameters : STR("null"));
    json_put_close(j, '}');
    json_put_close(j, '}');
}

static void put_requirements(struct json_writer *j, const char *key, const struct requirement *all,
                             uint32_t n)
{
    if (n == 0)
        return;
    put_open(j, key, '[');
    for (uint32_t i = 0; i < n; i++) {
        json_put_open(j, '{');
        put_some(j, "key", all[i].key);
        put_some(j, "operator", all[i].op);
        put_texts(j, "values", &all[i].values);
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
}

static void put_selector(struct json_writer *j, const struct node_selector *s)
{
    put_open(j, "nodeSelector", '{');
    put_open(j, "nodeSelectorTerms", '[');
    list_each(&s->terms, term) {
        json_put_open(j, '{');
        put_requirements(j, "matchFields", term->match_fields.at, term->match_fields.n);
        put_requirements(j, "matchExpressions", term->match_expressions.at,
                         term->match_expressions.n);
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
    json_put_close(j, '}');
}

static void put_allocation(struct json_writer *j, const struct device_allocation *a)
{
    put_open(j, "allocation", '{');
    put_open(j, "devices", '{');
    put_open(j, "results", '[');
    list_each(&a->results, result)
        put_result(j, result);
    json_put_close(j, ']');
    if (a->config.n) {
        put_open(j, "config", '[');
        list_each(&a->config, config)
            put_config(j, config);
        json_put_close(j, ']');
    }
    json_put_close(j, '}');
    if (a->node_selector)
        put_selector(j, a->node_selector);
    json_put_close(j, '}');
}

/* What stands between the outermost braces. */
static struct str members(const struct buf *text, struct arena *mem)
{
    return arena_str(mem, str_part(buf_str(text), 1, text->n - 1));
}

struct str claim_write_finalizer(struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_open(&j, "finalizers", '[');
    json_put_str(&j, STR(CLAIM_FINALIZER));
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    return members(&text, mem);
}

bool claim_has_finalizer(const struct resource_claim *claim)
{
    list_each(&claim->meta.finalizers, finalizer)
        if (str_equal(*finalizer, STR(CLAIM_FINALIZER)))
            return true;
    return false;
}

struct str claim_write_status(const struct device_allocation *allocation,
                              struct claim_consumer consumer, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_open(&j, "status", '{');
    if (allocation)
        put_allocation(&j, allocation);
    put_open(&j, "reservedFor", '[');
    json_put_open(&j, '{');
    put_some(&j, "apiGroup", consumer.api_group);
    put_some(&j, "resource", consumer.resource);
    put_some(&j, "name", consumer.name);
    put_some(&j, "uid", consumer.uid);
    json_put_close(&j, '}');
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    return members(&text, mem);
}

/* --- the claim for extended resources --- */

const struct owner *claim_extended_owner(const struct meta *meta)
{
    bool is_extended = false;
    list_each(&meta->annotations, a)
        is_extended |= str_equal(a->key, STR(CLAIM_ANNOTATION)) && str_equal(a->value, STR("true"));
    list_each(&meta->owners, o)
        if (is_extended && o->is_controller)
            return o;
    return NULL;
}

struct str claim_write_meta(struct str name, struct claim_consumer pod, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_text(&j, "name", name);
    put_text(&j, "generateName", arena_join(mem, pod.name, STR("-extended-resources-")));
    put_open(&j, "annotations", '{');
    put_text(&j, CLAIM_ANNOTATION, STR("true"));
    json_put_close(&j, '}');
    put_open(&j, "finalizers", '[');
    json_put_str(&j, STR(CLAIM_FINALIZER));
    json_put_close(&j, ']');
    put_open(&j, "ownerReferences", '[');
    json_put_open(&j, '{');
    put_text(&j, "apiVersion", STR("v1"));
    put_text(&j, "kind", STR("Pod"));
    put_text(&j, "name", pod.name);
    put_text(&j, "uid", pod.uid);
    json_put_key(&j, STR("controller"));
    json_put_bool(&j, true);
    json_put_close(&j, '}');
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    return members(&text, mem);
}

struct str claim_write_spec(const struct resource_claim *claim, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_text(&j, "apiVersion", STR("resource.k8s.io/v1"));
    put_text(&j, "kind", STR("ResourceClaim"));
    put_open(&j, "spec", '{');
    put_open(&j, "devices", '{');
    put_open(&j, "requests", '[');
    list_each(&claim->spec.requests, request) {
        json_put_open(&j, '{');
        put_text(&j, "name", request->name);
        put_open(&j, "exactly", '{');
        put_text(&j, "deviceClassName", request->exactly->class);
        put_text(&j, "allocationMode", request->exactly->mode);
        json_put_key(&j, STR("count"));
        json_put_int(&j, request->exactly->count);
        json_put_close(&j, '}');
        json_put_close(&j, '}');
    }
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    return members(&text, mem);
}

struct str claim_write_use(struct str name, request_mapping_list uses, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_open(&j, "status", '{');
    put_open(&j, "extendedResourceClaimStatus", '{');
    put_text(&j, "resourceClaimName", name);
    put_open(&j, "requestMappings", '[');
    list_each(&uses, use) {
        json_put_open(&j, '{');
        put_text(&j, "containerName", use->container);
        put_text(&j, "resourceName", use->resource);
        put_text(&j, "requestName", use->request);
        json_put_close(&j, '}');
    }
    json_put_close(&j, ']');
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    return members(&text, mem);
}

struct str claim_write_unprotected(const struct meta *meta, struct arena *mem)
{
    return arena_join(mem, patch_uid(meta->uid, mem),
                      STR(",\"$deleteFromPrimitiveList/finalizers\":[\"" CLAIM_FINALIZER "\"]"));
}
