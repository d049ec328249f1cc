#include "core/base/str.h"

#include "core/base/hash.h"

int str_compare(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n);
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number at `*i`, which moves behind it. */
static uint64_t number_at(struct str s, size_t *i)
{
    uint64_t number = 0;
    for (; *i < s.n && is_digit(s.p[*i]); (*i)++)
        number = number * 10 + (uint64_t)(s.p[*i] - '0');
    return number;
}

int str_compare_numbered(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.n && j < b.n) {
        if (is_digit(a.p[i]) && is_digit(b.p[j])) {
            uint64_t x = number_at(a, &i), y = number_at(b, &j);
            if (x != y)
                return x < y ? -1 : 1;
        } else if (a.p[i] != b.p[j]) {
            return (unsigned char)a.p[i] < (unsigned char)b.p[j] ? -1 : 1;
        } else {
            i++, j++;
        }
    }
    return i < a.n ? 1 : j < b.n ? -1 : str_compare(a, b);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

size_t str_find(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : s.n;
}

struct str str_part(struct str s, size_t from, size_t to)
{
    to = MIN(to, s.n);
    return from < to ? (struct str){s.p + from, to - from} : (struct str){0};
}

struct str str_take(struct str *rest, char c)
{
    size_t n = str_find(*rest, c);
    struct str piece = str_part(*rest, 0, n);
    *rest = str_part(*rest, n + 1, rest->n);
    return piece;
}

struct str str_keep(char **at, struct str s)
{
    struct str kept = {*at, s.n};
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return kept;
}

bool str_int(struct str s, int64_t *out)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    bool negative = i && s.p[0] == '-';
    if (i == s.n)
        return false;

    int64_t value = 0; /* kept negative: the negative side holds one more */
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, s.p[i] - '0', &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *out = negative ? value : -value;
    return true;
}

uint64_t str_hash(struct str s)
{
    return hash_bytes(s.p, s.n);
}

uint64_t str_hash_secretly(struct str s)
{
    return hash_secretly(s.p, s.n, hash_secret());
}
