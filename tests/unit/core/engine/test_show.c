#include "core/engine/show.h"

#include "core/engine/inside.h"
#include "support/stage.h"
#include "support/test.h"

#define RESERVE(name, meta, spec)                                                                  \
    "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':"    \
    "{'name':'" name "','namespace':'default','uid':'u1','resourceVersion':'7',"                   \
    "'creationTimestamp':'1970-01-01T00:00:00Z'" meta "},"                                         \
    "'spec':{'podGroupName':'g','duration':'10m'," spec "}"
#define TWO    "'reservations':{'a':{'node':'n','gpu':'4'},'b':{'node':'','gpu':'4'}}"
#define MEMBER " label:pod-group.scheduling.kubenexus.io/name=g scheduler=kubenexus-scheduler"
#define STATUS(active, reason, message, complete, taken, rest)                                     \
    "\"status\":{\"conditions\":[{\"type\":\"ReservationActive\",\"status\":\"" active             \
    "\",\"reason\":\"" reason "\",\"message\":\"" message                                          \
    "\",\"lastTransitionTime\":\"1970-01-01T00:00:00Z\"},{\"type\":\"GangComplete\",\"status\":"   \
    "\"" complete "\",\"reason\":\"" taken rest

/* Lets the moment pass in which more may change; what is published then, one line each. */
static const char *shown(struct stage *s)
{
    static char text[4096];
    s->config.shows = true;
    stage_run(s);
    s->now_ms += 200;
    stage_run(s);
    size_t n = 0;
    text[0] = 0;
    vec_each(&s->effects.list, e) {
        static const char *const news[] = {"", " (reserved)", " (expired)", " (scheduled)",
                                           " (unscheduled)"};
        static const char *const verbs[] = {"", "create ", "delete "};
        if (e->kind != EFFECT_PUBLISH)
            continue;
        const struct patch *patch = e->write.n_patches ? &e->write.patches[0] : &(struct patch){0};
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "%s" STR_FMT " {" STR_FMT "} " STR_FMT "%s\n", verbs[patch->verb],
                              STR_ARG(e->write.name), STR_ARG(patch->meta), STR_ARG(patch->body),
                              news[e->news]);
    }
    return text;
}

TEST(show, a_reservation_says_what_it_holds_and_who_has_it)
{
    AUTO(stage) s = {.config.shows = true};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", "", TWO) "}");
    EXPECT_TEXT(shown(&s),
                "r {\"uid\":\"u1\"} " STATUS(
                    "True", "Held", "room for 2 of 2 entries is held, 0 are taken", "False",
                    "Waiting",
                    "\",\"message\":\"0 of 2 entries are taken\","
                    "\"lastTransitionTime\":\"1970-01-01T00:00:00Z\"}],\"entries\":2,\"held\":2,"
                    "\"pods\":{\"a\":null,\"b\":null}} (reserved)\n"));
    EXPECT_TEXT(shown(&s), ""); /* once */

    stage_put(&s, "pod own gpu=4" MEMBER);
    EXPECT_TEXT(shown(&s),
                "r {\"uid\":\"u1\"} " STATUS(
                    "True", "Held", "room for 1 of 2 entries is held, 1 are taken", "False",
                    "Waiting",
                    "\",\"message\":\"1 of 2 entries are taken\","
                    "\"lastTransitionTime\":\"1970-01-01T00:00:00Z\"}],\"entries\":2,\"held\":1,"
                    "\"pods\":{\"a\":\"own\",\"b\":null}}\n"));
    stage_put(&s, "pod too gpu=4" MEMBER);
    EXPECT(
        strstr(shown(&s),
               "\"status\":\"False\",\"reason\":\"Taken\",\"message\":\"all entries are taken\""));
}

TEST(show, a_reservation_without_room_says_so)
{
    AUTO(stage) s = {.config.shows = true};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, RESERVE("r", "", TWO) "}");
    EXPECT(
        strstr(shown(&s), "\"reason\":\"NoRoom\",\"message\":\"room for 1 of 2 entries is held"));
    stage_put(&s, "node m gpu=4");
    s.now_ms += 60000;
    EXPECT(strstr(shown(&s), "(reserved)"));
}

TEST(show, what_an_object_says_already_is_not_said_again)
{
    AUTO(stage) s = {.config.shows = true};
    stage_put(&s, "node n gpu=8");
    const char *said = ",'status':{'held':2,'entries':2,'pods':{},'conditions':[{'type':'"
                       "ReservationActive','status':'True',"
                       "'reason':'Held','message':'room for 2 of 2 entries is held, 0 are taken'},"
                       "{'type':'GangComplete','status':'False','reason':'Waiting','message':'0 of "
                       "2 entries are taken'}]}}";
    stage_put(&s, RESERVE("r", "", TWO) "%s", said);
    EXPECT_TEXT(shown(&s), "");
}

TEST(show, a_reservation_whose_time_is_over_says_so_once)
{
    AUTO(stage) s = {.config.shows = true};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", "", TWO) "}");
    shown(&s);
    s.now_ms = 600000;
    const char *text = shown(&s);
    EXPECT(strstr(text,
                  "\"reason\":\"Expired\",\"message\":\"its time is over\",\"lastTransitionTime\":"
                  "\"1970-01-01T00:10:00Z\""));
    EXPECT(strstr(text, "\"entries\":2,\"held\":0,\"pods\":{}} (expired)"));
    EXPECT_TEXT(shown(&s), "");
}

TEST(show, the_finalizer_of_earlier_releases_is_taken_off)
{
    AUTO(stage) s = {.config.shows = true};
    stage_put(&s, RESERVE("r",
                          ",'finalizers':['a/b','scheduling.kubenexus.io/reservation-protection'],"
                          "'deletionTimestamp':'1970-01-01T00:00:01Z'",
                          TWO) "}");
    EXPECT_TEXT(shown(&s), "r {\"finalizers\":[\"a/b\"]} \n");
    EXPECT_TEXT(shown(&s), "");
}

TEST(show, nothing_is_shown_unless_somebody_looks)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", "", TWO) "}");
    stage_run(&s);
    s.now_ms += 1000;
    stage_run(&s);
    EXPECT_INT(s.effects.list.n, 0);
}
