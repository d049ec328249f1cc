#include "kube/known.h"

#include "core/base/rng.h"
#include "support/test.h"

TEST(known, tells_what_a_round_did_not_name)
{
    struct known k = {0};
    known_begin(&k);
    known_add(&k, STR("a"), STR("x"));
    known_add(&k, STR("b"), STR("x"));
    known_add(&k, STR(""), STR("node"));
    known_remove(&k, STR("b"), STR("x"));
    known_remove(&k, STR("b"), STR("y"));
    EXPECT_INT(known_count(&k), 2);
    known_begin(&k);
    known_add(&k, STR("a"), STR("x"));
    struct str namespace, name;
    uint32_t from = 0;
    REQUIRE(known_take_missing(&k, &from, &namespace, &name));
    EXPECT_STR(namespace, "");
    EXPECT_STR(name, "node");
    EXPECT(!known_take_missing(&k, &from, &namespace, &name));
    EXPECT_INT(known_count(&k), 1);
    known_done(&k);
}

TEST(known, agrees_with_a_plain_array)
{
    enum { NAMES = 3000 };
    struct known k = {0};
    struct rng rng = rng_seeded(test_seed());
    static bool is_there[NAMES], is_named[NAMES];
    memset(is_there, 0, sizeof(is_there));
    for (int round = 0; round < 20; round++) {
        memset(is_named, 0, sizeof(is_named));
        known_begin(&k);
        for (int i = 0; i < NAMES; i++) {
            uint32_t at = (uint32_t)rng_below(&rng, NAMES);
            char name[16];
            snprintf(name, sizeof(name), "n%u", at);
            is_there[at] = is_named[at] = rng_below(&rng, 3) > 0;
            if (is_there[at])
                known_add(&k, STR("ns"), str_of(name));
            else
                known_remove(&k, STR("ns"), str_of(name));
        }
        uint32_t gone = 0, taken = 0, left = 0, from = 0;
        for (int i = 0; i < NAMES; i++) {
            gone += is_there[i] && !is_named[i];
            is_there[i] = is_there[i] && is_named[i];
            left += is_there[i];
        }
        struct str namespace, name;
        while (known_take_missing(&k, &from, &namespace, &name))
            taken++;
        EXPECT_INT(taken, gone);
        EXPECT_INT(known_count(&k), left);
    }
    known_done(&k);
}

TEST(known, gives_back_the_room_of_names_that_are_gone)
{
    struct known k = {0};
    char name[16];
    known_begin(&k);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        known_add(&k, STR("a"), str_of(name));
    }
    for (int i = 1; i < 500; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        known_remove(&k, STR("a"), str_of(name));
    }
    known_trim(&k);
    EXPECT_INT(k.names.entries.cap, 1);
    EXPECT_INT(k.round.cap, 1);
    EXPECT_INT(known_count(&k), 1);
    known_begin(&k);
    struct str namespace, missing;
    uint32_t from = 0;
    known_add(&k, STR("a"), STR("p7"));
    REQUIRE(known_take_missing(&k, &from, &namespace, &missing));
    EXPECT_STR(missing, "p0");
    EXPECT(!known_take_missing(&k, &from, &namespace, &missing));
    known_done(&k);
}
