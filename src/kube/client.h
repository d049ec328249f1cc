#pragma once

#include "kube/discover.h"
#include "kube/dispatch.h"
#include "kube/events.h"
#include "kube/extender_client.h"
#include "kube/lease.h"
#include "kube/publish.h"
#include "kube/watch.h"

/* All conversations with an API server together: replies, effects and the time go in, requests come
 * out, and the listener is told what was learnt. Whoever carries the requests calls
 *
 *     client_hear()  for each piece of a reply,
 *     client_take()  with what the engine wants done,
 *     client_tick()  after all of that, and at client_next_ms() at the latest. */

struct client_config {
    struct str host;      /* of this machine, for events */
    struct str scheduler; /* who reports what is about no pod: the first profile's name */
    uint64_t seed;        /* of pauses and the like */
    bool is_silent;       /* tells nobody what becomes of pods: no events */
    bool has_lease;       /* several replicas elect a leader; else we always lead */
    struct lease_config lease;
    int64_t ahead_ms;                 /* as client_set_clock() */
    const struct extender *extenders; /* as client_set_extenders() */
    uint32_t n_extenders;
};

struct client {
    struct listener outer, inner; /* who is told; and ourselves, who pass it on */
    struct discover discover;
    struct watch watches[WATCHED_COUNT];
    struct events events;
    struct dispatch dispatch;
    struct publish publish;
    struct extender_client extender_client;
    struct lease lease;
    struct str scheduler;
    bool has_lease, has_led;
    int64_t ahead_ms;
    struct requests *out; /* of the call we are in */
};

/* The texts of `config` must outlive the client, which must not move. */
void client_init(struct client *c, const struct client_config *config, int64_t now_ms,
                 const struct listener *listener);
void client_done(struct client *c);

/* Gives back the room that nothing needs now: for quiet moments. */
void client_trim(struct client *c);

/* The times that the calls below are given are so much ahead of a clock that is never adjusted; the
 * lease is kept by that one. May change at any time. */
void client_set_clock(struct client *c, int64_t ahead_ms);

/* Whom the engine asks and lets bind from now on; they must stay until the next are set. */
void client_set_extenders(struct client *c, const struct extender *extenders, uint32_t n);

void client_hear(struct client *c, int64_t now_ms, const struct reply *reply, struct requests *out);
void client_take(struct client *c, int64_t now_ms, const struct effects *effects,
                 struct requests *out);
void client_tick(struct client *c, int64_t now_ms, struct requests *out);
int64_t client_next_ms(const struct client *c, int64_t now_ms);

/* Objects of a kind are coming that end with all there are of it. */
bool client_is_filling(const struct client *c);

/* All there is has been told once, but for kinds that are watched on demand: who wants one waits
 * for it. Decisions may begin. */
bool client_is_synced(const struct client *c);

/* May we write? */
bool client_is_leading(const struct client *c, int64_t now_ms);

/* Gives the lease back on the way out, and says so. Again, it does nothing. */
void client_release(struct client *c, int64_t now_ms, struct requests *out);
