#pragma once

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/wire/field.h"

/* A Kubernetes quantity ("1.5Gi", "1500u", "1e3"), exact.
 *
 * The API never keeps a finer step than a billionth, so a 128-bit count of billionths holds every
 * quantity and every sum of them without rounding, up to 2^96 units; what is larger is held as
 * that. Rounding happens once, when a number for a column is taken: always up, away from zero, as
 * upstream does.
 *
 * Upstream has two forms of a quantity: 64 bits times a power of ten, or a decimal without limit. A
 * number that does not fit into 64 bits comes out of the second wrapped, out of the first wrapped
 * or as 0, depending on the power. `is_big` and `scale` serve only to do the same. */
struct quantity {
    __int128 nano;
    int8_t scale; /* the power of ten of the first form */
    bool is_big;  /* the second form */
};

#define QUANTITY_NANO_MOST ((__int128)1000000000 << 96)

/* False if `text` is not in Kubernetes' grammar; what is too large or too fine is capped or rounded
 * up as upstream does, which is no error. */
bool quantity_parse(struct str text, struct quantity *out) MUST_USE;

/* In whole units and in thousandths, rounded away from zero, as Go's Value() and MilliValue() of a
 * quantity that is not negative, overflow included. */
int64_t quantity_value(struct quantity q);
int64_t quantity_milli(struct quantity q);

/* The same as Go's AsInt64(), which looks at how a number is written: "2" and "2k" are integers,
 * "2000m" is none. False: 0. */
bool quantity_integer(struct quantity q, int64_t *out);

struct quantity quantity_sum(struct quantity a, struct quantity b);

/* A short canonical decimal form ("1500m", "0.3"): for messages. */
void quantity_print(struct quantity q, struct buf *out);

/* For field tables: an amount of some resource. As the API server stores it, it is not negative
 * (such text is refused), and counts in thousandths (what is finer is rounded up). */
extern const struct field_scalar quantity_scalar;

/* The same for what the API server stores as it comes: of any sign, as fine as it was written. */
extern const struct field_scalar exact_quantity_scalar;

int quantity_compare(struct quantity a, struct quantity b);
