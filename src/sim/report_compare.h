#pragma once

#include "sim/report.h"

/* The same days under several contestants, in one table: a row for each number that says how well
 * they did, and who did best. Nothing is left out because it speaks against one of them. */

enum { CONTESTANTS_MOST = 6, ROW_NAME = 120 };

struct compare_row {
    char name[ROW_NAME];
    struct text values[CONTESTANTS_MOST];
    double numbers[CONTESTANTS_MOST];
    const char *key; /* in JSON */
    bool is_more;    /* more is better */
    uint32_t best;   /* CONTESTANTS_MOST: they are alike, as far as the table shows */
};

struct comparison {
    const struct summary *all;
    uint32_t n;
    VEC(struct compare_row) rows;
};

/* Of n summaries of one plan. */
void comparison_init(struct comparison *c, const struct summary *all, uint32_t n);
void comparison_done(struct comparison *c);

/* What a contestant is, in a line. */
void contestant_text(const struct contestant *who, struct buf *out);

/* What the reader of a comparison must know, one sentence each; NULL ends them. */
extern const char *const comparison_rules[];

/* `host` may be NULL; else it has one for each. */
void comparison_table(const struct comparison *c, const struct host *host, struct buf *out);
void comparison_json(const struct comparison *c, const struct host *host, struct buf *out);
