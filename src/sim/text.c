#include "sim/text.h"

#include <math.h>
#include <stdio.h>

#include "core/base/real.h"

struct text text_count(uint64_t n)
{
    struct text t = {0};
    char digits[24];
    int have = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
    size_t out = 0;
    for (int i = 0; i < have; i++) {
        if (i && (have - i) % 3 == 0)
            t.s[out++] = ',';
        t.s[out++] = digits[i];
    }
    return t;
}

/* The larger unit, and what is left of the smaller one if anything is. */
static struct text two_units(int64_t n, int64_t per, const char *large, const char *small)
{
    struct text t = {0};
    int at = snprintf(t.s, sizeof(t.s), "%lld%s", (long long)(n / per), large);
    if (n % per)
        snprintf(t.s + at, sizeof(t.s) - (size_t)at, "%02d%s", (int)(n % per), small);
    return t;
}

struct text text_ms(int64_t ms)
{
    struct text t = {0};
    int64_t s = (ms + 500) / 1000;
    if (s >= 2 * 86400)
        return two_units((s + 1800) / 3600, 24, "d", "h");
    if (s >= 3600)
        return two_units((s + 30) / 60, 60, "h", "m");
    if (s >= 60)
        return two_units(s, 60, "m", "s");
    if (ms >= 1000)
        snprintf(t.s, sizeof(t.s), "%ds", (int)s);
    else
        snprintf(t.s, sizeof(t.s), ms ? "%dms" : "0s", (int)ms);
    return t;
}

struct text text_clock(int64_t ms, int64_t step_ms)
{
    struct text t = {0};
    int64_t s = ms / 1000;
    int at = 0;
    if (s >= 86400 && s != 86400)
        at = snprintf(t.s, sizeof(t.s), "%lldd ", (long long)(s / 86400));
    int hours = (int)(s == 86400 ? 24 : s / 3600 % 24), minutes = (int)(s / 60 % 60);
    at += snprintf(t.s + at, sizeof(t.s) - (size_t)at, "%02d:%02d", hours, minutes);
    if (step_ms % 60000)
        snprintf(t.s + at, sizeof(t.s) - (size_t)at, ":%02d", (int)(s % 60));
    return t;
}

struct text text_share(double share)
{
    struct text t = {0};
    snprintf(t.s, sizeof(t.s), "%.1f %%", share * 100);
    return t;
}

struct text text_amount(double x)
{
    struct text t = {0};
    if (x < 0 || x > 1e15)
        snprintf(t.s, sizeof(t.s), "%.3g", x);
    else if (x >= 100 || x == floor(x))
        return text_count((uint64_t)real_round(x));
    else
        snprintf(t.s, sizeof(t.s), x >= 10 ? "%.1f" : "%.2f", x);
    return t;
}

struct face face_of(struct str resource)
{
    struct face f = {.unit = "", .per_unit = 1};
    if (str_equal(resource, STR("cpu")))
        return (struct face){"CPU", "cores", 1000};
    if (str_equal(resource, STR("memory")))
        return (struct face){"Memory", "GiB", 1 << 30};
    if (str_equal(resource, STR("nvidia.com/gpu")))
        return (struct face){"GPU", "GPUs", 1};
    if (str_equal(resource, STR("nvidia.com/gpu-milli")))
        return (struct face){"GPU", "GPUs", 1000};
    snprintf(f.label, sizeof(f.label), STR_FMT, STR_ARG(resource));
    return f;
}
