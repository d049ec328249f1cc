#include "core/engine/backfill/runtimes.h"

#include <stdlib.h>

void runtimes_done(struct runtimes *r)
{
    vec_each(&r->keys, k)
        recent_done(&k->recent);
    vec_done(&r->keys);
    map_done(&r->by_key);
}

/* A place for one more key. */
static uint32_t make_room(struct runtimes *r)
{
    if (r->keys.n < RUNTIMES_MOST) {
        vec_push(&r->keys, (struct runtime){0});
        return r->keys.n - 1;
    }
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < r->keys.n; i++)
        if (r->keys.at[i].noted < r->keys.at[oldest].noted)
            oldest = i;
    map_remove(&r->by_key, r->keys.at[oldest].key);
    recent_done(&r->keys.at[oldest].recent);
    return oldest;
}

static struct runtime *key_get(struct runtimes *r, uint64_t key)
{
    uint32_t i = map_find(&r->by_key, key);
    if (i == MAP_NONE) {
        i = make_room(r);
        r->keys.at[i] = (struct runtime){.key = key};
        map_put(&r->by_key, key, i);
    }
    return &r->keys.at[i];
}

void runtimes_note(struct runtimes *r, struct kin kin, int64_t ran_ms)
{
    for (uint32_t i = 0; i < RUNTIME_LEVELS; i++) {
        struct runtime *k = key_get(r, kin.at[i]);
        k->noted = ++r->notes;
        recent_add(&k->recent, ran_ms);
    }
}

int64_t runtimes_expect_ms(const struct runtimes *r, struct kin kin, int64_t ran_ms)
{
    for (uint32_t i = 0; i < RUNTIME_LEVELS; i++) {
        uint32_t at = map_find(&r->by_key, kin.at[i]);
        if (at == MAP_NONE)
            continue;
        const struct recent *recent = &r->keys.at[at].recent;
        if (recent_count_above(recent, ran_ms) >= RUNTIME_LEAST)
            return recent_median_above(recent, ran_ms);
    }
    return ran_ms * 2;
}

/* --- as text: 1 NOTES KEYtimes KEYtimes …, the key that was noted last at the end --- */

enum { KEY_LETTERS = 11, TIME_LETTERS = 2, LETTER_BITS = 6, EXACT = 128 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void add_letters(struct buf *out, uint64_t value, uint32_t n)
{
    while (n-- > 0)
        buf_add_char(out, letters[value >> (n * LETTER_BITS) & 63]);
}

static bool take_letters(struct str *rest, uint32_t n, uint64_t *value)
{
    *value = 0;
    if (rest->n < n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const char *at = memchr(letters, rest->p[i], sizeof(letters) - 1);
        if (!at || *value >> (64 - LETTER_BITS))
            return false;
        *value = *value << LETTER_BITS | (uint64_t)(at - letters);
    }
    *rest = str_part(*rest, n, rest->n);
    return true;
}

/* Seven bits behind the first, and how many follow them. */
static uint64_t code_of(int64_t ms)
{
    uint64_t v = (uint64_t)MIN(MAX(ms, (int64_t)0), (int64_t)(2 * EXACT - 1) << 30), shift = 0;
    if (v < 2 * EXACT)
        return v;
    shift = 63 - (uint64_t)__builtin_clzll(v) - 7;
    v = (v + ((uint64_t)1 << (shift - 1))) >> shift;
    return shift * EXACT + v; /* 2 * EXACT is the first of the next shift, as it should be */
}

static int64_t time_of(uint64_t code)
{
    uint64_t shift = code < 2 * EXACT ? 0 : code / EXACT - 1;
    return (int64_t)((code - shift * EXACT) << shift);
}

static int noted_before(const void *a, const void *b)
{
    uint64_t x = (*(const struct runtime *const *)a)->noted,
             y = (*(const struct runtime *const *)b)->noted;
    return (x > y) - (x < y);
}

static void add_key(struct buf *out, const struct runtime *k)
{
    buf_add_char(out, ' ');
    add_letters(out, k->key, KEY_LETTERS);
    for (uint32_t i = 0; i < k->recent.arrived.n; i++) {
        uint32_t at = (k->recent.oldest + i) % k->recent.arrived.n;
        add_letters(out, code_of(k->recent.arrived.at[at]), TIME_LETTERS);
    }
}

void runtimes_write(const struct runtimes *r, struct buf *out)
{
    VEC(const struct runtime *) keys = {0};
    vec_each(&r->keys, k)
        vec_push(&keys, k);
    if (keys.n)
        qsort(keys.at, keys.n, sizeof(*keys.at), noted_before);
    buf_printf(out, "1 %llu", (unsigned long long)r->notes);
    for (uint32_t i = keys.n - MIN(keys.n, (uint32_t)RUNTIMES_KEPT); i < keys.n; i++)
        add_key(out, keys.at[i]);
    vec_done(&keys);
}

static uint64_t take_notes(struct str *rest)
{
    int64_t notes;
    bool is_ours = str_equal(str_take(rest, ' '), STR("1"));
    return str_int(str_take(rest, ' '), &notes) && is_ours && notes > 0 ? (uint64_t)notes : 0;
}

uint64_t runtimes_read_notes(struct str text)
{
    return take_notes(&text);
}

static bool read_key(struct runtimes *r, struct str text)
{
    uint64_t key, code;
    if (!take_letters(&text, KEY_LETTERS, &key) || map_find(&r->by_key, key) != MAP_NONE ||
        text.n == 0 || text.n % TIME_LETTERS || text.n > (size_t)RECENT_MOST * TIME_LETTERS ||
        r->keys.n == RUNTIMES_KEPT)
        return false;
    struct runtime *k = key_get(r, key);
    k->noted = ++r->notes;
    while (text.n && take_letters(&text, TIME_LETTERS, &code))
        recent_add(&k->recent, time_of(code));
    return text.n == 0;
}

bool runtimes_read(struct runtimes *r, struct str text)
{
    uint64_t notes = take_notes(&text);
    bool is_good = notes > 0;
    while (is_good && text.n)
        is_good = read_key(r, str_take(&text, ' '));
    if (!is_good || r->notes > notes) {
        runtimes_done(r);
        *r = (struct runtimes){0};
        return false;
    }
    r->notes = notes;
    return true;
}
