#pragma once

#include "core/framework/plugin.h"

/* Which plugins judge the pods of one schedulerName, with which weights, in which order. */

enum {
    PROFILE_NO_GATE = 1,
    PROFILE_NO_FILTER = 2,
    PROFILE_NO_SCORE = 4,
    PROFILE_NO_POST_FILTER = 8,
    PROFILE_NO_GANGS = 16,
    PROFILE_NO_RESERVE = 32,
};

struct profile_plugin {
    const struct plugin *plugin;
    uint32_t number; /* in the table of all plugins: its bit in masks of plugins */
    int64_t weight;  /* of its score */
    const void *args;
    uint32_t off; /* PROFILE_NO_*: where it could take part and does not */
};

struct profile {
    struct str name; /* the schedulerName it serves */
    const struct profile_plugin *plugins;
    uint32_t n;
};

/* The plugin that places the profile's gangs as one, of two that one which knows more kinds of
 * them; NULL: each pod is on its own. */
const struct profile_plugin *profile_gangs(const struct profile *profile);
