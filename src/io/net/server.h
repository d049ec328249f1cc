#pragma once

#include "core/base/error.h"
#include "io/loop/loop.h"
#include "io/net/http1.h"
#include "io/net/tls.h"

/* HTTP/1.1 over TLS for others to ask us. Questions have no body; answers are made by the owner, at
 * once or later.
 *
 * Nobody who connects can keep the loop from its work: what is done for clients in one turn is
 * limited to a millisecond, and after a full one to a millisecond in eleven; there are only so many
 * connections, of which the one that has kept us waiting longest makes room for a new one; all that
 * a client sends and reads has a largest size and a time. */

struct server;

struct server_config {
    struct str address; /* a numeric one; 0.0.0.0 and :: are all, of both families */
    uint16_t port;      /* 0: any, see server_port() */
    uint32_t connections_most;
    size_t answers_most;    /* bytes of answers that wait to be read, all together */
    int64_t head_wait_ms;   /* from the connection, or a request's first byte, to its whole head */
    int64_t idle_wait_ms;   /* between requests */
    int64_t answer_wait_ms; /* for the owner to answer, and for the client to read that */
};

/* 256 connections, 16 MiB; 10 s, 90 s, 30 s. */
extern const struct server_config server_usual;

typedef uint64_t server_id; /* of a question */

struct server_owner {
    /* The request is valid until it is answered, by server_answer(), also from within. */
    void (*ask)(void *ctx, server_id id);
    void *ctx;
};

/* NULL with `e` set if the address is none or is taken. Without a certificate it does not answer.
 */
struct server *server_new(struct loop *l, const struct server_config *config,
                          struct server_owner owner, struct error *e) MUST_USE;

/* Not from within a question. */
void server_free(struct server *s);

/* The certificate for connections from now on. Takes `t`. */
void server_use(struct server *s, struct tls *t);

uint16_t server_port(const struct server *s);

/* What was asked, and who asks as far as TLS tells; false: nobody waits for the answer any more. */
bool server_request(const struct server *s, server_id id, struct http1_request *out) MUST_USE;
enum tls_client server_client(const struct server *s, server_id id, struct arena *mem,
                              struct tls_identity *out);

struct server_answer {
    int status;
    struct str content_type;
    struct str body;
    struct str headers; /* further lines, each with its end */
};

/* All is copied. Nothing happens if nobody waits any more. */
void server_answer(struct server *s, server_id id, const struct server_answer *answer);

struct server_stats {
    uint32_t connections;           /* that are open now */
    uint64_t accepted, turned_away; /* given up for others, or for taking too long */
    uint64_t requests;
};

struct server_stats server_stats(const struct server *s);
