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
