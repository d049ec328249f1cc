#include "core/wire/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json_text.h"

static void new_line(struct json_writer *w)
{
    if (!w->is_pretty)
        return;
    buf_add_char(w->out, '\n');
    for (unsigned i = 0; i < w->depth; i++)
        buf_add(w->out, STR("  "));
}

/* What stands between the entry before and this one. */
static void separate(struct json_writer *w)
{
    if (w->is_after_key) {
        w->is_after_key = false;
        return;
    }
    if (w->depth == 0)
        return;
    uint64_t level = (uint64_t)1 << (w->depth - 1);
    if (w->has_entries & level)
        buf_add_char(w->out, ',');
    w->has_entries |= level;
    new_line(w);
}

void json_put_open(struct json_writer *w, char opening)
{
    separate(w);
    assert(w->depth < 64);
    buf_add_char(w->out, opening);
    w->has_entries &= ~((uint64_t)1 << w->depth++);
}

void json_put_close(struct json_writer *w, char closing)
{
    assert(w->depth > 0 && !w->is_after_key);
    w->depth--;
    if (w->has_entries >> w->depth & 1)
        new_line(w);
    buf_add_char(w->out, closing);
}

void json_put_key(struct json_writer *w, struct str key)
{
    separate(w);
    json_add_str(w->out, key);
    buf_add(w->out, w->is_pretty ? STR(": ") : STR(":"));
    w->is_after_key = true;
}

void json_put_str(struct json_writer *w, struct str value)
{
    separate(w);
    json_add_str(w->out, value);
}

void json_put_int(struct json_writer *w, int64_t value)
{
    separate(w);
    buf_printf(w->out, "%" PRId64, value);
}

void json_put_bool(struct json_writer *w, bool value)
{
    separate(w);
    buf_add(w->out, value ? STR("true") : STR("false"));
}

void json_put_raw(struct json_writer *w, struct str json)
{
    separate(w);
    buf_add(w->out, json);
}

void json_put_null(struct json_writer *w)
{
    separate(w);
    buf_add(w->out, STR("null"));
}

void json_put_double(struct json_writer *w, double value)
{
    separate(w);
    json_add_double(w->out, value);
}

static void add_escape(struct buf *out, char c)
{
    static const char bytes[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *known = memchr(bytes, c, sizeof(bytes) - 1);
    if (known)
        buf_printf(out, "\\%c", names[known - bytes]);
    else
        buf_printf(out, "\\u%04x", (unsigned char)c);
}

void json_add_str(struct buf *out, struct str value)
{
    buf_add_char(out, '"');
    size_t from = 0;
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\')
            continue;
        size_t n = c < 0x80 ? 0 : json_utf8_length(value.p + i, value.p + value.n);
        if (n) {
            i += n - 1;
            continue;
        }
        buf_add_bytes(out, value.p + from, i - from);
        if (c < 0x80)
            add_escape(out, value.p[i]);
        else
            buf_add(out, STR("\xef\xbf\xbd"));
        from = i + 1;
    }
    buf_add_bytes(out, value.p ? value.p + from : "", value.n - from);
    buf_add_char(out, '"');
}

/* The fewest digits that read back as the same number: d.ddde±xx. */
static void shortest(double value, char *text, size_t room)
{
    for (int digits = 0; digits <= 16; digits++) {
        snprintf(text, room, "%.*e", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

/* Zeros before, between or after the digits, so that no exponent is needed. */
static void add_plain(struct buf *out, const char *digits, int64_t n, int64_t exponent)
{
    if (exponent < 0)
        buf_add(out, STR("0."));
    for (int64_t i = exponent + 1; i < 0; i++)
        buf_add_char(out, '0');
    for (int64_t i = 0; i < n || i <= exponent; i++) {
        if (exponent >= 0 && i == exponent + 1)
            buf_add_char(out, '.');
        buf_add_char(out, i < n ? digits[i] : '0');
    }
}

void json_add_double(struct buf *out, double value)
{
    if (!isfinite(value)) {
        buf_add(out, STR("null"));
        return;
    }
    if (value < 0 || (value == 0 && signbit(value)))
        buf_add_char(out, '-');
    double size = fabs(value);
    if (size == 0) {
        buf_add_char(out, '0');
        return;
    }
    char text[32], digits[20];
    shortest(size, text, sizeof(text));
    int n = 0;
    const char *p = text;
    for (; *p != 'e'; p++) {
        if (*p != '.')
            digits[n++] = *p;
    }
    int64_t exponent = 0;
    bool is_number = str_int(str_of(p + 1), &exponent);
    assert(is_number);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (size >= 1e-6 && size < 1e21) {
        add_plain(out, digits, n, exponent);
        return;
    }
    add_plain(out, digits, n, 0);
    buf_printf(out, "e%+" PRId64, exponent);
}

void put_text(struct json_writer *w, const char *key, struct str value)
{
    json_put_key(w, str_of(key));
    json_put_str(w, value);
}

void put_nonempty(struct json_writer *w, const char *key, struct str value)
{
    if (value.n)
        put_text(w, key, value);
}

void put_int(struct json_writer *w, const char *key, int64_t value)
{
    json_put_key(w, str_of(key));
    json_put_int(w, value);
}

void put_bool(struct json_writer *w, const char *key, bool value)
{
    json_put_key(w, str_of(key));
    json_put_bool(w, value);
}

void put_open(struct json_writer *w, const char *key, char opening)
{
    json_put_key(w, str_of(key));
    json_put_open(w, opening);
}
