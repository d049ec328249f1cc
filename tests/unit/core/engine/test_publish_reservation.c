/* A reservation in words. When it is told, and to whom, is test_show's. */

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define OURS "scheduling.kubenexus.io/reservation-protection"

TEST(publish_reservation, of_finalizers_only_ours_is_taken_off)
{
    static const struct {
        const char *has[3], *left; /* NULL: none of them is ours */
    } cases[] = {
        {{NULL}, NULL},
        {{"theirs"}, NULL},
        {{OURS}, "[]"},
        {{"theirs", OURS}, "[\"theirs\"]"},
        {{OURS, "theirs", "others"}, "[\"theirs\",\"others\"]"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct str names[3];
        struct reservation r = {.meta.finalizers.at = names};
        test_case("case %zu", i);
        for (; r.meta.finalizers.n < 3 && cases[i].has[r.meta.finalizers.n]; r.meta.finalizers.n++)
            names[r.meta.finalizers.n] = str_of(cases[i].has[r.meta.finalizers.n]);
        char *left = engine_other_finalizers(&r);
        EXPECT_INT(left != NULL, cases[i].left != NULL);
        if (left && cases[i].left)
            EXPECT_TEXT(left, cases[i].left);
        mem_free(left);
    }
}

/* How a reservation of 10 minutes stands, in its own words. */
static void expect_words(struct stage *s, const char *reason, const char *message)
{
    s->now_ms += 200;
    stage_run(s);
    const struct effect *e = NULL;
    vec_each(&s->effects.list, effect)
        if (effect->kind == EFFECT_PUBLISH)
            e = effect;
    REQUIRE(e && e->write.n_patches);
    struct str body = e->write.patches[0].body;
    struct str words =
        arena_printf(&s->mem, "\"reason\":\"%s\",\"message\":\"%s\"", reason, message);
    bool are_there = false;
    for (size_t i = 0; i + words.n <= body.n; i++)
        are_there |= str_equal(str_part(body, i, i + words.n), words);
    if (!are_there)
        EXPECT_STR(body, words.p);
}

TEST(publish_reservation, says_how_it_stands)
{
    static const struct {
        const char *entries, *pod, *reason, *message;
        int64_t after_ms;
    } cases[] = {
        {"", NULL, "Empty", "it asks for nothing", 0},
        {"'a':{'gpu':'9'}", NULL, "NoRoom", "room for 0 of 1 entries is held, 0 are taken", 0},
        {"'a':{'gpu':'4'}", NULL, "Held", "room for 1 of 1 entries is held, 0 are taken", 0},
        {"'a':{'gpu':'4'}", "pod p gpu=4 on=n", "Taken", "all entries are taken", 0},
        {"'a':{'gpu':'4'}", NULL, "Expired", "its time is over", 600000},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {.config.publishes = true};
        test_case("%s", cases[i].reason);
        stage_put(&s, "node n gpu=8");
        stage_put(&s,
                  "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1',"
                  "'metadata':{'name':'r','namespace':'default','uid':'u','creationTimestamp':"
                  "'1970-01-01T00:00:00Z'},'spec':{'podGroupName':'g','duration':'10m',"
                  "'reservations':{%s}}}",
                  cases[i].entries);
        if (cases[i].pod)
            stage_put(&s, "%s label:pod-group.scheduling.kubenexus.io/name=g", cases[i].pod);
        stage_run(&s);
        if (cases[i].after_ms) { /* it has been told before */
            s.now_ms = 200;
            stage_run(&s);
            s.now_ms = cases[i].after_ms;
            stage_run(&s);
        }
        expect_words(&s, cases[i].reason, cases[i].message);
    }
}
