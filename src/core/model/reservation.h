#pragma once

#include "core/model/pod.h"

/* A ResourceReservation (scheduling.kubenexus.io/v1alpha1): room that only one group of pods may
 * use. It is written in two shapes, which may stand side by side: `reservations` has an entry per
 * expected member, each for a node or for any; `resources` is one such entry for any node. An entry
 * names amounts of resources in a map, or cpu, memory and gpu beside it. */

struct reservation_entry {
    struct str name;
    struct str node; /* "": any */
    bool has_cpu, has_memory, has_gpu;
    struct quantity cpu, memory, gpu;
    amount_list resources;
};

struct reservation {
    struct meta meta;
    struct {
        struct str group;    /* podGroupName */
        struct str duration; /* "10m"; "": the default */
        amount_list resources;
        LIST(struct reservation_entry) entries;
    } spec;
    struct {
        int32_t held, entries;
        pair_list pods; /* entry → who has it */
        condition_list conditions;
    } status;
};

/* The group it is for: podGroupName, else the label pod-group; "": none, so nobody may use it. */
struct str reservation_group(const struct reservation *r);

/* How long it holds, from its creation: what it says if that is a duration above 0, else half an
 * hour. */
int64_t reservation_hold_ms(const struct reservation *r);

/* What it holds, entry by entry, sorted by name; spec.resources is an entry without a name. */
struct reserved {
    struct str name, node;
    amount_list amounts;
};

typedef LIST(struct reserved) reserved_list;

/* Lives in `mem`. Entries without amounts are left out. */
reserved_list reservation_read(const struct reservation *r, struct arena *mem);
