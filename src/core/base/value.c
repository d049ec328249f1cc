#include "core/base/value.h"

#include <stdlib.h>

bool value_bool(struct str text, bool *out)
{
    static const char *const words[2][6] = {{"0", "f", "F", "false", "FALSE", "False"},
                                            {"1", "t", "T", "true", "TRUE", "True"}};
    for (size_t value = 0; value < 2; value++)
        for (size_t i = 0; i < LEN(words[value]); i++)
            if (str_equal(text, str_of(words[value][i]))) {
                *out = value;
                return true;
            }
    return false;
}

static bool take_unit(struct str *text, int64_t *ns)
{
    static const struct {
        struct str name;
        int64_t ns;
    } units[] = {
        {STR("ns"), 1},          {STR("us"), 1000},         {STR("\u00b5s"), 1000},
        {STR("\u03bcs"), 1000},  {STR("ms"), 1000000},      {STR("s"), 1000000000},
        {STR("m"), 60000000000}, {STR("h"), 3600000000000},
    };
    for (size_t i = 0; i < LEN(units); i++) {
        if (!str_starts(*text, units[i].name))
            continue;
        *ns = units[i].ns;
        *text = str_part(*text, units[i].name.n, text->n);
        return true;
    }
    return false;
}

static struct str take_digits(struct str *text)
{
    size_t n = 0;
    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        n++;
    struct str digits = str_part(*text, 0, n);
    *text = str_part(*text, n, text->n);
    return digits;
}

/* A number with its unit from the front of the text. */
static bool take_span(struct str *text, int64_t *ns)
{
    int64_t unit, whole = 0, part = 0, scale = 1;
    struct str digits = take_digits(text), behind = {0};
    if (text->n && text->p[0] == '.') {
        *text = str_part(*text, 1, text->n);
        behind = take_digits(text);
    }
    if (digits.n + behind.n == 0 || !take_unit(text, &unit))
        return false;
    behind = str_part(behind, 0, 9); /* no unit is finer than that */
    for (size_t i = 0; i < behind.n; i++)
        scale *= 10;
    if ((digits.n && !str_int(digits, &whole)) || (behind.n && !str_int(behind, &part)) ||
        whole >= INT64_MAX / 2 / unit)
        return false;
    *ns = whole * unit + (int64_t)((__int128)part * unit / scale);
    return true;
}

bool value_duration(struct str text, int64_t *ns)
{
    int64_t total = 0;
    bool is_negative = text.n && text.p[0] == '-';
    if (is_negative || (text.n && text.p[0] == '+'))
        text = str_part(text, 1, text.n);
    if (!text.n)
        return false;
    bool is_zero = str_equal(text, STR("0"));
    while (!is_zero && text.n) {
        int64_t span_ns;
        if (!take_span(&text, &span_ns) || total > INT64_MAX / 2 - span_ns)
            return false;
        total += span_ns;
    }
    *ns = is_negative ? -total : total;
    return true;
}

bool value_number(struct str text, double *out)
{
    static const char decimal[] = "0123456789.eE+-"; /* what strtod knows besides is none */
    char copy[64];
    size_t sign = text.n && text.p[0] == '-';
    if (text.n <= sign || text.n >= sizeof(copy) || text.p[sign] < '0' || text.p[sign] > '9')
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!memchr(decimal, text.p[i], sizeof(decimal) - 1))
            return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    char *end;
    *out = strtod(copy, &end);
    return *end == 0;
}
