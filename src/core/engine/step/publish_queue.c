/* How Queues stand, in their status: what has changed is written, a queue at most every five
 * seconds, few at a time. */

#include "core/engine/step/step.h"
#include "core/fair/past.h"
#include "core/model/queue_status.h"

enum { LOOK_MS = 5000, MORE_MS = 1000, MOST_AT_ONCE = 20, KEEP_MS = 60000 };

/* --- conditions --- */

static struct status_condition active_of(const struct queue_report *r)
{
    bool is_open = str_equal(r->state, STR("Open"));
    return (struct status_condition){
        .type = STR("Active"), .is_true = is_open, .reason = r->state, .message = r->message};
}

/* In the units of people. */
static void add_amount(const struct engine *k, uint32_t resource, int64_t amount, struct buf *out)
{
    enum { NANO = 1000000000 };
    int64_t nano = k->shares->is_fine.at[resource] ? NANO / 1000 : NANO;
    quantity_print((struct quantity){.nano = (__int128)amount * nano}, out);
}

/* What a queue's children are guaranteed together; siblings are looked at one after the other. */
struct asked {
    uint32_t parent;
    int64_t *sums; /* by resource; -1: not added up yet */
};

static int64_t asked_by_siblings(struct fair *tree, uint32_t queue, uint32_t resource,
                                 struct asked *asked)
{
    uint32_t n, parent = fair_parent(tree, queue);
    const uint32_t *of = fair_children(tree, parent, &n);
    for (uint32_t i = 0; i < fair_n_resources(tree) && asked->parent != parent; i++)
        asked->sums[i] = -1;
    asked->parent = parent;
    int64_t *sum = &asked->sums[resource];
    if (*sum >= 0)
        return *sum;
    *sum = 0;
    for (uint32_t i = 0; i < n; i++)
        *sum = capped_add(*sum, fair_guaranteed(tree, of[i], resource));
    return *sum;
}

static struct str shortage(const struct engine *k, uint32_t queue, uint32_t resource,
                           struct asked *asked, struct arena *mem)
{
    struct fair *tree = k->shares->tree;
    AUTO(buf) text = {0};
    buf_add(&text, STR("guarantees of "));
    add_amount(k, resource, asked_by_siblings(tree, queue, resource, asked), &text);
    buf_printf(&text, " " STR_FMT ", ", STR_ARG(fair_resource_name(tree, resource)));
    add_amount(k, resource, fair_effective(tree, fair_parent(tree, queue), resource), &text);
    buf_add(&text, STR(" are there: backed as "));
    add_amount(k, resource, fair_effective(tree, queue, resource), &text);
    buf_add(&text, STR(" of "));
    add_amount(k, resource, fair_guaranteed(tree, queue, resource), &text);
    return arena_str(mem, buf_str(&text));
}

/* None of a queue that nothing is guaranteed. */
static struct status_condition backed_of(const struct engine *k, uint32_t queue,
                                         struct asked *by_siblings, struct arena *mem)
{
    struct fair *tree = k->shares->tree;
    struct status_condition c = {0};
    for (uint32_t i = 0; i < fair_n_resources(tree); i++) {
        int64_t asked = fair_guaranteed(tree, queue, i);
        if (asked && !c.type.n)
            c = (struct status_condition){
                .type = STR("Backed"), .is_true = true, .reason = STR("Backed")};
        if (fair_effective(tree, queue, i) < asked) {
            c.is_true = false;
            c.reason = STR("CapacityShort");
            c.message = shortage(k, queue, i, by_siblings, mem);
            return c;
        }
    }
    return c;
}

static struct status_condition spent_of(const struct engine *k, const struct team *team)
{
    struct fair *tree = k->shares->tree;
    struct status_condition c = {0};
    for (uint32_t i = 0; i < fair_n_budgets(tree, team->queue); i++) {
        const struct fair_account a = fair_account(tree, team->queue, i);
        bool counts = a.is_spent && (!c.is_true || a.budget.is_hard);
        c.type = STR("BudgetSpent");
        c.is_true |= a.is_spent;
        c.reason = counts      ? (a.budget.is_hard ? STR("Hard") : STR("Soft"))
                   : c.is_true ? c.reason
                               : STR("Within");
    }
    return c;
}

/* Each holds since it began to. */
static void date(struct engine *k, const struct team *team, struct queue_status *s)
{
    for (uint32_t i = 0; i < QUEUE_CONDITIONS_MOST; i++) {
        struct status_condition *c = &s->conditions[i];
        c->since_ms = k->now_ms;
        for (uint32_t w = 0; w < QUEUE_CONDITIONS_MOST; w++) {
            const struct team_condition *was = &team->published.was[w];
            if (was->type.n && str_equal(was->type, c->type) && was->is_true == c->is_true &&
                was->since_ms != TIME_NONE)
                c->since_ms = was->since_ms;
        }
    }
}

/* --- the whole --- */

static struct queue_status status_of(struct engine *k, const struct team *team,
                                     const struct queue_report *r, struct asked *asked,
                                     struct arena *mem)
{
    struct queue_status s = {
        .generation = team->says.meta.generation,
        .as_of_ms = k->now_ms,
        .running = r->running,
        .waiting = r->waiting,
        .blocked = r->blocked,
        .share = r->share,
    };
    struct team_past past;
    engine_list_past(k, team, &past, mem);
    s.history.at = past.uses.at;
    s.history.n = past.uses.n;
    s.budgets.at = past.spent.at;
    s.budgets.n = past.spent.n;
    s.rows.at = arena_array(mem, struct queue_status_row, r->amounts.n);
    list_each(&r->amounts, a)
        s.rows.at[s.rows.n++] = (struct queue_status_row){
            a->resource, a->guaranteed, a->entitled, a->used,          a->borrowed,
            a->lent,     a->waiting,    a->max,      a->in_thousandths};
    s.conditions[0] = active_of(r);
    if (fair_state(k->shares->tree, team->queue) == FAIR_ACTIVE) {
        s.conditions[1] = backed_of(k, team->queue, asked, mem);
        s.conditions[2] = spent_of(k, team);
    }
    date(k, team, &s);
    return s;
}

/* What goes on by itself is written from time to time: a restart begins there. */
static bool goes_on(const struct engine *k, const struct team *team, const struct queue_status *s)
{
    return (s->history.n || s->budgets.n) && k->now_ms - team->published.said_ms >= KEEP_MS;
}

static void publish(struct engine *k, struct team *team, const struct queue_status *s,
                    struct effects *out)
{
    struct object_write write = {.kind = KIND_QUEUE, .name = arena_str(&out->mem, team->name)};
    struct patch patch = {
        .part = STR("status"),
        .meta = arena_printf(&out->mem, "\"uid\":\"" STR_FMT "\"", STR_ARG(team->published.uid)),
        .body = queue_status_text(s, &out->mem),
    };
    engine_add_publication(k, &write, team->published.uid, patch, out);
    team->published.said = queue_status_hash(s);
    team->published.said_ms = k->now_ms;
}

int64_t engine_publish_queues_ms(const struct engine *k)
{
    return k->config.publishes && engine_shares(k) ? k->shares->show_ms : INT64_MAX;
}

bool engine_publish_queues(struct engine *k, struct effects *out)
{
    struct shares *s = k->shares;
    AUTO(arena) mem = {0};
    struct queue_reports all;
    uint32_t n = 0;
    s->show_ms = k->now_ms + LOOK_MS;
    engine_queue_reports(k, k->now_ms, &mem, &all);
    struct asked asked = {FAIR_NONE, arena_array(&mem, int64_t, fair_n_resources(s->tree))};
    list_each(&all.at, report) {
        struct team *team = engine_team(k, report->name);
        if (!team || k->now_ms - team->published.said_ms < LOOK_MS)
            continue;
        struct queue_status status = status_of(k, team, report, &asked, &mem);
        if (queue_status_hash(&status) == team->published.said && !goes_on(k, team, &status))
            continue;
        if (n == MOST_AT_ONCE) {
            s->show_ms = k->now_ms + MORE_MS;
            break;
        }
        publish(k, team, &status, out);
        n++;
    }
    return n;
}
