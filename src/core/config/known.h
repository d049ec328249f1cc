#pragma once

#include "core/config/config.h"

/* The plugins that a configuration may name, from the rows of core/plugins/plugins.def: those that
 * exist here, what the engine does itself, and those that are still to come. */

enum plugin_presence {
    PLUGIN_HERE,    /* in the table of plugins */
    PLUGIN_ENGINE,  /* what it does, the engine does itself */
    PLUGIN_MISSING, /* to come: pods that need it are refused */
};

struct known_plugin {
    struct str name;
    enum plugin_presence presence;
    uint32_t points; /* a bit for each point at which it takes part */
    bool restricts;  /* its PreFilter alone can rule nodes out */
    struct {
        bool is_in;
        int32_t weight;
    } kube, kubenexus; /* the built-in profiles. The table has kube-scheduler's order */
    int32_t weight;    /* if a file enables it and gives none; 0: it scores nothing */
    const char *args;  /* in Markdown; "": it takes none */
    const char *summary;
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

/* What its score weighs when a file says nothing; of a plugin that has no row 1, as upstream. */
int64_t known_plugin_weight(const struct known_plugin *known);

/* Was it removed from this version of the configuration? */
bool known_plugin_is_removed(struct str name);

/* Its number in the table of plugins; only of those that are here. */
uint32_t known_plugin_number(const struct known_plugin *known);

/* As messages call the point: "FilterPlugin". */
const char *point_type(enum point point);
