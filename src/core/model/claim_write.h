#pragma once

#include "core/base/arena.h"
#include "core/model/resource_claim.h"

/* What a scheduler writes into a resource claim, as members of JSON objects (model/patch.h). All of
 * it lives in `mem`. */

#define CLAIM_FINALIZER  "resource.kubernetes.io/delete-protection"
#define CLAIM_ANNOTATION "resource.kubernetes.io/extended-resource-claim"

/* Inside metadata: whoever has devices cannot be deleted before they are taken back. */
struct str claim_write_finalizer(struct arena *mem);

bool claim_has_finalizer(const struct resource_claim *claim);

/* Beside metadata: the pod reserves the claim, which is given these devices; NULL: it has some. */
struct str claim_write_status(const struct device_allocation *allocation,
                              struct claim_consumer consumer, struct arena *mem);

/* --- the claim that a pod gets for its extended resources --- */

/* Which request of it a container uses for a resource. */
struct request_mapping {
    struct str container, resource, request;
};

typedef LIST(struct request_mapping) request_mapping_list;

/* The pod whose extended resources the claim is for; NULL: it is another kind of claim. */
const struct owner *claim_extended_owner(const struct meta *meta);

/* Inside metadata of a new one. */
struct str claim_write_meta(struct str name, struct claim_consumer pod, struct arena *mem);

/* Beside that: what it asks for. */
struct str claim_write_spec(const struct resource_claim *claim, struct arena *mem);

/* In the pod, beside metadata: which claim it is. */
struct str claim_write_use(struct str name, request_mapping_list uses, struct arena *mem);

/* Inside metadata: it may go. */
struct str claim_write_unprotected(const struct meta *meta, struct arena *mem);
