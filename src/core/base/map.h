#pragma once

#include "core/base/base.h"

/* uint64_t → uint32_t, open addressing. {0} is empty. There is no iteration on purpose: what
 * decides must not follow hash order. The value MAP_NONE cannot be stored. */

#define MAP_NONE UINT32_MAX

struct map_slot {
    uint64_t key;
    uint32_t value; /* MAP_NONE: the slot is empty */
};

struct map {
    struct map_slot *slots;
    uint32_t n, cap; /* cap: 0 or a power of two */
    uint64_t secret;
};

/* MAP_NONE if the key is not there. */
uint32_t map_find(const struct map *m, uint64_t key);

/* Sets the key's value, whether or not it was there. */
void map_put(struct map *m, uint64_t key, uint32_t value);

/* Adds to the key's value, which is 0 where the key is not there; a key that comes to 0 leaves. */
void map_add(struct map *m, uint64_t key, int32_t more);

/* What it was; MAP_NONE if it was not there. */
uint32_t map_remove(struct map *m, uint64_t key);

void map_clear(struct map *m);

/* Gives back the room that no key needs. */
void map_trim(struct map *m);
void map_done(struct map *m);
