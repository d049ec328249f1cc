/* A bucket's heap is 8-ary, its slots are single numbers: row score above, then the first bits of
 * the tie order (inverted), then the node. So a slot's children fill one cache line, a heap of a
 * million is seven lines deep, and comparing touches nothing else, except for nodes that are equal
 * in score and in those bits of their tie order. The order is strict and total, hence a heap's
 * history cannot show. */

#include "core/framework/view.h"

#include "core/framework/aspect.h"
#include "core/framework/row.h"

enum { WINDOW = 4096, MOST_BUCKETS = 4096, LEAST_LAG = 64, WAYS = 8, MOST_WASTED = 8 };

enum { NODE_BITS = 22, TIE_BITS = 22, LOCAL_BITS = 20, LEAD = WAYS - 1 };
_Static_assert(NODE_BITS + TIE_BITS + LOCAL_BITS == 64, "a slot is one number");

struct view_heap {
    uint64_t *at; /* LEAD numbers before it are unused: so at[1] lies on a cache line's border */
    uint32_t n, cap;
};

/* What a view holds of a node; read together, so kept together. */
struct view_row {
    uint32_t home; /* as in a scan: ID_NONE, a bucket, or SCAN_REFUSED | reason */
    uint32_t slot; /* where in its bucket's heap */
    int32_t local; /* its row score */
};

struct view {
    struct class *class;
    uint64_t seen;    /* read the log up to here */
    uint64_t made_at; /* its first decision */
    uint64_t used_at; /* … and its last */
    uint32_t cap;     /* nodes it has rows for */
    struct view_row *rows;
    struct buckets buckets;
    struct aspects aspects;      /* of a class without key filters */
    VEC(struct view_heap) heaps; /* by bucket */
    struct why refused;          /* nodes per reason */
    uint32_t refused_last;       /* line of it that was counted on */
    size_t bytes;
    bool is_broken; /* some node's score is none: the scan says how to fail */
};

/* --- heaps --- */

static uint64_t slot_of(const struct cluster *c, uint32_t node, int32_t local)
{
    int32_t least = -(1 << (LOCAL_BITS - 1)); /* where ROW_BROKEN goes, too */
    uint64_t score = (uint64_t)(MAX(local, least) - least);
    uint64_t tie = ~c->nodes.tie_order[node] >> (64 - TIE_BITS);
    return (score << TIE_BITS | tie) << NODE_BITS | node;
}

static int32_t local_of(uint64_t slot)
{
    return (int32_t)(slot >> (TIE_BITS + NODE_BITS)) - (1 << (LOCAL_BITS - 1));
}

static uint32_t node_of(uint64_t slot)
{
    return (uint32_t)slot & ((1u << NODE_BITS) - 1);
}

static bool slot_before(const struct cluster *c, uint64_t a, uint64_t b)
{
    if (LIKELY((a ^ b) >> NODE_BITS))
        return a > b;
    return a != b && cluster_wins_tie(c, node_of(a), node_of(b));
}

static void put(struct view *v, struct view_heap *h, uint32_t i, uint64_t slot)
{
    h->at[i] = slot;
    v->rows[node_of(slot)].slot = i;
}

/* Moves what is at `i` up to where it belongs; returns where that is. */
static uint32_t rise(const struct cluster *c, struct view *v, struct view_heap *h, uint32_t i)
{
    uint64_t slot = h->at[i];
    for (uint32_t up; i > 0; i = up) {
        up = (i - 1) / WAYS;
        if (!slot_before(c, slot, h->at[up]))
            break;
        put(v, h, i, h->at[up]);
    }
    put(v, h, i, slot);
    return i;
}

/* The first in order of some slots. Which one that is cannot be foreseen, so the way there does not
 * branch on it, unless there may be a tie. */
static uint32_t first_of(const struct cluster *c, const struct view_heap *h, uint32_t i,
                         uint32_t end)
{
    uint32_t first = i;
    uint64_t top = h->at[i];
    bool may_tie = false;
    for (uint32_t k = i + 1; k < end; k++) {
        uint64_t slot = h->at[k];
        may_tie |= !((slot ^ top) >> NODE_BITS);
        first = slot > top ? k : first;
        top = slot > top ? slot : top;
    }
    for (uint32_t k = i; UNLIKELY(may_tie) && k < end; k++)
        first = slot_before(c, h->at[k], h->at[first]) ? k : first;
    return first;
}

static void sink(const struct cluster *c, struct view *v, struct view_heap *h, uint32_t i)
{
    uint64_t slot = h->at[i];
    for (uint32_t child; i * WAYS + 1 < h->n; i = child) {
        child = first_of(c, h, i * WAYS + 1, MIN(i * WAYS + 1 + WAYS, h->n));
        if (!slot_before(c, h->at[child], slot))
            break;
        put(v, h, i, h->at[child]);
    }
    put(v, h, i, slot);
}

static void append(struct view *v, uint32_t bucket, uint64_t slot)
{
    struct view_heap *h = &v->heaps.at[bucket];
    if (h->n == 0)
        buckets_wake(&v->buckets, bucket);
    if (h->n == h->cap) {
        uint32_t cap = h->cap ? h->cap + h->cap / 4 + WAYS : 2 * WAYS + 1;
        uint64_t *block = h->at ? h->at - LEAD : NULL;
        block = mem_resize_aligned(block, block ? (LEAD + h->n) * sizeof(slot) : 0,
                                   (LEAD + cap) * sizeof(slot));
        v->bytes += (cap - h->cap) * sizeof(slot);
        h->at = block + LEAD;
        h->cap = cap;
    }
    put(v, h, h->n++, slot);
    aspects_count(&v->aspects, bucket, +1);
}

/* Tells the bucket what its heap has come to. */
static void note(struct view *v, uint32_t bucket)
{
    const struct view_heap *h = &v->heaps.at[bucket];
    struct bucket *b = &v->buckets.at.at[bucket];
    if (h->n == 0)
        return;
    b->nodes = h->n;
    b->best = node_of(h->at[0]);
    b->local = local_of(h->at[0]);
}

static void heap_out(const struct cluster *c, struct view *v, uint32_t bucket, uint32_t node)
{
    struct view_heap *h = &v->heaps.at[bucket];
    uint32_t i = v->rows[node].slot, last = --h->n;
    if (h->n == 0)
        buckets_rest(&v->buckets, bucket);
    aspects_count(&v->aspects, bucket, -1);
    if (i != last) {
        put(v, h, i, h->at[last]);
        if (rise(c, v, h, i) == i)
            sink(c, v, h, i);
    }
    note(v, bucket);
}

static struct view_heap *heap_of(struct view *v, uint32_t bucket)
{
    if (bucket >= v->heaps.n) {
        vec_resize(&v->heaps, bucket + 1);
        aspects_add(&v->aspects, buckets_key(&v->buckets, bucket));
    }
    return &v->heaps.at[bucket];
}

/* --- rows --- */

static bool is_bucket(uint32_t home)
{
    return !(home & SCAN_REFUSED);
}

static void count_refused(struct view *v, uint32_t home, int sign)
{
    reason_id reason = home & ~SCAN_REFUSED;
    struct why_line *lines = v->refused.lines.at;
    uint32_t i = v->refused_last; /* the next is mostly told the same */
    if (i >= v->refused.lines.n || lines[i].reason != reason)
        for (i = 0; i < v->refused.lines.n && lines[i].reason != reason;)
            i++;
    v->refused_last = i;
    if (i < v->refused.lines.n) {
        lines[i].nodes += (uint32_t)sign;
        return;
    }
    assert(sign > 0);
    vec_push(&v->refused.lines, (struct why_line){reason, 1});
}

/* Where the node is now in mind, it leaves. */
static void leave(const struct cluster *c, struct view *v, uint32_t node)
{
    uint32_t home = v->rows[node].home;
    if (home == ID_NONE)
        return;
    if (is_bucket(home))
        heap_out(c, v, home, node);
    else
        count_refused(v, home, -1);
    v->rows[node].home = ID_NONE;
}

static void enter_refused(const struct cluster *c, struct view *v, uint32_t node, reason_id reason)
{
    uint32_t home = SCAN_REFUSED | reason;
    if (v->rows[node].home == home)
        return;
    leave(c, v, node);
    v->rows[node].home = home;
    count_refused(v, home, +1);
}

static void enter_bucket(const struct cluster *c, struct view *v, uint32_t node, uint32_t bucket,
                         int32_t local)
{
    struct view_row *row = &v->rows[node];
    if (row->home == bucket) {
        if (row->local == local)
            return;
        struct view_heap *h = &v->heaps.at[bucket];
        bool rises = local > row->local;
        row->local = local;
        h->at[row->slot] = slot_of(c, node, local);
        if (rises)
            rise(c, v, h, row->slot);
        else
            sink(c, v, h, row->slot);
        note(v, bucket);
        return;
    }
    leave(c, v, node);
    struct view_heap *h = heap_of(v, bucket);
    row->home = bucket;
    row->local = local;
    append(v, bucket, slot_of(c, node, local));
    rise(c, v, h, h->n - 1);
    note(v, bucket);
}

/* Nothing that led to the refusal has changed. */
static bool stays_refused(const struct view *v, const struct reasons *reasons, uint32_t home,
                          uint32_t columns)
{
    if (home == ID_NONE || is_bucket(home) || columns & (COLUMN_PRESENCE | COLUMN_NOMINATED))
        return false;
    uint32_t plugin = reasons_at(reasons, home & ~SCAN_REFUSED)->plugin;
    return plugin < 64 && !(v->class->columns_until[plugin] & columns);
}

/* The bucket of a node that has none. */
static uint32_t first_bucket(struct views *all, struct view *v, node_id node)
{
    if (v->buckets.n_keys == 0 && v->buckets.at.n) /* there is but one */
        return 0;
    row_key(all->cluster, v->class, node, COLUMN_ALL, all->key.at);
    return buckets_get(&v->buckets, all->key.at);
}

/* The bucket that the node belongs in now: mostly the one it is in. */
static uint32_t find_bucket(struct views *all, struct view *v, node_id node, uint32_t columns)
{
    uint32_t home = v->rows[node.i].home;
    size_t bytes = v->buckets.n_keys * sizeof(uint32_t);
    if (!is_bucket(home))
        return first_bucket(all, v, node);
    const uint32_t *had = buckets_key(&v->buckets, home);
    memcpy(all->key.at, had, bytes);
    row_key(all->cluster, v->class, node, columns, all->key.at);
    return memcmp(all->key.at, had, bytes) == 0 ? home : buckets_get(&v->buckets, all->key.at);
}

static void refresh(struct views *all, struct view *v, node_id node, uint32_t columns)
{
    struct cluster *c = all->cluster;
    uint8_t flags = c->nodes.flags[node.i];
    if (UNLIKELY(!(flags & NODE_PRESENT) || columns & COLUMN_PRESENCE))
        leave(c, v, node.i);
    if (UNLIKELY(!(flags & NODE_PRESENT)))
        return;
    uint32_t home = v->rows[node.i].home;
    if (LIKELY(!(flags & NODE_NOMINATED)) && stays_refused(v, all->reasons, home, columns))
        return;
    reason_id reason = row_look(c, v->class, node, columns, is_bucket(home));
    if (reason) {
        enter_refused(c, v, node.i, reason);
        return;
    }
    if (home & SCAN_REFUSED || columns & v->class->key_columns) /* also where it had no home */
        home = find_bucket(all, v, node, columns);
    int32_t local = row_score(c, v->class, node);
    v->is_broken |= local == ROW_BROKEN;
    enter_bucket(c, v, node.i, home, local);
}

/* --- building and catching up --- */

/* A row for every number, those not handed out included: an undone claim may be in the log. */
static void grow_rows(struct view *v, const struct cluster *c)
{
    if (c->nodes.cap <= v->cap)
        return;
    v->bytes += (c->nodes.cap - v->cap) * sizeof(*v->rows);
    v->rows = mem_resize(v->rows, c->nodes.cap * sizeof(*v->rows));
    for (; v->cap < c->nodes.cap; v->cap++)
        v->rows[v->cap].home = ID_NONE;
}

/* What filters and scores will look at beside the arrays by node. */
static void prefetch_row(const struct cluster *c, uint32_t node)
{
    __builtin_prefetch(c->nodes.room[node].cells);
    __builtin_prefetch(c->nodes.gpus[node]);
}

static void clear_heaps(struct view *v)
{
    vec_each(&v->heaps, h) {
        if (h->at)
            mem_free(h->at - LEAD);
        v->bytes -= h->cap * sizeof(*h->at);
    }
    vec_clear(&v->heaps);
}

static void fill_bucket(struct view *v, const struct cluster *c, uint32_t node, uint32_t bucket,
                        int32_t local)
{
    struct view_row *row = &v->rows[node];
    row->home = bucket;
    row->local = local;
    v->is_broken |= local == ROW_BROKEN;
    heap_of(v, bucket);
    append(v, bucket, slot_of(c, node, local));
}

static void fill_refused(struct view *v, uint32_t node, reason_id reason)
{
    v->rows[node].home = SCAN_REFUSED | reason;
    count_refused(v, v->rows[node].home, +1);
}

/* Those that no strip has. */
static void fill_rest(struct view *v, const struct cluster *c)
{
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (v->rows[i].home == ID_NONE && c->nodes.flags[i] & NODE_PRESENT)
            fill_refused(v, i, sweep_refusal(v->class, i));
}

static void fill(struct views *all, struct view *v)
{
    struct cluster *c = all->cluster;
    const struct strip *t = &all->scan->sweep.strip;
    sweep_begin(&all->scan->sweep, &all->scan->facets, c, v->class, &v->buckets, (pod_id){ID_NONE});
    while (sweep_next(&all->scan->sweep)) {
        for (uint32_t i = 0; i < t->n; i++)
            fill_bucket(v, c, t->node[i], t->bucket[i], t->local[i]);
        for (uint32_t i = 0; i < t->n_refused; i++)
            fill_refused(v, t->refused[i], t->why[i]);
    }
    fill_rest(v, c);
}

/* All rows from scratch; heaps are put in order once they are full. */
static void build(struct views *all, struct view *v)
{
    struct cluster *c = all->cluster;
    clear_heaps(v);
    if (!v->class->has_key_filter)
        aspects_reset(&v->aspects, v->class);
    why_clear(&v->refused);
    v->is_broken = false;
    grow_rows(v, c);
    for (uint32_t i = 0; i < v->cap; i++)
        v->rows[i].home = ID_NONE;
    fill(all, v);
    vec_each(&v->heaps, h)
        for (uint32_t i = (h->n + WAYS - 2) / WAYS; i-- > 0;)
            sink(c, v, h, i);
    for (uint32_t i = 0; i < v->heaps.n; i++)
        note(v, i);
    v->seen = c->log.end;
    all->stats.built++;
}

/* Memory is slow and the rows lie apart: first ask for what a handful of entries will touch, then
 * work on them. */
enum { BATCH = 32 };

struct pending {
    node_id node;
    uint32_t columns;
};

/* The next entries that matter to the view, at most BATCH; moves `seen` past those looked at. */
static uint32_t gather(const struct cluster *c, struct view *v, uint32_t reads, struct pending *out)
{
    const struct change_entry *ring = c->log.ring;
    const uint64_t *newest = c->log.newest;
    uint64_t mask = c->log.size - 1, seen = v->seen, end = MIN(c->log.end, seen + BATCH);
    uint32_t n = 0;
    for (uint64_t p = seen; p < end; p++)
        __builtin_prefetch(&newest[ring[p & mask].node]);
    for (; seen < end; seen++) {
        uint32_t node = ring[seen & mask].node, columns = ring[seen & mask].columns & reads;
        uint64_t last = newest[node];
        if (columns == 0 || (last != seen && !(columns & ~ring[last & mask].columns)))
            continue; /* a later entry of the node says as much */
        __builtin_prefetch(&v->rows[node]);
        __builtin_prefetch(&c->nodes.room[node]);
        __builtin_prefetch(&c->nodes.flags[node]);
        out[n++] = (struct pending){{node}, columns};
    }
    v->seen = end;
    return n;
}

/* What moving the slot will look at first; mostly it sinks, for nodes fill up. */
static void prefetch_heap(const struct view_heap *h, uint32_t slot)
{
    __builtin_prefetch(&h->at[slot]);
    if (slot * WAYS + 1 < h->n)
        __builtin_prefetch(&h->at[slot * WAYS + 1]);
}

static void refresh_all(struct views *all, struct view *v, const struct pending *batch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct view_row *row = &v->rows[batch[i].node.i];
        if (!(row->home & SCAN_REFUSED))
            prefetch_heap(&v->heaps.at[row->home], row->slot);
        prefetch_row(all->cluster, batch[i].node.i);
    }
    for (uint32_t i = 0; i < n; i++)
        refresh(all, v, batch[i].node, batch[i].columns);
    all->stats.rows += n;
}

static void catch_up(struct views *all, struct view *v)
{
    const struct cluster *c = all->cluster;
    uint32_t reads =
        v->class->row_columns | v->class->key_columns | COLUMN_PRESENCE | COLUMN_NOMINATED;
    struct pending batch[BATCH];
    grow_rows(v, c);
    while (v->seen < c->log.end)
        refresh_all(all, v, batch, gather(c, v, reads, batch));
}

/* Have more nodes changed than it is worth to look at one by one? */
static bool lags(const struct view *v, const struct cluster *c)
{
    const struct change_log *log = &c->log;
    uint64_t most = MAX((uint64_t)LEAST_LAG, c->nodes.present / 8), changed = 0;
    if (v->seen < log->oldest)
        return true;
    if (v->class->is_costly || log->end - v->seen <= most)
        return false;
    for (uint64_t p = v->seen; p < log->end && changed <= most; p++)
        changed += log->newest[change_log_at(log, p)->node] == p;
    return changed > most;
}

/* --- which classes have one --- */

static void drop_at(struct views *all, uint32_t i)
{
    struct view *v = all->at.at[i];
    all->bytes -= v->bytes;
    v->class->view = NULL;
    clear_heaps(v);
    vec_done(&v->heaps);
    buckets_done(&v->buckets);
    aspects_done(&v->aspects);
    why_done(&v->refused);
    mem_free(v->rows);
    mem_free(v);
    all->at.at[i] = vec_last(&all->at);
    all->at.n--;
}

void views_drop(struct views *all, struct class *class)
{
    for (uint32_t i = 0; i < all->at.n; i++)
        if (all->at.at[i]->class == class) {
            drop_at(all, i);
            return;
        }
}

void views_trim(struct views *all)
{
    for (uint32_t i = all->at.n; i > 0; i--)
        if (lags(all->at.at[i - 1], all->cluster))
            drop_at(all, i - 1);
    vec_trim(&all->at);
}

static size_t budget(const struct views *all)
{
    if (all->budget_bytes)
        return all->budget_bytes;
    return MAX((size_t)all->cluster->nodes.present * 1024, (size_t)4 << 20);
}

static bool is_full(const struct views *all, size_t more)
{
    return (all->most && all->at.n + 1 > all->most) || all->bytes + more > budget(all);
}

/* Is the class asked so often that a view of it may take the place of others? Each view that went
 * before it was used again makes a longer row of decisions necessary. */
static bool comes_back(const struct views *all, const struct class *class)
{
    return class->decided_before && all->decisions - class->decided_before <= WINDOW &&
           class->views.in_a_row >= 2 * class->views.wasted;
}

/* Makes room by dropping views that were idle for longer than the class; false if that is not
 * enough. */
static bool make_room(struct views *all, const struct class *class, size_t more)
{
    while (is_full(all, more)) {
        uint32_t oldest = ID_NONE;
        for (uint32_t i = 0; i < all->at.n; i++)
            if (oldest == ID_NONE || all->at.at[i]->used_at < all->at.at[oldest]->used_at)
                oldest = i;
        if (!comes_back(all, class) || oldest == ID_NONE ||
            all->at.at[oldest]->used_at >= class->decided_before)
            return false;
        struct view *v = all->at.at[oldest];
        if (v->used_at == v->made_at)
            v->class->views.wasted = MIN(v->class->views.wasted + 1, (uint32_t)MOST_WASTED);
        else
            v->class->views.wasted = 0;
        drop_at(all, oldest);
        all->stats.evicted++;
    }
    return true;
}

static struct view *make_view(struct views *all, struct class *class)
{
    const struct cluster *c = all->cluster;
    size_t estimate = (size_t)c->nodes.n * (sizeof(struct view_row) + sizeof(uint64_t) * 5 / 4);
    if (class->only || class->is_pinned || all->decisions < class->views.scanned_until ||
        !make_room(all, class, estimate))
        return NULL;
    struct view *v = mem_alloc(sizeof(*v));
    v->class = class;
    v->made_at = all->decisions;
    class->view = v;
    vec_push(&all->at, v);
    return v;
}

static bool has_too_many_buckets(const struct view *v, const struct cluster *c)
{
    return v->buckets.at.n > MIN((uint32_t)MOST_BUCKETS, MAX(64u, c->nodes.present / 8));
}

void views_tick(struct views *all, struct class *class)
{
    all->decisions++;
    class->decided_before = class->decided_at;
    class->decided_at = all->decisions;
    bool is_soon = all->decisions - class->decided_before <= all->at.n;
    class->views.in_a_row = class->decided_before && is_soon ? class->views.in_a_row + 1 : 0;
}

/* Brings the view up to date; false if it is no good any more. */
static bool update(struct views *all, struct view *v)
{
    size_t was = v->bytes;
    vec_resize(&all->key, v->class->n_keys + 1);
    bool is_fresh = v->seen == 0 || lags(v, all->cluster);
    if (!is_fresh)
        catch_up(all, v);
    if (is_fresh || has_too_many_buckets(v, all->cluster)) /* most of them may be empty by now */
        build(all, v);
    all->bytes += v->bytes - was;
    all->cluster->log.read_up_to = MAX(all->cluster->log.read_up_to, v->seen);
    return !has_too_many_buckets(v, all->cluster) && !v->is_broken;
}

/* Is the class asked so seldom that its view would have to be built for each decision? Then a scan
 * costs less. Pods of a class often come together: it gets a view at the second of them. */
static bool is_seldom(struct views *all, struct class *class)
{
    if (class->view && class->view->seen && lags(class->view, all->cluster)) {
        views_drop(all, class);
        class->views.lagged = true;
    }
    uint64_t between = all->decisions - class->decided_before;
    if (class->views.lagged && between > all->cluster->nodes.present / 8)
        return true;
    class->views.lagged = false;
    return false;
}

bool views_decide(struct views *all, struct class *class, struct decision *out)
{
    struct cluster *c = all->cluster;
    bool fits_slots = c->nodes.n < 1 << NODE_BITS && class->most_row_score < 1 << (LOCAL_BITS - 1);
    if (!fits_slots || (class->reads_hostnames && c->nodes.shared_hostnames))
        return false;
    if (is_seldom(all, class))
        return false;
    struct view *v = class->view ? class->view : make_view(all, class);
    if (!v)
        return false;
    v->used_at = all->decisions;
    if (!update(all, v)) {
        class->views.scanned_until = all->decisions + WINDOW;
        views_drop(all, class);
        return false;
    }
    *out = class->has_key_filter ? buckets_decide(c, class, &v->buckets, &all->decider, false)
                                 : aspects_decide(c, &v->aspects, &v->buckets, &all->decider);
    return true;
}

void views_why(const struct views *all, const struct class *class, struct why *out)
{
    const struct view *v = class->view;
    why_clear(out);
    out->nodes = all->cluster->nodes.present;
    vec_each(&v->refused.lines, line)
        why_add(out, line->reason, line->nodes);
    vec_each(&v->buckets.live, i) {
        const struct bucket *b = &v->buckets.at.at[*i];
        if (b->refused)
            why_add(out, b->refused, b->nodes);
    }
}

/* The same bucket key and row score, or the same reason? */
static bool row_agrees(const struct view *v, const struct scan *s, const struct cluster *c,
                       uint32_t node)
{
    uint32_t mine = v->rows[node].home, theirs = scan_home(s, c, node);
    if (mine == ID_NONE || !is_bucket(mine) || !is_bucket(theirs))
        return mine == theirs;
    size_t bytes = v->buckets.n_keys * sizeof(uint32_t);
    return memcmp(buckets_key(&v->buckets, mine), buckets_key(&s->buckets, theirs), bytes) == 0 &&
           v->rows[node].local == row_score(c, v->class, (node_id){node}) &&
           v->heaps.at[mine].at[v->rows[node].slot] == slot_of(c, node, v->rows[node].local) &&
           v->buckets.at.at[mine].refused == s->buckets.at.at[theirs].refused;
}

bool views_agree(const struct views *all, const struct class *class, const struct scan *s)
{
    const struct cluster *c = all->cluster;
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (!row_agrees(class->view, s, c, i))
            return false;
    return true;
}

void views_done(struct views *all)
{
    while (all->at.n)
        drop_at(all, all->at.n - 1);
    vec_done(&all->at);
    decider_done(&all->decider);
    vec_done(&all->key);
}
