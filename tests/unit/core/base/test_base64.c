#include "core/base/base64.h"

#include "support/test.h"

TEST(base64, reads_what_it_wrote)
{
    static const char *const cases[][2] = {
        {"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe\x00", NULL},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        AUTO(buf) text = {0};
        AUTO(buf) back = {0};
        struct str bytes = i == 5 ? STR("\xff\xfe\x00") : str_of(cases[i][0]);
        base64_add(&text, bytes);
        EXPECT_STR(buf_str(&text), i == 5 ? "//4A" : cases[i][1]);
        EXPECT(base64_decode(&back, buf_str(&text)));
        EXPECT(str_equal(buf_str(&back), bytes));
    }
}

TEST(base64, skips_ends_of_lines_and_refuses_the_rest)
{
    static const struct {
        const char *text, *bytes; /* NULL: refused */
    } cases[] = {
        {"Zm9v\nYmFy\r\n", "foobar"},
        {"Zg\n==", "f"},
        {"Zg=", NULL},
        {"Zg", NULL},
        {"Z===", NULL},
        {"====", NULL},
        {"Zg==Zg==", NULL},
        {"Zg=a", NULL},
        {"Zm9v====", NULL},
        {"Zm 9v", NULL},
        {"Zm-_", NULL},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].text);
        AUTO(buf) bytes = {0};
        buf_add(&bytes, STR("x"));
        EXPECT_INT(base64_decode(&bytes, str_of(cases[i].text)), cases[i].bytes != NULL);
        EXPECT_STR(str_part(buf_str(&bytes), 1, bytes.n), cases[i].bytes ? cases[i].bytes : "");
    }
}
