#include "cmd/kubenexus/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/wire/json_write.h"

static enum log_format log_format;
static bool log_has_details;

void log_setup(enum log_format format, bool has_details)
{
    log_format = format;
    log_has_details = has_details;
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* klog's header: month and day, local time, process. */
static void add_text(struct buf *out, enum log_level level, const char *file, int line,
                     const char *message, const struct log_field *fields, size_t n)
{
    struct timespec now;
    struct tm local;
    char clock[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    strftime(clock, sizeof(clock), "%m%d %H:%M:%S", &local);
    buf_printf(out, "%c%s.%06ld %7d %s:%d] ", level == LOG_WARNING ? 'W' : 'I', clock,
               now.tv_nsec / 1000, getpid(), base_name(file), line);
    json_add_str(out, str_of(message));
    for (size_t i = 1; i < n; i++) {
        buf_printf(out, " %s=", fields[i].key);
        if (fields[i].is_number)
            buf_printf(out, "%lld", (long long)fields[i].number);
        else
            json_add_str(out, fields[i].text);
    }
}

static void add_json(struct buf *out, enum log_level level, const char *file, int line,
                     const char *message, const struct log_field *fields, size_t n)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    buf_printf(out, "{\"ts\":%lld%03ld.%03ld,\"caller\":\"%s:%d\",\"msg\":", (long long)now.tv_sec,
               now.tv_nsec / 1000000, now.tv_nsec / 1000 % 1000, base_name(file), line);
    json_add_str(out, str_of(message));
    buf_printf(out, ",\"v\":%d", level == LOG_DETAIL ? 2 : 0);
    if (level == LOG_WARNING)
        buf_add(out, STR(",\"severity\":\"warning\""));
    for (size_t i = 1; i < n; i++) {
        buf_printf(out, ",\"%s\":", fields[i].key);
        if (fields[i].is_number)
            buf_printf(out, "%lld", (long long)fields[i].number);
        else
            json_add_str(out, fields[i].text);
    }
    buf_add_char(out, '}');
}

bool log_is_detailed(void)
{
    return log_has_details;
}

void log_write(enum log_level level, const char *file, int line, const char *message,
               const struct log_field *fields, size_t n)
{
    if (level == LOG_DETAIL && !log_has_details)
        return;
    AUTO(buf) out = {0};
    (log_format == LOG_JSON ? add_json : add_text)(&out, level, file, line, message, fields, n);
    buf_add_char(&out, '\n');
    fwrite(out.p, 1, out.n, stderr); /* unbuffered: one write */
}

void log_printf(enum log_level level, const char *file, int line, const char *fmt, ...)
{
    static const struct log_field none[1];
    char message[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    log_write(level, file, line, message, none, LEN(none));
}
