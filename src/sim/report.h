#pragma once

#include "core/base/buf.h"
#include "core/engine/engine.h"
#include "core/wire/json_write.h"
#include "sim/books.h"
#include "sim/text.h"

/* What a run came to: numbers from closed books, and the forms they are printed in. The same input
 * and seed give the same bytes, except for what `struct host` says. */

/* What the clock and the machine decided. */
struct host {
    double wall_s;
    double longest_step_s; /* of the engine */
    uint64_t peak_bytes;
};

struct wait_summary {
    double mean_ms;
    int64_t p50_ms, p90_ms, p99_ms, most_ms;
};

struct class_summary {
    struct str name;
    uint64_t created, bound, ended, lost, evicted, waiting, failed;
    struct wait_summary wait;
    int64_t *waits_ms; /* sorted; lives in the summary */
    uint32_t n_waits;
};

struct resource_summary {
    struct str name;
    double room, first, mean, peak; /* in the books' units */
    double mean_share, peak_share;
};

/* Idle GPUs and gangs (sim/islands.h), in the mean over time or over gangs. */
struct island_summary {
    double whole; /* islands */
    double whole_cliques;
    double fragments; /* share of the idle GPUs */
    double apart;     /* share of the gangs that are in several racks */
    double racks, hops;
    double numa_local; /* share of the pods that could be */
    struct wait_summary waits[ISLAND_SIZES];
};

/* Who decided. */
struct contestant {
    struct str name;
    struct str profile; /* or several: "default-scheduler and kubenexus-scheduler" */
    struct str policy;  /* who may pass whom in the queue */
    bool places_gangs;
};

struct summary {
    struct contestant who; /* whoever makes the summary fills it in */
    const struct books *books;
    struct engine_stats engine;
    LIST(struct class_summary) classes;
    LIST(struct resource_summary) resources;
    struct island_summary islands;
    struct class_summary all; /* of all classes; its waits too */
    uint64_t running;
    double queue_mean, queue_peak;
    int64_t makespan_ms;
    struct arena mem;
};

/* The books must be closed, and outlive the summary. */
void summary_init(struct summary *s, const struct books *books, struct engine_stats engine);
void summary_done(struct summary *s);

/* `host` may be NULL: then nothing in it depends on the machine. */
void report_table(const struct summary *s, const struct host *host, struct buf *out);
void report_json(const struct summary *s, const struct host *host, struct buf *out);
void report_json_object(const struct summary *s, const struct host *host, struct json_writer *w);
