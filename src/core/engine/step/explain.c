#include "core/engine/explain.h"

#include <stdlib.h>

#include "core/engine/step/step.h"
#include "core/framework/row.h"
#include "core/plugins/plugins.h"

/* Everything of one explanation while it is being made. */
struct explaining {
    struct engine *k;
    struct explanation *out;
    pod_id pod;
    struct class *class;
    int64_t **raw, **normal; /* by part: its key scores by bucket; NULL if it has none */
    uint32_t *ids;           /* nodes, in the order of out->nodes */
};

static struct str text_of(const struct explaining *x, sym s)
{
    return arena_str(&x->out->mem, names_text(&x->k->cluster->names, s));
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* "A,B": the plugins of a mask, sorted. */
static struct str plugin_names(const struct engine *k, struct arena *mem, uint64_t mask)
{
    struct str names[64], joined = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < 64; i++)
        if (mask >> i & 1 && engine_plugin(k, i))
            names[n++] = str_of(engine_plugin(k, i)->name);
    if (n > 1)
        qsort(names, n, sizeof(*names), by_text);
    for (uint32_t i = 0; i < n; i++)
        joined = i ? arena_printf(mem, STR_FMT "," STR_FMT, STR_ARG(joined), STR_ARG(names[i]))
                   : names[i];
    return joined;
}

/* --- nodes --- */

struct named {
    struct str name;
    uint32_t id;
};

static void list_nodes(struct explaining *x)
{
    const struct nodes *n = &x->k->cluster->nodes;
    struct named *all = arena_array(&x->out->mem, struct named, n->present);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->n; i++)
        if (n->flags[i] & NODE_PRESENT)
            all[count++] = (struct named){text_of(x, n->name[i]), i};
    if (count > 1)
        qsort(all, count, sizeof(*all), by_text); /* the name comes first */
    x->out->n_nodes = count;
    x->out->nodes = arena_array(&x->out->mem, struct explained_node, count);
    x->ids = arena_array(&x->out->mem, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        x->out->nodes[i] =
            (struct explained_node){.name = all[i].name, .code = code_name(CODE_SUCCESS)};
        x->ids[i] = all[i].id;
        explain_hardware(x->k, (node_id){all[i].id}, &x->out->mem, &x->out->nodes[i]);
    }
}

static void reject(struct explained_node *node, struct str by, enum code code,
                   const struct str *reasons, uint32_t n)
{
    node->rejected_by = by;
    node->code = code_name(code);
    node->reasons = reasons;
    node->n_reasons = n;
}

static void reject_all(struct explaining *x, struct str by, enum code code,
                       const struct str *reasons, uint32_t n)
{
    for (uint32_t i = 0; i < x->out->n_nodes; i++)
        reject(&x->out->nodes[i], by, code, reasons, n);
}

static void reject_for(struct explaining *x, struct explained_node *node, reason_id id)
{
    const struct reason *reason = reasons_at(&x->k->classes.reasons, id);
    const struct plugin *plugin = engine_plugin(x->k, reason->plugin);
    struct str by =
        plugin ? str_of(plugin->name) : plugin_names(x->k, &x->out->mem, x->class->restricted_by);
    struct str *copy = arena_array(&x->out->mem, struct str, reason->n_texts);
    for (uint32_t i = 0; i < reason->n_texts; i++)
        copy[i] = arena_str(&x->out->mem, reason->texts[i]);
    if (id == x->class->refusal && x->class->refusal_text.n)
        copy[0] = arena_str(&x->out->mem, x->class->refusal_text);
    reject(node, by, reason->code, copy, reason->n_texts);
}

/* --- scores --- */

/* Has the part a score to show? */
static bool is_shown(const struct explaining *x, const struct class_part *part)
{
    return part->scores &&
           !(part->plugin->is_idle && part->plugin->is_idle(x->k->cluster, part->state));
}

/* Works out each part's key scores once per bucket. */
static void score_buckets(struct explaining *x)
{
    struct scan *s = &x->k->deciding.scan;
    x->raw = arena_array(&x->out->mem, int64_t *, x->class->n_parts);
    x->normal = arena_array(&x->out->mem, int64_t *, x->class->n_parts);
    for (uint32_t p = 0; p < x->class->n_parts; p++) {
        const struct class_part *part = &x->class->parts[p];
        bool has_keys = part->n_keys || !part->plugin->row_score;
        if (!part->scores || !part->plugin->key_score || !has_keys)
            continue;
        x->raw[p] = arena_array(&x->out->mem, int64_t, s->buckets.at.n);
        x->normal[p] = arena_array(&x->out->mem, int64_t, s->buckets.at.n);
        if (part->scores_nothing)
            continue;
        buckets_score(x->k->cluster, part, &s->buckets, &s->decider);
        for (uint32_t i = 0; i < s->decider.which.n; i++) {
            x->raw[p][s->decider.which.at[i]] = s->decider.raw.at[i];
            x->normal[p][s->decider.which.at[i]] = s->decider.normal.at[i];
        }
    }
}

static void score_node(struct explaining *x, struct explained_node *node, uint32_t id,
                       uint32_t bucket)
{
    struct explained_score *scores =
        arena_array(&x->out->mem, struct explained_score, x->class->n_parts);
    node->is_feasible = true;
    node->scores = scores;
    for (uint32_t p = 0; p < x->class->n_parts; p++) {
        const struct class_part *part = &x->class->parts[p];
        if (!is_shown(x, part))
            continue;
        struct explained_score *score = &scores[node->n_scores++];
        score->plugin = part->plugin->name;
        if (x->raw[p]) {
            score->raw = x->raw[p][bucket];
            score->normalized = x->normal[p][bucket];
        }
        if (part->plugin->row_score && (!x->raw[p] || !part->scores_nothing)) {
            int64_t row = part->plugin->row_score(x->k->cluster, part->state, (node_id){id});
            score->raw += row;
            score->normalized += row;
        }
        score->weighted = part->weight * score->normalized;
        node->total += score->weighted;
    }
}

/* --- the whole --- */

static void choose(struct explaining *x)
{
    struct explanation *out = x->out;
    sym nominated = pods_at(&x->k->cluster->pods, x->pod)->nominated;
    int64_t best = INT64_MIN;
    out->would_choose = arena_array(&out->mem, struct str, out->n_nodes);
    for (uint32_t i = 0; i < out->n_nodes; i++)
        if (out->nodes[i].is_feasible)
            best = MAX(best, out->nodes[i].total);
    for (uint32_t i = 0; i < out->n_nodes; i++)
        if (out->nodes[i].is_feasible && out->nodes[i].total == best)
            out->would_choose[out->n_would_choose++] = out->nodes[i].name;
    for (uint32_t i = 0; i < out->n_nodes; i++) /* a nominated node that fits is taken outright */
        if (out->nodes[i].is_feasible && x->k->cluster->nodes.name[x->ids[i]] == nominated) {
            out->would_choose[0] = out->nodes[i].name;
            out->n_would_choose = 1;
        }
}

static void summarise(struct explaining *x, const struct why *why)
{
    AUTO(buf) text = {0};
    why_text(why, &x->k->classes.reasons, x->class, &text);
    x->out->filter_summary = x->out->summary = arena_str(&x->out->mem, buf_str(&text));
    if (engine_preemption(x->class->profile) && x->out->n_nodes)
        explain_preemption(x->k, x->pod, x->class, why, x->ids, x->out);
}

static void fail(struct explaining *x, struct str error)
{
    x->out->error = arena_str(&x->out->mem, error);
    x->out->n_nodes = 0;
}

static void explain_nodes(struct explaining *x)
{
    struct engine *k = x->k;
    struct decision d = scan_run(&k->deciding.scan, k->cluster, x->class, x->pod, true);
    reason_id error = scan_error(&k->deciding.scan, k->cluster, x->class, &k->classes.reasons);
    if (error) {
        fail(x, class_error_text(x->class, &k->classes.reasons, error));
        return;
    }
    if (d.node != ID_NONE && x->class->score_error.n) {
        fail(x, x->class->score_error);
        return;
    }
    if (d.broken != ID_NONE) {
        fail(x, row_broken_text(k->cluster, x->class, (node_id){d.broken}, &x->out->mem));
        return;
    }
    score_buckets(x);
    for (uint32_t i = 0; i < x->out->n_nodes; i++) {
        uint32_t home = scan_home(&k->deciding.scan, k->cluster, x->ids[i]);
        bool is_refused = home & SCAN_REFUSED;
        reason_id reason =
            is_refused ? home & ~SCAN_REFUSED : k->deciding.scan.buckets.at.at[home].refused;
        if (reason)
            reject_for(x, &x->out->nodes[i], reason);
        else
            score_node(x, &x->out->nodes[i], x->ids[i], home);
    }
    if (d.node != ID_NONE) {
        choose(x);
        return;
    }
    struct why why = {0};
    scan_why(&k->deciding.scan, k->cluster, &why);
    summarise(x, &why);
    why_done(&why);
}

/* The first plugin that keeps the pod out of the queue. */
static bool explain_gate(struct explaining *x)
{
    const struct shape *shape = pods_shape(&x->k->cluster->pods, x->pod);
    const struct profile *profile = x->class->profile;
    for (uint32_t i = 0; i < profile->n; i++) {
        const struct plugin *plugin = profile->plugins[i].plugin;
        struct str *why = arena_array(&x->out->mem, struct str, 1);
        bool gates = plugin->gate && !(profile->plugins[i].off & PROFILE_NO_GATE);
        if (!gates || !plugin->gate(x->k->cluster, shape, &x->out->mem, why))
            continue;
        x->out->gated = str_of(plugin->name);
        x->out->summary = x->out->filter_summary = *why;
        reject_all(x, x->out->gated, CODE_UNRESOLVABLE, why, 1);
        return true;
    }
    return false;
}

static void explain(struct explaining *x)
{
    struct explanation *out = x->out;
    list_nodes(x);
    if (explain_gate(x))
        return;
    if (x->class->error.n) {
        fail(x, x->class->error);
        return;
    }
    if (x->class->refusal && out->n_nodes) {
        struct why why = {.nodes = out->n_nodes};
        for (uint32_t i = 0; i < out->n_nodes; i++)
            reject_for(x, &out->nodes[i], x->class->refusal);
        if (!engine_plugin(x->k, reasons_at(&x->k->classes.reasons, x->class->refusal)->plugin))
            for (uint32_t i = 0; i < out->n_nodes; i++)
                out->nodes[i].rejected_by = plugin_names(x->k, &out->mem, x->class->refused_by);
        summarise(x, &why);
        return;
    }
    explain_nodes(x);
}

/* They are servers somewhere: whoever explains asks nobody. */
static void list_unasked(const struct engine *k, const struct class *class, struct explanation *out)
{
    out->unasked = arena_array(&out->mem, struct str, k->config.rules.n_extenders);
    for (uint32_t i = 0; i < k->config.rules.n_extenders; i++)
        if ((class->asks | class->preempts) >> i & 1)
            out->unasked[out->n_unasked++] = k->config.rules.extenders[i].url;
}

struct explain_trial explain_begin(struct engine *k, pod_id pod)
{
    engine_match_slots(k);
    struct explain_trial trial = {txn_begin(k->cluster), k->figures->stats};
    engine_try_slots(k);
    engine_take_slots_off(k, pod);
    return trial;
}

void explain_end(struct engine *k, const struct explain_trial *trial)
{
    bool has_moved = k->cluster->log.end != trial->txn.log;
    txn_undo(k->cluster, trial->txn);
    engine_forget_slots_off(k);
    k->figures->stats = trial->stats;
    if (!has_moved)
        return;
    engine_forget_rooms(k); /* what was true in the trial is not true any more */
    engine_forget_useless(k);
}

bool engine_explain(struct engine *k, struct str namespace, struct str name,
                    struct explanation *out)
{
    k->cluster->effort = (struct effort){0};
    struct cluster *c = k->cluster;
    pod_id pod = pods_find(&c->pods, names_find(&c->names, namespace), name);
    if (pod.i == ID_NONE || pods_at(&c->pods, pod)->node != ID_NONE)
        return false;
    struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
    if (!class)
        return false;
    struct explaining x = {.k = k, .out = out, .pod = pod, .class = class};
    out->pod = arena_printf(&out->mem, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    out->profile = class->profile->name;
    out->apart = engine_word_apart(k, pod, &out->mem);
    explain_class(k, class, out);
    list_unasked(k, class, out);
    struct explain_trial trial = explain_begin(k, pod);
    struct planner planner = {0};
    explain_gang(k, &planner, pod, out);
    explain(&x);
    explain_verdict(k, &planner, pod, class, out);
    planner_done(&planner);
    explain_end(k, &trial);
    return true;
}

void explanation_done(struct explanation *x)
{
    arena_done(&x->mem);
}
