#pragma once

#include "core/base/rng.h"
#include "kube/answer.h"
#include "kube/events.h"
#include "kube/pause.h"

/* What objects are to say: statuses of groups and reservations, and objects of our own.
 *
 * The last word about a part of an object counts: it replaces one that was not sent yet, and
 * follows one that is under way. Nobody waits for them, and they take a lane that bindings do not
 * use, few at a time. One that the server will not have is dropped: whoever wanted it sees what the
 * object says, and says it again. Of kinds that are not served nothing is sent. */

struct posting;

struct publish_stats {
    uint64_t written, dropped;
};

struct publish {
    const struct listener *listener;
    struct events *events;
    struct str scheduler; /* who reports */
    struct rng rng;
    request_id last_id;
    VEC(struct posting *) queue; /* from `head` on, oldest first */
    uint32_t head;
    VEC(struct posting *) sent;
    uint64_t absent;                  /* kinds that are not served, as bits */
    uint64_t whole;                   /* whose status is written with the object itself */
    const char *versions[KIND_COUNT]; /* that are served; NULL: the newest that we know */
    struct pause pause;
    int64_t again_ms; /* nothing is sent before */
    int said_status;  /* of the trouble last told about; -1: none */
    struct publish_stats stats;
    struct arena mem;
};

/* Its requests have the ids after `id`. */
void publish_init(struct publish *p, request_id id, uint64_t seed, struct str scheduler,
                  struct events *events, const struct listener *listener);
void publish_done(struct publish *p);

/* Gives back the room that nothing needs now. */
void publish_trim(struct publish *p);

/* The server serves the kind in this version, or (NULL) does not; `writes_whole`: without a status
 * that is written alone. */
void publish_learn(struct publish *p, enum kind kind, const char *api_version, bool writes_whole);

void publish_take(struct publish *p, int64_t now_ms, const struct effect *effect);
void publish_hear(struct publish *p, int64_t now_ms, const struct reply *reply);
void publish_tick(struct publish *p, int64_t now_ms, bool are_binds_under_way,
                  struct requests *out);

/* When publish_tick() has something to do; INT64_MAX: nothing. */
int64_t publish_next_ms(const struct publish *p, int64_t now_ms, bool are_binds_under_way);

/* Those that are not written yet. */
uint32_t publish_waiting(const struct publish *p);
