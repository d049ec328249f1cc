#include "core/wire/encoding.h"

#include "support/test.h"

TEST(encoding, is_told_by_the_content_type)
{
    static const struct {
        const char *type;
        enum encoding encoding;
    } cases[] = {
        {"application/json", ENCODING_JSON},
        {"application/json;stream=watch", ENCODING_JSON},
        {"application/json ; charset=utf-8", ENCODING_JSON},
        {"application/vnd.kubernetes.protobuf", ENCODING_PROTO},
        {"application/vnd.kubernetes.protobuf;stream=watch", ENCODING_PROTO},
        {"application/jsonp", ENCODING_NONE},
        {"text/plain; charset=utf-8", ENCODING_NONE},
        {"", ENCODING_NONE},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].type);
        EXPECT_INT(encoding_of(str_of(cases[i].type)), cases[i].encoding);
    }
}
