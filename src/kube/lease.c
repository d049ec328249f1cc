/* A reply becomes an event, the event and the state find a rule. Between calls: `current` is the
 * request under way, 0 in the states that wait; `record` is the lease as last seen. */

#include "kube/lease.h"

#include "core/base/time_text.h"
#include "core/wire/json_read.h"
#include "core/wire/json_write.h"
#include "kube/limits.h"

enum { JITTER_TENTHS = 12, RELEASE_SECONDS = 1, SOON_MS = 100 };

enum lease_event {
    TIMER,
    ABSENT,   /* there is no lease */
    FREE,     /* nobody holds it, or not any more */
    OURS,     /* we do, says the server */
    TAKEN,    /* somebody else does */
    WRITTEN,  /* our write is stored */
    CONFLICT, /* somebody wrote first */
    FAILED,   /* no answer, or none that helps */
    UNHEARD,  /* the server was not even reached */
    DEADLINE, /* too long without a renewal */
    STOP,
};

struct happening {
    enum lease_event on;
    int64_t now_ms;
    struct requests *out;
};

typedef void action(struct lease *l, const struct happening *h);

/* --- what is stored --- */

struct stored {
    struct str meta, holder, acquired, renewed;
    int32_t duration_seconds, transitions;
};

static const struct field spec_fields[] = {
    {FIELD(STR, "acquireTime", 3, struct stored, acquired)},
    {FIELD(STR, "holderIdentity", 1, struct stored, holder)},
    {FIELD(INT32, "leaseDurationSeconds", 2, struct stored, duration_seconds)},
    {FIELD(INT32, "leaseTransitions", 5, struct stored, transitions)},
    {FIELD(STR, "renewTime", 4, struct stored, renewed)},
    FIELD_END,
};

static const struct field stored_fields[] = {
    {FIELD(RAW, "metadata", 1, struct stored, meta)},
    {FIELD_PART("spec", 2, spec_fields)},
    FIELD_END,
};

static void set(struct buf *text, struct str to)
{
    buf_clear(text);
    buf_add(text, to);
}

static bool take_record(struct lease *l, int64_t now_ms)
{
    struct lease_record *r = &l->record;
    struct stored s = {0};
    struct error e;
    size_t where;
    if (l->answer.is_cut ||
        !json_read(buf_str(&l->answer.body), stored_fields, &s, &l->mem, &where, &e))
        return false;
    bool is_same = str_equal(buf_str(&r->holder), s.holder) &&
                   str_equal(buf_str(&r->acquired), s.acquired) &&
                   str_equal(buf_str(&r->renewed), s.renewed) &&
                   r->duration_seconds == s.duration_seconds && r->transitions == s.transitions;
    if (!is_same || r->meta.n == 0)
        l->observed_ms = now_ms;
    set(&r->meta, s.meta);
    set(&r->holder, s.holder);
    set(&r->acquired, s.acquired);
    set(&r->renewed, s.renewed);
    r->duration_seconds = s.duration_seconds;
    r->transitions = s.transitions;
    return true;
}

static bool is_ours(const struct lease *l)
{
    return str_equal(buf_str(&l->record.holder), l->config.identity);
}

/* --- asking and writing --- */

static void request(struct lease *l, const struct happening *h, enum verb verb, struct str body)
{
    l->current = ++l->last_id;
    l->due_ms = INT64_MAX;
    answer_clear(&l->answer);
    vec_push(&h->out->list,
             (struct request){
                 .id = l->current,
                 .lane = LANE_LEASE,
                 .verb = verb,
                 .path = arena_printf(&h->out->mem,
                                      "/apis/coordination.k8s.io/v1/namespaces/" STR_FMT
                                      "/leases%s" STR_FMT,
                                      STR_ARG(l->config.namespace), verb == VERB_POST ? "" : "/",
                                      STR_ARG(verb == VERB_POST ? STR("") : l->config.name)),
                 .content_type = body.n ? STR("application/json") : STR(""),
                 .body = body.n ? arena_str(&h->out->mem, body) : STR(""),
                 .timeout_ms = MAX((int64_t)1000, l->config.renew_ms / 2),
             });
}

static void ask(struct lease *l, const struct happening *h)
{
    request(l, h, VERB_GET, STR(""));
}

/* The metadata goes back as it came: its version makes this a compare-and-swap, and what others
 * put there stays. */
static void put_meta(struct json_writer *w, const struct lease *l)
{
    json_put_key(w, STR("metadata"));
    if (l->record.meta.n) {
        buf_add(w->out, buf_str(&l->record.meta));
        w->is_after_key = false;
        return;
    }
    json_put_open(w, '{');
    put_text(w, "name", l->config.name);
    put_text(w, "namespace", l->config.namespace);
    json_put_close(w, '}');
}

static void write_lease(struct lease *l, const struct happening *h, struct str holder,
                        int64_t seconds, int64_t transitions, struct str acquired)
{
    AUTO(buf) body = {0};
    AUTO(buf) now = {0};
    time_add_micro(&now, h->now_ms + l->wall_offset_ms);
    struct json_writer w = {.out = &body};
    json_put_open(&w, '{');
    put_text(&w, "apiVersion", STR("coordination.k8s.io/v1"));
    put_text(&w, "kind", STR("Lease"));
    put_meta(&w, l);
    json_put_key(&w, STR("spec"));
    json_put_open(&w, '{');
    put_text(&w, "holderIdentity", holder);
    put_int(&w, "leaseDurationSeconds", seconds);
    put_text(&w, "acquireTime", acquired.n ? acquired : buf_str(&now));
    put_text(&w, "renewTime", buf_str(&now));
    put_int(&w, "leaseTransitions", transitions);
    json_put_close(&w, '}');
    json_put_close(&w, '}');
    l->sent_ms = h->now_ms;
    request(l, h, l->record.meta.n ? VERB_PUT : VERB_POST, buf_str(&body));
}

static void create(struct lease *l, const struct happening *h)
{
    buf_clear(&l->record.meta);
    write_lease(l, h, l->config.identity, l->config.duration_ms / 1000, 0, STR(""));
}

static void take(struct lease *l, const struct happening *h)
{
    write_lease(l, h, l->config.identity, l->config.duration_ms / 1000, l->record.transitions + 1,
                STR(""));
}

static void renew(struct lease *l, const struct happening *h)
{
    write_lease(l, h, l->config.identity, l->config.duration_ms / 1000, l->record.transitions,
                buf_str(&l->record.acquired));
}

static void give_back(struct lease *l, const struct happening *h)
{
    if (l->current)
        vec_push(&h->out->cancelled, l->current);
    write_lease(l, h, STR(""), RELEASE_SECONDS, l->record.transitions, STR(""));
    l->due_ms = h->now_ms + l->config.renew_ms / 2;
}

/* --- waiting --- */

/* Candidates do not knock together. */
static void wait_jittered(struct lease *l, const struct happening *h)
{
    int64_t spread = l->config.retry_ms * JITTER_TENTHS / 10;
    l->due_ms = h->now_ms + l->config.retry_ms + (int64_t)rng_below(&l->rng, (uint64_t)spread);
}

static void wait_retry(struct lease *l, const struct happening *h)
{
    l->due_ms = h->now_ms + l->config.retry_ms;
}

/* Nobody else reaches it either, perhaps: to be there when it comes back. */
static void wait_little(struct lease *l, const struct happening *h)
{
    int64_t wait = MIN(l->config.retry_ms, (int64_t)SOON_MS);
    l->due_ms = h->now_ms + wait + (int64_t)rng_below(&l->rng, (uint64_t)wait);
}

static void held(struct lease *l, const struct happening *h)
{
    l->held_ms = l->sent_ms;
    wait_retry(l, h);
}

static void stop(struct lease *l, const struct happening *h)
{
    if (l->current)
        vec_push(&h->out->cancelled, l->current);
    l->current = 0;
    l->due_ms = INT64_MAX;
}

static void ignore(struct lease *l, const struct happening *h)
{
    (void)l;
    (void)h;
}

/* --- the rules --- */

/* clang-format off */
static const struct rule {
    enum lease_state from;
    enum lease_event on;
    enum lease_state to;
    action *run;
} rules[] = {
    {LEASE_WAITING,   TIMER,    LEASE_ASKING,    ask          },
    {LEASE_WAITING,   STOP,     LEASE_OVER,      stop         },

    {LEASE_ASKING,    ABSENT,   LEASE_TAKING,    create       },
    {LEASE_ASKING,    FREE,     LEASE_TAKING,    take         },
    {LEASE_ASKING,    OURS,     LEASE_TAKING,    renew        },
    {LEASE_ASKING,    TAKEN,    LEASE_WAITING,   wait_jittered},
    {LEASE_ASKING,    FAILED,   LEASE_WAITING,   wait_jittered},
    {LEASE_ASKING,    UNHEARD,  LEASE_WAITING,   wait_little  },
    {LEASE_ASKING,    STOP,     LEASE_OVER,      stop         },

    {LEASE_TAKING,    WRITTEN,  LEASE_LEADING,   held         },
    {LEASE_TAKING,    CONFLICT, LEASE_WAITING,   wait_jittered},
    {LEASE_TAKING,    FAILED,   LEASE_WAITING,   wait_jittered},
    {LEASE_TAKING,    UNHEARD,  LEASE_WAITING,   wait_little  },
    {LEASE_TAKING,    STOP,     LEASE_OVER,      stop         },

    {LEASE_LEADING,   TIMER,    LEASE_RENEWING,  renew        },
    {LEASE_LEADING,   DEADLINE, LEASE_OVER,      stop         },
    {LEASE_LEADING,   STOP,     LEASE_RELEASING, give_back    },

    {LEASE_RENEWING,  WRITTEN,  LEASE_LEADING,   held         },
    {LEASE_RENEWING,  CONFLICT, LEASE_CHECKING,  ask          },
    {LEASE_RENEWING,  FAILED,   LEASE_LEADING,   wait_retry   },
    {LEASE_RENEWING,  UNHEARD,  LEASE_LEADING,   wait_little  },
    {LEASE_RENEWING,  DEADLINE, LEASE_OVER,      stop         },
    {LEASE_RENEWING,  STOP,     LEASE_RELEASING, give_back    },

    {LEASE_CHECKING,  OURS,     LEASE_RENEWING,  renew        },
    {LEASE_CHECKING,  ABSENT,   LEASE_RENEWING,  create       },
    {LEASE_CHECKING,  FREE,     LEASE_OVER,      stop         },
    {LEASE_CHECKING,  TAKEN,    LEASE_OVER,      stop         },
    {LEASE_CHECKING,  FAILED,   LEASE_LEADING,   wait_retry   },
    {LEASE_CHECKING,  UNHEARD,  LEASE_LEADING,   wait_little  },
    {LEASE_CHECKING,  DEADLINE, LEASE_OVER,      stop         },
    {LEASE_CHECKING,  STOP,     LEASE_RELEASING, give_back    },

    {LEASE_RELEASING, WRITTEN,  LEASE_OVER,      stop         },
    {LEASE_RELEASING, CONFLICT, LEASE_OVER,      stop         },
    {LEASE_RELEASING, FAILED,   LEASE_OVER,      stop         },
    {LEASE_RELEASING, UNHEARD,  LEASE_OVER,      stop         },
    {LEASE_RELEASING, TIMER,    LEASE_OVER,      stop         },
    {LEASE_RELEASING, STOP,     LEASE_RELEASING, ignore       },

    {LEASE_OVER,      STOP,     LEASE_OVER,      ignore       },
};
/* clang-format on */

static void happen(struct lease *l, enum lease_event on, int64_t now_ms, struct requests *out)
{
    struct happening h = {.on = on, .now_ms = now_ms, .out = out};
    for (size_t i = 0; i < LEN(rules); i++) {
        if (rules[i].from == l->state && rules[i].on == on) {
            rules[i].run(l, &h); /* sees the state that it leaves */
            l->state = rules[i].to;
            return;
        }
    }
    assert(false); /* every event that a state can see has a rule */
}

/* --- from replies to events --- */

static void say_trouble(struct lease *l, int64_t now_ms, const struct trouble *why)
{
    static const char *const verbs[] = {[LEASE_ASKING] = "get",
                                        [LEASE_TAKING] = "update",
                                        [LEASE_RENEWING] = "update",
                                        [LEASE_CHECKING] = "get",
                                        [LEASE_RELEASING] = "update"};
    if (l->said_status == why->status)
        return;
    l->said_status = why->status;
    struct notice notice = {
        .kind = why->status == 403 ? NOTICE_DENIED : NOTICE_TROUBLE,
        .verb = l->state == LEASE_TAKING && l->record.meta.n == 0 ? "create" : verbs[l->state],
        .what = STR("leases.coordination.k8s.io"),
        .text = why->message};
    l->listener->notice(l->listener->ctx, now_ms, &notice);
}

static enum lease_event whose(const struct lease *l, int64_t now_ms)
{
    return is_ours(l)                                                     ? OURS
           : l->record.holder.n == 0                                      ? FREE
           : now_ms - l->observed_ms >= l->record.duration_seconds * 1000 ? FREE
                                                                          : TAKEN;
}

/* What a whole answer means where we are. */
static enum lease_event meaning(struct lease *l, int64_t now_ms)
{
    bool asked = l->state == LEASE_ASKING || l->state == LEASE_CHECKING;
    int status = l->answer.status;
    if (status == 200 || status == 201) {
        l->said_status = -1;
        return !take_record(l, now_ms) ? FAILED : asked ? whose(l, now_ms) : WRITTEN;
    }
    if (asked && status == 404) /* also where leases are not served: then the write says so */
        return ABSENT;
    if (!asked && (status == 409 || status == 404))
        return CONFLICT;
    struct trouble why = trouble_of_answer(&l->answer, &l->mem);
    say_trouble(l, now_ms, &why);
    return FAILED;
}

/* --- the face --- */

static int64_t deadline_ms(const struct lease *l)
{
    bool leads =
        l->state == LEASE_LEADING || l->state == LEASE_RENEWING || l->state == LEASE_CHECKING;
    return leads ? l->held_ms + l->config.renew_ms : INT64_MAX;
}

void lease_init(struct lease *l, const struct lease_config *config, int64_t now_ms, request_id id,
                uint64_t seed, const struct listener *listener)
{
    *l = (struct lease){.config = *config,
                        .listener = listener,
                        .rng = rng_seeded(seed),
                        .last_id = id,
                        .due_ms = now_ms,
                        .said_status = -1};
    if (l->config.duration_ms == 0)
        l->config.duration_ms = 15000;
    if (l->config.renew_ms == 0)
        l->config.renew_ms = 10000;
    if (l->config.retry_ms == 0)
        l->config.retry_ms = 2000;
}

void lease_done(struct lease *l)
{
    buf_done(&l->record.meta);
    buf_done(&l->record.holder);
    buf_done(&l->record.acquired);
    buf_done(&l->record.renewed);
    answer_done(&l->answer);
    arena_done(&l->mem);
}

void lease_hear(struct lease *l, int64_t now_ms, const struct reply *reply, struct requests *out)
{
    if (reply->id != l->current || l->current == 0)
        return;
    if (now_ms >= deadline_ms(l)) { /* too late, whatever it says */
        happen(l, DEADLINE, now_ms, out);
        return;
    }
    answer_add(&l->answer, reply, OBJECT_BYTES_MOST);
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return;
    l->current = 0;
    enum lease_event on = reply->may_have_arrived ? FAILED : UNHEARD;
    if (reply->kind == REPLY_END) {
        on = meaning(l, now_ms);
    } else {
        struct trouble why = trouble_of_lost(reply);
        say_trouble(l, now_ms, &why);
    }
    happen(l, on, now_ms, out);
    arena_reset(&l->mem);
}

void lease_tick(struct lease *l, int64_t now_ms, struct requests *out)
{
    if (now_ms >= deadline_ms(l))
        happen(l, DEADLINE, now_ms, out);
    if (now_ms >= l->due_ms)
        happen(l, TIMER, now_ms, out);
}

int64_t lease_next_ms(const struct lease *l)
{
    return MIN(l->due_ms, deadline_ms(l));
}

bool lease_is_leading(const struct lease *l, int64_t now_ms)
{
    return deadline_ms(l) != INT64_MAX && now_ms < deadline_ms(l);
}

void lease_release(struct lease *l, int64_t now_ms, struct requests *out)
{
    happen(l, STOP, now_ms, out);
}
