#include "core/base/hash.h"
#include "core/engine/preemption/preemption.h"

#include "core/engine/preemption/preemption.h"
#include "core/framework/row.h"

/* --- rules --- */

static const struct profile_plugin *preempting_plugin(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->evicts &&
            !(profile->plugins[i].off & PROFILE_NO_POST_FILTER))
            return &profile->plugins[i];
    return NULL;
}

bool engine_eviction_rules(const struct profile *profile, bool alone, struct eviction_args *out)
{
    const struct profile_plugin *own = preempting_plugin(profile);
    *out = own && own->args ? *(const struct eviction_args *)own->args : eviction_defaults;
    if (own)
        return true;
    return !alone && profile_gangs(profile) && engine_preemption(profile);
}

/* A unit that stands in a queue evicts by rules in any case: the queues' come first in them. */
static bool rules_for(const struct engine *k, uint32_t unit, bool alone,
                      const struct profile *profile, struct eviction_args *out)
{
    bool has = engine_eviction_rules(profile, alone, out);
    return has || (engine_is_queued(k, unit) && engine_preemption(profile));
}

bool engine_evicts_by_rules(struct engine *k, pod_id pod, struct class *class)
{
    if (engine_is_queued(k, pod.i))
        return true;
    struct preemptor e = {.unit = pod.i, .group = ID_NONE, .profile = class->profile};
    if (!engine_eviction_rules(class->profile, true, &e.rules))
        return false;
    if (preempting_plugin(class->profile)->args)
        return true;
    e.importance = (struct importance){class->identity.tier,
                                       specs_at(&k->cluster->specs, class->spec)->priority};
    why_clear(&k->preemption->why); /* nobody hears it */
    return preempt_choose(&k->preemption->price_caches, k->cluster, &k->classes, class, pod,
                          &k->preemption->why) != ID_NONE &&
           !victim_groups_are_plain(k, &e);
}

/* The lowest importance among those who are to be seated, and whether all of them may evict. */
static bool find_importance(const struct engine *k, const struct planner *p, struct importance *out)
{
    bool may = true;
    *out = (struct importance){N_TIERS, INT32_MAX};
    vec_each(&p->member_classes, member_class) {
        const struct spec *spec = specs_at(&k->cluster->specs, member_class->class->spec);
        if (engine_is_slot(k, p->members.at[member_class->first].pod))
            continue; /* those to come are as important as those who are there */
        out->tier = MIN(out->tier, member_class->class->identity.tier);
        out->priority = MIN(out->priority, spec->priority);
        may = may && spec->preempts;
    }
    return may;
}

/* --- a trial --- */

static void take_off(struct cluster *c, pod_id pod)
{
    if (pods_at(&c->pods, pod)->node != ID_NONE)
        cluster_take(c, pod);
}

/* Its gang goes on, and has a claim to the room (keep.c). By what stands in the log alone: others
 * remember what comes of it. */
static bool is_missed(const struct engine *k, pod_id pod)
{
    uint32_t group = engine_gang_of(k, pod);
    uint32_t sent_away = POD_PREEMPTED | POD_EVICTED;
    return group != ID_NONE && !(pods_at(&k->cluster->pods, pod)->flags & sent_away) &&
           engine_presence(k, group).running > 0;
}

/* Those who are leaving anyway: their room is free soon. */
static void find_leaving(struct engine *k)
{
    const struct cluster *c = k->cluster;
    vec_clear(&k->preemption->preemption_search.leaving);
    for (uint32_t i = 0; i < c->nodes.n; i++)
        for (uint32_t pod = c->nodes.first_pod[i]; pod != ID_NONE; pod = c->pods.rows.at[pod].after)
            if (c->pods.rows.at[pod].flags & POD_GOING && !is_missed(k, (pod_id){pod}))
                vec_push(&k->preemption->preemption_search.leaving, (pod_id){pod});
}

static void clear_room(struct engine *k)
{
    const struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    vec_each(&k->preemption->preemption_search.leaving, pod)
        take_off(k->cluster, *pod);
    for (uint32_t i = 0; i < p->n_looked_at; i++) {
        const struct victim_group *victim_group = &p->at.at[i];
        for (uint32_t pod = 0; pod < victim_group->n && victim_group->is_out; pod++)
            take_off(k->cluster, p->pods.at[victim_group->first + pod]);
    }
}

/* Would this member be let in where it is placed? */
static bool may_stay(struct engine *k, struct planner *p, const struct gang_member *member)
{
    struct cluster *c = k->cluster;
    pod_id pod = {member->pod};
    const struct class *class = p->member_classes.at[member->order].class;
    struct txn t = txn_begin(c);
    cluster_take(c, pod);
    bool may = !row_verdict(c, class, (node_id){member->node}, pod);
    txn_undo(c, t);
    return may;
}

static bool concerns(const struct engine *k, const struct planner *p,
                     const struct victim_group *victim_group, const struct gang_member *member)
{
    if (p->member_classes.at[member->order].class->has_key_filter)
        return true; /* a pod elsewhere may matter */
    for (uint32_t i = 0; i < victim_group->n; i++)
        if (k->preemption->preemption_search.home.at[victim_group->first + i] == member->node)
            return true;
    return false;
}

/* Does the unit keep its nodes if the victim group comes back? If so, it has. */
static bool bring_back(struct engine *k, struct planner *planner, const struct preemptor *e,
                       struct victim_group *victim_group)
{
    struct cluster *c = k->cluster;
    const struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    struct txn t = txn_begin(c);
    for (uint32_t i = 0; i < victim_group->n; i++) {
        pod_id pod = p->pods.at[victim_group->first + i];
        cluster_place_on_gpus(
            c, pod, (node_id){k->preemption->preemption_search.home.at[victim_group->first + i]},
            k->preemption->preemption_search.gpus.at[victim_group->first + i]);
    }
    bool stay = true;
    vec_each(&planner->members, member)
        stay = stay && (member->node == ID_NONE || !concerns(k, planner, victim_group, member) ||
                        may_stay(k, planner, member));
    stay = stay && reclaim_admits(k, e->unit, planner);
    if (stay)
        txn_commit(c, t);
    else
        txn_undo(c, t);
    victim_group->is_out = !stay;
    return stay;
}

/* With the unit on its nodes: those whose budgets would be violated first, then the dearest. */
static void reprieve(struct engine *k, struct planner *planner, const struct preemptor *e)
{
    struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    for (uint32_t i = p->n_looked_at; i-- > 0;)
        if (victim_group_may_return(p, &p->at.at[i]))
            bring_back(k, planner, e, &p->at.at[i]);
    for (uint32_t i = p->n_looked_at; i-- > 0;) /* whose gang came back behind it in the order */
        if (victim_group_may_return(p, &p->at.at[i]) && p->at.at[i].is_surplus)
            bring_back(k, planner, e, &p->at.at[i]);
}

static void note_places(struct engine *k, struct planner *p)
{
    struct eviction_plan *plan = &k->preemption->preemption_search.other;
    vec_clear(&plan->places);
    vec_each(&p->members, member)
        if (member->node != ID_NONE && !engine_is_slot(k, member->pod))
            vec_push(&plan->places, (struct eviction_place){member->pod, member->node});
}

/* Can the unit be placed with those away who are out? If so, and `brings_back`, whoever need not be
 * out is not any more, and the nodes are noted. Leaves no trace. */
static bool attempt(struct engine *k, struct planner *p, const struct preemptor *e,
                    bool brings_back)
{
    struct txn t = txn_begin(k->cluster);
    clear_room(k);
    bool is_placed = reclaim_admits(k, e->unit, NULL) && engine_try_members(k, p, e->group);
    if (is_placed && brings_back) {
        reprieve(k, p, e);
        note_places(k, p);
    }
    txn_undo(k->cluster, t);
    vec_each(&p->members, member)
        engine_give_up(k, (pod_id){member->pod});
    arena_reset(&k->preemption->preemption_search.prebind_tasks);
    return is_placed;
}

/* --- a plan --- */

/* The least number of candidates, in their order, with which the unit can be placed. */
static uint32_t least_number(struct engine *k, struct planner *planner, const struct preemptor *e,
                             uint32_t all)
{
    struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    uint32_t no = 0, yes = 1;
    for (; yes < all; no = yes, yes *= 2) {
        victim_groups_take(p, yes);
        if (attempt(k, planner, e, false))
            break;
    }
    yes = MIN(yes, all);
    while (yes - no > 1) {
        uint32_t middle = no + (yes - no) / 2;
        victim_groups_take(p, middle);
        if (attempt(k, planner, e, false))
            yes = middle;
        else
            no = middle;
    }
    return yes;
}

/* So often victim groups may come back in a search: less often where each time costs much. */
static uint32_t most_returns(const struct victim_groups *p, const struct planner *planner)
{
    uint32_t each = planner->members.n;
    for (uint32_t i = 0; i < p->n_looked_at; i++)
        each += p->at.at[i].is_out ? p->at.at[i].n : 0;
    return MIN((uint32_t)MOST_RETURNS, MOST_RETURN_WORK / MAX(each, 1u));
}

/* Each that is out comes back, and the unit is placed anew: until that works for none. */
static void return_needless(struct engine *k, struct planner *planner, const struct preemptor *e)
{
    struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    uint32_t most = most_returns(p, planner);
    bool is_less = true;
    while (is_less) {
        is_less = false;
        for (uint32_t i = p->n_looked_at;
             i-- > 0 && k->preemption->preemption_search.returns < most;) {
            if (!victim_group_may_return(p, &p->at.at[i]))
                continue;
            p->at.at[i].is_out = false;
            k->preemption->preemption_search.returns++;
            if (attempt(k, planner, e, true))
                is_less = true;
            else
                p->at.at[i].is_out = true;
        }
    }
}

static void note_victims(struct engine *k)
{
    struct eviction_plan *plan = &k->preemption->preemption_search.other;
    const struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    vec_clear(&plan->victims);
    plan->cost = (struct eviction_cost){.importance = {TIER_NONE, INT32_MIN},
                                        .is_by_queues = p->is_by_queues};
    for (const struct victim_group *victim_group = p->at.at;
         victim_group < p->at.at + p->n_looked_at; victim_group++) {
        if (!victim_group->is_out)
            continue;
        struct eviction_cost *cost = &plan->cost;
        cost->violations += victim_group->is_protected;
        cost->importance.tier = MAX(cost->importance.tier, victim_group->importance.tier);
        cost->importance.priority =
            MAX(cost->importance.priority, victim_group->importance.priority);
        cost->worth = MAX(cost->worth, victim_group->worth);
        bool is_slot = engine_is_slot(k, p->pods.at[victim_group->first].i);
        cost->victim_groups += !is_slot;
        cost->pods += is_slot ? 0 : victim_group->n;
        cost->lost_ms = wrap_add(cost->lost_ms, victim_group->lost_ms);
        for (uint32_t i = 0; i < victim_group->n; i++) {
            pod_id pod = p->pods.at[victim_group->first + i];
            struct victim_note note = {
                .pod = pod,
                .node = pods_at(&k->cluster->pods, pod)->node,
                .group = victim_group->group,
                .is_surplus = victim_group->is_surplus,
                .is_protected = victim_group->is_protected,
                .importance = victim_group->importance,
                .worth = victim_group->worth,
                .lost_ms = engine_work_lost_ms(k, pod),
                .by = victim_group->by,
            };
            vec_push(&plan->victims, note);
        }
    }
}

static bool costs_less(const struct eviction_cost *a, const struct eviction_cost *b)
{
    if (a->violations != b->violations)
        return a->violations < b->violations;
    if (a->is_by_queues && a->lost_ms != b->lost_ms)
        return a->lost_ms < b->lost_ms;
    if (!a->is_by_queues && a->importance.tier != b->importance.tier)
        return a->importance.tier < b->importance.tier;
    if (!a->is_by_queues && a->importance.priority != b->importance.priority)
        return a->importance.priority < b->importance.priority;
    if (!a->is_by_queues && a->worth != b->worth)
        return a->worth < b->worth;
    if (a->victim_groups != b->victim_groups)
        return a->victim_groups < b->victim_groups;
    if (a->pods != b->pods)
        return a->pods < b->pods;
    return a->lost_ms < b->lost_ms;
}

/* Does the unit fit once the first `n` are out? */
static bool would_do(struct engine *k, struct planner *planner, const struct preemptor *e,
                     uint32_t n)
{
    victim_groups_take(&k->preemption->preemption_search.victim_groups, n);
    return n && attempt(k, planner, e, false);
}

/* The plan that comes of one order, in preemption_search.other. */
static enum eviction_outcome plan_by(struct engine *k, struct planner *planner,
                                     const struct preemptor *e, enum victim_order order)
{
    struct victim_groups *p = &k->preemption->preemption_search.victim_groups;
    victim_groups_sort(k, e, order, p);
    uint32_t most = MIN(p->at.n, (uint32_t)MOST_VICTIM_GROUPS), all = most;
    while (e->rules.keeps_budgets && all && p->at.at[all - 1].is_protected)
        all--;
    if (!would_do(k, planner, e, all))
        return all < most && k->preemption->preemption_search.overdrawn != ID_NONE &&
                       would_do(k, planner, e, most)
                   ? EVICTION_KEPT
                   : EVICTION_USELESS;
    victim_groups_take(p, least_number(k, planner, e, all));
    bool is_placed = attempt(k, planner, e, true);
    assert(is_placed);
    return_needless(k, planner, e);
    note_victims(k);
    reclaim_check(k);
    return k->preemption->preemption_search.other.cost.pods > e->rules.most_victims
               ? EVICTION_TOO_MANY
               : EVICTION_FOUND;
}

void eviction_plan_take(struct eviction_plan *out, struct eviction_plan *other)
{
    struct victim_vec victims = out->victims;
    struct place_vec places = out->places;
    out->victims = other->victims;
    out->places = other->places;
    out->cost = other->cost;
    other->victims = victims;
    other->places = places;
}

static enum eviction_outcome plan_in_all_orders(struct engine *k, struct planner *planner,
                                                const struct preemptor *e,
                                                struct eviction_plan *out)
{
    enum eviction_outcome best = EVICTION_USELESS;
    struct eviction_plan *other = &k->preemption->preemption_search.other;
    bool are_many = k->preemption->preemption_search.victim_groups.at.n > MOST_VICTIM_GROUPS;
    for (enum victim_order order = ORDER_BY_LOSS; order <= ORDER_WHOLE_NODES; order++) {
        if (order == ORDER_WHOLE_NODES && (best != EVICTION_USELESS || !are_many))
            break;
        enum eviction_outcome outcome = plan_by(k, planner, e, order);
        bool is_better =
            outcome > best || (outcome == EVICTION_FOUND && costs_less(&other->cost, &out->cost));
        if (!is_better)
            continue;
        eviction_plan_take(out, other);
        best = outcome;
    }
    return best;
}

/* Where candidates are, and on which GPUs: they are to come back. */
static void note_homes(struct engine *k)
{
    struct preemption_search *x = &k->preemption->preemption_search;
    vec_clear(&x->home);
    vec_clear(&x->gpus);
    vec_each(&x->victim_groups.pods, pod) {
        vec_push(&x->home, pods_at(&k->cluster->pods, *pod)->node);
        vec_push(&x->gpus, pods_at(&k->cluster->pods, *pod)->gpus);
    }
}

/* The units of one class that are alike to a search: of one kind of pods, none of which runs or is
 * nominated. */
static bool is_one_of_many(const struct engine *k, const struct planner *p,
                           const struct preemptor *e)
{
    vec_each(&p->members, member)
        if (member->is_nominated)
            return false;
    return p->member_classes.n == 1 &&
           (e->group == ID_NONE || engine_presence(k, e->group).running == 0);
}

static uint64_t vain_key(const struct engine *k, const struct planner *p)
{
    return hash_pair(p->member_classes.at[0].class->place + 1,
                     k->preemption->preemption_search.reclaim.request.queue);
}

/* No eviction is of use while nothing changes: that holds for all that are alike and not fewer. */
static bool is_known_useless(const struct engine *k, const struct planner *p,
                             const struct preemptor *e)
{
    const struct preemption *x = k->preemption;
    uint64_t at = k->cluster->log.end + 1;
    if (x->preemption_search.reclaim.is_on) {
        uint32_t from = map_find(&x->vain.from, vain_key(k, p));
        return x->vain.at == at && x->vain.epoch == fair_epoch(k->shares->tree) &&
               from != MAP_NONE && from <= p->need && is_one_of_many(k, p, e);
    }
    const struct useless *known = class_row_if(&x->useless, p->member_classes.at[0].class);
    return known && known->at == at && known->from <= p->need && is_one_of_many(k, p, e);
}

static void remember_vain(struct engine *k, const struct planner *p)
{
    struct preemption *x = k->preemption;
    uint64_t at = k->cluster->log.end + 1, epoch = fair_epoch(k->shares->tree);
    if (x->vain.at != at || x->vain.epoch != epoch)
        map_clear(&x->vain.from);
    x->vain.at = at;
    x->vain.epoch = epoch;
    map_put(&x->vain.from, vain_key(k, p), p->need);
}

static void remember_useless(struct engine *k, struct planner *p, const struct preemptor *e)
{
    if (!is_one_of_many(k, p, e) || p->required != SYM_NONE ||
        k->preemption->preemption_search.victim_groups.next_candidate_ms != INT64_MAX)
        return;
    if (k->preemption->preemption_search.reclaim.is_on)
        remember_vain(k, p);
    else
        *class_row(&k->preemption->useless, p->member_classes.at[0].class) =
            (struct useless){k->cluster->log.end + 1, p->need};
}

static enum eviction_outcome search(struct engine *k, struct planner *p, struct preemptor *e,
                                    struct eviction_plan *out)
{
    struct preemption_search *x = &k->preemption->preemption_search;
    e->takes_slots_alone = !find_importance(k, p, &e->importance);
    int64_t may_ms = reclaim_begin(k, e);
    if (e->takes_slots_alone && (x->reclaim.is_on || !engine_n_slots(k)))
        return EVICTION_NEVER;
    if (may_ms) {
        x->victim_groups.next_candidate_ms = may_ms;
        return EVICTION_NONE;
    }
    x->returns = 0;
    out->importance = e->importance;
    if (is_known_useless(k, p, e))
        return EVICTION_USELESS;
    find_leaving(k);
    if (x->reclaim.is_on)
        reclaim_find(k, e, &x->victim_groups);
    else
        victim_groups_find(k, p, e, &x->victim_groups);
    if (x->leaving.n && attempt(k, p, e, false))
        return EVICTION_WAITS;
    if (x->victim_groups.at.n == 0) {
        if (x->reclaim.is_on)
            remember_useless(k, p, e);
        return e->takes_slots_alone ? EVICTION_NEVER : EVICTION_NONE;
    }
    note_homes(k);
    enum eviction_outcome outcome = plan_in_all_orders(k, p, e, out);
    if (e->takes_slots_alone && outcome != EVICTION_FOUND)
        return EVICTION_NEVER;
    if (outcome == EVICTION_USELESS)
        remember_useless(k, p, e);
    return outcome;
}

enum eviction_outcome engine_find_eviction(struct engine *k, uint32_t unit, struct class *class,
                                           struct eviction_plan *out)
{
    struct preemptor e = {.unit = unit, .group = ID_NONE};
    if (!class)
        e.group = groups_of(&k->cluster->groups, (pod_id){unit});
    e.profile = engine_profile_of(k, (pod_id){unit});
    if (!rules_for(k, unit, class != NULL, e.profile, &e.rules))
        return out->outcome = EVICTION_NONE;
    enum eviction_outcome outcome = EVICTION_NONE;
    struct preemption_search *x = &k->preemption->preemption_search;
    struct planner *p = &k->preemption->preemption_search.planner;
    x->victim_groups.next_candidate_ms = INT64_MAX;
    p->mem = &k->preemption->preemption_search.prebind_tasks;
    p->only_asks = true; /* wishes are worth no victim */
    if (class)
        engine_list_alone(k, p, (pod_id){unit}, class);
    if (class || (engine_list_members(k, p, e.group) && p->need))
        outcome = search(k, p, &e, out);
    engine_forget_rooms_of(k, p); /* what was true in a trial is not true any more */
    arena_reset(&k->preemption->preemption_search.mem);
    out->outcome = outcome;
    if (outcome == EVICTION_FOUND) {
        out->is_firm = e.rules.tier_first;
        out->is_by_queues = x->reclaim.is_on;
        vec_each(&out->victims, victim)
            out->is_firm |= out->is_by_queues && victim->by == QUEUE_BY_R4;
        return outcome;
    }
    if (outcome == EVICTION_KEPT)
        out->keeper = x->overdrawn;
    vec_clear(&out->victims);
    vec_clear(&out->places);
    out->next_candidate_ms =
        x->victim_groups.next_candidate_ms == INT64_MAX ? 0 : x->victim_groups.next_candidate_ms;
    return outcome;
}

/* --- words --- */

/* How many of the victims from here on go as one. */
static uint32_t victim_group_of(const struct eviction_plan *plan, uint32_t from)
{
    const struct victim_note *v = &plan->victims.at[from];
    uint32_t n = 1;
    if (v->group == ID_NONE || v->is_surplus)
        return n;
    while (from + n < plan->victims.n && plan->victims.at[from + n].group == v->group &&
           !plan->victims.at[from + n].is_surplus)
        n++;
    return n;
}

/* "gang low (4 pods)", "web-1" */
static void add_victim(const struct engine *k, const struct victim_note *v, uint32_t n,
                       struct buf *out)
{
    const struct cluster *c = k->cluster;
    if (v->group != ID_NONE && !v->is_surplus)
        buf_printf(out, "gang " STR_FMT " (%u pods)",
                   STR_ARG(names_text(&c->names, c->groups.at.at[v->group].name)), n);
    else
        buf_add(out, engine_is_slot(k, v->pod.i) ? STR("room that is held")
                                                 : pod_name(pods_at(&c->pods, v->pod)));
}

/* May pods of the namespace hear its name? Room that is held is in no namespace, and has none. */
static bool may_name(const struct engine *k, const struct victim_note *v, sym reader)
{
    return engine_is_slot(k, v->pod.i) ||
           engine_may_name(k, pods_shape(&k->cluster->pods, v->pod)->namespace, reader);
}

/* "gang low (4 pods), web-1, web-2, 2 of other namespaces and 3 more" */
static void add_victims(const struct engine *k, const struct eviction_plan *plan, sym reader,
                        struct buf *out)
{
    enum { MOST_NAMES = 5 };
    uint32_t names = 0, told = 0, foreign = 0;
    for (uint32_t i = 0, n; i < plan->victims.n; i += n) {
        n = victim_group_of(plan, i);
        if (!may_name(k, &plan->victims.at[i], reader)) {
            foreign += n;
        } else if (names < MOST_NAMES) {
            buf_add(out, names++ ? STR(", ") : STR(""));
            add_victim(k, &plan->victims.at[i], n, out);
            told += n;
        }
    }
    if (foreign)
        buf_printf(out, "%s%u of other namespaces", names ? ", " : "", foreign);
    if (told + foreign < plan->victims.n)
        buf_printf(out, " and %u more", plan->victims.n - told - foreign);
}

/* The budget, by name only to those who may know it. */
static void add_keeper(const struct engine *k, const struct eviction_plan *plan, sym reader,
                       struct buf *out)
{
    const struct budget *b = &k->cluster->budgets.at.at[plan->keeper];
    buf_add(out, STR("not helpful: those who would make room are kept by "));
    if (engine_may_name(k, b->namespace, reader))
        buf_printf(out, "PodDisruptionBudget " STR_FMT ".",
                   STR_ARG(names_text(&k->cluster->names, b->name)));
    else
        buf_add(out, STR("a PodDisruptionBudget of another namespace."));
}

void engine_word_eviction(const struct engine *k, const struct eviction_plan *plan, sym reader,
                          struct buf *out)
{
    switch (plan->outcome) {
    case EVICTION_NONE:
        break;
    case EVICTION_NEVER:
        buf_add(out, STR("not eligible due to preemptionPolicy=Never."));
        break;
    case EVICTION_WAITS:
    case EVICTION_PENDING:
        buf_add(out, STR("waits for pods that are leaving."));
        break;
    case EVICTION_USELESS:
        buf_add(out, STR("not helpful: no room even without all less important pods."));
        break;
    case EVICTION_KEPT:
        add_keeper(k, plan, reader, out);
        break;
    case EVICTION_TOO_MANY:
        buf_add(out, STR("more pods would have to go than maxVictims allows."));
        break;
    case EVICTION_FOUND:
        if (plan->victims.n == 0) {
            buf_add(out, STR("found a placement that needs no victims."));
            break;
        }
        buf_printf(out, "preempting %u victims: ", plan->victims.n);
        add_victims(k, plan, reader, out);
        break;
    }
}

void eviction_plan_done(struct eviction_plan *p)
{
    vec_done(&p->victims);
    vec_done(&p->places);
}

static void preemption_search_done(struct preemption_search *e)
{
    victim_groups_done(&e->victim_groups);
    planner_done(&e->planner);
    vec_done(&e->leaving);
    vec_done(&e->home);
    vec_done(&e->reclaim.pieces);
    vec_done(&e->gpus);
    eviction_plan_done(&e->other);
    arena_done(&e->mem);
    arena_done(&e->prebind_tasks);
}

struct preemption *preemption_new(void)
{
    return mem_alloc(sizeof(struct preemption));
}

void preemption_free(struct preemption *p)
{
    price_caches_done(&p->price_caches);
    why_done(&p->why);
    preemption_search_done(&p->preemption_search);
    vec_done(&p->evictions);
    vec_done(&p->refusals);
    vec_done(&p->useless);
    map_done(&p->vain.from);
    vec_done(&p->preemption_waits);
    mem_free(p);
}
