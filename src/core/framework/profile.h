#pragma once

#include "core/framework/plugin.h"

/* Which plugins judge the pods of one schedulerName, with which weights, in which order. */

struct profile_plugin {
    const struct plugin *plugin;
    uint32_t number; /* in the table of all plugins: its bit in masks of plugins */
    int64_t weight;  /* of its score */
    const void *args;
};

struct profile {
    struct str name; /* the schedulerName it serves */
    const struct profile_plugin *plugins;
    uint32_t n;
};
