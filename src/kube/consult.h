#pragma once

#include "core/base/map.h"
#include "kube/answer.h"
#include "kube/listen.h"

/* What the engine wants to know of extenders becomes requests, and what they say is told back.
 *
 * Extenders are shown the whole pod, and the engine keeps only what it decides by: so the pod is
 * first read from the API server, as JSON, and passed on as it came. It is remembered until it
 * changes, for the other questions of the same decision. */

struct inquiry {
    effect_id effect; /* 0: free */
    uint32_t extender;
    enum extender_verb verb;
    request_id current;
    bool is_reading; /* the pod, at the API server */
    struct arena mem;
    struct str namespace, pod, uid;
    LIST(struct str) nodes;
    LIST(struct extender_victims) victims;
    struct answer answer;
};

/* An object as the API server wrote it. */
struct raw_object {
    uint64_t key;         /* of its name */
    struct str uid, json; /* one block, at `uid` */
};

struct consult {
    const struct listener *listener;
    const struct extender *extenders;
    uint32_t n_extenders;
    request_id last_id;
    VEC(struct inquiry) list;
    struct map by_request;       /* → inquiry */
    VEC(struct raw_object) pods; /* that were read, the oldest first */
    struct arena mem;
};

/* Its requests have the ids after `id`. */
void consult_init(struct consult *c, request_id id, const struct listener *listener);
void consult_done(struct consult *c);

/* Others from now on; what was asked of the old ones is forgotten. */
void consult_set_extenders(struct consult *c, const struct extender *extenders, uint32_t n);

void consult_take(struct consult *c, int64_t now_ms, const struct effects *effects,
                  struct requests *out);

/* A pod came, changed or went. */
void consult_see(struct consult *c, const struct change *change);

void consult_hear(struct consult *c, int64_t now_ms, const struct reply *reply,
                  struct requests *out);

/* What the whole reply of an extender means: `end` is its last piece. Failures are in upstream's
 * words. Texts live in `mem` or in the reply. */
void extender_hear(const struct extender *x, enum extender_verb verb, const struct reply *end,
                   const struct answer *reply, struct arena *mem, struct extender_answer *out);
