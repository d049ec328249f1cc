#include "core/engine/effect.h"

#include "support/test.h"

TEST(effect, cleared_effects_are_forgotten_and_the_list_is_usable_again)
{
    AUTO(effects) e = {0};
    vec_push(&e.list, (struct effect){.id = 1, .message = arena_str(&e.mem, STR("text"))});
    effects_clear(&e);
    EXPECT_INT(e.list.n, 0);
    EXPECT_INT(e.mem.used_bytes, 0);
    vec_push(&e.list, (struct effect){.id = 2, .message = arena_str(&e.mem, STR("more"))});
    EXPECT_STR(e.list.at[0].message, "more");
}
