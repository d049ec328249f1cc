#pragma once

#include "core/cluster/pods.h"

/* Who a pod belongs to and what it is, as all plugins of its profile see it: what the pod says of
 * itself (core/model/classify.h, kept in its spec) together with what its namespace's labels say.
 *
 * The tier is that of the pod's queue (cluster/kueue.h), else the namespace's; where that says
 * nothing, the priority class's; where that says nothing either, the default. A pod may lower its
 * own tier. It may raise it only if the configuration lets it: else anybody could write "gold". */

struct cluster;

enum tier_source {
    TIER_DEFAULT, /* nobody says: silver, and plugins leave the pod alone */
    TIER_CONFIGURED,
    TIER_OF_CLASS,
    TIER_OF_NAMESPACE,
    TIER_OF_KUEUE,  /* of Kueue's */
    TIER_OF_TENANT, /* by the words of the name that the namespace gives its tenant */
    TIER_OF_POD,
};

/* How to make up one's mind. {0}: the defaults. */
struct identity_rules {
    enum tier default_tier; /* TIER_NONE: silver, and it counts as not known */
    bool lets_pods_rise;
};

struct identity {
    struct classified is; /* {0} where nobody classifies */
    enum tier tier;
    enum tier_source tier_source;
    sym tenant; /* SYM_NONE where nobody classifies */
};

/* A pure function of the shape, its namespace's labels and the rules. */

struct identity identity_of(struct cluster *c, const struct shape *shape,
                            const struct identity_rules *rules);

/* Does anybody say which tier the pod is of? */
static inline bool identity_has_tier(const struct identity *i)
{
    return i->tier != TIER_NONE && i->tier_source != TIER_DEFAULT;
}

/* "namespace label tenant.kubenexus.io/tier": appended. */
void identity_tier_text(const struct identity *i, struct buf *out);

/* Do a namespace's labels (ID_NONE: it has none) say whose it is, or of what tier? */
bool identity_is_said(const struct cluster *c, label_set_id labels);
