#pragma once

#include "core/base/map.h"
#include "core/cluster/cluster.h"
#include "core/engine/fair/counts.h"
#include "core/engine/queues.h"
#include "core/engine/unit/unit.h"
#include "core/fair/fair.h"
#include "core/model/queue.h"
#include "core/model/queue_status.h"
#include "core/plugins/args.h"

/* Queues inside the engine: whose a pod is, what it asks for, what keeps a unit out. The arithmetic
 * is core/fair's; the order of rounds is the line's (backfill/turns.c).
 *
 * There is a tree only while queues matter: a profile has FairQueues, and a Queue object exists or
 * one of those profiles asks for namespaceFairness. Whatever changes the rules for all (the first
 * Queue, the last one, another configuration, a resource by kind) makes a new tree from the objects
 * and the rows, so there is one way to get there and nothing to carry over.
 *
 * What a pod takes is told to the tree by the cluster (struct cluster_tap), in trials too. Of a pod
 * only its queue and its job are kept here, so that it is taken off where it was put on. */

struct engine;
struct planner;

/* What a restart, or another tree, begins with. */
struct team_past {
    int64_t as_of_ms; /* TIME_NONE: nothing is known */
    LIST(struct queue_status_use) uses;
    LIST(struct queue_status_budget) spent;
};

/* What the status of a Queue says, as we last saw or wrote it. */
struct team_published {
    struct str uid;
    uint64_t said; /* hash of what it was last asked to say */
    int64_t said_ms;
    struct team_condition {
        struct str type;
        bool is_true;
        int64_t since_ms;
    } was[QUEUE_CONDITIONS_MOST];
};

/* A Queue object, as long as it is there, tree or no tree. */
struct team {
    struct arena mem; /* of what follows */
    struct str name;
    struct queue_object says; /* but for its selector, … */
    selector_id like;         /* … which is here, held; ID_NONE: none */
    VEC(sym) namespaces;      /* by number, held */
    sym split;                /* the label that parts it, held; SYM_NONE: none */
    uint32_t parent;          /* its place among the teams; ID_NONE: it has none there */
    uint32_t queue;           /* in the tree */
    bool is_leaf;
    bool is_told; /* the tree knows it */
    struct team_past past;
    struct arena past_mem; /* of `past`, where a tree said it */
    struct team_published published;
};

/* What a pod, a group's object or a namespace says of queues in annotations (labels stand in the
 * pod's shape); texts are held. */
enum saying {
    SAYS_QUEUE,         /* scheduling.kubenexus.io/queue */
    SAYS_CHARGED,       /* scheduling.kubenexus.io/charged-to */
    SAYS_USER,          /* scheduling.kubenexus.io/user */
    SAYS_PEER,          /* the first that says something of KAI's, Volcano's and YuniKorn's keys */
    SAYS_CLUSTER_QUEUE, /* Kueue's, by name … */
    SAYS_LOCAL_QUEUE,   /* … or by the LocalQueue that leads there */
    SAYS_MAX,           /* scheduling.kubenexus.io/max, of a namespace */
    N_SAYINGS,
    N_SPELLINGS = 12, /* of keys that say it */
};

struct sayings {
    sym at[N_SAYINGS]; /* SYM_NONE: it does not say */
};

/* Where a pod is counted. */
struct charged {
    uint32_t queue;  /* FAIR_NONE: not known yet; NOBODYS: it is an outsider's */
    uint32_t placed; /* the how-many-eth pod that was placed; those that we found, by name */
    uint64_t job;    /* with its queue: 0: it is counted in none */
};
#define NOBODYS (FAIR_NONE - 1)
#define SEVERAL (ID_NONE - 1)

/* A unit that stands in a lane: what O6 compares. */
struct stander {
    int64_t priority;       /* with its tenant's boost */
    int64_t turn_ms;        /* its age, or what its line makes of it */
    struct kept_turn *turn; /* it was chosen, and evicts; owned; NULL: it does not */
    int64_t told_ms;
    uint32_t told, told_text; /* hashes of the refusal that it heard last: its rule, its words */
    bool stands, is_first, is_starving, is_beyond;
    bool is_taken;  /* its queue takes its namespace */
    bool is_behind; /* in its last turn a head of its line kept it */
};

/* A turn that goes on until its unit starts, before all others (R11). */
struct kept_turn {
    struct fair_key key;            /* as it was when the unit was chosen */
    struct arena mem;               /* of the texts of … */
    VEC(struct queue_victim) goers; /* … who goes for it */
};
void kept_turn_free(struct kept_turn *t); /* NULL is fine */

/* A resource whose use is counted by what the node is, too. */
struct kind_of {
    uint32_t resource, base; /* numbers in the tree */
    sym key, value;          /* a node's label; key SYM_NONE: `value` is the GPU model */
};

struct shares {
    struct fair *tree;                   /* NULL: queues do not matter */
    uint64_t bit;                        /* of the plugin; 0: no profile has it */
    const struct fair_queues_args *args; /* of the first profile that has it */
    struct cluster_tap tap;
    struct fair_order order;

    VEC(struct team *) teams; /* by name */
    VEC(bool) has_part;       /* by profile: its pods are in queues */
    bool shares_namespaces;   /* some of them take turns by namespace */

    sym keys[N_SPELLINGS]; /* of what is said, held; once there is a tree */
    bool knows_keys;
    struct map named;   /* namespace → the only leaf whose object names it; SEVERAL */
    bool any_likes;     /* some object has a selector for them */
    struct map said_at; /* pod → place in `said`; groups and namespaces: above */
    VEC(struct sayings) said;
    VEC(uint32_t) said_free;

    VEC(struct charged) charged;  /* by pod; empty without a tree */
    VEC(struct stander) standers; /* by unit; the same */
    uint32_t n_placed;
    uint32_t chosen;            /* the unit that was chosen last, … */
    struct fair_key chosen_key; /* … and as what */
    struct map jobs;            /* job and queue → its pods that are counted */
    VEC(sym) limited;           /* namespaces that say a max, or did to this tree; held … */
    struct map limits;          /* … → the number of each in the tree */
    struct map namespaces;      /* namespace → its only queue by 1.4, row 5; cleared when it may
                                 * be another */
    VEC(uint32_t) numbers;      /* resource → its number in the tree, + 1; 0: none yet */
    VEC(bool) is_fine;          /* number in the tree → counted in thousandths */
    VEC(struct kind_of) kinds;
    struct map pinned; /* what pods may have, and a kind → whether it is that kind alone */
    uint32_t vram;     /* number in the tree, + 1; 0: no Queue names it */
    VEC(int64_t)
    capacity;               /* by number in the tree: allocatable of nodes that take pods, less
                             * what outsiders have there */
    bool is_unrelated;      /* queues came or went since parents and leaves were found */
    bool is_capacity_stale; /* nodes came, went or changed */
    bool is_stale;          /* units may be in other queues now */
    bool leaves_out;        /* asks or limits name what this tree does not count: … */
    uint64_t n_offers;      /* … what no node had offered after so many offers */
    bool must_begin;        /* there is to be another tree, or none */
    bool has_passed;        /* a moment at which somebody may be let in */
    int64_t show_ms;        /* then statuses are looked at again */
    struct queue_counts counts;
    struct queue_reports reports; /* for metrics, of one moment; live in `reports_mem` */
    uint64_t reports_of;
    struct arena reports_mem;
    VEC(struct fair_amount) ask; /* scratch of one question */
    struct arena mem;
};

struct shares *shares_new(void);
void engine_shares_done(struct engine *k);

/* Do queues matter? */
static inline bool engine_shares(const struct engine *k)
{
    return UNLIKELY(k->shares->tree != NULL);
}

/* --- shares.c: the tree --- */

/* A configuration came: whose pods are in queues, and whether there is a tree. */
void engine_begin_shares(struct engine *k);

/* A Queue came or changed (false: nothing but its status did); or is gone. */
bool engine_put_team(struct engine *k, const struct queue_object *from);
void engine_remove_team(struct engine *k, struct str name);
struct team *engine_team(const struct engine *k, struct str name);
void engine_relate_teams(struct engine *k);

/* The namespace says another max than before, or none any more. */
void engine_limit_anew(struct engine *k, sym namespace);

/* --- past.c --- */

/* From the object's status; to the tree, once pods are counted in it; from it, before it goes. */
void engine_read_past(struct team *team, const struct queue_object *from);
void engine_tell_past(struct engine *k);
void engine_keep_past(struct engine *k);
void engine_list_past(const struct engine *k, const struct team *team, struct team_past *out,
                      struct arena *mem);

/* --- shares.c again --- */

/* Do they, once all that came is taken in? */
bool engine_will_share(const struct engine *k);

/* Is there to be another tree, or none? Then the engine is to begin anew (engine_configure()). */
static inline bool engine_must_share_anew(const struct engine *k)
{
    return UNLIKELY(k->shares->must_begin);
}

/* Do nodes offer what they did not when the tree left something out? */
static inline bool engine_offers_more(const struct engine *k)
{
    const struct shares *s = k->shares;
    return s->tree && s->leaves_out && s->n_offers != k->cluster->specs.resources.n_offers;
}

/* Time passes: before anything else happens at it. */
void engine_pass_shares(struct engine *k);

/* When that may let somebody in; INT64_MAX: never. */
int64_t engine_shares_ms(const struct engine *k, int64_t now_ms);

/* Before anybody is decided about: what became stale is worked out anew. */
void engine_renew_shares(struct engine *k);

/* --- whose.c: which queue (1.4) --- */

/* What an object says: a pod's (its labels stand in its shape; true: that is news), a group's, a
 * namespace's (true: another max, which may let somebody in). NULL: it is gone. */
bool engine_hear_pods_queue(struct engine *k, pod_id pod, const struct meta *says);
void engine_hear_groups_queue(struct engine *k, uint32_t group, const struct meta *says);
bool engine_hear_namespaces_queue(struct engine *k, sym namespace, const struct meta *says,
                                  bool has_other_labels);

/* Once: the keys that say it, as symbols. */
void engine_know_keys(struct engine *k);

/* Is the pod's profile one of those with a part in queues? */
bool engine_is_shared(const struct engine *k, pod_id pod);

/* The queue of a pod by what is said (a part where there is one), made if need be. */
uint32_t engine_resolve_queue(struct engine *k, pod_id pod, bool was_charged);

/* The queue where the pod is counted: by what was said when it was first asked for. */
uint32_t engine_queue_of_pod(struct engine *k, pod_id pod);
void engine_set_queue(struct engine *k, pod_id pod, uint32_t queue);
void engine_forget_charge(struct engine *k, pod_id pod); /* it is gone */
void engine_trim_shares(struct engine *k, uint32_t pods);

/* The leaf of the queue, without its part. */
struct str engine_leaf_name(const struct engine *k, uint32_t queue);

/* Does the queue take the namespace? */
bool engine_takes(struct engine *k, uint32_t queue, sym namespace);

/* What the namespace says that its pods may have; empty: nothing. */
struct str engine_max_said(const struct engine *k, sym namespace);

/* --- charge.c: what is taken --- */

/* Of amounts, none of which is negative: what does not fit becomes the largest integer. */
static inline int64_t capped_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t capped_mul(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* What a pod asks for; of one that is on a node with what is counted by what the node is. Lives in
 * shares.ask until the next question. */
struct fair_ask engine_ask_of(struct engine *k, pod_id pod);

/* The tap (struct cluster_tap). */
void engine_count_moved(void *ctx, pod_id pod, int sign);
void engine_count_nominated(void *ctx, pod_id pod, int sign);

/* The number of a resource that is spelled as Queues spell it. Queues and nodes make numbers, each
 * of which costs every queue. What pods and namespaces name is left out where it has none; if it is
 * offered or named after all, another tree begins. */
uint32_t engine_resource_number(struct engine *k, struct str name);
bool engine_knows_resource(const struct engine *k, struct str name);

/* Has it a number, or does some node offer it? If not, it is left out. */
bool engine_counts_resource(struct engine *k, struct str name);

/* The number of the pod's namespace, if that says a max; FAIR_NONE: it does not. */
uint32_t engine_limit_of(const struct engine *k, pod_id pod);

/* What capacity there is, anew. */
void engine_sum_capacity(struct engine *k);
void engine_see_capacity(struct engine *k, uint32_t columns); /* these of a node changed */

/* All pods on nodes and in sight of some, anew; or those of a namespace, in what limits it. */
void engine_charge_all(struct engine *k);
void engine_charge_namespace(struct engine *k, sym namespace, uint32_t limit);

/* The key of the pod's job in this queue. */
uint64_t engine_job_of(const struct engine *k, pod_id pod, uint32_t queue);

/* --- stand.c: who waits where --- */

/* Orders two units of one leaf (O6). */
bool engine_stands_before(const void *ctx, uint32_t a, uint32_t b);

/* The unit waits in its queue; with another ask, another rank or another queue than before if it
 * waited there already. It may have its turn. */
void engine_enter_queue(struct engine *k, uint32_t unit, int64_t turn_ms);
void engine_leave_queue(struct engine *k, uint32_t unit);
void engine_stand_anew(struct engine *k, uint32_t unit); /* it starves */

/* The unit evicts, so its turn goes on: until it starts, it goes before all others. Takes `turn`.
 * Or it evicts no longer. */
void engine_keep_turn(struct engine *k, uint32_t unit, struct kept_turn *turn);
void engine_give_turn_up(struct engine *k, uint32_t unit);
void engine_rename_in_queue(struct engine *k, uint32_t unit, uint32_t to);

/* Is its gang placed as far as its minimum, so that it asks for one pod more? */
bool engine_is_beyond(const struct engine *k, uint32_t unit);

/* What the unit asks for in its next turn; lives in shares.mem until engine_renew_shares(). */
struct fair_ask engine_unit_ask(struct engine *k, uint32_t unit);

/* --- admit.c: what keeps a unit out (2.4) --- */

/* May the unit, whose sums are as they are in the open transaction, start? Always if it is in no
 * queue, or goes first (O1). */
bool engine_admits(struct engine *k, uint32_t unit, struct fair_refusal *why);

/* The same in two steps, for a search that asks often: what the unit asks for (in `mem`), and
 * whether it may start as things are. It stands in a queue, and O1 is not for it. */
struct fair_request engine_request(struct engine *k, uint32_t unit, struct arena *mem);
bool engine_admits_request(struct engine *k, uint32_t unit, const struct fair_request *r,
                           struct fair_refusal *why);

/* Does the unit stand in a queue? */
bool engine_is_queued(const struct engine *k, uint32_t unit);

/* It says that it may not be evicted. */
bool engine_is_kept(const struct engine *k, pod_id pod);

/* The pod is placed, after all others that were. */
void engine_note_placed(struct engine *k, pod_id pod);

/* An amount in the units that users write, and the resource: `8 nvidia.com/gpu`. */
void engine_tell_amount(const struct engine *k, uint32_t resource, int64_t amount, struct buf *out);
void engine_tell_number(const struct engine *k, uint32_t resource, int64_t amount, struct buf *out);

/* Does a queue have more than its max of a kind because the pod, which is placed in the open
 * transaction, is on such a node (A2b)? */
bool engine_exceeds_kind(struct engine *k, pod_id pod, struct fair_refusal *why);

/* The words of 3.1. */
void engine_word_admission(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                           struct buf *out);

/* What is added to a refusal for room; nothing where queues do not matter. */
void engine_word_queue(struct engine *k, uint32_t unit, struct buf *out);
