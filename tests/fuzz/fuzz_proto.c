/* Any bytes as a body, a list, a watch, and bare objects in protobuf. Read or refused, within
 * the limits; what was read has text only inside the bytes or the arena, so that looking at it is
 * safe. */

#include "core/model/partial_pod.h"
#include "core/model/template.h"
#include "core/wire/frames.h"
#include "core/wire/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Goes through all of a message, so that a sanitizer sees every view; sums up what it finds. */
static uint64_t look_at(const struct field *fields, const char *message)
{
    uint64_t sum = 0;
    for (const struct field *f = fields; f->name.p; f++) {
        const char *at = message + f->offset;
        LIST(const char) list = {at, 1};
        if (f->shape == FIELD_POINTER)
            memcpy(&list.at, at, sizeof(list.at));
        else if (f->shape != FIELD_ONE)
            memcpy(&list, at, sizeof(list));
        for (uint32_t i = 0; list.at && i < list.n; i++) {
            const char *one = list.at + (size_t)i * f->size;
            if (f->type == FIELD_MESSAGE)
                sum += look_at(f->fields, one);
            else if (f->type == FIELD_STR)
                sum += str_hash(*(const struct str *)one);
        }
        for (uint32_t i = 1; f->shape == FIELD_MAP && i < list.n; i++) {
            const struct str *a = (const void *)(list.at + (size_t)(i - 1) * f->size);
            const struct str *b = (const void *)(list.at + (size_t)i * f->size);
            assert(str_compare(*a, *b) < 0);
        }
    }
    return sum;
}

/* A spec that was read as a whole says the same the third time, when it is known. */
static void look_at_template(const struct envelope *v, struct arena *mem, uint64_t whole)
{
    struct templates t = {0};
    struct object object;
    for (int i = 0; i < 3; i++) {
        if (templates_read(&t, v, mem, &object)) {
            assert(i == 2);
            assert(look_at(kind_info_get(KIND_POD)->fields, (const char *)object.meta) == whole);
        }
        templates_keep(&t);
    }
    templates_done(&t);
}

static uint64_t look_at_object(const struct envelope *v, struct arena *mem)
{
    struct object object;
    struct error e = {0};
    struct pod partial = {0};
    if (partial_pod_read(v, mem, &partial))
        str_hash(partial.spec.node_name);
    bool is_read = envelope_object(v, mem, &object, &e);
    assert(is_read == (e.kind == ERROR_NONE));
    if (!is_read || object.kind == KIND_NONE)
        return 0;
    uint64_t sum = look_at(kind_info_get(object.kind)->fields, (const char *)object.meta);
    look_at_template(v, mem, sum);
    return sum;
}

static void read_watch(struct str stream, struct arena *mem)
{
    struct frames f = {.encoding = ENCODING_PROTO, .frame_most = 1 << 16};
    struct error e = {0};
    struct str frame;
    for (size_t at = 0; at < stream.n && e.kind == ERROR_NONE; at += 97) {
        frames_put(&f, str_part(stream, at, at + 97));
        while (frames_next(&f, &frame, &e)) {
            struct watch_event event;
            struct bookmark mark;
            struct status status;
            struct error inner = {0};
            if (!watch_event_read(ENCODING_PROTO, frame, mem, &event, &inner))
                continue;
            if (event.type == WATCH_BOOKMARK && bookmark_read(&event.object, mem, &mark, &inner))
                str_hash(mark.resource_version);
            if (event.type == WATCH_ERROR && status_read(&event.object, mem, &status, &inner))
                str_hash(status.message);
            look_at_object(&event.object, mem);
        }
    }
    frames_done(&f);
}

static void read_body(struct str body, struct arena *mem)
{
    struct envelope v;
    struct listing l;
    struct error e = {0};
    if (!envelope_read(ENCODING_PROTO, body, mem, &v, &e))
        return;
    uint64_t sum = look_at_object(&v, mem);
    assert(sum == look_at_object(&v, mem));
    if (listing_read(&v, mem, &l, &e)) {
        while (listing_next(&l, &e))
            look_at_object(&l.item, mem);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena mem = {0};
    struct str text = {(const char *)bytes, n};
    read_body(text, &mem);
    read_watch(text, &mem);
    for (int kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) { /* without an envelope */
        const struct kind_info *info = kind_info_get((enum kind)kind);
        struct envelope v = {ENCODING_PROTO, str_of(info->api_version), str_of(info->name), text};
        arena_reset(&mem);
        look_at_object(&v, &mem);
        assert(mem.used_bytes <= ((size_t)1 << 20) + 64 * n + 65536);
    }
    arena_done(&mem);
    return 0;
}
