#pragma once

#include "core/base/arena.h"
#include "core/model/resource_claim.h"

/* What a scheduler writes into a resource claim, as members of JSON objects (model/patch.h). All of
 * it lives in `mem`. */

#define CLAIM_FINALIZER "resource.kubernetes.io/delete-protection"

/* Inside metadata: whoever has devices cannot be deleted before they are taken back. */
struct str claim_write_finalizer(struct arena *mem);

/* Inside metadata: this very claim, and no other of its name. */
struct str claim_write_uid(const struct meta *meta, struct arena *mem);

bool claim_has_finalizer(const struct resource_claim *claim);

/* Beside metadata: the pod reserves the claim, which is given these devices; NULL: it has some. */
struct str claim_write_status(const struct device_allocation *allocation,
                              struct claim_consumer consumer, struct arena *mem);
