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

struct disruption_budget {
    struct meta meta;
    struct label_selector *selector;
    int32_t disruptions_allowed;
    pair_list disrupted_pods; /* status.disruptedPods: names, times as text */
};
