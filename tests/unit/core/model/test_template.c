#include "core/model/template.h"

#include "core/model/tables.h"
#include "core/wire/proto.h"
#include "support/test.h"

/* A pod as a server sends it. NULL: left out. */
struct story {
    const char *name, *image, *node, *scheduler, *phase;
};

static const struct story first = {"a", "i:1", "n1", "mine", "Running"};

static void put(struct buf *out, uint32_t number, const char *text)
{
    proto_put_str(out, number, str_of(text ? text : ""));
}

static struct envelope pod_of(const struct story *s, struct buf *out)
{
    buf_clear(out);
    size_t meta = proto_open(out, 1);
    put(out, 1, s->name);
    put(out, 3, "default");
    proto_close(out, meta);
    size_t spec = proto_open(out, 2);
    size_t container = proto_open(out, 2);
    put(out, 2, s->image);
    proto_close(out, container);
    put(out, 10, s->node);
    put(out, 19, s->scheduler);
    proto_close(out, spec);
    size_t status = proto_open(out, 3);
    put(out, 1, s->phase);
    proto_close(out, status);
    return (struct envelope){ENCODING_PROTO, STR("v1"), STR("Pod"), buf_str(out)};
}

/* Shows it as a watch does; was its spec known? */
static bool show(struct templates *t, struct story s)
{
    AUTO(buf) bytes = {0};
    AUTO(arena) mem = {0};
    struct object object, whole;
    struct error e;
    struct envelope v = pod_of(&s, &bytes);
    EXPECT(envelope_object(&v, &mem, &whole, &e));
    if (!templates_read(t, &v, &mem, &object)) {
        templates_keep(t);
        return false;
    }
    EXPECT_INT(object.kind, KIND_POD);
    EXPECT(object.pod->template.n > 0 && whole.pod->template.n == 0);
    EXPECT(fields_equal(pod_fields, object.pod, whole.pod));
    EXPECT_INT(object.pod->digest, whole.pod->digest);
    return true;
}

TEST(template, a_spec_that_came_twice_is_known)
{
    struct templates t = {0};
    EXPECT(!show(&t, first));
    EXPECT(!show(&t, first));
    EXPECT(show(&t, first));
    templates_done(&t);
}

TEST(template, of_pods_on_any_node_in_any_state_is_the_same)
{
    struct templates t = {0};
    show(&t, first);
    show(&t, first);
    EXPECT(show(&t, (struct story){"b", "i:1", "another-node", "mine", "Running"}));
    EXPECT(show(&t, (struct story){"b", "i:1", NULL, "mine", "Pending"}));
    EXPECT(show(&t, (struct story){"c", "i:1", "n1", "mine", NULL}));
    EXPECT(!show(&t, (struct story){"a", "i:2", "n1", "mine", "Running"}));
    EXPECT(!show(&t, (struct story){"a", "i:1", "n1", "others", "Running"}));
    EXPECT(show(&t, first));
    templates_done(&t);
}

TEST(template, places_are_few_and_each_keeps_the_last_that_came_twice)
{
    struct templates t = {0};
    char image[16];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3 * TEMPLATE_PLACES; i++) {
            snprintf(image, sizeof(image), "i:%d", i);
            struct story s = {"a", image, "n1", "mine", "Running"};
            show(&t, s);
            show(&t, s);
            EXPECT(show(&t, s));
        }
    templates_done(&t);
}

TEST(template, only_pods_in_protobuf_with_one_spec_have_one)
{
    AUTO(buf) bytes = {0};
    AUTO(arena) mem = {0};
    struct templates t = {0};
    struct object object;
    show(&t, first);
    show(&t, first);
    struct envelope v = pod_of(&first, &bytes);
    v.kind = STR("Node");
    EXPECT(!templates_read(&t, &v, &mem, &object));
    v = pod_of(&first, &bytes);
    v.raw.n -= 1; /* cut off */
    EXPECT(!templates_read(&t, &v, &mem, &object));
    v = (struct envelope){ENCODING_JSON, STR("v1"), STR("Pod"), STR("{}")};
    EXPECT(!templates_read(&t, &v, &mem, &object));
    pod_of(&first, &bytes);
    size_t spec = proto_open(&bytes, 2); /* one more, to be merged */
    put(&bytes, 19, "another");
    proto_close(&bytes, spec);
    v = (struct envelope){ENCODING_PROTO, STR("v1"), STR("Pod"), buf_str(&bytes)};
    EXPECT(!templates_read(&t, &v, &mem, &object));
    templates_keep(&t);
    v.raw = (struct str){0};
    EXPECT(!templates_read(&t, &v, &mem, &object));
    templates_keep(&t);
    templates_done(&t);
}
