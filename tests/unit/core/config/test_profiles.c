#include "core/config/config.h"

#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "read.h"

/* The text of a profile called p with these plugins. */
#define PLUGINS(text) "profiles:\n- schedulerName: p\n  plugins:\n" text

/* Where a plugin takes part, as far as its table says that it can. */
static uint32_t effective_off(const struct profile_plugin *p)
{
    const struct plugin *t = p->plugin;
    uint32_t can = t->gate ? PROFILE_NO_GATE : 0;
    can |= t->row_filter || t->key_filter ? PROFILE_NO_FILTER : 0;
    can |= t->row_score || t->key_score ? PROFILE_NO_SCORE : 0;
    can |= t->preempts || t->post_filter ? PROFILE_NO_POST_FILTER : 0;
    can |= t->gangs ? PROFILE_NO_GANGS : 0;
    can |= t->reserve ? PROFILE_NO_RESERVE : 0;
    return p->off & can;
}

/* The plugins that filter, in their order. */
static void add_filters(const struct profile *p, struct buf *out)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct plugin *t = p->plugins[i].plugin;
        if (t->row_filter || t->key_filter)
            buf_printf(out, "%s ", t->name);
    }
}

static void expect_built_in(const struct profile *got, const struct profile *want)
{
    AUTO(buf) filters = {0}, wanted = {0};
    REQUIRE(got->n == want->n);
    EXPECT_STR(got->name, want->name.p);
    add_filters(got, &filters);
    add_filters(want, &wanted);
    EXPECT_TEXT(filters.p, wanted.p);
    for (uint32_t i = 0; i < want->n; i++) {
        uint32_t k = 0;
        while (k < got->n && got->plugins[k].number != want->plugins[i].number)
            k++;
        test_case("%s", want->plugins[i].plugin->name);
        REQUIRE(k < got->n);
        EXPECT(got->plugins[k].plugin == want->plugins[i].plugin);
        EXPECT_INT(got->plugins[k].weight, want->plugins[i].weight);
        EXPECT_INT(effective_off(&got->plugins[k]), 0);
        EXPECT(!got->plugins[k].args);
    }
}

TEST(profiles, without_any_the_built_in_default_comes_out)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, ""));
    expect_built_in(&c.profiles[0], &built_in_profiles[BUILT_IN_KUBE]);
    EXPECT_TEXT(config_point(&c, POINT_FILTER),
                "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
                "NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
                "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures");
    EXPECT_TEXT(config_point(&c, POINT_SCORE),
                "TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 "
                "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
                "NodeResourcesBalancedAllocation 1 ImageLocality 1");
    EXPECT_TEXT(config_point(&c, POINT_PRE_ENQUEUE),
                "SchedulingGates DynamicResources DefaultPreemption");
    EXPECT_TEXT(config_point(&c, POINT_QUEUE_SORT), "PrioritySort");
    EXPECT_TEXT(config_point(&c, POINT_RESERVE), "VolumeBinding DynamicResources");
    EXPECT_TEXT(config_point(&c, POINT_BIND), "DefaultBinder");
    EXPECT_TEXT(config_point(&c, POINT_PERMIT), "");
}

TEST(profiles, of_kube_schedulers_default_all_plugins_are_there)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, ""));
    const struct profile_listing *l = &c.listings[0];
    EXPECT_INT(l->missing.n, 0);
    list_each(&l->points[POINT_FILTER], p)
        EXPECT(p->runs);
}

TEST(profiles, merge_and_expand_as_kube_scheduler_does)
{
    static const struct {
        const char *text;
        enum point point;
        const char *want;
    } cases[] = {
        /* a weight of MultiPoint is replaced in place */
        {PLUGINS(
             "    multiPoint: {enabled: [{name: ImageLocality, weight: 7}, {name: NodeAffinity, "
             "weight: 5}], disabled: [{name: VolumeBinding}, {name: DynamicResources}, {name: "
             "InterPodAffinity}]}"),
         POINT_SCORE,
         "TaintToleration 3 NodeAffinity 5 NodeResourcesFit 1 PodTopologySpread 2 "
         "NodeResourcesBalancedAllocation 1 ImageLocality 7"},
        /* what is disabled and enabled again goes to the end */
        {PLUGINS("    multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: "
                 "NodeResourcesFit, weight: 2}, {name: NodeName}, {name: DefaultBinder}]}"),
         POINT_FILTER, "NodeResourcesFit NodeName"},
        /* a specific weight wins, and comes first */
        {PLUGINS("    score: {enabled: [{name: ImageLocality, weight: 4}], disabled: [{name: "
                 "VolumeBinding}, {name: InterPodAffinity}, {name: DynamicResources}]}"),
         POINT_SCORE,
         "ImageLocality 4 TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 PodTopologySpread 2 "
         "NodeResourcesBalancedAllocation 1"},
        /* "*" at a point leaves its own list alone; 0 means 1 */
        {PLUGINS(
             "    score: {enabled: [{name: ImageLocality, weight: 0}], disabled: [{name: '*'}]}"),
         POINT_SCORE, "ImageLocality 1"},
        /* enabled and disabled at a point: behind all others */
        {PLUGINS("    score: {enabled: [{name: TaintToleration, weight: 6}], disabled: [{name: "
                 "TaintToleration}, {name: VolumeBinding}, {name: InterPodAffinity}, {name: "
                 "DynamicResources}]}"),
         POINT_SCORE,
         "NodeAffinity 2 NodeResourcesFit 1 PodTopologySpread 2 NodeResourcesBalancedAllocation 1 "
         "ImageLocality 1 TaintToleration 6"},
        /* other points do not hear of it */
        {PLUGINS("    score: {disabled: [{name: '*'}]}"), POINT_POST_FILTER,
         "DynamicResources DefaultPreemption"},
        /* plugins that are still to come take their place */
        {PLUGINS(
             "    score: {enabled: [{name: NUMATopology, weight: 10}], disabled: [{name: '*'}]}\n"
             "    permit: {enabled: [{name: Coscheduling}]}"),
         POINT_PERMIT, "Coscheduling"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        if (EXPECT_TEXT(config_errors(&c, cases[i].text), ""))
            EXPECT_TEXT(config_point(&c, cases[i].point), cases[i].want);
    }
}

static const struct profile_plugin *find(const struct scheduler_config *c, const char *name)
{
    const struct profile *p = &c->profiles[0];
    for (uint32_t i = 0; i < p->n; i++)
        if (strcmp(p->plugins[i].plugin->name, name) == 0)
            return &p->plugins[i];
    return NULL;
}

TEST(profiles, keep_plugins_out_of_single_points)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, PLUGINS("    filter: {disabled: [{name: NodeResourcesFit}]}\n"
                                  "    score: {disabled: [{name: TaintToleration}]}\n"
                                  "    preEnqueue: {disabled: [{name: '*'}]}\n"
                                  "    multiPoint: {disabled: [{name: NodePorts}]}\n")));
    const uint32_t never = PROFILE_NO_GATE | PROFILE_NO_POST_FILTER | PROFILE_NO_RESERVE;
    EXPECT_INT(find(&c, "NodeResourcesFit")->off, never | PROFILE_NO_FILTER);
    EXPECT_INT(find(&c, "NodeResourcesFit")->weight, 1);
    EXPECT_INT(find(&c, "TaintToleration")->off, never | PROFILE_NO_SCORE);
    EXPECT_INT(find(&c, "NodeAffinity")->off, never);
    EXPECT_INT(find(&c, "DefaultPreemption")->off & PROFILE_NO_POST_FILTER, 0);
    EXPECT_INT(find(&c, "VolumeBinding")->off & PROFILE_NO_RESERVE, 0);
    EXPECT(find(&c, "PrioritySort") && !find(&c, "SchedulingGates") && !find(&c, "NodePorts"));
}

TEST(profiles, the_order_of_filters_is_the_files)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, PLUGINS("    filter: {enabled: [{name: NodePorts}, {name: NodeName}]}")));
    EXPECT_TEXT(c.profiles[0].plugins[3].plugin->name, "NodePorts");
    EXPECT_TEXT(c.profiles[0].plugins[4].plugin->name, "NodeName");
    EXPECT_TEXT(c.profiles[0].plugins[5].plugin->name, "NodeUnschedulable");
}

TEST(profiles, say_what_they_cannot_do_quite_as_upstream)
{
    static const char *const cases[][2] = {
        {PLUGINS("    filter: {enabled: [{name: PodTopologySpread}]}"),
         "6 profiles[0].plugins.filter: NodeUnschedulable is asked before PodTopologySpread: a "
         "node that both refuse is refused by the former"},
        {PLUGINS("    score: {enabled: [{name: TenantHardware}]}"),
         "6 profiles[0].plugins.score.enabled[0].name: \"TenantHardware\" is called "
         "TenantHardwareAffinityScore"},
        {PLUGINS("    score: {disabled: [{name: NodeLabel}]}"),
         "6 profiles[0].plugins.score.disabled[0].name: \"NodeLabel\" does not exist: nothing to "
         "disable"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(config_notes(&c, cases[i][0]), cases[i][1]);
}

TEST(profiles, gangs_are_placed_and_ordered_where_the_file_says)
{
    static const struct {
        const char *text;
        bool orders, places;
    } cases[] = {
        {PLUGINS("    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}"), true,
         false},
        /* MultiPoint brings two orders: upstream refuses, here the file's own wins */
        {PLUGINS("    multiPoint: {enabled: [{name: Coscheduling}]}"), true, true},
        {PLUGINS("    permit: {enabled: [{name: Coscheduling}]}"), false, true},
        {PLUGINS("    multiPoint: {enabled: [{name: Coscheduling}]}\n"
                 "    permit: {disabled: [{name: Coscheduling}]}"),
         true, false},
        {PLUGINS("    multiPoint: {enabled: [{name: GangPreemption}]}"), false, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        test_case("%s", cases[i].text);
        REQUIRE(config_of(&c, cases[i].text));
        EXPECT_INT(c.notes.n, 0);
        EXPECT_INT(find(&c, "PrioritySort") == NULL, cases[i].orders);
        EXPECT_INT(profile_gangs(&c.profiles[0]) != NULL, cases[i].places);
    }
}

TEST(profiles, the_gate_for_groups_adds_their_plugin)
{
    AUTO(scheduler_config) c = {.has_groups = true};
    REQUIRE(config_of(&c, ""));
    EXPECT_TEXT(config_point(&c, POINT_PERMIT), "GangScheduling");
    EXPECT_TEXT(config_point(&c, POINT_QUEUE_SORT), "PrioritySort");
    const struct profile_plugin *gangs = profile_gangs(&c.profiles[0]);
    REQUIRE(gangs);
    EXPECT_TEXT(gangs->plugin->name, "GangScheduling");
    AUTO(scheduler_config) off = {.has_groups = true};
    REQUIRE(config_of(&off, PLUGINS("    multiPoint: {disabled: [{name: GangScheduling}]}\n")));
    EXPECT(!profile_gangs(&off.profiles[0]));
    AUTO(scheduler_config) ours = {.has_groups = true}; /* whose plugin knows those groups, too */
    REQUIRE(config_of(&ours, PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}]}")));
    EXPECT_TEXT(profile_gangs(&ours.profiles[0])->plugin->name, "Coscheduling");
}

TEST(profiles, refuse_what_makes_no_sense)
{
    static const char *const cases[][2] = {
        {PLUGINS("    filter: {enabled: [{name: Nope}]}"),
         "6 profiles[0].plugins.filter.enabled[0].name: FilterPlugin \"Nope\" does not exist"},
        {PLUGINS("    filter: {enabled: [{weight: 1}]}"),
         "6 profiles[0].plugins.filter.enabled[0].name: missing"},
        {PLUGINS("    filter: {enabled: [{name: ImageLocality}]}"),
         "6 profiles[0].plugins.filter.enabled[0].name: plugin \"ImageLocality\" does not extend "
         "FilterPlugin plugin"},
        {PLUGINS("    score:\n      enabled:\n      - name: ImageLocality\n      - name: "
                 "ImageLocality"),
         "9 profiles[0].plugins.score.enabled[1].name: plugin \"ImageLocality\" already registered "
         "as \"ScorePlugin\""},
        {PLUGINS("    multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}"),
         "6 profiles[0].plugins.multiPoint.enabled[1].name: plugin \"NodeName\" already registered "
         "as \"MultiPointPlugin\""},
        {PLUGINS("    filter: {enabled: [{name: GCEPDLimits}]}"),
         "6 profiles[0].plugins.filter.enabled[0].name: \"GCEPDLimits\" was removed before "
         "kubescheduler.config.k8s.io/v1 (NodeVolumeLimits does its work)"},
        {PLUGINS("    score: {enabled: [{name: ImageLocality, weight: -1}]}"),
         "6 profiles[0].plugins.score.enabled[0].weight: -1: not in valid range [0, 1000000]"},
        {PLUGINS("    score: {enabled: [{name: ImageLocality, weight: 1000001}]}"),
         "6 profiles[0].plugins.score.enabled[0].weight: 1000001: not in valid range [0, 1000000]"},
        {PLUGINS("    queueSort: {disabled: [{name: PrioritySort}]}"),
         "6 profiles[0].plugins.queueSort: only one queue sort plugin required for profile with "
         "scheduler name \"p\", but got 0"},
        {PLUGINS("    queueSort: {enabled: [{name: PrioritySort}, {name: Coscheduling}]}"),
         "6 profiles[0].plugins.queueSort: only one queue sort plugin required for profile with "
         "scheduler name \"p\", but got 2"},
        {PLUGINS("    bind: {disabled: [{name: '*'}]}"),
         "6 profiles[0].plugins.bind: at least one bind plugin is needed for profile with "
         "scheduler name \"p\""},
        {PLUGINS("    preFilter: {disabled: [{name: NodePorts}]}"),
         "6 profiles[0].plugins.preFilter: NodePorts takes part in filter alone: not supported"},
        {PLUGINS("    filter: {disabled: [{name: NodeAffinity}]}"),
         "6 profiles[0].plugins.preFilter: NodeAffinity takes part in preFilter alone: not "
         "supported"},
        {PLUGINS("    preScore: {disabled: [{name: TaintToleration}]}"),
         "6 profiles[0].plugins.preScore: TaintToleration takes part in score alone: not "
         "supported"},
        {"profiles:\n- schedulerName: ''", "4 profiles[0].schedulerName: missing"},
        {"profiles:\n- schedulerName: a\n- {}", "5 profiles[1].schedulerName: missing"},
        {"profiles:\n- schedulerName: a\n- schedulerName: a",
         "5 profiles[1].schedulerName: \"a\" is there twice: profiles[0] has it, too"},
        {PLUGINS("    filter: {enabled: [{name: KubeNexus}]}"),
         "6 profiles[0].plugins.filter.enabled[0].name: KubeNexus stands for plugins of many "
         "points: enable it in multiPoint"},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}, {name: KubeNexus}]}"),
         "6 profiles[0].plugins.multiPoint.enabled[1].name: KubeNexus is there twice"},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus, weight: 2}]}"),
         "6 profiles[0].plugins.multiPoint.enabled[0].weight: KubeNexus has no weight of its own: "
         "name the plugin that you mean beside it"},
        {PLUGINS(
             "    multiPoint: {enabled: [{name: KubeNexus}, {name: NUMA}, {name: NUMATopology}]}"),
         "6 profiles[0].plugins.multiPoint.enabled[2].name: plugin \"NUMATopology\" already "
         "registered as \"MultiPointPlugin\""},
        {"profiles:\n- schedulerName: c\n- schedulerName: a\n  plugins: &p {queueSort: {enabled: "
         "[{name: "
         "Coscheduling}]}}\n- schedulerName: b\n  plugins: *p\n  pluginConfig:\n  - name: "
         "Coscheduling\n    args: {kubeflowAutoGang: true}",
         "10 profiles[2].pluginConfig: of Coscheduling: must be the same for all profiles"},
        {"profiles:\n- schedulerName: a\n  plugins: &p {queueSort: {enabled: [{name: "
         "Coscheduling}]}}\n- schedulerName: b\n  plugins: *p\n  pluginConfig:\n  - name: "
         "Coscheduling\n    args: {kubeflowAutoGang: true}",
         "9 profiles[1].pluginConfig: of Coscheduling: must be the same for all profiles"},
    };
    AUTO(scheduler_config) c = {0};
    for (size_t i = 0; i < LEN(cases); i++)
        EXPECT_TEXT(config_errors(&c, cases[i][0]), cases[i][1]);
}

TEST(profiles, KubeNexus_stands_for_all_that_the_built_in_profile_has)
{
    AUTO(scheduler_config) c = {0};
    EXPECT_TEXT(config_notes(&c, "profiles:\n- schedulerName: kubenexus-scheduler\n"
                                 "  plugins: {multiPoint: {enabled: [{name: KubeNexus}]}}"),
                "");
    REQUIRE(c.n_profiles == 1);
    expect_built_in(&c.profiles[0], &built_in_profiles[BUILT_IN_KUBENEXUS]);
}

TEST(profiles, both_built_in_ones_are_served_in_a_few_lines)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles:\n- schedulerName: default-scheduler\n"
                          "- schedulerName: kubenexus-scheduler\n"
                          "  plugins: {multiPoint: {enabled: [{name: KubeNexus}]}}"));
    REQUIRE(c.n_profiles == N_BUILT_IN);
    for (uint32_t i = 0; i < N_BUILT_IN; i++)
        expect_built_in(&c.profiles[i], &built_in_profiles[i]);
}

TEST(profiles, what_is_named_beside_KubeNexus_changes_that_one_thing)
{
    static const struct {
        const char *text, *name;
        int64_t weight; /* -1: it is not there */
        int32_t more;   /* plugins than the built-in profile has */
    } cases[] = {
        {PLUGINS(
             "    multiPoint: {enabled: [{name: KubeNexus}, {name: NUMATopology, weight: 10}]}"),
         "NUMATopology", 10, 0},
        {PLUGINS(
             "    multiPoint: {enabled: [{name: NUMATopology, weight: 10}, {name: KubeNexus}]}"),
         "NUMATopology", 10, 0},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}, {name: NUMA}]}"), "NUMATopology", 6,
         0},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}, {name: LinePolicy}]}"),
         "LinePolicy", 0, 1},
        {PLUGINS(
             "    multiPoint: {enabled: [{name: KubeNexus}], disabled: [{name: NUMATopology}]}"),
         "NUMATopology", -1, -1},
        {PLUGINS(
             "    multiPoint: {enabled: [{name: KubeNexus}], disabled: [{name: ImageLocality}]}"),
         "ImageLocality", -1, -1},
        {PLUGINS(
             "    multiPoint: {enabled: [{name: KubeNexus}, {name: ImageLocality, weight: 3}]}"),
         "ImageLocality", 3, 0},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}]}\n"
                 "    score: {enabled: [{name: TopologyScoring, weight: 1}]}"),
         "TopologyScoring", 1, 0},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}]}\n"
                 "    score: {disabled: [{name: GPUTopology}]}"),
         "GPUTopology", -1, -1},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}]}\n"
                 "    score: {disabled: [{name: KubeNexus}]}"), /* three that only score are gone */
         "VRAMScheduler", 0, -3},
        {PLUGINS("    multiPoint: {enabled: [{name: KubeNexus}]}\n"
                 "    queueSort: {enabled: [{name: PrioritySort}], disabled: [{name: '*'}]}"),
         "PrioritySort", 0, 1},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(scheduler_config) c = {0};
        test_case("%s", cases[i].text);
        REQUIRE(config_of(&c, cases[i].text));
        const struct profile_plugin *found = find(&c, cases[i].name);
        EXPECT_INT(found ? found->weight : -1, cases[i].weight);
        EXPECT_INT(c.profiles[0].n,
                   (int32_t)built_in_profiles[BUILT_IN_KUBENEXUS].n + cases[i].more);
    }
}

TEST(profiles, a_plugin_of_ours_without_a_weight_has_its_own)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(
        config_of(&c, PLUGINS("    multiPoint: {enabled: [{name: VRAMScheduler}]}\n"
                              "    score: {enabled: [{name: ResourceFragmentationScore}, {name: "
                              "TaintToleration}, {name: TopologyScoring, weight: 2}]}")));
    EXPECT_INT(find(&c, "VRAMScheduler")->weight, 6);
    EXPECT_INT(find(&c, "ResourceFragmentationScore")->weight, 20);
    EXPECT_INT(find(&c, "TopologyScoring")->weight, 2);
    EXPECT_INT(find(&c, "TaintToleration")->weight, 1); /* as upstream */
}

TEST(profiles, there_may_be_several)
{
    AUTO(scheduler_config) c = {0};
    REQUIRE(config_of(&c, "profiles:\n- schedulerName: a\n"
                          "- schedulerName: b\n  plugins: {score: {disabled: [{name: '*'}]}}\n"));
    EXPECT_INT(c.n_profiles, 2);
    EXPECT_STR(c.profiles[1].name, "b");
    EXPECT_INT(c.listings[0].points[POINT_SCORE].n, 9);
    EXPECT_INT(c.listings[1].points[POINT_SCORE].n, 0);
}

TEST(profiles, lists_have_a_largest_length)
{
    AUTO(scheduler_config) c = {0};
    AUTO(buf) text = {0};
    buf_add(&text, STR("profiles:\n"));
    for (int i = 0; i < 65; i++)
        buf_printf(&text, "- schedulerName: p%d\n", i);
    EXPECT_TEXT(config_errors(&c, text.p), "4 profiles: more than 64");
    buf_clear(&text);
    buf_add(&text, STR("profiles:\n- plugins:\n    score:\n      disabled:\n"));
    for (int i = 0; i < 257; i++)
        buf_add(&text, STR("      - name: x\n"));
    EXPECT_TEXT(config_errors(&c, text.p), "4 profiles[0]: a list of more than 256 plugins");
}

TEST(profiles, the_documented_example_loads)
{
    AUTO(scheduler_config) c = {0};
    const char *notes = config_notes(
        &c, "leaderElection: {leaderElect: true, resourceName: kubenexus-scheduler, "
            "resourceNamespace: kubenexus-system}\n"
            "profiles:\n"
            "- schedulerName: kubenexus-scheduler\n"
            "  plugins:\n"
            "    multiPoint: {enabled: [{name: ProfileClassifier}, {name: Coscheduling}, {name: "
            "ResourceReservation}, {name: GangPreemption}]}\n"
            "    score: {enabled: [{name: ResourceFragmentationScore, weight: 5}, {name: "
            "NUMATopology, weight: 10}]}\n"
            "  pluginConfig:\n"
            "  - name: Coscheduling\n"
            "    args: {permitWaitingTimeSeconds: 10, starvationThresholdSeconds: 60, "
            "kubeflowAutoGang: false, heldRoomPercent: 20, heldRoomNamespaces: [etl]}\n"
            "  - name: GangPreemption\n"
            "    args: {maxVictims: 50, minimumGapSeconds: 30}\n");
    EXPECT_TEXT(notes, "");
    EXPECT_INT(c.listings[0].missing.n, 0);
    const struct profile_plugin *gangs = profile_gangs(&c.profiles[0]);
    REQUIRE(gangs && gangs->args);
    const struct coscheduling_args *args = gangs->args;
    EXPECT_INT(args->starve_ms, 60000);
    EXPECT_INT(args->held_percent, 20);
    EXPECT(args->names_holders && args->holders.n == 1);
    EXPECT_TEXT(config_point(&c, POINT_SCORE),
                "TaintToleration 3 NodeAffinity 2 NodeResourcesFit 1 VolumeBinding 1 "
                "PodTopologySpread 2 InterPodAffinity 2 DynamicResources 2 "
                "NodeResourcesBalancedAllocation 1 ImageLocality 1 ResourceFragmentationScore 5 "
                "NUMATopology 10");
    EXPECT_INT(c.profiles[0].n, built_in_profiles[0].n + 4); /* ProfileClassifier, GangPreemption,
                                    ResourceFragmentationScore, NUMATopology */
    EXPECT_STR(c.leader_election.namespace, "kubenexus-system");
}
