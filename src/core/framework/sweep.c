#include "core/framework/sweep.h"

#include "core/framework/row.h"

enum { MOST_CODES = 1 << 14 }; /* together: else a key is put together for each node */

/* --- beginning --- */

/* How many of the class's filters facets answer: those before the first that must be asked. */
static uint32_t masked(const struct class *class)
{
    uint32_t n = 0;
    while (n < class->n_filters && facet_of(class->filters[n].part))
        n++;
    return n;
}

static void begin_masks(struct sweep *s)
{
    s->next_filter = masked(s->class);
    s->n_masks = 0;
    for (uint32_t i = 0; i < s->next_filter; i++)
        s->masks[s->n_masks++] = facet_of(s->class->filters[i].part);
}

static void begin_codes(struct sweep *s)
{
    uint64_t codes = 1;
    s->n_codes = 0;
    s->has_loose_keys = false;
    for (uint32_t i = 0; i < s->class->n_parts; i++) {
        const struct class_part *part = &s->class->parts[i];
        const struct facet *f = facet_of(part);
        if (part->n_keys == 0)
            continue;
        s->has_loose_keys |= !f;
        if (f && f->open > 1) {
            s->codes[s->n_codes++] = f;
            codes = MIN(codes * f->answers.n, (uint64_t)MOST_CODES + 1);
        }
    }
    s->has_loose_keys |= codes > MOST_CODES;
    if (s->has_loose_keys)
        return;
    vec_resize(&s->by_code, (uint32_t)codes);
    memset(s->by_code.at, 0xff, codes * sizeof(*s->by_code.at));
}

void sweep_begin(struct sweep *s, struct facets *facets, struct cluster *c,
                 const struct class *class, struct buckets *buckets, pod_id self)
{
    facets_prepare(facets, c, class);
    s->cluster = c;
    s->class = class;
    s->buckets = buckets;
    s->self = self;
    s->word = 0;
    buckets_reset(buckets, class->n_keys);
    vec_resize(&s->key, class->n_keys + 1);
    begin_masks(s);
    begin_codes(s);
}

reason_id sweep_refusal(const struct class *class, uint32_t node)
{
    reason_id refused = 0;
    for (uint32_t i = 0, n = masked(class); i < n && !refused; i++)
        refused = facet_refusal(facet_of(class->filters[i].part), node);
    return refused;
}

/* --- which nodes --- */

static uint64_t present(const struct cluster *c, uint32_t word)
{
    uint64_t bits = 0;
    for (uint32_t i = word * FACET_WORD; i < MIN((word + 1) * FACET_WORD, c->nodes.n); i++)
        bits |= (uint64_t)((c->nodes.flags[i] & NODE_PRESENT) != 0) << (i % FACET_WORD);
    return bits;
}

/* Those of the next 64 nodes that all facets let pass. */
static uint64_t next_word(struct sweep *s)
{
    uint32_t word = s->word++;
    if (UNLIKELY(s->n_masks == 0))
        return present(s->cluster, word);
    uint64_t bits = s->masks[0]->pass[word];
    for (uint32_t i = 1; i < s->n_masks; i++)
        bits &= s->masks[i]->pass[word];
    return bits;
}

/* Lists what passes until the strip is full or the nodes are at their end. */
static uint32_t list(struct sweep *s, uint32_t *out)
{
    uint32_t n = 0, words = (s->cluster->nodes.n + FACET_WORD - 1) / FACET_WORD;
    while (n <= STRIP - FACET_WORD && s->word < words) {
        uint32_t first = s->word * FACET_WORD;
        for (uint64_t bits = next_word(s); bits; bits &= bits - 1)
            out[n++] = first + (uint32_t)__builtin_ctzll(bits);
    }
    return n;
}

/* --- filters --- */

static void refuse(struct strip *t, uint32_t node, reason_id reason)
{
    t->refused[t->n_refused] = node;
    t->why[t->n_refused++] = reason;
}

/* Takes the nodes out to which pods are nominated that count for the class; returns how many of
 * them fit. */
static uint32_t judge_nominated(struct sweep *s, uint32_t *fit)
{
    struct strip *t = &s->strip;
    uint32_t kept = 0, n_fit = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        node_id node = {t->node[i]};
        if (LIKELY(!row_has_nominated(s->cluster, s->class, node, s->self))) {
            t->node[kept++] = node.i;
            continue;
        }
        reason_id reason = row_judge_nominated(s->cluster, s->class, node, s->self);
        if (reason)
            refuse(t, node.i, reason);
        else
            fit[n_fit++] = node.i;
    }
    t->n = kept;
    return n_fit;
}

static void filter(struct sweep *s, const struct class_filter *f)
{
    struct strip *t = &s->strip;
    uint32_t kept = 0, refused = t->n_refused;
    if (f->part->plugin->filter_rows)
        f->part->plugin->filter_rows(s->cluster, f->state, t->node, t->n, t->reason);
    else
        for (uint32_t i = 0; i < t->n; i++)
            t->reason[i] = f->ask(s->cluster, f->state, (node_id){t->node[i]});
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t node = t->node[i], reason = t->reason[i];
        t->node[kept] = t->refused[refused] = node;
        t->why[refused] = reason;
        kept += !reason;
        refused += reason != 0;
    }
    t->n = kept;
    t->n_refused = refused;
}

static void filter_all(struct sweep *s)
{
    struct strip *t = &s->strip;
    uint32_t fit[STRIP], n_fit = s->cluster->nominations.n ? judge_nominated(s, fit) : 0;
    for (uint32_t i = s->next_filter; i < s->class->n_filters && t->n; i++)
        filter(s, &s->class->filters[i]);
    memcpy(t->node + t->n, fit, n_fit * sizeof(*fit));
    t->n += n_fit;
}

/* --- buckets and scores --- */

static uint32_t loose_bucket(struct sweep *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->class->n_parts; i++) {
        const struct class_part *part = &s->class->parts[i];
        const struct facet *f = facet_of(part);
        if (part->n_keys == 0)
            continue;
        if (f)
            memcpy(s->key.at + part->key_at, facet_key(f, node), part->n_keys * sizeof(uint32_t));
        else
            part->plugin->key(s->cluster, part->state, (node_id){node}, s->key.at + part->key_at);
    }
    return buckets_get(s->buckets, s->key.at);
}

static void find_loose_buckets(struct sweep *s)
{
    struct strip *t = &s->strip;
    for (uint32_t i = 0; i < t->n; i++)
        t->bucket[i] = loose_bucket(s, t->node[i]);
}

/* The codes of all facets as one number, and by that the bucket: where every part has a facet. */
static void find_buckets(struct sweep *s)
{
    struct strip *t = &s->strip;
    memset(t->bucket, 0, sizeof(t->bucket));
    for (uint32_t k = 0; k < s->n_codes; k++) {
        const uint8_t *codes = s->codes[k]->codes;
        uint32_t n = k ? s->codes[k]->answers.n : 0;
        for (uint32_t i = 0; i < t->n; i++)
            t->bucket[i] = t->bucket[i] * n + codes[t->node[i]];
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t *bucket = &s->by_code.at[t->bucket[i]];
        if (UNLIKELY(*bucket == ID_NONE))
            *bucket = loose_bucket(s, t->node[i]);
        t->bucket[i] = *bucket;
    }
}

/* Adds a plugin's scores; false: some score is none. Also beyond the last node, so that the loop is
 * of a length that the compiler knows. */
static bool add_scores(struct strip *t, uint32_t weight)
{
    int32_t worst = 0;
    for (uint32_t i = 0; i < STRIP; i++) {
        t->local[i] = (int32_t)((uint32_t)t->local[i] + weight * (uint32_t)t->score[i]);
        worst |= t->score[i];
    }
    return worst >= 0;
}

static void score(struct sweep *s)
{
    struct strip *t = &s->strip;
    bool is_sound = true;
    memset(t->local, 0, sizeof(t->local));
    for (uint32_t k = 0; k < s->class->n_scores; k++) {
        const struct class_score *score = &s->class->scores[k];
        memset(t->score + t->n, 0, (STRIP - t->n) * sizeof(*t->score));
        if (score->part->plugin->score_rows)
            score->part->plugin->score_rows(s->cluster, score->state, t->node, t->n, t->score);
        else
            for (uint32_t i = 0; i < t->n; i++)
                t->score[i] =
                    plugin_score(score->ask(s->cluster, score->state, (node_id){t->node[i]}));
        is_sound &= add_scores(t, (uint32_t)score->weight);
    }
    t->may_break = !is_sound;
    for (uint32_t i = 0; UNLIKELY(!is_sound) && i < t->n; i++)
        t->local[i] = row_score(s->cluster, s->class, (node_id){t->node[i]});
}

bool sweep_next(struct sweep *s)
{
    struct strip *t = &s->strip;
    t->n_refused = 0;
    t->n = list(s, t->node);
    if (t->n == 0)
        return false;
    filter_all(s);
    if (s->has_loose_keys)
        find_loose_buckets(s);
    else
        find_buckets(s);
    score(s);
    return true;
}

void sweep_done(struct sweep *s)
{
    vec_done(&s->by_code);
    vec_done(&s->key);
}
