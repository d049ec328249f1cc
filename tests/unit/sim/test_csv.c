#include "sim/csv.h"

#include "support/test.h"

TEST(csv, lines_become_cells_under_named_columns)
{
    struct csv c;
    struct error e = {0};
    uint32_t a, b;
    int64_t n;
    REQUIRE(csv_open(&c, "f.csv", STR("a,b\r\n1,x\n\n22,\n"), &e));
    REQUIRE(csv_need(&c, "a", &a) && csv_find(&c, "b", &b));
    REQUIRE(csv_next(&c) && csv_int(&c, a, 100, &n));
    EXPECT_INT(n, 1);
    EXPECT_STR(c.cells[b], "x");
    REQUIRE(csv_next(&c) && csv_int(&c, a, 22, &n));
    EXPECT_STR(c.cells[b], "");
    EXPECT(!csv_int(&c, a, 21, &n));
    EXPECT_TEXT(e.text, "f.csv: line 4: a: \"22\" is not a whole number from 0 to 21");
    EXPECT(!csv_next(&c) && e.kind == ERROR_NONE);
}

TEST(csv, what_is_wrong_is_named)
{
    struct csv c;
    struct error e = {0};
    uint32_t a;
    EXPECT(!csv_open(&c, "f.csv", STR(""), &e));
    EXPECT_TEXT(e.text, "f.csv: empty");
    REQUIRE(csv_open(&c, "f.csv", STR("a,b\n1\n"), &e));
    EXPECT(!csv_find(&c, "c", &a) && !csv_need(&c, "c", &a));
    EXPECT_TEXT(e.text, "f.csv: line 1: there is no column c");
    EXPECT(!csv_next(&c) && e.kind == ERROR_INVALID);
    EXPECT_TEXT(e.text, "f.csv: line 2: 1 cells instead of 2");
}
