/* What takes long is put down, for a breath at least: the engine's caller may hear and say what
 * must not wait, and the pod goes on with what is known by then. It is parked meanwhile, under a
 * bit that no event wakes; whatever else moves it, its own change or another configuration, lets it
 * begin anew.
 *
 * What is long because there are many nodes, a search for devices on all of them or the prices of
 * evictions there, goes on in the next step, before anybody else: decisions are what they would
 * have been. A search that is hard (cluster/allocate.h) takes turns with others that are, and
 * between two goes of such searches so many other units are decided, if so many wait.
 *
 * In a gang, in line, and where extenders have a say, nothing is put down: more was tried by then
 * than the search, and it would have to be tried again. There a search that takes longer than one
 * step of the engine may ends the attempt, in the words of one whose time is over. */

#include "core/cluster/allocate.h"
#include "core/engine/step/step.h"

enum {
    OTHERS = 64,         /* that have a turn between two goes of hard searches */
    GOES_OF_A_SIZE = 32, /* then they are twice as long: each may have had to begin anew */
};

static bool may_be_put_down(const struct engine *k, pod_id pod, const struct class *class)
{
    return !class->asks && !class->preempts && !engine_line_of(k, pod.i);
}

/* How much longer this go is than a first one, as a shift. */
static uint32_t size_of_go(const struct engine *k, pod_id pod)
{
    return k->stepping->pauses.taken_up.unit == pod.i
               ? MIN(k->stepping->pauses.taken_up.goes / GOES_OF_A_SIZE, 16u)
               : 0;
}

static void put_down(struct engine *k, pod_id pod, bool is_next)
{
    uint32_t goes =
        k->stepping->pauses.taken_up.unit == pod.i ? k->stepping->pauses.taken_up.goes + 1 : 1;
    struct paused p = {pod.i, goes, k->cluster->effort.spent, is_next};
    vec_push(&k->stepping->pauses.all, p);
    if (is_next) {
        memmove(k->stepping->pauses.all.at + 1, k->stepping->pauses.all.at,
                (k->stepping->pauses.all.n - 1) * sizeof(p));
        k->stepping->pauses.all.at[0] = p;
    }
    k->figures->stats.decisions--; /* it is none yet */
    queue_hold(k->queue, k->now_ms, pod.i, PAUSED_BIT);
}

void engine_begin_effort(struct engine *k)
{
    k->cluster->effort = (struct effort){.most = STEPS_A_STEP};
    k->stepping->pauses.taken_up = (struct paused){.unit = ID_NONE};
}

void engine_let_pause(struct engine *k, pod_id pod, const struct class *class)
{
    struct effort *e = &k->cluster->effort;
    e->may_pause = may_be_put_down(k, pod, class);
    if (e->may_pause)
        e->most = (uint64_t)STEPS_A_GO << size_of_go(k, pod);
}

bool engine_was_put_down(struct engine *k, pod_id pod)
{
    struct effort *e = &k->cluster->effort;
    bool is_paused = e->is_paused;
    e->may_pause = e->is_paused = false;
    e->most = STEPS_A_STEP;
    if (UNLIKELY(is_paused))
        put_down(k, pod, e->spent == k->stepping->pauses.taken_up.spent);
    return is_paused;
}

void engine_let_preemption_search_pause(struct engine *k, pod_id pod, struct class *class)
{
    bool may = may_be_put_down(k, pod, class);
    engine_bound_prices(k, may ? k->stepping->pauses.prices_a_go << size_of_go(k, pod) : 0);
}

bool engine_preemption_search_was_put_down(struct engine *k, pod_id pod)
{
    bool is_paused = engine_end_bound(k);
    if (UNLIKELY(is_paused))
        put_down(k, pod, true);
    return is_paused;
}

/* Is it what it was when it was put down? */
static bool is_waiting(const struct engine *k, uint32_t unit)
{
    return queue_where(k->queue, unit) == QUEUE_PARKED &&
           queue_rejectors(k->queue, unit) == PAUSED_BIT;
}

bool engine_take_up(struct engine *k, bool may_wait, uint32_t *unit)
{
    while (UNLIKELY(k->stepping->pauses.all.n) &&
           !is_waiting(k, k->stepping->pauses.all.at[0].unit))
        vec_shift(&k->stepping->pauses.all, 1);
    if (LIKELY(k->stepping->pauses.all.n == 0) ||
        (may_wait && !k->stepping->pauses.all.at[0].is_next &&
         k->stepping->pauses.since++ < OTHERS))
        return false;
    k->stepping->pauses.since = 0;
    k->stepping->pauses.taken_up = k->stepping->pauses.all.at[0];
    vec_shift(&k->stepping->pauses.all, 1);
    *unit = k->stepping->pauses.taken_up.unit;
    queue_recall(k->queue, *unit);
    k->cluster->effort.spent = k->stepping->pauses.taken_up.spent;
    return true;
}

void pauses_begin(struct pauses *p)
{
    p->prices_a_go = 50000; /* some 15 milliseconds */
}

void pauses_done(struct pauses *p)
{
    vec_done(&p->all);
}
