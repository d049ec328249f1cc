#include "core/model/patch.h"

#include "support/test.h"

TEST(patch, names_the_very_object)
{
    AUTO(arena) mem = {0};
    EXPECT_STR(patch_uid(STR("u-1"), &mem), "\"uid\":\"u-1\"");
    EXPECT_STR(patch_uid(STR("a\"b"), &mem), "\"uid\":\"a\\\"b\"");
}

TEST(patch, deletes_that_object_and_no_other_of_its_name)
{
    AUTO(arena) mem = {0};
    struct patch p = patch_delete(STR("u-1"), &mem);
    EXPECT_INT(p.verb, OBJECT_DELETE);
    EXPECT_STR(p.body, "\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                       "\"preconditions\":{\"uid\":\"u-1\"}");
}
