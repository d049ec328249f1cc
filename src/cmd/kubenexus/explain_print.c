#include "cmd/kubenexus/explain_print.h"

#include <stdlib.h>

#include "core/base/vec.h"
#include "core/wire/json_write.h"

/* --- JSON --- */

static void put_scores(struct json_writer *w, const struct explained_node *node)
{
    put_open(w, "scores", '{');
    for (uint32_t i = 0; i < node->n_scores; i++) {
        json_put_key(w, str_of(node->scores[i].plugin));
        json_put_open(w, '{');
        put_int(w, "raw", node->scores[i].raw);
        put_int(w, "normalized", node->scores[i].normalized);
        put_int(w, "weighted", node->scores[i].weighted);
        json_put_close(w, '}');
    }
    json_put_close(w, '}');
}

static void put_texts(struct json_writer *w, const char *key, const struct str *texts, uint32_t n)
{
    put_open(w, key, '[');
    for (uint32_t i = 0; i < n; i++)
        json_put_str(w, texts[i]);
    json_put_close(w, ']');
}

static void put_hardware(struct json_writer *w, const struct explained_hardware *x)
{
    put_open(w, "hardware", '{');
    put_text(w, "tier", x->tier);
    put_int(w, "vramMebibytes", x->vram_mebibytes);
    put_text(w, "vramSource", x->vram_source);
    put_text(w, "fabric", x->fabric);
    put_int(w, "numaNodes", x->n_zones);
    json_put_close(w, '}');
}

static void put_node(struct json_writer *w, const struct explained_node *node)
{
    json_put_open(w, '{');
    put_text(w, "name", node->name);
    put_bool(w, "feasible", node->is_feasible);
    json_put_key(w, STR("rejectedBy"));
    if (node->rejected_by.n)
        json_put_str(w, node->rejected_by);
    else
        json_put_null(w);
    put_text(w, "code", str_of(node->code));
    put_texts(w, "reasons", node->reasons, node->n_reasons);
    put_scores(w, node);
    put_int(w, "total", node->total);
    if (node->hardware)
        put_hardware(w, node->hardware);
    json_put_close(w, '}');
}

static void put_class(struct json_writer *w, const struct explanation *all)
{
    const struct explained_class *x = all->class;
    put_open(w, "classification", '{');
    put_text(w, "tier", x->tier);
    put_text(w, "tierBecause", x->tier_because);
    put_text(w, "tenant", x->tenant);
    put_text(w, "workload", x->workload);
    put_text(w, "workloadBecause", x->workload_because);
    put_bool(w, "gang", x->is_gang);
    put_bool(w, "preemptible", x->is_preemptible);
    put_text(w, "preemptibleBecause", x->preemptible_because);
    put_text(w, "where", x->where);
    put_texts(w, "misread", all->misread, all->n_misread);
    json_put_close(w, '}');
}

static void put_places(struct json_writer *w, const struct explained_place *places, uint32_t n)
{
    put_open(w, "places", '{');
    for (uint32_t i = 0; i < n; i++) {
        json_put_key(w, places[i].pod);
        json_put_str(w, places[i].node);
    }
    json_put_close(w, '}');
}

static void put_gang(struct json_writer *w, const struct explained_gang *x)
{
    put_open(w, "gang", '{');
    put_text(w, "name", x->name);
    put_text(w, "nameBecause", x->name_because);
    put_int(w, "minimum", x->minimum);
    put_text(w, "minimumBecause", x->minimum_because);
    put_int(w, "running", x->running);
    put_int(w, "waiting", x->waiting);
    put_int(w, "gated", x->held);
    put_int(w, "ended", x->ended);
    put_text(w, "conflict", x->conflict);
    put_text(w, "message", x->message);
    put_places(w, x->places, x->n_places);
    json_put_close(w, '}');
}

static void put_preemption(struct json_writer *w, const struct explained_preemption *p)
{
    put_open(w, "preemption", '{');
    put_text(w, "nominatedNode", p->best ? p->best->node : STR(""));
    put_texts(w, "victims", p->best ? p->best->victims : NULL, p->best ? p->best->n_victims : 0);
    put_int(w, "pdbViolations", p->best ? p->best->violations : 0);
    if (p->best && p->best->budget.n)
        put_text(w, "pdb", p->best->budget);
    put_texts(w, "ties", p->ties, p->n_ties);
    put_open(w, "candidates", '{');
    for (uint32_t i = 0; i < p->n_candidates; i++) {
        json_put_key(w, p->candidates[i].node);
        json_put_open(w, '[');
        for (uint32_t v = 0; v < p->candidates[i].n_victims; v++)
            json_put_str(w, p->candidates[i].victims[v]);
        json_put_close(w, ']');
    }
    json_put_close(w, '}');
    put_text(w, "message", p->message);
    json_put_close(w, '}');
}

static void put_victim(struct json_writer *w, const struct explained_victim *v)
{
    json_put_open(w, '{');
    put_text(w, "pod", v->pod);
    put_text(w, "node", v->node);
    put_text(w, "gang", v->gang);
    put_text(w, "why", v->why);
    put_text(w, "tier", v->tier);
    put_int(w, "priority", v->priority);
    put_text(w, "workload", v->workload);
    put_int(w, "gpuSecondsLost", v->lost_s);
    json_put_close(w, '}');
}

static void put_eviction(struct json_writer *w, const struct explained_eviction *x)
{
    put_open(w, "plan", '{');
    put_bool(w, "found", x->is_found);
    put_text(w, "message", x->message);
    put_places(w, x->places, x->n_places);
    put_open(w, "victims", '[');
    for (uint32_t i = 0; i < x->n_victims; i++)
        put_victim(w, &x->victims[i]);
    json_put_close(w, ']');
    put_int(w, "units", x->victim_groups);
    put_int(w, "pdbViolations", x->violations);
    if (x->budget.n)
        put_text(w, "pdb", x->budget);
    put_int(w, "gpuSecondsLost", x->lost_s);
    json_put_close(w, '}');
}

static void put_verdict(struct json_writer *w, const struct explained_verdict *v)
{
    put_open(w, "verdict", '{');
    put_bool(w, "starts", v->starts);
    put_text(w, "node", v->node);
    put_text(w, "headline", v->headline);
    put_text(w, "rule", v->rule);
    put_text(w, "key", v->key);
    put_text(w, "value", v->value);
    put_text(w, "nearest", v->nearest);
    put_text(w, "where", v->where);
    put_int(w, "ask", v->ask);
    put_int(w, "most", v->most);
    put_int(w, "need", v->need);
    put_int(w, "have", (int64_t)v->have);
    put_open(w, "funnel", '[');
    for (uint32_t i = 0; i < v->funnel.n; i++) {
        const struct cause_step *step = &v->funnel.at[i];
        json_put_open(w, '{');
        put_text(w, "rule", str_of(cause_rule_name(step->rule)));
        put_text(w, "plugin", step->plugin ? str_of(step->plugin) : STR(""));
        put_int(w, "nodes", step->nodes);
        put_int(w, "pods", (int64_t)step->pods);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
    json_put_close(w, '}');
}

void explanation_json(const struct explanation *x, const struct queue_spot *queue, struct buf *out)
{
    struct json_writer w = {.out = out, .is_pretty = true};
    json_put_open(&w, '{');
    put_text(&w, "pod", x->pod);
    put_text(&w, "profile", x->profile);
    put_verdict(&w, &x->verdict);
    if (x->class)
        put_class(&w, x);
    else if (x->n_misread)
        put_texts(&w, "misread", x->misread, x->n_misread);
    if (queue)
        queue_spot_json(queue, &w);
    if (x->gang)
        put_gang(&w, x->gang);
    if (x->apart.n)
        put_text(&w, "apart", x->apart);
    put_open(&w, "nodes", '[');
    for (uint32_t i = 0; i < x->n_nodes; i++)
        put_node(&w, &x->nodes[i]);
    json_put_close(&w, ']');
    put_text(&w, "summary", x->summary);
    put_text(&w, "filterSummary", x->filter_summary);
    put_texts(&w, "wouldChoose", x->would_choose, x->n_would_choose);
    if (x->preemption)
        put_preemption(&w, x->preemption);
    if (x->eviction)
        put_eviction(&w, x->eviction);
    if (x->gated.n)
        put_text(&w, "gated", x->gated);
    if (x->line.n)
        put_text(&w, "line", x->line);
    if (x->n_unasked)
        put_texts(&w, "extendersNotAsked", x->unasked, x->n_unasked);
    if (x->error.n)
        put_text(&w, "error", x->error);
    json_put_close(&w, '}');
    buf_add_char(out, '\n');
}
