#include "sim/report_compare.h"

#include "support/test.h"
#include "unit/sim/story.h"

/* A day on which gangs, evictions and small jobs meet. */
static const char text[] =
    "name: meeting\n"
    "until: 12h\n"
    "nodes: [{name: m, count: 4, cpu: 64, memory: 64Gi, gpus: 8, racks: {size: 2}}]\n"
    "jobs:\n"
    "- {name: gang, pods: 2, arrival: {rate: 2/h}, requests: {nvidia.com/gpu: 8}, "
    "duration: {mean: 1h}, gang: {minAvailable: 2}}\n"
    "- {name: small, arrival: {rate: 14/h}, requests: {nvidia.com/gpu: 1}, duration: {mean: 1h}}\n"
    "- {name: urgent, arrival: {rate: 1/h}, requests: {nvidia.com/gpu: 4}, "
    "duration: {mean: 30m}, priority: 9}\n";

struct duel {
    struct story stories[2];
    struct summary summaries[2];
    struct comparison comparison;
};

static void duel_done(struct duel *d)
{
    comparison_done(&d->comparison);
    for (size_t i = 0; i < LEN(d->stories); i++) {
        summary_done(&d->summaries[i]);
        story_done(&d->stories[i]);
    }
}

static bool fight(struct duel *d)
{
    static const struct contestant who[] = {
        {STR("ours"), STR("kubenexus-scheduler"), STR("none"), true},
        {STR("theirs"), STR("default-scheduler"), STR("none"), false},
    };
    for (size_t i = 0; i < LEN(d->stories); i++) {
        struct story *s = &d->stories[i];
        if (!story_open(s, text, 1))
            return false;
        world_free(s->world);
        s->plan.scheduler = who[i].profile;
        s->world = world_new(&s->plan, &(struct engine_config){0});
        story_run(s);
        summary_init(&d->summaries[i], world_books(s->world), world_engine_stats(s->world));
        d->summaries[i].who = who[i];
    }
    comparison_init(&d->comparison, d->summaries, 2);
    return true;
}

static const struct compare_row *row_of(const struct duel *d, const char *key)
{
    vec_each(&d->comparison.rows, row)
        if (!strcmp(row->key, key))
            return row;
    return NULL;
}

TEST(report_compare, the_plan_says_who_decides_and_all_else_is_the_same)
{
    AUTO(duel) d = {0};
    REQUIRE(fight(&d));
    const struct compare_row *held = row_of(&d, "heldHours"),
                             *half = row_of(&d, "gangsHalfStarted");
    REQUIRE(held && half);
    EXPECT_REAL(held->numbers[0], 0);
    EXPECT(held->numbers[1] > 0 && half->numbers[1] > 0);
    EXPECT_INT(held->best, 0);
    EXPECT_INT(d.summaries[0].all.created - d.summaries[0].all.evicted,
               d.summaries[1].all.created - d.summaries[1].all.evicted);
}

TEST(report_compare, what_reads_alike_has_no_winner)
{
    AUTO(duel) d = {0};
    REQUIRE(fight(&d));
    uint32_t alike = 0;
    vec_each(&d.comparison.rows, row) {
        bool is_alike = !strcmp(row->values[0].s, row->values[1].s);
        alike += is_alike;
        EXPECT_INT(row->best == CONTESTANTS_MOST, is_alike || !strcmp(row->values[1].s, "-"));
        if (row->best != CONTESTANTS_MOST) {
            double x = row->numbers[row->best], y = row->numbers[1 - row->best];
            EXPECT(row->is_more ? x > y : x < y);
        }
    }
    EXPECT(alike < d.comparison.rows.n);
}

TEST(report_compare, the_table_has_each_row_once_within_80_columns)
{
    AUTO(duel) d = {0};
    AUTO(buf) out = {0};
    REQUIRE(fight(&d));
    comparison_table(&d.comparison, NULL, &out);
    buf_add_char(&out, 0);
    const char *at = strstr(out.p, "GPUs in use");
    REQUIRE(at);
    for (const char *line = at; *line != '\n'; line = strchr(line, '\n') + 1)
        EXPECT(strchr(line, '\n') - line <= 80);
    vec_each(&d.comparison.rows, row)
        EXPECT(strstr(out.p, row->name));
    for (uint32_t i = 0; comparison_rules[i]; i++)
        EXPECT(strstr(out.p, comparison_rules[i]));
    EXPECT(strstr(out.p, "theirs: profile default-scheduler, policy none; gangs: not known"));
}

TEST(report_compare, json_has_the_rows_and_each_result_and_repeats_itself)
{
    AUTO(duel) d = {0};
    AUTO(duel) again = {0};
    AUTO(buf) first = {0};
    AUTO(buf) second = {0};
    REQUIRE(fight(&d) && fight(&again));
    comparison_json(&d.comparison, NULL, &first);
    comparison_json(&again.comparison, NULL, &second);
    EXPECT(str_equal(buf_str(&first), buf_str(&second)));
    buf_add_char(&first, 0);
    EXPECT(strstr(first.p, "\"key\":\"heldHours\",\"values\":[0,"));
    EXPECT(strstr(first.p, "\"contestants\":[{\"contestant\":{\"name\":\"ours\""));
    EXPECT(!strstr(first.p, "\"host\""));
}
