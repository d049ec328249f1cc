#pragma once

#include "core/cluster/cluster.h"

/* Something happened that may let a refused unit through: kube-scheduler's cluster events.
 *
 * One change of an object is one event, with a bit for each property that differs. Rows and shapes
 * are as before and after the change; both are valid only during the call. */

enum event_resource {
    EVENT_NODE = 1 << 0,
    EVENT_ASSIGNED_POD = 1 << 1, /* a pod that has a node, or was nominated to one */
    EVENT_TARGET_POD = 1 << 2,   /* the refused pod itself */
    EVENT_ANY = 1 << 3,          /* a timeout: whatever it waits for, look again */
    EVENT_CLAIM = 1 << 4,        /* `namespace` and `name` say which */
    EVENT_VOLUME = 1 << 5,
    EVENT_STORAGE_CLASS = 1 << 6,
    EVENT_CSI_NODE = 1 << 7,
    EVENT_CSI_DRIVER = 1 << 8,
    EVENT_CAPACITY = 1 << 9,
    EVENT_ATTACHMENT = 1 << 10,
    EVENT_RESOURCE_CLAIM = 1 << 11, /* `namespace` and `name` say which */
    EVENT_DEVICE_CLASS = 1 << 12,   /* `name` says which; `resource_name` what it stands for */
    EVENT_RESOURCE_SLICE = 1 << 13,
    EVENT_NAMESPACE = 1 << 14, /* kube-scheduler's units do not hear of it */
    EVENT_LAST = EVENT_NAMESPACE,
};

enum event_action {
    ACTION_ADD = 1 << 0,
    ACTION_DELETE = 1 << 1,
    ACTION_NODE_ALLOCATABLE = 1 << 2,
    ACTION_NODE_LABEL = 1 << 3,
    ACTION_NODE_TAINT = 1 << 4, /* also: no longer cordoned */
    ACTION_NODE_CONDITION = 1 << 5,
    ACTION_NODE_ANNOTATION = 1 << 6,
    ACTION_NODE_DECLARED_FEATURE = 1 << 7,
    ACTION_NODE_PREEMPTION_POLICY = 1 << 8,
    ACTION_POD_LABEL = 1 << 9,
    ACTION_POD_SCALE_DOWN = 1 << 10,
    ACTION_POD_SCALE_UP = 1 << 11,
    ACTION_POD_TOLERATION = 1 << 12,
    ACTION_POD_GATES_GONE = 1 << 13,
    ACTION_POD_CLAIMS = 1 << 14,
    ACTION_CLASS_TOPOLOGY = 1 << 15, /* a StorageClass provides volumes elsewhere */
    ACTION_VOLUME_ZONE = 1 << 16,    /* a volume's labels say another zone or region */
    ACTION_CSI_LIMIT = 1 << 17,      /* a driver can attach more volumes to a node */
    ACTION_CSI_MIGRATED = 1 << 18,   /* a node hands other plugins over to CSI drivers */
    ACTION_CAPACITY_GREW = 1 << 19,
    ACTION_DRIVER_UNTRACKED = 1 << 20,    /* a CSI driver's capacity no longer matters */
    ACTION_OTHER = 1 << 21,               /* whatever else of such an object */
    ACTION_UPDATE = (1 << 22) - (1 << 2), /* every kind of update */
    ACTION_CLASS_WAITS = 1 << 22, /* with ACTION_ADD: the class waits for the first consumer */
    /* With one of the above: */
    ACTION_CLAIM_FREED = 1 << 23,   /* a resource claim has its devices no more, or gets none */
    ACTION_CLAIM_STATUS = 1 << 24,  /* its status is another one */
    ACTION_CLASS_RENAMED = 1 << 25, /* a device class stands for another extended resource */
};

struct event {
    enum event_resource resource;
    uint32_t actions;

    node_id node;                   /* of EVENT_NODE */
    const struct node_row *old_row; /* NULL: it was not there */
    const struct node_row *new_row; /* NULL: it is gone */

    const struct shape *old_shape; /* of a pod; NULL: it was not there */
    const struct shape *new_shape; /* NULL: it is gone */
    sym pod_node;                  /* where that pod is, or is nominated to; SYM_NONE: nowhere */
    sym pin;                       /* the node that the refused pod names; SYM_NONE: none */
    sym namespace, name;           /* of EVENT_CLAIM; of EVENT_CSI_DRIVER and
                                    * EVENT_ATTACHMENT `name` is the driver */
    sym resource_name;             /* of EVENT_DEVICE_CLASS; SYM_NONE: none */
    uint32_t but;                  /* number + 1 of a unit that it does not help; 0: none */
    bool is_thorough;              /* count every help, not only what kube-scheduler sees */
    bool has_limit;                /* only units of at most this priority may be woken */
    int32_t priority_limit;
};
