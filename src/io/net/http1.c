#include "io/net/http1.h"

enum { BAD = 400, TOO_LARGE = 431, NO_VERSION = 505 };

size_t http1_head_end(struct str bytes, size_t seen)
{
    size_t from = seen > 3 ? seen - 3 : 0; /* the end may lie across the border */
    if (bytes.n < from + 4)
        return 0;
    const char *end = memmem(bytes.p + from, bytes.n - from, "\r\n\r\n", 4);
    return end ? (size_t)(end - bytes.p) + 4 : 0;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

bool http1_is(struct str text, struct str lower_case)
{
    if (text.n != lower_case.n)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (lower(text.p[i]) != lower_case.p[i])
            return false;
    return true;
}

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = lower(s.p[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return s.n > 0;
}

static bool is_visible(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return s.n > 0;
}

static struct str trimmed(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_part(s, 1, s.n);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

struct str http1_cut_line(struct str *rest)
{
    bool has_end = str_find(*rest, '\n') < rest->n;
    struct str line = str_take(rest, '\n');
    if (!has_end || line.n == 0 || line.p[line.n - 1] != '\r')
        return (struct str){0};
    line.n--;
    return line;
}

static int read_target(struct str target, struct http1_request *out)
{
    static const struct str schemes[] = {STR("http://"), STR("https://")};
    for (size_t i = 0; i < LEN(schemes); i++)
        if (str_starts(target, schemes[i])) { /* as clients speak to a proxy */
            target = str_part(target, schemes[i].n, target.n);
            target = str_part(target, str_find(target, '/'), target.n);
        }
    if (!is_visible(target) || target.p[0] != '/')
        return BAD;
    out->path = str_take(&target, '?');
    out->query = target;
    return 0;
}

static int read_request_line(struct str line, struct http1_request *out)
{
    out->method = str_take(&line, ' ');
    struct str target = str_take(&line, ' ');
    if (!is_token(out->method))
        return BAD;
    if (!str_equal(line, STR("HTTP/1.1")) && !str_equal(line, STR("HTTP/1.0")))
        return str_starts(line, STR("HTTP/")) ? NO_VERSION : BAD;
    out->keeps_alive = line.p[line.n - 1] == '1';
    return read_target(target, out);
}

int http1_read_header(struct str line, struct http1_header *out)
{
    if (str_find(line, ':') == line.n)
        return BAD;
    out->name = str_take(&line, ':');
    out->value = trimmed(line);
    if (!is_token(out->name)) /* a space before the colon or at the line's begin is in it */
        return BAD;
    for (size_t i = 0; i < out->value.n; i++)
        if (((unsigned char)out->value.p[i] < ' ' && out->value.p[i] != '\t') ||
            out->value.p[i] == 0x7f)
            return BAD;
    return 0;
}

static int read_header(struct str line, struct http1_request *out)
{
    if (out->n_headers == HTTP1_HEADERS_MOST)
        return TOO_LARGE;
    int status = http1_read_header(line, &out->headers[out->n_headers]);
    out->n_headers += status == 0;
    return status;
}

bool http1_keeps_alive(struct str value, bool otherwise)
{
    while (value.n) {
        struct str word = trimmed(str_take(&value, ','));
        if (http1_is(word, STR("close")))
            otherwise = false;
        else if (http1_is(word, STR("keep-alive")))
            otherwise = true;
    }
    return otherwise;
}

bool http1_read_length(struct str value, int64_t *out)
{
    return value.n && value.p[0] >= '0' && value.p[0] <= '9' && str_int(value, out);
}

/* What the headers say of the message itself. */
static int read_framing(struct http1_request *out)
{
    uint32_t hosts = 0, lengths = 0, codings = 0;
    bool is_1_1 = out->keeps_alive;
    int64_t length = 0;
    for (uint32_t i = 0; i < out->n_headers; i++) {
        const struct http1_header *h = &out->headers[i];
        if (http1_is(h->name, STR("host")))
            hosts++;
        else if (http1_is(h->name, STR("connection")))
            out->keeps_alive = http1_keeps_alive(h->value, out->keeps_alive);
        else if (http1_is(h->name, STR("transfer-encoding")))
            codings++;
        else if (http1_is(h->name, STR("content-length"))) {
            lengths++;
            if (!http1_read_length(h->value, &length))
                return BAD;
        }
    }
    if (hosts > 1 || (is_1_1 && !hosts) || lengths > 1 || (lengths && codings))
        return BAD;
    out->has_body = codings || length > 0;
    return 0;
}

int http1_read(struct str head, struct http1_request *out)
{
    *out = (struct http1_request){0};
    struct str line = http1_cut_line(&head);
    int status = line.p ? read_request_line(line, out) : BAD;
    while (!status && (line = http1_cut_line(&head)).n)
        status = read_header(line, out);
    if (!status && (!line.p || head.n))
        return BAD;
    return status ? status : read_framing(out);
}

struct str http1_header(const struct http1_request *r, struct str name)
{
    for (uint32_t i = 0; i < r->n_headers; i++)
        if (http1_is(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct str){0};
}

bool http1_query(const struct http1_request *r, struct str name, size_t *at, struct str *value)
{
    while (*at < r->query.n) {
        struct str rest = str_part(r->query, *at, r->query.n), pair = str_take(&rest, '&');
        *at = r->query.n - rest.n;
        struct str key = str_take(&pair, '=');
        *value = pair;
        if (str_equal(key, name))
            return true;
    }
    return false;
}

const char *http1_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {413, "Content Too Large"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}
