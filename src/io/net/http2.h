#pragma once

#include "core/base/str.h"
#include "io/loop/loop.h"
#include "io/net/link.h"

/* Calls to one HTTP/2 server. A connection is made when there is something to say, and made again,
 * after a pause that grows with each failure, when it breaks. A server that says goodbye answers
 * what it has begun on the old connection while the new one already serves the rest. Calls wait in
 * order while there are too many on the way.
 *
 * A connection on which nothing is heard for a while is asked whether it lives, so that a peer that
 * vanished without a word is noticed. */

struct http2;

struct http2_call {
    uint64_t id;
    const char *method;
    struct str path;         /* with its query */
    struct str accept;       /* empty: application/json */
    struct str content_type; /* empty: no body */
    struct str body;
    bool is_stream;     /* the answer has no natural end */
    int64_t timeout_ms; /* until the answer is whole (of a stream: until its head); 0: none */
};

enum http2_piece_kind {
    HTTP2_HEAD,
    HTTP2_DATA,
    HTTP2_END,  /* the answer is whole */
    HTTP2_LOST, /* there will be no more of it */
};

/* One piece of an answer; texts are valid during the call. After HTTP2_END and HTTP2_LOST nothing
 * more comes. */
struct http2_piece {
    uint64_t id;
    enum http2_piece_kind kind;
    const char *method; /* of the call */
    int64_t took_ms;    /* of the head: since the call went */
    int status;
    struct str content_type; /* of the head */
    int64_t retry_after_ms;  /* of the head; -1: the server said nothing */
    struct str data;
    bool may_have_arrived; /* of what is lost: the server may have acted on it. Not so if no byte of
                              it left us, or the server said that it refused it */
    struct str error;      /* of what is lost */
};

struct http2_config {
    struct link_config link;
    struct str path_prefix; /* of all paths */
    struct str user_agent;
};

struct http2_law {
    uint64_t seed;                        /* of the pauses' jitter */
    int64_t retry_first_ms, retry_cap_ms; /* after a failure, each further one doubling it, */
    uint32_t retry_quick;                 /* but so many at first */
    int64_t ping_after_ms,
        ping_wait_ms;      /* silence that makes us ask, and how long we wait for an answer */
    uint32_t streams_most; /* on the way at once; a server may allow fewer */
};

/* What clients of Kubernetes do: 30 s and 15 s, 100 streams; but pauses of 50 ms for half a minute,
 * so that we are there as soon as a server is, and then up to 1 s. */
extern const struct http2_law http2_usual_law;

struct http2_owner {
    void (*deliver)(void *ctx, const struct http2_piece *piece);
    bool (*admit)(void *ctx); /* may one more call go now? NULL: always. See http2_resume() */
    void *ctx;
};

struct http2 *http2_new(struct loop *l, struct http2_law law, struct http2_owner owner);

/* Everything ends without a word. Not from within a call of the owner. */
void http2_free(struct http2 *h);

/* Where calls go, from the next connection on; before the first they wait. An open connection
 * serves out what is on it, then ends. The texts and the tls must stay as they are until the next
 * configuration. */
void http2_configure(struct http2 *h, const struct http2_config *config);

/* The value of the header `authorization` for calls that go from now on, or empty; copied. */
void http2_authorize(struct http2 *h, struct str authorization);

/* Puts a call in line; all of it is copied. */
void http2_send(struct http2 *h, const struct http2_call *call);

/* Makes a connection if there is none, so that the next call need not wait for one. */
void http2_connect(struct http2 *h);

/* The answer is of no interest any more: its stream is closed, and nothing more is delivered. */
void http2_cancel(struct http2 *h, uint64_t id);

/* admit() may say yes again. */
void http2_resume(struct http2 *h);

/* Gives back the room that no bytes need now. Not from within a call of the owner. */
void http2_trim(struct http2 *h);

/* Cuts all connections at once; all calls are lost. The next call makes a new connection. */
void http2_cut(struct http2 *h, const char *why);
