#include "core/base/url.h"

static bool take_scheme(struct str *text, bool *is_tls)
{
    struct str https = STR("https://"), http = STR("http://");
    *is_tls = str_starts(*text, https);
    if (!*is_tls && !str_starts(*text, http))
        return false;
    *text = str_part(*text, *is_tls ? https.n : http.n, text->n);
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static struct str resolve_percents(struct str text, struct arena *mem)
{
    char *out = arena_alloc(mem, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        bool has_two = text.p[i] == '%' && i + 2 < text.n;
        int high = has_two ? hex_digit(text.p[i + 1]) : -1;
        int low = has_two ? hex_digit(text.p[i + 2]) : -1;
        char c = text.p[i];
        if (high >= 0 && low >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        out[n++] = c;
    }
    return (struct str){out, n};
}

/* host, host:port, [address] or [address]:port. */
static const char *take_place(struct str text, struct url *out)
{
    bool is_bracketed = text.n && text.p[0] == '[';
    size_t end = is_bracketed ? str_find(text, ']') : str_find(text, ':');
    if (is_bracketed && end == text.n)
        return "has a bracket that does not close";
    out->host = str_part(text, is_bracketed ? 1 : 0, end);
    struct str rest = str_part(text, end + (is_bracketed ? 1 : 0), text.n);
    if (out->host.n == 0 || out->host.n > 255)
        return "has no host";
    int64_t port = out->is_tls ? 443 : 80;
    if (rest.n && (rest.p[0] != ':' || !str_int(str_part(rest, 1, rest.n), &port) || port < 1 ||
                   port > 65535))
        return "has no port between 1 and 65535";
    out->port = (uint16_t)port;
    return NULL;
}

const char *url_parse(struct str text, struct arena *mem, struct url *out)
{
    *out = (struct url){0};
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] <= ' ' || text.p[i] == 0x7f)
            return "holds a character that no URL has";
    }
    if (!take_scheme(&text, &out->is_tls))
        return "does not begin with https:// or http://";
    size_t end = str_find(text, '/');
    struct str place = str_part(text, 0, end);
    out->path = str_part(text, end, text.n);
    while (str_ends(out->path, STR("/")))
        out->path.n--;
    if (str_find(out->path, '?') < out->path.n || str_find(text, '#') < text.n)
        return "has a query or a fragment";
    size_t at = str_find(place, '@');
    if (at < place.n) {
        out->user = resolve_percents(str_part(place, 0, at), mem);
        place = str_part(place, at + 1, place.n);
    }
    return take_place(place, out);
}

/* Does the text begin with a port, behind which a path follows or nothing? */
static bool begins_with_port(struct str text)
{
    int64_t port;
    return str_int(str_part(text, 0, str_find(text, '/')), &port);
}

struct str url_shown(struct str text)
{
    size_t from = text.n;
    while (from && text.p[from - 1] != '@') /* the last one: a password may hold others */
        from--;
    struct str shown = str_part(text, from, text.n);
    size_t end = str_find(shown, ':');
    if (str_starts(str_part(shown, end, shown.n), STR("://")))
        end += 3 + str_find(str_part(shown, end + 3, shown.n), ':');
    if (end < shown.n && !begins_with_port(str_part(shown, end + 1, shown.n)))
        shown.n = end; /* perhaps a password without its @ */
    return str_part(shown, 0, 100);
}
