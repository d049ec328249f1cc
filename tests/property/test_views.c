/* Views say what a scan says, and how much memory they have shows nowhere.
 *
 * Five engines live through the same world: one without views, one with a single view, one with as
 * many as fit that compares every decision with a scan, one with hardly any memory for views, and
 * one that keeps the names of pinned pods and explains. They never differ. After each operation one
 * engine's books are counted again from scratch, after some those of two are compared as text. */

#include <inttypes.h>

#include "property/recount.h"
#include "property/world.h"
#include "support/test.h"

enum { SEEDS = 5, OPERATIONS = 2000 };

static void same_books(struct world *w, const struct engine *a, const struct engine *b)
{
    AUTO(buf) x = {0};
    AUTO(buf) y = {0};
    cluster_dump(a->cluster, &x);
    cluster_dump(b->cluster, &y);
    if (!str_equal(buf_str(&x), buf_str(&y)))
        world_fail(w, "two engines' clusters differ");
}

/* What happened in all worlds together. */
struct happened {
    uint64_t by_view, bound, refused;
};

static void run(uint64_t seed, uint64_t operations, struct happened *all)
{
    struct world *w = mem_alloc(sizeof(*w));
    world_init(w, seed);
    world_add_engine(w, (struct engine_config){.no_views = true});
    world_add_engine(w, (struct engine_config){.view_count = 1});
    world_add_engine(w, (struct engine_config){.checks_views = true});
    world_add_engine(w, (struct engine_config){.view_bytes = 3000});
    world_add_engine(w, (struct engine_config){.keeps_pins = true});
    for (; w->work < operations && !w->has_failed; w->work = ++w->operation) {
        world_operate(w);
        if (!w->has_failed && recount(w, w->engines[2]) && w->operation % 8 == 0)
            same_books(w, w->engines[0], w->engines[2]);
    }
    struct engine_stats s = engine_stats(w->engines[2]);
    printf("# seed %" PRIu64 ": %" PRIu64 " operations, %" PRIu64 " bound, %" PRIu64
           " refused, %" PRIu64 " failed, %" PRIu64 " evicted; by view %" PRIu64
           ", by scan %" PRIu64 ", by name %" PRIu64 "; %" PRIu64 " explained, %u classes, %" PRIu64
           " views built\n",
           seed, w->operation, w->bound, w->refused, w->failed, w->evicted, s.by_view, s.by_scan,
           s.by_pin, w->explained, s.classes, s.views_built);
    EXPECT(!w->has_failed);
    all->by_view += s.by_view;
    all->bound += w->bound;
    all->refused += w->refused;
    world_done(w);
    mem_free(w);
}

TEST(property, views_of_any_budget_say_what_a_scan_says)
{
    uint64_t first = property_number("PROPERTY_SEED", 1);
    uint64_t seeds = property_number("PROPERTY_SEEDS", SEEDS);
    uint64_t operations = property_number("PROPERTY_OPERATIONS", OPERATIONS);
    struct happened all = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++)
        run(seed, operations, &all);
    EXPECT(all.by_view > 0 && all.bound > 0 && all.refused > 0);
}
