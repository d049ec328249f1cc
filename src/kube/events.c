/* Between calls: an item is in `queue` or in `sent`; an item of a series holds its key, not a
 * pointer, so either may go first; `series_of` finds each series by its
 * place, and places without one are NULL and in `series_free`. */

#include "kube/events.h"

#include "core/base/hash.h"
#include "core/base/spare.h"
#include "core/base/time_text.h"
#include "core/model/event.h"
#include "core/wire/json_write.h"
#include "kube/limits.h"
#include "kube/pending.h"

enum {
    TIMEOUT_MS = 10000,
    TRIES = 4,             /* that the server may have seen, */
    TRIES_DENIED = 8,      /* and that it denied */
    IDLE_MS = 6 * 60000,   /* a series that rests so long is over */
    FLUSH_MS = 30 * 60000, /* one that goes on is written so often */
};

static const struct pause_law law = {
    .first_ms = 100, .cap_ms = 2000, .reset_ms = INT64_MAX, .factor = 2, .jitter = 0.25};

/* One write. Texts live behind the struct. */
struct event_item {
    struct event_about about;
    struct str name; /* of the event */
    int64_t at_ms;
    uint64_t series; /* the key of the series it belongs to; 0: none */
    uint32_t count;  /* > 1: a patch that says so */
    request_id current;
    uint32_t tries;
    struct answer answer;
    char texts[];
};

struct event_series {
    uint64_t key;
    struct event_item *first; /* a copy, to patch from */
    uint32_t count, written;
    int64_t last_ms, written_ms;
};

static const struct {
    const char *reason, *type, *action, *kind, *api_version; /* the last two: of what it is about */
} words[] = {
    [EVENT_SCHEDULED] = {"Scheduled", "Normal", "Binding", "Pod", "v1"},
    [EVENT_FAILED_SCHEDULING] = {"FailedScheduling", "Warning", "Scheduling", "Pod", "v1"},
    [EVENT_MALFORMED] = {"MalformedValue", "Warning", "Scheduling", "Pod", "v1"},
    [EVENT_APART] = {"GangIgnored", "Warning", "Scheduling", "Pod", "v1"},
    [EVENT_PREEMPTED] = {"Preempted", "Normal", "Preempting", "Pod", "v1"},
    [EVENT_RESERVED] = {"Reserved", "Normal", "Reserving", NULL, NULL},
    [EVENT_EXPIRED] = {"Expired", "Normal", "Releasing", NULL, NULL},
    [EVENT_GROUP_SCHEDULED] = {"Scheduled", "Normal", "Binding", NULL, NULL},
    [EVENT_GROUP_UNSCHEDULED] = {"FailedScheduling", "Warning", "Scheduling", NULL, NULL},
    [EVENT_LEADER] = {"LeaderElection", "Normal", "Electing", "Lease", "coordination.k8s.io/v1"},
};

/* --- items --- */

/* At most so many bytes, without cutting a character. */
static struct str shortened(struct str text, size_t most)
{
    if (text.n <= most)
        return text;
    while (most && ((unsigned char)text.p[most] & 0xc0) == 0x80)
        most--;
    return str_part(text, 0, most);
}

static struct event_item *item_new(const struct event_about *about, struct str name, int64_t at_ms)
{
    static const struct str more = {" ...", 4};
    bool is_long = about->note.n > NOTE_BYTES_MOST;
    struct str note = shortened(about->note, is_long ? NOTE_BYTES_MOST - more.n : NOTE_BYTES_MOST);
    struct event_item *item =
        mem_alloc(sizeof(*item) + about->namespace.n + about->name.n + about->uid.n +
                  about->scheduler.n + note.n + more.n + name.n);
    char *at = item->texts;
    item->about = *about;
    item->about.namespace = str_keep(&at, about->namespace);
    item->about.name = str_keep(&at, about->name);
    item->about.uid = str_keep(&at, about->uid);
    item->about.scheduler = str_keep(&at, about->scheduler);
    item->about.note = str_keep(&at, note);
    if (is_long)
        item->about.note.n += str_keep(&at, more).n;
    item->name = str_keep(&at, name);
    item->at_ms = at_ms;
    item->count = 1;
    return item;
}

static void item_free(struct event_item *item)
{
    answer_done(&item->answer);
    mem_free(item);
}

static void enqueue(struct events *v, struct event_item *item)
{
    if (v->queue.n - v->head >= EVENTS_MOST) {
        item_free(v->queue.at[v->head++]);
        v->stats.dropped++;
    }
    if (v->head > v->queue.n / 2) {
        vec_shift(&v->queue, v->head);
        v->head = 0;
    }
    vec_push(&v->queue, item);
}

/* Before the others, as it was. */
static void put_back(struct events *v, struct event_item *item)
{
    if (v->head == 0) {
        uint32_t n = v->queue.n;
        vec_push(&v->queue, item);
        memmove(v->queue.at + 1, v->queue.at, n * sizeof(*v->queue.at));
        v->head = 1;
    }
    v->queue.at[--v->head] = item;
}

/* --- series --- */

static uint64_t key_of(const struct event_about *about)
{
    uint64_t key = hash_pair(pod_key(about->namespace, about->name), str_hash_secretly(about->uid));
    return hash_pair(hash_pair(key, about->version),
                     hash_pair(str_hash_secretly(about->scheduler), (uint64_t)about->kind)) |
           1;
}

static void write_count(struct events *v, int64_t now_ms, struct event_series *s)
{
    struct event_item *item = item_new(&s->first->about, s->first->name, s->last_ms);
    item->count = s->count;
    item->series = s->key;
    s->written = s->count;
    s->written_ms = now_ms;
    enqueue(v, item);
}

static void series_end(struct events *v, int64_t now_ms, uint32_t i)
{
    struct event_series *s = v->series.at[i];
    if (s->count > s->written)
        write_count(v, now_ms, s);
    map_remove(&v->series_of, s->key);
    item_free(s->first);
    mem_free(s);
    v->series.at[i] = NULL;
    vec_push(&v->series_free, i);
}

/* A free place, made by ending one of the oldest if there are too many. */
static uint32_t series_place(struct events *v, int64_t now_ms)
{
    if (v->series_free.n == 0 && v->series.n < SERIES_MOST) {
        vec_push(&v->series, NULL);
        return v->series.n - 1;
    }
    if (v->series_free.n == 0) {
        series_end(v, now_ms, v->series_hand);
        v->series_hand = (v->series_hand + 1) % SERIES_MOST;
    }
    return vec_pop(&v->series_free);
}

static void series_begin(struct events *v, int64_t now_ms, uint64_t key,
                         const struct event_item *first)
{
    uint32_t place = series_place(v, now_ms);
    struct event_series *s = mem_alloc(sizeof(*s));
    *s = (struct event_series){.key = key,
                               .first = item_new(&first->about, first->name, first->at_ms),
                               .count = 1,
                               .written = 1,
                               .last_ms = now_ms,
                               .written_ms = now_ms};
    map_put(&v->series_of, key, place);
    v->series.at[place] = s;
}

static void series_tick(struct events *v, int64_t now_ms)
{
    v->due_ms = INT64_MAX;
    for (uint32_t i = 0; i < v->series.n; i++) {
        struct event_series *s = v->series.at[i];
        if (!s)
            continue;
        if (now_ms - s->last_ms >= IDLE_MS) {
            series_end(v, now_ms, i);
            continue;
        }
        if (now_ms - s->written_ms >= FLUSH_MS && s->count > s->written)
            write_count(v, now_ms, s);
        v->due_ms = MIN(v->due_ms, s->last_ms + IDLE_MS);
    }
}

/* --- bodies --- */

static void put_series(struct json_writer *w, const struct event_item *item, struct buf *scratch)
{
    json_put_open(w, '{');
    json_put_key(w, STR("series"));
    json_put_open(w, '{');
    json_put_key(w, STR("count"));
    json_put_int(w, item->count);
    json_put_key(w, STR("lastObservedTime"));
    buf_clear(scratch);
    time_add_micro(scratch, item->at_ms);
    json_put_str(w, buf_str(scratch));
    json_put_close(w, '}');
    json_put_close(w, '}');
}

/* Of the event: what it is about may have none. */
static struct str namespace_of(const struct event_about *about)
{
    return about->namespace.n ? about->namespace : STR("default");
}

/* The whole of an event; its texts are valid until the next. */
static struct event event_of(struct events *v, const struct event_item *item)
{
    const struct event_about *about = &item->about;
    buf_clear(&v->text);
    buf_add(&v->text, about->scheduler);
    buf_add_char(&v->text, '-');
    buf_add(&v->text, v->host);
    size_t instance_n = v->text.n;
    if (about->version)
        buf_add_number(&v->text, about->version, 10);
    struct str instance = str_part(buf_str(&v->text), 0, instance_n),
               version = str_part(buf_str(&v->text), instance_n, v->text.n);
    return (struct event){
        .name = item->name,
        .namespace = namespace_of(about),
        .at_ms = item->at_ms,
        .controller = about->scheduler,
        .instance = shortened(instance, 128),
        .action = str_of(words[about->kind].action),
        .reason = str_of(words[about->kind].reason),
        .type = str_of(words[about->kind].type),
        .note = about->note,
        .regarding = {.api_version = str_of(about->about_version ? about->about_version
                                                                 : words[about->kind].api_version),
                      .kind =
                          str_of(about->about_kind ? about->about_kind : words[about->kind].kind),
                      .namespace = about->namespace,
                      .name = about->name,
                      .uid = about->uid,
                      .resource_version = version},
    };
}

static void write_body(struct events *v, const struct event_item *item, struct buf *body)
{
    if (item->count > 1) {
        struct json_writer w = {.out = body};
        put_series(&w, item, &v->text);
        return;
    }
    struct event event = event_of(v, item);
    event_write(&event, body);
}

static void send(struct events *v, struct event_item *item, struct requests *out)
{
    bool is_patch = item->count > 1;
    buf_clear(&out->scratch);
    write_body(v, item, &out->scratch);
    item->current = ++v->last_id;
    item->tries++;
    vec_push(&out->list,
             (struct request){
                 .id = item->current,
                 .lane = LANE_EVENTS,
                 .verb = is_patch ? VERB_PATCH : VERB_POST,
                 .path = arena_join(&out->mem, STR("/apis/events.k8s.io/v1/namespaces/"),
                                    namespace_of(&item->about), STR("/events"),
                                    is_patch ? STR("/") : STR(""), is_patch ? item->name : STR("")),
                 .content_type = is_patch ? STR("application/strategic-merge-patch+json")
                                          : STR(ENCODING_PROTO_TYPE),
                 .accept = STR(ENCODING_PROTO_TYPE ", " ENCODING_JSON_TYPE),
                 .body = arena_str(&out->mem, buf_str(&out->scratch)),
                 .timeout_ms = TIMEOUT_MS,
             });
}

/* --- the face --- */

void events_init(struct events *v, struct str host, request_id id, uint64_t seed,
                 const struct listener *listener)
{
    *v = (struct events){.host = host,
                         .rng = rng_seeded(seed),
                         .listener = listener,
                         .last_id = id,
                         .due_ms = INT64_MAX,
                         .said_status = -1};
}

void events_done(struct events *v)
{
    for (uint32_t i = v->head; i < v->queue.n; i++)
        item_free(v->queue.at[i]);
    vec_each(&v->sent, item)
        item_free(*item);
    vec_each(&v->series, s) {
        if (*s)
            item_free((*s)->first);
        mem_free(*s);
    }
    vec_done(&v->series_free);
    vec_done(&v->queue);
    vec_done(&v->sent);
    vec_done(&v->series);
    map_done(&v->series_of);
    buf_done(&v->text);
    arena_done(&v->mem);
}

void events_trim(struct events *v)
{
    vec_shift(&v->queue, v->head);
    v->head = 0;
    vec_trim(&v->queue);
    vec_trim(&v->sent);
    while (v->series.n && !vec_last(&v->series))
        v->series.n--;
    vec_trim(&v->series);
    spare_trim(&v->series_free, v->series.n);
    map_trim(&v->series_of);
    buf_done(&v->text);
    arena_done(&v->mem);
}

/* A pod is bound once, so only failures can become a series. */
void events_add(struct events *v, int64_t now_ms, const struct event_about *about)
{
    if (v->is_silent)
        return;
    uint64_t key = about->kind == EVENT_FAILED_SCHEDULING ? key_of(about) : 0;
    uint32_t known = key ? map_find(&v->series_of, key) : MAP_NONE;
    if (known != MAP_NONE) {
        struct event_series *s = v->series.at[known];
        s->count++;
        s->last_ms = now_ms;
        if (s->written == 1)
            write_count(v, now_ms, s);
        return;
    }
    v->last_name = MAX(v->last_name + 1, (uint64_t)now_ms * 1000000);
    buf_clear(&v->text);
    buf_add(&v->text, about->name);
    buf_add_char(&v->text, '.');
    buf_add_number(&v->text, v->last_name, 16);
    struct event_item *item = item_new(about, buf_str(&v->text), now_ms);
    item->series = key;
    if (key) {
        series_begin(v, now_ms, key, item);
        v->due_ms = MIN(v->due_ms, now_ms + IDLE_MS);
    }
    enqueue(v, item);
}

static void say_trouble(struct events *v, int64_t now_ms, const struct event_item *item,
                        const struct trouble *why)
{
    if ((!trouble_is_denied(why) && !trouble_is_passing(why)) || v->said_status == why->status)
        return;
    v->said_status = why->status;
    struct notice notice = {.kind = trouble_is_denied(why) ? NOTICE_DENIED : NOTICE_TROUBLE,
                            .verb = item->count > 1 ? "patch" : "create",
                            .what = STR("events.events.k8s.io"),
                            .text = why->message};
    v->listener->notice(v->listener->ctx, now_ms, &notice);
}

static void rest(struct events *v, int64_t now_ms, const struct trouble *why)
{
    int64_t wait = pause_wait_ms(&v->pause, &law, now_ms, &v->rng);
    int64_t told = MAX(wait, why->retry_after_ms);
    v->again_ms = MAX(v->again_ms, now_ms + told);
}

/* What was not written: again, or never. The patch of an event that is gone is written as a new
 * one; what is not for the server to store does not wait. */
static bool goes_again(struct events *v, int64_t now_ms, struct event_item *item,
                       const struct trouble *why, bool was_seen)
{
    if (item->count > 1 && why->status == 404) {
        item->count = 1;
        item->tries = 0;
        put_back(v, item);
        return true;
    }
    if (!trouble_is_passing(why) && !trouble_is_denied(why)) {
        v->pause.failures = 0;
        return false;
    }
    rest(v, now_ms, why);
    item->tries -= !was_seen;
    if (item->tries >= (trouble_is_denied(why) ? TRIES_DENIED : TRIES))
        return false;
    if (why->status >= 500)
        enqueue(v, item);
    else
        put_back(v, item);
    return true;
}

void events_hear(struct events *v, int64_t now_ms, const struct reply *reply)
{
    uint32_t i = 0;
    while (i < v->sent.n && v->sent.at[i]->current != reply->id)
        i++;
    if (i == v->sent.n)
        return;
    struct event_item *item = v->sent.at[i];
    answer_add(&item->answer, reply, item->answer.status < 400 ? 0 : STATUS_BYTES_MOST);
    bool is_lost = reply->kind == REPLY_LOST;
    if (reply->kind != REPLY_END && !is_lost)
        return;
    vec_remove(&v->sent, i);
    int status = item->answer.status;
    if (!is_lost && (status < 300 || (status == 409 && item->tries > 1))) { /* by an earlier try */
        v->pause.failures = 0;
        v->said_status = -1;
        v->stats.sent++;
        item_free(item);
        return;
    }
    struct trouble why =
        is_lost ? trouble_of_lost(reply) : trouble_of_answer(&item->answer, &v->mem);
    say_trouble(v, now_ms, item, &why);
    if (!goes_again(v, now_ms, item, &why, !is_lost || reply->may_have_arrived)) {
        v->stats.failed++;
        item_free(item);
    }
    arena_reset(&v->mem);
}

static bool may_send(const struct events *v, bool are_binds_under_way)
{
    uint32_t waiting = v->queue.n - v->head;
    uint32_t most = v->pause.failures     ? 1
                    : are_binds_under_way ? MIN(EVENTS_BESIDE_BINDS + waiting / EVENTS_A_LANE,
                                                (uint32_t)EVENTS_IN_FLIGHT)
                                          : EVENTS_IN_FLIGHT;
    return v->head < v->queue.n && v->sent.n < most;
}

void events_tick(struct events *v, int64_t now_ms, bool are_binds_under_way, struct requests *out)
{
    if (now_ms >= v->due_ms)
        series_tick(v, now_ms);
    while (now_ms >= v->again_ms && may_send(v, are_binds_under_way)) {
        struct event_item *item = v->queue.at[v->head++];
        vec_push(&v->sent, item);
        send(v, item, out);
    }
}

int64_t events_next_ms(const struct events *v, int64_t now_ms, bool are_binds_under_way)
{
    if (may_send(v, are_binds_under_way))
        return MIN(v->due_ms, MAX(now_ms, v->again_ms));
    return v->due_ms;
}

uint32_t events_waiting(const struct events *v)
{
    return v->queue.n - v->head + v->sent.n;
}
