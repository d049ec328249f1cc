#include "kube/collect.h"

#include "core/model/dump.h"
#include "core/wire/json_read.h"
#include "core/wire/json_write.h"

enum {
    PAGE_OBJECTS = 500,
    PAGE_BYTES = 256 << 20,
    TIMEOUT_MS = 60000,
    TRIES_MOST = 5,
    WAIT_MS = 1000
};

void collect_init(struct collect *c, request_id id)
{
    *c = (struct collect){.last_id = id};
}

void collect_done(struct collect *c)
{
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        buf_done(&c->kinds[i].items);
    buf_done(&c->next);
    buf_done(&c->path);
    buf_done(&c->trouble);
    answer_done(&c->answer);
}

/* --- asking --- */

static const char *version_of(uint32_t kind, uint32_t number)
{
    const struct kind_info *info = kind_info_get(watched_kinds[kind].kind);
    return number == 0 ? info->api_version : number <= OLDER_MOST ? info->older[number - 1] : NULL;
}

static void word_path(struct collect *c)
{
    const struct watched *kind = &watched_kinds[c->kind];
    buf_clear(&c->path);
    path_add_group(&c->path, version_of(c->kind, c->version));
    buf_printf(&c->path, "/%s?limit=%d", kind->resource, PAGE_OBJECTS);
    if (*kind->selector)
        path_add_query(&c->path, "fieldSelector", str_of(kind->selector));
    if (c->next.n)
        path_add_query(&c->path, "continue", buf_str(&c->next));
}

void collect_ask(struct collect *c, int64_t now_ms, struct requests *out)
{
    if (c->current || collect_is_over(c) || now_ms < c->due_ms)
        return;
    word_path(c);
    c->current = ++c->last_id;
    answer_clear(&c->answer);
    struct request request = {.id = c->current,
                              .lane = LANE_READ,
                              .verb = VERB_GET,
                              .path = arena_str(&out->mem, buf_str(&c->path)),
                              .timeout_ms = TIMEOUT_MS};
    vec_push(&out->list, request);
}

/* --- hearing --- */

struct page_meta {
    struct str next;
};

struct page {
    struct page_meta meta;
    struct str api_version, kind;
    LIST(struct str) items;
};

static const struct field meta_fields_of_page[] = {
    {FIELD(STR, "continue", 0, struct page_meta, next)},
    FIELD_END,
};

static const struct field page_fields[] = {
    {FIELD(RAW, "items", 0, struct page, items), .shape = FIELD_LIST,
     FIELD_SIZE(struct page, items)},
    {FIELD_STRUCT("metadata", 0, struct page, meta, meta_fields_of_page)},
    FIELD_END,
};

struct head {
    struct str kind;
};

static const struct field head_fields[] = {
    {FIELD(STR, "kind", 0, struct head, kind)},
    FIELD_END,
};

static void end_kind(struct collect *c, enum collected how)
{
    c->kinds[c->kind].how = how;
    c->kind++;
    c->version = c->tries = 0;
    buf_clear(&c->next);
}

static void give_up(struct collect *c, struct str why)
{
    buf_printf(&c->trouble, "GET " STR_FMT ": " STR_FMT, STR_ARG(buf_str(&c->path)), STR_ARG(why));
}

/* Items of built-in kinds leave out what they are. */
static void add_item(struct collect *c, struct str text, struct arena *mem)
{
    const struct kind_info *info = kind_info_get(watched_kinds[c->kind].kind);
    struct buf *out = &c->kinds[c->kind].items;
    struct head head = {0};
    struct error e;
    size_t where;
    bool says = json_read(text, head_fields, &head, mem, &where, &e) && head.kind.n;
    if (says)
        buf_add(out, text);
    else
        buf_printf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\"," STR_FMT,
                   version_of(c->kind, c->version), info->name, STR_ARG(str_part(text, 1, text.n)));
    buf_add(out, STR(",\n"));
    c->kinds[c->kind].n++;
}

static void take_page(struct collect *c)
{
    struct arena mem = {0};
    struct page page = {0};
    struct error e = {0};
    size_t where;
    if (!json_read(buf_str(&c->answer.body), page_fields, &page, &mem, &where, &e)) {
        give_up(c, str_of(e.text));
    } else {
        list_each(&page.items, item)
            add_item(c, *item, &mem);
        buf_clear(&c->next);
        buf_add(&c->next, page.meta.next);
        c->tries = 0;
        if (c->next.n == 0)
            end_kind(c, COLLECTED);
    }
    arena_done(&mem);
}

/* What was read of the kind so far is from another time. */
static void begin_kind_again(struct collect *c)
{
    buf_clear(&c->next);
    buf_clear(&c->kinds[c->kind].items);
    c->kinds[c->kind].n = 0;
}

static void try_again(struct collect *c, int64_t now_ms, const struct trouble *why)
{
    if (++c->tries == TRIES_MOST)
        give_up(c, why->message);
    c->due_ms = now_ms + MAX(why->retry_after_ms, (int64_t)WAIT_MS);
}

static void heed_trouble(struct collect *c, int64_t now_ms, const struct trouble *why)
{
    if (why->status == 404 && version_of(c->kind, c->version + 1))
        c->version++;
    else if (why->status == 404)
        end_kind(c, COLLECTED_NONE_SERVED);
    else if (why->status == 403)
        end_kind(c, COLLECTED_DENIED);
    else if (trouble_is_expired(why) && c->next.n)
        begin_kind_again(c);
    else if (trouble_is_passing(why))
        try_again(c, now_ms, why);
    else
        give_up(c, why->message);
}

void collect_hear(struct collect *c, int64_t now_ms, const struct reply *reply)
{
    if (reply->id != c->current)
        return;
    if (reply->kind == REPLY_HEAD || reply->kind == REPLY_DATA) {
        answer_add(&c->answer, reply, PAGE_BYTES);
        return;
    }
    struct arena mem = {0};
    bool is_lost = reply->kind == REPLY_LOST;
    c->current = 0;
    if (!is_lost && c->answer.status == 200 && !c->answer.is_cut) {
        take_page(c);
    } else {
        struct trouble why = is_lost ? trouble_of_lost(reply) : trouble_of_answer(&c->answer, &mem);
        heed_trouble(c, now_ms, &why);
    }
    arena_done(&mem);
}

/* --- writing --- */

static void put_names(const struct collect *c, struct json_writer *w, const char *key,
                      bool are_read)
{
    AUTO(buf) names = {0};
    for (uint32_t i = 0; i < WATCHED_COUNT; i++) {
        if ((c->kinds[i].how == COLLECTED_DENIED) == are_read)
            continue;
        if (names.n)
            buf_add_char(&names, ',');
        watched_add_name(&names, &watched_kinds[i]);
    }
    put_text(w, key, buf_str(&names));
}

void collect_write(const struct collect *c, struct str at, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_put_open(&w, '{');
    put_text(&w, "apiVersion", STR("v1"));
    put_text(&w, "kind", STR("List"));
    put_open(&w, "metadata", '{');
    put_open(&w, "annotations", '{');
    put_text(&w, DUMP_TIME, at);
    put_names(c, &w, DUMP_READ, true);
    put_names(c, &w, DUMP_DENIED, false);
    json_put_close(&w, '}');
    json_put_close(&w, '}');
    buf_add(out, STR(",\"items\":[\n"));
    size_t end = out->n;
    for (uint32_t i = 0; i < WATCHED_COUNT; i++) {
        buf_add(out, buf_str(&c->kinds[i].items));
        end = c->kinds[i].n ? out->n - 2 : end;
    }
    buf_cut(out, end, out->n);
    buf_add(out, STR("\n]}\n"));
}
