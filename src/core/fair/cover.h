#pragma once

#include "core/base/arena.h"
#include "core/fair/fair.h"

/* What guarantees pay for, and who may be evicted for whom (R3-R5, R9, R10).
 *
 * Running pods are *pieces*: a gang's minimum, a pod beyond one, a pod alone. At each queue its
 * subtree's pieces are looked at by rank, minimum before beyond, start; a piece is *covered* there
 * while the covered so far and it are within the effective guarantee. Others are *exposed*. */

/* R9, for the whole tree. */
enum fair_reclaim { FAIR_BY_GUARANTEE, FAIR_BY_SHARE, FAIR_NEVER };
void fair_set_reclaim(struct fair *f, enum fair_reclaim how);

struct fair_piece {
    uint32_t queue; /* leaf or part */
    bool is_beyond;
    uint32_t minimum; /* of a piece beyond: index of its gang's minimum among the pieces */
    int64_t rank;     /* higher is more important */
    int64_t start_ms;
    uint64_t placed; /* order of placement among equal starts */
    struct fair_ask ask;
};

struct fair_cover;

/* All running pieces, once per search, for the minimum `u` that wants room; what is used must be
 * counted as it is now. It lives in the arena; pieces and asks are read as long as it lives. */
struct fair_cover *fair_cover(struct fair *f, const struct fair_piece *pieces, uint32_t n,
                              const struct fair_piece *u, struct arena *mem);

bool fair_is_exposed(const struct fair_cover *c, uint32_t piece, uint32_t queue);

/* May the piece go for u? By R4 (another queue's) or R5 (its own leaf's), or not at all. */
enum fair_take { FAIR_KEEP, FAIR_RECLAIM, FAIR_PRIORITY };
enum fair_take fair_take(const struct fair_cover *c, uint32_t piece);

/* R7: of the candidates of other queues those of the highest go first: the share (O4) of b for u,
 * over its weight. */
uint64_t fair_debt(const struct fair_cover *c, uint32_t piece);

/* R10: with the pieces gone and u there, the whole rises; or nothing changes and all that went is
 * of u's own leaf and less important. Asserted by the caller for every plan. */
bool fair_rises(const struct fair_cover *c, const uint32_t *gone, uint32_t n);
