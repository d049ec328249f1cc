#pragma once

#include "core/base/arena.h"
#include "core/base/str.h"

/* Regular expressions in RE2's syntax: does a text contain a match? Time is linear in the text,
 * whatever the pattern.
 *
 * Read: characters, `.`, classes with ranges and \d \w \s, \D \W \S, ^ and $ at the ends of the
 * text, ( ), (?: ), (?i) and (?s) at the beginning, |, * + ? {n,m} and their lazy forms. What else
 * RE2 has (\b, named groups, Unicode classes, flags in the middle) is refused. Text is UTF-8; a
 * byte that is not is a character of its own. */

enum { PATTERN_STEPS_MOST = 2000 }; /* of a compiled pattern */

struct pattern; /* lives in the arena it was compiled in */

/* NULL if it is none that we read. */
const struct pattern *pattern_compile(struct str text, struct arena *mem);

bool pattern_matches(const struct pattern *pattern, struct str text, struct arena *mem);
