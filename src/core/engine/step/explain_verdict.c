/* The first sentence of an explanation, from what is known of the whole unit. */

#include "core/engine/explain.h"

#include "core/engine/step/step.h"

struct concluding {
    struct engine *k;
    struct planner *planner; /* with the gang, if it was tried */
    struct explanation *out;
    pod_id pod;
    struct class *class;
    uint32_t group; /* ID_NONE: the pod is alone */
};

static struct str keep(struct concluding *c, sym s)
{
    return arena_str(&c->out->mem, names_text(&c->k->cluster->names, s));
}

static void take_cause(struct concluding *c, const struct cause *x)
{
    struct explained_verdict *v = &c->out->verdict;
    AUTO(buf) text = {0};
    engine_word_cause(c->k, c->planner, x, &text);
    v->rule = str_of(cause_rule_name(x->rule));
    v->headline = arena_str(&c->out->mem, buf_str(&text));
    v->key = keep(c, x->key);
    v->value = keep(c, x->value);
    v->nearest = keep(c, x->nearest);
    v->where = keep(c, x->object);
    v->ask = x->ask;
    v->most = x->most;
    v->need = x->need;
    v->have = x->have;
}

static void conclude_alone(struct concluding *c)
{
    struct verdict v = engine_decide(c->k, c->pod, c->class);
    struct cause x = engine_find_cause_alone(c->k, c->planner, v.why, c->pod, c->class);
    take_cause(c, &x);
}

/* The first sentence of what its pods are told. */
static struct str first_sentence(struct str text)
{
    size_t end = 0;
    while (end < text.n && !(text.p[end] == '.' && end + 1 < text.n && text.p[end + 1] == ' '))
        end++;
    return str_part(text, 0, MIN(end, (size_t)CAUSE_BYTES_MOST));
}

/* Enough of the gang find nodes, and this pod is not one of them. */
static void conclude_rest(struct concluding *c)
{
    const struct explained_gang *g = c->out->gang;
    c->out->verdict.rule = STR("Rest");
    c->out->verdict.headline = arena_printf(
        &c->out->mem,
        "gang " STR_FMT " starts with %u of its %u pods, without this one: no room for more",
        STR_ARG(g->name), g->n_places, g->waiting);
}

static void conclude_gang(struct concluding *c)
{
    struct effects said = {0}; /* nobody is told */
    enum gang_outcome outcome = engine_try_gang(c->k, c->planner, c->group, &said);
    struct cause x = engine_find_cause(c->k, c->planner, c->group, outcome);
    effects_done(&said);
    take_cause(c, &x);
    if (outcome == GANG_PLACED)
        conclude_rest(c);
    else
        c->out->verdict.headline = first_sentence(c->out->gang->message);
}

static void start(struct concluding *c, struct str node)
{
    struct explained_verdict *v = &c->out->verdict;
    v->starts = true;
    v->node = node;
    v->rule = STR("Starts");
}

/* Where the gang's plan has the pod; empty: it is not needed for the minimum. */
static struct str place_in_gang(const struct concluding *c)
{
    const struct explained_gang *g = c->out->gang;
    struct str name = pod_name(pods_at(&c->k->cluster->pods, c->pod));
    for (uint32_t i = 0; i < g->n_places; i++)
        if (str_equal(g->places[i].pod, name))
            return g->places[i].node;
    return (struct str){0};
}

static struct str where_it_goes(const struct concluding *c)
{
    if (c->out->gang)
        return place_in_gang(c);
    return c->out->n_would_choose ? c->out->would_choose[0] : (struct str){0};
}

/* Nobody asks about nodes while pods are missing. */
static bool is_missing(const struct concluding *c)
{
    return str_equal(c->out->verdict.rule, str_of(cause_rule_name(CAUSE_MEMBERS)));
}

static void list_funnel(struct concluding *c)
{
    bool is_alone = c->group == ID_NONE;
    if (is_alone)
        engine_list_alone(c->k, c->planner, c->pod, c->class);
    if (c->planner->member_classes.n)
        engine_list_funnel(c->k, c->planner, c->group, &c->out->verdict.funnel);
}

static void say(struct concluding *c, const char *rule, struct str headline)
{
    c->out->verdict.rule = str_of(rule);
    c->out->verdict.headline =
        arena_str(&c->out->mem, str_part(headline, 0, MIN(headline.n, (size_t)CAUSE_BYTES_MOST)));
}

/* Kueue's gate is lifted when its queue has quota. */
static void say_gate(struct concluding *c)
{
    const struct spec *spec = cluster_spec(c->k->cluster, c->pod);
    struct str gate = spec->n_gates ? names_text(&c->k->cluster->names, spec->gates[0]) : STR("");
    bool is_kueues = str_starts(gate, STR("kueue.x-k8s.io/"));
    if (!gate.n) { /* a plugin's own, in its words */
        say(c, "Gate", c->out->summary);
        return;
    }
    c->out->verdict.key = arena_str(&c->out->mem, gate);
    say(c, "Gate",
        arena_printf(&c->out->mem, "held back by scheduling gate " STR_FMT "%s", STR_ARG(gate),
                     is_kueues ? ": its queue has not admitted it (quota of Kueue)" : ""));
}

void explain_verdict(struct engine *k, struct planner *p, pod_id pod, struct class *class,
                     struct explanation *out)
{
    struct concluding c = {k, p, out, pod, class, engine_gang_of(k, pod)};
    struct str node = where_it_goes(&c);
    if (out->error.n)
        say(&c, "Error",
            arena_printf(&out->mem, "cannot be judged: " STR_FMT, STR_ARG(out->error)));
    else if (out->gated.n)
        say_gate(&c);
    else if (out->n_nodes == 0)
        say(&c, "NoNodes", STR("there are no nodes"));
    else if (node.n)
        start(&c, node);
    else if (c.group == ID_NONE)
        conclude_alone(&c);
    else
        conclude_gang(&c);
    if (out->n_nodes && !out->error.n && !out->gated.n && !is_missing(&c))
        list_funnel(&c);
}
