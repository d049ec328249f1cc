#pragma once

#include "core/model/node.h"
#include "core/model/pod.h"

/* Whether a toleration covers a taint. An empty effect or key of the toleration covers all;
 * operator Exists covers all values; Lt and Gt say that the taint's number is less or greater than
 * the toleration's, and match nothing unless the gate TaintTolerationComparisonOperators is on. */
bool toleration_covers(const struct toleration *t, const struct taint *taint, bool comparison_gate);
