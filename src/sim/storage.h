#pragma once

#include "core/engine/engine.h"
#include "sim/plan.h"

/* Volumes, claims and resource claims of a cluster that does not exist, and those who bind them
 * there: what the engine writes is written, a volume that is told whose it is becomes that claim's,
 * and a claim that is told for which node gets a new volume. Whoever ends gives its devices back.
 * All of it at once. */
struct storage {
    VEC(struct object) objects; /* volumes and claims, as they are now */
    uint32_t n_resource_claims; /* of them */
    struct arena mem;
};

void storage_init(struct storage *s, const struct plan *plan);
void storage_done(struct storage *s);

/* Something is different or gone, and the engine must hear of it. */
typedef void storage_told(void *ctx, enum change_kind kind, const struct object *object);

/* Carries the write out, with all that follows from it; false, with the reason, if there is no such
 * object. */
bool storage_write(struct storage *s, const struct object_write *write, storage_told *told,
                   void *ctx, struct error *e) MUST_USE;

/* A pod is gone: a claim that nobody uses any more loses its devices, and one that was made for the
 * pod goes with it. */
void storage_leave(struct storage *s, struct str namespace, struct str pod, storage_told *told,
                   void *ctx);
