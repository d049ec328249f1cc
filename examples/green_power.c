/* Prefers nodes that run on green power, and keeps pods that insist away from the others.
 *
 *     cc -shared -fPIC -o green_power.so green_power.c
 */

#include <kubenexus/plugin.h>
#include <string.h>

struct green {
    bool insists; /* the pod's label says so */
};

static bool is(struct kn_text text, const char *what)
{
    return text.p && text.n == strlen(what) && memcmp(text.p, what, text.n) == 0;
}

static bool learn(const struct kn_host *host, const struct kn_pod *pod, struct kn_text args,
                  void *state)
{
    struct green *g = state;
    (void)args;
    g->insists = is(host->pod_label(pod, "example.com/power"), "green");
    return true;
}

static bool is_green(const struct kn_host *host, const struct kn_node *node)
{
    return is(host->node_label(node, "example.com/power"), "green");
}

static unsigned filter(const struct kn_host *host, const void *state, const struct kn_node *node)
{
    const struct green *g = state;
    return g->insists && !is_green(host, node) ? 1 : 0;
}

static int64_t score(const struct kn_host *host, const void *state, const struct kn_node *node)
{
    (void)state;
    return is_green(host, node) ? 100 : 0;
}

const struct kn_plugin kubenexus_plugin = {
    .version = KN_PLUGIN_VERSION,
    .name = "GreenPower",
    .summary = "Prefers nodes that run on green power.",
    .pod_labels = (const char *const[]){"example.com/power",                  NULL},
    .reasons = (const char *const[]){"node(s) did not run on green power", NULL},
    .state_size = sizeof(struct green),
    .learn = learn,
    .filter = filter,
    .score = score,
};
