#include "core/plugins/nexus/fragmentation.h"

#include "core/base/rng.h"
#include "support/ground.h"
#include "support/test.h"

static const struct str t4[] = {STR("T4")};

static const struct gpu_demand demand[] = {
    {.cpu_milli = 4000, .count = 1, .milli = 500, .share = 0.4},
    {.cpu_milli = 8000, .count = 1, .milli = 1000, .share = 0.3},
    {.cpu_milli = 8000, .count = 2, .milli = 1000, .share = 0.1, .models = {t4, 1}},
    {.cpu_milli = 2000, .count = 0, .milli = 0, .share = 0.2},
};

TEST(fragmentation, is_what_the_pods_to_come_could_not_use)
{
    static const struct {
        const char *node;
        int64_t cpu_milli;
        int32_t left[2];
        double amount; /* 0.4, 0.3, 0.1 and 0.2 × what is a fragment for each */
    } cases[] = {
        {"T4", 8000, {1000, 1000}, 0.4 * 0 + 0.3 * 0 + 0.1 * 0 + 0.2 * 2000},
        {"P100", 8000, {1000, 1000}, 0.4 * 0 + 0.3 * 0 + 0.1 * 2000 + 0.2 * 2000},
        {"T4", 7999, {1000, 1000}, 0.4 * 0 + 0.3 * 2000 + 0.1 * 2000 + 0.2 * 2000},
        {"T4", 3999, {1000, 1000}, 2000},
        {"T4", 0, {1000, 1000}, 2000},
        {"T4", 8000, {1000, 400}, 0.4 * 400 + 0.3 * 400 + 0.1 * 1400 + 0.2 * 1400},
        {"T4", 8000, {600, 400}, 0.4 * 400 + 0.3 * 1000 + 0.1 * 1000 + 0.2 * 1000},
        {"T4", 8000, {400, 400}, 800},
        {"T4", 8000, {0, 0}, 0},
    };
    AUTO(ground) g = {0};
    struct fragmentation f;
    fragmentation_init(&f, ground_cluster(&g), demand, LEN(demand));
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        struct fragmentation_state s = {
            .model = ground_sym(&g, cases[i].node),
            .cpu_milli = cases[i].cpu_milli,
            .n = 2,
            .left = {cases[i].left[0], cases[i].left[1]},
        };
        double amount = fragmentation_of(&f, &s);
        EXPECT(amount > cases[i].amount - 1e-9 && amount < cases[i].amount + 1e-9);
        EXPECT(fragmentation_of(&f, &s) == amount); /* remembered */
    }
    fragmentation_done(&f, g.cluster);
}

/* The measure as it is defined, by itself. */
static double plainly(const struct fragmentation_state *s, sym model)
{
    double all = 0;
    int32_t idle = 0;
    for (uint32_t i = 0; i < s->n; i++)
        idle += s->left[i];
    for (size_t k = 0; k < LEN(demand); k++) {
        uint32_t fitting = 0;
        int32_t below = 0;
        for (uint32_t i = 0; i < s->n; i++)
            if (s->left[i] >= (int32_t)demand[k].milli)
                fitting++;
            else
                below += s->left[i];
        bool fits = demand[k].count && fitting >= demand[k].count &&
                    s->cpu_milli >= demand[k].cpu_milli &&
                    (demand[k].models.n == 0 || s->model == model);
        all += demand[k].share * (fits ? below : idle);
    }
    return all;
}

TEST(fragmentation, remembered_is_fragmentation_worked_out)
{
    AUTO(ground) g = {0};
    struct fragmentation f;
    struct rng r = {7};
    fragmentation_init(&f, ground_cluster(&g), demand, LEN(demand));
    sym models[] = {ground_sym(&g, "T4"), ground_sym(&g, "V100"), SYM_NONE};
    for (uint32_t round = 0; round < 50000; round++) {
        struct fragmentation_state s = {
            .model = models[rng_below(&r, LEN(models))],
            .cpu_milli = (int64_t)rng_below(&r, 12) * 1000,
            .n = (uint32_t)rng_below(&r, 11),
        };
        for (uint32_t i = 0; i < s.n; i++)
            s.left[i] = (int32_t)rng_below(&r, 5) * 250;
        double amount = fragmentation_of(&f, &s), truth = plainly(&s, models[0]);
        REQUIRE(amount > truth - 1e-9 && amount < truth + 1e-9);
    }
    fragmentation_done(&f, g.cluster);
}

TEST(fragmentation, of_a_node_without_GPUs_is_none)
{
    AUTO(ground) g = {0};
    struct fragmentation f;
    ground_add(&g, "node n cpu=8");
    fragmentation_init(&f, g.cluster, demand, LEN(demand));
    struct fragmentation_state s = fragmentation_state(g.cluster, ground_node(&g, "n"));
    EXPECT_INT(s.n, 0);
    EXPECT_INT(s.cpu_milli, 8000);
    EXPECT(fragmentation_of(&f, &s) == 0);
    fragmentation_done(&f, g.cluster);
}

/* --- of what is observed --- */

static double loss(const struct gpu_mix *mix, uint32_t idle)
{
    double more = 0;
    for (uint32_t i = idle + 1; i <= mix->largest; i++)
        more += mix->of[i];
    return idle * more;
}

static struct gpu_mix random_mix(struct rng *r)
{
    struct gpu_mix mix = {.largest = 1 + (uint32_t)rng_below(r, GPUS_MOST)};
    double all = 0;
    for (uint32_t i = 1; i <= mix.largest; i++)
        all += mix.of[i] = rng_below(r, 3) ? 0 : (double)rng_below(r, 1000);
    if (all == 0)
        all = mix.of[mix.largest] = 1;
    for (uint32_t i = 1; i <= mix.largest; i++)
        mix.of[i] /= all;
    return mix;
}

TEST(fragmentation, of_sizes_that_are_alike_is_even_as_it_is)
{
    struct gpu_mix mix = {.largest = 16};
    for (uint32_t i = 1; i <= 16; i++)
        mix.of[i] = 1.0 / 16;
    struct gpu_mix even = fragmentation_even(&mix);
    for (uint32_t i = 1; i <= 16; i++)
        EXPECT(even.of[i] > 1.0 / 16 - 1e-12 && even.of[i] < 1.0 / 16 + 1e-12);
}

/* The four corners by hand: with 1, 2, 4 and 8 alike they lose 0.75, 1, 1.5, 1, 1.25, 1.5, 1.75, 0.
 */
TEST(fragmentation, is_evened_out_along_the_hull_of_its_losses)
{
    static const double expect[] = {0, 0.75, 1.125, 1.5, 1.5625, 1.625, 1.6875, 1.75, 0};
    struct gpu_mix mix = {.largest = 8, .of = {[1] = 0.25, [2] = 0.25, [4] = 0.25, [8] = 0.25}};
    struct gpu_mix even = fragmentation_even(&mix);
    for (uint32_t i = 0; i <= 8; i++) {
        test_case("%u", i);
        EXPECT(loss(&even, i) > expect[i] - 1e-12 && loss(&even, i) < expect[i] + 1e-12);
    }
}

TEST(fragmentation, of_any_mix_is_evened_out_to_a_concave_loss_that_is_no_less)
{
    struct rng r = rng_seeded(test_seed());
    for (uint32_t round = 0; round < 20000; round++) {
        struct gpu_mix mix = random_mix(&r), even = fragmentation_even(&mix);
        double all = 0, rise = 1e9;
        bool is_corner = false;
        for (uint32_t i = 1; i <= mix.largest; i++) {
            double now = loss(&even, i) - loss(&even, i - 1);
            REQUIRE(even.of[i] >= 0 && now <= rise + 1e-9);
            REQUIRE(loss(&even, i) >= loss(&mix, i) - 1e-9);
            is_corner |= loss(&even, i) <= loss(&mix, i) + 1e-9; /* and no more than it must be */
            all += even.of[i];
            rise = now;
        }
        REQUIRE(is_corner && all > 1 - 1e-9 && all < 1 + 1e-9);
    }
}
