/* Between calls: an inquiry is with its extender, or waits for objects that are all being fetched.
 * Each fetch that ends lets all look again who wait. */

#include "kube/extender_client.h"

#include "core/wire/encoding.h"
#include "core/wire/json_write.h"
#include "kube/limits.h"

enum {
    READ_TIMEOUT_MS = 5000,
    LIST_TIMEOUT_MS = 30000,
    FEW = 16,       /* so many nodes are read one by one; of more, */
    FEW_OF_ALL = 8, /* this part of what is needed */
};

#define NODES UINT32_MAX

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

/* --- inquiries --- */

static const struct extender *extender_of(const struct extender_client *c,
                                          const struct extender_request *q)
{
    return &c->extenders[q->extender];
}

static void need(struct extender_client *c, struct extender_request *q, enum kind kind,
                 struct str namespace, struct str name, struct str uid)
{
    vec_push(&q->needs, raws_hold(&c->raws, kind, namespace, name, uid));
}

static struct extender_victims keep_victims(struct extender_client *c, struct extender_request *q,
                                            const struct extender_victims *from)
{
    struct extender_victims v = {.node = arena_str(&q->mem, from->node),
                                 .violations = from->violations};
    v.uids.n = from->uids.n;
    v.uids.at = arena_array(&q->mem, struct str, from->uids.n);
    for (uint32_t i = 0; i < from->uids.n; i++) {
        struct str name = from->pods.at[i], namespace = str_take(&name, '/');
        v.uids.at[i] = arena_str(&q->mem, from->uids.at[i]);
        if (!extender_of(c, q)->knows_nodes)
            need(c, q, KIND_POD, namespace, name, from->uids.at[i]);
    }
    return v;
}

static void keep_ask(struct extender_client *c, struct extender_request *q,
                     const struct extender_ask *ask)
{
    struct str none = {0};
    q->nodes.n = ask->nodes.n;
    q->nodes.at = arena_array(&q->mem, struct str, ask->nodes.n);
    for (uint32_t i = 0; i < ask->nodes.n; i++) {
        q->nodes.at[i] = arena_str(&q->mem, ask->nodes.at[i]);
        if (!extender_of(c, q)->knows_nodes)
            need(c, q, KIND_NODE, none, ask->nodes.at[i], none);
    }
    q->victims.n = ask->victims.n;
    q->victims.at = arena_array(&q->mem, struct extender_victims, ask->victims.n);
    for (uint32_t i = 0; i < ask->victims.n; i++)
        q->victims.at[i] = keep_victims(c, q, &ask->victims.at[i]);
}

static uint32_t add(struct extender_client *c, const struct effect *e)
{
    uint32_t i = 0;
    while (i < c->list.n && c->list.at[i].effect)
        i++;
    if (i == c->list.n)
        vec_push(&c->list, (struct extender_request){0});
    struct extender_request *q = &c->list.at[i];
    q->effect = e->id;
    q->extender = e->ask->extender;
    q->verb = e->ask->verb;
    need(c, q, KIND_POD, e->namespace, e->pod, e->uid);
    keep_ask(c, q, e->ask);
    return i;
}

static void forget(struct extender_client *c, uint32_t i)
{
    struct extender_request *q = &c->list.at[i];
    map_remove(&c->by_request, q->current);
    vec_each(&q->needs, raw)
        raws_drop(&c->raws, *raw);
    vec_done(&q->needs);
    arena_reset(&q->mem);
    answer_clear(&q->answer);
    *q = (struct extender_request){.mem = q->mem, .answer = q->answer};
}

static void tell(struct extender_client *c, int64_t now_ms, uint32_t i,
                 const struct extender_answer *said)
{
    effect_id effect = c->list.at[i].effect;
    c->listener->answer(c->listener->ctx, now_ms, effect, said);
    forget(c, i);
}

/* --- what they are shown --- */

static void put_raw(const struct extender_client *c, struct json_writer *w, uint32_t raw)
{
    if (raws_at(&c->raws, raw)->state == RAW_HERE)
        json_put_raw(w, raws_at(&c->raws, raw)->json);
}

static void put_nodes(const struct extender_client *c, struct json_writer *w,
                      const struct extender_request *q)
{
    bool is_whole = !extender_of(c, q)->knows_nodes;
    json_put_key(w, STR("Nodes"));
    if (is_whole) {
        json_put_open(w, '{');
        json_put_key(w, STR("metadata"));
        json_put_raw(w, STR("{}"));
        json_put_key(w, STR("items"));
        json_put_open(w, '[');
        for (uint32_t i = 1; i < q->needs.n; i++)
            put_raw(c, w, q->needs.at[i]);
        json_put_close(w, ']');
        json_put_close(w, '}');
    } else {
        json_put_null(w);
    }
    json_put_key(w, STR("NodeNames"));
    if (is_whole) {
        json_put_null(w);
        return;
    }
    json_put_open(w, '[');
    list_each(&q->nodes, name)
        json_put_str(w, *name);
    json_put_close(w, ']');
}

static void put_uid(struct json_writer *w, struct str uid)
{
    json_put_open(w, '{');
    json_put_key(w, STR("UID"));
    json_put_str(w, uid);
    json_put_close(w, '}');
}

static void put_victims(const struct extender_client *c, struct json_writer *w,
                        const struct extender_request *q)
{
    bool is_whole = !extender_of(c, q)->knows_nodes;
    uint32_t next = 1; /* of the needs */
    json_put_key(w, is_whole ? STR("NodeNameToMetaVictims") : STR("NodeNameToVictims"));
    json_put_null(w);
    json_put_key(w, is_whole ? STR("NodeNameToVictims") : STR("NodeNameToMetaVictims"));
    json_put_open(w, '{');
    list_each(&q->victims, v) {
        json_put_key(w, v->node);
        json_put_open(w, '{');
        json_put_key(w, STR("Pods"));
        json_put_open(w, '[');
        list_each(&v->uids, uid)
            if (is_whole)
                put_raw(c, w, q->needs.at[next++]);
            else
                put_uid(w, *uid);
        json_put_close(w, ']');
        json_put_key(w, STR("NumPDBViolations"));
        json_put_int(w, v->violations);
        json_put_close(w, '}');
    }
    json_put_close(w, '}');
}

static void post(struct extender_client *c, uint32_t i, struct requests *out)
{
    struct extender_request *q = &c->list.at[i];
    const struct extender *x = extender_of(c, q);
    struct json_writer w = {.out = &out->scratch};
    buf_clear(&out->scratch);
    json_put_open(&w, '{');
    json_put_key(&w, STR("Pod"));
    put_raw(c, &w, q->needs.at[0]);
    if (q->verb == EXTENDER_PREEMPT)
        put_victims(c, &w, q);
    else
        put_nodes(c, &w, q);
    json_put_close(&w, '}');
    q->current = ++c->last_id;
    map_put(&c->by_request, q->current, i);
    answer_clear(&q->answer);
    vec_push(&out->list, (struct request){
                             .id = q->current,
                             .extender = q->extender + 1,
                             .is_question = true,
                             .verb = VERB_POST,
                             .path = arena_str(&out->mem, x->verbs[q->verb]),
                             .content_type = STR(ENCODING_JSON_TYPE),
                             .body = arena_str(&out->mem, buf_str(&out->scratch)),
                             .timeout_ms = x->timeout_ms,
                         });
}

/* --- fetching --- */

static void fetch(struct extender_client *c, uint32_t raw, struct str path, int64_t timeout_ms,
                  struct requests *out)
{
    request_id id = ++c->last_id;
    vec_push(&c->fetches, (struct raw_fetch){.id = id, .raw = raw});
    if (raw == NODES)
        c->listing = id;
    else
        raws_at(&c->raws, raw)->fetch = id;
    vec_push(
        &out->list,
        (struct request){
            .id = id, .lane = LANE_READ, .verb = VERB_GET, .path = path, .timeout_ms = timeout_ms});
}

static void fetch_one(struct extender_client *c, uint32_t i, struct requests *out)
{
    const struct raw *raw = raws_at(&c->raws, i);
    struct str path = raw->kind == KIND_NODE
                          ? arena_join(&out->mem, STR("/api/v1/nodes/"), raw->name)
                          : arena_join(&out->mem, STR("/api/v1/namespaces/"), raw->namespace,
                                       STR("/pods/"), raw->name);
    fetch(c, i, path, READ_TIMEOUT_MS, out);
}

static void fetch_nodes(struct extender_client *c, struct str from, struct requests *out)
{
    struct str path = arena_printf(&out->mem, "/api/v1/nodes?limit=%d%s" STR_FMT, PAGE_OBJECTS,
                                   from.n ? "&continue=" : "", STR_ARG(from));
    fetch(c, NODES, path, LIST_TIMEOUT_MS, out);
}

/* Nodes that nobody fetches, among what the inquiry needs. */
static uint32_t count_missing(const struct extender_client *c, const struct extender_request *q)
{
    uint32_t n = 0;
    vec_each(&q->needs, i) {
        const struct raw *raw = raws_at(&c->raws, *i);
        n += raw->kind == KIND_NODE && raw->state == RAW_WANTED && !raw->fetch;
    }
    return n;
}

/* Asks, if all is here that must be shown; else sees to it that all is fetched. */
static void go_on(struct extender_client *c, uint32_t i, struct requests *out)
{
    const struct extender_request *q = &c->list.at[i];
    uint32_t missing = count_missing(c, q), wanted = 0;
    bool is_many = missing > FEW && missing > q->needs.n / FEW_OF_ALL;
    if (is_many && !c->listing)
        fetch_nodes(c, STR(""), out);
    vec_each(&q->needs, at) {
        struct raw *raw = raws_at(&c->raws, *at);
        if (raw->state != RAW_WANTED)
            continue;
        wanted++;
        if (!raw->fetch && is_many && raw->kind == KIND_NODE)
            raw->fetch = c->listing;
        else if (!raw->fetch)
            fetch_one(c, *at, out);
    }
    if (wanted == 0)
        post(c, i, out);
}

void extender_client_take(struct extender_client *c, int64_t now_ms, const struct effects *effects,
                          struct requests *out)
{
    (void)now_ms;
    if (c->n_extenders == 0)
        return;
    vec_each(&effects->list, e)
        if (e->kind == EFFECT_ASK)
            go_on(c, add(c, e), out);
}

void extender_client_see(struct extender_client *c, const struct change *change)
{
    enum kind kind = change->object.kind;
    if (c->n_extenders && (kind == KIND_POD || kind == KIND_NODE))
        raws_see(&c->raws, kind, change->object.meta, change->kind == CHANGE_REMOVE);
}

/* --- hearing of objects --- */

/* All who need something that cannot be had are told so. */
static void fail(struct extender_client *c, int64_t now_ms, request_id id, struct str why)
{
    struct extender_answer said = {
        .error =
            arena_printf(&c->mem, "reading what extenders must be shown: " STR_FMT, STR_ARG(why))};
    for (uint32_t i = 0; i < c->list.n; i++) {
        bool is_hit = false;
        vec_each(&c->list.at[i].needs, raw)
            is_hit = is_hit || raws_at(&c->raws, *raw)->fetch == id;
        if (is_hit)
            tell(c, now_ms, i, &said);
    }
    for (uint32_t i = 0; i < c->raws.at.n; i++)
        if (raws_at(&c->raws, i)->fetch == id)
            raws_at(&c->raws, i)->fetch = 0;
}

/* What the list did not bring is not there. */
static void end_list(struct extender_client *c, request_id id)
{
    for (uint32_t i = 0; i < c->raws.at.n; i++)
        if (raws_at(&c->raws, i)->fetch == id)
            raws_miss(&c->raws, i);
}

static void hear_nodes(struct extender_client *c, int64_t now_ms, const struct raw_fetch *f,
                       struct requests *out)
{
    struct str next = {0};
    struct error e = {0};
    request_id id = f->id;
    c->listing = 0;
    if (!raws_put_page(&c->raws, buf_str(&f->answer.body), &c->mem, &next, &e)) {
        fail(c, now_ms, id, str_of(e.text));
    } else if (next.n) {
        fetch_nodes(c, next, out);
        for (uint32_t i = 0; i < c->raws.at.n; i++)
            if (raws_at(&c->raws, i)->fetch == id)
                raws_at(&c->raws, i)->fetch = c->listing;
    } else {
        end_list(c, id);
    }
}

/* A node that is gone is left out; a pod that is gone need not be asked about. */
static void hear_one(struct extender_client *c, int64_t now_ms, const struct raw_fetch *f)
{
    struct error e = {0};
    bool is_node = raws_at(&c->raws, f->raw)->kind == KIND_NODE;
    if (is_node && f->answer.status == 404)
        raws_miss(&c->raws, f->raw);
    else if (f->answer.status != 200)
        fail(c, now_ms, f->id, trouble_of_answer(&f->answer, &c->mem).message);
    else if (!raws_put(&c->raws, f->raw, buf_str(&f->answer.body), &c->mem, &e))
        fail(c, now_ms, f->id, str_of(e.text));
}

static void hear_fetch(struct extender_client *c, int64_t now_ms, uint32_t i,
                       const struct reply *reply, struct requests *out)
{
    struct raw_fetch *at = &c->fetches.at[i];
    answer_add(&at->answer, reply, at->raw == NODES ? PAGE_BYTES_MOST : OBJECT_BYTES_MOST);
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return;
    struct raw_fetch f = *at;
    vec_remove(&c->fetches, i);
    if (f.raw == NODES && (reply->kind == REPLY_LOST || f.answer.status != 200))
        c->listing = 0;
    if (reply->kind == REPLY_LOST)
        fail(c, now_ms, f.id, reply->error);
    else if (f.answer.is_cut)
        fail(c, now_ms, f.id, STR("it is too large"));
    else if (f.raw == NODES && f.answer.status != 200)
        fail(c, now_ms, f.id, trouble_of_answer(&f.answer, &c->mem).message);
    else if (f.raw == NODES)
        hear_nodes(c, now_ms, &f, out);
    else if (raws_at(&c->raws, f.raw)->fetch == f.id)
        hear_one(c, now_ms, &f);
    answer_done(&f.answer);
    for (uint32_t k = 0; k < c->list.n; k++)
        if (c->list.at[k].effect && !c->list.at[k].current)
            go_on(c, k, out);
}

/* --- the rest of the face --- */

void extender_client_hear(struct extender_client *c, int64_t now_ms, const struct reply *reply,
                          struct requests *out)
{
    uint32_t i = 0;
    while (i < c->fetches.n && c->fetches.at[i].id != reply->id)
        i++;
    if (i < c->fetches.n) {
        hear_fetch(c, now_ms, i, reply, out);
        arena_reset(&c->mem);
        return;
    }
    i = map_find(&c->by_request, reply->id);
    if (i == MAP_NONE)
        return;
    struct extender_request *q = &c->list.at[i];
    answer_add(&q->answer, reply, VERDICT_BYTES_MOST);
    if (reply->kind != REPLY_END && reply->kind != REPLY_LOST)
        return;
    struct extender_answer said;
    extender_hear(extender_of(c, q), q->verb, reply, &q->answer, &c->mem, &said);
    tell(c, now_ms, i, &said);
    arena_reset(&c->mem);
}

void extender_client_init(struct extender_client *c, request_id id, const struct listener *listener)
{
    *c = (struct extender_client){.listener = listener, .last_id = id};
}

void extender_client_set_extenders(struct extender_client *c, const struct extender *extenders,
                                   uint32_t n)
{
    for (uint32_t i = 0; i < c->list.n; i++)
        if (c->list.at[i].effect)
            forget(c, i);
    c->extenders = extenders;
    c->n_extenders = n;
}

void extender_client_done(struct extender_client *c)
{
    vec_each(&c->list, q) {
        vec_done(&q->needs);
        arena_done(&q->mem);
        answer_done(&q->answer);
    }
    vec_each(&c->fetches, f)
        answer_done(&f->answer);
    vec_done(&c->list);
    vec_done(&c->fetches);
    map_done(&c->by_request);
    raws_done(&c->raws);
    arena_done(&c->mem);
}
