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
    if (s->is_sparse)
        nodes = 0;
    if (at == MAP_NONE && s->is_sparse && pods == 0)
        return;
    if (at == MAP_NONE) {
        assert(nodes > 0 || s->is_sparse);
        at = s->domains.n;
        vec_push(&s->domains, (struct domain){.value = value});
        map_put(&s->by_value, value, at);
        s->at_least_n = 0;
    }
    struct domain *d = &s->domains.at[at];
    int64_t was = d->pods;
    d->nodes += (uint32_t)nodes;
    d->pods += pods;
    s->pods += pods;
    if (s->is_sparse ? d->pods == 0 : d->nodes == 0) {
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

/* Is the node one of those that the spread sums over? `key` is one that it is known to have. */
static bool includes(const struct cluster *c, const struct spread *s, node_id node, sym key)
{
    bool has_all = nodes_is_present(&c->nodes, node);
    for (uint32_t i = 0; has_all && i < s->n_keys; i++)
        has_all = s->keys[i] == key || cluster_label(c, node, s->keys[i]) != SYM_NONE;
    return has_all && (!s->rules || cluster_rules_allow(c, s->rules, node, SYM_NONE)) &&
           (s->tolerations == ID_NONE || cluster_taints_tolerated(c, s->tolerations, node));
}

/* The domain of a node that the spread sums over; SYM_NONE: it does not. */
static sym domain_of(const struct cluster *c, const struct spread *s, node_id node)
{
    sym value = cluster_label(c, node, s->key);
    return value != SYM_NONE && includes(c, s, node, s->key) ? value : SYM_NONE;
}

int64_t counts_on_node(const struct counts *k, uint32_t tally, node_id node)
{
    if (tally == ID_NONE)
        return 0;
    uint32_t pods = map_find(&k->tallies.at[tally].on_node, node.i);
    return pods == MAP_NONE ? 0 : pods;
}

static void spread_node(struct cluster *c, struct spread *s, node_id node, sym value, int sign)
{
    if (value != SYM_NONE)
        domain_add(s, value, sign, sign * counts_on_node(&c->counts, s->tally, node));
}

void counts_node(struct cluster *c, node_id node, int sign)
{
    vec_clear(&c->counts.included_by);
    vec_each(&c->counts.spreads, s)
        if (s->uses)
            spread_node(c, s, node, domain_of(c, s, node), sign);
}

/* --- pods --- */

/* The reaches of a tally follow each other, each as selector, selector of namespaces, number of
 * namespaces, namespaces. */
static struct reach next_reach(const uint32_t **words)
{
    const uint32_t *w = *words;
    *words = w + 3 + w[2];
    return (struct reach){w[0], w[1], w + 3, w[2]};
}

static bool all_mean(const struct cluster *c, const struct tally *t, const struct shape *shape)
{
    const uint32_t *words = t->reaches;
    for (uint32_t i = 0; i < t->n_reaches; i++)
        if (!reach_means(c, next_reach(&words), shape, SIGHT_SEEKER))
            return false;
    return true;
}

/* Does the selector ask for a key of labels that nobody has? */
static bool asks_in_vain(const struct cluster *c, selector_id selector)
{
    if (selector == ID_NONE)
        return true;
    struct selector s = matches_selector_at(&c->matches, selector);
    for (uint32_t i = 0; i < s.n; i++)
        if (s.all[i].op != MATCH_NOT_IN && s.all[i].op != MATCH_MISSING &&
            !names_is_label_key(&c->names, s.all[i].key))
            return true;
    return false;
}

/* There cannot be a pod that the tally counts. */
static bool counts_nobody(const struct cluster *c, const struct tally *t)
{
    const uint32_t *words = t->reaches;
    bool is_vain = t->kind == TALLY_SELECTED && asks_in_vain(c, t->selector);
    for (uint32_t i = 0; t->kind == TALLY_MEANT && i < t->n_reaches && !is_vain; i++)
        is_vain = asks_in_vain(c, next_reach(&words).selector);
    return is_vain;
}

/* How often the tally counts a pod of the shape. */
static uint32_t times(const struct cluster *c, const struct tally *t, const struct shape *shape)
{
    uint32_t n = 0;
    switch (t->kind) {
    case TALLY_SELECTED:
        return t->namespace == shape->namespace &&
               selector_matches(matches_selector_at(&c->matches, t->selector), &c->names,
                                shape->labels);
    case TALLY_MEANT:
        return all_mean(c, t, shape);
    case TALLY_HAVING:
        vec_each(&shape->terms, term)
            n += *term == t->term;
        break;
    }
    return n;
}

/* The keys of labels that the pods it counts have, as bits. */
static uint64_t bits_of_keys(const struct cluster *c, const struct tally *t)
{
    const uint32_t *words = t->reaches;
    uint64_t key_bits =
        t->kind == TALLY_SELECTED ? matches_selector_at(&c->matches, t->selector).key_bits : 0;
    for (uint32_t i = 0; t->kind == TALLY_MEANT && i < t->n_reaches; i++) {
        struct reach r = next_reach(&words);
        key_bits |=
            r.selector == ID_NONE ? 0 : matches_selector_at(&c->matches, r.selector).key_bits;
    }
    return key_bits;
}

/* The first tally made behind this number. */
static uint32_t made_behind(const struct counts *k, uint64_t number)
{
    uint32_t low = 0, high = k->made.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (k->made.at[middle].number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_standing(const struct counts *k, const struct new_tally *made)
{
    return k->tallies.at[made->tally].number == made->number;
}

static void forget_made(struct counts *k)
{
    uint32_t kept = 0;
    vec_each(&k->made, made)
        if (is_standing(k, made))
            k->made.at[kept++] = *made;
    k->made.n = kept;
}

/* Forgets those that are gone, once they are the most. */
static void note_made(struct counts *k, uint64_t number, uint64_t key_bits, uint32_t tally)
{
    if (k->made.n == k->made.cap) {
        forget_made(k);
        vec_reserve(&k->made, k->made.n * 2);
    }
    vec_push(&k->made, (struct new_tally){number, key_bits, tally});
}

/* Brings the shape's list of tallies up to date: forgets those that are gone, looks at those that
 * are new. Each pair of a shape and a tally is compared once. */
static void refresh_shape(struct cluster *c, struct shape *shape)
{
    struct counts *k = &c->counts;
    uint32_t kept = 0;
    vec_each(&shape->tallies, t) {
        uint64_t number = *t < k->tallies.n ? k->tallies.at[*t].number : 0;
        if (number && number <= shape->tallied_up_to)
            shape->tallies.at[kept++] = *t;
    }
    shape->tallies.n = kept;
    uint64_t lacks = ~c->names.label_key_bits.at[shape->labels];
    for (uint32_t i = made_behind(k, shape->tallied_up_to); i < k->made.n; i++) {
        uint32_t t = k->made.at[i].tally;
        if (LIKELY(k->made.at[i].key_bits & lacks) || !is_standing(k, &k->made.at[i]))
            continue;
        for (uint32_t n = times(c, &k->tallies.at[t], shape); n > 0; n--)
            vec_push(&shape->tallies, t);
    }
    shape->tallied_up_to = k->tallies_made;
}

/* Adds to the spreads that stand on a tally. */
static void spread_pod(struct cluster *c, const struct tally *tally, node_id node, int sign)
{
    vec_each(&tally->spreads, s) {
        struct spread *spread = &c->counts.spreads.at[*s];
        sym value = domain_of(c, spread, node);
        if (value != SYM_NONE)
            domain_add(spread, value, 0, sign);
    }
}

/* Adds to one tally and the spreads that stand on it. */
static void tally_pod(struct cluster *c, uint32_t t, node_id node, int sign)
{
    struct tally *tally = &c->counts.tallies.at[t];
    map_add(&tally->on_node, node.i, sign);
    spread_pod(c, tally, node, sign);
}

/* Pods being deleted do not count as selected. */
static bool is_leaving(const struct pod_row *row)
{
    return row->flags & POD_TERMINATING;
}

/* Adds the pod to the tallies of its shape that pass `wanted` (NULL: all). */
static uint32_t count_pod(struct cluster *c, pod_id pod, node_id node, int sign,
                          bool (*wanted)(const struct tally *))
{
    const struct pod_row *row = pods_at(&c->pods, pod);
    struct shape *shape = &c->pods.shapes.at[row->shape];
    if (shape->tallied_up_to != c->counts.tallies_made)
        refresh_shape(c, shape);
    bool leaves = is_leaving(row);
    uint32_t columns = 0;
    vec_each(&shape->tallies, t) {
        const struct tally *tally = &c->counts.tallies.at[*t];
        bool is_left_out = leaves && tally->kind == TALLY_SELECTED;
        if ((is_left_out && !(row->flags & POD_SUPPOSED)) || (wanted && !wanted(tally)))
            continue;
        if (is_left_out) /* moved in a trial: filters look at domains, and these may fall below 0 */
            spread_pod(c, tally, node, sign);
        else
            tally_pod(c, *t, node, sign);
        columns |= COLUMN_TALLY(*t);
    }
    return columns;
}

uint32_t counts_pod(struct cluster *c, pod_id pod, node_id node, int sign)
{
    return count_pod(c, pod, node, sign, NULL);
}

/* --- namespaces --- */

static bool reads_namespaces(const struct tally *t)
{
    const uint32_t *words = t->reaches;
    for (uint32_t i = 0; i < t->n_reaches; i++)
        if (next_reach(&words).like != ID_NONE)
            return true;
    return false;
}

void counts_namespace(struct cluster *c, sym namespace, int sign)
{
    struct counts *k = &c->counts;
    bool is_read = false;
    vec_each(&k->tallies, t)
        is_read |= t->number && reads_namespaces(t);
    if (!is_read)
        return;
    vec_each(&c->pods.shapes, shape)
        if (sign > 0 && shape->namespace == namespace)
            shape->tallied_up_to = 0, vec_clear(&shape->tallies);
    for (uint32_t i = 0; i < c->pods.rows.n; i++) {
        const struct pod_row *row = &c->pods.rows.at[i];
        if (!row->text || row->node == ID_NONE ||
            c->pods.shapes.at[row->shape].namespace != namespace)
            continue;
        node_id node = {row->node};
        uint32_t columns = count_pod(c, (pod_id){i}, node, sign, reads_namespaces);
        if (columns)
            change_log_add(&c->log, node, columns);
    }
}

/* --- the tables --- */

/* How often the tally counts a pod of the shape. Most pods share theirs with others. */
static uint32_t times_of(struct cluster *c, const struct tally *tally, shape_id id)
{
    struct counts *k = &c->counts;
    if (id >= k->looked_at.n)
        vec_resize(&k->looked_at, c->pods.shapes.n);
    struct looked_at *known = &k->looked_at.at[id];
    if (known->number != tally->number)
        *known = (struct looked_at){tally->number, times(c, tally, &c->pods.shapes.at[id])};
    return known->times;
}

/* Counts what is there already. */
static void fill_tally(struct cluster *c, uint32_t t, uint64_t key_bits)
{
    const struct tally *tally = &c->counts.tallies.at[t];
    bool is_selected = tally->kind == TALLY_SELECTED;
    if (counts_nobody(c, tally))
        return;
    for (uint32_t i = 0; i < c->pods.rows.n; i++) {
        const struct pod_row *row = &c->pods.rows.at[i];
        if (!row->text || row->node == ID_NONE || (is_selected && is_leaving(row)))
            continue;
        const struct shape *shape = &c->pods.shapes.at[row->shape];
        if (LIKELY(key_bits & ~c->names.label_key_bits.at[shape->labels]))
            continue;
        for (uint32_t n = times_of(c, tally, row->shape); n > 0; n--)
            tally_pod(c, t, (node_id){row->node}, +1);
    }
}

/* Holds (+1) or drops (-1) all that a tally refers to. */
static void hold_tally(struct cluster *c, const struct tally *t, int sign)
{
    void (*change)(struct intern *, uint32_t) = sign > 0 ? intern_hold : intern_drop;
    const uint32_t *words = t->reaches;
    switch (t->kind) {
    case TALLY_SELECTED:
        change(&c->names.text, t->namespace);
        change(&c->matches.selectors.table, t->selector);
        break;
    case TALLY_MEANT:
        for (uint32_t i = 0; i < t->n_reaches; i++) {
            struct reach r = next_reach(&words);
            if (r.selector != ID_NONE)
                change(&c->matches.selectors.table, r.selector);
            if (r.like != ID_NONE)
                change(&c->matches.selectors.table, r.like);
            for (uint32_t j = 0; j < r.n; j++)
                change(&c->names.text, r.namespaces[j]);
        }
        break;
    case TALLY_HAVING:
        change(&c->terms.table, t->term);
        break;
    }
}

/* The tally of these numbers, the first of which is its kind; new ones are made of `made`. */
static uint32_t use_tally(struct cluster *c, struct match_words *words, struct tally made)
{
    struct counts *k = &c->counts;
    struct str bytes = {(const char *)words->at, words->n * sizeof(uint32_t)};
    bool is_new;
    uint32_t t = intern_get(&k->tally_table, bytes, &is_new);
    vec_done(words);
    intern_hold(&k->tally_table, t);
    if (t >= k->tallies.n)
        vec_resize(&k->tallies, t + 1);
    struct tally *tally = &k->tallies.at[t];
    if (tally->uses++)
        return t;
    *tally = made;
    tally->uses = 1;
    tally->number = ++k->tallies_made;
    if (tally->kind == TALLY_MEANT)
        tally->reaches = (const uint32_t *)(const void *)intern_bytes(&k->tally_table, t).p + 1;
    uint64_t key_bits = bits_of_keys(c, tally);
    note_made(k, tally->number, key_bits, t);
    hold_tally(c, tally, +1);
    fill_tally(c, t, key_bits);
    return t;
}

uint32_t counts_use_tally(struct cluster *c, sym namespace, selector_id selector)
{
    struct match_words words = {0};
    vec_push(&words, TALLY_SELECTED);
    vec_push(&words, namespace);
    vec_push(&words, selector);
    return use_tally(
        c, &words,
        (struct tally){.kind = TALLY_SELECTED, .namespace = namespace, .selector = selector});
}

uint32_t counts_use_meant(struct cluster *c, const struct reach *reaches, uint32_t n)
{
    struct match_words words = {0};
    vec_push(&words, TALLY_MEANT);
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&words, reaches[i].selector);
        vec_push(&words, reaches[i].like);
        vec_push(&words, reaches[i].n);
        for (uint32_t j = 0; j < reaches[i].n; j++)
            vec_push(&words, reaches[i].namespaces[j]);
    }
    return use_tally(c, &words, (struct tally){.kind = TALLY_MEANT, .n_reaches = n});
}

uint32_t counts_use_having(struct cluster *c, uint32_t term)
{
    struct match_words words = {0};
    vec_push(&words, TALLY_HAVING);
    vec_push(&words, term);
    return use_tally(c, &words, (struct tally){.kind = TALLY_HAVING, .term = term});
}

void counts_drop_tally(struct cluster *c, uint32_t t)
{
    struct counts *k = &c->counts;
    struct tally *tally = &k->tallies.at[t];
    assert(tally->uses > 0);
    intern_drop(&k->tally_table, t);
    if (--tally->uses)
        return;
    assert(tally->spreads.n == 0);
    hold_tally(c, tally, -1);
    map_done(&tally->on_node);
    vec_done(&tally->spreads);
    *tally = (struct tally){0};
    k->tallies_made++; /* shapes look again, and forget it */
    if (intern_wants_sweep(&k->tally_table))
        intern_sweep(&k->tally_table, NULL, NULL);
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

/* The nodes that it includes. A pod's constraints mostly include the same, for all its keys count
 * for each of them: these are worked out once. */
static const uint64_t *included(struct cluster *c, const struct spread *s)
{
    struct counts *k = &c->counts;
    const uint32_t words[] = {s->rules, s->tolerations};
    uint32_t n = (uint32_t)LEN(words) + s->n_keys;
    bool knows_all = k->included.n * 64 >= c->nodes.n; /* numbers may have come */
    if (knows_all && k->included_by.n == n &&
        memcmp(k->included_by.at, words, sizeof(words)) == 0 &&
        memcmp(k->included_by.at + LEN(words), s->keys, s->n_keys * sizeof(sym)) == 0)
        return k->included.at;
    vec_resize(&k->included_by, n);
    memcpy(k->included_by.at, words, sizeof(words));
    memcpy(k->included_by.at + LEN(words), s->keys, s->n_keys * sizeof(sym));
    vec_clear(&k->included);
    vec_resize(&k->included, (c->nodes.n + 63) / 64);
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (includes(c, s, (node_id){i}, SYM_NONE))
            k->included.at[i / 64] |= (uint64_t)1 << i % 64;
    return k->included.at;
}

static void fill_spread(struct cluster *c, struct spread *s)
{
    const uint64_t *in = included(c, s);
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (in[i / 64] >> i % 64 & 1)
            spread_node(c, s, (node_id){i}, cluster_label(c, (node_id){i}, s->key), +1);
}

uint32_t counts_use_spread(struct cluster *c, const struct spread_ask *ask)
{
    struct counts *k = &c->counts;
    VEC(uint32_t) words = {0};
    vec_push(&words, ask->tally);
    vec_push(&words, ask->key);
    vec_push(&words, ask->rules);
    vec_push(&words, ask->tolerations);
    vec_push(&words, ask->is_sparse);
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
        .keys = kept + 5,
        .n_keys = ask->n_keys,
        .is_sparse = ask->is_sparse,
    };
    hold_spread(c, s, +1);
    if (ask->tally != ID_NONE) {
        vec_push(&k->tallies.at[ask->tally].spreads, id);
        k->tallies.at[ask->tally].uses++;
        intern_hold(&k->tally_table, ask->tally);
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
    if (intern_wants_sweep(&k->spread_table))
        intern_sweep(&k->spread_table, NULL, NULL);
}

void counts_tidy(struct counts *k, enum tidy how)
{
    vec_clear(&k->included_by); /* what it names may go */
    if (how != TIDY_ALL)
        return;
    vec_done(&k->included);
    vec_done(&k->looked_at);
    forget_made(k);
    vec_trim(&k->made);
    intern_tidy(&k->tally_table, TIDY_ALL, NULL, NULL);
    intern_fit(&k->tally_table, &k->tallies);
    intern_tidy(&k->spread_table, TIDY_ALL, NULL, NULL);
    intern_fit(&k->spread_table, &k->spreads);
}

void counts_done(struct counts *k)
{
    vec_each(&k->tallies, t) {
        map_done(&t->on_node);
        vec_done(&t->spreads);
    }
    vec_done(&k->tallies);
    vec_done(&k->made);
    vec_done(&k->looked_at);
    vec_done(&k->included_by);
    vec_done(&k->included);
    intern_done(&k->tally_table);
    vec_each(&k->spreads, s) {
        map_done(&s->by_value);
        vec_done(&s->domains);
    }
    vec_done(&k->spreads);
    intern_done(&k->spread_table);
}
