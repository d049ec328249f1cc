#include "io/serve/process.h"

#include <time.h>

#include "core/wire/metric_text.h"
#include "support/test.h"

/* The value of a metric on the page. */
static double value_of(const struct buf *page, const char *name)
{
    char line[80];
    snprintf(line, sizeof(line), "\n%s ", name);
    const char *at = strstr(page->p, line);
    return EXPECT(at != NULL) ? strtod(at + strlen(line), NULL) : 0;
}

TEST(process, tells_what_the_system_knows_of_us)
{
    struct buf page = {0};
    metric_text_add(&page, process_metrics, n_process_metrics, NULL);
    double now = (double)time(NULL), start = value_of(&page, "process_start_time_seconds");
    EXPECT(start > now - 3600 && start <= now + 1);
    double resident = value_of(&page, "process_resident_memory_bytes");
    EXPECT(resident > 1e5 && resident < value_of(&page, "process_virtual_memory_bytes"));
    EXPECT(value_of(&page, "process_open_fds") >= 3);
    EXPECT(value_of(&page, "process_open_fds") < value_of(&page, "process_max_fds"));
    EXPECT(value_of(&page, "process_cpu_seconds_total") >= 0);
    buf_done(&page);
}
