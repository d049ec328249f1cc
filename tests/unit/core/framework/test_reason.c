#include "core/framework/reason.h"

#include "support/test.h"

TEST(reason, one_number_per_plugin_code_and_texts)
{
    AUTO(reasons) r = {0};
    reasons_init(&r);
    struct str ab[] = {STR("a"), STR("b")}, joined[] = {STR("ab")}, a[] = {STR("a")};
    reason_id id = reasons_get(&r, 3, CODE_UNSCHEDULABLE, ab, 2);
    EXPECT(id != 0); /* 0 is "it fits" */
    EXPECT_INT(reasons_get(&r, 3, CODE_UNSCHEDULABLE, ab, 2), id);
    EXPECT(reasons_get(&r, 4, CODE_UNSCHEDULABLE, ab, 2) != id);
    EXPECT(reasons_get(&r, 3, CODE_UNRESOLVABLE, ab, 2) != id);
    EXPECT(reasons_get(&r, 3, CODE_UNSCHEDULABLE, joined, 1) != id);
    EXPECT(reasons_get(&r, 3, CODE_UNSCHEDULABLE, a, 1) != id);
}

TEST(reason, what_was_interned_is_kept_whole)
{
    AUTO(reasons) r = {0};
    reasons_init(&r);
    char text[] = "Insufficient cpu";
    struct str texts[] = {{text, 16}, STR("Too many pods")};
    reason_id id = reasons_get(&r, 7, CODE_UNRESOLVABLE, texts, 2);
    memset(text, 'x', 16); /* the caller's own */
    const struct reason *reason = reasons_at(&r, id);
    EXPECT_INT(reason->plugin, 7);
    EXPECT_INT(reason->code, CODE_UNRESOLVABLE);
    EXPECT_INT(reason->n_texts, 2);
    EXPECT_STR(reason->texts[0], "Insufficient cpu");
    EXPECT_STR(reason->texts[1], "Too many pods");
}

TEST(reason, codes_have_kube_schedulers_names)
{
    EXPECT_TEXT(code_name(CODE_SUCCESS), "Success");
    EXPECT_TEXT(code_name(CODE_UNSCHEDULABLE), "Unschedulable");
    EXPECT_TEXT(code_name(CODE_UNRESOLVABLE), "UnschedulableAndUnresolvable");
    EXPECT_TEXT(code_name(CODE_ERROR), "Error");
}
