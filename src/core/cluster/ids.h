#pragma once

#include "core/base/sym.h"

/* Dense numbers for what the cluster holds, each kind its own type, so that a pod's number cannot
 * index a table of nodes. Numbers are used again after their owner is gone. */

typedef struct {
    uint32_t i;
} node_id;

typedef struct {
    uint32_t i;
} pod_id;

#define ID_NONE UINT32_MAX

/* Interned things: equal content, equal number; 0 is the empty one where there is one. */
typedef uint32_t label_set_id;   /* sorted (key, value) pairs                  */
typedef uint32_t taint_set_id;   /* taints as a node lists them                */
typedef uint32_t tolerations_id; /* tolerations as a pod lists them            */
typedef uint32_t rules_id;       /* nodeSelector and node affinity             */
typedef uint32_t selector_id;    /* a label selector                           */
typedef uint32_t spec_id;        /* a pod's spec as plugins read it            */
typedef uint32_t shape_id;       /* spec + labels + namespace + owner: a template */
typedef uint32_t hardware_id;    /* what a node is made of                     */
typedef uint32_t resource_id;    /* a resource's name */

enum {
    RESOURCE_CPU, /* in thousandths; all others in whole units */
    RESOURCE_MEMORY,
    RESOURCE_EPHEMERAL,
    RESOURCE_PODS,
    RESOURCE_FIRST_SCALAR,
};
