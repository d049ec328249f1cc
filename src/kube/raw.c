#include "kube/raw.h"

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/wire/json_read.h"

enum { PODS_KEPT = 256 };

static uint64_t key_of(enum kind kind, struct str namespace, struct str name, struct str uid)
{
    bool is_node = kind == KIND_NODE;
    uint64_t key = hash_pair((uint64_t)kind, str_hash_secretly(name));
    if (!is_node)
        key = hash_pair(hash_pair(key, str_hash_secretly(namespace)), str_hash_secretly(uid));
    return key ? key : 1;
}

/* --- the table --- */

static void set_json(struct raw *raw, struct str json)
{
    mem_free((char *)(uintptr_t)raw->json.p);
    raw->json = (struct str){json.n ? mem_copy(json.p, json.n) : NULL, json.n};
}

static void forget(struct raws *r, uint32_t i)
{
    struct raw *raw = raws_at(r, i);
    map_remove(&r->by_key, raw->key);
    r->n_pods -= raw->kind == KIND_POD;
    mem_free((char *)(uintptr_t)raw->namespace.p);
    mem_free((char *)(uintptr_t)raw->json.p);
    *raw = (struct raw){0};
    vec_push(&r->free, i);
}

/* Of pods that nobody needs the one that was needed longest ago goes. */
static void make_room(struct raws *r)
{
    uint32_t oldest = UINT32_MAX;
    if (r->n_pods <= PODS_KEPT)
        return;
    for (uint32_t i = 0; i < r->at.n; i++) {
        const struct raw *raw = raws_at(r, i);
        if (raw->kind == KIND_POD && raw->users == 0 &&
            (oldest == UINT32_MAX || raw->used < raws_at(r, oldest)->used))
            oldest = i;
    }
    if (oldest != UINT32_MAX)
        forget(r, oldest);
}

static uint32_t add(struct raws *r, uint64_t key, const struct raw *like)
{
    make_room(r);
    if (r->free.n == 0) {
        vec_push(&r->free, r->at.n);
        vec_push(&r->at, (struct raw){0});
    }
    uint32_t i = vec_pop(&r->free);
    char *at = mem_alloc(like->namespace.n + like->name.n + like->uid.n + 1);
    struct raw *raw = raws_at(r, i);
    *raw = (struct raw){.key = key, .kind = like->kind};
    raw->namespace = str_keep(&at, like->namespace);
    raw->name = str_keep(&at, like->name);
    raw->uid = str_keep(&at, like->uid);
    map_put(&r->by_key, key, i);
    r->n_pods += like->kind == KIND_POD;
    return i;
}

uint32_t raws_hold(struct raws *r, enum kind kind, struct str namespace, struct str name,
                   struct str uid)
{
    uint64_t key = key_of(kind, namespace, name, uid);
    uint32_t i = map_find(&r->by_key, key);
    if (i == MAP_NONE)
        i = add(r, key,
                &(struct raw){.kind = kind, .namespace = namespace, .name = name, .uid = uid});
    struct raw *raw = raws_at(r, i);
    bool is_old = raw->state == RAW_GONE || raw->version < raw->seen;
    if (raw->state != RAW_WANTED && is_old)
        raw->state = RAW_WANTED;
    raw->users++;
    raw->used = ++r->held;
    return i;
}

void raws_drop(struct raws *r, uint32_t i)
{
    struct raw *raw = raws_at(r, i);
    if (--raw->users == 0 && raw->state != RAW_HERE)
        forget(r, i);
}

void raws_see(struct raws *r, enum kind kind, const struct meta *meta, bool is_gone)
{
    if (r->at.n == r->free.n)
        return;
    uint32_t i = map_find(&r->by_key, key_of(kind, meta->namespace, meta->name, meta->uid));
    int64_t version = 0;
    if (i == MAP_NONE)
        return;
    struct raw *raw = raws_at(r, i);
    if (is_gone && raw->users == 0)
        forget(r, i);
    else if (is_gone || !str_int(meta->resource_version, &version))
        raw->seen = UINT64_MAX; /* whatever is here is too old */
    else
        raw->seen = (uint64_t)version;
}

void raws_done(struct raws *r)
{
    for (uint32_t i = 0; i < r->at.n; i++)
        if (raws_at(r, i)->key)
            forget(r, i);
    vec_done(&r->at);
    vec_done(&r->free);
    map_done(&r->by_key);
}

/* --- objects --- */

struct head {
    struct str name, uid, version, managers;
};

struct page {
    struct str next;
    LIST(struct str) items;
};

/* clang-format off */

static const struct field meta_fields[] = {
    {FIELD(RAW, "managedFields", 0, struct head, managers)},
    {FIELD(STR, "name", 0, struct head, name)},
    {FIELD(STR, "resourceVersion", 0, struct head, version)},
    {FIELD(STR, "uid", 0, struct head, uid)},
    FIELD_END,
};

static const struct field head_fields[] = {
    {FIELD_PART("metadata", 0, meta_fields)},
    FIELD_END,
};

static const struct field list_fields[] = {
    {FIELD(STR, "continue", 0, struct page, next)},
    FIELD_END,
};

static const struct field page_fields[] = {
    {FIELD(RAW, "items", 0, struct page, items), .shape = FIELD_LIST, FIELD_SIZE(struct page, items)},
    {FIELD_PART("metadata", 0, list_fields)},
    FIELD_END,
};

/* clang-format on */

/* Who wrote which field is half of an object and of no use to anybody here. (kube-scheduler leaves
 * it out of pods.) */
static void keep(struct raw *raw, struct str json, const struct head *head, struct arena *mem)
{
    struct str key = STR("\"managedFields\":");
    size_t at = head->managers.n ? (size_t)(head->managers.p - json.p) : 0;
    bool is_plain = at > key.n + 1 && str_equal(str_part(json, at - key.n, at), key);
    int64_t version = 0;
    if (is_plain) {
        size_t from = at - key.n, to = at + head->managers.n;
        if (json.p[from - 1] == ',')
            from--;
        else if (to < json.n && json.p[to] == ',')
            to++;
        json = arena_join(mem, str_part(json, 0, from), str_part(json, to, json.n));
    }
    set_json(raw, json);
    raw->version = str_int(head->version, &version) ? (uint64_t)version : 0;
    raw->state = RAW_HERE;
    raw->fetch = 0;
}

static bool read_head(struct str json, struct head *head, struct arena *mem, struct error *e)
{
    size_t where;
    *head = (struct head){0};
    return json_read(json, head_fields, head, mem, &where, e);
}

bool raws_put(struct raws *r, uint32_t i, struct str json, struct arena *mem, struct error *e)
{
    struct raw *raw = raws_at(r, i);
    struct head head;
    if (!read_head(json, &head, mem, e))
        return false;
    if (raw->kind == KIND_POD && !str_equal(head.uid, raw->uid))
        return error_set(e, ERROR_GONE, "it is gone");
    keep(raw, json, &head, mem);
    return true;
}

bool raws_put_page(struct raws *r, struct str json, struct arena *mem, struct str *next,
                   struct error *e)
{
    struct page page = {0};
    size_t where;
    if (!json_read(json, page_fields, &page, mem, &where, e))
        return false;
    list_each(&page.items, item) {
        struct head head;
        if (!read_head(*item, &head, mem, e))
            return false;
        struct str none = {0};
        uint32_t i = map_find(&r->by_key, key_of(KIND_NODE, none, head.name, none));
        if (i != MAP_NONE && raws_at(r, i)->state == RAW_WANTED)
            keep(raws_at(r, i), *item, &head, mem);
    }
    *next = page.next;
    return true;
}

void raws_miss(struct raws *r, uint32_t i)
{
    struct raw *raw = raws_at(r, i);
    raw->state = RAW_GONE;
    raw->fetch = 0;
}
