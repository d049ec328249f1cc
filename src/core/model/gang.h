#pragma once

#include "core/model/object.h"

/* Which gang a pod says it belongs to: one answer per pod, from every spelling that users have.
 *
 * A pod names its group in a field (spec.schedulingGroup), or in a label or annotation of one of a
 * dozen keys; how many members the gang needs stands beside the name, or in an object that the name
 * refers to (core/model/pod_group.h). Name, size, role and topology are resolved apart from each
 * other, each along the order of one table of keys: the first that is there counts, a label before
 * an annotation of the same key. Whatever else names another group is told as a conflict. A size
 * that is no number, or below 1, is told too, and never read as if it had not been there. The field
 * comes first, except of a Job's pods, whose controller may have set it.
 *
 * A pod that names no group and asks for it (kubenexus.io/gang: auto) is in the group of its owner.
 * How many that makes stands in the owner's object (core/model/owner.h); while that is not there,
 * or is of no kind that we read, what its operator put on the pod counts, if there is anything.
 *
 * Values are pieces of the pod's texts. */

/* Where something was found. */
enum gang_where { GANG_NOWHERE, GANG_FIELD, GANG_LABEL, GANG_ANNOTATION, GANG_ENV };

struct gang_place {
    enum gang_where where;
    struct str key; /* the label's or annotation's, or the path of the field; lasts for ever */
    struct str value;
};

struct gang_identity {
    struct gang_place group;  /* its value is the group's name; never "" */
    enum kind object;         /* that the name refers to; KIND_NONE: the pod says it all */
    struct str part, replica; /* of a Workload: its group, and which one of several of these */
    struct str set;           /* the LeaderWorkerSet whose groups are what this one is */
    int32_t minimum;          /* as the pod says; 0: it does not */
    struct gang_place size;
    struct gang_place role;
    bool comes_in_turn; /* more are made when those who are there run: to wait for all is in vain */

    /* Keys of node labels: all members must be in one domain of the first; the others (a list with
     * commas, the tightest first) are tried before. */
    struct gang_place required, preferred;

    struct gang_place conflict;  /* names another group, and is not heard */
    struct gang_place malformed; /* a size that is none */
};

/* False if it is in no group. */
bool gang_identity_of(const struct pod *pod, struct gang_identity *out);

/* The same by the rules of its profile. */
struct gang_rules {
    bool kubeflow_asks; /* pods of Kubeflow's jobs need not; who says another thing is heard */
    bool natively;      /* the field comes first, whoever set it */
};

bool gang_identity_by(const struct pod *pod, struct gang_rules rules, struct gang_identity *out);

/* Do these ask to be in a gang with the other pods of their owner? */
bool gang_is_asked_for(const pair_list *labels, const pair_list *annotations);

/* Every key that is read, in the order in which they count. */
enum gang_meaning {
    GANG_NAME,
    GANG_SIZE,
    GANG_ROLE,
    GANG_REQUIRED,
    GANG_PREFERRED,
    GANG_AUTO,    /* "auto" or "true": its owner's pods are a gang, */
    GANG_OWNER,   /* whose name stands here */
    GANG_TURN,    /* its pods are made one after the other, */
    GANG_NO_TURN, /* or at once all the same */
    GANG_SET,     /* the group is one of several of this name */
    GANG_MEANINGS
};

struct gang_key {
    struct str key;
    enum gang_meaning meaning;
    enum kind object; /* of a name, or of an owner */
};

extern const struct gang_key gang_keys[];
extern const uint32_t n_gang_keys;

/* "label KEY", "annotation KEY", "field PATH" or "variable NAME": for messages. */
struct str gang_place_text(const struct gang_place *place, struct arena *mem);
