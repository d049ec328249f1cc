#pragma once

#include "core/base/vec.h"
#include "core/fair/cover.h"
#include "core/fair/ledger.h"
#include "core/fair/past.h"
#include "support/test.h"

/* A pool of one big node for tests of core/fair: queues, units that wait in them in the order in
 * which they came, and turns until nobody starts. */

enum { POOL_RESOURCES = 3 };

struct pool_unit {
    uint32_t queue;
    int64_t priority;
    struct fair_amount ask[POOL_RESOURCES];
    uint32_t n;
    bool is_beyond, runs, is_first;
};

struct pool {
    struct fair *f;
    VEC(struct pool_unit) units; /* their age is their number */
    char started[512];           /* names of queues, in the order of their turns */
};

void pool_begin(struct pool *p);
void pool_done(struct pool *p);

/* `text`: "gpu=8 cpu=2"; lives until the pool is done. */
struct fair_ask pool_ask(struct pool *p, const char *text);
void pool_capacity(struct pool *p, const char *text);

/* `text`: "parent=ml weight=3 gpu=8 max.gpu=9 lend.gpu=2 each.gpu=1 jobs=2 eachjobs=1 split hold". */
uint32_t pool_queue(struct pool *p, const char *name, const char *text);

/* A unit waits; returns its number. Units that ask for the same in the same queue are of one kind. */
uint32_t pool_wait(struct pool *p, uint32_t queue, const char *ask);
void pool_wait_often(struct pool *p, uint32_t queue, const char *ask, uint32_t n);

/* It runs from now on, whatever anybody says. */
void pool_start(struct pool *p, uint32_t unit);
void pool_end(struct pool *p, uint32_t unit);

/* A round: each has its turn, and starts if it is admitted and there is room. At most `most` start. */
uint32_t pool_round(struct pool *p, uint32_t most);

int64_t pool_used(struct pool *p, uint32_t queue, const char *resource);
int64_t pool_entitled(struct pool *p, uint32_t queue, const char *resource);
