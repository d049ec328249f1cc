#pragma once

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/str.h"

/* The tokens of JSON (RFC 8259), for json_read. A cursor stands on the first byte of a token, never
 * on space. Everything that returns false has set the error and where it is. */

struct json_cursor {
    const char *start, *at, *end;
    struct error *e;
    unsigned depth;
    size_t *where; /* where the error is, counted from `start` */
};

bool json_fail(struct json_cursor *c, const char *at, const char *fmt, ...) PRINTF(3, 4);

static inline void json_space(struct json_cursor *c)
{
    while (c->at < c->end && (unsigned char)*c->at <= ' ') { /* mostly there is none */
        if (*c->at != ' ' && *c->at != '\n' && *c->at != '\r' && *c->at != '\t')
            return;
        c->at++;
    }
}

/* Into the object or list that the cursor stands on; `more`: it has a first entry. */
bool json_open(struct json_cursor *c, char closing, bool *more) MUST_USE;

/* Behind an entry: to the next one, or out of the object or list. */
bool json_next(struct json_cursor *c, char closing, bool *more) MUST_USE;

/* A string. It is a piece of the text, or lives in `mem` if escapes or bytes that are no UTF-8 had
 * to be replaced. */
bool json_string(struct json_cursor *c, struct arena *mem, struct str *out) MUST_USE;

/* Of the character that stands at `p`; 0: it is no UTF-8. */
size_t json_utf8_length(const char *p, const char *end);

/* A key and its colon. */
bool json_key(struct json_cursor *c, struct arena *mem, struct str *out) MUST_USE;

/* Over a null, if there is one. */
bool json_null(struct json_cursor *c);

/* Over any value, checking its syntax, keeping nothing. */
bool json_skip(struct json_cursor *c) MUST_USE;
