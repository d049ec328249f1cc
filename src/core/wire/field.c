#include "core/wire/field.h"

void field_init(const struct field *fields, void *message)
{
    for (const struct field *f = fields; f->name.p; f++) {
        void *at = (char *)message + f->offset;
        if (f->shape != FIELD_ONE)
            continue;
        if (f->type == FIELD_TIME)
            *(int64_t *)at = FIELD_TIME_NONE;
        else if (f->type == FIELD_MESSAGE)
            field_init(f->fields, at);
    }
}

/* What a list or map is in a struct. */
struct span {
    char *at;
    uint32_t n;
};

static struct span span_at(const void *at)
{
    struct span s;
    memcpy(&s.at, at, sizeof(s.at));
    memcpy(&s.n, (const char *)at + sizeof(s.at), sizeof(s.n));
    return s;
}

/* One value of the field, which is where it belongs but points to what is not kept. */
static void keep_value(const struct field *f, void *at, struct arena *mem)
{
    if (f->type == FIELD_MESSAGE)
        fields_keep(f->fields, at, mem);
    else if (f->type == FIELD_STR || f->type == FIELD_RAW)
        *(struct str *)at = arena_str(mem, *(struct str *)at);
}

void fields_keep(const struct field *fields, void *message, struct arena *mem)
{
    for (const struct field *f = fields; f->name.p; f++) {
        char *at = (char *)message + f->offset;
        if (f->shape == FIELD_ONE) {
            keep_value(f, at, mem);
            continue;
        }
        struct span old = f->shape == FIELD_POINTER ? (struct span){NULL, 1} : span_at(at);
        memcpy(&old.at, at, sizeof(old.at));
        if (!old.at || old.n == 0)
            continue;
        char *kept = arena_copy(mem, old.at, (size_t)f->size * old.n);
        memcpy(at, &kept, sizeof(kept));
        for (uint32_t i = 0; i < old.n; i++) {
            if (f->shape == FIELD_MAP)
                fields_keep(f->fields, kept + (size_t)f->size * i, mem);
            else
                keep_value(f, kept + (size_t)f->size * i, mem);
        }
    }
}

static bool is_equal_value(const struct field *f, const void *a, const void *b)
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
    case FIELD_SCALAR:
        assert(f->scalar->equal);
        return f->scalar->equal(a, b);
    case FIELD_MESSAGE:
        return fields_equal(f->fields, a, b);
    }
    return false;
}

static bool is_equal_list(const struct field *f, const void *a, const void *b)
{
    struct span x = span_at(a), y = span_at(b);
    bool is_equal = x.n == y.n;
    for (uint32_t i = 0; is_equal && i < x.n; i++) {
        const char *p = x.at + (size_t)f->size * i, *q = y.at + (size_t)f->size * i;
        is_equal = f->shape == FIELD_MAP ? fields_equal(f->fields, p, q) : is_equal_value(f, p, q);
    }
    return is_equal;
}

static bool is_equal_target(const struct field *f, const void *a, const void *b)
{
    const void *x, *y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x && y ? is_equal_value(f, x, y) : x == y;
}

bool fields_equal(const struct field *fields, const void *a, const void *b)
{
    for (const struct field *f = fields; f->name.p; f++) {
        const char *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
        bool is_there = !f->has_offset ||
                        *((const bool *)a + f->has_offset) == *((const bool *)b + f->has_offset);
        bool is_equal = f->shape == FIELD_ONE       ? is_equal_value(f, x, y)
                        : f->shape == FIELD_POINTER ? is_equal_target(f, x, y)
                                                    : is_equal_list(f, x, y);
        if (!is_there || !is_equal)
            return false;
    }
    return true;
}
