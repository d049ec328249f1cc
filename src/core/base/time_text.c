#include "core/base/time_text.h"

/* `digits` digits at the front of `*s`, taken off; -1 if they are not there. */
static int32_t take(struct str *s, size_t digits)
{
    int32_t value = 0;
    if (s->n < digits)
        return -1;
    for (size_t i = 0; i < digits; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return -1;
        value = value * 10 + (s->p[i] - '0');
    }
    *s = str_part(*s, digits, s->n);
    return value;
}

static bool take_char(struct str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = str_part(*s, 1, s->n);
    return true;
}

static bool is_leap(int32_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int32_t days_in(int32_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01, negative before it. */
static int64_t days_since_1970(int32_t year, int32_t month, int32_t day)
{
    int64_t y = year - 1; /* whole years since year 1, of which 1970 has 719162 days */
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400;
    if (year == 0)
        days = -366; /* y / 4 and its like round the other way there */
    for (int32_t m = 1; m < month; m++)
        days += days_in(year, m);
    return days + day - 1 - 719162;
}

/* .123456789 → milliseconds. */
static bool take_fraction(struct str *s, int64_t *ms)
{
    *ms = 0;
    if (!take_char(s, '.') && !take_char(s, ','))
        return true;
    int64_t weight = 100;
    size_t digits = 0;
    for (int32_t digit; (digit = take(s, 1)) >= 0; digits++) {
        *ms += digit * weight;
        weight /= 10;
    }
    return digits > 0;
}

static bool take_offset(struct str *s, int64_t *seconds)
{
    *seconds = 0;
    if (take_char(s, 'Z'))
        return true;
    bool is_plus = take_char(s, '+');
    if (!is_plus && !take_char(s, '-'))
        return false;
    int32_t hours = take(s, 2);
    bool has_colon = take_char(s, ':');
    int32_t minutes = take(s, 2);
    if (hours < 0 || hours > 24 || !has_colon || minutes < 0 || minutes > 60)
        return false;
    *seconds = (hours * 60 + minutes) * (is_plus ? 60 : -60);
    return true;
}

static bool take_clock(struct str *s, int64_t *seconds)
{
    int32_t hour = take(s, 2);
    bool colons = take_char(s, ':');
    int32_t minute = take(s, 2);
    colons = take_char(s, ':') && colons;
    int32_t second = take(s, 2);
    *seconds = (int64_t)hour * 3600 + minute * 60 + second;
    return colons && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 &&
           second < 60;
}

static bool take_date(struct str *s, int64_t *days)
{
    int32_t year = take(s, 4);
    bool dashes = take_char(s, '-');
    int32_t month = take(s, 2);
    dashes = take_char(s, '-') && dashes;
    int32_t day = take(s, 2);
    if (!dashes || year < 0 || month < 1 || month > 12 || day < 1 || day > days_in(year, month))
        return false;
    *days = days_since_1970(year, month, day);
    return true;
}

bool time_parse(struct str text, int64_t *ms)
{
    int64_t days, seconds, fraction_ms, offset;
    if (!take_date(&text, &days) || !take_char(&text, 'T') || !take_clock(&text, &seconds) ||
        !take_fraction(&text, &fraction_ms) || !take_offset(&text, &offset) || text.n)
        return false;
    *ms = (days * 86400 + seconds - offset) * 1000 + fraction_ms;
    return true;
}

/* A day of 1970 or after, by its number, into "2006-01-02". */
static void add_day(struct buf *out, int64_t days)
{
    int32_t year = (int32_t)(1970 + days / 366), month = 1; /* never too late */
    while (days_since_1970(year + 1, 1, 1) <= days)
        year++;
    days -= days_since_1970(year, 1, 1);
    for (; days >= days_in(year, month); month++)
        days -= days_in(year, month);
    buf_printf(out, "%04d-%02d-%02d", year, month, (int)days + 1);
}

static void add_time(struct buf *out, int64_t ms, bool has_fraction)
{
    enum { DAY = 86400 };
    int64_t seconds = MAX(ms, (int64_t)0) / 1000;
    int of_day = (int)(seconds % DAY);
    add_day(out, seconds / DAY);
    buf_printf(out, "T%02d:%02d:%02d", of_day / 3600, of_day / 60 % 60, of_day % 60);
    if (has_fraction)
        buf_printf(out, ".%03d000", (int)(MAX(ms, (int64_t)0) % 1000));
    buf_add_char(out, 'Z');
}

void time_add_seconds(struct buf *out, int64_t ms)
{
    add_time(out, ms, false);
}

void time_add_micro(struct buf *out, int64_t ms)
{
    add_time(out, ms, true);
}
