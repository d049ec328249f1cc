/* Where a unit stands among all that wait in queues, and why: for those who ask. Costs as many
 * comparisons as units wait, times the depth of the tree. */

#include "core/engine/step/step.h"

/* The first of those that wait in the queue or below it; FAIR_NONE: nobody does. */
static uint32_t head_of(const struct engine *k, uint32_t queue)
{
    struct shares *s = k->shares;
    uint32_t head = FAIR_NONE;
    for (uint32_t unit = 0; unit < s->standers.n; unit++) {
        uint32_t at = s->standers.at[unit].stands ? fair_queue_of(s->tree, unit) : FAIR_NONE;
        while (at != FAIR_NONE && at != queue)
            at = fair_parent(s->tree, at);
        if (at != FAIR_NONE && (head == FAIR_NONE || fair_precedes(s->tree, unit, head)))
            head = unit;
    }
    return head;
}

static struct queue_level level_of(struct engine *k, uint32_t queue, uint32_t head,
                                   struct arena *mem)
{
    struct fair *tree = k->shares->tree;
    const struct fair_key key = fair_key(tree, queue, engine_unit_ask(k, head));
    return (struct queue_level){
        .queue = arena_str(mem, fair_name(tree, queue)),
        .class = key.class,
        .share = key.share,
        .weight = fair_weight(tree, queue),
    };
}

/* Of its siblings that somebody waits in, the one that is next; FAIR_NONE: none. */
static uint32_t rival_of(const struct engine *k, uint32_t queue, uint32_t *head)
{
    struct fair *tree = k->shares->tree;
    uint32_t n, best = FAIR_NONE;
    const uint32_t *of = fair_children(tree, fair_parent(tree, queue), &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = of[i] == queue ? FAIR_NONE : head_of(k, of[i]);
        if (first == FAIR_NONE || (best != FAIR_NONE && !fair_precedes(tree, first, *head)))
            continue;
        best = of[i];
        *head = first;
    }
    return best;
}

/* From the top down. */
static void list_levels(struct engine *k, uint32_t unit, struct arena *mem, struct queue_spot *out)
{
    struct fair *tree = k->shares->tree;
    uint32_t queue = fair_queue_of(tree, unit);
    out->levels.n = fair_depth(tree, queue);
    out->levels.at = arena_array(mem, struct queue_level, out->levels.n);
    out->rivals = arena_array(mem, struct queue_level, out->levels.n);
    for (uint32_t i = out->levels.n; i-- > 0; queue = fair_parent(tree, queue)) {
        uint32_t head, rival = rival_of(k, queue, &head);
        out->levels.at[i] = level_of(k, queue, unit, mem);
        if (rival == FAIR_NONE)
            continue;
        out->rivals[i] = level_of(k, rival, head, mem);
        out->rivals[i].is_first = fair_precedes(tree, head, unit);
    }
}

static void count_before(const struct engine *k, uint32_t unit, struct queue_spot *out)
{
    struct shares *s = k->shares;
    uint32_t leaf = fair_leaf(s->tree, fair_queue_of(s->tree, unit));
    out->position = out->leaf_position = 1;
    for (uint32_t other = 0; other < s->standers.n; other++) {
        if (!s->standers.at[other].stands)
            continue;
        bool is_kin = fair_leaf(s->tree, fair_queue_of(s->tree, other)) == leaf;
        bool is_before = other != unit && fair_precedes(s->tree, other, unit);
        out->size++;
        out->leaf_size += is_kin;
        out->position += is_before;
        out->leaf_position += is_before && is_kin;
    }
}

static struct str path_of(const struct queue_spot *place, struct arena *mem)
{
    AUTO(buf) text = {0};
    list_each(&place->levels, level) {
        buf_add(&text, text.n ? STR("/") : STR(""));
        buf_add(&text, level->queue);
    }
    return arena_str(mem, buf_str(&text));
}

bool engine_queue_spot(struct engine *k, struct str namespace, struct str name, struct arena *mem,
                       struct queue_spot *out)
{
    *out = (struct queue_spot){0};
    uint32_t unit = engine_waiting_unit(k, namespace, name);
    if (unit == ID_NONE || !engine_queue_refusal(k, namespace, name, mem, &out->why))
        return false;
    list_levels(k, unit, mem, out);
    count_before(k, unit, out);
    out->path = path_of(out, mem);
    return true;
}
