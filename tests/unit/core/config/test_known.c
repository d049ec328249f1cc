#include "core/config/known.h"

#include "core/plugins/plugins.h"
#include "support/test.h"

TEST(known, every_plugin_that_exists_can_be_named)
{
    for (uint32_t i = 0; i < n_plugins; i++) {
        bool is_alias;
        const struct known_plugin *known = known_plugin_find(str_of(plugins[i]->name), &is_alias);
        test_case("%s", plugins[i]->name);
        REQUIRE(known && !is_alias);
        EXPECT_INT(known->presence, PLUGIN_HERE);
        EXPECT_INT(known_plugin_number(known), i);
    }
}

TEST(known, a_plugin_takes_part_where_its_table_says)
{
    for (uint32_t i = 0; i < n_known_plugins; i++) {
        const struct known_plugin *known = &known_plugins[i];
        if (known->presence != PLUGIN_HERE)
            continue;
        const struct plugin *p = plugins[known_plugin_number(known)];
        test_case("%s", p->name);
        EXPECT_INT(known->points >> POINT_PRE_ENQUEUE & 1,
                   p->gate || p->preempts || p->keeps_line || p->keeps_queues || p->gangs_natively);
        EXPECT_INT(known->points >> POINT_POST_FILTER & 1, p->preempts || p->post_filter);
        EXPECT_INT(known->points >> POINT_QUEUE_SORT & 1, p->before != NULL);
        EXPECT_INT(known->points >> POINT_SCORE & 1, p->row_score || p->key_score);
        EXPECT_INT(known->points >> POINT_PERMIT & 1, p->gangs);
        if (p->row_filter || (p->key_filter && !p->gangs))
            EXPECT(known->points >> POINT_FILTER & 1);
    }
}

TEST(known, what_scores_has_weights_and_what_does_not_has_none)
{
    for (uint32_t i = 0; i < n_known_plugins; i++) {
        const struct known_plugin *known = &known_plugins[i];
        bool scores = known->points >> POINT_SCORE & 1 && known->presence == PLUGIN_HERE;
        test_case("%s", known->name.p);
        EXPECT_INT(known->weight > 0, scores);
        EXPECT_INT(known->kube.weight > 0, scores && known->kube.is_in);
        EXPECT_INT(known->kubenexus.weight > 0, scores && known->kubenexus.is_in);
    }
}

TEST(known, every_row_says_where_it_takes_part_and_what_it_does)
{
    for (uint32_t i = 0; i < n_known_plugins; i++) {
        struct str summary = str_of(known_plugins[i].summary);
        test_case("%s", known_plugins[i].name.p);
        EXPECT(known_plugins[i].points && known_plugins[i].points < 1u << N_POINTS);
        EXPECT(summary.n && summary.p[summary.n - 1] == '.');
    }
}

TEST(known, names_are_unique_and_aliases_lead_to_them)
{
    static const char *const aliases[] = {
        "WorkloadAware",         "TopologySpread", "Backfill",      "BackfillScheduler",
        "ResourceFragmentation", "TenantHardware", "NetworkFabric", "NUMA",
        "NodeResourceTopology"};
    bool is_alias;
    for (uint32_t i = 0; i < n_known_plugins; i++)
        EXPECT(known_plugin_find(known_plugins[i].name, &is_alias) == &known_plugins[i]);
    for (size_t i = 0; i < LEN(aliases); i++)
        EXPECT(known_plugin_find(str_of(aliases[i]), &is_alias) && is_alias);
    EXPECT(!known_plugin_find(STR("Nope"), &is_alias));
    EXPECT(known_plugin_is_removed(STR("EBSLimits")) && !known_plugin_is_removed(STR("NodeName")));
}
