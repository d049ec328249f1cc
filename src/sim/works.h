#pragma once

#include "core/base/heap.h"
#include "sim/books.h"

/* How far the pods of a simulated world have got with what they do (struct plan_work).
 *
 * A single pod gets on from the moment it runs. A gang gets on while at least its minimum of pods
 * run or have ended: until then those that run hold their place and do nothing. Nobody keeps
 * checkpoints: a pod that is taken away begins anew, and when too few are left, so does all of its
 * gang. */

#define NO_POD  UINT32_MAX
#define NO_NODE UINT32_MAX

/* Of one pod. */
struct run {
    int64_t since_ms; /* while it gets on: from when on, … */
    int64_t done_ms;  /* … beyond what it had done before */
    int64_t ends_ms;  /* while it gets on */
    uint32_t job, member;
    bool is_running;
};

struct work_state {
    uint32_t first; /* of its members */
    uint32_t placed, running, ended;
    double used;      /* of the watched resource, by those that run */
    double held;      /* the same while they are too few, … */
    int64_t since_ms; /* … since then */
    bool has_started; /* all have run at one time */
    bool gets_on;
    bool was_half; /* for some time some ran, and too few */
    bool is_old;   /* all that runs was there from the start */
};

struct works {
    const struct plan *plan;
    struct books *books;
    const int64_t *needs; /* by template: amounts in the books' order */
    VEC(struct work_state) at;
    VEC(uint32_t) nodes;   /* by member: its node, until all of the work run */
    VEC(uint32_t) members; /* by member: its newest pod */
    VEC(struct run) runs;  /* by pod */
    struct heap ends;      /* pods that get on and will end */
};

/* All three must outlive the works. */
void works_init(struct works *ws, const struct plan *plan, struct books *books,
                const int64_t *needs);
void works_done(struct works *ws);

/* The next pod is this member of this job; it has done so much already. */
void works_add(struct works *ws, uint32_t job, uint32_t member, int64_t done_ms);

/* The pod runs on the node. `is_old`: from the start. */
void works_start(struct works *ws, int64_t now_ms, uint32_t pod, uint32_t node, bool is_old);

/* The pod is done; or it was taken away, and `undone` tells what that cost. */
void works_end(struct works *ws, int64_t now_ms, uint32_t pod);
void works_lose(struct works *ws, int64_t now_ms, uint32_t pod, struct undone *undone);

/* When the next pod will be done (INT64_MAX: never), and which. */
int64_t works_next_ms(const struct works *ws);
static inline uint32_t works_next(const struct works *ws)
{
    return ws->ends.at[0];
}

/* The end has come: what was never complete has waited until now. */
void works_close(struct works *ws, int64_t end_ms);
