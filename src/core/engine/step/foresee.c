/* Explanations say what happens, not what would happen if the pod were alone: so the engine goes to
 * work, and the pod is watched. */

#include "core/engine/explain.h"
#include "core/engine/step/step.h"

/* Who failed, or gave way in the queue, comes again within this time: that still is "now". */
enum { SOON_MS = 2000 };

struct watching {
    struct engine *k;
    int64_t now_ms, until_ms;
    struct effects effects; /* of the last step */
};

static struct watching begin(struct engine *k, int64_t now_ms)
{
    return (struct watching){.k = k, .now_ms = now_ms, .until_ms = now_ms + SOON_MS};
}

/* One step, now or a little later; false: nobody has a turn any more. */
static bool step(struct watching *w)
{
    effects_clear(&w->effects);
    while (!engine_step(w->k, w->now_ms, &w->effects)) {
        int64_t next_ms = engine_next_ms(w->k, w->now_ms);
        if (next_ms > w->until_ms || next_ms <= w->now_ms)
            return false;
        w->now_ms = next_ms;
    }
    return true;
}

/* Steps in which something came of a turn are counted. How many others are in between, of units
 * that are looked at in vain, is another number in an engine that was told of the same in another
 * way. */
static bool has_said(const struct watching *w)
{
    return w->effects.list.n > 0;
}

static bool is_about(const struct effect *e, struct str namespace, struct str name)
{
    return (e->kind == EFFECT_REFUSE || e->kind == EFFECT_FAIL) && str_equal(e->pod, name) &&
           str_equal(e->namespace, namespace);
}

/* Pods that are placed and were not before. */
static uint32_t assumed(const struct engine *k)
{
    return k->unsettled.n - engine_n_evictions(k) - engine_n_writes(k) + engine_n_prebind_tasks(k);
}

/* True: the pod was told something. */
static bool hear(const struct watching *w, struct str namespace, struct str name, struct arena *mem,
                 struct foresight *out)
{
    uint32_t evicted = 0;
    bool is_told = false;
    vec_each(&w->effects.list, e) {
        evicted += e->kind == EFFECT_EVICT;
        if (!is_about(e, namespace, name))
            continue;
        out->message = arena_str(mem, e->message);
        is_told = true;
    }
    if (is_told)
        out->evicted = evicted;
    return is_told;
}

void engine_foresee(struct engine *k, int64_t now_ms, struct str namespace, struct str name,
                    struct arena *mem, struct foresight *out)
{
    struct cluster *c = k->cluster;
    struct watching w = begin(k, now_ms);
    pod_id pod = pods_find(&c->pods, names_find(&c->names, namespace), name);
    uint32_t steps = 0, before = 0;
    while (pod.i != ID_NONE && !out->is_placed && step(&w)) {
        const struct pod_row *row = pods_at(&c->pods, pod);
        bool is_told = hear(&w, namespace, name, mem, out);
        steps += has_said(&w);
        out->is_placed = row->node != ID_NONE;
        if (out->is_placed)
            out->node = arena_str(mem, names_text(&c->names, c->nodes.name[row->node]));
        if (out->is_placed || is_told) {
            out->steps = steps;
            out->ahead = before;
        }
        before = assumed(k);
    }
    effects_done(&w.effects);
}

void engine_forward(struct engine *k, int64_t now_ms, uint32_t steps)
{
    struct watching w = begin(k, now_ms);
    for (uint32_t i = 0; i + 1 < steps && step(&w); i += has_said(&w))
        continue;
    effects_done(&w.effects);
}
