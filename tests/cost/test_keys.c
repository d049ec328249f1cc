/* Names that were chosen so that a table without a secret would have them all in one place cost
 * what others cost. */

#include <stdio.h>

#include "core/base/hash.h"
#include "count.h"
#include "scenes.h"
#include "support/test.h"

#define IN_PROPORTION 2.3

enum { LEAST = 500, PLACES = 1 << 12 };

/* The next name after number `from` that a table of PLACES places or fewer has in its first place,
 * if its secret is 0. */
static uint32_t next_name(uint32_t from)
{
    char name[20];
    for (uint32_t i = from;; i++) {
        int n = snprintf(name, sizeof(name), "k%u", i);
        if (hash_secretly(name, (size_t)n, 0) % PLACES == 0)
            return i;
    }
}

static uint64_t play(const uint32_t *names, uint32_t n)
{
    struct engine_config config = {0};
    struct engine *k = engine_new(&config);
    uint64_t before = cost_so_far.steps;
    for (uint32_t i = 0; i < n; i++)
        scene_apply(k, 0, CHANGE_PUT, "pod p# cpu=1m scheduler=another label:k#=v", names[i]);
    uint64_t after = cost_so_far.steps;
    engine_free(k);
    return after - before;
}

TEST(cost, of_names_that_were_chosen_to_collide_is_that_of_others)
{
    uint32_t names[4 * LEAST];
    for (uint32_t i = 0, last = 0; i < LEN(names); i++, last++)
        names[i] = last = next_name(last);
    uint64_t few = play(names, LEAST), more = play(names, 2 * LEAST), most = play(names, 4 * LEAST);
    test_case("%llu, %llu, %llu", (unsigned long long)few, (unsigned long long)more,
              (unsigned long long)most);
    EXPECT((double)more <= IN_PROPORTION * (double)few);
    EXPECT((double)most <= IN_PROPORTION * (double)more);
}
