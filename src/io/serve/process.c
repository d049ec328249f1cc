#include "io/serve/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A file of /proc; the number of bytes read, 0 if it cannot be. */
static size_t slurp(const char *path, char *room, size_t most)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, room, most - 1) : -1;
    if (fd >= 0)
        close(fd);
    room[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* Field `number` of /proc/self/stat, counted from 1; the second, in brackets, may have anything in
 * it. */
static double stat_field(int number)
{
    char text[2048];
    slurp("/proc/self/stat", text, sizeof(text));
    const char *at = strrchr(text, ')');
    for (int i = 2; at && i < number; i++)
        at = strchr(at + 1, ' ');
    return at ? strtod(at, NULL) : 0;
}

static void read_cpu(const void *source, const struct metric_sink *out)
{
    (void)source;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    metric_put(out, NULL,
               (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
}

static void read_resident(const void *source, const struct metric_sink *out)
{
    (void)source;
    metric_put(out, NULL, stat_field(24) * (double)sysconf(_SC_PAGESIZE));
}

static void read_virtual(const void *source, const struct metric_sink *out)
{
    (void)source;
    metric_put(out, NULL, stat_field(23));
}

/* In seconds since 1970: when the machine started, and so many ticks later this process. */
static void read_start(const void *source, const struct metric_sink *out)
{
    (void)source;
    struct timespec now, up;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    double boot = (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9;
    metric_put(out, NULL, boot + stat_field(22) / (double)sysconf(_SC_CLK_TCK));
}

static void read_open(const void *source, const struct metric_sink *out)
{
    (void)source;
    DIR *folder = opendir("/proc/self/fd");
    double n = -3; /* ".", "..", and the folder itself */
    for (; folder && readdir(folder); n++)
        continue;
    if (folder) {
        closedir(folder);
        metric_put(out, NULL, n);
    }
}

static void read_most_open(const void *source, const struct metric_sink *out)
{
    (void)source;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        metric_put(out, NULL, (double)limit.rlim_cur);
}

const struct metric process_metrics[] = {
    METRIC("process_cpu_seconds_total", COUNTER, NULL, NULL, read_cpu,
           "CPU time of this process, user and system, in seconds."),
    METRIC("process_resident_memory_bytes", GAUGE, NULL, NULL, read_resident,
           "Memory of this process that is in RAM, shared pages included."),
    METRIC("process_virtual_memory_bytes", GAUGE, NULL, NULL, read_virtual,
           "Size of this process's address space."),
    METRIC("process_start_time_seconds", GAUGE, NULL, NULL, read_start,
           "When this process was started, in seconds since 1970."),
    METRIC("process_open_fds", GAUGE, NULL, NULL, read_open, "Open file descriptors."),
    METRIC("process_max_fds", GAUGE, NULL, NULL, read_most_open,
           "File descriptors that may be open."),
};
const uint32_t n_process_metrics = LEN(process_metrics);
