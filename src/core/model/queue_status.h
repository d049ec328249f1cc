#pragma once

#include "core/model/status.h"

/* What we write into the status of a Queue, and what of it we read back after a restart: usage that
 * fades, what was spent of budgets. Numbers that may not fit into a double stand as text. */

enum { QUEUE_CONDITIONS_MOST = 3 };

struct queue_status_row {
    struct str resource;
    int64_t guaranteed, entitled, used, borrowed, lent, waiting;
    int64_t max; /* -1: no limit */
    bool in_thousandths;
};

struct queue_status_use {
    struct str resource;
    uint64_t amount; /* 65536ths */
};

struct queue_status_budget {
    struct str resource, window;
    int64_t from_ms, until_ms, hours;
    __int128 spent;         /* amount × ms */
    int64_t lasts_until_ms; /* -1: it is not said */
};

struct queue_status {
    int64_t generation, as_of_ms;
    uint32_t running, waiting, blocked; /* jobs */
    uint64_t share;                     /* in parts per billion */
    LIST(struct queue_status_row) rows; /* by resource */
    LIST(struct queue_status_use) history;
    LIST(struct queue_status_budget) budgets;
    struct status_condition conditions[QUEUE_CONDITIONS_MOST];
};

/* Equal when they say the same of now; times, and what goes on by itself, do not count. */
uint64_t queue_status_hash(const struct queue_status *s);

/* {…}, for a patch. Lives in `mem`. */
struct str queue_status_text(const struct queue_status *s, struct arena *mem);

/* A number of at least 0 that may be larger than 64 bits. */
bool queue_number_parse(struct str text, __int128 *out) MUST_USE;
