#include "core/base/url.h"

#include "support/test.h"

TEST(url, has_a_scheme_a_place_and_a_path)
{
    static const struct {
        const char *text;
        bool is_tls;
        const char *user, *host;
        uint16_t port;
        const char *path;
    } cases[] = {
        {"https://10.0.0.1:6443", true, "", "10.0.0.1", 6443, ""},
        {"https://kubernetes", true, "", "kubernetes", 443, ""},
        {"http://localhost/", false, "", "localhost", 80, ""},
        {"https://h:1/k8s/clusters/c-1/", true, "", "h", 1, "/k8s/clusters/c-1"},
        {"https://[fd00::1]:6443/x", true, "", "fd00::1", 6443, "/x"},
        {"https://[::1]", true, "", "::1", 443, ""},
        {"http://me:p%40ss%2f%zz@proxy:3128", false, "me:p@ss/%zz", "proxy", 3128, ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].text);
        AUTO(arena) mem = {0};
        struct url url;
        EXPECT_TEXT(url_parse(str_of(cases[i].text), &mem, &url), NULL);
        EXPECT_INT(url.is_tls, cases[i].is_tls);
        EXPECT_STR(url.user, cases[i].user);
        EXPECT_STR(url.host, cases[i].host);
        EXPECT_INT(url.port, cases[i].port);
        EXPECT_STR(url.path, cases[i].path);
    }
}

TEST(url, that_is_none_is_refused)
{
    static const char *const cases[][2] = {
        {"", "does not begin with https:// or http://"},
        {"10.0.0.1:6443", "does not begin with https:// or http://"},
        {"socks5://proxy", "does not begin with https:// or http://"},
        {"https://", "has no host"},
        {"https://:6443", "has no host"},
        {"https://h:0", "has no port between 1 and 65535"},
        {"https://h:65536", "has no port between 1 and 65535"},
        {"https://h:1x", "has no port between 1 and 65535"},
        {"https://h:", "has no port between 1 and 65535"},
        {"https://[::1", "has a bracket that does not close"},
        {"https://[::1]x", "has no port between 1 and 65535"},
        {"https://h/?a=b", "has a query or a fragment"},
        {"https://h\r\nX: y", "holds a character that no URL has"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i][0]);
        AUTO(arena) mem = {0};
        struct url url;
        EXPECT_TEXT(url_parse(str_of(cases[i][0]), &mem, &url), cases[i][1]);
    }
}

TEST(url, is_shown_without_who_asks_and_the_password)
{
    static const char *const cases[][2] = {
        {"https://10.0.0.1:6443/a", "https://10.0.0.1:6443/a"},
        {"10.0.0.1:6443", "10.0.0.1:6443"},
        {"ftp://a", "ftp://a"},
        {"https://me:secret@h:1", "h:1"},
        {"https://me:sec/r@et@h:1", "h:1"},
        {"https://me:secret", "https://me"},
        {"me:secret", "me"},
        {"https://me:secret\"h:6443", "https://me"},
        {"", ""},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i][0]);
        EXPECT_STR(url_shown(str_of(cases[i][0])), cases[i][1]);
    }
}
