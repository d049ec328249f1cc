#pragma once

#include "core/base/buf.h"
#include "core/base/str.h"

/* Bytes as text, in the standard alphabet with padding (RFC 4648). */

void base64_add(struct buf *out, struct str bytes);

/* Adds the bytes that the text stands for. As Go does, ends of lines are skipped; anything else
 * that does not belong makes it false, and `out` is then as it was. */
bool base64_decode(struct buf *out, struct str text) MUST_USE;
