#include "cmd/kubenexus/queues_print.h"

#include <stdio.h>

#include "core/model/resources.h"
#include "core/wire/json_write.h"

/* --- what is known --- */

const struct queue_report *queues_find(const struct queue_reports *all, struct str name)
{
    list_each(&all->at, q)
        if (str_equal(q->name, name))
            return q;
    return NULL;
}

/* Zeroes where nothing is known of the resource. */
static struct queue_amounts amounts_of(const struct queue_report *q, struct str resource)
{
    list_each(&q->amounts, a)
        if (str_equal(a->resource, resource))
            return *a;
    return (struct queue_amounts){.resource = resource, .max = -1};
}

struct str queues_resource(const struct queue_reports *all)
{
    struct str best = STR("cpu");
    int64_t most = 0;
    list_each(&all->at, q)
        list_each(&q->amounts, a) {
            bool is_plain = str_find(a->resource, '@') == a->resource.n;
            int64_t size = a->guaranteed + a->used + a->waiting;
            if (is_plain && resource_is_accelerator(a->resource) && size > most) {
                most = size;
                best = a->resource;
            }
        }
    return best;
}

/* --- amounts --- */

/* 16, 0.5, 64Gi. */
static void add_amount(struct buf *out, const struct queue_amounts *of, int64_t amount)
{
    static const int64_t gi = (int64_t)1 << 30;
    bool is_bytes = !of->in_thousandths && amount >= gi;
    int64_t per = of->in_thousandths ? 1000 : is_bytes ? gi : 1;
    int64_t whole = amount / per, thousandths = amount % per * 1000 / per;
    buf_printf(out, "%lld", (long long)whole);
    if (thousandths) {
        char digits[8];
        int n = snprintf(digits, sizeof(digits), ".%03d", (int)thousandths);
        while (digits[n - 1] == '0')
            n--;
        buf_printf(out, "%.*s", n, digits);
    }
    buf_add(out, is_bytes ? STR("Gi") : STR(""));
}

static void add_share(struct buf *out, uint64_t share)
{
    buf_printf(out, "%llu.%03llu", (unsigned long long)(share / 1000000000),
               (unsigned long long)(share % 1000000000 / 1000000));
}

/* --- the table --- */

enum { COLUMNS = 10 };

/* Cells one behind the other, a row of them for each queue. */
struct table {
    struct buf text;
    VEC(size_t) ends;
};

static void end_cell(struct table *t)
{
    vec_push(&t->ends, t->text.n);
}

static void add_cell(struct table *t, struct str text)
{
    buf_add(&t->text, text);
    end_cell(t);
}

static void add_amount_cell(struct table *t, const struct queue_amounts *of, int64_t amount)
{
    add_amount(&t->text, of, amount);
    end_cell(t);
}

static struct str state_of(const struct queue_report *q)
{
    return q->is_missing ? STR("Missing") : q->state;
}

static void add_row(struct table *t, const struct queue_report *q, uint32_t level,
                    struct str resource)
{
    const struct queue_amounts a = amounts_of(q, resource);
    const int64_t amounts[] = {a.guaranteed, a.entitled, a.used, a.borrowed, a.lent, a.waiting};
    buf_printf(&t->text, "%*s", (int)(2 * level), "");
    add_cell(t, q->name);
    buf_printf(&t->text, "%u", q->weight);
    end_cell(t);
    for (size_t i = 0; i < LEN(amounts); i++)
        add_amount_cell(t, &a, amounts[i]);
    add_share(&t->text, q->share);
    end_cell(t);
    add_cell(t, state_of(q));
}

/* Its children, and theirs, by name. */
static void add_below(struct table *t, const struct queues_view *v, struct str parent,
                      uint32_t level)
{
    for (struct str last = {0};;) {
        const struct queue_report *next = NULL;
        list_each(&v->all->at, q)
            if (str_equal(q->parent, parent) && str_compare(last, q->name) < 0 &&
                (!next || str_compare(q->name, next->name) < 0))
                next = q;
        if (!next)
            return;
        last = next->name;
        add_row(t, next, level, v->resource);
        add_below(t, v, next->name, level + 1);
    }
}

static struct str cell_at(const struct table *t, uint32_t i)
{
    size_t from = i ? t->ends.at[i - 1] : 0;
    return (struct str){t->text.p + from, t->ends.at[i] - from};
}

/* Names to the left, numbers to the right. */
static void print(const struct table *t, struct buf *out)
{
    int widths[COLUMNS] = {0};
    for (uint32_t i = 0; i < t->ends.n; i++)
        widths[i % COLUMNS] = MAX(widths[i % COLUMNS], (int)cell_at(t, i).n);
    for (uint32_t i = 0; i < t->ends.n; i++) {
        uint32_t column = i % COLUMNS;
        struct str cell = cell_at(t, i);
        int space = widths[column] - (int)cell.n;
        bool is_last = column + 1 == COLUMNS, is_text = column == 0 || is_last;
        buf_printf(out, "%*s" STR_FMT "%*s%s", is_text ? 0 : space, "", STR_ARG(cell),
                   is_text && !is_last ? space : 0, "", is_last ? "\n" : "  ");
    }
}

void queues_table(const struct queues_view *v, struct buf *out)
{
    static const struct str heads[COLUMNS] = {
        STR("QUEUE"),    STR("WEIGHT"), STR("GUARANTEED"), STR("ENTITLED"), STR("USED"),
        STR("BORROWED"), STR("LENT"),   STR("WAITING"),    STR("SHARE"),    STR("STATE")};
    struct table t = {0};
    for (size_t i = 0; i < COLUMNS; i++)
        add_cell(&t, heads[i]);
    const struct queue_report *top = v->top.n ? queues_find(v->all, v->top) : NULL;
    if (top)
        add_row(&t, top, 0, v->resource);
    add_below(&t, v, v->top, top ? 1 : 0);
    print(&t, out);
    vec_done(&t.ends);
    buf_done(&t.text);
}

/* --- JSON --- */

static bool is_below(const struct queue_reports *all, const struct queue_report *q, struct str top)
{
    enum { DEPTH_MOST = 64 };
    for (int i = 0; q && i < DEPTH_MOST; i++) {
        if (!top.n || str_equal(q->name, top))
            return true;
        q = queues_find(all, q->parent);
    }
    return false;
}

static void json_amounts(struct json_writer *w, const struct queue_amounts *a)
{
    json_put_open(w, '{');
    put_int(w, "guaranteed", a->guaranteed);
    put_int(w, "entitled", a->entitled);
    if (a->max >= 0)
        put_int(w, "max", a->max);
    put_int(w, "used", a->used);
    put_int(w, "borrowed", a->borrowed);
    put_int(w, "lent", a->lent);
    put_int(w, "waiting", a->waiting);
    json_put_close(w, '}');
}

static void json_queue(struct json_writer *w, const struct queue_report *q)
{
    json_put_open(w, '{');
    put_text(w, "name", q->name);
    put_nonempty(w, "parent", q->parent);
    put_int(w, "weight", q->weight);
    put_text(w, "state", state_of(q));
    put_nonempty(w, "message", q->message);
    put_int(w, "share", (int64_t)q->share);
    put_open(w, "jobs", '{');
    put_int(w, "running", q->running);
    put_int(w, "waiting", q->waiting);
    put_int(w, "blocked", q->blocked);
    json_put_close(w, '}');
    put_open(w, "resources", '{');
    list_each(&q->amounts, a) {
        json_put_key(w, a->resource);
        json_amounts(w, a);
    }
    json_put_close(w, '}');
    json_put_close(w, '}');
}

void queues_json(const struct queues_view *v, struct buf *out)
{
    struct json_writer w = {.out = out, .is_pretty = true};
    json_put_open(&w, '{');
    put_open(&w, "queues", '[');
    list_each(&v->all->at, q)
        if (is_below(v->all, q, v->top))
            json_queue(&w, q);
    json_put_close(&w, ']');
    json_put_close(&w, '}');
    buf_add_char(out, '\n');
}

/* --- why --- */

static void begin(struct buf *out, const char *what, const struct queue_amounts *a, int64_t amount)
{
    buf_printf(out, "%s ", what);
    add_amount(out, a, amount);
    buf_add(out, STR(": "));
}

/* What siblings have beyond what they are guaranteed or want. */
struct rest {
    int64_t amount;
    uint64_t weights; /* of siblings that want more than their part */
};

static int64_t wanted(const struct queue_amounts *a)
{
    int64_t all = a->used + a->waiting;
    return a->max >= 0 ? MIN(all, a->max) : all;
}

static int64_t base_of(const struct queue_amounts *a)
{
    return MIN(a->guaranteed, wanted(a));
}

static struct rest rest_of(const struct queue_reports *all, struct str parent, struct str resource)
{
    struct rest rest = {0};
    list_each(&all->at, q) {
        const struct queue_amounts a = amounts_of(q, resource);
        if (!str_equal(q->parent, parent))
            continue;
        rest.amount += a.entitled - base_of(&a);
        rest.weights += a.entitled < wanted(&a) ? q->weight : 0;
    }
    return rest;
}

/* "guaranteed 20 + 3/5 of 40 that nobody is guaranteed or wants". */
static void add_parts(const struct queue_reports *all, const struct queue_report *q,
                      const struct queue_amounts *a, struct buf *out)
{
    const struct rest rest = rest_of(all, q->parent, a->resource);
    int64_t more = a->entitled - base_of(a);
    bool has_part = a->entitled < wanted(a) && rest.weights > q->weight;
    if (base_of(a)) {
        buf_add(out, STR("guaranteed "));
        add_amount(out, a, base_of(a));
        buf_add(out, more ? STR(" + ") : STR(""));
    }
    if (more && has_part)
        buf_printf(out, "%u/%llu of ", q->weight, (unsigned long long)rest.weights);
    if (more || !base_of(a))
        add_amount(out, a, has_part ? rest.amount : more);
    if (more)
        buf_add(out, STR(" that nobody is guaranteed or wants"));
}

static void why_entitled(const struct queue_reports *all, const struct queue_report *q,
                         const struct queue_amounts *a, struct buf *out)
{
    begin(out, "entitled", a, a->entitled);
    if (base_of(a) == a->entitled && base_of(a) < a->guaranteed) {
        buf_add(out, STR("it wants no more\n"));
        return;
    }
    add_parts(all, q, a, out);
    if (a->max >= 0 && a->entitled == a->max)
        buf_add(out, STR(", its max"));
    else if (a->entitled == wanted(a))
        buf_add(out, STR(", all that it wants"));
    buf_add_char(out, '\n');
}

static void why_borrowed(const struct queue_amounts *a, struct buf *out)
{
    begin(out, "borrowed", a, a->borrowed);
    buf_add(out, STR("used "));
    add_amount(out, a, a->used);
    buf_add(out, a->borrowed ? STR(" - guaranteed ") : STR(" of guaranteed "));
    add_amount(out, a, a->guaranteed);
    buf_add_char(out, '\n');
}

static void why_lent(const struct queue_amounts *a, struct buf *out)
{
    begin(out, "lent", a, a->lent);
    buf_add(out, STR("of "));
    add_amount(out, a, MAX(a->guaranteed - a->used, 0));
    buf_add(out, STR(" that are guaranteed to it and idle\n"));
}

static const char *jobs(uint32_t n)
{
    return n == 1 ? "job" : "jobs";
}

void queues_why(const struct queue_reports *all, const struct queue_report *q, struct str resource,
                struct buf *out)
{
    const struct queue_amounts a = amounts_of(q, resource);
    buf_printf(out, "queue " STR_FMT ", " STR_FMT "\n", STR_ARG(q->name), STR_ARG(resource));
    begin(out, "guaranteed", &a, a.guaranteed);
    buf_add(out, STR("what the cluster backs of what it says\n"));
    why_entitled(all, q, &a, out);
    begin(out, "used", &a, a.used);
    buf_printf(out, "by %u %s, and what is kept for them\n", q->running, jobs(q->running));
    why_borrowed(&a, out);
    why_lent(&a, out);
    begin(out, "waiting", &a, a.waiting);
    buf_printf(out, "of %u %s, %u of which may not start whatever room there is\n", q->waiting,
               jobs(q->waiting), q->blocked);
    buf_add(out, STR("share "));
    add_share(out, q->share);
    buf_add(out, STR(": what it uses beyond its guarantee, as a part of the cluster\n"));
    buf_printf(out, "state " STR_FMT "%s" STR_FMT "\n", STR_ARG(state_of(q)),
               q->message.n ? ": " : "", STR_ARG(q->message));
}
