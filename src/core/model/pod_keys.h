#pragma once

#include "core/base/vec.h"
#include "core/model/pod.h"

/* What a pod's labels and annotations say to us, by meaning: one pass over both, whatever the
 * spelling. Documents of different ages spell the same wish in different ways, and users write
 * labels where they should write annotations; every spelling in pod_keys.def is read, and a meaning
 * that is said twice is taken from the spelling that stands first there (a label before an
 * annotation). */

enum pod_meaning {
    /* who and what */
    MEANS_WORKLOAD,
    MEANS_PREEMPTIBLE,
    MEANS_TIER,
    MEANS_PRIORITY_TIER,
    MEANS_QUEUE,
    MEANS_APP_NAME,
    MEANS_COMPONENT,
    MEANS_RAY_ORIGIN,
    MEANS_IS_INTERACTIVE, /* these four by being there, whatever the value */
    MEANS_IS_INFERENCE,
    MEANS_IS_TRAINING,
    MEANS_IS_BATCH,
    /* where */
    MEANS_SPREAD_ZONES,
    MEANS_NUMA_POLICY,
    MEANS_NUMA_RESOURCES,
    MEANS_NUMA_IDS,
    MEANS_NUMA_ANTI_IDS,
    MEANS_NUMA_SPREAD,
    MEANS_NUMA_DISTANCE,
    MEANS_MEMORY_INTENSIVE,
    MEANS_VRAM,
    MEANS_MIN_FABRIC,
    MEANS_NETWORK_SENSITIVE,
    MEANS_CO_LOCATE,
    MEANS_REQUIRE_CLIQUE,
    N_MEANINGS,
};

enum { IN_LABEL = 1, IN_ANNOTATION = 2, IN_BOTH = 3 };

struct pod_key {
    struct str text;
    uint32_t places; /* IN_* */
    enum pod_meaning meaning;
};

extern const struct pod_key pod_keys[];
extern const uint32_t n_pod_keys;

/* One thing that was said. */
struct said {
    struct str value;
    uint32_t key;       /* which of pod_keys; n_pod_keys: nothing was said */
    bool is_annotation; /* else a label */
};

struct pod_said {
    struct said by[N_MEANINGS];
};

void pod_said_read(const struct pod *pod, struct pod_said *out);

static inline bool pod_says(const struct pod_said *said, enum pod_meaning meaning)
{
    return said->by[meaning].key < n_pod_keys;
}

/* A value that means nothing to us: it counts as not said, and somebody is told. */
struct misread {
    struct str key, value;
    struct str expects; /* what would mean something; "": that is not said */
};

VEC_TYPE(misreads, struct misread);

void misread_add(struct misreads *to, const struct said *said);

/* --- values --- */

/* The place of a word in a list, case ignored; `n` if it is not there. */
uint32_t word_find(struct str word, const struct str *words, uint32_t n);

/* Is `word` a part of `text`, cut at - . _ / : and blanks, case ignored? "lab" is a part of
 * "jupyter-lab", not of "gitlab"; a word that has a cut itself must be there as a whole. */
bool text_has_word(struct str text, struct str word);

/* The first of the words that is; `n`: none. */
uint32_t text_find_word(struct str text, const struct str *words, uint32_t n);

/* "true" or "false", case ignored. */
bool text_bool(struct str text, bool *out) MUST_USE;
