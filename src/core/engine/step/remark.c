/* What is told of a unit once, with its first attempt: what its pods say that has no effect. */

#include "core/engine/step/step.h"
#include "core/model/our_keys.h"

/* Values mean something to the plugins that classify pods; of keys under our domains everybody is
 * told, for they were written for us. */
static void tell_misread(struct engine *k, pod_id pod, struct effects *out)
{
    const struct names *names = &k->cluster->names;
    const struct spec *spec = cluster_spec(k->cluster, pod);
    const struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    bool is_classified = class && class->identity.is.workload != WORKLOAD_UNKNOWN;
    AUTO(buf) text = {0};
    for (uint32_t i = 0; i < spec->n_misread; i++) {
        struct str key = names_text(names, spec->misread[i].key);
        if (!is_classified && !our_key_is_unknown(key, ON_POD))
            continue;
        buf_add(&text, text.n ? STR("; ") : STR(""));
        misread_say(key, names_text(names, spec->misread[i].value), ON_POD, &text);
    }
    if (text.n)
        engine_emit(k, pod, EFFECT_WARN, out)->message = arena_str(&out->mem, buf_str(&text));
}

/* Members of several templates say different things; those of one say the same. */
static void tell_members(struct engine *k, const struct group *group, struct effects *out)
{
    VEC(uint32_t) told = {0}; /* specs */
    vec_each(&group->members, i) {
        pod_id pod = {*i};
        uint32_t spec = pods_shape(&k->cluster->pods, pod)->spec;
        bool is_news = cluster_spec(k->cluster, pod)->n_misread > 0;
        vec_each(&told, other)
            is_news &= *other != spec;
        if (!is_news)
            continue;
        vec_push(&told, spec);
        tell_misread(k, pod, out);
    }
    vec_done(&told);
}

/* Did somebody spell it for us, or for the scheduler that this label was made for? What operators
 * write on all their pods asks nobody for a gang. */
static bool asks_for_gang(const struct group *group)
{
    return group_is_gang(group) &&
           (our_key_is(group->named.key) || group->object == KIND_SIGS_POD_GROUP);
}

struct str engine_word_apart(const struct engine *k, pod_id pod, struct arena *mem)
{
    uint32_t id = groups_of(&k->cluster->groups, pod);
    const struct group *group = id == ID_NONE ? NULL : &k->cluster->groups.at.at[id];
    const struct profile *profile = engine_profile_of(k, pod);
    if (!group || !profile || engine_gang_of(k, pod) != ID_NONE || !asks_for_gang(group))
        return (struct str){0};
    return arena_printf(mem,
                        "gang " STR_FMT " (" STR_FMT ") is not placed as one: profile " STR_FMT
                        " has no Coscheduling, which {name: KubeNexus} in its multiPoint brings",
                        STR_ARG(names_text(&k->cluster->names, group->name)),
                        STR_ARG(gang_place_text(&group->named, mem)), STR_ARG(profile->name));
}

static void tell_apart(struct engine *k, pod_id pod, struct effects *out)
{
    struct str text = engine_word_apart(k, pod, &out->mem);
    if (text.n == 0)
        return;
    struct effect *e = engine_emit(k, pod, EFFECT_WARN, out);
    e->news = NEWS_APART;
    e->message = text;
}

bool engine_is_puzzling(const struct engine *k, pod_id pod)
{
    uint32_t id = groups_of(&k->cluster->groups, pod);
    if (LIKELY(id == ID_NONE))
        return cluster_spec(k->cluster, pod)->n_misread;
    vec_each(&k->cluster->groups.at.at[id].members, i)
        if (pods_at(&k->cluster->pods, (pod_id){*i})->node != ID_NONE || k->units.at[*i].attempts)
            return false;
    return true;
}

void engine_remark(struct engine *k, pod_id pod, struct effects *out)
{
    uint32_t id = groups_of(&k->cluster->groups, pod);
    if (id == ID_NONE) {
        tell_misread(k, pod, out);
        return;
    }
    tell_members(k, &k->cluster->groups.at.at[id], out);
    tell_apart(k, pod, out);
}
