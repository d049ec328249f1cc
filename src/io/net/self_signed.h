#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

/* A certificate that nobody has signed but its own key: for a server whose clients do not ask who
 * it is. It names localhost, 127.0.0.1, ::1 and the host, and is good for a year. */
bool self_signed_make(struct str host, struct buf *cert_pem, struct buf *key_pem,
                      struct error *e) MUST_USE;
