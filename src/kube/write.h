#pragma once

#include "core/base/intern.h"
#include "core/base/map.h"
#include "kube/answer.h"
#include "kube/pending.h"

/* What is to be written, or is on its way: what it says, and how it stands. */

enum write_kind {
    WRITE_BIND,
    WRITE_TELL,   /* why the pod waits, and for which node */
    WRITE_PROBE,  /* would the pod go? Of evictions of one plan, before any goes; then it is a */
    WRITE_MARK,   /* why the pod must go; then it is a */
    WRITE_DELETE, /* of the same pod */
    WRITE_OBJECT, /* what a pod needs before it can be bound */
};

enum write_state {
    WRITE_FREE,
    WRITE_QUEUED,   /* behind others (a patch), or behind a patch of the same pod (a binding) */
    WRITE_SENT,     /* no answer yet */
    WRITE_RESTING,  /* to be sent again */
    WRITE_ASKING,   /* the pod is being read: is it bound? */
    WRITE_DOUBTFUL, /* to be asked about again */
};

struct write {
    enum write_kind kind;
    enum write_state state;
    effect_id effect;
    request_id current; /* 0: nothing under way */
    uint32_t tries, pauses;
    int64_t due_ms;
    bool may_be_done; /* an earlier try may have been carried out */
    bool was_refused; /* the last try certainly was not */

    /* of what is told */
    bool is_renewed;        /* there is something newer to tell than what is under way */
    bool has_why, is_first; /* new to the pod */
    struct str reason;      /* of the condition: a constant */
    bool has_nominee;
    uint32_t why, nominee; /* in `texts`; INTERN_NONE: "" */

    int64_t generation;
    uint64_t version;
    struct str namespace, pod, uid, node, scheduler; /* live behind `namespace` */
    uint32_t binder;          /* of a binding: the extender that is asked to do it, + 1; 0: none */
    bool is_binder_ignorable; /* should it fail, we do it; else `why` is what it said */
    struct str by_uid;        /* of an eviction: who needs the room */
    struct str by_words;      /* the same in words, where there are any */
    bool is_exact;            /* of a binding: of the pod as it was when it was decided */
    effect_id plan;           /* of a probe: whose turn comes with those of the same plan */
    bool is_probed;           /* the server has said so: */
    int probed_status;        /* it would not, `why` says why; 0: it would */
    pair_list annotations;    /* of a binding; with their texts one block, at `at` */
    struct object_write object; /* with all it points at, one block, at `patches` */
    uint32_t step;              /* the patch of it that is under way */
    struct answer answer;
};

/* Numbers stay while a write lives, addresses do not. */
struct writes {
    VEC(struct write) list;
    VEC(uint32_t) free;
    struct map bind_of, tell_of; /* pod → the one binding, the one telling */
    struct intern texts;         /* many pods are told the same */
    const struct extender *extenders;
    uint32_t n_extenders;
    uint32_t binds, tells_sent, timers; /* live bindings; tellings under way; writes that wait for a
                                         * time */
};

static inline struct write *writes_at(const struct writes *s, uint32_t i)
{
    return &s->list.at[i];
}

/* Of an object: what is under way. */
static inline const struct patch *write_patch(const struct write *w)
{
    return &w->object.patches[w->step];
}

/* A QUEUED one. `row` is what is known of the pod; NULL: nothing. */
uint32_t writes_add(struct writes *s, enum write_kind kind, const struct effect *e,
                    const struct pending_row *row, struct str scheduler);
void writes_remove(struct writes *s, uint32_t i);
void writes_done(struct writes *s);

/* Gives back the room that nothing needs now. */
void writes_trim(struct writes *s);

/* The one telling of this pod, or the one binding; MAP_NONE: none. */
uint32_t writes_find(const struct writes *s, enum write_kind kind, uint64_t pod);

/* It is not the pod's any more: another may take its place. */
void writes_disown(struct writes *s, uint32_t i);

void writes_set_state(struct writes *s, uint32_t i, enum write_state state);
void writes_set_why(struct writes *s, uint32_t i, struct str text);
struct str writes_why(const struct writes *s, uint32_t i);
void writes_set_nominee(struct writes *s, uint32_t i, struct str node);

/* Why it was not done, in upstream's words, by the extender that was asked to; empty: it was. */
struct str write_binder_trouble(const struct writes *s, uint32_t i, const struct reply *end,
                                struct arena *mem);

/* The request that does it, but for its id. Texts live in `out`. */
struct request write_request(const struct writes *s, uint32_t i, int64_t now_ms,
                             struct requests *out);
