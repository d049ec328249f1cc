/* A unit that its queue keeps out, whatever room there is: it is told, and stays in line. Some of
 * what keeps it out may be taken back from others. */

#include <stdlib.h>

#include "core/base/hash.h"
#include "core/engine/step/step.h"

/* Is it worth looking for somebody to evict? */
static bool may_make_room(const struct fair_refusal *why)
{
    return why->rule == FAIR_A2 || why->rule == FAIR_A3 || why->rule == FAIR_A4 ||
           why->rule == FAIR_A6;
}

static void tell(struct engine *k, pod_id pod, struct str text, struct effects *out)
{
    struct effect *effect = engine_emit(k, pod, EFFECT_REFUSE, out);
    effect->message = arena_str(&out->mem, text);
    effect->rejected_by = k->shares->bit;
    effect->is_queued = true;
    k->figures->stats.refused++;
    k->figures->counts.profiles.at[k->units.at[pod.i].profile].unschedulable++;
    engine_count_refused(k, pod, effect->rejected_by);
}

static void tell_all(struct engine *k, uint32_t unit, struct str text, struct effects *out)
{
    if (!engine_gang_led_by(k, unit)) {
        tell(k, (pod_id){unit}, text, out);
        return;
    }
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    for (uint32_t i = 0; i < k->cluster->groups.at.at[group].members.n; i++) {
        pod_id pod = {k->cluster->groups.at.at[group].members.at[i]};
        if (!engine_is_ready(k, pod))
            continue;
        const struct profile *profile = engine_profile_of(k, pod);
        k->units.at[pod.i].profile =
            (uint8_t)k->figures->counts.of.at[profile - k->config.rules.profiles];
        k->units.at[pod.i].told = 0; /* what it is told of room next is news */
        tell(k, pod, text, out);
    }
}

/* Another rule or another queue is news at once, other numbers are every five minutes. The words
 * are made only where they may be news. */
static bool is_told_anew(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                         struct buf *text)
{
    enum { RETELL_MS = 300000 };
    struct stander *is = &k->shares->standers.at[unit];
    uint32_t rule = (uint32_t)hash_pair(hash_pair(why->rule, why->at), why->resource) | 1;
    if (is->told == rule && k->now_ms - is->told_ms < RETELL_MS)
        return false;
    engine_word_admission(k, unit, why, text);
    uint32_t hash = (uint32_t)str_hash(buf_str(text));
    if (is->told == rule && is->told_text == hash)
        return false;
    is->told = rule;
    is->told_text = hash;
    is->told_ms = k->now_ms;
    return true;
}

/* Of queues that only pods name all count as one: they could be endless. */
static struct str counted_name(const struct engine *k, uint32_t unit)
{
    const struct fair *tree = k->shares->tree;
    struct str leaf = engine_leaf_name(k, fair_queue_of(tree, unit));
    bool is_there = engine_team(k, leaf) || str_equal(leaf, STR("default"));
    return is_there ? leaf : STR("other");
}

static void stay(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                 struct effects *out)
{
    AUTO(buf) text = {0};
    bool is_news = is_told_anew(k, unit, why, &text);
    if (is_news) {
        queue_counts_refuse(&k->shares->counts, counted_name(k, unit),
                            (enum queue_rule)(QUEUE_RULE_A1 + (why->rule - FAIR_A1)));
        tell_all(k, unit, buf_str(&text), out);
    }
    engine_set_told(k, unit, !is_news);
    engine_forget_refusal(k, unit);
    engine_stays_in_line(k, unit, k->shares->bit);
    engine_set_told(k, unit, false);
}

/* --- turns that evict --- */

static struct str name_of(const struct engine *k, const struct victim_note *v, struct arena *mem)
{
    const struct cluster *c = k->cluster;
    struct str namespace = names_text(&c->names, pods_shape(&c->pods, v->pod)->namespace);
    struct str name = v->group == ID_NONE ? pod_name(pods_at(&c->pods, v->pod))
                                          : names_text(&c->names, c->groups.at.at[v->group].name);
    return arena_join(mem, namespace, STR("/"), name);
}

static int by_unit(const void *a, const void *b)
{
    const struct queue_victim *x = a, *y = b;
    return str_compare(x->unit, y->unit);
}

static struct kept_turn *turn_of(struct engine *k, const struct eviction_plan *plan)
{
    struct kept_turn *v = mem_alloc(sizeof(*v));
    v->key = k->shares->chosen_key;
    vec_each(&plan->victims, victim) {
        struct str queue = engine_leaf_name(k, engine_queue_of_pod(k, victim->pod));
        struct queue_victim one = {.unit = name_of(k, victim, &v->mem),
                                   .queue = arena_str(&v->mem, queue),
                                   .pods = 1,
                                   .rule = victim->by};
        vec_push(&v->goers, one);
    }
    uint32_t n = 0;
    if (v->goers.n > 1)
        qsort(v->goers.at, v->goers.n, sizeof(*v->goers.at), by_unit);
    for (uint32_t i = 0; i < v->goers.n; i++) {
        if (n && str_equal(v->goers.at[n - 1].unit, v->goers.at[i].unit))
            v->goers.at[n - 1].pods++;
        else
            v->goers.at[n++] = v->goers.at[i];
    }
    v->goers.n = n;
    return v;
}

void engine_go_on_with_turn(struct engine *k, uint32_t unit, const struct eviction_plan *plan)
{
    if (!plan->is_by_queues || !engine_is_queued(k, unit))
        return;
    engine_keep_turn(k, unit, turn_of(k, plan));
    engine_reopen_turns(k, unit);
}

static bool is_nominated(const struct engine *k, uint32_t unit)
{
    const struct cluster *c = k->cluster;
    if (!engine_gang_led_by(k, unit))
        return pods_at(&c->pods, (pod_id){unit})->nominated != SYM_NONE;
    vec_each(&c->groups.at.at[groups_of(&c->groups, (pod_id){unit})].members, pod)
        if (pods_at(&c->pods, (pod_id){*pod})->nominated != SYM_NONE)
            return true;
    return false;
}

void engine_review_turn(struct engine *k, uint32_t unit)
{
    if (engine_is_queued(k, unit) && k->shares->standers.at[unit].turn && !is_nominated(k, unit))
        engine_give_turn_up(k, unit);
}

/* --- who is kept out --- */

void engine_keep_off_kind(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                          struct effects *out)
{
    stay(k, unit, why, out);
}

/* Nobody passes a head of its line: it waits behind it, or is tried. */
static bool waits_behind(struct engine *k, uint32_t unit, struct effects *out)
{
    const struct line *l = engine_line_of(k, unit);
    if (!l || !l->has_queues)
        return false;
    k->shares->standers.at[unit].told = 0; /* its queue lets it in */
    if (!engine_is_barred(l))
        return false;
    engine_forget_refusal(k, unit);
    if (!engine_stays_in_line(k, unit, 0))
        return true;
    engine_tell_behind(k, unit, out);
    return true;
}

bool engine_keep_pod_out(struct engine *k, pod_id pod, struct class *class, struct effects *out)
{
    struct fair_refusal why;
    if (engine_admits(k, pod.i, &why))
        return waits_behind(k, pod.i, out);
    AUTO(eviction_plan) plan = {0};
    if (may_make_room(&why))
        engine_find_eviction(k, pod.i, class, &plan);
    stay(k, pod.i, &why, out);
    engine_carry_out(k, pod, &plan, out);
    engine_go_on_with_turn(k, pod.i, &plan);
    if (plan.next_candidate_ms)
        engine_wake_at(k, pod.i, plan.next_candidate_ms);
    return true;
}

bool engine_keep_gang_out(struct engine *k, struct planner *p, uint32_t group, uint32_t unit,
                          struct effects *out)
{
    struct fair_refusal why;
    if (engine_admits(k, unit, &why))
        return waits_behind(k, unit, out);
    AUTO(eviction_plan) plan = {0};
    if (may_make_room(&why) && p->need)
        engine_plan_eviction(k, p, group, &plan);
    stay(k, unit, &why, out);
    if (may_make_room(&why) && p->need)
        engine_conclude_eviction(k, p, group, &plan, out);
    engine_go_on_with_turn(k, unit, &plan);
    return true;
}
