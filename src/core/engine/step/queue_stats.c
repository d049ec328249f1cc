#include "core/engine/queue_stats.h"

#include "core/base/hash.h"
#include "core/engine/fair/counts.h"
#include "core/engine/step/step.h"
#include "core/fair/past.h"

/* --- how they stand now --- */

/* The rows of one page are all of one moment: they are worked out once. */
static const struct queue_reports *reports_of(const struct engine *k)
{
    struct shares *s = k->shares;
    uint64_t moment = hash_pair(hash_pair((uint64_t)k->now_ms, k->cluster->log.end),
                                hash_pair(k->last.effect, k->figures->stats.decisions));
    if (s->reports_of != moment) {
        arena_reset(&s->reports_mem);
        engine_read_queues(k, &s->reports_mem, &s->reports);
        s->reports_of = moment;
    }
    return &s->reports;
}

static struct str queue_label(const struct queue_reports *all, const struct queue_report *r)
{
    return r - all->at.at < QUEUES_SHOWN ? r->name : STR("other");
}

static double amount_of(const struct queue_amounts *a, int64_t amount)
{
    return a->in_thousandths ? (double)amount / 1e3 : (double)amount;
}

/* The amount at an offset of each row; of queues beyond those that are shown the sum, by resource. */
static void put_amounts(const struct engine *k, const struct metric_sink *out, size_t offset)
{
    const struct queue_reports *all = reports_of(k);
    double others[RESOURCES_SHOWN] = {0};
    list_each(&all->at, r)
        for (uint32_t i = 0; i < MIN(r->amounts.n, (uint32_t)RESOURCES_SHOWN); i++) {
            const struct queue_amounts *a = &r->amounts.at[i];
            int64_t amount;
            memcpy(&amount, (const char *)a + offset, sizeof(amount));
            if (amount < 0)
                continue; /* no limit */
            if (r - all->at.at < QUEUES_SHOWN)
                metric_put(out, (struct str[]){r->name, a->resource}, amount_of(a, amount));
            else
                others[i] += amount_of(a, amount);
        }
    for (uint32_t i = 0; all->at.n > QUEUES_SHOWN && i < RESOURCES_SHOWN; i++)
        if (i < all->at.at[0].amounts.n)
            metric_put(out, (struct str[]){STR("other"), all->at.at[0].amounts.at[i].resource},
                       others[i]);
}

#define READ_AMOUNT(member)                                                                        \
    static void read_##member(const void *source, const struct metric_sink *out)                   \
    {                                                                                              \
        put_amounts(source, out, offsetof(struct queue_amounts, member));                          \
    }

READ_AMOUNT(guaranteed)
READ_AMOUNT(entitled)
READ_AMOUNT(max)
READ_AMOUNT(used)
READ_AMOUNT(borrowed)
READ_AMOUNT(lent)
READ_AMOUNT(waiting)

static void read_share(const void *source, const struct metric_sink *out)
{
    const struct queue_reports *all = reports_of(source);
    for (uint32_t i = 0; i < MIN(all->at.n, (uint32_t)QUEUES_SHOWN); i++)
        metric_put(out, &all->at.at[i].name, (double)all->at.at[i].share / 1e9);
}

static void read_jobs(const void *source, const struct metric_sink *out)
{
    const struct queue_reports *all = reports_of(source);
    for (uint32_t i = 0; i < MIN(all->at.n, (uint32_t)QUEUES_SHOWN); i++) {
        const struct queue_report *r = &all->at.at[i];
        metric_put(out, (struct str[]){r->name, STR("running")}, r->running);
        metric_put(out, (struct str[]){r->name, STR("waiting")}, r->waiting);
        metric_put(out, (struct str[]){r->name, STR("blocked")}, r->blocked);
    }
}

static void read_usage(const void *source, const struct metric_sink *out)
{
    const struct queue_reports *all = reports_of(source);
    for (uint32_t i = 0; i < MIN(all->at.n, (uint32_t)QUEUES_SHOWN); i++)
        list_each(&all->at.at[i].amounts, a)
            if (a - all->at.at[i].amounts.at < RESOURCES_SHOWN)
                metric_put(out, (struct str[]){queue_label(all, &all->at.at[i]), a->resource},
                           (double)(int64_t)(a->used_time / 1000) / (a->in_thousandths ? 1e3 : 1));
}

/* --- budgets --- */

static void put_budgets(const struct engine *k, const struct metric_sink *out, bool is_spent)
{
    static const double hour_ms = 3600e3;
    const struct shares *s = k->shares;
    for (uint32_t i = 0; s->tree && i < MIN(s->teams.n, (uint32_t)QUEUES_SHOWN); i++) {
        const struct team *team = s->teams.at[i];
        uint32_t n = team->is_told ? fair_n_budgets(s->tree, team->queue) : 0;
        for (uint32_t b = 0; b < MIN(n, team->says.spec.budgets.n); b++) {
            const struct queue_budget *says = &team->says.spec.budgets.at[b];
            const struct fair_account a = fair_account(s->tree, team->queue, b);
            double per = hour_ms * (s->is_fine.at[a.budget.resource] ? 1e3 : 1);
            metric_put(out, (struct str[]){team->name, says->resource, says->window},
                       is_spent ? (double)(int64_t)(a.spent / 1000) / (per / 1000)
                                : (double)says->hours);
        }
    }
}

static void read_budgets(const void *source, const struct metric_sink *out)
{
    put_budgets(source, out, false);
}

static void read_spent(const void *source, const struct metric_sink *out)
{
    put_budgets(source, out, true);
}

/* --- what happened --- */

static const struct queue_counts *counts_of(const void *source)
{
    return &((const struct engine *)source)->shares->counts;
}

static void read_waits(const void *source, const struct metric_sink *out)
{
    const struct queue_counts *c = counts_of(source);
    for (uint32_t i = 0; i < c->at.n; i++) {
        struct str name = intern_bytes(&c->names, i);
        if (histogram_count(&c->at.at[i].waits))
            metric_put_histogram(out, &name, &c->at.at[i].waits);
    }
}

static void read_refusals(const void *source, const struct metric_sink *out)
{
    const struct queue_counts *c = counts_of(source);
    for (uint32_t i = 0; i < c->at.n; i++)
        for (uint32_t rule = QUEUE_RULE_A1; rule <= QUEUE_RULE_ROOM; rule++)
            if (c->at.at[i].refusals[rule])
                metric_put(out, (struct str[]){intern_bytes(&c->names, i), queue_rule_name(rule)},
                           (double)c->at.at[i].refusals[rule]);
}

static void read_evictions(const void *source, const struct metric_sink *out)
{
    const struct queue_counts *c = counts_of(source);
    vec_each(&c->evictions, e)
        metric_put(out,
                   (struct str[]){intern_bytes(&c->names, e->queue), intern_bytes(&c->names, e->by),
                                  e->is_reclaim ? STR("reclaim") : STR("priority")},
                   (double)e->pods);
}

#define AMOUNT(name, what)                                                                         \
    METRIC("kubenexus_queue_" #name, GAUGE, "queue,resource", NULL, read_##name, what)

const struct metric queue_metrics[] = {
    AMOUNT(guaranteed,
           "What the queue has whenever it wants it, as far as the cluster backs it. Of queues the "
           "first 1,000, those nearest to the top, and other; of resources the first 16."),
    AMOUNT(entitled, "Its fair part now, the guarantee included."),
    AMOUNT(max, "What it may use at most; none: no limit."),
    AMOUNT(used, "What its pods have, and what is kept for them."),
    AMOUNT(borrowed, "What it uses beyond its guarantee."),
    AMOUNT(lent, "What others use of its idle guarantee."),
    AMOUNT(waiting, "What its pods that wait ask for."),
    METRIC("kubenexus_queue_share", GAUGE, "queue", NULL, read_share,
           "What it uses beyond its guarantee, as a part of the cluster: 0 to 1."),
    METRIC("kubenexus_queue_jobs", GAUGE, "queue,state", NULL, read_jobs,
           "Jobs that run, wait, or wait and may not start whatever room there is (blocked, which "
           "are among those that wait)."),
    METRIC("kubenexus_queue_wait_seconds", HISTOGRAM, "queue", &gang_wait_bounds, read_waits,
           "Time from a job's creation until its minimum starts."),
    METRIC("kubenexus_queue_usage_seconds_total", COUNTER, "queue,resource", NULL, read_usage,
           "What it used, times seconds, since the queues were read."),
    METRIC("kubenexus_queue_budget_hours", GAUGE, "queue,resource,window", NULL, read_budgets,
           "What its budget allows in the window."),
    METRIC("kubenexus_queue_budget_spent_hours", GAUGE, "queue,resource,window", NULL, read_spent,
           "What of it is spent."),
    METRIC("kubenexus_queue_evictions_total", COUNTER, "queue,by,kind", NULL, read_evictions,
           "Pods of the queue that went for a job of another queue (reclaim), or for a more "
           "important one of their own or of the system (priority)."),
    METRIC("kubenexus_queue_refusals_total", COUNTER, "queue,rule", NULL, read_refusals,
           "Times that a job was told that its queue keeps it out, by rule "
           "(docs/guide/queues.md)."),
};
const uint32_t n_queue_metrics = LEN(queue_metrics);
