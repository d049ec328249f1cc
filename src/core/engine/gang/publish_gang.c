/* What PodGroups say of their gangs, each kind in its own words:
 *
 * - scheduling.k8s.io: the condition PodGroupInitiallyScheduled (of v1alpha2, PodGroupScheduled),
 *   which never goes back once it is true, as kube-scheduler writes it;
 * - Volcano: the phase as far as a scheduler knows it, Unschedulable or Scheduled as a condition.
 * Its job controller makes pods only when the group is in the queue: where a profile is called
 *   volcano, we let it in;
 * - scheduling.x-k8s.io: the phase, until its own controller, where there is one, knows better.
 *
 * Of attempts they say how many there were at least, in powers of two: each would be a write. */

#include "core/base/hash.h"
#include "core/engine/gang/gang.h"

/* --- what happens to them --- */

static struct gang *published_gang(struct engine *k, uint32_t group)
{
    bool is_published =
        group != ID_NONE && group < k->gangs->all.n && k->gangs->all.at[group].published.uid;
    return is_published ? &k->gangs->all.at[group] : NULL;
}

void engine_touch_gang(struct engine *k, uint32_t group)
{
    struct gang *gang = published_gang(k, group);
    if (gang)
        engine_make_stale(k, &gang->published);
}

void engine_note_gang(struct engine *k, uint32_t group, enum gang_standing standing, struct str why)
{
    struct gang *gang = &k->gangs->all.at[group];
    engine_count_gang(k, group, standing);
    gang->attempts += standing != GANG_WAITED_IN_VAIN;
    if (!published_gang(k, group))
        return;
    gang->standing = standing;
    buf_clear(&gang->why);
    buf_add(&gang->why, why);
    engine_make_stale(k, &gang->published);
}

/* --- how they stand --- */

struct view_of_gang {
    const struct gang *gang;
    const struct group *group;
    uint32_t members, running, minimum;
    bool is_placed;
    struct str message;
};

static uint32_t at_least(uint32_t n)
{
    uint32_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

static struct str message_of(const struct view_of_gang *v, struct arena *mem)
{
    uint32_t attempts = v->gang->attempts;
    if (v->is_placed)
        return arena_printf(mem, "%u of at least %u pods have a node",
                            v->running + group_ended(v->group), v->minimum);
    struct str why = buf_str(&v->gang->why);
    if (attempts == 0)
        return why;
    return arena_printf(mem, STR_FMT " (%u%s)", STR_ARG(why), at_least(attempts),
                        attempts > 1 ? "+ attempts" : " attempt");
}

/* Somebody of it is ours to place. */
static bool is_served(const struct engine *k, const struct group *g)
{
    vec_each(&g->members, i)
        if (engine_profile_of(k, (pod_id){*i}))
            return true;
    return g->object == KIND_VOLCANO_POD_GROUP && g->members.n == 0 &&
           classes_profile(&k->classes, STR("volcano"));
}

static bool is_refused(const struct gang *gang)
{
    return gang->standing != GANG_UNTRIED && gang->standing != GANG_HAS_ROOM;
}

static bool lacks_pods(const struct gang *gang)
{
    return gang->standing == GANG_LACKS_PODS || gang->standing == GANG_WAITED_IN_VAIN;
}

static void set_native(const struct view_of_gang *v, struct object_status *s)
{
    struct status_condition *c = &s->conditions[0];
    if (!v->is_placed && !is_refused(v->gang))
        return;
    *c = (struct status_condition){
        .type = v->gang->published.kind == KIND_POD_GROUP_ALPHA2
                    ? STR("PodGroupScheduled")
                    : STR("PodGroupInitiallyScheduled"),
        .is_true = v->is_placed,
        .reason = v->is_placed                         ? STR("Scheduled")
                  : v->gang->standing == GANG_UNJUDGED ? STR("SchedulerError")
                                                       : STR("Unschedulable"),
        .message = v->message,
    };
}

static void set_volcano(const struct view_of_gang *v, struct object_status *s)
{
    bool is_refused_now = !v->is_placed && is_refused(v->gang);
    bool is_over = v->members == 0 && group_ended(v->group) >= v->minimum;
    s->phase = is_over                        ? STR("Completed")
               : v->is_placed                 ? STR("Running")
               : is_refused_now && v->running ? STR("Unknown")
                                              : STR("Inqueue");
    if (is_refused_now)
        s->conditions[0] = (struct status_condition){
            .type = STR("Unschedulable"),
            .is_true = true,
            .reason = lacks_pods(v->gang) ? STR("NotEnoughTasks") : STR("NotEnoughResources"),
            .message = v->message,
        };
    else if (v->is_placed)
        s->conditions[1] = (struct status_condition){
            .type = STR("Scheduled"),
            .is_true = true,
            .reason = STR("tasks in gang are ready to be scheduled"),
            .message = v->message,
        };
}

static void set_sigs(const struct view_of_gang *v, struct object_status *s)
{
    static const struct str before[] = {STR(""), STR("Pending"), STR("Scheduling")};
    struct str phase = str_of(v->gang->published.phase);
    bool is_gathered = v->members + group_ended(v->group) >= v->minimum;
    bool is_ours = false;
    for (size_t i = 0; i < LEN(before); i++)
        is_ours |= str_equal(phase, before[i]);
    s->phase = !is_ours ? phase : is_gathered ? STR("Scheduling") : STR("Pending");
}

static struct view_of_gang look_at(const struct engine *k, uint32_t group, struct arena *mem)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    struct view_of_gang v = {
        .gang = &k->gangs->all.at[group],
        .group = g,
        .members = g->members.n,
        .running = engine_presence(k, group).running,
        .minimum = (uint32_t)group_minimum(g),
    };
    v.is_placed = v.running + group_ended(g) >= v.minimum;
    v.message = message_of(&v, mem);
    return v;
}

static void show(struct engine *k, uint32_t group, struct effects *out)
{
    struct gang *gang = &k->gangs->all.at[group];
    const struct group *g = &k->cluster->groups.at.at[group];
    gang->published.is_stale = false;
    bool is_final = g->object == KIND_POD_GROUP && gang->published.was[0].is_true;
    if (!gang->published.uid || is_final || !is_served(k, g))
        return;
    struct view_of_gang v = look_at(k, group, &k->mem);
    struct publication what = {
        .published_status = &gang->published,
        .kind = gang->published.kind,
        .namespace = names_text(&k->cluster->names, g->namespace),
        .name = names_text(&k->cluster->names, g->name),
        .news = v.is_placed && gang->standing == GANG_HAS_ROOM ? NEWS_SCHEDULED
                : !v.is_placed && is_refused(gang)             ? NEWS_UNSCHEDULED
                                                               : NEWS_NONE,
        .text = v.message,
    };
    what.news_of = what.news == NEWS_UNSCHEDULED ? str_hash(buf_str(&gang->why)) : 0;
    if (g->object == KIND_POD_GROUP)
        set_native(&v, &what.status);
    else if (g->object == KIND_VOLCANO_POD_GROUP)
        set_volcano(&v, &what.status);
    else
        set_sigs(&v, &what.status);
    engine_publish(k, &what, out);
}

bool engine_publish_gangs(struct engine *k, struct effects *out)
{
    enum { PUBLISHED_A_STEP = 1000 };
    uint32_t shown = 0;
    for (uint32_t i = 0; i < k->gangs->all.n; i++) {
        if (!k->gangs->all.at[i].published.is_stale)
            continue;
        if (shown++ == PUBLISHED_A_STEP)
            return false;
        show(k, i, out);
    }
    return true;
}
