#pragma once

#include "core/base/buf.h"
#include "io/net/http1.h"

/* An HTTP/1.1 reply, read as its bytes come. Its body is passed on in pieces; its end is known by a
 * length, by chunks, or by the end of the connection. What could be read in two ways is refused. */

enum http1_reply_state {
    HTTP1_HEAD,
    HTTP1_LENGTH, /* so many bytes of the body are left */
    HTTP1_CHUNK_LINE,
    HTTP1_CHUNK,
    HTTP1_CHUNK_END, /* the end of line behind a chunk */
    HTTP1_TRAILER,
    HTTP1_UNTIL_CLOSE,
    HTTP1_WHOLE,
    HTTP1_BROKEN,
};

struct http1_reply {
    enum http1_reply_state state;
    int status;
    bool keeps_alive; /* the connection serves another request after this */
    struct str error; /* of HTTP1_BROKEN */
    struct buf text;  /* a head or a line that is not whole yet */
    int64_t left;
    uint32_t heads; /* that came before: 100 Continue and the like */
};

/* {0} is the beginning of a reply. */
void http1_reply_done(struct http1_reply *r);
void http1_reply_clear(struct http1_reply *r);

/* Takes bytes in, as far as they belong to this reply, off `*bytes`; gives the next piece of its
 * body, empty if there is none in them. To be called until `*bytes` is empty or the reply is whole
 * or broken. */
struct str http1_reply_take(struct http1_reply *r, struct str *bytes);

/* The connection has ended, as the server wanted (`is_over`) or not: is the reply whole? */
bool http1_reply_end(struct http1_reply *r, bool is_over);

static inline bool http1_reply_has_head(const struct http1_reply *r)
{
    return r->state != HTTP1_HEAD && r->state != HTTP1_BROKEN;
}
