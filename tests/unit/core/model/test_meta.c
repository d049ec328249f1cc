#include "core/model/meta.h"

#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "support/test.h"

static struct meta read(struct arena *mem, const char *json)
{
    struct meta m = {0};
    struct error e = {0};
    size_t where;
    EXPECT(json_read(str_of(json), meta_fields, &m, mem, &where, &e));
    return m;
}

TEST(meta, what_is_absent_is_empty_and_times_are_none)
{
    AUTO(arena) mem = {0};
    struct meta m = read(&mem, "{}");
    EXPECT_STR(m.name, "");
    EXPECT_INT(m.labels.n + m.annotations.n + m.owners.n + m.finalizers.n, 0);
    EXPECT_INT(m.created_ms, TIME_NONE);
    EXPECT_INT(m.deleted_ms, TIME_NONE);
}

TEST(meta, times_are_milliseconds_since_1970)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:01:00Z", 60000},
        {"2026-01-01T00:00:00Z", 1767225600000},
        {"1970-01-01T01:00:00+01:00", 0}, /* a place on earth */
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        test_case("%s", cases[i].text);
        struct str json = arena_printf(
            &mem, "{\"creationTimestamp\":\"%s\",\"deletionTimestamp\":null}", cases[i].text);
        struct meta m = read(&mem, json.p);
        EXPECT_INT(m.created_ms, cases[i].ms);
        EXPECT_INT(m.deleted_ms, TIME_NONE);
    }
}

TEST(meta, maps_keep_every_pair_and_owners_say_who_is_in_charge)
{
    AUTO(arena) mem = {0};
    struct meta m =
        read(&mem, "{\"labels\":{\"b\":\"2\",\"a\":\"\"},\"annotations\":{\"x\":\"y\"},"
                   "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"1\"},"
                   "{\"kind\":\"ReplicaSet\",\"name\":\"r\",\"controller\":true}]}");
    EXPECT_INT(m.labels.n, 2);
    EXPECT_INT(m.annotations.n, 1);
    REQUIRE(m.owners.n == 2);
    EXPECT(!m.owners.at[0].is_controller);
    EXPECT_STR(m.owners.at[0].uid, "1");
    EXPECT(m.owners.at[1].is_controller);
}

TEST(meta, a_selector_has_labels_and_expressions)
{
    AUTO(arena) mem = {0};
    struct label_selector s = {0};
    struct error e = {0};
    size_t where;
    REQUIRE(json_read(STR("{\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":"
                          "\"tier\",\"operator\":\"NotIn\",\"values\":[\"a\",\"b\"]}]}"),
                      label_selector_fields, &s, &mem, &where, &e));
    REQUIRE(s.match_labels.n == 1 && s.match_expressions.n == 1);
    EXPECT_STR(s.match_labels.at[0].value, "web");
    EXPECT_STR(s.match_expressions.at[0].op, "NotIn");
    EXPECT_INT(s.match_expressions.at[0].values.n, 2);
}
