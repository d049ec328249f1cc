#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/wire/field.h"

/* How a message is written. An API server says it in the content type of its answers. */
enum encoding {
    ENCODING_NONE, /* in no way that we read */
    ENCODING_JSON,
    ENCODING_PROTO,
};

/* The content type as we ask for it and as we say it of our own bodies. */
#define ENCODING_JSON_TYPE  "application/json"
#define ENCODING_PROTO_TYPE "application/vnd.kubernetes.protobuf"

/* Of a content type, its parameters (";stream=watch") left aside. */
enum encoding encoding_of(struct str content_type);

/* json_read() or proto_read(): strings may be pieces of `bytes`. */
bool encoding_read(enum encoding encoding, struct str bytes, const struct field *fields, void *out,
                   struct arena *mem, struct error *e) MUST_USE;
