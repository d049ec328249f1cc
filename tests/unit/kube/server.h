#pragma once

#include "core/base/buf.h"
#include "core/base/rng.h"
#include "kube/request.h"

/* A small API server as data: pods, nodes and one lease, with a history that can be watched, listed
 * in pages and compacted. Nothing happens but in its calls, at the times they name.
 *
 * While `is_faulty`, calls get lost before or after they are carried out or are answered with
 * errors, and streams break. */

enum { SERVER_NAMES = 24, SERVER_PODS_A_NODE = 4 };

enum thing { THING_POD, THING_NODE, THING_COUNT };

/* A state of one thing. Things have numbers for names: pod 7 is p7, node 2 is n2. */
struct entry {
    int64_t version;
    enum thing thing;
    uint32_t name, uid;
    int node; /* of a pod: where it is; -1: nowhere */
    bool is_gone;
};

struct call;
struct stream;

struct server {
    struct rng rng;
    bool is_faulty, is_down;
    bool can_stream;           /* WatchList */
    VEC(struct entry) history; /* version i + 1 is history.at[i] */
    int64_t compacted;         /* versions before this cannot be read any more */
    uint32_t uids;
    VEC(struct call) calls;
    VEC(struct stream) streams;
    VEC(struct reply) replies; /* to be heard, oldest first; their texts live in `mem` */
    struct arena mem;
    int64_t lease_version;
    struct buf lease_spec;
    struct buf last_event;                     /* as it was posted */
    uint32_t binds, overfull, events, patches; /* carried out; overfull: binds onto a full node */
};

void server_init(struct server *s, uint64_t seed);
void server_done(struct server *s);

/* What is so now; NULL if it does not exist. */
const struct entry *server_find(const struct server *s, enum thing thing, uint32_t name);

void server_create(struct server *s, enum thing thing, uint32_t name);
void server_delete(struct server *s, enum thing thing, uint32_t name);

/* Takes requests in, and clears them. */
void server_take(struct server *s, int64_t now_ms, struct requests *out);

/* Carries out what is due; the answers are in `replies` until server_forget(). */
void server_tick(struct server *s, int64_t now_ms);
void server_forget(struct server *s);

/* Everything under way breaks, half of it after it was carried out. */
void server_break(struct server *s);
void server_compact(struct server *s);
