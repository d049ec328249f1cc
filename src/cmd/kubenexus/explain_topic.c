#include "cmd/kubenexus/explain_topic.h"

#include <strings.h>

#include "core/model/gang.h"
#include "core/model/owner.h"

bool topic_parse(struct topic *s, enum topic_kind kind, struct str text)
{
    *s = (struct topic){.kind = kind, .namespace = STR("default")};
    if (kind == TOPIC_OWNER) {
        if (str_find(text, '/') == text.n)
            return false;
        s->owner = str_take(&text, '/');
    }
    if (str_find(text, '/') < text.n)
        s->namespace = str_take(&text, '/');
    s->name = text;
    bool is_whole = s->name.n && s->namespace.n && str_find(s->name, '/') == s->name.n;
    return is_whole && (kind != TOPIC_OWNER || s->owner.n);
}

/* "jobs", "job" and "Job" are a Job. */
static bool is_kind(struct str said, struct str kind)
{
    bool is_plural = said.n == kind.n + 1 && (said.p[kind.n] == 's');
    return (said.n == kind.n || is_plural) && strncasecmp(said.p, kind.p, kind.n) == 0;
}

/* Does the object belong to the owner, itself or by what it belongs to? */
static bool belongs(const struct topic *s, const struct objects *set, const struct meta *meta,
                    uint32_t depth)
{
    enum { DEPTH_MOST = 4 };
    if (depth == DEPTH_MOST || !str_equal(meta->namespace, s->namespace))
        return false;
    for (uint32_t i = 0; i < meta->owners.n; i++) {
        const struct owner *owner = &meta->owners.at[i];
        if (is_kind(s->owner, owner->kind) && str_equal(owner->name, s->name))
            return true;
        vec_each(&set->all, o)
            if (o->meta->uid.n && str_equal(o->meta->uid, owner->uid) &&
                belongs(s, set, o->meta, depth + 1))
                return true;
    }
    return false;
}

static bool is_member(const struct topic *s, const struct pod *pod)
{
    struct gang_identity identity;
    return str_equal(pod->meta.namespace, s->namespace) && gang_identity_of(pod, &identity) &&
           str_equal(identity.group.value, s->name);
}

static bool is_of(const struct topic *s, const struct objects *set, const struct pod *pod)
{
    switch (s->kind) {
    case TOPIC_POD:
        return str_equal(pod->meta.namespace, s->namespace) && str_equal(pod->meta.name, s->name);
    case TOPIC_GANG:
        return is_member(s, pod);
    case TOPIC_OWNER:
        break;
    }
    return belongs(s, set, &pod->meta, 0);
}

static bool has_ended(const struct pod *pod)
{
    return str_equal(pod->status.phase, STR("Succeeded")) ||
           str_equal(pod->status.phase, STR("Failed"));
}

struct topic_pods topic_find(const struct topic *s, const struct objects *set)
{
    struct topic_pods found = {0};
    vec_each(&set->all, o) {
        bool is_owner = s->kind == TOPIC_OWNER && o->kind != KIND_POD &&
                        is_kind(s->owner, str_of(kind_info_get(o->kind)->name)) &&
                        str_equal(o->meta->namespace, s->namespace) &&
                        str_equal(o->meta->name, s->name);
        found.owner = is_owner ? o : found.owner;
        if (o->kind != KIND_POD || !is_of(s, set, o->pod))
            continue;
        found.pods++;
        if (!found.pod || str_compare(o->meta->name, found.pod->meta.name) < 0)
            found.pod = o->pod;
        if (has_ended(o->pod))
            found.ended++;
        else if (o->pod->spec.node_name.n)
            found.running++;
        else if (!found.waiting || str_compare(o->meta->name, found.waiting->meta.name) < 0)
            found.waiting = o->pod;
    }
    return found;
}

static void add_name(const struct topic *s, struct buf *out)
{
    if (s->kind == TOPIC_OWNER)
        buf_printf(out, STR_FMT " ", STR_ARG(s->owner));
    else
        buf_add(out, s->kind == TOPIC_GANG ? STR("gang ") : STR("pod "));
    buf_printf(out, STR_FMT "/" STR_FMT, STR_ARG(s->namespace), STR_ARG(s->name));
}

static bool is_suspended(const struct object *o)
{
    return o->kind == KIND_JOB ? o->job->is_suspended
                               : kind_is_owner(o->kind) && o->owner_object->is_suspended;
}

void topic_word(const struct topic *s, const struct topic_pods *found, const struct objects *set,
                struct buf *out)
{
    (void)set;
    add_name(s, out);
    if (found->pods == 0 && !found->owner)
        return;
    if (found->pods == 0)
        buf_printf(out, " has no pods%s", is_suspended(found->owner) ? ": it is suspended" : "");
    else if (found->running)
        buf_printf(out, " waits for nothing: %u of its %u pods have a node", found->running,
                   found->pods);
    else
        buf_add(out, STR(" has ended"));
}
