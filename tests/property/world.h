#pragma once

#include "core/engine/engine.h"
#include "core/engine/step/step.h"
#include "property/world_gen.h"

/* A world that changes at random, and the engines that are told of it.
 *
 * What the API would say is kept here in plain arrays; every engine hears the same changes at the
 * same times, decides when the others do, and has its effects settled as the others' are. Whatever
 * differs between two engines, or between an engine and the arrays, is a failure; so is a decision
 * that an engine which has seen nothing but the present would not have made.
 *
 * Each operation draws from its own numbers, so leaving out kinds of operations (PROPERTY_WITHOUT)
 * does not change what the others do: a failure can be made smaller by trying. */

enum { WORLD_PODS = 150, WORLD_TEMPLATES = 20, WORLD_ENGINES = 5 };

struct node_slot {
    struct node *object; /* NULL: there is none */
    struct node_plan plan;
    struct arena mem;
};

struct pod_slot {
    struct pod *object;
    struct pod_plan plan;
    uint32_t assumed; /* where a bind effect put it, until the API says so; GEN_NOWHERE: nowhere */
    struct arena mem;
};

struct object_slot {
    bool exists;
    struct object object;
    struct arena mem;
};

/* A bind effect whose outcome nobody has told yet. */
struct unsettled {
    effect_id effect;
    uint32_t pod, incarnation;
    bool is_eviction;
};

struct world {
    uint64_t seed, operation;
    uint64_t work; /* operations and whatever else a test counts as such */
    int64_t now_ms;
    struct node_slot nodes[GEN_NODES];
    uint32_t most_nodes;
    struct pod_slot pods[WORLD_PODS];
    uint64_t templates[WORLD_TEMPLATES];
    struct object_slot services[GEN_NAMESPACES][GEN_SERVICES], owners[GEN_NAMESPACES][GEN_OWNERS],
        budgets[GEN_NAMESPACES][GEN_BUDGETS];
    struct object_slot namespaces[GEN_NAMESPACES];
    struct object_slot storage[GEN_STORAGE], nexus[GEN_NEXUS];
    VEC(struct unsettled) unsettled;

    struct engine *engines[WORLD_ENGINES];
    struct effects effects[WORLD_ENGINES];
    uint32_t n_engines;
    struct world_profiles {
        struct profile_plugin plugins[64];
        struct profile at[2];
    } profiles[2];            /* the present ones, and those before */
    uint32_t renewals;        /* 0: the built-in ones */
    struct engine *explainer; /* the one that keeps pins, if there is one: it explains, too */
    struct arena mem;         /* scratch of one operation */
    const char *doing;
    bool has_failed;
    uint64_t bound, refused, failed, evicted, explained; /* effects seen */
};

void world_init(struct world *w, uint64_t seed);
void world_add_engine(struct world *w, struct engine_config config);
void world_done(struct world *w);

/* One random operation. */
void world_operate(struct world *w);

/* What an engine that joins now is configured with. */
struct engine_config world_config(const struct world *w);

/* Says what is wrong and how to see it again; the world stops. */
void world_fail(struct world *w, const char *fmt, ...) PRINTF(2, 3);

/* Where the pod is: as the API says, or as we decided; GEN_NOWHERE. */
uint32_t world_place(const struct pod_slot *pod);

/* The number that an environment variable holds. */
uint64_t property_number(const char *variable, uint64_t otherwise);
