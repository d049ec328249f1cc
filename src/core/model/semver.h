#pragma once

#include "core/base/str.h"

/* A semantic version: 1.2.3-rc.1+build. */
struct semver {
    uint64_t major, minor, patch;
    struct str before; /* the pre-release part, without its dash; a piece of the text */
};

/* False if the text is not exactly that: no leading zeros, no "v". */
bool semver_parse(struct str text, struct semver *out) MUST_USE;

/* By precedence: a pre-release comes before its release; what follows a plus says nothing. */
int semver_compare(struct semver a, struct semver b);
