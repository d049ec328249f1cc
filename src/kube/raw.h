#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/map.h"
#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/model/object.h"

/* Pods and nodes as the API server wrote them, in JSON, for those who must be shown all of it. The
 * table says what is here and how old it is; whoever needs an object holds it, and fetches it if it
 * is not here. */

enum raw_state {
    RAW_WANTED, /* it is not here */
    RAW_HERE,
    RAW_GONE, /* there is no such object */
};

struct raw {
    uint64_t key; /* 0: free */
    enum kind kind;
    enum raw_state state;
    struct str namespace, name, uid; /* of a pod; live behind `namespace` */
    uint64_t version;                /* of `json` */
    uint64_t seen;                   /* the newest that the watch told of */
    struct str json;                 /* owned */
    uint32_t users;
    uint64_t used;  /* when it was last held */
    uint64_t fetch; /* the request that brings it; 0: none */
};

/* Numbers stay while an object is held. */
struct raws {
    VEC(struct raw) at;
    VEC(uint32_t) free;
    struct map by_key;
    uint32_t n_pods; /* of them that nobody holds some are kept */
    uint64_t held;
};

void raws_done(struct raws *r);

/* An object that somebody needs now: if what is here is older than what the watch has told of, it
 * is wanted again. Of a node, only the name counts. */
uint32_t raws_hold(struct raws *r, enum kind kind, struct str namespace, struct str name,
                   struct str uid);
void raws_drop(struct raws *r, uint32_t i);

static inline struct raw *raws_at(const struct raws *r, uint32_t i)
{
    return &r->at.at[i];
}

/* The watch tells of an object. */
void raws_see(struct raws *r, enum kind kind, const struct meta *meta, bool is_gone);

/* The object as it came. False if it cannot be read, or is another one than was wanted. */
bool raws_put(struct raws *r, uint32_t i, struct str json, struct arena *mem,
              struct error *e) MUST_USE;

/* All nodes of a page of their list that somebody wants; the token of the next page lives in `mem`,
 * empty: this was the last. */
bool raws_put_page(struct raws *r, struct str json, struct arena *mem, struct str *next,
                   struct error *e) MUST_USE;

/* It is nowhere to be found. */
void raws_miss(struct raws *r, uint32_t i);
