#pragma once

#include "core/base/map.h"
#include "core/cluster/match.h"
#include "core/cluster/pods.h"
#include "core/model/migrate.h"
#include "core/model/object.h"

/* Volumes, claims, and who provides them.
 *
 * Each object is a *thing*: a name, and what plugins read of it as interned bytes, so that equal
 * content has an equal number and a change that no plugin could see is none. All that pods are
 * judged by but the CSINodes and attachments, which belong to a node's row, shares one generation:
 * when it moves, classes of pods with volumes are learned anew (framework/class.c). */

enum thing_kind {
    THING_VOLUME,
    THING_CLAIM,
    THING_CLASS,
    THING_DRIVER,
    THING_CAPACITY,
    THING_CSI_NODE,
    THING_ATTACHMENT,
    N_THINGS,
};

struct thing {
    sym namespace, name; /* namespace SYM_NONE: the kind has none */
    uint32_t facts;      /* ID_NONE: it is not there, only referred to */
    uint32_t users;      /* of a claim: how many volumes of pods on present nodes are it */
    uint32_t next;       /* of an attachment: another one of its node; ID_NONE: none */
    uint32_t assumed;    /* facts that it will have when what we write is written; ID_NONE: none */
    uint64_t version;    /* its resourceVersion; 0: it said none that is a number */
};

struct things {
    struct map by_name; /* (namespace, name) → number */
    VEC(struct thing) at;
    VEC(uint32_t) free;
    struct lists facts;
};

struct volumes {
    struct things of[N_THINGS];
    struct map attached; /* node's name → its first attachment */
    struct map named;    /* claim's name → users of all claims of that name, in any namespace */
    uint32_t exclusive;  /* claims that one pod only may use */
    uint64_t generation;
    sym in_tree_driver[N_IN_TREE]; /* known from the start: whoever asks before the driver is seen
                                    * must recognise it when it comes */
};

/* --- what plugins read --- */

enum access_mode { ACCESS_RWO = 1, ACCESS_ROX = 2, ACCESS_RWX = 4, ACCESS_RWOP = 8 };

/* An amount of storage: billionths, so that comparing is exact. */
struct storage {
    uint64_t low;
    int64_t high;
    int64_t bytes; /* rounded up */
};

int storage_compare(struct storage a, struct storage b);

struct volume_facts {
    struct storage capacity;
    sym class; /* SYM_NONE: none */
    sym spec_class;
    sym attributes_class;
    label_set_id labels;
    rules_id rules;          /* which nodes reach it */
    rules_id migrated_rules; /* the same where its plugin was handed over to a CSI driver */
    sym driver, handle;      /* SYM_NONE: it is no CSI volume and cannot become one */
    uint32_t in_tree;        /* enum in_tree: it becomes one where that plugin was handed over */
    sym claim_namespace, claim_name, claim_uid; /* SYM_NONE: claimed by nobody; of any uid */
    uint32_t access;                            /* enum access_mode */
    bool is_available, is_block, is_terminating;
};

struct claim_facts {
    struct storage request;
    sym class, spec_class;
    sym volume; /* SYM_NONE: none yet */
    sym attributes_class;
    sym selected_node; /* SYM_NONE: none yet */
    sym uid;
    sym owner_uid;        /* of the controller; SYM_NONE: none */
    selector_id selector; /* of volumes; ID_NONE: any */
    uint32_t access;
    bool has_request, is_bound, is_lost, is_block, is_terminating, is_annotated;
};

struct class_facts {
    sym provisioner;
    rules_id topologies; /* where it can provide volumes */
    bool waits;          /* WaitForFirstConsumer */
    bool provides;       /* it has a provisioner that makes volumes */
};

struct driver_facts {
    bool tracks_capacity, must_be_installed;
};

struct capacity_facts {
    sym class;
    rules_id topology;
    int64_t capacity_bytes, limit_bytes; /* in all; of one volume */
    bool has_topology, has_limit;
};

struct csi_node_facts {
    sym annotation;    /* which plugins it took over, as written */
    uint32_t migrated; /* the same as bits (in_tree_named) */
    uint32_t n_drivers;
    struct csi_limit {
        sym driver;
        int32_t most; /* -1: no limit */
    } drivers[];
};

struct attachment_facts {
    sym node, attacher, volume; /* SYM_NONE: not told */
};

/* As it is, or will be when what we write is written; NULL if there is no such object. */
const struct volume_facts *volumes_volume(const struct volumes *v, sym name);
const struct claim_facts *volumes_claim(const struct volumes *v, sym namespace, sym name);
const struct class_facts *volumes_class(const struct volumes *v, sym name);
const struct driver_facts *volumes_driver(const struct volumes *v, sym name);
const struct csi_node_facts *volumes_csi_node(const struct volumes *v, sym node);

/* The driver of an attachment; SYM_NONE: it is not there, or does not say. */
sym volumes_attacher(const struct volumes *v, sym name);

/* As the API says it is, whatever we assume. */
const struct volume_facts *volumes_told_volume(const struct volumes *v, sym name);
const struct claim_facts *volumes_told_claim(const struct volumes *v, sym namespace, sym name);

/* Its resourceVersion; 0: unknown, or it is not there. */
uint64_t volumes_version(const struct volumes *v, enum thing_kind kind, sym namespace, sym name);

/* What stands behind a thing's number, or will; it must be there. */
const void *things_facts(const struct things *t, uint32_t thing);

/* How many volumes of pods on present nodes are this claim. */
uint32_t volumes_users(const struct volumes *v, sym namespace, sym name);

/* The same of all claims with this name, whatever their namespace. */
uint32_t volumes_users_of_name(const struct volumes *v, sym name);

/* Is this claim one of the pod's? */
bool volumes_spec_has(const struct spec *spec, sym claim, bool also_ephemeral);

/* --- changing --- */

void volumes_init(struct volumes *v, struct names *names);

struct cluster;

/* The object came or changed; its node's row is logged, if it has one. Returns what is different
 * (enum event_action), 0: nothing. */
uint32_t volumes_put(struct cluster *c, const struct object *object);

/* Returns whether it was there; only its kind, namespace and name count. */
bool volumes_remove(struct cluster *c, const struct object *object);

/* The thing, which is there, has these facts (ID_NONE: its own) until it comes with another
 * version. To be called by cluster_assume(), which can undo it; returns what was assumed before. */
uint32_t volumes_set_assumed(struct volumes *v, enum thing_kind kind, uint32_t thing,
                             uint32_t facts);

/* What was assumed of the object is not so, if it still has this version. Returns whether that is
 * news. */
bool volumes_unassume(struct volumes *v, enum thing_kind kind, sym namespace, sym name,
                      uint64_t version);

/* The number of a thing that is there; ID_NONE: it is not. */
uint32_t volumes_find(const struct volumes *v, enum thing_kind kind, sym namespace, sym name);

/* Facts of a volume or a claim, as interned as an object's. Nobody holds them yet. */
uint32_t volumes_facts(struct cluster *c, enum thing_kind kind, const void *facts);

/* What plugins read of an object, interned in its kind's table; nobody holds it yet. */
uint32_t volumes_read(struct cluster *c, enum thing_kind kind, const struct object *object);

/* A pod came (+1) to a node, or left it (-1). */
void volumes_use(struct cluster *c, pod_id pod, int sign);

void volumes_tidy(struct volumes *v, struct names *names, struct matches *matches, enum tidy how);
void volumes_done(struct volumes *v);
