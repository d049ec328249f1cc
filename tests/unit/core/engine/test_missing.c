#include "core/engine/engine.h"
#include "support/stage.h"
#include "support/test.h"

#define QUOTA(used, hard)                                                                          \
    "{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':'gpus','namespace':'default'},"  \
    "'status':{'hard':{'limits.cpu':'100','requests.nvidia.com/gpu':'" hard "'},"                  \
    "'used':{'limits.cpu':'8','requests.nvidia.com/gpu':'" used "'}}}"
#define JOB(suspend)                                                                               \
    "{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'late','namespace':'default'},"      \
    "'spec':{'suspend':" suspend ",'template':{'metadata':{'labels':"                              \
    "{'pod-group.scheduling.kubenexus.io/name':'a',"                                               \
    "'pod-group.scheduling.kubenexus.io/min-available':'3'}}}}}"
#define TOO_FEW "pod group has 2 pods, needs at least 3"

static void begin(struct stage *s)
{
    stage_put(s, "node n cpu=64 memory=64Gi gpu=64");
    stage_put(s, "pod a-0 gpu=8 cpu=4 gang=a:3");
    stage_put(s, "pod a-1 gpu=8 cpu=4 gang=a:3");
}

/* What the pod hears within so long; "": nothing new. */
static const char *hears(struct stage *s, int64_t ms)
{
    static char text[256];
    text[0] = '\0';
    for (int64_t end_ms = s->now_ms + ms; s->now_ms <= end_ms; s->now_ms += 500) {
        (void)stage_run(s);
        const struct effect *said = stage_effect(s, "a-0");
        if (said && said->kind == EFFECT_REFUSE)
            snprintf(text, sizeof(text), STR_FMT, STR_ARG(said->message));
    }
    return text;
}

#define MADE_BY(kind)                                                                              \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a-0','namespace':'default','labels':"     \
    "{'pod-group.scheduling.kubenexus.io/name':'a',"                                               \
    "'pod-group.scheduling.kubenexus.io/min-available':'3'},'ownerReferences':["                   \
    "{'apiVersion':'batch/v1','kind':'" kind "','name':'x','uid':'u','controller':true}]},"        \
    "'spec':{'schedulerName':'kubenexus-scheduler','containers':[{'name':'main','image':'app'}]}}"

TEST(missing, jobs_are_asked_for_once_a_gang_misses_members_if_one_made_the_others)
{
    static const char *const pods[] = {MADE_BY("StatefulSet"), MADE_BY("Job")};
    for (size_t i = 0; i < LEN(pods); i++) {
        AUTO(stage) s = {0};
        s.config.publishes = true;
        stage_put(&s, "node n cpu=64 memory=64Gi gpu=64");
        stage_put(&s, "%s", pods[i]);
        (void)stage_run(&s);
        EXPECT(!engine_wants(s.engine, KIND_JOB));
        EXPECT_TEXT(hears(&s, 20000), "pod group has 1 pods, needs at least 3");
        EXPECT_INT(engine_wants(s.engine, KIND_JOB), i == 1);
    }
}

TEST(missing, a_quota_without_room_for_the_rest_is_named_and_followed)
{
    AUTO(stage) s = {0};
    begin(&s);
    EXPECT_TEXT(hears(&s, 20000), TOO_FEW);
    stage_put(&s, QUOTA("16", "20"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW "; ResourceQuota gpus has no room for more like a-0: 8 "
                                         "requests.nvidia.com/gpu each, 16 of 20 used");
    stage_put(&s, QUOTA("16", "20"));
    EXPECT_TEXT(hears(&s, 3000), "");
    stage_put(&s, QUOTA("16", "24")); /* there is room for one more */
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW);
    stage_put(&s, QUOTA("20", "24"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW "; ResourceQuota gpus has no room for more like a-0: 8 "
                                         "requests.nvidia.com/gpu each, 20 of 24 used");
    stage_remove(&s, QUOTA("20", "24"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW);
}

TEST(missing, of_limits_a_pod_takes_as_much_as_it_asks_for_at_least)
{
    AUTO(stage) s = {0};
    begin(&s);
    stage_put(&s, "{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':'q','namespace':"
                  "'default'},'status':{'hard':{'limits.cpu':'10500m','pods':'3'},"
                  "'used':{'limits.cpu':'8','pods':'2'}}}");
    EXPECT_TEXT(hears(&s, 20000), TOO_FEW "; ResourceQuota q has no room for more like a-0: 4 "
                                          "limits.cpu each, 8 of 10500m used");
}

TEST(missing, a_quota_of_another_namespace_or_of_some_pods_only_is_not_the_reason)
{
    static const char *const others[] = {
        "'metadata':{'name':'q','namespace':'b'},'spec':{}",
        "'metadata':{'name':'q','namespace':'default'},'spec':{'scopes':['BestEffort']}",
        "'metadata':{'name':'q','namespace':'default'},'spec':{'scopeSelector':{'matchExpressions':"
        "["
        "{'scopeName':'PriorityClass','operator':'Exists'}]}}",
    };
    for (size_t i = 0; i < LEN(others); i++) {
        AUTO(stage) s = {0};
        begin(&s);
        stage_put(&s,
                  "{'apiVersion':'v1','kind':'ResourceQuota',%s,'status':{'hard':{'pods':'2'},"
                  "'used':{'pods':'2'}}}",
                  others[i]);
        EXPECT_TEXT(hears(&s, 20000), TOO_FEW);
    }
}

TEST(missing, a_suspended_owner_is_named_until_it_goes_on)
{
    AUTO(stage) s = {0};
    begin(&s);
    stage_put(&s, JOB("false"));
    EXPECT_TEXT(hears(&s, 20000), TOO_FEW);
    stage_put(&s, JOB("true"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW "; Job late is suspended and makes none");
    stage_put(&s, JOB("false"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW);
    stage_put(&s, JOB("true"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW "; Job late is suspended and makes none");
    stage_remove(&s, JOB("true"));
    EXPECT_TEXT(hears(&s, 3000), TOO_FEW);
    stage_put(&s, "pod a-2 gpu=8 cpu=4 gang=a:3");
    EXPECT_INT(stage_run(&s), 3); /* all of it starts */
}

TEST(missing, those_who_name_another_scheduler_are_told_apart_from_gates)
{
    AUTO(stage) s = {0};
    begin(&s);
    stage_put(&s, "pod a-2 gang=a:5 scheduler=another");
    stage_put(&s, "pod a-3 gang=a:5 gate:g");
    EXPECT_TEXT(hears(&s, 20000), "pod group has 2 pods, needs at least 5; 1 more wait behind "
                                  "scheduling gates; 1 more wait for schedulerName another");
}

TEST(missing, what_it_is_told_is_no_longer_than_a_sentence)
{
    AUTO(stage) s = {0};
    begin(&s);
    stage_put(&s,
              "{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':'%0200d',"
              "'namespace':'default'},'status':{'hard':{'pods':'2'},'used':{'pods':'2'}}}",
              0);
    EXPECT_INT(strlen(hears(&s, 20000)), 200);
}
