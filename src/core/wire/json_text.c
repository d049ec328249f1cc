#include "core/wire/json_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/wire/json_read.h"

bool json_fail(struct json_cursor *c, const char *at, const char *fmt, ...)
{
    char text[sizeof(c->e->text)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    *c->where = (size_t)(at - c->start);
    return error_set(c->e, ERROR_INVALID, "%s", text);
}

/* The byte at the cursor has no place there. */
static bool unexpected(struct json_cursor *c, const char *wanted)
{
    if (c->at == c->end)
        return json_fail(c, c->at, "the text ends where %s should be", wanted);
    unsigned char byte = (unsigned char)*c->at;
    if (byte >= 0x20 && byte < 0x7f)
        return json_fail(c, c->at, "'%c' stands where %s should be", byte, wanted);
    return json_fail(c, c->at, "byte 0x%02x stands where %s should be", byte, wanted);
}

void json_space(struct json_cursor *c)
{
    const char *p = c->at;
    while (p < c->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    c->at = p;
}

bool json_open(struct json_cursor *c, char closing, bool *more)
{
    if (++c->depth > JSON_DEPTH_MOST)
        return json_fail(c, c->at, "nested deeper than %d levels", JSON_DEPTH_MOST);
    c->at++;
    json_space(c);
    *more = true;
    if (c->at < c->end && *c->at == closing) {
        c->at++;
        c->depth--;
        *more = false;
    }
    return true;
}

bool json_next(struct json_cursor *c, char closing, bool *more)
{
    json_space(c);
    if (c->at < c->end && *c->at == ',') {
        c->at++;
        json_space(c);
        *more = true;
        return true;
    }
    if (c->at < c->end && *c->at == closing) {
        c->at++;
        c->depth--;
        *more = false;
        return true;
    }
    return unexpected(c, closing == '}' ? "',' or '}'" : "',' or ']'");
}

/* The high bit of each byte of `x` that is 0; bits above the first such byte may be wrong. */
static inline uint64_t zero_bytes(uint64_t x)
{
    return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

/* The first byte from `p` on that ends or interrupts a string: a quote, a backslash, a control
 * character. Eight at a time. */
static const char *plain_end(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u;
    while (end - p >= 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        uint64_t stops = zero_bytes(x ^ ones * '"') | zero_bytes(x ^ ones * '\\') |
                         ((x - ones * 0x20) & ~x & ones * 0x80);
        if (stops)
            return p + __builtin_ctzll(stops) / 8;
        p += 8;
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

/* The value of four hex digits, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Over one escape; the cursor stands on its backslash. */
static bool skip_escape(struct json_cursor *c)
{
    const char *p = c->at + 1;
    if (p < c->end && *p == 'u' && hex4(p + 1, c->end) >= 0)
        p += 5;
    else if (p < c->end && *p && strchr("\"\\/bfnrt", *p))
        p++;
    else
        return json_fail(c, c->at, "no such escape in a string");
    c->at = p;
    return true;
}

/* Over a string; `is_plain` if it has no escapes. */
static bool skip_string(struct json_cursor *c, bool *is_plain)
{
    const char *quote = c->at++;
    *is_plain = true;
    for (;;) {
        c->at = plain_end(c->at, c->end);
        if (c->at == c->end)
            return json_fail(c, quote, "a string does not end");
        if (c->at - quote > JSON_STRING_MOST)
            return json_fail(c, quote, "a string is longer than %d bytes", JSON_STRING_MOST);
        if (*c->at == '"') {
            c->at++;
            return true;
        }
        if (*c->at != '\\')
            return json_fail(c, c->at, "a control character in a string");
        *is_plain = false;
        if (!skip_escape(c))
            return false;
    }
}

/* How many bytes the UTF-8 character at `p` has; 0 if there is none. */
static size_t utf8_length(const char *p, const char *end)
{
    const unsigned char *b = (const void *)p;
    size_t n = b[0] < 0x80 ? 1 : b[0] >= 0xc2 && b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    if (n == 1)
        return 1;
    if (b[0] < 0xc2 || b[0] > 0xf4 || (size_t)(end - p) < n)
        return 0;
    unsigned char low = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
    if (b[1] < low || b[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    return n;
}

static bool is_utf8(struct str s)
{
    for (const char *p = s.p, *end = s.p + s.n; p < end;) {
        size_t n = utf8_length(p, end);
        if (!n)
            return false;
        p += n;
    }
    return true;
}

static bool is_ascii(struct str s)
{
    unsigned char bits = 0;
    for (size_t i = 0; i < s.n; i++)
        bits |= (unsigned char)s.p[i];
    return bits < 0x80;
}

static char *put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | c >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

enum { REPLACEMENT = 0xfffd };

/* The character of a \u escape at `*p`, which goes behind it: two escapes if they are a surrogate
 * pair. Half a pair is no character. */
static int32_t take_unicode(const char **p, const char *end)
{
    int32_t c = hex4(*p + 2, end);
    *p += 6;
    if (c < 0xd800 || c > 0xdfff)
        return c;
    if (c > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
        return REPLACEMENT;
    int32_t low = hex4(*p + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    *p += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

static int32_t take_escape(const char **p, const char *end)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    char name = (*p)[1];
    if (name == 'u')
        return take_unicode(p, end);
    *p += 2;
    const char *known = strchr(names, name);
    return known ? values[known - names] : name;
}

/* `raw` without its escapes and with U+FFFD for each byte that is no UTF-8. */
static struct str unescape(struct str raw, struct arena *mem)
{
    char *text = arena_alloc(mem, raw.n * 3 + 1); /* a lone byte becomes three */
    char *to = text;
    for (const char *p = raw.p, *end = raw.p + raw.n; p < end;) {
        size_t n = utf8_length(p, end);
        if (*p == '\\') {
            to = put_utf8(to, take_escape(&p, end));
        } else if (n) {
            memcpy(to, p, n);
            to += n;
            p += n;
        } else {
            to = put_utf8(to, REPLACEMENT);
            p++;
        }
    }
    return (struct str){text, (size_t)(to - text)};
}

bool json_string(struct json_cursor *c, struct arena *mem, struct str *out)
{
    const char *begin = c->at + 1;
    bool is_plain;
    if (!skip_string(c, &is_plain))
        return false;
    struct str raw = {begin, (size_t)(c->at - 1 - begin)};
    bool is_whole = is_plain && (is_ascii(raw) || is_utf8(raw));
    *out = is_whole ? raw : unescape(raw, mem);
    return true;
}

bool json_key(struct json_cursor *c, struct arena *mem, struct str *out)
{
    if (c->at == c->end || *c->at != '"')
        return unexpected(c, "a name in quotes");
    if (!json_string(c, mem, out))
        return false;
    json_space(c);
    if (c->at == c->end || *c->at != ':')
        return unexpected(c, "':'");
    c->at++;
    json_space(c);
    return true;
}

static bool skip_word(struct json_cursor *c, struct str word)
{
    if (!str_starts((struct str){c->at, (size_t)(c->end - c->at)}, word))
        return unexpected(c, "a value");
    c->at += word.n;
    return true;
}

bool json_null(struct json_cursor *c)
{
    return c->at < c->end && *c->at == 'n' && c->end - c->at >= 4 && !memcmp(c->at, "null", 4) &&
           (c->at += 4);
}

static bool skip_digits(struct json_cursor *c)
{
    const char *first = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return c->at > first || unexpected(c, "a digit");
}

static bool skip_number(struct json_cursor *c)
{
    if (*c->at == '-')
        c->at++;
    if (c->at < c->end && *c->at == '0')
        c->at++;
    else if (!skip_digits(c))
        return false;
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!skip_digits(c))
            return false;
    }
    if (c->at < c->end && (*c->at == 'e' || *c->at == 'E')) {
        c->at++;
        if (c->at < c->end && (*c->at == '+' || *c->at == '-'))
            c->at++;
        return skip_digits(c);
    }
    return true;
}

static bool skip_name(struct json_cursor *c)
{
    bool is_plain;
    if (c->at == c->end || *c->at != '"')
        return unexpected(c, "a name in quotes");
    if (!skip_string(c, &is_plain))
        return false;
    json_space(c);
    if (c->at == c->end || *c->at != ':')
        return unexpected(c, "':'");
    c->at++;
    json_space(c);
    return true;
}

static bool skip_all(struct json_cursor *c, char closing)
{
    bool more;
    if (!json_open(c, closing, &more))
        return false;
    while (more) {
        if (closing == '}' && !skip_name(c))
            return false;
        if (!json_skip(c) || !json_next(c, closing, &more))
            return false;
    }
    return true;
}

bool json_skip(struct json_cursor *c)
{
    bool is_plain;
    switch (c->at < c->end ? *c->at : '\0') {
    case '"':
        return skip_string(c, &is_plain);
    case '{':
        return skip_all(c, '}');
    case '[':
        return skip_all(c, ']');
    case 't':
        return skip_word(c, STR("true"));
    case 'f':
        return skip_word(c, STR("false"));
    case 'n':
        return skip_word(c, STR("null"));
    case '-':
    case '0' ... '9':
        return skip_number(c);
    default:
        return unexpected(c, "a value");
    }
}
