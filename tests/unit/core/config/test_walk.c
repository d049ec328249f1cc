#include "core/config/inside.h"

#include "support/test.h"

TEST(walk, a_path_leads_to_its_value_or_to_what_should_hold_it)
{
    static const char json[] =
        "{\"a\":1,\"list\":[{\"b\":2},{\"b\":3,\"c\":[4,5]}],\"deep\":{\"er\":{\"x\":6}}}";
    static const struct {
        const char *path, *begins; /* with what the text goes on there */
    } cases[] = {
        {"", "{\"a\""},      {"a", "1,"},
        {"list", "[{"},      {"list[0]", "{\"b\":2"},
        {"list[1].b", "3,"}, {"list[1].c[1]", "5]"},
        {"deep.er.x", "6}"}, {"none", "{\"a\""},
        {"list[2]", "[{"},   {"list[1].none", "{\"b\":3"},
        {"list.b", "[{"},    {"a.b", "1,"},
        {"a[0]", "1,"},      {"deep.none.x", "{\"er\""},
        {"list[x]", "[{"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].path);
        size_t at = walk_to(str_of(json), str_of(cases[i].path));
        EXPECT_STR(str_part(str_of(json), at, at + strlen(cases[i].begins)), cases[i].begins);
    }
}
