/* Topology spread: no domain may run ahead of the others (hard constraints), or should (soft ones).
 *
 * Which domain a node is in, and how many matching pods it has, is its key; how many pods a domain
 * has is kept by cluster/count and read when a decision is made. So a placement touches one row,
 * however many nodes its domain has. For a hostname constraint the node is the domain, and its
 * count is the key. */

#include "core/base/real.h"
#include "core/framework/plugin.h"
#include "core/plugins/args.h"

#define MISSING UINT32_MAX /* the key of a node without the label */
#define NOBODY                                                                                     \
    (1u << 30) /* the key of a host without pods: in a trial there can be less than none */

struct constraint {
    sym key;
    bool is_hostname;
    bool matches_self;
    int32_t max_skew, min_domains;
    uint32_t tally;  /* ID_NONE: counts nothing */
    uint32_t spread; /* ID_NONE: nobody asks it, for a soft hostname constraint reads the tally */
};

struct spreading {
    struct constraint *hard, *soft; /* keys: the hard ones', then the soft ones' */
    uint32_t n_hard, n_soft;
    bool needs_all; /* a node without all soft keys is left out of scoring */
    reason_id no_label, skewed;
};

/* --- which constraints --- */

/* A constraint with its selector settled. */
struct settled {
    sym key;
    int32_t max_skew, min_domains;
    selector_id selector; /* ID_NONE: matches nothing */
    bool is_hard, honors_affinity, honors_taints;
};

static const struct spread_default system_defaults[] = {
    {STR("kubernetes.io/hostname"), 3, false},
    {STR("topology.kubernetes.io/zone"), 5, false},
};

/* The selector with the pod's own values of matchLabelKeys added. */
static selector_id with_match_keys(struct cluster *c, const struct shape *shape,
                                   const struct spread_rule *rule)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    if (rule->selector == ID_NONE || rule->n_match_keys == 0)
        return rule->selector;
    struct match_vec all = {0};
    sym *values = arena_array(&c->mem, sym, rule->n_match_keys);
    struct selector own = matches_selector_at(&c->matches, rule->selector);
    for (uint32_t i = 0; i < own.n; i++)
        vec_push(&all, own.all[i]);
    for (uint32_t i = 0; i < rule->n_match_keys; i++) {
        sym key = spec->match_keys[rule->match_key_at + i];
        values[i] = names_label(&c->names, shape->labels, key);
        if (values[i] != SYM_NONE)
            vec_push(&all, (struct match){
                               .key = key, .op = MATCH_IN, .values = &values[i], .n_values = 1});
    }
    selector_id id = matches_selector(&c->matches, &c->names, all.at, all.n);
    vec_done(&all);
    arena_reset(&c->mem);
    return id;
}

VEC_TYPE(settled_vec, struct settled);

static void settle_defaults(struct cluster *c, const struct shape *shape,
                            const struct spread_args *args, struct settled_vec *out)
{
    bool is_list = args && args->is_list;
    const struct spread_default *defaults = is_list ? args->defaults.at : system_defaults;
    uint32_t n = is_list ? args->defaults.n : LEN(system_defaults);
    selector_id selector =
        n ? workloads_selector(&c->workloads, &c->names, &c->matches, shape) : ID_NONE;
    if (selector == ID_NONE)
        return;
    for (uint32_t i = 0; i < n; i++)
        vec_push(out, (struct settled){
                          .key = names_get(&c->names, defaults[i].topology_key),
                          .max_skew = defaults[i].max_skew,
                          .min_domains = 1,
                          .selector = selector,
                          .is_hard = defaults[i].is_hard,
                          .honors_affinity = true,
                      });
}

/* The constraints of pods of this shape: their own, or else the defaults. */
static void settle(struct cluster *c, const struct shape *shape, const struct spread_args *args,
                   struct settled_vec *out)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    if (spec->n_spread == 0)
        settle_defaults(c, shape, args, out);
    for (uint32_t i = 0; i < spec->n_spread; i++) {
        const struct spread_rule *rule = &spec->spread[i];
        vec_push(out, (struct settled){
                          .key = rule->key,
                          .max_skew = rule->max_skew,
                          .min_domains = rule->min_domains,
                          .selector = with_match_keys(c, shape, rule),
                          .is_hard = rule->is_hard,
                          .honors_affinity = rule->honors_affinity,
                          .honors_taints = rule->honors_taints,
                      });
    }
}

static bool matches_self(const struct cluster *c, const struct shape *shape, selector_id selector)
{
    return selector != ID_NONE &&
           selector_matches(matches_selector_at(&c->matches, selector), &c->names, shape->labels);
}

static void sign(struct cluster *c, const struct shape *shape, const void *args,
                 struct match_words *out)
{
    struct settled_vec all = {0};
    settle(c, shape, args, &all);
    if (all.n)
        vec_push(out, shape->namespace);
    vec_each(&all, s) {
        vec_push(out, s->selector);
        vec_push(out, matches_self(c, shape, s->selector));
    }
    vec_done(&all);
}

/* --- learning --- */

/* Makes the constraints of one kind, with the counts they stand on. */
static struct constraint *make(struct learning *l, const struct settled_vec *all, bool is_hard,
                               bool needs_all, uint32_t *n)
{
    struct cluster *c = l->cluster;
    struct constraint *made = arena_array(l->mem, struct constraint, all->n);
    sym *keys = arena_array(l->mem, sym, all->n);
    uint32_t n_keys = 0;
    *n = 0;
    vec_each(all, s)
        if (s->is_hard == is_hard && needs_all)
            keys[n_keys++] = s->key;
    vec_each(all, s) {
        if (s->is_hard != is_hard)
            continue;
        struct constraint *k = &made[(*n)++];
        bool counts = s->selector != ID_NONE && matches_selector_at(&c->matches, s->selector).n;
        *k = (struct constraint){
            .key = s->key,
            .is_hostname = s->key == c->matches.hostname,
            .matches_self = matches_self(c, l->shape, s->selector),
            .max_skew = s->max_skew,
            .min_domains = s->min_domains,
            .tally = counts ? counts_use_tally(c, l->shape->namespace, s->selector) : ID_NONE,
            .spread = ID_NONE,
        };
        if (k->is_hostname && !is_hard)
            continue;
        sym own[1] = {s->key}; /* without the label there is no domain to count in */
        struct spread_ask ask = {
            .tally = k->tally,
            .key = s->key,
            .rules = s->honors_affinity ? l->spec->rules : 0,
            .tolerations = s->honors_taints ? l->spec->tolerations : ID_NONE,
            .keys = needs_all ? keys : own,
            .n_keys = needs_all ? n_keys : 1,
        };
        k->spread = counts_use_spread(c, &ask);
    }
    return made;
}

/* A hostname's count is the node's own key, and changes with it. */
static uint32_t tallies_read(const struct constraint *all, uint32_t n)
{
    uint32_t columns = 0;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].is_hostname && all[i].tally != ID_NONE)
            columns |= COLUMN_TALLY(all[i].tally);
    return columns;
}

static void learn(struct learning *l, void *cls)
{
    struct spreading *s = cls;
    const struct spread_args *args = l->args;
    struct settled_vec all = {0};
    settle(l->cluster, l->shape, args, &all);
    s->needs_all = l->spec->n_spread > 0 || (args && args->is_list);
    s->hard = make(l, &all, true, true, &s->n_hard);
    s->soft = make(l, &all, false, s->needs_all, &s->n_soft);
    vec_done(&all);

    s->no_label = learning_reason(
        l, CODE_UNRESOLVABLE,
        "node(s) didn't match pod topology spread constraints (missing required label)");
    s->skewed = learning_reason(l, CODE_UNSCHEDULABLE,
                                "node(s) didn't match pod topology spread constraints");
    l->filters = s->n_hard > 0;
    l->scores = s->n_soft > 0;
    l->n_keys = s->n_hard + s->n_soft;
    for (uint32_t i = 0; i < s->n_hard; i++)
        l->reads_hostnames |= s->hard[i].is_hostname;
    l->key_columns = tallies_read(s->hard, s->n_hard) | tallies_read(s->soft, s->n_soft);
    if (l->n_keys > PLUGIN_MOST_KEYS) {
        l->error =
            arena_printf(l->mem, "has %u topology spread constraints; at most %d are supported",
                         l->n_keys, PLUGIN_MOST_KEYS);
        l->n_keys = PLUGIN_MOST_KEYS;
    }
}

static void forget(struct cluster *c, void *cls)
{
    struct spreading *s = cls;
    for (uint32_t i = 0; i < s->n_hard + s->n_soft; i++) {
        struct constraint *k = i < s->n_hard ? &s->hard[i] : &s->soft[i - s->n_hard];
        if (k->spread != ID_NONE)
            counts_drop_spread(c, k->spread);
        if (k->tally != ID_NONE)
            counts_drop_tally(c, k->tally);
    }
}

/* --- keys --- */

static int64_t pods_in(const struct cluster *c, const struct constraint *k, sym value)
{
    const struct domain *d = counts_domain(&c->counts, k->spread, value);
    return d ? d->pods : 0;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct spreading *s = cls;
    for (uint32_t i = 0; i < s->n_hard; i++) {
        const struct constraint *k = &s->hard[i];
        sym value = cluster_label(c, node, k->key);
        out[i] = value == SYM_NONE ? MISSING
                 : k->is_hostname  ? NOBODY + (uint32_t)pods_in(c, k, value)
                                   : value;
    }
    for (uint32_t i = 0; i < s->n_soft; i++) {
        const struct constraint *k = &s->soft[i];
        sym value = cluster_label(c, node, k->key);
        out[s->n_hard + i] = value == SYM_NONE ? MISSING
                             : k->is_hostname ? (uint32_t)counts_on_node(&c->counts, k->tally, node)
                                              : value;
    }
}

static reason_id key_filter(const struct cluster *c, const void *cls, const uint32_t *key_of)
{
    const struct spreading *s = cls;
    for (uint32_t i = 0; i < s->n_hard; i++) {
        const struct constraint *k = &s->hard[i];
        if (key_of[i] == MISSING)
            return s->no_label;
        bool has_few = counts_domains(&c->counts, k->spread) < (uint32_t)k->min_domains;
        int64_t least = has_few ? 0 : counts_least(&c->counts, k->spread);
        int64_t pods = k->is_hostname ? (int64_t)key_of[i] - NOBODY : pods_in(c, k, key_of[i]);
        if (pods + k->matches_self - least > k->max_skew)
            return s->skewed;
    }
    return 0;
}

/* --- scores --- */

/* Do these nodes lack the label of a soft constraint? */
static bool lacks_key(const struct spreading *s, const uint32_t *key_of)
{
    for (uint32_t i = s->n_hard; i < s->n_hard + s->n_soft; i++)
        if (key_of[i] == MISSING)
            return true;
    return false;
}

/* A bucket that is left out has no number for a sum, and so this for a raw score. */
#define LEFT_OUT INT64_MIN

enum { NO_DOMAIN = -1 }; /* instead of a number of pods; what MISSING is as a signed number */

/* Fills in how many pods there are on each feasible bucket's nodes, which are a domain each;
 * returns how many domains count. */
static uint32_t count_on_nodes(const struct feasible *f, uint32_t key_at, int64_t *pods)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        pods[i] = (int32_t)feasible_key(f, i)[key_at];
        size += __builtin_isnan(f->sums[i]) ? 0 : f->nodes[i];
    }
    return size;
}

/* The same where nodes share a domain. Every node that counts is one that the spread sums over, so
 * its domain is known there. All nodes without the label are one domain more. */
static uint32_t count_in_domains(struct spread *s, const struct feasible *f, uint32_t key_at,
                                 int64_t *pods)
{
    uint32_t size = 0;
    bool has_missing = false;
    counts_marks(s);
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t value = feasible_key(f, i)[key_at];
        bool counts = !__builtin_isnan(f->sums[i]);
        uint32_t at = counts_at(s, value);
        bool is_known = at != MAP_NONE;
        pods[i] = is_known ? s->domains.at[at].pods : value == MISSING ? NO_DOMAIN : 0;
        has_missing |= counts && value == MISSING;
        size += counts && is_known && counts_mark(s, at);
    }
    return size + has_missing;
}

/* For each constraint the pods in the domain, weighed by ln of the number of domains among the
 * feasible nodes, plus 2. */
static void sum_up(const struct cluster *c, const struct spreading *s, const struct feasible *f,
                   int64_t *pods)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->sums[i] = s->needs_all && lacks_key(s, feasible_key(f, i)) ? __builtin_nan("") : 0;
    for (uint32_t i = 0; i < s->n_soft; i++) {
        const struct constraint *k = &s->soft[i];
        uint32_t size = k->is_hostname ? count_on_nodes(f, s->n_hard + i, pods)
                                       : count_in_domains(&c->counts.spreads.at[k->spread], f,
                                                          s->n_hard + i, pods);
        double weight = real_ln((double)size + 2), skew = (double)(k->max_skew - 1);
        for (uint32_t b = 0; b < f->n; b++)
            if (LIKELY(pods[b] != NO_DOMAIN))
                f->sums[b] += (double)pods[b] * weight + skew;
    }
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    int64_t least = INT64_MAX, most = 0;
    sum_up(c, cls, f, raw);
    for (uint32_t i = 0; i < f->n; i++) {
        raw[i] = trunc_i64(real_round(f->sums[i]));
        least = raw[i] == LEFT_OUT ? least : MIN(least, raw[i]);
        most = MAX(most, raw[i]);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (raw[i] == LEFT_OUT)
            raw[i] = normal[i] = 0;
        else
            normal[i] = most ? wrap_mul(100, wrap_sub(wrap_add(most, least), raw[i])) / most : 100;
    }
}

/* --- hints --- */

/* Only a pod's own hard constraints can refuse it under the default profile. */
static bool each_rule(const struct cluster *c, const struct shape *shape,
                      bool (*test)(const struct cluster *, const struct spread_rule *,
                                   const struct event *),
                      const struct event *e)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    for (uint32_t i = 0; i < spec->n_spread; i++)
        if (spec->spread[i].is_hard && test(c, &spec->spread[i], e))
            return true;
    return false;
}

static bool selects(const struct cluster *c, const struct spread_rule *rule,
                    const struct shape *shape)
{
    return shape && rule->selector != ID_NONE &&
           selector_matches(matches_selector_at(&c->matches, rule->selector), &c->names,
                            shape->labels);
}

static bool flips(const struct cluster *c, const struct spread_rule *rule, const struct event *e)
{
    return selects(c, rule, e->old_shape) != selects(c, rule, e->new_shape);
}

static bool hint_pod(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct shape *other = e->new_shape ? e->new_shape : e->old_shape;
    return e->pod_node != SYM_NONE && other && other->namespace == shape->namespace &&
           each_rule(c, shape, flips, e);
}

static bool honors_taints(const struct cluster *c, const struct spread_rule *rule,
                          const struct event *e)
{
    (void)c, (void)e;
    return rule->honors_taints;
}

static bool hint_self(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    if (e->actions & ACTION_POD_TOLERATION && each_rule(c, shape, honors_taints, e))
        return true;
    return e->actions & ACTION_POD_LABEL && each_rule(c, shape, flips, e);
}

static bool has_all_keys(const struct cluster *c, const struct spec *spec,
                         const struct node_row *row)
{
    for (uint32_t i = 0; i < spec->n_spread; i++)
        if (spec->spread[i].is_hard && cluster_row_label(c, row, spec->spread[i].key) == SYM_NONE)
            return false;
    return true;
}

static bool value_changes(const struct cluster *c, const struct spread_rule *rule,
                          const struct event *e)
{
    return cluster_row_label(c, e->old_row, rule->key) !=
           cluster_row_label(c, e->new_row, rule->key);
}

static bool hint_node(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    if (e->is_thorough)
        return true; /* where the pod may go decides which domains count */
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    bool had = e->old_row && has_all_keys(c, spec, e->old_row);
    bool has = e->new_row && has_all_keys(c, spec, e->new_row);
    if (had != has || !has)
        return had != has;
    return e->old_row->taints != e->new_row->taints || each_rule(c, shape, value_changes, e);
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_ADD | ACTION_DELETE | ACTION_POD_LABEL, hint_pod},
    {EVENT_TARGET_POD, ACTION_POD_TOLERATION | ACTION_POD_LABEL, hint_self},
    {EVENT_NODE, ACTION_ADD | ACTION_DELETE | ACTION_NODE_LABEL | ACTION_NODE_TAINT, hint_node},
    {0},
};

const struct plugin plugin_pod_topology_spread = {
    .name = "PodTopologySpread",
    .key_columns = COLUMN_LABELS | COLUMN_TAINTS,
    .class_size = sizeof(struct spreading),
    .subjects = SUBJECT_SPREAD,
    .sign = sign,
    .learn = learn,
    .forget = forget,
    .key = key,
    .key_filter = key_filter,
    .key_score = key_score,
    .wakes = wakes,
};
