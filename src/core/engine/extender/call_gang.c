/* A gang whose members extenders have a say in: each member is asked about as a pod alone would be,
 * all at once, while others are decided. When all answers are there the gang is placed as any
 * other, but each member only on a node that is left to it, as the cluster is by then. So all or
 * nothing stays, and a node that filled up meanwhile is out.
 *
 * An extender sees members one by one and does not know of the others: it may let two of them to
 * room for one, which our own filters see. A member that came meanwhile is asked about, too, before
 * anything is placed. Such a gang evicts nobody: no answer tells what would be let in afterwards.
 */

#include "core/engine/extender/extender.h"

static struct class *class_of(const struct planner *p, const struct gang_member *member)
{
    return p->member_classes.at[member->order].class;
}

/* The room is the same for all of a class: one look at it will do. */
static void begin(struct engine *k, struct planner *p, uint32_t group,
                  const struct gang_member *member, const struct class **scanned,
                  struct effects *out)
{
    pod_id pod = {member->pod};
    struct class *class = class_of(p, member);
    if (*scanned != class)
        scan_run(&k->deciding.scan, k->cluster, class, pod, false);
    *scanned = class;
    struct extender_call *s = engine_begin_extender_call(k, pod, group);
    engine_offer_fitting(k, s, class);
    engine_ask_on(k, s, class, out);
}

bool engine_call_extenders_for_gang(struct engine *k, struct planner *p, uint32_t group,
                                    struct effects *out)
{
    const struct class *scanned = NULL;
    vec_each(&p->members, member) {
        pod_id pod = {member->pod};
        if (!class_of(p, member)->asks || engine_is_slot(k, member->pod))
            continue;
        struct extender_call *s = engine_find_extender_call(k, pod);
        if (!s || s->group != group || !extender_call_is_of(s, &k->cluster->pods, pod))
            begin(k, p, group, member, &scanned, out);
        else if (s->open.n == 0)
            engine_ask_on(k, s, class_of(p, member), out);
        member->choice = MAX(engine_find_extender_call(k, pod)->nodes.n, 1u);
    }
    return engine_is_asking_about(k, group);
}

struct str engine_gang_trouble(struct engine *k, uint32_t group)
{
    vec_each(&k->extender->all, s)
        if (s->group == group && s->error)
            return str_of(s->error);
    return STR("");
}

struct verdict engine_decide_as_answered(struct engine *k, pod_id pod, struct class *class)
{
    const struct extender_call *s = engine_find_extender_call(k, pod);
    struct decision d;
    bool is_judged = s->nodes.n && !class->refusal;
    uint32_t node = is_judged ? engine_best_answered(k, s, pod, class, &d) : ID_NONE;
    arena_reset(&k->mem);
    if (node != ID_NONE)
        return (struct verdict){.node = node};
    why_copy(&k->extender->answered_why, &s->why);
    for (uint32_t i = 0; is_judged && i < s->nodes.n; i++) {
        node_id left = nodes_find(&k->cluster->nodes, s->nodes.at[i].node);
        reason_id reason =
            left.i == ID_NONE ? 0 : scan_refusal(&k->deciding.scan, k->cluster, left);
        if (reason)
            why_add(&k->extender->answered_why, reason, 1);
    }
    return (struct verdict){.node = ID_NONE, .why = &k->extender->answered_why};
}

void engine_forget_extender_calls_of_gang(struct engine *k, uint32_t group)
{
    for (uint32_t i = k->extender->all.n; i-- > 0;)
        if (k->extender->all.at[i].group == group)
            engine_forget_extender_call(k, (pod_id){k->extender->all.at[i].pod});
}
