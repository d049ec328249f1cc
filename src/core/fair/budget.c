/* Budgets (B1-B3): amounts of a resource times time, in windows. A soft one that is spent puts its
 * queue and all below last, and takes the queue's own guarantee away; a hard one is A5's. */

#include "core/fair/inside.h"

static const int64_t DAY_MS = 86400000;

/* --- windows --- */

/* The first day of the month that is `month` months after January of the year 0, in days since
 * 1970; years that begin in March keep the leap day at their end. */
static int64_t first_of_month(int64_t month)
{
    int64_t year = (month - 2) / 12, of_year = (month - 2) % 12;
    return year * 365 + year / 4 - year / 100 + year / 400 + (153 * of_year + 2) / 5 - 719468;
}

static int64_t month_of(int64_t day)
{
    int64_t month = 12 * 1970 + day / 31; /* too early, if at all wrong */
    while (first_of_month(month + 1) <= day)
        month++;
    return month;
}

static void find_window(struct account *a, int64_t now_ms)
{
    int64_t day = now_ms / DAY_MS, month;
    switch (a->budget.window) {
    case FAIR_DAY:
        a->from_ms = day * DAY_MS;
        a->until_ms = a->from_ms + DAY_MS;
        break;
    case FAIR_WEEK: /* 1970 began on a Thursday */
        a->from_ms = ((day + 3) / 7 * 7 - 3) * DAY_MS;
        a->until_ms = a->from_ms + 7 * DAY_MS;
        break;
    case FAIR_MONTH:
        month = month_of(day);
        a->from_ms = first_of_month(month) * DAY_MS;
        a->until_ms = first_of_month(month + 1) * DAY_MS;
        break;
    case FAIR_PERIOD:
        a->from_ms = now_ms / a->budget.period_ms * a->budget.period_ms;
        a->until_ms = a->from_ms + a->budget.period_ms;
        break;
    }
}

/* --- one budget --- */

void budget_begin(struct account *a, int64_t now_ms)
{
    find_window(a, now_ms);
    a->last_ms = now_ms;
    a->spent = 0;
}

static void spend(struct account *a, int64_t used, int64_t now_ms)
{
    if (now_ms >= a->until_ms) {
        find_window(a, now_ms);
        a->last_ms = a->from_ms;
        a->spent = 0;
    }
    a->spent += (__int128)MAX(0, used) * (now_ms - a->last_ms);
    a->last_ms = now_ms;
}

/* When it is spent if use stays what it is; INT64_MAX: not within the window. */
static int64_t spent_ms(const struct account *a, int64_t used)
{
    if (used <= 0 || a->spent >= a->budget.limit)
        return INT64_MAX;
    __int128 left_ms = (a->budget.limit - a->spent + used - 1) / used;
    return left_ms < a->until_ms - a->last_ms ? a->last_ms + (int64_t)left_ms : INT64_MAX;
}

void budget_note(struct fair *f, struct queue *q, uint32_t resource)
{
    vec_each(&q->accounts, a) {
        if (a->budget.resource != resource)
            continue;
        spend(a, q->cells[resource].used, f->now_ms);
        f->due_ms = f->now_ms; /* when it is spent is another time now */
    }
}

/* --- all of them --- */

/* True if a soft budget is spent that was not, or the other way round. */
static bool look_at(struct fair *f, uint32_t number)
{
    struct queue *q = queue_at(f, number);
    bool was_spent = q->is_spent, is_hard_over = false;
    q->is_spent = false;
    vec_each(&q->accounts, a) {
        int64_t used = q->cells[a->budget.resource].used;
        spend(a, used, f->now_ms);
        bool was = a->is_spent;
        a->is_spent = a->spent >= a->budget.limit;
        q->is_spent |= a->is_spent && !a->budget.is_hard;
        is_hard_over |= was && !a->is_spent;
        f->due_ms = MIN(f->due_ms, a->until_ms);
        f->due_ms = MIN(f->due_ms, spent_ms(a, used));
    }
    if (is_hard_over)
        fair_wake(f, number);
    return q->is_spent != was_spent;
}

static void find_last(struct fair *f)
{
    vec_each(&f->top_down, number) {
        struct queue *q = queue_at(f, *number);
        q->is_last = q->is_spent || (*number != FAIR_ROOT && queue_at(f, q->parent)->is_last);
    }
}

void budget_look(struct fair *f)
{
    bool is_any = false;
    f->due_ms = INT64_MAX;
    vec_each(&f->budgeted, number)
        is_any |= look_at(f, *number);
    if (!is_any)
        return;
    f->epoch++;
    find_last(f);
    lanes_wake_all(f); /* A6 is within the guarantee, which is gone or back */
    turns_stale_all(f);
}

void budget_settle(struct fair *f)
{
    vec_clear(&f->budgeted);
    for (uint32_t q = 0; q < f->queues.n; q++)
        if (f->queues.at[q]->accounts.n)
            vec_push(&f->budgeted, q);
    f->due_ms = INT64_MAX;
    vec_each(&f->budgeted, number)
        look_at(f, *number);
    find_last(f);
}

static const struct account *find_account(const struct queue *q, const struct fair_budget *b)
{
    vec_each(&q->accounts, a)
        if (a->budget.resource == b->resource && a->budget.window == b->window &&
            a->budget.period_ms == b->period_ms)
            return a;
    return NULL;
}

void budget_keep(struct fair *f, struct queue *q, const struct fair_budget *budgets, uint32_t n)
{
    struct queue next = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct account fresh = {.budget = budgets[i]};
        budget_begin(&fresh, f->now_ms);
        const struct account *had = find_account(q, &budgets[i]);
        if (had) {
            fresh = *had;
            fresh.budget = budgets[i];
        }
        vec_push(&next.accounts, fresh);
    }
    mem_free(q->accounts.at);
    memcpy(&q->accounts, &next.accounts, sizeof(next.accounts));
    if (n == 0)
        q->is_spent = false;
}

/* --- questions --- */

uint32_t fair_n_budgets(const struct fair *f, uint32_t queue)
{
    return queue_at(f, queue)->accounts.n;
}

struct fair_account fair_account(struct fair *f, uint32_t queue, uint32_t budget)
{
    settle(f);
    if (f->due_ms <= f->now_ms)
        budget_look(f);
    struct queue *q = queue_at(f, queue);
    struct account *a = &q->accounts.at[budget];
    int64_t used = q->cells[a->budget.resource].used;
    spend(a, used, f->now_ms);
    bool lasts = spent_ms(a, used) == INT64_MAX;
    return (struct fair_account){
        .budget = a->budget,
        .from_ms = a->from_ms,
        .until_ms = a->until_ms,
        .spent = a->spent,
        .lasts_until_ms = lasts ? -1 : f->now_ms + (int64_t)((a->budget.limit - a->spent) / used),
        .is_spent = a->is_spent,
        .is_low = a->spent * 10 >= a->budget.limit * 9,
    };
}

void fair_set_spent(struct fair *f, uint32_t queue, uint32_t budget, __int128 spent,
                    int64_t as_of_ms)
{
    settle(f);
    struct account *a = &queue_at(f, queue)->accounts.at[budget];
    if (as_of_ms < a->from_ms || as_of_ms >= a->until_ms)
        return;
    a->spent = spent;
    a->last_ms = f->now_ms;
    budget_look(f);
}
