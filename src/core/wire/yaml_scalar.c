#include "core/wire/yaml_scalar.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/wire/json_write.h"

static const struct word {
    const char *text;
    enum yaml_type type;
    const char *json;
} words[] = {
    {"", YAML_NULL, "null"},       {"~", YAML_NULL, "null"},      {"null", YAML_NULL, "null"},
    {"Null", YAML_NULL, "null"},   {"NULL", YAML_NULL, "null"},   {"y", YAML_BOOL, "true"},
    {"Y", YAML_BOOL, "true"},      {"yes", YAML_BOOL, "true"},    {"Yes", YAML_BOOL, "true"},
    {"YES", YAML_BOOL, "true"},    {"true", YAML_BOOL, "true"},   {"True", YAML_BOOL, "true"},
    {"TRUE", YAML_BOOL, "true"},   {"on", YAML_BOOL, "true"},     {"On", YAML_BOOL, "true"},
    {"ON", YAML_BOOL, "true"},     {"n", YAML_BOOL, "false"},     {"N", YAML_BOOL, "false"},
    {"no", YAML_BOOL, "false"},    {"No", YAML_BOOL, "false"},    {"NO", YAML_BOOL, "false"},
    {"false", YAML_BOOL, "false"}, {"False", YAML_BOOL, "false"}, {"FALSE", YAML_BOOL, "false"},
    {"off", YAML_BOOL, "false"},   {"Off", YAML_BOOL, "false"},   {"OFF", YAML_BOOL, "false"},
    {".nan", YAML_FLOAT, ""},      {".NaN", YAML_FLOAT, ""},      {".NAN", YAML_FLOAT, ""},
    {".inf", YAML_FLOAT, ""},      {".Inf", YAML_FLOAT, ""},      {".INF", YAML_FLOAT, ""},
    {"+.inf", YAML_FLOAT, ""},     {"+.Inf", YAML_FLOAT, ""},     {"+.INF", YAML_FLOAT, ""},
    {"-.inf", YAML_FLOAT, ""},     {"-.Inf", YAML_FLOAT, ""},     {"-.INF", YAML_FLOAT, ""},
};

/* The base that a prefix names, which is taken off: 0x, 0b, 0o, or 0 alone for octal. */
static unsigned take_base(struct str *s)
{
    if (s->n < 2 || s->p[0] != '0')
        return 10;
    char mark = (char)(s->p[1] | 0x20);
    unsigned base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    *s = str_part(*s, base == 8 && mark != 'o' ? 1 : 2, s->n);
    return base;
}

static bool parse_digits(struct str s, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = (char)(s.p[i] | 0x20);
        unsigned digit = s.p[i] >= '0' && s.p[i] <= '9' ? (unsigned)(s.p[i] - '0')
                         : c >= 'a' && c <= 'f'         ? (unsigned)(c - 'a' + 10)
                                                        : 99;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return s.n > 0;
}

/* An integer in Go's syntax that fits 64 bits, with a sign or without. */
static bool add_int(struct str s, struct buf *out)
{
    bool has_sign = s.n && (s.p[0] == '-' || s.p[0] == '+');
    bool is_negative = has_sign && s.p[0] == '-';
    struct str digits = str_part(s, has_sign, s.n);
    unsigned base = take_base(&digits);
    uint64_t value;
    if (!parse_digits(digits, base, &value))
        return false;
    if (value > INT64_MAX && (has_sign && !(is_negative && value == (uint64_t)INT64_MAX + 1)))
        return false;
    buf_printf(out, "%s%" PRIu64, is_negative && value ? "-" : "", value);
    return true;
}

static size_t digits_from(struct str s, size_t i)
{
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i;
}

/* [-+]? ( .digits | digits [ . digits? ] ) ( e [-+]? digits )? */
static bool looks_float(struct str s)
{
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    size_t point = digits_from(s, i);
    bool has_digits = point > i;
    i = point;
    if (i < s.n && s.p[i] == '.') {
        size_t end = digits_from(s, i + 1);
        has_digits |= end > i + 1;
        i = end;
    }
    if (!has_digits)
        return false;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        size_t end = digits_from(s, i);
        if (end == i)
            return false;
        i = end;
    }
    return i == s.n;
}

/* A number that is beyond all doubles is text, as Go's parser refuses it. */
static bool add_float(struct str s, struct buf *out)
{
    enum { LONGEST = 400 };
    char text[LONGEST + 1];
    if (s.n > LONGEST || !looks_float(s))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    double value = strtod(text, NULL);
    if (!isfinite(value))
        return false;
    json_add_double(out, value);
    return true;
}

enum yaml_type yaml_resolve(struct str plain, struct buf *out)
{
    enum { LONGEST_WORD = 5 };
    for (size_t i = 0; i < LEN(words) && plain.n <= LONGEST_WORD; i++) {
        if (str_equal(plain, str_of(words[i].text))) {
            buf_add(out, str_of(words[i].json));
            return words[i].type;
        }
    }
    static const char first[] = "+-.0123456789";
    if (!memchr(first, plain.p[0], sizeof(first) - 1))
        return YAML_STR;
    if (plain.p[0] == '.')
        return add_float(plain, out) ? YAML_FLOAT : YAML_STR;
    char digits[400];
    size_t n = 0;
    if (plain.n > sizeof(digits))
        return YAML_STR;
    for (size_t i = 0; i < plain.n; i++) { /* 1_000 is a thousand */
        if (plain.p[i] != '_')
            digits[n++] = plain.p[i];
    }
    struct str number = {digits, n};
    if (add_int(number, out))
        return YAML_INT;
    return add_float(number, out) ? YAML_FLOAT : YAML_STR;
}
