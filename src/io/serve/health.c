#include "io/serve/health.h"

static bool is_excluded(const struct http1_request *r, struct str name)
{
    struct str value;
    for (size_t at = 0; http1_query(r, STR("exclude"), &at, &value);)
        if (str_equal(value, name))
            return true;
    return false;
}

static bool is_a_check(const struct health *h, struct str name)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (str_equal(str_of(h->checks[i].name), name))
            return true;
    return false;
}

static void add_unknown(const struct health *h, const struct http1_request *r, struct buf *out)
{
    const char *before = "warn: some health checks cannot be excluded: no matches for ";
    struct str value;
    for (size_t at = 0; http1_query(r, STR("exclude"), &at, &value);)
        if (!is_a_check(h, value)) {
            buf_printf(out, "%s\"" STR_FMT "\"", before, STR_ARG(value));
            before = ",";
        }
    if (*before == ',')
        buf_add_char(out, '\n');
}

static int answer_one(const struct health *h, const void *ctx, struct str name, struct buf *out)
{
    for (uint32_t i = 0; i < h->n; i++) {
        const struct health_check *c = &h->checks[i];
        if (!str_equal(str_of(c->name), name))
            continue;
        if (c->holds(ctx)) {
            buf_printf(out, "ok");
            return 200;
        }
        buf_printf(out, "internal server error: %s\n", c->why);
        return 500;
    }
    buf_printf(out, "404 page not found\n");
    return 404;
}

/* What is wrong is not for everybody: these paths need no right. */
int health_answer(const struct health *h, const void *ctx, const struct http1_request *r,
                  struct str check, struct buf *out)
{
    if (check.n)
        return answer_one(h, ctx, check, out);
    bool is_fine = true;
    for (uint32_t i = 0; i < h->n; i++) {
        const struct health_check *c = &h->checks[i];
        bool is_left_out = is_excluded(r, str_of(c->name)), holds = is_left_out || c->holds(ctx);
        is_fine = is_fine && holds;
        buf_printf(out, "[%c]%s %s\n", holds ? '+' : '-', c->name,
                   is_left_out ? "excluded: ok"
                   : holds     ? "ok"
                               : "failed: reason withheld");
    }
    add_unknown(h, r, out);
    struct str value;
    size_t at = 0;
    if (is_fine && !http1_query(r, STR("verbose"), &at, &value)) {
        buf_clear(out);
        buf_printf(out, "ok");
    } else {
        buf_printf(out, "%s check %s\n", h->name, is_fine ? "passed" : "failed");
    }
    return is_fine ? 200 : 500;
}
