/* What a world writes down when it is over. */

#include <stdlib.h>

#include "sim/world_inside.h"

static int complaint_compare(const void *a, const void *b)
{
    const struct complaint *x = a, *y = b;
    if (x->pods != y->pods)
        return x->pods > y->pods ? -1 : 1;
    return str_compare(x->text, y->text);
}

/* Of a pod that nobody has said anything about. */
static void explain_silence(struct world *w, struct sim_pod *pod)
{
    const struct pod *from = w->plan->templates.at[w->plan->jobs.at[pod->job].template];
    struct str scheduler = w->plan->scheduler.n ? w->plan->scheduler : from->spec.scheduler_name;
    arena_reset(&w->mem);
    struct str text =
        from->spec.gates.n
            ? STR("waits for its scheduling gates")
            : arena_printf(&w->mem, "names the scheduler " STR_FMT ", which nobody serves here",
                           STR_ARG(scheduler));
    pod->why = intern_get(&w->whys, text, NULL);
    intern_hold(&w->whys, pod->why);
}

void world_close_books(struct world *w, int64_t end_ms)
{
    struct books *b = &w->books;
    VEC(uint32_t) pods_of = {0}; /* by why */
    vec_each(&w->pods, pod)
        if (pod->state == POD_WAITING && pod->why == NOT_SAID)
            explain_silence(w, pod);
    vec_resize(&pods_of, w->whys.entries.n);
    vec_each(&w->pods, pod) {
        if (pod->state != POD_WAITING)
            continue;
        class_of(w, pod)->waiting += !pod->is_failed;
        class_of(w, pod)->failed += pod->is_failed;
        pods_of.at[pod->why]++;
    }
    for (uint32_t i = 0; i < pods_of.n; i++) {
        if (pods_of.at[i])
            vec_push(
                &b->complaints,
                (struct complaint){arena_str(&b->mem, intern_bytes(&w->whys, i)), pods_of.at[i]});
    }
    if (b->complaints.n)
        qsort(b->complaints.at, b->complaints.n, sizeof(*b->complaints.at), complaint_compare);
    vec_done(&pods_of);
    b->first_ms = w->plan->jobs.n ? MIN(w->plan->jobs.at[0].at_ms, end_ms) : 0;
    b->end_ms = end_ms;
    works_close(&w->works, end_ms);
    if (w->has_queues)
        world_close_queues(w, end_ms);
    timeline_close(&b->timeline, end_ms);
    islands_close(&b->islands, end_ms);
}
