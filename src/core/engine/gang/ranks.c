/* Which member of a gang is which, along the tree of domains: neighbours by number are neighbours
 * by network. A job that gives its processes these numbers sends most of what they tell each other
 * over the shortest ways.
 *
 * Members that number themselves (place_gang.c) are placed in that order, so both numbers are the
 * same wherever members can trade places. Who comes later, or replaces somebody, gets the lowest
 * number that nobody of the gang has who runs. */

#include <stdlib.h>

#include "core/engine/gang/gang.h"

/* Domains as they were filled, nodes of one domain by name, members of one node as they sit. */
static int by_place(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;
    if (x->leaf != y->leaf)
        return x->leaf < y->leaf ? -1 : 1;
    int names = x->node == y->node ? 0 : str_compare(x->name, y->name);
    return names ? names : x->member < y->member ? -1 : x->member > y->member;
}

void engine_sort_placements(struct engine *k, struct planner *p, uint32_t first, uint32_t n)
{
    bool is_sorted = true;
    vec_clear(&p->placements);
    for (uint32_t i = first; i < first + n; i++) {
        const struct gang_member *member = &p->members.at[i];
        if (member->node == ID_NONE)
            continue;
        struct str name = names_text(&k->cluster->names, k->cluster->nodes.name[member->node]);
        vec_push(&p->placements, (struct placement){member->leaf, member->node, i, name});
        is_sorted &= p->placements.n < 2 ||
                     by_place(&vec_last(&p->placements) - 1, &vec_last(&p->placements)) < 0;
    }
    if (!is_sorted)
        qsort(p->placements.at, p->placements.n, sizeof(*p->placements.at), by_place);
}

/* Ranks that members have who run; those of the planner have none yet. */
static void note_taken(struct engine *k, struct planner *p, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    vec_each(&p->members, member)
        pods_at(&k->cluster->pods, (pod_id){member->pod})->rank = 0;
    vec_resize(&p->taken, g->members.n);
    memset(p->taken.at, 0, g->members.n * sizeof(*p->taken.at));
    vec_each(&g->members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        if (row->node != ID_NONE && !(row->flags & POD_GOING) && row->rank &&
            row->rank <= g->members.n)
            p->taken.at[row->rank - 1] = true;
    }
}

static void note_tree(struct engine *k, struct planner *p, uint32_t group)
{
    struct buf *tree = &k->gangs->all.at[group].tree;
    buf_clear(tree);
    for (uint32_t i = p->n_levels; i-- > 0;)
        buf_printf(tree, "%s" STR_FMT, tree->n ? "," : "",
                   STR_ARG(names_text(&k->cluster->names, p->levels[i].key)));
}

void engine_rank_gang(struct engine *k, struct planner *p, uint32_t group)
{
    uint32_t rank = 0;
    note_taken(k, p, group);
    if (p->n_levels == 0)
        return;
    note_tree(k, p, group);
    engine_sort_placements(k, p, 0, p->members.n);
    vec_each(&p->placements, placement) {
        pod_id pod = {p->members.at[placement->member].pod};
        if (engine_is_slot(k, pod.i))
            continue; /* whoever comes in its place has its own */
        while (p->taken.at[rank])
            rank++;
        pods_at(&k->cluster->pods, pod)->rank = ++rank & MOST_RANKS;
    }
}
