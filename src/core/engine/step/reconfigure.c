/* New rules for an engine that runs. What is true of the cluster stays as it is; what was learned
 * under the old profiles (classes, views, reasons) is forgotten and learned anew when somebody
 * asks. Pods of a profile that is gone leave the queue, those of a new one enter it; all others
 * keep their attempts and waits (gangs begin anew), and whoever was refused is asked again. */

#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"

enum {
    DEFAULT_FIRST_MS = 1000,
    DEFAULT_MOST_MS = 10000,
    DEFAULT_PARK_MS = 300000,
};

struct engine_rules engine_rules_complete(struct engine_rules rules)
{
    if (!rules.profiles) {
        rules.profiles = built_in_profiles;
        rules.n_profiles = n_built_in_profiles;
    }
    if (rules.first_backoff_ms == 0)
        rules.first_backoff_ms = DEFAULT_FIRST_MS;
    if (rules.most_backoff_ms == 0)
        rules.most_backoff_ms = DEFAULT_MOST_MS;
    if (rules.park_ms == 0)
        rules.park_ms = DEFAULT_PARK_MS;
    return rules;
}

static void find_externals(struct engine *k)
{
    memset(k->served.externals, 0, sizeof(k->served.externals));
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++) {
        const struct profile *profile = &k->config.rules.profiles[i];
        for (uint32_t p = 0; p < profile->n; p++)
            if (profile->plugins[p].number >= n_plugins)
                k->served.externals[profile->plugins[p].number - n_plugins] =
                    profile->plugins[p].plugin;
    }
}

static bool watches_demand(const struct engine_rules *rules)
{
    for (uint32_t i = 0; i < rules->n_profiles; i++)
        for (uint32_t p = 0; p < rules->profiles[i].n; p++) {
            const struct profile_plugin *of = &rules->profiles[i].plugins[p];
            if (of->plugin->watches_demand && of->plugin->watches_demand(of->args))
                return true;
        }
    return false;
}

void engine_begin_profiles(struct engine *k)
{
    demand_watch(&k->cluster->demand, watches_demand(&k->config.rules));
    find_externals(k);
    classes_init(&k->classes, k->cluster, k->config.rules.profiles, k->config.rules.n_profiles);
    k->classes.extenders = k->config.rules.extenders;
    k->classes.n_extenders = k->config.rules.n_extenders;
    engine_forget_reasons(k);
    k->classes.gone = engine_class_gone;
    k->classes.ctx = k;
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++) {
        const struct plugin *order = engine_order_of(&k->config.rules.profiles[i]);
        assert(order);
        if (i == 0 || order->gangs) /* which orders units that do not age as the others do */
            k->served.order = order;
    }
    engine_count_profiles(k);
    engine_begin_gangs(k);
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

void engine_configure(struct engine *k, int64_t now_ms, const struct engine_rules *rules)
{
    struct engine_rules next = engine_rules_complete(*rules);
    engine_begin_call(k, now_ms);
    engine_recall_all(k);
    vec_clear(&k->stepping->pauses.all); /* they begin anew, as all do */
    engine_dissolve_all(k);              /* they gather anew, if they are gangs to the new ones */
    let_out(k, next.profiles, next.n_profiles);
    classes_done(&k->classes); /* and the views with them */
    k->config.rules = next;
    engine_begin_profiles(k);
    struct queue_rules queue = engine_queue_rules(k);
    for (uint32_t i = 0; i < k->units.n; i++)
        if (queue_where(k->queue, i) != QUEUE_NOWHERE)
            engine_begin_wait(k, i);
    queue_renew(k->queue, now_ms, &queue);
    let_in(k);
}
