/* A document is first built as a tree, in which an alias is a second way to the same node, then
 * printed as JSON. Printing is where aliases multiply, so it counts what it prints inside of them.
 */

#include "core/wire/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "core/base/arena.h"
#include "core/base/map.h"
#include "core/wire/json_read.h"
#include "core/wire/json_write.h"
#include "core/wire/yaml_scalar.h"

enum { NODES_MOST = 16 << 20 /* of one document */ };

enum node_type { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

struct node {
    union {
        const char *text;       /* of a scalar */
        struct node **children; /* of a mapping: key, value, key, value, … */
    };
    uint32_t n; /* bytes or children */
    uint32_t line;
    uint8_t type;     /* enum node_type */
    uint8_t has_type; /* a scalar whose type does not depend on its text: */
    uint8_t as;       /* enum yaml_type: from a tag, or YAML_STR for what is quoted */
    bool is_alias;    /* another node's twin: printing it is expansion */
};

struct anchor {
    struct str name;
    struct node *node;
};

/* A sequence or mapping that is still open. */
struct frame {
    struct node *node;
    struct str anchor;
    uint32_t first; /* of its children among the pending */
};

struct yaml_reader {
    yaml_parser_t parser;
    struct str text;
    struct arena mem; /* the tree of the current document */
    VEC(struct anchor) anchors;
    struct map anchor_of; /* hash of a name → its last anchor */
    uint32_t nodes;
    VEC(struct frame) frames;
    VEC(struct node *) pending; /* children of open frames */
    size_t expanded;
    uint32_t line; /* of the document, or of the error in it */
    bool is_done, is_hidden;
};

struct yaml_reader *yaml_reader_new(struct str text)
{
    struct yaml_reader *y = mem_alloc(sizeof(*y));
    y->text = text;
    bool is_ready = yaml_parser_initialize(&y->parser);
    assert(is_ready); /* fails only for want of memory */
    yaml_parser_set_input_string(&y->parser, (const unsigned char *)(text.n ? text.p : ""), text.n);
    return y;
}

void yaml_reader_hide(struct yaml_reader *y)
{
    y->is_hidden = true;
}

void yaml_reader_free(struct yaml_reader *y)
{
    if (!y)
        return;
    yaml_parser_delete(&y->parser);
    arena_done(&y->mem);
    vec_done(&y->anchors);
    map_done(&y->anchor_of);
    vec_done(&y->frames);
    vec_done(&y->pending);
    mem_free(y);
}

/* All errors of a document come through here: its line is told beside the text. */
static bool fail(struct yaml_reader *y, uint32_t line, struct error *e, const char *fmt, ...)
    PRINTF(4, 5);
static bool fail(struct yaml_reader *y, uint32_t line, struct error *e, const char *fmt, ...)
{
    char problem[sizeof(e->text)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(problem, sizeof(problem), fmt, args);
    va_end(args);
    y->line = line;
    return error_set(e, ERROR_INVALID, "%s", problem);
}

/* A piece of the text, for an error; nothing if it may hold a secret. */
static struct str shown(const struct yaml_reader *y, struct str text)
{
    return y->is_hidden ? STR("(hidden)") : str_part(text, 0, 60);
}

/* What libyaml did not like. Where bytes are no text it knows an offset, else a line. */
static bool fail_parse(struct yaml_reader *y, struct error *e)
{
    const yaml_parser_t *p = &y->parser;
    uint32_t line = p->error == YAML_READER_ERROR ? json_line(y->text, p->problem_offset)
                                                  : (uint32_t)p->problem_mark.line + 1;
    return fail(y, line, e, "%s", p->problem ? p->problem : "not YAML");
}

static struct str keep(struct yaml_reader *y, const yaml_char_t *name)
{
    return name ? arena_str(&y->mem, str_of((const char *)name)) : (struct str){0};
}

/* The node is complete: it can be referred to, and belongs to the frame around it. An anchor that
 * is set twice means its last node from there on. */
static void settle(struct yaml_reader *y, struct node *node, struct str anchor)
{
    if (anchor.n) {
        map_put(&y->anchor_of, str_hash_secretly(anchor), y->anchors.n);
        vec_push(&y->anchors, (struct anchor){anchor, node});
    }
    vec_push(&y->pending, node);
}

static struct node *new_node(struct yaml_reader *y, enum node_type type, const yaml_event_t *event,
                             struct error *e)
{
    uint32_t line = (uint32_t)event->start_mark.line + 1;
    if (y->nodes++ == NODES_MOST) {
        fail(y, line, e, "more than %d values in one document", NODES_MOST);
        return NULL;
    }
    struct node *node = arena_alloc(&y->mem, sizeof(*node));
    node->type = (uint8_t)type;
    node->line = line;
    return node;
}

/* What a scalar's tag or quotes say about its type. A tag of somebody's own (!x) makes it text. */
static bool read_type(struct yaml_reader *y, const yaml_event_t *event, struct node *node,
                      struct error *e)
{
    static const char *const names[] = {[YAML_STR] = "str",
                                        [YAML_NULL] = "null",
                                        [YAML_BOOL] = "bool",
                                        [YAML_INT] = "int",
                                        [YAML_FLOAT] = "float"};
    const char *tag = (const char *)event->data.scalar.tag;
    node->as = YAML_STR;
    node->has_type = tag || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    struct str name = tag ? str_of(tag) : STR("!"), common = STR("tag:yaml.org,2002:");
    if (!str_starts(name, common))
        return true;
    for (size_t i = 0; i < LEN(names); i++) {
        if (str_equal(str_part(name, common.n, name.n), str_of(names[i]))) {
            node->as = (uint8_t)i;
            return true;
        }
    }
    return fail(y, node->line, e, "no such tag here: " STR_FMT, STR_ARG(shown(y, name)));
}

static bool add_scalar(struct yaml_reader *y, const yaml_event_t *event, struct error *e)
{
    struct node *node = new_node(y, NODE_SCALAR, event, e);
    if (!node || !read_type(y, event, node, e))
        return false;
    if (event->data.scalar.length > JSON_STRING_MOST)
        return fail(y, node->line, e, "a string is longer than %d bytes", JSON_STRING_MOST);
    struct str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    node->text = arena_str(&y->mem, text).p;
    node->n = (uint32_t)text.n;
    settle(y, node, keep(y, event->data.scalar.anchor));
    return true;
}

static bool add_alias(struct yaml_reader *y, const yaml_event_t *event, struct error *e)
{
    struct node *twin = new_node(y, NODE_SCALAR, event, e);
    if (!twin)
        return false;
    struct str name = str_of((const char *)event->data.alias.anchor);
    uint32_t i = map_find(&y->anchor_of, str_hash_secretly(name));
    if (i == MAP_NONE || !str_equal(y->anchors.at[i].name, name))
        return fail(y, twin->line, e, "there is no anchor " STR_FMT " before this",
                    STR_ARG(shown(y, name)));
    *twin = *y->anchors.at[i].node;
    twin->is_alias = true;
    vec_push(&y->pending, twin);
    return true;
}

static bool open_frame(struct yaml_reader *y, enum node_type type, const yaml_event_t *event,
                       const yaml_char_t *anchor, struct error *e)
{
    struct node *node = new_node(y, type, event, e);
    if (!node)
        return false;
    if (y->frames.n == JSON_DEPTH_MOST)
        return fail(y, node->line, e, "nested deeper than %d levels", JSON_DEPTH_MOST);
    vec_push(&y->frames, (struct frame){node, keep(y, anchor), y->pending.n});
    return true;
}

static void close_frame(struct yaml_reader *y)
{
    struct frame frame = vec_pop(&y->frames);
    struct node *node = frame.node;
    node->n = y->pending.n - frame.first;
    if (node->n) {
        struct node **first = y->pending.at + frame.first;
        node->children = arena_copy(&y->mem, first, node->n * sizeof(*first));
        y->pending.n = frame.first;
    }
    settle(y, node, frame.anchor);
}

static bool add_event(struct yaml_reader *y, const yaml_event_t *event, struct error *e)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(y, event, e);
    case YAML_ALIAS_EVENT:
        return add_alias(y, event, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_frame(y, NODE_SEQUENCE, event, event->data.sequence_start.anchor, e);
    case YAML_MAPPING_START_EVENT:
        return open_frame(y, NODE_MAPPING, event, event->data.mapping_start.anchor, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_frame(y);
        return true;
    default:
        return true;
    }
}

/* The tree of the next document in *root; NULL at the end of the text. */
static bool build(struct yaml_reader *y, struct node **root, struct error *e)
{
    arena_reset(&y->mem);
    vec_clear(&y->anchors);
    map_clear(&y->anchor_of);
    y->nodes = 0;
    vec_clear(&y->frames);
    vec_clear(&y->pending);
    yaml_event_type_t type;
    do {
        yaml_event_t event;
        if (!yaml_parser_parse(&y->parser, &event))
            return fail_parse(y, e);
        type = event.type;
        bool is_fine = add_event(y, &event, e);
        yaml_event_delete(&event);
        if (!is_fine)
            return false;
    } while (type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT);
    y->is_done = type == YAML_STREAM_END_EVENT;
    *root = y->is_done ? NULL : y->pending.at[0];
    return true;
}

/* Printing. */

struct printer {
    struct yaml_reader *y;
    struct yaml_document *out;
    struct error *e;
    unsigned depth;
    unsigned aliases; /* how many we are inside of */
};

/* Nodes and bytes that are there because of an alias. */
static bool count(struct printer *p, const struct node *node, size_t bytes)
{
    if (!p->aliases)
        return true;
    p->y->expanded += bytes + 1;
    if (p->y->expanded <= YAML_EXPANSION_MOST)
        return true;
    return fail(p->y, node->line, p->e, "aliases expand to more than %d bytes",
                YAML_EXPANSION_MOST);
}

static struct str text_of(const struct node *scalar)
{
    return (struct str){scalar->text, scalar->n};
}

/* The JSON text of a scalar. */
static bool print_scalar(struct printer *p, const struct node *node, struct buf *out)
{
    size_t before = out->n;
    enum yaml_type type = YAML_STR;
    if (!node->has_type || node->as != YAML_STR)
        type = yaml_resolve(text_of(node), out);
    if (type == YAML_STR)
        json_add_str(out, text_of(node));
    bool is_widened = type == YAML_INT && node->as == YAML_FLOAT;
    if (node->has_type && type != node->as && !is_widened)
        return fail(p->y, node->line, p->e, "\"" STR_FMT "\" is not what its tag says",
                    STR_ARG(shown(p->y, text_of(node))));
    if (out->n == before)
        return fail(p->y, node->line, p->e, "JSON has no number " STR_FMT,
                    STR_ARG(shown(p->y, text_of(node))));
    return count(p, node, out->n - before);
}

/* A key with the JSON text of its name. Of entries with equal keys the highest precedence
 * counts. */
struct entry {
    struct str key;
    const struct node *value;
    const struct node *mapping; /* the one it is written in */
    uint32_t precedence;
};

typedef VEC(struct entry) entries;

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = str_compare(x->key, y->key);
    return order ? order : (x->precedence > y->precedence) - (x->precedence < y->precedence);
}

/* Names are text in JSON: a number or a boolean becomes one. */
static bool add_key(struct printer *p, const struct node *mapping, uint32_t i, entries *all)
{
    const struct node *key = mapping->children[i], *value = mapping->children[i + 1];
    if (key->type != NODE_SCALAR)
        return fail(p->y, key->line, p->e, "a key must be a scalar");
    AUTO(buf) text = {0};
    if (!print_scalar(p, key, &text))
        return false;
    if (str_equal(buf_str(&text), STR("null")))
        return fail(p->y, key->line, p->e, "a key must not be null");
    if (text.p[0] != '"') {
        AUTO(buf) quoted = {0};
        json_add_str(&quoted, buf_str(&text));
        buf_clear(&text);
        buf_add(&text, buf_str(&quoted));
    }
    struct str name = arena_str(&p->y->mem, buf_str(&text));
    vec_push(all, (struct entry){name, value, mapping, all->n});
    return true;
}

static bool is_merge(const struct node *key)
{
    return key->type == NODE_SCALAR && !key->has_type && str_equal(text_of(key), STR("<<"));
}

static bool collect(struct printer *p, const struct node *mapping, entries *all);

/* Entries of the mappings that "<<" names; the first mapping that has a key gives its value, so
 * they come last first. */
static bool collect_merged(struct printer *p, const struct node *value, entries *all)
{
    if (value->type == NODE_MAPPING)
        return collect(p, value, all);
    if (value->type != NODE_SEQUENCE)
        return fail(p->y, value->line, p->e, "<< needs a mapping or a list of them");
    for (uint32_t i = value->n; i-- > 0;) {
        if (value->children[i]->type != NODE_MAPPING)
            return fail(p->y, value->line, p->e, "<< needs a mapping or a list of them");
        if (!collect(p, value->children[i], all))
            return false;
    }
    return true;
}

/* The entries of a mapping in the order of their precedence: merged ones, then its own. */
static bool collect(struct printer *p, const struct node *mapping, entries *all)
{
    p->aliases += mapping->is_alias;
    if (!count(p, mapping, mapping->n))
        return false;
    for (uint32_t i = 0; i < mapping->n; i += 2) {
        if (is_merge(mapping->children[i]) && !collect_merged(p, mapping->children[i + 1], all))
            return false;
    }
    for (uint32_t i = 0; i < mapping->n; i += 2) {
        if (!is_merge(mapping->children[i]) && !add_key(p, mapping, i, all))
            return false;
    }
    p->aliases -= mapping->is_alias;
    return true;
}

static bool print(struct printer *p, const struct node *node);

static bool print_entries(struct printer *p, const entries *all)
{
    struct buf *json = &p->out->json;
    bool is_first = true, is_doubled = false;
    for (uint32_t i = 0; i < all->n; i++) {
        const struct entry *entry = &all->at[i];
        if (i + 1 < all->n && str_equal(entry->key, entry[1].key)) {
            is_doubled |= entry->mapping == entry[1].mapping; /* else a merge is overridden */
            continue;
        }
        if (!is_first)
            buf_add_char(json, ',');
        is_first = false;
        buf_add(json, entry->key);
        buf_add_char(json, ':');
        if (is_doubled)
            vec_push(&p->out->doubled, json->n);
        is_doubled = false;
        if (!print(p, entry->value))
            return false;
    }
    return true;
}

static bool print_mapping(struct printer *p, const struct node *node)
{
    entries all = {0};
    bool is_fine = collect(p, node, &all);
    if (is_fine) {
        if (all.n)
            qsort(all.at, all.n, sizeof(*all.at), entry_compare);
        buf_add_char(&p->out->json, '{');
        is_fine = print_entries(p, &all);
        buf_add_char(&p->out->json, '}');
    }
    vec_done(&all);
    return is_fine;
}

static bool print_sequence(struct printer *p, const struct node *node)
{
    struct buf *json = &p->out->json;
    buf_add_char(json, '[');
    for (uint32_t i = 0; i < node->n; i++) {
        if (i)
            buf_add_char(json, ',');
        if (!print(p, node->children[i]))
            return false;
    }
    buf_add_char(json, ']');
    return true;
}

static bool print(struct printer *p, const struct node *node)
{
    vec_push(&p->out->marks, (struct yaml_mark){p->out->json.n, node->line});
    if (p->depth == JSON_DEPTH_MOST) /* the tree is not deeper, but aliases may be */
        return fail(p->y, node->line, p->e, "nested deeper than %d levels", JSON_DEPTH_MOST);
    p->depth++;
    p->aliases += node->is_alias;
    bool is_fine = count(p, node, 0);
    if (is_fine)
        is_fine = node->type == NODE_SCALAR     ? print_scalar(p, node, &p->out->json)
                  : node->type == NODE_SEQUENCE ? print_sequence(p, node)
                                                : print_mapping(p, node);
    p->aliases -= node->is_alias;
    p->depth--;
    return is_fine;
}

static bool print_document(struct yaml_reader *y, struct yaml_document *out, struct error *e)
{
    struct node *root = NULL;
    if (y->is_done || !build(y, &root, e) || !root)
        return false;
    y->expanded = 0;
    y->line = root->line;
    struct printer p = {.y = y, .out = out, .e = e};
    return print(&p, root);
}

bool yaml_reader_next(struct yaml_reader *y, struct yaml_document *out, struct error *e)
{
    *e = (struct error){0};
    buf_clear(&out->json);
    vec_clear(&out->marks);
    vec_clear(&out->doubled);
    bool is_there = print_document(y, out, e);
    out->line = y->line;
    return is_there;
}

uint32_t yaml_document_line(const struct yaml_document *d, size_t offset)
{
    uint32_t low = 0, high = d->marks.n; /* the first mark behind the offset is in [low, high] */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->marks.at[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? d->marks.at[low - 1].line : 1;
}

void yaml_document_done(struct yaml_document *d)
{
    buf_done(&d->json);
    vec_done(&d->marks);
    vec_done(&d->doubled);
}
