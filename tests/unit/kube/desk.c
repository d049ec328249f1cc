#include "desk.h"

static void log_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct desk *d = ctx;
    const struct meta *meta = change->object.meta;
    (void)now_ms;
    buf_printf(&d->log, "%s %s " STR_FMT "/" STR_FMT, change->kind == CHANGE_PUT ? "put" : "remove",
               kind_info_get(change->object.kind)->name, STR_ARG(meta->namespace),
               STR_ARG(meta->name));
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

static void log_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    static const char *const kinds[] = {"denied", "trouble", "absent", "invalid"};
    struct desk *d = ctx;
    (void)now_ms;
    buf_printf(&d->log, "%s: %s " STR_FMT ": " STR_FMT "\n", kinds[notice->kind], notice->verb,
               STR_ARG(notice->what), STR_ARG(notice->text));
}

void desk_init(struct desk *d)
{
    *d = (struct desk){0};
    d->listener = (struct listener){
        .ctx = d, .change = log_change, .settle = log_settle, .notice = log_notice};
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
        buf_printf(&d->shown, "%s %s ", lanes[r->lane], verbs[r->verb]);
        show_path(&d->shown, r->path);
        bool is_text = r->body.n && !str_ends(r->content_type, STR("protobuf"));
        buf_printf(&d->shown, is_text ? " " STR_FMT "\n" : "\n" STR_FMT,
                   STR_ARG(is_text ? r->body : STR("")));
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
