#include "core/model/queue_status.h"

#include "core/model/object.h"
#include "core/wire/json_read.h"
#include "support/test.h"

static struct queue_status sample(struct queue_status_row *rows, uint32_t n)
{
    struct queue_status s = {.generation = 3,
                             .as_of_ms = 1767225600000,
                             .running = 3,
                             .waiting = 2,
                             .blocked = 1,
                             .share = 137000000};
    s.rows.at = rows;
    s.rows.n = n;
    s.conditions[0] =
        (struct status_condition){STR("Active"), true, STR("Open"), STR(""), 1767225600000};
    return s;
}

static struct queue_status_row row(const char *resource, bool in_thousandths)
{
    return (struct queue_status_row){.resource = str_of(resource),
                                     .guaranteed = 16000,
                                     .entitled = 20000,
                                     .used = 24500,
                                     .borrowed = 8500,
                                     .waiting = 4000,
                                     .max = 64000,
                                     .in_thousandths = in_thousandths};
}

TEST(queue_status, is_text_as_the_kind_has_it)
{
    AUTO(arena) mem = {0};
    struct queue_status_row rows[] = {row("cpu", true), row("memory", false),
                                      row("nvidia.com/gpu", true)};
    rows[1].max = -1;
    struct queue_status s = sample(rows, LEN(rows));
    struct queue_status_use history = {STR("cpu"), 65536};
    struct queue_status_budget budget = {
        STR("cpu"), STR("Day"), 1767225600000, 1767312000000, 5, (__int128)1e18, -1};
    budget.spent *= 1000;
    s.history.at = &history;
    s.budgets.at = &budget;
    s.history.n = s.budgets.n = 1;
    EXPECT_STR(
        queue_status_text(&s, &mem),
        "\"status\":{\"observedGeneration\":3,\"asOf\":\"2026-01-01T00:00:00Z\","
        "\"summary\":\"24500m/16/64\",\"share\":\"0.137000000\","
        "\"jobs\":{\"running\":3,\"waiting\":2,\"blocked\":1},\"resources\":["
        "{\"name\":\"cpu\",\"guaranteed\":\"16\",\"entitled\":\"20\",\"max\":\"64\",\"used\":"
        "\"24500m\",\"borrowed\":\"8500m\",\"lent\":\"0\",\"waiting\":\"4\"},"
        "{\"name\":\"memory\",\"guaranteed\":\"16k\",\"entitled\":\"20k\",\"used\":\"24500\","
        "\"borrowed\":\"8500\",\"lent\":\"0\",\"waiting\":\"4k\"},"
        "{\"name\":\"nvidia.com/gpu\",\"guaranteed\":\"16\",\"entitled\":\"20\",\"max\":\"64\","
        "\"used\":\"24500m\",\"borrowed\":\"8500m\",\"lent\":\"0\",\"waiting\":\"4\"}],"
        "\"history\":[{\"resource\":\"cpu\",\"amount\":\"65536\"}],"
        "\"budgets\":[{\"resource\":\"cpu\",\"window\":\"Day\",\"from\":\"2026-01-01T00:00:00Z\","
        "\"until\":\"2026-01-02T00:00:00Z\",\"spent\":\"1000000000000000000000\",\"hours\":5}],"
        "\"conditions\":[{\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Open\",\"message\":"
        "\"\",\"observedGeneration\":3,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}");
}

TEST(queue_status, is_read_back_as_it_was_written)
{
    AUTO(arena) mem = {0};
    size_t where;
    struct error e = {0};
    struct queue_status s = sample(NULL, 0);
    struct queue_status_use history = {STR("cpu"), UINT64_MAX};
    struct queue_status_budget budget = {
        STR("cpu"), STR("Day"), 0, 86400000, 5, (__int128)UINT64_MAX * 12345, 1000};
    s.history.at = &history;
    s.budgets.at = &budget;
    s.history.n = s.budgets.n = 1;
    struct queue_object q;
    struct str text = arena_printf(&mem, "{" STR_FMT "}", STR_ARG(queue_status_text(&s, &mem)));
    REQUIRE(json_read(text, kind_info_get(KIND_QUEUE)->fields, &q, &mem, &where, &e));
    EXPECT_INT(q.status.as_of_ms, s.as_of_ms);
    REQUIRE(q.status.history.n == 1 && q.status.budgets.n == 1 && q.status.conditions.n == 1);
    __int128 n;
    EXPECT(queue_number_parse(q.status.history.at[0].amount, &n) && n == UINT64_MAX);
    EXPECT(queue_number_parse(q.status.budgets.at[0].spent, &n) && n == budget.spent);
    EXPECT_INT(q.status.budgets.at[0].until_ms, 86400000);
    EXPECT(!queue_number_parse(STR(""), &n) && !queue_number_parse(STR("-1"), &n));
    n = 7; /* of what is too long nothing is read, for no integer might hold it */
    EXPECT(!queue_number_parse(STR("1234567890123456789012345678901234567"), &n) && n == 7);
}

TEST(queue_status, differs_when_it_says_something_else_of_now)
{
    struct queue_status_row rows[] = {row("cpu", true)};
    struct queue_status a = sample(rows, 1), b = a;
    b.as_of_ms++;
    b.conditions[0].since_ms++;
    EXPECT(queue_status_hash(&a) == queue_status_hash(&b));
    b.blocked++;
    EXPECT(queue_status_hash(&a) != queue_status_hash(&b));
    b = a;
    b.conditions[0].is_true = false;
    EXPECT(queue_status_hash(&a) != queue_status_hash(&b));
    uint64_t before = queue_status_hash(&a);
    rows[0].lent++;
    EXPECT(queue_status_hash(&a) != before);
}
