#include "core/model/partial_pod.h"

#include "core/wire/field.h"
#include "core/wire/proto.h"
#include "support/test.h"

/* A pod as a server sends it. NULL: left out. */
struct story {
    const char *uid, *node, *labels, *zone, *annotations, *owner, *phase, *allocated, *image;
    int64_t generation, version;
};

static void put(struct buf *out, uint32_t number, const char *text)
{
    proto_put_str(out, number, str_of(text ? text : ""));
}

static void put_inside(struct buf *out, uint32_t number, uint32_t inner, const char *text)
{
    if (!text)
        return;
    size_t at = proto_open(out, number);
    put(out, inner, text);
    proto_close(out, at);
}

static void put_meta(struct buf *out, const struct story *s)
{
    char version[24] = {(char)('0' + s->version % 10)};
    size_t meta = proto_open(out, 1);
    put(out, 1, "p");
    put(out, 3, "default");
    put(out, 5, s->uid);
    put(out, 6, version);
    if (s->generation)
        proto_put_int(out, 7, s->generation);
    put_inside(out, 11, 1, s->labels);
    put_inside(out, 11, 1, s->zone);
    put_inside(out, 12, 1, s->annotations);
    put_inside(out, 13, 3, s->owner);
    proto_close(out, meta);
}

static void put_status(struct buf *out, const struct story *s)
{
    size_t status = proto_open(out, 3);
    put(out, 1, s->phase);
    put_inside(out, 2, 1, "Ready");
    size_t container = proto_open(out, 8);
    put(out, 1, "main");
    put(out, 7, s->phase); /* of nobody's interest */
    put_inside(out, 10, 1, s->allocated);
    proto_close(out, container);
    proto_close(out, status);
}

static struct envelope pod_of(const struct story *s, struct buf *out)
{
    buf_clear(out);
    put_meta(out, s);
    size_t spec = proto_open(out, 2);
    put_inside(out, 2, 2, s->image);
    put(out, 10, s->node);
    put(out, 19, "mine");
    proto_close(out, spec);
    put_status(out, s);
    return (struct envelope){ENCODING_PROTO, STR("v1"), STR("Pod"), buf_str(out)};
}

static uint64_t digest_of(struct story s)
{
    AUTO(buf) bytes = {0};
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    struct envelope v = pod_of(&s, &bytes);
    EXPECT(partial_pod_read(&v, &mem, &pod));
    EXPECT(pod.is_partial);
    return pod.digest;
}

static const struct story first = {.uid = "u",
                                   .labels = "app",
                                   .annotations = "note",
                                   .owner = "set",
                                   .phase = "Pending",
                                   .allocated = "cpu",
                                   .image = "i",
                                   .generation = 1,
                                   .version = 1};

TEST(partial_pod, news_that_is_no_news_of_the_spec_keeps_the_digest)
{
    uint64_t digest = digest_of(first);
    struct story bound = first;
    bound.node = "n1";
    bound.zone = "topology.kubernetes.io/zone";
    bound.phase = "Running";
    bound.version = 2;
    EXPECT(digest != 0 && digest_of(bound) == digest);
    struct story others[] = {first, first, first, first, first, first};
    others[0].uid = "v";
    others[1].generation = 2;
    others[2].annotations = "other";
    others[3].owner = NULL;
    others[4].allocated = "memory";
    others[5].labels = "queue";
    for (size_t i = 0; i < LEN(others); i++) {
        test_case("%zu", i);
        EXPECT(digest_of(others[i]) != digest);
    }
}

TEST(partial_pod, servers_that_count_no_generations_have_no_digest)
{
    struct story old = first;
    old.generation = 0;
    EXPECT_INT(digest_of(old), 0);
}

TEST(partial_pod, reads_what_happens_to_a_pod)
{
    AUTO(buf) bytes = {0};
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    struct story s = first;
    s.node = "n1";
    struct envelope v = pod_of(&s, &bytes);
    REQUIRE(partial_pod_read(&v, &mem, &pod));
    EXPECT_STR(pod.meta.name, "p");
    EXPECT_STR(pod.meta.namespace, "default");
    EXPECT_STR(pod.meta.uid, "u");
    EXPECT_STR(pod.meta.resource_version, "1");
    EXPECT_STR(pod.meta.labels.at[0].key, "app");
    EXPECT_INT(pod.meta.deleted_ms, TIME_NONE);
    EXPECT_STR(pod.spec.node_name, "n1");
    EXPECT_STR(pod.spec.scheduler_name, "mine");
    EXPECT_STR(pod.status.phase, "Pending");
    EXPECT_STR(pod.status.conditions.at[0].type, "Ready");
    EXPECT_INT(pod.spec.containers.n, 0);
}

TEST(partial_pod, a_pod_read_as_a_whole_has_the_same_digest)
{
    AUTO(buf) bytes = {0};
    AUTO(arena) mem = {0};
    struct error e;
    struct object object;
    struct envelope v = pod_of(&first, &bytes);
    REQUIRE(envelope_object(&v, &mem, &object, &e));
    EXPECT(object.pod->digest == digest_of(first) && !object.pod->is_partial);
}

TEST(partial_pod, only_pods_that_can_be_read_are_looked_at)
{
    AUTO(buf) bytes = {0};
    AUTO(arena) mem = {0};
    struct pod pod = {0};
    struct envelope v = pod_of(&first, &bytes);
    v.kind = STR("Node");
    EXPECT(!partial_pod_read(&v, &mem, &pod));
    v.kind = STR("Pod");
    v.raw.n -= 3;
    EXPECT(!partial_pod_read(&v, &mem, &pod));
}

/* The digest of a pod with one field more in its metadata (1) or status (3). */
static uint64_t digest_with(uint32_t part, uint32_t number)
{
    AUTO(buf) bytes = {0};
    size_t at = proto_open(&bytes, part);
    if (number)
        put_inside(&bytes, number, 1, "x");
    proto_close(&bytes, at);
    struct envelope v = {ENCODING_PROTO, STR("v1"), STR("Pod"), buf_str(&bytes)};
    struct pod pod = {.meta.generation = 1};
    return partial_pod_digest(&v, &pod);
}

/* Whoever adds a field to the table of pods has it in one of the two. */
TEST(partial_pod, what_is_read_of_a_pod_is_in_the_partial_pod_or_counts_in_the_digest)
{
    static const struct {
        uint32_t part;
        uint64_t read_partial; /* or, as creation and finalizers, of no use later */
    } parts[] = {
        {1, PROTO_FIELD(1) | PROTO_FIELD(3) | PROTO_FIELD(6) | PROTO_FIELD(7) | PROTO_FIELD(8) |
                PROTO_FIELD(9) | PROTO_FIELD(14)},
        {3, PROTO_FIELD(1) | PROTO_FIELD(2) | PROTO_FIELD(7) | PROTO_FIELD(11)},
    };
    for (size_t i = 0; i < LEN(parts); i++) {
        const struct field *f = kind_info_get(KIND_POD)->fields;
        while (f->number != parts[i].part)
            f++;
        for (const struct field *inner = f->fields; inner->name.p; inner++) {
            test_case("%u.%u", parts[i].part, inner->number);
            bool counts =
                digest_with(parts[i].part, inner->number) != digest_with(parts[i].part, 0);
            EXPECT(counts != (parts[i].read_partial >> inner->number & 1));
        }
    }
}
