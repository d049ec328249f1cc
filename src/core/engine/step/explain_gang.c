/* The gang of a pod in words: who says that there is one, who is there, and where they would go. */

#include "core/engine/explain.h"

#include <stdlib.h>

#include "core/engine/step/step.h"

static int by_pod(const void *a, const void *b)
{
    const struct explained_place *x = a, *y = b;
    return str_compare(x->pod, y->pod);
}

static void list_places(struct engine *k, struct planner *p, struct explained_gang *x,
                        struct arena *mem)
{
    const struct cluster *c = k->cluster;
    x->places = arena_array(mem, struct explained_place, p->members.n);
    vec_each(&p->members, member)
        if (member->node != ID_NONE && !engine_is_slot(k, member->pod))
            x->places[x->n_places++] = (struct explained_place){
                arena_str(mem, pod_name(pods_at(&c->pods, (pod_id){member->pod}))),
                arena_str(mem, names_text(&c->names, c->nodes.name[member->node]))};
    if (x->n_places > 1)
        qsort(x->places, x->n_places, sizeof(*x->places), by_pod);
}

static struct str size_because(const struct group *g, struct arena *mem)
{
    bool is_written = g->has_object && (group_heeds_object(g) || g->said == 0);
    if (!is_written)
        return g->said ? gang_place_text(&g->sized, mem) : STR("nobody says");
    const struct kind_info *info = kind_info_get(g->object);
    return arena_printf(mem, "%s of " STR_FMT, info->name, STR_ARG(kind_info_group(info)));
}

void explain_gang(struct engine *k, struct planner *p, pod_id pod, struct explanation *out)
{
    uint32_t group = engine_gang_of(k, pod);
    if (group == ID_NONE)
        return;
    const struct group *g = &k->cluster->groups.at.at[group];
    struct explained_gang *x = arena_array(&out->mem, struct explained_gang, 1);
    struct presence m = engine_presence(k, group);
    struct effects said = {0}; /* nobody is told */
    enum gang_outcome outcome = engine_try_gang(k, p, group, &said);
    effects_done(&said);
    *x = (struct explained_gang){
        .name = arena_str(&out->mem, names_text(&k->cluster->names, g->name)),
        .name_because = gang_place_text(&g->named, &out->mem),
        .minimum = group_minimum(g),
        .minimum_because = size_because(g, &out->mem),
        .running = m.running,
        .waiting = m.ready,
        .held = m.held,
        .ended = group_ended(g),
        .conflict = arena_str(&out->mem, buf_str(&g->conflict)),
    };
    if (g->trouble.n) {
        x->message = arena_str(&out->mem, buf_str(&g->trouble));
    } else if (outcome == GANG_PLACED) {
        list_places(k, p, x, &out->mem);
    } else {
        engine_word_gang(k, p, group, outcome, &p->message);
        x->message = arena_str(&out->mem, buf_str(&p->message));
    }
    out->gang = x;
}
