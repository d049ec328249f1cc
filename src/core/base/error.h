#pragma once

#include "core/base/base.h"

/* The kind says what the caller can do; the text says what happened. */
enum error_kind {
    ERROR_NONE,
    ERROR_INVALID,  /* the input is wrong: refuse it, never retry   */
    ERROR_CONFLICT, /* someone wrote first: read again, then retry  */
    ERROR_GONE,     /* our resourceVersion is too old: list again   */
    ERROR_BUSY,     /* transient: the same call again after a pause */
    ERROR_DENIED,   /* not allowed: only the operator can mend this */
};

struct error {
    enum error_kind kind;
    char text[240]; /* pod default/a: container main: "12x" is no quantity */
};

/* Both return false, so that a failing line stays one line. A text too long ends in "…". */
bool error_set(struct error *e, enum error_kind kind, const char *fmt, ...) PRINTF(3, 4);

/* Puts "<fmt>: " before the text. */
bool error_wrap(struct error *e, const char *fmt, ...) PRINTF(2, 3);
