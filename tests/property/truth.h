#pragma once

struct engine;

/* What must hold, counted again after every call of every test: programs of tests are linked so that
 * calls into the engine and transactions come through here (`--wrap`, see tests/meson.build).
 *
 *  - After txn_undo() and engine_explain() all is as it was: rows, lists and their order, sums, counts,
 *    nominations, places in the queue, holds and lines.
 *  - Transactions end in the reverse order of their beginning.
 *  - After a call of an engine everybody is where he must be (property/standing.h).
 *
 * A fault ends the program. */

void truth_check(const struct engine *k, const char *call);
