/* The tree: Queue objects as numbers. What text and defaults mean is settled here. */

#include "core/engine/fair/shares.h"
#include "core/cluster/read.h"
#include "core/engine/gang/gang.h"
#include "core/fair/cover.h"
#include "core/fair/past.h"

/* --- beginning and end --- */

struct shares *shares_new(void)
{
    return mem_alloc(sizeof(struct shares));
}

static void free_team(struct engine *k, struct team *team)
{
    struct cluster *c = k->cluster;
    vec_each(&team->namespaces, name)
        intern_drop(&c->names.text, *name);
    vec_done(&team->namespaces);
    if (team->like != ID_NONE)
        intern_drop(&c->matches.selectors.table, team->like);
    if (team->split != SYM_NONE)
        intern_drop(&c->names.text, team->split);
    arena_done(&team->past_mem);
    arena_done(&team->mem);
    mem_free(team);
}

static void forget_kinds(struct engine *k)
{
    struct shares *s = k->shares;
    struct intern *text = &k->cluster->names.text;
    vec_each(&s->kinds, kind) {
        if (kind->key != SYM_NONE)
            intern_drop(text, kind->key);
        intern_drop(text, kind->value);
    }
    vec_clear(&s->kinds);
    map_clear(&s->pinned);
    s->vram = 0;
}

static void forget_limits(struct engine *k)
{
    struct shares *s = k->shares;
    uint32_t n = 0;
    map_clear(&s->limits);
    vec_each(&s->limited, namespace)
        if (engine_max_said(k, *namespace).n)
            s->limited.at[n++] = *namespace;
        else
            intern_drop(&k->cluster->names.text, *namespace);
    s->limited.n = n;
}

static void fell_tree(struct engine *k)
{
    struct shares *s = k->shares;
    if (s->tree)
        engine_keep_past(k);
    vec_each(&s->teams, team)
        (*team)->is_told = false;
    if (s->tree)
        fair_free(s->tree);
    s->tree = NULL;
    k->cluster->tap = NULL;
    vec_done(&s->charged);
    vec_each(&s->standers, is)
        kept_turn_free(is->turn);
    vec_done(&s->standers);
    map_done(&s->jobs);
    vec_done(&s->numbers);
    vec_done(&s->is_fine);
    vec_done(&s->capacity);
    forget_limits(k);
    forget_kinds(k);
}

void engine_shares_done(struct engine *k)
{
    struct shares *s = k->shares;
    fell_tree(k);
    vec_each(&s->teams, team)
        free_team(k, *team);
    vec_done(&s->teams);
    vec_done(&s->has_part);
    map_done(&s->said_at);
    vec_done(&s->said);
    vec_done(&s->said_free);
    map_done(&s->namespaces);
    map_done(&s->named);
    vec_done(&s->kinds);
    map_done(&s->pinned);
    map_done(&s->limits);
    vec_done(&s->limited);
    vec_done(&s->ask);
    queue_counts_done(&s->counts);
    arena_done(&s->reports_mem);
    arena_done(&s->mem);
    mem_free(s);
}

/* --- objects --- */

/* Where the team of this name stands, or would stand. */
static uint32_t place_of(const struct shares *s, struct str name)
{
    uint32_t low = 0, high = s->teams.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(s->teams.at[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct team *engine_team(const struct engine *k, struct str name)
{
    const struct shares *s = k->shares;
    uint32_t at = place_of(s, name);
    return at < s->teams.n && str_equal(s->teams.at[at]->name, name) ? s->teams.at[at] : NULL;
}

static void keep_amounts(struct arena *mem, amount_list *list)
{
    list->at = arena_copy(mem, list->at, list->n * sizeof(*list->at));
    list_each(list, amount)
        amount->name = arena_str(mem, amount->name);
}

static void keep_says(struct team *team, const struct queue_object *from)
{
    struct arena *mem = &team->mem;
    team->says = *from;
    struct queue_object *is = &team->says;
    is->meta = (struct meta){.name = team->name, .generation = from->meta.generation};
    is->invalid = arena_str(mem, from->invalid);
    is->spec.parent = arena_str(mem, from->spec.parent);
    is->spec.stop = arena_str(mem, from->spec.stop);
    keep_amounts(mem, &is->spec.guaranteed);
    keep_amounts(mem, &is->spec.max);
    keep_amounts(mem, &is->spec.lend);
    is->spec.provisioning = NULL;
    is->spec.budgets.at =
        arena_copy(mem, is->spec.budgets.at, is->spec.budgets.n * sizeof(*is->spec.budgets.at));
    list_each(&is->spec.budgets, b) {
        b->resource = arena_str(mem, b->resource);
        b->window = arena_str(mem, b->window);
        b->action = arena_str(mem, b->action);
    }
    if (from->spec.split) {
        is->spec.split = arena_copy(mem, from->spec.split, sizeof(*from->spec.split));
        is->spec.split->by = arena_str(mem, from->spec.split->by);
        is->spec.split->label = arena_str(mem, from->spec.split->label);
        keep_amounts(mem, &is->spec.split->each_max);
    }
    memset(&is->status, 0, sizeof(is->status));
}

static void keep_namespaces(struct engine *k, struct team *team, const struct queue_object *from)
{
    struct cluster *c = k->cluster;
    team->like = ID_NONE;
    const struct queue_namespaces *says = from->spec.namespaces;
    if (!says)
        return;
    list_each(&says->names, name) {
        sym s = names_get(&c->names, *name);
        intern_hold(&c->names.text, s);
        vec_push(&team->namespaces, s);
    }
    team->like = read_selector(c, says->selector);
    if (team->like != ID_NONE)
        intern_hold(&c->matches.selectors.table, team->like);
}

static void keep_published(struct team *team, const struct queue_object *from)
{
    uint32_t n = 0;
    team->published.uid = arena_str(&team->mem, from->meta.uid);
    list_each(&from->status.conditions, c)
        if (n < QUEUE_CONDITIONS_MOST)
            team->published.was[n++] = (struct team_condition){
                arena_str(&team->mem, c->type), str_equal(c->status, STR("True")), c->since_ms};
}

static struct team *new_team(struct engine *k, const struct queue_object *from)
{
    struct team *team = mem_alloc(sizeof(*team));
    struct str label = from->spec.split ? from->spec.split->label : (struct str){0};
    team->name = arena_str(&team->mem, from->meta.name);
    team->split = label.n ? names_get(&k->cluster->names, label) : SYM_NONE;
    if (team->split != SYM_NONE)
        intern_hold(&k->cluster->names.text, team->split);
    keep_says(team, from);
    keep_namespaces(k, team, from);
    engine_read_past(team, from);
    keep_published(team, from);
    return team;
}

/* Parents, leaves, and whose a namespace is: once for all that came together. */
void engine_relate_teams(struct engine *k)
{
    struct shares *s = k->shares;
    s->is_unrelated = false;
    vec_each(&s->teams, team)
        (*team)->is_leaf = true;
    vec_each(&s->teams, team) {
        struct str parent = (*team)->says.spec.parent;
        uint32_t at = parent.n ? place_of(s, parent) : s->teams.n;
        bool is_there = at < s->teams.n && str_equal(s->teams.at[at]->name, parent);
        (*team)->parent = is_there ? at : ID_NONE;
        if (is_there)
            s->teams.at[at]->is_leaf = false;
    }
    map_clear(&s->namespaces);
    map_clear(&s->named);
    s->any_likes = false;
    for (uint32_t i = 0; i < s->teams.n; i++) {
        const struct team *team = s->teams.at[i];
        s->any_likes |= team->like != ID_NONE;
        for (uint32_t n = 0; n < team->namespaces.n && team->is_leaf; n++) {
            sym name = team->namespaces.at[n];
            uint32_t other = map_find(&s->named, name);
            map_put(&s->named, name, other == MAP_NONE || other == i ? i : SEVERAL);
        }
    }
}

/* --- text to numbers --- */

static struct fair_ask numbers_of(struct engine *k, const amount_list *list)
{
    struct shares *s = k->shares;
    struct fair_amount *at = arena_array(&s->mem, struct fair_amount, list->n);
    uint32_t n = 0;
    list_each(list, amount) {
        uint32_t resource = engine_resource_number(k, amount->name), i = n++;
        bool is_fine = s->is_fine.at[resource];
        int64_t is = is_fine ? quantity_milli(amount->quantity) : quantity_value(amount->quantity);
        for (; i > 0 && at[i - 1].resource > resource; i--)
            at[i] = at[i - 1];
        at[i] = (struct fair_amount){resource, MAX(is, (int64_t)0)};
    }
    return (struct fair_ask){at, n};
}

/* --- kinds --- */

/* What pods take of it rests on their node. */
static bool is_kind(struct str name)
{
    return queue_resource(name).n < name.n || str_equal(name, STR("vram"));
}

static void list_new_kind(const struct engine *k, struct str name, str_list *out)
{
    if (!is_kind(name) || engine_knows_resource(k, name))
        return;
    list_each(out, other)
        if (str_equal(*other, name))
            return;
    out->at[out->n++] = name;
}

static void list_new_kinds(const struct engine *k, const amount_list *list, str_list *out)
{
    list_each(list, amount)
        list_new_kind(k, amount->name, out);
}

/* Those that have no number in the tree yet. */
static uint32_t count_new_kinds(struct engine *k, const struct queue_object *says)
{
    struct shares *s = k->shares;
    str_list kinds = {0};
    kinds.at = arena_array(&s->mem, struct str, 4 * QUEUE_KEYS_MOST + QUEUE_BUDGETS_MOST);
    if (says->invalid.n)
        return 0;
    list_new_kinds(k, &says->spec.guaranteed, &kinds);
    list_new_kinds(k, &says->spec.max, &kinds);
    list_new_kinds(k, &says->spec.lend, &kinds);
    if (says->spec.split)
        list_new_kinds(k, &says->spec.split->each_max, &kinds);
    list_each(&says->spec.budgets, budget)
        list_new_kind(k, budget->resource, &kinds);
    return kinds.n;
}

static bool has_room_for_kinds(const struct engine *k, uint32_t n)
{
    return n == 0 || k->shares->kinds.n + n <= QUEUE_KINDS_MOST;
}

/* --- objects to numbers --- */

static enum fair_window window_of(enum queue_window_kind kind)
{
    return kind == WINDOW_DAY     ? FAIR_DAY
           : kind == WINDOW_WEEK  ? FAIR_WEEK
           : kind == WINDOW_MONTH ? FAIR_MONTH
                                  : FAIR_PERIOD;
}

static const struct fair_budget *budgets_of(struct engine *k, const struct queue_object *says)
{
    enum { HOUR_MS = 3600000 };
    struct shares *s = k->shares;
    struct fair_budget *at = arena_array(&s->mem, struct fair_budget, says->spec.budgets.n);
    uint32_t n = 0;
    list_each(&says->spec.budgets, b) {
        struct queue_window window = queue_window(b->window);
        uint32_t resource = engine_resource_number(k, b->resource);
        at[n++] = (struct fair_budget){
            .resource = resource,
            .window = window_of(window.kind),
            .period_ms = window.span_ms,
            .limit = (__int128)b->hours * HOUR_MS * (s->is_fine.at[resource] ? 1000 : 1),
            .is_hard = queue_budget_is_hard(b),
        };
    }
    return at;
}

static struct fair_spec spec_of(struct engine *k, const struct queue_object *says)
{
    bool has_room = has_room_for_kinds(k, count_new_kinds(k, says));
    if (says->invalid.n || !has_room) {
        struct fair_spec spec = FAIR_SPEC_PLAIN;
        spec.invalid =
            has_room ? says->invalid : STR("a cluster has at most 64 kinds of resources");
        return spec;
    }
    enum queue_stop stop = queue_stop(says);
    bool is_split = queue_split_by(says) != SPLIT_NONE;
    bool has_most = is_split && says->spec.split->has_each_max_jobs;
    return (struct fair_spec){
        .parent = says->spec.parent,
        .guaranteed = numbers_of(k, &says->spec.guaranteed),
        .max = numbers_of(k, &says->spec.max),
        .lend = numbers_of(k, &says->spec.lend),
        .weight = queue_weight(says),
        .max_jobs = says->spec.has_max_jobs ? says->spec.max_jobs : -1,
        .min_run_ms = says->spec.has_min_run ? says->spec.min_run_s * 1000 : -1,
        .stop = stop == QUEUE_HOLD    ? FAIR_HOLD
                : stop == QUEUE_DRAIN ? FAIR_DRAIN
                                      : FAIR_OPEN,
        .is_split = is_split,
        .each_max = is_split ? numbers_of(k, &says->spec.split->each_max) : (struct fair_ask){0},
        .each_max_jobs = has_most ? says->spec.split->each_max_jobs : -1,
        .budgets = budgets_of(k, says),
        .n_budgets = says->spec.budgets.n,
        .invalid = says->invalid,
    };
}

/* The queue of those who name none, as nobody configured it. */
static struct fair_spec plain_default(const struct shares *s)
{
    struct fair_spec spec = FAIR_SPEC_PLAIN;
    spec.is_split = s->args->shares_namespaces;
    return spec;
}

static void tell_tree(struct engine *k, struct team *team)
{
    struct shares *s = k->shares;
    uint32_t were = fair_n_resources(s->tree);
    struct fair_spec spec = spec_of(k, &team->says);
    s->must_begin |= s->leaves_out && fair_n_resources(s->tree) > were;
    if (str_equal(team->name, STR("default")))
        spec.is_split |= s->args->shares_namespaces;
    team->queue = fair_put(s->tree, team->name, &spec);
    team->is_told = true;
    arena_reset(&s->mem);
}

/* What is said of a namespace; false: nobody can read it. */
static bool read_limits(struct engine *k, sym namespace, amount_list *out, uint32_t *new_kinds)
{
    struct arena *mem = &k->shares->mem;
    struct error e;
    struct str said = engine_max_said(k, namespace);
    *new_kinds = 0;
    *out = (amount_list){0};
    if (!said.n)
        return true;
    if (!queue_read_amounts(said, mem, out, &e))
        return false;
    str_list kinds = {.at = arena_array(mem, struct str, out->n)};
    list_new_kinds(k, out, &kinds);
    *new_kinds = kinds.n;
    return has_room_for_kinds(k, kinds.n);
}

/* What a namespace says that nobody can read lets nothing start there. */
static void limit_namespace(struct engine *k, sym namespace)
{
    struct shares *s = k->shares;
    amount_list max;
    uint32_t new_kinds, n = 0;
    struct fair_amount none = {engine_resource_number(k, STR("pods")), 0};
    struct fair_ask limits = {&none, 1};
    if (read_limits(k, namespace, &max, &new_kinds)) {
        list_each(&max, amount)
            if (is_kind(amount->name) || engine_counts_resource(k, amount->name))
                max.at[n++] = *amount;
        max.n = n;
        limits = numbers_of(k, &max);
    }
    struct str name = names_text(&k->cluster->names, namespace);
    map_put(&s->limits, namespace, fair_namespace(s->tree, name, limits));
    arena_reset(&s->mem);
}

/* --- a tree begins --- */

/* The plugin, if the profile's pods are in queues. */
static const struct profile_plugin *queues_of(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->keeps_queues &&
            !(profile->plugins[i].off & PROFILE_NO_GATE))
            return &profile->plugins[i];
    return NULL;
}

bool engine_will_share(const struct engine *k)
{
    const struct shares *s = k->shares;
    return s->bit && (s->teams.n || s->shares_namespaces);
}

/* Whose pods are in queues, and by which rules: the first profile's that has any. */
static bool read_profiles(struct engine *k)
{
    static const struct fair_queues_args defaults = FAIR_QUEUES_DEFAULTS;
    struct shares *s = k->shares;
    s->shares_namespaces = false;
    s->bit = 0;
    vec_clear(&s->has_part);
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++) {
        const struct profile_plugin *p = queues_of(&k->config.rules.profiles[i]);
        vec_push(&s->has_part, p != NULL);
        const struct fair_queues_args *args = p && p->args ? p->args : &defaults;
        if (p && (!s->bit || args->shares_namespaces))
            s->args = args;
        if (p)
            s->bit = (uint64_t)1 << p->number;
        s->shares_namespaces |= p && args->shares_namespaces;
    }
    return engine_will_share(k);
}

static void plant_tree(struct engine *k)
{
    struct shares *s = k->shares;
    s->order = (struct fair_order){.before = engine_stands_before, .ctx = k};
    engine_know_keys(k);
    s->tree = fair_new(&s->order);
    fair_set_reclaim(s->tree, s->args->reclaim == RECLAIM_FAIR_SHARE ? FAIR_BY_SHARE
                              : s->args->reclaim == RECLAIM_NEVER    ? FAIR_NEVER
                                                                     : FAIR_BY_GUARANTEE);
    fair_set_half_life(s->tree, s->args->half_life_ms);
    fair_pass(s->tree, k->now_ms);
    struct fair_spec spec = plain_default(s);
    if (!engine_team(k, STR("default")))
        fair_put(s->tree, STR("default"), &spec);
    engine_relate_teams(k);
    vec_each(&s->teams, team)
        tell_tree(k, *team);
    vec_each(&s->limited, namespace)
        limit_namespace(k, *namespace);
    s->tap = (struct cluster_tap){engine_count_moved, engine_count_nominated, k};
    k->cluster->tap = &s->tap;
    engine_charge_all(k);
    engine_sum_capacity(k);
    engine_tell_past(k);
}

void engine_begin_shares(struct engine *k)
{
    struct shares *s = k->shares;
    fell_tree(k);
    s->leaves_out = s->is_stale = s->is_capacity_stale = false;
    s->n_offers = k->cluster->specs.resources.n_offers;
    if (read_profiles(k))
        plant_tree(k);
    s->must_begin = false; /* what has no number now has none by the rules */
}

void engine_pass_shares(struct engine *k)
{
    struct shares *s = k->shares;
    if (!engine_shares(k))
        return;
    s->has_passed |= fair_next_ms(s->tree) <= k->now_ms;
    fair_pass(s->tree, k->now_ms);
}

int64_t engine_shares_ms(const struct engine *k, int64_t now_ms)
{
    struct fair *tree = k->shares->tree;
    return engine_shares(k) && fair_n_waiting(tree, FAIR_ROOT) ? MAX(fair_next_ms(tree), now_ms)
                                                               : INT64_MAX;
}

/* Queues that nobody uses or waits in any more are forgotten: those that only pods named, and
 * parts. So rarely that it costs no more than to have made them. */
static void sweep(struct engine *k)
{
    enum { MADE_LEAST = 64 };
    struct shares *s = k->shares;
    if (fair_n_made(s->tree) < MADE_LEAST + (fair_n_queues(s->tree) + s->charged.n) / 4)
        return;
    fair_sweep(s->tree, NULL, NULL);
    vec_each(&s->charged, at)
        if (at->queue != NOBODYS && at->queue != FAIR_NONE && !fair_is_queue(s->tree, at->queue))
            at->queue = FAIR_NONE; /* of a pod that neither runs nor waits */
}

void engine_renew_shares(struct engine *k)
{
    struct shares *s = k->shares;
    sweep(k);
    if (s->is_capacity_stale)
        engine_sum_capacity(k);
    s->is_capacity_stale = false;
}

/* --- objects come and go --- */

/* Of those kinds that are counted by what nodes are, the tree is told from the beginning. */
static bool names_new_kind(struct engine *k, const struct queue_object *says)
{
    bool is_new = count_new_kinds(k, says) > 0;
    arena_reset(&k->shares->mem);
    return is_new;
}

/* The API server counts what is said of a Queue; what is said in its status it does not count. */
static bool says_the_same(const struct team *a, const struct team *b)
{
    return a->says.meta.generation && a->says.meta.generation == b->says.meta.generation &&
           str_equal(a->published.uid, b->published.uid) &&
           str_equal(a->says.invalid, b->says.invalid);
}

/* Goes on where the other was; false: it says the same. */
static bool succeed(struct engine *k, struct team *team, struct team *before)
{
    bool differs = !says_the_same(team, before);
    team->published.said = before->published.said;
    team->published.said_ms = before->published.said_ms;
    team->parent = before->parent;
    team->queue = before->queue;
    team->is_leaf = before->is_leaf;
    team->is_told = before->is_told;
    free_team(k, before);
    return differs;
}

static bool says_new_kind(struct engine *k, sym namespace)
{
    amount_list max;
    uint32_t new_kinds;
    bool is_new = read_limits(k, namespace, &max, &new_kinds) && new_kinds;
    arena_reset(&k->shares->mem);
    return is_new;
}

void engine_limit_anew(struct engine *k, sym namespace)
{
    struct shares *s = k->shares;
    if (!s->tree)
        return;
    if (says_new_kind(k, namespace)) {
        s->must_begin = true;
        return;
    }
    bool was_limited = map_find(&s->limits, namespace) != MAP_NONE;
    limit_namespace(k, namespace);
    uint32_t limit = map_find(&s->limits, namespace);
    if (!was_limited)
        engine_charge_namespace(k, namespace, limit);
    fair_wake(s->tree, limit);
}

bool engine_put_team(struct engine *k, const struct queue_object *from)
{
    struct shares *s = k->shares;
    struct team *team = new_team(k, from);
    uint32_t at = place_of(s, team->name);
    if (at == s->teams.n || !str_equal(s->teams.at[at]->name, team->name)) {
        vec_insert(&s->teams, at, team);
    } else {
        struct team *before = s->teams.at[at];
        s->teams.at[at] = team;
        if (!succeed(k, team, before))
            return false;
    }
    s->is_stale = s->is_unrelated = true;
    s->must_begin |= s->bit && (!s->tree || names_new_kind(k, &team->says));
    if (s->tree && !s->must_begin)
        tell_tree(k, team);
    return true;
}

void engine_remove_team(struct engine *k, struct str name)
{
    struct shares *s = k->shares;
    uint32_t at = place_of(s, name);
    if (at == s->teams.n || !str_equal(s->teams.at[at]->name, name))
        return;
    if (s->tree)
        fair_remove(s->tree, name);
    if (s->tree && str_equal(name, STR("default"))) {
        struct fair_spec spec = plain_default(s);
        fair_put(s->tree, name, &spec);
    }
    free_team(k, s->teams.at[at]);
    vec_remove(&s->teams, at);
    s->is_stale = s->is_unrelated = true;
    s->must_begin |= s->tree && !engine_will_share(k);
}
