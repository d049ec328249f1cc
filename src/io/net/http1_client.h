#pragma once

#include "core/base/str.h"
#include "io/loop/loop.h"
#include "io/net/link.h"

/* Calls to one HTTP/1.1 server. Connections are made when there is something to say, kept for the
 * next call while the server lets us, and closed when they have been idle for a while. Calls wait
 * in order while all connections that there may be are busy.
 *
 * A call on a kept connection that ends before the server says a word goes once more, on a new one,
 * if it may be sent twice: the server had closed it while nobody looked. */

struct http1_client;

struct http1_call {
    uint64_t id;
    struct str path; /* with its query */
    struct str content_type;
    struct str body;
    int64_t timeout_ms; /* from when a connection takes it until the answer is whole */
    bool may_repeat;
};

enum http1_piece_kind {
    HTTP1_STATUS,
    HTTP1_DATA,
    HTTP1_END,  /* the answer is whole */
    HTTP1_LOST, /* there will be no more of it */
};

/* One piece of an answer; texts are valid during the call. After HTTP1_END and HTTP1_LOST nothing
 * more comes. */
struct http1_piece {
    uint64_t id;
    enum http1_piece_kind kind;
    int status;
    struct str data;
    bool may_have_arrived; /* of what is lost: the server may have acted on it */
    struct str error;      /* of what is lost, in the words of Go's client where it has some */
};

struct http1_client_config {
    struct link_config link; /* its texts and `tls` must outlive the client */
    struct str user_agent;
    uint32_t connections_most;
    int64_t idle_ms;   /* that an unused connection is kept */
    size_t bytes_most; /* of an answer's body */
};

struct http1_owner {
    void (*deliver)(void *ctx, const struct http1_piece *piece);
    void *ctx;
};

struct http1_client *http1_client_new(struct loop *l, const struct http1_client_config *config,
                                      struct http1_owner owner);

/* Whatever is under way is lost, and the owner is told so. Not from within a call of the owner. */
void http1_client_free(struct http1_client *h);

/* Posts, when its turn comes; all of it is copied. */
void http1_client_send(struct http1_client *h, const struct http1_call *call);
