/* Who waits in which lane, what it asks for, and who of one leaf goes first. */

#include <stdlib.h>

#include "core/engine/fair/shares.h"
#include "core/engine/gang/gang.h"

enum { FIRST_PRIORITY = 1000000000 };

/* --- the order within a leaf (O6) --- */

/* "namespace/name", piece by piece: a '/' is a character like others. */
struct full_name {
    struct str namespace, name;
};

static struct full_name name_of(const struct engine *k, uint32_t unit)
{
    const struct cluster *c = k->cluster;
    pod_id pod = {unit};
    bool is_gang = engine_gang_led_by(k, unit);
    return (struct full_name){
        names_text(&c->names, pods_shape(&c->pods, pod)->namespace),
        is_gang ? names_text(&c->names, c->groups.at.at[groups_of(&c->groups, pod)].name)
                : pod_name(pods_at(&c->pods, pod)),
    };
}

static unsigned char char_at(struct full_name n, size_t i)
{
    if (i < n.namespace.n)
        return (unsigned char)n.namespace.p[i];
    return i == n.namespace.n ? '/' : (unsigned char)n.name.p[i - n.namespace.n - 1];
}

static int compare_names(struct full_name a, struct full_name b)
{
    size_t a_n = a.namespace.n + 1 + a.name.n, b_n = b.namespace.n + 1 + b.name.n;
    if (str_equal(a.namespace, b.namespace))
        return str_compare(a.name, b.name);
    for (size_t i = 0; i < MIN(a_n, b_n); i++)
        if (char_at(a, i) != char_at(b, i))
            return char_at(a, i) < char_at(b, i) ? -1 : 1;
    return (a_n > b_n) - (a_n < b_n);
}

bool engine_stands_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct engine *k = ctx;
    const struct stander *x = &k->shares->standers.at[a], *y = &k->shares->standers.at[b];
    if (x->is_first != y->is_first)
        return x->is_first;
    if (!x->is_first && x->is_starving != y->is_starving)
        return x->is_starving;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (!x->is_first && x->is_beyond != y->is_beyond)
        return y->is_beyond;
    if (x->turn_ms != y->turn_ms)
        return x->turn_ms < y->turn_ms;
    int order = compare_names(name_of(k, a), name_of(k, b));
    return order ? order < 0 : k->units.at[a].arrival < k->units.at[b].arrival;
}

/* --- what a unit asks for --- */

/* How many of its gang must still find a node; 0: its minimum has them. */
static uint32_t need_of(const struct engine *k, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    uint32_t running = engine_presence(k, group).running, have = running + group_ended(g);
    uint32_t minimum = (uint32_t)group_minimum(g);
    const struct gang *gang = engine_gang_at(k, group);
    bool goes_on = running && (group_comes_in_turn(g) || (gang && gang->goes_on));
    return goes_on || have >= minimum ? 0 : minimum - have;
}

bool engine_is_beyond(const struct engine *k, uint32_t unit)
{
    return engine_gang_led_by(k, unit) &&
           need_of(k, groups_of(&k->cluster->groups, (pod_id){unit})) == 0;
}

struct sized {
    int64_t devices, cpu_milli, memory;
    struct str name;
    uint32_t pod;
};

/* In the order in which the planner seats them: those who ask for most first. */
static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->devices != y->devices)
        return x->devices > y->devices ? -1 : 1;
    if (x->cpu_milli != y->cpu_milli)
        return x->cpu_milli > y->cpu_milli ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    return str_compare_numbered(x->name, y->name);
}

static struct sized size_of(const struct engine *k, uint32_t pod)
{
    const struct spec *spec = cluster_spec(k->cluster, (pod_id){pod});
    struct sized size = {0, spec->ask.cpu_milli, spec->ask.memory,
                         pod_name(pods_at(&k->cluster->pods, (pod_id){pod})), pod};
    for (uint32_t i = 0; i < spec->ask.n_others; i++)
        if (spec->ask.others[i].resource >= RESOURCE_FIRST_SCALAR)
            size.devices = wrap_add(size.devices, spec->ask.others[i].amount);
    return size;
}

/* The members of the gang that may be placed now; so many of them must be in its next turn. */
static uint32_t list_asking(struct engine *k, uint32_t unit, struct sized **out, uint32_t *ready)
{
    uint32_t group = groups_of(&k->cluster->groups, (pod_id){unit});
    const struct group *g = &k->cluster->groups.at.at[group];
    uint32_t n = 0, need = MAX(need_of(k, group), 1u);
    *out = arena_array(&k->shares->mem, struct sized, g->members.n);
    vec_each(&g->members, pod)
        if (engine_is_ready(k, (pod_id){*pod}))
            (*out)[n++] = size_of(k, *pod);
    if (n > 1)
        qsort(*out, n, sizeof(**out), by_size);
    *ready = n;
    return MIN(n, need);
}

static struct fair_ask keep_ask(struct engine *k, struct fair_ask ask)
{
    return (struct fair_ask){arena_copy(&k->shares->mem, ask.at, ask.n * sizeof(*ask.at)), ask.n};
}

static int64_t amount_in(struct fair_ask ask, uint32_t resource)
{
    for (uint32_t i = 0; i < ask.n; i++)
        if (ask.at[i].resource == resource)
            return ask.at[i].amount;
    return 0;
}

static struct fair_ask sum_of(struct engine *k, struct fair_ask a, struct fair_ask b)
{
    struct fair_amount *at = arena_array(&k->shares->mem, struct fair_amount, a.n + b.n);
    uint32_t n = 0, i = 0, j = 0;
    while (i < a.n || j < b.n) {
        bool takes_a = j == b.n || (i < a.n && a.at[i].resource <= b.at[j].resource);
        uint32_t resource = takes_a ? a.at[i].resource : b.at[j].resource;
        int64_t amount = capped_add(amount_in(a, resource), amount_in(b, resource));
        at[n++] = (struct fair_amount){resource, amount};
        i += i < a.n && a.at[i].resource == resource;
        j += j < b.n && b.at[j].resource == resource;
    }
    return (struct fair_ask){at, n};
}

/* What these ask for together. */
static struct fair_ask sum_all(struct engine *k, const struct sized *asking, uint32_t n)
{
    struct fair_ask sum = {0};
    shape_id last = ID_NONE;
    struct fair_ask one = {0};
    for (uint32_t i = 0; i < n; i++) {
        shape_id shape = pods_at(&k->cluster->pods, (pod_id){asking[i].pod})->shape;
        if (i == 0 || shape != last)
            one = keep_ask(k, engine_ask_of(k, (pod_id){asking[i].pod}));
        last = shape;
        if (sum.n != one.n) {
            sum = sum_of(k, sum, one);
            continue;
        }
        bool is_alike = true;
        for (uint32_t r = 0; r < one.n; r++)
            is_alike &= sum.at[r].resource == one.at[r].resource;
        if (!is_alike)
            sum = sum_of(k, sum, one);
        else
            for (uint32_t r = 0; r < one.n; r++)
                ((struct fair_amount *)(uintptr_t)sum.at)[r].amount =
                    capped_add(sum.at[r].amount, one.at[r].amount);
    }
    return sum;
}

/* `behind`, if not NULL: of those of its gang whose turn comes later. */
static struct fair_ask ask_of(struct engine *k, uint32_t unit, struct fair_ask *behind)
{
    if (!engine_gang_led_by(k, unit))
        return keep_ask(k, engine_ask_of(k, (pod_id){unit}));
    struct sized *asking;
    uint32_t ready, n = list_asking(k, unit, &asking, &ready);
    if (behind)
        *behind = sum_all(k, asking + n, ready - n);
    return sum_all(k, asking, n);
}

struct fair_ask engine_unit_ask(struct engine *k, uint32_t unit)
{
    return ask_of(k, unit, NULL);
}

/* --- lanes --- */

/* The pods of the unit are in one queue: a gang's in that of its first member by name. */
static uint32_t settle_queue(struct engine *k, uint32_t unit)
{
    const struct cluster *c = k->cluster;
    pod_id pod = {unit};
    if (!engine_gang_led_by(k, unit)) {
        engine_set_queue(k, pod, engine_resolve_queue(k, pod, false));
        return engine_queue_of_pod(k, pod);
    }
    uint32_t group = groups_of(&c->groups, pod);
    vec_each(&c->groups.at.at[group].members, i)
        if (str_compare(pod_name(pods_at(&c->pods, (pod_id){*i})),
                        pod_name(pods_at(&c->pods, pod))) < 0)
            pod.i = *i;
    bool is_there = pods_at(&c->pods, pod)->node != ID_NONE;
    uint32_t queue = is_there ? engine_queue_of_pod(k, pod) : engine_resolve_queue(k, pod, false);
    vec_each(&c->groups.at.at[group].members, i)
        if (engine_waits_with(k, (pod_id){*i}, group))
            engine_set_queue(k, (pod_id){*i}, queue);
    return queue;
}

/* Units of which nothing tells one from another are of one kind: pods of a template, and of one
 * that names a node in each (a DaemonSet's) those for the same node. */
static uint64_t kind_of(const struct engine *k, uint32_t unit, bool is_beyond)
{
    pod_id pod = {unit};
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    if (!engine_gang_led_by(k, unit))
        return row->shape | (row->pin == SYM_NONE ? 0 : (uint64_t)(row->pin + 3) << 32);
    return (uint64_t)(is_beyond ? 2 : 1) << 32 | groups_of(&k->cluster->groups, pod);
}

static struct stander *stander_at(struct engine *k, uint32_t unit)
{
    struct shares *s = k->shares;
    if (s->standers.n <= unit)
        vec_resize(&s->standers, unit + 1);
    return &s->standers.at[unit];
}

void engine_enter_queue(struct engine *k, uint32_t unit, int64_t turn_ms)
{
    struct shares *s = k->shares;
    fair_leave(s->tree, unit);
    const struct gang *gang = engine_gang_led_by(k, unit);
    const struct unit *u = &k->units.at[unit];
    struct stander *is = stander_at(k, unit);
    int64_t priority = gang ? gang->priority : u->priority;
    is->stands = true;
    is->is_first = priority >= FIRST_PRIORITY;
    is->is_starving = u->is_starving;
    is->is_beyond = engine_is_beyond(k, unit);
    is->priority = priority + u->boost;
    is->turn_ms = turn_ms;
    uint32_t queue = settle_queue(k, unit);
    is = stander_at(k, unit);
    is->is_taken = engine_takes(k, queue, pods_shape(&k->cluster->pods, (pod_id){unit})->namespace);
    struct fair_ask behind = {0}, ask = ask_of(k, unit, &behind);
    fair_enter(s->tree, unit, queue, kind_of(k, unit, is->is_beyond), ask,
               is->is_first || is->turn);
    if (gang)
        fair_trail(s->tree, unit, behind);
    arena_reset(&s->mem);
}

void engine_leave_queue(struct engine *k, uint32_t unit)
{
    struct shares *s = k->shares;
    if (!s->tree || unit >= s->standers.n)
        return;
    fair_leave(s->tree, unit);
    kept_turn_free(s->standers.at[unit].turn);
    s->standers.at[unit] = (struct stander){0};
}

void engine_rename_in_queue(struct engine *k, uint32_t unit, uint32_t to)
{
    struct shares *s = k->shares;
    if (!s->tree || unit == to || unit >= s->standers.n || !s->standers.at[unit].stands)
        return;
    stander_at(k, to);
    s->standers.at[to] = s->standers.at[unit];
    fair_rename(s->tree, unit, to);
    s->standers.at[unit] = (struct stander){0};
}

void engine_stand_anew(struct engine *k, uint32_t unit)
{
    struct shares *s = k->shares;
    if (s->tree && unit < s->standers.n && s->standers.at[unit].stands)
        engine_enter_queue(k, unit, s->standers.at[unit].turn_ms);
}

/* --- a turn that goes on --- */

void kept_turn_free(struct kept_turn *t)
{
    if (!t)
        return;
    arena_done(&t->mem);
    vec_done(&t->goers);
    mem_free(t);
}

void engine_keep_turn(struct engine *k, uint32_t unit, struct kept_turn *turn)
{
    struct stander *is = &k->shares->standers.at[unit];
    kept_turn_free(is->turn);
    is->turn = turn;
    engine_enter_queue(k, unit, is->turn_ms);
}

void engine_give_turn_up(struct engine *k, uint32_t unit)
{
    engine_keep_turn(k, unit, NULL);
}
