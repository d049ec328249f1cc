/* Between calls: a posting is in `queue` or in `sent`; of one object at most one is in each. */

#include "kube/publish.h"

#include "core/base/hash.h"
#include "kube/kinds.h"
#include "kube/limits.h"
#include "kube/object_write.h"

enum { TRIES = 4 };

static const struct pause_law law = {
    .first_ms = 100, .cap_ms = 5000, .reset_ms = INT64_MAX, .factor = 2, .jitter = 0.25};

struct posting {
    uint64_t object; /* hash of what it is about */
    struct object_write write;
    request_id current;
    uint32_t tries;
    struct answer answer;
};

_Static_assert(KIND_COUNT <= 64, "a bit for each kind");

static void posting_free(struct posting *x)
{
    object_write_free(&x->write);
    answer_done(&x->answer);
    mem_free(x);
}

/* The object itself and a part of it are written apart from each other. */
static uint64_t object_of(const struct object_write *w)
{
    uint64_t name = hash_pair(str_hash_secretly(w->namespace), str_hash_secretly(w->name));
    return hash_pair(hash_pair(name, (uint64_t)w->kind), str_hash_secretly(w->patches[0].part));
}

void publish_init(struct publish *p, request_id id, uint64_t seed, struct str scheduler,
                  struct events *events, const struct listener *listener)
{
    *p = (struct publish){.listener = listener,
                          .events = events,
                          .scheduler = scheduler,
                          .rng = rng_seeded(seed),
                          .last_id = id,
                          .said_status = -1};
}

void publish_done(struct publish *p)
{
    for (uint32_t i = p->head; i < p->queue.n; i++)
        posting_free(p->queue.at[i]);
    vec_each(&p->sent, x)
        posting_free(*x);
    vec_done(&p->queue);
    vec_done(&p->sent);
    arena_done(&p->mem);
}

void publish_trim(struct publish *p)
{
    vec_shift(&p->queue, p->head);
    p->head = 0;
    vec_trim(&p->queue);
    vec_trim(&p->sent);
    arena_done(&p->mem);
}

void publish_learn(struct publish *p, enum kind kind, const char *api_version, bool writes_whole)
{
    uint64_t bit = (uint64_t)1 << kind;
    p->absent = api_version ? p->absent & ~bit : p->absent | bit;
    p->whole = writes_whole ? p->whole | bit : p->whole & ~bit;
    p->versions[kind] = api_version;
}

static const char *version_of(const struct publish *p, enum kind kind)
{
    return p->versions[kind] ? p->versions[kind] : kind_info_get(kind)->api_version;
}

/* --- taking --- */

static void tell_news(struct publish *p, int64_t now_ms, const struct effect *e)
{
    static const enum event_kind kinds[] = {
        [NEWS_RESERVED] = EVENT_RESERVED,         [NEWS_EXPIRED] = EVENT_EXPIRED,
        [NEWS_SCHEDULED] = EVENT_GROUP_SCHEDULED, [NEWS_UNSCHEDULED] = EVENT_GROUP_UNSCHEDULED,
        [NEWS_MALFORMED] = EVENT_MALFORMED,
    };
    if (e->news == NEWS_NONE)
        return;
    const struct kind_info *about = kind_info_get(e->write.kind);
    events_add(p->events, now_ms,
               &(struct event_about){.kind = kinds[e->news],
                                     .about_kind = about->name,
                                     .about_version = version_of(p, e->write.kind),
                                     .namespace = e->write.namespace,
                                     .name = e->write.name,
                                     .uid = e->uid,
                                     .scheduler = e->profile.n ? e->profile : p->scheduler,
                                     .note = e->message});
}

static void enqueue(struct publish *p, struct posting *x)
{
    if (p->queue.n - p->head >= POSTINGS_MOST) {
        posting_free(p->queue.at[p->head++]);
        p->stats.dropped++;
    }
    if (p->head > p->queue.n / 2) {
        vec_shift(&p->queue, p->head);
        p->head = 0;
    }
    vec_push(&p->queue, x);
}

static struct posting *find_waiting(const struct publish *p, uint64_t object)
{
    for (uint32_t i = p->head; i < p->queue.n; i++)
        if (p->queue.at[i]->object == object)
            return p->queue.at[i];
    return NULL;
}

void publish_take(struct publish *p, int64_t now_ms, const struct effect *e)
{
    if (p->absent >> e->write.kind & 1)
        return;
    tell_news(p, now_ms, e);
    if (e->write.n_patches == 0)
        return;
    uint64_t object = object_of(&e->write);
    struct posting *x = find_waiting(p, object);
    if (x) {
        object_write_free(&x->write);
        x->tries = 0;
    } else {
        x = mem_alloc(sizeof(*x));
        *x = (struct posting){.object = object};
        enqueue(p, x);
    }
    x->write = object_write_keep(&e->write);
}

/* --- hearing --- */

/* The patch as the server takes it: where a status is not written alone, of the object itself. */
static struct patch part_of(const struct publish *p, const struct object_write *w)
{
    struct patch patch = w->patches[0];
    if (p->whole >> w->kind & 1)
        patch.part = STR("");
    return patch;
}

static void say_trouble(struct publish *p, int64_t now_ms, const struct posting *x,
                        const struct trouble *why)
{
    static const char *const verbs[] = {"patch", "create", "delete"};
    if (trouble_is_overtaken(why) || p->said_status == why->status)
        return;
    p->said_status = why->status;
    AUTO(buf) what = {0};
    watched_add_name(&what, watched_of(x->write.kind));
    struct str part = part_of(p, &x->write).part;
    if (part.n)
        buf_printf(&what, "/" STR_FMT, STR_ARG(part));
    struct notice notice = {.kind = notice_of_trouble(why),
                            .verb = verbs[x->write.patches[0].verb],
                            .what = buf_str(&what),
                            .text = why->message};
    p->listener->notice(p->listener->ctx, now_ms, &notice);
}

/* Again, unless there is a newer word; false: it is dropped. */
static bool goes_again(struct publish *p, int64_t now_ms, struct posting *x,
                       const struct trouble *why)
{
    if (!trouble_is_passing(why) && !trouble_is_denied(why))
        return false;
    int64_t wait_ms = pause_wait_ms(&p->pause, &law, now_ms, &p->rng);
    wait_ms = MAX(wait_ms, why->retry_after_ms);
    p->again_ms = MAX(p->again_ms, now_ms + wait_ms);
    if (x->tries >= TRIES || find_waiting(p, x->object))
        return false;
    enqueue(p, x);
    return true;
}

void publish_hear(struct publish *p, int64_t now_ms, const struct reply *reply)
{
    uint32_t i = 0;
    while (i < p->sent.n && p->sent.at[i]->current != reply->id)
        i++;
    if (i == p->sent.n)
        return;
    struct posting *x = p->sent.at[i];
    answer_add(&x->answer, reply, x->answer.status < 400 ? 0 : STATUS_BYTES_MOST);
    bool is_lost = reply->kind == REPLY_LOST;
    if (reply->kind != REPLY_END && !is_lost)
        return;
    vec_remove(&p->sent, i);
    struct trouble why = is_lost ? trouble_of_lost(reply) : (struct trouble){0};
    if (!is_lost && x->answer.status < 300) {
        p->pause.failures = 0;
        p->said_status = -1;
        p->stats.written++;
        posting_free(x);
        return;
    }
    if (!is_lost)
        why = trouble_of_answer(&x->answer, &p->mem);
    say_trouble(p, now_ms, x, &why);
    if (!goes_again(p, now_ms, x, &why)) {
        p->stats.dropped++;
        posting_free(x);
    }
    arena_reset(&p->mem);
}

/* --- sending --- */

static bool is_under_way(const struct publish *p, uint64_t object)
{
    vec_each(&p->sent, x)
        if ((*x)->object == object)
            return true;
    return false;
}

static bool may_send(const struct publish *p, bool are_binds_under_way)
{
    uint32_t most = p->pause.failures     ? 1
                    : are_binds_under_way ? POSTINGS_BESIDE_BINDS
                                          : POSTINGS_IN_FLIGHT;
    return p->head < p->queue.n && p->sent.n < most &&
           !is_under_way(p, p->queue.at[p->head]->object);
}

void publish_tick(struct publish *p, int64_t now_ms, bool are_binds_under_way, struct requests *out)
{
    while (now_ms >= p->again_ms && may_send(p, are_binds_under_way)) {
        struct posting *x = p->queue.at[p->head++];
        struct object_write write = x->write;
        struct patch patch = part_of(p, &write);
        write.patches = &patch;
        struct request r = object_write_request(&write, 0, version_of(p, write.kind), out);
        r.lane = LANE_EVENTS;
        r.id = x->current = ++p->last_id;
        x->tries++;
        answer_clear(&x->answer);
        vec_push(&p->sent, x);
        vec_push(&out->list, r);
    }
}

int64_t publish_next_ms(const struct publish *p, int64_t now_ms, bool are_binds_under_way)
{
    return may_send(p, are_binds_under_way) ? MAX(now_ms, p->again_ms) : INT64_MAX;
}

uint32_t publish_waiting(const struct publish *p)
{
    return p->queue.n - p->head + p->sent.n;
}
