#pragma once

#include "core/base/metric.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"

/* What is counted of placements, once for each pod that is bound, and of refusals, once for each
 * decision, as a table of metrics: what pods asked of GPUs and NUMA nodes, what they got, and what
 * that did to the islands there. What nodes were only looked at counts nowhere.
 *
 * Labels have few values, which stand in this file; namespaces aside: the first
 * PLACEMENT_NAMESPACES of them have series of their own, the rest is "other". */

struct engine;

enum { PLACEMENT_NAMESPACES = 8 };

struct label_count {
    struct str labels[3]; /* static */
    uint64_t n;
};

typedef VEC(struct label_count) label_counts;

struct label_histogram {
    struct str label; /* static */
    struct histogram h;
};

typedef VEC(struct label_histogram) label_histograms;

struct placement_counts {
    uint64_t scheduled;
    label_counts attempts, gpu_sources, allocated, not_allocated, topology, fragmented, protected,
        perfect, completed, vram, numa, distances, mates;
    label_histograms quality, fragments, island_quality, numa_fit;
    VEC(struct vram_row {
        sym namespace; /* held */
        struct str workload;
        struct histogram h;
    })
    vram_asked;
    VEC(sym) namespaces; /* held: those with series of their own */
};

void placement_counts_done(struct placement_counts *c);

/* The pod, which is on its node, is being bound. */
void engine_count_placed(struct engine *k, pod_id pod);

/* A decision about it ended without a node; plugins as bits, 0: with an error. */
void engine_count_refused(struct engine *k, pod_id pod, uint64_t rejected_by);

/* Their source is a struct engine. */
extern const struct metric placement_metrics[];
extern const uint32_t n_placement_metrics;
