#pragma once

#include "core/base/buf.h"
#include "core/base/intern.h"

/* The names of the objects of one kind that were passed on, so that a list can tell which of them
 * are gone. A list is a round: what it names is marked, and what is not marked at its end has
 * vanished. */
struct known {
    struct intern names; /* namespace/name */
    VEC(uint32_t) round; /* by name: in which round it was last seen */
    uint32_t rounds;
    struct buf text;
};

void known_begin(struct known *k);
void known_add(struct known *k, struct str namespace, struct str name);
void known_remove(struct known *k, struct str namespace, struct str name);

/* Takes out one of those that this round did not name; false when there are none. `*from` is 0 at
 * first, and where to go on. The texts live until the next call. */
bool known_take_missing(struct known *k, uint32_t *from, struct str *namespace, struct str *name);

/* Gives back the room that no name needs. */
void known_trim(struct known *k);

uint32_t known_count(const struct known *k);
void known_done(struct known *k);
