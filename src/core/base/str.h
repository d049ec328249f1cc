#pragma once

#include "core/base/base.h"

/* A borrowed piece of text. It owns nothing and needs no NUL at its end. {0} is the empty text. */
struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_FMT      "%.*s"
#define STR_ARG(s)   (int)(s).n, (s).p

static inline struct str str_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Bytewise order, as Go compares strings. */
int str_compare(struct str a, struct str b);

/* The same, but numbers in them count as such: worker-9 before worker-10. */
int str_compare_numbered(struct str a, struct str b);

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

/* Where `c` is in `s`; s.n if it is not. */
size_t str_find(struct str s, char c);

/* Bytes [from, to) of `s`, cut to what is there. */
struct str str_part(struct str s, size_t from, size_t to);

/* The text up to the next `c`, taken off `rest` with it; all of it if there is none. */
struct str str_take(struct str *rest, char c);

/* A copy of `s` at `*at`, which moves behind it. */
struct str str_keep(char **at, struct str s);

/* A signed decimal number that is the whole of `s`; false if it is none or does not fit. */
bool str_int(struct str s, int64_t *out) MUST_USE;

uint64_t str_hash(struct str s);

/* The same, for a table's key that stands for the text: nobody outside can choose two texts with
 * one key. Another one in each process. */
uint64_t str_hash_secretly(struct str s);
