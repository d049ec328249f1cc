#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* What is made and deleted, one line each; the statuses of others are left out. */
static const char *shown(struct stage *s)
{
    static char text[4096];
    stage_run(s);
    s->now_ms += 200;
    stage_run(s);
    size_t n = 0;
    text[0] = 0;
    vec_each(&s->effects.list, e) {
        if (e->kind != EFFECT_PUBLISH ||
            (e->write.patches[0].verb == OBJECT_PATCH && e->write.patches[0].part.n))
            continue;
        static const char *const verbs[] = {"patch", "create", "delete"};
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "%s " STR_FMT " {" STR_FMT "} " STR_FMT "\n",
                              verbs[e->write.patches[0].verb], STR_ARG(e->write.name),
                              STR_ARG(e->write.patches[0].meta), STR_ARG(e->write.patches[0].body));
    }
    return text;
}

#define DRIVER                                                                                     \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'d','uid':'ud','namespace':'default',"     \
    "'labels':{'spark-app-id':'a'},'annotations':{'kubenexus.io/executor-count':'2',"              \
    "'kubenexus.io/executor-cpu':'1','kubenexus.io/executor-memory':'1Gi'}},"                      \
    "'spec':{'schedulerName':'kubenexus-scheduler',"                                               \
    "'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}}"
#define WORKER " cpu=1 memory=1Gi label:spark-app-id=a scheduler=kubenexus-scheduler"

/* As the API server gives it back. */
#define OURS(name, spec, rest)                                                                     \
    "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':"    \
    "{'name':'" name "','namespace':'default','uid':'um','resourceVersion':'9',"                   \
    "'labels':{'app.kubernetes.io/managed-by':'kubenexus-scheduler'}," rest                        \
    "'creationTimestamp':'1970-01-01T00:00:00Z'},'spec':{" spec "}}"

TEST(mirrors, what_is_held_for_workers_is_there_to_be_seen_until_they_have_come)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8 memory=32Gi");
    stage_put(&s, DRIVER);
    EXPECT_TEXT(
        shown(&s),
        "create d-workers {\"name\":\"d-workers\",\"namespace\":\"default\",\"labels\":{"
        "\"app.kubernetes.io/managed-by\":\"kubenexus-scheduler\",\"pod-group\":\"a\","
        "\"scheduling.kubenexus.io/app-id\":\"a\"},\"ownerReferences\":[{\"apiVersion\":\"v1\","
        "\"kind\":\"Pod\",\"name\":\"d\",\"uid\":\"ud\"}]} "
        "\"apiVersion\":\"scheduling.kubenexus.io/v1alpha1\",\"kind\":\"ResourceReservation\","
        "\"spec\":{\"podGroupName\":\"a\",\"duration\":\"1799s\",\"reservations\":{"
        "\"0\":{\"node\":\"n\",\"resources\":{\"cpu\":\"1\",\"memory\":\"1073741824\"}},"
        "\"1\":{\"node\":\"n\",\"resources\":{\"cpu\":\"1\",\"memory\":\"1073741824\"}}}}\n");
    EXPECT_TEXT(shown(&s), "");
    stage_put(&s, OURS("d-workers", "'podGroupName':'a','resources':{'cpu':'7'}", ""));
    EXPECT_TEXT(shown(&s), ""); /* and it holds nothing itself: */
    stage_put(&s, "pod other cpu=5");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "other"), "assumed on n");
    stage_put(&s, "pod w0" WORKER);
    stage_put(&s, "pod w1" WORKER);
    EXPECT_TEXT(shown(&s), "delete d-workers {} \"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
                           "\"preconditions\":{\"uid\":\"um\"}\n");
    EXPECT_TEXT(shown(&s), "");
}

TEST(mirrors, go_with_what_they_stand_for)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8 memory=32Gi");
    stage_put(&s, DRIVER);
    shown(&s);
    stage_remove(&s, "pod d"); /* before its object has been seen */
    EXPECT_TEXT(shown(&s), "");
    stage_put(&s, OURS("d-workers", "'podGroupName':'a','resources':{'cpu':'7'}", ""));
    EXPECT(str_starts(str_of(shown(&s)), STR("delete d-workers ")));
}

TEST(mirrors, that_are_deleted_by_others_are_made_again_while_there_is_something_to_see)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8 memory=32Gi");
    stage_put(&s, DRIVER);
    shown(&s);
    stage_put(&s, OURS("d-workers", "'podGroupName':'a'", ""));
    shown(&s);
    stage_remove(&s, OURS("d-workers", "", ""));
    EXPECT(str_starts(str_of(shown(&s)), STR("create d-workers ")));
}

TEST(mirrors, of_an_earlier_life_are_known_again_and_those_of_nobody_deleted)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=8 memory=32Gi");
    stage_put(&s, OURS("d-workers", "'podGroupName':'a','resources':{'cpu':'8'}", ""));
    stage_put(&s, OURS("old-reservation", "'podGroupName':'b','resources':{'cpu':'8'}", ""));
    stage_put(&s, DRIVER); /* comes behind them, as it does in a list */
    stage_put(&s, "pod other cpu=5");
    EXPECT(str_starts(str_of(shown(&s)), STR("delete old-reservation ")));
    EXPECT_TEXT(stage_fate(&s, "other"), "assumed on n");
    EXPECT_TEXT(shown(&s), "");
}

TEST(mirrors, of_earlier_releases_go_though_they_have_a_finalizer)
{
    AUTO(stage) s = {.config.publishes = true};
#define PROTECTED "'finalizers':['scheduling.kubenexus.io/reservation-protection'],"
    stage_put(&s, OURS("old-reservation", "", PROTECTED));
    EXPECT(str_starts(str_of(shown(&s)), STR("delete old-reservation ")));
    stage_put(&s,
              OURS("old-reservation", "", PROTECTED "'deletionTimestamp':'1970-01-01T00:00:01Z',"));
    EXPECT_TEXT(shown(&s), "patch old-reservation {\"finalizers\":[]} \n");
}

TEST(mirrors, the_slot_of_a_lost_member_outlives_a_restart)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=3 memory=8Gi");
    for (int i = 0; i < 2; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3 on=n phase=Running", i);
    stage_put(&s, OURS("a-2-slot",
                       "'podGroupName':'a','duration':'30s','reservations':{'slot':{'node':'n',"
                       "'resources':{'cpu':'1'}}}",
                       ""));
    stage_put(&s, "pod x cpu=1 preempts=Never scheduler=kubenexus-scheduler");
    EXPECT_TEXT(shown(&s), "");
    EXPECT_TEXT(stage_fate(&s, "x"), "parked");
    stage_put(&s, "pod a-3 cpu=1 gang=a:3");
    EXPECT(str_starts(str_of(shown(&s)), STR("delete a-2-slot ")));
    EXPECT_TEXT(stage_fate(&s, "a-3"), "assumed on n");
}

TEST(mirrors, slots_say_whose_they_are_and_go_when_their_time_is_over)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n cpu=3 memory=8Gi");
    for (int i = 0; i < 3; i++)
        stage_put(
            &s,
            "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a-%d','namespace':'default','"
            "labels':"
            "{'pod-group.scheduling.kubenexus.io/name':'a','pod-group.scheduling.kubenexus.io/"
            "min-available':'3'},'ownerReferences':[{'apiVersion':'batch/"
            "v1','kind':'Job','name':'j',"
            "'uid':'uj','controller':true}]},'spec':{'schedulerName':'kubenexus-scheduler','"
            "nodeName':"
            "'n','containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]},"
            "'status':{'phase':'Running'}}",
            i);
    shown(&s);
    stage_put(&s, "pod a-2 cpu=1 gang=a:3 on=n phase=Running deleting");
    stage_remove(&s, "pod a-2");
    const char *text = shown(&s);
    EXPECT(str_starts(str_of(text), STR("create a-2-slot ")));
    EXPECT(strstr(
        text, "\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\","
              "\"uid\":\"uj\"}]"));
    EXPECT(strstr(text, "\"slot\":{\"node\":\"n\",\"resources\":{\"cpu\":\"1\"}}"));
    stage_put(&s, OURS("a-2-slot", "", ""));
    shown(&s);
    s.now_ms += 31000;
    EXPECT(str_starts(str_of(shown(&s)), STR("delete a-2-slot ")));
    EXPECT_INT(s.engine->reservations->orphan_mirrors.n, 0);
    vec_each(&s.engine->reservations->all, b)
        EXPECT(b->name == SYM_NONE); /* nothing is left behind */
}
