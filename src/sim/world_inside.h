#pragma once

/* What world.c and its neighbours share. */

#include "core/base/heap.h"
#include "core/base/intern.h"
#include "core/base/rng.h"
#include "sim/decisions.h"
#include "sim/storage.h"
#include "sim/works.h"
#include "sim/world.h"

#define NEVER    INT64_MAX
#define NOT_SAID INTERN_NONE

enum pod_state { POD_WAITING, POD_RUNNING, POD_ENDED, POD_LOST };

struct sim_pod {
    int64_t created_ms, started_ms;
    uint32_t job, member;
    uint32_t node; /* where it runs; while it waits, where room is being made for it */
    uint32_t why;  /* what it was last told while waiting */
    uint8_t state;
    bool is_failed;  /* could not be judged the last time */
    bool is_leaving; /* somebody deleted it */
    bool is_anew;    /* not the first of its name */
    struct zones_taken zones;
};

struct sim_node {
    int64_t turns_ms; /* fails if it is up, is repaired if it is down */
    bool is_down;
};

/* What an effect means here, read before the engine is told anything. */
struct decision {
    effect_id effect;
    enum effect_kind kind;
    uint32_t pod, node;
    struct object_write write;
};

struct world {
    const struct plan *plan;
    struct engine *engine;
    struct books books;
    int64_t now_ms;
    int64_t moved_ms;      /* when something last happened but refusals */
    double (*now_s)(void); /* a clock for steps; NULL: nobody asks how long they take */
    double longest_step_s;

    VEC(struct sim_pod) pods;
    struct works works;
    VEC(struct sim_node) nodes;
    struct intern node_names;
    struct intern whys;
    struct heap turns; /* nodes that will fail or be repaired */
    uint32_t next_job;
    uint32_t nodes_down;

    int64_t *needs; /* by template: amounts in the books' order */
    int64_t *rooms; /* by node, the same */
    struct rng bind_rng, node_rng;
    struct storage storage;

    int64_t patience_ms; /* so long after something last happened the engine may still act */
    bool has_queues;     /* time goes by stricter rules: docs/reference/scenario.md */
    VEC(uint32_t)
    waits; /* pods that wait, and some that do not any more; where lines are written */
    struct decisions log;

    struct effects effects;
    VEC(struct decision) decisions;
    struct arena mem; /* of one message to the engine */
};

/* The engine's clock. */
static inline int64_t world_clock_ms(const struct world *w)
{
    return w->plan->epoch_ms + w->now_ms;
}

static inline struct str pod_namespace(const struct world *w, const struct sim_pod *pod)
{
    return w->plan->templates.at[w->plan->jobs.at[pod->job].template]->meta.namespace;
}

/* Lives in `mem`, which lasts until the engine is told something. */
struct str sim_pod_name(struct world *w, const struct sim_pod *pod);

static inline struct class_books *class_of(struct world *w, const struct sim_pod *pod)
{
    return &w->books.classes.at[w->plan->jobs.at[pod->job].class];
}

/* --- world_end.c --- */

void world_close_books(struct world *w, int64_t end_ms);

/* --- world_queues.c --- */

/* How long after something last happened the engine may still act by itself. */
int64_t world_patience_ms(const struct world *w);

/* The pod ends by itself; is taken away; its unit has started. Nothing without queues. */
void world_log_end(struct world *w, const struct sim_pod *pod);
void world_log_eviction(struct world *w, const struct sim_pod *pod);
void world_log_starts(struct world *w);

/* A moment is over: what do those who wait know? */
void world_log_refusals(struct world *w);
void world_close_queues(struct world *w, int64_t end_ms);
