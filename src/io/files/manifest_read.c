#include "io/files/manifest_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/hash.h"
#include "core/base/map.h"
#include "core/base/time_text.h"
#include "core/model/check.h"
#include "core/model/default.h"
#include "core/model/dump.h"
#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "core/wire/yaml.h"

/* What says which kind of object a text holds. */
struct head {
    struct str api_version, kind;
    bool has_items;
    LIST(struct str) items; /* of a list, as text */
};

static const struct field head_fields[] = {
    {FIELD(STR, "apiVersion", 0, struct head, api_version)},
    {FIELD(RAW, "items", 0, struct head, items), .shape = FIELD_LIST,
     FIELD_SIZE(struct head, items), FIELD_HAS(struct head, has_items)},
    {FIELD(STR, "kind", 0, struct head, kind)},
    FIELD_END,
};

/* What a list says of itself. */
struct list_head {
    struct meta meta;
};

static const struct field list_head_fields[] = {
    {FIELD_STRUCT("metadata", 0, struct list_head, meta, meta_fields)},
    FIELD_END,
};

/* One document, as JSON text. */
struct document {
    struct objects *into;
    const char *file;
    uint32_t number;
    bool has_value; /* this document or one before is not empty */
    struct str text;
    const struct yaml_document *yaml; /* where lines come from; NULL: the file is JSON, */
    struct str whole;                 /* all of it this, */
    size_t seen, lines;               /* with so many ends of lines in its first bytes */
};

static uint32_t line_of(struct document *d, const char *at)
{
    if (d->yaml)
        return yaml_document_line(d->yaml, (size_t)(at - d->text.p));
    size_t offset = (size_t)(at - d->whole.p);
    if (offset < d->seen)
        d->seen = d->lines = 0;
    d->lines += json_line(str_part(d->whole, d->seen, offset), offset) - 1;
    d->seen = offset;
    return (uint32_t)d->lines + 1;
}

static bool place_error(struct document *d, const char *at, struct error *e)
{
    return error_wrap(e, "%s: document %u, line %u", d->file, d->number, line_of(d, at));
}

static void count_skipped(struct objects *o, struct str kind)
{
    vec_each(&o->skipped, s) {
        if (str_equal(s->name, kind)) {
            s->n++;
            return;
        }
    }
    vec_push(&o->skipped, (struct skipped_kind){arena_str(&o->mem, kind), 1});
}

static bool add_object(struct document *d, const struct kind_info *info, struct str text,
                       struct error *e)
{
    struct objects *o = d->into;
    struct object object = {.kind = info->kind, .meta = arena_alloc(&o->mem, info->size)};
    size_t where = 0;
    if (o->all.n == MANIFEST_OBJECTS_MOST)
        return error_set(e, ERROR_INVALID, "more than %d objects", MANIFEST_OBJECTS_MOST) ||
               place_error(d, text.p, e);
    if (!json_read(text, info->fields, object.meta, &o->mem, &where, e))
        return place_error(d, text.p + where, e);
    object_default(&object, &o->mem);
    if (!object_check(&object, e))
        return place_error(d, text.p, e);
    vec_push(&o->all, object);
    vec_push(&o->places, (struct object_place){d->file, d->number, line_of(d, text.p)});
    return true;
}

static bool add_value(struct document *d, struct str text, const struct head *list,
                      struct error *e);

static struct str annotation(const struct meta *meta, const char *key)
{
    list_each(&meta->annotations, pair)
        if (str_equal(pair->key, str_of(key)))
            return pair->value;
    return (struct str){0};
}

/* A list that `kubenexus dump` wrote says what it lacks; any other says nothing. */
static void hear_list(struct objects *o, struct str text)
{
    struct list_head head = {0};
    struct error e = {0};
    size_t where;
    if (!json_read(text, list_head_fields, &head, &o->mem, &where, &e))
        return;
    struct str read = annotation(&head.meta, DUMP_READ);
    int64_t at_ms;
    if (!read.n)
        return;
    o->read = read;
    o->denied = annotation(&head.meta, DUMP_DENIED);
    if (time_parse(annotation(&head.meta, DUMP_TIME), &at_ms))
        o->dumped_ms = at_ms;
}

/* The items of a PodList and its like leave out what the list's own kind says. */
static bool add_items(struct document *d, const struct head *list, struct error *e)
{
    struct head item = {.api_version = list->api_version};
    item.kind = str_part(list->kind, 0, list->kind.n - strlen("List"));
    list_each(&list->items, text) {
        if (!add_value(d, *text, &item, e))
            return false;
    }
    return true;
}

static bool add_value(struct document *d, struct str text, const struct head *list, struct error *e)
{
    struct head head = {0};
    size_t where = 0;
    d->has_value = true;
    if (!json_read(text, head_fields, &head, &d->into->mem, &where, e))
        return place_error(d, text.p + where, e);
    if (head.kind.n == 0 && list) {
        head.kind = list->kind;
        head.api_version = list->api_version;
    }
    if (head.kind.n == 0 || head.api_version.n == 0) {
        error_set(e, ERROR_INVALID, "%s: missing", head.kind.n ? "apiVersion" : "kind");
        return place_error(d, text.p, e);
    }
    if (head.has_items && str_ends(head.kind, STR("List"))) {
        hear_list(d->into, text);
        return add_items(d, &head, e);
    }
    const struct kind_info *info = kind_info_find(head.api_version, head.kind);
    if (info)
        return add_object(d, info, text, e);
    count_skipped(d->into, head.kind);
    return true;
}

/* Over space and lines that only divide documents. */
static void skip_divider(struct str *rest)
{
    while (rest->n) {
        if (strchr(" \t\r\n", rest->p[0]))
            *rest = str_part(*rest, 1, rest->n);
        else if (str_starts(*rest, STR("---")))
            *rest = str_part(*rest, 3, rest->n);
        else
            return;
    }
}

static bool read_json(struct document *d, struct error *e)
{
    struct str rest = d->whole;
    for (skip_divider(&rest); rest.n; skip_divider(&rest)) {
        const char *from = rest.p;
        size_t where = 0;
        d->number++;
        if (!json_take(&rest, &d->text, &where, e))
            return place_error(d, from + where, e);
        if (!str_equal(d->text, STR("null")) && !add_value(d, d->text, NULL, e))
            return false;
    }
    return true;
}

/* A document's text is handed to the set: objects keep pieces of it. */
static bool read_yaml_document(struct document *d, struct yaml_document *yaml, struct error *e)
{
    if (str_equal(buf_str(&yaml->json), STR("null")))
        return true;
    vec_push(&d->into->texts, yaml->json.p);
    d->yaml = yaml;
    d->text = buf_str(&yaml->json);
    yaml->json = (struct buf){0};
    return add_value(d, d->text, NULL, e);
}

static bool read_yaml(struct document *d, struct str text, struct error *e)
{
    AUTO(yaml_document) yaml = {0};
    struct yaml_reader *y = yaml_reader_new(text);
    bool is_fine = true;
    while (is_fine) {
        d->number++;
        if (!yaml_reader_next(y, &yaml, e)) {
            if (e->kind != ERROR_NONE)
                is_fine = error_wrap(e, "%s: document %u, line %u", d->file, d->number, yaml.line);
            break;
        }
        is_fine = read_yaml_document(d, &yaml, e);
    }
    yaml_reader_free(y);
    return is_fine;
}

/* The comment "# target: NS/NAME" among the first lines. */
static void find_target(struct objects *o, struct str text)
{
    enum { LINES = 8 };
    struct str mark = STR("# target:");
    for (int i = 0; i < LINES && text.n; i++) {
        struct str line = str_take(&text, '\n');
        if (!str_starts(line, mark))
            continue;
        line = str_part(line, mark.n, line.n);
        while (line.n && strchr(" \t", line.p[0]))
            line = str_part(line, 1, line.n);
        while (line.n && strchr(" \t\r", line.p[line.n - 1]))
            line.n--;
        o->target = arena_str(&o->mem, line);
        return;
    }
}

/* Takes the text, which `o` keeps if its objects point into it. */
static bool add_text(struct objects *o, const char *file, struct buf text, struct error *e)
{
    struct document d = {.into = o, .file = file, .whole = buf_str(&text)};
    struct str rest = d.whole;
    find_target(o, rest);
    skip_divider(&rest);
    bool is_fine;
    if (rest.n && rest.p[0] == '{') {
        vec_push(&o->texts, text.p);
        is_fine = read_json(&d, e);
    } else {
        is_fine = read_yaml(&d, d.whole, e);
        buf_done(&text);
    }
    if (is_fine && !d.has_value)
        return error_set(e, ERROR_INVALID, "%s: there is no object in it", file);
    return is_fine;
}

static bool read_fd(int fd, struct buf *out, struct error *e)
{
    static const size_t step = 1 << 16;
    char *chunk = mem_alloc(step);
    ssize_t got;
    while ((got = read(fd, chunk, step)) > 0 && out->n <= MANIFEST_BYTES_MOST)
        buf_add_bytes(out, chunk, (size_t)got);
    mem_free(chunk);
    if (got < 0)
        return error_set(e, ERROR_INVALID, "%s", strerror(errno));
    if (out->n > MANIFEST_BYTES_MOST)
        return error_set(e, ERROR_INVALID, "larger than %d bytes", MANIFEST_BYTES_MOST);
    return true;
}

static bool read_file(const char *file, struct buf *out, struct error *e)
{
    bool is_stdin = !strcmp(file, "-");
    int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(e, ERROR_INVALID, "%s: %s", file, strerror(errno));
    bool is_fine = read_fd(fd, out, e) || error_wrap(e, "%s", file);
    if (!is_stdin)
        close(fd);
    return is_fine;
}

static uint64_t hash_of(const struct object *object)
{
    uint64_t name = hash_pair(str_hash_secretly(object->meta->namespace),
                              str_hash_secretly(object->meta->name));
    return hash_pair(object->kind, name);
}

static bool is_same(const struct object *a, const struct object *b)
{
    return a->kind == b->kind && str_equal(a->meta->name, b->meta->name) &&
           str_equal(a->meta->namespace, b->meta->namespace);
}

static bool refuse_twin(const struct objects *o, uint32_t first, uint32_t second, struct error *e)
{
    const struct object *object = &o->all.at[second];
    const struct object_place *there = &o->places.at[first], *here = &o->places.at[second];
    struct str namespace = object->meta->namespace;
    return error_set(e, ERROR_INVALID,
                     "%s: document %u, line %u: %s " STR_FMT "%s" STR_FMT
                     " is already in %s, document %u, line %u",
                     here->file, here->document, here->line, kind_info_get(object->kind)->name,
                     STR_ARG(namespace), namespace.n ? "/" : "", STR_ARG(object->meta->name),
                     there->file, there->document, there->line);
}

static bool check_twins(const struct objects *o, struct error *e)
{
    struct map seen = {0};
    bool is_fine = true;
    for (uint32_t i = 0; i < o->all.n && is_fine; i++) {
        uint64_t hash = hash_of(&o->all.at[i]);
        uint32_t other = map_find(&seen, hash);
        if (other != MAP_NONE && is_same(&o->all.at[i], &o->all.at[other]))
            is_fine = refuse_twin(o, other, i, e);
        map_put(&seen, hash, i);
    }
    map_done(&seen);
    return is_fine;
}

/* What files hold together: something that we read, and that once. */
static bool check_set(const struct objects *o, const char *file, struct error *e)
{
    if (o->all.n == 0 && o->skipped.n)
        return error_set(e, ERROR_INVALID, "%s: nothing that is read here, but kind " STR_FMT, file,
                         STR_ARG(str_part(o->skipped.at[0].name, 0, 60)));
    return check_twins(o, e);
}

bool objects_read(struct objects *o, const char *const *files, size_t n, struct error *e)
{
    assert(n > 0);
    bool is_fine = true;
    for (size_t i = 0; i < n && is_fine; i++) {
        struct buf text = {0};
        if (read_file(files[i], &text, e)) {
            is_fine = add_text(o, files[i], text, e);
        } else {
            buf_done(&text);
            is_fine = false;
        }
    }
    if (is_fine && check_set(o, files[0], e))
        return true;
    objects_done(o);
    return false;
}

bool objects_read_text(struct objects *o, const char *name, struct str text, struct error *e)
{
    struct buf copy = {0};
    buf_add(&copy, text);
    if (add_text(o, name, copy, e) && check_set(o, name, e))
        return true;
    objects_done(o);
    return false;
}

void objects_done(struct objects *o)
{
    arena_done(&o->mem);
    vec_each(&o->texts, text)
        mem_free(*text);
    vec_done(&o->texts);
    vec_done(&o->all);
    vec_done(&o->places);
    vec_done(&o->skipped);
    *o = (struct objects){0};
}
