#include "core/wire/json_text.h"

#include <stdarg.h>
#include <stdio.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    char byte = c->at < c->end ? *c->at : '\0';
    *more = byte == ',';
    if (byte != ',' && byte != closing)
        return unexpected(c, closing == '}' ? "',' or '}'" : "',' or ']'");
    c->at++;
    if (*more)
        json_space(c);
    else
        c->depth--;
    return true;
}

/* A bit for each of 16 bytes: those that end or interrupt a string, and those that are not ASCII.
 */
struct scan {
    uint32_t stops, high;
};

#ifdef __SSE2__
static inline struct scan scan_bytes(const char *p)
{
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i escape = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
    __m128i stops = _mm_or_si128(_mm_or_si128(quote, escape), control);
    return (struct scan){(uint32_t)_mm_movemask_epi8(stops), (uint32_t)_mm_movemask_epi8(x)};
}
#else
static inline struct scan scan_bytes(const char *p)
{
    struct scan scan = {0};
    for (unsigned i = 0; i < 16; i++) {
        unsigned char c = (unsigned char)p[i];
        scan.stops |= (uint32_t)(c == '"' || c == '\\' || c < 0x20) << i;
        scan.high |= (uint32_t)(c >> 7) << i;
    }
    return scan;
}
#endif

/* The first byte from `p` on that ends or interrupts a string: a quote, a backslash, a control
 * character. `is_ascii` is cleared if there is other than ASCII before it, or close behind. */
static inline const char *plain_end(const char *p, const char *end, bool *is_ascii)
{
    while (LIKELY(end - p >= 16)) {
        struct scan scan = scan_bytes(p);
        *is_ascii &= !scan.high;
        if (scan.stops)
            return p + __builtin_ctz(scan.stops);
        p += 16;
    }
    for (; p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20; p++)
        *is_ascii &= (unsigned char)*p < 0x80;
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

/* The length of the escape at `p`, a backslash; 0 if there is no such escape. */
static inline size_t escape_length(const char *p, const char *end)
{
    switch (end - p > 1 ? p[1] : '\0') {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return hex4(p + 2, end) >= 0 ? 6 : 0;
    default:
        return 0;
    }
}

/* What skip_string() saw in a string. */
struct seen {
    bool has_escape;
    bool is_ascii;
};

static bool skip_string(struct json_cursor *c, struct seen *seen)
{
    const char *quote = c->at, *p = quote + 1;
    for (;;) {
        p = plain_end(p, c->end, &seen->is_ascii);
        if (p == c->end)
            return json_fail(c, quote, "a string does not end");
        if (p - quote > JSON_STRING_MOST)
            return json_fail(c, quote, "a string is longer than %d bytes", JSON_STRING_MOST);
        if (*p == '"')
            break;
        if (*p != '\\')
            return json_fail(c, p, "a control character in a string");
        size_t escape = escape_length(p, c->end);
        if (!escape)
            return json_fail(c, p, "no such escape in a string");
        seen->has_escape = true;
        p += escape;
    }
    c->at = p + 1;
    return true;
}

/* How many bytes the UTF-8 character at `p` has; 0 if there is none. */
size_t json_utf8_length(const char *p, const char *end)
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
        size_t n = json_utf8_length(p, end);
        if (!n)
            return false;
        p += n;
    }
    return true;
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
    const char *known = memchr(names, name, sizeof(names) - 1);
    return known ? values[known - names] : name;
}

/* `raw` without its escapes and with U+FFFD for each byte that is no UTF-8. */
static struct str unescape(struct str raw, struct arena *mem)
{
    char *text = arena_alloc(mem, raw.n * 3 + 1); /* a lone byte becomes three */
    char *to = text;
    for (const char *p = raw.p, *end = raw.p + raw.n; p < end;) {
        size_t n = json_utf8_length(p, end);
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

/* The length of a string that is shorter than a scan, ASCII and without escapes; -1 if it is not.
 */
static inline int short_length(const struct json_cursor *c)
{
    const char *p = c->at + 1;
    if (UNLIKELY(c->end - p < 16))
        return -1;
    struct scan scan = scan_bytes(p);
    if (!scan.stops)
        return -1;
    int n = __builtin_ctz(scan.stops);
    return p[n] == '"' && !(scan.high << (31 - n)) ? n : -1;
}

bool json_string(struct json_cursor *c, struct arena *mem, struct str *out)
{
    const char *begin = c->at + 1;
    int n = short_length(c);
    if (LIKELY(n >= 0)) {
        *out = (struct str){begin, (size_t)n};
        c->at = begin + n + 1;
        return true;
    }
    struct seen seen = {.is_ascii = true};
    if (!skip_string(c, &seen))
        return false;
    struct str raw = {begin, (size_t)(c->at - 1 - begin)};
    bool is_whole = !seen.has_escape && (seen.is_ascii || is_utf8(raw));
    *out = is_whole ? raw : unescape(raw, mem);
    return true;
}

/* Over the colon behind a name. */
static inline bool skip_colon(struct json_cursor *c)
{
    json_space(c);
    if (c->at == c->end || *c->at != ':')
        return unexpected(c, "':'");
    c->at++;
    json_space(c);
    return true;
}

bool json_key(struct json_cursor *c, struct arena *mem, struct str *out)
{
    if (c->at == c->end || *c->at != '"')
        return unexpected(c, "a name in quotes");
    return json_string(c, mem, out) && skip_colon(c);
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

static inline bool skip_any_string(struct json_cursor *c)
{
    struct seen seen = {.is_ascii = true};
    int n = short_length(c);
    if (UNLIKELY(n < 0))
        return skip_string(c, &seen);
    c->at += n + 2;
    return true;
}

static inline bool skip_name(struct json_cursor *c)
{
    if (c->at == c->end || *c->at != '"')
        return unexpected(c, "a name in quotes");
    return skip_any_string(c) && skip_colon(c);
}

static bool skip_scalar(struct json_cursor *c)
{
    switch (c->at < c->end ? *c->at : '\0') {
    case '"':
        return skip_any_string(c);
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

/* Out of objects and lists that end here, down to depth `from`, and to the next entry if there is
 * one. Bit n of `objects` tells whether level n is an object. */
static bool skip_ends(struct json_cursor *c, unsigned from, uint64_t objects)
{
    bool more = false;
    while (!more && c->depth > from) {
        bool is_object = objects >> (c->depth - 1) & 1;
        if (!json_next(c, is_object ? '}' : ']', &more) || (more && is_object && !skip_name(c)))
            return false;
    }
    return true;
}

bool json_skip(struct json_cursor *c)
{
    unsigned from = c->depth;
    uint64_t objects = 0;
    do {
        bool more = false;
        char byte = c->at < c->end ? *c->at : '\0';
        if (byte == '{' || byte == '[') {
            if (!json_open(c, byte == '{' ? '}' : ']', &more))
                return false;
        } else if (!skip_scalar(c)) {
            return false;
        }
        if (more) { /* into it */
            uint64_t level = (uint64_t)1 << (c->depth - 1);
            objects = byte == '{' ? objects | level : objects & ~level;
            if (byte == '{' && !skip_name(c))
                return false;
        } else if (!skip_ends(c, from, objects)) {
            return false;
        }
    } while (c->depth > from);
    return true;
}
