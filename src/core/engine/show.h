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
struct booking;

/* The object of a group or a reservation. {0}: there is none. */
struct exhibit {
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
void exhibit_see(struct exhibit *x, const struct object *o, bool is_over);
void exhibit_done(struct exhibit *x);

/* What it stands for changed: it is looked at soon. */
void engine_make_stale(struct engine *k, int64_t now_ms, struct exhibit *x);

/* Says what is new of all that is stale; true if there are effects. */
bool engine_show(struct engine *k, int64_t now_ms, struct effects *out);

/* What a publication says in which place. */
struct showing {
    struct exhibit *exhibit;
    enum kind kind;
    struct str namespace, name;
    struct object_status status;
    enum effect_news news; /* with this text */
    uint64_t news_of;      /* told again when this changes */
    struct str text;
};

/* Adds the effect that makes it say so, if that is new. */
void engine_publish(struct engine *k, int64_t now_ms, struct showing *what, struct effects *out);

/* Adds the effect of a write that is no status. The patch's texts live in out->mem. */
void engine_add_publication(struct engine *k, const struct object_write *write, struct str uid,
                            struct patch patch, struct effects *out);

/* --- show_booking.c --- */

struct reservation;

/* What the object of the reservation says. */
void engine_see_booking(struct engine *k, int64_t now_ms, struct booking *b,
                        const struct reservation *from);

/* The reservation as it stands. */
void engine_show_booking(struct engine *k, int64_t now_ms, struct booking *b, struct effects *out);

/* Those of its finalizers that are left when ours is taken off, as JSON; NULL: it has none of ours.
 * Owned by who asks. */
char *engine_other_finalizers(const struct reservation *from);

/* Is all that it holds in use? */
bool booking_is_taken(const struct booking *b);

/* --- show_gang.c --- */

enum gang_standing {
    GANG_UNTRIED,
    GANG_LACKS_PODS,
    GANG_LACKS_ROOM,
    GANG_UNJUDGED, /* for an error */
    GANG_HAS_ROOM,
    GANG_WAITED_IN_VAIN, /* for pods: those who are there were told */
    GANG_STANDINGS,
};

/* What came of an attempt to place the group, or of the wait for its pods. */
void engine_note_gang(struct engine *k, int64_t now_ms, uint32_t group, enum gang_standing standing,
                      struct str why);

/* Its members or its object changed. ID_NONE: it is nobody's. */
void engine_touch_gang(struct engine *k, int64_t now_ms, uint32_t group);

/* The group as it stands. */
void engine_show_gang(struct engine *k, int64_t now_ms, uint32_t group, struct effects *out);

/* --- show_node.c --- */

struct node;
struct node_row;

/* A node or namespace with labels that mean nothing, of which nobody was told yet. */
struct complaint {
    enum kind kind;
    uint32_t of;                /* the node's number, the namespace's name as a symbol */
    struct str name, uid, text; /* one block, at `name` */
};

struct complaints {
    struct map told, told_namespaces; /* → hash of what people were told, or are about to be */
    VEC(struct complaint) list;
};

void complaints_done(struct complaints *c);

/* The node says this now; or it is gone. */
void engine_see_labels(struct engine *k, int64_t now_ms, node_id node, const struct node *from,
                       const struct node_row *row);
void engine_forget_labels(struct engine *k, node_id node);

/* The same of a namespace; NULL: it is gone. */
struct namespace;
void engine_see_namespace(struct engine *k, int64_t now_ms, sym name, const struct namespace *from);

/* Some of those that are to be told. */
void engine_show_labels(struct engine *k, int64_t now_ms, struct effects *out);

/* --- mirrors.c --- */

/* An object of our own came or changed, or is gone. */
void engine_put_mirror(struct engine *k, int64_t now_ms, const struct reservation *from);
void engine_remove_mirror(struct engine *k, int64_t now_ms, const struct meta *meta);

/* What it stands for goes. */
void engine_drop_mirror(struct engine *k, int64_t now_ms, struct booking *b);

/* Makes objects for what we hold, and takes away those that stand for nothing. */
void engine_show_mirrors(struct engine *k, int64_t now_ms, struct effects *out);

/* The name of its object; lives in `mem`. */
struct str engine_mirror_name(const struct engine *k, const struct booking *b, struct arena *mem);
