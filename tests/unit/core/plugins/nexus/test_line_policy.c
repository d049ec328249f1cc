#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/test.h"

TEST(line_policy, has_four_names)
{
    static const struct {
        const char *text;
        enum line_policy policy;
    } cases[] = {
        {"easy", LINE_EASY},
        {"fifo", LINE_FIFO},
        {"first-fit", LINE_FIRST_FIT},
        {"sjf", LINE_SJF},
    };
    enum line_policy policy = LINE_SJF;
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT(line_policy_parse(str_of(cases[i].text), &policy) && policy == cases[i].policy);
    EXPECT(!line_policy_parse(STR("lifo"), &policy));
    EXPECT(!line_policy_parse(STR(""), &policy));
}

TEST(line_policy, is_in_no_built_in_profile)
{
    for (uint32_t p = 0; p < n_built_in_profiles; p++)
        for (uint32_t i = 0; i < built_in_profiles[p].n; i++)
            EXPECT(!built_in_profiles[p].plugins[i].plugin->keeps_line);
}
