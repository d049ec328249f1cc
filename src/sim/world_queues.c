/* What queues decide in a world. */

#include "core/model/resources.h"
#include "sim/world_inside.h"

/* As the engine has it: of a dump it knows gangs that the plan does not. Lives until it is told
 * something. False: the pod is in no queue. */
static bool find_standing(struct world *w, const struct sim_pod *pod, struct queue_standing *out)
{
    return engine_queue_of(w->engine, pod_namespace(w, pod), sim_pod_name(w, pod), &w->mem, out);
}

static bool is_beyond(const struct world *w, const struct sim_pod *pod)
{
    const struct plan_job *job = &w->plan->jobs.at[pod->job];
    return job->minimum > 1 && pod->member >= job->minimum;
}

void world_log_end(struct world *w, const struct sim_pod *pod)
{
    struct queue_standing at;
    if (w->log.out && find_standing(w, pod, &at))
        decisions_end(&w->log, at.unit, at.queue, is_beyond(w, pod));
}

void world_log_eviction(struct world *w, const struct sim_pod *pod)
{
    uint32_t resources = w->books.resources.n;
    const int64_t *needs = &w->needs[(size_t)w->plan->jobs.at[pod->job].template * resources];
    struct queue_standing at;
    int64_t gpus = 0;
    for (uint32_t i = 0; i < resources; i++)
        gpus += resource_is_accelerator(w->books.resources.at[i]) ? needs[i] : 0;
    if (w->has_queues && find_standing(w, pod, &at))
        decisions_take(&w->log, at.unit, gpus * (w->now_ms - pod->started_ms));
}

/* What those whose minimum waits would be told. */
void world_log_refusals(struct world *w)
{
    uint32_t kept = 0;
    vec_each(&w->waits, i) {
        const struct sim_pod *pod = &w->pods.at[*i];
        struct queue_refusal why;
        if (pod->state != POD_WAITING)
            continue;
        w->waits.at[kept++] = *i;
        if (is_beyond(w, pod))
            continue;
        arena_reset(&w->mem);
        if (engine_queue_refusal(w->engine, pod_namespace(w, pod), sim_pod_name(w, pod), &w->mem,
                                 &why))
            decisions_refuse(&w->log, &why);
    }
    w->waits.n = kept;
    decisions_write_refusals(&w->log, w->now_ms);
}

void world_log_starts(struct world *w)
{
    vec_each(&w->effects.turns, turn)
        decisions_start(&w->log, w->now_ms, turn);
    vec_clear(&w->effects.turns);
}

/* Means are over the time that was asked for, also if all was done before; else until something
 * last happened, after which the engine may have looked again. */
void world_close_queues(struct world *w, int64_t end_ms)
{
    struct queue_reports all = {0};
    end_ms = w->plan->until_ms != NEVER ? w->plan->until_ms : end_ms;
    int64_t told_ms = MAX(end_ms, w->now_ms);
    arena_reset(&w->mem);
    engine_queue_reports(w->engine, w->plan->epoch_ms + told_ms, &w->mem, &all);
    list_each(&all.at, queue)
        list_each(&queue->amounts, a) {
            struct queue_use use = {
                .queue = arena_str(&w->books.mem, queue->name),
                .resource = arena_str(&w->books.mem, a->resource),
                .guaranteed = a->guaranteed,
                .entitled = a->entitled,
                .used = a->used,
                .borrowed = a->borrowed,
                .lent = a->lent,
                .in_thousandths = a->in_thousandths,
            };
            __int128 used_time = a->used_time - (__int128)a->used * (told_ms - end_ms);
            use.used_mean = end_ms ? (int64_t)(used_time / end_ms) : 0;
            vec_push(&w->books.queues, use);
        }
}

/* --- patience --- */

/* So long somebody may wait for what a queue says: for others to have run, for a budget's window to
 * end. */
static int64_t wait_for(const struct queue_object *q)
{
    static const int64_t month_ms = (int64_t)31 * 24 * 3600 * 1000;
    return q->spec.budgets.n ? month_ms : q->spec.min_run_s * 1000;
}

int64_t world_patience_ms(const struct world *w)
{
    enum { PATIENCE_MS = 60000 };
    int64_t wait_ms = w->has_queues ? w->plan->patience_ms : 0;
    vec_each(&w->plan->objects, object)
        if (w->has_queues && object->kind == KIND_QUEUE)
            wait_ms = MAX(wait_ms, wait_for(object->queue));
    return PATIENCE_MS + wait_ms;
}
