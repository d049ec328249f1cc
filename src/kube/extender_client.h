#pragma once

#include "core/base/map.h"
#include "kube/answer.h"
#include "kube/listen.h"
#include "kube/raw.h"

/* What the engine wants to know of extenders becomes requests, and what they say is told back.
 *
 * Extenders are shown the whole pod, those that do not know the nodes all of these, too, and the
 * engine keeps only what it decides by. So these objects are read from the API server when they
 * must be shown, as JSON, and passed on as they came. They are remembered (pods for a while, nodes
 * for ever) and read again when the watch has told of something newer. */

struct extender_request {
    effect_id effect; /* 0: free */
    uint32_t extender;
    enum extender_verb verb;
    request_id current; /* at the extender; 0: what it must be shown is not all here */
    struct arena mem;
    VEC(uint32_t) needs; /* in `raws`: the pod, then nodes or victims */
    LIST(struct str) nodes;
    LIST(struct extender_victims) victims;
    struct answer answer;
};

/* A request for an object, or for a page of the list of nodes. */
struct raw_fetch {
    request_id id;
    uint32_t raw; /* UINT32_MAX: nodes */
    struct answer answer;
};

struct extender_client {
    const struct listener *listener;
    const struct extender *extenders;
    uint32_t n_extenders;
    request_id last_id;
    VEC(struct extender_request) list;
    struct map by_request; /* → inquiry */
    struct raws raws;
    VEC(struct raw_fetch) fetches;
    request_id listing; /* of the list of nodes that is being read; 0: none is */
    struct arena mem;
};

/* Its requests have the ids after `id`. */
void extender_client_init(struct extender_client *c, request_id id,
                          const struct listener *listener);
void extender_client_done(struct extender_client *c);

/* Others from now on; what was asked of the old ones is forgotten. */
void extender_client_set_extenders(struct extender_client *c, const struct extender *extenders,
                                   uint32_t n);

void extender_client_take(struct extender_client *c, int64_t now_ms, const struct effects *effects,
                          struct requests *out);

/* An object came, changed or went. */
void extender_client_see(struct extender_client *c, const struct change *change);

void extender_client_hear(struct extender_client *c, int64_t now_ms, const struct reply *reply,
                          struct requests *out);

/* What the whole reply of an extender means: `end` is its last piece. Failures are in upstream's
 * words. Texts live in `mem` or in the reply. */
void extender_hear(const struct extender *x, enum extender_verb verb, const struct reply *end,
                   const struct answer *reply, struct arena *mem, struct extender_answer *out);
