#include "kube/consult.h"

#include "core/wire/encoding.h"
#include "core/wire/json_read.h"
#include "core/wire/json_write.h"
#include "kube/limits.h"
#include "kube/pending.h"

enum { READ_TIMEOUT_MS = 5000, PODS_MOST = 256 };

/* --- what extenders say --- */

void extender_hear(const struct extender *x, enum extender_verb verb, const struct reply *end,
                   const struct answer *reply, struct arena *mem, struct extender_answer *out)
{
    struct str url = extender_url(x, verb, mem);
    struct error e = {0};
    *out = (struct extender_answer){0};
    if (end->kind == REPLY_LOST)
        out->error =
            arena_printf(mem, "Post \"" STR_FMT "\": " STR_FMT, STR_ARG(url), STR_ARG(end->error));
    else if (reply->status != 200)
        out->error =
            arena_printf(mem, "failed " STR_FMT " with extender at URL " STR_FMT ", code %d",
                         STR_ARG(x->verbs[verb]), STR_ARG(url), reply->status);
    else if (reply->is_cut)
        out->error = arena_printf(mem, "an answer of more than %zu bytes", reply->body.n);
    else if (!extender_read(verb, buf_str(&reply->body), mem, out, &e))
        out->error = arena_str(mem, str_of(e.text));
}

/* --- pods that were read --- */

static void forget_raw(struct consult *c, uint32_t i)
{
    mem_free((char *)(uintptr_t)c->pods.at[i].uid.p);
    vec_remove(&c->pods, i);
}

static const struct raw_object *find_raw(const struct consult *c, const struct inquiry *q)
{
    uint64_t key = pod_key(q->namespace, q->pod);
    vec_each(&c->pods, raw)
        if (raw->key == key && str_equal(raw->uid, q->uid))
            return raw;
    return NULL;
}

static void keep_raw(struct consult *c, const struct inquiry *q, struct str json)
{
    if (c->pods.n == PODS_MOST)
        forget_raw(c, 0);
    char *at = mem_alloc(q->uid.n + json.n + 1);
    struct raw_object raw = {.key = pod_key(q->namespace, q->pod)};
    raw.uid = str_keep(&at, q->uid);
    raw.json = str_keep(&at, json);
    vec_push(&c->pods, raw);
}

void consult_see(struct consult *c, const struct change *change)
{
    if (c->pods.n == 0 || change->object.kind != KIND_POD)
        return;
    uint64_t key = pod_key(change->object.meta->namespace, change->object.meta->name);
    for (uint32_t i = c->pods.n; i-- > 0;)
        if (c->pods.at[i].key == key)
            forget_raw(c, i);
}

/* --- asking --- */

static void keep_victims(struct inquiry *q, const struct extender_ask *ask)
{
    q->victims.n = ask->victims.n;
    q->victims.at = arena_array(&q->mem, struct extender_victims, ask->victims.n);
    for (uint32_t i = 0; i < ask->victims.n; i++) {
        const struct extender_victims *from = &ask->victims.at[i];
        struct extender_victims *v = &q->victims.at[i];
        v->node = arena_str(&q->mem, from->node);
        v->violations = from->violations;
        v->uids.n = from->uids.n;
        v->uids.at = arena_array(&q->mem, struct str, from->uids.n);
        for (uint32_t k = 0; k < from->uids.n; k++)
            v->uids.at[k] = arena_str(&q->mem, from->uids.at[k]);
    }
}

static uint32_t add(struct consult *c, const struct effect *e)
{
    uint32_t i = 0;
    while (i < c->list.n && c->list.at[i].effect)
        i++;
    if (i == c->list.n)
        vec_push(&c->list, (struct inquiry){0});
    struct inquiry *q = &c->list.at[i];
    q->effect = e->id;
    q->extender = e->ask->extender;
    q->verb = e->ask->verb;
    q->namespace = arena_str(&q->mem, e->namespace);
    q->pod = arena_str(&q->mem, e->pod);
    q->uid = arena_str(&q->mem, e->uid);
    q->nodes.n = e->ask->nodes.n;
    q->nodes.at = arena_array(&q->mem, struct str, q->nodes.n);
    for (uint32_t k = 0; k < q->nodes.n; k++)
        q->nodes.at[k] = arena_str(&q->mem, e->ask->nodes.at[k]);
    keep_victims(q, e->ask);
    return i;
}

static void forget(struct consult *c, uint32_t i)
{
    struct inquiry *q = &c->list.at[i];
    map_remove(&c->by_request, q->current);
    arena_reset(&q->mem);
    answer_clear(&q->answer);
    *q = (struct inquiry){.mem = q->mem, .answer = q->answer};
}

static void tell(struct consult *c, int64_t now_ms, uint32_t i, const struct extender_answer *said)
{
    effect_id effect = c->list.at[i].effect;
    c->listener->answer(c->listener->ctx, now_ms, effect, said);
    forget(c, i);
}

static void send(struct consult *c, uint32_t i, struct request r, struct requests *out)
{
    struct inquiry *q = &c->list.at[i];
    q->current = r.id = ++c->last_id;
    map_put(&c->by_request, r.id, i);
    answer_clear(&q->answer);
    vec_push(&out->list, r);
}

static void read_pod(struct consult *c, uint32_t i, struct requests *out)
{
    const struct inquiry *q = &c->list.at[i];
    struct request r = {
        .lane = LANE_READ,
        .verb = VERB_GET,
        .path = arena_join(&out->mem, STR("/api/v1/namespaces/"), q->namespace, STR("/pods/"),
                           q->pod, STR("")),
        .timeout_ms = READ_TIMEOUT_MS,
    };
    c->list.at[i].is_reading = true;
    send(c, i, r, out);
}

static void put_names(struct json_writer *w, const struct inquiry *q)
{
    json_put_key(w, STR("Nodes"));
    json_put_null(w);
    json_put_key(w, STR("NodeNames"));
    json_put_open(w, '[');
    list_each(&q->nodes, name)
        json_put_str(w, *name);
    json_put_close(w, ']');
}

static void put_victims(struct json_writer *w, const struct inquiry *q)
{
    json_put_key(w, STR("NodeNameToVictims"));
    json_put_null(w);
    json_put_key(w, STR("NodeNameToMetaVictims"));
    json_put_open(w, '{');
    list_each(&q->victims, v) {
        json_put_key(w, v->node);
        json_put_open(w, '{');
        json_put_key(w, STR("Pods"));
        json_put_open(w, '[');
        list_each(&v->uids, uid) {
            json_put_open(w, '{');
            json_put_key(w, STR("UID"));
            json_put_str(w, *uid);
            json_put_close(w, '}');
        }
        json_put_close(w, ']');
        json_put_key(w, STR("NumPDBViolations"));
        json_put_int(w, v->violations);
        json_put_close(w, '}');
    }
    json_put_close(w, '}');
}

static void post(struct consult *c, uint32_t i, struct str pod, struct requests *out)
{
    const struct inquiry *q = &c->list.at[i];
    const struct extender *x = &c->extenders[q->extender];
    struct json_writer w = {.out = &out->scratch};
    buf_clear(&out->scratch);
    json_put_open(&w, '{');
    json_put_key(&w, STR("Pod"));
    json_put_raw(&w, pod);
    if (q->verb == EXTENDER_PREEMPT)
        put_victims(&w, q);
    else
        put_names(&w, q);
    json_put_close(&w, '}');
    struct request r = {
        .extender = q->extender + 1,
        .is_question = true,
        .verb = VERB_POST,
        .path = arena_str(&out->mem, x->verbs[q->verb]),
        .content_type = STR(ENCODING_JSON_TYPE),
        .body = arena_str(&out->mem, buf_str(&out->scratch)),
        .timeout_ms = x->timeout_ms,
    };
    c->list.at[i].is_reading = false;
    send(c, i, r, out);
}

void consult_take(struct consult *c, int64_t now_ms, const struct effects *effects,
                  struct requests *out)
{
    (void)now_ms;
    if (c->n_extenders == 0)
        return;
    vec_each(&effects->list, e) {
        if (e->kind != EFFECT_ASK)
            continue;
        uint32_t i = add(c, e);
        const struct raw_object *raw = find_raw(c, &c->list.at[i]);
        if (raw)
            post(c, i, raw->json, out);
        else
            read_pod(c, i, out);
    }
}

/* --- hearing --- */

struct pod_head {
    struct str uid;
};

/* clang-format off */
static const struct field meta_fields[] = {
    {FIELD(STR, "uid", 0, struct pod_head, uid)},
    FIELD_END,
};

static const struct field head_fields[] = {
    {FIELD_PART("metadata", 0, meta_fields)},
    FIELD_END,
};
/* clang-format on */

/* Is it the pod that was asked about, and whole? */
static bool is_that_pod(struct consult *c, const struct inquiry *q)
{
    struct pod_head head = {0};
    struct error e;
    size_t where;
    return q->answer.status == 200 && !q->answer.is_cut &&
           json_read(buf_str(&q->answer.body), head_fields, &head, &c->mem, &where, &e) &&
           str_equal(head.uid, q->uid);
}

static void hear_pod(struct consult *c, int64_t now_ms, uint32_t i, const struct reply *end,
                     struct requests *out)
{
    struct inquiry *q = &c->list.at[i];
    if (end->kind == REPLY_END && is_that_pod(c, q)) {
        keep_raw(c, q, buf_str(&q->answer.body));
        post(c, i, vec_last(&c->pods).json, out);
        return;
    }
    struct trouble why = end->kind == REPLY_LOST   ? trouble_of_lost(end)
                         : q->answer.status == 200 ? (struct trouble){.message = STR("it is gone")}
                                                   : trouble_of_answer(&q->answer, &c->mem);
    struct extender_answer said = {
        .error = arena_printf(&c->mem, "reading the pod for an extender: " STR_FMT,
                              STR_ARG(why.message)),
    };
    tell(c, now_ms, i, &said);
}

void consult_hear(struct consult *c, int64_t now_ms, const struct reply *reply,
                  struct requests *out)
{
    uint32_t i = map_find(&c->by_request, reply->id);
    if (i == MAP_NONE)
        return;
    struct inquiry *q = &c->list.at[i];
    answer_add(&q->answer, reply, q->is_reading ? OBJECT_BYTES_MOST : VERDICT_BYTES_MOST);
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return;
    map_remove(&c->by_request, q->current);
    q->current = 0;
    if (q->is_reading) {
        hear_pod(c, now_ms, i, reply, out);
    } else {
        struct extender_answer said;
        extender_hear(&c->extenders[q->extender], q->verb, reply, &q->answer, &c->mem, &said);
        tell(c, now_ms, i, &said);
    }
    arena_reset(&c->mem);
}

/* --- the rest of the face --- */

void consult_init(struct consult *c, request_id id, const struct listener *listener)
{
    *c = (struct consult){.listener = listener, .last_id = id};
}

void consult_set_extenders(struct consult *c, const struct extender *extenders, uint32_t n)
{
    for (uint32_t i = 0; i < c->list.n; i++)
        if (c->list.at[i].effect)
            forget(c, i);
    c->extenders = extenders;
    c->n_extenders = n;
}

void consult_done(struct consult *c)
{
    vec_each(&c->list, q) {
        arena_done(&q->mem);
        answer_done(&q->answer);
    }
    vec_done(&c->list);
    while (c->pods.n)
        forget_raw(c, c->pods.n - 1);
    vec_done(&c->pods);
    map_done(&c->by_request);
    arena_done(&c->mem);
}
