#include "cmd/kubenexus/explain_text.h"

#include <stdlib.h>

#include "core/base/vec.h"

/* --- lines --- */

enum { COLUMNS = 80, TOP_NODES = 10, NAMES_SHOWN = 6 };

/* Columns that the text takes: characters, not bytes. */
static size_t width(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return n;
}

static size_t column(const struct buf *out)
{
    size_t from = out->n;
    while (from > 0 && out->p[from - 1] != '\n')
        from--;
    return width(str_part(buf_str(out), from, out->n));
}

/* Adds the text behind what the line has; words that would leave the page go on in the next line,
 * indented. Ends the line, and forgets the text. */
static void end_line(struct buf *out, unsigned indent, struct buf *text)
{
    struct str rest = buf_str(text);
    bool is_first = true;
    while (rest.n) {
        struct str word = str_take(&rest, ' ');
        size_t at = column(out);
        if (!is_first && at + 1 + width(word) > COLUMNS)
            buf_printf(out, "\n%*s", (int)indent, "");
        else if (!is_first)
            buf_add_char(out, ' ');
        buf_add(out, word);
        is_first = false;
    }
    buf_add_char(out, '\n');
    buf_clear(text);
}

struct page {
    const struct explanation *x;
    struct buf *out;
    struct buf text; /* of the line that is made */
};

static void title(struct page *p, const char *text)
{
    buf_printf(p->out, "\n%s\n", text);
}

/* --- what happens --- */

static void print_headline(struct page *p)
{
    const struct explained_verdict *v = &p->x->verdict;
    buf_printf(&p->text, STR_FMT "%s " STR_FMT, STR_ARG(p->x->pod), v->starts ? "" : ":",
               STR_ARG(v->headline));
    if (v->starts && p->x->gang)
        buf_printf(&p->text, ", with gang " STR_FMT, STR_ARG(p->x->gang->name));
    end_line(p->out, 2, &p->text);
}

static void print_judges(struct page *p, const struct foresight *f)
{
    uint32_t feasible = 0;
    for (uint32_t i = 0; i < p->x->n_nodes; i++)
        feasible += p->x->nodes[i].is_feasible;
    buf_printf(&p->text, "Profile " STR_FMT ".", STR_ARG(p->x->profile));
    if (!p->x->error.n)
        buf_printf(&p->text, " %u of %u nodes fit%s.", feasible, p->x->n_nodes,
                   p->x->gang ? " this pod by itself" : "");
    if (f->ahead)
        buf_printf(&p->text, " %u pod%s that ha%s the turn before it %s placed first.", f->ahead,
                   f->ahead == 1 ? "" : "s", f->ahead == 1 ? "s" : "ve",
                   f->ahead == 1 ? "is" : "are");
    end_line(p->out, 2, &p->text);
}

static void print_upstream(struct page *p)
{
    if (!p->x->summary.n || p->x->gated.n)
        return;
    buf_printf(&p->text, "%s" STR_FMT, p->x->gang ? "Of this pod by itself: " : "",
               STR_ARG(p->x->summary));
    end_line(p->out, 2, &p->text);
}

static void print_ties(struct page *p)
{
    const struct explanation *x = p->x;
    if (x->gang || x->n_would_choose < 2 || !x->verdict.starts)
        return;
    buf_printf(&p->text, "Equal scores, the lowest rank wins: ");
    for (uint32_t i = 0; i < x->n_would_choose && i < NAMES_SHOWN; i++)
        buf_printf(&p->text, "%s" STR_FMT, i ? " or " : "", STR_ARG(x->would_choose[i]));
    if (x->n_would_choose > NAMES_SHOWN)
        buf_printf(&p->text, " or %u others", x->n_would_choose - NAMES_SHOWN);
    end_line(p->out, 2, &p->text);
}

static void print_unasked(struct page *p)
{
    const struct explanation *x = p->x;
    for (uint32_t i = 0; i < x->n_unasked; i++)
        buf_printf(&p->text, "%s" STR_FMT,
                   i ? ", " : "Extenders were not asked: ", STR_ARG(x->unasked[i]));
    if (!x->n_unasked)
        return;
    buf_add(&p->text, STR(". They may refuse nodes, or prefer others."));
    end_line(p->out, 2, &p->text);
}

/* --- who and what --- */

static void print_class(struct page *p)
{
    const struct explained_class *x = p->x->class;
    if (!x)
        return;
    buf_printf(&p->text, "Who:   " STR_FMT ", tenant " STR_FMT " (" STR_FMT ")", STR_ARG(x->tier),
               STR_ARG(x->tenant), STR_ARG(x->tier_because));
    end_line(p->out, 7, &p->text);
    buf_printf(&p->text, "What:  " STR_FMT " (" STR_FMT ")%s", STR_ARG(x->workload),
               STR_ARG(x->workload_because), x->is_gang ? ", in a gang" : "");
    if (x->is_preemptible)
        buf_printf(&p->text, ", may be stopped (" STR_FMT ")", STR_ARG(x->preemptible_because));
    end_line(p->out, 7, &p->text);
    buf_printf(&p->text, "Where: " STR_FMT, STR_ARG(x->where));
    end_line(p->out, 7, &p->text);
}

static void print_queue(struct page *p, const struct queue_spot *queue)
{
    if (!queue)
        return;
    buf_add(&p->text, STR("Queue: "));
    queue_spot_word(queue, &p->text);
    end_line(p->out, 7, &p->text);
    for (uint32_t i = 0; i < queue->levels.n; i++) {
        AUTO(buf) level = {0};
        queue_level_word(queue, i, &level);
        if (!level.n)
            continue;
        buf_printf(&p->text, "       " STR_FMT, STR_ARG(buf_str(&level)));
        end_line(p->out, 7, &p->text);
    }
}

static void print_apart(struct page *p)
{
    if (!p->x->apart.n)
        return;
    buf_printf(&p->text, "Gang:  " STR_FMT, STR_ARG(p->x->apart));
    end_line(p->out, 7, &p->text);
}

static void print_misread(struct page *p)
{
    for (uint32_t i = 0; i < p->x->n_misread; i++) {
        buf_printf(&p->text, "Not understood: " STR_FMT, STR_ARG(p->x->misread[i]));
        end_line(p->out, 7, &p->text);
    }
}

static void print_places(struct page *p)
{
    const struct explained_gang *x = p->x->gang;
    if (x->message.n || !x->n_places)
        return;
    buf_printf(&p->text, "%u are placed:", x->n_places);
    for (uint32_t i = 0; i < x->n_places && i < NAMES_SHOWN; i++)
        buf_printf(&p->text, "%s " STR_FMT " on " STR_FMT, i ? "," : "", STR_ARG(x->places[i].pod),
                   STR_ARG(x->places[i].node));
    if (x->n_places > NAMES_SHOWN)
        buf_add(&p->text, STR(", …"));
    buf_printf(p->out, "%7s", "");
    end_line(p->out, 7, &p->text);
}

static void print_gang(struct page *p)
{
    const struct explained_gang *x = p->x->gang;
    if (!x)
        return;
    buf_printf(&p->text,
               "Gang:  " STR_FMT " (" STR_FMT "), at least %d (" STR_FMT "); %u run, %u wait",
               STR_ARG(x->name), STR_ARG(x->name_because), x->minimum, STR_ARG(x->minimum_because),
               x->running, x->waiting);
    if (x->held)
        buf_printf(&p->text, ", %u behind gates", x->held);
    if (x->ended)
        buf_printf(&p->text, ", %u have ended", x->ended);
    if (x->conflict.n)
        buf_printf(&p->text, "; not heard: " STR_FMT, STR_ARG(x->conflict));
    end_line(p->out, 7, &p->text);
    if (x->message.n && !p->x->verdict.starts) {
        buf_add(&p->text, x->message);
        buf_printf(p->out, "%7s", "");
        end_line(p->out, 7, &p->text);
    }
    print_places(p);
}

/* --- what each rule leaves --- */

static const char *rule_text(enum cause_rule rule)
{
    switch (rule) {
    case CAUSE_OFFER:
        return "are large enough for one pod";
    case CAUSE_NAME:
        return "have a name that the pod asks for";
    case CAUSE_LABEL:
        return "have the labels that it selects";
    case CAUSE_TAINT:
        return "have no taint that it does not tolerate";
    case CAUSE_CORDON:
        return "are not cordoned";
    case CAUSE_VOLUME:
        return "reach its volumes";
    case CAUSE_MEMORY:
        return "have GPUs with enough memory";
    case CAUSE_DOMAIN:
        return "of these, in the largest domain";
    case CAUSE_ROOM:
        return "have room now";
    case CAUSE_NEAR:
        return "of these, in the domain with most room";
    default:
        return "pass";
    }
}

static void print_funnel(struct page *p)
{
    const struct explained_verdict *v = &p->x->verdict;
    if (v->funnel.n == 0 || p->x->n_nodes == 0)
        return;
    title(p, p->x->gang ? "Nodes that each rule leaves, and pods of the gang that they hold:"
                        : "Nodes that each rule leaves:");
    buf_printf(p->out, "  %6u  in the cluster\n", p->x->n_nodes);
    for (uint32_t i = 0; i < v->funnel.n; i++) {
        const struct cause_step *step = &v->funnel.at[i];
        bool is_domain = step->rule == CAUSE_DOMAIN || step->rule == CAUSE_NEAR;
        if (is_domain)
            buf_printf(&p->text, "          %s", rule_text(step->rule));
        else
            buf_printf(&p->text, "  %6u  %s", step->nodes, rule_text(step->rule));
        if (step->rule == CAUSE_NODE && step->plugin)
            buf_printf(&p->text, " %s", step->plugin);
        if (p->x->gang)
            buf_printf(&p->text, ": %llu pods", (unsigned long long)step->pods);
        buf_printf(p->out, STR_FMT "\n", STR_ARG(buf_str(&p->text)));
        buf_clear(&p->text);
    }
}

/* --- scores --- */

static int better_first(const void *a, const void *b)
{
    const struct explained_node *x = *(const struct explained_node *const *)a;
    const struct explained_node *y = *(const struct explained_node *const *)b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return str_compare(x->name, y->name);
}

static void print_scores_of(struct page *p, const struct explained_node *node)
{
    buf_printf(p->out, "  %6ld  " STR_FMT "\n%10s", (long)node->total, STR_ARG(node->name), "");
    for (uint32_t s = 0; s < node->n_scores; s++)
        buf_printf(&p->text, "%s%s %ld", s ? ", " : "", node->scores[s].plugin,
                   (long)node->scores[s].weighted);
    end_line(p->out, 10, &p->text);
}

static void print_best(struct page *p)
{
    const struct explanation *x = p->x;
    VEC(const struct explained_node *) best = {0};
    for (uint32_t i = 0; i < x->n_nodes; i++)
        if (x->nodes[i].is_feasible)
            vec_push(&best, &x->nodes[i]);
    if (best.n > 1)
        qsort(best.at, best.n, sizeof(*best.at), better_first);
    if (best.n)
        title(p, "Fits, best first (weighted scores):");
    for (uint32_t i = 0; i < best.n && i < TOP_NODES; i++)
        print_scores_of(p, best.at[i]);
    if (best.n > TOP_NODES)
        buf_printf(p->out, "          and %u more that fit\n", best.n - TOP_NODES);
    vec_done(&best);
}

/* --- evictions --- */

static void print_victims(struct page *p, const struct explained_candidate *c)
{
    buf_printf(p->out, "%10s", "");
    buf_printf(&p->text, STR_FMT ": ", STR_ARG(c->node));
    for (uint32_t i = 0; i < c->n_victims && i < NAMES_SHOWN; i++)
        buf_printf(&p->text, "%s" STR_FMT, i ? ", " : "", STR_ARG(c->victims[i]));
    if (c->n_victims > NAMES_SHOWN)
        buf_printf(&p->text, " and %u more", c->n_victims - NAMES_SHOWN);
    if (c->violations)
        buf_add(&p->text, STR(" (against a disruption budget)"));
    end_line(p->out, 10, &p->text);
}

static void print_preemption(struct page *p)
{
    const struct explained_preemption *e = p->x->preemption;
    if (!e || !e->best)
        return;
    title(p, "Evicting these would make room:");
    print_victims(p, e->best);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < e->n_candidates && shown < NAMES_SHOWN; i++)
        if (&e->candidates[i] != e->best) {
            print_victims(p, &e->candidates[i]);
            shown++;
        }
    if (e->n_candidates - 1 > shown)
        buf_printf(p->out, "          and on %u more nodes\n", e->n_candidates - 1 - shown);
}

static void print_victim(struct page *p, const struct explained_victim *v)
{
    buf_printf(&p->text,
               "  " STR_FMT " on " STR_FMT ": " STR_FMT " (" STR_FMT ", priority %d, " STR_FMT
               ", loses %lld GPU-seconds)",
               STR_ARG(v->pod), STR_ARG(v->node), STR_ARG(v->why), STR_ARG(v->tier), v->priority,
               STR_ARG(v->workload), (long long)v->lost_s);
    end_line(p->out, 4, &p->text);
}

static void print_eviction(struct page *p)
{
    const struct explained_eviction *x = p->x->eviction;
    buf_printf(&p->text, "Evictions: " STR_FMT, STR_ARG(x->message));
    buf_add_char(p->out, '\n');
    end_line(p->out, 2, &p->text);
    if (!x->is_found)
        return;
    for (uint32_t i = 0; i < x->n_places; i++) {
        buf_printf(&p->text, "  " STR_FMT " would go to " STR_FMT, STR_ARG(x->places[i].pod),
                   STR_ARG(x->places[i].node));
        end_line(p->out, 4, &p->text);
    }
    for (uint32_t i = 0; i < x->n_victims; i++)
        print_victim(p, &x->victims[i]);
    buf_printf(&p->text, "  In all %u pods of %u units, %lld GPU-seconds, %u budgets violated.",
               x->n_victims, x->victim_groups, (long long)x->lost_s, x->violations);
    end_line(p->out, 4, &p->text);
}

/* --- nodes --- */

/* Refused nodes with the same plugin, code and reasons. */
struct batch {
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
    const struct batch *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return str_compare(x->first->name, y->first->name);
}

static void print_group(struct page *p, const struct batch *g)
{
    bool is_for_good = str_of(g->first->code).n > sizeof("Unschedulable");
    buf_printf(p->out, "  %6u  ", g->n);
    for (uint32_t i = 0; i < g->first->n_reasons; i++)
        buf_printf(&p->text, "%s" STR_FMT, i ? ", " : "", STR_ARG(g->first->reasons[i]));
    buf_printf(&p->text, "  [" STR_FMT "%s]", STR_ARG(g->first->rejected_by),
               is_for_good ? "; no eviction helps" : "");
    end_line(p->out, 10, &p->text);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->x->n_nodes && shown < NAMES_SHOWN; i++)
        if (!p->x->nodes[i].is_feasible && same_refusal(&p->x->nodes[i], g->first))
            buf_printf(&p->text, "%s" STR_FMT, shown++ ? ", " : "", STR_ARG(p->x->nodes[i].name));
    if (g->n > shown)
        buf_printf(&p->text, " and %u more", g->n - shown);
    buf_printf(p->out, "%10s", "");
    end_line(p->out, 10, &p->text);
}

static void print_refused(struct page *p)
{
    const struct explanation *x = p->x;
    VEC(struct batch) groups = {0};
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        if (x->nodes[i].is_feasible)
            continue;
        uint32_t g = 0;
        while (g < groups.n && !same_refusal(groups.at[g].first, &x->nodes[i]))
            g++;
        if (g == groups.n)
            vec_push(&groups, (struct batch){&x->nodes[i], 0});
        groups.at[g].n++;
    }
    if (groups.n > 1)
        qsort(groups.at, groups.n, sizeof(*groups.at), larger_first);
    if (groups.n)
        title(p, "Refused:");
    vec_each(&groups, g)
        print_group(p, g);
    vec_done(&groups);
}

/* --- the page --- */

void explanation_text(const struct explanation *x, const struct foresight *f,
                      const struct text_options *o, struct buf *out)
{
    struct page p = {.x = x, .out = out};
    print_headline(&p);
    if (o->missing.n) {
        buf_printf(&p.text, "The files have none of these, which it needs: " STR_FMT,
                   STR_ARG(o->missing));
        end_line(out, 2, &p.text);
    }
    print_judges(&p, f);
    print_upstream(&p);
    print_ties(&p);
    print_unasked(&p);
    print_class(&p);
    print_queue(&p, o->queue);
    print_apart(&p);
    print_misread(&p);
    print_gang(&p);
    print_funnel(&p);
    if (o->shows_scores)
        print_best(&p);
    if (o->shows_plan && x->eviction)
        print_eviction(&p);
    else
        print_preemption(&p);
    if (!x->gated.n)
        print_refused(&p);
    buf_done(&p.text);
}
