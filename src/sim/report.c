#include "sim/report.h"

#include <stdio.h>

#include "core/base/real.h"
#include "sim/stats.h"

/* --- summary --- */

/* Sorts them. */
static struct wait_summary summarise(int64_t *waits_ms, uint32_t n)
{
    stats_sort(waits_ms, n);
    return (struct wait_summary){
        .mean_ms = stats_mean(waits_ms, n),
        .p50_ms = stats_percentile(waits_ms, n, 500),
        .p90_ms = stats_percentile(waits_ms, n, 900),
        .p99_ms = stats_percentile(waits_ms, n, 990),
        .most_ms = stats_percentile(waits_ms, n, 1000),
    };
}

static void summarise_waits(struct class_summary *c)
{
    c->wait = summarise(c->waits_ms, c->n_waits);
}

static double share_of(double part, double all)
{
    return all > 0 ? part / all : 0;
}

static void add_islands(struct summary *s)
{
    const struct islands *is = &s->books->islands;
    double gangs = (double)is->placed;
    s->islands = (struct island_summary){
        .whole = is->whole.total / MAX((double)s->books->end_ms, 1.0),
        .whole_cliques = is->whole_cliques.total / MAX((double)s->books->end_ms, 1.0),
        .fragments = share_of(is->fragments.total, is->idle.total),
        .apart = share_of((double)is->apart, gangs),
        .racks = share_of((double)is->racks, gangs),
        .hops = share_of((double)is->hops, gangs),
        .numa_local = share_of((double)is->numa_local, (double)is->numa_pods),
    };
    for (uint32_t i = 0; i < ISLAND_SIZES; i++) {
        uint32_t n = is->waits[i].waits_ms.n;
        int64_t *waits = arena_copy(&s->mem, is->waits[i].waits_ms.at, n * sizeof(int64_t));
        s->islands.waits[i] = summarise(waits, n);
    }
}

static void add_class(struct summary *s, uint32_t i)
{
    const struct class_books *b = &s->books->classes.at[i];
    struct class_summary *c = &s->classes.at[i], *all = &s->all;
    *c = (struct class_summary){
        .name = s->books->plan->classes.at[i],
        .created = b->created,
        .bound = b->bound,
        .ended = b->ended,
        .lost = b->lost,
        .evicted = b->evicted,
        .waiting = b->waiting,
        .failed = b->failed,
        .n_waits = b->waits_ms.n,
    };
    c->waits_ms = arena_copy(&s->mem, b->waits_ms.at, b->waits_ms.n * sizeof(int64_t));
    if (c->n_waits)
        memcpy(all->waits_ms + all->n_waits, c->waits_ms, c->n_waits * sizeof(int64_t));
    all->n_waits += c->n_waits;
    all->created += c->created;
    all->bound += c->bound;
    all->ended += c->ended;
    all->lost += c->lost;
    all->evicted += c->evicted;
    all->waiting += c->waiting;
    all->failed += c->failed;
    summarise_waits(c);
}

static void add_resource(struct summary *s, uint32_t i)
{
    const struct books *b = s->books;
    const struct timeline_column *used = &b->timeline.at[books_used(b, i)];
    const struct timeline_column *room = &b->timeline.at[books_room(b, i)];
    double span_ms = MAX((double)b->end_ms, 1.0);
    struct resource_summary *r = &s->resources.at[i];
    *r = (struct resource_summary){.name = b->resources.at[i], .room = room->peak};
    r->first = i < b->used_first.n ? b->used_first.at[i] : 0;
    r->mean = used->total / span_ms;
    r->peak = used->peak;
    r->mean_share = room->total > 0 ? used->total / room->total : 0;
    r->peak_share = room->peak > 0 ? used->peak / room->peak : 0;
}

void summary_init(struct summary *s, const struct books *books, struct engine_stats engine)
{
    *s = (struct summary){.books = books, .engine = engine, .all.name = STR("all")};
    uint32_t waits = 0;
    vec_each(&books->classes, c)
        waits += c->waits_ms.n;
    s->all.waits_ms = arena_array(&s->mem, int64_t, waits);
    s->classes.n = books->classes.n;
    s->classes.at = arena_array(&s->mem, struct class_summary, s->classes.n);
    for (uint32_t i = 0; i < s->classes.n; i++)
        add_class(s, i);
    summarise_waits(&s->all);
    s->resources.n = books->resources.n;
    s->resources.at = arena_array(&s->mem, struct resource_summary, s->resources.n);
    for (uint32_t i = 0; i < s->resources.n; i++)
        add_resource(s, i);
    add_islands(s);
    const struct timeline_column *queue = &books->timeline.at[BOOKS_WAITING];
    s->queue_mean = queue->total / MAX((double)books->end_ms, 1.0);
    s->queue_peak = queue->peak;
    s->running = (uint64_t)books->timeline.at[BOOKS_RUNNING].value;
    s->makespan_ms = books->end_ms - books->first_ms;
}

void summary_done(struct summary *s)
{
    arena_done(&s->mem);
    *s = (struct summary){0};
}

/* --- table --- */

/* What was lost, in units of the watched resource times seconds. */
static double watched_seconds(const struct summary *s, double watched_ms)
{
    return watched_ms / face_of(s->books->plan->watched).per_unit / 1e3;
}

static void table_evictions(const struct summary *s, struct buf *out)
{
    const struct undone *u = &s->books->evicted;
    const char *unit = face_of(s->books->plan->watched).label;
    if (u->pods)
        buf_printf(out, "evictions  %s pods, %s gangs set back; %s %s-hours of work lost\n",
                   text_count(u->pods).s, text_count(u->gangs).s,
                   text_amount(watched_seconds(s, u->work) / 3600).s, unit);
    if (s->books->gangs_half)
        buf_printf(
            out, "half gangs %s gangs had too few pods running; they held %s %s-hours\n",
            text_count(s->books->gangs_half).s,
            text_amount(watched_seconds(s, s->books->timeline.at[BOOKS_HELD].total) / 3600).s,
            unit);
}

static void table_head(const struct summary *s, struct buf *out)
{
    const struct plan *p = s->books->plan;
    const struct class_summary *all = &s->all;
    buf_printf(out, STR_FMT ": %s nodes, %s jobs, %s pods, seed %llu\n\n",
               STR_ARG(p->title.n ? p->title : STR("simulation")), text_count(p->nodes.n).s,
               text_count(p->works.n).s, text_count(p->pods).s, (unsigned long long)p->seed);
    if (s->who.profile.n)
        buf_printf(out, "profile    " STR_FMT ", policy " STR_FMT "\n", STR_ARG(s->who.profile),
                   STR_ARG(s->who.policy));
    buf_printf(out, "simulated  %s (makespan %s)\n", text_ms(s->books->end_ms).s,
               text_ms(s->makespan_ms).s);
    buf_printf(out, "pods       %s bound, %s pending, %s failed; %s ended, %s running\n",
               text_count(all->bound).s, text_count(all->waiting).s, text_count(all->failed).s,
               text_count(all->ended).s, text_count(s->running).s);
    buf_printf(out, "queue      %s pods on average, %s at most\n", text_amount(s->queue_mean).s,
               text_count((uint64_t)s->queue_peak).s);
    table_evictions(s, out);
    if (s->books->bind_faults || s->books->node_faults)
        buf_printf(out, "faults     %s bindings failed, %s nodes failed, %s pods lost\n",
                   text_count(s->books->bind_faults).s, text_count(s->books->node_faults).s,
                   text_count(all->lost).s);
}

/* Was there anything in use before the first decision? */
static bool has_start(const struct summary *s)
{
    bool has_any = false;
    list_each(&s->resources, r)
        has_any = has_any || r->first > 0;
    return has_any;
}

static void table_resources(const struct summary *s, struct buf *out)
{
    bool has_first = has_start(s);
    buf_printf(out, "\n%-24s %18s", "RESOURCE", "CAPACITY");
    if (has_first)
        buf_printf(out, " %10s", "AT START");
    buf_printf(out, " %10s %10s\n", "MEAN", "PEAK");
    list_each(&s->resources, r) {
        struct face face = face_of(r->name);
        char room[64];
        snprintf(room, sizeof(room), "%s %s", text_amount(r->room / face.per_unit).s, face.unit);
        buf_printf(out, "%-24s %18s", face.label, room);
        if (has_first)
            buf_printf(out, " %10s", text_share(share_of(r->first, r->room)).s);
        buf_printf(out, " %10s %10s\n", text_share(r->mean_share).s, text_share(r->peak_share).s);
    }
}

/* Of the watched resource, at the end and in the mean. */
static void table_queues(const struct summary *s, struct buf *out)
{
    const struct books *b = s->books;
    struct face face = face_of(b->plan->watched);
    buf_printf(out, "\n%-24s %10s %10s %10s %10s %10s %10s\n", "QUEUE", "GUARANTEED", "ENTITLED",
               "USED", "BORROWED", "LENT", "MEAN USED");
    vec_each(&b->queues, u) {
        const int64_t amounts[] = {u->guaranteed, u->entitled, u->used,
                                   u->borrowed,   u->lent,     u->used_mean};
        if (!str_equal(u->resource, b->plan->watched))
            continue;
        buf_printf(out, "%-24.*s", (int)u->queue.n, u->queue.p);
        for (size_t i = 0; i < LEN(amounts); i++)
            buf_printf(
                out, " %10s",
                text_amount((double)amounts[i] / (u->in_thousandths ? 1e3 : face.per_unit)).s);
        buf_add_char(out, '\n');
    }
}

static void table_class(const struct class_summary *c, struct buf *out)
{
    buf_printf(out, "%-20.*s %9s %9s %9s ", (int)MIN(c->name.n, (size_t)20), c->name.p,
               text_count(c->created).s, text_count(c->bound).s, text_count(c->waiting).s);
    if (c->n_waits)
        buf_printf(out, "%9s %9s %9s %9s %9s\n", text_ms((int64_t)c->wait.mean_ms).s,
                   text_ms(c->wait.p50_ms).s, text_ms(c->wait.p90_ms).s, text_ms(c->wait.p99_ms).s,
                   text_ms(c->wait.most_ms).s);
    else
        buf_printf(out, "%9s %9s %9s %9s %9s\n", "-", "-", "-", "-", "-");
}

static void table_classes(const struct summary *s, struct buf *out)
{
    buf_printf(out, "\n%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "JOB CLASS", "PODS", "BOUND",
               "PENDING", "WAIT MEAN", "P50", "P90", "P99", "MAX");
    list_each(&s->classes, c)
        table_class(c, out);
    if (s->classes.n > 1)
        table_class(&s->all, out);
}

static void table_islands(const struct summary *s, struct buf *out)
{
    const struct islands *is = &s->books->islands;
    if (is->n == 0)
        return;
    buf_printf(out, "\nislands    %s of %s whole on average; %s of the idle GPUs are fragments\n",
               text_amount(s->islands.whole).s, text_count(is->n).s,
               text_share(s->islands.fragments).s);
    if (is->cliques.n)
        buf_printf(out, "cliques    %s of %s whole on average\n",
                   text_amount(s->islands.whole_cliques).s, text_count(is->cliques.n).s);
    if (is->gangs)
        buf_printf(out,
                   "gangs      %s of %s were complete; %s of these in several racks, %s hops "
                   "between racks each\n",
                   text_count(is->placed).s, text_count(is->gangs).s,
                   text_share(s->islands.apart).s, text_amount(s->islands.hops).s);
    if (is->numa_pods)
        buf_printf(out, "NUMA       %s of the pods that one NUMA node can hold are on one\n",
                   text_share(s->islands.numa_local).s);
    buf_printf(out, "\n%-20s %9s %9s %9s %9s\n", "GPUS OF A JOB", "JOBS", "WAIT MEAN", "P90",
               "MAX");
    for (uint32_t i = 1; i < ISLAND_SIZES; i++)
        if (is->waits[i].waits_ms.n)
            buf_printf(out, "%-20s %9s %9s %9s %9s\n", islands_size_name(i),
                       text_count(is->waits[i].waits_ms.n).s,
                       text_ms((int64_t)s->islands.waits[i].mean_ms).s,
                       text_ms(s->islands.waits[i].p90_ms).s,
                       text_ms(s->islands.waits[i].most_ms).s);
}

static void table_complaints(const struct summary *s, struct buf *out)
{
    enum { SHOWN = 3 };
    const struct books *b = s->books;
    if (b->complaints.n)
        buf_printf(out, "\nstill pending, with what they were last told:\n");
    for (uint32_t i = 0; i < MIN(b->complaints.n, (uint32_t)SHOWN); i++)
        buf_printf(out, "  %s × " STR_FMT "\n", text_count(b->complaints.at[i].pods).s,
                   STR_ARG(b->complaints.at[i].text));
    if (b->complaints.n > SHOWN)
        buf_printf(out, "  … and %s other messages\n", text_count(b->complaints.n - SHOWN).s);
}

void report_table(const struct summary *s, const struct host *host, struct buf *out)
{
    table_head(s, out);
    table_resources(s, out);
    if (s->books->has_queues)
        table_queues(s, out);
    table_classes(s, out);
    table_islands(s, out);
    table_complaints(s, out);
    if (s->books->plan->notes.n)
        buf_add_char(out, '\n');
    vec_each(&s->books->plan->notes, note)
        buf_printf(out, "note: " STR_FMT "\n", STR_ARG(*note));
    buf_printf(out, "\n%s decisions", text_count(s->engine.decisions).s);
    if (host)
        buf_printf(out, " in %.2f s: %s decisions/s; longest step %.2f ms; peak memory %.1f MiB",
                   host->wall_s,
                   text_count((uint64_t)((double)s->engine.decisions / MAX(host->wall_s, 1e-6))).s,
                   host->longest_step_s * 1e3, (double)host->peak_bytes / (1 << 20));
    buf_add_char(out, '\n');
}

/* --- JSON --- */

static void put_count(struct json_writer *w, const char *key, uint64_t value)
{
    put_int(w, key, (int64_t)value);
}

/* To a millionth: what is finer is noise. */
static void put_real(struct json_writer *w, const char *key, double value)
{
    json_put_key(w, str_of(key));
    json_put_double(w, real_round(value * 1e6) / 1e6);
}

static void json_head(struct json_writer *w, const struct summary *s)
{
    const struct plan *p = s->books->plan;
    put_open(w, "contestant", '{');
    put_text(w, "name", s->who.name);
    put_text(w, "profile", s->who.profile);
    put_text(w, "policy", s->who.policy);
    json_put_key(w, STR("placesGangs"));
    json_put_bool(w, s->who.places_gangs);
    json_put_close(w, '}');
    put_open(w, "scenario", '{');
    put_text(w, "name", p->title);
    put_count(w, "seed", p->seed);
    put_count(w, "nodes", p->nodes.n);
    put_count(w, "jobs", p->works.n);
    put_count(w, "pods", p->pods);
    put_open(w, "notes", '[');
    vec_each(&p->notes, note)
        json_put_str(w, *note);
    json_put_close(w, ']');
    json_put_close(w, '}');
    put_real(w, "endSeconds", (double)s->books->end_ms / 1e3);
    put_real(w, "makespanSeconds", (double)s->makespan_ms / 1e3);
}

static void json_counts(struct json_writer *w, const struct class_summary *c)
{
    put_count(w, "created", c->created);
    put_count(w, "bound", c->bound);
    put_count(w, "ended", c->ended);
    put_count(w, "pending", c->waiting);
    put_count(w, "failed", c->failed);
    put_count(w, "lost", c->lost);
    put_count(w, "evicted", c->evicted);
}

static void json_waits(struct json_writer *w, const struct wait_summary *wait)
{
    put_open(w, "waitSeconds", '{');
    put_real(w, "mean", wait->mean_ms / 1e3);
    put_real(w, "p50", (double)wait->p50_ms / 1e3);
    put_real(w, "p90", (double)wait->p90_ms / 1e3);
    put_real(w, "p99", (double)wait->p99_ms / 1e3);
    put_real(w, "max", (double)wait->most_ms / 1e3);
    json_put_close(w, '}');
}

static void json_islands(struct json_writer *w, const struct summary *s)
{
    const struct islands *is = &s->books->islands;
    put_open(w, "islands", '{');
    put_count(w, "count", is->n);
    put_real(w, "whole", s->islands.whole);
    if (is->cliques.n) {
        put_int(w, "cliques", is->cliques.n);
        put_real(w, "wholeCliques", s->islands.whole_cliques);
    }
    put_real(w, "fragmentShare", s->islands.fragments);
    put_count(w, "gangs", is->gangs);
    put_count(w, "gangsComplete", is->placed);
    put_real(w, "gangsApart", s->islands.apart);
    put_real(w, "racksPerGang", s->islands.racks);
    put_real(w, "hopsPerGang", s->islands.hops);
    put_count(w, "numaPods", is->numa_pods);
    put_real(w, "numaLocal", s->islands.numa_local);
    put_open(w, "jobs", '[');
    for (uint32_t i = 0; i < ISLAND_SIZES; i++) {
        json_put_open(w, '{');
        put_text(w, "gpus", str_of(islands_size_name(i)));
        put_count(w, "jobs", is->waits[i].waits_ms.n);
        json_waits(w, &s->islands.waits[i]);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
    json_put_close(w, '}');
}

static void json_class(struct json_writer *w, const struct class_summary *c)
{
    put_text(w, "name", c->name);
    json_counts(w, c);
    json_waits(w, &c->wait);
}

enum { COMPLAINTS_MOST = 100 };

static void json_pods(struct json_writer *w, const struct summary *s)
{
    put_open(w, "pods", '{');
    json_counts(w, &s->all);
    put_count(w, "running", s->running);
    json_waits(w, &s->all.wait);
    json_put_close(w, '}');
    put_open(w, "queue", '{');
    put_real(w, "mean", s->queue_mean);
    put_real(w, "peak", s->queue_peak);
    json_put_close(w, '}');
    put_open(w, "classes", '[');
    list_each(&s->classes, c) {
        json_put_open(w, '{');
        json_class(w, c);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
    put_open(w, "pending", '[');
    for (uint32_t i = 0; i < MIN(s->books->complaints.n, (uint32_t)COMPLAINTS_MOST); i++) {
        const struct complaint *complaint = &s->books->complaints.at[i];
        json_put_open(w, '{');
        put_count(w, "pods", complaint->pods);
        put_text(w, "message", complaint->text);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

static void json_resources(struct json_writer *w, const struct summary *s)
{
    put_open(w, "resources", '[');
    list_each(&s->resources, r) {
        struct face face = face_of(r->name);
        json_put_open(w, '{');
        put_text(w, "name", r->name);
        put_text(w, "unit", str_of(face.unit));
        put_real(w, "capacity", r->room / face.per_unit);
        put_real(w, "atStart", r->first / face.per_unit);
        put_real(w, "mean", r->mean / face.per_unit);
        put_real(w, "peak", r->peak / face.per_unit);
        put_real(w, "meanShare", r->mean_share);
        put_real(w, "peakShare", r->peak_share);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

/* Pods that went for other queues and for their own, and the seconds that their GPUs had run. */
static void json_reclaim(struct json_writer *w, const struct books *b)
{
    put_count(w, "reclaim", b->reclaimed);
    put_count(w, "priority", b->outranked);
    json_put_key(w, STR("lostGpuSeconds"));
    json_put_double(w, (double)b->evicted_gpu_ms / 1e3);
}

/* By queue, by resource; what is of one queue stands together. */
static void json_queues(struct json_writer *w, const struct books *b)
{
    put_open(w, "queues", '{');
    for (uint32_t i = 0; i < b->queues.n; i++) {
        const struct queue_use *u = &b->queues.at[i];
        if (i == 0 || !str_equal(u[-1].queue, u->queue)) {
            json_put_key(w, u->queue);
            json_put_open(w, '{');
        }
        json_put_key(w, u->resource);
        json_put_open(w, '{');
        put_int(w, "guaranteed", u->guaranteed);
        put_int(w, "entitled", u->entitled);
        put_int(w, "used", u->used);
        put_int(w, "borrowed", u->borrowed);
        put_int(w, "lent", u->lent);
        put_int(w, "meanUsed", u->used_mean);
        json_put_close(w, '}');
        if (i + 1 == b->queues.n || !str_equal(u[1].queue, u->queue))
            json_put_close(w, '}');
    }
    json_put_close(w, '}');
}

static void json_undone(struct json_writer *w, const struct summary *s)
{
    const struct books *b = s->books;
    const struct undone *undone[] = {&b->evicted, &b->lost};
    static const char *const keys[] = {"evictions", "lostWithNodes"};
    for (size_t i = 0; i < LEN(undone); i++) {
        put_open(w, keys[i], '{');
        put_count(w, "pods", undone[i]->pods);
        put_count(w, "gangsSetBack", undone[i]->gangs);
        put_real(w, "lostSeconds", watched_seconds(s, undone[i]->work));
        if (i == 0 && b->has_queues)
            json_reclaim(w, b);
        json_put_close(w, '}');
    }
    put_open(w, "halfStarted", '{');
    put_count(w, "gangs", b->gangs_half);
    put_real(w, "heldSeconds", watched_seconds(s, b->timeline.at[BOOKS_HELD].total));
    json_put_close(w, '}');
}

static void json_engine(struct json_writer *w, const struct summary *s)
{
    put_open(w, "engine", '{');
    put_count(w, "decisions", s->engine.decisions);
    put_count(w, "bound", s->engine.bound);
    put_count(w, "refused", s->engine.refused);
    put_count(w, "failed", s->engine.failed);
    json_put_close(w, '}');
    put_open(w, "faults", '{');
    put_count(w, "bindings", s->books->bind_faults);
    put_count(w, "nodes", s->books->node_faults);
    json_put_close(w, '}');
}

static void json_column(struct json_writer *w, const struct summary *s, struct str key,
                        uint32_t column, double per_unit)
{
    const struct books *b = s->books;
    json_put_key(w, key);
    json_put_open(w, '[');
    for (uint32_t i = 0; i < timeline_steps(&b->timeline, b->end_ms); i++) {
        double mean = timeline_mean(&b->timeline, column, i, i + 1, b->end_ms);
        json_put_double(w, real_round(mean / per_unit * 1e3) / 1e3);
    }
    json_put_close(w, ']');
}

/* Means over equal steps of time. */
static void json_series(struct json_writer *w, const struct summary *s)
{
    const struct books *b = s->books;
    double watched_unit = face_of(b->plan->watched).per_unit;
    put_open(w, "series", '{');
    put_real(w, "stepSeconds", (double)b->timeline.step_ms / 1e3);
    json_column(w, s, STR("pending"), BOOKS_WAITING, 1);
    json_column(w, s, STR("running"), BOOKS_RUNNING, 1);
    json_column(w, s, STR("heldByHalfStarted"), BOOKS_HELD, watched_unit);
    json_column(w, s, STR("wholeIslands"), BOOKS_WHOLE, 1);
    json_column(w, s, STR("evicted"), BOOKS_EVICTED, 1);
    put_open(w, "used", '{');
    for (uint32_t i = 0; i < b->resources.n; i++)
        json_column(w, s, b->resources.at[i], books_used(b, i),
                    face_of(b->resources.at[i]).per_unit);
    json_put_close(w, '}');
    put_text(w, "watched", b->plan->watched);
    put_text(w, "groupedBy", str_of(b->plan->group_word));
    put_open(w, "groups", '{');
    for (uint32_t i = 0; i < b->plan->groups.n; i++)
        json_column(w, s, b->plan->groups.at[i], books_group_used(b, i), watched_unit);
    json_put_close(w, '}');
    put_open(w, "classes", '{');
    for (uint32_t i = 0; i < b->plan->classes.n; i++)
        json_column(w, s, b->plan->classes.at[i], books_class_used(b, i), watched_unit);
    json_put_close(w, '}');
    json_put_close(w, '}');
}

/* How decisions were made depends on options that change no decision. */
static void json_host(struct json_writer *w, const struct summary *s, const struct host *host)
{
    put_open(w, "host", '{');
    put_real(w, "wallSeconds", host->wall_s);
    put_real(w, "decisionsPerSecond", (double)s->engine.decisions / MAX(host->wall_s, 1e-6));
    put_real(w, "longestStepSeconds", host->longest_step_s);
    put_count(w, "peakBytes", host->peak_bytes);
    put_count(w, "byView", s->engine.by_view);
    put_count(w, "byScan", s->engine.by_scan);
    put_count(w, "byPin", s->engine.by_pin);
    json_put_close(w, '}');
}

void report_json_object(const struct summary *s, const struct host *host, struct json_writer *w)
{
    json_put_open(w, '{');
    json_head(w, s);
    json_pods(w, s);
    json_resources(w, s);
    json_islands(w, s);
    json_undone(w, s);
    if (s->books->has_queues)
        json_queues(w, s->books);
    json_engine(w, s);
    json_series(w, s);
    if (host)
        json_host(w, s, host);
    json_put_close(w, '}');
}

void report_json(const struct summary *s, const struct host *host, struct buf *out)
{
    struct json_writer w = {.out = out, .is_pretty = false};
    report_json_object(s, host, &w);
    buf_add_char(out, '\n');
}
