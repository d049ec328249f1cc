/* Each write is a small machine: a reply becomes an event, the event and the state find a rule.
 * Between calls: a write under way is found by its request; a binding is QUEUED while a patch of
 * its pod that was sent before has not ended. */

#include "kube/dispatch_inside.h"
#include "kube/kinds.h"
#include "kube/limits.h"
#include "kube/meaning.h"
#include "kube/object_write.h"
#include "kube/pause.h"

enum { ASK_TIMEOUT_MS = 30000 };

/* As kube-scheduler's API calls; who is in doubt goes on with longer pauses. */
static const struct pause_law law = {
    .first_ms = 10, .cap_ms = 5000, .reset_ms = INT64_MAX, .factor = 5, .jitter = 0.1};

/* --- sending --- */

static struct write *at(const struct dispatch *d, uint32_t i)
{
    return writes_at(&d->writes, i);
}

/* Forgets the write; a reply that still comes is nobody's. */
static void drop(struct dispatch *d, uint32_t i)
{
    map_remove(&d->by_request, at(d, i)->current);
    writes_remove(&d->writes, i);
}

static void request(struct dispatch *d, uint32_t i, struct request r, struct requests *out)
{
    struct write *w = at(d, i);
    map_remove(&d->by_request, w->current);
    w->current = r.id = ++d->last_id;
    map_put(&d->by_request, w->current, i);
    answer_clear(&w->answer);
    vec_push(&out->list, r);
}

static void send(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = at(d, i);
    w->tries++;
    w->was_refused = false;
    w->is_renewed = false;
    request(d, i, write_request(&d->writes, i, h->now_ms, h->out), h->out);
}

void dispatch_send(struct dispatch *d, uint32_t i, const struct happening *h)
{
    send(d, i, h);
    writes_set_state(&d->writes, i, WRITE_SENT);
}

static void ask(struct dispatch *d, uint32_t i, const struct happening *h)
{
    const struct write *w = at(d, i);
    struct request r = {
        .lane = LANE_READ,
        .verb = VERB_GET,
        .path = arena_printf(&h->out->mem, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT,
                             STR_ARG(w->namespace), STR_ARG(w->pod)),
        .timeout_ms = ASK_TIMEOUT_MS,
    };
    d->stats.doubted++;
    request(d, i, r, h->out);
}

static void rest(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = at(d, i);
    struct pause pause = {.failures = w->pauses++, .failed_ms = h->now_ms};
    int64_t wait = pause_wait_ms(&pause, &law, h->now_ms, &d->rng);
    w->due_ms = h->now_ms + MAX(wait, h->why ? h->why->retry_after_ms : 0);
    d->stats.retried++;
}

/* --- how tellings end --- */

static uint64_t key_of(const struct write *w)
{
    return pod_key(w->namespace, w->pod);
}

static void send_bind_behind(struct dispatch *d, uint64_t key, const struct happening *h)
{
    uint32_t bind = writes_find(&d->writes, WRITE_BIND, key);
    bool is_free = writes_find(&d->writes, WRITE_TELL, key) == MAP_NONE;
    if (is_free && bind != MAP_NONE && at(d, bind)->state == WRITE_QUEUED)
        dispatch_send(d, bind, h);
}

static void end_tell(struct dispatch *d, uint32_t i, const struct happening *h)
{
    uint64_t key = key_of(at(d, i));
    drop(d, i);
    send_bind_behind(d, key, h);
}

static void tell_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = at(d, i);
    d->stats.told++;
    bool is_owned = writes_find(&d->writes, WRITE_TELL, key_of(w)) == i;
    if (!w->is_renewed || !is_owned || writes_find(&d->writes, WRITE_BIND, key_of(w)) != MAP_NONE) {
        end_tell(d, i, h);
        return;
    }
    writes_set_state(&d->writes, i, WRITE_QUEUED);
    w->is_first = false;
    w->tries = w->pauses = 0;
    vec_push(&d->queue, i);
}

/* Whoever is refused or nominated next is told again. */
static void tell_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = at(d, i);
    struct pending_row *row = pending_find(&d->pending, w->namespace, w->pod, w->uid);
    if (row && w->has_why)
        row->told = 0;
    if (row && w->has_nominee)
        row->nominee = PENDING_UNKNOWN;
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

/* What the pod will be told next. One under way to a pod of that name which is gone ends alone. */
static uint32_t telling_of(struct dispatch *d, const struct effect *e,
                           const struct pending_row *row, const struct happening *h)
{
    uint32_t i = writes_find(&d->writes, WRITE_TELL, pod_key(e->namespace, e->pod));
    if (i != MAP_NONE && !str_equal(at(d, i)->uid, e->uid)) {
        writes_disown(&d->writes, i);
        i = MAP_NONE;
    }
    if (i == MAP_NONE) {
        make_room(d, h);
        i = writes_add(&d->writes, WRITE_TELL, e, row, STR(""));
        vec_push(&d->queue, i);
    }
    at(d, i)->is_renewed = true;
    at(d, i)->generation = row->generation;
    return i;
}

/* Says why the pod waits, in its condition if that differs, and in an event. */
/* Autoscalers act on Unschedulable alone. */
static struct str reason_of(const struct effect *e)
{
    return e->kind == EFFECT_FAIL ? STR("SchedulerError")
           : e->is_queued         ? STR("QueueWaiting")
                                  : STR("Unschedulable");
}

static void tell(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    struct pending_row *row = pending_find(&d->pending, e->namespace, e->pod, e->uid);
    if (!row)
        return;
    events_add(d->events, h->now_ms,
               &(struct event_about){.kind = EVENT_FAILED_SCHEDULING,
                                     .namespace = e->namespace,
                                     .name = e->pod,
                                     .uid = e->uid,
                                     .version = row->version,
                                     .scheduler = pending_scheduler(&d->pending, row),
                                     .note = e->message});
    struct str reason = reason_of(e);
    uint64_t mark = pending_mark(reason, e->message);
    if (row->told == mark)
        return;
    uint32_t i = telling_of(d, e, row, h);
    struct write *w = at(d, i);
    if (!w->has_why)
        w->is_first = row->told == 0;
    w->reason = reason;
    writes_set_why(&d->writes, i, e->message);
    row->told = mark;
}

static void warn(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    struct pending_row *row = pending_find(&d->pending, e->namespace, e->pod, e->uid);
    if (row)
        events_add(d->events, h->now_ms,
                   &(struct event_about){.kind = e->by_uid.n             ? EVENT_PREEMPTED
                                                 : e->news == NEWS_APART ? EVENT_APART
                                                                         : EVENT_MALFORMED,
                                         .namespace = e->namespace,
                                         .name = e->pod,
                                         .uid = e->uid,
                                         .version = row->version,
                                         .scheduler = pending_scheduler(&d->pending, row),
                                         .note = e->message});
}

static void nominate(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    struct pending_row *row = pending_find(&d->pending, e->namespace, e->pod, e->uid);
    if (!row || row->nominee == pending_nominee(e->node))
        return;
    writes_set_nominee(&d->writes, telling_of(d, e, row, h), e->node);
    row->nominee = pending_nominee(e->node);
}

/* --- how bindings end --- */

void dispatch_settle(struct dispatch *d, uint32_t i, int64_t now_ms, const struct error *why)
{
    effect_id effect = at(d, i)->effect;
    drop(d, i);
    d->listener->settle(d->listener->ctx, now_ms, effect, why);
}

void dispatch_add_event(struct dispatch *d, const struct write *w, enum event_kind kind,
                        int64_t now_ms)
{
    events_add(d->events, now_ms,
               &(struct event_about){.kind = kind,
                                     .namespace = w->namespace,
                                     .name = w->pod,
                                     .uid = w->uid,
                                     .version = w->version,
                                     .scheduler = w->scheduler,
                                     .note = buf_str(&d->text)});
}

static void settle_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    const struct write *w = at(d, i);
    buf_clear(&d->text);
    buf_add(&d->text, STR("Successfully assigned "));
    buf_add(&d->text, w->namespace);
    buf_add_char(&d->text, '/');
    buf_add(&d->text, w->pod);
    buf_add(&d->text, STR(" to "));
    buf_add(&d->text, w->node);
    dispatch_add_event(d, w, EVENT_SCHEDULED, h->now_ms);
    d->stats.bound++;
    dispatch_settle(d, i, h->now_ms, NULL);
}

struct error dispatch_error(const struct write *w, const struct trouble *why)
{
    struct error e;
    if (why)
        error_set(&e,
                  why->status == 403 || why->status == 422 ? ERROR_DENIED
                  : why->status == 409                     ? ERROR_CONFLICT
                  : why->status == 404                     ? ERROR_GONE
                                                           : ERROR_BUSY,
                  STR_FMT, STR_ARG(why->message));
    else
        error_set(&e, ERROR_CONFLICT, "it is gone, or was bound by somebody else");
    error_wrap(&e, "%s " STR_FMT "/" STR_FMT, w->kind == WRITE_BIND ? "binding" : "evicting",
               STR_ARG(w->namespace), STR_ARG(w->pod));
    return e;
}

/* Takes the binding back, and tells the pod why, if there is something to tell. */
static void settle_failed(struct dispatch *d, uint32_t i, const struct happening *h,
                          const struct error *why, struct str message)
{
    const struct write *w = at(d, i);
    struct effect failure = {
        .kind = EFFECT_FAIL,
        .namespace = arena_str(&d->mem, w->namespace),
        .pod = arena_str(&d->mem, w->pod),
        .uid = arena_str(&d->mem, w->uid),
        .message = message,
    };
    d->stats.refused++;
    dispatch_settle(d, i, h->now_ms, why);
    if (message.n)
        tell(d, &failure, h);
}

/* A pod that is gone or bound by somebody else needs no telling. */
static void settle_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct error why = dispatch_error(at(d, i), h->why);
    bool is_told = h->why && h->why->status != 404 && h->why->status != 409;
    struct str message = {0};
    if (is_told)
        message = arena_printf(&d->mem, "running Bind plugin \"DefaultBinder\": " STR_FMT,
                               STR_ARG(h->why->message));
    settle_failed(d, i, h, &why, message);
}

/* The extender did not bind the pod: we do, or nobody does. */
static void settle_unbound(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = at(d, i);
    if (w->is_binder_ignorable) {
        w->binder = w->tries = w->pauses = 0;
        dispatch_send(d, i, h);
        return;
    }
    struct error why;
    struct str said = arena_str(&d->mem, writes_why(&d->writes, i));
    error_set(&why, ERROR_BUSY, STR_FMT, STR_ARG(said));
    settle_failed(d, i, h, &why, said);
}

/* --- how writes of objects end --- */

/* The next patch is over what this one made of the object. */
static bool read_version(struct dispatch *d, struct write *w)
{
    struct envelope v;
    struct object object;
    struct error e;
    int64_t version;
    if (!answer_read(&w->answer, &d->mem, &v, &e) || !envelope_object(&v, &d->mem, &object, &e) ||
        object.kind != w->object.kind || !str_int(object.meta->resource_version, &version))
        return false;
    w->object.version = (uint64_t)version;
    return true;
}

static void object_done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct write *w = at(d, i);
    if (w->step + 1 == w->object.n_patches) {
        dispatch_settle(d, i, h->now_ms, NULL);
    } else if (write_patch(w)->kind != KIND_NONE || read_version(d, w)) {
        w->step++;
        w->tries = w->pauses = 0;
        w->may_be_done = false;
        dispatch_send(d, i, h);
    } else {
        struct error why;
        error_set(&why, ERROR_BUSY, "the answer makes no sense");
        dispatch_settle(d, i, h->now_ms, &why);
    }
}

static void object_refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    struct error why;
    error_set(&why, h->why->status == 409 ? ERROR_CONFLICT : ERROR_BUSY, STR_FMT,
              STR_ARG(h->why->message));
    dispatch_settle(d, i, h->now_ms, &why);
}

static const struct {
    action *done, *refused;
} ends[] = {
    [WRITE_BIND] = {settle_done, settle_refused},
    [WRITE_TELL] = {tell_done, tell_refused},
    [WRITE_PROBE] = {dispatch_probe_done, dispatch_probe_refused},
    [WRITE_MARK] = {dispatch_mark_done, dispatch_mark_refused},
    [WRITE_DELETE] = {dispatch_delete_done, dispatch_delete_refused},
    [WRITE_OBJECT] = {object_done, object_refused},
};

static void done(struct dispatch *d, uint32_t i, const struct happening *h)
{
    ends[at(d, i)->kind].done(d, i, h);
}

static void refused(struct dispatch *d, uint32_t i, const struct happening *h)
{
    ends[at(d, i)->kind].refused(d, i, h);
}

/* --- the rules --- */

/* The watch may know in any state what became of a binding. */
/* clang-format off */
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
    {WRITE_ASKING,   REFUSED,   WRITE_FREE,     settle_unbound},
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
/* clang-format on */

static void happen(struct dispatch *d, uint32_t i, const struct happening *h)
{
    for (size_t r = 0; r < LEN(rules); r++) {
        if (rules[r].from != at(d, i)->state || rules[r].on != h->on)
            continue;
        rules[r].run(d, i, h); /* sees the state that it leaves */
        if (rules[r].to != WRITE_FREE)
            writes_set_state(&d->writes, i, rules[r].to);
        return;
    }
    assert(false); /* every event that a state can see has a rule */
}

/* --- from replies to events --- */

/* What an extender did, only the pod knows, unless it says that it went well. */
static enum write_event binder_meaning(struct dispatch *d, uint32_t i, const struct reply *end)
{
    struct str why = write_binder_trouble(&d->writes, i, end, &d->mem);
    if (why.n == 0)
        return DONE;
    writes_set_why(&d->writes, i, why);
    return UNSURE;
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
    return write_pod_meaning(w, object.pod);
}

static enum deed deed_of(const struct write *w)
{
    return w->state == WRITE_ASKING                            ? DEED_ASK
           : w->kind == WRITE_BIND                             ? DEED_BIND
           : w->kind == WRITE_DELETE || w->kind == WRITE_PROBE ? DEED_DELETE
           : w->kind == WRITE_OBJECT                           ? DEED_OBJECT
                                                               : DEED_PATCH;
}

/* Who asked for a write hears that it is refused; what pods are told nobody asked for. */
static bool is_of_note(const struct write *w, const struct trouble *why)
{
    return trouble_is_denied(why) || trouble_is_passing(why) ||
           (w->kind == WRITE_TELL && !trouble_is_overtaken(why));
}

static void say_trouble(struct dispatch *d, const struct write *w, int64_t now_ms,
                        const struct trouble *why)
{
    static const struct {
        const char *verb, *what;
    } deeds[] = {
        [DEED_BIND] = {"create", "pods/binding"},
        [DEED_PATCH] = {"patch", "pods/status"},
        [DEED_DELETE] = {"delete", "pods"},
        [DEED_ASK] = {"get", "pods"},
        [DEED_OBJECT] = {NULL, NULL},
    };
    static const char *const verbs[] = {"patch", "create", "delete"};
    enum deed deed = deed_of(w);
    if (!is_of_note(w, why) || d->said_status[deed] == why->status)
        return;
    d->said_status[deed] = why->status;
    AUTO(buf) what = {0};
    if (deed == DEED_OBJECT)
        watched_add_name(&what, watched_of(object_write_kind(&w->object, w->step)));
    else
        buf_add(&what, str_of(deeds[deed].what));
    struct notice notice = {.kind = notice_of_trouble(why),
                            .verb = deed == DEED_OBJECT ? verbs[write_patch(w)->verb]
                                                        : deeds[deed].verb,
                            .what = buf_str(&what),
                            .text = why->message};
    d->listener->notice(d->listener->ctx, now_ms, &notice);
}

static void hear_trouble(struct dispatch *d, uint32_t i, const struct trouble *why, bool was_sent,
                         struct happening *h)
{
    struct write *w = at(d, i);
    say_trouble(d, w, h->now_ms, why);
    h->why = why;
    h->on = w->state == WRITE_ASKING  ? ask_meaning(d, w, why->status == 0)
            : w->kind == WRITE_BIND   ? write_bind_meaning(w, why, was_sent)
            : w->kind == WRITE_OBJECT ? write_object_meaning(w, why, was_sent)
                                      : write_again_meaning(w, why);
}

static size_t most_bytes(const struct write *w)
{
    return w->state == WRITE_ASKING && w->answer.status < 400 ? OBJECT_BYTES_MOST
           : w->answer.status >= 400 || w->binder             ? STATUS_BYTES_MOST
           : w->step + 1 < w->object.n_patches                ? OBJECT_BYTES_MOST
                                               : 0; /* that it went well is all we want to know */
}

/* --- patches that wait --- */

static void pump(struct dispatch *d, int64_t now_ms, struct requests *out)
{
    struct happening h = {.now_ms = now_ms, .out = out};
    while (d->head < d->queue.n && d->writes.tells_sent < TELLINGS_IN_FLIGHT) {
        uint32_t i = d->queue.at[d->head++];
        if (writes_find(&d->writes, WRITE_TELL, key_of(at(d, i))) == i)
            dispatch_send(d, i, &h);
        else
            drop(d, i); /* nobody wants it any more */
    }
    if (d->head > 64 && d->head > d->queue.n / 2) {
        vec_shift(&d->queue, d->head);
        d->head = 0;
    }
}

/* A pod that is bound or gone needs no telling; a patch under way cannot be called back. */
static void drop_tell(struct dispatch *d, uint64_t key)
{
    uint32_t i = writes_find(&d->writes, WRITE_TELL, key);
    if (i == MAP_NONE)
        return;
    if (at(d, i)->state == WRITE_QUEUED)
        writes_disown(&d->writes, i); /* it goes when its turn comes */
    else if (at(d, i)->state == WRITE_RESTING)
        drop(d, i);
}

/* --- effects --- */

static void take_bind(struct dispatch *d, const struct effect *e, const struct happening *h)
{
    const struct pending_row *row = pending_find(&d->pending, e->namespace, e->pod, e->uid);
    uint64_t key = pod_key(e->namespace, e->pod);
    drop_tell(d, key);
    uint32_t i = writes_add(&d->writes, WRITE_BIND, e, row,
                            row ? pending_scheduler(&d->pending, row) : STR(""));
    if (writes_find(&d->writes, WRITE_TELL, key) != MAP_NONE)
        at(d, i)->version = 0; /* a patch of ours is under way, and makes another one */
    send_bind_behind(d, key, h);
}

/* --- the face --- */

void dispatch_init(struct dispatch *d, request_id id, uint64_t seed, struct events *events,
                   const struct listener *listener)
{
    *d = (struct dispatch){.listener = listener,
                           .events = events,
                           .rng = rng_seeded(seed),
                           .last_id = id,
                           .said_status = {-1, -1, -1, -1, -1}};
}

void dispatch_done(struct dispatch *d)
{
    pending_done(&d->pending);
    writes_done(&d->writes);
    map_done(&d->by_request);
    vec_done(&d->queue);
    buf_done(&d->text);
    arena_done(&d->mem);
}

void dispatch_trim(struct dispatch *d)
{
    pending_trim(&d->pending);
    writes_trim(&d->writes);
    map_trim(&d->by_request);
    vec_shift(&d->queue, d->head);
    d->head = 0;
    vec_trim(&d->queue);
    buf_done(&d->text);
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
        case EFFECT_NOMINATE:
            nominate(d, e, &h);
            break;
        case EFFECT_EVICT:
            dispatch_evict(d, e, &h);
            break;
        case EFFECT_WARN:
            warn(d, e, &h);
            break;
        case EFFECT_ASK: /* of no concern to the API server: extender_client.h */
            break;
        case EFFECT_WRITE:
            dispatch_send(d, writes_add(&d->writes, WRITE_OBJECT, e, NULL, STR("")), &h);
            break;
        case EFFECT_PUBLISH:
            break; /* kube/publish.h */
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
    uint32_t i = writes_find(&d->writes, WRITE_BIND, key);
    if (i == MAP_NONE)
        return;
    const struct write *w = at(d, i);
    enum write_event on =
        change->kind == CHANGE_REMOVE ? ELSEWHERE : write_pod_meaning(w, change->object.pod);
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
    struct write *w = at(d, i);
    assert(w->current == reply->id && (w->state == WRITE_SENT || w->state == WRITE_ASKING));
    answer_add(&w->answer, reply, most_bytes(w));
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return;
    map_remove(&d->by_request, w->current);
    w->current = 0;
    struct happening h = {.on = DONE, .now_ms = now_ms, .out = out};
    if (w->binder && w->state == WRITE_SENT) {
        h.on = binder_meaning(d, i, reply);
        happen(d, i, &h);
        arena_reset(&d->mem);
        return;
    }
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

static bool waits(const struct write *w)
{
    return w->state == WRITE_RESTING || w->state == WRITE_DOUBTFUL;
}

void dispatch_tick(struct dispatch *d, int64_t now_ms, struct requests *out)
{
    for (uint32_t i = 0; d->writes.timers && i < d->writes.list.n; i++)
        if (waits(at(d, i)) && at(d, i)->due_ms <= now_ms)
            happen(d, i, &(struct happening){.on = TIMER, .now_ms = now_ms, .out = out});
    pump(d, now_ms, out);
}

int64_t dispatch_next_ms(const struct dispatch *d)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; d->writes.timers && i < d->writes.list.n; i++)
        if (waits(at(d, i)))
            next = MIN(next, at(d, i)->due_ms);
    return next;
}
