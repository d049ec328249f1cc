#pragma once

#include "io/net/http2.h"
#include "peer.h"

/* A client, and what it was told, as text: "1 head 200 application/json|1 data hello|1 end|".
 * Pieces of one body are joined; of a long one the length is told. */
struct talk {
    struct loop *loop;
    struct http2 *client;
    struct tls *tls;
    struct buf log;
    uint64_t last_data; /* id whose data was told last */
    uint32_t ended;     /* calls that came to an end */
    uint32_t most;      /* how many calls admit() still lets go; UINT32_MAX: all */
    void (*on_piece)(struct talk *t, const struct http2_piece *piece);
};

/* A client of the peer, with 20 ms pauses, as `law` says; {0}: the usual law. */
void talk_start(struct talk *t, struct loop *l, uint16_t port, bool is_tls);
void talk_start_law(struct talk *t, struct loop *l, uint16_t port, bool is_tls,
                    struct http2_law law);
void talk_done(struct talk *t);

void talk_get(struct talk *t, uint64_t id, const char *path);
void talk_post(struct talk *t, uint64_t id, const char *path, const char *body);

/* Until so many calls have ended, or the log holds the text; false after 20 s. */
bool talk_until_ended(struct talk *t, uint32_t ended);
bool talk_until(struct talk *t, const char *text);

/* What was told since the last question. */
const char *talk_log(struct talk *t);

/* A server and a client of it. */
struct pair {
    struct loop *loop;
    struct peer *peer;
    struct talk talk;
};

void pair_start(struct pair *p, struct peer_config config, struct http2_law law);
void pair_done(struct pair *p);
