#include "core/model/object.h"

#include "core/model/owner.h"
#include "core/model/tables.h"

#define CLUSTER    false
#define NAMESPACED true
#define SERVER     false
#define CUSTOM     true
#define SAME       KIND

static const struct kind_info kinds[KIND_COUNT] = {
#define KIND(id, name_, version, scope, by, type, member, table, ...)                              \
    [KIND_##id] = {.kind = KIND_##id,                                                              \
                   .name = name_,                                                                  \
                   .api_version = version,                                                         \
                   .older = {__VA_ARGS__},                                                         \
                   .is_namespaced = scope,                                                         \
                   .is_custom = by,                                                                \
                   .size = sizeof(struct type),                                                    \
                   .fields = table},
#include "core/model/objects.def"
};

const struct kind_info *kind_info_get(enum kind kind)
{
    assert(kind > KIND_NONE && kind < KIND_COUNT);
    return &kinds[kind];
}

/* "apps" of "apps/v1"; "" of "v1". */
static struct str group_of(struct str api_version)
{
    size_t slash = str_find(api_version, '/');
    return str_part(api_version, 0, slash < api_version.n ? slash : 0);
}

struct str kind_info_group(const struct kind_info *info)
{
    return group_of(str_of(info->api_version));
}

const struct kind_info *kind_info_find(struct str api_version, struct str kind)
{
    const struct kind_info *found = NULL;
    for (size_t i = KIND_NONE + 1; i < KIND_COUNT; i++) {
        struct str version = str_of(kinds[i].api_version);
        if (!str_equal(str_of(kinds[i].name), kind) ||
            !str_equal(group_of(version), group_of(api_version)))
            continue;
        if (!found || str_equal(version, api_version))
            found = &kinds[i];
    }
    return found;
}
