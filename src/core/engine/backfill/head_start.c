/* When those who run will have ended, and from when on the head fits.
 *
 * The ends stand in a heap, so that finding the first few costs what those few cost. A head that
 * would fit nowhere if all had ended has looked at all of them: that is remembered until a node
 * changes (waiter.hopeless). */

#include "core/base/hash.h"
#include "core/engine/backfill/line.h"
#include "core/framework/preempt.h"
#include "core/framework/row.h"
#include "core/model/run_time.h"

enum { UNKNOWN_RUN_MS = 600000, LEAST_MORE_MS = 1000 };

static bool ends_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct engine *k = ctx;
    int64_t x = k->lines->expected_ends.at[a].end_ms, y = k->lines->expected_ends.at[b].end_ms;
    return x != y ? x < y : k->units.at[a].arrival < k->units.at[b].arrival;
}

/* --- how long --- */

/* The same in every life: by names, whatever their numbers are. */
static uint64_t size_of(const struct cluster *c, const struct pod_request *ask)
{
    uint64_t hash = hash_pair((uint64_t)ask->cpu_milli, (uint64_t)ask->memory);
    for (uint32_t i = 0; i < ask->n_others; i++) {
        struct str name =
            names_text(&c->names, c->specs.resources.names.at[ask->others[i].resource]);
        hash += hash_pair(str_hash(name), (uint64_t)ask->others[i].amount);
    }
    return hash;
}

static struct kin kin_of(const struct engine *k, pod_id pod)
{
    const struct cluster *c = k->cluster;
    uint64_t size = size_of(c, &cluster_spec(c, pod)->ask);
    uint32_t gang = engine_gang_of(k, pod);
    if (gang != ID_NONE)
        size = hash_pair(size, (uint64_t)group_minimum(&c->groups.at.at[gang]));
    uint64_t namespace = str_hash(names_text(&c->names, pods_shape(&c->pods, pod)->namespace));
    uint64_t stem = str_hash(name_stem(pod_name(pods_at(&c->pods, pod))));
    return (struct kin){{hash_pair(hash_pair(namespace, stem), size), hash_pair(1, size), 0}};
}

static struct expected_end *expected_end_of(struct engine *k, pod_id pod)
{
    if (pod.i >= k->lines->expected_ends.n)
        vec_resize(&k->lines->expected_ends, pod.i + 1);
    return &k->lines->expected_ends.at[pod.i];
}

/* In all, of one that has run for so long; 0: nobody knows. */
static int64_t expect_ms(const struct engine *k, pod_id pod, int64_t ran_ms)
{
    const struct lines *ls = k->lines;
    int64_t declared_ms = pod.i < ls->expected_ends.n ? ls->expected_ends.at[pod.i].declared_ms : 0;
    if (declared_ms > ran_ms)
        return declared_ms;
    return runtimes_expect_ms(&ls->runtimes, kin_of(k, pod), ran_ms);
}

int64_t engine_run_ms(const struct engine *k, pod_id pod)
{
    return expect_ms(k, pod, 0);
}

int64_t engine_learned_ms(const struct engine *k, struct str namespace, struct str name,
                          int64_t ran_ms)
{
    const struct cluster *c = k->cluster;
    pod_id pod = pods_find(&c->pods, names_find(&c->names, namespace), name);
    if (pod.i == ID_NONE || !runtimes_expect_ms(&k->lines->runtimes, kin_of(k, pod), 0))
        return 0;
    return runtimes_expect_ms(&k->lines->runtimes, kin_of(k, pod), ran_ms);
}

void engine_hear_run_time(struct engine *k, pod_id pod, const struct pod *from)
{
    if (lines_are_kept(k->lines))
        expected_end_of(k, pod)->declared_ms = pod_declared_ms(from);
}

/* --- expected ends --- */

static void add_expected_end(struct engine *k, pod_id pod, int64_t began_ms)
{
    struct expected_end *expected = expected_end_of(k, pod);
    int64_t run_ms = expect_ms(k, pod, MAX(k->now_ms - began_ms, (int64_t)0));
    expected->began_ms = began_ms;
    expected->end_ms = MAX(began_ms + (run_ms ? run_ms : UNKNOWN_RUN_MS), k->now_ms);
    heap_add(&k->lines->ends, pod.i);
}

void engine_renew_expected_ends(struct engine *k)
{
    struct heap *ends = &k->lines->ends;
    VEC(uint32_t) pods = {0};
    for (uint32_t i = 0; i < ends->n; i++)
        vec_push(&pods, ends->at[i]);
    vec_each(&pods, pod) {
        heap_remove(ends, *pod);
        add_expected_end(k, (pod_id){*pod}, k->lines->expected_ends.at[*pod].began_ms);
    }
    vec_done(&pods);
    vec_each(&k->lines->at, l)
        l->is_stale = true;
}

void engine_begin_expected_ends(struct engine *k)
{
    const struct pods *pods = &k->cluster->pods;
    k->lines->ends.before = ends_before;
    k->lines->ends.ctx = k;
    for (uint32_t i = 0; i < pods->rows.n; i++) {
        const struct pod_row *row = &pods->rows.at[i];
        bool is_slot = engine_is_slot(k, i); /* whose end is no pod's */
        if (!row->text || row->node == ID_NONE || is_slot || heap_has(&k->lines->ends, i))
            continue;
        add_expected_end(k, (pod_id){i},
                         row->start_ms == TIME_NONE ? k->units.at[i].first_ms : row->start_ms);
    }
}

void engine_expect_end(struct engine *k, pod_id pod)
{
    struct lines *ls = k->lines;
    if (LIKELY(!lines_are_kept(ls)) || heap_has(&ls->ends, pod.i))
        return;
    const struct pod_row *row = pods_at(&k->cluster->pods, pod);
    bool has_begun = row->start_ms != TIME_NONE && row->start_ms <= k->now_ms;
    add_expected_end(k, pod, has_begun ? row->start_ms : k->now_ms);
    vec_each(&ls->at, l)
        if (l->args && l->head != ID_NONE && ls->expected_ends.at[pod.i].end_ms <= l->start_ms)
            vec_push(&l->ends, pod);
    vec_each(&ls->at, l)
        vec_each(&l->heads, head)
            if (ls->expected_ends.at[pod.i].end_ms <= (*head)->start_ms)
                vec_push(&(*head)->ends, pod);
}

static void forget_end(struct line *l, pod_id pod)
{
    for (uint32_t i = l->ends.n; i-- > 0;)
        if (l->ends.at[i].i == pod.i)
            vec_remove(&l->ends, i);
}

void engine_forget_expected_end(struct engine *k, pod_id pod)
{
    struct lines *ls = k->lines;
    if (LIKELY(!lines_are_kept(ls)) || !heap_has(&ls->ends, pod.i))
        return;
    heap_remove(&ls->ends, pod.i);
    vec_each(&ls->at, l) {
        forget_end(l, pod);
        vec_each(&l->heads, head)
            forget_end(*head, pod);
    }
}

void engine_learn_run_time(struct engine *k, pod_id pod)
{
    struct lines *ls = k->lines;
    if (LIKELY(!lines_are_kept(ls)) || !heap_has(&ls->ends, pod.i) ||
        pods_at(&k->cluster->pods, pod)->flags & POD_TERMINATING)
        return;
    uint32_t group = engine_gang_of(k, pod);
    if (group != ID_NONE && k->cluster->groups.at.at[group].ended)
        return; /* a gang's run time is noted once */
    if (k->now_ms <= ls->expected_ends.at[pod.i].began_ms)
        return;
    runtimes_note(&ls->runtimes, kin_of(k, pod), k->now_ms - ls->expected_ends.at[pod.i].began_ms);
    engine_save_run_times(k);
}

/* Those who have outlived what was expected of them get a later end. */
static void put_off_overdue(struct engine *k)
{
    struct heap *ends = &k->lines->ends;
    while (ends->n && k->lines->expected_ends.at[ends->at[0]].end_ms <= k->now_ms) {
        pod_id pod = {ends->at[0]};
        struct expected_end *expected = &k->lines->expected_ends.at[pod.i];
        int64_t end_ms = expected->began_ms + expect_ms(k, pod, k->now_ms - expected->began_ms);
        expected->end_ms = MAX(end_ms, k->now_ms + LEAST_MORE_MS);
        heap_fix(ends, pod.i);
    }
}

/* --- the head start --- */

static bool fits_on(struct engine *k, const struct class *class, pod_id pod, uint32_t node)
{
    struct cluster *c = k->cluster;
    return nodes_is_present(&c->nodes, (node_id){node}) &&
           preempt_concerns(c, class, (node_id){node}, pod) &&
           !row_verdict(c, class, (node_id){node}, pod);
}

static struct class *class_of(struct engine *k, uint32_t unit)
{
    return classes_of(&k->classes, pods_at(&k->cluster->pods, (pod_id){unit})->shape);
}

/* Does the unit find room if these have ended? A pod is judged only where one of them was. */
static bool fits_after(struct engine *k, uint32_t unit, const pod_id *ended, uint32_t n)
{
    struct cluster *c = k->cluster;
    const struct class *class = class_of(k, unit);
    vec_clear(&k->lines->nodes);
    k->lines->planner.mem = &k->lines->mem;
    struct txn trial = txn_begin(c);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = pods_at(&c->pods, ended[i])->node;
        cluster_take(c, ended[i]);
        if (k->lines->nodes.n == 0 || vec_last(&k->lines->nodes) != node)
            vec_push(&k->lines->nodes, node);
    }
    bool is_gang = engine_gang_led_by(k, unit);
    bool fits = is_gang && engine_gang_fits(k, &k->lines->planner, unit);
    for (uint32_t i = k->lines->nodes.n; i-- > 0 && !fits && !is_gang;)
        fits = fits_on(k, class, (pod_id){unit}, k->lines->nodes.at[i]);
    txn_undo(c, trial);
    return fits;
}

/* The next to end, with all of its gang that end at that time. */
static void take_next(struct engine *k, struct line *l)
{
    const struct groups *groups = &k->cluster->groups;
    struct heap *ends = &k->lines->ends;
    uint32_t group = groups_of(groups, (pod_id){ends->at[0]});
    int64_t end_ms = k->lines->expected_ends.at[ends->at[0]].end_ms;
    do {
        vec_push(&l->ends, (pod_id){heap_take(ends)});
    } while (ends->n && group != ID_NONE && groups_of(groups, (pod_id){ends->at[0]}) == group &&
             k->lines->expected_ends.at[ends->at[0]].end_ms == end_ms);
    vec_push(&l->steps, l->ends.n);
}

/* How many steps it takes until the unit fits: more and more of them, then less; 0: all together do
 * not do. */
static uint32_t find_step(struct engine *k, struct line *l, uint32_t unit)
{
    uint32_t low = 0, high = 1; /* too few; enough, perhaps */
    for (;; low = high, high *= 2) {
        while (l->steps.n < high && k->lines->ends.n)
            take_next(k, l);
        high = MIN(high, l->steps.n);
        if (high == low)
            return 0;
        if (fits_after(k, unit, l->ends.at, l->steps.at[high - 1]))
            break;
    }
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fits_after(k, unit, l->ends.at, l->steps.at[middle - 1]))
            high = middle;
        else
            low = middle;
    }
    return high;
}

bool engine_make_head(struct engine *k, struct line *l, uint32_t unit)
{
    const struct class *class = class_of(k, unit);
    if (class->error.n || class->refusal)
        return false;
    vec_clear(&l->ends);
    vec_clear(&l->steps);
    put_off_overdue(k);
    uint32_t step = find_step(k, l, unit);
    vec_each(&l->ends, pod)
        heap_add(&k->lines->ends, pod->i);
    if (step == 0)
        return false;
    l->ends.n = l->steps.at[step - 1];
    l->head = unit;
    l->start_ms = k->lines->expected_ends.at[vec_last(&l->ends).i].end_ms;
    k->lines->serial++;
    return true;
}

bool engine_keeps_head_start(struct engine *k, const struct line *l)
{
    return fits_after(k, l->head, l->ends.at, l->ends.n);
}
