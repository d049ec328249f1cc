/* What keeps a unit out whatever room there is (A1-A6), and the numbers for its text. */

#include "core/fair/inside.h"

static bool refuse(struct fair_refusal *why, struct fair_refusal what)
{
    if (why)
        *why = what;
    return false;
}

/* --- A1 --- */

static bool has_children(const struct fair *f, const struct queue *q)
{
    if (q->children.n == q->n_parts)
        return false;
    vec_each(&q->children, child)
        if (queue_at(f, *child)->kind == QUEUE_OBJECT)
            return true;
    return false;
}

static bool is_open(const struct fair *f, const struct fair_request *r, uint32_t at, bool is_leaf,
                    struct fair_refusal *why)
{
    const struct queue *q = queue_at(f, at);
    enum fair_a1 what;
    if (is_leaf && q->kind == QUEUE_PHANTOM)
        what = FAIR_IS_MISSING;
    else if (is_leaf && has_children(f, q))
        what = FAIR_HAS_CHILDREN;
    else if (q->state != FAIR_ACTIVE && q->kind == QUEUE_OBJECT)
        what = FAIR_IS_NOT_ACTIVE;
    else if (is_leaf && !r->is_taken)
        what = FAIR_TAKES_NOT;
    else if (q->stop != FAIR_OPEN)
        what = q->stop == FAIR_HOLD ? FAIR_IS_HELD : FAIR_IS_DRAINED;
    else
        return true;
    return refuse(
        why, (struct fair_refusal){.rule = FAIR_A1, .at = at, .what = what, .resource = FAIR_NONE});
}

/* --- A2 --- */

uint32_t fair_kept_for(struct fair *f, uint32_t top, uint32_t r)
{
    settle(f);
    uint32_t best = FAIR_NONE;
    int64_t most = 0;
    vec_each(&f->top_down, number) {
        const struct queue *q = queue_at(f, *number);
        int64_t idle = q->cells[r].kept - q->cells[r].below;
        if (idle <= 0 || idle < most)
            continue;
        uint32_t at = *number;
        while (at != FAIR_NONE && at != top)
            at = queue_at(f, at)->parent;
        if (at == FAIR_NONE || *number == top)
            continue;
        if (idle == most && str_compare(fair_name(f, *number), fair_name(f, best)) > 0)
            continue;
        best = *number;
        most = idle;
    }
    return best;
}

static bool refuse_a2(const struct fair *f, uint32_t at, uint32_t r, int64_t limit, int64_t wanted,
                      struct fair_refusal *why)
{
    if (!why)
        return false;
    const struct cell *c = &queue_at(f, at)->cells[r];
    return refuse(why, (struct fair_refusal){
                           .rule = FAIR_A2,
                           .at = at,
                           .resource = r,
                           .limit = limit,
                           .used = c->used,
                           .kept = charge_of(c) - c->used,
                           .wanted = wanted,
                       });
}

/* `rises`, by resource of the ask: what the charge of the queue below rises by with the request;
 * then, what this one's does. */
static bool is_within_max(const struct fair *f, const struct fair_request *request, uint32_t at,
                          int64_t *rises, struct fair_refusal *why)
{
    uint32_t refused = FAIR_NONE;
    const struct queue *q = queue_at(f, at);
    for (uint32_t i = 0; i < request->ask.n; i++) {
        const struct cell *c = &q->cells[request->ask.at[i].resource];
        int64_t before = charge_of(c), after = MAX(sum_of(c->below, rises[i]), c->kept);
        rises[i] = after - before;
        if (after > c->max && after > before && refused == FAIR_NONE)
            refused = i;
    }
    if (refused == FAIR_NONE)
        return true;
    struct fair_amount a = request->ask.at[refused];
    return refuse_a2(f, at, a.resource, q->cells[a.resource].max, a.amount, why);
}

/* Room that is still kept for others; where nothing is, whether there is room is not asked here. */
static bool is_within_root(const struct fair *f, const struct fair_request *request,
                           const int64_t *rises, struct fair_refusal *why)
{
    const struct queue *root = queue_at(f, FAIR_ROOT);
    for (uint32_t i = 0; i < request->ask.n; i++) {
        struct fair_amount a = request->ask.at[i];
        const struct cell *c = &root->cells[a.resource];
        int64_t before = charge_of(c), after = sum_of(before, rises[i]);
        if (after > f->capacity.at[a.resource] && after > before &&
            after > sum_of(c->used, a.amount))
            return refuse_a2(f, FAIR_ROOT, a.resource, f->capacity.at[a.resource], a.amount, why);
    }
    return true;
}

/* --- A3, A5 --- */

static bool has_job_left(const struct queue *q, const struct fair_request *r, uint32_t at,
                         int64_t most, enum fair_rule rule, struct fair_refusal *why)
{
    if (!r->is_new_job || most < 0 || (int64_t)q->jobs + 1 <= most)
        return true;
    return refuse(why, (struct fair_refusal){.rule = rule,
                                             .at = at,
                                             .resource = FAIR_NONE,
                                             .limit = most,
                                             .used = q->jobs,
                                             .wanted = 1});
}

static bool has_budget_left(const struct queue *q, uint32_t at, struct fair_refusal *why)
{
    for (uint32_t i = 0; i < q->accounts.n; i++)
        if (q->accounts.at[i].is_spent && q->accounts.at[i].budget.is_hard)
            return refuse(why, (struct fair_refusal){.rule = FAIR_A5,
                                                     .at = at,
                                                     .resource = q->accounts.at[i].budget.resource,
                                                     .budget = i});
    return true;
}

/* --- A4: of a part or a namespace --- */

static bool is_within_each(const struct fair *f, const struct fair_request *r, uint32_t at,
                           struct fair_refusal *why)
{
    const struct queue *q = queue_at(f, at);
    for (uint32_t i = 0; i < r->ask.n; i++) {
        const struct cell *c = &q->cells[r->ask.at[i].resource];
        if (sum_of(c->used, r->ask.at[i].amount) > c->max)
            return refuse(why, (struct fair_refusal){.rule = FAIR_A4,
                                                     .at = at,
                                                     .resource = r->ask.at[i].resource,
                                                     .limit = c->max,
                                                     .used = c->used,
                                                     .wanted = r->ask.at[i].amount});
    }
    return true;
}

/* --- A6 --- */

static bool may_stay(struct fair *f, const struct fair_request *r, uint32_t leaf,
                     struct fair_refusal *why)
{
    if (r->is_preemptible)
        return true;
    for (uint32_t at = leaf; at != FAIR_ROOT; at = queue_at(f, at)->parent) {
        const struct queue *q = queue_at(f, at);
        for (uint32_t i = 0; i < r->ask.n; i++) {
            uint32_t resource = r->ask.at[i].resource;
            int64_t guarantee = guarantee_of(q, resource), used = q->cells[resource].used;
            if (!f->is_guaranteed.at[resource] || sum_of(used, r->ask.at[i].amount) <= guarantee)
                continue;
            return refuse(why, (struct fair_refusal){.rule = FAIR_A6,
                                                     .at = at,
                                                     .resource = resource,
                                                     .limit = guarantee,
                                                     .used = used,
                                                     .wanted = r->ask.at[i].amount});
        }
    }
    return true;
}

/* --- all of them, in their order --- */

static bool is_admitted_at(const struct fair *f, const struct fair_request *r, uint32_t at,
                           bool is_leaf, int64_t *rises, struct fair_refusal *why)
{
    const struct queue *q = queue_at(f, at);
    return is_open(f, r, at, is_leaf, why) && is_within_max(f, r, at, rises, why) &&
           has_job_left(q, r, at, q->max_jobs, FAIR_A3, why) && has_budget_left(q, at, why);
}

/* A part keeps nothing for itself, so its charge rises by what is asked for. */
static bool admits(struct fair *f, const struct fair_request *r, int64_t *rises,
                   struct fair_refusal *why)
{
    uint32_t leaf = fair_leaf(f, r->queue);
    for (uint32_t i = 0; i < r->ask.n; i++)
        rises[i] = r->ask.at[i].amount;
    if (leaf != r->queue && !(is_within_each(f, r, r->queue, why) &&
                              has_job_left(queue_at(f, r->queue), r, r->queue,
                                           queue_at(f, leaf)->each_max_jobs, FAIR_A4, why)))
        return false;
    if (r->namespace != FAIR_NONE && !is_within_each(f, r, r->namespace, why))
        return false;
    for (uint32_t at = leaf; at != FAIR_ROOT; at = queue_at(f, at)->parent)
        if (!is_admitted_at(f, r, at, at == leaf, rises, why))
            return false;
    return is_within_root(f, r, rises, why) && may_stay(f, r, leaf, why);
}

bool fair_admits(struct fair *f, const struct fair_request *r, struct fair_refusal *why)
{
    settle(f);
    vec_resize(&f->rises, r->ask.n);
    return admits(f, r, f->rises.at, why);
}
