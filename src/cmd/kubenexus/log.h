#pragma once

#include "core/base/base.h"
#include "core/base/str.h"

/* What happens, for who runs the scheduler: a line on stderr for each record, as kube-scheduler
 * writes it. A record is a message and what it is about:
 *
 *     log_record(LOG_INFO, "synced", log_int("nodes", 5), log_int("pods", 20));
 *
 *     I1116 05:51:38.845123    1207 run.c:93] "synced" nodes=5 pods=20
 *     {"ts":1794808298845.123,"caller":"run.c:93","msg":"synced","v":0,"nodes":5,"pods":20}
 */

enum log_level {
    LOG_WARNING,
    LOG_INFO,
    LOG_DETAIL, /* from -v 2 on */
};

enum log_format { LOG_TEXT, LOG_JSON };

/* How it is written, once, at the start; without it, as text without details. */
void log_setup(enum log_format format, bool has_details);

/* Are records of LOG_DETAIL written? */
bool log_is_detailed(void);

struct log_field {
    const char *key;
    bool is_number;
    struct str text;
    int64_t number;
};

static inline struct log_field log_str(const char *key, struct str text)
{
    return (struct log_field){.key = key, .text = text};
}

static inline struct log_field log_text(const char *key, const char *text)
{
    return log_str(key, str_of(text));
}

static inline struct log_field log_int(const char *key, int64_t number)
{
    return (struct log_field){.key = key, .is_number = true, .number = number};
}

void log_write(enum log_level level, const char *file, int line, const char *message,
               const struct log_field *fields, size_t n);

/* The first field is of no key, so that a record may have none. */
#define log_record(level, message, ...)                                                            \
    log_write(level, __FILE__, __LINE__, message, (struct log_field[]){{0}, ##__VA_ARGS__},        \
              LEN(((struct log_field[]){{0}, ##__VA_ARGS__})))

/* A message alone, from a format. */
#define log_line(level, ...) log_printf(level, __FILE__, __LINE__, __VA_ARGS__)
void log_printf(enum log_level level, const char *file, int line, const char *fmt, ...)
    PRINTF(4, 5);
