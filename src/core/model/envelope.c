#include "core/model/envelope.h"

#include "core/model/partial_pod.h"
#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "core/wire/proto.h"

static const struct field type_fields[] = {
    {FIELD(STR, "apiVersion", 1, struct envelope, api_version)},
    {FIELD(STR, "kind", 2, struct envelope, kind)},
    FIELD_END,
};

/* runtime.Unknown. */
static const struct field unknown_fields[] = {
    {FIELD(RAW, "raw", 2, struct envelope, raw)},
    {FIELD_PART("typeMeta", 1, type_fields)},
    FIELD_END,
};

bool envelope_read(enum encoding encoding, struct str body, struct arena *mem, struct envelope *out,
                   struct error *e)
{
    static const struct str magic = {"k8s\0", 4};
    struct envelope v = {.encoding = encoding, .raw = body};
    if (encoding == ENCODING_NONE)
        return error_set(e, ERROR_INVALID, "the body is neither JSON nor protobuf");
    const struct field *fields = type_fields;
    if (encoding == ENCODING_PROTO) {
        if (!str_starts(body, magic))
            return error_set(e, ERROR_INVALID, "the body does not begin as Kubernetes' protobuf");
        body = str_part(body, magic.n, body.n);
        fields = unknown_fields;
        v.raw = (struct str){0};
    }
    if (!encoding_read(encoding, body, fields, &v, mem, e))
        return false;
    *out = v;
    return true;
}

bool envelope_object(const struct envelope *v, struct arena *mem, struct object *out,
                     struct error *e)
{
    const struct kind_info *info = kind_info_find(v->api_version, v->kind);
    if (!info) {
        *out = (struct object){.kind = KIND_NONE};
        return true;
    }
    void *object = arena_alloc(mem, info->size);
    if (!encoding_read(v->encoding, v->raw, info->fields, object, mem, e))
        return error_wrap(e, "%s", info->name);
    *out = (struct object){.kind = info->kind, .meta = object};
    if (info->kind == KIND_POD)
        out->pod->digest = partial_pod_digest(v, out->pod);
    return true;
}

static const struct field list_meta_fields[] = {
    {FIELD(STR, "continue", 3, struct listing, next)},
    {FIELD(INT64, "remainingItemCount", 4, struct listing, remaining)},
    {FIELD(STR, "resourceVersion", 2, struct listing, resource_version)},
    FIELD_END,
};

/* In protobuf, items are so many fields; here the last of them stays and is not looked at. */
static const struct field listing_fields[] = {
    {FIELD(RAW, "items", 2, struct listing, rest)},
    {FIELD_PART("metadata", 1, list_meta_fields)},
    FIELD_END,
};

bool listing_read(const struct envelope *v, struct arena *mem, struct listing *out, struct error *e)
{
    struct listing l = {.item = *v};
    if (!str_ends(v->kind, STR("List")))
        return error_set(e, ERROR_INVALID, "\"" STR_FMT "\" is no list", STR_ARG(v->kind));
    l.item.kind = str_part(v->kind, 0, v->kind.n - STR("List").n);
    if (!encoding_read(v->encoding, v->raw, listing_fields, &l, mem, e))
        return error_wrap(e, STR_FMT, STR_ARG(v->kind));
    if (v->encoding == ENCODING_PROTO)
        l.rest = v->raw;
    else if (l.rest.n && l.rest.p[0] == '[')
        l.rest = str_part(l.rest, 1, l.rest.n);
    else if (l.rest.n == 0 || l.rest.p[0] == 'n') /* null, as Go writes an empty list */
        l.rest = (struct str){0};
    else
        return error_set(e, ERROR_INVALID, "items: is not a list");
    *out = l;
    return true;
}

static bool next_message(struct listing *l, struct error *e)
{
    struct proto_value v;
    while (proto_take(&l->rest, &v, e)) {
        if (v.number == 2 && v.wire == PROTO_BYTES) {
            l->item.raw = v.bytes;
            return true;
        }
    }
    return false;
}

/* The syntax of the list was checked as a whole: between values there are commas and space. */
static bool next_text(struct listing *l, struct error *e)
{
    while (l->rest.n && memchr(" \t\r\n,", l->rest.p[0], 5))
        l->rest = str_part(l->rest, 1, l->rest.n);
    size_t where;
    *e = (struct error){0};
    return l->rest.n && l->rest.p[0] != ']' && json_take(&l->rest, &l->item.raw, &where, e);
}

bool listing_next(struct listing *l, struct error *e)
{
    return l->item.encoding == ENCODING_PROTO ? next_message(l, e) : next_text(l, e);
}

/* metav1.WatchEvent; in protobuf its object is in a runtime.RawExtension. */
struct frame {
    struct str type, object;
};

static const struct field frame_fields[] = {
    {FIELD(RAW, "object", 2, struct frame, object)},
    {FIELD(STR, "type", 1, struct frame, type)},
    FIELD_END,
};

static const struct field extension_fields[] = {
    {FIELD(RAW, "raw", 1, struct frame, object)},
    FIELD_END,
};

static bool find_type(struct str name, enum watch_type *out)
{
    static const char *const names[] = {
        [WATCH_ADDED] = "ADDED",       [WATCH_MODIFIED] = "MODIFIED", [WATCH_DELETED] = "DELETED",
        [WATCH_BOOKMARK] = "BOOKMARK", [WATCH_ERROR] = "ERROR",
    };
    for (size_t i = 0; i < LEN(names); i++) {
        if (str_equal(name, str_of(names[i]))) {
            *out = (enum watch_type)i;
            return true;
        }
    }
    return false;
}

/* The bytes of the fields 1 and 2, each there once at most. */
static bool take_two(struct str message, struct str *first, struct str *second)
{
    struct proto_value v;
    struct error e;
    while (proto_take(&message, &v, &e)) {
        struct str *out = v.number == 1 ? first : v.number == 2 ? second : NULL;
        if (out && (v.wire != PROTO_BYTES || out->p))
            return false;
        if (out)
            *out = v.bytes;
    }
    return e.kind == ERROR_NONE;
}

/* An event as servers write it, without the tables. False: read it with them, they know more. */
static bool read_usual(struct str frame, struct watch_event *out)
{
    enum { WORD_MOST = 200 };
    static const struct str magic = {"k8s\0", 4};
    struct str type = {0}, object = {0}, raw = {0}, none = {0}, meta = {0};
    struct envelope v = {.encoding = ENCODING_PROTO};
    bool is_usual = take_two(frame, &type, &object) && take_two(object, &raw, &none) &&
                    str_starts(raw, magic) &&
                    take_two(str_part(raw, magic.n, raw.n), &meta, &v.raw) &&
                    take_two(meta, &v.api_version, &v.kind) && type.n && v.api_version.n &&
                    v.kind.n && v.raw.n && v.api_version.n <= WORD_MOST && v.kind.n <= WORD_MOST;
    if (!is_usual || !find_type(type, &out->type))
        return false;
    out->object = v;
    return true;
}

bool watch_event_read(enum encoding encoding, struct str frame, struct arena *mem,
                      struct watch_event *out, struct error *e)
{
    struct frame f = {0};
    struct watch_event event;
    if (encoding == ENCODING_PROTO && LIKELY(read_usual(frame, out)))
        return true;
    if (!encoding_read(encoding, frame, frame_fields, &f, mem, e))
        return error_wrap(e, "watch event");
    if (encoding == ENCODING_PROTO && !proto_read(f.object, extension_fields, &f, mem, e))
        return error_wrap(e, "watch event: object");
    if (!find_type(f.type, &event.type))
        return error_set(e, ERROR_INVALID, "watch event: type \"" STR_FMT "\" is not known",
                         STR_ARG(str_part(f.type, 0, 40)));
    if (!envelope_read(encoding, f.object, mem, &event.object, e))
        return error_wrap(e, "watch event: object");
    *out = event;
    return true;
}

/* Every kind has its metadata there. */
static const struct field bookmark_fields[] = {
    {FIELD_PART("metadata", 1, meta_fields)},
    FIELD_END,
};

bool bookmark_read(const struct envelope *v, struct arena *mem, struct bookmark *out,
                   struct error *e)
{
    struct meta meta = {0};
    if (!encoding_read(v->encoding, v->raw, bookmark_fields, &meta, mem, e))
        return error_wrap(e, "bookmark");
    *out = (struct bookmark){.resource_version = meta.resource_version};
    list_each(&meta.annotations, pair) {
        if (str_equal(pair->key, STR("k8s.io/initial-events-end")))
            out->ends_initial = str_equal(pair->value, STR("true"));
    }
    return true;
}

static const struct field cause_fields[] = {
    {FIELD(STR, "message", 2, struct status_cause, message)},
    {FIELD(STR, "reason", 1, struct status_cause, reason)},
    FIELD_END,
};

static const struct field details_fields[] = {
    {FIELD_MESSAGES("causes", 4, struct status, causes, cause_fields)},
    {FIELD(INT32, "retryAfterSeconds", 5, struct status, retry_after_seconds)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD(INT32, "code", 6, struct status, code)},
    {FIELD_PART("details", 5, details_fields)},
    {FIELD(STR, "message", 3, struct status, message)},
    {FIELD(STR, "reason", 4, struct status, reason)},
    FIELD_END,
};

bool status_read(const struct envelope *v, struct arena *mem, struct status *out, struct error *e)
{
    struct status status = {0};
    if (!str_equal(v->kind, STR("Status")))
        return error_set(e, ERROR_INVALID, "\"" STR_FMT "\" is no Status",
                         STR_ARG(str_part(v->kind, 0, 40)));
    if (!encoding_read(v->encoding, v->raw, status_fields, &status, mem, e))
        return error_wrap(e, "Status");
    *out = status;
    return true;
}
