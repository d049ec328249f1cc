/* Labels of nodes and namespaces that mean nothing, for their values or their keys: people are
 * told, in an event about the object that names them all and what would mean something.
 *
 * Once for what an object says: heartbeats say the same again, and only if one of these labels
 * changes there is news. A template that is wrong is wrong on thousands of nodes, so a few are told
 * at a time. */

#include "core/base/hash.h"
#include "core/engine/step/step.h"
#include "core/model/our_keys.h"

enum { WHILE_MS = 200, AT_A_TIME = 8 };

/* The profile that looks at what nodes are made of; NULL: none does, and nobody minds. */
static const struct profile *who_minds(const struct engine *k)
{
    for (uint32_t i = 0; i < k->config.rules.n_profiles; i++)
        for (uint32_t j = 0; j < k->config.rules.profiles[i].n; j++)
            if (k->config.rules.profiles[i].plugins[j].plugin->identify)
                return &k->config.rules.profiles[i];
    return NULL;
}

/* What an object says that means nothing. */
struct oddities {
    enum kind kind;
    uint32_t of;
    const struct meta *meta;
    const struct misread *at;
    uint32_t n;
};

static uint32_t hash_of(const struct oddities *o)
{
    uint64_t hash = o->n;
    for (uint32_t i = 0; i < o->n; i++)
        hash = hash_pair(hash, hash_pair(str_hash(o->at[i].key), str_hash(o->at[i].value)));
    return (uint32_t)hash & (MAP_NONE >> 1);
}

static struct map *told_of(struct label_warnings *c, enum kind kind)
{
    return kind == KIND_NODE ? &c->told : &c->told_namespaces;
}

static void drop(struct label_warnings *c, enum kind kind, uint32_t of)
{
    for (uint32_t i = 0; i < c->list.n; i++)
        if (c->list.at[i].kind == kind && c->list.at[i].of == of) {
            mem_free((char *)(uintptr_t)c->list.at[i].name.p);
            memmove(&c->list.at[i], &c->list.at[i + 1], (--c->list.n - i) * sizeof(*c->list.at));
            return;
        }
}

static void forget(struct label_warnings *c, enum kind kind, uint32_t of)
{
    struct map *told = told_of(c, kind);
    if (UNLIKELY(told->n) && map_remove(told, of) != MAP_NONE)
        drop(c, kind, of);
}

static void add(struct label_warnings *c, const struct oddities *o)
{
    uint32_t on = o->kind == KIND_NODE ? ON_NODE : ON_NAMESPACE;
    AUTO(buf) text = {0};
    for (uint32_t i = 0; i < o->n; i++) {
        const struct misread *m = &o->at[i];
        buf_add(&text, i ? STR("; ") : STR(""));
        misread_say(m->key, m->value, on, &text);
        if (m->expects.n)
            buf_printf(&text, ", expected is " STR_FMT, STR_ARG(m->expects));
    }
    char *at = mem_alloc(o->meta->name.n + o->meta->uid.n + text.n + 1);
    struct label_warning label_warning = {.kind = o->kind,
                                          .of = o->of,
                                          .name = str_keep(&at, o->meta->name),
                                          .uid = str_keep(&at, o->meta->uid),
                                          .text = str_keep(&at, buf_str(&text))};
    vec_push(&c->list, label_warning);
}

static void see(struct engine *k, const struct oddities *o)
{
    struct label_warnings *c = &k->publishing.label_warnings;
    struct map *told = told_of(c, o->kind);
    if (LIKELY(!o->n && !told->n) || !k->config.publishes)
        return;
    if (!o->n) {
        forget(c, o->kind, o->of);
        return;
    }
    uint32_t was = map_find(told, o->of), hash = hash_of(o);
    if (hash == was || !who_minds(k))
        return;
    if (was != MAP_NONE)
        drop(c, o->kind, o->of);
    map_put(told, o->of, hash);
    add(c, o);
    k->publishing.due_ms = MIN(k->publishing.due_ms, k->now_ms + WHILE_MS);
}

void engine_see_labels(struct engine *k, node_id node, const struct node *from,
                       const struct node_row *row)
{
    struct oddities o = {KIND_NODE, node.i, &from->meta, row->misread, row->n_misread};
    see(k, &o);
}

void engine_forget_labels(struct engine *k, node_id node)
{
    forget(&k->publishing.label_warnings, KIND_NODE, node.i);
}

void engine_see_namespace(struct engine *k, sym name, const struct namespace *from)
{
    struct misreads odd = {0};
    if (!from) {
        forget(&k->publishing.label_warnings, KIND_NAMESPACE, name);
        return;
    }
    our_keys_check(&from->meta.labels, ON_NAMESPACE, &odd);
    our_keys_check(&from->meta.annotations, ON_NAMESPACE, &odd);
    struct oddities o = {KIND_NAMESPACE, name, &from->meta, odd.at, odd.n};
    see(k, &o);
    vec_done(&odd);
}

void engine_publish_label_warnings(struct engine *k, struct effects *out)
{
    struct label_warnings *c = &k->publishing.label_warnings;
    const struct profile *profile = who_minds(k);
    uint32_t n = MIN(c->list.n, (uint32_t)AT_A_TIME);
    for (uint32_t i = 0; i < n; i++) {
        struct effect effect = {
            .id = ++k->last.effect,
            .kind = EFFECT_PUBLISH,
            .uid = arena_str(&out->mem, c->list.at[i].uid),
            .profile = profile ? profile->name : (struct str){0},
            .news = NEWS_MALFORMED,
            .message = arena_str(&out->mem, c->list.at[i].text),
            .write = {.kind = c->list.at[i].kind, .name = arena_str(&out->mem, c->list.at[i].name)},
        };
        if (profile)
            vec_push(&out->list, effect);
        mem_free((char *)(uintptr_t)c->list.at[i].name.p);
    }
    if (n == 0)
        return;
    c->list.n -= n;
    memmove(c->list.at, c->list.at + n, c->list.n * sizeof(*c->list.at));
    if (c->list.n)
        k->publishing.due_ms = MIN(k->publishing.due_ms, k->now_ms + WHILE_MS);
}

void label_warnings_done(struct label_warnings *c)
{
    vec_each(&c->list, label_warning)
        mem_free((char *)(uintptr_t)label_warning->name.p);
    vec_done(&c->list);
    map_done(&c->told);
    map_done(&c->told_namespaces);
}
