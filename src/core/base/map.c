/* Linear probing; at most 3/4 full; removal shifts the run back, so there are no tombstones. */

#include "core/base/map.h"

#include "core/base/hash.h"
#include "core/base/mem.h"

static uint32_t home(const struct map *m, uint64_t key)
{
    return (uint32_t)hash_u64(key ^ m->secret) & (m->cap - 1);
}

/* The key's slot, or the empty one where it would go. */
static struct map_slot *probe(const struct map *m, uint64_t key)
{
    uint32_t i = home(m, key);
    while (m->slots[i].value != MAP_NONE && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

static void resize(struct map *m, uint32_t cap)
{
    struct map old = *m;
    m->secret = old.cap ? old.secret : hash_secret();
    m->cap = cap;
    m->slots = mem_resize(NULL, (size_t)cap * sizeof(*m->slots));
    for (uint32_t i = 0; i < cap; i++)
        m->slots[i].value = MAP_NONE;
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.slots[i].value != MAP_NONE)
            *probe(m, old.slots[i].key) = old.slots[i];
    mem_free(old.slots);
}

static void empty(struct map *m, struct map_slot *slot)
{
    uint32_t mask = m->cap - 1, hole = (uint32_t)(slot - m->slots);
    for (uint32_t i = (hole + 1) & mask; m->slots[i].value != MAP_NONE; i = (i + 1) & mask) {
        uint32_t wanted = home(m, m->slots[i].key);
        if (((i - wanted) & mask) < ((i - hole) & mask)) /* it would sit before its home */
            continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole].value = MAP_NONE;
    m->n--;
}

uint32_t map_find(const struct map *m, uint64_t key)
{
    return m->n ? probe(m, key)->value : MAP_NONE;
}

void map_put(struct map *m, uint64_t key, uint32_t value)
{
    assert(value != MAP_NONE);
    if ((m->n + 1) * (uint64_t)4 > m->cap * (uint64_t)3)
        resize(m, m->cap ? m->cap * 2 : 8);
    struct map_slot *slot = probe(m, key);
    m->n += slot->value == MAP_NONE;
    *slot = (struct map_slot){key, value};
}

void map_add(struct map *m, uint64_t key, int32_t more)
{
    struct map_slot *slot = m->n ? probe(m, key) : NULL;
    if (!slot || slot->value == MAP_NONE) {
        assert(more > 0);
        map_put(m, key, (uint32_t)more);
        return;
    }
    slot->value += (uint32_t)more;
    if (slot->value == 0)
        empty(m, slot);
}

uint32_t map_remove(struct map *m, uint64_t key)
{
    if (m->n == 0)
        return MAP_NONE;
    struct map_slot *slot = probe(m, key);
    uint32_t was = slot->value;
    if (was != MAP_NONE)
        empty(m, slot);
    return was;
}

void map_clear(struct map *m)
{
    for (uint32_t i = 0; i < m->cap; i++)
        m->slots[i].value = MAP_NONE;
    m->n = 0;
}

void map_trim(struct map *m)
{
    uint32_t cap = 8;
    while (m->n * (uint64_t)4 > cap * (uint64_t)3)
        cap *= 2;
    if (m->n == 0)
        map_done(m);
    else if (cap < m->cap)
        resize(m, cap);
}

void map_done(struct map *m)
{
    mem_free(m->slots);
    *m = (struct map){0};
}
