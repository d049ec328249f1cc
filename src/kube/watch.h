#pragma once

#include "core/model/template.h"
#include "core/wire/frames.h"
#include "kube/answer.h"
#include "kube/kinds.h"
#include "kube/known.h"
#include "kube/listen.h"
#include "kube/pause.h"

/* One kind of object, kept in step with the API server.
 *
 * It asks for a stream that begins with all objects and goes on with their changes (WatchList); a
 * server that refuses is asked for a list in pages and a watch from there. A watch that ends goes
 * on from the last version seen; one that is too old fills anew. Whatever happens, what was passed
 * on stays: objects are compared by their names with those that are still there, and only what
 * vanished is removed. Of one object, the order of the stream counts. */

enum watch_state {
    WATCH_IDLE,
    WATCH_FILLING,     /* a stream that begins with everything there is */
    WATCH_LISTING,     /* the same in pages, where the server cannot stream it */
    WATCH_WATCHING,    /* from a version on; it may be that the stream has not been opened yet */
    WATCH_FILL_LATER,  /* a pause, then filling */
    WATCH_LIST_LATER,  /* a pause, then listing */
    WATCH_WATCH_LATER, /* a pause, then watching from the last version */
    WATCH_ABSENT,      /* the server does not serve this kind: asked again once a minute */
};

struct watch {
    const struct watched *kind;
    const char *api_version;
    const struct listener *listener;
    struct rng rng;
    struct pause pause, away; /* after trouble with the server, and without one */

    enum watch_state state;
    request_id last_id; /* ids count up from what watch_init() was given */
    request_id current; /* the request under way; 0: none */
    bool is_stream;     /* it is a stream, and has begun well */
    int64_t due_ms;     /* when watch_tick() has something to do */
    int64_t opened_ms;
    struct answer answer;
    struct frames frames; /* of the stream */
    bool has_frames;      /* one has come */
    struct buf version;   /* the last one seen that a watch may begin from; "": none */
    struct buf next;      /* of a list: where to continue */
    struct known known;
    struct templates templates; /* of pods */
    bool is_filled;             /* everything was passed on once, or there was no such kind */
    uint32_t denials;           /* before that: how often it was not to be read */
    int said_status; /* of the trouble last told about, so that it is told once; -1: none */

    struct buf text;
    struct arena mem; /* of one frame or page */
};

/* Its requests have the ids after `id`. */
void watch_init(struct watch *w, const struct watched *kind, request_id id, uint64_t seed,
                const struct listener *listener);
void watch_done(struct watch *w);

/* Gives back the room that nothing needs now, and forgets templates; not from within a call. */
void watch_trim(struct watch *w);

/* The server serves the kind, and this is the version to read, or (NULL) it does not, as far as
 * discovery can tell. Objects are the same in all versions, so whatever is under way goes on, and
 * the next request asks for this one. */
void watch_discovered(struct watch *w, int64_t now_ms, const char *api_version,
                      struct requests *out);

/* A piece of a reply; others' replies are passed over. */
void watch_hear(struct watch *w, int64_t now_ms, const struct reply *reply, struct requests *out);

/* Does what is due. */
void watch_tick(struct watch *w, int64_t now_ms, struct requests *out);

/* When something is due; INT64_MAX: nothing, until a reply comes. */
static inline int64_t watch_next_ms(const struct watch *w)
{
    return w->due_ms;
}

/* Objects are coming, and there are more. */
static inline bool watch_is_filling(const struct watch *w)
{
    return w->state == WATCH_FILLING && w->has_frames;
}

/* Everything there was has been passed on, or there is nothing to pass on. */
static inline bool watch_is_synced(const struct watch *w)
{
    return w->is_filled;
}
