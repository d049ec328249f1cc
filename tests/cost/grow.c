#include "grow.h"

#include <stdio.h>

#include "core/model/default.h"
#include "support/objects.h"

/* --- the least that a kind may say --- */

/* Behind its metadata. */
static const char *const specs[KIND_COUNT] = {
    [KIND_POD] =
        "'spec':{'schedulerName':'kubenexus-scheduler','containers':[{'name':'c','image':'i'}]}",
    [KIND_NODE] = "'status':{'allocatable':{'cpu':'8','memory':'32Gi','pods':'110'}}",
    [KIND_QUEUE] = "'spec':{'split':{'by':'Namespace'},'provisioning':{'class':'c'}}",
};

struct object least(struct arena *mem, enum kind kind, uint32_t number)
{
    const struct kind_info *info = kind_info_get(kind);
    const char *more = specs[kind] ? specs[kind] : "'spec':{}";
    char text[600];
    snprintf(text, sizeof(text),
             "{'apiVersion':'%s','kind':'%s','metadata':{'name':'o%08u'%s,'uid':'%s-%08u'},%s}",
             info->api_version, info->name, number,
             info->is_namespaced ? ",'namespace':'default'" : "", info->name, number, more);
    return object_of_json(mem, text);
}

/* --- the lists of a kind --- */

struct walk {
    struct path path;
    bool texts; /* too */
    void (*fn)(void *ctx, const struct path *path);
    void *ctx;
    uint32_t n;
};

static bool is_asked_for(const struct walk *w, const struct field *f)
{
    bool is_text = f->shape == FIELD_ONE && f->type == FIELD_STR;
    return f->shape == FIELD_LIST || f->shape == FIELD_MAP || (w->texts && is_text);
}

static void walk(struct walk *w, const struct field *fields)
{
    for (const struct field *f = fields; f->name.p; f++) {
        if (w->path.n == PATH_MOST)
            return;
        w->path.steps[w->path.n++] = f;
        if (is_asked_for(w, f)) {
            w->n++;
            w->fn(w->ctx, &w->path);
        }
        if (f->type == FIELD_MESSAGE && f->shape != FIELD_MAP)
            walk(w, f->fields);
        else if (f->shape == FIELD_MAP && f->fields[1].type == FIELD_MESSAGE)
            walk(w, f->fields);
        w->path.n--;
    }
}

uint32_t paths_each(enum kind kind, void (*fn)(void *ctx, const struct path *path), void *ctx)
{
    struct walk w = {.path = {.kind = kind}, .fn = fn, .ctx = ctx};
    walk(&w, kind_info_get(kind)->fields);
    return w.n;
}

uint32_t names_each(enum kind kind, void (*fn)(void *ctx, const struct path *path), void *ctx)
{
    struct walk w = {.path = {.kind = kind}, .texts = true, .fn = fn, .ctx = ctx};
    walk(&w, kind_info_get(kind)->fields);
    return w.n;
}

struct str path_text(const struct path *path, struct arena *mem)
{
    struct str text = arena_str(mem, str_of(kind_info_get(path->kind)->name));
    for (uint32_t i = 0; i < path->n; i++) {
        const struct field *f = path->steps[i];
        bool is_many = i + 1 < path->n && (f->shape == FIELD_LIST || f->shape == FIELD_MAP);
        if (f->name.n)
            text = arena_join(mem, text, i ? STR(".") : STR(" "), f->name,
                              is_many ? STR("[]") : STR(""));
    }
    return text;
}

/* --- growing --- */

struct growing {
    struct arena *mem;
    const struct path *path;
    uint32_t n;
    bool alike;
    uint32_t first; /* number of the first element */
};

/* Words of which there are few. */
static const struct {
    const char *field, *word;
} words[] = {
    {"effect", "NoSchedule"},
    {"whenUnsatisfiable", "DoNotSchedule"},
    {"protocol", "TCP"},
    {"nodeAffinityPolicy", "Honor"},
    {"nodeTaintsPolicy", "Honor"},
    {"restartPolicy", "Always"},
    {"status", "True"},
    {"allocationMode", "ExactCount"},
    {"preemptionPolicy", "PreemptLowerPriority"},
    {"apiVersion", "apps/v1"},
    {"window", "Day"},
    {"action", "Soft"},
};

static bool grows(const struct growing *g, const char *name)
{
    return str_equal(g->path->steps[g->path->n - 1]->name, str_of(name));
}

static bool is_within(const struct growing *g, const char *name)
{
    for (uint32_t i = 0; i < g->path->n; i++)
        if (str_equal(g->path->steps[i]->name, str_of(name)))
            return true;
    return false;
}

static struct str word_for(const struct growing *g, struct str field, uint32_t number)
{
    if (str_equal(field, STR("operator")))
        return grows(g, "values") || is_within(g, "matchFields") ? STR("In") : STR("Exists");
    for (size_t i = 0; i < LEN(words); i++)
        if (str_equal(field, str_of(words[i].field)))
            return str_of(words[i].word);
    if (str_equal(field, STR("key")) && is_within(g, "matchFields"))
        return STR("metadata.name");
    bool is_resource = is_within(g, "requests") || is_within(g, "limits") ||
                       is_within(g, "allocatable") || is_within(g, "capacity");
    bool is_ours = str_equal(field, STR("key")) && grows(g, "annotations"); /* to be understood */
    return arena_printf(g->mem,
                        is_resource ? "example.com/r%08u"
                        : is_ours   ? "scheduling.kubenexus.io/v%08u"
                                    : "v%08u",
                        g->first + number);
}

static void put_pointer(void *at, void *p, uint32_t n, bool is_list)
{
    memcpy(at, &p, sizeof(p));
    if (is_list)
        memcpy((char *)at + sizeof(p), &n, sizeof(n));
}

static void put_value(struct growing *g, const struct field *f, void *at, uint32_t number);

/* What an element says beside the way: its plain values. */
static void put_values(struct growing *g, const struct field *fields, void *message,
                       uint32_t number)
{
    for (const struct field *f = fields; f->name.p; f++) {
        if (f->shape == FIELD_ONE)
            put_value(g, f, (char *)message + f->offset, number);
        if (f->has_offset && f->shape == FIELD_ONE && f->type != FIELD_MESSAGE)
            *(bool *)((char *)message + f->has_offset) = true;
    }
    for (const struct field *f = fields; f->name.p; f++)
        if (f->shape == FIELD_LIST && is_within(g, "matchFields") &&
            str_equal(f->name, STR("values"))) {
            struct str *one = arena_array(g->mem, struct str, 1);
            *one = word_for(g, f->name, number);
            put_pointer((char *)message + f->offset, one, 1, true);
        }
}

static void put_value(struct growing *g, const struct field *f, void *at, uint32_t number)
{
    switch ((enum field_type)f->type) {
    case FIELD_STR:
        *(struct str *)at = word_for(g, f->name, number);
        break;
    case FIELD_RAW:
        *(struct str *)at = STR("{}");
        break;
    case FIELD_BOOL:
        *(bool *)at = false;
        break;
    case FIELD_INT32:
        *(int32_t *)at = 1;
        break;
    case FIELD_INT64:
        *(int64_t *)at = 1;
        break;
    case FIELD_TIME:
        *(int64_t *)at = FIELD_TIME_NONE;
        break;
    case FIELD_SCALAR:
        f->scalar->read(STR("1"), at);
        break;
    case FIELD_MESSAGE:
        put_values(g, f->fields, at, number);
        break;
    }
}

/* The elements of a list or map on the way: one, or at its end as many as are wanted. */
static char *put_elements(struct growing *g, const struct field *f, char *at, bool is_last)
{
    uint32_t n = is_last ? g->n : 1;
    char *elements = arena_alloc(g->mem, (size_t)f->size * n);
    for (uint32_t i = 0; i < n; i++) {
        char *element = elements + (size_t)f->size * i;
        uint32_t number = g->alike ? 0 : i;
        if (f->shape == FIELD_MAP || f->type == FIELD_MESSAGE) {
            field_init(f->fields, element);
            put_values(g, f->fields, element, number);
        } else {
            put_value(g, f, element, number);
        }
    }
    put_pointer(at, elements, n, true);
    return elements;
}

/* Goes down from the message; elements that the least object has already are gone through. */
static void go_down(struct growing *g, char *message)
{
    for (uint32_t i = 0; i < g->path->n; i++) {
        const struct field *f = g->path->steps[i];
        char *at = message + f->offset, *there = NULL;
        bool is_last = i + 1 == g->path->n;
        if (f->has_offset)
            *(bool *)(message + f->has_offset) = true;
        if (f->shape == FIELD_ONE) {
            if (is_last)
                put_value(g, f, at, 0);
            message = at;
            continue;
        }
        memcpy(&there, at, sizeof(there));
        if (f->shape == FIELD_POINTER && !there) {
            there = arena_alloc(g->mem, f->size);
            field_init(f->fields, there);
            put_values(g, f->fields, there, 0);
            put_pointer(at, there, 0, false);
        } else if (f->shape != FIELD_POINTER && (!there || is_last)) {
            there = put_elements(g, f, at, is_last);
        }
        message = there;
    }
}

struct object grown(struct arena *mem, const struct path *path, uint32_t n, bool alike)
{
    struct object o = least(mem, path->kind, 0);
    struct growing g = {mem, path, n, alike, 0};
    go_down(&g, (char *)o.meta);
    return o;
}

struct object named(struct arena *mem, const struct path *path, uint32_t number)
{
    struct object o = least(mem, path->kind, number);
    struct growing g = {mem, path, 1, false, number};
    go_down(&g, (char *)o.meta);
    return o;
}
