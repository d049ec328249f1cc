#pragma once

#include "core/base/buf.h"
#include "core/base/str.h"
#include "io/loop/loop.h"
#include "io/net/tls.h"

/* Bytes to and from one server: finds its address, connects, asks a proxy to connect us if there is
 * one, shakes hands, and from then on carries what both sides say, until one ends it. */

struct link;

struct link_config {
    struct str host; /* a name or an address */
    uint16_t port;
    struct str proxy_host; /* of an HTTP proxy that understands CONNECT; empty: none */
    uint16_t proxy_port;
    struct str proxy_authorization; /* the header's value, or empty */
    struct tls *tls;                /* NULL: the bytes travel as they are */
    struct str server_name;         /* whom the certificate must name; empty: the host */
    struct str protocol;            /* what is spoken over TLS */
    int64_t open_timeout_ms;        /* to find an address, and to open a link to each */
};

/* What the owner is told. After `broke`, for a reason in one line, the link is no more; the server
 * has said all that it had to say only if it `is_over`. */
struct link_owner {
    void (*opened)(void *ctx);
    void (*received)(void *ctx, struct str bytes);
    void (*drained)(void *ctx); /* what had to wait has been written */
    void (*broke)(void *ctx, const char *why, bool is_over);
    void *ctx;
};

/* The configuration is copied; its texts and `tls` are needed until the link is open. */
struct link *link_open(struct loop *l, const struct link_config *config, struct link_owner owner);

/* What is added here is written by link_flush(); what the socket does not take now, when it does.
 */
struct buf *link_out(struct link *k);
void link_flush(struct link *k);

/* Bytes that have left this process, and those that were to. */
uint64_t link_written(const struct link *k);
uint64_t link_added(const struct link *k);

/* Gives back the room that no bytes need now. */
void link_trim(struct link *k);

/* Ends it at once, also from within a call; the owner hears nothing any more. */
void link_close(struct link *k);

/* Adds host:port, an IPv6 address in brackets. */
void link_place(struct buf *out, struct str host, uint16_t port);
