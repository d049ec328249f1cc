#include "sim/storage.h"

#include "core/model/claim_write.h"
#include "core/wire/json_read.h"

void storage_init(struct storage *s, const struct plan *plan)
{
    *s = (struct storage){0};
    vec_each(&plan->objects, o) {
        if (o->kind != KIND_PERSISTENT_VOLUME && o->kind != KIND_PERSISTENT_VOLUME_CLAIM &&
            o->kind != KIND_RESOURCE_CLAIM)
            continue;
        struct object own = *o;
        own.meta = arena_copy(&s->mem, o->meta, kind_info_get(o->kind)->size);
        vec_push(&s->objects, own);
        s->n_resource_claims += o->kind == KIND_RESOURCE_CLAIM;
    }
}

void storage_done(struct storage *s)
{
    vec_done(&s->objects);
    arena_done(&s->mem);
}

static struct object *find(struct storage *s, enum kind kind, struct str namespace, struct str name)
{
    vec_each(&s->objects, o)
        if (o->kind == kind && str_equal(o->meta->name, name) &&
            (kind == KIND_PERSISTENT_VOLUME || str_equal(o->meta->namespace, namespace)))
            return o;
    return NULL;
}

/* --- writing --- */

static void annotate(struct storage *s, struct meta *meta, struct pair pair)
{
    list_each(&meta->annotations, a)
        if (str_equal(a->key, pair.key)) {
            a->value = pair.value;
            return;
        }
    uint32_t n = meta->annotations.n;
    struct pair *all = arena_array(&s->mem, struct pair, n + 1);
    for (uint32_t i = 0; i < n; i++)
        all[i] = meta->annotations.at[i];
    all[n] = pair;
    meta->annotations.at = all;
    meta->annotations.n = n + 1;
}

/* A claim gets devices and is reserved; one that is neither loses what it has. */
static void apply_claim(struct storage *s, struct resource_claim *claim,
                        const struct resource_claim *part)
{
    if (part->meta.finalizers.n) {
        claim->meta.finalizers = part->meta.finalizers;
        return;
    }
    uint32_t n = claim->status.reserved_for.n, more = part->status.reserved_for.n;
    struct claim_consumer *all = arena_array(&s->mem, struct claim_consumer, n + more);
    for (uint32_t i = 0; i < n + more; i++)
        all[i] = i < n ? claim->status.reserved_for.at[i] : part->status.reserved_for.at[i - n];
    claim->status.reserved_for.at = all;
    claim->status.reserved_for.n = more ? n + more : 0;
    if (part->status.allocation || more == 0)
        claim->status.allocation = part->status.allocation;
}

/* The object that the patch's text is. */
static bool read(struct storage *s, enum kind kind, const struct patch *patch, struct object *out,
                 struct error *e)
{
    struct str text =
        arena_printf(&s->mem, "{\"metadata\":{" STR_FMT "}%s" STR_FMT "}", STR_ARG(patch->meta),
                     patch->body.n ? "," : "", STR_ARG(patch->body));
    const struct kind_info *info = kind_info_get(kind);
    size_t where;
    *out = (struct object){.kind = kind};
    out->meta = arena_alloc(&s->mem, info->size);
    return json_read(text, info->fields, out->meta, &s->mem, &where, e);
}

/* What the patch has of what can be written here. */
static bool apply(struct storage *s, struct object *o, const struct patch *patch, struct error *e)
{
    struct object part;
    if (!read(s, o->kind, patch, &part, e))
        return false;
    list_each(&part.meta->annotations, a)
        annotate(s, o->meta, *a);
    if (o->kind == KIND_PERSISTENT_VOLUME && part.persistent_volume->spec.claim_ref)
        o->persistent_volume->spec.claim_ref = part.persistent_volume->spec.claim_ref;
    if (o->kind == KIND_RESOURCE_CLAIM)
        apply_claim(s, o->resource_claim, part.resource_claim);
    return true;
}

static bool make(struct storage *s, const struct object_write *write, const struct patch *patch,
                 struct error *e)
{
    struct object made;
    if (!read(s, write->kind, patch, &made, e))
        return false;
    made.meta->namespace = arena_str(&s->mem, write->namespace);
    made.meta->created_ms = made.meta->deleted_ms = TIME_NONE;
    vec_push(&s->objects, made);
    s->n_resource_claims += made.kind == KIND_RESOURCE_CLAIM;
    return true;
}

/* --- what others do about it --- */

static void bind_claim(struct storage *s, struct persistent_volume_claim *claim, struct str volume)
{
    claim->spec.volume_name = volume;
    claim->phase = STR("Bound");
    annotate(s, &claim->meta, (struct pair){STR("pv.kubernetes.io/bind-completed"), STR("yes")});
}

/* A volume as the claim wants it, within reach of every node. */
static struct object make_volume(struct storage *s, const struct persistent_volume_claim *claim)
{
    struct persistent_volume *v = arena_array(&s->mem, struct persistent_volume, 1);
    struct claim_ref *ref = arena_array(&s->mem, struct claim_ref, 1);
    *ref = (struct claim_ref){claim->meta.namespace, claim->meta.name, claim->meta.uid};
    v->meta.name = arena_printf(&s->mem, "pvc-" STR_FMT "-" STR_FMT, STR_ARG(claim->meta.namespace),
                                STR_ARG(claim->meta.name));
    v->meta.created_ms = v->meta.deleted_ms = TIME_NONE;
    v->spec.capacity = claim->spec.requests;
    v->spec.access_modes = claim->spec.access_modes;
    v->spec.storage_class = claim->spec.storage_class;
    v->spec.mode = claim->spec.mode;
    v->spec.claim_ref = ref;
    v->phase = STR("Bound");
    return (struct object){.kind = KIND_PERSISTENT_VOLUME, .persistent_volume = v};
}

static void remove_object(struct storage *s, uint32_t i, storage_told *told, void *ctx)
{
    struct object gone = s->objects.at[i];
    vec_remove(&s->objects, i);
    s->n_resource_claims -= gone.kind == KIND_RESOURCE_CLAIM;
    told(ctx, CHANGE_REMOVE, &gone);
}

static void follow(struct storage *s, struct object *o, storage_told *told, void *ctx)
{
    if (o->kind == KIND_RESOURCE_CLAIM) {
        told(ctx, CHANGE_PUT, o);
        return;
    }
    if (o->kind == KIND_PERSISTENT_VOLUME) {
        const struct claim_ref *ref = o->persistent_volume->spec.claim_ref;
        struct object *claim = find(s, KIND_PERSISTENT_VOLUME_CLAIM, ref->namespace, ref->name);
        o->persistent_volume->phase = STR("Bound");
        told(ctx, CHANGE_PUT, o);
        if (!claim)
            return;
        bind_claim(s, claim->persistent_volume_claim, o->meta->name);
        told(ctx, CHANGE_PUT, claim);
        return;
    }
    struct object claim = *o, volume = make_volume(s, o->persistent_volume_claim);
    vec_push(&s->objects, volume);
    told(ctx, CHANGE_PUT, &volume);
    bind_claim(s, claim.persistent_volume_claim, volume.meta->name);
    told(ctx, CHANGE_PUT, &claim);
}

/* Nobody here reads what pods are told. */
static bool run(struct storage *s, const struct object_write *write, const struct patch *patch,
                storage_told *told, void *ctx, struct error *e)
{
    if (patch->kind == KIND_POD)
        return true;
    if (patch->verb == OBJECT_CREATE)
        return make(s, write, patch, e);
    struct object *o = find(s, write->kind, write->namespace, write->name);
    if (!o)
        return error_set(e, ERROR_GONE, "%s \"" STR_FMT "\" not found",
                         kind_info_get(write->kind)->name, STR_ARG(write->name));
    if (patch->verb == OBJECT_PATCH)
        return apply(s, o, patch, e);
    remove_object(s, (uint32_t)(o - s->objects.at), told, ctx);
    return true;
}

bool storage_write(struct storage *s, const struct object_write *write, storage_told *told,
                   void *ctx, struct error *e)
{
    for (uint32_t i = 0; i < write->n_patches; i++)
        if (!run(s, write, &write->patches[i], told, ctx, e))
            return false;
    struct object *o = find(s, write->kind, write->namespace, write->name);
    if (o)
        follow(s, o, told, ctx);
    return true;
}

/* --- who ends --- */

/* False: the pod had not reserved it. */
static bool unreserve(struct resource_claim *claim, struct str pod)
{
    uint32_t kept = 0;
    list_each(&claim->status.reserved_for, r)
        if (!str_equal(r->name, pod))
            claim->status.reserved_for.at[kept++] = *r;
    bool is_fewer = kept < claim->status.reserved_for.n;
    claim->status.reserved_for.n = kept;
    if (kept == 0 && is_fewer)
        claim->status.allocation = NULL;
    return is_fewer;
}

void storage_leave(struct storage *s, struct str namespace, struct str pod, storage_told *told,
                   void *ctx)
{
    for (uint32_t i = s->n_resource_claims ? s->objects.n : 0; i-- > 0;) {
        const struct object *o = &s->objects.at[i];
        if (o->kind != KIND_RESOURCE_CLAIM || !str_equal(o->meta->namespace, namespace))
            continue;
        const struct owner *owner = claim_extended_owner(o->meta);
        if (owner && str_equal(owner->name, pod))
            remove_object(s, i, told, ctx);
        else if (unreserve(o->resource_claim, pod))
            told(ctx, CHANGE_PUT, o);
    }
}
