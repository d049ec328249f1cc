#pragma once

#include "core/base/vec.h"
#include "kube/answer.h"
#include "kube/kinds.h"

/* All objects of every kind that is read here, once, as a list that files may hold: what the
 * commands that work on files are given. Kinds that the server does not serve have no objects; of
 * those that we may not read, the list says so. One request is under way at a time. */

enum collected { COLLECTED_NOT_YET, COLLECTED, COLLECTED_NONE_SERVED, COLLECTED_DENIED };

struct collect {
    request_id last_id, current; /* 0: nothing is under way */
    uint32_t kind;               /* of watched_kinds; WATCHED_COUNT: all are done */
    uint32_t version;            /* of the kind: 0 is the newest */
    uint32_t tries;              /* of this page, that came to nothing */
    int64_t due_ms;              /* no sooner it is asked again */
    struct buf next;             /* where the list goes on */
    struct answer answer;
    struct {
        enum collected how;
        struct buf items; /* with a comma and a line's end behind each */
        uint32_t n;
    } kinds[WATCHED_COUNT];
    struct buf path, trouble; /* what ended it all; empty: nothing */
};

void collect_init(struct collect *c, request_id id);
void collect_done(struct collect *c);

/* The next request, if none is under way. */
void collect_ask(struct collect *c, int64_t now_ms, struct requests *out);
void collect_hear(struct collect *c, int64_t now_ms, const struct reply *reply);

static inline bool collect_is_over(const struct collect *c)
{
    return c->kind == WATCHED_COUNT || c->trouble.n;
}

/* The whole as a List in JSON, with what was read and what was not as annotations; `at` is the time
 * as the API spells it. */
void collect_write(const struct collect *c, struct str at, struct buf *out);
