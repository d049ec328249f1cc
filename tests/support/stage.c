#include "support/stage.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/engine/open.h"
#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "core/wire/metric_text.h"
#include "support/test.h"

static struct engine *engine_of(struct stage *s)
{
    if (!s->engine)
        s->engine = engine_new(&s->config);
    return s->engine;
}

void stage_done(struct stage *s)
{
    engine_free(s->engine);
    effects_done(&s->effects);
    arena_done(&s->mem);
    arena_done(&s->config_mem);
    buf_done(&s->text);
}

static void PRINTF(3, 0)
    apply(struct stage *s, enum change_kind kind, const char *fmt, va_list args)
{
    char line[8192];
    int length = vsnprintf(line, sizeof(line), fmt, args);
    assert(length < (int)sizeof(line));
    struct change change = {kind, object_of(&s->mem, line)};
    engine_apply(engine_of(s), s->now_ms, &change);
    arena_reset(&s->mem); /* the engine keeps nothing of it */
}

void stage_put(struct stage *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    apply(s, CHANGE_PUT, fmt, args);
    va_end(args);
}

void stage_remove(struct stage *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    apply(s, CHANGE_REMOVE, fmt, args);
    va_end(args);
}

void stage_set_gangs(struct stage *s, const struct coscheduling_args *args)
{
    uint32_t at = 0;
    while (!str_equal(built_in_profiles[at].name, STR("kubenexus-scheduler")))
        at++;
    struct profile *own = arena_copy(&s->config_mem, &built_in_profiles[at], sizeof(*own));
    struct profile_plugin *parts =
        arena_copy(&s->config_mem, own->plugins, own->n * sizeof(*own->plugins));
    for (uint32_t i = 0; i < own->n; i++)
        if (parts[i].plugin->gangs)
            parts[i].args = arena_copy(&s->config_mem, args, sizeof(*args));
    own->plugins = parts;
    s->config.rules.profiles = own;
    s->config.rules.n_profiles = 1;
}

uint32_t stage_run(struct stage *s)
{
    effects_clear(&s->effects);
    while (engine_step(engine_of(s), s->now_ms, &s->effects))
        continue;
    return s->effects.list.n;
}

const struct effect *stage_effect(const struct stage *s, const char *pod)
{
    const struct effect *last = NULL;
    vec_each(&s->effects.list, e)
        if (str_equal(e->pod, str_of(pod)))
            last = e;
    return last;
}

void stage_settle(struct stage *s, const char *pod, const char *error)
{
    const struct effect *effect = stage_effect(s, pod);
    assert(effect && (effect->kind == EFFECT_BIND || effect->kind == EFFECT_EVICT));
    struct error e = {0};
    if (error)
        error_set(&e, ERROR_CONFLICT, "%s", error);
    engine_settle(s->engine, s->now_ms, effect->id, error ? &e : NULL);
}

const char *stage_fate(struct stage *s, const char *pod)
{
    static const char *const places[] = {
        [QUEUE_NOWHERE] = "nowhere",         [QUEUE_ACTIVE] = "active",
        [QUEUE_BACKING_OFF] = "backing off", [QUEUE_PARKED] = "parked",
        [QUEUE_IN_FLIGHT] = "in flight",
    };
    const struct engine_open open = engine_open(engine_of(s));
    const struct cluster *c = open.cluster;
    pod_id id = pods_find(&c->pods, names_find(&c->names, STR("default")), str_of(pod));
    if (id.i == ID_NONE)
        return "unknown";
    const struct pod_row *row = pods_at(&c->pods, id);
    if (row->node == ID_NONE)
        return queue_gate(open.queue, id.i) ? "gated" : places[queue_where(open.queue, id.i)];
    buf_clear(&s->text);
    buf_printf(&s->text, "%s " STR_FMT, row->flags & POD_BOUND ? "bound to" : "assumed on",
               STR_ARG(names_text(&c->names, c->nodes.name[row->node])));
    buf_add_char(&s->text, '\0');
    return s->text.p;
}

bool stage_counts(const struct stage *s, const struct metric *metrics, uint32_t n, const char *line)
{
    struct buf page = {0}, whole = {0};
    metric_text_add(&page, metrics, n, s->engine);
    buf_add(&page, STR("\n")); /* it may be empty */
    buf_printf(&whole, "\n%s\n", line);
    bool does = strstr(page.p, whole.p) != NULL;
    if (!does)
        test_case("%s\nnot in\n%s", line, page.p);
    buf_done(&page);
    buf_done(&whole);
    return does;
}
