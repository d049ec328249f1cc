#include "core/framework/domain_view.h"

#include "core/framework/row.h"
#include "core/framework/scan.h"

static bool is_bucket(uint32_t home)
{
    return !(home & SCAN_REFUSED);
}

/* Is the row a better choice than what the bucket has? */
static bool is_better(const struct cluster *c, const struct bucket *b,
                      const struct domain_view_row *row)
{
    return row->local > b->local ||
           (row->local == b->local && cluster_wins_tie(c, row->node, b->best));
}

static void enter(struct domain_view *k, const struct cluster *c, const struct domain_view_row *row)
{
    struct bucket *b = &k->buckets.at.at[row->home];
    if (b->nodes == 0)
        buckets_wake(&k->buckets, row->home);
    aspects_count(&k->aspects, row->home, +1);
    if (b->nodes++ == 0 || is_better(c, b, row)) {
        b->best = row->node;
        b->local = row->local;
    }
}

/* Finds the bucket's best node anew. */
static void look_through(struct domain_view *k, const struct cluster *c, uint32_t bucket)
{
    struct bucket *b = &k->buckets.at.at[bucket];
    b->best = ID_NONE;
    vec_each(&k->rows, row)
        if (row->home == bucket && (b->best == ID_NONE || is_better(c, b, row))) {
            b->best = row->node;
            b->local = row->local;
        }
}

static void leave(struct domain_view *k, const struct cluster *c, struct domain_view_row *row)
{
    uint32_t home = row->home;
    row->home = ID_NONE;
    if (!is_bucket(home))
        return;
    struct bucket *b = &k->buckets.at.at[home];
    aspects_count(&k->aspects, home, -1);
    if (--b->nodes == 0)
        buckets_rest(&k->buckets, home);
    else if (b->best == row->node)
        look_through(k, c, home);
}

/* Its score alone has changed. */
static void move(struct domain_view *k, const struct cluster *c, struct domain_view_row *row,
                 int32_t local)
{
    struct bucket *b = &k->buckets.at.at[row->home];
    bool falls = local < row->local;
    row->local = local;
    if (falls && b->best == row->node)
        look_through(k, c, row->home);
    else if (!falls && (b->best == row->node || is_better(c, b, row))) {
        b->best = row->node;
        b->local = local;
    }
}

/* The bucket that the node belongs in now, as far as these columns have changed. */
static uint32_t find_bucket(struct domain_view *k, const struct cluster *c,
                            const struct domain_view_row *row, uint32_t columns)
{
    if (is_bucket(row->home)) {
        if (!(columns & k->class->key_columns))
            return row->home;
        memcpy(k->key.at, buckets_key(&k->buckets, row->home),
               k->buckets.n_keys * sizeof(uint32_t));
    } else {
        columns = COLUMN_ALL;
    }
    row_key(c, k->class, (node_id){row->node}, columns, k->key.at);
    uint32_t known = k->buckets.at.n, bucket = buckets_get(&k->buckets, k->key.at);
    if (bucket == known)
        aspects_add(&k->aspects, k->key.at);
    return bucket;
}

/* Looks at the node again after a change in these columns. */
static void refresh(struct domain_view *k, struct cluster *c, struct domain_view_row *row,
                    uint32_t columns)
{
    node_id node = {row->node};
    if (!nodes_is_present(&c->nodes, node) || columns & COLUMN_PRESENCE)
        leave(k, c, row);
    if (!nodes_is_present(&c->nodes, node))
        return;
    reason_id reason = row_look(c, k->class, node, columns, is_bucket(row->home));
    if (reason) {
        leave(k, c, row);
        row->home = SCAN_REFUSED | reason;
        return;
    }
    uint32_t bucket = find_bucket(k, c, row, columns);
    int32_t local = row_score(c, k->class, node);
    k->is_broken |= local == ROW_BROKEN;
    if (bucket == row->home) {
        move(k, c, row, local);
        return;
    }
    leave(k, c, row);
    row->home = bucket;
    row->local = local;
    enter(k, c, row);
}

void domain_view_open(struct domain_view *k, struct cluster *c, const struct class *class,
                      const uint32_t *nodes, uint32_t n)
{
    k->class = class;
    k->is_broken = false;
    buckets_reset(&k->buckets, class->n_keys);
    aspects_done(&k->aspects);
    if (!class->has_key_filter)
        aspects_reset(&k->aspects, class);
    vec_resize(&k->key, class->n_keys + 1);
    vec_clear(&k->rows);
    vec_reserve(&k->rows, n);
    for (uint32_t i = 0; i < n; i++) {
        struct domain_view_row row = {nodes[i], ID_NONE, 0};
        assert(i == 0 || nodes[i] > nodes[i - 1]);
        refresh(k, c, &row, COLUMN_ALL);
        k->rows.at[k->rows.n++] = row;
    }
    k->seen = c->log.end;
}

void domain_view_close(struct domain_view *k)
{
    k->class = NULL;
}

static struct domain_view_row *find_row(struct domain_view *k, uint32_t node)
{
    uint32_t low = 0, high = k->rows.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (k->rows.at[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->rows.n && k->rows.at[low].node == node ? &k->rows.at[low] : NULL;
}

static bool catch_up(struct domain_view *k, struct cluster *c)
{
    uint32_t reads =
        k->class->row_columns | k->class->key_columns | COLUMN_PRESENCE | COLUMN_NOMINATED;
    if (k->seen < c->log.oldest || k->seen > c->log.end)
        return false;
    for (; k->seen < c->log.end; k->seen++) {
        struct change_entry e = *change_log_at(&c->log, k->seen);
        struct domain_view_row *row = e.columns & reads ? find_row(k, e.node) : NULL;
        if (row)
            refresh(k, c, row, e.columns & reads);
    }
    return true;
}

bool domain_view_decide(struct domain_view *k, struct cluster *c, struct decider *d,
                        struct decision *out)
{
    if (!catch_up(k, c) || k->is_broken)
        return false;
    *out = k->class->has_key_filter ? buckets_decide(c, k->class, &k->buckets, d, false)
                                    : aspects_decide(c, &k->aspects, &k->buckets, d);
    return true;
}

void domain_view_done(struct domain_view *k)
{
    vec_done(&k->rows);
    buckets_done(&k->buckets);
    aspects_done(&k->aspects);
    vec_done(&k->key);
}
