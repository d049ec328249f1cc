#pragma once

#include "core/base/error.h"
#include "core/model/meta.h"

/* A Queue (scheduling.kubenexus.io/v1alpha1): a node of the tree by which teams share a cluster.
 * What it says is kept as it was read. Where a field was left out, queue_weight() and its like say
 * what that means; queue_check() says what makes no sense. What only the tree of all Queues can
 * tell (a parent that is not there, a depth) is the engine's to judge. */

enum {
    QUEUE_KEYS_MOST = 64,  /* of a map of resources */
    QUEUE_KINDS_MOST = 64, /* that a cluster's Queues and namespaces name */
    QUEUE_NAMES_MOST = 1024,
    QUEUE_BUDGETS_MOST = 8,
    QUEUE_PARAMETERS_MOST = 100,
    QUEUE_WEIGHT_MOST = 1000000,
    QUEUE_JOBS_MOST = 1000000,
    QUEUE_MIN_RUN_MOST_S = 604800,
};

/* What pods say: the queue they are of, and whose they are there. */
#define LABEL_QUEUE     "scheduling.kubenexus.io/queue"
#define ANNOTATION_USER "scheduling.kubenexus.io/user"

enum queue_split_by { SPLIT_NONE, SPLIT_NAMESPACE, SPLIT_USER, SPLIT_LABEL };
enum queue_stop { QUEUE_OPEN, QUEUE_HOLD, QUEUE_DRAIN };
enum queue_window_kind { WINDOW_NONE, WINDOW_DAY, WINDOW_WEEK, WINDOW_MONTH, WINDOW_SPAN };

/* Who may use a queue: namespaces of these names, and those whose labels match. */
struct queue_namespaces {
    str_list names;
    struct label_selector *selector; /* NULL: none */
};

/* A leaf whose parts share it equally, each within these limits. */
struct queue_split {
    struct str by; /* Namespace, User, Label */
    struct str label;
    amount_list each_max;
    int64_t each_max_jobs;
    bool has_each_max_jobs;
};

struct queue_budget {
    struct str resource, window, action;
    int64_t hours;
    bool has_hours;
};

struct queue_provisioning {
    struct str class;
    pair_list parameters;
    int64_t delay_s;
};

/* What status says that is read back after a restart: numbers stand in it as text. */
struct queue_history {
    struct str resource, amount; /* 65536ths */
};

struct queue_spent {
    struct str resource, window;
    int64_t from_ms, until_ms;
    struct str spent; /* amount × ms */
};

struct queue_object {
    struct meta meta;
    struct str invalid; /* not empty: what of it makes no sense to us: it is held, and says so */
    struct {
        struct str parent; /* empty: a top-level queue */
        amount_list guaranteed, max, lend;
        int64_t weight, max_jobs, min_run_s;
        bool has_weight, has_max_jobs, has_min_run;
        struct queue_namespaces *namespaces; /* NULL: not said */
        struct queue_split *split;
        struct str stop;
        LIST(struct queue_budget) budgets;
        struct queue_provisioning *provisioning;
    } spec;
    struct {
        int64_t as_of_ms; /* TIME_NONE: not said */
        LIST(struct queue_history) history;
        LIST(struct queue_spent) budgets;
        condition_list conditions;
    } status;
};

/* What may be said of a queue's window: a calendar's, or a span of at least an hour. */
struct queue_window {
    enum queue_window_kind kind; /* WINDOW_NONE: it is none */
    int64_t span_ms;             /* of WINDOW_SPAN */
};

/* Is all that it says of itself in order? The error names the field and the value. */
bool queue_check(const struct queue_object *q, struct error *e) MUST_USE;

/* Of one that passed. */
uint32_t queue_weight(const struct queue_object *q);
enum queue_stop queue_stop(const struct queue_object *q);
enum queue_split_by queue_split_by(const struct queue_object *q);
bool queue_budget_is_hard(const struct queue_budget *b);
struct queue_window queue_window(struct str text);

/* The amounts of a JSON object, as a namespace's annotation has them, by the rules of a Queue's.
 * They live in `mem`, or are pieces of `text`. */
bool queue_read_amounts(struct str text, struct arena *mem, amount_list *out,
                        struct error *e) MUST_USE;

/* The resource without its kind: nvidia.com/gpu of nvidia.com/gpu@H100. */
struct str queue_resource(struct str key);
