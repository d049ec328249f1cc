/* What a gang that is not placed is told, and how it waits from then on. Every pod of it hears the
 * gang's reason, in the words of the gang, and hears it once: a gang that is refused again for the
 * same reason says nothing new. */

#include "core/base/hash.h"
#include "core/engine/step/cause.h"
#include "core/engine/step/step.h"

/* --- what is short --- */

struct shortage {
    const struct engine *k;
    const struct planner *planner;
    const struct member_class *member_class;
    resource_id resource;
    int64_t amount;
    uint64_t room; /* for this resource alone */
};

static int64_t free_of(const struct cluster *c, node_id node, resource_id resource)
{
    const struct room *room = &c->nodes.room[node.i];
    if (resource == RESOURCE_CPU)
        return wrap_sub(room->cpu_alloc, room->cpu_used);
    if (resource == RESOURCE_MEMORY)
        return wrap_sub(room->memory_alloc, room->memory_used);
    const struct cell *cell = nodes_cell(&c->nodes, node, resource);
    return cell ? wrap_sub(cell->alloc, cell->used) : 0;
}

/* Of the resources that a pod needs, the one that the fewest pods would find. */
static void look_for_shortage(void *ctx, resource_id resource, int64_t amount)
{
    struct shortage *s = ctx;
    const struct cluster *c = s->k->cluster;
    uint64_t room = 0;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        int64_t free = free_of(c, (node_id){i}, resource);
        if (nodes_is_present(&c->nodes, (node_id){i}) && free > 0)
            room += (uint64_t)(free / amount);
    }
    if (room < s->room) {
        s->room = room;
        s->resource = resource;
        s->amount = amount;
    }
}

/* The class that lacks the most room. */
static const struct member_class *worst_class(const struct planner *p)
{
    const struct member_class *worst = NULL;
    uint64_t most = 0;
    vec_each(&p->member_classes, member_class) {
        uint64_t lack = member_class->n - MIN(member_class->room, (uint64_t)member_class->n);
        if (lack > most)
            worst = member_class;
        most = MAX(most, lack);
    }
    return worst;
}

/* What all classes together ask for beyond what is free. */
static int64_t joint_lack(const struct engine *k, const struct planner *p, resource_id resource)
{
    const struct cluster *c = k->cluster;
    int64_t lack = 0;
    vec_each(&p->member_classes, member_class) {
        const struct pod_request *ask = &specs_at(&c->specs, member_class->class->spec)->ask;
        lack = wrap_add(lack, wrap_mul(request_amount(ask, resource), (int64_t)member_class->n));
    }
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}))
            lack = wrap_sub(lack, MAX(free_of(c, (node_id){i}, resource), (int64_t)0));
    return lack;
}

/* The first resource of which there is too little for all. */
static void look_for_joint_lack(void *ctx, resource_id resource, int64_t amount)
{
    struct shortage *s = ctx;
    (void)amount;
    if (s->amount > 0)
        return;
    s->resource = resource;
    s->amount = joint_lack(s->k, s->planner, resource);
}

static void add_joint_shortage(const struct engine *k, const struct planner *p,
                               const struct member_class *member_class, struct buf *out)
{
    struct shortage s = {.k = k, .planner = p, .member_class = member_class};
    engine_each_need(k, member_class->class->spec, look_for_joint_lack, &s);
    if (s.amount <= 0)
        return; /* it is there, but not where the pods need it */
    buf_add(out, STR("; short of "));
    engine_word_amount(k, s.resource, s.amount, out);
}

static void add_shortage(const struct engine *k, const struct planner *p, struct buf *out)
{
    const struct member_class *member_class = worst_class(p);
    if (member_class && p->member_classes.n > 1)
        add_joint_shortage(k, p, member_class, out);
    if (!member_class || p->member_classes.n > 1)
        return;
    uint64_t want = p->need;
    struct shortage s = {.k = k, .member_class = member_class, .room = UINT64_MAX};
    engine_each_need(k, member_class->class->spec, look_for_shortage, &s);
    if (s.room >= want)
        return; /* the nodes that have it are out for other reasons */
    buf_add(out, STR("; short of "));
    engine_word_amount(k, s.resource, wrap_mul((int64_t)(want - s.room), s.amount), out);
}

static void add_room(struct engine *k, struct planner *p, struct buf *out)
{
    uint64_t fit = p->member_classes.n == 1
                       ? MIN(p->member_classes.at[0].room, (uint64_t)p->member_classes.at[0].n)
                       : engine_joint_room(k, p);
    buf_printf(out, "; %llu fit now", (unsigned long long)fit);
    add_shortage(k, p, out);
}

/* What kube-scheduler would tell the pods that lack most. */
static void add_histogram(struct engine *k, struct planner *p, const struct cause *x,
                          struct buf *out)
{
    const struct member_class *member_class = &p->member_classes.at[x->member_class];
    struct verdict v =
        engine_decide(k, (pod_id){p->members.at[member_class->first].pod}, member_class->class);
    if (v.node != ID_NONE || v.error)
        return;
    buf_add(out, STR(". "));
    why_text(v.why, &k->classes.reasons, member_class->class, out);
}

/* The gang has what it needs but for room: how much is free, and what is short. */
static void word_room(struct engine *k, struct planner *p, uint32_t group, enum gang_outcome why,
                      struct buf *out)
{
    struct str name = names_text(&k->cluster->names, k->cluster->groups.at.at[group].name);
    buf_printf(out, "gang " STR_FMT " needs ", STR_ARG(name));
    engine_word_needs(k, p, out);
    if (why == GANG_HOPELESS)
        add_room(k, p, out);
    else
        buf_add(out, STR(" at once: "));
    if (why != GANG_HOPELESS) /* a domain without room is not even tried */
        buf_add(out, p->text.n ? buf_str(&p->text) : STR("no domain has room."));
}

static void word_rest(const struct engine *k, const struct planner *p, uint32_t group,
                      enum gang_outcome why, struct buf *out)
{
    struct str name = names_text(&k->cluster->names, k->cluster->groups.at.at[group].name);
    if (why == GANG_HOPELESS)
        buf_printf(out, "no room for more pods of gang " STR_FMT, STR_ARG(name));
    else
        buf_add(out, p->text.n ? buf_str(&p->text) : STR("no domain has room."));
}

/* The cause first; what else was found out follows as a sentence of its own. */
static void word_cause(struct engine *k, struct planner *p, uint32_t group, enum gang_outcome why,
                       struct buf *out)
{
    struct cause x = engine_find_cause(k, p, group, why);
    if ((x.rule == CAUSE_ROOM && !x.ask) || x.rule == CAUSE_SEARCH) {
        word_room(k, p, group, why, out);
        return;
    }
    if (x.rule == CAUSE_SUM && why == GANG_HOPELESS) {
        word_room(k, p, group, why, out);
        buf_printf(out, "; the nodes hold %llu, even when empty", (unsigned long long)x.have);
        return;
    }
    engine_word_cause(k, p, &x, out);
    if (why == GANG_REFUSED && p->text.n)
        buf_printf(out, ". " STR_FMT, STR_ARG(buf_str(&p->text)));
    else if (x.rule != CAUSE_ROOM && x.rule != CAUSE_HELD)
        add_histogram(k, p, &x, out);
}

void engine_word_gang(struct engine *k, struct planner *p, uint32_t group, enum gang_outcome why,
                      struct buf *out)
{
    buf_clear(out);
    if (why == GANG_MISSING)
        engine_word_missing(k, group, out);
    else if (why == GANG_BEHIND)
        engine_add_behind(k, engine_leader_of(k, group), out);
    else if (why == GANG_REST || p->need == 0)
        word_rest(k, p, group, why, out);
    else
        word_cause(k, p, group, why, out);
}

/* Pods that must go are the cause, if going helps; then what it is without that. */
static void word_plan(struct engine *k, struct planner *p, uint32_t group, enum gang_outcome why)
{
    struct buf *out = &p->message;
    engine_word_gang(k, p, group, why, out);
    if (p->victims) {
        AUTO(buf) rest = {0};
        buf_add(&rest, buf_str(out));
        buf_clear(out);
        engine_word_way(p->victims, STR("its nodes"), out);
        buf_printf(out, ". " STR_FMT, STR_ARG(buf_str(&rest)));
    }
    bool is_sentence = out->n && out->p[out->n - 1] == '.';
    if (p->plan.n)
        buf_printf(out, "%spreemption: " STR_FMT, is_sentence ? " " : "; ",
                   STR_ARG(buf_str(&p->plan)));
}

/* --- telling --- */

static uint32_t hash_of(struct str text)
{
    uint32_t hash = (uint32_t)str_hash(text);
    return hash ? hash : 1;
}

static void tell(struct engine *k, pod_id pod, enum effect_kind kind, struct str text,
                 uint64_t plugins, struct effects *out)
{
    struct unit *unit = &k->units.at[pod.i];
    if (unit->told == hash_of(text))
        return;
    unit->told = hash_of(text);
    struct effect *effect = engine_emit(k, pod, kind, out);
    effect->message = arena_str(&out->mem, text);
    effect->rejected_by = plugins;
}

void engine_tell_unjudged(struct engine *k, pod_id pod, struct str error, struct effects *out)
{
    tell(k, pod, EFFECT_FAIL, error, 0, out);
    k->figures->stats.failed++;
}

static uint64_t bit_of_gangs(const struct engine *k, pod_id pod)
{
    return (uint64_t)1 << engine_gangs_of(k, pod)->number;
}

void engine_tell_missing(struct engine *k, struct planner *p, uint32_t unit, struct effects *out)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct buf *text = &p->message;
    engine_want_idlers(k, group);
    engine_word_gang(k, p, group, GANG_MISSING, text);
    engine_note_gang(k, group, GANG_WAITED_IN_VAIN, buf_str(text));
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        pod_id pod = {*i};
        if (!engine_is_ready(k, pod))
            continue;
        k->units.at[*i].profile =
            (uint8_t)k->figures->counts.of.at[engine_profile_of(k, pod) - k->config.rules.profiles];
        k->figures->counts.profiles.at[k->units.at[*i].profile].unschedulable++;
        engine_count_refused(k, pod, bit_of_gangs(k, pod));
        tell(k, pod, EFFECT_REFUSE, buf_str(text), bit_of_gangs(k, pod), out);
    }
}

/* Whoever may end a refusal for want of room. */
static uint64_t bit_of_room(const struct engine *k, pod_id pod)
{
    const struct profile *profile = engine_profile_of(k, pod);
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->about == ABOUT_ROOM)
            return (uint64_t)1 << profile->plugins[i].number;
    return 0;
}

/* Who may end the wait: not only those that refused a member when all others had their nodes, but
 * whoever keeps a member off any node. */
static uint64_t plugins_of(struct engine *k, struct planner *p, uint32_t unit,
                           enum gang_outcome why)
{
    pod_id pod = {unit};
    if (why == GANG_BEHIND)
        return engine_line_of(k, unit)->bit;
    if (why == GANG_MISSING)
        return bit_of_gangs(k, pod);
    uint64_t plugins = p->also | bit_of_room(k, pod) | engine_barred_by(k, p);
    plugins |= why == GANG_HOPELESS ? 0 : p->refused_by;
    return plugins | (p->required != SYM_NONE ? bit_of_gangs(k, pod) : 0);
}

void engine_refuse_gang(struct engine *k, struct planner *p, uint32_t unit, enum gang_outcome why,
                        struct effects *out)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    uint64_t plugins = plugins_of(k, p, unit, why);
    bool is_judged = plugins && k->cluster->nodes.present;
    bool stays = is_judged && why != GANG_MISSING && engine_line_of(k, unit);
    bool is_news = !stays || engine_stays_in_line(k, unit, why == GANG_BEHIND ? 0 : plugins);
    if (why == GANG_HOPELESS || why == GANG_REFUSED)
        word_plan(k, p, group, why);
    else
        engine_word_gang(k, p, group, why, &p->message);
    vec_each(&p->members, member) {
        if (!is_news || (member->node != ID_NONE && why == GANG_REST) ||
            engine_is_slot(k, member->pod))
            continue;
        k->figures->stats.refused++;
        k->figures->counts.profiles.at[k->units.at[member->pod].profile].unschedulable++;
        engine_count_refused(k, (pod_id){member->pod}, plugins);
        tell(k, (pod_id){member->pod}, EFFECT_REFUSE, buf_str(&p->message), plugins, out);
    }
    if (why != GANG_REST)
        engine_note_gang(k, group, why == GANG_MISSING ? GANG_LACKS_PODS : GANG_LACKS_ROOM,
                         buf_str(&p->message));
    engine_note_gang_refusal(k, p, group, why == GANG_HOPELESS);
    if (stays)
        return;
    if (!is_judged) {
        engine_try_later(k, unit);
        return;
    }
    engine_leave_line(k, unit);
    queue_refuse(k->queue, k->now_ms, unit, plugins, 0);
    if (why == GANG_MISSING && !engine_is_gathered(k, group))
        queue_activate(k->queue, k->now_ms, unit); /* as far as its gate, which it had passed */
}

void engine_fail_gang(struct engine *k, uint32_t unit, struct str text, bool may_pass,
                      struct effects *out)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    engine_note_gang(k, group, GANG_UNJUDGED, text);
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        pod_id pod = {*i};
        if (!engine_is_ready(k, pod))
            continue;
        k->units.at[*i].profile =
            (uint8_t)k->figures->counts.of.at[engine_profile_of(k, pod) - k->config.rules.profiles];
        k->figures->counts.profiles.at[k->units.at[*i].profile].error++;
        engine_tell_unjudged(k, pod, text, out);
    }
    engine_leave_line(k, unit);
    if (may_pass)
        queue_fail(k->queue, k->now_ms, unit);
    else
        queue_refuse(k->queue, k->now_ms, unit, UNSUPPORTED_BIT, 0);
}
