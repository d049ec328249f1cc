/* Ways through the JSON text beside the reader's: to a path, past all fields. The text comes from
 * our own printer, so its syntax is known to be good. */

#include "core/config/inside.h"

#include "core/wire/json_read.h"
#include "core/wire/json_text.h"

static struct json_cursor cursor_on(struct str text, struct error *e, size_t *where)
{
    struct json_cursor c = {text.p, text.p, text.p + text.n, e, 0, where};
    json_space(&c);
    return c;
}

static bool is_on(const struct json_cursor *c, char opening)
{
    return c->at < c->end && *c->at == opening;
}

/* --- to a path --- */

static bool into_field(struct json_cursor *c, struct str name)
{
    struct arena mem = {0};
    struct str key;
    bool more = false, is_there = false;
    if (!is_on(c, '{') || !json_open(c, '}', &more))
        return false;
    while (more && json_key(c, &mem, &key)) {
        is_there = str_equal(key, name);
        if (is_there || !json_skip(c) || !json_next(c, '}', &more))
            break;
    }
    arena_done(&mem);
    return is_there;
}

static bool into_element(struct json_cursor *c, int64_t index)
{
    bool more;
    if (!is_on(c, '[') || !json_open(c, ']', &more))
        return false;
    for (int64_t i = 0; more && i < index; i++)
        if (!json_skip(c) || !json_next(c, ']', &more))
            return false;
    return more;
}

/* Takes the first step off the path: a field's name, or "[3]". */
static struct str take_step(struct str *path)
{
    size_t n = 1;
    while (n < path->n && path->p[n] != '.' && path->p[n] != '[')
        n++;
    struct str step = str_part(*path, 0, n);
    *path = str_part(*path, n + (n < path->n && path->p[n] == '.'), path->n);
    return step;
}

size_t walk_to(struct str json, struct str path)
{
    struct error e;
    size_t where, found = 0;
    struct json_cursor c = cursor_on(json, &e, &where);
    while (path.n) {
        struct str step = take_step(&path);
        int64_t index = 0;
        bool is_there = step.p[0] == '[' ? str_int(str_part(step, 1, step.n - 1), &index) &&
                                               into_element(&c, index)
                                         : into_field(&c, step);
        if (!is_there)
            break;
        found = (size_t)(c.at - c.start);
    }
    return found;
}

/* --- past all fields --- */

struct walk {
    struct reading *r;
    struct json_cursor c;
    struct buf path;
    struct arena mem;
    bool looks_for_doubled;
    uint32_t doubled; /* of those, how many lie behind */
};

static const struct field *find(const struct field *fields, struct str name)
{
    for (const struct field *f = fields; f->name.p; f++)
        if (str_equal(f->name, name))
            return f;
    return NULL;
}

/* The offsets of doubled fields rise, and so does the cursor. */
static bool is_doubled(struct walk *w)
{
    size_t at = (size_t)(w->c.at - w->r->out->json.p);
    const struct yaml_document *yaml = &w->r->yaml;
    while (w->doubled < yaml->doubled.n && yaml->doubled.at[w->doubled] < at)
        w->doubled++;
    return w->doubled < yaml->doubled.n && yaml->doubled.at[w->doubled] == at;
}

static bool walk_value(struct walk *w, const struct field *fields);

/* One field, its key already in the path. NULL for `fields`: any name will do. */
static bool walk_field(struct walk *w, struct str key, const struct field *fields)
{
    const struct field *f = fields ? find(fields, key) : NULL;
    if (w->looks_for_doubled && is_doubled(w))
        config_error(w->r, buf_str(&w->path), "is there twice");
    if (fields && !f) {
        config_error(w->r, buf_str(&w->path), "there is no such field");
        return json_skip(&w->c);
    }
    return walk_value(w, f && f->type == FIELD_MESSAGE ? f->fields : NULL);
}

static bool walk_object(struct walk *w, const struct field *fields)
{
    bool more;
    if (!json_open(&w->c, '}', &more))
        return false;
    while (more) {
        struct str key;
        size_t before = w->path.n;
        if (!json_key(&w->c, &w->mem, &key))
            return false;
        buf_printf(&w->path, "%s" STR_FMT, before ? "." : "", STR_ARG(key));
        if (!walk_field(w, key, fields) || !json_next(&w->c, '}', &more))
            return false;
        w->path.n = before;
    }
    return true;
}

static bool walk_list(struct walk *w, const struct field *fields)
{
    bool more;
    if (!json_open(&w->c, ']', &more))
        return false;
    for (uint32_t i = 0; more; i++) {
        size_t before = w->path.n;
        buf_printf(&w->path, "[%u]", i);
        if (!walk_value(w, fields) || !json_next(&w->c, ']', &more))
            return false;
        w->path.n = before;
    }
    return true;
}

static bool walk_value(struct walk *w, const struct field *fields)
{
    if (is_on(&w->c, '{'))
        return walk_object(w, fields);
    return is_on(&w->c, '[') ? walk_list(w, fields) : json_skip(&w->c);
}

static void walk(struct reading *r, struct str value, const struct field *fields, struct str path,
                 bool looks_for_doubled)
{
    struct error e;
    size_t where;
    struct walk w = {.r = r, .looks_for_doubled = looks_for_doubled};
    w.c = cursor_on(value, &e, &where);
    buf_add(&w.path, path);
    bool is_good = walk_value(&w, fields);
    assert(is_good);
    buf_done(&w.path);
    arena_done(&w.mem);
}

void walk_unknown(struct reading *r, struct str value, const struct field *fields, struct str path)
{
    walk(r, value, fields, path, false);
}

void walk_doubled(struct reading *r)
{
    if (r->yaml.doubled.n)
        walk(r, buf_str(&r->out->json), NULL, (struct str){0}, true);
}

/* The reader's error is "path: what is wrong", or only the latter. */
bool walk_read(struct reading *r, struct str value, const struct field *fields, void *out,
               struct str path)
{
    struct error e = {0};
    size_t where = 0;
    walk_unknown(r, value, fields, path);
    if (json_read(value, fields, out, &r->out->mem, &where, &e))
        return true;
    struct str text = str_of(e.text);
    size_t colon = str_find(text, ':');
    bool has_path = colon < text.n && text.p[0] != '"' && text.p[0] != '{' && text.p[0] != '[';
    struct str inner = has_path ? str_part(text, 0, colon) : (struct str){0};
    struct str rest = has_path ? str_part(text, colon + 2, text.n) : text;
    config_error(
        r,
        PATH(r, STR_FMT "%s" STR_FMT, STR_ARG(path), path.n && inner.n ? "." : "", STR_ARG(inner)),
        STR_FMT, STR_ARG(rest));
    return false;
}
