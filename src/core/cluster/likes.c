#include "core/cluster/likes.h"

#include "core/model/resources.h"

void likes_done(struct likes *l)
{
    for (uint32_t i = 0; l->at && i < LIKES_PLACES; i++)
        buf_done(&l->at[i].bytes);
    mem_free(l->at);
    buf_done(&l->bytes);
}

/* Is its spec what its template, labels, annotations and owners say, and nothing else? Not if it
 * has claims that are named after it, or what its status says counts. */
static bool is_like_others(const struct pod *pod)
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

static void keep(struct likes *l, struct like *at, uint64_t hash, struct specs *s, spec_id spec)
{
    intern_hold(&s->table.table, spec);
    if (at->bytes.n)
        intern_drop(&s->table.table, at->spec);
    buf_clear(&at->bytes);
    buf_add(&at->bytes, buf_str(&l->bytes));
    at->hash = hash;
    at->spec = spec;
}

spec_id likes_read(struct likes *l, struct specs *s, struct names *names, struct matches *matches,
                   const struct pod *pod, sym *pin)
{
    if (!is_like_others(pod))
        return specs_read(s, names, matches, pod, pin);
    describe(&l->bytes, pod, pin != NULL);
    if (!l->at)
        l->at = mem_alloc(LIKES_PLACES * sizeof(*l->at));
    uint64_t hash = str_hash(buf_str(&l->bytes));
    struct like *at = &l->at[hash % LIKES_PLACES];
    if (at->bytes.n && at->hash == hash && str_equal(buf_str(&at->bytes), buf_str(&l->bytes))) {
        if (pin)
            *pin = SYM_NONE;
        return at->spec;
    }
    spec_id spec = specs_read(s, names, matches, pod, pin);
    if (!pin || *pin == SYM_NONE)
        keep(l, at, hash, s, spec);
    return spec;
}
