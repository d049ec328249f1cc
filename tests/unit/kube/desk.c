#include "desk.h"

#include "core/base/time_text.h"
#include "core/model/envelope.h"
#include "core/model/event.h"
#include "core/wire/proto.h"

static void log_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct desk *d = ctx;
    const struct meta *meta = change->object.meta;
    (void)now_ms;
    buf_printf(&d->log, "%s %s " STR_FMT "/" STR_FMT, change->kind == CHANGE_PUT ? "put" : "remove",
               kind_info_get(change->object.kind)->name, STR_ARG(meta->namespace),
               STR_ARG(meta->name));
    if (change->object.kind == KIND_POD && change->object.pod->is_partial)
        buf_add(&d->log, STR(" at a glance"));
    if (change->kind == CHANGE_PUT && meta->resource_version.n)
        buf_printf(&d->log, " at " STR_FMT, STR_ARG(meta->resource_version));
    buf_add_char(&d->log, '\n');
}

static void log_settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct desk *d = ctx;
    (void)now_ms;
    buf_printf(&d->log, "settle %llu: %s\n", (unsigned long long)effect, why ? why->text : "done");
}

static void log_answer(void *ctx, int64_t now_ms, effect_id effect, const struct extender_answer *a)
{
    struct desk *d = ctx;
    (void)now_ms;
    buf_printf(&d->log, "answer %llu:", (unsigned long long)effect);
    if (a->error.n)
        buf_printf(&d->log, " error " STR_FMT, STR_ARG(a->error));
    list_each(&a->names, name)
        buf_printf(&d->log, " " STR_FMT, STR_ARG(*name));
    list_each(&a->nodes, name)
        buf_printf(&d->log, " node " STR_FMT, STR_ARG(*name));
    list_each(&a->scores, s)
        buf_printf(&d->log, " " STR_FMT "=%lld", STR_ARG(s->node), (long long)s->score);
    list_each(&a->victims, v)
        buf_printf(&d->log, " " STR_FMT ":%u", STR_ARG(v->node), v->uids.n);
    buf_add_char(&d->log, '\n');
}

static void log_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    static const char *const kinds[] = {"denied", "trouble", "refused",
                                        "absent", "invalid", "in part"};
    struct desk *d = ctx;
    (void)now_ms;
    buf_printf(&d->log, "%s: %s " STR_FMT ": " STR_FMT "\n", kinds[notice->kind], notice->verb,
               STR_ARG(notice->what), STR_ARG(notice->text));
}

void desk_init(struct desk *d)
{
    *d = (struct desk){0};
    d->listener = (struct listener){.ctx = d,
                                    .change = log_change,
                                    .settle = log_settle,
                                    .answer = log_answer,
                                    .notice = log_notice};
}

void desk_done(struct desk *d)
{
    requests_done(&d->out);
    buf_done(&d->log);
    buf_done(&d->shown);
}

static void show_path(struct buf *out, struct str path)
{
    static const char length[] = "timeoutSeconds=";
    for (size_t i = 0; i < path.n; i++) {
        buf_add_char(out, path.p[i]);
        struct str so_far = str_part(path, 0, i + 1);
        if (!str_ends(so_far, str_of(length)))
            continue;
        while (i + 1 < path.n && path.p[i + 1] != '&')
            i++;
    }
}

static const struct field reference_fields[] = {
    {FIELD(STR, "apiVersion", 5, struct event, regarding.api_version)},
    {FIELD(STR, "kind", 1, struct event, regarding.kind)},
    {FIELD(STR, "name", 3, struct event, regarding.name)},
    {FIELD(STR, "resourceVersion", 6, struct event, regarding.resource_version)},
    {FIELD(STR, "uid", 4, struct event, regarding.uid)},
    FIELD_END,
};

static const struct field name_fields[] = {
    {FIELD(STR, "name", 1, struct event, name)},
    {FIELD(STR, "namespace", 3, struct event, namespace)},
    FIELD_END,
};

static const struct field event_fields[] = {
    {FIELD(STR, "action", 6, struct event, action)},
    {FIELD(TIME, "eventTime", 2, struct event, at_ms)},
    {FIELD_PART("metadata", 1, name_fields)},
    {FIELD(STR, "note", 10, struct event, note)},
    {FIELD(STR, "reason", 7, struct event, reason)},
    {FIELD_PART("regarding", 8, reference_fields)},
    {FIELD(STR, "reportingController", 4, struct event, controller)},
    {FIELD(STR, "reportingInstance", 5, struct event, instance)},
    {FIELD(STR, "type", 11, struct event, type)},
    FIELD_END,
};

void show_event(struct buf *out, struct str body)
{
    struct arena mem = {0};
    struct envelope v;
    struct event event = {0};
    struct error e;
    bool is_read = envelope_read(ENCODING_PROTO, body, &mem, &v, &e) &&
                   str_equal(v.kind, STR("Event")) &&
                   proto_read(v.raw, event_fields, &event, &mem, &e);
    assert(is_read);
    const struct str texts[] = {
        event.namespace,      event.name,
        event.controller,     event.instance,
        event.action,         event.reason,
        event.type,           event.regarding.api_version,
        event.regarding.kind, event.regarding.name,
        event.regarding.uid,  event.regarding.resource_version,
    };
    for (size_t i = 0; i < LEN(texts); i++)
        buf_printf(out, STR_FMT " ", STR_ARG(texts[i]));
    time_add_micro(out, event.at_ms);
    buf_printf(out, ": " STR_FMT, STR_ARG(event.note));
    arena_done(&mem);
}

static void show_body(struct buf *out, const struct request *r)
{
    if (r->body.n && !str_ends(r->content_type, STR("protobuf")))
        buf_printf(out, " " STR_FMT, STR_ARG(r->body));
    if (r->lane == LANE_EVENTS && r->verb == VERB_POST) {
        buf_add_char(out, ' ');
        show_event(out, r->body);
    }
    buf_add_char(out, '\n');
}

const char *desk_log(struct desk *d)
{
    static const char *const lanes[] = {"READ", "WRITE", "EVENTS", "LEASE"};
    static const char *const verbs[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    buf_clear(&d->shown);
    buf_add(&d->shown, buf_str(&d->log));
    buf_clear(&d->log);
    vec_each(&d->out.cancelled, id)
        buf_add(&d->shown, STR("cancel\n"));
    vec_each(&d->out.list, r) {
        if (r->extender)
            buf_printf(&d->shown, "EXTENDER %u %s ", r->extender - 1, verbs[r->verb]);
        else
            buf_printf(&d->shown, "%s %s ", lanes[r->lane], verbs[r->verb]);
        show_path(&d->shown, r->path);
        show_body(&d->shown, r);
        d->last = r->id;
    }
    requests_clear(&d->out);
    return d->shown.p ? d->shown.p : "";
}

struct reply reply_head(request_id id, int status)
{
    return (struct reply){.id = id,
                          .kind = REPLY_HEAD,
                          .status = status,
                          .content_type = STR("application/json"),
                          .retry_after_ms = -1};
}

struct reply reply_data(request_id id, const char *text)
{
    return (struct reply){.id = id, .kind = REPLY_DATA, .data = str_of(text)};
}

struct reply reply_end(request_id id)
{
    return (struct reply){.id = id, .kind = REPLY_END};
}

struct reply reply_lost(request_id id, bool may_have_arrived)
{
    return (struct reply){.id = id,
                          .kind = REPLY_LOST,
                          .may_have_arrived = may_have_arrived,
                          .error = STR("connection reset")};
}
