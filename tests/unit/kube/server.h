#pragma once

#include "core/base/buf.h"
#include "core/base/rng.h"
#include "kube/request.h"

/* A small API server as data: pods, nodes, volumes and one lease, with a history that can be
 * watched, listed in pages and compacted. Nothing happens but in its calls, at the times they name.
 *
 * With `has_volumes`, pods with odd numbers have a claim of their own, which waits for them;
 * once a volume is told whose it is, the claim is bound, and a volume whose claim is gone is free.
 *
 * While `is_faulty`, calls get lost before or after they are carried out or are answered with
 * errors, and streams break. */

enum { SERVER_NAMES = 24, SERVER_PODS_A_NODE = 4 };

enum sort { SORT_POD, SORT_NODE, SORT_VOLUME, SORT_CLAIM, SORT_CLASS, SORT_COUNT };

/* A state of one thing. Things have numbers for names: pod 7 is p7, node 2 is n2, volume 3 is v3.
 */
struct entry {
    int64_t version;
    enum sort thing;
    uint32_t name, uid;
    int node; /* of a pod: where it is; of a volume, its claim; of a claim, its volume; -1: none */
    uint32_t of_uid; /* of a volume or a pod: its claim's, which is called after it; 0: none */
    bool is_gone;
};

struct call;
struct stream;

struct server {
    struct rng rng;
    bool is_faulty, is_down;
    bool can_stream; /* WatchList */
    bool has_volumes, has_storage_news;
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
    uint32_t claimed, stolen, early; /* volumes that were told whose they are; that were another's
                                      * by then; pods bound before their claims were */
};

void server_init(struct server *s, uint64_t seed);
void server_done(struct server *s);

/* What is so now; NULL if it does not exist. */
const struct entry *server_find(const struct server *s, enum sort thing, uint32_t name);

void server_create(struct server *s, enum sort thing, uint32_t name);
void server_delete(struct server *s, enum sort thing, uint32_t name);

/* Takes requests in, and clears them. */
void server_take(struct server *s, int64_t now_ms, struct requests *out);

/* Carries out what is due; the answers are in `replies` until server_forget(). */
void server_tick(struct server *s, int64_t now_ms);
void server_forget(struct server *s);

/* Everything under way breaks, half of it after it was carried out. */
void server_break(struct server *s);
void server_compact(struct server *s);
