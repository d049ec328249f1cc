#pragma once

#include "core/config/config.h"

/* The plugins that a configuration may name: those that exist here, those of kube-scheduler that
 * are still to come, and our own that are. */

enum plugin_presence {
    PLUGIN_HERE,    /* in the table of plugins */
    PLUGIN_ENGINE,  /* what it does, the engine does itself */
    PLUGIN_MISSING, /* to come: pods that need it are refused */
};

struct known_plugin {
    struct str name;
    uint32_t points; /* a bit for each point at which it takes part */
    bool is_default; /* in kube-scheduler's default profile, which has the table's order */
    int32_t weight;  /* there */
    bool restricts;  /* its PreFilter alone can rule nodes out */
};

extern const struct known_plugin known_plugins[];
extern const uint32_t n_known_plugins;

/* NULL: no plugin has this name. `*is_alias`: it is called otherwise here. */
const struct known_plugin *known_plugin_find(struct str name, bool *is_alias);

/* The name that stands for all our plugins: those by which the built-in profile kubenexus-scheduler
 * differs from kube-scheduler's, with its weights. */
#define KNOWN_OURS STR("KubeNexus")

/* Is it one of these? */
bool known_plugin_is_ours(const struct known_plugin *known);

/* All of them, in the built-in profile's order: the i-th; NULL behind the last. */
const struct known_plugin *known_ours_at(uint32_t i);

/* What its score weighs when a file says nothing: a plugin that is not kube-scheduler's has the
 * weight of its table, others have 1, as upstream. */
int64_t known_plugin_weight(const struct known_plugin *known);

/* Was it removed from this version of the configuration? */
bool known_plugin_is_removed(struct str name);

enum plugin_presence known_plugin_presence(const struct known_plugin *known);

/* Its number in the table of plugins; only of those that are here. */
uint32_t known_plugin_number(const struct known_plugin *known);

/* As messages call the point: "FilterPlugin". */
const char *point_type(enum point point);
