#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/vec.h"
#include "core/model/object.h"

/* What is going to happen in a simulated world, wherever it comes from: a scenario, a dump of a
 * real cluster, a trace. Whoever makes a plan adds nodes, templates and jobs in any order and
 * finishes it; the world only reads it. */

enum {
    PLAN_PODS_MOST = 5000000,
    PLAN_GROUPS_MOST = 60, /* rows of a picture */
};

/* Labels by which nodes are found to be in one rack or zone. */
#define LABEL_HOSTNAME "kubernetes.io/hostname"
#define LABEL_RACK     "network.kubenexus.io/rack-id"
#define LABEL_ZONE     "topology.kubernetes.io/zone"
#define LABEL_CLIQUE   "nvidia.com/gpu.clique"

struct plan_node {
    const struct node *node;
    uint32_t group;
    bool has_tie_order;
    uint64_t tie_order;
};

/* The pods that do one thing together: those of a job, or of a dump those of one gang. They get on
 * only while at least `minimum` of them run or have ended. */
struct plan_work {
    int64_t at_ms; /* when the first of them come */
    uint32_t pods;
    uint32_t minimum; /* 1: each gets on alone */
    uint32_t ended;   /* others of it, before the plan begins */
};

/* Pods that come together, all alike. A pod whose template names a node runs there from the
 * start. */
struct plan_job {
    int64_t at_ms;
    int64_t runs_ms;       /* from its start; INT64_MAX: for ever */
    int64_t ran_ms;        /* of these, before the plan begins: of a pod that runs from the start */
    uint32_t work;         /* its work's number + 1; 0: plan_add_job() makes it one of its own */
    uint32_t first_member; /* of its first pod in that work; plan_add_job() sets it */
    struct str node;       /* where it runs from the start; empty: nowhere */
    bool is_orphan;        /* nobody makes it anew when it is evicted */
    struct str name;       /* pods of a job with several are called <name>.0, <name>.1, … */
    uint32_t pods;
    uint32_t minimum; /* pods that start together or not at all; 0: each is on its own */
    uint32_t template;
    uint32_t class;
    uint32_t number; /* in the order it was added: among jobs of one time, the order of arrival */
};

struct plan {
    struct str title, summary;
    uint64_t seed;
    int64_t epoch_ms; /* of the plan's time 0 since 1970; 0: it does not matter */
    int64_t until_ms; /* INT64_MAX: until all is done */
    VEC(struct plan_node) nodes;
    VEC(struct str) groups;
    const char *group_word; /* what a group is: "rack" */
    VEC(struct str) classes;
    VEC(const struct pod *) templates;
    VEC(struct plan_work) works;
    VEC(struct plan_job) jobs;  /* by time */
    VEC(struct object) objects; /* anything else that a scheduler reads */
    VEC(struct str) notes;      /* what the reader of the results must know */
    uint64_t pods;              /* in all jobs */
    struct str watched;         /* the resource whose use is shown by group and class */
    struct str scheduler;       /* that all pods name; empty: the one in their template */

    int64_t patience_ms; /* so long a configuration may make pods wait for others to have run */

    bool declares_run_times; /* pods say how long they will run, and are right */

    double bind_fault_share;
    int64_t node_between_ms, node_repair_ms; /* 0: nodes do not fail */

    struct arena mem; /* objects and texts live here, or in what the plan was made of */
};

/* {0} with its times set is an empty plan. */
void plan_init(struct plan *p);
void plan_done(struct plan *p);

/* The number of a class, made on first sight. */
uint32_t plan_class(struct plan *p, struct str name);
uint32_t plan_group(struct plan *p, struct str name);

void plan_add_node(struct plan *p, const struct node *node, struct str group);
uint32_t plan_add_template(struct plan *p, const struct pod *pod);

/* For jobs that are one work: what to put into their `work`. */
uint32_t plan_add_work(struct plan *p, uint32_t minimum);

/* False if there are too many pods. */
bool plan_add_job(struct plan *p, struct plan_job job, struct error *e) MUST_USE;

void plan_note(struct plan *p, const char *fmt, ...) PRINTF(2, 3);

/* Sorts jobs, joins groups that are too many, chooses what to watch. False if two nodes or two jobs
 * have one name. */
bool plan_finish(struct plan *p, struct error *e) MUST_USE;

/* --- for those who make objects --- */

/* By key, as decoded maps are. */
void plan_sort_labels(pair_list *labels);
void plan_sort_amounts(amount_list *amounts);

struct quantity plan_quantity(int64_t value, int64_t nano_per_unit);
#define NANO_PER_MILLI 1000000
#define NANO_PER_UNIT  1000000000
