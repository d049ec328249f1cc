#include "core/cluster/images.h"

#include "core/base/rng.h"
#include "support/test.h"

enum { NODES = 1000, WORDS = (NODES + 63) / 64 };

static void images_cleanup(struct images *all)
{
    images_done(all);
}

static void expect_nodes(const struct images *all, sym name, const bool *have)
{
    uint64_t bits[WORDS] = {0};
    uint32_t n = 0, wrong = 0;
    images_mark(all, name, bits);
    for (uint32_t i = 0; i < NODES; i++) {
        wrong += (bits[i / 64] >> i % 64 & 1) != have[i];
        n += have[i];
    }
    EXPECT_INT(wrong, 0);
    EXPECT_INT(images_state(all, name).nodes, n);
}

TEST(images, know_who_has_them_while_few_do_and_while_many_do)
{
    struct names names = {0};
    struct images all __attribute__((cleanup(images_cleanup))) = {0};
    sym name = names_get(&names, STR("x"));
    bool have[NODES] = {0};
    struct rng rng = rng_seeded(1);
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t share = round % 3 == 0 ? 5 : round % 3 == 1 ? 95 : 1; /* in a hundred */
        for (uint32_t i = 0; i < 4 * NODES; i++) {
            uint32_t node = (uint32_t)rng_below(&rng, NODES);
            bool has = rng_below(&rng, 100) < share;
            if (has && !have[node])
                images_add(&all, &names, name, 7, node, NODES);
            else if (!has && have[node])
                images_remove(&all, &names, name, node);
            have[node] = has;
            if (i % 500 == 0)
                expect_nodes(&all, name, have);
        }
        expect_nodes(&all, name, have);
    }
    names_done(&names);
}

TEST(images, that_nobody_has_any_more_are_forgotten)
{
    struct names names = {0};
    struct images all __attribute__((cleanup(images_cleanup))) = {0};
    sym x = names_get(&names, STR("x")), y = names_get(&names, STR("y"));
    for (uint32_t i = 0; i < NODES; i++)
        images_add(&all, &names, x, 7, i, NODES);
    for (uint32_t i = 0; i < NODES; i++)
        images_remove(&all, &names, x, i);
    EXPECT_INT(images_state(&all, x).nodes, 0);
    EXPECT_INT(images_state(&all, x).size_bytes, 0);
    images_add(&all, &names, y, 8, 3, NODES); /* in the other's place */
    bool have[NODES] = {[3] = true};
    expect_nodes(&all, y, have);
    EXPECT_INT(all.at.n, 1);
    names_done(&names);
}

TEST(images, take_no_more_room_than_a_number_for_each_node_that_has_them)
{
    struct names names = {0};
    struct images all __attribute__((cleanup(images_cleanup))) = {0};
    sym x = names_get(&names, STR("x"));
    for (uint32_t i = 0; i < NODES; i++)
        images_add(&all, &names, x, 7, i, NODES);
    EXPECT_INT(all.at.at[0].few.cap, 0);
    EXPECT(all.at.at[0].words.n <= WORDS);
    for (uint32_t i = 1; i < NODES; i++)
        images_remove(&all, &names, x, i);
    EXPECT_INT(all.at.at[0].words.cap, 0);
    EXPECT_INT(all.at.at[0].few.n, 1);
    names_done(&names);
}

TEST(images, of_a_single_node_may_get_another_size)
{
    struct names names = {0};
    struct images all __attribute__((cleanup(images_cleanup))) = {0};
    sym x = names_get(&names, STR("x"));
    images_add(&all, &names, x, 7, 0, NODES);
    EXPECT(images_resize(&all, x, 8));
    EXPECT(!images_resize(&all, x, 8));
    images_add(&all, &names, x, 9, 1, NODES);
    EXPECT(!images_resize(&all, x, 9));
    EXPECT_INT(images_state(&all, x).size_bytes, 8);
    names_done(&names);
}
