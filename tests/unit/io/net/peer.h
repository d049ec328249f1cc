#pragma once

#include "certs.h"
#include "io/loop/loop.h"

/* A real HTTP/2 server on a free port of the loopback, in the same loop as the test. What it does
 * is in the path:
 *
 *     /echo…        200 and a line: method, path, headers of interest, body
 *     /status/N     N, content-type application/json, the body {"code":N}; with /status/N/after/S
 * retry-after S /stream       200 and "one\n", "two\n" as two frames, then nothing more /bytes/N
 * 200 and N bytes /empty        200 without a body /hang         nothing /refuse       the stream
 * is refused; /refuse/N: the first N times, then as /echo /reset        the stream is reset with
 * INTERNAL_ERROR /goodbye      GOAWAY, then as /echo /goodbye/all  GOAWAY that denies this very
 * stream, then the connection ends /drop         the connection ends */

struct peer;

struct peer_config {
    bool is_tls;
    bool wants_client;     /* a client's certificate, signed by the CA */
    const char *protocol;  /* that it speaks over TLS; NULL: h2 */
    uint32_t streams_most; /* 0: 100 */
    uint32_t window_bytes; /* that it takes before it has looked at them; 0: 64 KiB */
    uint16_t port;         /* 0: any that is free */
    bool is_leaving;       /* says goodbye to whoever comes */
};

struct peer *peer_new(struct loop *l, const struct peer_config *config);

/* The listener and all connections end. */
void peer_free(struct peer *p);

uint16_t peer_port(const struct peer *p);
uint32_t peer_accepted(const struct peer *p);  /* connections, ever */
uint32_t peer_connected(const struct peer *p); /* now */
uint32_t peer_streams(const struct peer *p);   /* the most at once on one connection */
uint32_t peer_resets(const struct peer *p);    /* streams that clients closed */

/* Neither reads nor writes any more, as a machine that lost its power. */
void peer_freeze(struct peer *p);

/* Tells all clients to go, as a server that is about to end. */
void peer_say_goodbye(struct peer *p);
