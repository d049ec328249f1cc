#include "core/wire/metric_text.h"

#include "support/test.h"

static void read_plain(const void *source, const struct metric_sink *out)
{
    metric_put(out, NULL, *(const double *)source);
}

static void read_labelled(const void *source, const struct metric_sink *out)
{
    metric_put(out, (struct str[]){STR("a"), STR("b")}, *(const double *)source);
    metric_put(out, (struct str[]){STR("back\\slash \"quote\"\nline"), STR("")}, 2);
}

static void read_histogram(const void *source, const struct metric_sink *out)
{
    (void)source;
    struct histogram h = {0};
    static const double values[] = {0.005, 0.02, 0.02, 1};
    for (size_t i = 0; i < LEN(values); i++)
        histogram_add(&h, out->row->bounds, values[i]);
    metric_put_histogram(out, &STR("1"), &h);
}

static void read_nothing(const void *source, const struct metric_sink *out)
{
    (void)source, (void)out;
}

TEST(metric_text, is_what_prometheus_reads)
{
    static const struct bounds bounds = {.first = 0.01, .factor = 2, .n = 2};
    static const struct metric rows[] = {
        METRIC("plain", GAUGE, NULL, NULL, read_plain, "One."),
        METRIC("several", COUNTER, "first,second", NULL, read_labelled, "Two."),
        METRIC("silent", COUNTER, NULL, NULL, read_nothing, "None."),
        METRIC("times", HISTOGRAM, "n", &bounds, read_histogram, "Three."),
    };
    double source = 1.5;
    struct buf out = {0};
    metric_text_add(&out, rows, LEN(rows), &source);
    EXPECT_TEXT(out.p, "# HELP plain One.\n"
                       "# TYPE plain gauge\n"
                       "plain 1.5\n"
                       "# HELP several Two.\n"
                       "# TYPE several counter\n"
                       "several{first=\"a\",second=\"b\"} 1.5\n"
                       "several{first=\"back\\\\slash \\\"quote\\\"\\nline\"} 2\n"
                       "# HELP times Three.\n"
                       "# TYPE times histogram\n"
                       "times_bucket{n=\"1\",le=\"0.01\"} 1\n"
                       "times_bucket{n=\"1\",le=\"0.02\"} 3\n"
                       "times_bucket{n=\"1\",le=\"+Inf\"} 4\n"
                       "times_sum{n=\"1\"} 1.045\n"
                       "times_count{n=\"1\"} 4\n");
    buf_done(&out);
}
