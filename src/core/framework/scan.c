#include "core/framework/scan.h"

#include "core/framework/row.h"

/* Score and tie order, as far as they have room in one number: mostly it says which node is better,
 * and without a branch that goes wrong for those that are nearly so. */
static uint64_t lead_of(const struct cluster *c, uint32_t node, int32_t local)
{
    uint64_t score = (uint32_t)local ^ 0x80000000u;
    return score << 32 | (uint32_t)(~c->nodes.tie_order[node] >> 32);
}

static void begin_bucket(struct scan *s, uint32_t i)
{
    buckets_wake(&s->buckets, i);
    if (i >= s->leads.n)
        vec_resize(&s->leads, i + 1);
    s->leads.at[i] = 0;
}

/* The bucket gets a node. */
static inline void enter(struct scan *s, const struct cluster *c, uint32_t node, uint32_t i,
                         int32_t local)
{
    struct bucket *b = &s->buckets.at.at[i];
    uint64_t lead = lead_of(c, node, local);
    s->home.at[node] = i;
    if (UNLIKELY(b->nodes++ == 0))
        begin_bucket(s, i);
    else if (LIKELY(lead < s->leads.at[i]) ||
             (lead == s->leads.at[i] && !cluster_wins_tie(c, node, b->best)))
        return;
    s->leads.at[i] = lead;
    b->best = node;
    b->local = local;
}

static void note_broken(struct scan *s, uint32_t node, int32_t local)
{
    if (UNLIKELY(local == ROW_BROKEN))
        vec_push(&s->broken, node);
}

/* One node alone. */
static void judge(struct scan *s, struct cluster *c, const struct class *class, node_id node,
                  pod_id self)
{
    reason_id reason = row_has_nominated(c, class, node, self)
                           ? row_judge_nominated(c, class, node, self)
                           : row_filter(c, class, node, COLUMN_ALL);
    s->home.at[node.i] = SCAN_REFUSED | reason;
    if (reason)
        return;
    row_key(c, class, node, COLUMN_ALL, s->key.at);
    int32_t local = row_score(c, class, node);
    enter(s, c, node.i, buckets_get(&s->buckets, s->key.at), local);
    note_broken(s, node.i, local);
}

static void prepare(struct scan *s, const struct cluster *c, const struct class *class)
{
    s->class = class;
    buckets_reset(&s->buckets, class->n_keys);
    vec_resize(&s->key, class->n_keys + 1);
    vec_resize(&s->home, c->nodes.n);
    vec_clear(&s->broken);
}

/* The present node of a name; ID_NONE if there is none. */
static node_id find_present(const struct cluster *c, sym name)
{
    node_id node = nodes_find(&c->nodes, name);
    return node.i != ID_NONE && nodes_is_present(&c->nodes, node) ? node : (node_id){ID_NONE};
}

static void judge_some(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                       const sym *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        node_id node = find_present(c, names[i]);
        if (node.i != ID_NONE)
            judge(s, c, class, node, self);
    }
}

static bool comes_before(const struct cluster *c, uint32_t a, uint32_t b)
{
    return str_compare(names_text(&c->names, c->nodes.name[a]),
                       names_text(&c->names, c->nodes.name[b])) < 0;
}

/* Of the nodes that fit and have no score, the first by name; ID_NONE: there is none. */
static uint32_t first_broken(const struct scan *s, const struct cluster *c)
{
    uint32_t first = ID_NONE;
    vec_each(&s->broken, node) {
        bool fits = !s->buckets.at.at[s->home.at[*node]].refused; /* not left out by its key */
        if (fits && (first == ID_NONE || comes_before(c, *node, first)))
            first = *node;
    }
    return first;
}

static struct decision decide(struct scan *s, const struct cluster *c, const struct class *class,
                              bool all_scores)
{
    struct decision d = buckets_decide(c, class, &s->buckets, &s->decider, all_scores);
    d.broken = first_broken(s, c);
    return d;
}

static void sweep(struct scan *s, struct cluster *c, const struct class *class, pod_id self)
{
    const struct strip *t = &s->sweep.strip;
    for (uint32_t i = 0; i < s->home.n; i++)
        s->home.at[i] = SCAN_REFUSED;
    sweep_begin(&s->sweep, &s->facets, c, class, &s->buckets, self);
    while (sweep_next(&s->sweep)) {
        for (uint32_t i = 0; i < t->n_refused; i++)
            s->home.at[t->refused[i]] = SCAN_REFUSED | t->why[i];
        for (uint32_t i = 0; i < t->n; i++)
            enter(s, c, t->node[i], t->bucket[i], t->local[i]);
        for (uint32_t i = 0; t->may_break && i < t->n; i++)
            note_broken(s, t->node[i], t->local[i]);
    }
}

struct decision scan_run(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                         bool all_scores)
{
    prepare(s, c, class);
    if (class->only) {
        for (uint32_t i = 0; i < c->nodes.n; i++)
            s->home.at[i] = SCAN_REFUSED | class->absent;
        judge_some(s, c, class, self, class->only, class->n_only);
    } else {
        sweep(s, c, class, self);
    }
    return decide(s, c, class, all_scores);
}

struct decision scan_some(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                          const sym *names, uint32_t n, bool all_scores)
{
    prepare(s, c, class);
    judge_some(s, c, class, self, names, n);
    return decide(s, c, class, all_scores);
}

uint32_t scan_home(const struct scan *s, const struct cluster *c, uint32_t node)
{
    uint32_t home = s->home.at[node];
    if (!(c->nodes.flags[node] & NODE_PRESENT))
        return ID_NONE;
    return home == SCAN_REFUSED ? SCAN_REFUSED | sweep_refusal(s->class, node) : home;
}

/* What the last run says of a node that is there: 0 if it fits. */
static reason_id refusal_of(const struct scan *s, const struct cluster *c, uint32_t node)
{
    uint32_t home = scan_home(s, c, node);
    return home & SCAN_REFUSED ? home & ~SCAN_REFUSED : s->buckets.at.at[home].refused;
}

reason_id scan_refusal(const struct scan *s, const struct cluster *c, node_id node)
{
    return nodes_is_present(&c->nodes, node) ? refusal_of(s, c, node.i) : 0;
}

bool scan_fits(const struct scan *s, node_id node)
{
    uint32_t home = s->home.at[node.i];
    return !(home & SCAN_REFUSED) && !s->buckets.at.at[home].refused;
}

int64_t scan_total(const struct scan *s, const struct cluster *c, const struct class *class,
                   node_id node)
{
    return s->buckets.at.at[s->home.at[node.i]].shared + row_score(c, class, node);
}

void scan_why(const struct scan *s, const struct cluster *c, struct why *out)
{
    why_clear(out);
    out->nodes = c->nodes.present;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        reason_id reason = scan_refusal(s, c, (node_id){i});
        if (reason)
            why_add(out, reason, 1);
    }
}

void scan_some_why(const struct scan *s, const struct cluster *c, const struct class *class,
                   const sym *names, uint32_t n, struct why *out)
{
    why_clear(out);
    out->nodes = c->nodes.present;
    uint32_t judged = 0;
    for (uint32_t i = 0; i < n; i++) {
        node_id node = find_present(c, names[i]);
        if (node.i == ID_NONE)
            continue;
        judged++;
        if (refusal_of(s, c, node.i))
            why_add(out, refusal_of(s, c, node.i), 1);
    }
    why_add(out, class->absent, c->nodes.present - judged);
}

/* Of two errors the one of the node that comes first by name. */
reason_id scan_error(const struct scan *s, const struct cluster *c, const struct class *class,
                     const struct reasons *reasons)
{
    reason_id found = 0;
    uint32_t first = ID_NONE;
    for (uint32_t i = 0; class->may_fail && i < c->nodes.n; i++) {
        bool is_judged = c->nodes.flags[i] & NODE_PRESENT &&
                         (!class->only || class_names(class, c->nodes.name[i]));
        reason_id reason = is_judged ? refusal_of(s, c, i) : 0;
        bool is_error = reason && reasons_at(reasons, reason)->code == CODE_ERROR;
        if (is_error && (!found || comes_before(c, i, first))) {
            found = reason;
            first = i;
        }
    }
    return found;
}

/* The reason that keeps the node out before its key is asked; 0: none. */
static reason_id refusal_alone(struct cluster *c, const struct class *class, node_id node,
                               pod_id self)
{
    if (class->only && !class_names(class, c->nodes.name[node.i]))
        return class->absent;
    return row_has_nominated(c, class, node, self) ? row_judge_nominated(c, class, node, self)
                                                   : row_filter(c, class, node, COLUMN_ALL);
}

/* The same reason; or the same key, and a score that its bucket's best node need not fear. */
static bool is_true_of(struct scan *s, struct cluster *c, const struct class *class, uint32_t node,
                       pod_id self)
{
    uint32_t home = scan_home(s, c, node);
    reason_id reason = refusal_alone(c, class, (node_id){node}, self);
    if (reason || home & SCAN_REFUSED)
        return home == (SCAN_REFUSED | reason);
    const struct bucket *b = &s->buckets.at.at[home];
    int32_t local = row_score(c, class, (node_id){node});
    vec_resize(&s->key, class->n_keys + 1);
    row_key(c, class, (node_id){node}, COLUMN_ALL, s->key.at);
    if (memcmp(s->key.at, buckets_key(&s->buckets, home), class->n_keys * sizeof(uint32_t)) != 0)
        return false;
    return b->best == node
               ? local == b->local
               : local < b->local || (local == b->local && cluster_wins_tie(c, b->best, node));
}

bool scan_is_true(struct scan *s, struct cluster *c, const struct class *class, pod_id self)
{
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (c->nodes.flags[i] & NODE_PRESENT && !is_true_of(s, c, class, i, self))
            return false;
    return true;
}

void scan_forget(struct scan *s, const struct class *class)
{
    facets_forget(&s->facets, class);
}

void scan_done(struct scan *s)
{
    facets_done(&s->facets);
    sweep_done(&s->sweep);
    vec_done(&s->home);
    buckets_done(&s->buckets);
    decider_done(&s->decider);
    vec_done(&s->key);
    vec_done(&s->broken);
    vec_done(&s->leads);
}
