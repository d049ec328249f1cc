#pragma once

#include "core/engine/unit/unit.h"

/* A prebind task of a pod that is placed and not bound yet (prebind.c). Those of one pod stand
 * together. */
struct pending_task {
    uint32_t pod; /* ID_NONE: it is given up, and only its write is still to be settled */
    const struct plugin *plugin;
    struct prebind_task prebind_task; /* its names are held; its patches are sent and gone */
    bool makes_claim;                 /* its write makes a ResourceClaim */
    effect_id effect;                 /* its write, while that is not settled; else 0 */
    int64_t timeout_ms, due_ms;
    char *why;         /* the write failed, for this reason; owned. NULL: it did not */
    bool is_contested; /* the reason is that somebody wrote first, perhaps we: the object decides */
};

/* The prebind tasks of pods that are placed. */
struct prebind {
    VEC(struct pending_task) all;
    uint32_t n_writes;     /* of them that are not settled */
    uint32_t looked_up_to; /* those behind it are to be looked at */
    int64_t next_ms;       /* when all are to be looked at again, whatever happens */
};

/* Lets the plugins of its class take what the pod needs on its node, in the transaction that put it
 * there; should that be undone, the pod is to be given up. What is to be written lives in `mem`. */
void engine_reserve(struct engine *k, pod_id pod, const struct class *class, struct arena *mem);

/* Runs a prebind task of the plugin's that may help the pod, which waits on: nobody waits for it to
 * be written. */
void engine_run_post_filter(struct engine *k, pod_id pod, const struct plugin *whose,
                            const struct prebind_task *prebind_task, struct effects *out);

/* Once the pod is on its node for good: its prebind tasks are sent. */
void engine_send_prebind_tasks(struct engine *k, pod_id pod, struct effects *out);

/* Goes on with one pod whose prebind tasks are all run, or one of them failed; false: there is
 * none. */
bool engine_go_on(struct engine *k, struct effects *out);

/* How many prebind tasks there are, and writes that are not settled. */
uint32_t engine_n_prebind_tasks(const struct engine *k);
uint32_t engine_n_writes(const struct engine *k);

/* Something happened that a prebind task may wait for. */
void engine_look_at_prebind_tasks(struct engine *k);

/* When engine_go_on() may find one although nothing happens. */
int64_t engine_go_on_ms(const struct engine *k, int64_t now_ms);

/* Takes a pod that has prebind tasks back to the queue, and tells it why. */
void engine_call_off(struct engine *k, pod_id pod, struct str why, struct effects *out);

/* The pod is not to be bound any more, by us. */
void engine_give_up(struct engine *k, pod_id pod);

/* A write was carried out, or was not. */
void engine_settle_write(struct engine *k, effect_id effect, const struct error *why);
struct prebind *prebind_new(void);
void engine_prebind_done(struct engine *k);
