/* Pod affinity: near the pods that its terms mean, away from others, and the same the other way
 * round for the terms of pods that are on nodes already.
 *
 * How many pods are meant by a term, or have one, is kept per domain by cluster/count; a node's key
 * says which domains it is in. For hostname terms the node is the domain, so its key holds what the
 * counts there amount to. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

/* Pods that count, and the topology whose domains they are counted in. */
struct topic {
    sym key;
    bool is_host;
    uint32_t at; /* where the node's domain stands in its key, unless it is the host */
    uint32_t tally, spread;
    int64_t weight;
};

VEC_TYPE(topics, struct topic);

struct company {
    struct topics near;   /* required affinity, one per topology: a pod that all terms mean */
    struct topics apart;  /* required anti-affinity */
    struct topics others; /* anti-affinity that pods on nodes have towards us */
    struct topics wishes; /* all preferences, whoever has them */
    VEC(sym) keys;        /* topologies other than the host: the key's first words, then … */
    uint32_t host_at;     /* … what the host says to filters: enum host */
    uint32_t wish_at;     /* … its part of the raw score, two words */
    bool finds_itself;    /* it would satisfy its own affinity */
    reason_id not_near, not_apart, not_others;
};

enum host { HOST_HAS = 1, HOST_NEAR = 2, HOST_APART = 4, HOST_OTHERS = 8 };

/* --- learning --- */

static struct shape *known(struct cluster *c, const struct shape *shape)
{
    return &c->pods.shapes.at[shape - c->pods.shapes.at];
}

static bool is_sought(const struct pod_term *t)
{
    return t->weight == 0 && !t->is_anti;
}

/* Does every required affinity term mean pods of the other shape? No without a term. */
static bool all_mean(const struct cluster *c, const struct shape *shape, const struct shape *other,
                     enum sight sight)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    bool has_one = false;
    for (uint32_t i = 0; i < spec->n_pod_terms; i++) {
        const struct pod_term *t = &spec->pod_terms[i];
        if (!is_sought(t))
            continue;
        has_one = true;
        if (!reach_means(c, reach_of(spec, t, &shape->namespace), other, sight))
            return false;
    }
    return has_one;
}

static void sign(struct cluster *c, const struct shape *shape, const void *args,
                 struct match_words *out)
{
    (void)args;
    terms_meet(c, known(c, shape));
    vec_push(out, shape->meant_by.n);
    vec_each(&shape->meant_by, term)
        vec_push(out, *term);
    if (specs_at(&c->specs, shape->spec)->n_pod_terms) {
        vec_push(out, shape->namespace);
        vec_push(out, all_mean(c, shape, shape, SIGHT_SEEKER));
    }
}

static uint32_t place_of(struct company *a, sym key)
{
    for (uint32_t i = 0; i < a->keys.n; i++)
        if (a->keys.at[i] == key)
            return i;
    vec_push(&a->keys, key);
    return a->keys.n - 1;
}

/* Adds what `tally` counts in the domains of `key`; the tally is the topic's from now on. */
static void add(struct cluster *c, struct company *a, struct topics *to, sym key, uint32_t tally,
                int64_t weight)
{
    struct topic t = {.key = key, .is_host = key == c->matches.hostname, .weight = weight};
    struct spread_ask ask = {.tally = tally,
                             .key = key,
                             .tolerations = ID_NONE,
                             .keys = &key,
                             .n_keys = 1,
                             .is_sparse = true};
    t.at = t.is_host ? 0 : place_of(a, key);
    t.tally = tally;
    t.spread = counts_use_spread(c, &ask);
    vec_push(to, t);
}

static bool has_key(const struct topics *topics, sym key)
{
    vec_each(topics, t)
        if (t->key == key)
            return true;
    return false;
}

/* A pod is near if it is in the domain of one that all terms mean: they are counted once, in the
 * domains of each topology. */
static void learn_near(struct learning *l, struct company *a)
{
    struct cluster *c = l->cluster;
    VEC(struct reach) reaches = {0};
    for (uint32_t i = 0; i < l->spec->n_pod_terms; i++)
        if (is_sought(&l->spec->pod_terms[i]))
            vec_push(&reaches, reach_of(l->spec, &l->spec->pod_terms[i], &l->shape->namespace));
    for (uint32_t i = 0; i < l->spec->n_pod_terms; i++) {
        const struct pod_term *t = &l->spec->pod_terms[i];
        if (is_sought(t) && !has_key(&a->near, t->key))
            add(c, a, &a->near, t->key, counts_use_meant(c, reaches.at, reaches.n), 0);
    }
    vec_done(&reaches);
    a->finds_itself = all_mean(c, l->shape, l->shape, SIGHT_SEEKER);
}

static void learn_own(struct learning *l, struct company *a)
{
    struct cluster *c = l->cluster;
    learn_near(l, a);
    for (uint32_t i = 0; i < l->spec->n_pod_terms; i++) {
        const struct pod_term *t = &l->spec->pod_terms[i];
        struct reach reach = reach_of(l->spec, t, &l->shape->namespace);
        if (t->weight)
            add(c, a, &a->wishes, t->key, counts_use_meant(c, &reach, 1),
                t->is_anti ? -t->weight : t->weight);
        else if (t->is_anti)
            add(c, a, &a->apart, t->key, counts_use_meant(c, &reach, 1), 0);
    }
}

static void learn_others(struct learning *l, struct company *a)
{
    const struct pod_affinity_args *args = l->args;
    int64_t hard_weight = args ? args->hard_weight : 1;
    bool has_wishes = a->wishes.n || !args || !args->ignores_preferences;
    struct cluster *c = l->cluster;
    vec_each(&l->shape->meant_by, id) {
        const struct term *t = &c->terms.at.at[*id];
        int64_t weight = t->weight ? t->weight : hard_weight;
        if (t->is_anti && !t->weight)
            add(c, a, &a->others, t->key, counts_use_having(c, *id), 0);
        else if (has_wishes && weight)
            add(c, a, &a->wishes, t->key, counts_use_having(c, *id), t->is_anti ? -weight : weight);
    }
}

/* The tallies whose number on a node is in the node's key; true if there are any. */
static bool reads_host(const struct topics *topics, uint32_t *columns)
{
    bool reads = false;
    vec_each(topics, t)
        if (t->is_host) {
            *columns |= COLUMN_TALLY(t->tally);
            reads = true;
        }
    return reads;
}

static void lay_out_key(struct learning *l, struct company *a)
{
    bool filters = reads_host(&a->near, &l->key_columns);
    filters |= reads_host(&a->apart, &l->key_columns);
    filters |= reads_host(&a->others, &l->key_columns);
    bool wishes = reads_host(&a->wishes, &l->key_columns);
    a->host_at = filters ? a->keys.n : ID_NONE;
    a->wish_at = wishes ? a->keys.n + filters : ID_NONE;
    l->n_keys = a->keys.n + filters + 2 * (uint32_t)wishes;
    l->reads_hostnames = filters || wishes;
    if (l->n_keys > PLUGIN_MOST_KEYS) {
        l->error = arena_printf(l->mem, "pod affinity over %u topologies is not supported",
                                a->keys.n + l->reads_hostnames);
        l->n_keys = PLUGIN_MOST_KEYS;
    }
}

static void learn(struct learning *l, void *cls)
{
    struct company *a = cls;
    learn_own(l, a);
    learn_others(l, a);
    lay_out_key(l, a);
    l->filters = a->near.n || a->apart.n || a->others.n;
    l->scores = a->wishes.n;
    a->not_near = learning_reason(l, CODE_UNRESOLVABLE, "node(s) didn't match pod affinity rules");
    a->not_apart =
        learning_reason(l, CODE_UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules");
    a->not_others = learning_reason(l, CODE_UNSCHEDULABLE,
                                    "node(s) didn't satisfy existing pods anti-affinity rules");
}

static void forget_topics(struct cluster *c, struct topics *topics)
{
    vec_each(topics, t) {
        counts_drop_spread(c, t->spread);
        counts_drop_tally(c, t->tally);
    }
    vec_done(topics);
}

static void forget(struct cluster *c, void *cls)
{
    struct company *a = cls;
    forget_topics(c, &a->near);
    forget_topics(c, &a->apart);
    forget_topics(c, &a->others);
    forget_topics(c, &a->wishes);
    vec_done(&a->keys);
}

/* --- keys --- */

static int64_t pods_in(const struct cluster *c, const struct topic *t, sym domain)
{
    if (domain == SYM_NONE)
        return 0;
    const struct domain *d = counts_domain(&c->counts, t->spread, domain);
    return d ? d->pods : 0;
}

static bool any_on_host(const struct cluster *c, const struct topics *topics, sym host)
{
    vec_each(topics, t)
        if (t->is_host && pods_in(c, t, host) > 0)
            return true;
    return false;
}

static void key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct company *a = cls;
    for (uint32_t i = 0; i < a->keys.n; i++)
        out[i] = cluster_label(c, node, a->keys.at[i]);
    sym host = c->nodes.hostname[node.i];
    if (a->host_at != ID_NONE)
        out[a->host_at] = (host != SYM_NONE ? HOST_HAS : 0) |
                          (any_on_host(c, &a->near, host) ? HOST_NEAR : 0) |
                          (any_on_host(c, &a->apart, host) ? HOST_APART : 0) |
                          (any_on_host(c, &a->others, host) ? HOST_OTHERS : 0);
    if (a->wish_at == ID_NONE)
        return;
    int64_t sum = 0;
    vec_each(&a->wishes, t)
        if (t->is_host)
            sum += t->weight * pods_in(c, t, host);
    out[a->wish_at] = (uint32_t)sum;
    out[a->wish_at + 1] = (uint32_t)((uint64_t)sum >> 32);
}

/* --- filters --- */

static bool is_near(const struct cluster *c, const struct company *a, const uint32_t *key_of)
{
    bool has_all = true;
    int64_t total = 0;
    vec_each(&a->near, t) {
        bool has_label = t->is_host ? key_of[a->host_at] & HOST_HAS : key_of[t->at] != SYM_NONE;
        if (!has_label)
            return false;
        has_all &=
            t->is_host ? (key_of[a->host_at] & HOST_NEAR) != 0 : pods_in(c, t, key_of[t->at]) > 0;
        total += counts_total(&c->counts, t->spread);
    }
    return has_all || (total == 0 && a->finds_itself); /* the first of its kind has to start */
}

static bool is_apart(const struct cluster *c, const struct company *a, const struct topics *topics,
                     const uint32_t *key_of, enum host bit)
{
    vec_each(topics, t)
        if (t->is_host ? key_of[a->host_at] & bit : pods_in(c, t, key_of[t->at]) > 0)
            return false;
    return true;
}

static reason_id key_filter(const struct cluster *c, const void *cls, const uint32_t *key_of)
{
    const struct company *a = cls;
    if (!is_near(c, a, key_of))
        return a->not_near;
    if (!is_apart(c, a, &a->apart, key_of, HOST_APART))
        return a->not_apart;
    return is_apart(c, a, &a->others, key_of, HOST_OTHERS) ? 0 : a->not_others;
}

/* --- scores --- */

static bool is_idle(const struct cluster *c, const void *cls)
{
    const struct company *a = cls;
    vec_each(&a->wishes, t)
        if (counts_total(&c->counts, t->spread))
            return false;
    return true;
}

static int64_t wish(const struct cluster *c, const struct company *a, const uint32_t *key_of)
{
    int64_t sum = 0;
    if (a->wish_at != ID_NONE)
        sum = (int64_t)((uint64_t)key_of[a->wish_at + 1] << 32 | key_of[a->wish_at]);
    vec_each(&a->wishes, t)
        if (!t->is_host)
            sum += t->weight * pods_in(c, t, key_of[t->at]);
    return sum;
}

static void key_score(const struct cluster *c, const void *cls, const struct feasible *f,
                      int64_t *raw, int64_t *normal)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t i = 0; i < f->n; i++) {
        raw[i] = wish(c, cls, feasible_key(f, i));
        least = MIN(least, raw[i]);
        most = MAX(most, raw[i]);
    }
    for (uint32_t i = 0; i < f->n; i++)
        normal[i] = most > least
                        ? (int64_t)(100.0 * ((double)(raw[i] - least) / (double)(most - least)))
                        : 0;
}

/* --- hints --- */

/* Does a required anti-affinity term of `has` mean pods of the shape? */
static bool avoids(const struct cluster *c, const struct shape *has, const struct shape *shape,
                   enum sight sight)
{
    const struct spec *spec = specs_at(&c->specs, has->spec);
    for (uint32_t i = 0; i < spec->n_pod_terms; i++) {
        const struct pod_term *t = &spec->pod_terms[i];
        if (t->is_anti && !t->weight &&
            reach_means(c, reach_of(spec, t, &has->namespace), shape, sight))
            return true;
    }
    return false;
}

static bool hint_pod(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct shape *was = e->old_shape, *is = e->new_shape;
    enum sight sight = e->is_thorough ? SIGHT_FOUND : SIGHT_HINT;
    if (e->pod_node == SYM_NONE)
        return false;
    bool was_sought = was && all_mean(c, shape, was, sight);
    bool is_sought_now = is && all_mean(c, shape, is, sight);
    if (e->is_thorough && was_sought && !is_sought_now)
        return true; /* the first of its kind may go anywhere */
    if (was && is)
        return (!was_sought && is_sought_now) ||
               (avoids(c, shape, was, sight) && !avoids(c, shape, is, sight));
    return is ? is_sought_now : avoids(c, shape, was, sight) || avoids(c, was, shape, sight);
}

static bool helps(const struct cluster *c, const struct pod_term *t, const struct event *e)
{
    sym was = e->old_row ? cluster_row_label(c, e->old_row, t->key) : SYM_NONE;
    sym is = e->new_row ? cluster_row_label(c, e->new_row, t->key) : SYM_NONE;
    if (!e->old_row)
        return t->is_anti || is != SYM_NONE;
    return was != is && (t->is_anti ? was : is) != SYM_NONE;
}

static bool hint_node(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    for (uint32_t i = 0; i < spec->n_pod_terms; i++)
        if (spec->pod_terms[i].weight == 0 && helps(c, &spec->pod_terms[i], e))
            return true;
    return false;
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_ADD | ACTION_DELETE | ACTION_POD_LABEL, hint_pod},
    {EVENT_TARGET_POD, ACTION_POD_LABEL, NULL},
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL, hint_node},
    {EVENT_NAMESPACE, ACTION_UPDATE, NULL},
    {0},
};

const struct plugin plugin_inter_pod_affinity = {
    .name = "InterPodAffinity",
    .key_columns = COLUMN_LABELS,
    .class_size = sizeof(struct company),
    .sign = sign,
    .learn = learn,
    .forget = forget,
    .key = key,
    .key_filter = key_filter,
    .key_score = key_score,
    .is_idle = is_idle,
    .wakes = wakes,
};
