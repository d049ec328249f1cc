#pragma once

#include "core/model/meta.h"

/* The objects whose selectors and ownership tell which pods belong together, and the small cluster
 * objects. A ReplicationController and a Service select by a plain map. */

struct service {
    struct meta meta;
    pair_list selector; /* n == 0: absent or empty */
};

struct replication_controller {
    struct meta meta;
    pair_list selector;
    pair_list template_labels; /* the selector, where it is absent */
};

struct replica_set { /* ReplicaSet, StatefulSet and Job: the same as far as we read them */
    struct meta meta;
    struct label_selector *selector;
};

struct job {
    struct meta meta;
    struct label_selector *selector;
    bool has_parallelism, has_completions;
    int32_t parallelism, completions;
    struct str completion_mode;
    pair_list template_labels, template_annotations; /* of its pods */
    int32_t succeeded;
    bool is_suspended;
};

struct namespace
{
    struct meta meta;
    struct str phase;
};

struct priority_class {
    struct meta meta;
    int32_t value;
    bool is_global_default;
    struct str preemption_policy;
};

struct disrupted_pod {
    struct str name;
    int64_t at_ms;
};

struct disruption_budget {
    struct meta meta;
    struct label_selector *selector;
    int32_t disruptions_allowed;
    LIST(struct disrupted_pod) disrupted_pods; /* evictions under way, by pod name */
};
