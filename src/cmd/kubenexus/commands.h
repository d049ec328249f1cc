#pragma once

#include "core/base/error.h"

/* The subcommands. Each prints its own --help and returns the exit code: 0 yes, 1 no, 2 bad usage
 * or bad input. */

int cmd_run(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_queues(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_plugins(int argc, char **argv);
int cmd_fgd(int argc, char **argv);
int cmd_metrics(int argc, char **argv);

void print_version(void);

/* One line on stderr, of the command that says it; returns 2. */
int complain(const char *command, const struct error *e);
int complain_text(const char *fmt, ...) PRINTF(1, 2);

/* Options with a value, given as "--name VALUE" or "--name=VALUE" (or "-n VALUE"). If argv[*i] is
 * the option `name` (with a short form, or NULL), sets *value and moves *i past what it used.
 * *value is NULL if the value is missing. */
bool option_value(int argc, char **argv, int *i, const char *name, const char *brief,
                  const char **value);

/* Of a command that prints a table: --help and --output (table or markdown). The exit code if that
 * is all there is to do, or something is wrong; -1: print it. argv[0] is the command's name. */
int read_table_options(int argc, char **argv, void (*help)(void), bool *is_markdown);
