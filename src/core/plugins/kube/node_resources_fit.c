/* Does the node have room for what the pod asks for, and how much would be left?
 *
 * The filter compares the pod's spec with what is allocatable less what the pods on the node hold.
 * The score is made of other sums (no pod-level requests, defaults for containers that ask for
 * nothing): an oddity of upstream that we keep to the digit. */

#include "core/base/pair.h"
#include "core/base/real.h"
#include "core/framework/plugin.h"
#include "core/model/resources.h"
#include "core/plugins/args.h"

/* One resource of the scoring strategy. */
struct scored {
    resource_id resource;
    bool is_scalar;
    int64_t weight;
    int64_t amount; /* the pod's */
};

struct known_reason {
    uint64_t lacking;
    bool is_hopeless;
    reason_id reason;
};

struct fit {
    struct pod_request ask; /* its list lives as long as the class */
    uint64_t backed;        /* which of its others devices stand for, on nodes that have none */
    struct own_reasons *reasons;
    uint32_t plugin;
    struct scored *scored;
    uint32_t n_scored;
    enum fit_strategy strategy;
    const struct shape_point *shape;
    uint32_t n_shape;
    bool is_usual;                    /* least allocated, cpu and memory alike */
    VEC(struct known_reason) * known; /* combinations seen so far */
};

/* --- filter --- */

enum {
    LACKS_PODS = 1,
    LACKS_CPU = 2,
    LACKS_MEMORY = 4,
    LACKS_OTHER = 8,
    OTHERS_AT = 3,
    MOST_OTHERS = 60
};

static reason_id make_reason(const struct cluster *c, const struct fit *fit, uint64_t lacking,
                             bool is_hopeless)
{
    struct arena mem = {0};
    struct str *texts = arena_array(&mem, struct str, OTHERS_AT + fit->ask.n_others);
    uint32_t n = 0;
    if (lacking & LACKS_PODS)
        texts[n++] = STR("Too many pods");
    if (lacking & LACKS_CPU)
        texts[n++] = STR("Insufficient cpu");
    if (lacking & LACKS_MEMORY)
        texts[n++] = STR("Insufficient memory");
    for (uint32_t i = 0; i < fit->ask.n_others; i++)
        if (lacking >> (OTHERS_AT + i) & 1)
            texts[n++] = arena_printf(
                &mem, "Insufficient " STR_FMT,
                STR_ARG(names_text(&c->names,
                                   c->specs.resources.names.at[fit->ask.others[i].resource])));
    reason_id reason = reasons_own(fit->reasons, fit->plugin,
                                   is_hopeless ? CODE_UNRESOLVABLE : CODE_UNSCHEDULABLE, texts, n);
    arena_done(&mem);
    return reason;
}

static reason_id reason_for(const struct cluster *c, const struct fit *fit, uint64_t lacking,
                            bool is_hopeless)
{
    vec_each(fit->known, k)
        if (k->lacking == lacking && k->is_hopeless == is_hopeless)
            return k->reason;
    reason_id reason = make_reason(c, fit, lacking, is_hopeless);
    vec_push(fit->known, (struct known_reason){lacking, is_hopeless, reason});
    return reason;
}

/* Is there too little of one of the other resources? */
static bool lacks_other(const struct cluster *c, const struct fit *fit, node_id node, uint32_t i,
                        bool *is_hopeless)
{
    const struct cell *cell = nodes_cell(&c->nodes, node, fit->ask.others[i].resource);
    int64_t alloc = cell ? cell->alloc : 0, used = cell ? cell->used : 0;
    if (alloc == 0 && fit->backed >> i & 1)
        return false; /* DynamicResources' to judge */
    *is_hopeless |= fit->ask.others[i].amount > MAX(alloc, wrap_sub(alloc, used));
    return fit->ask.others[i].amount > wrap_sub(alloc, used);
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct fit *fit = cls;
    const struct room *room = &c->nodes.room[node.i];
    uint64_t lacking = 0;
    bool is_hopeless = false; /* too big for the empty node: no eviction helps */
    if (room->pods_used + 1 > room->pods_alloc)
        lacking |= LACKS_PODS;
    if (fit->ask.cpu_milli > 0 && fit->ask.cpu_milli > wrap_sub(room->cpu_alloc, room->cpu_used)) {
        lacking |= LACKS_CPU;
        is_hopeless |= fit->ask.cpu_milli > room->cpu_alloc;
    }
    if (fit->ask.memory > 0 && fit->ask.memory > wrap_sub(room->memory_alloc, room->memory_used)) {
        lacking |= LACKS_MEMORY;
        is_hopeless |= fit->ask.memory > room->memory_alloc;
    }
    for (uint32_t i = 0; i < fit->ask.n_others; i++)
        if (lacks_other(c, fit, node, i, &is_hopeless))
            lacking |= (uint64_t)LACKS_OTHER << i;
    return lacking ? reason_for(c, fit, lacking, is_hopeless) : 0;
}

static bool lacks_any_other(const struct cluster *c, const struct fit *fit, node_id node)
{
    bool lacks = false, is_hopeless = false;
    for (uint32_t i = 0; i < fit->ask.n_others; i++)
        lacks |= lacks_other(c, fit, node, i, &is_hopeless);
    return lacks;
}

/* Where room is not plainly there, row_filter() says what is missing. */
static void filter_rows(const struct cluster *c, const void *cls, const uint32_t *nodes, uint32_t n,
                        reason_id *out)
{
    const struct fit *fit = cls;
    pair ask = pair_of(MAX(fit->ask.cpu_milli, (int64_t)0), MAX(fit->ask.memory, (int64_t)0));
    for (uint32_t i = 0; fit->ask.n_others && i < n; i++)
        __builtin_prefetch(c->nodes.room[nodes[i]].cells);
    for (uint32_t i = 0; i < n; i++) {
        const struct room *room = &c->nodes.room[nodes[i]];
        pair alloc = pair_at(&room->cpu_alloc), used = pair_at(&room->cpu_used);
        bool has_room = pair_is_small(alloc | used | ask | (alloc - used - ask)) &&
                        room->pods_used < room->pods_alloc &&
                        !lacks_any_other(c, fit, (node_id){nodes[i]});
        out[i] = LIKELY(has_room) ? 0 : row_filter(c, cls, (node_id){nodes[i]});
    }
}

/* --- score --- */

/* What there is and what would be in use, of one resource; false if it does not count. */
static bool balance(const struct cluster *c, const struct scored *s, node_id node, int64_t *cap,
                    int64_t *used)
{
    const struct room *room = &c->nodes.room[node.i];
    if (s->resource == RESOURCE_CPU) {
        *cap = room->cpu_alloc;
        *used = room->cpu_nonzero;
    } else if (s->resource == RESOURCE_MEMORY) {
        *cap = room->memory_alloc;
        *used = room->memory_nonzero;
    } else {
        const struct cell *cell = nodes_cell(&c->nodes, node, s->resource);
        if (!cell || (s->is_scalar && s->amount == 0))
            return false;
        *cap = cell->alloc;
        *used = cell->used;
    }
    *used = wrap_add(*used, s->amount);
    return *cap != 0;
}

static int64_t score_one(const struct fit *fit, int64_t cap, int64_t used)
{
    switch (fit->strategy) {
    case FIT_LEAST_ALLOCATED:
        return used > cap ? 0 : wrap_mul(wrap_sub(cap, used), 100) / cap;
    case FIT_MOST_ALLOCATED:
        return wrap_mul(MIN(used, cap), 100) / cap;
    case FIT_REQUESTED_TO_CAPACITY:
        return shape_value(fit->shape, fit->n_shape, used > cap ? 100 : wrap_mul(used, 100) / cap);
    }
    return 0;
}

/* a × 100 / b: what integers give, by a floating division that is set right. Integer division of 64
 * bits is several times slower on machines that are still around. (a < 0 or a > b where a sum of
 * requests has wrapped.) */
static int64_t percent(int64_t a, int64_t b)
{
    if (UNLIKELY(b > (int64_t)1 << 46 || (uint64_t)a > (uint64_t)b))
        return wrap_mul(a, 100) / b;
    int64_t whole = (int64_t)((double)(a * 100) / (double)b);
    return whole - (whole * b > a * 100);
}

static int64_t percent_left(int64_t cap, int64_t used)
{
    return used > cap ? 0 : percent(wrap_sub(cap, used), cap);
}

/* What the general case below comes to for the default strategy on a node that has cpu and memory.
 */
static int64_t score_usual(const struct room *room, const struct scored *s)
{
    return (percent_left(room->cpu_alloc, wrap_add(room->cpu_nonzero, s[0].amount)) +
            percent_left(room->memory_alloc, wrap_add(room->memory_nonzero, s[1].amount))) /
           2;
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct fit *fit = cls;
    const struct room *room = &c->nodes.room[node.i];
    if (LIKELY(fit->is_usual && room->cpu_alloc > 0 && room->memory_alloc > 0))
        return score_usual(room, fit->scored);
    int64_t sum = 0, weights = 0;
    for (uint32_t i = 0; i < fit->n_scored; i++) {
        int64_t cap, used;
        if (!balance(c, &fit->scored[i], node, &cap, &used))
            continue;
        int64_t score = score_one(fit, cap, used);
        if (fit->strategy == FIT_REQUESTED_TO_CAPACITY && score <= 0)
            continue;
        sum += score * fit->scored[i].weight;
        weights += fit->scored[i].weight;
    }
    if (weights == 0)
        return 0;
    if (fit->strategy == FIT_REQUESTED_TO_CAPACITY)
        return (int64_t)real_round((double)sum / (double)weights);
    return sum / weights;
}

/* score_usual() of two numbers at once: in numbers so small, a quotient that is no integer is never
 * rounded to one, so cutting it off is the integer division. */
static void score_rows(const struct cluster *c, const void *cls, const uint32_t *nodes, uint32_t n,
                       int32_t *out)
{
    const struct fit *fit = cls;
    const real_pair most = {100, 100};
    pair amount = {0}, seen = {0};
    if (fit->is_usual)
        amount = pair_of(fit->scored[0].amount, fit->scored[1].amount);
    for (uint32_t i = 0; i < n; i++) {
        const struct room *room = &c->nodes.room[nodes[i]];
        pair alloc = pair_at(&room->cpu_alloc), used = pair_at(&room->cpu_nonzero) + amount;
        real_pair left = real_pair_of(alloc - used) * 100 / real_pair_of(alloc);
        real_pair percent = real_pair_from_0(real_pair_min(left, most));
        out[i] = ((int32_t)percent[0] + (int32_t)percent[1]) / 2;
        seen |= alloc | (alloc - 1) | used;
    }
    for (uint32_t i = 0; UNLIKELY(!fit->is_usual || !pair_is_small(seen)) && i < n; i++)
        out[i] = plugin_score(row_score(c, cls, (node_id){nodes[i]}));
}

/* --- learning --- */

static bool is_ignored(const struct fit_args *args, struct str name)
{
    if (!args || !resource_is_extended(name))
        return false;
    list_each(&args->ignored_resources, ignored)
        if (str_equal(*ignored, name))
            return true;
    list_each(&args->ignored_groups, group)
        if (str_equal(*group, str_part(name, 0, str_find(name, '/'))))
            return true;
    return false;
}

/* What the filter compares, without the resources that configuration leaves to others. */
static struct pod_request without_ignored(struct learning *l, const struct fit_args *args)
{
    struct pod_request ask = l->spec->ask;
    struct need *kept = arena_array(l->mem, struct need, ask.n_others);
    uint32_t n = 0;
    for (uint32_t i = 0; i < ask.n_others; i++) {
        sym name = l->cluster->specs.resources.names.at[ask.others[i].resource];
        if (!is_ignored(args, names_text(&l->cluster->names, name)))
            kept[n++] = ask.others[i];
    }
    ask.others = kept;
    ask.n_others = n;
    return ask;
}

static bool is_backed(const struct cluster *c, resource_id resource)
{
    struct str name = names_text(&c->names, c->specs.resources.names.at[resource]);
    return devices_class_of(&c->devices, name);
}

static void learn(struct learning *l, void *cls)
{
    static const struct resource_weight defaults[] = {
        {STR("cpu"), 1},
        {STR("memory"), 1},
    };
    struct fit *fit = cls;
    const struct fit_args *args = l->args;
    bool is_listed = args && args->resources.n;
    const struct resource_weight *list = is_listed ? args->resources.at : defaults;
    *fit = (struct fit){
        .ask = without_ignored(l, args),
        .reasons = l->reasons,
        .plugin = l->plugin,
        .n_scored = is_listed ? args->resources.n : LEN(defaults),
        .strategy = args ? args->strategy : FIT_LEAST_ALLOCATED,
        .shape = args ? args->shape.at : NULL,
        .n_shape = args ? args->shape.n : 0,
        .known = mem_alloc(sizeof(*fit->known)),
    };
    fit->scored = arena_array(l->mem, struct scored, fit->n_scored);
    for (uint32_t i = 0; i < fit->n_scored; i++) {
        resource_id r =
            resources_keep(&l->cluster->specs.resources, &l->cluster->names, list[i].name);
        fit->scored[i] = (struct scored){
            .resource = r,
            .is_scalar = r >= RESOURCE_FIRST_SCALAR,
            .weight = list[i].weight,
            .amount = request_amount(&l->spec->score, r),
        };
    }
    fit->is_usual = fit->strategy == FIT_LEAST_ALLOCATED && fit->n_scored == 2 &&
                    fit->scored[0].resource == RESOURCE_CPU &&
                    fit->scored[1].resource == RESOURCE_MEMORY &&
                    fit->scored[0].weight == fit->scored[1].weight;
    for (uint32_t i = 0; i < fit->ask.n_others && i < MOST_OTHERS; i++)
        fit->backed |= (uint64_t)is_backed(l->cluster, fit->ask.others[i].resource) << i;
    l->filters = l->scores = true;
    if (fit->ask.n_others > MOST_OTHERS)
        l->error = arena_printf(l->mem, "asks for %u kinds of resources; at most %d are supported",
                                fit->ask.n_others + 2, MOST_OTHERS + 2);
}

static void forget(struct cluster *c, void *cls)
{
    struct fit *fit = cls;
    (void)c;
    vec_done(fit->known);
    mem_free(fit->known);
}

/* --- hints --- */

static int64_t row_amount(const struct node_row *row, resource_id resource)
{
    if (resource == RESOURCE_CPU)
        return row->cpu_milli;
    if (resource == RESOURCE_MEMORY)
        return row->memory;
    for (uint32_t i = 0; i < row->n_others; i++)
        if (row->others[i].resource == resource)
            return row->others[i].amount;
    return 0;
}

static bool fits_empty(const struct cluster *c, const struct pod_request *ask,
                       const struct node_row *row)
{
    if (row->pods < 1 || ask->cpu_milli > row->cpu_milli || ask->memory > row->memory)
        return false;
    for (uint32_t i = 0; i < ask->n_others; i++) {
        int64_t there = row_amount(row, ask->others[i].resource);
        bool is_left = there == 0 && is_backed(c, ask->others[i].resource);
        if (!is_left && ask->others[i].amount > there)
            return false;
    }
    return true;
}

/* A resource the pod asks for grew, or the number of pods. */
static bool grew(const struct cluster *c, const struct pod_request *ask,
                 const struct node_row *old_row, const struct node_row *new_row)
{
    if (new_row->pods > old_row->pods ||
        (ask->cpu_milli > 0 && new_row->cpu_milli > old_row->cpu_milli) ||
        (ask->memory > 0 && new_row->memory > old_row->memory))
        return true;
    for (uint32_t i = 0; i < ask->n_others; i++) {
        resource_id r = ask->others[i].resource;
        if (row_amount(new_row, r) > row_amount(old_row, r) ||
            (row_amount(new_row, r) == 0 && is_backed(c, r)))
            return true;
    }
    return false;
}

/* A class stands for a resource that the pod asks for, and did not before. */
static bool hint_class(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct pod_request *ask = &specs_at(&c->specs, shape->spec)->ask;
    if (!(e->actions & (ACTION_ADD | ACTION_CLASS_RENAMED)))
        return false;
    for (uint32_t i = 0; i < ask->n_others; i++) {
        sym name = c->specs.resources.names.at[ask->others[i].resource];
        struct str text = names_text(&c->names, name);
        struct str implicit = str_part(text, sizeof(DEVICE_CLASS_PREFIX) - 1, text.n);
        bool is_implicit = e->actions & ACTION_ADD && str_starts(text, STR(DEVICE_CLASS_PREFIX)) &&
                           str_equal(implicit, names_text(&c->names, e->name));
        if (is_implicit || name == e->resource_name)
            return true;
    }
    return false;
}

static bool hint_node(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct pod_request *ask = &specs_at(&c->specs, shape->spec)->hold;
    if (!e->new_row || !fits_empty(c, ask, e->new_row))
        return false;
    return !e->old_row || grew(c, ask, e->old_row, e->new_row);
}

static bool hint_gone(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    (void)c, (void)shape;
    return e->pod_node != SYM_NONE;
}

/* A pod on a node shrank in something this pod asks for. */
static bool hint_shrunk(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    if (!e->old_shape || !e->new_shape)
        return false;
    const struct pod_request *ask = &specs_at(&c->specs, shape->spec)->hold;
    const struct pod_request *was = &specs_at(&c->specs, e->old_shape->spec)->hold;
    const struct pod_request *is = &specs_at(&c->specs, e->new_shape->spec)->hold;
    if ((ask->cpu_milli > 0 && is->cpu_milli < was->cpu_milli) ||
        (ask->memory > 0 && is->memory < was->memory))
        return true;
    for (uint32_t i = 0; i < ask->n_others; i++) {
        resource_id r = ask->others[i].resource;
        if (request_amount(is, r) < request_amount(was, r))
            return true;
    }
    return false;
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_DELETE, hint_gone},
    {EVENT_ASSIGNED_POD, ACTION_POD_SCALE_DOWN, hint_shrunk},
    {EVENT_TARGET_POD, ACTION_POD_SCALE_DOWN, NULL},
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_ALLOCATABLE, hint_node},
    {EVENT_DEVICE_CLASS, ACTION_ADD | ACTION_UPDATE | ACTION_CLASS_RENAMED, hint_class},
    {0},
};

const struct plugin plugin_node_resources_fit = {
    .name = "NodeResourcesFit",
    .about = ABOUT_ROOM,
    .row_columns = COLUMN_ALLOC | COLUMN_USED,
    .class_size = sizeof(struct fit),
    .subjects = SUBJECT_FULLNESS,
    .learn = learn,
    .forget = forget,
    .row_filter = row_filter,
    .row_score = row_score,
    .filter_rows = filter_rows,
    .score_rows = score_rows,
    .wakes = wakes,
};
