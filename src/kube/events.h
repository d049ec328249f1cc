#pragma once

#include "core/base/map.h"
#include "core/base/rng.h"
#include "kube/answer.h"
#include "kube/listen.h"
#include "kube/pause.h"

/* What became of pods, told to people as events.k8s.io/v1.
 *
 * Events trail behind: they wait in a queue, few of them are on their way while bindings are, and
 * when the queue is full the oldest is dropped and counted. The same again soon after becomes a
 * series: the second time is written, later ones are counted, and the count is written once in a
 * while and at the end.
 *
 * When the server is gone or overloaded all of them wait; then one goes ahead, and the others
 * follow when it was written. One that the server cannot store is tried again behind the others. */

enum event_kind {
    EVENT_SCHEDULED,
    EVENT_FAILED_SCHEDULING,
    EVENT_PREEMPTED,
    EVENT_MALFORMED,
    EVENT_APART,
    EVENT_LEADER,
    EVENT_RESERVED, /* from here on `about_kind` and `about_version` say what it is about */
    EVENT_EXPIRED,
    EVENT_GROUP_SCHEDULED,
    EVENT_GROUP_UNSCHEDULED,
};

/* Texts are copied, but for those of the kind, which last. */
struct event_about {
    enum event_kind kind;
    const char *about_kind, *about_version; /* NULL: what the kind of event is about */
    struct str namespace, name;             /* of the pod, the lease, …; a node has none */
    struct str uid;                         /* may be empty */
    uint64_t version;                       /* of the pod; 0: unknown */
    struct str scheduler;                   /* the pod's schedulerName */
    struct str note;
};

struct event_stats {
    uint64_t sent, dropped, failed;
};

struct event_item;
struct event_series;

struct events {
    struct str host; /* of this machine; owned by who called events_init() */
    bool is_silent;  /* nothing is told; may be set at any time */
    struct rng rng;
    const struct listener *listener;
    request_id last_id;
    VEC(struct event_item *) queue; /* from `head` on, oldest first */
    uint32_t head;
    VEC(struct event_item *) sent; /* under way */
    struct pause pause;            /* since the last one was written */
    int64_t again_ms;              /* nothing is sent before */
    int said_status;               /* of the trouble last told about; -1: none */
    VEC(struct event_series *) series;
    VEC(uint32_t) series_free;
    uint32_t series_hand; /* who goes next when there are too many */
    struct map series_of; /* what it is about → its place in `series` */
    uint64_t last_name;   /* names are times, made unique */
    int64_t due_ms;       /* of the series */
    struct event_stats stats;
    struct buf text;
    struct arena mem;
};

/* Its requests have the ids after `id`. */
void events_init(struct events *v, struct str host, request_id id, uint64_t seed,
                 const struct listener *listener);
void events_done(struct events *v);

/* Gives back the room that nothing needs now. */
void events_trim(struct events *v);

void events_add(struct events *v, int64_t now_ms, const struct event_about *about);
void events_hear(struct events *v, int64_t now_ms, const struct reply *reply);

/* Sends what may be sent: little while bindings are under way. */
void events_tick(struct events *v, int64_t now_ms, bool are_binds_under_way, struct requests *out);

/* When events_tick() has something to do; INT64_MAX: nothing. */
int64_t events_next_ms(const struct events *v, int64_t now_ms, bool are_binds_under_way);

/* Those that are not written yet. */
uint32_t events_waiting(const struct events *v);
