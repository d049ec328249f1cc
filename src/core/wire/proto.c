/* One pass over the bytes, but for lists, whose elements are counted first, so that each run of
 * them is allocated once. The path to a value is put together only when an error travels up. */

#include "core/wire/proto.h"

#include <inttypes.h>

#include "core/base/hash.h"
#include "core/wire/entries.h"
#include "core/wire/path.h"

/* What a message may take of the arena: a fixed part, and so much for each of its bytes. */
enum { MEMORY_FREE = 1 << 20, MEMORY_PER_BYTE = 32 };

/* Years 1 to 9999, as upstream's Timestamp promises. */
#define SECONDS_LEAST (-62135596800)
#define SECONDS_MOST  253402300799

struct reader {
    struct arena *mem;
    size_t memory_most;
    struct error *e;
    unsigned depth;
    unsigned step; /* the path is path[step], …: filled from its end */
    struct path_step path[2 * PROTO_DEPTH_MOST];
};

/* A table with the row of each number, counted from 1; 0: there is none. */
struct table {
    const struct field *fields;
    uint8_t rows[PROTO_NUMBER_MOST + 1];
};

static void index_table(struct table *t, const struct field *fields)
{
    t->fields = fields;
    memset(t->rows, 0, sizeof(t->rows));
    for (uint8_t i = 1; fields->name.p; fields++, i++) {
        assert(fields->number - 1u < PROTO_NUMBER_MOST);
        t->rows[fields->number] = i;
    }
}

/* What follows is read from `at` and gives where to go on; NULL: it does not end before `end`. */

static const char *take_long_varint(const char *at, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint64_t byte = (unsigned char)*at++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return at;
        }
    }
    return NULL;
}

static inline const char *take_varint(const char *at, const char *end, uint64_t *out)
{
    if (UNLIKELY(at == end || (unsigned char)*at >= 0x80))
        return take_long_varint(at, end, out);
    *out = (unsigned char)*at;
    return at + 1;
}

/* A number of 4 or 8 bytes. */
static const char *take_fixed(const char *at, const char *end, size_t bytes, uint64_t *out)
{
    if ((size_t)(end - at) < bytes)
        return NULL;
    *out = 0;
    memcpy(out, at, bytes);
    return at + bytes;
}

static inline const char *take_bytes(const char *at, const char *end, struct str *out)
{
    uint64_t n;
    at = take_varint(at, end, &n);
    if (!at || n > (size_t)(end - at))
        return NULL;
    *out = (struct str){at, n};
    return at + n;
}

static const char *take_number(const char *at, const char *end, struct proto_value *v)
{
    switch (v->wire) {
    case PROTO_VARINT:
        return take_varint(at, end, &v->bits);
    case PROTO_64:
        return take_fixed(at, end, 8, &v->bits);
    case PROTO_32:
        return take_fixed(at, end, 4, &v->bits);
    default:
        return NULL;
    }
}

static inline const char *take(const char *at, const char *end, struct proto_value *v)
{
    uint64_t tag;
    at = take_varint(at, end, &tag);
    if (UNLIKELY(!at || tag < 8 || tag > UINT32_MAX)) {
        v->number = 0;
        return NULL;
    }
    v->number = (uint32_t)tag >> 3;
    v->wire = tag & 7;
    return LIKELY(v->wire == PROTO_BYTES) ? take_bytes(at, end, &v->bytes)
                                          : take_number(at, end, v);
}

/* Why there was nothing to take. */
static bool fail_take(const struct proto_value *v, struct error *e)
{
    static const bool is_used[8] = {
        [PROTO_VARINT] = true, [PROTO_64] = true, [PROTO_BYTES] = true, [PROTO_32] = true};
    return error_set(e, ERROR_INVALID, "field %u %s", v->number,
                     !v->number          ? "has no number"
                     : !is_used[v->wire] ? "is of a type that Kubernetes does not use"
                                         : "does not end where its message ends");
}

static bool fail(struct reader *r, const char *wrong)
{
    return error_set(r->e, ERROR_INVALID, "%s", wrong);
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
    const char *end = bytes.p + bytes.n;
    for (const char *at = bytes.p; at < end;) {
        struct proto_value v;
        at = take(at, end, &v);
        if (!at)
            return fail_take(&v, r->e);
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
    const char *end = bytes.p + bytes.n;
    for (const char *at = bytes.p; at < end;) {
        struct proto_value v;
        at = take(at, end, &v);
        if (!at)
            return fail_take(&v, r->e);
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

static bool read_message(struct reader *r, const struct table *t, struct str bytes, char *out);

static bool is_number(const struct field *f)
{
    return f->type == FIELD_BOOL || f->type == FIELD_INT32 || f->type == FIELD_INT64;
}

/* A message on its own, not one of many with the same table. */
static bool read_single(struct reader *r, const struct field *fields, struct str bytes, char *out)
{
    struct table t;
    index_table(&t, fields);
    return read_message(r, &t, bytes, out);
}

/* One value: the field's own, or an element of its list. */
static bool read_one(struct reader *r, const struct field *f, const struct proto_value *v,
                     void *out)
{
    if (UNLIKELY(v->wire != (is_number(f) ? PROTO_VARINT : PROTO_BYTES)))
        return fail(r, is_number(f) ? "is not a number" : "is a number");
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
        return read_single(r, f->fields, v->bytes, out);
    }
    return false;
}

/* Numbers of a list may share one value. */
static bool is_packed(const struct field *f, const struct proto_value *v)
{
    return v->wire == PROTO_BYTES && is_number(f);
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

static struct run count_run(const struct field *f, struct proto_value v, const char *at,
                            const char *end)
{
    struct run run = {1, elements_in(f, &v)};
    while (at < end && (at = take(at, end, &v)) && v.number == f->number) {
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
    const char *end = bytes.p + bytes.n;
    for (const char *at = bytes.p; at < end;) {
        struct proto_value v = {.wire = PROTO_VARINT};
        at = take_varint(at, end, &v.bits);
        if (!at)
            return fail(r, "does not end where its list ends");
        if (!read_one(r, f, &v, list->at + (size_t)list->n++ * f->size))
            return false;
    }
    return true;
}

/* `t` is the table of the elements, if they are messages. */
static bool read_element(struct reader *r, const struct field *f, const struct table *t,
                         const struct proto_value *v, struct entries *list)
{
    if (is_packed(f, v))
        return read_packed(r, f, v->bytes, list);
    char *element = list->at + (size_t)list->n * f->size;
    bool is_message = f->type == FIELD_MESSAGE && v->wire == PROTO_BYTES;
    if (is_message)
        field_init(f->fields, element);
    if (!(is_message ? read_message(r, t, v->bytes, element) : read_one(r, f, v, element)))
        return pass(r, (struct path_step){.index = list->n, .is_index = true});
    list->n++;
    return true;
}

/* The run of values that begins with `v`, to the end of the list; gives what follows the run, or
 * NULL. */
static const char *read_run(struct reader *r, const struct field *f, struct proto_value v,
                            const char *at, const char *end, char *out)
{
    LIST(char) old;
    memcpy(&old, out, sizeof(old));
    struct entries list = {old.at, old.n};
    struct run run = count_run(f, v, at, end);
    struct table t;
    if (f->type == FIELD_MESSAGE)
        index_table(&t, f->fields);
    if (!grow(r, f, &list, run.elements) || !read_element(r, f, &t, &v, &list))
        return NULL;
    for (size_t i = 1; i < run.values; i++) {
        at = take(at, end, &v);
        assert(at); /* it was counted */
        if (!read_element(r, f, &t, &v, &list))
            return NULL;
    }
    if (f->shape == FIELD_MAP)
        entries_sort(&list, f->size, r->mem);
    LIST(char) now = {list.at, list.n};
    memcpy(out, &now, sizeof(now));
    return at;
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

/* The field that has `v`, and what else of its list follows at `at`; gives where to go on, or
 * NULL. */
static inline const char *read_field(struct reader *r, const struct field *f,
                                     const struct proto_value *v, const char *at, const char *end,
                                     char *message)
{
    char *out = message + f->offset;
    if (f->has_offset)
        *(bool *)(message + f->has_offset) = true;
    if (f->shape == FIELD_LIST || f->shape == FIELD_MAP)
        return read_run(r, f, *v, at, end, out);
    if (f->type == FIELD_STR && v->wire == PROTO_BYTES && v->bytes.n <= PROTO_STRING_MOST) {
        *(struct str *)(void *)out = v->bytes; /* most fields */
        return at;
    }
    void *value = f->shape == FIELD_POINTER ? target(r, f, out) : out;
    return value && read_one(r, f, v, value) ? at : NULL;
}

static bool read_message(struct reader *r, const struct table *t, struct str bytes, char *out)
{
    if (r->depth == PROTO_DEPTH_MOST)
        return fail(r, "is nested too deeply");
    r->depth++;
    const char *end = bytes.p + bytes.n;
    for (const char *at = bytes.p; at < end;) {
        struct proto_value v;
        at = take(at, end, &v);
        if (!at)
            return fail_take(&v, r->e);
        if (v.number > PROTO_NUMBER_MOST || !t->rows[v.number])
            continue;
        const struct field *f = &t->fields[t->rows[v.number] - 1];
        at = read_field(r, f, &v, at, end, out);
        if (!at)
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
    return bytes.n == 0 || read_single(&r, fields, bytes, out) ||
           path_wrap(r.path + r.step, LEN(r.path) - r.step, e);
}

bool proto_take(struct str *message, struct proto_value *out, struct error *e)
{
    e->kind = ERROR_NONE; /* its text is long, and of no interest then */
    if (message->n == 0)
        return false;
    const char *end = message->p + message->n, *at = take(message->p, end, out);
    if (!at)
        return fail_take(out, e);
    *message = (struct str){at, (size_t)(end - at)};
    return true;
}

bool proto_cut(struct str message, uint32_t number, struct proto_cut *out)
{
    const char *end = message.n ? message.p + message.n : message.p;
    *out = (struct proto_cut){.before = message};
    for (const char *at = message.p, *next; at < end; at = next) {
        struct proto_value v;
        next = take(at, end, &v);
        if (!next)
            return false;
        if (LIKELY(v.number != number))
            continue;
        if (out->bytes.p || v.wire != PROTO_BYTES)
            return false;
        *out = (struct proto_cut){
            {message.p, (size_t)(at - message.p)}, v.bytes, {next, (size_t)(end - next)}};
    }
    return true;
}

uint64_t proto_digest(struct str message, const struct proto_part *part, uint64_t before)
{
    const char *end = message.p + message.n;
    for (const char *at = message.p; at < end;) {
        struct proto_value v;
        at = take(at, end, &v);
        if (!at)
            return 0;
        if (v.number >= 64 || !((part->whole | part->inside) & PROTO_FIELD(v.number)))
            continue;
        before = hash_pair(before, v.number);
        if (v.wire != PROTO_BYTES)
            before = hash_pair(before, v.bits);
        else if (part->whole & PROTO_FIELD(v.number))
            before = hash_pair(before, hash_bytes(v.bytes.p, v.bytes.n));
        else
            before = proto_digest(v.bytes, part->of, before);
    }
    return before;
}

/* Both are at most so many bytes. */
enum { VARINT_MOST = 10, TAG_MOST = 5 };

/* Gives where it ends. */
static inline char *print_varint(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

static inline char *print_tag(char *at, uint32_t number, uint32_t wire)
{
    return print_varint(at, (uint64_t)number << 3 | wire);
}

void proto_put_str(struct buf *out, uint32_t number, struct str value)
{
    if (value.n == 0)
        return;
    char *at = buf_reserve(out, TAG_MOST + VARINT_MOST + value.n);
    at = print_varint(print_tag(at, number, PROTO_BYTES), value.n);
    memcpy(at, value.p, value.n);
    buf_end(out, at + value.n);
}

void proto_put_int(struct buf *out, uint32_t number, int64_t value)
{
    char *at = buf_reserve(out, TAG_MOST + VARINT_MOST);
    buf_end(out, print_varint(print_tag(at, number, PROTO_VARINT), (uint64_t)value));
}

size_t proto_open(struct buf *out, uint32_t number)
{
    char *at = buf_reserve(out, TAG_MOST);
    buf_end(out, print_tag(at, number, PROTO_BYTES));
    return out->n;
}

void proto_close(struct buf *out, size_t at)
{
    assert(at <= out->n);
    char text[VARINT_MOST];
    size_t length = out->n - at, n = (size_t)(print_varint(text, length) - text);
    char *end = buf_reserve(out, n);
    memmove(out->p + at + n, out->p + at, length);
    memcpy(out->p + at, text, n);
    buf_end(out, end + n);
}
