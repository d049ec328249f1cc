/* The grammar is upstream's parser, which takes more than its comment says: a sign or a suffix
 * alone is zero, "1." is one. After an optional sign come digits with at most one point, then a
 * suffix. */

#include "core/model/quantity.h"

enum { NANO_DIGITS = 9, UNIT_NANO = 1000000000, MILLI = -3 };

struct suffix {
    struct str text;
    int32_t exponent; /* of 10; of 2 if is_binary */
    bool is_binary;
};

#define SUFFIX(text, exponent, is_binary)                                                          \
    {                                                                                              \
        {text, sizeof(text) - 1}, exponent, is_binary                                              \
    }
static const struct suffix suffixes[] = {
    SUFFIX("", 0, false),   SUFFIX("n", -9, false), SUFFIX("u", -6, false), SUFFIX("m", -3, false),
    SUFFIX("k", 3, false),  SUFFIX("M", 6, false),  SUFFIX("G", 9, false),  SUFFIX("T", 12, false),
    SUFFIX("P", 15, false), SUFFIX("E", 18, false), SUFFIX("Ki", 10, true), SUFFIX("Mi", 20, true),
    SUFFIX("Gi", 30, true), SUFFIX("Ti", 40, true), SUFFIX("Pi", 50, true), SUFFIX("Ei", 60, true),
};

/* A quantity's text in parts: whole.fraction suffix. */
struct parts {
    bool is_negative;
    struct str whole; /* digits, leading zeros left out */
    struct str fraction;
    struct suffix suffix;
    bool has_digits;
};

static struct str take_digits(struct str *s)
{
    size_t n = 0;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    struct str digits = str_part(*s, 0, n);
    *s = str_part(*s, n, s->n);
    return digits;
}

static bool find_suffix(struct str text, struct suffix *out)
{
    for (size_t i = 0; i < LEN(suffixes); i++) {
        if (str_equal(suffixes[i].text, text)) {
            *out = suffixes[i];
            return true;
        }
    }
    int64_t exponent;
    if (text.n < 2 || (text.p[0] != 'e' && text.p[0] != 'E') ||
        !str_int(str_part(text, 1, text.n), &exponent))
        return false;
    *out = (struct suffix){text, (int32_t)exponent, false}; /* cut to 32 bits, as upstream */
    return true;
}

static bool split(struct str text, struct parts *out)
{
    if (text.n == 0)
        return false;
    out->is_negative = text.p[0] == '-';
    if (text.p[0] == '-' || text.p[0] == '+')
        text = str_part(text, 1, text.n);
    out->whole = take_digits(&text);
    out->fraction = (struct str){0};
    if (text.n && text.p[0] == '.') {
        text = str_part(text, 1, text.n);
        out->fraction = take_digits(&text);
    }
    out->has_digits = out->whole.n || out->fraction.n;
    while (out->whole.n && out->whole.p[0] == '0')
        out->whole = str_part(out->whole, 1, out->whole.n);
    return find_suffix(text, &out->suffix);
}

/* value * 10 + digit, or more than the most if that would be more. */
static __int128 append(__int128 value, int digit)
{
    __int128 most = QUANTITY_NANO_MOST;
    return value > most / 10 ? most + 1 : value * 10 + digit;
}

/* The digits with the point moved: 10^exponent times, in billionths, rounded up. */
static __int128 decimal_nano(const struct parts *p)
{
    int64_t kept =
        (int64_t)p->whole.n + p->suffix.exponent + NANO_DIGITS; /* digits before the point */
    int64_t given = (int64_t)(p->whole.n + p->fraction.n);
    __int128 nano = 0;
    bool is_rest = false;
    for (int64_t i = 0; i < given; i++) {
        size_t at = (size_t)i;
        char c = at < p->whole.n ? p->whole.p[at] : p->fraction.p[at - p->whole.n];
        if (i < kept)
            nano = append(nano, c - '0');
        else
            is_rest |= c != '0';
    }
    for (int64_t i = given; i < kept && nano && nano <= QUANTITY_NANO_MOST; i++)
        nano = append(nano, 0);
    return nano + is_rest;
}

/* 2^exponent times, in billionths, rounded up. The fraction goes from its last digit to its first:
 * rounding up at each step is rounding up once. Upstream lets binary quantities reach 2^63 - 1. */
static __int128 binary_nano(const struct parts *p)
{
    __int128 most = (__int128)INT64_MAX * UNIT_NANO;
    __int128 scale = (__int128)UNIT_NANO << p->suffix.exponent;
    __int128 units = 0, rest = 0;
    for (size_t i = 0; i < p->whole.n && units <= INT64_MAX; i++)
        units = units * 10 + (p->whole.p[i] - '0');
    if (units > INT64_MAX >> p->suffix.exponent)
        return most;
    for (size_t i = p->fraction.n; i-- > 0;)
        rest = ((p->fraction.p[i] - '0') * scale + rest + 9) / 10;
    return MIN(units * scale + rest, most);
}

/* Whether upstream takes its second form, an arbitrarily large decimal: where digits and scale
 * leave no room in 64 bits, by upstream's estimate. */
static bool needs_big(const struct parts *p)
{
    int64_t digits = (int64_t)MAX(p->whole.n, (size_t)1) + (int64_t)p->fraction.n;
    if (p->suffix.is_binary)
        return p->fraction.n || 15 - digits - p->suffix.exponent * 3 / 10 - 1 < 0;
    return digits > 18 || p->suffix.exponent - (int64_t)p->fraction.n < -NANO_DIGITS;
}

/* Of the suffixes that most quantities have; 0: of another one. */
static int64_t common_unit_nano(struct str suffix)
{
    if (suffix.n == 0)
        return UNIT_NANO;
    if (suffix.n == 1)
        return suffix.p[0] == 'm' ? UNIT_NANO / 1000 : 0;
    if (suffix.n > 2 || suffix.p[1] != 'i')
        return 0;
    switch (suffix.p[0]) {
    case 'K':
        return (int64_t)UNIT_NANO << 10;
    case 'M':
        return (int64_t)UNIT_NANO << 20;
    case 'G':
        return (int64_t)UNIT_NANO << 30;
    default:
        return 0;
    }
}

/* What most quantities look like: at most five digits, so that they fit into the first form with
 * any of those suffixes. */
static bool parse_short(struct str text, struct quantity *out)
{
    size_t n = 0;
    int32_t value = 0;
    for (; n < text.n && n < 5 && text.p[n] >= '0' && text.p[n] <= '9'; n++)
        value = value * 10 + (text.p[n] - '0');
    int64_t unit = n ? common_unit_nano(str_part(text, n, text.n)) : 0;
    *out = (struct quantity){.nano = (__int128)value * unit, .scale = unit < UNIT_NANO ? MILLI : 0};
    return unit > 0;
}

bool quantity_parse(struct str text, struct quantity *out)
{
    struct parts p;
    struct quantity q;
    if (parse_short(text, &q)) {
        *out = q;
        return true;
    }
    if (!split(text, &p))
        return false;
    bool is_big = needs_big(&p);
    if (is_big && !p.has_digits)
        return false;
    __int128 nano = p.suffix.is_binary ? binary_nano(&p) : decimal_nano(&p);
    nano = MIN(nano, QUANTITY_NANO_MOST);
    int64_t scale = p.suffix.is_binary ? 0 : p.suffix.exponent - (int64_t)p.fraction.n;
    *out = (struct quantity){.nano = p.is_negative ? -nano : nano,
                             .scale = (int8_t)MIN(MAX(scale, -NANO_DIGITS), INT8_MAX),
                             .is_big = is_big};
    return true;
}

/* 10^scale units in billionths; what no quantity reaches for larger scales. */
static __int128 step_nano(int scale)
{
    __int128 step = 1;
    for (int i = -NANO_DIGITS; i < scale; i++) {
        if (step > QUANTITY_NANO_MOST)
            break;
        step *= 10;
    }
    return step;
}

/* In steps of 10^scale units, rounded away from zero, in 64 bits. Upstream has a short cut for some
 * powers of ten, which wraps, and a loop for the others, which gives up. */
static int64_t scaled(struct quantity q, int scale)
{
    __int128 step = step_nano(scale), value = q.nano / step, rest = q.nano % step;
    value += (rest > 0) - (rest < 0);
    int power = q.scale - scale;
    bool wraps = q.is_big || power <= 3 || power == 6 || power == 9;
    if (value >= INT64_MIN && value <= INT64_MAX)
        return (int64_t)value;
    return wraps ? (int64_t)(uint64_t)value : 0;
}

int64_t quantity_value(struct quantity q)
{
    return scaled(q, 0);
}

int64_t quantity_milli(struct quantity q)
{
    return scaled(q, MILLI);
}

bool quantity_integer(struct quantity q, int64_t *out)
{
    __int128 value = q.nano / UNIT_NANO;
    bool is_integer = !q.is_big && q.scale >= 0 && value >= INT64_MIN && value <= INT64_MAX;
    *out = is_integer ? (int64_t)value : 0;
    return is_integer;
}

struct quantity quantity_sum(struct quantity a, struct quantity b)
{
    struct quantity sum = {.nano = a.nano + b.nano};
    sum.scale = a.scale < b.scale ? a.scale : b.scale;
    sum.nano = MAX(MIN(sum.nano, QUANTITY_NANO_MOST), -QUANTITY_NANO_MOST);
    if (a.nano == 0 || b.nano == 0) /* nothing is added, so the form stays */
        sum.scale = a.nano ? a.scale : b.scale;
    __int128 steps = sum.nano / step_nano(sum.scale);
    sum.is_big = a.is_big || b.is_big || steps > INT64_MAX || steps < INT64_MIN;
    return sum;
}

int quantity_compare(struct quantity a, struct quantity b)
{
    return (a.nano > b.nano) - (a.nano < b.nano);
}

static void print_digits(unsigned __int128 value, struct buf *out)
{
    char digits[40];
    size_t n = sizeof(digits);
    do {
        digits[--n] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    buf_add_bytes(out, digits + n, sizeof(digits) - n);
}

void quantity_print(struct quantity q, struct buf *out)
{
    static const char *const units[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    if (q.nano < 0)
        buf_add_char(out, '-');
    unsigned __int128 value = (unsigned __int128)(q.nano < 0 ? -q.nano : q.nano);
    size_t unit = value ? 0 : 3;
    while (value && value % 1000 == 0 && unit + 1 < LEN(units)) {
        value /= 1000;
        unit++;
    }
    print_digits(value, out);
    buf_add(out, str_of(units[unit]));
}

/* The API server keeps thousandths: what is finer is rounded up when it stores an object. */
static const char *read_amount(struct str text, void *out)
{
    struct quantity q;
    if (!quantity_parse(text, &q))
        return "is not a quantity";
    if (q.nano < 0)
        return "is negative";
    if (q.scale < MILLI || q.is_big) {
        __int128 milli = step_nano(MILLI);
        q.nano = (q.nano + milli - 1) / milli * milli;
        if (q.scale < MILLI)
            q.scale = MILLI;
    }
    *(struct quantity *)out = q;
    return NULL;
}

static const char *read_exact(struct str text, void *out)
{
    return quantity_parse(text, out) ? NULL : "is not a quantity";
}

static bool is_equal(const void *a, const void *b)
{
    const struct quantity *x = a, *y = b;
    return x->nano == y->nano && x->scale == y->scale && x->is_big == y->is_big;
}

const struct field_scalar quantity_scalar = {"is not a quantity", read_amount, is_equal};
const struct field_scalar exact_quantity_scalar = {"is not a quantity", read_exact, is_equal};
