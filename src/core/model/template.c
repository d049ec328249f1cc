#include "core/model/template.h"

#include "core/base/mem.h"
#include "core/model/partial_pod.h"
#include "core/model/tables.h"
#include "core/wire/proto.h"

/* All of a pod but its spec. */
static const struct field rest_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct pod, meta, meta_fields)},
    {FIELD_PART("status", 3, pod_status_fields)},
    FIELD_END,
};

void templates_done(struct templates *t)
{
    for (uint32_t i = 0; t->at && i < TEMPLATE_PLACES; i++) {
        buf_done(&t->at[i].bytes);
        arena_done(&t->at[i].mem);
    }
    mem_free(t->at);
    buf_done(&t->bytes);
    *t = (struct templates){0};
}

/* Puts the bytes of a pod's spec down without the node's name. */
static bool take_apart(struct templates *t, struct str pod)
{
    enum { SPEC = 2, NODE_NAME = 10 };
    struct proto_cut of_pod, of_spec;
    if (!proto_cut(pod, SPEC, &of_pod) || of_pod.bytes.n > TEMPLATE_BYTES_MOST ||
        !proto_cut(of_pod.bytes, NODE_NAME, &of_spec))
        return false;
    t->node_name = of_spec.bytes;
    buf_clear(&t->bytes);
    buf_add(&t->bytes, of_spec.before);
    buf_add(&t->bytes, of_spec.behind);
    return t->bytes.n > 0;
}

static struct template *place_of(struct templates *t)
{
    return &t->at[t->hash % TEMPLATE_PLACES];
}

static bool is_known(const struct templates *t, const struct template *at)
{
    return at->is_kept && at->hash == t->hash && str_equal(buf_str(&at->bytes), buf_str(&t->bytes));
}

bool templates_read(struct templates *t, const struct envelope *v, struct arena *mem,
                    struct object *out)
{
    const struct kind_info *info = kind_info_find(v->api_version, v->kind);
    struct error e;
    t->hash = 0;
    if (v->encoding != ENCODING_PROTO || !info || info->kind != KIND_POD || !take_apart(t, v->raw))
        return false;
    t->hash = str_hash(buf_str(&t->bytes));
    if (!t->at)
        t->at = mem_alloc(TEMPLATE_PLACES * sizeof(*t->at));
    const struct template *known = place_of(t);
    struct pod *pod = arena_alloc(mem, sizeof(*pod));
    if (!is_known(t, known) || !proto_read(v->raw, rest_fields, pod, mem, &e))
        return false;
    pod->spec = known->pod.spec;
    pod->spec.node_name = t->node_name;
    pod->template = buf_str(&known->bytes);
    pod->digest = partial_pod_digest(v, pod);
    *out = (struct object){.kind = KIND_POD, .pod = pod};
    return true;
}

void templates_keep(struct templates *t)
{
    if (t->hash == 0)
        return;
    struct template *at = place_of(t);
    struct error e;
    if (at->seen_once != t->hash) {
        at->seen_once = t->hash;
        return;
    }
    arena_reset(&at->mem);
    buf_clear(&at->bytes);
    buf_add(&at->bytes, buf_str(&t->bytes));
    at->hash = t->hash;
    at->seen_once = 0;
    memset(&at->pod, 0, sizeof(at->pod));
    at->is_kept = proto_read(buf_str(&at->bytes), pod_spec_fields, &at->pod, &at->mem, &e);
}
