#include "core/cluster/count.h"

#include "core/cluster/cluster.h"

/* --- domains --- */

static void forget_domain(struct spread *s, uint32_t at)
{
    map_remove(&s->by_value, s->domains.at[at].value);
    struct domain last = vec_pop(&s->domains);
    if (at < s->domains.n) {
        s->domains.at[at] = last;
        map_put(&s->by_value, last.value, at);
    }
}

static void note_pods(struct spread *s, int64_t was, int64_t is)
{
    if (s->at_least_n && was == s->least)
        s->at_least_n--; /* at 0 the next question looks through the domains again */
    if (s->at_least_n == 0)
        return;
    if (is == s->least)
        s->at_least_n++;
    if (is < s->least) {
        s->least = is;
        s->at_least_n = 1;
    }
}

/* Adds nodes and pods to the domain of a value; it comes with its first node and goes with its
 * last. */
static void domain_add(struct spread *s, sym value, int nodes, int64_t pods)
{
    uint32_t at = counts_at(s, value);
    if (at == MAP_NONE) {
        assert(nodes > 0);
        at = s->domains.n;
        vec_push(&s->domains, (struct domain){.value = value});
        map_put(&s->by_value, value, at);
        s->at_least_n = 0;
    }
    struct domain *d = &s->domains.at[at];
    int64_t was = d->pods;
    d->nodes += (uint32_t)nodes;
    d->pods += pods;
    if (d->nodes == 0) {
        assert(d->pods == 0);
        forget_domain(s, at);
        s->at_least_n = 0;
    } else if (pods) {
        note_pods(s, was, d->pods);
    }
}

static void look_for_least(struct spread *s)
{
    s->least = 0;
    s->at_least_n = 0;
    vec_each(&s->domains, d) {
        if (s->at_least_n == 0 || d->pods < s->least) {
            s->least = d->pods;
            s->at_least_n = 0;
        }
        s->at_least_n += d->pods == s->least;
    }
}

int64_t counts_least(const struct counts *k, uint32_t spread)
{
    struct spread *s = &k->spreads.at[spread];
    if (s->at_least_n == 0)
        look_for_least(s);
    return s->least;
}

uint32_t counts_domains(const struct counts *k, uint32_t spread)
{
    return k->spreads.at[spread].domains.n;
}

/* --- nodes --- */

bool counts_includes(const struct cluster *c, const struct spread *s, node_id node)
{
    if (!nodes_is_present(&c->nodes, node))
        return false;
    for (uint32_t i = 0; i < s->n_keys; i++)
        if (cluster_label(c, node, s->keys[i]) == SYM_NONE)
            return false;
    if (s->rules && !cluster_rules_allow(c, s->rules, node, SYM_NONE))
        return false;
    return s->tolerations == ID_NONE || cluster_taints_tolerated(c, s->tolerations, node);
}

int64_t counts_on_node(const struct counts *k, uint32_t tally, node_id node)
{
    if (tally == ID_NONE)
        return 0;
    uint32_t pods = map_find(&k->tallies.at[tally].on_node, node.i);
    return pods == MAP_NONE ? 0 : pods;
}

static void spread_node(struct cluster *c, struct spread *s, node_id node, int sign)
{
    if (!counts_includes(c, s, node))
        return;
    sym value = cluster_label(c, node, s->key);
    domain_add(s, value, sign, sign * counts_on_node(&c->counts, s->tally, node));
}

void counts_node(struct cluster *c, node_id node, int sign)
{
    vec_each(&c->counts.spreads, s)
        if (s->uses)
            spread_node(c, s, node, sign);
}

/* --- pods --- */

static bool tally_matches(const struct cluster *c, const struct tally *t, const struct shape *shape)
{
    return t->namespace == shape->namespace &&
           selector_matches(matches_selector_at(&c->matches, t->selector), &c->names,
                            shape->labels);
}

/* Brings the shape's list of tallies up to date: forgets those that are gone, looks at those that
 * are new. Each pair of a shape and a tally is compared once. */
static void refresh_shape(struct cluster *c, struct shape *shape)
{
    struct counts *k = &c->counts;
    uint32_t kept = 0;
    vec_each(&shape->tallies, t) {
        const struct tally *tally = &k->tallies.at[*t];
        if (tally->number && tally->number <= shape->tallied_up_to &&
            tally_matches(c, tally, shape))
            shape->tallies.at[kept++] = *t;
    }
    shape->tallies.n = kept;
    for (uint32_t t = 0; t < k->tallies.n; t++) {
        const struct tally *tally = &k->tallies.at[t];
        if (tally->number > shape->tallied_up_to && tally_matches(c, tally, shape))
            vec_push(&shape->tallies, t);
    }
    shape->tallied_up_to = k->tallies_made;
}

/* Adds to one tally and the spreads that stand on it. */
static void tally_pod(struct cluster *c, uint32_t t, node_id node, int sign)
{
    struct tally *tally = &c->counts.tallies.at[t];
    uint32_t was = map_find(&tally->on_node, node.i);
    uint32_t is = (was == MAP_NONE ? 0 : was) + (uint32_t)sign;
    assert(was != MAP_NONE || sign > 0);
    if (is)
        map_put(&tally->on_node, node.i, is);
    else
        map_remove(&tally->on_node, node.i);
    vec_each(&tally->spreads, s) {
        struct spread *spread = &c->counts.spreads.at[*s];
        if (counts_includes(c, spread, node))
            domain_add(spread, cluster_label(c, node, spread->key), 0, sign);
    }
}

uint32_t counts_pod(struct cluster *c, pod_id pod, node_id node, int sign)
{
    struct shape *shape = &c->pods.shapes.at[pods_at(&c->pods, pod)->shape];
    if (shape->tallied_up_to != c->counts.tallies_made)
        refresh_shape(c, shape);
    uint32_t columns = 0;
    vec_each(&shape->tallies, t) {
        tally_pod(c, *t, node, sign);
        columns |= COLUMN_TALLY(*t);
    }
    return columns;
}

/* --- the tables --- */

static uint64_t tally_key(sym namespace, selector_id selector)
{
    return (uint64_t) namespace << 32 | selector;
}

/* Counts what is there already. */
static void fill_tally(struct cluster *c, uint32_t t)
{
    for (uint32_t i = 0; i < c->pods.rows.n; i++) {
        const struct pod_row *row = &c->pods.rows.at[i];
        if (!row->text || row->node == ID_NONE || row->flags & POD_TERMINATING)
            continue;
        struct shape *shape = &c->pods.shapes.at[row->shape];
        if (shape->tallied_up_to != c->counts.tallies_made)
            refresh_shape(c, shape);
        vec_each(&shape->tallies, counted)
            if (*counted == t)
                tally_pod(c, t, (node_id){row->node}, +1);
    }
}

uint32_t counts_use_tally(struct cluster *c, sym namespace, selector_id selector)
{
    struct counts *k = &c->counts;
    uint32_t t = map_find(&k->tally_index, tally_key(namespace, selector));
    if (t != MAP_NONE) {
        k->tallies.at[t].uses++;
        return t;
    }
    t = k->free_tallies.n ? vec_pop(&k->free_tallies) : k->tallies.n;
    if (t == k->tallies.n)
        vec_push(&k->tallies, (struct tally){0});
    k->tallies.at[t] = (struct tally){
        .namespace = namespace,
        .selector = selector,
        .uses = 1,
        .number = ++k->tallies_made,
    };
    map_put(&k->tally_index, tally_key(namespace, selector), t);
    intern_hold(&c->names.text, namespace);
    intern_hold(&c->matches.selectors.table, selector);
    fill_tally(c, t);
    return t;
}

void counts_drop_tally(struct cluster *c, uint32_t t)
{
    struct counts *k = &c->counts;
    struct tally *tally = &k->tallies.at[t];
    assert(tally->uses > 0);
    if (--tally->uses)
        return;
    assert(tally->spreads.n == 0);
    map_remove(&k->tally_index, tally_key(tally->namespace, tally->selector));
    intern_drop(&c->names.text, tally->namespace);
    intern_drop(&c->matches.selectors.table, tally->selector);
    map_done(&tally->on_node);
    vec_done(&tally->spreads);
    *tally = (struct tally){0};
    vec_push(&k->free_tallies, t);
    k->tallies_made++; /* shapes look again, and forget it */
}

/* Holds (+1) or drops (-1) all that a spread refers to. */
static void hold_spread(struct cluster *c, const struct spread *s, int sign)
{
    void (*change)(struct intern *, uint32_t) = sign > 0 ? intern_hold : intern_drop;
    change(&c->names.text, s->key);
    change(&c->matches.rules.table, s->rules);
    if (s->tolerations != ID_NONE)
        change(&c->names.tolerations.table, s->tolerations);
    for (uint32_t i = 0; i < s->n_keys; i++)
        change(&c->names.text, s->keys[i]);
}

static void fill_spread(struct cluster *c, struct spread *s)
{
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (c->nodes.flags[i] & NODE_PRESENT)
            spread_node(c, s, (node_id){i}, +1);
}

uint32_t counts_use_spread(struct cluster *c, const struct spread_ask *ask)
{
    struct counts *k = &c->counts;
    VEC(uint32_t) words = {0};
    vec_push(&words, ask->tally);
    vec_push(&words, ask->key);
    vec_push(&words, ask->rules);
    vec_push(&words, ask->tolerations);
    for (uint32_t i = 0; i < ask->n_keys; i++)
        vec_push(&words, ask->keys[i]);
    bool is_new;
    struct str bytes = {(const char *)words.at, words.n * sizeof(uint32_t)};
    uint32_t id = intern_get(&k->spread_table, bytes, &is_new);
    vec_done(&words);
    intern_hold(&k->spread_table, id);
    if (id >= k->spreads.n)
        vec_resize(&k->spreads, id + 1);
    struct spread *s = &k->spreads.at[id];
    if (s->uses++)
        return id;

    const uint32_t *kept = (const void *)intern_bytes(&k->spread_table, id).p;
    *s = (struct spread){
        .tally = ask->tally,
        .uses = 1,
        .key = ask->key,
        .rules = ask->rules,
        .tolerations = ask->tolerations,
        .keys = kept + 4,
        .n_keys = ask->n_keys,
    };
    hold_spread(c, s, +1);
    if (ask->tally != ID_NONE) {
        vec_push(&k->tallies.at[ask->tally].spreads, id);
        k->tallies.at[ask->tally].uses++;
    }
    fill_spread(c, s);
    return id;
}

void counts_drop_spread(struct cluster *c, uint32_t id)
{
    struct counts *k = &c->counts;
    struct spread *s = &k->spreads.at[id];
    assert(s->uses > 0);
    intern_drop(&k->spread_table, id);
    if (--s->uses)
        return;
    if (s->tally != ID_NONE) {
        struct tally *tally = &k->tallies.at[s->tally];
        for (uint32_t i = tally->spreads.n; i-- > 0;)
            if (tally->spreads.at[i] == id)
                vec_remove(&tally->spreads, i);
        counts_drop_tally(c, s->tally);
    }
    hold_spread(c, s, -1);
    map_done(&s->by_value);
    vec_done(&s->domains);
    *s = (struct spread){0};
    intern_sweep(&k->spread_table, NULL, NULL);
}

void counts_done(struct counts *k)
{
    vec_each(&k->tallies, t) {
        map_done(&t->on_node);
        vec_done(&t->spreads);
    }
    vec_done(&k->tallies);
    vec_done(&k->free_tallies);
    map_done(&k->tally_index);
    vec_each(&k->spreads, s) {
        map_done(&s->by_value);
        vec_done(&s->domains);
    }
    vec_done(&k->spreads);
    intern_done(&k->spread_table);
}
