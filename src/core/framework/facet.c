#include "core/framework/facet.h"

enum { MOST_FACETS = 256 }; /* more likenesses than these share nothing */

static bool filters_rows(const struct class_part *part)
{
    return part->filters && part->plugin->row_filter;
}

/* --- what one node is told --- */

static bool says(const struct facet *f, uint32_t code, reason_id refused, const uint32_t *key)
{
    const uint32_t *had = f->keys.at + (size_t)code * f->n_keys;
    uint32_t differs = f->answers.at[code].refused ^ refused;
    for (uint32_t i = 0; i < f->n_keys; i++) /* short */
        differs |= had[i] ^ key[i];
    return !differs;
}

static void add_answer(struct facet *f, reason_id refused, const uint32_t *key)
{
    vec_push(&f->answers, (struct facet_answer){.refused = refused});
    for (uint32_t i = 0; i < f->n_keys; i++)
        vec_push(&f->keys, key[i]);
}

/* The code of an answer, made if it is new. */
static uint32_t code_of(struct facet *f, reason_id refused, const uint32_t *key)
{
    if (says(f, f->last, refused, key) && f->last)
        return f->last;
    for (f->last = 1; f->last < f->answers.n; f->last++)
        if (says(f, f->last, refused, key))
            return f->last;
    f->last = 0;
    f->is_broad = f->answers.n > FACET_CODES;
    if (f->is_broad)
        return 0;
    f->last = f->answers.n;
    add_answer(f, refused, key);
    return f->last;
}

static void count(struct facet *f, uint32_t code, int32_t more)
{
    struct facet_answer *a = &f->answers.at[code];
    bool was_open = a->nodes && !a->refused;
    a->nodes += (uint32_t)more;
    f->open += (uint32_t)((a->nodes && !a->refused) - was_open);
}

/* Writes down what the node is told from now on; 0: nothing, for it is not there. */
static void put(struct facet *f, uint32_t node, uint32_t code)
{
    uint32_t was = f->codes[node];
    uint64_t bit = (uint64_t)1 << (node % FACET_WORD);
    if (was == code)
        return;
    if (was)
        count(f, was, -1);
    if (code)
        count(f, code, +1);
    f->codes[node] = (uint8_t)code;
    if (code && !f->answers.at[code].refused)
        f->pass[node / FACET_WORD] |= bit;
    else
        f->pass[node / FACET_WORD] &= ~bit;
}

static uint32_t ask(struct facet *f, const struct cluster *c, const struct class_part *part,
                    uint32_t node)
{
    uint32_t key[PLUGIN_MOST_KEYS];
    reason_id refused =
        filters_rows(part) ? part->plugin->row_filter(c, part->state, (node_id){node}) : 0;
    if (refused)
        memset(key, 0, f->n_keys * sizeof(*key));
    else if (f->n_keys)
        part->plugin->key(c, part->state, (node_id){node}, key);
    return code_of(f, refused, key);
}

static void look(struct facet *f, const struct cluster *c, const struct class_part *part,
                 uint32_t node)
{
    bool is_there = node < c->nodes.n && c->nodes.flags[node] & NODE_PRESENT;
    put(f, node, is_there ? ask(f, c, part, node) : 0);
}

/* --- all nodes --- */

static void grow(struct facet *f, const struct cluster *c)
{
    uint32_t cap = (c->nodes.cap / FACET_WORD + 1) * FACET_WORD;
    if (cap <= f->cap)
        return;
    f->codes = mem_resize(f->codes, cap);
    f->pass = mem_resize(f->pass, cap / FACET_WORD * sizeof(*f->pass));
    memset(f->codes + f->cap, 0, cap - f->cap);
    memset(f->pass + f->cap / FACET_WORD, 0, (cap - f->cap) / FACET_WORD * sizeof(*f->pass));
    f->cap = cap;
}

/* The lowest bits of eight bytes, the first byte's first. */
static uint64_t gather_bits(uint64_t bytes)
{
    bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return (is_little ? bytes : __builtin_bswap64(bytes)) * 0x0102040810204080 >> 56;
}

/* All nodes that are there are told the same: no filter asks, and the key is 0. Eight at a time;
 * there is room for 64. */
static void begin_marks(struct facet *f, const struct cluster *c)
{
    static const uint32_t none[PLUGIN_MOST_KEYS];
    uint32_t code = code_of(f, 0, none); /* 1: it is the first */
    for (uint32_t i = 0; i < c->nodes.n; i += 8) {
        uint64_t flags;
        memcpy(&flags, c->nodes.flags + i, sizeof(flags));
        flags = flags / NODE_PRESENT & 0x0101010101010101;
        memcpy(f->codes + i, &flags, sizeof(flags));
        f->pass[i / FACET_WORD] |= gather_bits(flags) << i % FACET_WORD;
    }
    f->answers.at[code].nodes = c->nodes.present;
}

/* What nodes are told that were told `code` and have this thing, too. */
static uint32_t code_with(struct facet *f, uint32_t code, uint32_t thing)
{
    uint32_t key[PLUGIN_MOST_KEYS];
    memcpy(key, f->keys.at + (size_t)code * f->n_keys, f->n_keys * sizeof(*key));
    key[thing / 32] |= (uint32_t)1 << thing % 32;
    return code_of(f, 0, key);
}

static void add_mark(struct facet *f, uint32_t thing, const uint64_t *nodes, uint32_t n)
{
    uint32_t with[FACET_CODES + 1] = {0};
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t bits = nodes[i]; bits; bits &= bits - 1) {
            uint8_t *code = &f->codes[i * FACET_WORD + (uint32_t)__builtin_ctzll(bits)];
            if (UNLIKELY(!with[*code]))
                with[*code] = code_with(f, *code, thing);
            if (UNLIKELY(f->is_broad))
                return;
            f->answers.at[*code].nodes--;
            *code = (uint8_t)with[*code];
            f->answers.at[*code].nodes++;
        }
}

/* The same as by look() at each node, for a key that is marks. */
static void build_by_marks(struct facets *all, struct facet *f, const struct cluster *c,
                           const struct class_part *part)
{
    uint32_t n = f->cap / FACET_WORD;
    begin_marks(f, c);
    for (uint32_t thing = 0; !f->is_broad; thing++) {
        vec_clear(&all->marked);
        vec_resize(&all->marked, n);
        if (!part->plugin->mark(c, part->state, thing, all->marked.at))
            break;
        add_mark(f, thing, all->marked.at, n);
    }
    vec_each(&f->answers, a)
        f->open += a->nodes > 0;
}

static void build(struct facets *all, struct facet *f, const struct cluster *c,
                  const struct class_part *part)
{
    static const uint32_t none[PLUGIN_MOST_KEYS];
    memset(f->codes, 0, f->cap);
    memset(f->pass, 0, f->cap / FACET_WORD * sizeof(*f->pass));
    vec_clear(&f->answers);
    vec_clear(&f->keys);
    vec_reserve(&f->keys, 1); /* a key of no numbers has an address, too */
    add_answer(f, 0, none);   /* the code of nodes that are not there */
    f->open = f->last = 0;
    f->is_broad = false;
    if (part->plugin->mark && !filters_rows(part))
        build_by_marks(all, f, c, part);
    else
        for (uint32_t i = 0; i < c->nodes.n && !f->is_broad; i++)
            look(f, c, part, i);
}

static void update(struct facets *all, struct cluster *c, const struct class_part *part)
{
    struct facet *f = part->facet;
    struct change_log *log = &c->log;
    bool is_new = f->cap == 0;
    grow(f, c);
    if (!is_new && log->lasting <= f->seen)
        return;
    if (is_new || f->is_broad || f->seen < log->oldest)
        build(all, f, c, part);
    else
        for (uint64_t p = f->seen; p < log->end && !f->is_broad; p++)
            if (change_log_at(log, p)->columns & f->columns)
                look(f, c, part, change_log_at(log, p)->node);
    f->seen = log->end;
    log->read_up_to = MAX(log->read_up_to, f->seen);
}

/* --- whose they are --- */

static bool may_have_one(const struct class_part *part)
{
    uint32_t columns = (filters_rows(part) ? part->plugin->row_columns : 0) | part->key_columns;
    return part->plugin->likeness && !(columns & ~(uint32_t)COLUMN_LASTING) &&
           (filters_rows(part) || part->n_keys);
}

static struct facet *find(struct facets *all, const struct class_part *part)
{
    struct match_words *words = &all->scratch;
    vec_clear(words);
    vec_push(words, filters_rows(part));
    vec_push(words, part->n_keys);
    part->plugin->likeness(part->state, words);
    vec_each(&all->at, f)
        if ((*f)->plugin == part->plugin && (*f)->likeness.n == words->n &&
            memcmp((*f)->likeness.at, words->at, words->n * sizeof(*words->at)) == 0)
            return *f;
    if (all->at.n == MOST_FACETS)
        return NULL;
    struct facet *f = mem_alloc(sizeof(*f));
    f->plugin = part->plugin;
    f->n_keys = part->n_keys;
    f->columns = part->plugin->row_columns | part->key_columns | COLUMN_PRESENCE;
    vec_each(words, w)
        vec_push(&f->likeness, *w);
    vec_push(&all->at, f);
    return f;
}

void facets_prepare(struct facets *all, struct cluster *c, const struct class *class)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        struct class_part *part = &class->parts[i];
        if (!may_have_one(part))
            continue;
        if (!part->facet && (part->facet = find(all, part)))
            part->facet->holders++;
        if (part->facet)
            update(all, c, part);
    }
}

static void free_facet(struct facet *f)
{
    mem_free(f->codes);
    mem_free(f->pass);
    vec_done(&f->answers);
    vec_done(&f->keys);
    vec_done(&f->likeness);
    mem_free(f);
}

static void drop(struct facets *all, struct facet *gone)
{
    for (uint32_t i = 0; i < all->at.n; i++)
        if (all->at.at[i] == gone) {
            all->at.at[i] = vec_last(&all->at);
            all->at.n--;
            free_facet(gone);
            return;
        }
}

void facets_forget(struct facets *all, const struct class *class)
{
    for (uint32_t i = 0; i < class->n_parts; i++) {
        struct facet *f = class->parts[i].facet;
        class->parts[i].facet = NULL;
        if (f && --f->holders == 0)
            drop(all, f);
    }
}

void facets_done(struct facets *all)
{
    vec_each(&all->at, f)
        free_facet(*f);
    vec_done(&all->at);
    vec_done(&all->scratch);
    vec_done(&all->marked);
}
