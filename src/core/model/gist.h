#pragma once

#include "core/model/envelope.h"

/* What can be read of a pod, a node or a Queue that cannot be read in full: it says something that
 * only a later version knows, or says too much. Such a pod is scheduled by nobody; where it runs,
 * what it requests counts. Such a node takes nobody, and such a Queue is held. So what we do not understand blocks rather than
 * over-commits. */

/* Who it is, where it is and what it requests; an amount that makes no sense is taken to be as
 * large as an amount can be. `why` says what could not be read, and becomes what the object says of
 * itself (`unread`, `invalid`); it lives in the arena. False if there is no more to it, or it is of another kind. */
bool gist_read(const struct envelope *v, struct str why, struct arena *mem,
               struct object *out) MUST_USE;

/* The same of an object that could be read, but says what makes no sense to us. */
bool gist_mark(struct object *object, struct str why, struct arena *mem) MUST_USE;
