#pragma once

#include "core/base/error.h"
#include "core/base/str.h"

enum { CSV_COLUMNS_MOST = 32 };

/* A file of plain CSV, read line by line: no quotes, a head that names the columns. Cells live in
 * the text. Errors name the file, the line and the column. */
struct csv {
    const char *file;
    struct str rest;
    uint32_t line;
    struct str names[CSV_COLUMNS_MOST], cells[CSV_COLUMNS_MOST];
    uint32_t columns;
    struct error *e;
};

bool csv_open(struct csv *c, const char *file, struct str text, struct error *e) MUST_USE;

/* The next line that is not empty. False at the end, with kind ERROR_NONE, or at an error. */
bool csv_next(struct csv *c) MUST_USE;

/* The number of the column of this name. */
bool csv_find(const struct csv *c, const char *name, uint32_t *column) MUST_USE;
bool csv_need(const struct csv *c, const char *name, uint32_t *column) MUST_USE;

/* The cell as a whole number from 0 to `most`. */
bool csv_int(const struct csv *c, uint32_t column, int64_t most, int64_t *out) MUST_USE;
