#pragma once

#include "core/model/object.h"

/* What every stored object has and a manifest may lack: what the API server's defaulting (and
 * nothing of admission) fills in, as far as a scheduler reads it: a namespace, a phase, a scheduler
 * name, requests from limits, protocols, the name label of a namespace. Idempotent. */
void object_default(struct object *object, struct arena *mem);

/* The same of a pod that is to be made, in an object of a custom kind: there the API server itself
 * fills in nothing. */
void object_default_template(struct object *object, struct arena *mem);
