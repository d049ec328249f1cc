/* Why a pod on its own does not start. What nodes are is asked of them as for a gang; who has the
 * room follows from what they said when they refused the pod, which is the verdict's. */

#include "core/engine/step/cause.h"
#include "core/engine/step/step.h"
#include "core/framework/row.h"

/* The only node that the pod may use; SYM_NONE: it may use others, too. */
static sym only_node(const struct engine *k, pod_id pod, const struct class *class)
{
    if (class->is_pinned)
        return pods_at(&k->cluster->pods, pod)->pin;
    return class->n_only == 1 ? class->only[0] : SYM_NONE;
}

/* Of such a pod: what its node says; 0: the node is not there. */
static reason_id said_by_only(const struct why *why, const struct class *class)
{
    vec_each(&why->lines, line)
        if (line->reason != class->absent)
            return line->reason;
    return 0;
}

/* --- what the nodes said --- */

/* Is the line about what nodes are, which the funnel has gone through? */
static bool is_of_nature(const struct class *class, const struct reason *r)
{
    if (r->plugin > EXTENDER_PLUGIN) /* it names nodes, and these are others */
        return true;
    for (uint32_t i = 0; i < class->n_parts && r->code != CODE_UNSCHEDULABLE; i++)
        if (class->parts[i].number == r->plugin)
            return class->parts[i].plugin->row_filter;
    return false;
}

static bool is_of_room(const struct engine *k, const struct reason *r)
{
    const struct plugin *by = engine_plugin(k, r->plugin);
    return by && by->about == ABOUT_ROOM;
}

/* A node that is refused for another reason than room has room: that reason binds, and of several
 * the one that most nodes give. Else room does, and it is of interest which nodes lack one thing
 * only. */
static void read_why(const struct engine *k, const struct why *why, const struct class *class,
                     struct cause *x)
{
    const struct reasons *reasons = &k->classes.reasons;
    const struct why_line *use = NULL, *lack = NULL;
    x->rule = CAUSE_SEARCH;
    vec_each(&why->lines, line) {
        const struct reason *r = reasons_at(reasons, line->reason);
        if (is_of_nature(class, r) || r->n_texts == 0)
            continue;
        if (!is_of_room(k, r))
            use = why_is_weightier(line, use, reasons) ? line : use;
        else if (r->n_texts == 1)
            lack = why_is_weightier(line, lack, reasons) ? line : lack;
        if (is_of_room(k, r))
            x->rule = CAUSE_ROOM;
    }
    if (use)
        x->rule =
            reasons_at(reasons, use->reason)->code == CODE_UNSCHEDULABLE ? CAUSE_USE : CAUSE_NODE;
    const struct why_line *told = use ? use : lack;
    x->reason = told ? told->reason : 0;
    x->nodes = told ? told->nodes : 0;
}

/* --- room that is kept --- */

struct held_node {
    uint32_t reservation, node;
};

VEC_TYPE(held_vec, struct held_node);

static void take_all_off(struct engine *k, struct held_vec *out)
{
    struct cluster *c = k->cluster;
    for (uint32_t i = 0; i < engine_n_reservations(k); i++) {
        const struct reservation_info *b = engine_reservation_at(k, i);
        vec_each(&b->slots, slot) {
            uint32_t node = pods_at(&c->pods, (pod_id){slot->pod})->node;
            if (b->name == SYM_NONE || node == ID_NONE)
                continue;
            vec_push(out, (struct held_node){i, node});
            cluster_take(c, (pod_id){slot->pod});
        }
    }
}

/* Would the pod fit where room is kept, were it not? It asks those nodes alone. */
static bool is_held(struct engine *k, struct planner *p, const struct class *class, struct cause *x)
{
    struct held_vec kept = {0};
    bool is = false;
    if (LIKELY(!engine_n_slots(k)) || class->is_pinned)
        return false;
    struct txn t = txn_begin(k->cluster);
    take_all_off(k, &kept);
    for (uint32_t i = 0; i < kept.n && !is; i++) {
        node_id node = {kept.at[i].node};
        is = (!class->only || class_names(class, k->cluster->nodes.name[node.i])) &&
             !row_filter(k->cluster, class, node, COLUMN_ALL);
        if (is)
            cause_take_holder(k, p, x, engine_reservation_at(k, kept.at[i].reservation));
    }
    txn_undo(k->cluster, t);
    vec_done(&kept);
    if (is)
        x->rule = CAUSE_HELD;
    return is;
}

/* --- the whole --- */

static struct cause find_use(struct engine *k, struct planner *p, const struct why *why,
                             const struct class *class)
{
    struct cause x = cause_of(ID_NONE, 1);
    if (!is_held(k, p, class, &x))
        read_why(k, why, class, &x);
    return x;
}

static bool find_plain(const struct engine *k, const struct why *why, pod_id pod,
                       const struct class *class, struct cause *x)
{
    sym only = only_node(k, pod, class);
    if (class->refusal) {
        x->rule = CAUSE_REFUSED;
        x->reason = class->refusal;
    } else if (only != SYM_NONE) {
        x->rule = CAUSE_ONLY;
        x->value = only;
        x->reason = said_by_only(why, class);
    }
    return x->rule != CAUSE_NONE;
}

struct cause engine_find_cause_alone(struct engine *k, struct planner *p, const struct why *why,
                                     pod_id pod, struct class *class)
{
    struct cause x = cause_of(ID_NONE, 1);
    engine_list_alone(k, p, pod, class);
    if (find_plain(k, why, pod, class, &x) || engine_find_nature(k, p, &x))
        return x;
    return find_use(k, p, why, class);
}

/* --- for those who are refused all day --- */

/* What nodes are keeps all pods of the class waiting, or none of them, until a node is another one.
 */
static void word_nature(struct engine *k, struct planner *p, pod_id pod, struct class *class)
{
    struct cause x = cause_of(ID_NONE, 1);
    struct class_refusal *r = engine_refusal_of(k, class);
    r->nature_at = k->cluster->log.natures + 1;
    buf_clear(&r->nature);
    engine_list_alone(k, p, pod, class);
    if (engine_find_nature(k, p, &x))
        engine_word_cause(k, p, &x, &r->nature);
}

/* Of room that is kept only those hear by name who are in the namespace that it is kept for. */
static void word_use(struct engine *k, struct planner *p, const struct why *why, pod_id pod,
                     struct class *class)
{
    struct class_refusal *r = engine_refusal_of(k, class);
    engine_list_alone(k, p, pod, class);
    struct cause x = find_use(k, p, why, class);
    if (x.rule == CAUSE_HELD) {
        r->holder = x.owner;
        x.names_owner = true;
        engine_word_cause(k, p, &x, &r->for_holder);
        x.names_owner = false;
    }
    engine_word_cause(k, p, &x, &r->headline);
}

void engine_word_alone(struct engine *k, struct planner *p, const struct why *why, pod_id pod,
                       struct class *class)
{
    struct cause x = cause_of(ID_NONE, 1);
    struct class_refusal *r = engine_refusal_of(k, class);
    bool is_plain = find_plain(k, why, pod, class, &x);
    if (!is_plain && r->nature_at != k->cluster->log.natures + 1)
        word_nature(k, p, pod, class);
    if (is_plain) {
        engine_list_alone(k, p, pod, class);
        engine_word_cause(k, p, &x, &r->headline);
    } else if (r->nature.n) {
        buf_add(&r->headline, buf_str(&r->nature));
    } else {
        word_use(k, p, why, pod, class);
    }
}
