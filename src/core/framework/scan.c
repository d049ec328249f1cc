#include "core/framework/scan.h"

#include "core/framework/row.h"

/* What one node gets; its bucket learns of it. */
static uint32_t judge(struct scan *s, struct cluster *c, const struct class *class, node_id node,
                      pod_id self)
{
    reason_id reason = row_has_nominated(c, class, node, self)
                           ? row_judge_nominated(c, class, node, self)
                           : row_filter(c, class, node, COLUMN_ALL);
    if (reason)
        return SCAN_REFUSED | reason;
    row_key(c, class, node, COLUMN_ALL, s->key.at);
    uint32_t i = buckets_get(&s->buckets, s->key.at);
    struct bucket *b = &s->buckets.at.at[i];
    int32_t local = row_score(c, class, node);
    if (UNLIKELY(local == ROW_BROKEN))
        vec_push(&s->broken, node.i);
    if (b->nodes == 0)
        buckets_wake(&s->buckets, i);
    if (b->nodes++ == 0 || local > b->local ||
        (local == b->local && cluster_ranks_before(c, node.i, b->best))) {
        b->best = node.i;
        b->local = local;
    }
    return i;
}

static void prepare(struct scan *s, const struct cluster *c, const struct class *class)
{
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
            s->home.at[node.i] = judge(s, c, class, node, self);
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

struct decision scan_run(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                         bool all_scores)
{
    prepare(s, c, class);
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        if (!(c->nodes.flags[i] & NODE_PRESENT))
            s->home.at[i] = ID_NONE;
        else if (class->only)
            s->home.at[i] = SCAN_REFUSED | class->absent;
        else
            s->home.at[i] = judge(s, c, class, (node_id){i}, self);
    }
    judge_some(s, c, class, self, class->only, class->n_only);
    return decide(s, c, class, all_scores);
}

struct decision scan_some(struct scan *s, struct cluster *c, const struct class *class, pod_id self,
                          const sym *names, uint32_t n, bool all_scores)
{
    prepare(s, c, class);
    judge_some(s, c, class, self, names, n);
    return decide(s, c, class, all_scores);
}

/* What the last run says of a node: 0 if it fits. */
static reason_id refusal_of(const struct scan *s, uint32_t node)
{
    uint32_t home = s->home.at[node];
    return home & SCAN_REFUSED ? home & ~SCAN_REFUSED : s->buckets.at.at[home].refused;
}

reason_id scan_refusal(const struct scan *s, node_id node)
{
    return s->home.at[node.i] == ID_NONE ? 0 : refusal_of(s, node.i);
}

bool scan_fits(const struct scan *s, node_id node)
{
    return s->home.at[node.i] != ID_NONE && !refusal_of(s, node.i);
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
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (c->nodes.flags[i] & NODE_PRESENT && refusal_of(s, i))
            why_add(out, refusal_of(s, i), 1);
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
        if (refusal_of(s, node.i))
            why_add(out, refusal_of(s, node.i), 1);
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
        reason_id reason = is_judged ? refusal_of(s, i) : 0;
        bool is_error = reason && reasons_at(reasons, reason)->code == CODE_ERROR;
        if (is_error && (!found || comes_before(c, i, first))) {
            found = reason;
            first = i;
        }
    }
    return found;
}

void scan_done(struct scan *s)
{
    vec_done(&s->home);
    buckets_done(&s->buckets);
    decider_done(&s->decider);
    vec_done(&s->key);
    vec_done(&s->broken);
}
