#include "core/model/quantity.h"

#include "support/test.h"

/* "a + b" is a sum. */
static bool parse(const char *text, struct quantity *out)
{
    const char *plus = strstr(text, " + ");
    if (!plus)
        return quantity_parse(str_of(text), out);
    struct quantity a, b;
    if (!quantity_parse((struct str){text, (size_t)(plus - text)}, &a) ||
        !quantity_parse(str_of(plus + 3), &b))
        return false;
    *out = quantity_sum(a, b);
    return true;
}

TEST(quantity, reads_adds_and_overflows_as_upstream)
{
    static const struct {
        const char *text;
        bool is_bad;
        int64_t value, milli;
    } cases[] = {
#define CASE(text, value, milli) {text, false, value, milli},
#define BAD(text)                {text, true, 0, 0},
#include "quantity_cases.def"
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct quantity q;
        bool is_fine = EXPECT(parse(cases[i].text, &q) != cases[i].is_bad);
        if (is_fine && !cases[i].is_bad)
            is_fine = EXPECT_INT(quantity_value(q), cases[i].value) &&
                      EXPECT_INT(quantity_milli(q), cases[i].milli);
        if (!is_fine)
            EXPECT_TEXT(NULL, cases[i].text);
    }
}

TEST(quantity, is_an_integer_if_it_is_written_as_one_that_fits)
{
    static const struct {
        const char *text;
        int64_t value; /* 0: it is none */
    } cases[] = {
        {"2", 2},
        {"+2", 2},
        {"-3", -3},
        {"2k", 2000},
        {"2e0", 2},
        {"512Mi", 536870912},
        {"1E", 1000000000000000000},
        {"2000m", 0},
        {"2000E-3", 0},
        {"2.0", 0},
        {"0.5Gi", 0},
        {"1500m", 0},
        {"10E", 0},
        {"100Ti", 0},
        {"9223372036854775807", 0},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].text);
        struct quantity q;
        int64_t value;
        EXPECT(parse(cases[i].text, &q));
        EXPECT_INT(quantity_integer(q, &value), cases[i].value != 0);
        EXPECT_INT(value, cases[i].value);
    }
}

TEST(quantity, is_exact_before_it_is_rounded)
{
    struct quantity sum = {0};
    for (int i = 0; i < 1000; i++) {
        struct quantity q;
        REQUIRE(quantity_parse(STR("1n"), &q));
        sum = quantity_sum(sum, q);
    }
    EXPECT(sum.nano == 1000);
    EXPECT_INT(quantity_milli(sum), 1);
    EXPECT_INT(quantity_value(sum), 1);
}

TEST(quantity, of_any_number_of_huge_ones_stays_in_bounds)
{
    struct quantity q, sum = {0};
    REQUIRE(quantity_parse(STR("99999999999999999999999999999999999999999999"), &q));
    for (int i = 0; i < 100; i++)
        sum = quantity_sum(sum, q);
    EXPECT(sum.nano == QUANTITY_NANO_MOST);
}

TEST(quantity, prints_a_short_form)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"0", "0"},       {"1.5", "1500m"},  {"1500", "1500"},
        {"2000", "2k"},   {"1Ki", "1024"},   {"-0.5", "-500m"},
        {"1e-9", "1n"},   {"3000000u", "3"}, {"123456789", "123456789"},
        {"1e20", "100E"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct quantity q;
        AUTO(buf) text = {0};
        REQUIRE(quantity_parse(str_of(cases[i].text), &q));
        quantity_print(q, &text);
        EXPECT_TEXT(text.p, cases[i].printed);
    }
}

TEST(quantity, prints_what_reads_back_as_the_same)
{
    static const char *const texts[] = {"1.5Gi", "1500u", "1e3", "9223372036854775807", "100Ki"};
    for (size_t i = 0; i < LEN(texts); i++) {
        struct quantity q, again;
        AUTO(buf) text = {0};
        REQUIRE(quantity_parse(str_of(texts[i]), &q));
        quantity_print(q, &text);
        REQUIRE(quantity_parse(buf_str(&text), &again));
        EXPECT(q.nano == again.nano);
    }
}

TEST(quantity, of_an_object_must_not_be_negative)
{
    struct quantity q = {.nano = 7};
    EXPECT_TEXT(quantity_scalar.read(STR("-1"), &q), "is negative");
    EXPECT_TEXT(quantity_scalar.read(STR("12x"), &q), "is not a quantity");
    EXPECT(q.nano == 7);
    EXPECT_TEXT(quantity_scalar.read(STR("-0"), &q), NULL);
    EXPECT(q.nano == 0);
}

TEST(quantity, of_an_object_is_stored_in_thousandths)
{
    struct quantity q;
    EXPECT_TEXT(quantity_scalar.read(STR("1500001n"), &q), NULL);
    EXPECT(q.nano == 2000000);
    EXPECT_TEXT(quantity_scalar.read(STR("1.5"), &q), NULL);
    EXPECT(q.nano == 1500000000);
}
