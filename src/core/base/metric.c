#include "core/base/metric.h"

void histogram_add(struct histogram *h, const struct bounds *b, double value)
{
    uint32_t i = 0;
    for (double bound = 0; i < b->n && value > (bound = bound_at(b, i, bound)); i++)
        continue;
    h->counts[i]++;
    h->sum += value;
}

uint64_t histogram_count(const struct histogram *h)
{
    uint64_t n = 0;
    for (size_t i = 0; i < LEN(h->counts); i++)
        n += h->counts[i];
    return n;
}

void metric_put(const struct metric_sink *out, const struct str *labels, double value)
{
    out->value(out->ctx, out->row, labels, value);
}

void metric_put_histogram(const struct metric_sink *out, const struct str *labels,
                          const struct histogram *h)
{
    out->histogram(out->ctx, out->row, labels, h);
}
