#pragma once

#include "core/cluster/cluster.h"

/* The journal of an open transaction: what was done, with what it takes to undo it. Private to the
 * cluster; callers use the operations in cluster.h. */

enum undo_kind {
    UNDO_PLACE,    /* the pod was put on `node`              */
    UNDO_TAKE,     /* the pod was taken off `node`, from between two others */
    UNDO_NODE,     /* the node's row was `row`               */
    UNDO_CLAIM,    /* the node's number was handed out; `at` had been before */
    UNDO_PROMISE,  /* devices were promised to a claim      */
    UNDO_NOMINATE, /* the pod's nomination was `was`, at `at` */
    UNDO_ASSUME,   /* `was` was assumed of the thing `at` of the kind `thing` */
};

struct undo {
    enum undo_kind kind;
    uint32_t pod, node;
    uint32_t before, after;
    uint32_t zone;
    sym was;
    uint32_t at;
    enum thing_kind thing;
    gpu_mask gpus;              /* that the pod had … */
    uint32_t gpu_milli;         /* … and how much of each */
    const struct node_row *row; /* lives in the journal's arena */
};
