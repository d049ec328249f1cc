#pragma once

#include "core/base/hash.h"
#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/cluster/ids.h"

/* Text as symbols, and the interned lists that are made of symbols.
 *
 * Each list is a byte string of its symbols, so equal lists share one number. A list holds its
 * symbols for as long as it stands; who uses a list holds the list. */

struct pair_sym {
    sym key, value;
};

enum taint_effect {
    TAINT_ANY,
    TAINT_NO_SCHEDULE,
    TAINT_PREFER_NO_SCHEDULE,
    TAINT_NO_EXECUTE,
    TAINT_OTHER
};

struct taint_sym {
    sym key, value;
    enum taint_effect effect;
};

enum toleration_op { TOLERATES_EQUAL, TOLERATES_EXISTS, TOLERATES_LESS, TOLERATES_GREATER };

struct toleration_sym {
    sym key, value; /* key SYM_NONE: any */
    enum toleration_op op;
    enum taint_effect effect; /* TAINT_ANY: any */
};

/* Interned bytes that hold symbols of the same cluster. */
struct lists {
    struct intern table;
    VEC(struct kept {
        sym *at;
        uint32_t n;
    })
    kept;
};

/* Keys as bits: each sets two of 64. What has all the bits may have the keys; what has not
 * has not. */
static inline uint64_t bits_of_key(sym key)
{
    uint64_t h = hash_u64(key + UINT64_C(1));
    return UINT64_C(1) << (h & 63) | UINT64_C(1) << (h >> 8 & 63);
}

struct names {
    struct intern text;
    struct lists label_sets, taint_sets, tolerations;
    VEC(uint64_t) label_key_bits; /* by label set: of its keys */
    VEC(uint64_t) label_keys;     /* a bit for each symbol that is a key of labels, or was once */
};

void names_init(struct names *n);
void names_done(struct names *n);

static inline sym names_get(struct names *n, struct str text)
{
    return intern_get(&n->text, text, NULL);
}

/* false: no label that is known has this key. */
static inline bool names_is_label_key(const struct names *n, sym key)
{
    return key / 64 < n->label_keys.n && n->label_keys.at[key / 64] >> key % 64 & 1;
}

/* SYM_NONE if the text was never seen: nothing in the cluster can be equal to it. */
static inline sym names_find(const struct names *n, struct str text)
{
    return intern_find(&n->text, text);
}

static inline struct str names_text(const struct names *n, sym s)
{
    return s == SYM_NONE ? (struct str){0} : intern_bytes(&n->text, s);
}

/* The number of a list of `n_bytes` bytes; on first sight it begins to hold the symbols `held`. */
uint32_t lists_get(struct lists *l, struct names *names, const void *p, size_t n_bytes,
                   const sym *held, uint32_t n_held, bool *is_new);

/* Frees lists nobody holds (intern_tidy()), and lets go of their symbols. */
void lists_tidy(struct lists *l, struct names *names, enum tidy how,
                void (*gone)(void *ctx, uint32_t id), void *ctx);

void lists_done(struct lists *l);

static inline const void *lists_at(const struct lists *l, uint32_t id, size_t item, uint32_t *n)
{
    struct str bytes = intern_bytes(&l->table, id);
    *n = (uint32_t)(bytes.n / item);
    return bytes.p;
}

/* The set of these pairs, whose keys differ; sorts `pairs`. */
label_set_id names_label_set(struct names *n, struct pair_sym *pairs, uint32_t count);

/* SYM_NONE if the set has no such key. */
sym names_label(const struct names *n, label_set_id set, sym key);

taint_set_id names_taint_set(struct names *n, const struct taint_sym *taints, uint32_t count);
tolerations_id names_tolerations(struct names *n, const struct toleration_sym *tolerations,
                                 uint32_t count);

enum taint_effect taint_effect_of(struct str text);

/* Frees what nobody holds (intern_tidy()). Only at a quiet moment: numbers just made and not yet
 * held go, too. */
void names_tidy(struct names *n, enum tidy how);
