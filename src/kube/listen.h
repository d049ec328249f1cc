#pragma once

#include "core/engine/engine.h"
#include "kube/answer.h"

/* Who is told what the API server says. */

/* Something an operator should know. Texts are valid during the call. */
struct notice {
    enum notice_kind {
        NOTICE_DENIED,  /* RBAC lacks `verb` on `what`                                     */
        NOTICE_TROUBLE, /* `verb` of `what` fails; it is tried again                       */
        NOTICE_REFUSED, /* the server will not have `verb` of `what`                       */
        NOTICE_ABSENT,  /* the server does not serve `what`; it is asked again once a while */
        NOTICE_INVALID, /* something of `what` could not be read and was left out          */
        NOTICE_PARTLY,  /* one of `what` could not be read in full: what could be counts    */
    } kind;
    const char *verb;    /* list, watch, create, patch, … as RBAC spells it */
    struct str what;     /* pods, replicasets.apps, pods/binding */
    struct str text;     /* the server's words, or the error's */
    const char *without; /* of what is denied: what is not done then; NULL: it is not known */
};

/* Of a write that failed. */
enum notice_kind notice_of_trouble(const struct trouble *why);

struct listener {
    void *ctx;
    /* Will this partial pod do? NULL: never. */
    bool (*knows)(void *ctx, const struct pod *partial);
    void (*change)(void *ctx, int64_t now_ms, const struct change *change);
    /* A bind or an eviction was carried out (`why` NULL) or certainly was not. */
    void (*settle)(void *ctx, int64_t now_ms, effect_id effect, const struct error *why);
    /* What an extender said; NULL: nobody asks them. */
    void (*answer)(void *ctx, int64_t now_ms, effect_id effect,
                   const struct extender_answer *answer);
    void (*notice)(void *ctx, int64_t now_ms, const struct notice *notice);
    /* Is somebody waiting for objects of this kind? NULL: never. Asked of those that are not
     * watched before. */
    bool (*wants)(void *ctx, enum kind kind);
};
