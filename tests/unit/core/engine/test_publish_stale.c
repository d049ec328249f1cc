#include "core/engine/unit/publish.h"

#include "core/base/rng.h"
#include "core/engine/step/step.h"
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
    s->config.publishes = true;
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

TEST(publish_stale, a_reservation_says_what_it_holds_and_who_has_it)
{
    AUTO(stage) s = {.config.publishes = true};
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

TEST(publish_stale, a_reservation_without_room_says_so)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n gpu=4");
    stage_put(&s, RESERVE("r", "", TWO) "}");
    EXPECT(
        strstr(shown(&s), "\"reason\":\"NoRoom\",\"message\":\"room for 1 of 2 entries is held"));
    stage_put(&s, "node m gpu=4");
    s.now_ms += 60000;
    EXPECT(strstr(shown(&s), "(reserved)"));
}

TEST(publish_stale, what_an_object_says_already_is_not_said_again)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, "node n gpu=8");
    const char *said = ",'status':{'held':2,'entries':2,'pods':{},'conditions':[{'type':'"
                       "ReservationActive','status':'True',"
                       "'reason':'Held','message':'room for 2 of 2 entries is held, 0 are taken'},"
                       "{'type':'GangComplete','status':'False','reason':'Waiting','message':'0 of "
                       "2 entries are taken'}]}}";
    stage_put(&s, RESERVE("r", "", TWO) "%s", said);
    EXPECT_TEXT(shown(&s), "");
}

TEST(publish_stale, a_reservation_whose_time_is_over_says_so_once)
{
    AUTO(stage) s = {.config.publishes = true};
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

TEST(publish_stale, the_finalizer_of_earlier_releases_is_taken_off)
{
    AUTO(stage) s = {.config.publishes = true};
    stage_put(&s, RESERVE("r",
                          ",'finalizers':['a/b','scheduling.kubenexus.io/reservation-protection'],"
                          "'deletionTimestamp':'1970-01-01T00:00:01Z'",
                          TWO) "}");
    EXPECT_TEXT(shown(&s), "r {\"finalizers\":[\"a/b\"]} \n");
    EXPECT_TEXT(shown(&s), "");
}

TEST(publish_stale, nothing_is_shown_unless_somebody_looks)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n gpu=8");
    stage_put(&s, RESERVE("r", "", TWO) "}");
    stage_run(&s);
    s.now_ms += 1000;
    stage_run(&s);
    EXPECT_INT(s.effects.list.n, 0);
}

/* As a server stores what is merged: entries that are null are not there. */
static void store(struct buf *out, struct str status)
{
    static const struct str null = STR(":null");
    buf_clear(out);
    buf_add(out, status);
    for (char *at; (at = strstr(out->p, null.p));) {
        char *from = at - 1;
        while (*--from != '"')
            continue;
        size_t to = (size_t)(at + null.n - out->p);
        bool is_followed = out->p[to] == ',';
        buf_cut(out, (size_t)(from - out->p) - (!is_followed && from[-1] == ','), to + is_followed);
    }
}

static void put_both(struct stage *s, const struct buf *reserved, const struct buf *grouped)
{
    stage_put(s,
              "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1',"
              "'metadata':{'name':'r','namespace':'default','uid':'u','creationTimestamp':"
              "'1970-01-01T00:00:00Z'},'spec':{'podGroupName':'g','duration':'50m'," TWO "}%s%s}",
              reserved->n ? "," : "", reserved->n ? reserved->p : "");
    stage_put(s,
              "{'kind':'PodGroup','apiVersion':'scheduling.k8s.io/v1beta1','metadata':{'name':'p',"
              "'namespace':'default','uid':'v'},'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}"
              "%s%s}",
              grouped->n ? "," : "", grouped->n ? grouped->p : "");
}

TEST(publish_stale, nothing_is_said_twice_whatever_happens)
{
    struct rng rng = rng_seeded(test_seed());
    AUTO(stage) s = {.config.publishes = true};
    AUTO(buf) reserved = {0};
    AUTO(buf) grouped = {0};
    struct buf *status[] = {&reserved, &grouped};
    put_both(&s, &reserved, &grouped);
    for (uint32_t step = 0; step < 300; step++) {
        uint32_t n = (uint32_t)rng_below(&rng, 5);
        switch (rng_below(&rng, 6)) {
        case 0:
            stage_put(&s, "node %s gpu=%u", n % 2 ? "n" : "m", 2 * n);
            break;
        case 1:
            stage_remove(&s, "pod own%u", n);
            break;
        case 2:
            stage_put(&s, "pod own%u gpu=%u" MEMBER, n, n);
            break;
        case 3:
            stage_put(&s,
                      "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p%u','namespace':"
                      "'default'},'spec':{'schedulerName':'kubenexus-scheduler','schedulingGroup':"
                      "{'podGroupName':'p'},'containers':[{'name':'c','resources':{'requests':"
                      "{'nvidia.com/gpu':'1'}}}]}}",
                      n);
            break;
        case 4:
            stage_remove(&s, "pod p%u", n);
            break;
        default:
            s.now_ms += (int64_t)rng_below(&rng, 30000);
            break;
        }
        stage_run(&s);
        s.now_ms += 200;
        stage_run(&s);
        test_case("step %u", step);
        for (uint32_t i = 0; i < s.effects.list.n; i++) {
            const struct effect *e = &s.effects.list.at[i];
            if (e->kind != EFFECT_PUBLISH || e->write.n_patches == 0)
                continue;
            struct buf *is = status[e->write.kind == KIND_POD_GROUP];
            AUTO(buf) will = {0};
            store(&will, e->write.patches[0].body);
            REQUIRE(!is->n || !str_equal(buf_str(is), buf_str(&will)));
            buf_clear(is);
            buf_add(is, buf_str(&will));
        }
        put_both(&s, &reserved, &grouped);
    }
}
