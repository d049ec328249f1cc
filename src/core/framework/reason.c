#include "core/framework/reason.h"

#include "core/base/buf.h"

const char *code_name(enum code code)
{
    static const char *const names[] = {
        [CODE_SUCCESS] = "Success",
        [CODE_UNSCHEDULABLE] = "Unschedulable",
        [CODE_UNRESOLVABLE] = "UnschedulableAndUnresolvable",
        [CODE_ERROR] = "Error",
    };
    return names[code];
}

void reasons_init(struct reasons *r)
{
    *r = (struct reasons){0};
    intern_hold(&r->table, intern_get(&r->table, (struct str){0}, NULL));
    vec_push(&r->at, (struct reason){0});
}

/* One block of memory for the texts' array and their bytes. */
static const struct str *copy_texts(const struct str *texts, uint32_t n)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += texts[i].n;
    struct str *copy = mem_alloc(n * sizeof(*copy) + bytes);
    char *p = (char *)(copy + n);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(p, texts[i].p, texts[i].n);
        copy[i] = (struct str){p, texts[i].n};
        p += texts[i].n;
    }
    return copy;
}

reason_id reasons_get(struct reasons *r, uint32_t plugin, enum code code, const struct str *texts,
                      uint32_t n)
{
    AUTO(buf) key = {0};
    buf_add_bytes(&key, &plugin, sizeof(plugin));
    buf_add_bytes(&key, &code, sizeof(code));
    for (uint32_t i = 0; i < n; i++) {
        buf_add(&key, texts[i]);
        buf_add_char(&key, '\0');
    }
    bool is_new;
    reason_id id = intern_get(&r->table, buf_str(&key), &is_new);
    if (!is_new)
        return id;
    if (id >= r->at.n)
        vec_resize(&r->at, id + 1);
    r->at.at[id] = (struct reason){plugin, code, copy_texts(texts, n), n};
    return id;
}

reason_id reasons_own(struct own_reasons *own, uint32_t plugin, enum code code,
                      const struct str *texts, uint32_t n)
{
    reason_id id = reasons_get(own->all, plugin, code, texts, n);
    intern_hold(&own->all->table, id);
    vec_push(&own->held, id);
    return id;
}

reason_id reasons_keep(struct reasons *r, uint32_t plugin, enum code code, struct str text)
{
    reason_id id = reasons_get(r, plugin, code, &text, 1);
    if (r->table.entries.at[id].holds == 0)
        intern_hold(&r->table, id);
    return id;
}

void reasons_disown(struct own_reasons *own)
{
    vec_each(&own->held, id)
        intern_drop(&own->all->table, *id);
    vec_done(&own->held);
}

static void gone(void *ctx, uint32_t id)
{
    struct reasons *r = ctx;
    mem_free((void *)(uintptr_t)r->at.at[id].texts);
    r->at.at[id] = (struct reason){0};
}

void reasons_tidy(struct reasons *r, enum tidy how)
{
    intern_tidy(&r->table, how, gone, r);
    if (how == TIDY_ALL)
        intern_fit(&r->table, &r->at);
}

void reasons_done(struct reasons *r)
{
    vec_each(&r->at, reason)
        mem_free((void *)(uintptr_t)reason->texts);
    vec_done(&r->at);
    intern_done(&r->table);
}
