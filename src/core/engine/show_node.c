/* Labels of nodes that mean nothing, for their values or their keys: people are told, in an event
 * about the node that names them all and what would mean something.
 *
 * Once for what a node says: heartbeats say the same again, and only if one of these labels changes
 * there is news. A template that is wrong is wrong on thousands of nodes, so a few are told at a
 * time. */

#include "core/base/hash.h"
#include "core/engine/inside.h"
#include "core/model/our_keys.h"

enum { WHILE_MS = 200, AT_A_TIME = 8 };

/* The profile that looks at what nodes are made of; NULL: none does, and nobody minds. */
static const struct profile *who_minds(const struct engine *k)
{
    for (uint32_t i = 0; i < k->config.n_profiles; i++)
        for (uint32_t j = 0; j < k->config.profiles[i].n; j++)
            if (k->config.profiles[i].plugins[j].plugin->identify)
                return &k->config.profiles[i];
    return NULL;
}

static uint32_t hash_of(const struct node_row *row)
{
    uint64_t hash = row->n_misread;
    for (uint32_t i = 0; i < row->n_misread; i++)
        hash = hash_pair(hash,
                         hash_pair(str_hash(row->misread[i].key), str_hash(row->misread[i].value)));
    return (uint32_t)hash & (MAP_NONE >> 1);
}

static void drop(struct engine *k, node_id node)
{
    struct complaints *c = &k->complaints;
    for (uint32_t i = 0; i < c->list.n; i++)
        if (c->list.at[i].node == node.i) {
            mem_free((char *)(uintptr_t)c->list.at[i].name.p);
            memmove(&c->list.at[i], &c->list.at[i + 1], (--c->list.n - i) * sizeof(*c->list.at));
            return;
        }
}

static void add(struct engine *k, node_id node, const struct node *from, const struct node_row *row)
{
    AUTO(buf) text = {0};
    for (uint32_t i = 0; i < row->n_misread; i++) {
        const struct misread *m = &row->misread[i];
        buf_add(&text, i ? STR("; ") : STR(""));
        misread_say(m->key, m->value, ON_NODE, &text);
        if (m->expects.n)
            buf_printf(&text, ", expected is " STR_FMT, STR_ARG(m->expects));
    }
    char *at = mem_alloc(from->meta.name.n + from->meta.uid.n + text.n + 1);
    struct complaint complaint = {.node = node.i,
                                  .name = str_keep(&at, from->meta.name),
                                  .uid = str_keep(&at, from->meta.uid),
                                  .text = str_keep(&at, buf_str(&text))};
    vec_push(&k->complaints.list, complaint);
}

void engine_see_labels(struct engine *k, int64_t now_ms, node_id node, const struct node *from,
                       const struct node_row *row)
{
    if (LIKELY(!row->n_misread && !k->complaints.told.n) || !k->config.shows)
        return;
    uint32_t was = map_find(&k->complaints.told, node.i);
    if (!row->n_misread) {
        engine_forget_labels(k, node);
        return;
    }
    uint32_t hash = hash_of(row);
    if (hash == was || !who_minds(k))
        return;
    if (was != MAP_NONE)
        drop(k, node);
    map_put(&k->complaints.told, node.i, hash);
    add(k, node, from, row);
    k->show_ms = MIN(k->show_ms, now_ms + WHILE_MS);
}

void engine_forget_labels(struct engine *k, node_id node)
{
    if (LIKELY(!k->complaints.told.n) || map_remove(&k->complaints.told, node.i) == MAP_NONE)
        return;
    drop(k, node);
}

void engine_show_labels(struct engine *k, int64_t now_ms, struct effects *out)
{
    struct complaints *c = &k->complaints;
    const struct profile *profile = who_minds(k);
    uint32_t n = MIN(c->list.n, (uint32_t)AT_A_TIME);
    for (uint32_t i = 0; i < n; i++) {
        struct effect effect = {
            .id = ++k->last_effect,
            .kind = EFFECT_PUBLISH,
            .uid = arena_str(&out->mem, c->list.at[i].uid),
            .profile = profile ? profile->name : (struct str){0                   },
            .news = NEWS_MALFORMED,
            .message = arena_str(&out->mem, c->list.at[i].text),
            .write = { .kind = KIND_NODE, .name = arena_str(&out->mem, c->list.at[i].name)},
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
        k->show_ms = MIN(k->show_ms, now_ms + WHILE_MS);
}

void complaints_done(struct complaints *c)
{
    vec_each(&c->list, complaint)
        mem_free((char *)(uintptr_t)complaint->name.p);
    vec_done(&c->list);
    map_done(&c->told);
}
