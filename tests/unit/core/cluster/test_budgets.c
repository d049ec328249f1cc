#include "core/cluster/budgets.h"

#include "core/cluster/read.h"
#include "support/ground.h"
#include "support/test.h"

/* A budget of a namespace over pods with app=NAME; `allowed` < 0: it is gone. */
static void put(struct ground *g, const char *namespace, const char *name, int32_t allowed)
{
    struct cluster *c = ground_cluster(g);
    struct pair label = {STR("app"), str_of(name)};
    struct label_selector selector = {.match_labels = {&label, 1}};
    struct budget_ask ask = {
        .namespace = ground_sym(g, namespace),
        .name = ground_sym(g, name),
        .selector = allowed < 0 ? ID_NONE : read_selector(c, &selector),
        .allowed = allowed,
    };
    budgets_put(c, &ask);
}

/* "a:1 b:0": the budgets in their order. */
static const char *all_of(struct ground *g)
{
    buf_clear(&g->text);
    buf_add(&g->text, STR(""));
    vec_each(&g->cluster->budgets.at, b)
        buf_printf(&g->text, "%s" STR_FMT ":%d", g->text.n ? " " : "",
                   STR_ARG(names_text(&g->cluster->names, b->name)), b->allowed);
    return g->text.n ? g->text.p : "";
}

TEST(budgets, are_kept_by_name_and_replaced)
{
    AUTO(ground) g = {0};
    put(&g, "x", "b", 1);
    put(&g, "x", "c", 2);
    put(&g, "x", "a", 3);
    EXPECT_TEXT(all_of(&g), "a:3 b:1 c:2");
    put(&g, "x", "b", 0);
    EXPECT_TEXT(all_of(&g), "a:3 b:0 c:2");
    put(&g, "x", "b", -1);
    put(&g, "x", "unknown", -1);
    EXPECT_TEXT(all_of(&g), "a:3 c:2");
}

TEST(budgets, a_change_is_known_in_its_namespace_alone)
{
    AUTO(ground) g = {0};
    put(&g, "x", "a", 1);
    put(&g, "y", "a", 1);
    const struct budgets *b = &g.cluster->budgets;
    sym x = ground_sym(&g, "x"), y = ground_sym(&g, "y"), z = ground_sym(&g, "z");
    uint32_t before = b->changes;
    put(&g, "x", "a", 1); /* as it was */
    EXPECT_INT(b->changes, before);
    put(&g, "x", "a", 2);
    EXPECT(budgets_changed_since(b, x, before));
    EXPECT(!budgets_changed_since(b, y, before));
    EXPECT(!budgets_changed_since(b, z, 0));
    before = b->changes;
    put(&g, "y", "a", -1); /* gone is changed */
    EXPECT(!budgets_changed_since(b, x, before));
    EXPECT(budgets_changed_since(b, y, before));
}

TEST(budgets, one_that_selects_nobody_is_none)
{
    AUTO(ground) g = {0};
    struct label_selector empty = {0};
    struct budget_ask ask = {.namespace = ground_sym(&g, "x"), .name = ground_sym(&g, "a")};
    ask.selector = read_selector(ground_cluster(&g), &empty);
    budgets_put(g.cluster, &ask);
    EXPECT_TEXT(all_of(&g), "");
}

TEST(budgets, pods_on_their_way_out_are_part_of_it)
{
    AUTO(ground) g = {0};
    put(&g, "x", "a", 1);
    struct budget now = g.cluster->budgets.at.at[0];
    uint32_t before = g.cluster->budgets.changes;
    sym gone = ground_sym(&g, "p");
    struct budget_ask ask = {now.namespace, now.name, now.selector, now.allowed, &gone, 1};
    budgets_put(g.cluster, &ask);
    EXPECT_INT(g.cluster->budgets.changes - before, 2); /* the new one came, the old one went */
    EXPECT_INT(g.cluster->budgets.at.at[0].evicted.at[0], gone);
    before = g.cluster->budgets.changes;
    budgets_put(g.cluster, &ask);
    EXPECT_INT(g.cluster->budgets.changes, before);
}
