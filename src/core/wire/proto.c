/* One pass over the bytes, but for lists, whose elements are counted first, so that each run of
 * them is allocated once. The path to a value is put together only when an error travels up. */

#include "core/wire/proto.h"

#include <inttypes.h>

#include "core/wire/entries.h"
#include "core/wire/path.h"

/* What a message may take of the arena: a fixed part, and so much for each of its bytes. */
enum { MEMORY_FREE = 1 << 20, MEMORY_PER_BYTE = 32 };

/* Years 1 to 9999, as upstream's Timestamp promises. */
#define SECONDS_LEAST (-62135596800)
#define SECONDS_MOST  253402300799

struct cursor {
    const char *at, *end;
};

struct reader {
    struct arena *mem;
    size_t memory_most;
    struct error *e;
    unsigned depth;
    unsigned step; /* the path is path[step], …: filled from its end */
    struct path_step path[2 * PROTO_DEPTH_MOST];
};

static struct cursor cursor_on(struct str bytes)
{
    const char *start = bytes.n ? bytes.p : "";
    return (struct cursor){start, start + bytes.n};
}

static bool take_long_varint(struct cursor *in, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        uint64_t byte = (unsigned char)*in->at++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

static inline bool take_varint(struct cursor *in, uint64_t *out)
{
    if (LIKELY(in->at < in->end && (unsigned char)*in->at < 0x80)) {
        *out = (unsigned char)*in->at++;
        return true;
    }
    return take_long_varint(in, out);
}

/* A number of 4 or 8 bytes. */
static bool take_fixed(struct cursor *in, size_t bytes, uint64_t *out)
{
    if ((size_t)(in->end - in->at) < bytes)
        return false;
    *out = 0;
    memcpy(out, in->at, bytes);
    in->at += bytes;
    return true;
}

static inline bool take_bytes(struct cursor *in, struct str *out)
{
    uint64_t n;
    if (!take_varint(in, &n) || n > (size_t)(in->end - in->at))
        return false;
    *out = (struct str){in->at, n};
    in->at += n;
    return true;
}

/* The next field; what is wrong with it, or NULL. */
static inline const char *take(struct cursor *in, struct proto_value *v)
{
    uint64_t tag;
    v->number = 0;
    if (!take_varint(in, &tag) || tag > UINT32_MAX || tag < 8)
        return "has no number";
    v->number = (uint32_t)tag >> 3;
    v->wire = tag & 7;
    bool is_whole = false;
    switch (v->wire) {
    case PROTO_VARINT:
        is_whole = take_varint(in, &v->bits);
        break;
    case PROTO_64:
        is_whole = take_fixed(in, 8, &v->bits);
        break;
    case PROTO_BYTES:
        is_whole = take_bytes(in, &v->bytes);
        break;
    case PROTO_32:
        is_whole = take_fixed(in, 4, &v->bits);
        break;
    default:
        return "is of a type that Kubernetes does not use";
    }
    return is_whole ? NULL : "does not end where its message ends";
}

static bool fail(struct reader *r, const char *wrong)
{
    return error_set(r->e, ERROR_INVALID, "%s", wrong);
}

static bool fail_field(struct reader *r, uint32_t number, const char *wrong)
{
    return error_set(r->e, ERROR_INVALID, "field %u %s", number, wrong);
}

/* An error on its way up passes this step. */
static bool pass(struct reader *r, struct path_step step)
{
    assert(r->step > 0);
    r->path[--r->step] = step;
    return false;
}

static void *allocate(struct reader *r, size_t bytes)
{
    if (r->mem->used_bytes + bytes > r->memory_most) {
        error_set(r->e, ERROR_INVALID, "needs more than %zu bytes of memory", r->memory_most);
        return NULL;
    }
    return arena_alloc(r->mem, bytes);
}

static bool read_time(struct reader *r, struct str bytes, int64_t *out)
{
    int64_t part[3] = {0}; /* by number */
    for (struct cursor in = cursor_on(bytes); in.at < in.end;) {
        struct proto_value v;
        const char *wrong = take(&in, &v);
        if (wrong)
            return fail_field(r, v.number, wrong);
        if (v.number < LEN(part) && v.wire == PROTO_VARINT)
            part[v.number] = (int64_t)v.bits;
    }
    int64_t seconds = part[1], nanos = part[2];
    if (seconds < SECONDS_LEAST || seconds > SECONDS_MOST || nanos < 0 || nanos > 999999999)
        return fail(r, "is not a time");
    *out = bytes.n ? seconds * 1000 + nanos / 1000000 : FIELD_TIME_NONE;
    return true;
}

/* The text of a quantity or an int-or-string. */
static bool scalar_text(struct reader *r, struct str bytes, struct str *out)
{
    bool is_number = false;
    int32_t number = 0;
    for (struct cursor in = cursor_on(bytes); in.at < in.end;) {
        struct proto_value v;
        const char *wrong = take(&in, &v);
        if (wrong)
            return fail_field(r, v.number, wrong);
        if (v.wire == PROTO_BYTES && (v.number == 1 || v.number == 3))
            *out = v.bytes;
        else if (v.wire == PROTO_VARINT && v.number == 1)
            is_number = v.bits == 0;
        else if (v.wire == PROTO_VARINT && v.number == 2)
            number = (int32_t)v.bits;
    }
    if (is_number)
        *out = arena_printf(r->mem, "%" PRId32, number);
    return true;
}

static bool read_scalar(struct reader *r, const struct field_scalar *scalar, struct str bytes,
                        void *out)
{
    struct str text = {0};
    if (!scalar_text(r, bytes, &text))
        return false;
    if (bytes.n == 0) /* the zero of its type, as it stands in `out` */
        return true;
    const char *wrong = text.n > PROTO_STRING_MOST ? "is too long" : scalar->read(text, out);
    return !wrong || error_set(r->e, ERROR_INVALID, "\"" STR_FMT "\" %s",
                               STR_ARG(str_part(text, 0, 60)), wrong);
}

static bool read_message(struct reader *r, const struct field *fields, struct str bytes, char *out);

/* One value: the field's own, or an element of its list. */
static bool read_one(struct reader *r, const struct field *f, const struct proto_value *v,
                     void *out)
{
    bool is_number = f->type == FIELD_BOOL || f->type == FIELD_INT32 || f->type == FIELD_INT64;
    if (v->wire != (is_number ? PROTO_VARINT : PROTO_BYTES))
        return fail(r, is_number ? "is not a number" : "is a number");
    switch ((enum field_type)f->type) {
    case FIELD_BOOL:
        *(bool *)out = v->bits != 0;
        return true;
    case FIELD_INT32:
        *(int32_t *)out = (int32_t)v->bits;
        return true;
    case FIELD_INT64:
        *(int64_t *)out = (int64_t)v->bits;
        return true;
    case FIELD_STR:
        *(struct str *)out = v->bytes;
        return v->bytes.n <= PROTO_STRING_MOST || fail(r, "is too long");
    case FIELD_RAW:
        *(struct str *)out = v->bytes;
        return true;
    case FIELD_TIME:
        return read_time(r, v->bytes, out);
    case FIELD_SCALAR:
        return read_scalar(r, f->scalar, v->bytes, out);
    case FIELD_MESSAGE:
        return read_message(r, f->fields, v->bytes, out);
    }
    return false;
}

/* Numbers of a list may share one value. */
static bool is_packed(const struct field *f, const struct proto_value *v)
{
    bool is_number = f->type == FIELD_BOOL || f->type == FIELD_INT32 || f->type == FIELD_INT64;
    return is_number && v->wire == PROTO_BYTES;
}

static size_t elements_in(const struct field *f, const struct proto_value *v)
{
    if (!is_packed(f, v))
        return 1;
    size_t n = 0;
    for (size_t i = 0; i < v->bytes.n; i++)
        n += (unsigned char)v->bytes.p[i] < 0x80;
    return n;
}

/* A run of values of one field: how many there are, and how many elements they hold. */
struct run {
    size_t values, elements;
};

static struct run count_run(const struct field *f, struct proto_value v, struct cursor in)
{
    struct run run = {1, elements_in(f, &v)};
    while (in.at < in.end && !take(&in, &v) && v.number == f->number) {
        run.values++;
        run.elements += elements_in(f, &v);
    }
    return run;
}

static bool grow(struct reader *r, const struct field *f, struct entries *list, size_t more)
{
    if (list->n + more > PROTO_COUNT_MOST)
        return error_set(r->e, ERROR_INVALID, "more than %u elements", PROTO_COUNT_MOST);
    char *larger = allocate(r, (list->n + more) * f->size);
    if (!larger)
        return false;
    if (list->n)
        memcpy(larger, list->at, (size_t)list->n * f->size);
    list->at = larger;
    return true;
}

static bool read_packed(struct reader *r, const struct field *f, struct str bytes,
                        struct entries *list)
{
    for (struct cursor in = cursor_on(bytes); in.at < in.end;) {
        struct proto_value v = {.wire = PROTO_VARINT};
        if (!take_varint(&in, &v.bits))
            return fail(r, "does not end where its list ends");
        if (!read_one(r, f, &v, list->at + (size_t)list->n++ * f->size))
            return false;
    }
    return true;
}

static bool read_element(struct reader *r, const struct field *f, const struct proto_value *v,
                         struct entries *list)
{
    if (is_packed(f, v))
        return read_packed(r, f, v->bytes, list);
    char *element = list->at + (size_t)list->n * f->size;
    if (f->type == FIELD_MESSAGE)
        field_init(f->fields, element);
    if (!read_one(r, f, v, element))
        return pass(r, (struct path_step){.index = list->n, .is_index = true});
    list->n++;
    return true;
}

/* The run of values that begins with `v`, behind which `in` stands; to the end of the list. */
static bool read_run(struct reader *r, const struct field *f, struct proto_value v,
                     struct cursor *in, char *out)
{
    LIST(char) old;
    memcpy(&old, out, sizeof(old));
    struct entries list = {old.at, old.n};
    struct run run = count_run(f, v, *in);
    if (!grow(r, f, &list, run.elements) || !read_element(r, f, &v, &list))
        return false;
    for (size_t i = 1; i < run.values; i++) {
        const char *wrong = take(in, &v);
        assert(!wrong); /* it was counted */
        if (!read_element(r, f, &v, &list))
            return false;
    }
    if (f->shape == FIELD_MAP)
        entries_sort(&list, f->size, r->mem);
    LIST(char) now = {list.at, list.n};
    memcpy(out, &now, sizeof(now));
    return true;
}

/* What the pointer at `out` points to, made on first use. */
static void *target(struct reader *r, const struct field *f, char *out)
{
    void *message;
    memcpy(&message, out, sizeof(message));
    if (!message) {
        message = allocate(r, f->size);
        if (!message)
            return NULL;
        field_init(f->fields, message);
        memcpy(out, &message, sizeof(message));
    }
    return message;
}

static bool read_field(struct reader *r, const struct field *f, const struct proto_value *v,
                       struct cursor *in, char *message)
{
    char *out = message + f->offset;
    if (f->has_offset)
        *(bool *)(message + f->has_offset) = true;
    if (f->shape == FIELD_LIST || f->shape == FIELD_MAP)
        return read_run(r, f, *v, in, out);
    if (f->shape == FIELD_ONE)
        return read_one(r, f, v, out);
    void *pointed = target(r, f, out);
    return pointed && read_one(r, f, v, pointed);
}

/* The row of each number, counted from 1; 0: there is none. */
static void index_rows(const struct field *fields, uint8_t rows[static PROTO_NUMBER_MOST + 1])
{
    memset(rows, 0, PROTO_NUMBER_MOST + 1);
    for (size_t i = 0; fields[i].name.p; i++) {
        assert(i < UINT8_MAX && fields[i].number >= 1 && fields[i].number <= PROTO_NUMBER_MOST);
        rows[fields[i].number] = (uint8_t)(i + 1);
    }
}

static bool read_message(struct reader *r, const struct field *fields, struct str bytes, char *out)
{
    if (r->depth == PROTO_DEPTH_MOST)
        return fail(r, "is nested too deeply");
    r->depth++;
    uint8_t rows[PROTO_NUMBER_MOST + 1];
    index_rows(fields, rows);
    for (struct cursor in = cursor_on(bytes); in.at < in.end;) {
        struct proto_value v;
        const char *wrong = take(&in, &v);
        if (wrong)
            return fail_field(r, v.number, wrong);
        if (v.number > PROTO_NUMBER_MOST || !rows[v.number])
            continue;
        const struct field *f = &fields[rows[v.number] - 1];
        if (!read_field(r, f, &v, &in, out))
            return f->name.n ? pass(r, (struct path_step){.name = f->name}) : false;
    }
    r->depth--;
    return true;
}

bool proto_read(struct str bytes, const struct field *fields, void *out, struct arena *mem,
                struct error *e)
{
    struct reader r;
    r.mem = mem;
    r.memory_most = mem->used_bytes + MEMORY_FREE + MEMORY_PER_BYTE * bytes.n;
    r.e = e;
    r.depth = 0;
    r.step = LEN(r.path);
    field_init(fields, out);
    return read_message(&r, fields, bytes, out) ||
           path_wrap(r.path + r.step, LEN(r.path) - r.step, e);
}

bool proto_take(struct str *message, struct proto_value *out, struct error *e)
{
    *e = (struct error){0};
    struct cursor in = cursor_on(*message);
    if (in.at == in.end)
        return false;
    const char *wrong = take(&in, out);
    if (wrong)
        return error_set(e, ERROR_INVALID, "field %u %s", out->number, wrong);
    *message = (struct str){in.at, (size_t)(in.end - in.at)};
    return true;
}

static size_t print_varint(uint64_t value, char text[static 10])
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        text[n++] = (char)(value | 0x80);
    text[n++] = (char)value;
    return n;
}

static void put_varint(struct buf *out, uint64_t value)
{
    char text[10];
    buf_add_bytes(out, text, print_varint(value, text));
}

void proto_put_str(struct buf *out, uint32_t number, struct str value)
{
    if (value.n == 0)
        return;
    put_varint(out, (uint64_t)number << 3 | PROTO_BYTES);
    put_varint(out, value.n);
    buf_add(out, value);
}

void proto_put_int(struct buf *out, uint32_t number, int64_t value)
{
    put_varint(out, (uint64_t)number << 3 | PROTO_VARINT);
    put_varint(out, (uint64_t)value);
}

size_t proto_open(struct buf *out, uint32_t number)
{
    put_varint(out, (uint64_t)number << 3 | PROTO_BYTES);
    return out->n;
}

void proto_close(struct buf *out, size_t at)
{
    assert(at <= out->n);
    char text[10];
    size_t length = out->n - at, n = print_varint(length, text);
    buf_add_bytes(out, text, n); /* for the room */
    memmove(out->p + at + n, out->p + at, length);
    memcpy(out->p + at, text, n);
}
