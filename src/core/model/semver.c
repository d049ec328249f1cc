#include "core/model/semver.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_digit(s.p[i]))
            return false;
    return s.n > 0;
}

static bool read_number(struct str s, uint64_t *out)
{
    if (!is_number(s) || (s.n > 1 && s.p[0] == '0'))
        return false;
    *out = 0;
    for (size_t i = 0; i < s.n; i++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(s.p[i] - '0'), out))
            return false;
    return true;
}

/* Identifiers with dots between them: letters, digits, dashes. */
static bool are_identifiers(struct str s, bool may_have_zeros)
{
    struct str rest = s;
    do {
        struct str one = str_take(&rest, '.');
        if (one.n == 0 || (!may_have_zeros && is_number(one) && one.n > 1 && one.p[0] == '0'))
            return false;
        for (size_t i = 0; i < one.n; i++) {
            char c = one.p[i];
            if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '-')
                return false;
        }
    } while (rest.n);
    return s.p[s.n - 1] != '.';
}

bool semver_parse(struct str text, struct semver *out)
{
    size_t plus = str_find(text, '+');
    if (plus < text.n &&
        (plus + 1 == text.n || !are_identifiers(str_part(text, plus + 1, text.n), true)))
        return false;
    text = str_part(text, 0, plus);
    size_t dash = str_find(text, '-');
    struct semver v = {.before = str_part(text, dash + 1, text.n)};
    if (dash < text.n && (v.before.n == 0 || !are_identifiers(v.before, false)))
        return false;
    struct str rest = str_part(text, 0, dash);
    struct str major = str_take(&rest, '.'), minor = str_take(&rest, '.');
    if (!read_number(major, &v.major) || !read_number(minor, &v.minor) ||
        !read_number(rest, &v.patch))
        return false;
    *out = v;
    return true;
}

static int compare_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Numbers come before words, and by value. */
static int compare_identifier(struct str a, struct str b)
{
    if (is_number(a) != is_number(b))
        return is_number(a) ? -1 : 1;
    if (is_number(a) && a.n != b.n)
        return a.n < b.n ? -1 : 1;
    int order = str_compare(a, b);
    return (order > 0) - (order < 0);
}

int semver_compare(struct semver a, struct semver b)
{
    int order = compare_number(a.major, b.major);
    order = order ? order : compare_number(a.minor, b.minor);
    order = order ? order : compare_number(a.patch, b.patch);
    if (order || (a.before.n == 0 && b.before.n == 0))
        return order;
    if (a.before.n == 0 || b.before.n == 0)
        return a.before.n == 0 ? 1 : -1;
    while (order == 0 && a.before.n && b.before.n)
        order = compare_identifier(str_take(&a.before, '.'), str_take(&b.before, '.'));
    return order ? order : compare_number(a.before.n, b.before.n);
}
