#include "cmd/kubenexus/explain_needs.h"

#include "core/model/gang.h"
#include "kube/kinds.h"

/* Is the name one of those in the list, which has commas between them? */
static bool is_listed(struct str list, struct str name)
{
    while (list.n)
        if (str_equal(str_take(&list, ','), name))
            return true;
    return false;
}

static bool has_object(const struct objects *set, enum kind kind)
{
    vec_each(&set->all, o)
        if (o->kind == kind)
            return true;
    return false;
}

static void need(const struct objects *set, enum kind kind, struct buf *out)
{
    AUTO(buf) name = {0};
    watched_add_name(&name, watched_of(kind));
    if (has_object(set, kind) || is_listed(set->read, buf_str(&name)))
        return;
    bool is_denied = is_listed(set->denied, buf_str(&name));
    buf_printf(out, "%s" STR_FMT "%s", out->n ? ", " : "", STR_ARG(buf_str(&name)),
               is_denied ? " (not allowed to read)" : "");
}

static bool has_claim(const struct pod *pod)
{
    list_each(&pod->spec.volumes, v)
        if (v->claim || v->ephemeral)
            return true;
    return false;
}

/* The object that says how many the gang needs. */
static enum kind gang_object(const struct pod *pod)
{
    struct gang_identity identity;
    bool is_silent = gang_identity_of(pod, &identity) && identity.minimum == 0;
    return is_silent ? identity.object : KIND_NONE;
}

void explain_needs(const struct objects *set, const struct pod *pod, struct buf *out)
{
    static const enum kind volumes[] = {KIND_PERSISTENT_VOLUME_CLAIM, KIND_PERSISTENT_VOLUME,
                                        KIND_STORAGE_CLASS};
    static const enum kind devices[] = {KIND_RESOURCE_CLAIM, KIND_RESOURCE_SLICE,
                                        KIND_DEVICE_CLASS};
    enum kind object = gang_object(pod);
    need(set, KIND_NODE, out);
    for (size_t i = 0; i < LEN(volumes) && has_claim(pod); i++)
        need(set, volumes[i], out);
    for (size_t i = 0; i < LEN(devices) && pod->spec.resource_claims.n; i++)
        need(set, devices[i], out);
    if (object != KIND_NONE)
        need(set, object, out);
}

void explain_needs_of_missing(const struct objects *set, struct buf *out)
{
    need(set, KIND_RESOURCE_QUOTA, out);
}
