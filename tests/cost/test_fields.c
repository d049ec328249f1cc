/* Whatever an object says, reading it and deciding about it costs in proportion: twice as many
 * elements in any list of any kind cost twice as much, not four times. Each list and map of each
 * kind's tables grows in turn; the object comes, is decided about, changes and goes. */

#include <stdio.h>
#include <stdlib.h>

#include "core/engine/engine.h"
#include "core/model/check.h"
#include "core/model/default.h"
#include "core/model/gist.h"
#include "count.h"
#include "grow.h"
#include "support/objects.h"
#include "support/test.h"

enum { LEAST = 1000, NODES = 3, MATCH_FIELDS = 2 };

#define MOST_FACTOR 2.3

/* What the object is to the scheduler. */
enum role { OURS, OF_ANOTHER, BOUND, ROLES };

static const char *const role_names[] = {"ours", "another scheduler's", "bound"};

static void put(struct engine *k, struct object object)
{
    struct change change = {CHANGE_PUT, object};
    engine_apply(k, 0, &change);
}

static void step(struct engine *k)
{
    struct effects effects = {0};
    for (int i = 0; i < 100 && engine_step(k, 0, &effects); i++)
        continue;
    effects_done(&effects);
}

static struct engine *world(struct arena *mem)
{
    struct engine_config config = {.publishes = true};
    struct engine *k = engine_new(&config);
    for (uint32_t i = 0; i < NODES; i++)
        put(k, least(mem, KIND_NODE, 100 + i));
    return k;
}

static void cast(struct object *o, enum role role)
{
    if (o->kind != KIND_POD)
        return;
    if (role == OF_ANOTHER)
        o->pod->spec.scheduler_name = STR("another");
    else if (role == BOUND)
        o->pod->spec.node_name = STR("o00000100");
}

struct family {
    const struct path *path;
    enum role role;
    bool alike;
};

static struct cost price(const struct family *f, uint32_t n)
{
    struct arena mem = {0};
    struct engine *k = world(&mem);
    struct object o = grown(&mem, f->path, n, f->alike), pod = least(&mem, KIND_POD, 7);
    struct error e = {0};
    struct cost before = cost_so_far;
    object_default(&o, &mem);
    if (o.kind == KIND_QUEUE && !object_check(&o, &e)) /* as a watch marks it */
        EXPECT(gist_mark(&o, str_of(e.text), &mem));
    cast(&o, f->role);
    put(k, o);
    step(k);
    put(k, pod); /* a bystander */
    step(k);
    o.meta->labels.n = 0;
    put(k, o);
    step(k);
    struct change gone = {CHANGE_REMOVE, o};
    engine_apply(k, 0, &gone);
    step(k);
    struct cost after = cost_so_far;
    engine_free(k);
    arena_done(&mem);
    return (struct cost){after.steps - before.steps, after.bytes - before.bytes};
}

static void judge(const char *what, const uint64_t *costs)
{
    double first = (double)costs[1] / (double)(costs[0] + 1);
    double second = (double)costs[2] / (double)(costs[1] + 1);
    test_case("%s: %llu, %llu, %llu", what, (unsigned long long)costs[0],
              (unsigned long long)costs[1], (unsigned long long)costs[2]);
    EXPECT(first <= MOST_FACTOR);
    EXPECT(second <= MOST_FACTOR);
}

static void try_family(const struct family *f)
{
    struct arena mem = {0};
    uint64_t steps[3], bytes[3];
    for (uint32_t i = 0; i < 3; i++) {
        struct cost c = price(f, (uint32_t)LEAST << i);
        steps[i] = c.steps;
        bytes[i] = c.bytes;
    }
    char what[300];
    struct str text = path_text(f->path, &mem);
    snprintf(what, sizeof(what), STR_FMT " (%s%s) steps", STR_ARG(text),
             f->path->kind == KIND_POD ? role_names[f->role] : "", f->alike ? ", alike" : "");
    if (getenv("COST_VERBOSE"))
        printf("# %-100s %10llu %10llu %10llu, bytes %10llu\n", what, (unsigned long long)steps[0],
               (unsigned long long)steps[1], (unsigned long long)steps[2],
               (unsigned long long)bytes[2]);
    judge(what, steps);
    judge(what, bytes);
    arena_done(&mem);
}

/* Would the API server store it? */
static bool is_legal(const struct path *path)
{
    struct arena mem = {0};
    struct error e = {0};
    struct object o = grown(&mem, path, 2, false);
    bool is = object_check(&o, &e);
    arena_done(&mem);
    return is;
}

static void try_path(void *ctx, const struct path *path)
{
    uint32_t *tried = ctx;
    if (!is_legal(path)) /* a matchField has one value */
        return;
    ++*tried;
    bool is_map = path->steps[path->n - 1]->shape == FIELD_MAP;
    for (enum role role = OURS; role < ROLES; role++) {
        if (role != OURS && path->kind != KIND_POD)
            break;
        try_family(&(struct family){path, role, false});
        if (!is_map && role == OURS)
            try_family(&(struct family){path, role, true});
    }
}

TEST(cost, of_every_list_in_every_kind_is_in_proportion)
{
    for (enum kind kind = KIND_NONE + 1; kind < KIND_COUNT; kind++) {
        uint32_t tried = 0, lists = paths_each(kind, try_path, &tried);
        test_case("%s", kind_info_get(kind)->name);
        EXPECT(tried > 0 && lists - tried <= MATCH_FIELDS);
    }
}
