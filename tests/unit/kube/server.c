#include "server.h"

#include <stdio.h>

#include "core/model/envelope.h"
#include "core/wire/proto.h"

enum { PAGE = 3, LATENCY_MS = 20, CALL_BYTES = 1024 };

struct call {
    request_id id;
    int64_t due_ms;
    enum verb verb;
    bool is_stream;
    char path[CALL_BYTES], body[CALL_BYTES];
    size_t body_n;
};

struct stream {
    request_id id;
    enum sort thing;
    int64_t version; /* told so far */
};

static const char *const kinds[] = {"Pod", "Node", "PersistentVolume", "PersistentVolumeClaim",
                                    "StorageClass"};

/* --- what is stored --- */

void server_init(struct server *s, uint64_t seed)
{
    *s = (struct server){.rng = rng_seeded(seed), .can_stream = true};
}

void server_done(struct server *s)
{
    vec_done(&s->history);
    vec_done(&s->calls);
    vec_done(&s->streams);
    vec_done(&s->replies);
    arena_done(&s->mem);
    buf_done(&s->lease_spec);
    buf_done(&s->last_event);
}

static const struct entry *find_at(const struct server *s, enum sort thing, uint32_t name,
                                   int64_t version)
{
    for (int64_t i = version; i-- > 0;) {
        const struct entry *e = &s->history.at[i];
        if (e->thing == thing && e->name == name)
            return e->is_gone ? NULL : e;
    }
    return NULL;
}

const struct entry *server_find(const struct server *s, enum sort thing, uint32_t name)
{
    return find_at(s, thing, name, s->history.n);
}

static void store(struct server *s, struct entry e)
{
    e.version = s->history.n + 1;
    s->has_storage_news |= e.thing == SORT_VOLUME || e.thing == SORT_CLAIM;
    vec_push(&s->history, e);
}

void server_create(struct server *s, enum sort thing, uint32_t name)
{
    if (server_find(s, thing, name))
        return;
    struct entry e = {.thing = thing, .name = name, .uid = ++s->uids, .node = -1};
    if (thing == SORT_POD && s->has_volumes && name % 2) {
        server_create(s, SORT_CLAIM, name);
        e.of_uid = s->uids;
    }
    store(s, e);
}

void server_delete(struct server *s, enum sort thing, uint32_t name)
{
    const struct entry *e = server_find(s, thing, name);
    if (!e)
        return;
    struct entry gone = *e;
    gone.is_gone = true;
    store(s, gone);
    if (thing == SORT_POD)
        server_delete(s, SORT_CLAIM, name);
}

void server_compact(struct server *s)
{
    s->compacted = s->history.n;
}

static const char *version_of(enum sort thing)
{
    return thing == SORT_CLASS ? "storage.k8s.io/v1" : "v1";
}

static void add_storage(struct buf *out, const struct entry *e)
{
    if (e->thing == SORT_CLASS) {
        buf_add(out, STR("\"provisioner\":\"kubernetes.io/no-provisioner\",\"volumeBindingMode\":"
                         "\"WaitForFirstConsumer\"}"));
    } else if (e->thing == SORT_VOLUME) {
        buf_add(out, STR("\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":["
                         "\"ReadWriteOnce\"],\"storageClassName\":\"s0\""));
        if (e->node >= 0)
            buf_printf(out,
                       ",\"claimRef\":{\"namespace\":\"default\",\"name\":\"c%u\",\"uid\":\"u%u\"}",
                       e->of_uid, e->of_uid);
        buf_add(out, STR("},\"status\":{\"phase\":\"Available\"}}"));
    } else {
        buf_add(out, STR("\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}},"
                         "\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"s0\""));
        if (e->node >= 0)
            buf_printf(out, ",\"volumeName\":\"v%d\"", e->node);
        buf_add(out, STR("}}"));
    }
}

static void add_object(struct buf *out, const struct entry *e)
{
    static const char letters[] = "pnvcs";
    bool is_namespaced = e->thing == SORT_POD || e->thing == SORT_CLAIM;
    buf_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%c%u\",%s",
               kinds[e->thing], version_of(e->thing), letters[e->thing],
               e->thing == SORT_CLAIM ? e->uid : e->name,
               is_namespaced ? "\"namespace\":\"default\"," : "");
    if (e->thing == SORT_CLAIM && e->node >= 0)
        buf_add(out, STR("\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"},"));
    buf_printf(out, "\"uid\":\"u%u\",\"resourceVersion\":\"%lld\"},", e->uid,
               (long long)e->version);
    if (e->thing >= SORT_VOLUME) {
        add_storage(out, e);
        return;
    }
    if (e->thing == SORT_NODE) {
        buf_printf(out, "\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"pods\":\"110\"}}}",
                   SERVER_PODS_A_NODE);
        return;
    }
    buf_add(out, STR("\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":"
                     "\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]"));
    if (e->node >= 0)
        buf_printf(out, ",\"nodeName\":\"n%d\"", e->node);
    if (e->of_uid)
        buf_printf(out,
                   ",\"volumes\":[{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":"
                   "\"c%u\"}}]",
                   e->of_uid);
    buf_add(out, STR("},\"status\":{\"phase\":\"Pending\"}}"));
}

/* --- answers --- */

static void reply(struct server *s, struct reply r)
{
    r.data = arena_str(&s->mem, r.data);
    vec_push(&s->replies, r);
}

static void lose(struct server *s, request_id id, bool may_have_arrived)
{
    reply(s, (struct reply){.id = id,
                            .kind = REPLY_LOST,
                            .may_have_arrived = may_have_arrived,
                            .error = STR("lost")});
}

static void head(struct server *s, request_id id, int status)
{
    reply(s, (struct reply){.id = id,
                            .kind = REPLY_HEAD,
                            .status = status,
                            .content_type = STR(ENCODING_JSON_TYPE),
                            .retry_after_ms = -1});
}

static void answer(struct server *s, request_id id, int status, struct str body)
{
    head(s, id, status);
    reply(s, (struct reply){.id = id, .kind = REPLY_DATA, .data = body});
    reply(s, (struct reply){.id = id, .kind = REPLY_END});
}

static void fail(struct server *s, request_id id, int status)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":%d}", status);
    answer(s, id, status, str_of(body));
}

static void frame(struct server *s, request_id id, const char *type, struct str object)
{
    AUTO(buf) text = {0};
    buf_printf(&text, "{\"type\":\"%s\",\"object\":" STR_FMT "}\n", type, STR_ARG(object));
    reply(s, (struct reply){.id = id, .kind = REPLY_DATA, .data = buf_str(&text)});
}

static void frame_entry(struct server *s, request_id id, const char *type, const struct entry *e)
{
    AUTO(buf) object = {0};
    add_object(&object, e);
    frame(s, id, type, buf_str(&object));
}

static void frame_bookmark(struct server *s, request_id id, enum sort thing, bool ends_initial)
{
    AUTO(buf) object = {0};
    buf_printf(&object, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{", kinds[thing],
               version_of(thing));
    if (ends_initial)
        buf_add(&object, STR("\"annotations\":{\"k8s.io/initial-events-end\":\"true\"},"));
    buf_printf(&object, "\"resourceVersion\":\"%u\"}}", s->history.n);
    frame(s, id, "BOOKMARK", buf_str(&object));
}

/* --- reading --- */

static const char *parameter(const struct call *c, const char *name)
{
    const char *at = strstr(c->path, name);
    return at ? at + strlen(name) : NULL;
}

static int64_t number(const char *text)
{
    return text ? strtoll(text, NULL, 10) : 0;
}

static void list(struct server *s, const struct call *c, enum sort thing)
{
    const char *next = parameter(c, "continue=");
    int64_t version = next ? number(next) / SERVER_NAMES : s->history.n;
    uint32_t from = next ? (uint32_t)(number(next) % SERVER_NAMES) : 0, n = 0;
    if (next && version < s->compacted) {
        fail(s, c->id, 410);
        return;
    }
    AUTO(buf) items = {0};
    for (; from < SERVER_NAMES && n < PAGE; from++) {
        const struct entry *e = find_at(s, thing, from, version);
        if (!e)
            continue;
        buf_add(&items, n++ ? STR(",") : STR(""));
        add_object(&items, e);
    }
    AUTO(buf) body = {0};
    buf_printf(&body, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{", kinds[thing],
               version_of(thing));
    if (from < SERVER_NAMES)
        buf_printf(&body, "\"continue\":\"%lld\",", (long long)version * SERVER_NAMES + from);
    buf_printf(&body, "\"resourceVersion\":\"%lld\"},\"items\":[" STR_FMT "]}", (long long)version,
               STR_ARG(buf_str(&items)));
    answer(s, c->id, 200, buf_str(&body));
}

static void watch(struct server *s, const struct call *c, enum sort thing)
{
    bool fills = parameter(c, "sendInitialEvents=true");
    int64_t version = fills ? s->history.n : number(parameter(c, "resourceVersion="));
    if (fills && !s->can_stream) {
        fail(s, c->id, 422);
        return;
    }
    if (version < s->compacted) {
        fail(s, c->id, 410);
        return;
    }
    head(s, c->id, 200);
    for (uint32_t name = 0; fills && name < SERVER_NAMES; name++)
        if (server_find(s, thing, name))
            frame_entry(s, c->id, "ADDED", server_find(s, thing, name));
    if (fills)
        frame_bookmark(s, c->id, thing, true);
    vec_push(&s->streams, (struct stream){.id = c->id, .thing = thing, .version = version});
}

/* What happened since; a stream has its own memory, whatever is compacted. */
static void tell(struct server *s, struct stream *stream)
{
    for (; stream->version < s->history.n; stream->version++) {
        const struct entry *e = &s->history.at[stream->version];
        if (e->thing == stream->thing)
            frame_entry(s, stream->id, e->is_gone ? "DELETED" : "MODIFIED", e);
    }
}

/* --- writing --- */

struct bound {
    struct str uid, node;
};

static const struct field bound_meta_fields[] = {
    {FIELD(STR, "uid", 5, struct bound, uid)},
    FIELD_END,
};

static const struct field bound_target_fields[] = {
    {FIELD(STR, "name", 3, struct bound, node)},
    FIELD_END,
};

static const struct field bound_fields[] = {
    {FIELD_PART("metadata", 1, bound_meta_fields)},
    {FIELD_PART("target", 2, bound_target_fields)},
    FIELD_END,
};

static uint32_t count_on(const struct server *s, int node)
{
    uint32_t count = 0;
    for (uint32_t name = 0; name < SERVER_NAMES; name++) {
        const struct entry *e = server_find(s, SORT_POD, name);
        count += e && e->node == node;
    }
    return count;
}

static int bind(struct server *s, const struct call *c, uint32_t name)
{
    struct arena mem = {0};
    struct envelope v;
    struct error e;
    struct bound b = {0};
    int64_t uid = 0, node = 0;
    if (envelope_read(ENCODING_PROTO, (struct str){c->body, c->body_n}, &mem, &v, &e) &&
        proto_read(v.raw, bound_fields, &b, &mem, &e)) {
        uid = number(b.uid.n ? b.uid.p + 1 : NULL);
        node = number(b.node.n ? b.node.p + 1 : NULL);
    }
    arena_done(&mem);
    const struct entry *pod = server_find(s, SORT_POD, name);
    if (!pod)
        return 404;
    if (pod->uid != uid || pod->node >= 0)
        return 409;
    struct entry bound = *pod;
    bound.node = (int)node;
    s->binds++;
    const struct entry *claim = server_find(s, SORT_CLAIM, name);
    s->early += claim && claim->node < 0;
    s->overfull += count_on(s, bound.node) >= SERVER_PODS_A_NODE;
    store(s, bound);
    return 201;
}

/* --- volumes --- */

/* The number of the claim, which there is or was. */
static uint32_t claim_named(const struct server *s, int64_t uid)
{
    uint32_t i = 0;
    while (s->history.at[i].thing != SORT_CLAIM || s->history.at[i].uid != uid)
        i++;
    return s->history.at[i].name;
}

static int claim_volume(struct server *s, const struct call *c, uint32_t name)
{
    const struct entry *volume = server_find(s, SORT_VOLUME, name);
    const char *version = strstr(c->body, "{\"metadata\":{\"resourceVersion\":\""),
               *claim = strstr(c->body, "\"name\":\"c"), *uid = strstr(c->body, "\"uid\":\"u");
    assert(version && claim && uid);
    if (!volume)
        return 404;
    if (number(version + strlen("{\"metadata\":{\"resourceVersion\":\"")) != volume->version)
        return 409;
    struct entry claimed = *volume;
    claimed.node = (int)claim_named(s, number(claim + strlen("\"name\":\"c")));
    claimed.of_uid = (uint32_t)number(uid + strlen("\"uid\":\"u"));
    s->claimed++;
    s->stolen += volume->node >= 0 && volume->of_uid != claimed.of_uid;
    store(s, claimed);
    return 200;
}

static void on_volume(struct server *s, const struct call *c)
{
    uint32_t name = (uint32_t)number(strstr(c->path, "volumes/v") + strlen("volumes/v"));
    int status = claim_volume(s, c, name);
    AUTO(buf) body = {0};
    if (status == 200)
        add_object(&body, server_find(s, SORT_VOLUME, name));
    if (status == 200)
        answer(s, c->id, 200, buf_str(&body));
    else
        fail(s, c->id, status);
}

/* Who binds claims to the volumes that are theirs. */
static void bind_claims(struct server *s)
{
    if (!s->has_storage_news || rng_below(&s->rng, 4))
        return;
    s->has_storage_news = false;
    for (uint32_t name = 0; name < SERVER_NAMES; name++) {
        const struct entry *volume = server_find(s, SORT_VOLUME, name);
        if (!volume || volume->node < 0)
            continue;
        const struct entry *claim = server_find(s, SORT_CLAIM, (uint32_t)volume->node);
        struct entry next = claim ? *claim : *volume;
        if (claim && claim->uid == volume->of_uid && claim->node < 0) {
            next.node = (int)name;
            store(s, next);
        } else if (!claim || claim->uid != volume->of_uid) {
            next = *volume;
            next.node = -1;
            store(s, next);
        }
    }
}

static int write_lease(struct server *s, const struct call *c)
{
    const char *version = strstr(c->body, "\"resourceVersion\":\""),
               *spec = strstr(c->body, "\"spec\":");
    int64_t wanted = version ? number(version + strlen("\"resourceVersion\":\"")) : 0;
    if (wanted != s->lease_version)
        return 409;
    s->lease_version++;
    buf_clear(&s->lease_spec);
    buf_add(&s->lease_spec, str_of(spec + strlen("\"spec\":")));
    s->lease_spec.n--; /* the brace around all */
    return 200;
}

static void answer_lease(struct server *s, request_id id)
{
    AUTO(buf) body = {0};
    buf_printf(&body,
               "{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%lld\"},\"spec\":" STR_FMT "}",
               (long long)s->lease_version, STR_ARG(buf_str(&s->lease_spec)));
    answer(s, id, 200, buf_str(&body));
}

/* --- carrying out --- */

static void on_pod(struct server *s, const struct call *c)
{
    uint32_t name = (uint32_t)number(strstr(c->path, "/pods/p") + strlen("/pods/p"));
    const struct entry *pod = server_find(s, SORT_POD, name);
    AUTO(buf) body = {0};
    if (c->verb == VERB_POST) {
        int status = bind(s, c, name);
        status == 201 ? answer(s, c->id, 201, STR("{}")) : fail(s, c->id, status);
    } else if (!pod) {
        fail(s, c->id, 404);
    } else {
        s->patches += c->verb == VERB_PATCH;
        add_object(&body, pod);
        answer(s, c->id, 200, buf_str(&body));
    }
}

static void on_lease(struct server *s, const struct call *c)
{
    int status = c->verb == VERB_GET ? s->lease_version ? 200 : 404 : write_lease(s, c);
    if (status == 200)
        answer_lease(s, c->id);
    else
        fail(s, c->id, status);
}

static void on_collection(struct server *s, const struct call *c, enum sort thing)
{
    if (c->is_stream)
        watch(s, c, thing);
    else
        list(s, c, thing);
}

static void carry_out(struct server *s, const struct call *c)
{
    if (strcmp(c->path, "/api/v1") == 0)
        answer(s, c->id, 200,
               STR("{\"resources\":[{\"name\":\"pods\"},{\"name\":\"nodes\"},{\"name\":"
                   "\"persistentvolumes\"},{\"name\":\"persistentvolumeclaims\"}]}"));
    else if (strcmp(c->path, "/apis/storage.k8s.io/v1") == 0)
        answer(s, c->id, 200, STR("{\"resources\":[{\"name\":\"storageclasses\"}]}"));
    else if (strstr(c->path, "/leases"))
        on_lease(s, c);
    else if (strstr(c->path, "/events")) {
        s->events++;
        buf_clear(&s->last_event);
        buf_add_bytes(&s->last_event, c->body, c->body_n);
        answer(s, c->id, 201, STR("{}"));
    } else if (strstr(c->path, "/pods/p"))
        on_pod(s, c);
    else if (strstr(c->path, "/api/v1/pods?"))
        on_collection(s, c, SORT_POD);
    else if (strstr(c->path, "/api/v1/nodes?"))
        on_collection(s, c, SORT_NODE);
    else if (strstr(c->path, "/persistentvolumes/v"))
        on_volume(s, c);
    else if (strstr(c->path, "/persistentvolumes?"))
        on_collection(s, c, SORT_VOLUME);
    else if (strstr(c->path, "/persistentvolumeclaims?"))
        on_collection(s, c, SORT_CLAIM);
    else if (strstr(c->path, "/storageclasses?"))
        on_collection(s, c, SORT_CLASS);
    else
        fail(s, c->id, 404);
}

/* Carried out, but nobody hears of it. */
static void carry_out_silently(struct server *s, const struct call *c)
{
    uint32_t replies = s->replies.n, streams = s->streams.n;
    carry_out(s, c);
    s->replies.n = replies;
    s->streams.n = streams;
}

static void carry_out_faultily(struct server *s, const struct call *c)
{
    uint64_t dice = rng_below(&s->rng, 100);
    if (dice < 5) {
        lose(s, c->id, false);
    } else if (dice < 10) {
        lose(s, c->id, true);
    } else if (dice < 18) {
        carry_out_silently(s, c);
        lose(s, c->id, true);
    } else if (dice < 22) {
        fail(s, c->id, 503);
    } else if (dice < 25) {
        carry_out_silently(s, c);
        fail(s, c->id, 500);
    } else if (dice < 28) {
        fail(s, c->id, 429);
    } else {
        carry_out(s, c);
    }
}

/* --- the face --- */

static void forget_request(struct server *s, request_id id)
{
    for (uint32_t i = s->calls.n; i-- > 0;)
        if (s->calls.at[i].id == id)
            vec_remove(&s->calls, i);
    for (uint32_t i = s->streams.n; i-- > 0;)
        if (s->streams.at[i].id == id)
            vec_remove(&s->streams, i);
}

void server_take(struct server *s, int64_t now_ms, struct requests *out)
{
    vec_each(&out->cancelled, id)
        forget_request(s, *id);
    vec_each(&out->list, r) {
        struct call c = {.id = r->id,
                         .verb = r->verb,
                         .is_stream = r->is_stream,
                         .due_ms = now_ms + (int64_t)rng_below(&s->rng, LATENCY_MS),
                         .body_n = r->body.n};
        assert(r->path.n < CALL_BYTES && r->body.n < CALL_BYTES);
        memcpy(c.path, r->path.p, r->path.n);
        if (r->body.n)
            memcpy(c.body, r->body.p, r->body.n);
        vec_push(&s->calls, c);
    }
    requests_clear(out);
}

static void tick_stream(struct server *s, uint32_t i)
{
    struct stream *stream = &s->streams.at[i];
    request_id id = stream->id;
    uint64_t dice = rng_below(&s->rng, s->is_faulty ? 200 : 1);
    if (dice == 1) {
        vec_remove(&s->streams, i);
        lose(s, id, true);
    } else if (dice == 2) {
        tell(s, stream);
        vec_remove(&s->streams, i);
        reply(s, (struct reply){.id = id, .kind = REPLY_END});
    } else if (dice == 3) {
        vec_remove(&s->streams, i);
        frame(s, id, "ERROR", STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410}"));
    } else if (dice < 100) {
        tell(s, stream);
    } else if (dice == 100) {
        tell(s, stream);
        frame_bookmark(s, id, stream->thing, false);
    }
}

void server_tick(struct server *s, int64_t now_ms)
{
    for (uint32_t i = 0; i < s->calls.n; i++) {
        struct call c = s->calls.at[i];
        if (c.due_ms > now_ms)
            continue;
        vec_remove(&s->calls, i--);
        if (s->is_down)
            lose(s, c.id, false);
        else if (s->is_faulty)
            carry_out_faultily(s, &c);
        else
            carry_out(s, &c);
    }
    bind_claims(s);
    for (uint32_t i = s->streams.n; i-- > 0;)
        tick_stream(s, i);
}

void server_forget(struct server *s)
{
    vec_clear(&s->replies);
    arena_reset(&s->mem);
}

void server_break(struct server *s)
{
    vec_each(&s->calls, c) {
        if (rng_below(&s->rng, 2))
            carry_out_silently(s, c);
        lose(s, c->id, true);
    }
    vec_each(&s->streams, stream)
        lose(s, stream->id, true);
    vec_clear(&s->calls);
    vec_clear(&s->streams);
}
