/* One decision: the cheapest way that gives the answer of a scan. A pod that names its node is
 * judged there; a nominated pod is tried on its node first; then the class's view, or the
 * scan. */

#include "core/engine/unit/unit.h"
#include "core/framework/row.h"

static node_id present_node(const struct cluster *c, sym name)
{
    node_id node = name == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&c->nodes, name);
    return node.i != ID_NONE && nodes_is_present(&c->nodes, node) ? node : (node_id){ID_NONE};
}

static struct verdict by_class(struct engine *k)
{
    why_clear(&k->deciding.why);
    k->deciding.why.nodes = k->cluster->nodes.present;
    return (struct verdict){ID_NONE, 0, ID_NONE, BY_CLASS, 0, &k->deciding.why};
}

static struct verdict by_pin(struct engine *k, pod_id pod, const struct class *class)
{
    node_id node = present_node(k->cluster, pods_at(&k->cluster->pods, pod)->pin);
    reason_id reason = node.i == ID_NONE ? 0 : row_verdict(k->cluster, class, node, pod);
    if (node.i != ID_NONE && !reason)
        return (struct verdict){node.i, 1, ID_NONE, BY_PIN, 0, NULL};
    why_clear(&k->deciding.why);
    k->deciding.why.nodes = k->cluster->nodes.present;
    if (reason)
        why_add(&k->deciding.why, reason, 1);
    why_add(&k->deciding.why, class->absent, k->deciding.why.nodes - (reason ? 1 : 0));
    bool is_error = reason && reasons_at(&k->classes.reasons, reason)->code == CODE_ERROR;
    return (struct verdict){ID_NONE, 0, ID_NONE, BY_PIN, is_error ? reason : 0, &k->deciding.why};
}

/* What the scan that has just run decided; `why` is filled in if it refused. */
static struct verdict verdict_of(const struct engine *k, const struct class *class,
                                 struct decision d, enum decided_by by)
{
    reason_id error = scan_error(&k->deciding.scan, k->cluster, class, &k->classes.reasons);
    const struct why *why = d.node == ID_NONE ? &k->deciding.why : NULL;
    return (struct verdict){d.node, d.feasible, d.broken, by, error, why};
}

static struct verdict by_names(struct engine *k, pod_id pod, const struct class *class)
{
    struct decision d =
        scan_some(&k->deciding.scan, k->cluster, class, pod, class->only, class->n_only, false);
    if (d.node == ID_NONE)
        scan_some_why(&k->deciding.scan, k->cluster, class, class->only, class->n_only,
                      &k->deciding.why);
    return verdict_of(k, class, d, BY_PIN);
}

static struct verdict by_scan(struct engine *k, pod_id pod, const struct class *class)
{
    struct decision d = scan_run(&k->deciding.scan, k->cluster, class, pod, false);
    assert(!k->config.checks_views || scan_is_true(&k->deciding.scan, k->cluster, class, pod));
    if (d.node == ID_NONE)
        scan_why(&k->deciding.scan, k->cluster, &k->deciding.why);
    return verdict_of(k, class, d, BY_SCAN);
}

/* Pods that this one heeds are nominated somewhere: with filters on keys, views do not know. */
static bool nominations_matter(const struct engine *k, const struct class *class)
{
    if (!class->has_key_filter)
        return false;
    vec_each(&k->cluster->nominations, n)
        if (row_heeds(k->cluster, class, n->pod))
            return true;
    return false;
}

static bool is_for_views(const struct engine *k, const struct class *class)
{
    return !(k->config.no_views || class->may_fail || class->asks || nominations_matter(k, class));
}

bool engine_may_view(const struct engine *k, pod_id pod, const struct class *class)
{
    bool is_bound = class->refusal || class->is_pinned || class->only || class->score_error.n ||
                    pods_at(&k->cluster->pods, pod)->nominated != SYM_NONE;
    bool may_err = class->reads_hostnames && k->cluster->nodes.shared_hostnames;
    return !is_bound && !may_err && is_for_views(k, class);
}

void engine_check_scan(struct engine *k, pod_id pod, const struct class *class, struct decision d)
{
    struct decision scanned = scan_run(&k->deciding.scan, k->cluster, class, pod, false);
    assert(scan_is_true(&k->deciding.scan, k->cluster, class, pod));
    assert(d.node == scanned.node && d.feasible == scanned.feasible);
    (void)scanned;
}

/* Debugging: the view must say what a scan says, of every node. */
static void check(struct engine *k, pod_id pod, const struct class *class, struct verdict v)
{
    struct decision d = {.node = v.node, .feasible = v.feasible};
    engine_check_scan(k, pod, class, d);
    assert(views_agree(&k->deciding.views, class, &k->deciding.scan));
    if (d.node != ID_NONE)
        return;
    struct why why = {0};
    scan_why(&k->deciding.scan, k->cluster, &why);
    uint32_t nodes = 0;
    vec_each(&why.lines, line)
        vec_each(&v.why->lines, other)
            nodes += line->reason == other->reason && line->nodes == other->nodes ? line->nodes : 0;
    assert(nodes == k->cluster->nodes.present);
    why_done(&why);
}

static struct verdict by_view(struct engine *k, pod_id pod, struct class *class)
{
    struct decision d;
    if (!is_for_views(k, class) || !views_decide(&k->deciding.views, class, &d))
        return by_scan(k, pod, class);
    if (d.node == ID_NONE)
        views_why(&k->deciding.views, class, &k->deciding.why);
    struct verdict v = {d.node,  d.feasible, ID_NONE,
                        BY_VIEW, 0,          d.node == ID_NONE ? &k->deciding.why : NULL};
    if (k->config.checks_views)
        check(k, pod, class, v);
    return v;
}

struct verdict engine_decide_beyond(struct engine *k, pod_id pod, struct class *class,
                                    bool ignores_nomination)
{
    struct cluster *c = k->cluster;
    views_tick(&k->deciding.views, class);
    if (class->refusal || c->nodes.present == 0)
        return by_class(k);
    sym nominated = pods_at(&c->pods, pod)->nominated;
    if (UNLIKELY(nominated != SYM_NONE) && !ignores_nomination) {
        bool may_go = !class->is_pinned || nominated == pods_at(&c->pods, pod)->pin;
        node_id node = present_node(c, may_go ? nominated : SYM_NONE);
        if (node.i != ID_NONE && !row_verdict(k->cluster, class, node, pod))
            return (struct verdict){node.i, 1, ID_NONE, BY_PIN, 0, NULL};
    }
    if (class->is_pinned)
        return by_pin(k, pod, class);
    if (class->only)
        return by_names(k, pod, class);
    return UNLIKELY(nominated != SYM_NONE) ? by_scan(k, pod, class) : by_view(k, pod, class);
}

struct verdict engine_decide(struct engine *k, pod_id pod, struct class *class)
{
    return engine_decide_beyond(k, pod, class, false);
}

uint64_t verdict_plugins(const struct verdict *v, const struct reasons *reasons,
                         const struct class *class)
{
    return v->why && v->why->nodes ? why_plugins(v->why, reasons, class) : 0;
}
