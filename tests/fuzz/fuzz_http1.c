/* Any bytes as a request to our server: read or refused; what is read lies within the bytes, and
 * pieces give the same end of the head as the whole. */

#include "io/net/http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_within(struct str part, struct str whole)
{
    assert(part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = {(const char *)bytes, n};
    size_t end = http1_head_end(text, 0), seen = 0, found = 0;
    for (size_t i = 0; i < n && !found; i += 1 + i % 7) {
        found = http1_head_end(str_part(text, 0, i), seen);
        seen = i;
    }
    assert(!found || found == end);
    struct http1_request r;
    struct str head = str_part(text, 0, end ? end : n), value;
    int status = http1_read(head, &r);
    assert(status == 0 || (status >= 400 && status < 600 && http1_reason(status)[0]));
    if (status)
        return 0;
    assert(end == head.n && r.path.n && r.path.p[0] == '/' && r.method.n);
    check_within(r.method, head);
    check_within(r.path, head);
    check_within(r.query, head);
    assert(r.n_headers <= HTTP1_HEADERS_MOST);
    for (uint32_t i = 0; i < r.n_headers; i++) {
        check_within(r.headers[i].name, head);
        check_within(r.headers[i].value, head);
        assert(r.headers[i].name.n);
        assert(!r.headers[i].value.n || !memchr(r.headers[i].value.p, '\n', r.headers[i].value.n));
    }
    for (size_t at = 0; http1_query(&r, STR("verbose"), &at, &value);)
        check_within(value, head);
    return 0;
}
