#include "cmd/kubenexus/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum log_level log_level = LOG_INFO;

void log_line(enum log_level level, const char *fmt, ...)
{
    if (level > log_level)
        return;
    static const char letters[] = {'W', 'I', 'D'};
    struct timespec now;
    struct tm utc;
    char line[2048];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &utc);
    n += (size_t)snprintf(line + n, sizeof(line) - n, ".%03ldZ %c ", now.tv_nsec / 1000000,
                          letters[level]);
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + n, sizeof(line) - n, fmt, args);
    va_end(args);
    fprintf(stderr, "%s\n", line);
}
