#include "core/engine/step/step.h"
#include "lines.h"
#include "support/test.h"

#define OURS "scheduler=kubenexus-scheduler"
#define RUNS "note:scheduling.kubenexus.io/expected-duration="

static void begin(struct stage *s, struct lines_setup *l)
{
    lines_setup(l, s, LINE_EASY, 0);
    s->config.publishes = true;
    s->config.home_namespace = STR("kube-system");
    s->config.home_name = STR("me");
    stage_put(s, "node n gpu=8");
}

/* Pods of one kind that run for a minute each. */
static void end_some(struct stage *s, int n)
{
    for (int i = 0; i < n; i++) {
        stage_put(s, "pod train-%d gpu=1 on=n " OURS, i);
        s->now_ms += 60000;
        stage_put(s, "pod train-%d gpu=1 on=n phase=Succeeded " OURS, i);
    }
}

/* What was written of the object since this was last asked: verb, place, and the text in `text`. */
static const char *written(struct stage *s, struct buf *text)
{
    static char says[256];
    static const char *const verbs[] = {"patch", "create", "delete"};
    says[0] = 0;
    stage_run(s);
    vec_each(&s->effects.list, e) {
        if (e->kind != EFFECT_PUBLISH || !str_ends(e->write.name, STR("-run-times")))
            continue;
        const struct patch *patch = &e->write.patches[0];
        struct str meta = patch->meta;
        while (meta.n && !str_starts(meta, STR("run-times\":\"")))
            meta = str_part(meta, 1, meta.n);
        snprintf(says, sizeof(says), "%s " STR_FMT "/" STR_FMT " of '" STR_FMT "'",
                 verbs[patch->verb], STR_ARG(e->write.namespace), STR_ARG(e->write.name),
                 STR_ARG(e->uid));
        buf_clear(text);
        meta = str_part(meta, STR("run-times\":\"").n, meta.n);
        buf_add(text, str_part(meta, 0, str_find(meta, '"')));
    }
    return says;
}

#define OBJECT                                                                                     \
    "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1','metadata':"    \
    "{'name':'%s','namespace':'kube-system','uid':'um','resourceVersion':'9','labels':"            \
    "{'app.kubernetes.io/managed-by':'kubenexus-scheduler'},'annotations':"                        \
    "{'scheduling.kubenexus.io/run-times':'%s'},'creationTimestamp':'1970-01-01T00:00:00Z'},"      \
    "'spec':{}}"

/* Does one who is told so know how long a pod of the kind runs? */
static const char *fate_of_next(struct stage *s)
{
    stage_put(s, "pod busy gpu=7 on=n " RUNS "2m " OURS);
    stage_put(s, "pod head gpu=8 created=500 " OURS);
    stage_put(s, "pod train-9 gpu=1 created=501 " OURS);
    stage_run(s);
    return stage_fate(s, "train-9");
}

TEST(saved_run_times, who_starts_anew_knows_what_was_learned_before)
{
    AUTO(buf) text = {0};
    struct lines_setup l, m;
    AUTO(stage) before = {0};
    begin(&before, &l);
    end_some(&before, 5);
    EXPECT_TEXT(written(&before, &text), "create kube-system/me-run-times of ''");
    AUTO(stage) after = {0};
    begin(&after, &m);
    stage_put(&after, OBJECT, "me-run-times", text.p);
    EXPECT_INT(engine_stats(after.engine).ends_learned, 5);
    EXPECT_TEXT(fate_of_next(&after), "assumed on n");
    EXPECT_TEXT(written(&after, &text), ""); /* nor is it a stray */
}

TEST(saved_run_times, who_comes_late_is_expected_to_end_as_was_learned)
{
    AUTO(buf) text = {0};
    struct lines_setup l, m;
    AUTO(stage) before = {0};
    begin(&before, &l);
    end_some(&before, 5);
    written(&before, &text);
    AUTO(stage) s = {0};
    begin(&s, &m);
    stage_put(&s, "pod train-1 gpu=8 on=n " OURS);
    stage_put(&s, "pod head gpu=8 created=500 " OURS);
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 600000); /* nobody knows */
    stage_put(&s, OBJECT, "me-run-times", text.p);
    stage_run(&s);
    EXPECT_INT(lines_of(&s)->start_ms, 59904); /* a minute, to 1 part in 256 */
}

TEST(saved_run_times, it_is_written_seldom_and_what_is_there_is_changed)
{
    AUTO(buf) text = {0};
    struct lines_setup l;
    AUTO(stage) s = {0};
    begin(&s, &l);
    end_some(&s, 1);
    EXPECT_TEXT(written(&s, &text), ""); /* others may follow */
    s.now_ms += 10000;
    EXPECT_TEXT(written(&s, &text), "create kube-system/me-run-times of ''");
    stage_put(&s, OBJECT, "me-run-times", text.p);
    s.now_ms += 10000;
    EXPECT_TEXT(written(&s, &text), ""); /* nothing has ended since */
    end_some(&s, 1);
    s.now_ms += 10000;
    EXPECT_TEXT(written(&s, &text), "patch kube-system/me-run-times of 'um'");
    stage_remove(&s, "{'kind':'ResourceReservation','apiVersion':"
                     "'scheduling.kubenexus.io/v1alpha1','metadata':{'name':'me-run-times',"
                     "'namespace':'kube-system'}}");
    s.now_ms += 10000;
    EXPECT_TEXT(written(&s, &text), "create kube-system/me-run-times of ''");
    EXPECT_INT(engine_stats(s.engine).ends_learned, 2);
}

TEST(saved_run_times, who_knows_more_is_right)
{
    AUTO(buf) five = {0};
    AUTO(buf) one = {0};
    struct lines_setup l;
    AUTO(stage) s = {0};
    begin(&s, &l);
    end_some(&s, 1);
    s.now_ms += 10000;
    written(&s, &one);
    end_some(&s, 4);
    s.now_ms += 10000;
    written(&s, &five);
    stage_put(&s, OBJECT, "me-run-times", one.p); /* our own, and late */
    EXPECT_INT(engine_stats(s.engine).ends_learned, 5);
    AUTO(stage) other = {0}; /* waits for the lease, and has seen one of them end */
    begin(&other, &l);
    end_some(&other, 1);
    stage_put(&other, OBJECT, "me-run-times", five.p);
    EXPECT_INT(engine_stats(other.engine).ends_learned, 5);
}

TEST(saved_run_times, what_cannot_be_read_is_counted_and_written_anew)
{
    AUTO(buf) text = {0};
    struct lines_setup l;
    AUTO(stage) s = {0};
    begin(&s, &l);
    stage_put(&s, OBJECT, "me-run-times", "1 6 garbage!");
    EXPECT_INT(engine_stats(s.engine).ends_illegible, 1);
    EXPECT_INT(engine_stats(s.engine).ends_learned, 0);
    end_some(&s, 1);
    s.now_ms += 10000;
    EXPECT_TEXT(written(&s, &text), "patch kube-system/me-run-times of 'um'");
}

TEST(saved_run_times, what_another_scheduler_learned_is_left_alone)
{
    struct lines_setup l;
    AUTO(stage) s = {0};
    begin(&s, &l);
    stage_put(&s, OBJECT, "you-run-times", "1 6 AAAAAAAAAALAB");
    stage_run(&s);
    s.now_ms += 10000;
    stage_run(&s);
    vec_each(&s.effects.list, e)
        EXPECT(e->kind != EFFECT_PUBLISH);
    EXPECT_INT(engine_stats(s.engine).ends_learned, 0);
    AUTO(stage) reader = {0}; /* who has no home of its own reads anybody's: explain */
    lines_setup(&l, &reader, LINE_EASY, 0);
    stage_put(&reader, OBJECT, "you-run-times", "1 6 AAAAAAAAAALAB");
    EXPECT_INT(engine_stats(reader.engine).ends_learned, 2);
}
