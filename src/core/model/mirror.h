#pragma once

#include "core/model/patch.h"
#include "core/model/reservation.h"

/* A ResourceReservation of our own: what the scheduler holds for a group, for everybody to see. It
 * is told from those that users make by a label, and means nothing to the scheduler itself. */

struct mirror {
    struct str namespace, name;
    struct str group;    /* podGroupName, and two labels */
    struct owner owner;  /* with whom it goes; no uid: nobody */
    int64_t seconds;     /* that it lasts */
    reserved_list slots; /* its entries */
};

bool reservation_is_mirror(const struct reservation *r);

/* The whole object, for one that is to be created. Lives in `mem`. */
struct patch mirror_write(const struct mirror *m, struct arena *mem);

/* The one that says what was learned: it has no entries, only a text. */
struct patch mirror_write_memory(struct str namespace, struct str name, struct str text,
                                 struct arena *mem);

/* Inside metadata: the text, of one that is there. */
struct str mirror_memory_patch(struct str text, struct arena *mem);

/* What it says; no `p`: it is none. */
struct str mirror_memory(const struct reservation *r);
