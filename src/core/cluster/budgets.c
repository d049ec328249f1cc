#include "core/cluster/budgets.h"

#include "core/cluster/cluster.h"

/* Evicting pods of the namespace may cost something else now. */
static void note_change(struct budgets *all, sym namespace)
{
    map_put(&all->changed, namespace, ++all->changes);
}

bool budgets_changed_since(const struct budgets *all, sym namespace, uint32_t change)
{
    uint32_t found = map_find(&all->changed, namespace);
    uint32_t last = found == MAP_NONE ? all->gone : found; /* it may have had some before */
    return (int32_t)(last - change) > 0;
}

/* Holds (+1) or drops (-1) all that a budget refers to. */
static void hold(struct cluster *c, const struct budget *b, int sign)
{
    void (*change)(struct intern *, uint32_t) = sign > 0 ? intern_hold : intern_drop;
    change(&c->names.text, b->namespace);
    change(&c->names.text, b->name);
    change(&c->matches.selectors.table, b->selector);
    vec_each(&b->evicted, pod)
        change(&c->names.text, *pod);
}

static int compare(const struct cluster *c, const struct budget *b, const struct budget_ask *ask)
{
    if (b->namespace != ask->namespace)
        return b->namespace < ask->namespace ? -1 : 1;
    return str_compare(names_text(&c->names, b->name), names_text(&c->names, ask->name));
}

/* Where it is, or would be. */
static uint32_t place_of(const struct cluster *c, const struct budget_ask *ask)
{
    uint32_t low = 0, high = c->budgets.at.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(c, &c->budgets.at.at[middle], ask) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_same(const struct budget *b, const struct budget_ask *ask)
{
    if (b->selector != ask->selector || b->allowed != ask->allowed ||
        b->evicted.n != ask->n_evicted)
        return false;
    for (uint32_t i = 0; i < ask->n_evicted; i++)
        if (b->evicted.at[i] != ask->evicted[i])
            return false;
    return true;
}

static void add(struct cluster *c, uint32_t at, const struct budget_ask *ask)
{
    struct budget b = {ask->namespace, ask->name, ask->selector, ask->allowed, {0}};
    for (uint32_t i = 0; i < ask->n_evicted; i++)
        vec_push(&b.evicted, ask->evicted[i]);
    hold(c, &b, +1);
    vec_insert(&c->budgets.at, at, b);
    note_change(&c->budgets, b.namespace);
}

static bool has_any(const struct budgets *b, uint32_t at, sym namespace)
{
    return (at < b->at.n && b->at.at[at].namespace == namespace) ||
           (at > 0 && b->at.at[at - 1].namespace == namespace);
}

static void remove_at(struct cluster *c, uint32_t at)
{
    struct budgets *all = &c->budgets;
    struct budget old = all->at.at[at];
    vec_remove(&all->at, at);
    note_change(all, old.namespace);
    if (!has_any(all, at, old.namespace)) {
        map_remove(&all->changed, old.namespace);
        all->gone = all->changes;
    }
    hold(c, &old, -1);
    vec_done(&old.evicted);
}

void budgets_put(struct cluster *c, const struct budget_ask *ask)
{
    uint32_t at = place_of(c, ask), n = c->budgets.at.n;
    bool was = at < n && compare(c, &c->budgets.at.at[at], ask) == 0;
    bool is = ask->selector != ID_NONE && matches_selector_at(&c->matches, ask->selector).n > 0;
    if (was && is && is_same(&c->budgets.at.at[at], ask))
        return;
    if (is)
        add(c, at, ask);
    if (was)
        remove_at(c, at + is);
}

int32_t *budgets_allowed(const struct budgets *b, struct arena *mem)
{
    int32_t *allowed = arena_array(mem, int32_t, b->at.n);
    for (uint32_t i = 0; i < b->at.n; i++)
        allowed[i] = b->at.at[i].allowed;
    return allowed;
}

static bool is_evicted(const struct cluster *c, const struct budget *b, struct str pod)
{
    vec_each(&b->evicted, name)
        if (str_equal(names_text(&c->names, *name), pod))
            return true;
    return false;
}

bool budgets_allow(const struct cluster *c, pod_id pod, int32_t *allowed)
{
    const struct shape *shape = pods_shape(&c->pods, pod);
    if (shape->labels == 0) /* without labels nothing selects it, whatever the selector says */
        return true;
    for (uint32_t i = 0; i < c->budgets.at.n; i++) {
        const struct budget *b = &c->budgets.at.at[i];
        if (b->namespace == shape->namespace &&
            selector_matches(matches_selector_at(&c->matches, b->selector), &c->names,
                             shape->labels) &&
            !is_evicted(c, b, pod_name(pods_at(&c->pods, pod))) && --allowed[i] < 0)
            return false;
    }
    return true;
}

void budgets_done(struct budgets *b)
{
    vec_each(&b->at, budget)
        vec_done(&budget->evicted);
    vec_done(&b->at);
    map_done(&b->changed);
}
