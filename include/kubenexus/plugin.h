/* Plugins of your own: filter and score nodes beside those that are built in.
 *
 * A plugin is a const table with the name `kubenexus_plugin`, in a shared library that a
 * configuration names:
 *
 *     pluginConfig:
 *     - name: GreenPower
 *       args: {library: /usr/lib/kubenexus/green_power.so}
 *
 * It is asked per class of pods, not per pod, and its answers about a node are kept until the node
 * changes: so they must follow from what it is told here, and from nothing else (no clock, no
 * file, no random number). examples/green_power.c is one; docs/guide/plugins.md teaches. */

#ifndef KUBENEXUS_PLUGIN_H
#define KUBENEXUS_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts up whenever a library built before would be misunderstood. */
#define KN_PLUGIN_VERSION 1

struct kn_pod;
struct kn_node;

/* A text that need not end with a 0; p is NULL: there is none. Lives until the call is over. */
struct kn_text {
    const char *p;
    size_t n;
};

/* What may be asked. A resource is cpu (in thousandths), memory, ephemeral-storage (in bytes),
 * pods, or the name of an extended one (in pieces). */
struct kn_host {
    struct kn_text (*pod_label)(const struct kn_pod *, const char *key);
    int64_t (*pod_asks)(const struct kn_pod *, const char *resource);
    struct kn_text (*node_name)(const struct kn_node *);
    struct kn_text (*node_label)(const struct kn_node *, const char *key);
    int64_t (*node_has)(const struct kn_node *, const char *resource);  /* allocatable */
    int64_t (*node_left)(const struct kn_node *, const char *resource); /* of it, not asked for */
};

struct kn_plugin {
    uint32_t version;    /* KN_PLUGIN_VERSION */
    const char *name;    /* as configurations spell it */
    const char *summary; /* one sentence */

    /* Labels of pods that it reads, ending with NULL; NULL: none. Others look empty to it. */
    const char *const *pod_labels;
    /* Why `filter` refuses nodes, ending with NULL: "node(s) run on coal". */
    const char *const *reasons;
    /* Whether its answers depend on what is left on a node (node_left). */
    bool reads_room;

    /* What it keeps of a class of pods: so many zeroed bytes, which `learn` fills. */
    size_t state_size;
    /* False: it has nothing to say about these pods. `args` is what pluginConfig says, as JSON. */
    bool (*learn)(const struct kn_host *, const struct kn_pod *, struct kn_text args, void *state);
    /* 0: the node will do; else which of `reasons` says why not, from 1. NULL: it refuses none. */
    unsigned (*filter)(const struct kn_host *, const void *state, const struct kn_node *);
    /* 0, the worst, to 100. NULL: it prefers none. */
    int64_t (*score)(const struct kn_host *, const void *state, const struct kn_node *);
};

/* What a library defines. */
extern const struct kn_plugin kubenexus_plugin;

#endif
