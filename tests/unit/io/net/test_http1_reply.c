#include "io/net/http1_reply.h"

#include "support/test.h"

/* What a server's bytes come to, in pieces of `step`: "200 hello", "200… hel" if it is not whole,
 * or why it is refused; with what is left behind it. */
static const char *read(const char *text, size_t step, bool is_closed, struct buf *out)
{
    struct http1_reply r = {0};
    AUTO(buf) body = {0};
    struct str rest = str_of(text);
    buf_clear(out);
    while (rest.n && r.state < HTTP1_WHOLE) {
        struct str piece = str_part(rest, 0, step);
        size_t had = piece.n;
        while (piece.n && r.state < HTTP1_WHOLE)
            buf_add(&body, http1_reply_take(&r, &piece));
        rest = str_part(rest, had - piece.n, rest.n);
    }
    if (is_closed)
        http1_reply_end(&r, true);
    if (r.state == HTTP1_BROKEN)
        buf_add(out, r.error);
    else
        buf_printf(out, "%d%s " STR_FMT "%s" STR_FMT "%s", r.status,
                   r.state == HTTP1_WHOLE ? "" : "...", STR_ARG(buf_str(&body)),
                   rest.n ? " then " : "", STR_ARG(rest), r.keeps_alive ? " keep" : "");
    http1_reply_done(&r);
    return out->p;
}

#define OK "HTTP/1.1 200 OK\r\n"

TEST(http1_reply, ends_where_its_head_says)
{
    static const struct {
        const char *text, *means;
        bool is_closed;
    } cases[] = {
        {OK "Content-Length: 5\r\n\r\nhello", "200 hello keep", false},
        {OK "Content-Length: 5\r\n\r\nhelloHTTP", "200 hello then HTTP keep", false},
        {OK "Content-Length: 5\r\n\r\nhel", "200... hel keep", true},
        {OK "content-length:0\r\nConnection: close\r\n\r\n", "200 ", false},
        {OK "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
         "200 hello keep", false},
        {OK "Transfer-Encoding: Chunked\r\n\r\n0\r\nA: b\r\n\r\n", "200  keep", false},
        {OK "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", "200... hel keep", true},
        {OK "\r\nhello", "200 hello", true},
        {OK "\r\nhello", "200... hello", false},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "200 x", false},
        {"HTTP/1.0 200\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", "200 x keep",
         false},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", "503  keep",
         false},
        {"HTTP/1.1 204 No Content\r\n\r\nx", "204  then x keep", false},
        {"HTTP/1.1 2", "0... ", true},
    };
    AUTO(buf) out = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        for (size_t step = 1; step < 200; step += 1 + step / 3) {
            test_case("%s in steps of %zu", cases[i].text, step);
            EXPECT_TEXT(read(cases[i].text, step, cases[i].is_closed, &out), cases[i].means);
        }
}

TEST(http1_reply, what_is_wrong_or_could_be_read_in_two_ways_is_refused)
{
    static const char *const cases[][2] = {
        {"HTTP/2 200 OK\r\n\r\n", "malformed HTTP response"},
        {"HTTP/1.1 20 OK\r\n\r\n", "malformed HTTP response"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "malformed HTTP response"},
        {"hello\r\n\r\n", "malformed HTTP response"},
        {"HTTP/1.1 101 Switching\r\n\r\n", "malformed HTTP response: another protocol"},
        {OK "Content-Length: -1\r\n\r\n", "malformed HTTP response"},
        {OK "Content-Length: x\r\n\r\n", "malformed HTTP response"},
        {OK "No colon\r\n\r\n", "malformed HTTP response"},
        {OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
         "malformed HTTP response: its length is not clear"},
        {OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "malformed HTTP response: its length is not clear"},
        {OK "Transfer-Encoding: gzip, chunked\r\n\r\n",
         "malformed HTTP response: its length is not clear"},
        {OK "Transfer-Encoding: chunked\r\n\r\nx\r\n", "malformed chunked encoding"},
        {OK "Transfer-Encoding: chunked\r\n\r\n\r\n", "malformed chunked encoding"},
        {OK "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", "malformed chunked encoding"},
        {OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
         "malformed chunked encoding"},
        {OK "Transfer-Encoding: chunked\r\n\r\n1\nx", "malformed chunked encoding"},
    };
    AUTO(buf) out = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        for (size_t step = 1; step < 200; step += 1 + step / 3) {
            test_case("%s in steps of %zu", cases[i][0], step);
            EXPECT_TEXT(read(cases[i][0], step, false, &out), cases[i][1]);
        }
}

TEST(http1_reply, heads_and_lines_have_limits)
{
    AUTO(buf) text = {0};
    AUTO(buf) out = {0};
    buf_printf(&text, OK "X: ");
    for (int i = 0; i < 20000; i++)
        buf_add_char(&text, 'x');
    buf_add_char(&text, '\0');
    EXPECT_TEXT(read(text.p, 1000, false, &out), "malformed HTTP response: its head is too long");
    buf_clear(&text);
    buf_printf(&text, OK "Transfer-Encoding: chunked\r\n\r\n1;");
    for (int i = 0; i < 2000; i++)
        buf_add_char(&text, 'x');
    buf_add_char(&text, '\0');
    EXPECT_TEXT(read(text.p, 100, false, &out), "malformed chunked encoding");
    buf_clear(&text);
    for (int i = 0; i < 20; i++)
        buf_printf(&text, "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_TEXT(read(text.p, 100, false, &out), "malformed HTTP response: too many heads");
}
