#include "sim/books.h"

enum { RESOURCES_MOST = 12 };

static uint32_t find_resource(const struct books *b, struct str name)
{
    for (uint32_t i = 0; i < b->resources.n; i++) {
        if (str_equal(b->resources.at[i], name))
            return i;
    }
    return UINT32_MAX;
}

/* Worth a line in a report: not how many pods or how much disk there is. */
static bool is_shown(struct str name)
{
    return !str_equal(name, STR("pods")) && !str_equal(name, STR("ephemeral-storage")) &&
           !str_starts(name, STR("hugepages-")) && !str_starts(name, STR("attachable-volumes-"));
}

static void add_resource(struct books *b, struct str name)
{
    if (is_shown(name) && b->resources.n < RESOURCES_MOST && find_resource(b, name) == UINT32_MAX)
        vec_push(&b->resources, name);
}

void books_init(struct books *b, const struct plan *plan)
{
    *b = (struct books){.plan = plan};
    add_resource(b, STR("cpu"));
    add_resource(b, STR("memory"));
    add_resource(b, plan->watched);
    vec_each(&plan->nodes, n) {
        list_each(&n->node->status.allocatable, amount) {
            if (amount->quantity.nano > 0)
                add_resource(b, amount->name);
        }
    }
    b->watched = find_resource(b, plan->watched);
    vec_resize(&b->classes, plan->classes.n);
    timeline_init(&b->timeline, books_class_used(b, plan->classes.n));
    islands_init(&b->islands, plan);
}

void books_done(struct books *b)
{
    vec_each(&b->classes, class)
        vec_done(&class->waits_ms);
    vec_done(&b->classes);
    vec_done(&b->resources);
    vec_done(&b->complaints);
    vec_done(&b->used_first);
    vec_done(&b->queues);
    timeline_done(&b->timeline);
    islands_done(&b->islands);
    arena_done(&b->mem);
    *b = (struct books){0};
}

void books_amounts(const struct books *b, amount_list amounts, int64_t *out)
{
    memset(out, 0, b->resources.n * sizeof(*out));
    list_each(&amounts, amount) {
        uint32_t i = find_resource(b, amount->name);
        if (i != UINT32_MAX)
            out[i] = i == 0 ? quantity_milli(amount->quantity) : quantity_value(amount->quantity);
    }
}

void books_node(struct books *b, int64_t now_ms, uint32_t group, const int64_t *amounts, int sign)
{
    for (uint32_t i = 0; i < b->resources.n; i++)
        timeline_add(&b->timeline, books_room(b, i), now_ms, sign * (double)amounts[i]);
    timeline_add(&b->timeline, books_group_room(b, group), now_ms,
                 sign * (double)amounts[b->watched]);
}

void books_pod(struct books *b, int64_t now_ms, uint32_t group, uint32_t class,
               const int64_t *amounts, int sign)
{
    for (uint32_t i = 0; i < b->resources.n; i++) {
        if (amounts[i])
            timeline_add(&b->timeline, books_used(b, i), now_ms, sign * (double)amounts[i]);
    }
    double watched = sign * (double)amounts[b->watched];
    timeline_add(&b->timeline, books_group_used(b, group), now_ms, watched);
    timeline_add(&b->timeline, books_class_used(b, class), now_ms, watched);
    timeline_add(&b->timeline, BOOKS_RUNNING, now_ms, sign);
}
