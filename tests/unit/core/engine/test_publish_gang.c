#include "core/engine/step/step.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

/* The PodGroup g: of the three kinds, with a minimum of 2 and what its status says. */
#define GROUP(api, spec, status)                                                                   \
    "{'apiVersion':'" api "','kind':'PodGroup','metadata':{'name':'g','namespace':'default',"      \
    "'uid':'ug'},'spec':{" spec "},'status':{" status "}}"
#define NATIVE(status)                                                                             \
    GROUP("scheduling.k8s.io/v1beta1", "'schedulingPolicy':{'gang':{'minCount':2}}", status)
#define SIGS(status)    GROUP("scheduling.x-k8s.io/v1alpha1", "'minMember':2", status)
#define VOLCANO(status) GROUP("scheduling.volcano.sh/v1beta1", "'minMember':2", status)
#define POD(name, meta, spec)                                                                      \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'" name "','namespace':'default'" meta     \
    "},'spec':{'schedulerName':'kubenexus-scheduler'" spec                                         \
    ",'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}}"
#define NATIVE_POD(name)  POD(name, "", ",'schedulingGroup':{'podGroupName':'g'}")
#define SIGS_POD(name)    POD(name, ",'labels':{'scheduling.x-k8s.io/pod-group':'g'}", "")
#define VOLCANO_POD(name) POD(name, ",'annotations':{'scheduling.k8s.io/group-name':'g'}", "")

/* What is published a moment later: the statuses, without times, and the news of them. */
static const char *shown(struct stage *s)
{
    static char text[4096];
    stage_run(s);
    s->now_ms += 200;
    stage_run(s);
    size_t n = 0;
    text[0] = 0;
    vec_each(&s->effects.list, e) {
        if (e->kind != EFFECT_PUBLISH)
            continue;
        static const char *const news[] = {"", "", "", "scheduled: ", "unscheduled: "};
        struct str body = e->write.n_patches ? e->write.patches[0].body : STR("");
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s" STR_FMT "%s" STR_FMT "\n",
                              news[e->news], STR_ARG(e->news ? e->message : STR("")),
                              e->news && body.n ? " " : "", STR_ARG(body));
    }
    for (char *at; (at = strstr(text, ",\"lastTransitionTime\":\""));)
        memmove(at, at + 44, strlen(at + 44) + 1);
    return text;
}

TEST(publish_gang, a_native_group_says_why_it_waits_and_that_it_was_scheduled)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=1 memory=8Gi");
    stage_put(&s, NATIVE(""));
    EXPECT_TEXT(shown(&s), ""); /* nobody of it is ours */
    stage_put(&s, NATIVE_POD("a"));
    stage_put(&s, NATIVE_POD("b"));
#define WHY                                                                                        \
    "gang g needs 2 x (1 cpu); 1 fit now; short of 1 cpu; the nodes hold 1, even when empty (1 "   \
    "attempt)"
    EXPECT_TEXT(shown(&s), "unscheduled: " WHY " \"status\":{\"conditions\":[{\"type\":"
                           "\"PodGroupInitiallyScheduled\",\"status\":\"False\",\"reason\":"
                           "\"Unschedulable\",\"message\":\"" WHY "\"}]}\n");
    stage_put(&s,
              NATIVE("'conditions':[{'type':'PodGroupInitiallyScheduled','status':'False','reason':"
                     "'Unschedulable','message':'" WHY "'}]"));
    EXPECT_TEXT(shown(&s), "");
    stage_put(&s, "node m cpu=1 memory=8Gi");
    s.now_ms += 60000;
    EXPECT_TEXT(shown(&s),
                "scheduled: 2 of at least 2 pods have a node \"status\":{\"conditions\":[{\"type\":"
                "\"PodGroupInitiallyScheduled\",\"status\":\"True\",\"reason\":\"Scheduled\","
                "\"message\":\"2 of at least 2 pods have a node\"}]}\n");
}

TEST(publish_gang, a_native_group_that_was_scheduled_stays_so)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s,
              NATIVE("'conditions':[{'type':'PodGroupInitiallyScheduled','status':'True','reason':"
                     "'Scheduled','message':'by another'}]"));
    stage_put(&s, NATIVE_POD("a"));
    stage_put(&s, NATIVE_POD("b"));
    EXPECT_TEXT(shown(&s), "");
}

TEST(publish_gang, a_status_that_comes_back_disturbs_nobody)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=1 memory=8Gi");
    stage_put(&s, NATIVE(""));
    stage_put(&s, NATIVE_POD("a"));
    stage_put(&s, NATIVE_POD("b"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    uint32_t attempts = s.engine->gangs->all.at[0].attempts;
    stage_put(&s, NATIVE("'conditions':[{'type':'Other','status':'True'}]"));
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
    EXPECT_INT(s.engine->gangs->all.at[0].attempts, attempts);
}

TEST(publish_gang, attempts_are_told_in_powers_of_two)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=1 memory=8Gi");
    stage_put(&s, NATIVE(""));
    stage_put(&s, NATIVE_POD("a"));
    stage_put(&s, NATIVE_POD("b"));
    shown(&s);
    uint32_t writes = 0;
    bool has_eight = false;
    for (int i = 1; i < 9; i++) {
        s.now_ms += 301000; /* it is tried again, whatever happens */
        const char *text = shown(&s);
        writes += text[0] != 0;
        has_eight |= strstr(text, "8+ attempts") != NULL;
        EXPECT_INT(s.engine->gangs->all.at[0].attempts, i + 1);
    }
    EXPECT_INT(writes, 3); /* 2, 4 and 8 */
    EXPECT(has_eight);
}

TEST(publish_gang, the_phase_of_scheduler_plugins_is_theirs_from_scheduling_on)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=1 memory=8Gi");
    stage_put(&s, SIGS(""));
    stage_put(&s, SIGS_POD("a"));
    EXPECT_TEXT(shown(&s), "\"status\":{\"phase\":\"Pending\"}\n");
    stage_put(&s, SIGS_POD("b"));
    EXPECT(strstr(shown(&s), "\"status\":{\"phase\":\"Scheduling\"}"));
    stage_put(&s, SIGS("'phase':'Running'"));
    EXPECT_TEXT(shown(&s), "");
}

TEST(publish_gang, a_group_of_volcano_is_let_in_and_runs)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=1 memory=8Gi");
    stage_put(&s, VOLCANO("'phase':'Pending'"));
    EXPECT_TEXT(shown(&s), ""); /* its pods may be another's */
    stage_put(&s, VOLCANO_POD("a"));
    stage_put(&s, VOLCANO_POD("b"));
    const char *text = shown(&s);
    EXPECT(strstr(text, "\"phase\":\"Inqueue\""));
    EXPECT(strstr(
        text, "{\"type\":\"Unschedulable\",\"status\":\"True\",\"reason\":\"NotEnoughResources\""));
    stage_put(&s, "node m cpu=1 memory=8Gi");
    s.now_ms += 60000;
    text = shown(&s);
    EXPECT(strstr(text, "\"phase\":\"Running\""));
    EXPECT(strstr(text, "{\"type\":\"Scheduled\",\"status\":\"True\""));
    EXPECT(!strstr(text, "Unschedulable"));
}

TEST(publish_gang, who_is_called_volcano_lets_groups_in_before_there_are_pods)
{
    struct profile profile = built_in_profiles[1];
    profile.name = STR("volcano");
    AUTO(stage)
    s = {.config = {.publishes = true, .rules = {.profiles = &profile, .n_profiles = 1}}};
    stage_put(&s, VOLCANO("'phase':'Pending'"));
    EXPECT_TEXT(shown(&s), "\"status\":{\"phase\":\"Inqueue\"}\n");
}

TEST(publish_gang, a_native_group_of_an_older_version_says_so_in_its_words)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=2 memory=8Gi");
    stage_put(
        &s, GROUP("scheduling.k8s.io/v1alpha2", "'schedulingPolicy':{'gang':{'minCount':2}}", ""));
    stage_put(&s, NATIVE_POD("a"));
    EXPECT_TEXT(shown(&s), "");
    stage_put(&s, NATIVE_POD("b"));
    EXPECT_TEXT(shown(&s), "scheduled: 2 of at least 2 pods have a node \"status\":"
                           "{\"conditions\":[{\"type\":\"PodGroupScheduled\",\"status\":\"True\","
                           "\"reason\":\"Scheduled\",\"message\":\"2 of at least 2 pods have a "
                           "node\"}]}\n");
    stage_put(&s, GROUP("scheduling.k8s.io/v1alpha2", "'schedulingPolicy':{'gang':{'minCount':2}}",
                        "'conditions':[{'type':'PodGroupScheduled','status':'True','reason':"
                        "'Scheduled','message':'2 of at least 2 pods have a node'}]"));
    stage_put(&s, NATIVE_POD("c")); /* it is scheduled for good */
    EXPECT_TEXT(shown(&s), "");
}
