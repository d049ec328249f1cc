#include "core/framework/domain_view.h"

#include "core/base/rng.h"
#include "core/framework/scan.h"
#include "fakes.h"
#include "support/judge.h"
#include "support/test.h"

enum { NODES = 12, FIRST = 3, SEEN = 6 };

static const struct profile_plugin open_zones[] = {
    {.plugin = &fake_label, .number = 0},
    {.plugin = &fake_room, .number = 1, .weight = 2},
    {.plugin = &fake_zone, .number = 2, .weight = 3, .off = PROFILE_NO_FILTER},
};
static const struct profile no_key_filter = {STR("default-scheduler"), open_zones, LEN(open_zones)};

struct scene {
    struct judge judge;
    struct domain_view domain_view;
    struct decider decider;
    uint32_t nodes[SEEN];
    sym names[SEEN];
};

static void scene_done(struct scene *s)
{
    domain_view_done(&s->domain_view);
    decider_done(&s->decider);
    judge_done(&s->judge);
}

static void furnish(struct scene *s)
{
    for (int i = 0; i < NODES; i++)
        ground_add(&s->judge.ground, "node n%d cpu=%d label:z=%d", i, 4 + i % 3, i % 2);
    ground_add(&s->judge.ground, "pod p cpu=1");
    for (uint32_t i = 0; i < SEEN; i++) {
        s->nodes[i] = FIRST + i;
        s->names[i] = s->judge.ground.cluster->nodes.name[FIRST + i];
    }
}

static void open_domain_view(struct scene *s)
{
    domain_view_open(&s->domain_view, s->judge.ground.cluster, judge_class(&s->judge, "p"),
                     s->nodes, SEEN);
}

/* The domain view says what a scan says that is shown no other nodes. */
static bool agrees(struct scene *s)
{
    struct cluster *c = s->judge.ground.cluster;
    struct decision is, want = scan_some(&s->judge.scan, c, judge_class(&s->judge, "p"),
                                         (pod_id){ID_NONE}, s->names, SEEN, false);
    return domain_view_decide(&s->domain_view, c, &s->decider, &is) && is.node == want.node &&
           is.feasible == want.feasible;
}

TEST(domain_view, decides_among_its_nodes_alone)
{
    AUTO(scene) s = {.judge = {.profile = &fake_profile}};
    furnish(&s);
    ground_add(&s.judge.ground, "node n0 cpu=100 label:z=1"); /* the best of all, elsewhere */
    open_domain_view(&s);
    EXPECT(agrees(&s));
    ground_add(&s.judge.ground, "node n1 cpu=100 label:z=1");
    EXPECT(agrees(&s));
}

TEST(domain_view, follows_every_change_of_its_nodes)
{
    const struct profile *const profiles[] = {&fake_profile, &no_key_filter};
    static const char *const labels[] = {"z=0", "z=1", "z=2", "z=closed", "bad=1", "other=1"};
    for (size_t p = 0; p < LEN(profiles); p++) {
        AUTO(scene) s = {.judge = {.profile = profiles[p]}};
        struct rng r = rng_seeded(test_seed());
        furnish(&s);
        open_domain_view(&s);
        for (uint32_t i = 0; i < 400; i++) {
            uint32_t node = (uint32_t)rng_below(&r, NODES);
            if (rng_below(&r, 3))
                ground_add(&s.judge.ground, "pod a%u cpu=%u on=n%u", i,
                           1 + (uint32_t)rng_below(&r, 2), node);
            else
                ground_add(&s.judge.ground, "node n%u cpu=%u label:%s", node,
                           (uint32_t)rng_below(&r, 40), labels[rng_below(&r, LEN(labels))]);
            test_case("profile %zu, change %u", p, i);
            if (rng_below(&r, 2))
                EXPECT(agrees(&s));
        }
    }
}

TEST(domain_view, is_opened_anew_for_other_nodes)
{
    AUTO(scene) s = {.judge = {.profile = &fake_profile}};
    furnish(&s);
    open_domain_view(&s);
    EXPECT(agrees(&s));
    for (uint32_t i = 0; i < SEEN; i++) {
        s.nodes[i] = NODES - SEEN + i;
        s.names[i] = s.judge.ground.cluster->nodes.name[s.nodes[i]];
    }
    domain_view_close(&s.domain_view);
    EXPECT(s.domain_view.class == NULL);
    open_domain_view(&s);
    EXPECT(agrees(&s));
}
