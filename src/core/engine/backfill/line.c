/* The order and the rounds. Between steps: a unit in line is parked under the plugin's bit, and
 * either waits for its turn in this round or has had it. */

#include "core/engine/backfill/line.h"

enum {
    UNKNOWN_RUN_MS = 600000, /* where nobody knows, for the order alone */
    LOOK_MOST = 256,         /* units passed over in one step because they know already */
};

static bool turn_before(const struct engine *k, uint32_t a, uint32_t b)
{
    const struct waiter *x = &k->lines->waiters.at[a], *y = &k->lines->waiters.at[b];
    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->turn_ms != y->turn_ms)
        return x->turn_ms < y->turn_ms;
    return x->number < y->number;
}

/* --- beginning and end --- */

static const struct profile_plugin *line_plugin(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->keeps_line && !(profile->plugins[i].off & PROFILE_NO_GATE))
            return &profile->plugins[i];
    return NULL;
}

static void forget_all(struct engine *k)
{
    struct lines *ls = k->lines;
    vec_each(&ls->at, l) {
        vec_done(&l->order);
        vec_done(&l->ends);
        vec_done(&l->steps);
        engine_heads_done(l);
    }
    vec_done(&ls->at);
    vec_done(&ls->waiters);
}

struct lines *lines_new(void)
{
    return mem_alloc(sizeof(struct lines));
}

void engine_lines_done(struct engine *k)
{
    forget_all(k);
    vec_done(&k->lines->expected_ends);
    vec_done(&k->lines->nodes);
    vec_done(&k->lines->delayed);
    arena_done(&k->lines->mem);
    heap_done(&k->lines->ends);
    runtimes_done(&k->lines->runtimes);
    engine_saved_run_times_done(k);
    planner_done(&k->lines->planner);
    mem_free(k->lines);
}

void engine_begin_lines(struct engine *k)
{
    static const struct line_args defaults = LINE_DEFAULTS;
    struct lines *ls = k->lines;
    bool were_kept = ls->at.n;
    forget_all(k);
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++) {
        const struct profile_plugin *p = line_plugin(&k->config.rules.profiles[i]);
        if (!p)
            continue;
        vec_resize(&ls->at, k->config.rules.n_profiles);
        ls->at.at[i] = (struct line){
            .args = p->args ? p->args : &defaults,
            .bit = (uint64_t)1 << p->number,
            .head = ID_NONE,
        };
    }
    if (engine_shares(k)) {
        static const struct line_args first_fit = {.policy = LINE_FIRST_FIT};
        vec_resize(&ls->at, k->config.rules.n_profiles + 1);
        vec_last(&ls->at) = (struct line){
            .args = &first_fit, .bit = k->shares->bit, .head = ID_NONE, .has_queues = true};
    }
    if (ls->at.n && !were_kept)
        engine_begin_expected_ends(k);
}

void engine_trim_lines(struct engine *k, uint32_t pods)
{
    struct lines *ls = k->lines;
    heap_trim(&ls->ends, pods);
    ls->waiters.n = MIN(ls->waiters.n, pods);
    ls->expected_ends.n = MIN(ls->expected_ends.n, pods);
    vec_trim(&ls->waiters);
    vec_trim(&ls->expected_ends);
}

/* --- in and out --- */

struct line *engine_line_of(const struct engine *k, uint32_t unit)
{
    const struct lines *ls = k->lines;
    uint32_t line = unit < ls->waiters.n ? ls->waiters.at[unit].line : 0;
    return line ? &ls->at.at[line - 1] : NULL;
}

const struct line_args *engine_line_args(const struct engine *k, uint32_t unit)
{
    const struct profile *profile = engine_profile_of(k, (pod_id){unit});
    return profile ? k->lines->at.at[profile - k->config.rules.profiles].args : NULL;
}

int64_t engine_turn_ms(const struct engine *k, uint32_t unit, int64_t run_ms)
{
    const struct line_args *args = engine_line_args(k, unit);
    int64_t age_ms = engine_age_ms(k, unit);
    if (!args || args->policy != LINE_SJF)
        return age_ms;
    run_ms = run_ms ? run_ms : UNKNOWN_RUN_MS;
    return args->patience ? age_ms + args->patience * run_ms : run_ms;
}

/* Where the unit stands, or would stand. */
static uint32_t place_of(const struct engine *k, const struct line *l, uint32_t unit)
{
    uint32_t low = 0, high = l->order.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (turn_before(k, l->order.at[middle], unit))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void reach(struct engine *k, uint32_t unit)
{
    if (unit >= k->lines->waiters.n)
        vec_resize(&k->lines->waiters, unit + 1);
}

static void enter(struct engine *k, struct line *l, uint32_t unit)
{
    struct lines *ls = k->lines;
    reach(k, unit);
    int64_t run_ms = engine_run_ms(k, (pod_id){unit});
    const struct gang *gang = engine_gang_led_by(k, unit);
    ls->waiters.at[unit] = (struct waiter){
        .turn_ms = engine_turn_ms(k, unit, run_ms),
        .run_ms = run_ms,
        .number = k->units.at[unit].arrival,
        .priority = gang ? gang->priority : k->units.at[unit].priority,
        .line = (uint32_t)(l - ls->at.at) + 1,
    };
    uint32_t place = place_of(k, l, unit);
    vec_insert(&l->order, place, unit);
    l->next = MIN(l->next, place); /* who stands behind it and had its turn mostly knows already */
    if (l->head != ID_NONE && turn_before(k, unit, l->head))
        l->is_stale = true;
}

void engine_leave_line(struct engine *k, uint32_t unit)
{
    struct line *l = engine_line_of(k, unit);
    if (!l)
        return;
    k->lines->waiters.at[unit].line = 0;
    if (l->has_queues) {
        engine_rename_head(l, unit, ID_NONE);
        engine_leave_queue(k, unit);
        return;
    }
    uint32_t place = place_of(k, l, unit);
    assert(l->order.at[place] == unit);
    vec_remove(&l->order, place);
    l->next -= place < l->next;
    if (l->head == unit) {
        l->head = ID_NONE;
        l->is_stale = true;
    }
}

void engine_rename_in_line(struct engine *k, uint32_t unit, uint32_t to)
{
    struct line *l = engine_line_of(k, unit);
    if (!l)
        return;
    engine_rename_head(l, unit, to);
    if (l->has_queues)
        engine_rename_in_queue(k, unit, to);
    else
        l->order.at[place_of(k, l, unit)] = to;
    reach(k, to);
    k->lines->waiters.at[to] = k->lines->waiters.at[unit];
    k->lines->waiters.at[unit].line = 0;
    if (l->head == unit)
        l->head = to;
}

void engine_touch_line(struct engine *k, uint32_t unit)
{
    struct line *l = engine_line_of(k, unit);
    if (!l)
        return;
    if (l->has_queues) {
        engine_take_place(k, l, unit);
        return;
    }
    engine_leave_line(k, unit);
    enter(k, l, unit);
}

void engine_doubt_head(struct engine *k, uint32_t unit)
{
    struct line *l = engine_line_of(k, unit);
    if (l && l->head == unit)
        l->is_stale = true;
}

static bool is_closed(const struct line *l)
{
    return l->args->policy == LINE_FIFO && l->head != ID_NONE;
}

/* --- telling --- */

void engine_add_span(struct buf *out, int64_t ms)
{
    int64_t s = MAX((ms + 999) / 1000, (int64_t)0);
    if (s >= 3600)
        buf_printf(out, "%lldh%02lldm", (long long)(s / 3600), (long long)(s / 60 % 60));
    else if (s >= 60)
        buf_printf(out, "%lldm", (long long)(s / 60));
    else
        buf_printf(out, "%llds", (long long)s);
}

/* Its name, as the pods of a namespace hear it. */
static void add_head(const struct engine *k, uint32_t unit, sym reader, struct buf *out)
{
    const struct cluster *c = k->cluster;
    pod_id head = {unit};
    sym namespace = pods_shape(&c->pods, head)->namespace;
    uint32_t group = engine_gang_led_by(k, unit) ? groups_of(&c->groups, head) : ID_NONE;
    if (!engine_may_name(k, namespace, reader)) {
        buf_printf(out, "a %s of another namespace", group == ID_NONE ? "pod" : "gang");
        return;
    }
    buf_add(out, names_text(&c->names, namespace));
    buf_add_char(out, '/');
    buf_add(out, group == ID_NONE ? pod_name(pods_at(&c->pods, head))
                                  : names_text(&c->names, c->groups.at.at[group].name));
}

void engine_add_behind(const struct engine *k, uint32_t unit, struct buf *out)
{
    const struct line *l = engine_line_of(k, unit);
    if (l->minded.n)
        l = l->heads.at[l->minded.at[0]];
    buf_printf(out, "waits in line: %s ", l->args->policy == LINE_FIFO ? "behind" : "would delay");
    add_head(k, l->head, pods_shape(&k->cluster->pods, (pod_id){unit})->namespace, out);
    buf_add(out, STR(", which is expected to start within "));
    engine_add_span(out, l->start_ms - k->now_ms);
}

void engine_tell_behind(struct engine *k, uint32_t unit, struct effects *out)
{
    AUTO(buf) text = {0};
    engine_add_behind(k, unit, &text);
    struct effect *effect = engine_emit(k, (pod_id){unit}, EFFECT_REFUSE, out);
    effect->message = arena_str(&out->mem, buf_str(&text));
    effect->rejected_by = engine_line_of(k, unit)->bit;
    k->figures->stats.refused++;
}

void engine_set_told(struct engine *k, uint32_t unit, bool is_told)
{
    k->lines->waiters.at[unit].is_told = is_told;
}

/* --- taking a place --- */

bool engine_line_up(struct engine *k, uint32_t unit, struct effects *out)
{
    if (LIKELY(!lines_are_kept(k->lines)))
        return false;
    struct line *turns = engine_turns_of(k, unit);
    if (turns) {
        engine_take_place(k, turns, unit);
        if (engine_is_refused_already(k, turns, unit))
            return false;
        queue_hold(k->queue, k->now_ms, unit, turns->bit);
        return true;
    }
    const struct profile *profile = engine_profile_of(k, (pod_id){unit});
    struct line *l = &k->lines->at.at[profile - k->config.rules.profiles];
    if (!l->args)
        return false;
    if (engine_line_of(k, unit))
        k->lines->waiters.at[unit].is_told =
            false; /* it has waited so long that it may hear again */
    else
        enter(k, l, unit);
    queue_hold(k->queue, k->now_ms, unit, l->bit);
    if (is_closed(l) && !l->is_stale && unit != l->head)
        engine_tell_behind(k, unit, out);
    return true;
}

/* --- rounds --- */

/* May anybody's share, or what his queue is refused for, be another thing now? */
static bool opens_turns(const struct event *event)
{
    bool is_start = event->resource == EVENT_ASSIGNED_POD && event->actions == ACTION_ADD;
    return event->resource != EVENT_TARGET_POD && !is_start;
}

void engine_lines_hear(struct engine *k, const struct event *event)
{
    k->lines->node_changes += event->resource == EVENT_NODE;
    uint64_t interested = event->resource == EVENT_ANY ? UINT64_MAX : engine_interested(k, event);
    vec_each(&k->lines->at, l) {
        if (l->has_queues) { /* whom a start may help is tried in the next round */
            l->is_stale |= opens_turns(event);
            continue;
        }
        bool is_asked = interested && k->above->is_asked(k, l);
        l->is_stale = l->is_stale || l->rejectors & interested || is_asked; /* who may yet refuse */
    }
}

static void renew(struct engine *k, struct line *l)
{
    l->next = 0;
    l->head = ID_NONE;
    l->rejectors = 0;
    l->is_stale = false;
    k->lines->serial++;
}

static bool is_hopeless(const struct engine *k, uint32_t unit)
{
    return k->lines->waiters.at[unit].hopeless == k->lines->node_changes + 1;
}

static bool is_late(const struct line *l, const struct waiter *w, int64_t now_ms)
{
    return w->run_ms == 0 || w->run_ms > l->start_ms - now_ms;
}

/* The same number as before: nothing has happened that could change a trial's outcome. */
static uint64_t serial_now(struct engine *k)
{
    struct lines *ls = k->lines;
    if (ls->log_end != k->cluster->log.end) {
        ls->log_end = k->cluster->log.end;
        ls->serial++;
    }
    return ls->serial;
}

void engine_note_delayed(struct engine *k, const struct class *class)
{
    *class_row(&k->lines->delayed, class) = serial_now(k);
}

void engine_forget_delayed(struct engine *k, const struct class *class)
{
    if (class->place < k->lines->delayed.n)
        k->lines->delayed.at[class->place] = 0;
}

void engine_trim_delayed(struct engine *k)
{
    class_rows_trim(&k->lines->delayed);
}

static bool would_delay(struct engine *k, const struct class *class)
{
    const uint64_t *delayed = class_row_if(&k->lines->delayed, class);
    return delayed && *delayed == serial_now(k);
}

/* Would trying it only tell it what it knows? */
static bool knows_already(struct engine *k, struct line *l, uint32_t unit)
{
    pod_id pod = {unit};
    const struct waiter *w = &k->lines->waiters.at[unit];
    const struct class *class = classes_of(&k->classes, pods_at(&k->cluster->pods, pod)->shape);
    if (!w->is_told || k->config.checks_views || engine_gang_led_by(k, unit))
        return false;
    if (engine_would_hear_the_same(k, pod, class)) {
        l->rejectors |= engine_last_refusal(k, class)->by;
        return l->head != ID_NONE || l->args->policy == LINE_FIRST_FIT || is_hopeless(k, unit);
    }
    return l->head != ID_NONE && is_late(l, w, k->now_ms) && would_delay(k, class);
}

static bool is_due(const struct line *l, int64_t now_ms)
{
    bool is_past = l->head != ID_NONE && l->args->policy != LINE_FIFO && l->start_ms <= now_ms;
    return (l->is_stale || is_past) && l->order.n && !l->has_queues;
}

bool engine_next_in_line(struct engine *k, uint32_t *unit)
{
    *unit = ID_NONE;
    uint32_t looks = 0;
    vec_each(&k->lines->at, l) {
        if (!l->args || k->above->is_asked(k, l))
            continue;
        if (l->has_queues && engine_next_turn(k, l, unit))
            return true;
        if (is_due(l, k->now_ms))
            renew(k, l);
        while (l->next < l->order.n && !is_closed(l)) {
            if (looks++ == LOOK_MOST)
                return true;
            uint32_t next = l->order.at[l->next++];
            if (knows_already(k, l, next))
                continue;
            queue_recall(k->queue, next);
            *unit = next;
            return true;
        }
    }
    return false;
}

int64_t engine_lines_next_ms(const struct engine *k, int64_t now_ms)
{
    int64_t next_ms = INT64_MAX;
    vec_each(&k->lines->at, l) {
        if (!l->args || k->above->is_asked(k, l))
            continue;
        if (is_due(l, now_ms) || (l->next < l->order.n && !is_closed(l)) ||
            (l->has_queues && engine_has_turn(k, l)))
            return now_ms;
        bool may_move = l->head != ID_NONE && l->args->policy != LINE_FIFO && l->order.n > 1;
        if (may_move)
            next_ms = MIN(next_ms, l->start_ms);
        next_ms = MIN(next_ms, engine_heads_ms(l));
    }
    return next_ms;
}

/* --- the turn of one --- */

/* Is it made to be evicted, and may the head do that? (Nobody is for want of a label.) */
static bool is_expendable(const struct engine *k, pod_id pod, pod_id head)
{
    static const struct str labels[] = {STR("scheduling.kubenexus.io/backfill"),
                                        STR("backfill.scheduling.kubenexus.io/eligible")};
    const struct cluster *c = k->cluster;
    const struct spec *spec = cluster_spec(c, pod), *other = cluster_spec(c, head);
    if (spec->priority >= other->priority || !other->preempts)
        return false;
    bool is_marked = spec->priority < 0;
    for (size_t i = 0; i < LEN(labels) && !is_marked; i++) {
        sym key = names_find(&c->names, labels[i]);
        sym value = key == SYM_NONE
                        ? SYM_NONE
                        : names_label(&c->names, pods_shape(&c->pods, pod)->labels, key);
        is_marked = str_equal(names_text(&c->names, value), STR("true"));
    }
    return is_marked;
}

bool engine_delays_head(struct engine *k, struct line *l, uint32_t unit)
{
    if (l->head == ID_NONE || l->head == unit)
        return false;
    if (l->args->policy == LINE_FIFO)
        return true;
    return is_late(l, &k->lines->waiters.at[unit], k->now_ms) &&
           !is_expendable(k, (pod_id){unit}, (pod_id){l->head}) && !engine_keeps_head_start(k, l);
}

bool engine_may_pass(struct engine *k, uint32_t unit)
{
    struct line *l = engine_line_of(k, unit);
    if (LIKELY(!l))
        return true;
    return l->has_queues ? engine_may_pass_heads(k, l, unit) : !engine_delays_head(k, l, unit);
}

bool engine_stays_in_line(struct engine *k, uint32_t unit, uint64_t rejectors)
{
    struct line *l = engine_line_of(k, unit);
    queue_hold(k->queue, k->now_ms, unit, l->bit);
    l->rejectors |= rejectors;
    if (l->has_queues && rejectors != l->bit)
        k->shares->standers.at[unit].told = 0; /* its queue lets it in: to be kept out is news */
    if (l->has_queues)
        k->shares->standers.at[unit].is_behind = rejectors == 0;
    if (l->has_queues && rejectors && rejectors != l->bit)
        engine_add_head(k, l, unit);
    bool may_lead = rejectors && l->head == ID_NONE && l->args->policy != LINE_FIRST_FIT;
    if (may_lead && !is_hopeless(k, unit) && !engine_make_head(k, l, unit))
        k->lines->waiters.at[unit].hopeless = k->lines->node_changes + 1;
    bool is_news = !k->lines->waiters.at[unit].is_told;
    if (l->has_queues && !is_news)
        engine_put_kind_out(k, unit);
    k->lines->waiters.at[unit].is_told = true;
    return is_news;
}

uint64_t engine_n_learned(const struct engine *k)
{
    return k->lines->runtimes.notes / RUNTIME_LEVELS;
}
