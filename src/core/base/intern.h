#pragma once

#include "core/base/base.h"
#include "core/base/str.h"
#include "core/base/vec.h"

/* Byte strings with small dense numbers: equal bytes, equal number. Entries are counted; one that
 * nobody holds stays findable until a sweep, so what is dropped and soon needed again costs
 * nothing.
 *
 * Symbols (text), label sets, pod specs are all interned bytes; what a number means beyond its
 * bytes is kept by the caller in an array beside this one and told about sweeps. */

struct intern_entry {
    char *p; /* NULL: the number is free */
    uint32_t n;
    uint32_t holds;
    uint32_t hash;
};

struct intern {
    VEC(struct intern_entry) entries;
    VEC(uint32_t) free; /* numbers to use again */
    uint32_t *slots;    /* number + 1; 0: empty */
    uint32_t slot_cap;
    uint32_t live; /* entries that are not free */
    uint32_t held; /* entries somebody holds */
    uint64_t secret;
};

#define INTERN_NONE UINT32_MAX

/* The number of these bytes, made on first sight; `is_new`, if not NULL, says whether it was.
 * Nobody holds a new one yet. */
uint32_t intern_get(struct intern *t, struct str bytes, bool *is_new);

/* INTERN_NONE if nobody interned these bytes. */
uint32_t intern_find(const struct intern *t, struct str bytes);

static inline struct str intern_bytes(const struct intern *t, uint32_t id)
{
    assert(id < t->entries.n && t->entries.at[id].p);
    return (struct str){t->entries.at[id].p, t->entries.at[id].n};
}

void intern_hold(struct intern *t, uint32_t id);
void intern_drop(struct intern *t, uint32_t id);

/* Frees every entry that nobody holds, lowest number first; `gone`, if not NULL, is told of each
 * while its bytes still stand. */
void intern_sweep(struct intern *t, void (*gone)(void *ctx, uint32_t id), void *ctx);

/* True when more entries lie unheld than are held (and enough of them to be worth a sweep). */
bool intern_wants_sweep(const struct intern *t);

/* Gives back the room that no entry needs: the highest numbers that are free leave the table. */
void intern_trim(struct intern *t);

/* Sweeps the table if it wants that; or sweeps it, and trims it, whether or not it does. */
enum tidy { TIDY_IF_WANTED, TIDY_ALL };
void intern_tidy(struct intern *t, enum tidy how, void (*gone)(void *ctx, uint32_t id), void *ctx);

/* The vector's elements mean nothing without the table's entry of their number: it need not be
 * longer than the table. */
#define intern_fit(t, v) ((v)->n = MIN((v)->n, (t)->entries.n), (void)vec_trim(v))

void intern_done(struct intern *t);
