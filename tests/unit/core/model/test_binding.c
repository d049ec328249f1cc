#include "core/model/binding.h"

#include "support/test.h"

static struct binding example(pair_list annotations)
{
    return (struct binding){
        .name = STR("w-0"),
        .namespace = STR("ml"),
        .uid = STR("6f"),
        .annotations = annotations,
        .node = STR("n17"),
    };
}

TEST(binding, is_written_in_json)
{
    struct buf out = {0};
    struct pair pairs[] = {
        {STR("kubenexus.io/numa"), STR("0")},
    };
    struct binding b = example((pair_list){pairs, LEN(pairs)});
    b.resource_version = STR("12");
    binding_write(&b, ENCODING_JSON, &out);
    EXPECT_TEXT(out.p, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"annotations\":{"
                       "\"kubenexus.io/numa\":\"0\"},\"name\":\"w-0\",\"namespace\":\"ml\","
                       "\"resourceVersion\":\"12\",\"uid\":\"6f\"},"
                       "\"target\":{\"kind\":\"Node\",\"name\":\"n17\"}}");
    buf_done(&out);
}

/* Bytes that upstream's code reads as the Binding above. */
TEST(binding, is_written_in_protobuf)
{
    static const char wanted[] = "k8s\0"
                                 "\x0a\x0d\x0a\x02v1\x12\x07"
                                 "Binding"
                                 "\x12\x1e"
                                 "\x0a\x0d\x0a\x03w-0\x1a\x02ml\x2a\x02"
                                 "6f"
                                 "\x12\x0d\x0a\x04Node\x1a\x05"
                                 "n17-0";
    struct buf out = {0};
    struct binding b = example((pair_list){0});
    b.node = STR("n17-0");
    binding_write(&b, ENCODING_PROTO, &out);
    EXPECT(str_equal(buf_str(&out), (struct str){wanted, sizeof(wanted) - 1}));
    buf_done(&out);
}

TEST(binding, carries_annotations_in_protobuf)
{
    struct buf out = {0};
    char large[300];
    memset(large, 'x', sizeof(large));
    struct pair pairs[] = {
        {STR("a"), STR("b")},
        {STR("c"), {large, sizeof(large)}},
    };
    struct binding b = example((pair_list){pairs, LEN(pairs)});
    binding_write(&b, ENCODING_PROTO, &out);
    static const char first[] = "\x62\x06\x0a\x01"
                                "a\x12\x01"
                                "b\x62\xb2\x02\x0a\x01"
                                "c\x12\xac\x02xxx";
    EXPECT(memmem(out.p, out.n, first, sizeof(first) - 1));
    EXPECT(memmem(out.p, out.n, "\x12\xda\x02\x0a\xca\x02\x0a\x03w-0", 11));
    buf_done(&out);
}
