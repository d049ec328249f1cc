/* Whether, and how, those who wait stand in line: all of it is the engine's
 * (engine/backfill/line.h). A unit that waits for its turn is said to be refused by this plugin. */

#include "core/framework/plugin.h"
#include "core/plugins/args.h"

bool line_policy_parse(struct str text, enum line_policy *out)
{
    static const struct str names[] = {
        [LINE_EASY] = STR("easy"),
        [LINE_FIFO] = STR("fifo"),
        [LINE_FIRST_FIT] = STR("first-fit"),
        [LINE_SJF] = STR("sjf"),
    };
    for (uint32_t i = 0; i < LEN(names); i++)
        if (str_equal(text, names[i])) {
            *out = (enum line_policy)i;
            return true;
        }
    return false;
}

const struct plugin plugin_line_policy = {
    .name = "LinePolicy",
    .keeps_line = true,
};
