#include "core/framework/preempt.h"

#include <stdlib.h>

#define UNKNOWN UINT32_MAX /* a price that must be worked out */

bool harm_is_less(const struct harm *a, const struct harm *b)
{
    if (a->violations != b->violations)
        return a->violations < b->violations;
    if (a->highest != b->highest)
        return a->highest < b->highest;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    if (a->pods != b->pods)
        return a->pods < b->pods;
    return a->start_ms > b->start_ms;
}

static reason_id nobodys(struct classes *k, enum code code, const char *text)
{
    return reasons_keep(&k->reasons, 64, code, str_of(text));
}

/* --- one node --- */

/* A pod that may go, and what it comes back to. */
struct leaver {
    pod_id pod;
    uint32_t node;
    gpu_mask gpus;
};

/* Who goes or stays: a pod, or all pods of a group that goes as a whole, wherever they are. */
struct victim {
    uint32_t first, n;          /* victims.leavers */
    uint32_t group;             /* ID_NONE: it is in none */
    int32_t priority;           /* the highest of its pods' */
    int64_t sum;                /* of (priority + 2^31) */
    int64_t start_ms;           /* of the first of the highest */
    struct str namespace, name; /* so that the order is total */
    uint32_t violations;        /* of budgets, if it goes */
    bool is_slot;               /* nobody runs it */
    bool is_needed;             /* it cannot come back */
};

struct victims {
    VEC(struct victim) at;
    VEC(struct leaver) leavers;
};

static void victims_done(struct victims *v)
{
    vec_done(&v->at);
    vec_done(&v->leavers);
}

/* Upstream's order (nobody is less than somebody): what is in a group counts for more, and more
 * pods for more than fewer. */
static int by_importance(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    bool is_grouped = x->group != ID_NONE;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->is_slot != y->is_slot)
        return x->is_slot ? 1 : -1;
    if (is_grouped != (y->group != ID_NONE))
        return is_grouped ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    if (x->start_ms != y->start_ms)
        return x->start_ms < y->start_ms ? -1 : 1;
    int order = str_compare(x->namespace, y->namespace);
    return order ? order : str_compare(x->name, y->name);
}

static void add_leaver(const struct cluster *c, pod_id pod, struct victims *all, struct victim *to)
{
    const struct pod_row *row = &c->pods.rows.at[pod.i];
    const struct shape *shape = &c->pods.shapes.at[row->shape];
    int32_t priority = specs_at(&c->specs, shape->spec)->priority;
    int64_t start_ms = row->start_ms == TIME_NONE ? INT64_MAX : row->start_ms;
    struct str name = pod_name(row);
    if (to->n++ == 0) {
        to->namespace = names_text(&c->names, shape->namespace);
        to->name = name;
    }
    if (str_compare(name, to->name) < 0)
        to->name = name;
    if (to->n == 1 || priority > to->priority) {
        to->priority = priority;
        to->start_ms = start_ms;
    }
    if (priority == to->priority)
        to->start_ms = MIN(to->start_ms, start_ms);
    to->sum += (int64_t)priority + ((int64_t)1 << 31);
    to->violations += (row->flags & POD_GUARDED) != 0; /* as if a budget said so */
    to->is_slot = row->flags & POD_SLOT;
    vec_push(&all->leavers, ((struct leaver){pod, row->node, row->gpus}));
}

static bool has_group(const struct victims *all, uint32_t group)
{
    vec_each(&all->at, v)
        if (v->group == group)
            return true;
    return false;
}

/* The pod, or its whole group; false if that has been looked at. */
static bool gather(const struct cluster *c, const struct class *class, pod_id pod,
                   struct victims *all, struct victim *out)
{
    uint32_t id = class->gangs ? groups_of(&c->groups, pod) : ID_NONE;
    const struct group *group = id == ID_NONE ? NULL : &c->groups.at.at[id];
    *out = (struct victim){.first = all->leavers.n, .group = id};
    if (!group || !group->goes_whole) {
        add_leaver(c, pod, all, out);
        return true;
    }
    if (has_group(all, id))
        return false;
    vec_each(&group->members, i)
        if (c->pods.rows.at[*i].node != ID_NONE)
            add_leaver(c, (pod_id){*i}, all, out);
    return true;
}

/* Those on the node that are less important than the class, the most important first. A class that
 * evicts nobody takes what is held for such. */
static void find_victims(const struct cluster *c, const struct class *class, node_id node,
                         struct victims *out)
{
    const struct spec *spec = specs_at(&c->specs, class->spec);
    int32_t priority = spec->priority;
    for (uint32_t i = c->nodes.first_pod[node.i]; i != ID_NONE; i = c->pods.rows.at[i].after) {
        struct victim v;
        if (gather(c, class, (pod_id){i}, out, &v) && v.priority < priority &&
            (spec->preempts || v.is_slot))
            vec_push(&out->at, v);
    }
    if (out->at.n > 1)
        qsort(out->at.at, out->at.n, sizeof(*out->at.at), by_importance);
}

static void find_protected(struct cluster *c, struct victims *all)
{
    if (c->budgets.at.n == 0)
        return;
    int32_t *allowed = budgets_allowed(&c->budgets, &c->mem);
    vec_each(&all->at, v)
        for (uint32_t i = 0; i < v->n; i++)
            v->violations += !budgets_allow(c, all->leavers.at[v->first + i].pod, allowed);
    arena_reset(&c->mem);
}

static void take_off(struct cluster *c, const struct victims *all, const struct victim *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        cluster_take(c, all->leavers.at[v->first + i].pod);
}

static void put_back(struct cluster *c, const struct victims *all, const struct victim *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct leaver *l = &all->leavers.at[v->first + i];
        cluster_place_on_gpus(c, l->pod, (node_id){l->node}, l->gpus);
    }
}

/* Puts back whom the pod does not need gone: first the protected, then the others. */
static void reprieve(struct cluster *c, const struct class *class, node_id node, pod_id self,
                     struct victims *all)
{
    for (int pass = 0; pass < 2; pass++)
        vec_each(&all->at, v) {
            if ((v->violations > 0) == (pass == 1))
                continue;
            put_back(c, all, v);
            if (row_verdict(c, class, node, self)) {
                take_off(c, all, v);
                v->is_needed = true;
            }
        }
}

static struct harm harm_of(const struct victims *all)
{
    struct harm h = {.start_ms = INT64_MAX};
    vec_each(&all->at, v) {
        if (!v->is_needed)
            continue;
        if (h.pods == 0)
            h.highest = v->priority;
        h.pods += v->n;
        h.violations += v->violations;
        h.sum += v->sum;
        if (v->priority == h.highest)
            h.start_ms = MIN(h.start_ms, v->start_ms);
    }
    return h;
}

/* Upstream takes victims out of spread constraints, and puts them back, even if they are being
 * deleted and were never counted. */
static void suppose(struct cluster *c, const struct victims *all, bool is_so)
{
    vec_each(&all->at, v)
        for (uint32_t i = 0; i < v->n; i++) {
            struct pod_row *row = pods_at(&c->pods, all->leavers.at[v->first + i].pod);
            row->flags = is_so ? row->flags | POD_SUPPOSED : row->flags & ~(uint32_t)POD_SUPPOSED;
        }
}

/* Tries the node without them; they are back afterwards. Returns why the pod does not fit even so.
 */
static reason_id try_without(struct cluster *c, const struct class *class, node_id node,
                             pod_id self, struct victims *all)
{
    suppose(c, all, true);
    struct txn trial = txn_begin(c);
    vec_each(&all->at, v)
        take_off(c, all, v);
    reason_id reason = row_verdict(c, class, node, self);
    if (!reason) {
        find_protected(c, all);
        reprieve(c, class, node, self, all);
    }
    txn_undo(c, trial);
    suppose(c, all, false);
    return reason;
}

bool preempt_concerns(const struct cluster *c, const struct class *class, node_id node, pod_id self)
{
    sym name = c->nodes.name[node.i];
    if (class->is_pinned)
        return name == pods_at(&c->pods, self)->pin;
    return !class->only || class_names(class, name);
}

/* The pod fits though all came back: an odd filter, and so rare that the words may stay. */
static reason_id no_victim(struct classes *k, struct str node)
{
    AUTO(buf) text = {0};
    buf_printf(&text, "expected at least one victim pod on node \"" STR_FMT "\"", STR_ARG(node));
    return reasons_keep(&k->reasons, 64, CODE_ERROR, buf_str(&text));
}

struct price preempt_price(const struct price_caches *h, struct cluster *c, struct classes *k,
                           const struct class *class, node_id node, pod_id self,
                           struct pod_vec *out)
{
    struct price price = {0};
    reason_id reason = class->refusal ? class->refusal : row_verdict(c, class, node, self);
    bool may_help = reason ? reasons_at(&k->reasons, reason)->code == CODE_UNSCHEDULABLE
                           : h->refused_for_now && bits_has(h->refused_for_now, node.i);
    if (!preempt_concerns(c, class, node, self) || !may_help) {
        price.refusal = nobodys(k, CODE_UNRESOLVABLE, "Preemption is not helpful for scheduling");
        return price;
    }
    struct victims all = {0};
    find_victims(c, class, node, &all);
    if (all.at.n == 0)
        price.refusal =
            nobodys(k, CODE_UNRESOLVABLE, "No preemption victims found for incoming pod");
    else
        price.refusal = try_without(c, class, node, self, &all);
    if (!price.refusal)
        price.harm = harm_of(&all);
    if (!price.refusal && price.harm.pods == 0)
        price.refusal = no_victim(k, names_text(&c->names, c->nodes.name[node.i]));
    vec_each(&all.at, v)
        for (uint32_t i = 0; out && !price.refusal && v->is_needed && i < v->n; i++)
            vec_push(out, all.leavers.at[v->first + i].pod);
    victims_done(&all);
    return price;
}

/* --- all nodes --- */

static void forget(struct price_cache *h)
{
    vec_done(&h->prices);
    *h = (struct price_cache){0};
}

void price_caches_forget(struct price_caches *h, const struct class *class)
{
    for (uint32_t i = 0; i < MOST_PRICE_CACHES; i++)
        if (h->at[i].class == class)
            forget(&h->at[i]);
    if (h->of.class == class)
        h->of.class = NULL;
}

void price_caches_done(struct price_caches *h)
{
    for (uint32_t i = 0; i < MOST_PRICE_CACHES; i++)
        forget(&h->at[i]);
    vec_done(&h->once);
    heap_done(&h->order);
}

static uint32_t price_caches_allowed(uint32_t nodes)
{
    size_t most = (((size_t)32 << 20) + nodes * (size_t)256) / ((nodes + 1) * sizeof(struct price));
    return (uint32_t)MIN(MAX(most, (size_t)1), (size_t)MOST_PRICE_CACHES);
}

/* The class's own, or the one that was asked longest ago. */
static struct price_cache *price_cache_of(struct price_caches *h, struct class *class,
                                          uint32_t nodes)
{
    struct price_cache *oldest = &h->at[0];
    uint32_t allowed = price_caches_allowed(nodes);
    for (uint32_t i = allowed; i < MOST_PRICE_CACHES; i++)
        forget(&h->at[i]);
    for (uint32_t i = 0; i < allowed; i++) {
        if (h->at[i].class == class) {
            oldest = &h->at[i];
            break;
        }
        if (h->at[i].used < oldest->used)
            oldest = &h->at[i];
    }
    if (oldest->class != class) {
        forget(oldest);
        oldest->class = class;
    }
    oldest->used = ++h->asked;
    return oldest;
}

static void doubt(struct price_cache *h, uint32_t from)
{
    for (uint32_t i = from; i < h->prices.n; i++)
        h->prices.at[i].refusal = UNKNOWN;
}

/* Doubts the prices of nodes with pods whose budgets may have changed since the last time. */
static void mind_budgets(struct price_cache *h, const struct cluster *c)
{
    if (h->budgets_up_to == c->budgets.changes)
        return;
    for (uint32_t i = 0; i < c->pods.rows.n; i++) {
        const struct pod_row *row = &c->pods.rows.at[i];
        if (row->text && row->node != ID_NONE &&
            budgets_changed_since(&c->budgets, c->pods.shapes.at[row->shape].namespace,
                                  h->budgets_up_to))
            h->prices.at[row->node].refusal = UNKNOWN;
    }
    h->budgets_up_to = c->budgets.changes;
}

/* Doubts the prices of nodes that changed since the last time. */
static void catch_up(struct price_cache *h, struct cluster *c)
{
    struct change_log *log = &c->log;
    uint32_t reads =
        h->class->row_columns | COLUMN_USED | COLUMN_PRESENCE | COLUMN_NOMINATED | COLUMN_WORTH;
    uint32_t had = h->prices.n;
    vec_resize(&h->prices, c->nodes.n);
    doubt(h, had);
    if (h->read_up_to < log->oldest || log->end - h->read_up_to > log->size)
        doubt(h, 0);
    else
        for (; h->read_up_to < log->end; h->read_up_to++) {
            const struct change_entry *e = change_log_at(log, h->read_up_to);
            if (e->columns & reads && e->node < h->prices.n) /* a number may be given back */
                h->prices.at[e->node].refusal = UNKNOWN;
        }
    mind_budgets(h, c);
    h->read_up_to = log->end;
    log->read_up_to = MAX(log->read_up_to, log->end);
}

/* Prices a node, and finds out whether this go has another one. */
static void price_one(struct price_caches *h, struct cluster *c, struct classes *k,
                      const struct class *class, pod_id self, uint32_t node, struct price *out,
                      uint64_t *priced)
{
    *out = preempt_price(h, c, k, class, (node_id){node}, self, NULL);
    *priced += 1 + (uint64_t)MAX(c->nodes.room[node].pods_used, 0);
    h->is_unfinished = h->most && *priced >= h->most;
}

/* All prices that are not known, as far as this go may. */
static void fill(struct price_caches *h, struct cluster *c, struct classes *k,
                 const struct class *class, pod_id self, struct price *prices)
{
    uint64_t priced = 0;
    for (uint32_t i = 0; i < c->nodes.n && !h->is_unfinished; i++)
        if (prices[i].refusal == UNKNOWN && nodes_is_present(&c->nodes, (node_id){i}))
            price_one(h, c, k, class, self, i, &prices[i], &priced);
}

/* Does a group go as a whole? Then what a node costs depends on others as well. */
static bool groups_go_whole(const struct cluster *c, const struct class *class)
{
    if (!class->gangs)
        return false;
    vec_each(&c->groups.at, group)
        if (group->goes_whole && group->members.n)
            return true;
    return false;
}

/* The least that evicting on the node can cost: one of its least important pods, the one that
 * started last. False if nobody there is less important than the class. */
static bool least_harm(const struct cluster *c, int32_t priority, uint32_t node, struct harm *out)
{
    *out = (struct harm){.highest = INT32_MAX, .pods = 1};
    for (uint32_t i = c->nodes.first_pod[node]; i != ID_NONE; i = c->pods.rows.at[i].after) {
        const struct pod_row *row = &c->pods.rows.at[i];
        int32_t its = specs_at(&c->specs, c->pods.shapes.at[row->shape].spec)->priority;
        int64_t start_ms = row->start_ms == TIME_NONE ? INT64_MAX : row->start_ms;
        if (its >= priority || its > out->highest)
            continue;
        out->start_ms = its < out->highest ? start_ms : MAX(out->start_ms, start_ms);
        out->highest = its;
    }
    out->sum = (int64_t)out->highest + ((int64_t)1 << 31);
    return out->highest < priority;
}

/* Does node `a` cost less than `b`, by what they cost or cost at least? */
static bool is_cheaper(const void *ctx, uint32_t a, uint32_t b)
{
    const struct price_caches *h = ctx;
    const struct harm *x = &h->once.at[a].harm, *y = &h->once.at[b].harm;
    return harm_is_less(x, y) || (!harm_is_less(y, x) && cluster_wins_tie(h->cluster, a, b));
}

static struct once once_now(const struct cluster *c, const struct class *class, pod_id self)
{
    return (struct once){class, self.i, c->log.end, c->budgets.changes, c->groups.changes};
}

static bool is_same_once(const struct once *a, const struct once *b)
{
    return a->class == b->class && a->pod == b->pod && a->at == b->at && a->budgets == b->budgets &&
           a->groups == b->groups;
}

static void begin_once(struct price_caches *h, struct cluster *c, const struct class *class,
                       pod_id self)
{
    int32_t priority = specs_at(&c->specs, class->spec)->priority;
    h->of = once_now(c, class, self);
    h->best = ID_NONE;
    h->cluster = c;
    h->order.before = is_cheaper;
    h->order.ctx = h;
    heap_clear(&h->order);
    vec_resize(&h->once, c->nodes.n);
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        h->once.at[i].refusal = UNKNOWN;
        if (nodes_is_present(&c->nodes, (node_id){i}) &&
            preempt_concerns(c, class, (node_id){i}, self) &&
            least_harm(c, priority, i, &h->once.at[i].harm))
            heap_add(&h->order, i);
    }
}

/* Prices that hold for this pod alone, as long as nothing changes. Nodes are tried in the order of
 * what they cost at least, until none that is left can be better than the best; all of them if
 * there is none. */
static struct price *price_once(struct price_caches *h, struct cluster *c, struct classes *k,
                                const struct class *class, pod_id self)
{
    struct once now = once_now(c, class, self);
    uint64_t priced = 0;
    if (!is_same_once(&h->of, &now))
        begin_once(h, c, class, self);
    while (!h->is_unfinished && h->order.n &&
           (h->best == ID_NONE || is_cheaper(h, h->order.at[0], h->best))) {
        uint32_t i = heap_take(&h->order);
        price_one(h, c, k, class, self, i, &h->once.at[i], &priced);
        if (!h->once.at[i].refusal && (h->best == ID_NONE || is_cheaper(h, i, h->best)))
            h->best = i;
    }
    if (h->best == ID_NONE)
        fill(h, c, k, class, self, h->once.at);
    return h->once.at;
}

static struct price *prices_of(struct price_caches *h, struct cluster *c, struct classes *k,
                               struct class *class, pod_id self)
{
    bool is_personal = class->is_pinned || class->only || class->refusal || class->asks ||
                       pods_at(&c->pods, self)->nominated != SYM_NONE;
    if (is_personal || class->has_key_filter || groups_go_whole(c, class))
        return price_once(h, c, k, class, self);
    struct price_cache *price_cache = price_cache_of(h, class, c->nodes.n);
    catch_up(price_cache, c);
    fill(h, c, k, class, self, price_cache->prices.at);
    return price_cache->prices.at;
}

/* Nobody is less important, so evicting helps nowhere: what it would come to can be read off the
 * refusals, or off what was said here before. */
static void say_no_victims(struct classes *k, struct why *why)
{
    reason_id none = nobodys(k, CODE_UNRESOLVABLE, "No preemption victims found for incoming pod");
    reason_id useless = nobodys(k, CODE_UNRESOLVABLE, "Preemption is not helpful for scheduling");
    uint32_t hopeful = 0;
    vec_each(&why->lines, line)
        if (line->reason == none ||
            reasons_at(&k->reasons, line->reason)->code == CODE_UNSCHEDULABLE)
            hopeful += line->nodes;
    vec_clear(&why->lines);
    why_add(why, none, hopeful);
    why_add(why, useless, why->nodes - hopeful);
}

uint32_t preempt_choose(struct price_caches *h, struct cluster *c, struct classes *k,
                        struct class *class, pod_id self, struct why *why)
{
    if (!class->refusal && !cluster_has_lower(c, specs_at(&c->specs, class->spec)->priority)) {
        say_no_victims(k, why);
        return ID_NONE;
    }
    const struct price *prices = prices_of(h, c, k, class, self);
    uint32_t best = ID_NONE;
    if (UNLIKELY(h->is_unfinished))
        return ID_NONE;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        if (!nodes_is_present(&c->nodes, (node_id){i}) || prices[i].refusal)
            continue;
        if (best == ID_NONE || harm_is_less(&prices[i].harm, &prices[best].harm) ||
            (!harm_is_less(&prices[best].harm, &prices[i].harm) && cluster_wins_tie(c, i, best)))
            best = i;
    }
    why_clear(why);
    why->nodes = c->nodes.present;
    for (uint32_t i = 0; i < c->nodes.n && best == ID_NONE; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}))
            why_add(why, prices[i].refusal, 1);
    return best;
}
