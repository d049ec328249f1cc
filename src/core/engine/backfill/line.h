#pragma once

#include "core/base/heap.h"
#include "core/engine/backfill/runtimes.h"
#include "core/engine/fair/shares.h"
#include "core/engine/gang/gang.h"
#include "core/framework/profile.h"
#include "core/plugins/args.h"

/* Standing in line: what batch schedulers mean by fifo, backfill and shortest first.
 *
 * kube-scheduler lets everybody pass who fits: a big job waits for ever while small ones come. In a
 * profile with the plugin LinePolicy those who wait have a *turn* (priority, then age; shortest
 * first: below) and keep it however often they are refused. Whenever something happened that may
 * help one of them there is a *round*: from the first in line on, each is tried. The first that
 * finds no room but will when others have ended is the *head*. What follows is the policy:
 *
 *   first-fit  nobody is head: whoever fits may go
 *   fifo       nobody passes the head
 *   easy       whoever does not delay the head may go (EASY backfill)
 *   sjf        the same, but the shortest has its turn first
 *
 * The *head start*: take pods away in the order of their expected ends until it fits; the
 * last one's end is its *start*. Another unit may go if it ends by then; or if the head fits after
 * those ends although the unit is there; or if it is made to be evicted for the head's sake. All of
 * this is tried in transactions, on any resource and rule: the head fits where its class says so.
 *
 * Run times are declared by pods or learned (engine/backfill/runtimes.h). A pod's expected end is
 * worked out when it starts, and again when it has passed. A unit whose run time nobody knows may
 * go only if it leaves the head its room. A head that would fit nowhere if everything ended holds
 * up nobody.
 *
 * sjf gives each unit a time by which it wants its turn: its age plus `patience` times its run
 * time; the earliest goes first. So short ones pass long ones, but only those that are not too late
 * for it: nobody starves, and if all can be on time each waits at most in proportion to what it
 * asks for.
 *
 * In the queue a unit in line is parked under the plugin's bit: events cost nothing for it. What is
 * kept here is the order, and for each pod on a node when it will be gone; nothing at all in an
 * engine without such a profile.
 *
 * Where queues matter (engine/fair), units of all profiles with FairQueues stand in one more line,
 * whatever line their own profile keeps. There whoever has the least of what it is entitled to goes
 * first, and nobody holds up anybody. */

/* A unit in line. */
struct waiter {
    int64_t turn_ms; /* its place in the order, within its priority */
    int64_t run_ms;  /* expected; 0: nobody knows */
    uint64_t number; /* of its arrival: unique */
    int32_t priority;
    uint32_t line;     /* + 1; 0: it is in none */
    uint64_t hopeless; /* number of the change of nodes, + 1, at which no end helped; 0: none */
    bool is_told;      /* why it waits: lately, so that it need not hear it again */
};

struct line {
    const struct line_args *args; /* NULL: its profile keeps none */
    uint64_t bit;                 /* of the plugin */
    bool has_queues;              /* whose turn it is, queues say (turns.c): `order` is empty */
    bool has_started;             /* somebody started in this round */
    VEC(struct line *) heads;     /* of it, each as the head of a line of its own (heads.c) */
    VEC(uint32_t) minded;         /* those whom the unit in flight may delay */
    VEC(uint64_t) contends;       /* of such a head: for what, sorted */
    VEC(uint32_t) order;          /* units; their places do not change while they are here */
    uint32_t next;                /* those before it have had their turn in this round */
    bool is_stale;                /* something happened: a new round is due */
    uint64_t rejectors;           /* plugins that refused one of them in this round */

    uint32_t head;       /* ID_NONE: nobody is held up */
    int64_t start_ms;    /* of the head, expected */
    VEC(pod_id) ends;    /* who must have ended by then */
    VEC(uint32_t) steps; /* of a search: how many of them end first, next, … */
};

/* When a pod on a node is expected to end. */
struct expected_end {
    int64_t declared_ms; /* how long it says it runs; 0: it does not */
    int64_t began_ms, end_ms;
};

/* What was learned, as it is kept outside. */
struct saved_run_times {
    char *uid; /* of its object, owned; NULL: there is none */
    bool is_stale;
    int64_t due_ms; /* not written before */
};

struct lines {
    VEC(struct line) at;                    /* by profile; none: nobody stands in line */
    VEC(struct waiter) waiters;             /* by unit */
    VEC(struct expected_end) expected_ends; /* by pod */
    struct heap ends;                       /* pods on nodes, by expected end */
    struct runtimes runtimes;
    struct saved_run_times saved_run_times;
    uint64_t node_changes;
    uint64_t log_end, serial; /* `serial` moves with the log and with each head start */
    VEC(uint64_t)
    delayed;                /* by place of the class: the serial when one of its pods would last
                             * have delayed the head of its line */
    VEC(uint32_t) nodes;    /* scratch of one trial, */
    struct planner planner; /* and of one for a gang */
    struct arena mem;
};

struct engine;
struct class;
struct event;
struct pod;

static inline bool lines_are_kept(const struct lines *l)
{
    return UNLIKELY(l->at.n);
}

/* --- line.c: who is next --- */

/* From the profiles of the configuration; whoever waited is forgotten and comes again. */
void engine_begin_lines(struct engine *k);
struct lines *lines_new(void);
void engine_lines_done(struct engine *k);

/* The unit in flight takes its place in line; false if its profile keeps none. */
bool engine_line_up(struct engine *k, uint32_t unit, struct effects *out);

/* It does not wait any more; nothing if it is in no line. */
void engine_leave_line(struct engine *k, uint32_t unit);

/* It goes on under another number. */
void engine_rename_in_line(struct engine *k, uint32_t unit, uint32_t to);

/* It is not what it was: its turn may be another. */
void engine_touch_line(struct engine *k, uint32_t unit);

/* A member of the gang is gone: if it is the head, others look whether they have to wait for it. */
void engine_doubt_head(struct engine *k, uint32_t unit);

void engine_lines_hear(struct engine *k, const struct event *event);

/* The next unit that has its turn, now in flight; false if nobody has. */
bool engine_next_in_line(struct engine *k, uint32_t *unit);

/* When somebody may have a turn although nothing happens until then; INT64_MAX: never. */
int64_t engine_lines_next_ms(const struct engine *k, int64_t now_ms);

/* The engine forgets pods from this number on, as pods_trim() did. */
void engine_trim_lines(struct engine *k, uint32_t pods);

/* A pod of the class would delay the head of its line now; or the class goes. */
void engine_note_delayed(struct engine *k, const struct class *class);
void engine_forget_delayed(struct engine *k, const struct class *class);
void engine_trim_delayed(struct engine *k);

/* The line of a unit; NULL: none. */
struct line *engine_line_of(const struct engine *k, uint32_t unit);

/* May the unit go? It is in flight and placed, in an open transaction. Always, if it is in no line.
 */
bool engine_may_pass(struct engine *k, uint32_t unit);

/* The unit in flight stays in line: it was refused by these plugins, or (none) it may not pass. It
 * is parked; true if that is news to it. */
bool engine_stays_in_line(struct engine *k, uint32_t unit, uint64_t rejectors);

/* The words for it: whom it would delay, and when that is expected to start. */
void engine_add_behind(const struct engine *k, uint32_t unit, struct buf *out);

/* The unit, which is in line, knows why it waits; or may hear it again. */
void engine_set_told(struct engine *k, uint32_t unit, bool is_told);

/* A span of time: 2h05m, 12m, 40s. */
void engine_add_span(struct buf *out, int64_t ms);

/* Tells the pod that it may not pass the head, and when that is expected to start. */
void engine_tell_behind(struct engine *k, uint32_t unit, struct effects *out);

/* --- turns.c: the line whose turns queues say --- */

/* The line in which the unit takes turns by queues, or would; NULL: none. */
struct line *engine_turns_of(const struct engine *k, uint32_t unit);

/* It stands there now, with what it asks for now, and may have its turn. */
void engine_take_place(struct engine *k, struct line *l, uint32_t unit);

/* The unit was refused, and heard nothing new: where many wait, nobody of its kind in its queue is
 * tried again in this round. */
void engine_put_kind_out(struct engine *k, uint32_t unit);

/* Others of its kind have been refused in this round: so is it, which is to hear so. */
bool engine_is_refused_already(const struct engine *k, const struct line *l, uint32_t unit);

/* The next unit that has its turn, now in flight; false if nobody has. */
bool engine_next_turn(struct engine *k, struct line *l, uint32_t *unit);
bool engine_has_turn(const struct engine *k, const struct line *l);

/* Of the unit in flight something starts now: its turn is told, and others may evict who could not
 * before. Nothing if it takes no turns. */
void engine_start_turn(struct engine *k, uint32_t unit, struct effects *out);

/* It waits for its next turn in this round: its gang's minimum is placed. */
void engine_wait_for_turn(struct engine *k, uint32_t unit);

/* Others go for it: all may have a turn. */
void engine_reopen_turns(struct engine *k, uint32_t unit);

/* How the unit's own profile keeps its line; NULL: it keeps none. */
const struct line_args *engine_line_args(const struct engine *k, uint32_t unit);

/* Its place in time, as its profile's line has it. */
int64_t engine_turn_ms(const struct engine *k, uint32_t unit, int64_t run_ms);

/* Would the head of the line start later if the unit, which is placed in the open transaction, went
 * first? */
bool engine_delays_head(struct engine *k, struct line *l, uint32_t unit);

/* --- heads.c: who waits for room where queues say whose turn it is --- */

void engine_forget_heads(struct line *l);
void engine_rename_head(struct line *l, uint32_t unit, uint32_t to); /* ID_NONE: it is gone */
void engine_heads_done(struct line *l);

/* The unit, which has its turn, may delay these heads; may it go for nothing? */
void engine_mind_heads(struct engine *k, struct line *l, uint32_t unit);
bool engine_is_barred(const struct line *l);

/* The unit in flight, which is placed in the open transaction, delays none of them. */
bool engine_may_pass_heads(struct engine *k, struct line *l, uint32_t unit);

/* It was refused for room. */
void engine_add_head(struct engine *k, struct line *l, uint32_t unit);

/* When the first of them is expected to start; INT64_MAX: nobody waits for that. */
int64_t engine_heads_ms(const struct line *l);

/* --- head_start.c: when the head can start --- */

/* Of the pods that are on nodes already. */
void engine_begin_expected_ends(struct engine *k);

/* The pod says this about its run time. */
void engine_hear_run_time(struct engine *k, pod_id pod, const struct pod *from);

/* A pod came to a node; leaves it. */
void engine_expect_end(struct engine *k, pod_id pod);
void engine_forget_expected_end(struct engine *k, pod_id pod);

/* The pod is gone: if nobody sent it away, how long it ran is learned. */
void engine_learn_run_time(struct engine *k, pod_id pod);

/* More is known than when they were expected to end. */
void engine_renew_expected_ends(struct engine *k);

/* How long the unit will run once it starts; 0: nobody knows. */
int64_t engine_run_ms(const struct engine *k, pod_id pod);

/* Makes the refused unit the head, with a head start; false if nothing that ends would help it. */
bool engine_make_head(struct engine *k, struct line *l, uint32_t unit);

/* Does the head fit at its start, as things are in the open transaction? */
bool engine_keeps_head_start(struct engine *k, const struct line *l);

/* --- saved_run_times.c: what outlives us --- */

struct reservation;

/* Something was learned: it is written down in time. */
void engine_save_run_times(struct engine *k);

/* The object of one of our kind came or changed; false: it says nothing that was learned. */
bool engine_read_saved_run_times(struct engine *k, const struct reservation *from);

/* The object is gone; false: it was not ours. */
bool engine_lose_saved_run_times(struct engine *k, const struct meta *meta);

void engine_publish_run_times(struct engine *k, struct effects *out);
void engine_saved_run_times_done(struct engine *k);

/* Run times that were noted, in earlier lives too. */
uint64_t engine_n_learned(const struct engine *k);
