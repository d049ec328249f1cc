#include "sim/csv.h"

/* The next line that is not empty, as cells. */
static bool take_line(struct csv *c, struct str *cells, uint32_t *n)
{
    struct str line = {0};
    while (line.n == 0) {
        if (c->rest.n == 0)
            return false;
        size_t end = str_find(c->rest, '\n');
        line = str_part(c->rest, 0, end);
        c->rest = str_part(c->rest, end + 1, c->rest.n);
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        c->line++;
    }
    *n = 0;
    for (;;) {
        size_t end = str_find(line, ',');
        if (*n < CSV_COLUMNS_MOST)
            cells[*n] = str_part(line, 0, end);
        ++*n;
        if (end == line.n)
            return true;
        line = str_part(line, end + 1, line.n);
    }
}

bool csv_open(struct csv *c, const char *file, struct str text, struct error *e)
{
    *c = (struct csv){.file = file, .rest = text, .e = e};
    if (!take_line(c, c->names, &c->columns))
        return error_set(e, ERROR_INVALID, "%s: empty", file);
    if (c->columns > CSV_COLUMNS_MOST)
        return error_set(e, ERROR_INVALID, "%s: line 1: more than %d columns", file,
                         CSV_COLUMNS_MOST);
    return true;
}

bool csv_next(struct csv *c)
{
    uint32_t n;
    *c->e = (struct error){0};
    if (!take_line(c, c->cells, &n))
        return false;
    if (n != c->columns)
        return error_set(c->e, ERROR_INVALID, "%s: line %u: %u cells instead of %u", c->file,
                         c->line, n, c->columns);
    return true;
}

bool csv_find(const struct csv *c, const char *name, uint32_t *column)
{
    for (uint32_t i = 0; i < c->columns; i++) {
        if (str_equal(c->names[i], str_of(name))) {
            *column = i;
            return true;
        }
    }
    return false;
}

bool csv_need(const struct csv *c, const char *name, uint32_t *column)
{
    return csv_find(c, name, column) ||
           error_set(c->e, ERROR_INVALID, "%s: line 1: there is no column %s", c->file, name);
}

bool csv_int(const struct csv *c, uint32_t column, int64_t most, int64_t *out)
{
    int64_t n;
    if (!str_int(c->cells[column], &n) || n < 0 || n > most)
        return error_set(c->e, ERROR_INVALID,
                         "%s: line %u: " STR_FMT ": \"" STR_FMT
                         "\" is not a whole number from 0 to %lld",
                         c->file, c->line, STR_ARG(c->names[column]),
                         STR_ARG(str_part(c->cells[column], 0, 40)), (long long)most);
    *out = n;
    return true;
}
