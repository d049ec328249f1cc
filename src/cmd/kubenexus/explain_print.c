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

static void put_class(struct json_writer *w, const struct explained_class *x)
{
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
    put_texts(w, "misread", x->misread, x->n_misread);
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
    put_int(w, "units", x->parties);
    put_int(w, "pdbViolations", x->violations);
    put_int(w, "gpuSecondsLost", x->lost_s);
    json_put_close(w, '}');
}

void explanation_json(const struct explanation *x, struct buf *out)
{
    struct json_writer w = {.out = out, .is_pretty = true};
    json_put_open(&w, '{');
    put_text(&w, "pod", x->pod);
    put_text(&w, "profile", x->profile);
    if (x->class)
        put_class(&w, x->class);
    if (x->gang)
        put_gang(&w, x->gang);
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

/* --- for people --- */

enum { TOP_NODES = 10, NAMES_SHOWN = 6 };

/* Refused nodes with the same plugin, code and reasons. */
struct group {
    const struct explained_node *first;
    uint32_t n;
};

static bool same_refusal(const struct explained_node *a, const struct explained_node *b)
{
    if (!str_equal(a->rejected_by, b->rejected_by) || a->n_reasons != b->n_reasons ||
        a->code != b->code)
        return false;
    for (uint32_t i = 0; i < a->n_reasons; i++)
        if (!str_equal(a->reasons[i], b->reasons[i]))
            return false;
    return true;
}

static int larger_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return str_compare(x->first->name, y->first->name);
}

static void print_group(const struct explanation *x, const struct group *g, struct buf *out)
{
    buf_printf(out, "  %6u  ", g->n);
    for (uint32_t i = 0; i < g->first->n_reasons; i++)
        buf_printf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(g->first->reasons[i]));
    buf_printf(out, "  [" STR_FMT "%s]\n          ", STR_ARG(g->first->rejected_by),
               str_of(g->first->code).n > sizeof("Unschedulable") ? "; evicting pods would not help"
                                                                  : "");
    uint32_t shown = 0;
    for (uint32_t i = 0; i < x->n_nodes && shown < NAMES_SHOWN; i++)
        if (!x->nodes[i].is_feasible && same_refusal(&x->nodes[i], g->first))
            buf_printf(out, "%s" STR_FMT, shown++ ? ", " : "", STR_ARG(x->nodes[i].name));
    if (g->n > shown)
        buf_printf(out, " and %u more", g->n - shown);
    buf_add_char(out, '\n');
}

static void print_refused(const struct explanation *x, struct buf *out)
{
    VEC(struct group) groups = {0};
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        if (x->nodes[i].is_feasible)
            continue;
        uint32_t g = 0;
        while (g < groups.n && !same_refusal(groups.at[g].first, &x->nodes[i]))
            g++;
        if (g == groups.n)
            vec_push(&groups, (struct group){&x->nodes[i], 0});
        groups.at[g].n++;
    }
    if (groups.n > 1)
        qsort(groups.at, groups.n, sizeof(*groups.at), larger_first);
    if (groups.n)
        buf_printf(out, "\nRefused:\n");
    vec_each(&groups, g)
        print_group(x, g, out);
    vec_done(&groups);
}

static int better_first(const void *a, const void *b)
{
    const struct explained_node *x = *(const struct explained_node *const *)a;
    const struct explained_node *y = *(const struct explained_node *const *)b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return str_compare(x->name, y->name);
}

static void print_best(const struct explanation *x, struct buf *out)
{
    VEC(const struct explained_node *) best = {0};
    for (uint32_t i = 0; i < x->n_nodes; i++)
        if (x->nodes[i].is_feasible)
            vec_push(&best, &x->nodes[i]);
    if (best.n > 1)
        qsort(best.at, best.n, sizeof(*best.at), better_first);
    if (best.n)
        buf_printf(out, "\nFits, best first (weighted scores):\n");
    for (uint32_t i = 0; i < best.n && i < TOP_NODES; i++) {
        buf_printf(out, "  %6ld  " STR_FMT "\n          ", (long)best.at[i]->total,
                   STR_ARG(best.at[i]->name));
        for (uint32_t s = 0; s < best.at[i]->n_scores; s++)
            buf_printf(out, "%s%s %ld", s ? ", " : "", best.at[i]->scores[s].plugin,
                       (long)best.at[i]->scores[s].weighted);
        buf_add_char(out, '\n');
    }
    if (best.n > TOP_NODES)
        buf_printf(out, "          and %u more that fit\n", best.n - TOP_NODES);
    vec_done(&best);
}

static void print_outcome(const struct explanation *x, struct buf *out)
{
    if (x->error.n) {
        buf_printf(out, "cannot be judged: " STR_FMT "\n", STR_ARG(x->error));
    } else if (x->gated.n) {
        buf_printf(out, "held back by " STR_FMT ": " STR_FMT "\n", STR_ARG(x->gated),
                   STR_ARG(x->summary));
    } else if (x->n_would_choose == 0) {
        buf_printf(out, "fits nowhere: " STR_FMT "\n", STR_ARG(x->summary));
    } else if (x->line.n) {
        buf_printf(out, "fits, but " STR_FMT "\n", STR_ARG(x->line));
    } else {
        buf_printf(out, "would go to ");
        for (uint32_t i = 0; i < x->n_would_choose && i < NAMES_SHOWN; i++)
            buf_printf(out, "%s" STR_FMT, i ? " or " : "", STR_ARG(x->would_choose[i]));
        if (x->n_would_choose > NAMES_SHOWN)
            buf_printf(out, " or %u others", x->n_would_choose - NAMES_SHOWN);
        buf_printf(out, "%s\n",
                   x->n_would_choose > 1 ? " (equal scores: the lowest rank wins)" : "");
    }
}

static void print_unasked(const struct explanation *x, struct buf *out)
{
    for (uint32_t i = 0; i < x->n_unasked; i++)
        buf_printf(out, "%s" STR_FMT,
                   i ? ", " : "Extenders were not asked: ", STR_ARG(x->unasked[i]));
    if (x->n_unasked)
        buf_add(out, STR(". They may refuse nodes, or prefer others.\n"));
}

static void print_victims(const struct explained_candidate *c, struct buf *out)
{
    buf_printf(out, "          " STR_FMT ": ", STR_ARG(c->node));
    for (uint32_t i = 0; i < c->n_victims && i < NAMES_SHOWN; i++)
        buf_printf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(c->victims[i]));
    if (c->n_victims > NAMES_SHOWN)
        buf_printf(out, " and %u more", c->n_victims - NAMES_SHOWN);
    buf_printf(out, "%s\n", c->violations ? " (against a disruption budget)" : "");
}

static void print_preemption(const struct explained_preemption *p, struct buf *out)
{
    if (!p || !p->best)
        return;
    buf_printf(out, "\nEvicting these would make room:\n");
    print_victims(p->best, out);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->n_candidates && shown < NAMES_SHOWN; i++)
        if (&p->candidates[i] != p->best) {
            print_victims(&p->candidates[i], out);
            shown++;
        }
    if (p->n_candidates - 1 > shown)
        buf_printf(out, "          and on %u more nodes\n", p->n_candidates - 1 - shown);
}

static void print_eviction(const struct explained_eviction *x, struct buf *out)
{
    buf_printf(out, "\nEvictions: " STR_FMT "\n", STR_ARG(x->message));
    if (!x->is_found)
        return;
    for (uint32_t i = 0; i < x->n_places; i++)
        buf_printf(out, "  " STR_FMT " would go to " STR_FMT "\n", STR_ARG(x->places[i].pod),
                   STR_ARG(x->places[i].node));
    for (uint32_t i = 0; i < x->n_victims; i++) {
        const struct explained_victim *v = &x->victims[i];
        buf_printf(out,
                   "  " STR_FMT " on " STR_FMT ": " STR_FMT " (" STR_FMT ", priority %d, " STR_FMT
                   ", loses %lld GPU-seconds)\n",
                   STR_ARG(v->pod), STR_ARG(v->node), STR_ARG(v->why), STR_ARG(v->tier),
                   v->priority, STR_ARG(v->workload), (long long)v->lost_s);
    }
    buf_printf(out, "  In all %u pods of %u units, %lld GPU-seconds, %u budgets violated.\n",
               x->n_victims, x->parties, (long long)x->lost_s, x->violations);
}

static void print_class(const struct explained_class *x, struct buf *out)
{
    if (!x)
        return;
    buf_printf(out, "Who:   " STR_FMT ", tenant " STR_FMT " (" STR_FMT ")\n", STR_ARG(x->tier),
               STR_ARG(x->tenant), STR_ARG(x->tier_because));
    buf_printf(out, "What:  " STR_FMT " (" STR_FMT ")%s", STR_ARG(x->workload),
               STR_ARG(x->workload_because), x->is_gang ? ", in a gang" : "");
    if (x->is_preemptible)
        buf_printf(out, ", may be stopped (" STR_FMT ")", STR_ARG(x->preemptible_because));
    buf_printf(out, "\nWhere: " STR_FMT "\n", STR_ARG(x->where));
    for (uint32_t i = 0; i < x->n_misread; i++)
        buf_printf(out, "Not understood: " STR_FMT "\n", STR_ARG(x->misread[i]));
}

static void print_gang(const struct explained_gang *x, struct buf *out)
{
    if (!x)
        return;
    buf_printf(out, "Gang:  " STR_FMT " (" STR_FMT "), at least %d (" STR_FMT "); %u run, %u wait",
               STR_ARG(x->name), STR_ARG(x->name_because), x->minimum, STR_ARG(x->minimum_because),
               x->running, x->waiting);
    if (x->held)
        buf_printf(out, ", %u behind gates", x->held);
    if (x->ended)
        buf_printf(out, ", %u have ended", x->ended);
    if (x->conflict.n)
        buf_printf(out, "\n       not heard: " STR_FMT, STR_ARG(x->conflict));
    if (x->message.n)
        buf_printf(out, "\n       " STR_FMT "\n", STR_ARG(x->message));
    else
        buf_printf(out, "\n       %u would be placed:", x->n_places);
    for (uint32_t i = 0; i < x->n_places && i < NAMES_SHOWN; i++)
        buf_printf(out, "%s " STR_FMT " on " STR_FMT, i ? "," : "", STR_ARG(x->places[i].pod),
                   STR_ARG(x->places[i].node));
    if (x->n_places)
        buf_printf(out, "%s\n", x->n_places > NAMES_SHOWN ? ", …" : "");
}

void explanation_table(const struct explanation *x, struct buf *out)
{
    uint32_t feasible = 0;
    for (uint32_t i = 0; i < x->n_nodes; i++)
        feasible += x->nodes[i].is_feasible;
    buf_printf(out, STR_FMT " (profile " STR_FMT ") ", STR_ARG(x->pod), STR_ARG(x->profile));
    print_outcome(x, out);
    if (!x->error.n)
        buf_printf(out, "%u of %u nodes fit.\n", feasible, x->n_nodes);
    print_unasked(x, out);
    print_class(x->class, out);
    print_gang(x->gang, out);
    print_best(x, out);
    if (x->eviction)
        print_eviction(x->eviction, out);
    else
        print_preemption(x->preemption, out);
    if (!x->gated.n)
        print_refused(x, out);
}
