#pragma once

#include "core/base/map.h"
#include "core/cluster/match.h"
#include "core/cluster/spec.h"
#include "core/model/object.h"

/* Devices: what drivers offer, which classes there are, what claims ask for and have got.
 *
 * Objects are kept whole, as they came: they are few and asked in all their parts. Beside them
 * stands what is asked all day: slices by pool and by node, and which devices are taken. A device
 * is known by the symbol of "driver/pool/device".
 *
 * A device is taken by a claim whose status says so, or by one that a pod of ours is given and
 * whose status is still being written: what is *promised*. Everything here but the promises
 * changes only when an object does; then `generation` moves, and classes of pods that use devices
 * are learned anew (framework/class.c). It moves with a promise, too. */

/* A class stands for the extended resource of this prefix and its name, too. */
#define DEVICE_CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

enum slice_chain { OF_NODE, OF_POOL, N_CHAINS };

enum kept_kind { KEPT_CLAIM, KEPT_SLICE, KEPT_CLASS, KEPT_TAINT_RULE, N_KEPT };

struct kept_object {
    struct arena *mem; /* owned; NULL: the number is free */
    sym namespace, name;
    struct object object; /* lives in `mem` */
    struct slice_index *slice;
    rules_id rules; /* of an allocated claim: on which nodes it is good */
    sym owner;      /* of a claim for extended resources: its pod's uid; else SYM_NONE */
};

struct kept_objects {
    struct map by_name; /* (namespace, name) → number */
    VEC(struct kept_object) at;
    VEC(uint32_t) free;
};

/* What is known of a slice beyond its object. */
struct slice_index {
    sym driver, pool, node;  /* SYM_NONE: not of one node */
    rules_id rules;          /* its nodeSelector; 0: none */
    uint32_t next[N_CHAINS]; /* another slice of the same node, of the same pool; ID_NONE: none */
    bool counts;             /* one that asks for a feature we leave out does not */
    struct device_index {
        sym id;
        sym node;
        rules_id rules;
    } * devices; /* in the order of the object's */
};

/* How much of a shared device's capacity is given away. */
struct consumed {
    sym device, capacity;
    __int128 nano;
};

/* Devices that a claim is being given: its status does not name them yet. It ends when the claim
 * comes as it is now, or when the write was certainly not carried out. A claim that comes with
 * nothing new but our finalizer is half written, and still promised. */
struct promise {
    sym namespace, claim;
    struct arena *mem; /* owned */
    struct device_allocation *allocation;
};

/* How long devices may still be searched for (cluster/allocate.h), in steps of a search. */
struct effort {
    uint64_t used, most; /* until the engine must turn to something else; most 0: no bound */
    uint64_t spent;      /* on the decision under way, also in earlier steps of the engine */
    bool may_pause;      /* a search that uses up its steps is put down; else it has failed */
    bool is_paused;      /* answer: one was put down, and what was decided does not count */
};

struct devices {
    struct kept_objects of[N_KEPT];
    struct map first[N_CHAINS]; /* node's name, or driver and pool → its first slice */
    VEC(uint32_t) elsewhere;    /* slices that are not of one node */
    struct map taken;           /* device → how many have it for themselves */
    struct map shared;          /* device → how many have a share of it */
    struct map extended;        /* a pod's uid → the claim for its extended resources */
    VEC(struct consumed) consumed;
    struct map consumed_at; /* device and capacity → its number */
    VEC(struct promise) promises;
    uint64_t generation, class_generation; /* of anything; of classes alone */
};

/* --- asking --- */

/* The first slice of a pool, and the one behind it: slices by number; ID_NONE: none. */
static inline uint32_t devices_first(const struct devices *d, enum slice_chain chain, uint64_t key)
{
    return map_find(&d->first[chain], key);
}

static inline uint64_t devices_pool(sym driver, sym pool)
{
    return (uint64_t)driver << 32 | pool;
}

static inline uint64_t devices_pool_key(const struct slice_index *x)
{
    return devices_pool(x->driver, x->pool);
}

/* NULL if there is no such object. */
const struct kept_object *devices_claim(const struct devices *d, sym namespace, sym name);
const struct device_class *devices_class(const struct devices *d, sym name);

static inline bool devices_is_taken(const struct devices *d, sym device)
{
    return map_find(&d->taken, device) != MAP_NONE;
}

/* Has anybody a share of the device? */
static inline bool devices_is_shared(const struct devices *d, sym device)
{
    return map_find(&d->shared, device) != MAP_NONE;
}

/* How much of it is given away. */
__int128 devices_consumed(const struct devices *d, sym device, sym capacity);

/* Is the claim being given to somebody? */
const struct promise *devices_promise(const struct devices *d, sym namespace, sym claim);

/* The claim for extended resources of the pod with this uid; SYM_NONE: none. */
sym devices_extended(const struct devices *d, sym uid);

/* The class whose devices stand for an extended resource; NULL: none. Of several the newest, then
 * the first by name. */
const struct device_class *devices_class_of(const struct devices *d, struct str resource);

/* What pods of the spec are judged by; it moves when that may have changed. 0: nothing here. */
struct cluster;
uint64_t devices_generation(const struct cluster *c, const struct spec *spec);

/* --- changing --- */

/* The object came or changed. Returns what is different (enum event_action), 0: nothing. */
uint32_t devices_put(struct cluster *c, const struct object *object);

/* What went with it (enum event_action), 0: it was not there; only kind, namespace and name count.
 */
uint32_t devices_remove(struct cluster *c, const struct object *object);

/* The devices are the claim's, until the promise is kept or broken. Takes the arena in which the
 * allocation lives. In a transaction: cluster_promise(). */
void devices_give(struct cluster *c, struct promise promise);

/* The latest promise was never made. */
void devices_take_back(struct cluster *c);

/* The promise to the claim ends; false if there is none. */
bool devices_break(struct cluster *c, sym namespace, sym claim);

void devices_done(struct devices *d);
