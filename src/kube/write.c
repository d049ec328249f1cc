#include "kube/write.h"

#include "core/base/spare.h"
#include "core/base/time_text.h"
#include "core/model/binding.h"
#include "core/wire/json_write.h"
#include "kube/extender_client.h"
#include "kube/object_write.h"

enum { TIMEOUT_MS = 30000 };

#define PATCH_TYPE "application/strategic-merge-patch+json"

/* --- the table --- */

static struct map *index_of(struct writes *s, enum write_kind kind)
{
    return kind == WRITE_BIND ? &s->bind_of : kind == WRITE_TELL ? &s->tell_of : NULL;
}

static pair_list keep_pairs(const pair_list *from)
{
    size_t bytes = from->n * sizeof(struct pair);
    if (from->n == 0)
        return (pair_list){0};
    list_each(from, pair)
        bytes += pair->key.n + pair->value.n;
    pair_list to = {mem_alloc(bytes), from->n};
    char *at = (char *)(to.at + to.n);
    for (uint32_t i = 0; i < from->n; i++)
        to.at[i] = (struct pair){str_keep(&at, from->at[i].key), str_keep(&at, from->at[i].value)};
    return to;
}

static bool kind_evicts(enum write_kind kind)
{
    return kind == WRITE_PROBE || kind == WRITE_MARK || kind == WRITE_DELETE;
}

uint32_t writes_add(struct writes *s, enum write_kind kind, const struct effect *e,
                    const struct pending_row *row, struct str scheduler)
{
    if (s->free.n == 0) {
        vec_push(&s->free, s->list.n);
        vec_push(&s->list, (struct write){0});
    }
    uint32_t i = vec_pop(&s->free);
    struct write *w = &s->list.at[i];
    char *at = mem_alloc(e->namespace.n + e->pod.n + e->uid.n + e->node.n + scheduler.n +
                         e->by_uid.n + (kind_evicts(kind) ? e->message.n : 0) + 1);
    *w = (struct write){.kind = kind,
                        .state = WRITE_QUEUED,
                        .effect = e->id,
                        .due_ms = INT64_MAX,
                        .generation = row ? row->generation : 0,
                        .version = row ? row->version : 0,
                        .why = INTERN_NONE,
                        .nominee = INTERN_NONE,
                        .namespace = str_keep(&at, e->namespace),
                        .pod = str_keep(&at, e->pod),
                        .uid = str_keep(&at, e->uid),
                        .node = str_keep(&at, e->node),
                        .scheduler = str_keep(&at, scheduler),
                        .by_uid = str_keep(&at, e->by_uid),
                        .by_words = kind_evicts(kind) ? str_keep(&at, e->message) : STR(""),
                        .plan = e->plan,
                        .annotations = keep_pairs(&e->annotations),
                        .is_exact = e->is_exact,
                        .answer = w->answer};
    if (e->binder && e->binder <= s->n_extenders) {
        w->binder = e->binder;
        w->is_binder_ignorable = s->extenders[e->binder - 1].is_ignorable;
    }
    if (kind == WRITE_OBJECT)
        w->object = object_write_keep(&e->write);
    s->binds += kind == WRITE_BIND;
    if (index_of(s, kind))
        map_put(index_of(s, kind), pod_key(e->namespace, e->pod), i);
    return i;
}

uint32_t writes_find(const struct writes *s, enum write_kind kind, uint64_t pod)
{
    return map_find(kind == WRITE_BIND ? &s->bind_of : &s->tell_of, pod);
}

void writes_disown(struct writes *s, uint32_t i)
{
    const struct write *w = writes_at(s, i);
    uint64_t key = pod_key(w->namespace, w->pod);
    struct map *index = index_of(s, w->kind);
    if (index && map_find(index, key) == i)
        map_remove(index, key);
}

void writes_set_state(struct writes *s, uint32_t i, enum write_state state)
{
    struct write *w = writes_at(s, i);
    assert(w->state != WRITE_FREE); /* it lives */
    bool was_timed = w->state == WRITE_RESTING || w->state == WRITE_DOUBTFUL;
    bool is_timed = state == WRITE_RESTING || state == WRITE_DOUBTFUL;
    s->timers = s->timers - was_timed + is_timed;
    if (w->kind == WRITE_TELL)
        s->tells_sent = s->tells_sent - (w->state == WRITE_SENT) + (state == WRITE_SENT);
    w->state = state;
}

static void set_text(struct writes *s, uint32_t *at, struct str text)
{
    if (*at != INTERN_NONE)
        intern_drop(&s->texts, *at);
    if (intern_wants_sweep(&s->texts))
        intern_sweep(&s->texts, NULL, NULL);
    *at = text.n ? intern_get(&s->texts, text, NULL) : INTERN_NONE;
    if (*at != INTERN_NONE)
        intern_hold(&s->texts, *at);
}

void writes_set_why(struct writes *s, uint32_t i, struct str text)
{
    writes_at(s, i)->has_why = true;
    set_text(s, &writes_at(s, i)->why, text);
}

void writes_set_nominee(struct writes *s, uint32_t i, struct str node)
{
    writes_at(s, i)->has_nominee = true;
    set_text(s, &writes_at(s, i)->nominee, node);
}

static void free_texts(struct write *w)
{
    mem_free((char *)(uintptr_t)w->namespace.p);
    object_write_free(&w->object);
    mem_free(w->annotations.at);
    w->annotations = (pair_list){0};
}

void writes_remove(struct writes *s, uint32_t i)
{
    struct write *w = writes_at(s, i);
    writes_disown(s, i);
    s->binds -= w->kind == WRITE_BIND;
    writes_set_state(s, i, WRITE_FREE);
    set_text(s, &w->why, STR(""));
    set_text(s, &w->nominee, STR(""));
    free_texts(w);
    vec_push(&s->free, i);
}

void writes_trim(struct writes *s)
{
    vec_each(&s->free, i)
        answer_done(&s->list.at[*i].answer);
    while (s->list.n && vec_last(&s->list).state == WRITE_FREE)
        s->list.n--;
    vec_trim(&s->list);
    spare_trim(&s->free, s->list.n);
    map_trim(&s->bind_of);
    map_trim(&s->tell_of);
    intern_sweep(&s->texts, NULL, NULL);
    intern_trim(&s->texts);
}

void writes_done(struct writes *s)
{
    vec_each(&s->list, w) {
        if (w->state != WRITE_FREE)
            free_texts(w);
        answer_done(&w->answer);
    }
    vec_done(&s->list);
    vec_done(&s->free);
    map_done(&s->bind_of);
    map_done(&s->tell_of);
    intern_done(&s->texts);
}

/* --- bodies --- */

static struct str text_of(const struct writes *s, uint32_t text)
{
    return text == INTERN_NONE ? STR("") : intern_bytes(&s->texts, text);
}

struct str writes_why(const struct writes *s, uint32_t i)
{
    return text_of(s, writes_at(s, i)->why);
}

static void put_time(struct json_writer *j, int64_t now_ms)
{
    AUTO(buf) text = {0};
    time_add_seconds(&text, now_ms);
    put_text(j, "lastTransitionTime", buf_str(&text));
}

static void put_condition(struct json_writer *j, const char *type, const char *status,
                          struct str reason, struct str message)
{
    put_text(j, "type", str_of(type));
    put_text(j, "status", str_of(status));
    put_text(j, "reason", reason);
    put_text(j, "message", message);
}

/* Of servers that know of generations. */
static void put_generation(struct json_writer *j, const struct write *w)
{
    if (w->generation == 0)
        return;
    json_put_key(j, STR("observedGeneration"));
    json_put_int(j, w->generation);
}

static void put_why(const struct writes *s, struct json_writer *j, const struct write *w,
                    int64_t now_ms)
{
    put_condition(j, "PodScheduled", "False", w->reason, text_of(s, w->why));
    put_generation(j, w);
    if (w->is_first)
        put_time(j, now_ms);
}

static void put_mark(struct json_writer *j, const struct write *w, int64_t now_ms,
                     struct arena *mem)
{
    put_condition(j, "DisruptionTarget", "True", STR("PreemptionByScheduler"),
                  w->by_words.n
                      ? arena_printf(mem, STR_FMT ": preempting " STR_FMT, STR_ARG(w->scheduler),
                                     STR_ARG(w->by_words))
                      : arena_printf(mem,
                                     STR_FMT ": preempting to accommodate a higher priority pod",
                                     STR_ARG(w->scheduler)));
    put_generation(j, w);
    put_time(j, now_ms);
}

static void put_nominee(const struct writes *s, struct json_writer *j, const struct write *w)
{
    json_put_key(j, STR("nominatedNodeName"));
    if (w->nominee == INTERN_NONE)
        json_put_null(j);
    else
        json_put_str(j, text_of(s, w->nominee));
}

/* A strategic merge: other conditions stay, and the time of one that is there already, as its
 * status does not change. The uid guards a pod of the same name. */
static void put_patch(const struct writes *s, struct json_writer *j, const struct write *w,
                      int64_t now_ms, struct arena *mem)
{
    put_open(j, "metadata", '{');
    put_text(j, "uid", w->uid);
    json_put_close(j, '}');
    put_open(j, "status", '{');
    if (w->kind == WRITE_MARK || w->has_why) {
        put_open(j, "conditions", '[');
        json_put_open(j, '{');
        if (w->kind == WRITE_MARK)
            put_mark(j, w, now_ms, mem);
        else
            put_why(s, j, w, now_ms);
        json_put_close(j, '}');
        json_put_close(j, ']');
    }
    if (w->has_nominee)
        put_nominee(s, j, w);
    json_put_close(j, '}');
}

static void put_delete(struct json_writer *j, const struct write *w)
{
    put_text(j, "kind", STR("DeleteOptions"));
    put_text(j, "apiVersion", STR("v1"));
    put_open(j, "preconditions", '{');
    put_text(j, "uid", w->uid);
    json_put_close(j, '}');
    if (w->kind == WRITE_PROBE) {
        put_open(j, "dryRun", '[');
        json_put_str(j, STR("All"));
        json_put_close(j, ']');
    }
}

static void put_binding(struct json_writer *j, const struct write *w)
{
    json_put_open(j, '{');
    put_text(j, "PodName", w->pod);
    put_text(j, "PodNamespace", w->namespace);
    put_text(j, "PodUID", w->uid);
    put_text(j, "Node", w->node);
    json_put_close(j, '}');
}

static void put_body(const struct writes *s, const struct write *w, int64_t now_ms,
                     struct arena *mem, struct buf *body)
{
    struct json_writer j = {.out = body};
    if (w->kind == WRITE_BIND) {
        struct binding binding = {.name = w->pod,
                                  .namespace = w->namespace,
                                  .uid = w->uid,
                                  .annotations = w->annotations,
                                  .node = w->node};
        if (w->is_exact && w->version) /* what is handed over rests on what the pod says */
            binding.resource_version = arena_printf(mem, "%llu", (unsigned long long)w->version);
        binding_write(&binding, ENCODING_PROTO, body);
        return;
    }
    json_put_open(&j, '{');
    if (w->kind == WRITE_DELETE || w->kind == WRITE_PROBE)
        put_delete(&j, w);
    else
        put_patch(s, &j, w, now_ms, mem);
    json_put_close(&j, '}');
}

static struct str pod_path(const struct write *w, const char *part, struct arena *mem)
{
    return arena_join(mem, STR("/api/v1/namespaces/"), w->namespace, STR("/pods/"), w->pod,
                      str_of(part));
}

static struct request binder_request(const struct writes *s, const struct write *w,
                                     struct requests *out)
{
    const struct extender *x = &s->extenders[w->binder - 1];
    buf_clear(&out->scratch);
    put_binding(&(struct json_writer){.out = &out->scratch}, w);
    return (struct request){
        .extender = w->binder,
        .verb = VERB_POST,
        .path = arena_str(&out->mem, x->verbs[EXTENDER_BIND]),
        .content_type = STR(ENCODING_JSON_TYPE),
        .body = arena_str(&out->mem, buf_str(&out->scratch)),
        .timeout_ms = x->timeout_ms,
    };
}

struct str write_binder_trouble(const struct writes *s, uint32_t i, const struct reply *end,
                                struct arena *mem)
{
    const struct write *w = writes_at(s, i);
    if (w->binder > s->n_extenders) /* there are others by now */
        return STR("the extender is gone");
    struct extender_answer said;
    extender_hear(&s->extenders[w->binder - 1], EXTENDER_BIND, end, &w->answer, mem, &said);
    return said.error;
}

struct request write_request(const struct writes *s, uint32_t i, int64_t now_ms,
                             struct requests *out)
{
    static const struct {
        enum verb verb;
        const char *part, *type;
    } forms[] = {
        [WRITE_BIND] = {VERB_POST, "/binding", ENCODING_PROTO_TYPE},
        [WRITE_TELL] = {VERB_PATCH, "/status", PATCH_TYPE},
        [WRITE_MARK] = {VERB_PATCH, "/status", PATCH_TYPE},
        [WRITE_PROBE] = {VERB_DELETE, "", ENCODING_JSON_TYPE},
        [WRITE_DELETE] = {VERB_DELETE, "", ENCODING_JSON_TYPE},
    };
    const struct write *w = writes_at(s, i);
    if (w->kind == WRITE_OBJECT)
        return object_write_request(&w->object, w->step, NULL, out);
    if (w->binder && w->binder <= s->n_extenders)
        return binder_request(s, w, out);
    buf_clear(&out->scratch);
    put_body(s, w, now_ms, &out->mem, &out->scratch);
    return (struct request){
        .lane = LANE_WRITE,
        .verb = forms[w->kind].verb,
        .path = pod_path(w, forms[w->kind].part, &out->mem),
        .accept = STR(ENCODING_PROTO_TYPE ", " ENCODING_JSON_TYPE),
        .content_type = str_of(forms[w->kind].type),
        .body = arena_str(&out->mem, buf_str(&out->scratch)),
        .timeout_ms = TIMEOUT_MS,
    };
}
