#pragma once

#include "certs.h"
#include "core/base/buf.h"
#include "io/net/link.h"

/* A client of an HTTP/1.1 server in this process, which says what it is told to say. */
struct caller {
    struct loop *loop;
    struct tls *tls;
    struct link *link; /* NULL: over */
    struct buf heard;
    struct buf why; /* it is over */
    bool is_open;
};

/* As the client of tests/unit/io/net/certs.h, if it is to show a certificate. */
void caller_start(struct caller *c, struct loop *l, uint16_t port, bool shows_certificate);
void caller_done(struct caller *c);

void caller_say(struct caller *c, const char *text);

/* Until it has heard the text, or hears nothing any more; false after 20 s. */
bool caller_hears(struct caller *c, const char *text);
bool caller_ends(struct caller *c);

/* "GET path" with the further header lines; the whole answer. */
const char *caller_get(struct caller *c, const char *path, const char *headers);
