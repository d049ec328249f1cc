/* Rounds where queues say whose turn it is (rule O9 of docs/guide/queues.md).
 *
 * Something that may help opens a round: each unit has one turn in it, and who was refused is not
 * tried again. A start changes what everybody has, so the next turn is found anew. A unit that
 * comes in between stands where its queue puts it. When somebody has started in a round and nobody
 * is left, one more round is had: what stands in somebody's way may be taken back now. So it ends
 * with a round in which nobody starts.
 *
 * Where few wait, a unit that comes opens a round as well, and each is tried by itself: who was
 * refused stands at the head of its queue until it has been, so all of them matter to the order.
 * Where many do, a round must cost what starts and what kinds are refused, not what waits: a unit
 * that comes is tried alone, and with one that is refused all of its kind in its queue are. */

#include "core/engine/backfill/line.h"

enum { FEW = 256 };

static bool few_wait(const struct engine *k)
{
    return fair_n_waiting(k->shares->tree, FAIR_ROOT) <= FEW;
}

void engine_put_kind_out(struct engine *k, uint32_t unit)
{
    if (!few_wait(k))
        fair_out_kind(k->shares->tree, unit);
}

struct line *engine_turns_of(const struct engine *k, uint32_t unit)
{
    return engine_shares(k) && engine_is_shared(k, (pod_id){unit}) && !engine_is_slot(k, unit)
               ? &vec_last(&k->lines->at)
               : NULL;
}

void engine_take_place(struct engine *k, struct line *l, uint32_t unit)
{
    struct lines *ls = k->lines;
    if (unit >= ls->waiters.n)
        vec_resize(&ls->waiters, unit + 1);
    struct waiter *w = &ls->waiters.at[unit];
    w->run_ms = engine_run_ms(k, (pod_id){unit});
    w->turn_ms = engine_turn_ms(k, unit, w->run_ms);
    w->number = k->units.at[unit].arrival;
    w->line = (uint32_t)(l - ls->at.at) + 1;
    w->is_told = false;
    engine_enter_queue(k, unit, w->turn_ms);
    l->is_stale = l->is_stale || few_wait(k);
}

/* Something happened: who was refused before may have another answer now. */
static bool is_new_round(const struct engine *k, const struct line *l)
{
    return l->is_stale || k->shares->has_passed || engine_heads_ms(l) <= k->now_ms;
}

bool engine_is_refused_already(const struct engine *k, const struct line *l, uint32_t unit)
{
    return !is_new_round(k, l) && fair_is_out(k->shares->tree, unit);
}

static void open_round(struct engine *k, struct line *l)
{
    l->is_stale = l->has_started = k->shares->has_passed = false;
    l->rejectors = 0;
    engine_forget_heads(l);
    fair_new_round(k->shares->tree);
}

bool engine_has_turn(const struct engine *k, const struct line *l)
{
    struct fair *tree = k->shares->tree;
    bool may_open = is_new_round(k, l) || l->has_started;
    return fair_next(tree) != FAIR_NONE || (may_open && fair_n_waiting(tree, FAIR_ROOT));
}

static struct fair_key key_of(struct engine *k, uint32_t unit)
{
    struct fair *tree = k->shares->tree;
    const struct kept_turn *kept = k->shares->standers.at[unit].turn;
    return kept ? kept->key
                : fair_key(tree, fair_leaf(tree, fair_queue_of(tree, unit)),
                           fair_ask_of(tree, unit));
}

bool engine_next_turn(struct engine *k, struct line *l, uint32_t *unit)
{
    struct shares *s = k->shares;
    if (is_new_round(k, l))
        open_round(k, l);
    uint32_t next = fair_next(s->tree);
    if (next == FAIR_NONE && l->has_started) {
        open_round(k, l);
        next = fair_next(s->tree);
    }
    if (next == FAIR_NONE)
        return false;
    s->chosen = next;
    s->chosen_key = key_of(k, next);
    arena_reset(&s->mem);
    engine_mind_heads(k, l, next);
    fair_out(s->tree, next);
    queue_recall(k->queue, next);
    *unit = next;
    return true;
}

void engine_reopen_turns(struct engine *k, uint32_t unit)
{
    struct line *l = engine_line_of(k, unit);
    open_round(k, l);
    l->has_started = true;
}

static struct str unit_name(const struct engine *k, uint32_t unit, struct arena *mem)
{
    const struct cluster *c = k->cluster;
    pod_id pod = {unit};
    struct str name = engine_gang_led_by(k, unit)
                          ? names_text(&c->names, c->groups.at.at[groups_of(&c->groups, pod)].name)
                          : pod_name(pods_at(&c->pods, pod));
    struct str namespace = names_text(&c->names, pods_shape(&c->pods, pod)->namespace);
    return arena_join(mem, namespace, STR("/"), name);
}

static void tell_goers(const struct kept_turn *kept, struct effects *out, struct queue_turn *turn)
{
    struct queue_victim *at = arena_array(&out->mem, struct queue_victim, kept->goers.n);
    for (uint32_t i = 0; i < kept->goers.n; i++) {
        at[i] = kept->goers.at[i];
        at[i].unit = arena_str(&out->mem, at[i].unit);
        at[i].queue = arena_str(&out->mem, at[i].queue);
    }
    turn->victims.at = at;
    turn->victims.n = kept->goers.n;
}

void engine_start_turn(struct engine *k, uint32_t unit, struct effects *out)
{
    struct shares *s = k->shares;
    struct line *l = engine_line_of(k, unit);
    if (LIKELY(!l) || !l->has_queues)
        return;
    struct stander *is = &s->standers.at[unit];
    struct fair_key key = s->chosen == unit ? s->chosen_key : key_of(k, unit);
    struct queue_turn turn = {
        .unit = unit_name(k, unit, &out->mem),
        .queue = engine_leaf_name(k, fair_queue_of(s->tree, unit)),
        .is_beyond = is->is_beyond,
        .is_first = is->is_first,
        .class = key.class,
        .share = key.share,
    };
    turn.queue = arena_str(&out->mem, turn.queue);
    if (is->turn)
        tell_goers(is->turn, out, &turn);
    vec_push(&out->turns, turn);
    queue_counts_start(&s->counts, &turn, k->now_ms - engine_age_ms(k, unit));
    kept_turn_free(is->turn);
    is->turn = NULL;
    l->has_started = true;
}

void engine_wait_for_turn(struct engine *k, uint32_t unit)
{
    struct line *l = engine_line_of(k, unit);
    bool is_stale = l->is_stale;
    queue_hold(k->queue, k->now_ms, unit, l->bit);
    engine_take_place(k, l, unit);
    l->is_stale = is_stale; /* it did not come: it is what a start has left */
}
