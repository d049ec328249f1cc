/* A term is interned as numbers: key, anti, weight, selector, selector of namespaces, and then the
 * namespaces it lists. */

#include "core/cluster/terms.h"

#include <stdlib.h>

#include "core/cluster/cluster.h"

enum { WORD_NAMESPACES = 5 }; /* where the namespaces begin */

struct reach reach_of(const struct spec *spec, const struct pod_term *term, const sym *namespace)
{
    struct reach r = {
        .selector = term->selector,
        .like = term->like,
        .namespaces = term->n_namespaces ? spec->namespaces + term->namespace_at : NULL,
        .n = term->n_namespaces,
    };
    bool is_home = r.n == 0 && r.like == ID_NONE;
    if (is_home)
        r.namespaces = namespace;
    r.n += is_home;
    return r;
}

static bool reaches_namespace(const struct cluster *c, struct reach r, sym namespace,
                              enum sight sight)
{
    for (uint32_t i = 0; i < r.n; i++)
        if (r.namespaces[i] == namespace)
            return true;
    if (r.like == ID_NONE)
        return false;
    struct selector like = matches_selector_at(&c->matches, r.like);
    uint32_t labels = sight == SIGHT_HINT ? 0 : map_find(&c->namespaces, namespace);
    if (labels == MAP_NONE && sight == SIGHT_SEEKER)
        return like.n == 0;
    return selector_matches(like, &c->names, labels == MAP_NONE ? 0 : labels);
}

bool reach_means(const struct cluster *c, struct reach r, const struct shape *shape,
                 enum sight sight)
{
    if (r.selector == ID_NONE)
        return false;
    struct selector s = matches_selector_at(&c->matches, r.selector);
    return selector_may_match(s, &c->names, shape->labels) &&
           reaches_namespace(c, r, shape->namespace, sight) &&
           selector_matches(s, &c->names, shape->labels);
}

/* Holds (+1) or drops (-1) all that a term refers to. */
static void hold_parts(struct names *names, struct matches *matches, const struct term *term,
                       int sign)
{
    void (*change)(struct intern *, uint32_t) = sign > 0 ? intern_hold : intern_drop;
    change(&names->text, term->key);
    if (term->reach.selector != ID_NONE)
        change(&matches->selectors.table, term->reach.selector);
    if (term->reach.like != ID_NONE)
        change(&matches->selectors.table, term->reach.like);
    for (uint32_t i = 0; i < term->reach.n; i++)
        change(&names->text, term->reach.namespaces[i]);
}

/* The number of a term, made if it is new. */
static uint32_t get(struct terms *t, struct names *names, struct matches *matches,
                    const struct pod_term *from, struct reach reach)
{
    struct match_words words = {0};
    vec_push(&words, from->key);
    vec_push(&words, from->is_anti);
    vec_push(&words, (uint32_t)from->weight);
    vec_push(&words, reach.selector);
    vec_push(&words, reach.like);
    for (uint32_t i = 0; i < reach.n; i++)
        vec_push(&words, reach.namespaces[i]);
    bool is_new;
    struct str bytes = {(const char *)words.at, words.n * sizeof(uint32_t)};
    uint32_t id = intern_get(&t->table, bytes, &is_new);
    vec_done(&words);
    if (!is_new)
        return id;
    if (id >= t->at.n) {
        vec_resize(&t->at, id + 1);
        vec_resize(&t->key_bits, id + 1);
    }
    t->key_bits.at[id] = reach.selector == ID_NONE
                             ? UINT64_MAX
                             : matches_selector_at(matches, reach.selector).key_bits;
    const uint32_t *kept = (const void *)intern_bytes(&t->table, id).p;
    t->at.at[id] = (struct term){
        .key = from->key,
        .weight = from->weight,
        .is_anti = from->is_anti,
        .reach = {reach.selector, reach.like, kept + WORD_NAMESPACES, reach.n},
    };
    hold_parts(names, matches, &t->at.at[id], +1);
    return id;
}

void terms_take(struct terms *t, struct names *names, struct matches *matches,
                const struct spec *spec, struct shape *shape)
{
    for (uint32_t i = 0; i < spec->n_pod_terms; i++) {
        const struct pod_term *from = &spec->pod_terms[i];
        uint32_t id = get(t, names, matches, from, reach_of(spec, from, &shape->namespace));
        struct term *term = &t->at.at[id];
        intern_hold(&t->table, id);
        if (term->shapes++ == 0)
            term->number = ++t->made;
        vec_push(&shape->terms, id);
    }
}

void terms_leave(struct terms *t, struct shape *shape)
{
    vec_each(&shape->terms, id) {
        intern_drop(&t->table, *id);
        if (--t->at.at[*id].shapes == 0)
            t->made++; /* shapes look again, and forget it */
    }
    vec_done(&shape->terms);
    vec_done(&shape->meant_by);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void terms_meet(struct cluster *c, struct shape *shape)
{
    const struct terms *t = &c->terms;
    if (shape->meant_up_to == t->made)
        return;
    uint32_t kept = 0;
    vec_each(&shape->meant_by, id)
        if (*id < t->at.n && t->at.at[*id].shapes && t->at.at[*id].number <= shape->meant_up_to)
            shape->meant_by.at[kept++] = *id;
    shape->meant_by.n = kept;
    uint64_t lacks = ~c->names.label_key_bits.at[shape->labels];
    for (uint32_t id = 0; id < t->at.n; id++) {
        const struct term *term = &t->at.at[id];
        if (LIKELY(t->key_bits.at[id] & lacks))
            continue;
        if (term->shapes && term->number > shape->meant_up_to &&
            reach_means(c, term->reach, shape, SIGHT_FOUND))
            vec_push(&shape->meant_by, id);
    }
    shape->meant_up_to = t->made;
    if (shape->meant_by.n > 1)
        qsort(shape->meant_by.at, shape->meant_by.n, sizeof(uint32_t), by_number);
}

void terms_look_again(struct cluster *c)
{
    bool reads_labels = false;
    vec_each(&c->terms.at, t)
        reads_labels |= t->shapes && t->reach.like != ID_NONE;
    if (!reads_labels)
        return;
    c->terms.made++;
    vec_each(&c->pods.shapes, shape) {
        shape->meant_up_to = 0;
        vec_clear(&shape->meant_by);
    }
}

struct sweeping {
    struct terms *terms;
    struct names *names;
    struct matches *matches;
};

static void term_gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    hold_parts(x->names, x->matches, &x->terms->at.at[id], -1);
    x->terms->at.at[id] = (struct term){0};
}

void terms_tidy(struct terms *t, struct names *names, struct matches *matches, enum tidy how)
{
    struct sweeping x = {t, names, matches};
    intern_sweep(&t->table, term_gone, &x);
    if (how == TIDY_ALL) {
        intern_trim(&t->table);
        intern_fit(&t->table, &t->at);
        intern_fit(&t->table, &t->key_bits);
    }
}

void terms_done(struct terms *t)
{
    vec_done(&t->at);
    vec_done(&t->key_bits);
    intern_done(&t->table);
}
