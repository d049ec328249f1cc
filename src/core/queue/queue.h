#pragma once

#include "core/base/base.h"
#include "core/cluster/event.h"

/* The units that wait to be placed, and which of them is next.
 *
 * A unit (a pod, or a gang under the number of one of its pods) is a small dense number that the
 * owner of the queue hands out.
 * It is in exactly one place: *active* (ready, in order), *backing off* (refused or failed not long
 * ago), *parked* (refused; waits for an event that may help, or gated), or *in flight* (taken, its
 * fate is being decided); a unit that is settled has left. The laws are kube-scheduler's:
 *
 *  - A refusal names the plugins that refused. A parked unit comes back when one of them says of an
 *    event that it may help; what happens while a unit is in flight is remembered for the moment it
 *    is refused.
 *  - Each failure in a row doubles the wait (backoff.h); refusals and errors count apart. A unit
 *    that is woken before its wait is over backs off until then. Where the rules say so, refusals
 *    cost no wait: a unit that is woken is active at once, in its place in the order.
 *  - When nothing is active, the refused unit whose wait ends first may go ahead of time (errors
 *    may not).
 *  - A unit must pass the gates to become active or to back off; a unit that passed them on the way
 *    into backoff is not asked again on the way out.
 *  - A unit parked for longer than `park_ms` is tried again whatever happened; one that a gate
 *    still holds is looked at every `park_ms`.
 *
 * The queue knows neither plugins nor pods: order, gates and the worth of an event are functions it
 * is given. Plugins are bits of a 64-bit mask. The clock is the caller's: it is never negative and
 * never goes back. */

/* The functions answer from what they are given and may read the queue, never change it. */
struct queue_rules {
    void *ctx;

    /* The order of active units: strict and total. It may rest on queue_since_ms(); otherwise it
     * changes for a unit only together with queue_touch(). */
    bool (*before)(const void *ctx, uint32_t a, uint32_t b);

    /* May the unit become active? If not, `*gate` is the plugin (one bit) that holds it back. */
    bool (*may_enter)(void *ctx, uint32_t unit, uint64_t *gate);

    /* The plugins that listen to such an event at all: units that wait for none of them are passed
     * over without a further question. Not asked about EVENT_ANY, which concerns every unit. */
    uint64_t (*interested)(const void *ctx, const struct event *event);

    /* Which of the plugins `among` say that this event may help the unit? Not asked about
     * EVENT_ANY. */
    uint64_t (*wakes)(void *ctx, uint32_t unit, const struct event *event, uint64_t among);

    /* Does a refusal make the unit wait, too? NULL: always. */
    bool (*backs_off)(const void *ctx, uint32_t unit);

    bool waits_out; /* nobody goes ahead of time, also when nothing is active */

    int64_t first_ms, most_ms; /* backoff: 0 < first_ms <= most_ms */
    int64_t park_ms;           /* >= 0. None of the three is above INT64_MAX / 4 */
};

enum queue_place {
    QUEUE_NOWHERE,
    QUEUE_ACTIVE,
    QUEUE_BACKING_OFF,
    QUEUE_PARKED, /* gated units, too */
    QUEUE_IN_FLIGHT,
};

/* What brings a unit to a place. Behind these come the events: queue_event_cause(). */
enum queue_cause {
    QUEUE_ADDED,
    QUEUE_ATTEMPT_ENDED,
    QUEUE_BACKOFF_ENDED,
    QUEUE_TAKEN_EARLY,
    QUEUE_ACTIVATED,
    QUEUE_FLUSHED,
    QUEUE_EVENTS,
    QUEUE_CAUSES = QUEUE_EVENTS + 15 * 16,
};

/* Of a resource but EVENT_ANY. Of several actions the lowest counts; ACTION_UPDATE as a whole is
 * number 15, and so are the updates that are told apart only here. */
uint32_t queue_event_cause(enum event_resource resource, uint32_t actions);

struct queue;

struct queue *queue_new(const struct queue_rules *rules);
void queue_free(struct queue *q);

/* A unit that is nowhere enters: active, or parked if a gate holds it back. */
void queue_add(struct queue *q, int64_t now_ms, uint32_t unit);

/* Leaves from wherever it is; nothing if it is nowhere. */
void queue_remove(struct queue *q, uint32_t unit);

/* Brings back at most so many of the units that have waited long enough; true: there may be more,
 * and one of those may be the next. */
bool queue_end_backoffs(struct queue *q, int64_t now_ms, uint32_t most);

/* The next unit, now in flight and counted as an attempt; false if none is ready. First brings back
 * what has waited long enough. */
bool queue_take(struct queue *q, int64_t now_ms, uint32_t *unit);

/* The unit in flight was refused by these plugins (at least one). `pending` is the part of them
 * that waits for something outside: woken by one of those, the unit skips its backoff. */
void queue_refuse(struct queue *q, int64_t now_ms, uint32_t unit, uint64_t rejectors,
                  uint64_t pending);

/* Is the unit in flight because a plugin that had refused it said of an event that it may help? */
bool queue_was_woken(const struct queue *q, uint32_t unit);

/* The unit in flight, which was woken, need not be tried after all: it is parked as it was, and
 * this was no attempt. */
void queue_put_back(struct queue *q, uint32_t unit);

/* The attempt failed for no plugin's reason (an error, no nodes): again after its backoff. The unit
 * is in flight, or nowhere when a binding failed that was thought done; its failures still count.
 */
void queue_fail(struct queue *q, int64_t now_ms, uint32_t unit);

/* The unit in flight waits until its owner recalls it: parked under this plugin (one bit), which
 * neither refused it nor counts as having refused it. */
void queue_hold(struct queue *q, int64_t now_ms, uint32_t unit, uint64_t plugin);

/* A parked unit is in flight again, as another attempt. */
void queue_recall(struct queue *q, uint32_t unit);

/* The unit in flight needs no further decision. */
void queue_settle(struct queue *q, uint32_t unit);

/* The rules are others now: order, gates, times. Every unit is looked at again, and units
 * that were refused may go; waits that have begun last as long as they were to last. No unit is
 * in flight. */
void queue_renew(struct queue *q, int64_t now_ms, const struct queue_rules *rules);

/* Something happened in the cluster. */
void queue_event(struct queue *q, int64_t now_ms, const struct event *event);

/* The unit itself changed, in these ways (an EVENT_TARGET_POD event): its place in the order is
 * found anew, or it is looked at whether it should leave its parking place. Nothing if it is
 * nowhere. */
void queue_touch(struct queue *q, int64_t now_ms, uint32_t unit, const struct event *event);

/* The unit's place in the order is another now, for no event's sake. */
void queue_reorder(struct queue *q, uint32_t unit);

/* The unit goes on under another number, one that is nowhere: same place, same waits and counts.
 * Both numbers stand at the same place in the order. */
void queue_rename(struct queue *q, uint32_t unit, uint32_t to);

/* Straight to the active units, whatever it waits for (gates still hold). A unit in flight is not
 * parked if it is refused, but backs off; nothing for one that is nowhere. */
void queue_activate(struct queue *q, int64_t now_ms, uint32_t unit);

/* Units from `units` on, all of which are nowhere, will not be heard of for a while: gives back
 * their room. */
void queue_trim(struct queue *q, uint32_t units);

/* When queue_take() may find a unit although nothing happens until then; INT64_MAX: never. */
int64_t queue_next_ms(const struct queue *q, int64_t now_ms);

enum queue_place queue_where(const struct queue *q, uint32_t unit);

/* Since when it stands in line: set by queue_add() and by each refusal and failure. */
int64_t queue_since_ms(const struct queue *q, uint32_t unit);

/* How often it was taken since it was added. */
uint32_t queue_attempts(const struct queue *q, uint32_t unit);

/* The gate that holds a parked unit back; 0: none does. */
uint64_t queue_gate(const struct queue *q, uint32_t unit);

/* How many units are in a place; 0 for nowhere. */
uint32_t queue_count(const struct queue *q, enum queue_place place);

/* How many have come to a place, by what brought them. A unit that is taken ahead of time passes
 * through the active ones. */
uint64_t queue_incoming(const struct queue *q, enum queue_place place, uint32_t cause);

/* The plugins that refused or held back a waiting unit the last time; 0: none did. */
uint64_t queue_rejectors(const struct queue *q, uint32_t unit);

/* Calls for every unit that is active, backing off or parked. */
void queue_each(const struct queue *q, void (*fn)(void *ctx, uint32_t unit), void *ctx);
