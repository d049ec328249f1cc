#pragma once

#include "kube/answer.h"
#include "kube/kinds.h"
#include "kube/listen.h"
#include "kube/pause.h"

/* What the server serves of what we watch: each API group is asked for its resources, once a minute
 * and when somebody says that a kind is gone. What could not be learnt stays as it was. Of a kind
 * that we know in several versions, the newest that is served counts. */

enum { VERSIONS_MOST = 1 + OLDER_MOST };

enum served { SERVED_UNKNOWN, SERVED_YES, SERVED_NO };

struct discover {
    const struct listener *listener;
    struct rng rng;
    struct pause pause;
    request_id last_id;
    int64_t began_ms, due_ms;
    struct {
        const char *api_version;
        request_id current; /* 0: nothing under way */
        struct answer answer;
    } groups[WATCHED_COUNT * VERSIONS_MOST];
    uint32_t n_groups;
    enum served versions[WATCHED_COUNT][VERSIONS_MOST]; /* of each kind, the newest first */
    bool writes_whole[WATCHED_COUNT][VERSIONS_MOST];    /* a status is no resource of its own */
    bool is_wanted[WATCHED_COUNT];
    int said_status; /* of the trouble last told about; -1: none */
    struct buf text;
    struct arena mem;
};

/* Its requests have the ids after `id`. */
void discover_init(struct discover *d, int64_t now_ms, request_id id, uint64_t seed,
                   const struct listener *listener);
void discover_done(struct discover *d);

/* True when something was learnt: `served` may differ. */
bool discover_hear(struct discover *d, int64_t now_ms, const struct reply *reply) MUST_USE;

/* From now on this kind is looked for, too; the others are from the beginning. */
void discover_want(struct discover *d, int64_t now_ms, uint32_t kind);

/* Is the kind served? If so, `version` receives the newest; unknown while a newer one may be,
 * and while nobody wants it. */
enum served discover_served(const struct discover *d, uint32_t kind, const char **version);

/* Is the status of such an object written with the object itself, in this version? A custom kind
 * may have no status subresource: a patch of one would be answered as if the object were gone. */
bool discover_writes_whole(const struct discover *d, uint32_t kind, const char *version);

void discover_tick(struct discover *d, int64_t now_ms, struct requests *out);

/* Ask again soon: a kind was not found. */
void discover_doubt(struct discover *d, int64_t now_ms);

static inline int64_t discover_next_ms(const struct discover *d)
{
    return d->due_ms;
}
