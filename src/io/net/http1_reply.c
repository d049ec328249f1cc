#include "io/net/http1_reply.h"

enum { HEADS_MOST = 8, LINE_MOST = 1024 };

static void fail(struct http1_reply *r, const char *why)
{
    r->state = HTTP1_BROKEN;
    r->error = str_of(why);
}

void http1_reply_clear(struct http1_reply *r)
{
    struct buf text = r->text;
    buf_clear(&text);
    *r = (struct http1_reply){.text = text};
}

void http1_reply_done(struct http1_reply *r)
{
    buf_done(&r->text);
    *r = (struct http1_reply){0};
}

/* --- the head --- */

static bool read_status(struct http1_reply *r, struct str line)
{
    int64_t status;
    if ((!str_starts(line, STR("HTTP/1.1 ")) && !str_starts(line, STR("HTTP/1.0 "))) ||
        (line.n > 12 && line.p[12] != ' ') || !str_int(str_part(line, 9, 12), &status) ||
        status < 100 || status > 999)
        return false;
    r->status = (int)status;
    r->keeps_alive = line.p[7] == '1';
    return true;
}

/* What the headers say of the body. */
struct framing {
    uint32_t lengths, codings;
    int64_t length;
    bool is_chunked;
};

static bool read_header(struct http1_reply *r, struct str line, struct framing *f)
{
    struct http1_header h;
    if (http1_read_header(line, &h))
        return false;
    if (http1_is(h.name, STR("connection"))) {
        r->keeps_alive = http1_keeps_alive(h.value, r->keeps_alive);
    } else if (http1_is(h.name, STR("transfer-encoding"))) {
        f->codings++;
        f->is_chunked = http1_is(h.value, STR("chunked"));
    } else if (http1_is(h.name, STR("content-length"))) {
        f->lengths++;
        return http1_read_length(h.value, &f->length);
    }
    return true;
}

static void begin_body(struct http1_reply *r, const struct framing *f)
{
    bool has_none = r->status < 200 || r->status == 204 || r->status == 304;
    if (f->lengths > 1 || f->codings > 1 || (f->lengths && f->codings) ||
        (f->codings && !f->is_chunked)) {
        fail(r, "malformed HTTP response: its length is not clear");
    } else if (r->status == 101) {
        fail(r, "malformed HTTP response: another protocol");
    } else if (r->status < 200) {
        r->state = ++r->heads < HEADS_MOST ? HTTP1_HEAD : HTTP1_BROKEN;
        r->error = STR("malformed HTTP response: too many heads");
    } else if (f->codings) {
        r->state = has_none ? HTTP1_WHOLE : HTTP1_CHUNK_LINE;
    } else if (f->lengths || has_none) {
        r->left = has_none ? 0 : f->length;
        r->state = r->left ? HTTP1_LENGTH : HTTP1_WHOLE;
    } else {
        r->state = HTTP1_UNTIL_CLOSE;
        r->keeps_alive = false;
    }
}

static void read_head(struct http1_reply *r, struct str head)
{
    struct framing f = {0};
    uint32_t n = 0;
    struct str line = http1_cut_line(&head);
    bool is_fine = line.p && read_status(r, line);
    while (is_fine && (line = http1_cut_line(&head)).n)
        is_fine = n++ < HTTP1_HEADERS_MOST && read_header(r, line, &f);
    if (is_fine && line.p && head.n == 0)
        begin_body(r, &f);
    else
        fail(r, "malformed HTTP response");
}

static void take_head(struct http1_reply *r, struct str *bytes)
{
    size_t had = r->text.n, room = HTTP1_HEAD_MOST - had;
    buf_add(&r->text, str_part(*bytes, 0, room));
    size_t end = http1_head_end(buf_str(&r->text), had);
    if (end == 0) {
        *bytes = str_part(*bytes, MIN(room, bytes->n), bytes->n);
        if (r->text.n == HTTP1_HEAD_MOST)
            fail(r, "malformed HTTP response: its head is too long");
        return;
    }
    *bytes = str_part(*bytes, end - had, bytes->n);
    read_head(r, str_part(buf_str(&r->text), 0, end));
    buf_clear(&r->text);
}

/* --- the body --- */

static bool read_size(struct str line, int64_t *out)
{
    size_t n = 0;
    *out = 0;
    for (; n < line.n && n < 15; n++) {
        char c = line.p[n], lower = (char)(c | 0x20);
        int digit = c >= '0' && c <= '9'           ? c - '0'
                    : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                   : -1;
        if (digit < 0)
            break;
        *out = *out * 16 + digit;
    }
    return n > 0 && (n == line.n || line.p[n] == ';' || line.p[n] == ' ');
}

/* A line of the chunks' frame, without its end. */
static void read_line(struct http1_reply *r, struct str line)
{
    if (r->state == HTTP1_CHUNK_LINE && read_size(line, &r->left))
        r->state = r->left ? HTTP1_CHUNK : HTTP1_TRAILER;
    else if (r->state == HTTP1_CHUNK_END && line.n == 0)
        r->state = HTTP1_CHUNK_LINE;
    else if (r->state == HTTP1_TRAILER)
        r->state = line.n ? HTTP1_TRAILER : HTTP1_WHOLE;
    else
        fail(r, "malformed chunked encoding");
}

static void take_line(struct http1_reply *r, struct str *bytes)
{
    size_t end = str_find(*bytes, '\n');
    bool is_whole = end < bytes->n;
    buf_add(&r->text, str_part(*bytes, 0, MIN(end, (size_t)LINE_MOST + 1)));
    *bytes = str_part(*bytes, end + is_whole, bytes->n);
    struct str line = buf_str(&r->text);
    if (line.n > LINE_MOST || (is_whole && !str_ends(line, STR("\r")))) {
        fail(r, "malformed chunked encoding");
        return;
    }
    if (!is_whole)
        return;
    line.n--;
    if (r->state == HTTP1_TRAILER && ++r->heads > HTTP1_HEADERS_MOST)
        fail(r, "malformed chunked encoding");
    else
        read_line(r, line);
    buf_clear(&r->text);
}

static struct str take_body(struct http1_reply *r, struct str *bytes)
{
    size_t n = r->state == HTTP1_UNTIL_CLOSE ? bytes->n : (size_t)MIN((int64_t)bytes->n, r->left);
    struct str piece = str_part(*bytes, 0, n);
    *bytes = str_part(*bytes, n, bytes->n);
    if (r->state == HTTP1_UNTIL_CLOSE)
        return piece;
    r->left -= (int64_t)n;
    if (r->left == 0)
        r->state = r->state == HTTP1_LENGTH ? HTTP1_WHOLE : HTTP1_CHUNK_END;
    return piece;
}

struct str http1_reply_take(struct http1_reply *r, struct str *bytes)
{
    while (bytes->n) {
        switch (r->state) {
        case HTTP1_HEAD:
            take_head(r, bytes);
            break;
        case HTTP1_LENGTH:
        case HTTP1_CHUNK:
        case HTTP1_UNTIL_CLOSE:
            return take_body(r, bytes);
        case HTTP1_CHUNK_LINE:
        case HTTP1_CHUNK_END:
        case HTTP1_TRAILER:
            take_line(r, bytes);
            break;
        case HTTP1_WHOLE:
        case HTTP1_BROKEN:
            return (struct str){0};
        }
    }
    return (struct str){0};
}

bool http1_reply_end(struct http1_reply *r, bool is_over)
{
    if (r->state == HTTP1_UNTIL_CLOSE && is_over)
        r->state = HTTP1_WHOLE;
    return r->state == HTTP1_WHOLE;
}
