/* The life of gangs in the queue. Pods of a group that their profile places as one stand in the
 * queue as one unit, under the number of their leader. Who the leader is never shows: when it goes,
 * the unit goes on under the number of another that waits.
 *
 * While fewer pods are there than the gang needs, a gate keeps it out of the active units; pods
 * that come look at the gate again. When that has lasted too long, those who wait are told. A gang
 * that runs already and lacks some goes on without them then: they may have done their work before
 * we came. */

#include "core/engine/gang/gang.h"
#include "core/model/owner.h"

#define NOBODYS_GANG ((struct gang){.leader = ID_NONE, .gather_ms = INT64_MAX})

static struct gang *gang_at(struct engine *k, uint32_t group)
{
    while (k->gangs->all.n <= group)
        vec_push(&k->gangs->all, NOBODYS_GANG);
    return &k->gangs->all.at[group];
}

uint32_t engine_leader_of(const struct engine *k, uint32_t group)
{
    const struct gang *gang = engine_gang_at(k, group);
    return gang ? gang->leader : ID_NONE;
}

void engine_want_kind(struct engine *k, enum kind kind)
{
    k->gangs->wanted |= (uint64_t)1 << kind;
}

static const struct group *group_at(const struct engine *k, uint32_t group)
{
    return &k->cluster->groups.at.at[group];
}

uint32_t engine_gang_of(const struct engine *k, pod_id pod)
{
    uint32_t group = groups_of(&k->cluster->groups, pod);
    if (LIKELY(group == ID_NONE) || !group_is_gang(group_at(k, group)))
        return ID_NONE;
    const struct profile_plugin *gangs = engine_gangs_of(k, pod);
    bool is_told_apart =
        gangs && gangs->plugin->gangs_natively && group_at(k, group)->object != KIND_POD_GROUP;
    return gangs && !is_told_apart ? group : ID_NONE;
}

struct gang *engine_gang_led_by(const struct engine *k, uint32_t unit)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct gang *gang = LIKELY(group == ID_NONE) ? NULL : engine_gang_at(k, group);
    return gang && gang->leader == unit ? gang : NULL;
}

/* --- who is there --- */

static bool waits(const struct engine *k, pod_id pod)
{
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    return row->node == ID_NONE && !(row->flags & (POD_BOUND | POD_TERMINATING));
}

bool engine_waits_with(const struct engine *k, pod_id pod, uint32_t group)
{
    return waits(k, pod) && engine_gang_of(k, pod) == group;
}

bool engine_is_ready(const struct engine *k, pod_id pod)
{
    return waits(k, pod) && cluster_spec(k->cluster, pod)->n_gates == 0 &&
           engine_gang_of(k, pod) != ID_NONE;
}

struct presence engine_presence(const struct engine *k, uint32_t group)
{
    struct presence m = {0};
    vec_each(&group_at(k, group)->members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        m.running += row->node != ID_NONE && !(row->flags & POD_GOING);
        if (engine_is_ready(k, (pod_id){*i}))
            m.ready++;
        else if (engine_waits_with(k, (pod_id){*i}, group))
            m.held++;
        else
            m.apart += waits(k, (pod_id){*i});
    }
    return m;
}

bool engine_is_gathered(const struct engine *k, uint32_t group)
{
    const struct group *g = group_at(k, group);
    uint32_t minimum = (uint32_t)group_minimum(g);
    if (g->trouble.n)
        return true; /* to be told so */
    bool may_go_on = group < k->gangs->all.n && k->gangs->all.at[group].goes_on;
    bool may_lack = may_go_on || group_comes_in_turn(g);
    if (group_lacks_object(g) || (!may_lack && g->members.n + group_ended(g) < minimum))
        return false;
    struct presence m = engine_presence(k, group);
    if (group_comes_in_turn(g))
        return m.ready;
    return m.ready && ((may_go_on && m.running) || m.running + m.ready + group_ended(g) >= minimum);
}

/* --- in and out of the queue --- */

/* How long those who are missing are waited for before the others are told. */
static int64_t patience_of(const struct engine *k, const struct gang *gang)
{
    enum { SOON_MS = 1000 }; /* gates are lifted one after the other */
    int64_t gather_ms = engine_gang_args(k, (pod_id){gang->leader}).gather_ms;
    return gang->is_told_soon ? MIN(gather_ms, (int64_t)SOON_MS) : gather_ms;
}

void engine_tell_soon(struct engine *k, pod_id pod)
{
    uint32_t group = engine_gang_of(k, pod);
    if (group != ID_NONE)
        gang_at(k, group)->is_told_soon = true;
}

bool engine_gang_may_enter(struct engine *k, uint32_t unit)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct gang *gang = &k->gangs->all.at[group];
    bool is_gathered = engine_is_gathered(k, group);
    if (is_gathered == (gang->gather_ms == INT64_MAX))
        return is_gathered;
    gang->gather_ms = is_gathered ? INT64_MAX : k->now_ms + patience_of(k, gang);
    engine_set_timer(k, unit);
    return is_gathered;
}

static void lead(struct engine *k, uint32_t group, pod_id pod)
{
    struct gang *gang = gang_at(k, group);
    gang->leader = pod.i;
    gang->goes_on = false;
    gang->is_told_soon = false;
    gang->gather_ms = INT64_MAX;
    k->above->led(k, group);
    engine_age_anew(k, group);
    engine_begin_wait(k, pod.i);
}

/* Another pod waits with the gang, or one of them changed. */
static void follow(struct engine *k, uint32_t group, pod_id pod)
{
    struct gang *gang = &k->gangs->all.at[group];
    k->above->followed(k, group);
    k->above->touched(k, gang->leader);
    engine_age_with(k, group, pod);
    gang->gather_ms = INT64_MAX; /* whoever is still missing is waited for anew */
    engine_set_timer(k, gang->leader);
    if (queue_where(k->queue, gang->leader) == QUEUE_PARKED)
        queue_activate(k->queue, k->now_ms, gang->leader);
}

/* May the pod, which is in the queue, stay there as what it is there: a gang, by whose number it
 * is known, or itself, behind its gates if it has any? */
static bool is_in_place(const struct engine *k, pod_id pod, bool does_wait, uint32_t group)
{
    if (!does_wait || (group != ID_NONE) != (engine_gang_led_by(k, pod.i) != NULL))
        return false;
    return group != ID_NONE || cluster_spec(k->cluster, pod)->n_gates == 0 ||
           queue_gate(k->queue, pod.i);
}

void engine_stand(struct engine *k, pod_id pod, bool is_new)
{
    bool does_wait = waits(k, pod) && engine_profile_of(k, pod) && !k->above->is_idle(k, pod);
    uint32_t group = does_wait ? engine_gang_of(k, pod) : ID_NONE;
    bool is_queued = queue_where(k->queue, pod.i) != QUEUE_NOWHERE;
    if (is_queued && !is_in_place(k, pod, does_wait, group)) {
        engine_leave(k, pod);
        is_queued = false;
    }
    if (group == ID_NONE)
        engine_age_without(k, pod);
    if (!does_wait)
        return;
    if (group != ID_NONE && gang_at(k, group)->leader != ID_NONE) {
        if (is_new)
            follow(k, group, pod);
        return;
    }
    if (is_queued)
        return;
    if (group != ID_NONE)
        lead(k, group, pod);
    else
        engine_begin_wait(k, pod.i);
    queue_add(k->queue, k->now_ms, pod.i);
}

void engine_stand_again(struct engine *k, pod_id pod)
{
    uint32_t group = engine_gang_of(k, pod);
    if (group != ID_NONE && gang_at(k, group)->leader != ID_NONE) {
        follow(k, group, pod);
        return;
    }
    if (group != ID_NONE)
        lead(k, group, pod);
    else
        engine_begin_wait(k, pod.i);
    queue_fail(k->queue, k->now_ms, pod.i);
}

/* Another pod of the gang that waits; ID_NONE: there is none. */
static uint32_t heir_of(const struct engine *k, uint32_t group, uint32_t leader)
{
    vec_each(&group_at(k, group)->members, i)
        if (*i != leader && engine_waits_with(k, (pod_id){*i}, group))
            return *i;
    return ID_NONE;
}

void engine_rename_gang(struct engine *k, uint32_t group, uint32_t unit, uint32_t to)
{
    struct unit *was = &k->units.at[unit], *is = &k->units.at[to];
    is->ages = was->ages;
    is->is_starving = was->is_starving;
    is->boost = was->boost;
    uint64_t arrival = is->arrival; /* the gang keeps its place, and no other has the same */
    is->arrival = was->arrival;
    was->arrival = arrival;
    k->gangs->all.at[group].leader =
        to; /* the queue asks where it stands under its new number alone */
    queue_rename(k->queue, unit, to);
    k->above->renamed(k, unit, to);
    engine_set_timer(k, to);
}

static void leave_queue(struct engine *k, uint32_t unit)
{
    queue_remove(k->queue, unit);
    k->above->left(k, unit);
}

void engine_leave(struct engine *k, pod_id pod)
{
    struct gang *gang = engine_gang_led_by(k, pod.i);
    engine_stop_timer(k, pod.i);
    if (!gang) {
        uint32_t group = engine_gang_of(k, pod);
        if (group != ID_NONE)
            k->above->followed(k, group);
        engine_age_without(k, pod);
        leave_queue(k, pod.i);
        return;
    }
    uint32_t group = groups_of(&k->cluster->groups, pod), heir = heir_of(k, group, pod.i);
    bool is_queued = queue_where(k->queue, pod.i) != QUEUE_NOWHERE;
    k->above->followed(k, group);
    if (heir == ID_NONE || !is_queued) {
        leave_queue(k, pod.i);
        gang->leader = ID_NONE;
        return;
    }
    engine_rename_gang(k, group, pod.i, heir);
    engine_age_without(k, pod);
}

void engine_wait_on(struct engine *k, uint32_t group)
{
    k->gangs->all.at[group].leader = ID_NONE;
    uint32_t heir = heir_of(k, group, ID_NONE);
    if (heir != ID_NONE)
        engine_stand(k, (pod_id){heir}, true);
}

void engine_dissolve(struct engine *k, uint32_t group)
{
    if (group < k->gangs->all.n)
        k->gangs->all.at[group].leader = ID_NONE;
    vec_each(&group_at(k, group)->members, i) {
        engine_stop_timer(k, *i);
        leave_queue(k, *i);
    }
}

void engine_dissolve_all(struct engine *k)
{
    for (uint32_t i = 0; i < k->gangs->all.n; i++)
        engine_dissolve(k, i);
}

void engine_regroup(struct engine *k, uint32_t group)
{
    engine_dissolve(k, group);
    for (uint32_t i = 0; i < group_at(k, group)->members.n; i++) {
        pod_id pod = {group_at(k, group)->members.at[i]};
        engine_stand(k, pod, true);
    }
}

/* --- what pods and objects say --- */

/* Tells one run of a group's owner from the next. */
static uint64_t owner_of(const struct pod *pod)
{
    list_each(&pod->meta.owners, o)
        if (o->is_controller)
            return str_hash(o->uid.n ? o->uid : o->name);
    return 0;
}

/* Remembers who made the pods of the group: what we hold for it goes with them. */
static void note_owner(struct engine *k, uint32_t group, uint64_t hash, const struct pod *pod)
{
    struct gang *gang = gang_at(k, group);
    if (hash == 0 || gang->owner == hash)
        return;
    gang->owner = hash;
    mem_free((char *)(uintptr_t)gang->made_by.api_version.p);
    gang->made_by = (struct owner){0};
    list_each(&pod->meta.owners, o) {
        if (!o->is_controller || o->uid.n == 0)
            continue;
        char *at = mem_alloc(o->api_version.n + o->kind.n + o->name.n + o->uid.n);
        gang->made_by = (struct owner){.api_version = str_keep(&at, o->api_version),
                                       .kind = str_keep(&at, o->kind),
                                       .name = str_keep(&at, o->name),
                                       .uid = str_keep(&at, o->uid)};
        return;
    }
}

static struct gang_rules rules_of(const struct engine *k, pod_id pod)
{
    const struct profile_plugin *gangs = engine_gangs_of(k, pod);
    return (struct gang_rules){.kubeflow_asks = k->gangs->kubeflow,
                               .natively = gangs && gangs->plugin->gangs_natively};
}

/* By what pods of the group wait: while it is the same, nothing that is said of the group matters
 * to them. 0: each waits by itself. */
static uint64_t terms_of(const struct engine *k, uint32_t group)
{
    const struct group *g = group == ID_NONE ? NULL : group_at(k, group);
    if (!g || !group_is_gang(g))
        return 0;
    return (uint64_t)group_minimum(g) << 33 | (uint64_t)(g->trouble.n > 0) << 32 | g->required;
}

/* Does it wait for pods: behind its gate, or because some had gone when it had its turn? */
static bool lacks_pods(const struct engine *k, uint32_t leader)
{
    uint64_t bit = (uint64_t)1 << engine_gangs_of(k, (pod_id){leader})->number;
    return queue_where(k->queue, leader) == QUEUE_PARKED &&
           (queue_gate(k->queue, leader) || queue_rejectors(k->queue, leader) == bit);
}

/* More of the gang are there, or have been: it may be gathered. */
static void look_at_gate(struct engine *k, uint32_t group)
{
    uint32_t leader = group < k->gangs->all.n ? k->gangs->all.at[group].leader : ID_NONE;
    if (leader != ID_NONE && lacks_pods(k, leader))
        queue_activate(k->queue, k->now_ms, leader);
}

/* One more of the gang runs, whoever let it: fewer must find room. */
static void look_again(struct engine *k, uint32_t group)
{
    uint32_t leader = group < k->gangs->all.n ? k->gangs->all.at[group].leader : ID_NONE;
    if (leader != ID_NONE && queue_where(k->queue, leader) == QUEUE_PARKED)
        queue_activate(k->queue, k->now_ms, leader);
}

/* The gang has a member more, which may be older than all others, or run already. */
static void welcome(struct engine *k, uint32_t group)
{
    uint32_t leader = group < k->gangs->all.n ? k->gangs->all.at[group].leader : ID_NONE;
    if (leader == ID_NONE)
        return;
    queue_reorder(k->queue, leader);
    k->above->touched(k, leader);
    engine_set_timer(k, leader);
    look_again(k, group);
}

void engine_leave_group(struct engine *k, pod_id pod, bool has_ended)
{
    struct cluster *c = k->cluster;
    uint32_t group = groups_of(&c->groups, pod);
    uint64_t terms = terms_of(k, group);
    engine_leave(k, pod);
    engine_touch_gang(k, group);
    groups_remove(&c->groups, &c->names, pod, has_ended);
    if (group == ID_NONE)
        return;
    engine_end_counts(k, group);
    if (terms_of(k, group) != terms)
        engine_regroup(k, group);
}

bool engine_set_group(struct engine *k, pod_id pod, const struct pod *from)
{
    struct cluster *c = k->cluster;
    struct gang_identity identity;
    bool names_one = gang_identity_by(from, rules_of(k, pod), &identity);
    uint32_t was = groups_of(&c->groups, pod);
    if (LIKELY(!names_one && was == ID_NONE))
        return false;
    struct group_claim claim = {
        .identity = names_one ? &identity : NULL,
        .namespace = pods_shape(&c->pods, pod)->namespace,
        .owner = owner_of(from),
    };
    bool moves = !groups_has(&c->groups, &c->names, pod, &claim);
    if (moves) /* wherever it stands now, it stands there no more */
        engine_leave_group(k, pod, false);
    uint64_t terms = terms_of(k, names_one ? groups_find(&c->groups, &c->names, &claim) : ID_NONE);
    uint32_t is = groups_put(&c->groups, &c->names, pod, &claim);
    bool has_model = names_one && (identity.object == KIND_WORKLOAD ||
                                   identity.object == KIND_LEADER_WORKER_SET);
    if (has_model || (names_one && kind_is_owner(identity.object) && identity.minimum == 0))
        engine_want_kind(k, identity.object);
    if (k->config.publishes && is != ID_NONE)
        note_owner(k, is, claim.owner, from);
    if (moves)
        engine_touch_gang(k, is);
    if (terms_of(k, is) != terms)
        engine_regroup(k, is);
    else if (moves)
        welcome(k, is);
    return moves;
}

/* Groups whose numbers another's object says are as that is now. */
static void let_replicas_follow(struct engine *k)
{
    struct groups *groups = &k->cluster->groups;
    for (uint32_t i = 0; i < groups->at.n; i++) {
        if (groups->at.at[i].members.n == 0 || groups->at.at[i].model == SYM_NONE ||
            !groups_follow(groups, i))
            continue;
        k->above->resized(k, i);
        engine_regroup(k, i);
    }
}

uint32_t engine_put_group(struct engine *k, const struct object *o, bool is_there)
{
    struct cluster *c = k->cluster;
    struct pod_group says;
    bool differs, asks = is_there && pod_group_of(o, &k->mem, &says);
    enum kind kind = o->kind == KIND_POD_GROUP_ALPHA2 ? KIND_POD_GROUP : o->kind;
    bool is_heard = asks || (is_there && groups_are_named(&c->groups, &c->names, kind, o->meta));
    uint32_t group =
        groups_put_object(&c->groups, &c->names, kind, o->meta, is_heard ? &says : NULL, &differs);
    arena_reset(&k->mem);
    if (group == ID_NONE)
        return ID_NONE;
    struct gang *gang = gang_at(k, group);
    if (!is_there) {
        published_status_done(&gang->published);
        gang->attempts = 0;
        gang->standing = GANG_UNTRIED;
        engine_end_counts(k, group);
    } else if (k->config.publishes && !kind_is_owner(o->kind)) {
        published_status_see(&gang->published, o, false);
        engine_touch_gang(k, group);
    }
    if (is_there && o->kind == KIND_LEADER_WORKER_SET)
        engine_put_workers(gang, o);
    if (differs)
        k->above->resized(k, group);
    if (differs)
        engine_regroup(k, group);
    else
        look_at_gate(k, group);
    if (differs && o->kind == KIND_LEADER_WORKER_SET)
        let_replicas_follow(k);
    return group;
}

/* Is it a group of this Workload, and no replica of one? */
static bool is_part_of(const struct engine *k, const struct group *g, const struct meta *workload)
{
    if (g->object != KIND_WORKLOAD || g->model != SYM_NONE || !g->has_object)
        return false;
    struct str name = names_text(&k->cluster->names, g->name);
    return str_equal(names_text(&k->cluster->names, g->namespace), workload->namespace) &&
           name.n > workload->name.n && name.p[workload->name.n] == '/' &&
           str_starts(name, workload->name);
}

static void set_part(struct engine *k, struct meta meta, const struct pod_group *says)
{
    struct cluster *c = k->cluster;
    bool differs;
    uint32_t group = groups_put_object(&c->groups, &c->names, KIND_WORKLOAD, &meta, says, &differs);
    if (group != ID_NONE && differs)
        engine_regroup(k, group);
}

void engine_put_workload(struct engine *k, const struct object *o, bool is_there)
{
    struct groups *groups = &k->cluster->groups;
    struct meta meta = *o->meta;
    for (uint32_t i = 0; i < groups->at.n && !is_there; i++) {
        if (!is_part_of(k, &groups->at.at[i], o->meta))
            continue;
        meta.name = names_text(&k->cluster->names, groups->at.at[i].name);
        set_part(k, meta, NULL);
    }
    for (uint32_t i = 0; is_there && i < o->workload->groups.n; i++) {
        const struct workload_group *part = &o->workload->groups.at[i];
        struct pod_group says = {.minimum = part->minimum};
        meta.name =
            arena_printf(&k->mem, STR_FMT "/" STR_FMT, STR_ARG(o->meta->name), STR_ARG(part->name));
        set_part(k, meta, &says);
    }
    let_replicas_follow(k);
    arena_reset(&k->mem);
}

bool engine_wants(const struct engine *k, enum kind kind)
{
    return k->gangs->wanted >> kind & 1;
}

/* --- those who are missing --- */

void engine_count_in(struct engine *k, pod_id pod)
{
    uint32_t group = groups_of(&k->cluster->groups, pod);
    if (group < k->gangs->all.n && k->gangs->all.at[group].leader != pod.i)
        look_again(k, group);
}

void planner_done(struct planner *p)
{
    vec_done(&p->members);
    vec_done(&p->member_classes);
    vec_done(&p->fits);
    vec_done(&p->domains);
    vec_done(&p->domain_at);
    vec_done(&p->domain_nodes);
    vec_done(&p->sorted);
    vec_done(&p->shares);
    vec_done(&p->placements);
    vec_each(&p->domain_views, domain_view)
        domain_view_done(domain_view);
    vec_done(&p->domain_views);
    vec_done(&p->taken);
    vec_done(&p->company);
    vec_done(&p->unjudged);
    map_done(&p->domain_of);
    buf_done(&p->text);
    buf_done(&p->message);
    buf_done(&p->plan);
}

static void forget(struct gang *gang)
{
    engine_free_workers(gang->workers);
    buf_done(&gang->why);
    buf_done(&gang->tree);
    published_status_done(&gang->published);
    mem_free((char *)(uintptr_t)gang->made_by.api_version.p);
    *gang = NOBODYS_GANG;
}

void engine_tidy_gangs(struct engine *k)
{
    const struct intern *groups = &k->cluster->groups.table;
    for (uint32_t i = 0; i < k->gangs->all.n; i++)
        if (i >= groups->entries.n || !groups->entries.at[i].p)
            forget(&k->gangs->all.at[i]);
    intern_fit(groups, &k->gangs->all);
}

struct gangs *gangs_new(void)
{
    return mem_alloc(sizeof(struct gangs));
}

void engine_begin_gangs(struct engine *k)
{
    k->gangs->kubeflow = false;
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++) {
        const struct profile_plugin *gangs = profile_gangs(&k->config.rules.profiles[i]);
        const struct coscheduling_args *args = gangs ? gangs->args : NULL;
        k->gangs->kubeflow |= args && args->gangs_kubeflow;
    }
}

void engine_gangs_done(struct engine *k)
{
    vec_each(&k->gangs->all, gang)
        forget(gang);
    vec_done(&k->gangs->all);
    vec_done(&k->gangs->rooms);
    mem_free(k->gangs);
}
