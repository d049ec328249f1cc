#include "sim/decisions.h"

#include "support/test.h"

struct sample {
    struct books books;
    struct buf lines;
    struct decisions d;
};

static void sample_done(struct sample *s)
{
    decisions_done(&s->d);
    buf_done(&s->lines);
}

static void begin(struct sample *s)
{
    s->d.out = &s->lines;
    s->d.books = &s->books;
}

/* The lines since the last time. */
static void expect_lines(struct sample *s, const char *wanted)
{
    EXPECT_STR(buf_str(&s->lines), wanted);
    buf_clear(&s->lines);
}

TEST(decisions, of_those_that_end_a_minimum_is_told_once_and_each_pod_beyond)
{
    AUTO(sample) s = {0};
    begin(&s);
    decisions_end(&s.d, STR("default/b-0"), STR("b"), true);
    decisions_end(&s.d, STR("default/b-0"), STR("b"), false);
    decisions_end(&s.d, STR("default/a-0"), STR("a"), false);
    decisions_end(&s.d, STR("default/b-0"), STR("b"), false);
    decisions_end(&s.d, STR("default/b-0"), STR("b"), true);
    decisions_write_ends(&s.d, 5000);
    expect_lines(&s, "{\"t\":5000,\"unit\":\"default/a-0\",\"queue\":\"a\",\"end\":\"minimum\"}\n"
                     "{\"t\":5000,\"unit\":\"default/b-0\",\"queue\":\"b\",\"end\":\"minimum\"}\n"
                     "{\"t\":5000,\"unit\":\"default/b-0\",\"queue\":\"b\",\"end\":\"beyond\"}\n"
                     "{\"t\":5000,\"unit\":\"default/b-0\",\"queue\":\"b\",\"end\":\"beyond\"}\n");
    decisions_write_ends(&s.d, 5001); /* once */
    expect_lines(&s, "");
}

TEST(decisions, a_start_says_its_class_and_share_unless_it_is_first)
{
    AUTO(sample) s = {0};
    begin(&s);
    struct queue_turn turn = {.unit = STR("x/u"), .queue = STR("q"), .class = 1, .share = 125000};
    decisions_start(&s.d, 0, &turn);
    expect_lines(&s, "{\"t\":0,\"unit\":\"x/u\",\"queue\":\"q\",\"start\":\"minimum\",\"class\":1,"
                     "\"share\":125000}\n");
    turn.is_first = turn.is_beyond = true;
    decisions_start(&s.d, 7, &turn);
    expect_lines(&s, "{\"t\":7,\"unit\":\"x/u\",\"queue\":\"q\",\"start\":\"beyond\"}\n");
}

TEST(decisions, victims_are_told_and_what_they_had_done_is_counted)
{
    AUTO(sample) s = {0};
    struct queue_victim victims[] = {{STR("x/a"), STR("p"), 2, QUEUE_BY_R4},
                                     {STR("x/b"), STR("q"), 1, QUEUE_BY_R5},
                                     {STR("x/c"), STR("q"), 1, QUEUE_BY_O1}};
    struct queue_turn turn = {.unit = STR("x/u"), .queue = STR("q"), .share = 0};
    turn.victims.at = victims;
    turn.victims.n = LEN(victims);
    begin(&s);
    decisions_take(&s.d, STR("x/a"), 1000);
    decisions_take(&s.d, STR("x/a"), 3000);
    decisions_take(&s.d, STR("x/b"), 500);
    decisions_take(&s.d, STR("x/c"), 90000);
    decisions_start(&s.d, 9, &turn);
    expect_lines(&s, "{\"t\":9,\"unit\":\"x/u\",\"queue\":\"q\",\"start\":\"minimum\",\"class\":0,"
                     "\"share\":0,\"victims\":[{\"unit\":\"x/a\",\"queue\":\"p\",\"pods\":2,"
                     "\"rule\":\"R4\"},{\"unit\":\"x/b\",\"queue\":\"q\",\"pods\":1,\"rule\":\"R5\""
                     "},{\"unit\":\"x/c\",\"queue\":\"q\",\"pods\":1,\"rule\":\"O1\"}]}\n");
    EXPECT_INT(s.books.reclaimed, 2);
    EXPECT_INT(s.books.outranked, 1);
    EXPECT_INT(s.books.evicted_gpu_ms, 4500);
    decisions_start(&s.d, 10, &turn); /* nobody was taken for it */
    EXPECT_INT(s.books.evicted_gpu_ms, 4500);
}

/* A unit's refusal. */
static void refuse(struct sample *s, const char *unit, enum queue_rule rule, const char *at)
{
    decisions_refuse(&s->d,
                     &(struct queue_refusal){
                         .rule = rule, .at = str_of(at), .unit = str_of(unit), .queue = STR("q")});
}

TEST(decisions, a_refusal_is_told_when_it_is_another_or_the_unit_has_run)
{
    AUTO(sample) s = {0};
    begin(&s);
    refuse(&s, "x/b", QUEUE_RULE_ROOM, "");
    refuse(&s, "x/a", QUEUE_RULE_A2, "q");
    refuse(&s, "x/c", QUEUE_RULE_NONE, ""); /* was not tried */
    decisions_write_refusals(&s.d, 1);
    expect_lines(&s, "{\"t\":1,\"unit\":\"x/a\",\"queue\":\"q\",\"refuse\":\"A2\",\"at\":\"q\"}\n"
                     "{\"t\":1,\"unit\":\"x/b\",\"queue\":\"q\",\"refuse\":\"room\"}\n");

    refuse(&s, "x/a", QUEUE_RULE_A2, "q"); /* nothing new */
    refuse(&s, "x/b", QUEUE_RULE_A2, "root");
    decisions_write_refusals(&s.d, 2);
    expect_lines(&s,
                 "{\"t\":2,\"unit\":\"x/b\",\"queue\":\"q\",\"refuse\":\"A2\",\"at\":\"root\"}\n");

    refuse(&s, "x/a", QUEUE_RULE_A2, "root"); /* elsewhere */
    decisions_write_refusals(&s.d, 3);
    expect_lines(&s,
                 "{\"t\":3,\"unit\":\"x/a\",\"queue\":\"q\",\"refuse\":\"A2\",\"at\":\"root\"}\n");

    struct queue_turn turn = {.unit = STR("x/a"), .queue = STR("q"), .is_beyond = true};
    decisions_start(&s.d, 4, &turn); /* a pod beyond does not make the minimum run */
    buf_clear(&s.lines);
    refuse(&s, "x/a", QUEUE_RULE_A2, "root");
    decisions_write_refusals(&s.d, 4);
    expect_lines(&s, "");
    turn.is_beyond = false;
    decisions_start(&s.d, 5, &turn);
    buf_clear(&s.lines);
    refuse(&s, "x/a", QUEUE_RULE_A2, "root");
    decisions_write_refusals(&s.d, 6);
    expect_lines(&s,
                 "{\"t\":6,\"unit\":\"x/a\",\"queue\":\"q\",\"refuse\":\"A2\",\"at\":\"root\"}\n");
}
