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
    intern_get(&r->table, (struct str){0}, NULL);
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
    if (is_new)
        vec_push(&r->at, (struct reason){plugin, code, copy_texts(texts, n), n});
    return id;
}

void reasons_done(struct reasons *r)
{
    vec_each(&r->at, reason)
        mem_free((void *)(uintptr_t)reason->texts);
    vec_done(&r->at);
    intern_done(&r->table);
}
