#pragma once

#include "core/base/arena.h"
#include "core/model/pod.h"

/* A share of GPUs that a pod asks for, in the words of those who share them.
 *
 * KAI, and we ourselves: annotations (a fraction, or memory), and no GPU as a resource. HAMi and
 * Volcano: resources beside a number of GPUs, for each of which they hold: memory in MiB, memory
 * and cores in percent. Where a pod names both memory and cores, the larger share counts. */

enum { GPU_SHARE_WHOLE = 1000 };

struct gpu_share {
    uint32_t count;   /* GPUs; 0: it asks for no share */
    uint32_t milli;   /* thousandths of each; GPU_SHARE_WHOLE and no memory: whole ones */
    uint32_t mib;     /* of the memory of each; 0: not told */
    struct str error; /* what makes no sense; empty: it does. Lives in `mem` */
};

/* `whole`: how many GPUs it asks for as a resource. */
struct gpu_share gpu_share_read(const struct pod *pod, uint32_t whole, struct arena *mem);
