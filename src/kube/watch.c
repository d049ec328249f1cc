/* A reply becomes events, an event and the state find a rule, the rule's action says what to ask
 * for next. What changes nothing is a rule, too: an event that the state has none for cannot be.
 * Between calls: `current` is the one request
 * under way, and is 0 in the states that wait; `version` is not touched while filling, so that a
 * broken fill begins where the last one did. */

#include "kube/watch.h"

#include "core/model/check.h"
#include "core/model/default.h"
#include "core/model/gist.h"
#include "core/model/partial_pod.h"
#include "kube/limits.h"

enum {
    WATCH_SECONDS_LEAST = 300, /* a watch lasts so long at least, and up to twice that */
    OVERDUE_MS = 30000,        /* a stream that outlives its time by this much is dead */
    SILENCE_MS = 10000,        /* the most a fill may be silent: older servers never end one */
    LIST_TIMEOUT_MS = 60000,
    HEAD_TIMEOUT_MS = 30000,
    ABSENT_MS = 60000,
    SHORT_MS = 1000, /* a watch that ends so soon with nothing said failed */
};

/* A server that answers is in trouble, and left alone for a while. client-go's reflectors go up to
 * a minute: too long for a cluster to be without a scheduler. */
static const struct pause_law law = {
    .first_ms = 800, .cap_ms = 5000, .reset_ms = 30000, .factor = 2, .jitter = 1};

/* One that does not is perhaps just being replaced. */
static const struct pause_law law_away = {
    .first_ms = 50, .cap_ms = 500, .reset_ms = 10000, .factor = 2, .jitter = 1};

enum happens {
    STARTED,  /* discovery says the kind is served */
    UNSERVED, /* … or not; or the server itself says so */
    TIMER,
    CHANGE,   /* an object */
    BOOKMARK, /* a version */
    FILLED,   /* the bookmark that ends the initial events */
    PAGE,     /* of a list, with more to come */
    LISTED,   /* the last page */
    CLOSED,   /* the stream ended as streams do */
    EXPIRED,  /* our version is too old */
    REFUSED,  /* the server does not understand us: no WatchList, or a bad version */
    DENIED,   /* RBAC */
    FAILED,   /* busy, broken, unreachable */
};

struct happening {
    enum happens on;
    int64_t now_ms;
    struct requests *out;
    enum change_kind kind;       /* of CHANGE */
    const struct object *object; /* of CHANGE */
    struct str version;          /* of CHANGE, BOOKMARK, FILLED */
    struct listing *page;        /* of PAGE, LISTED */
    const struct trouble *why;   /* of the last five events, or NULL */
};

typedef void action(struct watch *w, const struct happening *h);

/* --- saying --- */

static void say(struct watch *w, int64_t now_ms, enum notice_kind kind, const char *verb,
                struct str text)
{
    buf_clear(&w->text);
    watched_add_name(&w->text, w->kind);
    struct notice notice = {.kind = kind, .verb = verb, .what = buf_str(&w->text), .text = text};
    notice.without = kind == NOTICE_DENIED ? w->kind->without : NULL;
    w->listener->notice(w->listener->ctx, now_ms, &notice);
}

static void say_once(struct watch *w, const struct happening *h, enum notice_kind kind)
{
    int status = h->why ? h->why->status : 0;
    if (w->said_status == status)
        return;
    w->said_status = status;
    say(w, h->now_ms, kind, w->state == WATCH_LISTING ? "list" : "watch",
        h->why ? h->why->message : STR("the stream ended at once"));
}

/* --- asking --- */

static void ask(struct watch *w, const struct happening *h, bool is_stream)
{
    if (w->current)
        vec_push(&h->out->cancelled, w->current);
    w->current = ++w->last_id;
    w->is_stream = false;
    w->has_frames = false;
    w->opened_ms = h->now_ms;
    answer_clear(&w->answer);
    vec_push(&h->out->list, (struct request){
                                .id = w->current,
                                .lane = LANE_READ,
                                .verb = VERB_GET,
                                .path = arena_str(&h->out->mem, buf_str(&w->text)),
                                .accept = STR(ENCODING_PROTO_TYPE ", " ENCODING_JSON_TYPE),
                                .is_stream = is_stream,
                                .timeout_ms = is_stream ? HEAD_TIMEOUT_MS : LIST_TIMEOUT_MS,
                            });
}

static void begin_path(struct watch *w)
{
    buf_clear(&w->text);
    path_add_group(&w->text, w->api_version);
    buf_printf(&w->text, "/%s", w->kind->resource);
    if (*w->kind->selector)
        path_add_query(&w->text, "fieldSelector", str_of(w->kind->selector));
}

/* The part all watches share; the time the server may keep it open is drawn at random, so that
 * watches do not end together. */
static int64_t begin_watch_path(struct watch *w)
{
    int64_t seconds = WATCH_SECONDS_LEAST + (int64_t)rng_below(&w->rng, WATCH_SECONDS_LEAST);
    begin_path(w);
    path_add_query(&w->text, "watch", STR("true"));
    path_add_query(&w->text, "allowWatchBookmarks", STR("true"));
    buf_printf(&w->text, "&timeoutSeconds=%lld", (long long)seconds);
    if (w->version.n)
        path_add_query(&w->text, "resourceVersion", buf_str(&w->version));
    return seconds * 1000;
}

static void ask_fill(struct watch *w, const struct happening *h)
{
    begin_watch_path(w);
    path_add_query(&w->text, "sendInitialEvents", STR("true"));
    path_add_query(&w->text, "resourceVersionMatch", STR("NotOlderThan"));
    known_begin(&w->known);
    ask(w, h, true);
    w->due_ms = h->now_ms + SILENCE_MS;
}

static void ask_fill_from_now(struct watch *w, const struct happening *h)
{
    buf_clear(&w->version);
    ask_fill(w, h);
}

/* A list reads what is stored, not what some server has cached: never older than what we saw, and
 * always in pages. */
static void ask_page(struct watch *w, const struct happening *h)
{
    begin_path(w);
    buf_printf(&w->text, "%climit=%d", *w->kind->selector ? '&' : '?', PAGE_OBJECTS);
    if (w->next.n)
        path_add_query(&w->text, "continue", buf_str(&w->next));
    ask(w, h, false);
    w->due_ms = INT64_MAX;
}

static void ask_list(struct watch *w, const struct happening *h)
{
    buf_clear(&w->next);
    known_begin(&w->known);
    ask_page(w, h);
}

static void ask_watch(struct watch *w, const struct happening *h)
{
    int64_t lasts_ms = begin_watch_path(w);
    ask(w, h, true);
    w->due_ms = h->now_ms + lasts_ms + OVERDUE_MS;
}

/* --- what was learnt --- */

static void pass_on(struct watch *w, int64_t now_ms, enum change_kind kind,
                    const struct object *object)
{
    struct change change = {.kind = kind, .object = *object};
    if (kind == CHANGE_PUT)
        known_add(&w->known, object->meta->namespace, object->meta->name);
    else
        known_remove(&w->known, object->meta->namespace, object->meta->name);
    w->listener->change(w->listener->ctx, now_ms, &change);
}

static void take_frame(struct watch *w, const struct happening *h)
{
    pass_on(w, h->now_ms, h->kind, h->object);
}

static void take_filling(struct watch *w, const struct happening *h)
{
    take_frame(w, h);
    w->due_ms = h->now_ms + SILENCE_MS;
}

static void advance(struct watch *w, struct str version)
{
    if (version.n == 0)
        return;
    buf_clear(&w->version);
    buf_add(&w->version, version);
    w->said_status = -1;
}

static void take_version(struct watch *w, const struct happening *h)
{
    advance(w, h->version);
}

static void take_change(struct watch *w, const struct happening *h)
{
    take_frame(w, h);
    take_version(w, h);
}

static void remove_missing(struct watch *w, int64_t now_ms)
{
    struct meta meta;
    uint32_t from = 0;
    memset(&meta, 0, sizeof(meta));
    while (known_take_missing(&w->known, &from, &meta.namespace, &meta.name)) {
        struct change change = {.kind = CHANGE_REMOVE,
                                .object = {.kind = w->kind->kind, .meta = &meta}};
        w->listener->change(w->listener->ctx, now_ms, &change);
    }
    w->is_filled = true;
}

static void end_fill(struct watch *w, const struct happening *h)
{
    take_version(w, h);
    remove_missing(w, h->now_ms);
    w->due_ms = w->opened_ms + 2000 * WATCH_SECONDS_LEAST + OVERDUE_MS;
}

/* A pod that is known but for what happened to it; of one that is gone only the name counts. */
static bool partial(struct watch *w, const struct envelope *v, enum watch_type type,
                    struct object *out)
{
    if (w->kind->kind != KIND_POD || type == WATCH_ADDED)
        return false;
    struct pod *pod = arena_alloc(&w->mem, sizeof(*pod));
    *out = (struct object){.kind = KIND_POD, .pod = pod};
    return partial_pod_read(v, &w->mem, pod) &&
           (type == WATCH_DELETED ||
            (w->listener->knows && w->listener->knows(w->listener->ctx, pod)));
}

static bool is_ours(const struct watch *w, const struct envelope *v, const struct object *object,
                    struct error *e)
{
    if (object->kind != w->kind->kind)
        return error_set(e, ERROR_INVALID, STR_FMT " " STR_FMT " among %s", STR_ARG(v->api_version),
                         STR_ARG(v->kind), w->kind->resource);
    const struct meta *meta = object->meta;
    if (meta->name.n == 0 || meta->uid.n == 0 ||
        (meta->namespace.n == 0) == kind_info_get(object->kind)->is_namespaced)
        return error_set(e, ERROR_INVALID, "an object without a name, a uid, or its namespace");
    return true;
}

static void say_part(struct watch *w, int64_t now_ms, const struct object *object, struct error *e)
{
    const struct meta *meta = object->meta;
    error_wrap(e, STR_FMT "%s" STR_FMT, STR_ARG(meta->namespace), meta->namespace.n ? "/" : "",
               STR_ARG(meta->name));
    say(w, now_ms, NOTICE_PARTLY, w->state == WATCH_LISTING ? "list" : "watch", str_of(e->text));
}

/* An object of our kind, as servers store them (and have given it its defaults). */
static bool read_object(struct watch *w, int64_t now_ms, const struct envelope *v,
                        enum watch_type type, struct object *out, struct error *e)
{
    bool is_known = partial(w, v, type, out) ||
                    (w->kind->kind == KIND_POD && templates_read(&w->templates, v, &w->mem, out));
    struct error why = {0};
    bool is_whole = is_known || envelope_object(v, &w->mem, out, &why);
    if (!is_whole && !gist_read(v, str_of(why.text), &w->mem, out)) {
        *e = why;
        return false;
    }
    if (!is_ours(w, v, out, e))
        return false;
    object_default_template(out, &w->mem);
    if (is_whole && type != WATCH_DELETED && !object_check(out, &why)) {
        *e = why;
        if (!gist_mark(out, str_of(why.text), &w->mem))
            return false;
        is_whole = false;
    }
    if (!is_whole && type != WATCH_DELETED)
        say_part(w, now_ms, out, &why);
    if (is_whole && !is_known && w->kind->kind == KIND_POD)
        templates_keep(&w->templates);
    return true;
}

static void take_page(struct watch *w, const struct happening *h)
{
    struct object object;
    struct error e;
    while (listing_next(h->page, &e)) {
        if (read_object(w, h->now_ms, &h->page->item, WATCH_ADDED, &object, &e))
            pass_on(w, h->now_ms, CHANGE_PUT, &object);
        else
            say(w, h->now_ms, NOTICE_INVALID, "list", str_of(e.text));
    }
    if (e.kind != ERROR_NONE)
        say(w, h->now_ms, NOTICE_INVALID, "list", str_of(e.text));
}

static void take_page_ask_next(struct watch *w, const struct happening *h)
{
    take_page(w, h);
    buf_clear(&w->next);
    buf_add(&w->next, h->page->next);
    ask_page(w, h);
}

static void take_page_ask_watch(struct watch *w, const struct happening *h)
{
    take_page(w, h);
    remove_missing(w, h->now_ms);
    advance(w, h->page->resource_version);
    ask_watch(w, h);
}

/* --- pausing --- */

static void stop(struct watch *w, const struct happening *h)
{
    if (w->current)
        vec_push(&h->out->cancelled, w->current);
    w->current = 0;
}

static void rest(struct watch *w, const struct happening *h)
{
    say_once(w, h, h->on == DENIED ? NOTICE_DENIED : NOTICE_TROUBLE);
    stop(w, h);
    int64_t wait = h->why && h->why->is_lost
                       ? pause_wait_ms(&w->away, &law_away, h->now_ms, &w->rng)
                       : pause_wait_ms(&w->pause, &law, h->now_ms, &w->rng);
    w->due_ms = h->now_ms + MAX(wait, h->why ? h->why->retry_after_ms : 0);
}

/* A server that has just begun may not know yet what is allowed: it is believed that a kind may not
 * be read when it has said so several times. Then the scheduler goes on without; what comes when it
 * may be read some day comes like a change. */
static void rest_denied(struct watch *w, const struct happening *h)
{
    enum { BELIEVED = 3 };
    rest(w, h);
    if (w->kind->without && !w->is_filled)
        w->is_filled = ++w->denials >= BELIEVED;
}

static void rest_and_forget_version(struct watch *w, const struct happening *h)
{
    buf_clear(&w->version);
    rest(w, h);
}

static void leave(struct watch *w, const struct happening *h)
{
    say_once(w, h, NOTICE_ABSENT);
    stop(w, h);
    buf_clear(&w->version);
    w->is_filled = true; /* with nothing; what comes with the kind some day comes like a change */
    w->due_ms = h->now_ms + ABSENT_MS;
}

static void ignore(struct watch *w, const struct happening *h)
{
    (void)w;
    (void)h;
}

/* --- the rules --- */

/* clang-format off */
static const struct rule {
    enum watch_state from;
    enum happens on;
    enum watch_state to;
    action *run;
} rules[] = {
    {WATCH_IDLE,        STARTED,  WATCH_FILLING,     ask_fill               },
    {WATCH_IDLE,        UNSERVED, WATCH_ABSENT,      leave                  },
    {WATCH_ABSENT,      STARTED,  WATCH_FILLING,     ask_fill               },
    {WATCH_ABSENT,      TIMER,    WATCH_FILLING,     ask_fill               },

    {WATCH_FILLING,     CHANGE,   WATCH_FILLING,     take_filling           },
    {WATCH_FILLING,     BOOKMARK, WATCH_FILLING,     ignore                 },
    {WATCH_FILLING,     FILLED,   WATCH_WATCHING,    end_fill               },
    {WATCH_FILLING,     CLOSED,   WATCH_LISTING,     ask_list               },
    {WATCH_FILLING,     TIMER,    WATCH_LISTING,     ask_list               },
    {WATCH_FILLING,     REFUSED,  WATCH_LISTING,     ask_list               },
    {WATCH_FILLING,     EXPIRED,  WATCH_FILL_LATER,  rest_and_forget_version},
    {WATCH_FILLING,     DENIED,   WATCH_FILL_LATER,  rest_denied            },
    {WATCH_FILLING,     FAILED,   WATCH_FILL_LATER,  rest                   },
    {WATCH_FILLING,     UNSERVED, WATCH_ABSENT,      leave                  },
    {WATCH_FILL_LATER,  TIMER,    WATCH_FILLING,     ask_fill               },

    {WATCH_LISTING,     PAGE,     WATCH_LISTING,     take_page_ask_next     },
    {WATCH_LISTING,     LISTED,   WATCH_WATCHING,    take_page_ask_watch    },
    {WATCH_LISTING,     EXPIRED,  WATCH_LIST_LATER,  rest                   },
    {WATCH_LISTING,     REFUSED,  WATCH_LIST_LATER,  rest                   },
    {WATCH_LISTING,     DENIED,   WATCH_LIST_LATER,  rest_denied            },
    {WATCH_LISTING,     FAILED,   WATCH_LIST_LATER,  rest                   },
    {WATCH_LISTING,     UNSERVED, WATCH_ABSENT,      leave                  },
    {WATCH_LIST_LATER,  TIMER,    WATCH_LISTING,     ask_list               },

    {WATCH_WATCHING,    CHANGE,   WATCH_WATCHING,    take_change            },
    {WATCH_WATCHING,    BOOKMARK, WATCH_WATCHING,    take_version           },
    {WATCH_WATCHING,    FILLED,   WATCH_WATCHING,    take_version           },
    {WATCH_WATCHING,    CLOSED,   WATCH_WATCHING,    ask_watch              },
    {WATCH_WATCHING,    TIMER,    WATCH_WATCHING,    ask_watch              },
    {WATCH_WATCHING,    EXPIRED,  WATCH_FILLING,     ask_fill_from_now      },
    {WATCH_WATCHING,    REFUSED,  WATCH_FILL_LATER,  rest_and_forget_version},
    {WATCH_WATCHING,    DENIED,   WATCH_WATCH_LATER, rest                   },
    {WATCH_WATCHING,    FAILED,   WATCH_WATCH_LATER, rest                   },
    {WATCH_WATCHING,    UNSERVED, WATCH_ABSENT,      leave                  },
    {WATCH_WATCH_LATER, TIMER,    WATCH_WATCHING,    ask_watch              },

    /* it is under way already */
    {WATCH_FILLING,     STARTED,  WATCH_FILLING,     ignore                 },
    {WATCH_FILL_LATER,  STARTED,  WATCH_FILL_LATER,  ignore                 },
    {WATCH_LISTING,     STARTED,  WATCH_LISTING,     ignore                 },
    {WATCH_LIST_LATER,  STARTED,  WATCH_LIST_LATER,  ignore                 },
    {WATCH_WATCHING,    STARTED,  WATCH_WATCHING,    ignore                 },
    {WATCH_WATCH_LATER, STARTED,  WATCH_WATCH_LATER, ignore                 },
};
/* clang-format on */

static void happen(struct watch *w, const struct happening *h)
{
    for (size_t i = 0; i < LEN(rules); i++) {
        if (rules[i].from == w->state && rules[i].on == h->on) {
            rules[i].run(w, h); /* sees the state that it leaves */
            w->state = rules[i].to;
            return;
        }
    }
    assert(false); /* every event that a state can see has a rule */
}

/* --- from replies to events --- */

static enum happens meaning(const struct trouble *t)
{
    return trouble_is_expired(t)   ? EXPIRED
           : t->status == 403      ? DENIED
           : t->status == 404      ? UNSERVED
           : trouble_is_passing(t) ? FAILED
                                   : REFUSED;
}

static void hear_trouble(struct watch *w, int64_t now_ms, const struct trouble *why,
                         struct requests *out)
{
    happen(w, &(struct happening){.on = meaning(why), .now_ms = now_ms, .out = out, .why = why});
}

/* What a frame says; false if it cannot be read. */
static bool hear_frame(struct watch *w, int64_t now_ms, struct str bytes, struct requests *out,
                       struct error *e)
{
    struct watch_event event;
    struct status status;
    struct bookmark bookmark;
    struct object object;
    struct happening h = {.on = CHANGE, .now_ms = now_ms, .out = out};
    if (!watch_event_read(w->frames.encoding, bytes, &w->mem, &event, e))
        return false;
    if (event.type == WATCH_ERROR) {
        if (!status_read(&event.object, &w->mem, &status, e))
            return false;
        struct trouble why = trouble_of_status(&status);
        hear_trouble(w, now_ms, &why, out);
        return true;
    }
    if (event.type == WATCH_BOOKMARK) {
        if (!bookmark_read(&event.object, &w->mem, &bookmark, e))
            return false;
        h.on = bookmark.ends_initial ? FILLED : BOOKMARK;
        h.version = bookmark.resource_version;
    } else {
        if (!read_object(w, now_ms, &event.object, event.type, &object, e))
            return false;
        h.kind = event.type == WATCH_DELETED ? CHANGE_REMOVE : CHANGE_PUT;
        h.object = &object;
        h.version = object.meta->resource_version;
    }
    happen(w, &h);
    return true;
}

/* The whole frames of what has come. One may end the stream; one that cannot be read is left out,
 * and costs no more than its object's news. */
static void hear_stream(struct watch *w, int64_t now_ms, struct str piece, struct requests *out)
{
    request_id stream = w->current;
    struct str frame;
    struct error e = {0}, wrong;
    frames_put(&w->frames, piece);
    while (w->current == stream && frames_next(&w->frames, &frame, &e)) {
        w->has_frames = true;
        if (frame.n && !hear_frame(w, now_ms, frame, out, &wrong))
            say(w, now_ms, NOTICE_INVALID, "watch", str_of(wrong.text));
        arena_reset(&w->mem);
    }
    if (w->current != stream || e.kind == ERROR_NONE)
        return;
    struct trouble why = {.message = str_of(e.text), .retry_after_ms = -1};
    hear_trouble(w, now_ms, &why, out);
}

static void hear_page(struct watch *w, int64_t now_ms, struct requests *out)
{
    struct envelope v;
    struct listing page;
    struct error e;
    bool is_read = answer_read(&w->answer, &w->mem, &v, &e) && listing_read(&v, &w->mem, &page, &e);
    if (is_read) {
        happen(w,
               &(struct happening){
                   .on = page.next.n ? PAGE : LISTED, .now_ms = now_ms, .out = out, .page = &page});
        return;
    }
    struct trouble why = {.message = str_of(e.text), .retry_after_ms = -1};
    hear_trouble(w, now_ms, &why, out);
}

static void begin_stream(struct watch *w, int64_t now_ms, struct requests *out)
{
    struct error e;
    enum encoding encoding = answer_encoding(&w->answer, &e);
    if (encoding == ENCODING_NONE) {
        struct trouble why = {.message = str_of(e.text), .retry_after_ms = -1};
        hear_trouble(w, now_ms, &why, out);
        return;
    }
    w->is_stream = true;
    frames_done(&w->frames);
    w->frames = (struct frames){.encoding = encoding, .frame_most = FRAME_BYTES_MOST};
}

static void hear_end(struct watch *w, int64_t now_ms, struct requests *out)
{
    bool is_short = w->is_stream && !w->has_frames && now_ms - w->opened_ms < SHORT_MS;
    if (w->answer.status != 200) {
        struct trouble why = trouble_of_answer(&w->answer, &w->mem);
        hear_trouble(w, now_ms, &why, out);
    } else if (!w->is_stream) {
        hear_page(w, now_ms, out);
    } else {
        happen(w,
               &(struct happening){.on = is_short ? FAILED : CLOSED, .now_ms = now_ms, .out = out});
    }
}

/* --- the face --- */

void watch_init(struct watch *w, const struct watched *kind, request_id id, uint64_t seed,
                const struct listener *listener)
{
    *w = (struct watch){.kind = kind,
                        .api_version = kind_info_get(kind->kind)->api_version,
                        .listener = listener,
                        .rng = rng_seeded(seed),
                        .last_id = id,
                        .due_ms = INT64_MAX,
                        .said_status = -1};
}

void watch_done(struct watch *w)
{
    answer_done(&w->answer);
    frames_done(&w->frames);
    known_done(&w->known);
    templates_done(&w->templates);
    buf_done(&w->version);
    buf_done(&w->next);
    buf_done(&w->text);
    arena_done(&w->mem);
}

void watch_trim(struct watch *w)
{
    frames_trim(&w->frames);
    known_trim(&w->known);
    templates_done(&w->templates);
    if (w->is_stream || !w->current) /* of a stream only the status counts from now on */
        answer_done(&w->answer);
    buf_done(&w->text);
    arena_done(&w->mem);
}

void watch_discovered(struct watch *w, int64_t now_ms, const char *api_version,
                      struct requests *out)
{
    static const struct trouble unserved = {
        .status = 404, .message = {"not served", sizeof("not served") - 1}, .retry_after_ms = -1};
    if (api_version) {
        w->api_version = api_version;
        happen(w, &(struct happening){.on = STARTED, .now_ms = now_ms, .out = out});
    } else if (w->state == WATCH_IDLE)
        hear_trouble(w, now_ms, &unserved, out);
}

void watch_hear(struct watch *w, int64_t now_ms, const struct reply *reply, struct requests *out)
{
    if (reply->id != w->current || w->current == 0)
        return;
    if (w->is_stream && reply->kind == REPLY_DATA)
        hear_stream(w, now_ms, reply->data, out);
    else
        answer_add(&w->answer, reply, PAGE_BYTES_MOST);
    if (reply->kind == REPLY_HEAD && reply->status == 200 && w->state != WATCH_LISTING)
        begin_stream(w, now_ms, out);
    if (reply->kind == REPLY_END || reply->kind == REPLY_LOST) {
        w->current = 0;
        if (reply->kind == REPLY_END) {
            hear_end(w, now_ms, out);
        } else {
            struct trouble why = trouble_of_lost(reply);
            hear_trouble(w, now_ms, &why, out);
        }
    }
    arena_reset(&w->mem);
}

void watch_tick(struct watch *w, int64_t now_ms, struct requests *out)
{
    if (now_ms >= w->due_ms) {
        w->due_ms = INT64_MAX;
        happen(w, &(struct happening){.on = TIMER, .now_ms = now_ms, .out = out});
    }
}
