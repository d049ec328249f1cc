#include "core/base/time_text.h"

#include "support/test.h"

TEST(time_text, is_rfc_3339)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.1Z", 100},
        {"1970-01-01T00:00:00.123999Z", 123},
        {"1970-01-01T00:00:00,5Z", 500},
        {"1969-12-31T23:59:59Z", -1000},
        {"2026-11-16T04:00:00Z", 1794801600000},
        {"2026-11-16T06:00:00+02:00", 1794801600000},
        {"2026-11-15T23:30:00-04:30", 1794801600000},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"2000-02-29T12:00:00Z", 951825600000},
        {"0001-01-01T00:00:00Z", -62135596800000},
        {"0000-12-31T00:00:00Z", -62135683200000},
        {"9999-12-31T23:59:59Z", 253402300799000},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        int64_t ms = -1;
        if (!EXPECT(time_parse(str_of(cases[i].text), &ms)) || !EXPECT_INT(ms, cases[i].ms))
            EXPECT_TEXT(NULL, cases[i].text);
    }
}

TEST(time_text, refuses_what_is_no_time)
{
    static const char *const texts[] = {
        "",
        "2026",
        "2026-11-16",
        "2026-11-16T04:00:00",
        "2026-11-16 04:00:00Z",
        "2026-11-16t04:00:00Z",
        "2026-11-16T04:00:00z",
        "2026-11-16T24:00:00Z",
        "2026-11-16T04:60:00Z",
        "2026-11-16T04:00:60Z",
        "2026-13-16T04:00:00Z",
        "2026-00-16T04:00:00Z",
        "2026-02-29T04:00:00Z",
        "1900-02-29T04:00:00Z",
        "2026-04-31T04:00:00Z",
        "2026-11-00T04:00:00Z",
        "2026-11-16T04:00:00.Z",
        "2026-11-16T04:00:00+2:00",
        "2026-11-16T04:00:00+0200",
        "2026-11-16T04:00:00+25:00",
        "2026-11-16T04:00:00Zx",
        "26-11-16T04:00:00Z",
        "+026-11-16T04:00:00Z",
    };
    for (size_t i = 0; i < LEN(texts); i++) {
        int64_t ms;
        if (!EXPECT(!time_parse(str_of(texts[i]), &ms)))
            EXPECT_TEXT(NULL, texts[i]);
    }
}

TEST(time_text, is_written_as_it_is_read)
{
    static const struct {
        int64_t ms;
        const char *seconds, *micro;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
        {951782399999, "2000-02-28T23:59:59Z", "2000-02-28T23:59:59.999000Z"},
        {951782400000, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000Z"},
        {4107542399001, "2100-02-28T23:59:59Z", "2100-02-28T23:59:59.001000Z"},
        {1735689599050, "2024-12-31T23:59:59Z", "2024-12-31T23:59:59.050000Z"},
        {253402300799999, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999000Z"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(buf) text = {0};
        int64_t ms;
        time_add_seconds(&text, cases[i].ms);
        EXPECT_STR(buf_str(&text), cases[i].seconds);
        buf_clear(&text);
        time_add_micro(&text, cases[i].ms);
        EXPECT_STR(buf_str(&text), cases[i].micro);
        EXPECT(time_parse(buf_str(&text), &ms) && ms == cases[i].ms);
    }
}
