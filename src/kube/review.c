/* A review asks WHO (of a token), then WHETHER, and is then KNOWN until its time is over. One that
 * could not be answered is forgotten at once. Questions that are the same share a review. */

#include "kube/review.h"

#include "core/wire/json_read.h"
#include "core/wire/json_write.h"

struct review {
    uint64_t hash;
    struct buf key;               /* token, user, verb, path; a line each */
    struct review_question asked; /* its parts in `key` */
    struct buf user;              /* the fields of a user, in JSON */
    struct buf name;
    enum { ASKING_WHO, ASKING_WHETHER, KNOWN } state;
    enum review_verdict verdict;
    int64_t until_ms;
    request_id current; /* 0: none */
    struct answer answer;
    VEC(review_ticket) tickets;
};

/* --- what is said and heard --- */

struct said_user {
    struct str extra, groups; /* JSON, as it came */
    struct str uid, name;
};

struct said {
    bool is_allowed, is_authenticated;
    struct said_user user;
};

static const struct field user_fields[] = {
    {FIELD(RAW, "extra", 4, struct said_user, extra)},
    {FIELD(RAW, "groups", 3, struct said_user, groups)},
    {FIELD(STR, "uid", 2, struct said_user, uid)},
    {FIELD(STR, "username", 1, struct said_user, name)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD(BOOL, "allowed", 1, struct said, is_allowed)},
    {FIELD(BOOL, "authenticated", 1, struct said, is_authenticated)},
    {FIELD_STRUCT("user", 2, struct said, user, user_fields)},
    FIELD_END,
};

static const struct field review_fields[] = {
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};

void review_user(struct buf *out, struct str name, const struct str *groups, uint32_t n_groups)
{
    buf_add(out, STR("\"user\":"));
    json_add_str(out, name.n ? name : STR("system:anonymous"));
    buf_add(out, STR(",\"groups\":["));
    for (uint32_t i = 0; i < n_groups; i++) {
        json_add_str(out, groups[i]);
        buf_add_char(out, ',');
    }
    json_add_str(out, name.n ? STR("system:authenticated") : STR("system:unauthenticated"));
    buf_add_char(out, ']');
}

/* The user of a TokenReview, as a SubjectAccessReview wants it. */
static void keep_user(struct review *v, const struct said_user *u)
{
    buf_add(&v->name, u->name);
    buf_add(&v->user, STR("\"user\":"));
    json_add_str(&v->user, u->name);
    if (u->uid.n) {
        buf_add(&v->user, STR(",\"uid\":"));
        json_add_str(&v->user, u->uid);
    }
    if (u->groups.n)
        buf_printf(&v->user, ",\"groups\":" STR_FMT, STR_ARG(u->groups));
    if (u->extra.n)
        buf_printf(&v->user, ",\"extra\":" STR_FMT, STR_ARG(u->extra));
}

static void post(struct reviews *r, struct review *v, const char *path, const struct buf *body,
                 struct requests *out)
{
    v->current = ++r->last_id;
    answer_clear(&v->answer);
    vec_push(&out->list, (struct request){
                             .id = v->current,
                             .lane = LANE_READ,
                             .verb = VERB_POST,
                             .path = arena_str(&out->mem, str_of(path)),
                             .content_type = STR("application/json"),
                             .body = arena_str(&out->mem, buf_str(body)),
                             .timeout_ms = REVIEW_TIMEOUT_MS,
                         });
}

static void ask_who(struct reviews *r, struct review *v, struct requests *out)
{
    struct buf body = {0};
    buf_add(&body, STR("{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                       "\"spec\":{\"token\":"));
    json_add_str(&body, v->asked.token);
    buf_add(&body, STR("}}"));
    v->state = ASKING_WHO;
    post(r, v, "/apis/authentication.k8s.io/v1/tokenreviews", &body, out);
    buf_done(&body);
}

static void ask_whether(struct reviews *r, struct review *v, struct requests *out)
{
    struct buf body = {0};
    buf_add(&body, STR("{\"apiVersion\":\"authorization.k8s.io/v1\","
                       "\"kind\":\"SubjectAccessReview\",\"spec\":{"));
    buf_add(&body, buf_str(&v->user));
    buf_add(&body, STR(",\"nonResourceAttributes\":{\"path\":"));
    json_add_str(&body, v->asked.path);
    buf_add(&body, STR(",\"verb\":"));
    json_add_str(&body, v->asked.verb);
    buf_add(&body, STR("}}}"));
    v->state = ASKING_WHETHER;
    post(r, v, "/apis/authorization.k8s.io/v1/subjectaccessreviews", &body, out);
    buf_done(&body);
}

/* --- reviews --- */

static void forget(struct reviews *r, uint32_t at)
{
    struct review *v = r->list.at[at];
    vec_remove(&r->list, at);
    buf_done(&v->key);
    buf_done(&v->user);
    buf_done(&v->name);
    answer_done(&v->answer);
    vec_done(&v->tickets);
    mem_free(v);
}

static void forget_old(struct reviews *r, int64_t now_ms)
{
    for (uint32_t i = r->list.n; i-- > 0;)
        if (r->list.at[i]->state == KNOWN && r->list.at[i]->until_ms <= now_ms)
            forget(r, i);
    for (uint32_t i = 0; i < r->list.n && r->list.n >= REVIEWS_MOST; i++)
        if (r->list.at[i]->state == KNOWN) { /* the oldest are first */
            forget(r, i);
            return;
        }
}

static uint32_t under_way(const struct reviews *r)
{
    uint32_t n = 0;
    vec_each(&r->list, v)
        n += (*v)->state != KNOWN;
    return n;
}

static bool may_begin(struct reviews *r, int64_t now_ms)
{
    r->allowance = MIN(r->allowance + (now_ms - r->filled_ms) * REVIEWS_A_SECOND,
                       (int64_t)REVIEWS_A_SECOND * 1000);
    r->filled_ms = now_ms;
    if (r->allowance < 1000 || under_way(r) >= REVIEWS_UNDER_WAY)
        return false;
    r->allowance -= 1000;
    return true;
}

static void add_key(struct buf *key, const struct review_question *q)
{
    buf_printf(key, STR_FMT "\n" STR_FMT "\n" STR_FMT "\n" STR_FMT, STR_ARG(q->token),
               STR_ARG(q->user), STR_ARG(q->verb), STR_ARG(q->path));
}

static struct review *begin(struct reviews *r, const struct review_question *q, struct buf key)
{
    struct review *v = mem_alloc(sizeof(*v));
    *v = (struct review){.hash = str_hash_secretly(buf_str(&key)), .key = key};
    struct str whole = buf_str(&v->key);
    size_t user = q->token.n + 1, verb = user + q->user.n + 1, path = verb + q->verb.n + 1;
    v->asked = (struct review_question){
        .token = str_part(whole, 0, q->token.n),
        .user = str_part(whole, user, user + q->user.n),
        .verb = str_part(whole, verb, verb + q->verb.n),
        .path = str_part(whole, path, path + q->path.n),
    };
    vec_push(&r->list, v);
    return v;
}

static struct review *find(const struct reviews *r, struct str key)
{
    uint64_t hash = str_hash_secretly(key);
    vec_each(&r->list, v)
        if ((*v)->hash == hash && str_equal(buf_str(&(*v)->key), key))
            return *v;
    return NULL;
}

/* Tells who waits. A verdict that the API server did not give is not kept. */
static void end(struct reviews *r, int64_t now_ms, uint32_t at, enum review_verdict verdict,
                bool is_kept)
{
    struct review *v = r->list.at[at];
    v->state = KNOWN;
    v->current = 0;
    v->verdict = verdict;
    v->until_ms = now_ms + REVIEW_HOLDS_MS;
    answer_done(&v->answer);
    vec_each(&v->tickets, ticket)
        r->answered(r->ctx, *ticket, verdict, buf_str(&v->name));
    vec_done(&v->tickets);
    if (!is_kept)
        forget(r, at);
}

/* An operator should know once that reviews do not work, and why. */
static void tell_trouble(struct reviews *r, int64_t now_ms, const struct review *v,
                         const struct reply *reply)
{
    if (r->is_trouble_told)
        return;
    struct trouble t =
        reply->kind == REPLY_LOST ? trouble_of_lost(reply) : trouble_of_answer(&v->answer, &r->mem);
    struct notice notice = {
        .kind = t.status == 403 ? NOTICE_DENIED : NOTICE_TROUBLE,
        .verb = "create",
        .what = v->state == ASKING_WHO ? STR("tokenreviews.authentication.k8s.io")
                                       : STR("subjectaccessreviews.authorization.k8s.io"),
        .text = t.message,
    };
    r->is_trouble_told = true;
    r->listener->notice(r->listener->ctx, now_ms, &notice);
}

static bool read_answer(struct reviews *r, const struct review *v, const struct reply *reply,
                        struct said *out)
{
    struct error e;
    size_t where;
    int status = v->answer.status;
    return reply->kind == REPLY_END && (status == 200 || status == 201) && !v->answer.is_cut &&
           json_read(buf_str(&v->answer.body), review_fields, out, &r->mem, &where, &e);
}

/* The answer is whole, or will not come. */
static void conclude(struct reviews *r, int64_t now_ms, uint32_t at, const struct reply *reply,
                     struct requests *out)
{
    struct review *v = r->list.at[at];
    struct said said = {0};
    bool is_who = v->state == ASKING_WHO;
    if (!read_answer(r, v, reply, &said)) {
        tell_trouble(r, now_ms, v, reply);
        end(r, now_ms, at, is_who ? REVIEW_STRANGER : REVIEW_FAILED, false);
        return;
    }
    r->is_trouble_told = false;
    if (!is_who) {
        end(r, now_ms, at, said.is_allowed ? REVIEW_ALLOWED : REVIEW_DENIED, true);
    } else if (!said.is_authenticated || said.user.name.n == 0) {
        end(r, now_ms, at, REVIEW_STRANGER, true);
    } else {
        keep_user(v, &said.user);
        ask_whether(r, v, out);
    }
}

/* --- the face --- */

void reviews_init(struct reviews *r, int64_t now_ms, request_id first_id,
                  void (*answered)(void *ctx, review_ticket ticket, enum review_verdict verdict,
                                   struct str user),
                  void *ctx, const struct listener *listener)
{
    *r = (struct reviews){
        .last_id = first_id,
        .answered = answered,
        .ctx = ctx,
        .listener = listener,
        .allowance = REVIEWS_A_SECOND * 1000,
        .filled_ms = now_ms,
    };
}

void reviews_done(struct reviews *r)
{
    while (r->list.n)
        forget(r, r->list.n - 1);
    vec_done(&r->list);
    arena_done(&r->mem);
}

void reviews_ask(struct reviews *r, int64_t now_ms, const struct review_question *question,
                 review_ticket ticket, struct requests *out)
{
    struct buf key = {0};
    add_key(&key, question);
    forget_old(r, now_ms);
    struct review *v = find(r, buf_str(&key));
    if (v && v->state == KNOWN) {
        r->answered(r->ctx, ticket, v->verdict, buf_str(&v->name));
    } else if (v) {
        vec_push(&v->tickets, ticket);
    } else if (!may_begin(r, now_ms)) {
        r->answered(r->ctx, ticket, REVIEW_BUSY, STR(""));
    } else {
        v = begin(r, question, key);
        key = (struct buf){0}; /* it is the review's */
        vec_push(&v->tickets, ticket);
        if (question->token.n) {
            ask_who(r, v, out);
        } else {
            buf_add(&v->user, question->user);
            ask_whether(r, v, out);
        }
    }
    buf_done(&key);
}

void reviews_hear(struct reviews *r, int64_t now_ms, const struct reply *reply,
                  struct requests *out)
{
    for (uint32_t i = 0; i < r->list.n; i++) {
        if (r->list.at[i]->current != reply->id)
            continue;
        answer_add(&r->list.at[i]->answer, reply, REVIEW_BYTES_MOST);
        if (reply->kind == REPLY_END || reply->kind == REPLY_LOST) {
            conclude(r, now_ms, i, reply, out);
            arena_reset(&r->mem);
        }
        return;
    }
}
