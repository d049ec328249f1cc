#include "core/framework/why.h"

#include "support/test.h"

static reason_id reason(struct reasons *r, uint32_t plugin, const char *text, const char *more)
{
    struct str texts[] = {str_of(text), str_of(more ? more : "")};
    return reasons_get(r, plugin, CODE_UNSCHEDULABLE, texts, more ? 2 : 1);
}

static void expect_text(const struct why *w, const struct reasons *r, const struct class *class,
                        const char *wanted)
{
    AUTO(buf) text = {0};
    why_text(w, r, class, &text);
    EXPECT_STR(buf_str(&text), wanted);
}

TEST(why, reasons_sort_as_whole_strings_with_their_counts)
{
    AUTO(reasons) r = {0};
    AUTO(why) w = {.nodes = 15};
    struct class class = {0};
    reasons_init(&r);
    why_add(&w, reason(&r, 1, "node(s) were unschedulable", NULL), 2);
    why_add(&w, reason(&r, 2, "Insufficient cpu", NULL), 10);
    why_add(&w, reason(&r, 3, "Too many pods", NULL), 2);
    why_add(&w, reason(&r, 3, "nobody", NULL), 0);
    expect_text(&w, &r, &class,
                "0/15 nodes are available: 10 Insufficient cpu, 2 Too many pods, 2 node(s) were "
                "unschedulable.");
}

TEST(why, reasons_that_share_a_text_are_counted_together)
{
    AUTO(reasons) r = {0};
    AUTO(why) w = {.nodes = 5};
    struct class class = {0};
    reasons_init(&r);
    why_add(&w, reason(&r, 1, "Insufficient cpu", NULL), 2);
    why_add(&w, reason(&r, 1, "Insufficient cpu", "Insufficient memory"), 1);
    why_add(&w, reason(&r, 1, "Insufficient cpu", "Insufficient memory"), 2);
    expect_text(&w, &r, &class,
                "0/5 nodes are available: 3 Insufficient memory, 5 Insufficient cpu.");
    EXPECT_INT(w.lines.n, 2);
}

TEST(why, errors_are_told_alone)
{
    static const struct str texts[] = {STR("no such class"), STR("no such claim")};
    static const char *const wanted[] = {"", "no such class", "[no such class, no such claim]"};
    AUTO(reasons) r = {0};
    AUTO(why) w = {.nodes = 9};
    reasons_init(&r);
    why_add(&w, reason(&r, 1, "Insufficient cpu", NULL), 2);
    for (uint32_t n = 0; n < 3; n++) {
        AUTO(buf) text = {0};
        if (n)
            why_add(&w, reasons_get(&r, 1, CODE_ERROR, &texts[n - 1], 1), 3);
        EXPECT_INT(why_errors(&w, &r, &text), n > 0);
        EXPECT_STR(buf_str(&text), wanted[n]);
    }
}

TEST(why, no_nodes_is_told_in_other_words)
{
    AUTO(reasons) r = {0};
    AUTO(why) w = {0};
    struct class class = {0};
    reasons_init(&r);
    expect_text(&w, &r, &class, "no nodes available to schedule pods");
    w.nodes = 3; /* nodes, and not a word about them */
    expect_text(&w, &r, &class, "0/3 nodes are available:");
}

TEST(why, a_refused_pod_is_told_once_for_all_nodes)
{
    AUTO(reasons) r = {0};
    AUTO(why) w = {.nodes = 7};
    reasons_init(&r);
    struct class class = {.refusal = reason(&r, 5, "pod affinity terms conflict", "and more")};
    expect_text(&w, &r, &class, "0/7 nodes are available: pod affinity terms conflict, and more.");
}

TEST(why, the_plugins_that_refused_are_bits)
{
    AUTO(reasons) r = {0};
    AUTO(why) w = {.nodes = 3};
    reasons_init(&r);
    struct class class = {.restricted_by = 1 << 2};
    why_add(&w, reason(&r, 5, "x", NULL), 1);
    why_add(&w, reason(&r, 7, "y", NULL), 1);
    why_add(&w, reason(&r, 64, "absent", NULL), 1); /* nobody's own */
    EXPECT_INT(why_plugins(&w, &r, &class), 1 << 2 | 1 << 5 | 1 << 7);
    class.refusal = 1;
    class.refused_by = 1 << 9;
    EXPECT_INT(why_plugins(&w, &r, &class), 1 << 9);
}
