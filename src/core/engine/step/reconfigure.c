/* New rules for an engine that runs. What is true of the cluster stays as it is; what was learned
 * under the old profiles (classes, views, reasons) is forgotten and learned anew when somebody
 * asks. Pods of a profile that is gone leave the queue, those of a new one enter it; all others
 * keep their attempts and waits (gangs begin anew), and whoever was refused is asked again. */

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"

enum {
    DEFAULT_UNSETTLED = 512,
    DEFAULT_FIRST_MS = 1000,
    DEFAULT_MOST_MS = 10000,
    DEFAULT_PARK_MS = 300000,
};

struct engine_config engine_config_complete(struct engine_config config)
{
    if (config.max_unsettled == 0)
        config.max_unsettled = DEFAULT_UNSETTLED;
    if (!config.profiles) {
        config.profiles = built_in_profiles;
        config.n_profiles = n_built_in_profiles;
    }
    if (config.first_backoff_ms == 0)
        config.first_backoff_ms = DEFAULT_FIRST_MS;
    if (config.most_backoff_ms == 0)
        config.most_backoff_ms = DEFAULT_MOST_MS;
    if (config.park_ms == 0)
        config.park_ms = DEFAULT_PARK_MS;
    return config;
}

static void class_gone(void *ctx, struct class *class)
{
    struct engine *k = ctx;
    views_drop(&k->deciding.views, class);
    scan_forget(&k->deciding.scan, class);
    engine_forget_prices(k, class);
}

static void find_guests(struct engine *k)
{
    memset(k->served.guests, 0, sizeof(k->served.guests));
    for (uint32_t i = 0; i < k->config.n_profiles; i++) {
        const struct profile *profile = &k->config.profiles[i];
        for (uint32_t p = 0; p < profile->n; p++)
            if (profile->plugins[p].number >= n_plugins)
                k->served.guests[profile->plugins[p].number - n_plugins] =
                    profile->plugins[p].plugin;
    }
}

static bool watches_demand(const struct engine_config *config)
{
    for (uint32_t i = 0; i < config->n_profiles; i++)
        for (uint32_t p = 0; p < config->profiles[i].n; p++) {
            const struct profile_plugin *of = &config->profiles[i].plugins[p];
            if (of->plugin->watches_demand && of->plugin->watches_demand(of->args))
                return true;
        }
    return false;
}

void engine_begin_profiles(struct engine *k)
{
    demand_watch(&k->cluster->demand, watches_demand(&k->config));
    find_guests(k);
    classes_init(&k->classes, k->cluster, k->config.profiles, k->config.n_profiles);
    k->classes.extenders = k->config.extenders;
    k->classes.n_extenders = k->config.n_extenders;
    engine_forget_reasons(k);
    k->classes.gone = class_gone;
    k->classes.ctx = k;
    k->gangs->kubeflow = false;
    for (uint32_t i = 0; i < k->config.n_profiles; i++) {
        const struct plugin *order = engine_order_of(&k->config.profiles[i]);
        assert(order);
        if (i == 0 || order->gangs) /* which orders units that do not age as the others do */
            k->served.order = order;
        const struct profile_plugin *gangs = profile_gangs(&k->config.profiles[i]);
        const struct coscheduling_args *args = gangs ? gangs->args : NULL;
        k->gangs->kubeflow |= args && args->gangs_kubeflow;
    }
    engine_count_profiles(k);
    engine_begin_shares(k);
    engine_begin_lines(k);
}

/* Whoever is in the queue and not served by these profiles leaves it. */
static void let_out(struct engine *k, const struct profile *profiles, uint32_t n)
{
    struct classes next = {.profiles = profiles, .n_profiles = n};
    for (uint32_t i = 0; i < k->cluster->pods.rows.n; i++) {
        pod_id pod = {i};
        if (!pod_is_waiting(pods_at(&k->cluster->pods, pod)))
            continue;
        struct str name =
            names_text(&k->cluster->names, cluster_spec(k->cluster, pod)->scheduler_name);
        if (classes_profile(&next, name))
            continue;
        engine_stop_timer(k, i);
        queue_remove(k->queue, i);
        cluster_nominate(k->cluster, pod, SYM_NONE);
    }
}

/* Whoever waits stands where the new profiles put it: who is served now and was not enters, and who
 * stood by itself may be of a gang. (Where such a pod wants to go, if somebody
 * nominated it, is known when it next changes.) */
static void let_in(struct engine *k)
{
    for (uint32_t i = 0; i < k->cluster->pods.rows.n; i++) {
        pod_id pod = {i};
        const struct pod_row *row = pods_at(&k->cluster->pods, pod);
        if (!pod_is_waiting(row))
            continue;
        if (queue_where(k->queue, i) == QUEUE_NOWHERE && engine_gang_of(k, pod) == ID_NONE)
            k->units.at[i].first_ms = k->now_ms;
        engine_stand(k, pod, true);
    }
}

void engine_configure(struct engine *k, int64_t now_ms, const struct engine_config *config)
{
    struct engine_config next = engine_config_complete(*config);
    k->now_ms = now_ms;
    engine_recall_all(k);
    vec_clear(&k->pauses->all); /* they begin anew, as all do */
    for (uint32_t i = 0; i < k->gangs->all.n; i++)
        engine_dissolve(k, i); /* they gather anew, if they are gangs to the new ones */
    let_out(k, next.profiles, next.n_profiles);
    classes_done(&k->classes); /* and the views with them */
    k->config.profiles = next.profiles;
    k->config.n_profiles = next.n_profiles;
    k->config.extenders = next.extenders;
    k->config.n_extenders = next.n_extenders;
    k->config.first_backoff_ms = next.first_backoff_ms;
    k->config.most_backoff_ms = next.most_backoff_ms;
    k->config.park_ms = next.park_ms;
    engine_begin_profiles(k);
    struct queue_rules rules = engine_queue_rules(k);
    for (uint32_t i = 0; i < k->units.n; i++)
        if (queue_where(k->queue, i) != QUEUE_NOWHERE)
            engine_begin_wait(k, i);
    queue_renew(k->queue, now_ms, &rules);
    let_in(k);
}
