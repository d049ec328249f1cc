/* Causes in words. This is the only place that says why a unit does not start. */

#include "core/base/time_text.h"
#include "core/engine/step/cause.h"
#include "core/engine/step/step.h"
#include "core/model/topology.h"

/* --- amounts --- */

void engine_word_amount(const struct engine *k, resource_id resource, int64_t amount,
                        struct buf *out)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    const struct specs *specs = &k->cluster->specs;
    struct str name = resource == RESOURCE_CPU ? STR("cpu")
                      : resource == RESOURCE_MEMORY
                          ? STR("memory")
                          : names_text(&k->cluster->names, specs->resources.names.at[resource]);
    bool is_milli = resource == RESOURCE_CPU && amount % 1000;
    bool is_bytes = resource == RESOURCE_MEMORY || resource == RESOURCE_EPHEMERAL ||
                    str_starts(name, STR("hugepages-"));
    uint32_t unit = 0;
    amount = resource == RESOURCE_CPU && !is_milli ? amount / 1000 : amount;
    for (; is_bytes && amount && amount % 1024 == 0 && unit + 1 < LEN(units); unit++)
        amount /= 1024;
    buf_add(out, amount < 0 ? STR("-") : STR(""));
    buf_add_number(out, amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount, 10);
    buf_add(out, is_milli ? STR("m") : str_of(units[unit]));
    buf_add_char(out, ' ');
    buf_add(out, name);
}

/* The place of the next of the other resources by name, after the one at `last` (ID_NONE: none). */
static uint32_t next_by_name(const struct engine *k, const struct pod_request *ask, uint32_t last)
{
    const struct resources *r = &k->cluster->specs.resources;
    const struct names *names = &k->cluster->names;
    uint32_t next = ID_NONE;
    for (uint32_t i = 0; i < ask->n_others; i++) {
        struct str name = names_text(names, r->names.at[ask->others[i].resource]);
        bool is_later =
            last == ID_NONE ||
            str_compare(name, names_text(names, r->names.at[ask->others[last].resource])) > 0;
        if (is_later &&
            (next == ID_NONE ||
             str_compare(name, names_text(names, r->names.at[ask->others[next].resource])) < 0))
            next = i;
    }
    return next;
}

void engine_each_need(const struct engine *k, spec_id spec,
                      void (*fn)(void *ctx, resource_id resource, int64_t amount), void *ctx)
{
    const struct pod_request *ask = &specs_at(&k->cluster->specs, spec)->ask;
    for (uint32_t i = next_by_name(k, ask, ID_NONE); i != ID_NONE; i = next_by_name(k, ask, i))
        fn(ctx, ask->others[i].resource, ask->others[i].amount);
    if (ask->cpu_milli)
        fn(ctx, RESOURCE_CPU, ask->cpu_milli);
    if (ask->memory)
        fn(ctx, RESOURCE_MEMORY, ask->memory);
}

struct wording {
    const struct engine *k;
    struct buf *out;
    const char *before; /* the first amount */
    uint32_t n;
};

static void add_need(void *ctx, resource_id resource, int64_t amount)
{
    struct wording *w = ctx;
    buf_add(w->out, w->n++ ? STR(", ") : str_of(w->before));
    engine_word_amount(w->k, resource, amount, w->out);
}

/* Do the pods of both ask for as much? They may differ in what a reader of amounts does not see. */
static bool asks_alike(const struct engine *k, const struct member_class *a,
                       const struct member_class *b)
{
    const struct pod_request *x = &specs_at(&k->cluster->specs, a->class->spec)->ask,
                             *y = &specs_at(&k->cluster->specs, b->class->spec)->ask;
    return x->cpu_milli == y->cpu_milli && x->memory == y->memory && x->n_others == y->n_others &&
           (x->n_others == 0 ||
            memcmp(x->others, y->others, x->n_others * sizeof(*x->others)) == 0);
}

/* How many members this class and those that ask for as much have; 0: one before it has counted
 * them. */
static uint32_t count_alike(const struct engine *k, const struct planner *p, uint32_t at)
{
    enum { MOST = 32 }; /* of more nobody reads the list */
    const struct member_class *member_class = &p->member_classes.at[at];
    uint32_t n = 0;
    if (p->member_classes.n > MOST)
        return member_class->n;
    for (uint32_t i = 0; i < p->member_classes.n; i++) {
        bool is_alike = asks_alike(k, member_class, &p->member_classes.at[i]);
        if (is_alike && i < at)
            return 0;
        n += is_alike ? p->member_classes.at[i].n : 0;
    }
    return n;
}

void engine_word_needs(const struct engine *k, const struct planner *p, struct buf *out)
{
    uint32_t members = 0, said = 0;
    vec_each(&p->member_classes, member_class)
        members += member_class->n;
    for (uint32_t i = 0; i < p->member_classes.n; i++) {
        uint32_t n = count_alike(k, p, i);
        struct wording w = {k, out, " x (", 0};
        if (n == 0)
            continue;
        buf_printf(out, "%s%u", said ? " and " : "", n == members ? p->need : n);
        engine_each_need(k, p->member_classes.at[i].class->spec, add_need, &w);
        buf_add(out, w.n ? STR(")") : STR(" x (nothing)"));
        said += n;
    }
}

void engine_word_way(uint32_t victims, struct str node, struct buf *out)
{
    buf_printf(out, "starts when %u pod%s on " STR_FMT " %s gone", victims, victims == 1 ? "" : "s",
               STR_ARG(node), victims == 1 ? "is" : "are");
}

/* --- parts of sentences --- */

struct telling {
    struct engine *k;
    struct planner *planner; /* the unit */
    const struct cause *x;
    struct buf *out;
};

static struct str text_of(const struct telling *t, sym s)
{
    return names_text(&t->k->cluster->names, s);
}

static void add_unit(const struct telling *t)
{
    uint32_t group = t->x->group;
    if (group == ID_NONE)
        buf_add(t->out, STR("the pod"));
    else
        buf_printf(t->out, "gang " STR_FMT,
                   STR_ARG(text_of(t, t->k->cluster->groups.at.at[group].name)));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* " needs 8 x (8 nvidia.com/gpu, 4 cpu)"; of a pod " needs 8 nvidia.com/gpu, 4 cpu" */
static void add_needs(const struct telling *t)
{
    struct wording w = {t->k, t->out, " needs ", 0};
    if (t->x->group != ID_NONE) {
        buf_add(t->out, STR(" needs "));
        engine_word_needs(t->k, t->planner, t->out);
        return;
    }
    engine_each_need(t->k, t->planner->member_classes.at[t->x->member_class].class->spec, add_need,
                     &w);
    if (w.n == 0)
        buf_add(t->out, STR(" needs a place"));
}

/* "; the other 3 nodes hold 2 of its 8 pods" */
static void add_others(const struct telling *t)
{
    const struct cause *x = t->x;
    if (x->left)
        buf_printf(t->out, "; the other %u node%s ha%s room for %llu of %u pod%s", x->left,
                   plural(x->left), x->left == 1 ? "s" : "ve", (unsigned long long)x->have, x->need,
                   plural(x->need));
}

static void add_pair(const struct telling *t, sym key, sym value)
{
    buf_add(t->out, text_of(t, key));
    if (value != SYM_NONE)
        buf_printf(t->out, "=" STR_FMT, STR_ARG(text_of(t, value)));
    if (value != SYM_NONE && t->x->n_values > 1)
        buf_printf(t->out, " (or %u more)", t->x->n_values - 1);
}

/* What people call a domain of the label. */
static const char *domain_name(struct str key)
{
    static const char *const names[] = {
        [TOPOLOGY_CLIQUE] = "NVLink clique", [TOPOLOGY_FABRIC] = "switch", [TOPOLOGY_RACK] = "rack",
        [TOPOLOGY_BLOCK] = "block",          [TOPOLOGY_ZONE] = "zone",     [TOPOLOGY_OTHER] = NULL,
    };
    const struct topology_key *known = topology_find(key);
    const char *name = known ? names[known->kind] : NULL;
    return name ? name : "domain";
}

/* --- sentences --- */

static void say_offer(const struct telling *t)
{
    const struct cause *x = t->x;
    if (x->ask == 0) {
        buf_add(t->out, STR("no node is large enough for one pod: "));
        add_unit(t);
        add_needs(t);
        return;
    }
    sym name = x->resource >= RESOURCE_FIRST_SCALAR
                   ? t->k->cluster->specs.resources.names.at[x->resource]
                   : SYM_NONE;
    if (x->most == 0 && name != SYM_NONE) {
        buf_printf(t->out, "no node offers " STR_FMT, STR_ARG(text_of(t, name)));
        if (x->nearest != SYM_NONE)
            buf_printf(t->out, " (nearest: " STR_FMT ")", STR_ARG(text_of(t, x->nearest)));
    } else {
        buf_add(t->out, STR("no node has more than "));
        engine_word_amount(t->k, x->resource, x->most, t->out);
    }
    buf_add(t->out, x->group == ID_NONE ? STR("; ") : STR("; each pod of "));
    add_unit(t);
    buf_add(t->out, STR(" wants "));
    engine_word_amount(t->k, x->resource, x->ask, t->out);
}

static void say_sum(const struct telling *t)
{
    add_unit(t);
    add_needs(t);
    buf_printf(t->out, ": the nodes hold %llu, even when empty", (unsigned long long)t->x->have);
}

static void say_unknown_label(const struct telling *t)
{
    buf_printf(t->out, "no node has the label " STR_FMT ", which ", STR_ARG(text_of(t, t->x->key)));
    add_unit(t);
    buf_add(t->out, STR(" selects"));
    if (t->x->nearest != SYM_NONE)
        buf_printf(t->out, "; nearest: " STR_FMT, STR_ARG(text_of(t, t->x->nearest)));
}

static void say_label(const struct telling *t)
{
    const struct cause *x = t->x;
    if (x->key == SYM_NONE) {
        buf_add(t->out, STR("no node matches the node affinity of "));
        add_unit(t);
        return;
    }
    if (!x->is_known) {
        say_unknown_label(t);
        return;
    }
    if (x->left)
        buf_printf(t->out, "%u of %u nodes ha%s ", x->left, x->nodes, x->left == 1 ? "s" : "ve");
    else
        buf_add(t->out, x->nodes < t->k->cluster->nodes.present
                            ? STR("no node that is large enough has ")
                            : STR("no node has "));
    add_pair(t, x->key, x->value);
    buf_add(t->out, STR(", which "));
    add_unit(t);
    buf_add(t->out, STR(" selects"));
    if (x->nearest != SYM_NONE)
        buf_printf(t->out, "; nearest: " STR_FMT, STR_ARG(text_of(t, x->nearest)));
    if (x->left)
        buf_printf(t->out, "; room for %llu of %u pod%s", (unsigned long long)x->have, x->need,
                   plural(x->need));
}

static void say_taint(const struct telling *t)
{
    const struct cause *x = t->x;
    uint32_t n = x->nodes - x->left;
    add_unit(t);
    buf_add(t->out, STR(" does not tolerate the taint "));
    add_pair(t, x->key, text_of(t, x->value).n ? x->value : SYM_NONE);
    buf_printf(t->out, ":%s of %u node%s", x->effect ? x->effect : "NoSchedule", n, plural(n));
    add_others(t);
}

static void say_cordon(const struct telling *t)
{
    uint32_t n = t->x->nodes - t->x->left;
    buf_printf(t->out, "%u node%s that would do %s cordoned", n, plural(n), n == 1 ? "is" : "are");
    add_others(t);
}

static void add_reason(const struct telling *t)
{
    const struct reason *reason = reasons_at(&t->k->classes.reasons, t->x->reason);
    for (uint32_t i = 0; i < reason->n_texts; i++)
        buf_printf(t->out, "%s" STR_FMT, i ? ", " : "", STR_ARG(reason->texts[i]));
}

static void say_reason(const struct telling *t)
{
    uint32_t n = t->x->nodes - t->x->left;
    add_reason(t);
    if (t->x->rule == CAUSE_USE && t->x->group != ID_NONE)
        buf_printf(t->out, "; room for %llu of %u pod%s now", (unsigned long long)t->x->have,
                   t->x->need, plural(t->x->need));
    else
        buf_printf(t->out, ": %u node%s", n, plural(n));
    if (t->x->rule == CAUSE_NODE || t->x->rule == CAUSE_VOLUME)
        add_others(t);
}

static void say_volume(const struct telling *t)
{
    const struct cause *x = t->x;
    if (x->object == SYM_NONE || x->key == SYM_NONE) {
        say_reason(t);
        return;
    }
    buf_printf(t->out, "volume " STR_FMT " is only in ", STR_ARG(text_of(t, x->object)));
    add_pair(t, x->key, x->value);
    buf_add(t->out, x->left ? STR("; ") : STR(": no node there would do"));
    if (x->left)
        buf_printf(t->out, "%u node%s there ha%s room for %llu of %u pods", x->left,
                   plural(x->left), x->left == 1 ? "s" : "ve", (unsigned long long)x->have,
                   x->need);
}

static void say_memory(const struct telling *t)
{
    add_unit(t);
    buf_printf(t->out, " wants %lldMi of GPU memory; ", (long long)(t->x->ask >> 20));
    if (t->x->most)
        buf_printf(t->out, "GPUs of %u node%s have %lldMi at most", t->x->nodes - t->x->left,
                   plural(t->x->nodes - t->x->left), (long long)(t->x->most >> 20));
    else
        buf_printf(t->out, "%u node%s have no such GPUs", t->x->nodes - t->x->left,
                   plural(t->x->nodes - t->x->left));
    add_others(t);
}

/* Of the label's domains, now or for ever. */
static void say_domain(const struct telling *t)
{
    const struct cause *x = t->x;
    struct str key = text_of(t, x->key);
    bool is_for_good = x->rule == CAUSE_DOMAIN;
    add_unit(t);
    buf_printf(t->out, " wants %u pods in one %s (" STR_FMT "); ", x->need, domain_name(key),
               STR_ARG(key));
    if (x->value == SYM_NONE)
        buf_add(t->out, STR("no node that would do has the label"));
    else if (is_for_good)
        buf_printf(t->out, "the largest, " STR_FMT ", holds %llu even when empty: never",
                   STR_ARG(text_of(t, x->value)), (unsigned long long)x->have);
    else
        buf_printf(t->out, STR_FMT " has most room: %llu now", STR_ARG(text_of(t, x->value)),
                   (unsigned long long)x->have);
}

/* A moment, not how long until then: what is written stays true. */
static void add_until(const struct telling *t)
{
    if (t->x->until_ms && t->x->until_ms != INT64_MAX) {
        buf_add(t->out, STR(" until "));
        time_add_seconds(t->out, t->x->until_ms);
    }
}

static sym namespace_of(const struct telling *t)
{
    shape_id shape = t->planner->member_classes.at[t->x->member_class].shape;
    return t->k->cluster->pods.shapes.at[shape].namespace;
}

/* "etl", or of another namespace "ml/etl". */
static void add_name(const struct telling *t, struct str name)
{
    if (t->x->owner != namespace_of(t))
        buf_printf(t->out, STR_FMT "/", STR_ARG(text_of(t, t->x->owner)));
    buf_add(t->out, name);
}

/* What names of our own reservations begin with (keep.c, company.c), and what room is kept for. */
static const struct {
    struct str sort;
    const char *before, *after;
    bool is_of_group; /* it is the group that is named, not who the reservation is called after */
} keepings[] = {
    {STR("gang/"), "gang ", ", which waited too long", false},
    {STR("lost/"), "a lost member of gang ", "", true},
    {STR("driver/"), "the workers of ", "", false},
    {STR("turn/"), "members to come of gang ", "", false},
};

static bool say_kept(const struct telling *t)
{
    struct str name = text_of(t, t->x->object);
    for (size_t i = 0; i < LEN(keepings); i++) {
        if (!str_starts(name, keepings[i].sort))
            continue;
        struct str whose = keepings[i].is_of_group ? text_of(t, t->x->key)
                                                   : str_part(name, keepings[i].sort.n, name.n);
        buf_printf(t->out, "room is kept for %s", keepings[i].before);
        add_name(t, whose);
        buf_add(t->out, str_of(keepings[i].after));
        return true;
    }
    return false;
}

static void say_reserved(const struct telling *t)
{
    buf_add(t->out, STR("room is reserved by "));
    add_name(t, text_of(t, t->x->object));
    if (t->x->key != SYM_NONE)
        buf_printf(t->out, " for " STR_FMT, STR_ARG(text_of(t, t->x->key)));
}

/* Pods do not hear the names of other namespaces. */
static void say_held(const struct telling *t)
{
    const struct cause *x = t->x;
    if (!x->names_owner)
        buf_add(t->out, STR("room is kept for another namespace"));
    else if (!say_kept(t))
        say_reserved(t);
    add_until(t);
    buf_printf(t->out, "; the rest has room for %llu of %u pod%s", (unsigned long long)x->have,
               x->need, plural(x->need));
    if (x->group != ID_NONE) {
        buf_add(t->out, STR(" of "));
        add_unit(t);
    }
}

/* The nodes that lack one thing only. */
static void add_lack(const struct telling *t)
{
    static const struct str insufficient = STR("Insufficient ");
    const struct cause *x = t->x;
    if (!x->reason)
        return;
    struct str text = reasons_at(&t->k->classes.reasons, x->reason)->texts[0];
    buf_add(t->out, STR("; "));
    buf_add_number(t->out, x->nodes, 10);
    buf_add(t->out, x->nodes == 1 ? STR(" node with the rest free has ")
                                  : STR(" nodes with the rest free have "));
    if (str_starts(text, insufficient)) {
        buf_add(t->out, STR("too little "));
        buf_add(t->out, str_part(text, insufficient.n, text.n));
    } else {
        buf_add(t->out, STR("as many pods as they may"));
    }
}

static void say_room_alone(const struct telling *t)
{
    add_unit(t);
    add_needs(t);
    buf_add(t->out, STR("; no node has room now"));
    add_lack(t);
}

static void say_room(const struct telling *t)
{
    const struct cause *x = t->x;
    if (x->group == ID_NONE) {
        say_room_alone(t);
        return;
    }
    add_unit(t);
    add_needs(t);
    buf_printf(t->out, "; %llu fit now", (unsigned long long)x->have);
    if (x->ask) {
        buf_printf(t->out, "; %u node%s with the rest free ha%s too little ", x->nodes,
                   plural(x->nodes), x->nodes == 1 ? "s" : "ve");
        buf_add(t->out, x->resource == RESOURCE_CPU ? STR("cpu") : STR("memory"));
    }
}

static void say_refused(const struct telling *t)
{
    const struct class *class = t->planner->member_classes.at[t->x->member_class].class;
    if (class->refusal_text.n)
        buf_add(t->out, class->refusal_text);
    else
        buf_add(t->out, reasons_at(&t->k->classes.reasons, t->x->reason)->texts[0]);
}

static void say_search(const struct telling *t)
{
    if (t->x->group == ID_NONE) {
        buf_add(t->out, STR("no node will take the pod"));
        return;
    }
    add_unit(t);
    buf_add(t->out, STR(" finds no nodes for "));
    engine_word_needs(t->k, t->planner, t->out);
    buf_add(t->out, STR(" at once"));
}

static void say_only(const struct telling *t)
{
    buf_printf(t->out, STR_FMT ", the only node that the pod may use%s",
               STR_ARG(text_of(t, t->x->value)), t->x->reason ? ": " : ", is not there");
    if (t->x->reason)
        add_reason(t);
}

/* No rule at all: nothing is to be said. */
static void say_nothing(const struct telling *t)
{
    (void)t;
}

static const struct {
    const char *name; /* as programs read it */
    void (*say)(const struct telling *t);
} rules[] = {
    [CAUSE_NONE] = {"None", say_nothing},       [CAUSE_MEMBERS] = {"Members", say_nothing},
    [CAUSE_REFUSED] = {"Refused", say_refused}, [CAUSE_ONLY] = {"OnlyNode", say_only},
    [CAUSE_OFFER] = {"Offer", say_offer},       [CAUSE_SUM] = {"Sum", say_sum},
    [CAUSE_NAME] = {"NodeName", say_label},     [CAUSE_LABEL] = {"NodeLabel", say_label},
    [CAUSE_TAINT] = {"Taint", say_taint},       [CAUSE_CORDON] = {"Cordon", say_cordon},
    [CAUSE_VOLUME] = {"Volume", say_volume},    [CAUSE_MEMORY] = {"GPUMemory", say_memory},
    [CAUSE_NODE] = {"Node", say_reason},        [CAUSE_DOMAIN] = {"DomainSize", say_domain},
    [CAUSE_ROOM] = {"Room", say_room},          [CAUSE_HELD] = {"Reserved", say_held},
    [CAUSE_USE] = {"InUse", say_reason},        [CAUSE_NEAR] = {"DomainRoom", say_domain},
    [CAUSE_SEARCH] = {"Search", say_search},    [CAUSE_LINE] = {"Line", say_nothing},
};

const char *cause_rule_name(enum cause_rule rule)
{
    return rules[rule].name;
}

/* A character that has begun is not cut in two. */
void engine_shorten(struct buf *out, size_t from)
{
    size_t end = from + CAUSE_BYTES_MOST - 3;
    if (out->n - from <= CAUSE_BYTES_MOST)
        return;
    while (end > from && ((unsigned char)out->p[end] & 0xc0) == 0x80)
        end--;
    buf_cut(out, end, out->n);
    buf_add(out, STR("..."));
}

void engine_word_cause(struct engine *k, struct planner *planner, const struct cause *x,
                       struct buf *out)
{
    struct telling t = {k, planner, x, out};
    size_t from = out->n;
    rules[x->rule].say(&t);
    engine_shorten(out, from);
}
