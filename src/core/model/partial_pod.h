#pragma once

#include "core/model/envelope.h"

/* Most news of a pod is not about what it asks for: it was bound, it runs, it is ready. Who keeps a
 * pod's digest need not read such news as a whole.
 *
 * Equal digests: it is the same pod, and all that its owner and its template say of it is as it
 * was: spec, annotations, owners and labels, but for the labels of its node's topology, which a
 * server adds with the binding; and so is what its status says of resources and claims. That the
 * spec has not changed is the server's own word: it counts the generations of specs, and a binding
 * is none. The rest is compared by its bytes. */

/* Of a pod that was read from `v`. 0: not known; only protobuf has one, of servers that count
 * generations. */
uint64_t partial_pod_digest(const struct envelope *v, const struct pod *pod);

/* The pod's name, uid, version, generation, end and labels; its node and its scheduler; phase,
 * start, conditions and nomination; and its digest. The rest is left empty. False if it is no pod,
 * or cannot be read. */
bool partial_pod_read(const struct envelope *v, struct arena *mem, struct pod *out) MUST_USE;
