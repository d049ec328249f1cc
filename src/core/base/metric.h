#pragma once

#include "core/base/str.h"

/* Metrics as rows of tables: what is served at /metrics and what the reference says both come from
 * them. A row knows how to read its samples from its source, the thing that does the counting, and
 * puts them into a sink, which makes text of them. */

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

enum { BOUNDS_MOST = 20 };

/* Upper bounds: `first`, each further one `factor` times the one before it; or those of a list. */
struct bounds {
    double first, factor;
    uint32_t n;         /* at most BOUNDS_MOST */
    const double *list; /* NULL: none */
};

/* Bound number `i`, where `before` is the one before it. */
static inline double bound_at(const struct bounds *b, uint32_t i, double before)
{
    return b->list ? b->list[i] : i ? before * b->factor : b->first;
}

struct metric_sink;

struct metric {
    const char *name;
    enum metric_type type;
    const char *labels;          /* their names: "result,profile"; NULL: none */
    const struct bounds *bounds; /* of a histogram */
    void (*read)(const void *source, const struct metric_sink *out);
    const char *help;
};

/* A row: METRIC("pods", GAUGE, "queue", NULL, read_pods, "Pods that wait."). */
#define METRIC(name, type, labels, bounds, read, help)                                             \
    {                                                                                              \
        name, METRIC_##type, labels, bounds, read, help                                            \
    }

/* {0} is empty. */
struct histogram {
    uint64_t counts[BOUNDS_MOST + 1]; /* by bucket alone, the last for what is above all bounds */
    double sum;
};

void histogram_add(struct histogram *h, const struct bounds *b, double value);
uint64_t histogram_count(const struct histogram *h);

/* Labels are the values, in the order of the row's names. */
struct metric_sink {
    void *ctx;
    const struct metric *row; /* that is being read */
    void (*value)(void *ctx, const struct metric *row, const struct str *labels, double value);
    void (*histogram)(void *ctx, const struct metric *row, const struct str *labels,
                      const struct histogram *h);
};

/* For `read`: one sample. */
void metric_put(const struct metric_sink *out, const struct str *labels, double value);
void metric_put_histogram(const struct metric_sink *out, const struct str *labels,
                          const struct histogram *h);
