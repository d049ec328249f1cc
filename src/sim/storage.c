#include "sim/storage.h"

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

/* What the patch has of what can be written here. */
static bool apply(struct storage *s, struct object *o, const struct patch *patch, struct error *e)
{
    struct str text =
        arena_printf(&s->mem, "{\"metadata\":{" STR_FMT "}%s" STR_FMT "}", STR_ARG(patch->meta),
                     patch->body.n ? "," : "", STR_ARG(patch->body));
    const struct kind_info *info = kind_info_get(o->kind);
    struct object part = *o;
    part.meta = arena_alloc(&s->mem, info->size);
    size_t where;
    if (!json_read(text, info->fields, part.meta, &s->mem, &where, e))
        return false;
    list_each(&part.meta->annotations, a)
        annotate(s, o->meta, *a);
    if (o->kind == KIND_PERSISTENT_VOLUME && part.persistent_volume->spec.claim_ref)
        o->persistent_volume->spec.claim_ref = part.persistent_volume->spec.claim_ref;
    if (o->kind == KIND_RESOURCE_CLAIM)
        apply_claim(s, o->resource_claim, part.resource_claim);
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

static void follow(struct storage *s, struct object *o, storage_told *told, void *ctx)
{
    if (o->kind == KIND_RESOURCE_CLAIM) {
        told(ctx, o);
        return;
    }
    if (o->kind == KIND_PERSISTENT_VOLUME) {
        const struct claim_ref *ref = o->persistent_volume->spec.claim_ref;
        struct object *claim = find(s, KIND_PERSISTENT_VOLUME_CLAIM, ref->namespace, ref->name);
        o->persistent_volume->phase = STR("Bound");
        told(ctx, o);
        if (!claim)
            return;
        bind_claim(s, claim->persistent_volume_claim, o->meta->name);
        told(ctx, claim);
        return;
    }
    struct object claim = *o, volume = make_volume(s, o->persistent_volume_claim);
    vec_push(&s->objects, volume);
    told(ctx, &volume);
    bind_claim(s, claim.persistent_volume_claim, volume.meta->name);
    told(ctx, &claim);
}

bool storage_write(struct storage *s, const struct object_write *write, storage_told *told,
                   void *ctx, struct error *e)
{
    struct object *o = find(s, write->kind, write->namespace, write->name);
    if (!o)
        return error_set(e, ERROR_GONE, "%s \"" STR_FMT "\" not found",
                         kind_info_get(write->kind)->name, STR_ARG(write->name));
    for (uint32_t i = 0; i < write->n_patches; i++)
        if (!apply(s, o, &write->patches[i], e))
            return false;
    follow(s, o, told, ctx);
    return true;
}
