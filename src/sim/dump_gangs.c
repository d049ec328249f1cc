#include "sim/dump_gangs.h"

#include "core/base/buf.h"
#include "core/model/gang.h"
#include "core/model/owner.h"

static struct dump_gang *gang_get(struct dump_gangs *g, enum kind kind, struct str namespace,
                                  struct str name, struct str part, struct str replica)
{
    const struct str texts[] = {namespace, name, part, replica};
    struct buf key = {0};
    buf_printf(&key, "%d", (int)kind);
    for (size_t i = 0; i < LEN(texts); i++) {
        buf_add_char(&key, '/');
        buf_add(&key, texts[i]);
    }
    bool is_new;
    uint32_t i = intern_get(&g->names, buf_str(&key), &is_new);
    buf_done(&key);
    if (is_new) {
        intern_hold(&g->names, i);
        vec_push(&g->at, (struct dump_gang){0});
    }
    return &g->at.at[i];
}

static void learn_workload(struct dump_gangs *g, const struct object *o)
{
    list_each(&o->workload->groups, group)
        gang_get(g, KIND_WORKLOAD, o->meta->namespace, o->meta->name, group->name, STR(""))
            ->written = group->minimum;
}

void dump_gangs_learn(struct dump_gangs *g, const struct object *object)
{
    struct arena mem = {0};
    struct pod_group group = {0};
    enum kind kind = object->kind;
    bool is_group = kind == KIND_POD_GROUP || kind == KIND_POD_GROUP_ALPHA2 ||
                    kind == KIND_SIGS_POD_GROUP || kind == KIND_VOLCANO_POD_GROUP;
    if (kind == KIND_WORKLOAD)
        learn_workload(g, object);
    bool is_read = is_group || kind == KIND_JOB || kind_is_owner(kind);
    if (is_read && pod_group_of(object, &mem, &group)) {
        int64_t parts = 0;
        list_each(&group.parts, part)
            parts += part->minimum;
        gang_get(g, kind == KIND_POD_GROUP_ALPHA2 ? KIND_POD_GROUP : kind, object->meta->namespace,
                 object->meta->name, STR(""), STR(""))
            ->written = parts ? parts : group.minimum;
    }
    arena_done(&mem);
}

/* A replica of a Workload's group is a gang of its own, as large as the group says. */
static int64_t written_of(struct dump_gangs *g, const struct gang_identity *who, struct str ns)
{
    if (who->object != KIND_WORKLOAD)
        return 0;
    return gang_get(g, KIND_WORKLOAD, ns, who->group.value, who->part, STR(""))->written;
}

uint32_t dump_gangs_join(struct dump_gangs *g, struct plan *p, const struct pod *pod)
{
    struct gang_identity who = {0};
    if (!gang_identity_of(pod, &who))
        return 0;
    struct str ns = pod->meta.namespace;
    int64_t written = written_of(g, &who, ns);
    enum kind kind = who.object == KIND_POD_GROUP_ALPHA2 ? KIND_POD_GROUP : who.object;
    struct dump_gang *gang = gang_get(g, kind, ns, who.group.value, who.part, who.replica);
    gang->written = MAX(gang->written, written);
    gang->said = MAX(gang->said, (int64_t)who.minimum);
    if (!gang->work)
        gang->work = plan_add_work(p, 1);
    return gang->work;
}

void dump_gangs_finish(const struct dump_gangs *g, struct plan *p)
{
    vec_each(&g->at, gang) {
        int64_t minimum = gang->written > 0 ? gang->written : gang->said;
        if (gang->work)
            p->works.at[gang->work - 1].minimum = (uint32_t)MIN(MAX(minimum, 1), PLAN_PODS_MOST);
    }
}

void dump_gangs_done(struct dump_gangs *g)
{
    intern_done(&g->names);
    vec_done(&g->at);
}
