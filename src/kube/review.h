#pragma once

#include "core/base/str.h"
#include "core/base/vec.h"
#include "kube/answer.h"
#include "kube/listen.h"

/* Somebody asks us something: who is it, and may they? We ask the API server, as all components of
 * Kubernetes do: a TokenReview says whose token it is, a SubjectAccessReview whether that user may.
 * What it says holds for 10 s; what it could not say is asked again. However many ask, only so many
 * reviews are under way, and only so many begin in a second. */

enum {
    REVIEWS_MOST = 128,         /* that are remembered or under way */
    REVIEWS_UNDER_WAY = 16,     /* at once */
    REVIEWS_A_SECOND = 100,     /* that may begin */
    REVIEW_HOLDS_MS = 10000,    /* as kube-scheduler's defaults */
    REVIEW_TIMEOUT_MS = 10000,  /* of a request */
    REVIEW_BYTES_MOST = 1 << 20 /* of an answer */
};

enum review_verdict {
    REVIEW_ALLOWED,
    REVIEW_STRANGER, /* nobody knows the token, or nobody could be asked */
    REVIEW_DENIED,
    REVIEW_BUSY,   /* too many ask */
    REVIEW_FAILED, /* the API server did not say */
};

struct review_question {
    struct str token; /* whose bearer asks; empty: see `user` */
    struct str user;  /* from review_user() */
    struct str verb, path;
};

/* Adds a user who is known without a token, and the groups it is in. An empty name is nobody in
 * particular. */
void review_user(struct buf *out, struct str name, const struct str *groups, uint32_t n_groups);

typedef uint64_t review_ticket; /* the asker's own number for a question */

struct review;

struct reviews {
    VEC(struct review *) list;
    request_id last_id;
    void (*answered)(void *ctx, review_ticket ticket, enum review_verdict verdict, struct str user);
    void *ctx;
    const struct listener *listener;
    int64_t allowance, filled_ms; /* reviews that may begin, in thousandths */
    bool is_trouble_told;
    struct arena mem;
};

/* Calls `answered` once for each question, with the user's name as far as it is known. Request ids
 * count up from `first_id`. */
void reviews_init(struct reviews *r, int64_t now_ms, request_id first_id,
                  void (*answered)(void *ctx, review_ticket ticket, enum review_verdict verdict,
                                   struct str user),
                  void *ctx, const struct listener *listener);
void reviews_done(struct reviews *r);

/* May call `answered` from within. */
void reviews_ask(struct reviews *r, int64_t now_ms, const struct review_question *question,
                 review_ticket ticket, struct requests *out);
void reviews_hear(struct reviews *r, int64_t now_ms, const struct reply *reply,
                  struct requests *out);
