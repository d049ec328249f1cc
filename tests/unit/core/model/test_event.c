#include "core/model/event.h"

#include "core/model/envelope.h"
#include "core/wire/proto.h"
#include "support/test.h"

/* Every text of the message, one after the other, with its field's number. */
static void show(struct buf *out, struct str message)
{
    struct proto_value v;
    struct error e;
    while (proto_take(&message, &v, &e))
        if (v.wire == PROTO_BYTES)
            buf_printf(out, "%u=" STR_FMT " ", v.number, STR_ARG(v.bytes));
        else
            buf_printf(out, "%u=%llu ", v.number, (unsigned long long)v.bits);
    EXPECT_INT(e.kind, ERROR_NONE);
}

static struct str part(struct str message, uint32_t number)
{
    struct proto_value v;
    struct error e;
    while (proto_take(&message, &v, &e))
        if (v.number == number)
            return v.bytes;
    return (struct str){0};
}

/* The numbers are those of k8s.io/api/events/v1 and core/v1. */
TEST(event, is_written_in_protobuf)
{
    struct event event = {.name = STR("a.1"),
                          .namespace = STR("ml"),
                          .at_ms = 1700000000005,
                          .controller = STR("nexus"),
                          .instance = STR("nexus-h"),
                          .action = STR("Binding"),
                          .reason = STR("Scheduled"),
                          .type = STR("Normal"),
                          .note = STR("well done"),
                          .regarding = {.api_version = STR("v1"),
                                        .kind = STR("Pod"),
                                        .namespace = STR("ml"),
                                        .name = STR("a"),
                                        .uid = STR("6f"),
                                        .resource_version = STR("12")}};
    AUTO(buf) body = {0}, text = {0};
    struct arena mem = {0};
    struct envelope v;
    struct error e;
    event_write(&event, &body);
    REQUIRE(envelope_read(ENCODING_PROTO, buf_str(&body), &mem, &v, &e));
    EXPECT_STR(v.api_version, "events.k8s.io/v1");
    EXPECT_STR(v.kind, "Event");
    show(&text, part(v.raw, 1));
    EXPECT_STR(buf_str(&text), "1=a.1 3=ml ");
    buf_clear(&text);
    show(&text, part(v.raw, 2));
    EXPECT_STR(buf_str(&text), "1=1700000000 2=5000000 ");
    buf_clear(&text);
    show(&text, part(v.raw, 8));
    EXPECT_STR(buf_str(&text), "1=Pod 2=ml 3=a 4=6f 5=v1 6=12 ");
    EXPECT_STR(part(v.raw, 4), "nexus");
    EXPECT_STR(part(v.raw, 5), "nexus-h");
    EXPECT_STR(part(v.raw, 6), "Binding");
    EXPECT_STR(part(v.raw, 7), "Scheduled");
    EXPECT_STR(part(v.raw, 10), "well done");
    EXPECT_STR(part(v.raw, 11), "Normal");
    arena_done(&mem);
}
