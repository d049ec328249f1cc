#pragma once

#include <stdio.h>

#include "core/config/config.h"

/* Reads a configuration file ("-": stdin) into the empty `c`; a file that cannot be read is an
 * error of the configuration like others. */
bool config_read_file(struct scheduler_config *c, const char *file) MUST_USE;

/* The same of a text; loads the libraries that it names. */
bool config_read_text(struct scheduler_config *c, struct str text) MUST_USE;

/* The bytes of the file, or the first too many; false: errno says why not. */
bool config_read_bytes(const char *file, struct buf *out) MUST_USE;

/* A line for each: "kubenexus: FILE: line 7: profiles[0].schedulerName: missing". */
void config_print_errors(const struct scheduler_config *c, const char *file, FILE *to);

/* "line 7: profiles[0].schedulerName: missing", as far as a message says where it belongs. */
void config_message_add(const struct config_message *m, struct buf *out);

/* What the file says without effect, a record each. */
void config_log_notes(const struct scheduler_config *c, const char *file);
