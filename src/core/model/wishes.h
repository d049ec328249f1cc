#pragma once

#include "core/model/pod_keys.h"

/* Where a pod wants to be, as its labels and annotations say: spread over zones, its NUMA node, the
 * memory of its GPUs, its network. Zero everywhere: it wishes nothing. A value that means nothing
 * is left out of the wishes and told as misread. */

enum wish { WISH_NONE, WISH_NO, WISH_YES };

enum numa_policy {
    NUMA_UNSAID,
    NUMA_NONE,
    NUMA_BEST_EFFORT,
    NUMA_RESTRICTED, /* on as few NUMA nodes as the host allows */
    NUMA_SINGLE,     /* on one */
    NUMA_ISOLATED,   /* on one where nobody else is */
};

/* Must the members of a gang be near each other? */
enum co_locate {
    CO_LOCATE_UNSAID, /* as preferred */
    CO_LOCATE_NONE,
    CO_LOCATE_PREFERRED,
    CO_LOCATE_STRICT, /* in one of the tightest domains that there are */
    CO_LOCATE_CLIQUE, /* in one NVLink clique */
};

enum numa_spread { NUMA_SPREAD_PACKED, NUMA_SPREAD_BALANCED, NUMA_SPREAD_ISOLATED };

/* Which resources a NUMA policy is about; 0: all. */
enum { NUMA_CPU = 1, NUMA_MEMORY = 2, NUMA_GPU = 4, NUMA_ALL = 7 };

/* From loose to tight. */
enum fabric {
    FABRIC_UNKNOWN,
    FABRIC_ETHERNET,
    FABRIC_ROCE,
    FABRIC_INFINIBAND,
    FABRIC_NVLINK,
    FABRIC_NVSWITCH,
    N_FABRICS,
};

/* Whole words without padding: it is a part of a spec's interned bytes. */
struct wishes {
    int64_t vram_each_bytes;  /* of each GPU; 0: unsaid */
    int64_t vram_total_bytes; /* of all GPUs together; 0: unsaid */
    uint64_t numa_ids, numa_anti_ids;
    uint8_t numa_policy, numa_resources, numa_spread;
    uint8_t numa_distance;    /* weight + 1; 0: unsaid */
    uint8_t memory_intensive; /* enum wish, as the two below */
    uint8_t spread_zones, network_sensitive;
    uint8_t min_fabric; /* enum fabric */
    uint8_t co_locate;  /* enum co_locate */
    uint8_t pad[7];
};

struct wishes pod_wishes(const struct pod_said *said, struct misreads *misread);

/* FABRIC_UNKNOWN if it is none. */
enum fabric fabric_of(struct str name);
struct str fabric_name(enum fabric fabric);
struct str numa_policy_name(enum numa_policy policy);
