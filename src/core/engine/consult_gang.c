/* A gang whose members extenders have a say in: each member is asked about as a pod alone would be,
 * all at once, while others are decided. When all answers are there the gang is placed as any
 * other, but each member only on a node that is left to it, as the cluster is by then. So all or
 * nothing stays, and a node that filled up meanwhile is out.
 *
 * An extender sees members one by one and does not know of the others: it may let two of them to
 * room for one, which our own filters see. A member that came meanwhile is asked about, too, before
 * anything is placed. Such a gang evicts nobody: no answer tells what would be let in afterwards.
 */

#include "core/engine/inside.h"

static struct class *class_of(const struct engine *k, const struct seat *seat)
{
    return k->planner.benches.at[seat->order].class;
}

/* The room is the same for all of a class: one look at it will do. */
static void begin(struct engine *k, int64_t now_ms, uint32_t group, const struct seat *seat,
                  const struct class **scanned, struct effects *out)
{
    pod_id pod = {seat->pod};
    struct class *class = class_of(k, seat);
    if (*scanned != class)
        scan_run(&k->scan, k->cluster, class, pod, false);
    *scanned = class;
    struct consultation *s = engine_begin_asking(k, pod, group);
    engine_offer_fitting(k, s, class);
    engine_ask_on(k, now_ms, s, class, out);
}

bool engine_consult_gang(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out)
{
    const struct class *scanned = NULL;
    vec_each(&k->planner.seats, seat) {
        pod_id pod = {seat->pod};
        if (!class_of(k, seat)->asks || holds_has(&k->holds, seat->pod))
            continue;
        struct consultation *s = engine_find_asking(k, pod);
        if (!s || s->group != group || !consultation_is_of(s, &k->cluster->pods, pod))
            begin(k, now_ms, group, seat, &scanned, out);
        else if (s->open.n == 0)
            engine_ask_on(k, now_ms, s, class_of(k, seat), out);
        seat->choice = MAX(engine_find_asking(k, pod)->nodes.n, 1u);
    }
    return k->gangs.at[group].open > 0;
}

struct str engine_gang_trouble(struct engine *k, uint32_t group)
{
    vec_each(&k->consultations, s)
        if (s->group == group && s->error)
            return str_of(s->error);
    return STR("");
}

uint32_t engine_decide_told(struct engine *k, pod_id pod, struct class *class)
{
    const struct consultation *s = engine_find_asking(k, pod);
    struct decision d;
    bool is_judged = s->nodes.n && !class->refusal;
    uint32_t node = is_judged ? engine_best_told(k, s, pod, class, &d) : ID_NONE;
    arena_reset(&k->mem);
    if (node != ID_NONE)
        return node;
    why_copy(&k->why, &s->why);
    for (uint32_t i = 0; is_judged && i < s->nodes.n; i++) {
        node_id left = nodes_find(&k->cluster->nodes, s->nodes.at[i].node);
        reason_id reason = left.i == ID_NONE ? 0 : scan_refusal(&k->scan, left);
        if (reason)
            why_add(&k->why, reason, 1);
    }
    return ID_NONE;
}

void engine_forget_asking_gang(struct engine *k, uint32_t group)
{
    for (uint32_t i = k->consultations.n; i-- > 0;)
        if (k->consultations.at[i].group == group)
            engine_forget_asking(k, (pod_id){k->consultations.at[i].pod});
}
