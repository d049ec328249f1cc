#include "sim/report_html.h"

#include "support/test.h"
#include "unit/sim/story.h"

static const char story_text[] =
    "name: <b> & \"co\"\n"
    "nodes:\n"
    "- {name: g, count: 4, cpu: 8, memory: 8Gi, gpus: 2, racks: {size: 2}}\n"
    "- {name: c, count: 1, cpu: 8, memory: 8Gi}\n"
    "jobs:\n"
    "- {name: a, arrival: {rate: 30/h, until: 6h}, requests: {cpu: 1, nvidia.com/gpu: 1}, "
    "duration: {mean: 20m}, gang: {minAvailable: 1}}\n"
    "- {name: pair, pods: 2, requests: {nvidia.com/gpu: 2}, duration: 20m, gang: {minAvailable: "
    "2}}\n"
    "- {name: big, requests: {cpu: 9}}\n";

static void run(struct story *s, struct summary *summary, uint64_t seed)
{
    if (!story_open(s, story_text, seed))
        return;
    story_run(s);
    summary_init(summary, world_books(s->world), world_engine_stats(s->world));
}

static bool has(const struct buf *text, const char *part)
{
    return text->n && strstr(text->p, part);
}

TEST(report, json_is_the_same_for_the_same_seed)
{
    AUTO(story) a = {0};
    AUTO(story) b = {0};
    AUTO(story) c = {0};
    AUTO(summary) x = {0};
    AUTO(summary) y = {0};
    AUTO(summary) z = {0};
    run(&a, &x, 1);
    run(&b, &y, 1);
    run(&c, &z, 2);
    AUTO(buf) first = {0};
    AUTO(buf) again = {0};
    AUTO(buf) other = {0};
    report_json(&x, NULL, &first);
    report_json(&y, NULL, &again);
    report_json(&z, NULL, &other);
    EXPECT(first.n > 500 && str_equal(buf_str(&first), buf_str(&again)));
    EXPECT(!str_equal(buf_str(&first), buf_str(&other)));
    EXPECT(!has(&first, "\"host\""));
}

TEST(report, what_the_machine_decides_stands_under_host)
{
    AUTO(story) s = {0};
    AUTO(summary) x = {0};
    AUTO(buf) text = {0};
    run(&s, &x, 1);
    report_json(&x, &(struct host){.wall_s = 0.5, .peak_bytes = 4096}, &text);
    EXPECT(has(&text, "\"host\":{\"wallSeconds\":0.5,\"decisionsPerSecond\":"));
    EXPECT(has(&text, "\"peakBytes\":4096"));
}

TEST(report, the_table_has_what_one_asks_first)
{
    AUTO(story) s = {0};
    AUTO(summary) x = {0};
    AUTO(buf) text = {0};
    run(&s, &x, 1);
    report_table(&x, NULL, &text);
    EXPECT(has(&text, "5 nodes"));
    EXPECT(has(&text, "1 pending"));
    EXPECT(has(&text, "GPU "));
    EXPECT(has(&text, "still pending"));
    EXPECT(has(&text, "1 × 0/5 nodes are available"));
    EXPECT(!has(&text, "decisions/s"));
    buf_clear(&text);
    report_table(&x, &(struct host){.wall_s = 1, .longest_step_s = 0.0025, .peak_bytes = 1 << 20},
                 &text);
    EXPECT(has(&text, "decisions/s; longest step 2.50 ms; peak memory 1.0 MiB"));
}

TEST(report, the_page_has_every_part_and_needs_nothing_from_outside)
{
    static const char *const parts[] = {
        "<!doctype html>", "id=\"utilisation\"",
        "id=\"classes\"",  "id=\"queue\"",
        "id=\"waits\"",    "id=\"groups\"",
        "id=\"jobs\"",     "id=\"resources\"",
        "id=\"pending\"",  "id=\"scenario\"",
        "role=\"img\"",    "prefers-color-scheme:dark",
        "@media print",    "GPUs in use, by rack",
        "id=\"islands\"",  "id=\"evictions\"",
        "id=\"sizes\"",    "@container(max-width:",
        "</html>",         "&lt;b&gt; &amp; &quot;co&quot;",
    };
    static const char *const outside[] = {"http:", "https:",  "src=", "@import",
                                          "url(",  "<script", "<b> &"};
    AUTO(story) s = {0};
    AUTO(summary) x = {0};
    AUTO(buf) page = {0};
    AUTO(comparison) c = {0};
    run(&s, &x, 1);
    comparison_init(&c, &x, 1);
    report_html(&c, NULL, &page);
    for (size_t i = 0; i < LEN(parts); i++) {
        if (!has(&page, parts[i]))
            EXPECT_TEXT("missing", parts[i]);
    }
    for (size_t i = 0; i < LEN(outside); i++)
        EXPECT(!has(&page, outside[i]));
    EXPECT(page.n < 400000);
    EXPECT(!has(&page, "c-0 ")); /* a group without GPUs has no row */
}

TEST(report, a_world_without_jobs_can_be_reported)
{
    AUTO(story) s = {0};
    REQUIRE(story_open(&s, "nodes: [{name: m, cpu: 1, memory: 1Gi}]\n", 1));
    story_run(&s);
    AUTO(summary) x = {0};
    AUTO(buf) text = {0};
    summary_init(&x, world_books(s.world), world_engine_stats(s.world));
    AUTO(comparison) c = {0};
    comparison_init(&c, &x, 1);
    report_html(&c, NULL, &text);
    report_table(&x, NULL, &text);
    report_json(&x, NULL, &text);
    EXPECT(has(&text, "</html>"));
    EXPECT(!has(&text, "nan"));
    EXPECT(!has(&text, "inf"));
}

TEST(report, a_page_of_two_has_both_with_profile_and_policy)
{
    static const char *const parts[] = {
        "id=\"comparison\"",
        "id=\"classes-2\"",
        "id=\"groups-2\"",
        "id=\"jobs-2\"",
        "id=\"gangs\"",
        "id=\"islands\"",
        "id=\"evictions\"",
        "class=\"best\"",
        "<b>one &lt;&gt;</b><p>profile p1, policy easy; gangs: placed whole or not at all.</p>",
        "<b>two</b><p>profile p2, policy none; gangs: not known, their pods start one by one.</p>",
        "held by half-started gangs",
    };
    struct story stories[2] = {0};
    struct summary summaries[2] = {0};
    AUTO(comparison) c = {0};
    AUTO(buf) page = {0};
    for (uint32_t i = 0; i < 2; i++) {
        run(&stories[i], &summaries[i], i + 1);
        summaries[i].who = i ? (struct contestant){STR("two"), STR("p2"), STR("none"), false}
                             : (struct contestant){STR("one <>"), STR("p1"), STR("easy"), true};
    }
    comparison_init(&c, summaries, 2);
    report_html(&c, NULL, &page);
    for (size_t i = 0; i < LEN(parts); i++) {
        if (!has(&page, parts[i]))
            EXPECT_TEXT("missing", parts[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        summary_done(&summaries[i]);
        story_done(&stories[i]);
    }
}
