/* A gang in one step: one transaction in which at least its minimum finds nodes, or no trace.
 *
 * Those who wait are seated class by class, the pods that ask for most first, and each class is
 * placed from its view. Before any of that the columns of free room say how many pods of each class
 * the cluster has room for at most: a gang that cannot be met is refused for the price of a sum,
 * and the sum is kept as long as nothing changes.
 *
 * Where the gang is to stay together, the domains of a label are ranked by the same sums, the
 * tightest that may hold it first, and tried in that order; a domain that lets all sit down is
 * better than a tighter one for the minimum alone. */

#include <stdlib.h>

#include "core/engine/inside.h"
#include "core/framework/row.h"

enum { MOST_TRIALS = 8, MOST_LEVELS = 8 };

/* --- who sits where --- */

static uint32_t bench_of(struct planner *p, struct class *class, shape_id shape)
{
    for (uint32_t i = p->benches.n; i-- > 0;)
        if (p->benches.at[i].class == class)
            return i;
    struct bench bench = {.class = class, .shape = shape, .order = p->benches.n};
    vec_push(&p->benches, bench);
    return p->benches.n - 1;
}

/* What a pod takes of the resources that are counted in devices. */
static int64_t devices(const struct spec *spec)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < spec->ask.n_others; i++)
        if (spec->ask.others[i].resource >= RESOURCE_FIRST_SCALAR)
            n = wrap_add(n, spec->ask.others[i].amount);
    return n;
}

/* Do pods of bench `a` ask for more than those of `b`? Strict and total. */
static bool is_larger(const struct engine *k, const struct bench *a, const struct bench *b)
{
    const struct specs *specs = &k->cluster->specs;
    const struct spec *x = specs_at(specs, a->class->spec), *y = specs_at(specs, b->class->spec);
    int64_t x_devices = devices(x), y_devices = devices(y);
    if (x_devices != y_devices)
        return x_devices > y_devices;
    if (x->ask.cpu_milli != y->ask.cpu_milli)
        return x->ask.cpu_milli > y->ask.cpu_milli;
    if (x->ask.memory != y->ask.memory)
        return x->ask.memory > y->ask.memory;
    return a->order < b->order;
}

static void order_benches(struct engine *k)
{
    struct planner *p = &k->planner;
    for (uint32_t i = 1; i < p->benches.n; i++) {
        struct bench bench = p->benches.at[i];
        uint32_t at = i;
        for (; at > 0 && is_larger(k, &bench, &p->benches.at[at - 1]); at--)
            p->benches.at[at] = p->benches.at[at - 1];
        p->benches.at[at] = bench;
    }
    VEC(uint32_t) place = {0}; /* of the bench that had this number */
    vec_resize(&place, p->benches.n);
    for (uint32_t i = 0, first = 0; i < p->benches.n; i++) {
        place.at[p->benches.at[i].order] = i;
        p->benches.at[i].first = first;
        first += p->benches.at[i].n;
    }
    vec_each(&p->seats, seat)
        seat->order = place.at[seat->order];
    vec_done(&place);
}

static int by_order(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

/* Everybody of the group who may be placed now; who cannot be judged is told so (`out` NULL: not).
 */
static void seat_all(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out)
{
    struct planner *p = &k->planner;
    struct cluster *c = k->cluster;
    vec_clear(&p->seats);
    vec_clear(&p->benches);
    vec_each(&c->groups.at.at[group].members, i) {
        pod_id pod = {*i};
        if (!engine_is_ready(k, pod))
            continue;
        shape_id shape = pods_at(&c->pods, pod)->shape;
        struct class *class = classes_of(&k->classes, shape);
        k->units.at[*i].profile = (uint8_t)k->counts.of.at[class->profile - k->config.profiles];
        if (class->error.n && out)
            engine_tell_unjudged(k, now_ms, pod, class->error, out);
        if (class->error.n)
            continue;
        uint32_t bench = bench_of(p, class, shape);
        p->benches.at[bench].n++;
        vec_push(&p->seats, (struct seat){*i, bench, ID_NONE, k->units.at[*i].arrival});
    }
    order_benches(k);
    if (p->seats.n > 1)
        qsort(p->seats.at, p->seats.n, sizeof(*p->seats.at), by_order);
}

/* --- how many have room --- */

/* Does the profile compare all that pods ask for with what nodes have? */
static bool compares_all(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++) {
        const struct profile_plugin *p = &profile->plugins[i];
        const struct fit_args *args = p->args;
        if (str_equal(str_of(p->plugin->name), STR("NodeResourcesFit")))
            return !(p->off & PROFILE_NO_FILTER) &&
                   (!args || (args->ignored_resources.n == 0 && args->ignored_groups.n == 0));
    }
    return false;
}

static uint64_t times(int64_t free, int64_t ask, uint64_t most)
{
    if (ask <= 0)
        return most;
    return free <= 0 ? 0 : MIN((uint64_t)(free / ask), most);
}

uint64_t engine_node_room(const struct cluster *c, const struct spec *spec, node_id node,
                          bool is_empty)
{
    const struct room *room = &c->nodes.room[node.i];
    int64_t cpu = is_empty ? 0 : room->cpu_used, memory = is_empty ? 0 : room->memory_used;
    int32_t pods = is_empty ? 0 : room->pods_used;
    uint64_t n = times(room->pods_alloc - (int64_t)pods, 1, spec->n_ports ? 1 : UINT32_MAX);
    n = times(wrap_sub(room->cpu_alloc, cpu), spec->ask.cpu_milli, n);
    n = times(wrap_sub(room->memory_alloc, memory), spec->ask.memory, n);
    for (uint32_t i = 0; i < spec->ask.n_others && n; i++) {
        const struct cell *cell = nodes_cell(&c->nodes, node, spec->ask.others[i].resource);
        int64_t free = cell ? wrap_sub(cell->alloc, is_empty ? 0 : cell->used) : 0;
        n = times(free, spec->ask.others[i].amount, n);
    }
    return n;
}

static uint64_t room_on(const struct engine *k, const struct class *class, node_id node)
{
    const struct cluster *c = k->cluster;
    if (!nodes_is_present(&c->nodes, node))
        return 0;
    uint64_t n = engine_node_room(c, specs_at(&c->specs, class->spec), node, false);
    return n && row_filter(c, class, node, COLUMN_ALL) ? 0 : n;
}

/* By bench and node, for domains to be ranked by; returns the sum. */
static uint64_t measure_nodes(struct engine *k, uint32_t b)
{
    struct planner *p = &k->planner;
    const struct bench *bench = &p->benches.at[b];
    uint32_t nodes = k->cluster->nodes.n;
    bool counts = compares_all(bench->class->profile);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        bool is_there = nodes_is_present(&k->cluster->nodes, (node_id){i});
        uint64_t n = counts ? room_on(k, bench->class, (node_id){i}) : is_there ? UINT32_MAX : 0;
        sum += n;
        p->fits.at[b * nodes + i] = (uint32_t)MIN(n, (uint64_t)bench->n);
    }
    return sum;
}

static uint64_t sum_nodes(const struct engine *k, const struct class *class)
{
    uint64_t sum = 0;
    if (!compares_all(class->profile))
        return UINT32_MAX;
    for (uint32_t i = 0; i < k->cluster->nodes.n; i++)
        sum += room_on(k, class, (node_id){i});
    return sum;
}

/* What the cluster as a whole has room for, remembered by the class. */
static void measure(struct engine *k, bool by_node)
{
    struct planner *p = &k->planner;
    if (by_node)
        vec_resize(&p->fits, p->benches.n * k->cluster->nodes.n);
    for (uint32_t b = 0; b < p->benches.n; b++) {
        struct bench *bench = &p->benches.at[b];
        struct class *class = bench->class;
        uint64_t now = k->cluster->log.end + 1;
        if (class->refusal)
            class->room = 0;
        else if (by_node)
            class->room = measure_nodes(k, b);
        else if (class->room_at != now)
            class->room = sum_nodes(k, class);
        class->room_at = now;
        bench->room = class->room;
    }
}

/* --- a trial --- */

/* The class of these pods now, within the domain that is tried. */
static struct class *class_here(struct engine *k, shape_id shape)
{
    const struct planner *p = &k->planner;
    if (p->key == SYM_NONE)
        return classes_of(&k->classes, shape);
    struct class *class = classes_within(&k->classes, shape, p->key);
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].plugin->gangs)
            ((struct gang_domain *)class->parts[i].state)->value = p->value;
    return class;
}

/* All classes as they are, or within one domain. */
static void open_domain(struct engine *k, sym key, sym value)
{
    k->planner.key = key;
    k->planner.value = value;
    vec_each(&k->planner.benches, bench)
        bench->here = key == SYM_NONE ? bench->class : class_here(k, bench->shape);
}

/* The bench's next pod fits nowhere: neither do those behind it. */
static void note_refusal(struct engine *k, const struct bench *bench)
{
    struct planner *p = &k->planner;
    bool is_first = p->text.n == 0;
    p->refused_by |= k->why.nodes ? why_plugins(&k->why, &k->classes.reasons, bench->here) : 0;
    if (is_first)
        why_text(&k->why, &k->classes.reasons, bench->here, &p->text);
}

/* False, and the pod is nowhere, if it needs something there that cannot be done. */
static bool sit_down(struct engine *k, const struct bench *bench, pod_id pod, uint32_t node)
{
    struct planner *p = &k->planner;
    struct txn t = txn_begin(k->cluster);
    cluster_nominate(k->cluster, pod, SYM_NONE);
    row_place(k->cluster, bench->here, pod, (node_id){node});
    struct str unsupported = engine_reserve(k, pod, bench->here, p->mem);
    if (LIKELY(unsupported.n == 0)) {
        txn_commit(k->cluster, t);
        return true;
    }
    engine_give_up(k, pod);
    txn_undo(k->cluster, t);
    if (p->text.n == 0)
        buf_add(&p->text, unsupported);
    return false;
}

static uint32_t seat_bench(struct engine *k, struct bench *bench)
{
    struct planner *p = &k->planner;
    for (uint32_t i = 0; i < bench->n; i++) {
        struct seat *seat = &p->seats.at[bench->first + i];
        pod_id pod = {seat->pod};
        if (UNLIKELY(bench->here->reserves)) /* others may have taken what it could have had */
            bench->here = class_here(k, bench->shape);
        struct verdict v = engine_decide(k, pod, bench->here);
        bool is_broken =
            v.error || (v.feasible > 1 && (bench->here->score_error.n || v.broken != ID_NONE));
        k->stats.decisions++;
        if (v.node == ID_NONE || is_broken) {
            note_refusal(k, bench);
            return i;
        }
        if (!sit_down(k, bench, pod, v.node))
            return i;
        seat->node = v.node;
    }
    return bench->n;
}

/* Are all of the group in one domain of this label? */
static bool is_within_one(const struct engine *k, uint32_t group, sym key)
{
    sym value = SYM_NONE;
    if (key == SYM_NONE)
        return true;
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        if (row->node == ID_NONE || row->flags & POD_TERMINATING)
            continue;
        sym here = cluster_label(k->cluster, (node_id){row->node}, key);
        if (here == SYM_NONE || (value != SYM_NONE && here != value))
            return false;
        value = here;
    }
    return true;
}

static void take_back(struct engine *k, struct txn t)
{
    txn_undo(k->cluster, t);
    vec_each(&k->planner.seats, seat)
        engine_give_up(k, (pod_id){seat->pod});
}

/* Places as many as it can; true, with the transaction committed, if they are enough. */
static bool try(struct engine *k, uint32_t group, uint32_t want, bool is_reversed)
{
    struct planner *p = &k->planner;
    uint32_t placed = 0;
    struct txn t = txn_begin(k->cluster);
    vec_each(&p->seats, seat)
        seat->node = ID_NONE;
    for (uint32_t i = 0; i < p->benches.n; i++)
        placed += seat_bench(k, &p->benches.at[is_reversed ? p->benches.n - 1 - i : i]);
    if (placed >= want && is_within_one(k, group, k->cluster->groups.at.at[group].required)) {
        txn_commit(k->cluster, t);
        return true;
    }
    take_back(k, t);
    return false;
}

/* --- domains --- */

static uint32_t site_of(struct planner *p, sym value)
{
    uint32_t at = value == SYM_NONE ? ID_NONE : map_find(&p->site_of, value);
    if (value == SYM_NONE || at != MAP_NONE)
        return at;
    map_put(&p->site_of, value, p->sites.n);
    vec_push(&p->sites, (struct site){.value = value});
    return p->sites.n - 1;
}

/* What each domain of the label has room for. */
static void measure_sites(struct engine *k, sym key)
{
    struct planner *p = &k->planner;
    uint32_t nodes = k->cluster->nodes.n;
    vec_clear(&p->sites);
    map_clear(&p->site_of);
    vec_resize(&p->site_at, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        bool is_there = nodes_is_present(&k->cluster->nodes, (node_id){i});
        sym value = is_there ? cluster_label(k->cluster, (node_id){i}, key) : SYM_NONE;
        p->site_at.at[i] = site_of(p, value);
    }
    for (uint32_t b = 0; b < p->benches.n; b++) {
        const uint32_t *fits = &p->fits.at[b * nodes], most = p->benches.at[b].n;
        vec_each(&p->sites, site)
            site->of_bench = 0;
        for (uint32_t i = 0; i < nodes; i++) {
            if (fits[i] == 0 || p->site_at.at[i] == ID_NONE)
                continue;
            struct site *site = &p->sites.at[p->site_at.at[i]];
            uint32_t more = MIN(fits[i], most - site->of_bench);
            site->of_bench += more;
            site->room += more;
        }
    }
}

/* How many of the group run in each domain. */
static uint32_t count_running(struct engine *k, uint32_t group, sym key)
{
    uint32_t running = 0;
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        if (row->node == ID_NONE || row->flags & POD_TERMINATING)
            continue;
        sym value = cluster_label(k->cluster, (node_id){row->node}, key);
        uint32_t at = value == SYM_NONE ? MAP_NONE : map_find(&k->planner.site_of, value);
        if (at != MAP_NONE)
            k->planner.sites.at[at].running++;
        running++;
    }
    return running;
}

static bool is_better(const struct engine *k, const struct site *a, const struct site *b)
{
    if (a->running != b->running)
        return a->running > b->running;
    if (a->room != b->room)
        return a->room < b->room;
    return str_compare(names_text(&k->cluster->names, a->value),
                       names_text(&k->cluster->names, b->value)) < 0;
}

/* The best domain that may hold so many and was not tried; NULL: none. */
static struct site *next_domain(struct engine *k, uint32_t want, bool is_bound)
{
    struct site *best = NULL;
    vec_each(&k->planner.sites, d)
        if (!d->is_tried && d->room >= want && (!is_bound || d->running) &&
            (!best || is_better(k, d, best)))
            best = d;
    return best;
}

static bool try_domains(struct engine *k, uint32_t group, sym key, uint32_t want)
{
    bool is_required = key == k->cluster->groups.at.at[group].required;
    measure_sites(k, key);
    bool is_bound = count_running(k, group, key) && is_required;
    for (uint32_t trial = 0; trial < MOST_TRIALS; trial++) {
        struct site *d = next_domain(k, want, is_bound);
        if (!d)
            return false;
        d->is_tried = true;
        open_domain(k, key, d->value);
        if (try(k, group, want, false))
            return true;
    }
    return false;
}

/* The labels in whose domains the gang is tried, the tightest first; the last is the required one,
 * or SYM_NONE for the cluster as a whole. */
static uint32_t levels_of(const struct engine *k, uint32_t group, sym *levels)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    const struct names *names = &k->cluster->names;
    uint32_t n = 0;
    struct str rest = names_text(names, g->preferred);
    while (rest.n && n < MOST_LEVELS - 1) {
        sym key = names_find(names, str_take(&rest, ','));
        if (key != SYM_NONE && key != g->required)
            levels[n++] = key;
    }
    levels[n++] = g->required;
    return n;
}

static bool try_level(struct engine *k, uint32_t group, sym key, uint32_t want)
{
    if (key != SYM_NONE)
        return try_domains(k, group, key, want);
    open_domain(k, SYM_NONE, SYM_NONE);
    return try(k, group, want, false) || (k->planner.benches.n > 1 && try(k, group, want, true));
}

/* All of them if that works somewhere, else as many as must be. */
static bool place(struct engine *k, uint32_t group, uint32_t need)
{
    struct planner *p = &k->planner;
    sym levels[MOST_LEVELS];
    uint32_t n = levels_of(k, group, levels), all = p->seats.n, least = MAX(need, 1u);
    p->refused_by = 0;
    buf_clear(&p->text);
    for (uint32_t i = 0; i < n; i++)
        if ((levels[i] != SYM_NONE || all == least) && try_level(k, group, levels[i], all))
            return true;
    for (uint32_t i = 0; i < n && (all > least); i++)
        if (try_level(k, group, levels[i], least))
            return true;
    return false;
}

/* --- the step --- */

/* The gang goes on under the number of one of those who found no node. */
static uint32_t hand_on(struct engine *k, uint32_t group, uint32_t unit)
{
    uint32_t left = ID_NONE;
    vec_each(&k->planner.seats, seat) {
        if (seat->node == ID_NONE && seat->pod == unit)
            return unit;
        if (seat->node == ID_NONE && left == ID_NONE)
            left = seat->pod;
    }
    engine_stop_timer(k, unit);
    if (left != ID_NONE)
        engine_rename_gang(k, group, unit, left);
    return left;
}

static void commit(struct engine *k, int64_t now_ms, uint32_t group, uint32_t unit,
                   struct effects *out)
{
    struct planner *p = &k->planner;
    uint32_t left = hand_on(k, group, unit);
    vec_each(&p->seats, seat)
        if (seat->node != ID_NONE)
            engine_announce(k, now_ms, (pod_id){seat->pod}, out);
    k->counts.gangs_placed += p->need > 0;
    k->gangs.at[group].goes_on = false;
    if (left != ID_NONE) {
        engine_refuse_gang(k, now_ms, left, GANG_REST, out);
        return;
    }
    queue_settle(k->queue, unit);
    engine_leave_line(k, unit);
    k->gangs.at[group].leader = ID_NONE;
}

/* Seats those who wait and measures the room for them; false if too few are there. */
static bool prepare(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out)
{
    struct planner *p = &k->planner;
    const struct group *g = &k->cluster->groups.at.at[group];
    seat_all(k, now_ms, group, out);
    uint32_t running = engine_muster(k, group).running, have = running + g->ended;
    uint32_t minimum = (uint32_t)group_minimum(g);
    bool may_go_on = group < k->gangs.n && k->gangs.at[group].goes_on;
    bool goes_on = may_go_on && running && have + p->seats.n < minimum;
    p->need = goes_on || have >= minimum ? 0 : minimum - have;
    if (p->seats.n == 0 || p->need > p->seats.n || group_lacks_object(g))
        return false;
    measure(k, g->required != SYM_NONE || g->preferred != SYM_NONE);
    return true;
}

/* Is there room for enough of them, by sums alone? */
static bool has_hope(const struct planner *p)
{
    uint64_t room = 0;
    vec_each(&p->benches, bench)
        room += MIN(bench->room, (uint64_t)bench->n);
    return room >= MAX(p->need, 1u);
}

bool engine_gang_fits(struct engine *k, uint32_t unit)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    struct planner own = k->planner; /* somebody else's trial may be under way */
    k->planner = k->lines.planner;
    k->planner.mem = &k->lines.mem;
    struct txn trial = txn_begin(k->cluster);
    bool fits =
        prepare(k, 0, group, NULL) && has_hope(&k->planner) && place(k, group, k->planner.need);
    take_back(k, trial);
    arena_reset(&k->lines.mem);
    vec_each(&k->planner.benches, bench)
        bench->class->room_at = 0; /* what was true in the trial is not true any more */
    k->lines.planner = k->planner;
    k->planner = own;
    return fits;
}

/* Places the gang if that delays nobody who has the turn. */
static bool place_in_turn(struct engine *k, int64_t now_ms, uint32_t group, uint32_t unit,
                          bool *is_behind)
{
    struct txn t = txn_begin(k->cluster);
    bool is_placed = place(k, group, k->planner.need);
    *is_behind = is_placed && !engine_may_pass(k, now_ms, unit);
    if (is_placed && !*is_behind)
        txn_commit(k->cluster, t);
    else
        take_back(k, t);
    return is_placed && !*is_behind;
}

void engine_step_gang(struct engine *k, int64_t now_ms, uint32_t unit, struct effects *out)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    const struct group *g = &k->cluster->groups.at.at[group];
    k->planner.mem = &out->mem;
    if (g->trouble.n) {
        engine_fail_gang(k, now_ms, unit, buf_str(&g->trouble), out);
        return;
    }
    bool is_behind = false;
    if (!prepare(k, now_ms, group, out))
        engine_refuse_gang(k, now_ms, unit, GANG_MISSING, out);
    else if (!has_hope(&k->planner))
        engine_refuse_gang(k, now_ms, unit, GANG_HOPELESS, out);
    else if (place_in_turn(k, now_ms, group, unit, &is_behind))
        commit(k, now_ms, group, unit, out);
    else
        engine_refuse_gang(k, now_ms, unit, is_behind ? GANG_BEHIND : GANG_REFUSED, out);
}

enum gang_outcome engine_try_gang(struct engine *k, uint32_t group, struct effects *out)
{
    k->planner.mem = &out->mem;
    if (!prepare(k, 0, group, NULL))
        return GANG_MISSING;
    if (!has_hope(&k->planner))
        return GANG_HOPELESS;
    struct txn t = txn_begin(k->cluster);
    bool is_placed = place(k, group, k->planner.need);
    take_back(k, t);
    return is_placed ? GANG_PLACED : GANG_REFUSED;
}
