/* One pass over the text. Known fields are decoded in place, unknown ones are walked over without
 * being kept. `path` holds the fields that lead to the value being read and is looked at only for
 * an error. */

#include "core/wire/json_read.h"

#include "core/base/time_text.h"
#include "core/wire/entries.h"
#include "core/wire/json_text.h"
#include "core/wire/path.h"

/* What a message may take of the arena: a fixed part, and so much for each byte of text. */
enum { MEMORY_FREE = 1 << 20, MEMORY_PER_BYTE = 32 };

/* How deep secrets are looked for: a table may lead to itself. */
enum { SECRET_LEVELS = 6 };

struct reader {
    struct json_cursor in;
    struct arena *mem;
    size_t memory_most;
    struct path_step path[2 * JSON_DEPTH_MOST]; /* a field and a place in its list for each level */
    unsigned steps;
    bool is_caseless;
};

static void push(struct reader *r, struct path_step step)
{
    assert(r->steps < LEN(r->path));
    r->path[r->steps++] = step;
}

/* Is the field a secret, or is there one among those of its message? */
static bool holds_secret(const struct field *f, unsigned levels)
{
    bool found = f->is_secret;
    for (const struct field *inner = f->fields; inner && inner->name.p && levels; inner++)
        found |= holds_secret(inner, levels - 1);
    return found;
}

/* The value at `at`, and what is wrong with it. */
static bool complain(struct reader *r, const struct field *f, const char *at, const char *wrong)
{
    struct json_cursor value = r->in;
    value.at = at;
    if (holds_secret(f, SECRET_LEVELS))
        return json_fail(&r->in, at, "the value %s", wrong);
    if (!json_skip(&value))
        return false;
    struct str text = {at, (size_t)(value.at - at)};
    bool is_long = text.n > 60;
    return json_fail(&r->in, at, STR_FMT "%s %s", STR_ARG(str_part(text, 0, is_long ? 57 : 60)),
                     is_long ? "…" : "", wrong);
}

static bool read_int(struct reader *r, const struct field *f, int64_t low, int64_t high,
                     const char *wrong, int64_t *out)
{
    const char *at = r->in.at;
    if (at == r->in.end || (*at != '-' && (*at < '0' || *at > '9')))
        return complain(r, f, at, wrong);
    if (!json_skip(&r->in))
        return false;
    int64_t value;
    if (!str_int((struct str){at, (size_t)(r->in.at - at)}, &value) || value < low || value > high)
        return complain(r, f, at, wrong);
    *out = value;
    return true;
}

static bool read_bool(struct reader *r, const struct field *f, bool *out)
{
    const char *at = r->in.at;
    if (at == r->in.end || (*at != 't' && *at != 'f'))
        return complain(r, f, at, "is not true or false");
    *out = *at == 't';
    return json_skip(&r->in);
}

static bool read_str(struct reader *r, const struct field *f, struct str *out)
{
    if (r->in.at == r->in.end || *r->in.at != '"')
        return complain(r, f, r->in.at, "is not text");
    return json_string(&r->in, r->mem, out);
}

static bool read_time(struct reader *r, const struct field *f, int64_t *out)
{
    const char *at = r->in.at;
    struct str text;
    if (at == r->in.end || *at != '"')
        return complain(r, f, at, "is not a time");
    if (!json_string(&r->in, r->mem, &text))
        return false;
    return time_parse(text, out) || complain(r, f, at, "is not a time (2006-01-02T15:04:05Z)");
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_part(s, 1, s.n);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

static bool read_scalar(struct reader *r, const struct field *f, void *out)
{
    const struct field_scalar *scalar = f->scalar;
    const char *at = r->in.at;
    struct str text;
    if (at < r->in.end && *at == '"') {
        if (!json_string(&r->in, r->mem, &text))
            return false;
    } else {
        if (at == r->in.end || (*at != '-' && (*at < '0' || *at > '9')))
            return complain(r, f, at, scalar->wrong);
        if (!json_skip(&r->in))
            return false;
        text = (struct str){at, (size_t)(r->in.at - at)};
    }
    const char *wrong = scalar->read(trim(text), out);
    return !wrong || complain(r, f, at, wrong);
}

static bool read_raw(struct reader *r, struct str *out)
{
    const char *at = r->in.at;
    if (!json_skip(&r->in))
        return false;
    *out = (struct str){at, (size_t)(r->in.at - at)};
    return true;
}

/* Over a null, which is no value for any type but raw text. */
static bool take_null(struct reader *r, const struct field *f)
{
    return f->type != FIELD_RAW && json_null(&r->in);
}

static bool read_object(struct reader *r, const struct field *f, void *out);

/* One value, which is not null: the field's own, or an element of its list. */
static bool read_one(struct reader *r, const struct field *f, void *out)
{
    int64_t n = 0;
    switch ((enum field_type)f->type) {
    case FIELD_STR:
        return read_str(r, f, out);
    case FIELD_BOOL:
        return read_bool(r, f, out);
    case FIELD_INT32:
        if (!read_int(r, f, INT32_MIN, INT32_MAX, "is not a 32-bit integer", &n))
            return false;
        *(int32_t *)out = (int32_t)n;
        return true;
    case FIELD_INT64:
        return read_int(r, f, INT64_MIN, INT64_MAX, "is not a 64-bit integer", out);
    case FIELD_TIME:
        return read_time(r, f, out);
    case FIELD_SCALAR:
        return read_scalar(r, f, out);
    case FIELD_RAW:
        return read_raw(r, out);
    case FIELD_MESSAGE:
        return read_object(r, f, out);
    }
    return false;
}

/* A LIST of any type, growing in the arena: what it grew out of stays there until the arena is
 * reset. */
struct growing {
    char *at;
    uint32_t n, cap;
};

static void *grow(struct reader *r, struct growing *g, const struct field *f)
{
    uint32_t most = f->type == FIELD_RAW ? JSON_RAW_COUNT_MOST : JSON_COUNT_MOST;
    if (g->n == most) {
        json_fail(&r->in, r->in.at, "more than %u elements", most);
        return NULL;
    }
    if (g->n == g->cap) {
        g->cap = g->cap ? g->cap * 2 : 4;
        char *larger = arena_alloc(r->mem, (size_t)g->cap * f->size);
        if (r->mem->used_bytes > r->memory_most) {
            json_fail(&r->in, r->in.at, "needs more than %zu bytes of memory", r->memory_most);
            return NULL;
        }
        if (g->n)
            memcpy(larger, g->at, (size_t)g->n * f->size);
        g->at = larger;
    }
    void *element = g->at + (size_t)g->n++ * f->size;
    if (f->type == FIELD_MESSAGE)
        field_init(f->fields, element);
    return element;
}

/* The elements become the LIST at `out`, whose type only its owner knows. */
static void put_list(char *out, struct entries elements)
{
    LIST(void) list = {elements.at, elements.n};
    memcpy(out, &list, sizeof(list));
}

static bool read_list(struct reader *r, const struct field *f, char *out)
{
    struct growing g = {0};
    if (r->in.at == r->in.end || *r->in.at != '[')
        return complain(r, f, r->in.at, "is not a list");
    bool more;
    if (!json_open(&r->in, ']', &more))
        return false;
    while (more) {
        push(r, (struct path_step){.index = g.n, .is_index = true});
        void *element = grow(r, &g, f);
        if (!element || (!take_null(r, f) && !read_one(r, f, element)))
            return false;
        r->steps--;
        if (!json_next(&r->in, ']', &more))
            return false;
    }
    put_list(out, (struct entries){g.at, g.n});
    return true;
}

static bool read_entry(struct reader *r, const struct field *f, struct growing *g)
{
    char *entry = grow(r, g, f);
    struct str *key = (void *)entry;
    if (!entry || !json_key(&r->in, r->mem, key))
        return false;
    push(r, (struct path_step){.name = *key});
    const struct field *value = &f->fields[1];
    if (!take_null(r, value) && !read_one(r, value, entry + value->offset))
        return false;
    r->steps--;
    return true;
}

static bool read_map(struct reader *r, const struct field *f, char *out)
{
    struct growing g = {0};
    if (r->in.at == r->in.end || *r->in.at != '{')
        return complain(r, f, r->in.at, "is not an object");
    bool more;
    if (!json_open(&r->in, '}', &more))
        return false;
    while (more) {
        if (!read_entry(r, f, &g) || !json_next(&r->in, '}', &more))
            return false;
    }
    struct entries entries = {g.at, g.n};
    entries_sort(&entries, f->size, r->mem);
    put_list(out, entries);
    return true;
}

/* As in Go, null empties what can be absent and leaves the rest alone. */
static void read_null(const struct field *f, char *out, char *message)
{
    if (f->shape == FIELD_POINTER)
        memset(out, 0, sizeof(void *));
    if (f->shape == FIELD_LIST || f->shape == FIELD_MAP)
        put_list(out, (struct entries){0});
    if (f->has_offset)
        *(bool *)(message + f->has_offset) = false;
}

/* What the pointer at `out` points to, made on first use. */
static void *target(struct reader *r, const struct field *f, char *out)
{
    void *message;
    memcpy(&message, out, sizeof(message));
    if (!message) {
        message = arena_alloc(r->mem, f->size);
        field_init(f->fields, message);
        memcpy(out, &message, sizeof(message));
    }
    return message;
}

static bool read_field(struct reader *r, const struct field *f, char *message)
{
    char *out = message + f->offset;
    if (take_null(r, f)) {
        read_null(f, out, message);
        return true;
    }
    if (f->has_offset)
        *(bool *)(message + f->has_offset) = true;
    switch ((enum field_shape)f->shape) {
    case FIELD_ONE:
        return read_one(r, f, out);
    case FIELD_POINTER:
        return read_one(r, f, target(r, f, out));
    case FIELD_LIST:
        return read_list(r, f, out);
    case FIELD_MAP:
        return read_map(r, f, out);
    }
    return false;
}

static const struct field *find_between(const struct field *f, const struct field *end,
                                        struct str key)
{
    for (; f != end && f->name.p; f++) {
        if (f->name.n == key.n && f->name.p[0] == key.p[0] && !memcmp(f->name.p, key.p, key.n))
            return f;
        if (f->name.n == 0) {
            const struct field *inner = find_between(f->fields, NULL, key);
            if (inner)
                return inner;
        }
    }
    return NULL;
}

static bool equal_caseless(struct str a, struct str b)
{
    for (size_t i = 0; i < a.n && a.n == b.n; i++) {
        char x = a.p[i] >= 'A' && a.p[i] <= 'Z' ? (char)(a.p[i] | 0x20) : a.p[i];
        char y = b.p[i] >= 'A' && b.p[i] <= 'Z' ? (char)(b.p[i] | 0x20) : b.p[i];
        if (x != y)
            return false;
    }
    return a.n == b.n;
}

/* Of tables without nameless parts. */
static const struct field *find_caseless(const struct field *f, struct str key)
{
    while (f->name.p && !equal_caseless(f->name, key))
        f++;
    return f->name.p ? f : NULL;
}

static bool read_object(struct reader *r, const struct field *of, void *out)
{
    const struct field *fields = of->fields;
    if (r->in.at == r->in.end || *r->in.at != '{')
        return complain(r, of, r->in.at, "is not an object");
    bool more;
    if (!json_open(&r->in, '}', &more))
        return false;
    const struct field *next = fields; /* names mostly come in the order of the table */
    while (more) {
        struct str key;
        if (!json_key(&r->in, r->mem, &key))
            return false;
        const struct field *f = key.n ? find_between(next, NULL, key) : NULL;
        if (!f && key.n)
            f = find_between(fields, next, key);
        if (!f && r->is_caseless)
            f = find_caseless(fields, key);
        if (!f) {
            if (!json_skip(&r->in))
                return false;
        } else {
            next = f + 1;
            push(r, (struct path_step){.name = f->name});
            if (!read_field(r, f, out))
                return false;
            r->steps--;
        }
        if (!json_next(&r->in, '}', &more))
            return false;
    }
    return true;
}

static struct json_cursor cursor_on(struct str text, size_t *where, struct error *e)
{
    const char *start = text.n ? text.p : "";
    return (struct json_cursor){start, start, start + text.n, e, 0, where};
}

static bool read_text(struct str text, const struct field *fields, void *out, struct arena *mem,
                      bool is_caseless, size_t *where, struct error *e)
{
    struct reader r = {.in = cursor_on(text, where, e), .mem = mem, .is_caseless = is_caseless};
    r.memory_most = mem->used_bytes + MEMORY_FREE + MEMORY_PER_BYTE * text.n;
    const struct field whole = {.type = FIELD_MESSAGE, .fields = fields};
    field_init(fields, out);
    json_space(&r.in);
    if (!read_object(&r, &whole, out))
        return path_wrap(r.path, r.steps, e);
    json_space(&r.in);
    if (r.in.at != r.in.end)
        return json_fail(&r.in, r.in.at, "something follows the object");
    return true;
}

bool json_read(struct str text, const struct field *fields, void *out, struct arena *mem,
               size_t *where, struct error *e)
{
    return read_text(text, fields, out, mem, false, where, e);
}

bool json_read_caseless(struct str text, const struct field *fields, void *out, struct arena *mem,
                        size_t *where, struct error *e)
{
    return read_text(text, fields, out, mem, true, where, e);
}

bool json_take(struct str *text, struct str *value, size_t *where, struct error *e)
{
    *e = (struct error){0};
    struct json_cursor c = cursor_on(*text, where, e);
    json_space(&c);
    const char *first = c.at;
    if (first == c.end || !json_skip(&c))
        return false;
    *value = (struct str){first, (size_t)(c.at - first)};
    *text = (struct str){c.at, (size_t)(c.end - c.at)};
    return true;
}

uint32_t json_line(struct str text, size_t at)
{
    uint32_t line = 1;
    for (size_t i = 0; i < at && i < text.n; i++)
        line += text.p[i] == '\n';
    return line;
}
