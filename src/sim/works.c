#include "sim/works.h"

static bool ends_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct works *ws = ctx;
    int64_t x = ws->runs.at[a].ends_ms, y = ws->runs.at[b].ends_ms;
    return x != y ? x < y : a < b;
}

void works_init(struct works *ws, const struct plan *plan, struct books *books,
                const int64_t *needs)
{
    *ws = (struct works){.plan = plan, .books = books, .needs = needs};
    ws->ends = (struct heap){.before = ends_before, .ctx = ws};
    vec_each(&plan->works, work) {
        vec_push(&ws->at, (struct work_state){.first = ws->nodes.n, .ended = work->ended});
        for (uint32_t i = 0; i < work->pods; i++) {
            vec_push(&ws->nodes, NO_NODE);
            vec_push(&ws->members, NO_POD);
        }
    }
}

void works_done(struct works *ws)
{
    vec_done(&ws->at);
    vec_done(&ws->nodes);
    vec_done(&ws->members);
    vec_done(&ws->runs);
    heap_done(&ws->ends);
}

static const struct plan_job *job_of(const struct works *ws, uint32_t pod)
{
    return &ws->plan->jobs.at[ws->runs.at[pod].job];
}

static uint32_t work_of(const struct works *ws, uint32_t pod)
{
    return job_of(ws, pod)->work - 1;
}

static uint32_t minimum_of(const struct works *ws, uint32_t work)
{
    return ws->plan->works.at[work].minimum;
}

/* Its place in `nodes` and `members`. */
static uint32_t member_of(const struct works *ws, uint32_t pod)
{
    return ws->at.at[work_of(ws, pod)].first + job_of(ws, pod)->first_member +
           ws->runs.at[pod].member;
}

static double watched_of(const struct works *ws, uint32_t pod)
{
    size_t row = (size_t)job_of(ws, pod)->template * ws->books->resources.n;
    return (double)ws->needs[row + ws->books->watched];
}

void works_add(struct works *ws, uint32_t job, uint32_t member, int64_t done_ms)
{
    vec_push(&ws->runs, (struct run){.job = job, .member = member, .done_ms = done_ms});
    ws->members.at[member_of(ws, ws->runs.n - 1)] = ws->runs.n - 1;
}

/* --- getting on --- */

static void go_on(struct works *ws, int64_t now_ms, uint32_t pod)
{
    struct run *run = &ws->runs.at[pod];
    int64_t runs_ms = job_of(ws, pod)->runs_ms;
    run->since_ms = now_ms;
    if (runs_ms >= INT64_MAX - now_ms)
        return;
    run->ends_ms = now_ms + MAX(runs_ms - run->done_ms, (int64_t)0);
    heap_add(&ws->ends, pod);
}

static void begin_anew(struct works *ws, int64_t now_ms, uint32_t pod, struct undone *undone)
{
    struct run *run = &ws->runs.at[pod];
    undone->work += (double)(run->done_ms + now_ms - run->since_ms) * watched_of(ws, pod);
    run->done_ms = 0;
    if (heap_has(&ws->ends, pod))
        heap_remove(&ws->ends, pod);
}

static void all_go_on(struct works *ws, int64_t now_ms, uint32_t work)
{
    const uint32_t *members = &ws->members.at[ws->at.at[work].first];
    for (uint32_t i = 0; i < ws->plan->works.at[work].pods; i++)
        if (members[i] != NO_POD && ws->runs.at[members[i]].is_running)
            go_on(ws, now_ms, members[i]);
}

static void all_begin_anew(struct works *ws, int64_t now_ms, uint32_t work, struct undone *undone)
{
    const uint32_t *members = &ws->members.at[ws->at.at[work].first];
    for (uint32_t i = 0; i < ws->plan->works.at[work].pods; i++)
        if (members[i] != NO_POD && ws->runs.at[members[i]].is_running)
            begin_anew(ws, now_ms, members[i], undone);
}

/* The books say what the gang holds while too few of its pods run. A moment counts for nothing. */
static void book_held(struct works *ws, int64_t now_ms, struct work_state *s)
{
    double held = s->gets_on ? 0 : s->used;
    if (s->held > 0 && now_ms > s->since_ms && !s->was_half) {
        s->was_half = true;
        ws->books->gangs_half++;
    }
    timeline_add(&ws->books->timeline, BOOKS_HELD, now_ms, held - s->held);
    if (s->held == 0 || held == 0)
        s->since_ms = now_ms;
    s->held = held;
}

/* The pod has a node, or none any more, while not all of its work run. */
static void put_member(struct works *ws, int64_t now_ms, uint32_t pod, uint32_t node)
{
    uint32_t work = work_of(ws, pod), *where = &ws->nodes.at[member_of(ws, pod)];
    struct work_state *s = &ws->at.at[work];
    if (s->has_started)
        return;
    s->placed += node != NO_NODE;
    s->placed -= *where != NO_NODE;
    *where = node;
    s->has_started = s->placed == ws->plan->works.at[work].pods;
    if (s->has_started && !s->is_old)
        islands_work(&ws->books->islands, now_ms, work, &ws->nodes.at[s->first]);
}

static bool are_enough(const struct works *ws, uint32_t work)
{
    const struct work_state *s = &ws->at.at[work];
    return s->running + s->ended >= minimum_of(ws, work);
}

void works_start(struct works *ws, int64_t now_ms, uint32_t pod, uint32_t node, bool is_old)
{
    uint32_t work = work_of(ws, pod);
    struct work_state *s = &ws->at.at[work];
    s->is_old = is_old;
    put_member(ws, now_ms, pod, node);
    ws->runs.at[pod].is_running = true;
    s->running++;
    s->used += watched_of(ws, pod);
    if (s->gets_on) {
        go_on(ws, now_ms, pod);
    } else if (are_enough(ws, work)) {
        s->gets_on = true;
        all_go_on(ws, now_ms, work);
    }
    book_held(ws, now_ms, s);
}

static struct work_state *leave(struct works *ws, uint32_t pod)
{
    struct work_state *s = &ws->at.at[work_of(ws, pod)];
    ws->runs.at[pod].is_running = false;
    s->running--;
    s->used -= watched_of(ws, pod);
    return s;
}

void works_end(struct works *ws, int64_t now_ms, uint32_t pod)
{
    heap_remove(&ws->ends, pod);
    struct work_state *s = leave(ws, pod);
    s->ended++;
    book_held(ws, now_ms, s);
}

void works_lose(struct works *ws, int64_t now_ms, uint32_t pod, struct undone *undone)
{
    uint32_t work = work_of(ws, pod);
    put_member(ws, now_ms, pod, NO_NODE);
    struct work_state *s = leave(ws, pod);
    undone->pods++;
    if (s->gets_on)
        begin_anew(ws, now_ms, pod, undone);
    if (s->gets_on && !are_enough(ws, work)) {
        s->gets_on = false;
        undone->gangs += minimum_of(ws, work) > 1;
        all_begin_anew(ws, now_ms, work, undone);
    }
    book_held(ws, now_ms, s);
}

int64_t works_next_ms(const struct works *ws)
{
    return ws->ends.n ? ws->runs.at[ws->ends.at[0]].ends_ms : INT64_MAX;
}

void works_close(struct works *ws, int64_t end_ms)
{
    for (uint32_t i = 0; i < ws->at.n; i++) {
        struct work_state *s = &ws->at.at[i];
        bool has_come = false;
        for (uint32_t k = 0; k < ws->plan->works.at[i].pods && !has_come; k++)
            has_come = ws->members.at[s->first + k] != NO_POD;
        if (has_come && !s->has_started)
            islands_work(&ws->books->islands, end_ms, i, NULL);
        book_held(ws, end_ms, s);
    }
}
