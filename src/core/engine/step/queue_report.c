/* What is told of queues to those who ask: why a unit waits, what each queue has. */

#include <stdlib.h>

#include "core/engine/step/step.h"
#include "core/fair/ledger.h"
#include "core/fair/past.h"

bool engine_has_queues(const struct engine *k)
{
    return engine_will_share(k);
}

struct str queue_rule_name(enum queue_rule rule)
{
    static const struct str names[] = {
        [QUEUE_RULE_NONE] = STR(""),     [QUEUE_RULE_A1] = STR("A1"), [QUEUE_RULE_A2] = STR("A2"),
        [QUEUE_RULE_A3] = STR("A3"),     [QUEUE_RULE_A4] = STR("A4"), [QUEUE_RULE_A5] = STR("A5"),
        [QUEUE_RULE_A6] = STR("A6"),     [QUEUE_RULE_A7] = STR("A7"), [QUEUE_RULE_O10] = STR("O10"),
        [QUEUE_RULE_ROOM] = STR("room"),
    };
    return names[rule];
}

/* --- one unit --- */

static struct str name_of(const struct engine *k, pod_id pod, struct arena *mem)
{
    const struct cluster *c = k->cluster;
    uint32_t gang = engine_gang_of(k, pod);
    struct str name = gang == ID_NONE ? pod_name(pods_at(&c->pods, pod))
                                      : names_text(&c->names, c->groups.at.at[gang].name);
    struct str namespace = names_text(&c->names, pods_shape(&c->pods, pod)->namespace);
    return arena_join(mem, namespace, STR("/"), name);
}

static pod_id find(const struct engine *k, struct str namespace, struct str pod)
{
    const struct cluster *c = k->cluster;
    return pods_find(&c->pods, names_find(&c->names, namespace), pod);
}

bool engine_queue_of(const struct engine *k, struct str namespace, struct str name,
                     struct arena *mem, struct queue_standing *out)
{
    const struct shares *s = k->shares;
    pod_id pod = s->tree ? find(k, namespace, name) : (pod_id){ID_NONE};
    uint32_t queue = pod.i < s->charged.n ? s->charged.at[pod.i].queue : FAIR_NONE;
    if (queue == FAIR_NONE || queue == NOBODYS)
        return false;
    *out = (struct queue_standing){
        .unit = name_of(k, pod, mem),
        .queue = arena_str(mem, engine_leaf_name(k, queue)),
    };
    return true;
}

/* The number under which the pod's unit waits; ID_NONE: it does not. */
static uint32_t unit_of(const struct engine *k, pod_id pod)
{
    uint32_t gang = engine_gang_of(k, pod);
    uint32_t unit = gang == ID_NONE ? pod.i : engine_leader_of(k, gang);
    const struct shares *s = k->shares;
    return unit < s->standers.n && s->standers.at[unit].stands ? unit : ID_NONE;
}

uint32_t engine_waiting_unit(const struct engine *k, struct str namespace, struct str name)
{
    pod_id pod = k->shares->tree ? find(k, namespace, name) : (pod_id){ID_NONE};
    return pod.i == ID_NONE ? ID_NONE : unit_of(k, pod);
}

static struct str place_of(const struct engine *k, uint32_t queue)
{
    return queue == FAIR_ROOT ? STR("root") : fair_name(k->shares->tree, queue);
}

bool engine_queue_refusal(struct engine *k, struct str namespace, struct str name,
                          struct arena *mem, struct queue_refusal *out)
{
    struct shares *s = k->shares;
    pod_id pod = s->tree ? find(k, namespace, name) : (pod_id){ID_NONE};
    uint32_t unit = pod.i == ID_NONE ? ID_NONE : unit_of(k, pod);
    if (unit == ID_NONE || s->standers.at[unit].is_beyond)
        return false;
    struct fair_refusal why;
    *out = (struct queue_refusal){
        .rule = QUEUE_RULE_ROOM,
        .unit = name_of(k, pod, mem),
        .queue = arena_str(mem, engine_leaf_name(k, fair_queue_of(s->tree, unit))),
    };
    if (engine_admits(k, unit, &why)) {
        out->rule = s->standers.at[unit].is_behind ? QUEUE_RULE_O10 : QUEUE_RULE_ROOM;
        return true;
    }
    AUTO(buf) text = {0};
    engine_word_admission(k, unit, &why, &text);
    out->rule = (enum queue_rule)(QUEUE_RULE_A1 + (why.rule - FAIR_A1));
    out->at = arena_str(mem, place_of(k, why.at));
    out->text = arena_str(mem, buf_str(&text));
    return true;
}

/* --- all queues --- */

struct reporting {
    const struct engine *k;
    struct arena *mem;
    struct queue_reports *out;
    uint32_t *queues; /* by report */
};

static struct str state_of(const struct engine *k, uint32_t queue, struct str *message,
                           struct arena *mem)
{
    static const struct str states[] = {
        [FAIR_ACTIVE] = STR("Open"),
        [FAIR_PHANTOM] = STR("Missing"),
        [FAIR_PARENT_MISSING] = STR("ParentMissing"),
        [FAIR_PARENT_CYCLE] = STR("ParentCycle"),
        [FAIR_INVALID] = STR("Invalid"),
        [FAIR_TOO_DEEP] = STR("Invalid"),
        [FAIR_TOO_MANY] = STR("Invalid"),
    };
    struct fair *tree = k->shares->tree;
    enum fair_state state = fair_state(tree, queue);
    if (state != FAIR_ACTIVE) {
        *message = fair_state_text(tree, queue, mem);
        return states[state];
    }
    return fair_is_stopped(tree, queue, FAIR_HOLD)    ? STR("Held")
           : fair_is_stopped(tree, queue, FAIR_DRAIN) ? STR("Draining")
                                                      : STR("Open");
}

static int by_name(const void *a, const void *b)
{
    const struct queue_amounts *x = a, *y = b;
    return str_compare(x->resource, y->resource);
}

static void add_amounts(struct reporting *r, struct queue_report *report, uint32_t resource,
                        const struct fair_row *row)
{
    report->amounts.at[report->amounts.n++] = (struct queue_amounts){
        .resource = arena_str(r->mem, fair_resource_name(r->k->shares->tree, resource)),
        .guaranteed = row->guaranteed,
        .entitled = row->entitled,
        .used = row->used,
        .borrowed = row->borrowed,
        .lent = row->lent,
        .waiting = row->waiting,
        .max = row->max == FAIR_NO_LIMIT ? -1 : row->max,
        .used_time = fair_used_time(r->k->shares->tree, row->queue, resource),
        .in_thousandths = r->k->shares->is_fine.at[resource],
    };
}

/* Of the reports from `first` on, which are by name as the rows are; parts have none. */
static void report_amounts(struct reporting *r, uint32_t parent, uint32_t all, uint32_t first)
{
    struct fair *tree = r->k->shares->tree;
    struct fair_row *rows = arena_array(r->mem, struct fair_row, all);
    uint32_t resources = fair_n_resources(tree), n = r->out->at.n - first;
    for (uint32_t i = 0; i < n; i++)
        r->out->at.at[first + i].amounts.at = arena_array(r->mem, struct queue_amounts, resources);
    for (uint32_t resource = 0; resource < resources; resource++) {
        fair_rows(tree, parent, resource, rows);
        for (uint32_t i = 0, at = first; i < all && at < first + n; i++)
            if (rows[i].queue == r->queues[at])
                add_amounts(r, &r->out->at.at[at++], resource, &rows[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        if (r->out->at.at[first + i].amounts.n > 1)
            qsort(r->out->at.at[first + i].amounts.at, r->out->at.at[first + i].amounts.n,
                  sizeof(struct queue_amounts), by_name);
}

static struct queue_report report_of(struct reporting *r, uint32_t queue)
{
    struct fair *tree = r->k->shares->tree;
    uint32_t parent = fair_parent(tree, queue);
    struct queue_report report = {
        .name = arena_str(r->mem, fair_name(tree, queue)),
        .weight = fair_weight(tree, queue),
        .depth = fair_depth(tree, queue),
        .is_missing = fair_state(tree, queue) == FAIR_PHANTOM,
        .share = fair_share(tree, queue),
        .running = fair_jobs(tree, queue),
    };
    if (parent != FAIR_ROOT && parent != FAIR_NONE)
        report.parent = arena_str(r->mem, fair_name(tree, parent));
    report.state = state_of(r->k, queue, &report.message, r->mem);
    return report;
}

static int by_queue_name(const void *a, const void *b, void *tree)
{
    return str_compare(fair_name(tree, *(const uint32_t *)a),
                       fair_name(tree, *(const uint32_t *)b));
}

/* A name that waiting pods say and nobody has. */
static bool is_nothing(struct fair *tree, uint32_t queue)
{
    uint32_t children;
    fair_children(tree, queue, &children);
    return fair_state(tree, queue) == FAIR_PHANTOM && !children && !fair_jobs(tree, queue);
}

static void report_below(struct reporting *r, uint32_t parent)
{
    struct fair *tree = r->k->shares->tree;
    uint32_t all, n = 0;
    const uint32_t *of = fair_children(tree, parent, &all);
    uint32_t *children = arena_array(r->mem, uint32_t, all);
    for (uint32_t i = 0; i < all; i++)
        if (!fair_is_part(tree, of[i]) && !is_nothing(tree, of[i]))
            children[n++] = of[i];
    if (n > 1)
        qsort_r(children, n, sizeof(*children), by_queue_name, tree);
    uint32_t first = r->out->at.n;
    for (uint32_t i = 0; i < n; i++) {
        struct queue_report report = report_of(r, children[i]);
        r->queues[r->out->at.n] = children[i];
        r->out->at.at[r->out->at.n++] = report;
    }
    if (n)
        report_amounts(r, parent, all, first);
}

/* Jobs that wait, in each queue that has them below it. */
static void count_jobs(struct reporting *r)
{
    struct shares *s = r->k->shares;
    uint32_t queues = fair_n_queues(s->tree);
    struct queue_report **reports = arena_array(r->mem, struct queue_report *, queues);
    for (uint32_t i = 0; i < r->out->at.n; i++)
        reports[r->queues[i]] = &r->out->at.at[i];
    for (uint32_t unit = 0; unit < s->standers.n; unit++) {
        const struct stander *is = &s->standers.at[unit];
        uint32_t at = is->stands && !is->is_beyond ? fair_queue_of(s->tree, unit) : FAIR_NONE;
        for (; at != FAIR_NONE && at != FAIR_ROOT; at = fair_parent(s->tree, at))
            if (reports[at]) {
                reports[at]->waiting++;
                reports[at]->blocked += is->told != 0;
            }
    }
}

/* Has anybody any of it, now or before, or a word about it? All reports have the same resources in
 * the same order. */
static bool is_in_play(const struct queue_reports *all, uint32_t i)
{
    list_each(&all->at, report) {
        const struct queue_amounts *a = &report->amounts.at[i];
        if (a->guaranteed || a->used || a->waiting || a->max >= 0 || a->used_time)
            return true;
    }
    return false;
}

static void leave_out_the_rest(struct queue_reports *all)
{
    uint32_t n = all->at.n ? all->at.at[0].amounts.n : 0, kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_in_play(all, i))
            continue;
        list_each(&all->at, report)
            report->amounts.at[kept] = report->amounts.at[i];
        kept++;
    }
    list_each(&all->at, report)
        report->amounts.n = kept;
}

void engine_read_queues(const struct engine *k, struct arena *mem, struct queue_reports *out)
{
    *out = (struct queue_reports){0};
    if (!engine_shares(k))
        return;
    out->at.at = arena_array(mem, struct queue_report, fair_n_queues(k->shares->tree));
    struct reporting r = {k, mem, out, arena_array(mem, uint32_t, fair_n_queues(k->shares->tree))};
    report_below(&r, FAIR_ROOT);
    for (uint32_t i = 0; i < out->at.n; i++)
        report_below(&r, r.queues[i]);
    count_jobs(&r);
    leave_out_the_rest(out);
}

void engine_queue_reports(struct engine *k, int64_t now_ms, struct arena *mem,
                          struct queue_reports *out)
{
    k->now_ms = now_ms;
    engine_pass_shares(k);
    engine_settle_shares(k);
    engine_read_queues(k, mem, out);
}
