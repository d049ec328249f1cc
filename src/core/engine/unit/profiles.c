/* Which plugins and profiles there are, and who is served by which. */

#include "core/engine/unit/unit.h"

struct engine_open engine_open(struct engine *k)
{
    return (struct engine_open){k->cluster, k->queue, &k->classes, &k->deciding.scan};
}
#include "core/plugins/plugins.h"

const struct plugin *engine_plugin(const struct engine *k, uint32_t number)
{
    if (number < n_plugins)
        return plugins[number];
    return number < n_plugins + EXTERNALS_MOST ? k->served.externals[number - n_plugins] : NULL;
}

const struct plugin *engine_order_of(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->before)
            return profile->plugins[i].plugin;
    return NULL;
}

const struct profile *engine_profile_of(const struct engine *k, pod_id pod)
{
    return classes_serving(&k->classes, cluster_spec(k->cluster, pod)->scheduler_name);
}

const struct profile_plugin *engine_gangs_of(const struct engine *k, pod_id pod)
{
    return classes_gangs(&k->classes, cluster_spec(k->cluster, pod)->scheduler_name);
}
