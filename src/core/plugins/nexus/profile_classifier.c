/* Who and what a pod is, for all plugins of the profile: the tier of its tenant, its kind of work,
 * whether it may be stopped. What the pod itself says was read once, with its spec; what its
 * namespace adds is looked up when a class is made. It judges no node. */

#include "core/framework/plugin.h"

static struct identity identify(struct cluster *c, const struct shape *shape, const void *args)
{
    return identity_of(c, shape, args);
}

const struct plugin plugin_profile_classifier = {
    .name = "ProfileClassifier",
    .identify = identify,
};
