#pragma once

#include "core/base/map.h"
#include "core/base/rng.h"
#include "kube/events.h"
#include "kube/pending.h"
#include "kube/write.h"

/* What the engine wants done becomes requests, and how they ended is told back.
 *
 * A binding is posted with the pod's uid. Refused, it is settled as failed. Whether one that got no
 * clear answer was carried out is found out before it is settled: the pod is read, or the watch
 * says where it is; until then the engine keeps its room. One that turns out not to have been
 * carried out is posted again, to the same node: a late arrival of the first does no harm then.
 *
 * A refusal becomes the pod's condition PodScheduled=False, written when it differs from what the
 * pod was last told, and an event; a nomination is written with it, or alone. Of each pod at most
 * one such patch is on its way, and no binding beside it, so that the last word is the last one
 * written.
 *
 * Objects that a pod needs before it can be bound are patched, only over the version we know: so
 * one that got no clear answer is sent again until there is one. A conflict then means that
 * somebody wrote first, perhaps we ourselves: the engine waits for the object and sees.
 *
 * A pod that is evicted is first told why, then deleted, as what it is to the uid. That it is gone
 * already is as good. Of several that are of use together only, the server is first asked whether
 * it would delete each of them (a dry run); if it would not one, none is told or deleted. */

/* What may be in trouble, each for itself. */
enum deed { DEED_BIND, DEED_PATCH, DEED_DELETE, DEED_ASK, DEED_OBJECT, DEED_COUNT };

struct dispatch_stats {
    uint64_t bound, refused, doubted, retried, told, untold, evicted;
};

struct dispatch {
    const struct listener *listener;
    struct events *events;
    struct pending pending;
    struct rng rng;
    request_id last_id;
    struct writes writes;
    struct map by_request; /* → write */
    VEC(uint32_t) queue;   /* patches that wait, from `head` on; numbers of writes */
    uint32_t head;
    int said_status[DEED_COUNT]; /* of the trouble last told about; -1: none */
    struct dispatch_stats stats;
    struct buf text;
    struct arena mem;
};

/* Its requests have the ids after `id`. */
void dispatch_init(struct dispatch *d, request_id id, uint64_t seed, struct events *events,
                   const struct listener *listener);
void dispatch_done(struct dispatch *d);

/* Gives back the room that nothing needs now. */
void dispatch_trim(struct dispatch *d);

/* Carries the effects out. */
void dispatch_take(struct dispatch *d, int64_t now_ms, const struct effects *effects,
                   struct requests *out);

/* A pod came, changed or went: to be told after the engine was. */
void dispatch_see(struct dispatch *d, int64_t now_ms, const struct change *change,
                  struct requests *out);

void dispatch_hear(struct dispatch *d, int64_t now_ms, const struct reply *reply,
                   struct requests *out);
void dispatch_tick(struct dispatch *d, int64_t now_ms, struct requests *out);

/* When dispatch_tick() has something to do; INT64_MAX: nothing. */
int64_t dispatch_next_ms(const struct dispatch *d);

/* Bindings that are not settled. */
static inline uint32_t dispatch_binds(const struct dispatch *d)
{
    return d->writes.binds;
}
