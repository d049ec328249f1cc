#include "core/model/queue_status.h"

#include "core/base/hash.h"
#include "core/base/time_text.h"
#include "core/model/put.h"
#include "core/model/queue.h"
#include "core/model/resources.h"

/* --- what it says --- */

static uint64_t add_text(uint64_t hash, struct str text)
{
    return hash_pair(hash, str_hash(text));
}

static uint64_t add_row(uint64_t hash, const struct queue_status_row *r)
{
    const int64_t amounts[] = {r->guaranteed, r->entitled, r->used, r->borrowed,
                               r->lent,       r->waiting,  r->max};
    hash = add_text(hash, r->resource);
    for (size_t i = 0; i < LEN(amounts); i++)
        hash = hash_pair(hash, (uint64_t)amounts[i]);
    return hash;
}

uint64_t queue_status_hash(const struct queue_status *s)
{
    uint64_t hash = hash_pair((uint64_t)s->generation, s->share);
    hash = hash_pair(hash, hash_pair(s->running, hash_pair(s->waiting, s->blocked)));
    list_each(&s->rows, row)
        hash = add_row(hash, row);
    for (size_t i = 0; i < QUEUE_CONDITIONS_MOST; i++) {
        const struct status_condition *c = &s->conditions[i];
        if (c->type.n)
            hash = add_text(add_text(add_text(hash_pair(hash, c->is_true), c->type), c->reason),
                            c->message);
    }
    return hash;
}

/* --- text --- */

static void add_number(struct buf *out, __int128 n)
{
    char digits[48];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + (int)(n % 10));
    while (n /= 10);
    buf_add_bytes(out, digits + at, sizeof(digits) - at);
}

bool queue_number_parse(struct str text, __int128 *out)
{
    enum { DIGITS_MOST = 36 };
    __int128 n = 0;
    if (text.n == 0 || text.n > DIGITS_MOST)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (text.p[i] - '0');
    }
    *out = n;
    return true;
}

static void put_number(struct json_writer *j, const char *key, __int128 n)
{
    AUTO(buf) text = {0};
    add_number(&text, n);
    put_text(j, key, buf_str(&text));
}

static void put_time(struct json_writer *j, const char *key, int64_t ms)
{
    AUTO(buf) text = {0};
    time_add_seconds(&text, MAX(ms, (int64_t)0));
    put_text(j, key, buf_str(&text));
}

static void add_quantity(struct buf *out, const struct queue_status_row *row, int64_t amount)
{
    enum { NANO = 1000000000 };
    int64_t nano = row->in_thousandths ? NANO / 1000 : NANO;
    quantity_print((struct quantity){.nano = (__int128)amount * nano}, out);
}

static void put_quantity(struct json_writer *j, const char *key, const struct queue_status_row *row,
                         int64_t amount)
{
    AUTO(buf) text = {0};
    add_quantity(&text, row, amount);
    put_text(j, key, buf_str(&text));
}

static void put_rows(struct json_writer *j, const struct queue_status *s)
{
    put_open(j, "resources", '[');
    list_each(&s->rows, row) {
        json_put_open(j, '{');
        put_text(j, "name", row->resource);
        put_quantity(j, "guaranteed", row, row->guaranteed);
        put_quantity(j, "entitled", row, row->entitled);
        if (row->max >= 0)
            put_quantity(j, "max", row, row->max);
        put_quantity(j, "used", row, row->used);
        put_quantity(j, "borrowed", row, row->borrowed);
        put_quantity(j, "lent", row, row->lent);
        put_quantity(j, "waiting", row, row->waiting);
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
}

static void put_history(struct json_writer *j, const struct queue_status *s)
{
    put_open(j, "history", '[');
    list_each(&s->history, use) {
        json_put_open(j, '{');
        put_text(j, "resource", use->resource);
        put_number(j, "amount", use->amount);
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
}

static void put_budgets(struct json_writer *j, const struct queue_status *s)
{
    put_open(j, "budgets", '[');
    list_each(&s->budgets, b) {
        json_put_open(j, '{');
        put_text(j, "resource", b->resource);
        put_text(j, "window", b->window);
        put_time(j, "from", b->from_ms);
        put_time(j, "until", b->until_ms);
        put_number(j, "spent", b->spent);
        put_int(j, "hours", b->hours);
        if (b->lasts_until_ms >= 0)
            put_time(j, "lastsUntil", b->lasts_until_ms);
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
}

static void put_conditions(struct json_writer *j, const struct queue_status *s)
{
    put_open(j, "conditions", '[');
    for (size_t i = 0; i < QUEUE_CONDITIONS_MOST; i++) {
        const struct status_condition *c = &s->conditions[i];
        if (!c->type.n)
            continue;
        json_put_open(j, '{');
        put_text(j, "type", c->type);
        put_text(j, "status", c->is_true ? STR("True") : STR("False"));
        put_text(j, "reason", c->reason);
        put_text(j, "message", c->message);
        put_int(j, "observedGeneration", s->generation);
        put_time(j, "lastTransitionTime", c->since_ms);
        json_put_close(j, '}');
    }
    json_put_close(j, ']');
}

/* The accelerator that most is said of, else cpu; NULL: neither. */
static const struct queue_status_row *main_row(const struct queue_status *s)
{
    const struct queue_status_row *best = NULL;
    int64_t most = 0;
    list_each(&s->rows, row) {
        bool is_whole = queue_resource(row->resource).n == row->resource.n;
        int64_t size = row->guaranteed + row->used + row->waiting;
        if (is_whole && resource_is_accelerator(row->resource) && size > most) {
            best = row;
            most = size;
        }
    }
    list_each(&s->rows, row)
        if (!best && str_equal(row->resource, STR("cpu")))
            best = row;
    return best;
}

/* used/guaranteed/max */
static void put_summary(struct json_writer *j, const struct queue_status *s)
{
    const struct queue_status_row *row = main_row(s);
    AUTO(buf) text = {0};
    if (!row)
        return;
    add_quantity(&text, row, row->used);
    buf_add_char(&text, '/');
    add_quantity(&text, row, row->guaranteed);
    if (row->max >= 0) {
        buf_add_char(&text, '/');
        add_quantity(&text, row, row->max);
    }
    put_text(j, "summary", buf_str(&text));
}

struct str queue_status_text(const struct queue_status *s, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_int(&j, "observedGeneration", s->generation);
    put_time(&j, "asOf", s->as_of_ms);
    put_summary(&j, s);
    put_text(&j, "share",
             arena_printf(mem, "%llu.%09llu", (unsigned long long)(s->share / 1000000000),
                          (unsigned long long)(s->share % 1000000000)));
    put_open(&j, "jobs", '{');
    put_int(&j, "running", s->running);
    put_int(&j, "waiting", s->waiting);
    put_int(&j, "blocked", s->blocked);
    json_put_close(&j, '}');
    put_rows(&j, s);
    put_history(&j, s);
    put_budgets(&j, s);
    put_conditions(&j, s);
    json_put_close(&j, '}');
    return arena_printf(mem, "\"status\":" STR_FMT, STR_ARG(buf_str(&text)));
}
