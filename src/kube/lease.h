#pragma once

#include "core/base/rng.h"
#include "kube/answer.h"
#include "kube/listen.h"

/* Who of several replicas schedules: the holder of a Lease, as kube-scheduler and client-go do it,
 * so that both can stand by for each other.
 *
 * Time is monotonic and ours: another's lease is over when it has not changed for its duration
 * since we saw it change, whatever clock wrote into it. Our own counts from when the last write
 * that succeeded was sent, and is given up `renew_ms` after that, well before others may take it.
 */

struct lease_config {
    struct str namespace, name; /* kube-system, kube-scheduler */
    struct str identity;        /* hostname_uuid */
    int64_t duration_ms;        /* 15000 */
    int64_t renew_ms;           /* 10000 */
    int64_t retry_ms;           /* 2000 */
};

enum lease_state {
    LEASE_WAITING,   /* for the next try */
    LEASE_ASKING,    /* who holds it */
    LEASE_TAKING,    /* writing ourselves into it */
    LEASE_LEADING,   /* until the next renewal */
    LEASE_RENEWING,  /* with what we last saw: no need to read it again */
    LEASE_CHECKING,  /* somebody wrote: is it still ours? */
    LEASE_RELEASING, /* on our way out */
    LEASE_OVER,      /* lost, or given back */
};

/* As it is stored. */
struct lease_record {
    struct buf meta; /* metadata as the server sent it, its resourceVersion included; "": none */
    struct buf holder, acquired, renewed;
    int64_t duration_seconds, transitions;
};

struct lease {
    struct lease_config config; /* texts are owned by who called lease_init() */
    const struct listener *listener;
    struct rng rng;
    int64_t wall_offset_ms; /* what is to be added to `now_ms` for the time of day: only written,
                             * never compared; may be set anew at any time */
    enum lease_state state;
    request_id last_id, current;
    int64_t due_ms;
    int64_t sent_ms;     /* when the write under way was sent */
    int64_t held_ms;     /* when the last one that succeeded was */
    int64_t observed_ms; /* when the record last changed before our eyes */
    struct lease_record record;
    struct answer answer;
    int said_status;
    struct arena mem;
};

/* {0} of times means the usual 15, 10 and 2 s. Its requests have the ids after `id`. */
void lease_init(struct lease *l, const struct lease_config *config, int64_t now_ms, request_id id,
                uint64_t seed, const struct listener *listener);
void lease_done(struct lease *l);

void lease_hear(struct lease *l, int64_t now_ms, const struct reply *reply, struct requests *out);
void lease_tick(struct lease *l, int64_t now_ms, struct requests *out);

/* When lease_tick() has something to do; INT64_MAX: nothing. */
int64_t lease_next_ms(const struct lease *l);

/* May we write? Once it was true and is false again, it stays so: leave. */
bool lease_is_leading(const struct lease *l, int64_t now_ms);

/* We led, and others may now: whatever is on its way must be dropped. Or we gave it back, and the
 * server has taken it. */
static inline bool lease_is_over(const struct lease *l)
{
    return l->state == LEASE_OVER;
}

/* Gives it back, so that others need not wait. */
void lease_release(struct lease *l, int64_t now_ms, struct requests *out);
