/* Each write is a small machine: a reply becomes an event, the event and the state find a rule.
 * Between calls: a write under way is found by its request; of one pod there is at most one binding
 * (`bind_of`) and one patch (`tell_of`), and a binding is QUEUED while a patch of its pod that was
 * sent before has not ended; `timers` counts the writes that wait for a time, `tells_sent` the
 * patches under way. */

#include "kube/dispatch.h"

#include "core/model/binding.h"
#include "core/wire/json_write.h"
#include "core/wire/time_text.h"
#include "kube/limits.h"
#include "kube/pause.h"

enum { TRIES = 4, TIMEOUT_MS = 30000 };

/* As kube-scheduler's API calls; who is in doubt goes on with longer pauses. */
static const struct pause_law law = {
    .first_ms = 10, .cap_ms = 5000, .reset_ms = INT64_MAX, .factor = 5, .jitter = 0.1};

enum write_event {
    DONE,      /* the server did it */
    REFUSED,   /* it did not and will not */
    BUSY,      /* it may later */
    UNSURE,    /* it may have done it */
    THERE,     /* the pod is on our node */
    ELSEWHERE, /* it is on another one, is another pod, or is gone */
    OPEN,      /* it is on no node yet */
    BLIND,     /* nobody could say */
    TIMER,
};

struct happening {
    enum write_event on;
    int64_t now_ms;
    struct requests *out;
    const struct trouble *why; /* of what went wrong; else NULL */
};

typedef void action(struct dispatch *d, uint32_t i, const struct happening *h);

/* --- the table of writes --- */

static struct str keep(char **at, struct str text)
{
    if (text.n)
        memcpy(*at, text.p, text.n);
    struct str kept = {*at, text.n};
    *at += text.n;
    return kept;
}

static uint32_t write_new(struct dispatch *d, enum write_kind kind, const struct effect *e,
                          const struct pending_row *row)
{
    struct str scheduler = row ? pending_scheduler(&d->pending, row) : STR("");
    if (d->free.n == 0) {
        vec_push(&d->free, d->writes.n);
        vec_push(&d->writes, (struct write){0});
    }
    uint32_t i = vec_pop(&d->free);
    struct write *w = &d->writes.at[i];
    char *at = mem_alloc(e->namespace.n + e->pod.n + e->uid.n + e->node.n + scheduler.n + 1);
    *w = (struct write){.kind = kind,
                        .state = WRITE_QUEUED,
                        .effect = e->id,
                        .due_ms = INT64_MAX,
                        .generation = row ? row->generation : 0,
                        .version = row ? row->version : 0,
                        .message = INTERN_NONE,
                        .namespace = keep(&at, e->namespace),
                        .pod = keep(&at, e->pod),
                        .uid = keep(&at, e->uid),
                        .node = keep(&at, e->node),
                        .scheduler = keep(&at, scheduler),
                        .answer = w->answer};
    d->binds += kind == WRITE_BIND;
    map_put(kind == WRITE_BIND ? &d->bind_of : &d->tell_of, pod_key(e->namespace, e->pod), i);
    return i;
}

static void set_state(struct dispatch *d, struct write *w, enum write_state state)
{
    bool was_timed = w->state == WRITE_RESTING || w->state == WRITE_DOUBTFUL;
    bool is_timed = state == WRITE_RESTING || state == WRITE_DOUBTFUL;
    d->timers = d->timers - was_timed + is_timed;
    if (w->kind == WRITE_TELL)
        d->tells_sent = d->tells_sent - (w->state == WRITE_SENT) + (state == WRITE_SENT);
    w->state = state;
}

static void set_message(struct dispatch *d, struct write *w, struct str message)
{
    if (w->message != INTERN_NONE)
        intern_drop(&d->texts, w->message);
    if (intern_wants_sweep(&d->texts))
        intern_sweep(&d->texts, NULL, NULL);
    w->message = message.n ? intern_get(&d->texts, message, NULL) : INTERN_NONE;
    if (w->message != INTERN_NONE)
        intern_hold(&d->texts, w->message);
}

static struct map *index_of(struct dispatch *d, const struct write *w)
{
    return w->kind == WRITE_BIND ? &d->bind_of : &d->tell_of;
}

/* Forgets the write; a reply that still comes is nobody's. */
static void write_free(struct dispatch *d, uint32_t i)
{
    struct write *w = &d->writes.at[i];
    uint64_t key = pod_key(w->namespace, w->pod);
    if (map_find(index_of(d, w), key) == i)
        map_remove(index_of(d, w), key);
    map_remove(&d->by_request, w->current);
    d->binds -= w->kind == WRITE_BIND;
    set_state(d, w, WRITE_FREE);
    set_message(d, w, STR(""));
    mem_free((char *)(uintptr_t)w->namespace.p);
    vec_push(&d->free, i);
}

/* --- bodies --- */

static void put_text(struct json_writer *j, const char *key, struct str value)
{
    json_put_key(j, str_of(key));
    json_put_str(j, value);
}

static void put_open(struct json_writer *j, const char *key, char opening)
{
    json_put_key(j, str_of(key));
    json_put_open(j, opening);
}

/* A strategic merge: other conditions stay, and the time of one that is there already, as its
 * status does not change. The uid guards a pod of the same name. */
static void put_condition(struct dispatch *d, struct json_writer *j, const struct write *w,
                          int64_t now_ms)
{
    put_open(j, "metadata", '{');
    put_text(j, "uid", w->uid);
    json_put_close(j, '}');
    put_open(j, "status", '{');
    put_open(j, "conditions", '[');
    json_put_open(j, '{');
    put_text(j, "type", STR("PodScheduled"));
    put_text(j, "status", STR("False"));
    put_text(j, "reason", w->is_error ? STR("SchedulerError") : STR("Unschedulable"));
    put_text(j, "message",
             w->message == INTERN_NONE ? STR("") : intern_bytes(&d->texts, w->message));
    json_put_key(j, STR("observedGeneration"));
    json_put_int(j, w->generation);
    if (w->is_first) {
        buf_clear(&d->text);
        time_add_seconds(&d->text, now_ms);
        put_text(j, "lastTransitionTime", buf_str(&d->text));
    }
    json_put_close(j, '}');
    json_put_close(j, ']');
    json_put_close(j, '}');
}

static void add_body(struct dispatch *d, const struct write *w, int64_t now_ms, struct buf *out)
{
    if (w->kind == WRITE_BIND) {
        struct binding binding = {
            .name = w->pod, .namespace = w->namespace, .uid = w->uid, .node = w->node};
        binding_write(&binding, ENCODING_PROTO, out);
        return;
    }
    struct json_writer j = {.out = out};
    json_put_open(&j, '{');
    put_condition(d, &j, w, now_ms);
    json_put_close(&j, '}');
}

/* --- sending --- */

static void request(struct dispatch *d, uint32_t i, enum lane lane, enum verb verb,
                    const char *part, struct requests *out)
{
    struct write *w = &d->writes.at[i];
    map_remove(&d->by_request, w->current);
    w->current = ++d->last_id;
    map_put(&d->by_request, w->current, i);
    answer_clear(&w->answer);
    vec_push(&out->list, (struct request){
                             .id = w->current,
                             .lane = lane,
                             .verb = verb,
                             .path = arena_printf(
                                 &out->mem, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "%s",
                                 STR_ARG(w->namespace), STR_ARG(w->pod), part),
                             .timeout_ms = TIMEOUT_MS,
                         });
}

static void send(struct dispatch *d, uint32_t i, const struct happening *h)
{
    bool is_bind = d->writes.at[i].kind == WRITE_BIND;
    request(d, i, LANE_WRITE, is_bind ? VERB_POST : VERB_PATCH, is_bind ? "/binding" : "/status",
            h->out);
    struct write *w = &d->writes.at[i];
    struct request *r = &vec_last(&h->out->list);
    w->tries++;
    w->was_refused = false;
    w->is_renewed = false;
    r->content_type =
        is_bind ? STR(ENCODING_PROTO_TYPE) : STR("application/strategic-merge-patch+json");
    buf_clear(&d->body);
    add_body(d, w, h->now_ms, &d->body);
    r->body = arena_str(&h->out->mem, buf_str(&d->body));
}

static void ask(struct dispatch *d, uint32_t i, const struct happening *h)
{
    d->stats.doubted++;
    request(d, i, LANE_READ, VERB_GET, "", h->out);
}

static void rest(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = &d->writes.at[i];
    struct pause pause = {.failures = w->pauses++, .failed_ms = h->now_ms};
    int64_t wait = pause_wait_ms(&pause, &law, h->now_ms, &d->rng);
    w->due_ms = h->now_ms + MAX(wait, h->why ? h->why->retry_after_ms : 0);
    d->stats.retried++;
}

/* --- how patches end --- */

static void send_bind_behind(struct dispatch *d, uint64_t key, const struct happening *h)
{
    uint32_t bind = map_find(&d->bind_of, key);
    if (bind == MAP_NONE || d->writes.at[bind].state != WRITE_QUEUED)
        return;
    send(d, bind, h);
    set_state(d, &d->writes.at[bind], WRITE_SENT);
}

static void end_tell(struct dispatch *d, uint32_t i, const struct happening *h)
{
    uint64_t key = pod_key(d->writes.at[i].namespace, d->writes.at[i].pod);
    write_free(d, i);
    send_bind_behind(d, key, h);
}

static void tell_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = &d->writes.at[i];
    d->stats.told++;
    if (w->is_renewed && map_find(&d->bind_of, pod_key(w->namespace, w->pod)) == MAP_NONE) {
        set_state(d, w, WRITE_QUEUED);
        w->is_first = false;
        w->tries = w->pauses = 0;
        vec_push(&d->queue, i);
        return;
    }
    end_tell(d, i, h);
}

static void tell_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = &d->writes.at[i];
    struct pending_row *row = pending_find(&d->pending, w->namespace, w->pod, w->uid);
    if (row)
        row->told = 0; /* whoever refuses it next says so again */
    d->stats.untold++;
    end_tell(d, i, h);
}

/* --- telling --- */

static void make_room(struct dispatch *d, const struct happening *h)
{
    if (d->queue.n - d->head < TELLINGS_MOST)
        return;
    uint32_t oldest = d->queue.at[d->head++];
    tell_refused(d, oldest, h);
}

/* Says why the pod waits, in its condition if that differs, and in an event. */
static void tell(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    struct pending_row *row = pending_find(&d->pending, e->namespace, e->pod, e->uid);
    if (!row)
        return;
    events_add(d->events, h->now_ms,
               &(struct event_about){.kind = EVENT_FAILED_SCHEDULING,
                                     .namespace = e->namespace,
                                     .pod = e->pod,
                                     .uid = e->uid,
                                     .version = row->version,
                                     .scheduler = pending_scheduler(&d->pending, row),
                                     .note = e->message});
    bool is_error = e->kind == EFFECT_FAIL;
    uint64_t mark =
        pending_mark(is_error ? STR("SchedulerError") : STR("Unschedulable"), e->message);
    if (row->told == mark)
        return;
    uint32_t i = map_find(&d->tell_of, pod_key(e->namespace, e->pod));
    if (i == MAP_NONE) {
        make_room(d, h);
        i = write_new(d, WRITE_TELL, e, row);
        d->writes.at[i].is_first = row->told == 0;
        vec_push(&d->queue, i);
    }
    row->told = mark;
    struct write *w = &d->writes.at[i];
    w->is_error = is_error;
    w->is_renewed = true;
    w->generation = row->generation;
    set_message(d, w, e->message);
}

/* --- how bindings end --- */

static void settle(struct dispatch *d, uint32_t i, int64_t now_ms, const struct error *why)
{
    effect_id effect = d->writes.at[i].effect;
    write_free(d, i);
    d->listener->settle(d->listener->ctx, now_ms, effect, why);
}

static void settle_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    const struct write *w = &d->writes.at[i];
    buf_clear(&d->text);
    buf_printf(&d->text, "Successfully assigned " STR_FMT "/" STR_FMT " to " STR_FMT,
               STR_ARG(w->namespace), STR_ARG(w->pod), STR_ARG(w->node));
    events_add(d->events, h->now_ms,
               &(struct event_about){.kind = EVENT_SCHEDULED,
                                     .namespace = w->namespace,
                                     .pod = w->pod,
                                     .uid = w->uid,
                                     .version = w->version,
                                     .scheduler = w->scheduler,
                                     .note = buf_str(&d->text)});
    d->stats.bound++;
    settle(d, i, h->now_ms, NULL);
}

static struct error error_of(const struct write *w, const struct trouble *why)
{
    struct error e;
    if (why)
        error_set(&e,
                  why->status == 403   ? ERROR_DENIED
                  : why->status == 409 ? ERROR_CONFLICT
                  : why->status == 404 ? ERROR_GONE
                                       : ERROR_BUSY,
                  STR_FMT, STR_ARG(why->message));
    else
        error_set(&e, ERROR_CONFLICT, "it is gone, or was bound by somebody else");
    error_wrap(&e, "binding " STR_FMT "/" STR_FMT, STR_ARG(w->namespace), STR_ARG(w->pod));
    return e;
}

/* A pod that is gone or bound by somebody else needs no telling. */
static void settle_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    const struct write *w = &d->writes.at[i];
    struct error why = error_of(w, h->why);
    bool is_told = h->why && h->why->status != 404 && h->why->status != 409;
    struct effect failure = {.kind = EFFECT_FAIL};
    if (is_told) {
        failure.namespace = arena_str(&d->mem, w->namespace);
        failure.pod = arena_str(&d->mem, w->pod);
        failure.uid = arena_str(&d->mem, w->uid);
        failure.message = arena_printf(&d->mem, "running Bind plugin \"DefaultBinder\": " STR_FMT,
                                       STR_ARG(h->why->message));
    }
    d->stats.refused++;
    settle(d, i, h->now_ms, &why);
    if (is_told)
        tell(d, &failure, h);
}

static void done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    (d->writes.at[i].kind == WRITE_BIND ? settle_done : tell_done)(d, i, h);
}

static void refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    (d->writes.at[i].kind == WRITE_BIND ? settle_refused : tell_refused)(d, i, h);
}

/* --- the rules --- */

/* The watch may know in any state what became of a binding. */
static const struct rule {
    enum write_state from;
    enum write_event on;
    enum write_state to; /* FREE: the action has seen to it */
    action *run;
} rules[] = {
    {WRITE_SENT,     DONE,      WRITE_FREE,     done          },
    {WRITE_SENT,     REFUSED,   WRITE_FREE,     refused       },
    {WRITE_SENT,     BUSY,      WRITE_RESTING,  rest          },
    {WRITE_SENT,     UNSURE,    WRITE_ASKING,   ask           },
    {WRITE_RESTING,  TIMER,     WRITE_SENT,     send          },
    {WRITE_ASKING,   THERE,     WRITE_FREE,     settle_done   },
    {WRITE_ASKING,   ELSEWHERE, WRITE_FREE,     settle_refused},
    {WRITE_ASKING,   OPEN,      WRITE_RESTING,  rest          },
    {WRITE_ASKING,   BLIND,     WRITE_DOUBTFUL, rest          },
    {WRITE_DOUBTFUL, TIMER,     WRITE_ASKING,   ask           },

    {WRITE_QUEUED,   THERE,     WRITE_FREE,     settle_done   },
    {WRITE_SENT,     THERE,     WRITE_FREE,     settle_done   },
    {WRITE_RESTING,  THERE,     WRITE_FREE,     settle_done   },
    {WRITE_DOUBTFUL, THERE,     WRITE_FREE,     settle_done   },
    {WRITE_QUEUED,   ELSEWHERE, WRITE_FREE,     settle_refused},
    {WRITE_SENT,     ELSEWHERE, WRITE_FREE,     settle_refused},
    {WRITE_RESTING,  ELSEWHERE, WRITE_FREE,     settle_refused},
    {WRITE_DOUBTFUL, ELSEWHERE, WRITE_FREE,     settle_refused},
};

static void happen(struct dispatch *d, uint32_t i, const struct happening *h)
{
    for (size_t r = 0; r < LEN(rules); r++) {
        if (rules[r].from != d->writes.at[i].state || rules[r].on != h->on)
            continue;
        rules[r].run(d, i, h);
        if (rules[r].to != WRITE_FREE)
            set_state(d, &d->writes.at[i], rules[r].to);
        return;
    }
}

/* --- from replies to events --- */

static enum write_event bind_meaning(struct write *w, const struct trouble *why, bool was_sent)
{
    int status = why->status;
    bool may_pass = !was_sent || status == 401 || status == 429 || status == 500 || status == 503;
    w->may_be_done = w->may_be_done || (was_sent && status == 0) || status >= 500;
    w->was_refused = status >= 400 && status < 500;
    if (may_pass && w->tries < TRIES)
        return BUSY;
    return w->may_be_done && status != 404 ? UNSURE : REFUSED;
}

/* A patch may be sent twice. */
static enum write_event tell_meaning(const struct write *w, const struct trouble *why)
{
    bool may_pass = trouble_is_passing(why) || why->status == 409;
    return may_pass && w->tries < TRIES ? BUSY : REFUSED;
}

static enum write_event pod_meaning(const struct write *w, const struct pod *pod)
{
    if (!str_equal(pod->meta.uid, w->uid))
        return ELSEWHERE;
    if (pod->spec.node_name.n == 0)
        return w->was_refused ? ELSEWHERE : OPEN;
    return str_equal(pod->spec.node_name, w->node) ? THERE : ELSEWHERE;
}

static enum write_event ask_meaning(struct dispatch *d, struct write *w, bool is_lost)
{
    struct object object;
    struct error e;
    if (is_lost || (w->answer.status != 200 && w->answer.status != 404))
        return BLIND;
    if (w->answer.status == 404)
        return ELSEWHERE;
    struct envelope v;
    if (!answer_read(&w->answer, &d->mem, &v, &e) || !envelope_object(&v, &d->mem, &object, &e) ||
        object.kind != KIND_POD)
        return BLIND;
    return pod_meaning(w, object.pod);
}

static enum deed deed_of(const struct write *w)
{
    return w->state == WRITE_ASKING ? DEED_ASK : w->kind == WRITE_BIND ? DEED_BIND : DEED_TELL;
}

static void say_trouble(struct dispatch *d, const struct write *w, int64_t now_ms,
                        const struct trouble *why)
{
    static const char *const verbs[] = {"create", "patch", "get"}, *const things[] = {
                                                                       "pods/binding",
                                                                       "pods/status", "pods"};
    enum deed deed = deed_of(w);
    bool is_denied = why->status == 403 && !str_equal(why->cause, STR("NamespaceTerminating"));
    if (!is_denied && !trouble_is_passing(why))
        return;
    if (d->said_status[deed] == why->status)
        return;
    d->said_status[deed] = why->status;
    struct notice notice = {.kind = is_denied ? NOTICE_DENIED : NOTICE_TROUBLE,
                            .verb = verbs[deed],
                            .what = str_of(things[deed]),
                            .text = why->message};
    d->listener->notice(d->listener->ctx, now_ms, &notice);
}

static void hear_trouble(struct dispatch *d, uint32_t i, const struct trouble *why, bool was_sent,
                         struct happening *h)
{
    struct write *w = &d->writes.at[i];
    say_trouble(d, w, h->now_ms, why);
    h->why = why;
    h->on = w->state == WRITE_ASKING ? ask_meaning(d, w, why->status == 0)
            : w->kind == WRITE_BIND  ? bind_meaning(w, why, was_sent)
                                     : tell_meaning(w, why);
}

static size_t most_bytes(const struct write *w)
{
    return w->answer.status >= 400    ? STATUS_BYTES_MOST
           : w->state == WRITE_ASKING ? OBJECT_BYTES_MOST
                                      : 0; /* that it went well is all we want to know */
}

/* --- patches that wait --- */

static void pump(struct dispatch *d, int64_t now_ms, struct requests *out)
{
    struct happening h = {.now_ms = now_ms, .out = out};
    while (d->head < d->queue.n && d->tells_sent < TELLINGS_IN_FLIGHT) {
        uint32_t i = d->queue.at[d->head++];
        struct write *w = &d->writes.at[i];
        if (map_find(&d->tell_of, pod_key(w->namespace, w->pod)) != i) {
            write_free(d, i); /* nobody wants it any more */
            continue;
        }
        send(d, i, &h);
        set_state(d, &d->writes.at[i], WRITE_SENT);
    }
    if (d->head > 64 && d->head > d->queue.n / 2) {
        memmove(d->queue.at, d->queue.at + d->head, (d->queue.n - d->head) * sizeof(*d->queue.at));
        d->queue.n -= d->head;
        d->head = 0;
    }
}

/* A pod that is bound or gone needs no telling; a patch under way cannot be called back. */
static void drop_tell(struct dispatch *d, uint64_t key)
{
    uint32_t i = map_find(&d->tell_of, key);
    if (i == MAP_NONE)
        return;
    if (d->writes.at[i].state == WRITE_QUEUED)
        map_remove(&d->tell_of, key); /* it goes when its turn comes */
    else if (d->writes.at[i].state == WRITE_RESTING)
        write_free(d, i);
}

/* --- effects --- */

static void take_bind(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    uint64_t key = pod_key(e->namespace, e->pod);
    drop_tell(d, key);
    write_new(d, WRITE_BIND, e, pending_find(&d->pending, e->namespace, e->pod, e->uid));
    if (map_find(&d->tell_of, key) == MAP_NONE)
        send_bind_behind(d, key, h);
}

/* --- the face --- */

void dispatch_init(struct dispatch *d, request_id id, uint64_t seed, struct events *events,
                   const struct listener *listener)
{
    *d = (struct dispatch){
        .listener = listener,
        .events = events,
        .rng = rng_seeded(seed),
        .last_id = id,
        .said_status = {-1, -1, -1}
    };
}

void dispatch_done(struct dispatch *d)
{
    vec_each(&d->writes, w) {
        if (w->state != WRITE_FREE)
            mem_free((char *)(uintptr_t)w->namespace.p);
        answer_done(&w->answer);
    }
    pending_done(&d->pending);
    vec_done(&d->writes);
    vec_done(&d->free);
    map_done(&d->by_request);
    map_done(&d->bind_of);
    map_done(&d->tell_of);
    vec_done(&d->queue);
    intern_done(&d->texts);
    buf_done(&d->text);
    buf_done(&d->body);
    arena_done(&d->mem);
}

void dispatch_take(struct dispatch *d, int64_t now_ms, const struct effects *effects,
                   struct requests *out)
{
    struct happening h = {.now_ms = now_ms, .out = out};
    vec_each(&effects->list, e) {
        switch (e->kind) {
        case EFFECT_BIND:
            take_bind(d, e, &h);
            break;
        case EFFECT_REFUSE:
        case EFFECT_FAIL:
            tell(d, e, &h);
            break;
        }
    }
    pump(d, now_ms, out);
}

void dispatch_see(struct dispatch *d, int64_t now_ms, const struct change *change,
                  struct requests *out)
{
    if (change->object.kind != KIND_POD)
        return;
    pending_see(&d->pending, change);
    const struct meta *meta = change->object.meta;
    uint64_t key = pod_key(meta->namespace, meta->name);
    bool is_settled = change->kind == CHANGE_REMOVE || change->object.pod->spec.node_name.n;
    if (is_settled)
        drop_tell(d, key);
    uint32_t i = map_find(&d->bind_of, key);
    if (i == MAP_NONE)
        return;
    struct write *w = &d->writes.at[i];
    enum write_event on =
        change->kind == CHANGE_REMOVE ? ELSEWHERE : pod_meaning(w, change->object.pod);
    bool is_same = str_equal(meta->name, w->pod) && str_equal(meta->namespace, w->namespace);
    if (is_same && (is_settled || !str_equal(meta->uid, w->uid)))
        happen(d, i, &(struct happening){.on = on, .now_ms = now_ms, .out = out});
}

void dispatch_hear(struct dispatch *d, int64_t now_ms, const struct reply *reply,
                   struct requests *out)
{
    uint32_t i = map_find(&d->by_request, reply->id);
    if (i == MAP_NONE)
        return;
    struct write *w = &d->writes.at[i];
    answer_add(&w->answer, reply, most_bytes(w));
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return;
    map_remove(&d->by_request, w->current);
    w->current = 0;
    struct happening h = {.on = DONE, .now_ms = now_ms, .out = out};
    bool is_lost = reply->kind == REPLY_LOST;
    struct trouble why = is_lost ? trouble_of_lost(reply) : (struct trouble){0};
    if (!is_lost && w->answer.status >= 300)
        why = trouble_of_answer(&w->answer, &d->mem);
    if (is_lost || w->answer.status >= 300)
        hear_trouble(d, i, &why, !is_lost || reply->may_have_arrived, &h);
    else
        d->said_status[deed_of(w)] = -1;
    if (h.on == DONE && w->state == WRITE_ASKING)
        h.on = ask_meaning(d, w, false);
    happen(d, i, &h);
    arena_reset(&d->mem);
    pump(d, now_ms, out);
}

void dispatch_tick(struct dispatch *d, int64_t now_ms, struct requests *out)
{
    for (uint32_t i = 0; d->timers && i < d->writes.n; i++) {
        const struct write *w = &d->writes.at[i];
        if ((w->state == WRITE_RESTING || w->state == WRITE_DOUBTFUL) && w->due_ms <= now_ms)
            happen(d, i, &(struct happening){.on = TIMER, .now_ms = now_ms, .out = out});
    }
    pump(d, now_ms, out);
}

int64_t dispatch_next_ms(const struct dispatch *d)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; d->timers && i < d->writes.n; i++) {
        const struct write *w = &d->writes.at[i];
        if (w->state == WRITE_RESTING || w->state == WRITE_DOUBTFUL)
            next = MIN(next, w->due_ms);
    }
    return next;
}
