#include "kube/kinds.h"

const struct watched watched_kinds[WATCHED_COUNT] = {
#define WATCHED(kind, resource, selector)           {kind, resource, selector, false, NULL},
#define WATCHED_IF_ALLOWED(kind, resource, without) {kind, resource, "", false, without},
#define WATCHED_ON_DEMAND(kind, resource)           {kind, resource, "", true, NULL},
#include "kube/kinds.def"
#undef WATCHED
#undef WATCHED_IF_ALLOWED
#undef WATCHED_ON_DEMAND
};

const struct watched *watched_of(enum kind kind)
{
    uint32_t i = 0;
    while (watched_kinds[i].kind != kind)
        i++;
    return &watched_kinds[i];
}

void path_add_group(struct buf *path, const char *api_version)
{
    struct str version = str_of(api_version);
    buf_add(path, str_find(version, '/') < version.n ? STR("/apis/") : STR("/api/"));
    buf_add(path, version);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void path_add_query(struct buf *path, const char *name, struct str value)
{
    buf_add_char(path, str_find(buf_str(path), '?') < path->n ? '&' : '?');
    buf_add(path, str_of(name));
    buf_add_char(path, '=');
    for (size_t i = 0; i < value.n; i++) {
        if (is_plain(value.p[i]))
            buf_add_char(path, value.p[i]);
        else
            buf_printf(path, "%%%02X", (unsigned)(unsigned char)value.p[i]);
    }
}

void watched_add_name(struct buf *out, const struct watched *kind)
{
    struct str version = str_of(kind_info_get(kind->kind)->api_version);
    size_t slash = str_find(version, '/');
    buf_add(out, str_of(kind->resource));
    if (slash < version.n)
        buf_printf(out, "." STR_FMT, (int)slash, version.p);
}
