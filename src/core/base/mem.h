#pragma once

#include "core/base/base.h"

/* Memory from the heap. Running out ends the process, here and nowhere else: our state can be
 * rebuilt from the API server, and branches that nobody can test are no safety. Limits on every
 * input keep us from getting there. */

/* Zeroed; never NULL, also for 0 bytes. */
void *mem_alloc(size_t bytes);

/* As realloc: `p` may be NULL; what is new is not zeroed. */
void *mem_resize(void *p, size_t bytes);

/* A copy of `bytes` bytes at `p`. */
void *mem_copy(const void *p, size_t bytes);

/* Room for `bytes` bytes on a cache line's border, not zeroed, holding the first `kept` bytes of
 * `p`, which is given back; `p` may be NULL. */
void *mem_resize_aligned(void *p, size_t kept, size_t bytes);

/* NULL is fine. */
void mem_free(void *p);
