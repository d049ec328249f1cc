#pragma once

#include "core/base/error.h"
#include "core/base/str.h"
#include "io/loop/loop.h"

/* A child process that says something on its standard output and ends. What it writes to standard
 * error goes where ours goes; its standard input is empty. It has the signal mask and handlers of a
 * fresh program. */

struct child;

struct child_spec {
    char *const *argv; /* ends with NULL; a name without a slash is looked for in PATH */
    char *const *env;  /* ends with NULL; NULL: ours */
    /* Instead of argv: a copy of this process runs this, writes to `out`, and ends. */
    void (*run)(const void *arg, int out);
    const void *arg;
    size_t output_most; /* bytes; one that says more is killed */
    int64_t timeout_ms; /* one that takes longer is killed */
};

/* How it ended: `error` is NULL after exit status 0, else one line: "exit status 1", "no answer
 * within 5 s". */
typedef void child_fn(void *ctx, struct str output, const char *error);

/* Calls `fn` once, in a later turn, after which the child is no more. */
struct child *child_start(struct loop *l, const struct child_spec *spec, child_fn *fn, void *ctx,
                          struct error *e) MUST_USE;

/* Kills it without a call. */
void child_stop(struct child *c);
