#include "lines.h"

#include "core/plugins/plugins.h"
#include "support/test.h"

void lines_setup(struct lines_setup *l, struct stage *s, enum line_policy policy, int64_t patience)
{
    uint32_t number = 0, n = 0;
    while (!plugins[number]->keeps_line)
        number++;
    l->args = (struct line_args){policy, patience};
    const struct profile *from = &built_in_profiles[1];
    for (; n < from->n; n++)
        l->plugins[n] = from->plugins[n];
    l->plugins[n++] = (struct profile_plugin){plugins[number], number, 0, &l->args, 0};
    l->profiles[0] = built_in_profiles[0];
    l->profiles[1] = (struct profile){from->name, l->plugins, n};
    s->config.rules.profiles = l->profiles;
    s->config.rules.n_profiles = LEN(l->profiles);
}

struct line *lines_of(struct stage *s)
{
    return &s->engine->lines->at.at[1];
}

static void put_job(struct stage *s, const struct task *j, uint32_t i, struct str node)
{
    AUTO(buf) text = {0};
    buf_printf(&text, "pod j%u gpu=%d priority=%d scheduler=kubenexus-scheduler created=%lld", i,
               j->gpus, j->priority, (long long)j->submit_s);
    if (!j->is_silent)
        buf_printf(&text, " note:scheduling.kubenexus.io/expected-duration=%llds",
                   (long long)j->run_s);
    if (node.n)
        buf_printf(&text, " on=" STR_FMT, STR_ARG(node));
    stage_put(s, "%s", text.p);
}

static int64_t end_s(const struct task *j)
{
    return j->start_s < 0 ? INT64_MAX : j->start_s + j->run_s;
}

static uint32_t number_of(struct str pod)
{
    int64_t i = 0;
    EXPECT(str_int(str_part(pod, 1, pod.n), &i));
    return (uint32_t)i;
}

/* What the engine wants, at once; true if it was told anything. */
static bool obey(struct stage *s, struct task *jobs)
{
    struct decided {
        uint32_t job;
        effect_id effect;
        enum effect_kind kind;
        char name[16], node[16];
    };
    VEC(struct decided) all = {0};
    vec_each(&s->effects.list, e) {
        struct decided d = {.job = number_of(e->pod), .effect = e->id, .kind = e->kind};
        memcpy(d.name, e->pod.p, MIN(e->pod.n, sizeof(d.name) - 1));
        if (e->node.n)
            memcpy(d.node, e->node.p, MIN(e->node.n, sizeof(d.node) - 1));
        if (e->kind == EFFECT_BIND || e->kind == EFFECT_EVICT)
            vec_push(&all, d);
    }
    vec_each(&all, d) {
        struct task *j = &jobs[d->job];
        engine_settle(s->engine, s->now_ms, d->effect, NULL);
        if (d->kind == EFFECT_BIND) {
            j->start_s = s->now_ms / 1000;
            put_job(s, j, d->job, str_of(d->node));
        } else {
            j->start_s = -1;
            stage_remove(s, "pod %s", d->name);
        }
    }
    bool is_told = all.n;
    vec_done(&all);
    return is_told;
}

static void note_promise(struct stage *s, struct task *jobs)
{
    const struct line *l = lines_of(s);
    if (l->head == ID_NONE)
        return;
    struct task *j =
        &jobs[number_of(pod_name(pods_at(&s->engine->cluster->pods, (pod_id){l->head})))];
    if (j->promised_s < 0)
        j->promised_s = l->start_ms / 1000;
}

static int64_t next_s(const struct task *jobs, uint32_t n, int64_t now_s)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (jobs[i].submit_s > now_s)
            next = MIN(next, jobs[i].submit_s);
        if (end_s(&jobs[i]) > now_s)
            next = MIN(next, end_s(&jobs[i]));
    }
    return next;
}

void lines_run(struct stage *s, struct task *jobs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        jobs[i].start_s = jobs[i].promised_s = -1;
    for (int64_t now_s = -1; (now_s = next_s(jobs, n, now_s)) != INT64_MAX;) {
        s->now_ms = now_s * 1000;
        for (uint32_t i = 0; i < n; i++)
            if (end_s(&jobs[i]) == now_s)
                stage_remove(s, "pod j%u", i);
        for (uint32_t i = 0; i < n; i++)
            if (jobs[i].submit_s == now_s)
                put_job(s, &jobs[i], i, STR(""));
        do {
            stage_run(s);
            note_promise(s, jobs);
        } while (obey(s, jobs));
    }
}
