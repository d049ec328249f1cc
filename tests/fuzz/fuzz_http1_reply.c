/* Any bytes as a server's reply: whole, unfinished or broken; in pieces it comes to the same. */

#include "io/net/http1_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static size_t read(struct http1_reply *r, struct str text, size_t step, struct buf *body)
{
    struct str rest = text;
    while (rest.n && r->state < HTTP1_WHOLE) {
        struct str piece = str_part(rest, 0, step ? step : rest.n);
        size_t had = piece.n;
        while (piece.n && r->state < HTTP1_WHOLE)
            buf_add(body, http1_reply_take(r, &piece));
        rest = str_part(rest, had - piece.n, rest.n);
    }
    return rest.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = {(const char *)bytes, n};
    struct http1_reply whole = {0}, parts = {0};
    AUTO(buf) whole_body = {0};
    AUTO(buf) parts_body = {0};
    size_t left = read(&whole, text, 0, &whole_body);
    size_t parts_left = read(&parts, text, 1 + n % 7, &parts_body);
    assert(whole.state == parts.state && whole.status == parts.status);
    assert(str_equal(buf_str(&whole_body), buf_str(&parts_body)));
    assert(whole_body.n <= n);
    if (whole.state == HTTP1_WHOLE)
        assert(left == parts_left && whole.status >= 200);
    if (whole.state == HTTP1_BROKEN)
        assert(whole.error.n && !http1_reply_end(&whole, true));
    http1_reply_done(&whole);
    http1_reply_done(&parts);
    return 0;
}
