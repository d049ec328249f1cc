/* A requirement is encoded as (key, op | is_name, number, count, values…) in 32-bit words; a
 * selector is its requirements sorted by that encoding, rules are their parts in order. Number 0 of
 * the rules table is "no rules", kept for ever. */

#include "core/cluster/match.h"

#include <stdlib.h>

#include "core/model/selector.h"
#include "core/model/taint.h"

static int by_number(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

static int by_content(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->n_values != y->n_values)
        return x->n_values < y->n_values ? -1 : 1;
    return x->n_values ? memcmp(x->values, y->values, x->n_values * sizeof(sym)) : 0;
}

static void encode(struct match_words *out, struct match_words *held, const struct match *m)
{
    vec_push(out, m->key);
    vec_push(out, (uint32_t)m->op | (m->is_name ? 256u : 0));
    vec_push(out, (uint32_t)m->number);
    vec_push(out, (uint32_t)((uint64_t)m->number >> 32));
    vec_push(out, m->n_values);
    vec_push(held, m->key);
    for (uint32_t i = 0; i < m->n_values; i++) {
        vec_push(out, m->values[i]);
        vec_push(held, m->values[i]);
    }
}

enum { ENCODED_HEAD = 5 }; /* words before the values */

/* The lines in a block of their own, with the values where they are encoded. */
static const struct match *copy_matches(const struct match *all, uint32_t n, struct str encoded)
{
    struct match *copy = mem_copy(all, n * sizeof(*all));
    const uint32_t *words = (const void *)encoded.p;
    for (uint32_t i = 0; i < n; i++) {
        copy[i].values = words + ENCODED_HEAD;
        words += ENCODED_HEAD + copy[i].n_values;
    }
    return copy;
}

static bool has_value(const struct match *m, sym value)
{
    for (uint32_t i = 0; i < m->n_values; i++)
        if (m->values[i] == value)
            return true;
    return false;
}

/* `value` is SYM_NONE where the key is absent. */
static bool match_holds(const struct match *m, const struct names *names, sym value)
{
    int64_t number;
    switch (m->op) {
    case MATCH_IN:
        return value != SYM_NONE && has_value(m, value);
    case MATCH_NOT_IN:
        return value == SYM_NONE || !has_value(m, value);
    case MATCH_EXISTS:
        return value != SYM_NONE;
    case MATCH_MISSING:
        return value == SYM_NONE;
    case MATCH_GREATER:
        return value != SYM_NONE && str_int(names_text(names, value), &number) &&
               number > m->number;
    case MATCH_LESS:
        return value != SYM_NONE && str_int(names_text(names, value), &number) &&
               number < m->number;
    }
    return false;
}

static uint64_t bits_of_keys(const struct match *all, uint32_t n)
{
    uint64_t key_bits = 0;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].op != MATCH_NOT_IN && all[i].op != MATCH_MISSING)
            key_bits |= bits_of_key(all[i].key);
    return key_bits;
}

bool selector_matches(struct selector s, const struct names *names, label_set_id labels)
{
    if (!selector_may_match(s, names, labels))
        return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (!match_holds(&s.all[i], names, names_label(names, labels, s.all[i].key)))
            return false;
    return true;
}

/* False if it is no operator, or has values where it may have none, or the other way round. */
static bool parse_op(struct str op, uint32_t n_values, enum match_op *out)
{
    static const struct {
        struct str name;
        enum match_op op;
    } table[] = {
        {STR("In"), MATCH_IN},         {STR("NotIn"), MATCH_NOT_IN},
        {STR("Exists"), MATCH_EXISTS}, {STR("DoesNotExist"), MATCH_MISSING},
        {STR("Gt"), MATCH_GREATER},    {STR("Lt"), MATCH_LESS},
    };
    for (size_t i = 0; i < LEN(table); i++) {
        if (!str_equal(op, table[i].name))
            continue;
        *out = table[i].op;
        switch (*out) {
        case MATCH_IN:
        case MATCH_NOT_IN:
            return n_values > 0;
        case MATCH_EXISTS:
        case MATCH_MISSING:
            return n_values == 0;
        case MATCH_GREATER:
        case MATCH_LESS:
            return n_values == 1;
        }
    }
    return false;
}

static bool parse(const struct requirement *from, struct names *names, struct arena *mem,
                  struct match *out)
{
    *out = (struct match){.key = names_get(names, from->key)};
    if (!parse_op(from->op, from->values.n, &out->op))
        return false;
    if (out->op == MATCH_GREATER || out->op == MATCH_LESS)
        return str_int(from->values.at[0], &out->number);
    sym *values = arena_array(mem, sym, from->values.n);
    for (uint32_t i = 0; i < from->values.n; i++)
        values[i] = names_get(names, from->values.at[i]);
    if (from->values.n > 1)
        qsort(values, from->values.n, sizeof(*values), by_number);
    out->values = values;
    out->n_values = from->values.n;
    return true;
}

void match_add_pairs(struct match_vec *out, struct names *names, const struct pair *pairs,
                     uint32_t n, struct arena *mem)
{
    for (uint32_t i = 0; i < n; i++) {
        sym *value = arena_array(mem, sym, 1);
        *value = names_get(names, pairs[i].value);
        vec_push(out, (struct match){.key = names_get(names, pairs[i].key),
                                     .op = MATCH_IN,
                                     .values = value,
                                     .n_values = 1});
    }
}

void match_add_selector(struct match_vec *out, struct names *names,
                        const struct label_selector *from, struct arena *mem)
{
    match_add_pairs(out, names, from->match_labels.at, from->match_labels.n, mem);
    list_each(&from->match_expressions, r) {
        struct match m;
        if (parse(r, names, mem, &m))
            vec_push(out, m);
    }
}

selector_id matches_selector(struct matches *m, struct names *names, struct match *all, uint32_t n)
{
    if (n > 1)
        qsort(all, n, sizeof(*all), by_content);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < n; i++)
        if (distinct == 0 || by_content(&all[distinct - 1], &all[i]) != 0)
            all[distinct++] = all[i];

    struct match_words words = {0}, held = {0};
    for (uint32_t i = 0; i < distinct; i++)
        encode(&words, &held, &all[i]);
    bool is_new;
    selector_id id = lists_get(&m->selectors, names, words.at, words.n * sizeof(uint32_t), held.at,
                               held.n, &is_new);
    if (is_new) {
        if (id >= m->selector_at.n)
            vec_resize(&m->selector_at, id + 1);
        struct str encoded = intern_bytes(&m->selectors.table, id);
        m->selector_at.at[id] = (struct selector){copy_matches(all, distinct, encoded), distinct,
                                                  bits_of_keys(all, distinct)};
    }
    vec_done(&words);
    vec_done(&held);
    return id;
}

/* --- node rules --- */

static bool has_label_values(const struct requirement *r)
{
    list_each(&r->values, value) {
        if (!is_label_value(*value))
            return false;
    }
    return true;
}

static void parse_term(const struct node_selector_term *from, int32_t weight, struct names *names,
                       struct arena *mem, struct node_term *out)
{
    uint32_t n = from->match_expressions.n + from->match_fields.n;
    struct match *all = arena_array(mem, struct match, n);
    *out = (struct node_term){.all = all, .n = n, .weight = weight};
    uint32_t i = 0;
    list_each(&from->match_expressions, r)
        out->is_broken |= !parse(r, names, mem, &all[i++]) || !has_label_values(r);
    list_each(&from->match_fields, r) {
        struct match *m = &all[i++];
        bool is_good = parse(r, names, mem, m) && str_equal(r->key, STR("metadata.name")) &&
                       (m->op == MATCH_IN || m->op == MATCH_NOT_IN) && m->n_values == 1;
        m->is_name = true;
        out->is_broken |= !is_good;
    }
}

static struct node_term *parse_required(const struct node_selector *from, struct names *names,
                                        struct arena *mem)
{
    struct node_term *terms = arena_array(mem, struct node_term, from->terms.n);
    for (uint32_t i = 0; i < from->terms.n; i++)
        parse_term(&from->terms.at[i], 0, names, mem, &terms[i]);
    return terms;
}

/* The one node that every term names in matchFields and nothing else restricts by name, else
 * SYM_NONE. */
static sym find_pin(const struct node_term *terms, uint32_t n)
{
    sym pin = SYM_NONE;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t named = 0;
        for (uint32_t i = 0; i < terms[t].n; i++) {
            const struct match *m = &terms[t].all[i];
            if (!m->is_name)
                continue;
            if (++named > 1 || m->op != MATCH_IN || m->n_values != 1 ||
                (t > 0 && m->values[0] != pin))
                return SYM_NONE;
            pin = m->values[0];
        }
        if (named == 0 || terms[t].is_broken)
            return SYM_NONE;
    }
    return pin;
}

/* Takes the pin's name out of the terms, so that pods pinned to different nodes share their rules.
 */
static void forget_pin(const struct node_term *terms, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t i = 0; i < terms[t].n; i++)
            if (terms[t].all[i].is_name)
                ((struct match *)terms[t].all)[i].n_values = 0;
}

/* Names that all `metadata.name In` lines of a term allow, appended to `out`; false if it has none.
 */
static bool term_names(const struct node_term *term, struct match_words *out)
{
    const struct match *first = NULL;
    for (uint32_t i = 0; i < term->n; i++)
        if (term->all[i].is_name && term->all[i].op == MATCH_IN)
            first = first ? first : &term->all[i];
    if (!first)
        return false;
    for (uint32_t v = 0; v < first->n_values; v++) {
        bool everywhere = true;
        for (uint32_t i = 0; i < term->n; i++)
            if (&term->all[i] != first && term->all[i].is_name && term->all[i].op == MATCH_IN)
                everywhere &= has_value(&term->all[i], first->values[v]);
        if (everywhere)
            vec_push(out, first->values[v]);
    }
    return true;
}

static void find_names(struct rules *r)
{
    struct match_words names = {0};
    r->is_restricted = r->n_required > 0 && !r->is_pinned;
    for (uint32_t t = 0; t < r->n_required && r->is_restricted; t++)
        r->is_restricted = term_names(&r->required[t], &names);
    if (r->is_restricted && names.n) {
        qsort(names.at, names.n, sizeof(sym), by_number);
        uint32_t distinct = 0;
        for (uint32_t i = 0; i < names.n; i++)
            if (distinct == 0 || names.at[distinct - 1] != names.at[i])
                names.at[distinct++] = names.at[i];
        r->names = arena_copy(&r->mem, names.at, distinct * sizeof(sym));
        r->n_names = distinct;
    }
    vec_done(&names);
}

static bool is_personal(const struct matches *m, const struct match *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i].is_name || all[i].key == m->hostname)
            return true;
    return false;
}

/* Misreadings, one after the other, as upstream puts them into one error. */
struct misreadings {
    struct arena *mem;
    struct str text;
    uint32_t n;
};

static void add_misreading(struct misreadings *c, struct str one)
{
    c->text =
        c->n++ ? arena_printf(c->mem, STR_FMT ", " STR_FMT, STR_ARG(c->text), STR_ARG(one)) : one;
}

static bool is_number(struct str text)
{
    int64_t number;
    return str_int(text, &number);
}

static void check_preference(const struct requirement *r, uint32_t term, uint32_t place,
                             struct misreadings *out)
{
    bool wants_number = str_equal(r->op, STR("Gt")) || str_equal(r->op, STR("Lt"));
    list_each(&r->values, value) {
        uint32_t i = (uint32_t)(value - r->values.at);
        if (wants_number && !is_number(*value))
            add_misreading(out,
                           arena_printf(out->mem,
                                        "[%u].matchExpressions[%u].values[%u]: Invalid value: "
                                        "\"" STR_FMT "\": for 'Gt', 'Lt' operators, the value must "
                                        "be an integer",
                                        term, place, i, STR_ARG(*value)));
        if (!is_label_value(*value))
            add_misreading(out, arena_printf(out->mem,
                                             "[%u].matchExpressions[%u].values[%u][" STR_FMT
                                             "]: Invalid value: \"" STR_FMT
                                             "\": not a valid label value",
                                             term, place, i, STR_ARG(r->key), STR_ARG(*value)));
    }
}

/* What upstream says of preferences whose values it cannot read. (All else it would refuse to
 * parse, the API server refuses to store.) */
static struct str preference_errors(const struct node_affinity *from, struct arena *mem)
{
    struct misreadings all = {.mem = mem};
    for (uint32_t t = 0; t < from->preferred.n; t++) {
        const struct preferred_node_term *term = &from->preferred.at[t];
        for (uint32_t i = 0; term->weight && i < term->preference.match_expressions.n; i++)
            check_preference(&term->preference.match_expressions.at[i], t, i, &all);
    }
    return all.n > 1 ? arena_printf(mem, "[" STR_FMT "]", STR_ARG(all.text)) : all.text;
}

/* Reads the pod's rules into `r` (whose arena is empty); returns the pin. */
static sym rules_read(struct rules *r, const struct matches *m, struct names *names,
                      const struct pod *pod, bool takes_pin)
{
    struct match_vec selector = {0};
    match_add_pairs(&selector, names, pod->spec.node_selector.at, pod->spec.node_selector.n,
                    &r->mem);
    r->selector = arena_copy(&r->mem, selector.at, selector.n * sizeof(*selector.at));
    r->n_selector = selector.n;
    vec_done(&selector);

    sym pin = SYM_NONE;
    const struct node_affinity *affinity = pod->spec.affinity ? pod->spec.affinity->node : NULL;
    if (affinity && affinity->required) {
        r->has_required = true;
        r->n_required = affinity->required->terms.n;
        struct node_term *terms = parse_required(affinity->required, names, &r->mem);
        r->required = terms;
        pin = takes_pin ? find_pin(terms, r->n_required) : SYM_NONE;
        r->is_pinned = pin != SYM_NONE;
        find_names(r);
        if (r->is_pinned)
            forget_pin(terms, r->n_required);
    }
    if (affinity) {
        r->n_preferred = affinity->preferred.n;
        struct node_term *terms = arena_array(&r->mem, struct node_term, r->n_preferred);
        for (uint32_t i = 0; i < r->n_preferred; i++)
            parse_term(&affinity->preferred.at[i].preference, affinity->preferred.at[i].weight,
                       names, &r->mem, &terms[i]);
        r->preferred = terms;
        r->error = preference_errors(affinity, &r->mem);
    }
    r->has_names = is_personal(m, r->selector, r->n_selector);
    for (uint32_t i = 0; i < r->n_required; i++)
        r->has_names |= is_personal(m, r->required[i].all, r->required[i].n);
    return pin;
}

static void encode_terms(struct match_words *out, struct match_words *held,
                         const struct node_term *terms, uint32_t n)
{
    vec_push(out, n);
    for (uint32_t t = 0; t < n; t++) {
        vec_push(out, (uint32_t)terms[t].weight);
        vec_push(out, terms[t].n | (terms[t].is_broken ? 1u << 31 : 0));
        for (uint32_t i = 0; i < terms[t].n; i++)
            encode(out, held, &terms[t].all[i]);
    }
}

static void rules_free(struct rules *r)
{
    if (!r)
        return;
    vec_done(r->by_set);
    mem_free(r->by_set);
    arena_done(&r->mem);
    mem_free(r);
}

enum { RULES_BYTES = 256 }; /* of most */

static struct rules *rules_new(void)
{
    struct rules *r = mem_alloc(sizeof(*r));
    r->by_set = mem_alloc(sizeof(*r->by_set));
    arena_begin(&r->mem, RULES_BYTES);
    return r;
}

rules_id matches_rules(struct matches *m, struct names *names, const struct pod *pod, sym *pin)
{
    if (pin)
        *pin = SYM_NONE;
    if (pod->spec.node_selector.n == 0 && !(pod->spec.affinity && pod->spec.affinity->node))
        return 0;
    struct rules *r = rules_new();
    sym found = rules_read(r, m, names, pod, pin != NULL);
    if (pin)
        *pin = found;

    struct match_words words = {0}, held = {0};
    vec_push(&words, (uint32_t)r->has_required | (r->is_pinned ? 2u : 0));
    vec_push(&words, r->n_selector);
    for (uint32_t i = 0; i < r->n_selector; i++)
        encode(&words, &held, &r->selector[i]);
    encode_terms(&words, &held, r->required, r->n_required);
    encode_terms(&words, &held, r->preferred, r->n_preferred);
    bool is_new;
    rules_id id =
        lists_get(&m->rules, names, words.at, words.n * sizeof(uint32_t), held.at, held.n, &is_new);
    vec_done(&words);
    vec_done(&held);
    if (!is_new) {
        rules_free(r);
        return id;
    }
    if (id >= m->rules_at.n)
        vec_resize(&m->rules_at, id + 1);
    m->rules_at.at[id] = r;
    return id;
}

static bool term_holds(const struct node_term *term, const struct matches *m,
                       const struct names *names, struct node_labels node, sym pin)
{
    if (term->is_broken || term->n == 0)
        return false;
    for (uint32_t i = 0; i < term->n; i++) {
        const struct match *line = &term->all[i];
        if (line->is_name && line->n_values == 0) { /* the pin was taken out */
            if (node.name != pin)
                return false;
            continue;
        }
        sym value = line->is_name              ? node.name
                    : line->key == m->hostname ? node.hostname
                                               : names_label(names, node.set, line->key);
        if (!match_holds(line, names, value))
            return false;
    }
    return true;
}

static bool require_all(const struct rules *r, const struct matches *m, const struct names *names,
                        struct node_labels node, sym pin)
{
    struct node_term selector = {.all = r->selector, .n = r->n_selector};
    if (r->n_selector && !term_holds(&selector, m, names, node, pin))
        return false;
    if (!r->has_required)
        return true;
    for (uint32_t t = 0; t < r->n_required; t++)
        if (term_holds(&r->required[t], m, names, node, pin))
            return true;
    return false;
}

bool rules_require(const struct rules *r, const struct matches *m, const struct names *names,
                   struct node_labels node, sym pin)
{
    if (r->has_names)
        return require_all(r, m, names, node, pin);
    struct verdicts *memo = r->by_set;
    if (node.set >= memo->n)
        vec_resize(memo, node.set + 1);
    uint8_t *verdict = &memo->at[node.set];
    if (*verdict == 0)
        *verdict = require_all(r, m, names, node, pin) ? 2 : 1;
    return *verdict == 2;
}

int64_t rules_prefer(const struct rules *r, const struct matches *m, const struct names *names,
                     struct node_labels node, sym pin)
{
    int64_t sum = 0;
    for (uint32_t t = 0; t < r->n_preferred; t++)
        if (r->preferred[t].weight && term_holds(&r->preferred[t], m, names, node, pin))
            sum += r->preferred[t].weight;
    return sum;
}

static bool is_number_covered(const struct toleration_sym *t, struct taint_sym taint,
                              const struct names *names)
{
    int64_t mine, theirs;
    if (!taint_number(names_text(names, t->value), &mine) ||
        !taint_number(names_text(names, taint.value), &theirs))
        return false;
    return t->op == TOLERATES_LESS ? theirs < mine : theirs > mine;
}

bool tolerations_cover(const struct toleration_sym *list, uint32_t n, struct taint_sym taint,
                       const struct names *compared)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct toleration_sym *t = &list[i];
        if (t->effect != TAINT_ANY && t->effect != taint.effect)
            continue;
        if (t->key != SYM_NONE && t->key != taint.key)
            continue;
        if (t->op == TOLERATES_EXISTS || (t->op == TOLERATES_EQUAL && t->value == taint.value))
            return true;
        bool is_compared = t->op == TOLERATES_LESS || t->op == TOLERATES_GREATER;
        if (is_compared && compared && is_number_covered(t, taint, compared))
            return true;
    }
    return false;
}

/* --- the tables --- */

static void selector_gone(void *ctx, uint32_t id)
{
    struct matches *m = ctx;
    mem_free((void *)(uintptr_t)m->selector_at.at[id].all);
    m->selector_at.at[id] = (struct selector){0};
}

static void rules_gone(void *ctx, uint32_t id)
{
    struct matches *m = ctx;
    rules_free(m->rules_at.at[id]);
    m->rules_at.at[id] = NULL;
}

void matches_init(struct matches *m, struct names *names)
{
    *m = (struct matches){.hostname = names_get(names, STR("kubernetes.io/hostname"))};
    intern_hold(&names->text, m->hostname);
    rules_id none = lists_get(&m->rules, names, NULL, 0, NULL, 0, NULL);
    assert(none == 0);
    intern_hold(&m->rules.table, none);
    vec_push(&m->rules_at, rules_new());
}

void matches_tidy(struct matches *m, struct names *names, enum tidy how)
{
    lists_tidy(&m->selectors, names, how, selector_gone, m);
    lists_tidy(&m->rules, names, how, rules_gone, m);
    vec_each(&m->rules_at, r) /* label sets may be numbered anew from here on */
        if (*r)
            vec_clear((*r)->by_set);
    if (how == TIDY_ALL) {
        intern_fit(&m->selectors.table, &m->selector_at);
        intern_fit(&m->rules.table, &m->rules_at);
    }
}

void matches_done(struct matches *m)
{
    vec_each(&m->selector_at, s)
        mem_free((void *)(uintptr_t)s->all);
    vec_done(&m->selector_at);
    lists_done(&m->selectors);
    vec_each(&m->rules_at, r)
        rules_free(*r);
    vec_done(&m->rules_at);
    lists_done(&m->rules);
}
