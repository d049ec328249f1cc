#pragma once

#include "core/base/map.h"
#include "core/cluster/ids.h"
#include "core/engine/effect.h"
#include "core/model/status.h"

/* What the world sees of groups and reservations, the statuses of their objects; and what people
 * are told of nodes.
 *
 * Whatever changes how a group or a reservation stands makes its object stale. A moment later, when
 * more may have changed, what it is to say is compared with what it says, as we last saw it, and
 * with what it was last asked to say; only what is new goes out, as EFFECT_PUBLISH. So objects say
 * what is so without anybody waiting for them, after a restart nothing is said again, and a word
 * that got lost is said with the next change. */

struct engine;

/* The object of a group or a reservation. {0}: there is none. */
struct published_status {
    char *uid; /* owned */
    enum kind kind;
    uint64_t seen, said; /* hashes of what it says, and was last asked to say */
    struct {
        bool is_there, is_true;
        int64_t since_ms;
    } was[STATUS_CONDITIONS_MOST];
    char phase[16];        /* of a PodGroup */
    enum effect_news news; /* told last, */
    uint64_t news_of;      /* and of what */
    bool is_stale;
};

/* The object says this; `is_over`: of a reservation, who has its entries does not matter. */
void published_status_see(struct published_status *x, const struct object *o, bool is_over);
void published_status_done(struct published_status *x);

/* What it stands for changed: it is looked at soon. */
void engine_make_stale(struct engine *k, struct published_status *x);

/* What a publication says in which place. */
struct publication {
    struct published_status *published_status;
    enum kind kind;
    struct str namespace, name;
    struct object_status status;
    enum effect_news news; /* with this text */
    uint64_t news_of;      /* told again when this changes */
    struct str text;
};

/* Adds the effect that makes it say so, if that is new. */
void engine_publish(struct engine *k, struct publication *what, struct effects *out);

/* Adds the effect of a write that is no status. The patch's texts live in out->mem. */
void engine_add_publication(struct engine *k, const struct object_write *write, struct str uid,
                            struct patch patch, struct effects *out);

/* A node or namespace with labels that mean nothing, of which nobody was told yet. */
struct label_warning {
    enum kind kind;
    uint32_t of;                /* the node's number, the namespace's name as a symbol */
    struct str name, uid, text; /* one block, at `name` */
};

struct label_warnings {
    struct map told, told_namespaces; /* → hash of what people were told, or are about to be */
    VEC(struct label_warning) list;
};
