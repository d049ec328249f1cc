/* Open addressing over numbers, the bytes beside. Between calls: each live entry is in exactly one
 * slot, `live` ≤ 3/4 of the slots, `held` counts the live entries with holds > 0. */

#include "core/base/intern.h"

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/spare.h"

enum { SWEEP_AT = 1024, SLOTS_LEAST = 64 };

static uint32_t *probe(const struct intern *t, struct str bytes, uint32_t hash)
{
    uint32_t i = hash & (t->slot_cap - 1);
    for (; t->slots[i]; i = (i + 1) & (t->slot_cap - 1)) {
        const struct intern_entry *e = &t->entries.at[t->slots[i] - 1];
        if (e->hash == hash && str_equal((struct str){e->p, e->n}, bytes))
            break;
    }
    return &t->slots[i];
}

static void place(struct intern *t, uint32_t id)
{
    uint32_t i = t->entries.at[id].hash & (t->slot_cap - 1);
    while (t->slots[i])
        i = (i + 1) & (t->slot_cap - 1);
    t->slots[i] = id + 1;
}

static void rebuild(struct intern *t, uint32_t slot_cap)
{
    mem_free(t->slots);
    t->slots = mem_alloc((size_t)slot_cap * sizeof(*t->slots));
    t->slot_cap = slot_cap;
    for (uint32_t id = 0; id < t->entries.n; id++)
        if (t->entries.at[id].p)
            place(t, id);
}

static uint32_t hash_of(const struct intern *t, struct str bytes)
{
    return (uint32_t)hash_secretly(bytes.p, bytes.n, t->secret);
}

uint32_t intern_get(struct intern *t, struct str bytes, bool *is_new)
{
    if (UNLIKELY(!t->slot_cap))
        t->secret = hash_secret();
    if ((t->live + 1) * (uint64_t)4 > t->slot_cap * (uint64_t)3)
        rebuild(t, t->slot_cap ? t->slot_cap * 2 : SLOTS_LEAST);
    uint32_t hash = hash_of(t, bytes);
    uint32_t *slot = probe(t, bytes, hash);
    if (is_new)
        *is_new = *slot == 0;
    if (*slot)
        return *slot - 1;

    uint32_t id = t->free.n ? vec_pop(&t->free) : t->entries.n;
    if (id == t->entries.n)
        vec_push(&t->entries, (struct intern_entry){0});
    assert(bytes.n <= UINT32_MAX);
    t->entries.at[id] =
        (struct intern_entry){mem_copy(bytes.p, bytes.n), (uint32_t)bytes.n, 0, hash};
    t->live++;
    *slot = id + 1;
    return id;
}

uint32_t intern_find(const struct intern *t, struct str bytes)
{
    if (t->live == 0)
        return INTERN_NONE;
    uint32_t slot = *probe(t, bytes, hash_of(t, bytes));
    return slot ? slot - 1 : INTERN_NONE;
}

void intern_hold(struct intern *t, uint32_t id)
{
    assert(id < t->entries.n && t->entries.at[id].p);
    t->held += t->entries.at[id].holds++ == 0;
}

void intern_drop(struct intern *t, uint32_t id)
{
    assert(id < t->entries.n && t->entries.at[id].holds > 0);
    t->held -= --t->entries.at[id].holds == 0;
}

void intern_sweep(struct intern *t, void (*gone)(void *ctx, uint32_t id), void *ctx)
{
    for (uint32_t id = 0; id < t->entries.n; id++) {
        struct intern_entry *e = &t->entries.at[id];
        if (!e->p || e->holds)
            continue;
        if (gone)
            gone(ctx, id);
        e = &t->entries.at[id];
        mem_free(e->p);
        *e = (struct intern_entry){0};
        vec_push(&t->free, id);
        t->live--;
    }
    if (t->slot_cap)
        rebuild(t, t->slot_cap);
}

bool intern_wants_sweep(const struct intern *t)
{
    uint32_t unheld = t->live - t->held;
    return unheld > SWEEP_AT && unheld > t->held;
}

void intern_trim(struct intern *t)
{
    if (t->live == 0) {
        intern_done(t);
        return;
    }
    while (!vec_last(&t->entries).p)
        t->entries.n--;
    vec_trim(&t->entries);
    spare_trim(&t->free, t->entries.n);
    uint32_t cap = SLOTS_LEAST;
    while ((t->live + 1) * (uint64_t)4 > cap * (uint64_t)3)
        cap *= 2;
    if (cap < t->slot_cap)
        rebuild(t, cap);
}

void intern_tidy(struct intern *t, enum tidy how, void (*gone)(void *ctx, uint32_t id), void *ctx)
{
    if (how == TIDY_ALL ? t->live > t->held : intern_wants_sweep(t))
        intern_sweep(t, gone, ctx);
    if (how == TIDY_ALL)
        intern_trim(t);
}

void intern_done(struct intern *t)
{
    vec_each(&t->entries, e)
        mem_free(e->p);
    vec_done(&t->entries);
    vec_done(&t->free);
    mem_free(t->slots);
    *t = (struct intern){0};
}
