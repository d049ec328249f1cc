#include "kube/object_write.h"

#include "core/wire/encoding.h"
#include "kube/kinds.h"

enum { TIMEOUT_MS = 30000 };

struct object_write object_write_keep(const struct object_write *from)
{
    size_t bytes = from->n_patches * sizeof(struct patch) + from->namespace.n + from->name.n;
    for (uint32_t i = 0; i < from->n_patches; i++)
        bytes += from->patches[i].part.n + from->patches[i].meta.n + from->patches[i].body.n +
                 from->patches[i].name.n;
    struct patch *patches = mem_alloc(bytes);
    char *at = (char *)(patches + from->n_patches);
    for (uint32_t i = 0; i < from->n_patches; i++)
        patches[i] = (struct patch){str_keep(&at, from->patches[i].part),
                                    str_keep(&at, from->patches[i].meta),
                                    str_keep(&at, from->patches[i].body),
                                    from->patches[i].verb,
                                    from->patches[i].kind,
                                    str_keep(&at, from->patches[i].name)};
    struct object_write kept = *from;
    kept.namespace = str_keep(&at, from->namespace);
    kept.name = str_keep(&at, from->name);
    kept.patches = patches;
    return kept;
}

void object_write_free(struct object_write *w)
{
    mem_free((struct patch *)(uintptr_t)w->patches);
    w->patches = NULL;
}

/* A patch is written only over what we know: what was decided rests on that. */
static void add_body(const struct object_write *w, const struct patch *patch, struct buf *body)
{
    buf_add_char(body, '{');
    if (patch->verb != OBJECT_DELETE) {
        bool has_version = w->version && patch->kind == KIND_NONE;
        buf_add(body, STR("\"metadata\":{"));
        if (has_version)
            buf_printf(body, "\"resourceVersion\":\"%llu\"", (unsigned long long)w->version);
        if (has_version && patch->meta.n)
            buf_add_char(body, ',');
        buf_add(body, patch->meta);
        buf_add(body, patch->body.n ? STR("},") : STR("}"));
    }
    buf_add(body, patch->body);
    buf_add_char(body, '}');
}

enum kind object_write_kind(const struct object_write *w, uint32_t step)
{
    return w->patches[step].kind == KIND_NONE ? w->kind : w->patches[step].kind;
}

static struct str path_of(const struct object_write *w, uint32_t step, const char *api_version,
                          struct arena *mem)
{
    AUTO(buf) path = {0};
    const struct patch *patch = &w->patches[step];
    enum kind kind = object_write_kind(w, step);
    struct str name = patch->kind == KIND_NONE ? w->name : patch->name;
    path_add_group(&path, api_version ? api_version : kind_info_get(kind)->api_version);
    if (w->namespace.n)
        buf_printf(&path, "/namespaces/" STR_FMT, STR_ARG(w->namespace));
    buf_printf(&path, "/%s", watched_of(kind)->resource);
    if (patch->verb != OBJECT_CREATE)
        buf_printf(&path, "/" STR_FMT "%s" STR_FMT, STR_ARG(name), patch->part.n ? "/" : "",
                   STR_ARG(patch->part));
    return arena_str(mem, buf_str(&path));
}

/* The server knows how to merge lists of its own kinds only. */
static struct str type_of(const struct object_write *w, uint32_t step)
{
    if (w->patches[step].verb != OBJECT_PATCH)
        return STR(ENCODING_JSON_TYPE);
    return kind_info_get(object_write_kind(w, step))->is_custom
               ? STR("application/merge-patch+json")
               : STR("application/strategic-merge-patch+json");
}

struct request object_write_request(const struct object_write *w, uint32_t step,
                                    const char *api_version, struct requests *out)
{
    static const enum verb verbs[] = {
        [OBJECT_PATCH] = VERB_PATCH,
        [OBJECT_CREATE] = VERB_POST,
        [OBJECT_DELETE] = VERB_DELETE,
    };
    const struct patch *patch = &w->patches[step];
    buf_clear(&out->scratch);
    add_body(w, patch, &out->scratch);
    return (struct request){
        .lane = LANE_WRITE,
        .verb = verbs[patch->verb],
        .path = path_of(w, step, api_version, &out->mem),
        .accept = STR(ENCODING_PROTO_TYPE ", " ENCODING_JSON_TYPE),
        .content_type = type_of(w, step),
        .body = arena_str(&out->mem, buf_str(&out->scratch)),
        .timeout_ms = TIMEOUT_MS,
    };
}
