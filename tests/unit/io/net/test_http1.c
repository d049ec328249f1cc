#include "io/net/http1.h"

#include "support/test.h"

TEST(http1, reads_a_request)
{
    struct http1_request r;
    struct str head = STR("GET /readyz?verbose&exclude=ping HTTP/1.1\r\nHost: a\r\n"
                          "AUTHORIZATION:  Bearer x\t\r\nX-Empty:\r\n\r\n");
    EXPECT_INT(http1_read(head, &r), 0);
    EXPECT_STR(r.method, "GET");
    EXPECT_STR(r.path, "/readyz");
    EXPECT_STR(r.query, "verbose&exclude=ping");
    EXPECT_STR(http1_header(&r, STR("authorization")), "Bearer x");
    EXPECT_STR(http1_header(&r, STR("x-empty")), "");
    EXPECT_STR(http1_header(&r, STR("x-absent")), "");
    EXPECT(r.keeps_alive && !r.has_body);
}

TEST(http1, refuses_what_is_wrong_or_could_be_read_in_two_ways)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0},
        {"GET http://a:1/b?c HTTP/1.1\r\nHost: a\r\n\r\n", 0},
        {"GET / HTTP/1.0\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"GET / FTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"\r\n\r\n", 400},
        {"GET\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
         400},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].head);
        struct http1_request r;
        EXPECT_INT(http1_read(str_of(cases[i].head), &r), cases[i].status);
    }
}

TEST(http1, knows_whether_the_connection_goes_on_and_whether_a_body_follows)
{
    static const struct {
        const char *head;
        bool keeps_alive, has_body;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true, false},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", false, false},
        {"GET / HTTP/1.0\r\n\r\n", false, false},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true, false},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", true, true},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", true, true},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].head);
        struct http1_request r;
        EXPECT_INT(http1_read(str_of(cases[i].head), &r), 0);
        EXPECT_INT(r.keeps_alive, cases[i].keeps_alive);
        EXPECT_INT(r.has_body, cases[i].has_body);
    }
}

TEST(http1, has_a_largest_number_of_headers)
{
    for (uint32_t n = HTTP1_HEADERS_MOST; n <= HTTP1_HEADERS_MOST + 1; n++) {
        char head[4096];
        size_t at = (size_t)snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: a\r\n");
        for (uint32_t i = 1; i < n; i++)
            at += (size_t)snprintf(head + at, sizeof(head) - at, "X-%u: y\r\n", i);
        snprintf(head + at, sizeof(head) - at, "\r\n");
        struct http1_request r;
        EXPECT_INT(http1_read(str_of(head), &r), n > HTTP1_HEADERS_MOST ? 431 : 0);
    }
}

TEST(http1, finds_the_end_of_a_head_also_across_pieces)
{
    struct str text = STR("GET / HTTP/1.1\r\n\r\nmore\r\n\r\n");
    for (size_t n = 0; n <= text.n; n++)
        for (size_t seen = 0; seen <= MIN(n, (size_t)17); seen++)
            EXPECT_INT(http1_head_end(str_part(text, 0, n), seen), n < 18 ? 0 : 18);
}

TEST(http1, gives_the_values_of_a_query_in_turn)
{
    struct http1_request r = {.query = STR("a=1&b&a=2&a&ab=3")};
    struct str value;
    size_t at = 0;
    EXPECT(http1_query(&r, STR("a"), &at, &value));
    EXPECT_STR(value, "1");
    EXPECT(http1_query(&r, STR("a"), &at, &value));
    EXPECT_STR(value, "2");
    EXPECT(http1_query(&r, STR("a"), &at, &value));
    EXPECT_STR(value, "");
    EXPECT(!http1_query(&r, STR("a"), &at, &value));
}
