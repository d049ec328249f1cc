#include "core/engine/explain.h"
#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* "line;line": each is put. */
static void put_all(struct stage *s, const char *lines)
{
    for (struct str rest = str_of(lines); rest.n;) {
        struct str line = str_take(&rest, ';');
        stage_put(s, STR_FMT, STR_ARG(line));
    }
}

/* What pod p, or its gang, would do: the message, then "victim: why" a line. */
static const char *explained(struct stage *s)
{
    struct explanation x = {0};
    buf_clear(&s->text);
    EXPECT(engine_explain_eviction(s->engine, s->now_ms, STR("default"), STR("p"), &x));
    if (x.eviction) {
        buf_printf(&s->text, STR_FMT, STR_ARG(x.eviction->message));
        for (uint32_t i = 0; i < x.eviction->n_victims; i++)
            buf_printf(&s->text, "\n" STR_FMT ": " STR_FMT, STR_ARG(x.eviction->victims[i].pod),
                       STR_ARG(x.eviction->victims[i].why));
    }
    explanation_done(&x);
    return s->text.p;
}

#define NODE "node n cpu=4 memory=8Gi;"
#define GANG "pod p cpu=2 priority=9 gang=g:2;pod q cpu=2 priority=9 gang=g:2"

TEST(explain_evict, says_who_would_go_and_why_each)
{
    static const struct {
        const char *cluster, *says;
    } cases[] = {
        {NODE "pod p cpu=2", "its profile evicts as kube-scheduler does, or not at all"},
        {NODE GANG, "it fits: nobody has to go"},
        {NODE "pod a cpu=4 on=n priority=9;" GANG, "nobody is less important"},
        {NODE "pod a cpu=4 on=n;pod p cpu=2 priority=9 scheduler=kubenexus-scheduler",
         "nobody has to go, or plain pods alone: as kube-scheduler says"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].cluster);
        put_all(&s, cases[i].cluster);
        EXPECT_TEXT(explained(&s), cases[i].says);
    }
}

/* The last lines of what is said. */
static const char *victims(struct stage *s)
{
    const char *text = explained(s), *line = strchr(text, '\n');
    return line ? line + 1 : "";
}

TEST(explain_evict, a_victim_is_in_the_way_or_goes_with_its_gang)
{
    static const struct {
        const char *cluster, *says;
    } cases[] = {
        {NODE "pod a cpu=4 on=n;" GANG, "default/a: it is in the way"},
        {NODE "pod a cpu=2 on=n gang=l:2;pod b cpu=2 on=n gang=l:2;" GANG,
         "default/a: gang l goes as a whole\ndefault/b: gang l goes as a whole"},
        {NODE "pod a cpu=4 on=n label:app=a;budget b allowed=0 app=a;" GANG,
         "default/a: it is in the way, against a disruption budget"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(stage) s = {0};
        test_case("%s", cases[i].cluster);
        put_all(&s, cases[i].cluster);
        EXPECT_TEXT(victims(&s), cases[i].says);
    }
}

TEST(explain_evict, leaves_no_trace)
{
    AUTO(stage) s = {0};
    AUTO(buf) before = {0};
    AUTO(buf) after = {0};
    put_all(&s, NODE "pod a cpu=2 on=n gang=l:2;pod b cpu=2 on=n gang=l:2;" GANG);
    cluster_dump(s.engine->cluster, &before);
    EXPECT(victims(&s)[0]);
    cluster_dump(s.engine->cluster, &after);
    EXPECT_STR(buf_str(&after), before.p);
}
