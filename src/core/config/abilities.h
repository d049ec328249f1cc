#pragma once

#include "core/base/buf.h"
#include "core/framework/profile.h"

/* What a profile can do, in the words of the guides: each is brought by one plugin, where it takes
 * part. For people who ask what a configuration means without knowing the plugins. */

struct ability {
    struct str name;
    struct str plugin;
    uint32_t off; /* PROFILE_NO_*: without this the plugin does not bring it */
};

extern const struct ability abilities[];
extern const uint32_t n_abilities;

bool profile_can(const struct profile *profile, const struct ability *ability);

/* Adds the names of all that it can, or of all that it cannot: "gangs, racks, islands". */
void abilities_add(const struct profile *profile, bool can, struct buf *out);
