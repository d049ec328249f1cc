#pragma once

#include "core/engine/effect.h"
#include "kube/request.h"

/* A write of any object as a request. */

/* A copy that is all in one block, which begins with its patches. */
struct object_write object_write_keep(const struct object_write *from);
void object_write_free(struct object_write *w);

/* Of which kind the object is that the patch number `step` is about. */
enum kind object_write_kind(const struct object_write *w, uint32_t step);

/* What does the patch number `step` of it, but for its id, in this version of its API; NULL: the
 * newest that we know. Texts live in `out`. */
struct request object_write_request(const struct object_write *w, uint32_t step,
                                    const char *api_version, struct requests *out);
