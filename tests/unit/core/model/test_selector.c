#include "core/model/selector.h"

#include "support/test.h"

static struct pair labels_at[] = {
    {{"app", 3}, {"web", 3}},
    {{"n", 1}, {"7", 1}},
    {{"tier", 4}, {"", 0}},
};
static const pair_list labels = {labels_at, LEN(labels_at)};

struct row {
    const char *key, *op, *values[3];
    bool matches;
};

static struct requirement requirement_of(const struct row *row, struct str values[3])
{
    uint32_t n = 0;
    for (; n < 3 && row->values[n]; n++)
        values[n] = str_of(row->values[n]);
    return (struct requirement){str_of(row->key), str_of(row->op), {values, n}};
}

TEST(requirement, has_six_operators)
{
    static const struct row rows[] = {
        {"app", "In", {"db", "web"}, true},
        {"app", "In", {"db"}, false},
        {"none", "In", {"web"}, false},
        {"none", "In", {""}, false},
        {"tier", "In", {""}, true},
        {"app", "NotIn", {"web"}, false},
        {"app", "NotIn", {"db"}, true},
        {"none", "NotIn", {"db"}, true},
        {"app", "Exists", {0}, true},
        {"none", "Exists", {0}, false},
        {"app", "DoesNotExist", {0}, false},
        {"none", "DoesNotExist", {0}, true},
        {"n", "Gt", {"6"}, true},
        {"n", "Gt", {"7"}, false},
        {"n", "Lt", {"8"}, true},
        {"n", "Lt", {"-8"}, false},
        {"n", "Lt", {"x"}, false},
        {"app", "Lt", {"8"}, false},
        {"none", "Gt", {"6"}, false},
        {"n", "Gt", {"1", "2"}, false},
        {"n", "Gt", {0}, false},
        {"app", "in", {"web"}, false},
        {"app", "", {"web"}, false},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        struct str values[3];
        struct requirement r = requirement_of(&rows[i], values);
        if (!EXPECT(requirement_matches(&r, labels) == rows[i].matches))
            EXPECT_INT(i, -1);
    }
}

TEST(label_selector, matches_nothing_if_absent_and_everything_if_empty)
{
    EXPECT(!label_selector_matches(NULL, labels));
    EXPECT(label_selector_matches(&(struct label_selector){0}, labels));
    EXPECT(label_selector_matches(&(struct label_selector){0}, (pair_list){0}));
}

TEST(label_selector, needs_all_of_its_labels_and_expressions)
{
    struct requirement exists = {STR("tier"), STR("Exists"), {0}};
    struct label_selector s = {.match_labels = {labels_at, 2}, .match_expressions = {&exists, 1}};
    EXPECT(label_selector_matches(&s, labels));
    exists.key = STR("none");
    EXPECT(!label_selector_matches(&s, labels));
    exists.key = STR("tier");
    struct pair other = {STR("app"), STR("db")};
    s.match_labels.at = &other;
    s.match_labels.n = 1;
    EXPECT(!label_selector_matches(&s, labels));
}

TEST(node_selector, needs_one_term_and_a_term_all_of_its_requirements)
{
    struct str name = STR("n1"), web = STR("web");
    struct requirement app = {STR("app"), STR("In"), {&web, 1}};
    struct requirement field = {STR("metadata.name"), STR("In"), {&name, 1}};
    struct node_selector_term empty = {0},
                              term = {.match_expressions = {&app, 1}, .match_fields = {&field, 1}};
    EXPECT(!node_term_matches(&empty, labels, name));
    EXPECT(node_term_matches(&term, labels, name));
    EXPECT(!node_term_matches(&term, labels, STR("n2")));
    EXPECT(!node_term_matches(&term, (pair_list){0}, name));

    struct node_selector_term terms[] = {empty, term};
    struct node_selector s = {.terms = {terms, 2}};
    EXPECT(node_selector_matches(&s, labels, name));
    s.terms.n = 1;
    EXPECT(!node_selector_matches(&s, labels, name));
    s.terms.n = 0;
    EXPECT(!node_selector_matches(&s, labels, name));
}

TEST(selector, values_of_labels_are_short_words_with_a_letter_or_digit_at_both_ends)
{
    static const char *const good[] = {"", "a", "5", "a-b_c.D"}, *const bad[] = {"-5",  "+5", "a ",
                                                                                 "a/b", "a-", ".a",
                                                                                 "ä"};
    for (size_t i = 0; i < LEN(good); i++)
        EXPECT(is_label_value(str_of(good[i])));
    for (size_t i = 0; i < LEN(bad); i++)
        EXPECT(!is_label_value(str_of(bad[i])));
    char text[64];
    memset(text, 'a', sizeof(text));
    EXPECT(is_label_value((struct str){text, 63}));
    EXPECT(!is_label_value((struct str){text, 64}));
}
