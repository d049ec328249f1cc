#pragma once

#include "core/base/buf.h"
#include "core/model/envelope.h"
#include "kube/request.h"

/* The reply to one request, put together from its pieces, and what a refusal means. */
struct answer {
    int status; /* 0: nothing has come yet */
    int64_t retry_after_ms;
    struct buf content_type;
    struct buf body;
    bool is_cut; /* the body was longer than the limit */
};

/* Takes a REPLY_HEAD or REPLY_DATA in; of the body at most `most_bytes` are kept. */
void answer_add(struct answer *a, const struct reply *reply, size_t most_bytes);

/* The object in the body. */
bool answer_read(const struct answer *a, struct arena *mem, struct envelope *out,
                 struct error *e) MUST_USE;

/* How the body is written; ENCODING_NONE, with `e` set: in no way that we read, as a proxy's is. */
enum encoding answer_encoding(const struct answer *a, struct error *e);

void answer_clear(struct answer *a);
void answer_done(struct answer *a);

/* Why something was not done: a metav1.Status, or what took its place. Texts live in the arena it
 * was read with, or in the answer. */
struct trouble {
    int status;        /* 403, 410, …; 0: the connection was lost, or the answer makes no sense */
    bool is_lost;      /* the connection was */
    struct str reason; /* Expired, AlreadyExists, … */
    struct str message; /* for people */
    struct str cause; /* details.causes[0].reason: NamespaceTerminating, ResourceVersionTooLarge */
    int64_t retry_after_ms; /* -1: the server said nothing */
};

struct trouble trouble_of_status(const struct status *status);
struct trouble trouble_of_answer(const struct answer *a, struct arena *mem);
struct trouble trouble_of_lost(const struct reply *reply);

/* The resource version is too old, or from a future the server does not know: list again. */
bool trouble_is_expired(const struct trouble *t);

/* A right is missing. It may be granted: servers that have just started deny everything for a
 * moment. */
bool trouble_is_denied(const struct trouble *t);

/* The server will do it later: the same again after a pause. */
bool trouble_is_passing(const struct trouble *t);

/* The object is gone, or is not the one that was meant: what was to be said of it is of no use. */
bool trouble_is_overtaken(const struct trouble *t);
