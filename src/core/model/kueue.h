#pragma once

#include "core/model/pod.h"

/* Kueue's objects (kueue.x-k8s.io/v1beta2, or v1beta1, which says the same of what we read), as far
 * as they matter to where pods go: queues, which may say what tier their tenant is of, and
 * workloads, which say what will be admitted. */

struct cluster_queue {
    struct meta meta;
};

struct local_queue {
    struct meta meta;
    struct str cluster_queue;
};

struct kueue_pods {
    int32_t count;
    struct pod *template; /* NULL: not said */
};

struct kueue_workload {
    struct meta meta;
    struct str queue;
    bool has_active, is_active; /* spec.active; true unless said otherwise */
    LIST(struct kueue_pods) pod_sets;
    condition_list conditions;
};

/* Does it wait to be admitted? */
bool kueue_workload_waits(const struct kueue_workload *w);
