/* What a Queue's status says that must outlive us: usage that fades, and what was spent of budgets.
 * It is told to each new tree, and taken from the old one before that goes. */

#include "core/fair/past.h"
#include "core/engine/fair/shares.h"
#include "core/model/queue_status.h"

void engine_read_past(struct team *team, const struct queue_object *from)
{
    struct team_past *past = &team->past;
    struct arena *mem = &team->mem;
    past->as_of_ms = from->status.as_of_ms;
    past->uses.at = arena_array(mem, struct queue_status_use, from->status.history.n);
    past->spent.at = arena_array(mem, struct queue_status_budget, from->status.budgets.n);
    list_each(&from->status.history, h) {
        __int128 amount;
        if (queue_number_parse(h->amount, &amount) && amount <= UINT64_MAX)
            past->uses.at[past->uses.n++] =
                (struct queue_status_use){arena_str(mem, h->resource), (uint64_t)amount};
    }
    list_each(&from->status.budgets, b) {
        __int128 spent;
        if (queue_number_parse(b->spent, &spent))
            past->spent.at[past->spent.n++] = (struct queue_status_budget){
                .resource = arena_str(mem, b->resource),
                .window = arena_str(mem, b->window),
                .spent = spent,
            };
    }
}

/* --- to a tree --- */

/* What it used since then, while nobody looked, is what it uses now. */
static void tell_budget(struct engine *k, const struct team *team, uint32_t i, __int128 spent)
{
    struct fair *tree = k->shares->tree;
    const struct fair_account account = fair_account(tree, team->queue, i);
    int64_t used = fair_used(tree, team->queue, account.budget.resource);
    int64_t since_ms = MAX(team->past.as_of_ms, account.from_ms);
    spent += (__int128)used * MAX(k->now_ms - since_ms, (int64_t)0);
    fair_set_spent(tree, team->queue, i, spent, team->past.as_of_ms);
}

static void tell_past(struct engine *k, const struct team *team)
{
    struct shares *s = k->shares;
    const struct team_past *past = &team->past;
    if (past->as_of_ms == TIME_NONE || fair_state(s->tree, team->queue) != FAIR_ACTIVE)
        return;
    if (s->args->half_life_ms)
        list_each(&past->uses, use)
            if (engine_counts_resource(k, use->resource))
                fair_set_history(s->tree, team->queue, engine_resource_number(k, use->resource),
                                 use->amount, past->as_of_ms);
    for (uint32_t i = 0; i < team->says.spec.budgets.n; i++)
        list_each(&past->spent, b)
            if (str_equal(b->resource, team->says.spec.budgets.at[i].resource) &&
                str_equal(b->window, team->says.spec.budgets.at[i].window))
                tell_budget(k, team, i, b->spent);
}

void engine_tell_past(struct engine *k)
{
    vec_each(&k->shares->teams, team)
        tell_past(k, *team);
}

/* --- from a tree --- */

void engine_list_past(const struct engine *k, const struct team *team, struct team_past *out,
                      struct arena *mem)
{
    struct fair *tree = k->shares->tree;
    uint32_t resources = fair_n_resources(tree), n = fair_n_budgets(tree, team->queue);
    *out = (struct team_past){.as_of_ms = k->now_ms};
    out->uses.at = arena_array(mem, struct queue_status_use, resources);
    out->spent.at = arena_array(mem, struct queue_status_budget, n);
    for (uint32_t i = 0; i < resources && k->shares->args->half_life_ms; i++) {
        uint64_t h = fair_history(tree, team->queue, i);
        if (h)
            out->uses.at[out->uses.n++] =
                (struct queue_status_use){arena_str(mem, fair_resource_name(tree, i)), h};
    }
    for (uint32_t i = 0; i < n && i < team->says.spec.budgets.n; i++) {
        const struct queue_budget *says = &team->says.spec.budgets.at[i];
        const struct fair_account a = fair_account(tree, team->queue, i);
        out->spent.at[out->spent.n++] = (struct queue_status_budget){
            .resource = says->resource,
            .window = says->window,
            .from_ms = a.from_ms,
            .until_ms = a.until_ms,
            .hours = says->hours,
            .spent = a.spent,
            .lasts_until_ms = a.lasts_until_ms,
        };
    }
}

void engine_keep_past(struct engine *k)
{
    vec_each(&k->shares->teams, team)
        if ((*team)->is_told) {
            arena_reset(&(*team)->past_mem);
            engine_list_past(k, *team, &(*team)->past, &(*team)->past_mem);
        }
}
