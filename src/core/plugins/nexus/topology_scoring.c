/* Keeps pods that belong together apart: over regions first, then zones, racks and hosts.
 *
 * Pods belong together that Services or their owner select, or else that carry the same mark of
 * their operator; the tallies count them per domain as they come and go. A level weighs more than
 * all looser ones behind it together, so one pod too many in a zone is worse than anything on the
 * hosts.
 *
 * Takes part for services, inference and interactive work, and for any pod whose annotation asks; a
 * pod's own topology spread constraints always win. Of pods that say nothing of themselves a
 * Service, or an owner that makes them all alike, tells that they are a service, as it does to
 * PodTopologySpread's defaults, whose place is taken: those leave two pods more in the larger zone,
 * and know no racks. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

#define MISSING UINT32_MAX

static const struct str default_levels[] = {
    STR("topology.kubernetes.io/region"),
    STR("topology.kubernetes.io/zone"),
    STR("network.kubenexus.io/rack-id"),
    STR("kubernetes.io/hostname"),
};

/* Marks that all pods of one piece of work share, where nothing selects them. */
static const struct str marks[] = {
    STR("batch.kubernetes.io/job-name"),
    STR("job-name"),
    STR("training.kubeflow.org/job-name"),
    STR("jobset.sigs.k8s.io/jobset-name"),
    STR("leaderworkerset.sigs.k8s.io/name"),
    STR("ray.io/cluster"),
    STR("spark-app-selector"),
    STR("serving.kserve.io/inferenceservice"),
    STR("app.kubernetes.io/instance"),
    STR("app.kubernetes.io/name"),
    STR("app"),
};

struct level {
    sym key;
    bool is_host;
    uint32_t spread; /* ID_NONE: of hosts, whose count is the node's own */
};

struct apart {
    uint32_t tally;
    struct level *levels;
    uint32_t n;
    uint32_t zone; /* the level whose raw score is shown */
};

/* --- which pods --- */

static bool is_concerned(const struct spec *spec)
{
    bool is_outward = spec->class.workload == WORKLOAD_SERVICE ||
                      spec->class.workload == WORKLOAD_INFERENCE ||
                      spec->class.workload == WORKLOAD_INTERACTIVE;
    if (spec->n_spread || spec->wishes.spread_zones == WISH_NO)
        return false;
    return spec->wishes.spread_zones == WISH_YES || is_outward;
}

/* The pods that belong together with those of the shape; ID_NONE: nobody can tell. */
static selector_id company(struct cluster *c, const struct shape *shape)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    selector_id selected = workloads_selector(&c->workloads, &c->names, &c->matches, shape);
    bool is_silent = spec->class.is_assumed && spec->wishes.spread_zones != WISH_YES;
    if (selected != ID_NONE || is_silent)
        return selected;
    for (size_t i = 0; i < LEN(marks); i++) {
        sym key = names_find(&c->names, marks[i]);
        sym value = key == SYM_NONE ? SYM_NONE : names_label(&c->names, shape->labels, key);
        if (value == SYM_NONE)
            continue;
        struct match same = {.key = key, .op = MATCH_IN, .values = &value, .n_values = 1};
        return matches_selector(&c->matches, &c->names, &same, 1);
    }
    return ID_NONE;
}

static void sign(struct cluster *c, const struct shape *shape, const void *args,
                 struct match_words *out)
{
    (void)args;
    selector_id mates =
        is_concerned(specs_at(&c->specs, shape->spec)) ? company(c, shape) : ID_NONE;
    if (mates == ID_NONE)
        return;
    vec_push(out, shape->namespace);
    vec_push(out, mates);
}

/* --- learning --- */

static void learn_levels(struct learning *l, struct apart *a)
{
    const struct topology_args *args = l->args;
    const struct str *keys = args ? args->levels.at : default_levels;
    struct cluster *c = l->cluster;
    a->n = args ? args->levels.n : LEN(default_levels);
    a->levels = arena_array(l->mem, struct level, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
        sym key = names_get(&c->names, keys[i]);
        bool is_host = key == c->matches.hostname;
        struct spread_ask ask = {
            .tally = a->tally,
            .key = key,
            .tolerations = ID_NONE,
            .keys = &key,
            .n_keys = 1,
        };
        a->levels[i] = (struct level){
            .key = key,
            .is_host = is_host,
            .spread = is_host ? ID_NONE : counts_use_spread(c, &ask),
        };
        if (str_equal(keys[i], default_levels[1]))
            a->zone = i;
        if (is_host)
            l->key_columns |= COLUMN_TALLY(a->tally);
    }
}

static void learn(struct learning *l, void *cls)
{
    struct apart *a = cls;
    bool is_asked = l->spec->wishes.spread_zones == WISH_YES;
    if (!is_concerned(l->spec) || (!is_asked && l->identity->is.workload == WORKLOAD_UNKNOWN))
        return;
    selector_id selector = company(l->cluster, l->shape);
    if (selector == ID_NONE)
        return;
    a->tally = counts_use_tally(l->cluster, l->shape->namespace, selector);
    learn_levels(l, a);
    l->scores = true;
    l->n_keys = a->n;
    l->takes_over = SUBJECT_SPREAD;
}

static void forget(struct cluster *c, void *cls)
{
    struct apart *a = cls;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->levels[i].spread != ID_NONE)
            counts_drop_spread(c, a->levels[i].spread);
    counts_drop_tally(c, a->tally);
}

/* --- judging --- */

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct apart *a = cls;
    for (uint32_t i = 0; i < a->n; i++)
        out[i] = a->levels[i].is_host ? (uint32_t)counts_on_node(&c->counts, a->tally, node)
                                      : cluster_label(c, node, a->levels[i].key);
}

/* Pods in the domain that the key names; -1: the node has no such label. */
static int64_t pods_there(const struct cluster *c, const struct level *level, uint32_t of)
{
    _Static_assert(SYM_NONE == MISSING, "no label, no domain");
    if (level->is_host)
        return of;
    if (of == MISSING)
        return -1;
    const struct domain *d = counts_domain(&c->counts, level->spread, of);
    return d ? d->pods : 0;
}

/* How bad it is to be among `more` pods more than elsewhere: 0, 2/3, 3/4, … */
static double badness(int64_t more)
{
    return more > 0 ? (double)(more + 1) / (double)(more + 2) : 0;
}

/* What is known of a domain in one decision. There are more buckets than domains, and looking a
 * domain up is what costs: most buckets find theirs here. */
struct known_domain {
    uint32_t key;
    enum { UNKNOWN, COUNTED, WEIGHED } state;
    double value; /* its pods, -1: none to count; then what being there costs */
};

enum { KNOWN_DOMAINS = 128 };

struct weighed {
    double least;  /* pods in a domain of a feasible node that no looser level speaks against */
    double weight; /* 0: it does not tell the nodes apart: all are of one domain, or of none */
    struct known_domain known[KNOWN_DOMAINS]; /* by the last bits of their keys */
};

/* The domain of a key, counted at least. */
static struct known_domain *know(const struct cluster *c, const struct level *level,
                                 struct weighed *w, uint32_t of)
{
    struct known_domain *known = &w->known[of % KNOWN_DOMAINS];
    if (UNLIKELY(known->state == UNKNOWN || known->key != of))
        *known = (struct known_domain){of, COUNTED, (double)pods_there(c, level, of)};
    return known;
}

/* The share of the pods that are in other zones; 100 if there are none, 50 without a zone. */
static int64_t zone_score(int64_t pods, int64_t total)
{
    return pods < 0 ? 50 : total == 0 ? 100 : 100 - pods * 100 / total;
}

/* Are all nodes there are of one domain? */
static bool is_one(const struct cluster *c, const struct level *level)
{
    if (level->is_host || counts_domains(&c->counts, level->spread) != 1)
        return false;
    return c->counts.spreads.at[level->spread].domains.at[0].nodes == c->nodes.present;
}

/* The most that looser levels have left of the score: the domains of the nodes that have it are
 * compared with each other, not with those of a zone that is full. */
static double best_so_far(const struct feasible *f)
{
    double best = 0;
    for (uint32_t i = 0; i < f->n; i++)
        best = MAX(best, f->sums[i]);
    return best;
}

/* Weighs a level: false if it tells no node from another. The zone's pods are the raw score. */
static bool weigh(const struct cluster *c, const struct apart *a, uint32_t which,
                  const struct feasible *f, double weight, struct weighed *w, int64_t *raw)
{
    const struct level *level = &a->levels[which];
    bool is_raw = which == a->zone, differs = false;
    uint32_t first = feasible_key(f, 0)[which];
    if (!is_raw && is_one(c, level))
        return false;
    int64_t total = level->is_host ? 0 : counts_total(&c->counts, level->spread);
    double best = best_so_far(f);
    memset(w, 0, sizeof(*w));
    w->least = (double)INT64_MAX;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t of = feasible_key(f, i)[which];
        double pods = know(c, level, w, of)->value;
        if (f->sums[i] >= best && pods >= 0 && pods < w->least)
            w->least = pods;
        differs |= of != first;
        if (is_raw)
            raw[i] = zone_score((int64_t)pods, total);
    }
    w->weight = differs ? weight : 0;
    return differs;
}

/* What it costs to be in the domain; without the label it is neither good nor bad. */
static double cost(const struct cluster *c, const struct level *level, struct weighed *w,
                   uint32_t of)
{
    struct known_domain *known = know(c, level, w, of);
    if (known->state == COUNTED) {
        double more = known->value - w->least;
        known->value = w->weight * (known->value < 0 ? 0.5 : badness((int64_t)more));
        known->state = WEIGHED;
    }
    return known->value;
}

/* Each level that tells nodes apart has two thirds of what is left. */
static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    const struct apart *a = cls;
    double weight = 200.0 / 3;
    struct weighed level;
    if (f->n == 0)
        return;
    for (uint32_t i = 0; i < f->n; i++)
        f->sums[i] = 100;
    for (uint32_t k = 0; k < a->n; k++) {
        if (!weigh(c, a, k, f, weight, &level, raw))
            continue;
        weight /= 3;
        for (uint32_t i = 0; i < f->n; i++)
            f->sums[i] -= cost(c, &a->levels[k], &level, feasible_key(f, i)[k]);
    }
    for (uint32_t i = 0; i < f->n; i++)
        normal[i] = (int64_t)f->sums[i];
}

const struct plugin plugin_topology_scoring = {
    .name = "TopologyScoring",
    .key_columns = COLUMN_LABELS,
    .class_size = sizeof(struct apart),
    .subjects = SUBJECT_SPREAD,
    .sign = sign,
    .learn = learn,
    .forget = forget,
    .key = key,
    .key_score = key_score,
};
