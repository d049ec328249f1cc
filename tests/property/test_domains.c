/* One gang on a random cluster, with and without regard to where its members are. What can be
 * placed without is placed with it, and never in more racks where a rack, by a count of our own,
 * would have held all. */

#include <stdio.h>

#include "core/base/rng.h"
#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

enum { ROUNDS = 400, MOST_NODES = 12 };

struct draw {
    struct rng rng;
    uint32_t nodes, racks, zones, pods, minimum;
    int cpu[2]; /* of members, which are of two kinds, in turn */
    int free[MOST_NODES];
    uint32_t rack[MOST_NODES];
};

static uint32_t below(struct draw *d, uint32_t n)
{
    return (uint32_t)(rng_next(&d->rng) % n);
}

static void draw_all(struct draw *d)
{
    d->nodes = 1 + below(d, MOST_NODES);
    d->racks = 1 + below(d, 5);
    d->zones = 1 + below(d, 3);
    d->pods = 2 + below(d, 10);
    d->minimum = 2 + below(d, d->pods - 1);
    d->cpu[0] = 1 + (int)below(d, 3);
    d->cpu[1] = below(d, 2) ? d->cpu[0] : 1 + (int)below(d, 3);
    for (uint32_t i = 0; i < d->nodes; i++) {
        d->free[i] = (int)below(d, 7);
        d->rack[i] = below(d, d->racks);
    }
}

/* Runs it; returns how many were placed, and in how many racks. */
static uint32_t run(const struct draw *d, const char *how, uint32_t *racks)
{
    AUTO(stage) s = {0};
    uint32_t placed = 0, used = 0;
    for (uint32_t i = 0; i < d->nodes; i++)
        stage_put(&s, "node n%u cpu=%d memory=64Gi zone=z%u label:network.kubenexus.io/rack-id=r%u",
                  i, d->free[i], d->rack[i] % d->zones, d->rack[i]);
    for (uint32_t i = 0; i < d->pods; i++)
        stage_put(&s, "pod a-%u cpu=%d gang=a:%u note:scheduling.kubenexus.io/co-locate=%s", i,
                  d->cpu[i % 2], d->minimum, how);
    stage_run(&s);
    vec_each(&s.effects.list, e) {
        if (e->kind != EFFECT_BIND)
            continue;
        int64_t node;
        EXPECT(str_int(str_part(e->node, 1, e->node.n), &node));
        used |= 1u << d->rack[node];
        placed++;
    }
    *racks = (uint32_t)__builtin_popcount(used);
    return placed;
}

/* Does a rack hold all, if all are alike? */
static bool has_rack_for_all(const struct draw *d)
{
    uint32_t room[5] = {0};
    bool is_so = false;
    for (uint32_t i = 0; i < d->nodes; i++)
        room[d->rack[i]] += (uint32_t)(d->free[i] / d->cpu[0]);
    for (uint32_t r = 0; r < d->racks; r++)
        is_so |= room[r] >= d->pods;
    return is_so;
}

TEST(property, a_gang_is_placed_near_itself_and_never_worse_than_without)
{
    uint32_t together = 0, apart = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct draw d = {.rng = rng_seeded(test_seed() * ROUNDS + i)};
        draw_all(&d);
        uint32_t with_racks, without_racks;
        uint32_t with = run(&d, "preferred", &with_racks),
                 without = run(&d, "none", &without_racks);
        bool is_same = (with >= d.minimum) == (without >= d.minimum);
        bool is_alike = d.cpu[0] == d.cpu[1];
        if (!is_same || (is_alike && with != without) ||
            (is_alike && has_rack_for_all(&d) && with_racks != 1)) {
            printf("# round %u: %u of %u placed in %u racks, without regard %u in %u\n",
                   (unsigned)i, with, d.pods, with_racks, without, without_racks);
            EXPECT(false);
        }
        together += with_racks == 1;
        apart += with_racks == 1 && without_racks > 1;
    }
    EXPECT(together > ROUNDS / 10);
    EXPECT(apart > ROUNDS / 50); /* it made a difference */
}
