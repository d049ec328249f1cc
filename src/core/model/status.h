#pragma once

#include "core/model/object.h"

/* What we write into the status of objects that say how a group of pods stands: PodGroups of all
 * kinds and reservations. One shape for all; each kind has some of the fields.
 *
 * What an object says is read into the same shape, so that the hashes of both tell whether there is
 * anything to write. Of others' conditions and fields nothing is kept: patches leave them alone,
 * but for lists of custom kinds, which are replaced as a whole. */

enum { STATUS_CONDITIONS_MOST = 2 };

struct status_condition {
    struct str type; /* "": none */
    bool is_true;
    struct str reason, message;
    int64_t since_ms; /* of its status; TIME_NONE: unknown */
};

struct object_status {
    struct status_condition conditions[STATUS_CONDITIONS_MOST];
    struct str phase;      /* of PodGroups of custom kinds; "": none */
    int32_t held, entries; /* of reservations, as `pods` */
    pair_list pods;        /* entry → who has it, sorted; "": nobody */
};

/* What the object, a reservation or a PodGroup, says of what we write; lives as long as it. */
struct object_status object_status_of(const struct object *o);

/* Equal when they say the same; times do not count. */
uint64_t object_status_hash(const struct object_status *s);

/* "status":{…}, for a patch. Lives in `mem`. */
struct str object_status_text(enum kind kind, const struct object_status *s, struct arena *mem);
