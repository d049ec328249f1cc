#include "io/serve/health.h"

#include "support/test.h"

static bool holds(const void *ctx)
{
    return *(const bool *)ctx;
}

static bool always(const void *ctx)
{
    (void)ctx;
    return true;
}

static const struct health_check checks[] = {
    {"ping", always, ""},
    {"sync", holds, "not synced"},
};
static const struct health readyz = {"readyz", checks, LEN(checks)};

TEST(health, answers_as_kubernetes_does)
{
    static const struct {
        bool is_synced;
        const char *check, *query;
        int status;
        const char *text;
    } cases[] = {
        {true, "", "", 200, "ok"},
        {true, "", "verbose", 200, "[+]ping ok\n[+]sync ok\nreadyz check passed\n"},
        {true, "", "verbose=1&exclude=ping", 200,
         "[+]ping excluded: ok\n[+]sync ok\nreadyz check passed\n"},
        {false, "", "", 500, "[+]ping ok\n[-]sync failed: reason withheld\nreadyz check failed\n"},
        {false, "", "exclude=sync", 200, "ok"},
        {true, "", "verbose&exclude=a&exclude=sync&exclude=b", 200,
         "[+]ping ok\n[+]sync excluded: ok\nwarn: some health checks cannot be excluded: no "
         "matches for "
         "\"a\",\"b\"\nreadyz check passed\n"},
        {true, "sync", "", 200, "ok"},
        {false, "sync", "", 500, "internal server error: not synced\n"},
        {true, "nix", "", 404, "404 page not found\n"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("/readyz/%s?%s", cases[i].check, cases[i].query);
        struct http1_request r = {.query = str_of(cases[i].query)};
        struct buf out = {0};
        EXPECT_INT(health_answer(&readyz, &cases[i].is_synced, &r, str_of(cases[i].check), &out),
                   cases[i].status);
        EXPECT_TEXT(out.p, cases[i].text);
        buf_done(&out);
    }
}
