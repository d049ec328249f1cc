/* Whatever an object may name, in any field of any kind, is forgotten with the object: of so many
 * that name something else each, the second half leaves nothing behind. What the scheduler holds is
 * counted in bytes of the blocks that it has.
 *
 * COST_TEXTS=10000 tries so many in each field, COST_FIELD=Pod only fields that are called so in
 * part.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/check.h"
#include "core/model/default.h"
#include "count.h"
#include "grow.h"
#include "scenes.h"
#include "support/test.h"

enum { NODES = 3, TEXTS = 200, LEAST_OF_ANY = 4 /* bytes, for a number */, HOUR_MS = 3600000 };

enum role { OURS, OF_ANOTHER, RUNS, ROLES };

static const char *const role_names[] = {"ours", "another scheduler's", "runs"};

static struct engine *world(void)
{
    struct engine_config config = {.publishes = true};
    struct engine *k = engine_new(&config);
    for (uint32_t i = 0; i < NODES; i++)
        scene_apply(k, 0, CHANGE_PUT, "node n# cpu=64 memory=64Gi pods=1000 zone=z#", i);
    return k;
}

static void cast(struct object *o, enum role role, bool is_path_to_it)
{
    if (o->kind != KIND_POD || is_path_to_it)
        return;
    if (role == OF_ANOTHER)
        o->pod->spec.scheduler_name = STR("another");
    else if (role == RUNS)
        o->pod->spec.node_name = STR("n1");
}

/* One comes, is decided about, says it no more, and goes. */
static void pass(struct engine *k, int64_t now_ms, const struct path *path, enum role role,
                 uint32_t number)
{
    struct arena mem = {0};
    struct object o = named(&mem, path, number), plain = least(&mem, path->kind, number);
    struct str last = path->steps[path->n - 1]->name;
    bool is_path_to_it = str_equal(last, STR("schedulerName")) || str_equal(last, STR("nodeName"));
    object_default(&o, &mem);
    plain.meta->namespace = o.meta->namespace; /* it is the same one */
    plain.meta->name = o.meta->name;
    object_default(&plain, &mem);
    cast(&o, role, is_path_to_it);
    cast(&plain, role, false);
    struct change comes = {CHANGE_PUT, o}, changes = {CHANGE_PUT, plain}, goes = {CHANGE_REMOVE, o};
    engine_apply(k, now_ms, &comes);
    scene_run(k, now_ms);
    if (number % 2) {
        engine_apply(k, now_ms, &changes);
        scene_run(k, now_ms);
    }
    engine_apply(k, now_ms, &goes);
    scene_run(k, now_ms);
    arena_done(&mem);
}

static void pass_all(struct engine *k, const struct path *path, enum role role, uint32_t first,
                     uint32_t n, uint32_t hours)
{
    for (uint32_t i = first; i < first + n; i++)
        pass(k, (int64_t)HOUR_MS * hours + (int64_t)HOUR_MS * (i - first) / n, path, role, i);
    engine_trim(k);
}

static void try_role(const struct path *path, enum role role)
{
    const char *asked = getenv("COST_TEXTS");
    uint32_t texts = asked ? (uint32_t)strtoul(asked, NULL, 10) : TEXTS;
    struct arena mem = {0};
    struct str text = path_text(path, &mem);
    struct engine *k = world();
    pass_all(k, path, role, 0, texts, 0);
    int64_t half = cost_held;
    pass_all(k, path, role, texts, texts, 1);
    test_case(STR_FMT " (%s): %lld bytes, and then %lld", STR_ARG(text), role_names[role],
              (long long)half, (long long)cost_held);
    EXPECT(cost_held - half <= (int64_t)LEAST_OF_ANY * texts);
    if (getenv("COST_VERBOSE") && cost_held != half)
        printf("# %-90.*s %-20s %10lld %10lld\n", (int)text.n, text.p, role_names[role],
               (long long)half, (long long)cost_held);
    engine_free(k);
    arena_done(&mem);
}

static bool is_legal(const struct path *path)
{
    struct arena mem = {0};
    struct error e;
    struct object o = named(&mem, path, 1);
    bool is = object_check(&o, &e);
    arena_done(&mem);
    return is;
}

static bool is_wanted(const struct path *path)
{
    struct arena mem = {0};
    const char *wanted = getenv("COST_FIELD");
    char text[300];
    snprintf(text, sizeof(text), STR_FMT, STR_ARG(path_text(path, &mem)));
    arena_done(&mem);
    return !wanted || strstr(text, wanted);
}

static void try_path(void *ctx, const struct path *path)
{
    uint32_t *tried = ctx;
    if (!is_wanted(path) || !is_legal(path))
        return;
    ++*tried;
    for (enum role role = OURS; role < (path->kind == KIND_POD ? ROLES : 1); role++)
        try_role(path, role);
}

TEST(cost, of_any_text_is_over_when_nobody_says_it)
{
    uint32_t tried = 0, fields = 0;
    for (enum kind kind = KIND_NONE + 1; kind < KIND_COUNT; kind++)
        fields += names_each(kind, try_path, &tried);
    printf("# %u of %u fields\n", tried, fields);
    EXPECT(getenv("COST_FIELD") || tried > fields * 9 / 10);
}
