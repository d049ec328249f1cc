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
    reserved_list holds; /* its entries */
};

bool reservation_is_mirror(const struct reservation *r);

/* The whole object, for one that is to be created. Lives in `mem`. */
struct patch mirror_write(const struct mirror *m, struct arena *mem);
