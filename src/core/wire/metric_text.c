#include "core/wire/metric_text.h"

#include "core/wire/json_write.h"

static const char *const type_names[] = {
    [METRIC_COUNTER] = "counter",
    [METRIC_GAUGE] = "gauge",
    [METRIC_HISTOGRAM] = "histogram",
};

struct page {
    struct buf *out;
    const struct metric *headed; /* the row whose head has been written */
};

static void add_head(struct page *p, const struct metric *row)
{
    if (p->headed == row)
        return;
    p->headed = row;
    buf_printf(p->out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
               type_names[row->type]);
}

static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' || s.p[i] == '"')
            buf_add_char(out, '\\');
        if (s.p[i] == '\n')
            buf_add(out, STR("\\n"));
        else
            buf_add_char(out, s.p[i]);
    }
}

/* {a="1",b="2"}, and `le` behind them if there is one. A label without a value is left out, which
 * means the same to who reads it. */
static void add_labels(struct buf *out, const struct metric *row, const struct str *labels,
                       const char *le)
{
    const char *before = "{";
    struct str names = row->labels ? str_of(row->labels) : STR("");
    for (; names.n; labels++) {
        size_t n = str_find(names, ',');
        if (labels->n) {
            buf_printf(out, "%s" STR_FMT "=\"", before, (int)n, names.p);
            add_escaped(out, *labels);
            buf_add_char(out, '"');
            before = ",";
        }
        names = str_part(names, n + 1, names.n);
    }
    if (le)
        buf_printf(out, "%sle=\"%s\"", before, le);
    if (le || *before == ',')
        buf_add_char(out, '}');
}

static void add_value(void *ctx, const struct metric *row, const struct str *labels, double value)
{
    struct page *p = ctx;
    add_head(p, row);
    buf_add(p->out, str_of(row->name));
    add_labels(p->out, row, labels, NULL);
    buf_add_char(p->out, ' ');
    json_add_double(p->out, value);
    buf_add_char(p->out, '\n');
}

static void add_bucket(struct buf *out, const struct metric *row, const struct str *labels,
                       const char *le, uint64_t n)
{
    buf_printf(out, "%s_bucket", row->name);
    add_labels(out, row, labels, le);
    buf_printf(out, " %lu\n", n);
}

static void add_histogram(void *ctx, const struct metric *row, const struct str *labels,
                          const struct histogram *h)
{
    struct page *p = ctx;
    uint64_t n = 0;
    double bound = 0;
    add_head(p, row);
    for (uint32_t i = 0; i < row->bounds->n; i++) {
        struct buf le = {0};
        bound = bound_at(row->bounds, i, bound);
        json_add_double(&le, bound);
        add_bucket(p->out, row, labels, le.p, n += h->counts[i]);
        buf_done(&le);
    }
    n += h->counts[row->bounds->n];
    add_bucket(p->out, row, labels, "+Inf", n);
    buf_printf(p->out, "%s_sum", row->name);
    add_labels(p->out, row, labels, NULL);
    buf_add_char(p->out, ' ');
    json_add_double(p->out, h->sum);
    buf_printf(p->out, "\n%s_count", row->name);
    add_labels(p->out, row, labels, NULL);
    buf_printf(p->out, " %lu\n", n);
}

void metric_text_add(struct buf *out, const struct metric *rows, uint32_t n, const void *source)
{
    struct page page = {.out = out};
    struct metric_sink sink = {.ctx = &page, .value = add_value, .histogram = add_histogram};
    for (uint32_t i = 0; i < n; i++) {
        sink.row = &rows[i];
        rows[i].read(source, &sink);
    }
}
