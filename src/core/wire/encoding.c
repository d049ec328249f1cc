#include "core/wire/encoding.h"

#include "core/wire/json_read.h"
#include "core/wire/proto.h"

enum encoding encoding_of(struct str content_type)
{
    struct str type = str_part(content_type, 0, str_find(content_type, ';'));
    while (type.n && type.p[type.n - 1] == ' ')
        type.n--;
    if (str_equal(type, STR(ENCODING_JSON_TYPE)))
        return ENCODING_JSON;
    return str_equal(type, STR(ENCODING_PROTO_TYPE)) ? ENCODING_PROTO : ENCODING_NONE;
}

bool encoding_read(enum encoding encoding, struct str bytes, const struct field *fields, void *out,
                   struct arena *mem, struct error *e)
{
    assert(encoding != ENCODING_NONE);
    size_t where;
    return encoding == ENCODING_PROTO ? proto_read(bytes, fields, out, mem, e)
                                      : json_read(bytes, fields, out, mem, &where, e);
}
