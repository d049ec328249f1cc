#pragma once

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/str.h"

/* A Kubernetes quantity ("1.5Gi", "1500u", "1e3"), exact.
 *
 * The API never keeps a finer step than a billionth, nor more than 2^63 - 1 in either direction, so
 * a 128-bit count of billionths holds every quantity and every sum of them without rounding.
 * Rounding happens once, when a number for a column is taken: always up, away from zero, as
 * upstream does. */
struct quantity {
    __int128 nano;
};

/* False if `text` is not in Kubernetes' grammar; what is too large or too fine is capped or rounded
 * up as upstream does, which is no error. */
bool quantity_parse(struct str text, struct quantity *out) MUST_USE;

/* In whole units and in thousandths, rounded away from zero, as Go's Value() and MilliValue(). */
int64_t quantity_value(struct quantity q);
int64_t quantity_milli(struct quantity q);

static inline struct quantity quantity_sum(struct quantity a, struct quantity b)
{
    return (struct quantity){a.nano + b.nano};
}

/* A short canonical decimal form ("1500m", "0.3"): for messages. */
void quantity_print(struct quantity q, struct buf *out);
