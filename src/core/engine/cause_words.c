/* Causes in words. This is the only place that says why a unit does not start. */

#include "core/engine/cause.h"
#include "core/engine/inside.h"
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
    if (resource == RESOURCE_CPU && amount % 1000) {
        buf_printf(out, "%lldm " STR_FMT, (long long)amount, STR_ARG(name));
        return;
    }
    bool is_bytes = resource == RESOURCE_MEMORY || resource == RESOURCE_EPHEMERAL;
    uint32_t unit = 0;
    amount = resource == RESOURCE_CPU ? amount / 1000 : amount;
    for (; is_bytes && amount && amount % 1024 == 0 && unit + 1 < LEN(units); unit++)
        amount /= 1024;
    buf_printf(out, "%lld%s " STR_FMT, (long long)amount, units[unit], STR_ARG(name));
}

void engine_each_need(const struct spec *spec,
                      void (*fn)(void *ctx, resource_id resource, int64_t amount), void *ctx)
{
    for (uint32_t i = 0; i < spec->ask.n_others; i++)
        fn(ctx, spec->ask.others[i].resource, spec->ask.others[i].amount);
    if (spec->ask.cpu_milli)
        fn(ctx, RESOURCE_CPU, spec->ask.cpu_milli);
    if (spec->ask.memory)
        fn(ctx, RESOURCE_MEMORY, spec->ask.memory);
}

struct wording {
    const struct engine *k;
    struct buf *out;
    uint32_t n;
};

static void add_need(void *ctx, resource_id resource, int64_t amount)
{
    struct wording *w = ctx;
    buf_add(w->out, w->n++ ? STR(", ") : STR(" x ("));
    engine_word_amount(w->k, resource, amount, w->out);
}

void engine_word_needs(const struct engine *k, struct buf *out)
{
    const struct planner *p = &k->planner;
    for (uint32_t i = 0; i < p->benches.n; i++) {
        const struct bench *bench = &p->benches.at[i];
        struct wording w = {k, out, 0};
        buf_printf(out, "%s%u", i ? " and " : "", p->benches.n == 1 ? p->need : bench->n);
        engine_each_need(specs_at(&k->cluster->specs, bench->class->spec), add_need, &w);
        buf_add(out, w.n ? STR(")") : STR(" x (nothing)"));
    }
}

/* --- parts of sentences --- */

struct telling {
    struct engine *k;
    const struct cause *x;
    int64_t now_ms;
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
        buf_add(t->out, STR(" needs "));
        engine_word_needs(t->k, t->out);
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
    buf_add(t->out, STR(" needs "));
    engine_word_needs(t->k, t->out);
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

static void say_reason(const struct telling *t)
{
    const struct reason *reason = reasons_at(&t->k->classes.reasons, t->x->reason);
    uint32_t n = t->x->nodes - t->x->left;
    for (uint32_t i = 0; i < reason->n_texts; i++)
        buf_printf(t->out, "%s" STR_FMT, i ? ", " : "", STR_ARG(reason->texts[i]));
    if (t->x->rule == CAUSE_USE)
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

static void add_until(const struct telling *t)
{
    int64_t left_ms = t->x->until_ms - t->now_ms;
    if (t->x->until_ms && t->x->until_ms != INT64_MAX) {
        buf_add(t->out, STR(" for "));
        engine_add_span(t->out, left_ms);
        buf_add(t->out, STR(" more"));
    }
}

static void say_held(const struct telling *t)
{
    const struct cause *x = t->x;
    buf_add(t->out, STR("room is reserved"));
    if (x->object != SYM_NONE)
        buf_printf(t->out, " by " STR_FMT, STR_ARG(text_of(t, x->object)));
    if (x->key != SYM_NONE)
        buf_printf(t->out, " for " STR_FMT, STR_ARG(text_of(t, x->key)));
    add_until(t);
    buf_printf(t->out, "; the rest has room for %llu of %u pod%s", (unsigned long long)x->have,
               x->need, plural(x->need));
    if (x->group != ID_NONE) {
        buf_add(t->out, STR(" of "));
        add_unit(t);
    }
}

static void say_room(const struct telling *t)
{
    const struct cause *x = t->x;
    add_unit(t);
    buf_add(t->out, STR(" needs "));
    engine_word_needs(t->k, t->out);
    buf_printf(t->out, "; %llu fit now", (unsigned long long)x->have);
    if (x->ask) {
        buf_printf(t->out, "; %u node%s with the rest free ha%s too little ", x->nodes,
                   plural(x->nodes), x->nodes == 1 ? "s" : "ve");
        buf_add(t->out, x->resource == RESOURCE_CPU ? STR("cpu") : STR("memory"));
    }
}

static void say_refused(const struct telling *t)
{
    const struct class *class = t->k->planner.benches.at[t->x->bench].class;
    if (class->refusal_text.n)
        buf_add(t->out, class->refusal_text);
    else
        buf_add(t->out, reasons_at(&t->k->classes.reasons, t->x->reason)->texts[0]);
}

static void say_search(const struct telling *t)
{
    add_unit(t);
    buf_add(t->out, STR(" finds no nodes for "));
    engine_word_needs(t->k, t->out);
    buf_add(t->out, STR(" at once"));
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
    [CAUSE_NONE] = {"None",       say_nothing},
    [CAUSE_MEMBERS] = {"Members",    say_nothing},
    [CAUSE_REFUSED] = {"Refused",    say_refused},
    [CAUSE_OFFER] = {"Offer",      say_offer  },
    [CAUSE_SUM] = {"Sum",        say_sum    },
    [CAUSE_NAME] = {"NodeName",   say_label  },
    [CAUSE_LABEL] = {"NodeLabel",  say_label  },
    [CAUSE_TAINT] = {"Taint",      say_taint  },
    [CAUSE_CORDON] = {"Cordon",     say_cordon },
    [CAUSE_VOLUME] = {"Volume",     say_volume },
    [CAUSE_MEMORY] = {"GPUMemory",  say_memory },
    [CAUSE_NODE] = {"Node",       say_reason },
    [CAUSE_DOMAIN] = {"DomainSize", say_domain },
    [CAUSE_ROOM] = {"Room",       say_room   },
    [CAUSE_HELD] = {"Reserved",   say_held   },
    [CAUSE_USE] = {"InUse",      say_reason },
    [CAUSE_NEAR] = {"DomainRoom", say_domain },
    [CAUSE_SEARCH] = {"Search",     say_search },
    [CAUSE_LINE] = {"Line",       say_nothing},
};

const char *cause_rule_name(enum cause_rule rule)
{
    return rules[rule].name;
}

/* A character that has begun is not cut in two. */
static void shorten(struct buf *out, size_t from)
{
    size_t end = from + CAUSE_BYTES_MOST - 3;
    if (out->n - from <= CAUSE_BYTES_MOST)
        return;
    while (end > from && ((unsigned char)out->p[end] & 0xc0) == 0x80)
        end--;
    buf_cut(out, end, out->n);
    buf_add(out, STR("..."));
}

void engine_word_cause(struct engine *k, int64_t now_ms, const struct cause *x, struct buf *out)
{
    struct telling t = {k, x, now_ms, out};
    size_t from = out->n;
    rules[x->rule].say(&t);
    shorten(out, from);
}
