#pragma once

#include "core/base/buf.h"
#include "io/net/http1.h"

/* /healthz, /livez and /readyz as Kubernetes' components answer them: "ok", or with ?verbose a line
 * for each check; ?exclude=CHECK leaves one out; /readyz/CHECK asks for one alone. */

struct health_check {
    const char *name;
    bool (*holds)(const void *ctx);
    const char *why; /* it does not, if so */
};

struct health {
    const char *name; /* readyz */
    const struct health_check *checks;
    uint32_t n;
};

/* The status, and the text in `out`. `check` is the part of the path behind the name; empty: all.
 */
int health_answer(const struct health *h, const void *ctx, const struct http1_request *r,
                  struct str check, struct buf *out);
