#pragma once

#include "core/base/arena.h"
#include "core/model/device.h"

/* Selectors of devices: the part of CEL that people write in them, with CEL's own meaning.
 *
 * There is one variable, `device`, with driver, allowMultipleAllocations, attributes and capacity
 * (domain → id → value). A bare name belongs to the driver's domain; an unknown domain is an empty
 * map, an unknown id an error. Values know their type: `==` of different types is false, `<` an
 * error; `&&` and `||` absorb an error of either side if the other side decides.
 *
 * Read: literals, lists, select, index, `.?` and `[?]` with orValue, value and hasValue, has, in,
 * logic, comparisons, arithmetic, `?:`, cel.bind, size, the string tests and lowerAscii,
 * upperAscii, matches with a literal pattern; quantity and semver with their methods. What else
 * there is in CEL (doubles, macros over lists, conversions, other extensions) is refused when
 * compiled, by name: never a wrong match. An expression has no loops, so what it costs is bounded
 * by its length and by the text that it makes, which has a limit of its own. */

enum {
    CEL_TEXT_MOST = 10 * 1024,    /* bytes of an expression, as the API server allows */
    CEL_DEPTH_MOST = 250,         /* nested brackets */
    CEL_HEIGHT_MOST = 1000,       /* of a tree: operators in a row make it high, too */
    CEL_TOUCHED_MOST = 64 * 1024, /* bytes of text that are made or gone through in one answer */
};

struct cel; /* lives in the arena it was compiled in */

/* NULL, with `why`, if it is no expression that we read. */
const struct cel *cel_compile(struct str text, struct arena *mem, struct str *why);

enum cel_outcome { CEL_NO, CEL_YES, CEL_FAILED };

/* Does it select the driver's device? On CEL_FAILED `why` has upstream's words where they are
 * short; it and what else is made on the way live in `mem`. */
enum cel_outcome cel_match(const struct cel *cel, struct str driver, const struct device *device,
                           struct arena *mem, struct str *why);
