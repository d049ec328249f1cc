#pragma once

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/base/vec.h"

/* What we want to say to an API server, and what it answers, as data. The state machines of this
 * folder turn replies and the time into requests and changes; whoever carries them (io/api on
 * sockets, a simulated API server in tests) knows nothing of their meaning. */

typedef uint64_t request_id;

/* Requests of different lanes never wait for each other: each lane has connections of its own. */
enum lane {
    LANE_READ,   /* lists, watches, discovery */
    LANE_WRITE,  /* bindings, evictions, status */
    LANE_EVENTS, /* events: they may lag behind */
    LANE_LEASE,
    LANE_COUNT,
};

enum verb { VERB_GET, VERB_POST, VERB_PUT, VERB_PATCH, VERB_DELETE };

struct request {
    request_id id; /* unique; chosen by who asks */
    enum lane lane;
    enum verb verb;
    struct str path;         /* with its query: /api/v1/nodes?limit=500 */
    struct str accept;       /* empty: application/json */
    struct str content_type; /* of the body; empty: no body */
    struct str body;
    bool is_stream;     /* a watch: its reply comes in pieces and has no natural end */
    int64_t timeout_ms; /* until the reply is whole (of a stream: until its head); 0: none */
    uint32_t extender;  /* it is for this extender, + 1, and `path` is its verb; 0: for the API
                         * server */
    bool is_question;   /* to an extender: it may be asked twice */
};

/* Texts live in `mem` until the requests are cleared. */
struct requests {
    VEC(struct request) list;
    VEC(request_id) cancelled; /* of no interest any more: their streams are closed */
    struct arena mem;
    struct buf scratch; /* where a body is put together */
};

enum reply_kind {
    REPLY_HEAD, /* the status has come; of a stream, at once */
    REPLY_DATA, /* a piece of the body, in order */
    REPLY_END,  /* it is whole; nothing more comes for this id */
    REPLY_LOST, /* the connection broke, a time ran out: nothing more comes for this id */
};

/* One piece of an answer; texts are valid during the call. */
struct reply {
    request_id id;
    enum reply_kind kind;
    int status;              /* of REPLY_HEAD and after: 200, 409, … */
    struct str content_type; /* of REPLY_HEAD */
    int64_t retry_after_ms;  /* of REPLY_HEAD; -1: the server said nothing */
    struct str data;         /* of REPLY_DATA */
    bool may_have_arrived;   /* of REPLY_LOST: the server may have acted on it */
    struct str error;        /* of REPLY_LOST */
};

void requests_clear(struct requests *r);
void requests_done(struct requests *r);
