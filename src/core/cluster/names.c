#include "core/cluster/names.h"

#include <stdlib.h>

uint32_t lists_get(struct lists *l, struct names *names, const void *p, size_t n_bytes,
                   const sym *held, uint32_t n_held, bool *is_new)
{
    bool fresh;
    uint32_t id = intern_get(&l->table, (struct str){p, n_bytes}, &fresh);
    if (is_new)
        *is_new = fresh;
    if (!fresh)
        return id;
    if (id >= l->kept.n)
        vec_resize(&l->kept, id + 1);
    struct kept *kept = &l->kept.at[id];
    *kept = (struct kept){mem_copy(held, n_held * sizeof(*held)), n_held};
    for (uint32_t i = 0; i < n_held; i++)
        if (held[i] != SYM_NONE)
            intern_hold(&names->text, held[i]);
    return id;
}

struct sweeping {
    struct lists *lists;
    struct names *names;
    void (*gone)(void *ctx, uint32_t id);
    void *ctx;
};

static void let_go(void *ctx, uint32_t id)
{
    struct sweeping *s = ctx;
    if (s->gone)
        s->gone(s->ctx, id);
    struct kept *kept = &s->lists->kept.at[id];
    for (uint32_t i = 0; i < kept->n; i++)
        if (kept->at[i] != SYM_NONE)
            intern_drop(&s->names->text, kept->at[i]);
    mem_free(kept->at);
    *kept = (struct kept){0};
}

void lists_tidy(struct lists *l, struct names *names, enum tidy how,
                void (*gone)(void *ctx, uint32_t id), void *ctx)
{
    struct sweeping s = {l, names, gone, ctx};
    intern_tidy(&l->table, how, let_go, &s);
    if (how == TIDY_ALL)
        intern_fit(&l->table, &l->kept);
}

void lists_done(struct lists *l)
{
    vec_each(&l->kept, kept)
        mem_free(kept->at);
    vec_done(&l->kept);
    intern_done(&l->table);
}

static int by_key(const void *a, const void *b)
{
    const struct pair_sym *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void note_label_key(struct names *n, sym key)
{
    if (key / 64 >= n->label_keys.n)
        vec_resize(&n->label_keys, key / 64 + 1);
    n->label_keys.at[key / 64] |= (uint64_t)1 << key % 64;
}

label_set_id names_label_set(struct names *n, struct pair_sym *pairs, uint32_t count)
{
    if (count > 1)
        qsort(pairs, count, sizeof(*pairs), by_key);
    _Static_assert(sizeof(struct pair_sym) == 2 * sizeof(sym), "pairs are held as symbols");
    bool is_new;
    label_set_id id = lists_get(&n->label_sets, n, pairs, count * sizeof(*pairs),
                                (const sym *)pairs, 2 * count, &is_new);
    if (is_new) {
        uint64_t key_bits = 0;
        for (uint32_t i = 0; i < count; i++) {
            key_bits |= bits_of_key(pairs[i].key);
            note_label_key(n, pairs[i].key);
        }
        if (id >= n->label_key_bits.n)
            vec_resize(&n->label_key_bits, id + 1);
        n->label_key_bits.at[id] = key_bits;
    }
    return id;
}

sym names_label(const struct names *n, label_set_id set, sym key)
{
    uint32_t count;
    const struct pair_sym *pairs = lists_at(&n->label_sets, set, sizeof(*pairs), &count);
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (pairs[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && pairs[low].key == key ? pairs[low].value : SYM_NONE;
}

taint_set_id names_taint_set(struct names *n, const struct taint_sym *taints, uint32_t count)
{
    VEC(sym) held = {0};
    for (uint32_t i = 0; i < count; i++) {
        vec_push(&held, taints[i].key);
        vec_push(&held, taints[i].value);
    }
    taint_set_id id =
        lists_get(&n->taint_sets, n, taints, count * sizeof(*taints), held.at, held.n, NULL);
    vec_done(&held);
    return id;
}

tolerations_id names_tolerations(struct names *n, const struct toleration_sym *tolerations,
                                 uint32_t count)
{
    VEC(sym) held = {0};
    for (uint32_t i = 0; i < count; i++) {
        vec_push(&held, tolerations[i].key);
        vec_push(&held, tolerations[i].value);
    }
    tolerations_id id = lists_get(&n->tolerations, n, tolerations, count * sizeof(*tolerations),
                                  held.at, held.n, NULL);
    vec_done(&held);
    return id;
}

enum taint_effect taint_effect_of(struct str text)
{
    if (text.n == 0)
        return TAINT_ANY;
    if (str_equal(text, STR("NoSchedule")))
        return TAINT_NO_SCHEDULE;
    if (str_equal(text, STR("PreferNoSchedule")))
        return TAINT_PREFER_NO_SCHEDULE;
    return str_equal(text, STR("NoExecute")) ? TAINT_NO_EXECUTE : TAINT_OTHER;
}

void names_init(struct names *n)
{
    *n = (struct names){0};
    intern_hold(&n->label_sets.table, names_label_set(n, NULL, 0));
    intern_hold(&n->taint_sets.table, names_taint_set(n, NULL, 0));
    intern_hold(&n->tolerations.table, names_tolerations(n, NULL, 0));
}

void names_tidy(struct names *n, enum tidy how)
{
    lists_tidy(&n->label_sets, n, how, NULL, NULL);
    if (how == TIDY_ALL)
        intern_fit(&n->label_sets.table, &n->label_key_bits);
    lists_tidy(&n->taint_sets, n, how, NULL, NULL);
    lists_tidy(&n->tolerations, n, how, NULL, NULL);
    intern_tidy(&n->text, how, NULL, NULL);
}

void names_done(struct names *n)
{
    lists_done(&n->label_sets);
    vec_done(&n->label_key_bits);
    vec_done(&n->label_keys);
    lists_done(&n->taint_sets);
    lists_done(&n->tolerations);
    intern_done(&n->text);
}
