#pragma once

#include "core/framework/profile.h"

/* Three small plugins, so that the framework is tested without the real ones.
 *
 * FakeLabel (0): a node labelled bad is refused for good ("is bad").
 * FakeRoom (1):  a node must have the cpu the pod asks for ("no room"); the row score is the number
 *                of free cpus, at most 100. Weight 2.
 * FakeZone (2):  the key is the label z; nodes of z=closed are refused ("zone is closed"); the raw
 *                score is z as a number, normalised. Weight 3. */
extern const struct plugin fake_label, fake_room, fake_zone;

extern const struct profile fake_profile; /* serves default-scheduler with all three */
