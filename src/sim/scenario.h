#pragma once

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/node.h"
#include "core/model/pod.h"
#include "core/model/queue.h"
#include "sim/draw.h"

/* A scenario file: a cluster and a workload in a page of YAML. docs/reference/scenario.md says what
 * each field means; this is the same as structs. Kubernetes' own parts (a pod's template, taints,
 * quantities) are written as Kubernetes writes them.
 *
 * A field that we do not know is an error, except inside a template, where the API has many that a
 * scheduler does not read. */

enum {
    SCENARIO_BYTES_MOST = 4 << 20,
    SCENARIO_NODES_MOST = 1 << 20, /* nodes in all */
    SCENARIO_COUNT_MOST = 5000000, /* of anything */
};

/* Nodes of one shape, named <name>-0, <name>-1, … */
struct scenario_nodes {
    struct str name;
    struct str shape; /* a machine that is known (sim/shapes.h); empty: all is said here */
    int64_t count;
    struct quantity cpu, memory, pods;
    int64_t gpus;
    struct str gpu_resource;
    amount_list resources; /* any others */
    pair_list labels;
    LIST(struct taint) taints;
    struct {
        int64_t count, size; /* how many, or how many nodes in each; 0: not said */
    } racks;
    bool has_cliques; /* a rack is one NVLink domain */
    str_list zones;
    bool has_tie_order;
    int64_t tie_order; /* of the first node; the others follow */
};

enum arrival_process { ARRIVAL_UNSAID, ARRIVAL_BURST, ARRIVAL_UNIFORM, ARRIVAL_POISSON };

struct scenario_arrival {
    enum arrival_process process;
    int64_t count; /* of jobs; 0: not said */
    double per_ms; /* the mean rate; 0: not said */
    int64_t from_ms;
    int64_t until_ms;     /* 0: not said */
    LIST(int64_t) at_ms;  /* of bursts */
    LIST(double) profile; /* weights of equal parts of a day */
};

/* One of the sizes a job may have. */
struct scenario_size {
    int64_t weight;
    int64_t pods;
    amount_list requests; /* of each pod */
};

struct scenario_job {
    struct str name, queue, user;
    struct scenario_arrival arrival;
    LIST(struct scenario_size) sizes; /* at least one after scenario_read() */
    int64_t pods;                     /* these two are for jobs of one size only, */
    amount_list requests;             /* and end up in `sizes` */
    struct str duration_text;
    struct span duration;
    bool has_priority;
    int32_t priority;
    bool has_service; /* a Service selects its pods */
    struct pod *template;
    struct scenario_gang {
        int64_t min_available;
    } * gang; /* for profiles that place gangs */
};

struct scenario {
    struct str kind, name, summary;
    struct str scheduler; /* schedulerName of pods whose template does not say; where there are
                           * queues, that of the profile that knows them */
    bool has_seed;
    int64_t seed;
    int64_t until_ms; /* 0: until all is done */
    LIST(struct scenario_nodes) nodes;
    LIST(struct queue_object) queues;
    LIST(struct scenario_job) jobs;
    struct {
        double bind_share; /* of the bindings that fail */
        struct {
            int64_t between_ms; /* mean time between failures of one node; 0: they do not fail */
            int64_t repair_ms;
        } nodes;
    } faults;

    struct arena mem;
    struct buf json; /* texts point into it */
};

/* Does the text look like a scenario (its kind is Scenario, or it has jobs or nodes but no kind)?
 * False too if it cannot be read at all, or is larger than a scenario may be. */
bool scenario_is(struct str text);

/* `file` is what errors call it: "FILE: line 7: jobs[0].duration: "2 h" is not a duration …". */
bool scenario_read(struct scenario *s, const char *file, struct str text, struct error *e) MUST_USE;

void scenario_done(struct scenario *s);

/* Milliseconds of "90s", "1h30m", "2d", "250ms". */
bool scenario_duration(struct str text, int64_t *ms) MUST_USE;
