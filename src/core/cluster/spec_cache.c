#include "core/cluster/spec_cache.h"

#include "core/model/resources.h"

void spec_cache_done(struct spec_cache *l)
{
    for (uint32_t i = 0; l->at && i < SPEC_CACHE_PLACES; i++)
        buf_done(&l->at[i].bytes);
    mem_free(l->at);
    buf_done(&l->bytes);
}

void spec_cache_clear(struct spec_cache *l, struct pods *pods)
{
    for (uint32_t i = 0; l->at && i < SPEC_CACHE_PLACES; i++)
        if (l->at[i].bytes.n)
            intern_drop(&pods->shape_table, l->at[i].shape);
    spec_cache_done(l);
    *l = (struct spec_cache){0};
}

/* Is its shape what its template, labels, annotations and owners say, and nothing else? Not if it
 * has claims that are named after it, or what its status says counts. */
static bool may_be_cached(const struct pod *pod)
{
    if (pod->template.n == 0 || pod->spec.resource_claims.n || pod->status.resource_claims.n ||
        !pod_status_is_silent(pod))
        return false;
    list_each(&pod->spec.volumes, v)
        if (v->ephemeral)
            return false;
    return true;
}

/* A text with its length, so that two texts in a row are not mistaken for another two. */
static void add_text(struct buf *b, struct str text)
{
    uint32_t n = (uint32_t)text.n;
    buf_add_bytes(b, &n, sizeof(n));
    buf_add(b, text);
}

static void add_pairs(struct buf *b, const pair_list *pairs)
{
    buf_add_bytes(b, &pairs->n, sizeof(pairs->n));
    list_each(pairs, pair) {
        add_text(b, pair->key);
        add_text(b, pair->value);
    }
}

static void describe(struct buf *b, const struct pod *pod, bool has_pin)
{
    buf_clear(b);
    buf_add_char(b, has_pin ? '+' : '-');
    buf_add_char(b, pod->spec.node_name.n ? '+' : '-'); /* one that waits may have left a claim */
    add_text(b, pod->meta.namespace);
    add_pairs(b, &pod->meta.labels);
    add_pairs(b, &pod->meta.annotations);
    list_each(&pod->meta.owners, owner) {
        buf_add_char(b, owner->is_controller ? '+' : '-');
        add_text(b, owner->api_version);
        add_text(b, owner->kind);
        add_text(b, owner->name);
    }
    buf_add_char(b, '.');
    buf_add(b, pod->template);
}

shape_id spec_cache_find(struct spec_cache *l, const struct pod *pod, bool has_pin)
{
    l->hash = 0;
    if (!may_be_cached(pod))
        return ID_NONE;
    describe(&l->bytes, pod, has_pin);
    if (l->bytes.n > SPEC_CACHE_BYTES_MOST)
        return ID_NONE;
    if (!l->at)
        l->at = mem_alloc(SPEC_CACHE_PLACES * sizeof(*l->at));
    l->hash = str_hash(buf_str(&l->bytes));
    const struct cached_spec *at = &l->at[l->hash % SPEC_CACHE_PLACES];
    bool is_known =
        at->bytes.n && at->hash == l->hash && str_equal(buf_str(&at->bytes), buf_str(&l->bytes));
    return is_known ? at->shape : ID_NONE;
}

void spec_cache_keep(struct spec_cache *l, struct pods *pods, shape_id shape)
{
    if (l->hash == 0)
        return;
    struct cached_spec *at = &l->at[l->hash % SPEC_CACHE_PLACES];
    intern_hold(&pods->shape_table, shape);
    if (at->bytes.n)
        intern_drop(&pods->shape_table, at->shape);
    buf_clear(&at->bytes);
    buf_add(&at->bytes, buf_str(&l->bytes));
    at->hash = l->hash;
    at->shape = shape;
}
