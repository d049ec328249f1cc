#pragma once

#include "core/engine/gang/gang.h"
#include "core/engine/preemption/preemption.h"

/* A pod in flight that extenders are asked about (call.c). */
struct extender_call {
    uint32_t pod;
    uint32_t group;       /* as one of the gang, whose unit is in flight; ID_NONE: alone */
    shape_id shape;       /* as it was when they were asked, */
    uint64_t born;        /* and it was this one */
    bool is_of_nominated; /* about the node alone that the pod is nominated to */
    enum { ASKS_WHO_FITS, ASKS_SCORES, ASKS_WHO_GOES } phase;
    uint32_t turn; /* of those that are asked one after the other: whose */
    VEC(struct question {
        effect_id effect;
        uint32_t extender;
    })
    open; /* not answered yet */
    VEC(struct candidate {
        sym node; /* held */
        int64_t score;
    })
    nodes;                    /* that are left */
    struct why why;           /* of the others */
    reason_id silent;         /* of those that extenders leave out without a word */
    char *error;              /* an extender that must not fail did; owned */
    VEC(sym) refused_for_now; /* nodes that an extender may let it to later; held */
    VEC(struct offer {
        sym node; /* held */
        LIST(struct str) uids;
        int64_t violations;
    })
    offers;           /* of ASKS_WHO_GOES: nodes, and whom to evict there */
    struct arena mem; /* of their texts */
};

struct extender_calls {
    VEC(struct extender_call) all;
    VEC(uint32_t) open;      /* by group: questions about its members that are not answered yet */
    uint32_t n_reasons;      /* of theirs in the table of reasons */
    struct why answered_why; /* of the last member that was decided about as they told */
};

/* --- call.c --- */

/* Asks the extenders of its class about the pod, which fits as the verdict says. */
struct verdict;
void engine_call_extenders(struct engine *k, pod_id pod, struct class *class, struct verdict v,
                           bool ignores_nomination, struct effects *out);

/* Goes on with what was asked about the pod; false: nothing was, or of what is no longer so. */
bool engine_resume_extender_call(struct engine *k, pod_id pod, struct class *class,
                                 struct effects *out);

/* The next unit in flight whose extenders have all answered; false: there is none. */
bool engine_next_answered(struct engine *k, uint32_t *unit);

/* engine_answer(). */
void engine_hear_answer(struct engine *k, effect_id effect, const struct extender_answer *answer);

bool engine_has_answered(const struct engine *k);

/* The table of reasons begins anew. */
void engine_forget_reasons(struct engine *k);

/* How many pods extenders are asked about, and the unit of one of them; ID_NONE: it is gone. */
uint32_t engine_n_extender_calls(const struct engine *k);
uint32_t engine_unit_of_extender_call(const struct engine *k, uint32_t i);

/* The pod is not in flight any more. */
void engine_forget_extender_call(struct engine *k, pod_id pod);

/* It is gone, or is of another gang: its old one, if that waited for answers about it alone, comes
 * back to the queue. */
void engine_stop_extender_call(struct engine *k, pod_id pod);

/* All of them are in line again, should they be asked about anew. */
void engine_recall_all(struct engine *k);
/* Reasons that extenders gave, and others that were found beside them, stay while they are asked.
 */
void engine_hold_answers(struct engine *k, bool holds);
struct extender_calls *extender_calls_new(void);
void engine_extender_calls_done(struct engine *k);

/* What the files of extender calls share: adds one about the pod; finds it;
 * offers what the last scan let pass; puts the next questions, if there are any; says whether it is
 * about the pod as it is now; finds the best of the nodes that are left, as the cluster is now
 * (ID_NONE: none will do); drops its nodes; puts a question of its own; says that an extender
 * failed; gives the whole thing up and decides anew. */
struct extender_call *engine_begin_extender_call(struct engine *k, pod_id pod, uint32_t group);
struct extender_call *engine_find_extender_call(struct engine *k,
                                                pod_id pod); /* NULL: nobody is asked */
void engine_offer_fitting(struct engine *k, struct extender_call *s, const struct class *class);
bool engine_ask_on(struct engine *k, struct extender_call *s, const struct class *class,
                   struct effects *out);
bool extender_call_is_of(const struct extender_call *s, const struct pods *pods, pod_id pod);
uint32_t engine_best_answered(struct engine *k, const struct extender_call *s, pod_id pod,
                              struct class *class, struct decision *d);
void engine_drop_offers(struct engine *k, struct extender_call *s);
struct extender_ask *engine_put_question(struct engine *k, struct extender_call *s,
                                         uint32_t extender, enum extender_verb verb,
                                         struct effects *out);
void engine_note_failure(struct extender_call *s, const struct extender *x, struct str why);
void engine_ask_again(struct engine *k, pod_id pod, struct class *class, bool ignores_nomination,
                      struct effects *out);

/* --- call_gang.c --- */

/* Asks extenders about the planner's members; false: all that there was to ask is
 * answered. */
bool engine_call_extenders_for_gang(struct engine *k, struct planner *planner, uint32_t group,
                                    struct effects *out);

/* Is there a question about a member of the group that is not answered yet? */
bool engine_is_asking_about(const struct engine *k, uint32_t group);

/* What an extender that must not fail said of one of them; "": nothing. */
struct str engine_gang_trouble(struct engine *k, uint32_t group);

/* Where the member goes of the nodes that are left to it. */
struct verdict engine_decide_as_answered(struct engine *k, pod_id pod, struct class *class);

void engine_forget_extender_calls_of_gang(struct engine *k, uint32_t group);

/* --- call_victims.c --- */

/* Asks extenders whom the pod, which fits nowhere, may evict; false: nobody is to be asked. */
bool engine_ask_victims(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                        struct effects *out);
void engine_hear_victims(struct engine *k, struct extender_call *s, const struct extender *x,
                         const struct extender_answer *answer);
void engine_resume_extender_call_for_victims(struct engine *k, struct extender_call *s, pod_id pod,
                                             struct class *class, struct effects *out);
