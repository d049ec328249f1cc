#pragma once

#include "core/model/node.h"
#include "core/model/pod.h"

/* Whether a toleration covers a taint. An empty effect or key of the toleration covers all;
 * operator Exists covers all values; Lt and Gt say that the taint's number is less or greater than
 * the toleration's, and match nothing unless the gate TaintTolerationComparisonOperators is on. */
bool toleration_covers(const struct toleration *t, const struct taint *taint, bool comparison_gate);

/* What Lt and Gt compare: a decimal integer as a person writes it: no plus, no leading zero, no
 * "-0". */
bool taint_number(struct str s, int64_t *out);
