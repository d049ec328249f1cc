/* Bodies as upstream's own serializers write them (bodies/: the same object in protobuf and in
 * JSON, at random and as a cluster has them) must be read alike from both. */

#include "core/model/envelope.h"

#include <dirent.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/vec.h"
#include "core/wire/frames.h"
#include "support/test.h"

#define BODIES "tests/unit/core/model/bodies" /* tests run in the repository's root */

static struct str body_of(const char *name, const char *ending, struct arena *mem)
{
    struct str path = arena_printf(mem, BODIES "/%s.%s", name, ending);
    FILE *file = fopen(path.p, "rb");
    assert(file);
    char *bytes = arena_alloc(mem, 1 << 16);
    size_t n = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    return (struct str){bytes, n};
}

static const struct {
    enum encoding encoding;
    const char *ending;
} ways[] = {
    {ENCODING_PROTO, "pb"},
    {ENCODING_JSON, "json"},
};

/* --- the same, field by field --- */

typedef LIST(const char) any_list;

static any_list list_at(const char *at)
{
    any_list list;
    memcpy(&list, at, sizeof(list));
    return list;
}

static const char *pointer_at(const char *at)
{
    const char *pointer;
    memcpy(&pointer, at, sizeof(pointer));
    return pointer;
}

/* The rows that were there in some body. */
struct rows {
    VEC(const struct field *) seen;
};

static bool is_seen(const struct rows *rows, const struct field *f)
{
    vec_each(&rows->seen, row) {
        if (*row == f)
            return true;
    }
    return false;
}

/* How many rows of a table were never there. */
static uint32_t count_unseen(const struct rows *rows, const struct field *fields)
{
    uint32_t unseen = 0;
    for (const struct field *f = fields; f->name.p; f++) {
        if (!is_seen(rows, f)) {
            printf("# no body has " STR_FMT "\n", STR_ARG(f->name));
            unseen++;
        }
        if (f->type == FIELD_MESSAGE)
            unseen += count_unseen(rows, f->fields);
    }
    return unseen;
}

static bool message_equal(const struct field *fields, const char *a, const char *b,
                          struct rows *rows);

static bool one_equal(const struct field *f, const char *a, const char *b, struct rows *rows)
{
    switch ((enum field_type)f->type) {
    case FIELD_STR:
    case FIELD_RAW:
        return str_equal(*(const struct str *)a, *(const struct str *)b);
    case FIELD_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case FIELD_INT32:
        return *(const int32_t *)a == *(const int32_t *)b;
    case FIELD_INT64:
    case FIELD_TIME:
        return *(const int64_t *)a == *(const int64_t *)b;
    case FIELD_SCALAR: {
        const struct quantity *x = (const void *)a, *y = (const void *)b;
        return f->scalar == &quantity_scalar && x->nano == y->nano && x->scale == y->scale &&
               x->is_big == y->is_big;
    }
    case FIELD_MESSAGE:
        return message_equal(f->fields, a, b, rows);
    }
    return false;
}

static bool lists_equal(const struct field *f, any_list a, any_list b, struct rows *rows)
{
    if (a.n != b.n)
        return false;
    for (uint32_t i = 0; i < a.n; i++) {
        if (!one_equal(f, a.at + (size_t)i * f->size, b.at + (size_t)i * f->size, rows))
            return false;
    }
    return true;
}

/* Absent, or the zero of its type: then it proves nothing. */
static bool is_zero(const struct field *f, const char *at)
{
    static const char zero[64];
    if (f->type == FIELD_TIME && f->shape == FIELD_ONE)
        return *(const int64_t *)at == FIELD_TIME_NONE;
    if (f->type == FIELD_STR && f->shape == FIELD_ONE)
        return ((const struct str *)at)->n == 0;
    size_t size = f->shape != FIELD_ONE      ? sizeof(void *)
                  : f->type == FIELD_BOOL    ? sizeof(bool)
                  : f->type == FIELD_INT32   ? sizeof(int32_t)
                  : f->type == FIELD_SCALAR  ? sizeof(__int128)
                  : f->type == FIELD_MESSAGE ? 0
                                             : sizeof(int64_t);
    return size && !memcmp(at, zero, size);
}

static bool field_equal(const struct field *f, const char *a, const char *b, struct rows *rows)
{
    if (f->has_offset && *(const bool *)(a + f->has_offset) != *(const bool *)(b + f->has_offset))
        return false;
    a += f->offset;
    b += f->offset;
    if (!is_zero(f, a) && !is_seen(rows, f))
        vec_push(&rows->seen, f);
    if (f->shape == FIELD_ONE)
        return one_equal(f, a, b, rows);
    if (f->shape != FIELD_POINTER)
        return lists_equal(f, list_at(a), list_at(b), rows);
    const char *x = pointer_at(a), *y = pointer_at(b);
    return x && y ? one_equal(f, x, y, rows) : x == y;
}

static bool message_equal(const struct field *fields, const char *a, const char *b,
                          struct rows *rows)
{
    for (const struct field *f = fields; f->name.p; f++) {
        if (!field_equal(f, a, b, rows)) {
            printf("# differs: " STR_FMT "\n", STR_ARG(f->name));
            return false;
        }
    }
    return true;
}

static bool read_body(const char *name, size_t way, struct arena *mem, struct object *out)
{
    struct error e = {0};
    struct envelope v;
    struct str body = body_of(name, ways[way].ending, mem);
    bool is_read =
        envelope_read(ways[way].encoding, body, mem, &v, &e) && envelope_object(&v, mem, out, &e);
    EXPECT_TEXT(e.text, "");
    return is_read && EXPECT(out->kind != KIND_NONE);
}

static void compare_body(const char *name, struct rows *rows)
{
    struct arena mem = {0};
    struct object objects[LEN(ways)];
    test_case("%s", name);
    if (read_body(name, 0, &mem, &objects[0]) && read_body(name, 1, &mem, &objects[1])) {
        EXPECT_INT(objects[0].kind, objects[1].kind);
        EXPECT(message_equal(kind_info_get(objects[0].kind)->fields, (const char *)objects[0].meta,
                             (const char *)objects[1].meta, rows));
    }
    arena_done(&mem);
}

TEST(envelope, objects_are_the_same_in_protobuf_and_json)
{
    DIR *folder = opendir(BODIES);
    REQUIRE(folder);
    struct rows rows = {0};
    for (struct dirent *file; (file = readdir(folder));) {
        struct str name = str_of(file->d_name);
        bool is_object = str_ends(name, STR(".pb")) && !str_starts(name, STR("list-")) &&
                         !str_starts(name, STR("status")) && !str_starts(name, STR("watch"));
        if (!is_object)
            continue;
        char stem[64];
        snprintf(stem, sizeof(stem), STR_FMT, STR_ARG(str_part(name, 0, name.n - 3)));
        compare_body(stem, &rows);
    }
    closedir(folder);
    uint32_t unseen = 0;
    for (int kind = KIND_NONE + 1; kind <= KIND_POD_GROUP; kind++)
        if (!kind_info_get((enum kind)kind)->is_custom)
            unseen += count_unseen(&rows, kind_info_get((enum kind)kind)->fields);
    EXPECT(rows.seen.n > 150 && unseen * 20 < rows.seen.n); /* else the comparison says little */
    vec_done(&rows.seen);
}

TEST(envelope, a_pod_is_read_as_it_was_written)
{
    struct arena mem = {0};
    for (size_t way = 0; way < LEN(ways); way++) {
        struct object object;
        REQUIRE(read_body("pod-real", way, &mem, &object));
        const struct pod *pod = object.pod;
        EXPECT_STR(pod->meta.namespace, "production");
        EXPECT_INT(pod->meta.created_ms, 1785578400000);
        EXPECT_INT(pod->meta.deleted_ms, TIME_NONE);
        EXPECT_INT(pod->meta.owners.n, 1);
        EXPECT(pod->meta.owners.at[0].is_controller);
        EXPECT(pod->spec.has_priority && pod->spec.priority == 0);
        EXPECT(!pod->spec.has_host_users);
        EXPECT_STR(pod->spec.volumes.at[1].claim->claim_name, "service-data");
        EXPECT_INT(quantity_milli(pod->spec.containers.at[1].resources.requests.at[0].quantity),
                   250);
        EXPECT_INT(pod->status.conditions.n, 5);
    }
    arena_done(&mem);
}

TEST(envelope, a_kind_that_we_do_not_read_is_left_alone)
{
    struct arena mem = {0};
    struct error e = {0};
    struct envelope v;
    struct object object;
    struct str body = STR("{\"apiVersion\":\"example.com/v1\",\"kind\":\"Pod\",\"spec\":7}");
    REQUIRE(envelope_read(ENCODING_JSON, body, &mem, &v, &e));
    REQUIRE(envelope_object(&v, &mem, &object, &e));
    EXPECT_INT(object.kind, KIND_NONE);
    arena_done(&mem);
}

static const char *refusal_of_body(enum encoding encoding, struct str body, struct error *e)
{
    struct arena mem = {0};
    struct envelope v;
    struct object object;
    *e = (struct error){0};
    if (envelope_read(encoding, body, &mem, &v, e))
        EXPECT(!envelope_object(&v, &mem, &object, e));
    arena_done(&mem);
    return e->text;
}

TEST(envelope, what_is_wrong_with_a_body_is_said)
{
    static const struct {
        enum encoding encoding;
        struct str body;
        const char *wrong;
    } cases[] = {
        {ENCODING_NONE, {"<html>", 6}, "the body is neither JSON nor protobuf"},
        {ENCODING_PROTO, {"", 0}, "the body does not begin as Kubernetes' protobuf"},
        {ENCODING_PROTO, {"k8s\0\x0a\x7f", 6}, "field 1 does not end where its message ends"},
        {ENCODING_PROTO,
         {"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x05\x12\x03\x0a\x01\x0a", 22},
         "Pod: spec.volumes[0]: field 1 does not end where its message ends"},
        {ENCODING_JSON, {"[]", 2}, "[] is not an object"},
    };
    struct error e;
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("case %zu", i);
        EXPECT_TEXT(refusal_of_body(cases[i].encoding, cases[i].body, &e), cases[i].wrong);
    }
}

/* --- lists --- */

static bool read_list(const char *name, size_t way, struct arena *mem, struct listing *out)
{
    struct error e = {0};
    struct envelope v;
    struct str body = body_of(name, ways[way].ending, mem);
    bool is_read =
        envelope_read(ways[way].encoding, body, mem, &v, &e) && listing_read(&v, mem, out, &e);
    EXPECT_TEXT(e.text, "");
    return is_read;
}

TEST(listing, items_come_one_by_one)
{
    struct arena mem = {0};
    for (size_t way = 0; way < LEN(ways); way++) {
        struct listing l;
        struct error e;
        REQUIRE(read_list("list-pods", way, &mem, &l));
        EXPECT_STR(l.resource_version, "4711");
        EXPECT_STR(l.next, "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ");
        EXPECT_INT(l.remaining, 1234);
        char name[] = "p0";
        for (; listing_next(&l, &e); name[1]++) {
            struct object object;
            REQUIRE(envelope_object(&l.item, &mem, &object, &e));
            EXPECT_INT(object.kind, KIND_POD);
            EXPECT_STR(object.meta->name, name);
            EXPECT_STR(object.pod->spec.node_name, "n1");
        }
        EXPECT_INT(e.kind, ERROR_NONE);
        EXPECT_TEXT(name, "p3");
    }
    arena_done(&mem);
}

TEST(listing, an_empty_list_has_no_items)
{
    struct arena mem = {0};
    for (size_t way = 0; way < LEN(ways); way++) {
        struct listing l;
        struct error e;
        REQUIRE(read_list("list-empty", way, &mem, &l));
        EXPECT_STR(l.resource_version, "1");
        EXPECT_STR(l.next, "");
        EXPECT(!listing_next(&l, &e) && e.kind == ERROR_NONE);
    }
    arena_done(&mem);
}

TEST(listing, what_is_no_list_is_refused)
{
    static const struct {
        const char *body, *wrong;
    } cases[] = {
        {"{\"kind\":\"Pod\"}", "\"Pod\" is no list"},
        {"{\"kind\":\"PodList\",\"items\":7}", "items: is not a list"},
        {"{\"kind\":\"PodList\",\"metadata\":7}", "PodList: metadata: 7 is not an object"},
    };
    struct arena mem = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        struct envelope v;
        struct listing l;
        struct error e = {0};
        REQUIRE(envelope_read(ENCODING_JSON, str_of(cases[i].body), &mem, &v, &e));
        EXPECT(!listing_read(&v, &mem, &l, &e));
        EXPECT_TEXT(e.text, cases[i].wrong);
    }
    arena_done(&mem);
}

/* --- watches --- */

static void add_event(const struct watch_event *event, struct arena *mem, struct buf *story)
{
    static const char *const names[] = {"+", "~", "-", "mark ", "error "};
    struct error e = {0};
    struct bookmark mark;
    struct status status;
    struct object object;
    buf_printf(story, "%s", names[event->type]);
    if (event->type == WATCH_BOOKMARK) {
        REQUIRE(bookmark_read(&event->object, mem, &mark, &e));
        buf_printf(story, STR_FMT "%s", STR_ARG(mark.resource_version),
                   mark.ends_initial ? " all" : "");
    } else if (event->type == WATCH_ERROR) {
        REQUIRE(status_read(&event->object, mem, &status, &e));
        buf_printf(story, "%d " STR_FMT, status.code, STR_ARG(status.reason));
    } else {
        REQUIRE(envelope_object(&event->object, mem, &object, &e));
        buf_printf(story, STR_FMT "@" STR_FMT, STR_ARG(object.meta->name),
                   STR_ARG(object.meta->resource_version));
    }
    buf_add(story, STR("; "));
}

/* The watch in bodies/, arriving in pieces of `size` bytes. */
static void watch_in_pieces(size_t way, size_t size)
{
    struct arena mem = {0};
    struct buf story = {0};
    struct str stream = body_of("watch", ways[way].ending, &mem);
    AUTO(frames) f = {.encoding = ways[way].encoding, .frame_most = 4096};
    for (size_t at = 0; at < stream.n; at += size) {
        struct str frame;
        struct error e = {0};
        frames_put(&f, str_part(stream, at, at + size));
        while (frames_next(&f, &frame, &e)) {
            struct watch_event event;
            REQUIRE(watch_event_read(f.encoding, frame, &mem, &event, &e));
            add_event(&event, &mem, &story);
        }
        EXPECT_INT(e.kind, ERROR_NONE);
    }
    EXPECT_TEXT(story.p, "+p0@100; +p1@101; mark 110 all; ~p2@102; -p0@100; mark 120; "
                         "error 410 Expired; ");
    buf_done(&story);
    arena_done(&mem);
}

TEST(envelope, a_watch_is_read_in_pieces_of_any_size)
{
    for (size_t way = 0; way < LEN(ways); way++) {
        for (size_t size = 1; size < 2000; size = size * 3 / 2 + 1) {
            test_case("%s, %zu bytes a piece", ways[way].ending, size);
            watch_in_pieces(way, size);
        }
    }
}

TEST(envelope, an_event_of_an_unknown_type_is_refused)
{
    struct arena mem = {0};
    struct watch_event event;
    struct error e = {0};
    EXPECT(!watch_event_read(ENCODING_JSON, STR("{\"type\":\"MOVED\",\"object\":{}}"), &mem, &event,
                             &e));
    EXPECT_TEXT(e.text, "watch event: type \"MOVED\" is not known");
    EXPECT(!watch_event_read(ENCODING_PROTO,
                             STR("\x0a\x05"
                                 "ADDED"),
                             &mem, &event, &e));
    EXPECT_TEXT(e.text, "watch event: object: the body does not begin as Kubernetes' protobuf");
    arena_done(&mem);
}

TEST(envelope, a_refusal_says_why_and_when_to_ask_again)
{
    struct arena mem = {0};
    for (size_t way = 0; way < LEN(ways); way++) {
        struct error e = {0};
        struct envelope v;
        struct status s;
        struct str body = body_of("status", ways[way].ending, &mem);
        REQUIRE(envelope_read(ways[way].encoding, body, &mem, &v, &e));
        REQUIRE(status_read(&v, &mem, &s, &e));
        EXPECT_INT(s.code, 403);
        EXPECT_STR(s.reason, "Forbidden");
        EXPECT(str_starts(s.message, STR("pods \"a\" is forbidden")));
        EXPECT_INT(s.retry_after_seconds, 7);
        REQUIRE(s.causes.n == 1);
        EXPECT_STR(s.causes.at[0].reason, "NamespaceTerminating");
        v.kind = STR("Pod");
        EXPECT(!status_read(&v, &mem, &s, &e));
        EXPECT_TEXT(e.text, "\"Pod\" is no Status");
    }
    arena_done(&mem);
}
