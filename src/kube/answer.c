#include "kube/answer.h"

#include "kube/listen.h"

void answer_add(struct answer *a, const struct reply *reply, size_t most_bytes)
{
    if (reply->kind == REPLY_HEAD) {
        answer_clear(a);
        a->status = reply->status;
        a->retry_after_ms = reply->retry_after_ms;
        buf_add(&a->content_type, reply->content_type);
    } else if (reply->kind == REPLY_DATA) {
        size_t room = most_bytes - MIN(a->body.n, most_bytes);
        a->is_cut = a->is_cut || reply->data.n > room;
        buf_add(&a->body, str_part(reply->data, 0, room));
    }
}

void answer_clear(struct answer *a)
{
    a->status = 0;
    a->retry_after_ms = -1;
    a->is_cut = false;
    buf_clear(&a->content_type);
    buf_clear(&a->body);
}

void answer_done(struct answer *a)
{
    buf_done(&a->content_type);
    buf_done(&a->body);
}

enum encoding answer_encoding(const struct answer *a, struct error *e)
{
    enum encoding encoding = encoding_of(buf_str(&a->content_type));
    if (encoding == ENCODING_NONE)
        error_set(e, ERROR_INVALID, "an answer of content type \"" STR_FMT "\"",
                  STR_ARG(str_part(buf_str(&a->content_type), 0, 80)));
    return encoding;
}

bool answer_read(const struct answer *a, struct arena *mem, struct envelope *out, struct error *e)
{
    enum encoding encoding = answer_encoding(a, e);
    if (encoding == ENCODING_NONE)
        return false;
    if (a->is_cut)
        return error_set(e, ERROR_INVALID, "an answer of more than %zu bytes", a->body.n);
    return envelope_read(encoding, buf_str(&a->body), mem, out, e);
}

struct trouble trouble_of_status(const struct status *status)
{
    return (struct trouble){
        .status = status->code,
        .reason = status->reason,
        .message = status->message,
        .cause = status->causes.n ? status->causes.at[0].reason : STR(""),
        .retry_after_ms = status->retry_after_seconds ? status->retry_after_seconds * 1000LL : -1};
}

struct trouble trouble_of_answer(const struct answer *a, struct arena *mem)
{
    struct envelope v;
    struct status status;
    struct error e;
    struct trouble t = {.message = str_part(buf_str(&a->body), 0, 200)};
    if (answer_read(a, mem, &v, &e) && status_read(&v, mem, &status, &e))
        t = trouble_of_status(&status);
    t.status = a->status;
    t.retry_after_ms = a->retry_after_ms;
    return t;
}

struct trouble trouble_of_lost(const struct reply *reply)
{
    return (struct trouble){.is_lost = true, .message = reply->error, .retry_after_ms = -1};
}

bool trouble_is_expired(const struct trouble *t)
{
    return t->status == 410 || str_equal(t->reason, STR("Expired")) ||
           str_equal(t->cause, STR("ResourceVersionTooLarge"));
}

bool trouble_is_denied(const struct trouble *t)
{
    return t->status == 403 && !str_equal(t->cause, STR("NamespaceTerminating"));
}

bool trouble_is_passing(const struct trouble *t)
{
    return t->status == 0 || t->status == 401 || t->status == 429 || t->status >= 500;
}

bool trouble_is_overtaken(const struct trouble *t)
{
    return t->status == 404 || t->status == 409;
}

enum notice_kind notice_of_trouble(const struct trouble *why)
{
    return trouble_is_denied(why)    ? NOTICE_DENIED
           : trouble_is_passing(why) ? NOTICE_TROUBLE
                                     : NOTICE_REFUSED;
}
