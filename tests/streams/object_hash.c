#include "streams/object_hash.h"

#include "core/base/hash.h"
#include "core/model/quantity.h"

static uint64_t of_fields(uint64_t h, const struct field *fields, const char *message);

static uint64_t of_text(uint64_t h, struct str text)
{
    return hash_pair(hash_pair(h, text.n), hash_xxh64(text, 0));
}

static uint64_t of_quantity(uint64_t h, const struct quantity *q)
{
    h = hash_pair(h, (uint64_t)q->nano);
    return hash_pair(h, (uint64_t)(q->nano >> 64));
}

static uint64_t of_value(uint64_t h, const struct field *f, const char *at)
{
    switch ((enum field_type)f->type) {
    case FIELD_STR:
    case FIELD_RAW:
        return of_text(h, *(const struct str *)(const void *)at);
    case FIELD_BOOL:
        return hash_pair(h, *(const bool *)at);
    case FIELD_INT32:
        return hash_pair(h, (uint64_t) * (const int32_t *)(const void *)at);
    case FIELD_INT64:
    case FIELD_TIME:
        return hash_pair(h, (uint64_t) * (const int64_t *)(const void *)at);
    case FIELD_SCALAR: /* quantities are the only scalars in objects */
        assert(f->scalar == &quantity_scalar || f->scalar == &exact_quantity_scalar);
        return of_quantity(h, (const struct quantity *)(const void *)at);
    case FIELD_MESSAGE:
        return of_fields(h, f->fields, at);
    }
    return h;
}

/* The elements of a list or map, or what a pointer points to. */
static uint64_t of_elements(uint64_t h, const struct field *f, const char *at)
{
    const char *elements;
    uint32_t n = 1;
    memcpy(&elements, at, sizeof(elements));
    if (f->shape != FIELD_POINTER)
        memcpy(&n, at + sizeof(elements), sizeof(n));
    if (!elements)
        n = 0;
    h = hash_pair(h, n);
    for (uint32_t i = 0; i < n; i++) {
        const char *element = elements + (size_t)f->size * i;
        h = f->shape == FIELD_MAP ? of_fields(h, f->fields, element) : of_value(h, f, element);
    }
    return h;
}

static uint64_t of_fields(uint64_t h, const struct field *fields, const char *message)
{
    for (const struct field *f = fields; f->name.p; f++) {
        const char *at = message + f->offset;
        if (f->has_offset)
            h = hash_pair(h, *(const bool *)(message + f->has_offset));
        h = f->shape == FIELD_ONE ? of_value(h, f, at) : of_elements(h, f, at);
    }
    return h;
}

uint64_t object_hash(const struct object *o)
{
    return of_fields(o->kind, kind_info_get(o->kind)->fields, (const char *)o->meta);
}
