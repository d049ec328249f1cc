#pragma once

#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/error.h"

/* The flags of `kubenexus run`: one table (flags.def) from which they are parsed, explained by
 * --help and printed for the reference.
 *
 * They are given as --name=VALUE or --name VALUE; --name alone is true of a boolean; -v is short
 * for --v. As with kube-scheduler, '_' in a name means '-'. Of a flag that is given twice the last
 * counts; the values of a list add up, with commas between them. */

enum flag_kind {
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_BOOL,
    VALUE_NUMBER, /* from 0 */
    VALUE_REAL,
    VALUE_SPAN, /* a duration: 15s, 1m30s; not negative */
};

enum flag_use { USE_ACTS, USE_IGNORED, USE_REFUSED };

enum flag_group {
    GROUP_GENERAL,
    GROUP_CONNECTION,
    GROUP_ELECTION,
    GROUP_SERVING,
    GROUP_ACCESS,
    GROUP_FEATURES,
    GROUP_LOGS,
    GROUP_METRICS,
    N_GROUPS,
};

struct flag {
    const char *name;
    enum flag_kind kind;
    const char *value;     /* what stands for it in the help: FILE */
    const char *otherwise; /* the default, as text; "": none */
    enum flag_group group;
    enum flag_use use;
    const char *help;
};

enum flag_id {
#define FLAG(id, ...) FLAG_##id,
#include "cmd/kubenexus/flags.def"
#undef FLAG
    N_FLAGS,
};

extern const struct flag flag_table[N_FLAGS];

/* What the command line said. */
struct flags {
    struct arena mem;
    struct str said[N_FLAGS]; /* .p is NULL: nothing */
};

/* One argument, argv[*i], and its value, behind which *i then stands. */
bool flags_add(struct flags *f, int argc, char **argv, int *i, struct error *e) MUST_USE;

void flags_done(struct flags *f);

static inline bool flag_is_said(const struct flags *f, enum flag_id id)
{
    return f->said[id].p;
}

/* The value, or the default; a text ends with a NUL. */
struct str flag_text(const struct flags *f, enum flag_id id);
bool flag_bool(const struct flags *f, enum flag_id id);
int64_t flag_number(const struct flags *f, enum flag_id id);
double flag_real(const struct flags *f, enum flag_id id);
int64_t flag_span_ms(const struct flags *f, enum flag_id id);

/* For people: the flags that do something, by group, and the names of the others. */
void flags_print_help(FILE *to);

/* The reference, in Markdown. */
void flags_print_reference(FILE *to);
