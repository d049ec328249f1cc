#include "cmd/kubenexus/run_dump.h"

#include <signal.h>

#include "cmd/kubenexus/log.h"
#include "core/engine/open.h"
#include "core/plugins/plugins.h"
#include "io/loop/child.h"

enum { DUMP_MOST_MS = 60000 };

struct run_dump {
    struct loop *loop;
    const struct engine *engine;
    struct child *child; /* NULL: none is under way */
};

/* --- in the copy --- */

static struct str name_of(const struct cluster *c, sym name)
{
    return name == SYM_NONE ? STR("") : names_text(&c->names, name);
}

/* "cpu=1500m,memory=1024,pods=3,nvidia.com/gpu=8": allocatable, or what is requested of it. */
static void add_room(const struct cluster *c, const struct room *room, bool is_used,
                     struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "cpu=%lldm,memory=%lld,pods=%d",
               (long long)(is_used ? room->cpu_used : room->cpu_alloc),
               (long long)(is_used ? room->memory_used : room->memory_alloc),
               is_used ? room->pods_used : room->pods_alloc);
    for (uint32_t i = 0; room->cells && i < room->cells->n; i++) {
        const struct cell *cell = &room->cells->at[i];
        buf_printf(out, "," STR_FMT "=%lld",
                   STR_ARG(name_of(c, c->specs.resources.names.at[cell->resource])),
                   (long long)(is_used ? cell->used : cell->alloc));
    }
}

static struct str pod_text(const struct cluster *c, pod_id pod, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, STR_FMT "/" STR_FMT, STR_ARG(name_of(c, pods_shape(&c->pods, pod)->namespace)),
               STR_ARG(pod_name(pods_at(&c->pods, pod))));
    return buf_str(out);
}

static const char *state_of(const struct pod_row *row)
{
    if (row->flags & POD_TERMINATING)
        return "terminating";
    return row->flags & POD_BOUND ? "bound" : "assumed";
}

static void dump_node(const struct cluster *c, uint32_t node)
{
    AUTO(buf) requested = {0}, allocatable = {0}, text = {0};
    const struct room *room = &c->nodes.room[node];
    struct str name = name_of(c, c->nodes.name[node]);
    add_room(c, room, true, &requested);
    add_room(c, room, false, &allocatable);
    log_record(LOG_INFO, "dump of node", log_str("node", name),
               log_int("deleted", !nodes_is_present(&c->nodes, (node_id){node})),
               log_str("requested", buf_str(&requested)),
               log_str("allocatable", buf_str(&allocatable)), log_int("pods", room->pods_used));
    for (uint32_t p = c->nodes.first_pod[node]; p != ID_NONE; p = c->pods.rows.at[p].after) {
        const struct pod_row *row = &c->pods.rows.at[p];
        log_record(LOG_INFO, "dump of pod on node", log_str("node", name),
                   log_str("pod", pod_text(c, (pod_id){p}, &text)), log_str("uid", pod_uid(row)),
                   log_text("state", state_of(row)));
    }
}

/* "NodeResourcesFit,TaintToleration" */
static void add_plugins(const struct engine *k, uint64_t bits, struct buf *out)
{
    for (uint32_t i = 0; i < 64; i++)
        if (bits >> i & 1 && engine_plugin(k, i))
            buf_printf(out, "%s%s", out->n ? "," : "", engine_plugin(k, i)->name);
}

static void dump_waiting(void *ctx, uint32_t unit)
{
    struct engine *k = ctx;
    const struct queue *q = engine_open(k).queue;
    static const char *const places[] = {
        [QUEUE_NOWHERE] = "",
        [QUEUE_ACTIVE] = "active",
        [QUEUE_BACKING_OFF] = "backoff",
        [QUEUE_PARKED] = "unschedulable",
        [QUEUE_IN_FLIGHT] = "in flight",
    };
    const struct cluster *c = engine_open(k).cluster;
    const struct pod_row *row = pods_at(&c->pods, (pod_id){unit});
    AUTO(buf) text = {0}, by = {0};
    add_plugins(k, queue_rejectors(q, unit), &by);
    log_record(LOG_INFO, "dump of waiting pod", log_str("pod", pod_text(c, (pod_id){unit}, &text)),
               log_str("uid", pod_uid(row)),
               log_text("queue", queue_gate(q, unit) ? "gated" : places[queue_where(q, unit)]),
               log_int("attempts", queue_attempts(q, unit)), log_str("rejectedBy", buf_str(&by)),
               log_str("nominatedNode", name_of(c, row->nominated)));
}

/* Shares by numbers of GPUs, where they count. */
static void dump_demand(const struct demand *d)
{
    AUTO(buf) text = {0};
    if (!d->is_watched)
        return;
    gpu_mix_text(&d->mix, &text);
    log_record(LOG_INFO, "dump of GPU demand", log_str("mix", buf_str(&text)));
}

static void dump(const void *arg, int out)
{
    struct engine *k = *(struct engine *const *)arg;
    const struct engine_open open = engine_open(k);
    (void)out;
    for (uint32_t i = 0; i < open.cluster->nodes.n; i++)
        if (open.cluster->nodes.flags[i] & NODE_CLAIMED)
            dump_node(open.cluster, i);
    struct engine_stats s = engine_stats(k);
    log_record(LOG_INFO, "dump of queue", log_int("active", s.active),
               log_int("backoff", s.backing_off), log_int("unschedulable", s.parked));
    dump_demand(&open.cluster->demand);
    queue_each(open.queue, dump_waiting, k);
    log_record(LOG_INFO, "dump ends", log_int("nodes", s.nodes), log_int("pods", s.pods));
}

/* --- here --- */

static void on_end(void *ctx, struct str output, const char *error)
{
    struct run_dump *d = ctx;
    (void)output;
    d->child = NULL;
    if (error)
        log_record(LOG_WARNING, "the dump is not whole", log_text("why", error));
}

static void on_signal(void *ctx, int signal)
{
    struct run_dump *d = ctx;
    (void)signal;
    if (d->child) /* one at a time */
        return;
    struct child_spec spec = {.run = dump, .arg = &d->engine, .timeout_ms = DUMP_MOST_MS};
    struct error e = {0};
    d->child = child_start(d->loop, &spec, on_end, d, &e);
    if (!d->child)
        log_record(LOG_WARNING, "no dump", log_text("why", e.text));
}

struct run_dump *run_dump_new(struct loop *l, const struct engine *k)
{
    struct run_dump *d = mem_alloc(sizeof(*d));
    *d = (struct run_dump){.loop = l, .engine = k};
    loop_on_signal(l, SIGUSR2, on_signal, d);
    return d;
}

void run_dump_free(struct run_dump *d)
{
    if (d && d->child)
        child_stop(d->child);
    mem_free(d);
}
