#pragma once

#include "core/base/metric.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"

/* What is counted of gangs, by namespace, as a table of metrics. The label pod_group is empty
 * unless the profile asks for series per group (gangMetrics: perGroup): then a group has a row of
 * its own, while there are not too many, until it is gone; what it counted goes to its namespace's.
 * What can be told from the groups when somebody asks is not counted.
 *
 * The first GANG_NAMESPACES_MOST namespaces have rows, the rest has one as "other"; of what is told
 * from the groups, those with the most. */

/* How a group stands. */
enum gang_standing {
    GANG_UNTRIED,
    GANG_LACKS_PODS,
    GANG_LACKS_ROOM,
    GANG_UNJUDGED, /* for an error */
    GANG_HAS_ROOM,
    GANG_WAITED_IN_VAIN, /* for pods: those who are there were told */
    GANG_STANDINGS,
};

struct engine;

enum {
    GANG_SIZES = 10,      /* buckets of their size, the last above all bounds */
    GANG_ROWS_MOST = 500, /* groups that have a row of their own */
    GANG_NAMESPACES_MOST = 8,
};

struct gang_counts {
    sym namespace; /* held */
    sym group;     /* held; SYM_NONE: all of the namespace that have no row of their own */
    uint64_t by_standing[GANG_STANDINGS];
    uint64_t starved;              /* units that went ahead because they had waited too long */
    struct histogram all_sizes;    /* of all of the namespace that were placed, rows aside */
    struct histogram waits, sizes; /* of gangs that were placed */
    struct histogram landed[GANG_SIZES]; /* until all were bound, by size */
};

typedef VEC(struct gang_counts) gang_counts_vec;

/* An attempt to place the group came to this, or the wait for its pods. */
void engine_count_gang(struct engine *k, uint32_t group, enum gang_standing standing);

/* So many pods of the group are to be bound now; and one of them was, or was not. */
void engine_gang_takes_off(struct engine *k, uint32_t group, uint32_t pods);
void engine_gang_lands(struct engine *k, uint32_t group, bool is_bound);

/* The unit goes ahead. */
void engine_count_starved(struct engine *k, uint32_t unit);

/* The group is gone if nobody is left of it: so is its row. */
void engine_end_counts(struct engine *k, uint32_t group);

/* Their source is a struct engine. */
extern const struct metric gang_metrics[];
extern const uint32_t n_gang_metrics;
