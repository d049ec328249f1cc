#pragma once

#include "core/model/classify.h"
#include "core/model/node.h"
#include "core/model/node_topology.h"
#include "core/model/wishes.h"

/* What a node is made of beyond amounts of resources, as its labels and annotations say, and what
 * drivers say of its GPUs: their memory and model, its NUMA nodes, its network, what tier of
 * hardware it is and what it costs.
 *
 * The names are those that GPU feature discovery, node feature discovery and AMD's labeller write,
 * and our own. Where several sources speak of GPU memory the best one counts, and which one it was
 * is kept. What nobody says is unknown, which is no opinion and never a refusal. */

enum vram_source {
    VRAM_UNKNOWN,
    VRAM_DRA,   /* the driver: capacity of the devices in its ResourceSlices */
    VRAM_GFD,   /* the vendor's feature discovery: nvidia.com/gpu.memory, amd.com/gpu.vram */
    VRAM_NFD,   /* node feature discovery: the PCI id, through our table */
    VRAM_LABEL, /* gpu.kubenexus.io/vram */
    VRAM_MODEL, /* a product's name, through our table */
    N_VRAM_SOURCES,
};

/* Rising. */
enum hardware_tier { HARDWARE_NONE, HARDWARE_ECONOMY, HARDWARE_STANDARD, HARDWARE_PREMIUM };

enum { MOST_ZONES = 8 }; /* as many as the kubelet aligns on */
enum { MOST_GPUS = 32 }; /* that are told apart */

/* A NUMA node of the host. */
struct numa_zone {
    int64_t cpu_milli, memory;
    int64_t bandwidth;                /* MB/s; 0: unknown */
    uint32_t distance_sum, distances; /* to the other zones, those that are told */
    uint32_t gpus;                    /* that sit there */
    uint32_t id;
};

/* Whole words without padding, zones behind it: its bytes are interned. Zero: an ordinary node. */
struct hardware {
    int64_t vram_bytes; /* of each GPU: of the smallest, if they differ */
    uint32_t gpus;      /* physical ones; 0: unknown */
    uint32_t cost;      /* thousandths of the currency an hour, + 1; 0: unknown */
    uint8_t vram_source;
    uint8_t tier; /* enum hardware_tier */
    uint8_t is_high_end;
    uint8_t fabric;            /* enum fabric, of its network */
    uint8_t links;             /* the same of its GPUs among themselves */
    uint8_t knows_gpu_zones;   /* which GPU sits where is told */
    uint8_t has_only_pcie;     /* nothing better joins its GPUs */
    uint8_t reserved;          /* enum tier: its GPUs are for tenants of this tier and above */
    uint32_t n_zones;          /* 0: unknown */
    uint8_t kubelet_policy;    /* enum numa_policy; NUMA_UNSAID: nobody tells */
    uint8_t kubelet_sees_pods; /* it aligns whole pods, not each container */
    uint8_t pad[2];
    uint8_t zone_of[MOST_GPUS]; /* by GPU: the NUMA node it sits on, + 1; 0: unknown */
    struct numa_zone zones[];
};

/* Room for any node's. */
struct hardware_room {
    _Alignas(8) char bytes[sizeof(struct hardware) + MOST_ZONES * sizeof(struct numa_zone)];
};

/* Reads it into `room`; values that mean nothing are told as misread. */
const struct hardware *hardware_read(const struct node *node, struct hardware_room *room,
                                     struct misreads *misread);

/* What drivers say of the node's GPUs, in sum. */
struct gpu_sum {
    int64_t vram_bytes; /* of the smallest; 0: unknown of some */
    uint32_t gpus;
    struct str product; /* of one of them; empty: unknown */
    bool are_linked;    /* each by NVLink with some other */
    bool knows_zones;   /* of all of them … */
    uint8_t zone_of[MOST_GPUS];
};

/* What the labels say, with what drivers know better. It lives in `room`. */
const struct hardware *hardware_join(const struct hardware *labels, const struct gpu_sum *drivers,
                                     struct hardware_room *room);

static inline size_t hardware_bytes(const struct hardware *h)
{
    return sizeof(*h) + h->n_zones * sizeof(h->zones[0]);
}

struct str vram_source_name(enum vram_source source);
struct str hardware_tier_name(enum hardware_tier tier);

/* How the kubelet aligns pods with NUMA nodes. */
struct kubelet_config {
    enum numa_policy policy; /* NUMA_UNSAID: it does not say */
    bool sees_pods;          /* scope pod: a pod is aligned as a whole; else each container */
};

struct kubelet_config hardware_kubelet(const struct node_topology *t);
