#include <stdio.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/run_serve.h"
#include "core/wire/json_write.h"

static void help(void)
{
    puts(
        "Usage: kubenexus metrics [-o markdown]\n\n"
        "Prints the table of metrics that `kubenexus run` serves at /metrics: name, type, labels,\n"
        "what it says.\n\n"
        "Options:\n"
        "  -o, --output FORMAT  table (default) or markdown\n\n"
        "Example:\n"
        "  kubenexus metrics");
}

static const char *const types[] = {
    [METRIC_COUNTER] = "counter",
    [METRIC_GAUGE] = "gauge",
    [METRIC_HISTOGRAM] = "histogram",
};

/* "0.001 to 16.384, each 2 times the one before", or all of a list. */
static void print_bounds(const struct bounds *b)
{
    AUTO(buf) text = {0};
    double bound = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        bound = bound_at(b, i, bound);
        if (b->list || i == 0 || i == b->n - 1) {
            buf_printf(&text, "%s", i == 0 ? "" : b->list ? ", " : " to ");
            json_add_double(&text, bound);
        }
    }
    printf("%s", text.p);
    if (!b->list)
        printf(", each %g times the one before", b->factor);
}

static void print_row(const struct metric *m)
{
    printf("%-48s %-10s %s\n%*s%s\n", m->name, types[m->type], m->labels ? m->labels : "", 4, "",
           m->help);
}

static void print_markdown(const struct metric *m)
{
    printf("| `%s` | %s | %s | %s", m->name, types[m->type], m->labels ? m->labels : "", m->help);
    if (m->bounds) {
        printf(" Buckets: ");
        print_bounds(m->bounds);
        printf(".");
    }
    puts(" |");
}

int cmd_metrics(int argc, char **argv)
{
    bool is_markdown;
    int code = read_table_options(argc, argv, help, &is_markdown);
    if (code >= 0)
        return code;
    struct metric_table tables[METRIC_TABLES];
    uint32_t n = run_metric_tables(tables, LEN(tables));
    if (is_markdown)
        puts("| metric | type | labels | what it says |\n|---|---|---|---|");
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t i = 0; i < tables[t].n; i++)
            (is_markdown ? print_markdown : print_row)(&tables[t].rows[i]);
    return 0;
}
