#include "calls.h"

#include "core/engine/step/step.h"
#include "support/test.h"

const struct extender calls_filter = {
    .url = STR("http://f"), .verbs = {[EXTENDER_FILTER] = STR("filter")}, .knows_nodes = true};
const struct extender calls_scorer = {.url = STR("http://s"),
                                      .verbs = {[EXTENDER_PRIORITIZE] = STR("score")},
                                      .weight = 2,
                                      .knows_nodes = true};

/* Three nodes, of which n3 has the most room, and these extenders. */
void calls_open(struct stage *s, const struct extender *extenders, uint32_t n)
{
    s->config.rules.extenders = extenders;
    s->config.rules.n_extenders = n;
    stage_put(s, "node n1 cpu=4");
    stage_put(s, "node n2 cpu=8");
    stage_put(s, "node n3 cpu=16");
}

/* What the last run asks about the pod, for the time that it is asked `nth`; NULL: nothing. */
const struct effect *calls_question(const struct stage *s, const char *pod, uint32_t nth)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_ASK && str_equal(e->pod, str_of(pod)) && nth-- == 0)
            return e;
    return NULL;
}

/* "0 filter: n1 n2", lives in the stage. */
const char *calls_text(struct stage *s, const char *pod, uint32_t nth)
{
    static const char *const verbs[] = {"filter", "prioritize", "preempt", "bind"};
    const struct effect *e = calls_question(s, pod, nth);
    if (!e)
        return "";
    struct str text = arena_printf(&s->mem, "%u %s:", e->ask->extender, verbs[e->ask->verb]);
    list_each(&e->ask->nodes, node)
        text = arena_printf(&s->mem, STR_FMT " " STR_FMT, STR_ARG(text), STR_ARG(*node));
    return text.p;
}

/* Answers the question in JSON with ' for ", or (beginning with "!") with this failure. */
void calls_answer(struct stage *s, const struct effect *e, const char *text)
{
    struct extender_answer a = {.error = str_of(text + 1)};
    struct error why = {0};
    struct str json = arena_str(&s->mem, str_of(text));
    for (size_t i = 0; i < json.n; i++)
        if (json.p[i] == '\'')
            ((char *)(uintptr_t)json.p)[i] = '"';
    if (text[0] != '!')
        REQUIRE(extender_read(e->ask->verb, json, &s->mem, &a, &why));
    engine_answer(s->engine, s->now_ms, e->id, &a);
}

void calls_answer_next(struct stage *s, const char *pod, const char *text)
{
    const struct effect *e = calls_question(s, pod, 0);
    REQUIRE(e);
    calls_answer(s, e, text);
    stage_run(s);
}
