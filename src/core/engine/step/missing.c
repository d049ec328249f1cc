/* What a gang that misses members is told: how many there are, and what keeps the others from being
 * made, a ResourceQuota that is used up or an owner that is suspended. Jobs are asked for once a
 * gang of theirs has missed members for so long that it is told. */

#include "core/engine/step/step.h"
#include "core/model/owner.h"

static const struct group *group_at(const struct engine *k, uint32_t group)
{
    return &k->cluster->groups.at.at[group];
}

/* --- what objects say --- */

/* It was told that it misses members, and is to be told anew what keeps them. */
static void retell(struct engine *k, uint32_t group)
{
    enum { SOON_MS = 1000 }; /* quotas change several times in a row */
    struct gang *gang = engine_gang_at(k, group);
    bool is_told = gang && gang->leader != ID_NONE && gang->gather_ms == INT64_MAX &&
                   !engine_is_gathered(k, group);
    if (!is_told)
        return;
    gang->gather_ms = k->now_ms + SOON_MS;
    engine_set_timer(k, gang->leader);
}

void engine_retell_missing(struct engine *k, sym namespace)
{
    for (uint32_t i = 0; k->stepping->has_missed && i < k->cluster->groups.at.n; i++)
        if (group_at(k, i)->members.n && group_at(k, i)->namespace == namespace)
            retell(k, i);
}

/* The group of the pods that the Job would make. */
static bool group_of_job(const struct job *job, struct gang_identity *out)
{
    struct owner owner = {STR("batch/v1"), STR("Job"), job->meta.name, job->meta.uid, true};
    struct pod pod = {.meta = {.namespace = job->meta.namespace,
                               .labels = job->template_labels,
                               .annotations = job->template_annotations,
                               .owners = {.at = &owner, .n = 1}}};
    return gang_identity_of(&pod, out);
}

void engine_put_idler(struct engine *k, const struct object *o, bool is_there)
{
    struct gang_identity of = {.object = o->kind};
    bool is_idle =
        is_there && (o->kind == KIND_JOB ? o->job->is_suspended && group_of_job(o->job, &of)
                                         : o->owner_object->is_suspended);
    if (is_idle && o->kind != KIND_JOB)
        of.group.value = o->meta->name;
    struct names *names = &k->cluster->names;
    if (idlers_put(&k->cluster->idlers, names, o->kind, o->meta, of.group.value, of.object))
        engine_retell_missing(k, names_find(names, o->meta->namespace));
}

void engine_want_idlers(struct engine *k, uint32_t group)
{
    k->stepping->has_missed = true;
    if (str_equal(engine_gang_at(k, group)->made_by.kind, STR("Job")))
        engine_want_kind(k, KIND_JOB);
}

/* --- quotas --- */

/* The resource that the line counts: of "limits.cpu", "cpu"; of "pods" itself. A limit is no less
 * than what is asked for. */
static struct str resource_of(struct str key)
{
    static const struct str limits = STR("limits.");
    return str_starts(key, limits) ? str_part(key, limits.n, key.n) : quota_resource(key);
}

/* What a pod of this spec takes of a line: as much as it asks for, and of limits no less. */
static struct quantity ask_of(const struct engine *k, struct str key, spec_id spec)
{
    enum { NANO = 1000000000 };
    const struct specs *specs = &k->cluster->specs;
    const struct pod_request *ask = &specs_at(specs, spec)->ask;
    struct str name = resource_of(key);
    if (str_equal(name, STR("pods")))
        return (struct quantity){.nano = NANO};
    if (str_equal(name, STR("cpu")))
        return (struct quantity){.nano = (__int128)ask->cpu_milli * (NANO / 1000)};
    if (str_equal(name, STR("memory")))
        return (struct quantity){.nano = (__int128)ask->memory * NANO};
    resource_id resource = resources_find(&specs->resources, name);
    int64_t amount = resource == ID_NONE ? 0 : request_amount(ask, resource);
    return (struct quantity){.nano = (__int128)amount * NANO};
}

/* Has the line room for `n` more pods that take so much each? */
static bool allows(const struct quota_line *line, struct quantity ask, uint32_t n)
{
    return ask.nano == 0 || (line->hard.nano - line->used.nano) / ask.nano >= (__int128)n;
}

/* --- words --- */

/* Of the group's pods that wait, the one that takes most of the line. */
static uint32_t largest(const struct engine *k, const struct group *g,
                        const struct quota_line *line, struct quantity *ask)
{
    const struct cluster *c = k->cluster;
    uint32_t found = ID_NONE;
    vec_each(&g->members, i) {
        pod_id pod = {*i};
        if (!engine_is_ready(k, pod))
            continue;
        struct quantity q =
            ask_of(k, names_text(&c->names, line->key), pods_shape(&c->pods, pod)->spec);
        int order = found == ID_NONE ? 1 : quantity_compare(q, *ask);
        if (order > 0 ||
            (order == 0 && str_compare(pod_name(pods_at(&c->pods, pod)),
                                       pod_name(pods_at(&c->pods, (pod_id){found}))) < 0)) {
            found = *i;
            *ask = q;
        }
    }
    return found;
}

static void add_line(const struct engine *k, const struct quota *q, const struct quota_line *line,
                     uint32_t pod, struct quantity ask, struct buf *out)
{
    const struct names *names = &k->cluster->names;
    struct str like = pod_name(pods_at(&k->cluster->pods, (pod_id){pod}));
    buf_printf(out, "; ResourceQuota " STR_FMT " has no room for more like " STR_FMT ": ",
               STR_ARG(names_text(names, q->name)), STR_ARG(like));
    quantity_print(ask, out);
    buf_printf(out, " " STR_FMT " each, ", STR_ARG(names_text(names, line->key)));
    quantity_print(line->used, out);
    buf_add(out, STR(" of "));
    quantity_print(line->hard, out);
    buf_add(out, STR(" used"));
}

/* The first line of the quota that has too little left for `n` more; NULL: none has. */
static const struct quota_line *binding_line(const struct engine *k, const struct group *g,
                                             const struct quota *q, uint32_t n, uint32_t *pod,
                                             struct quantity *ask)
{
    vec_each(&q->lines.all, line) {
        *pod = largest(k, g, line, ask);
        if (*pod != ID_NONE && !allows(line, *ask, n))
            return line;
    }
    return NULL;
}

/* Of the first quota by name that binds. */
static void add_quota(const struct engine *k, const struct group *g, uint32_t n, struct buf *out)
{
    const struct quotas *quotas = &k->cluster->quotas;
    const struct names *names = &k->cluster->names;
    const struct quota *first = NULL;
    uint32_t pod = ID_NONE;
    struct quantity ask = {0};
    for (const struct quota *q = quotas_first(quotas, g->namespace); q; q = quotas_next(quotas, q))
        if ((!first ||
             str_compare(names_text(names, q->name), names_text(names, first->name)) < 0) &&
            binding_line(k, g, q, n, &pod, &ask))
            first = q;
    if (!first)
        return;
    const struct quota_line *line = binding_line(k, g, first, n, &pod, &ask);
    add_line(k, first, line, pod, ask, out);
}

static void add_curb(const struct engine *k, const struct group *g, uint32_t n, struct buf *out)
{
    const struct idler *x = idlers_of(&k->cluster->idlers, g->namespace, g->name, g->object);
    if (x)
        buf_printf(out, "; %s " STR_FMT " is suspended and makes none",
                   kind_info_get(x->kind)->name, STR_ARG(names_text(&k->cluster->names, x->name)));
    else
        add_quota(k, g, n, out);
}

/* Pods of the group that we do not place with it: that their scheduler will is not known. */
static void add_apart(const struct engine *k, uint32_t group, uint32_t n, struct buf *out)
{
    const struct cluster *c = k->cluster;
    struct str first = {0};
    vec_each(&group_at(k, group)->members, i) {
        pod_id pod = {*i};
        struct str name = names_text(&c->names, cluster_spec(c, pod)->scheduler_name);
        bool is_apart =
            pods_at(&c->pods, pod)->node == ID_NONE && !engine_waits_with(k, pod, group);
        if (is_apart && (!first.n || str_compare(name, first) < 0))
            first = name;
    }
    buf_printf(out, "; %u more wait for schedulerName " STR_FMT, n, STR_ARG(first));
}

void engine_word_missing(const struct engine *k, uint32_t group, struct buf *out)
{
    const struct group *g = group_at(k, group);
    if (group_lacks_object(g)) {
        const struct kind_info *info = kind_info_get(g->object);
        buf_printf(out, "pod group " STR_FMT " does not exist: waiting for a %s of " STR_FMT,
                   STR_ARG(names_text(&k->cluster->names, g->name)), info->name,
                   STR_ARG(kind_info_group(info)));
        return;
    }
    struct presence m = engine_presence(k, group);
    uint32_t there = m.running + m.ready + group_ended(g), needs = (uint32_t)group_minimum(g);
    buf_printf(out, "pod group has %u pods, needs at least %u", there, needs);
    if (m.held)
        buf_printf(out, "; %u more wait behind scheduling gates", m.held);
    if (m.apart)
        add_apart(k, group, m.apart, out);
    uint32_t made = there + m.held + m.apart;
    if (made < needs)
        add_curb(k, g, needs - made, out);
    engine_shorten(out, 0);
}
