/* What the pods to come of a LeaderWorkerSet's groups are like. Where the leader must be ready
 * first, its workers are not there when room is held for them: the set's object has their template.
 * What it says is kept with the set, for the leaders that come later. */

#include "core/engine/gang/gang.h"
#include "core/model/limits.h"
#include "core/model/owner.h"
#include "core/model/resources.h"

static pair_list copy_pairs(const pair_list *from, struct arena *mem)
{
    pair_list to = {.at = arena_array(mem, struct pair, from->n), .n = from->n};
    for (uint32_t i = 0; i < from->n; i++)
        to.at[i] =
            (struct pair){arena_str(mem, from->at[i].key), arena_str(mem, from->at[i].value)};
    return to;
}

static amount_list copy_amounts(const amount_list *from, struct arena *mem)
{
    amount_list to = {.at = arena_array(mem, struct amount, from->n), .n = from->n};
    for (uint32_t i = 0; i < from->n; i++)
        to.at[i] = (struct amount){arena_str(mem, from->at[i].name), from->at[i].quantity};
    return to;
}

static void copy_tolerations(const struct pod *from, struct pod *to, struct arena *mem)
{
    to->spec.tolerations.n = from->spec.tolerations.n;
    to->spec.tolerations.at = arena_array(mem, struct toleration, from->spec.tolerations.n);
    for (uint32_t i = 0; i < from->spec.tolerations.n; i++) {
        const struct toleration *t = &from->spec.tolerations.at[i];
        to->spec.tolerations.at[i] =
            (struct toleration){arena_str(mem, t->key), arena_str(mem, t->op),
                                arena_str(mem, t->value), arena_str(mem, t->effect)};
    }
}

void engine_free_workers(struct workers *w)
{
    if (w)
        arena_done(&w->mem);
    mem_free(w);
}

/* NULL: it is beyond a limit, and so would be the pods that are made from it. */
static struct workers *read_workers(const struct pod *from)
{
    struct workers *w = mem_alloc(sizeof(*w));
    *w = (struct workers){0};
    if (pod_excess(from, &w->mem).n) {
        engine_free_workers(w);
        return NULL;
    }
    amount_list asked = pod_requests(
        from, (struct request_rules){.status_aware = true, .pod_level = true}, &w->mem);
    w->each = copy_amounts(&asked, &w->mem);
    w->like.spec.node_selector = copy_pairs(&from->spec.node_selector, &w->mem);
    copy_tolerations(from, &w->like, &w->mem);
    return w;
}

uint32_t engine_set_of(const struct engine *k, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    bool is_of_set = g->object == KIND_LEADER_WORKER_SET && g->model != SYM_NONE;
    return is_of_set ? groups_named(&k->cluster->groups, g->namespace, g->model, g->object)
                     : ID_NONE;
}

const struct workers *engine_workers_of(const struct engine *k, uint32_t group)
{
    uint32_t set = engine_set_of(k, group);
    return set < k->gangs->all.n ? k->gangs->all.at[set].workers : NULL;
}

void engine_put_workers(struct gang *set, const struct object *o)
{
    engine_free_workers(set->workers);
    set->workers = o->owner_object->worker ? read_workers(o->owner_object->worker) : NULL;
}
