#pragma once

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

/* kube-scheduler's --feature-gates: every name of 1.37 is known, so that manifests written for it
 * start. Most gates concern features that have no switch here; whoever has one asks for it. */

enum { FEATURE_GATES_MOST = 512 };

/* {0} has every gate at its default. */
struct feature_gates {
    uint8_t said[FEATURE_GATES_MOST]; /* by number: 0 not said, 1 off, 2 on */
    uint8_t all_alpha, all_beta;      /* the same */
};

/* Adds what one flag says: "A=true,kube:B=false". Of equal names the last counts; AllAlpha and
 * AllBeta hold for the gates that are not named themselves. On failure nothing changes. */
bool feature_gates_add(struct feature_gates *g, struct str flag, struct error *e) MUST_USE;

/* Is the gate of this name, which must exist, on? */
bool feature_gate_is_on(const struct feature_gates *g, struct str name);

/* "A=true,B=false": those that were said and change nothing here. */
void feature_gates_without_effect(const struct feature_gates *g, struct buf *out);
