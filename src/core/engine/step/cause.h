#pragma once

#include "core/engine/cause.h"
#include "core/engine/gang/gang.h"
#include "core/framework/why.h"

struct cause {
    enum cause_rule rule;
    uint32_t group;  /* ID_NONE: a pod alone */
    uint32_t need;   /* pods that must be placed now, … */
    uint64_t have;   /* … and for how many of them the rule leaves room; the rules before it, */
    uint64_t before; /* for so many */
    uint32_t nodes, left;  /* that the rule was asked about; that it let pass */
    uint32_t member_class; /* of the planner: whose pods lack most */
    sym key, value;        /* of a label or a taint, or of the domain with the most room */
    uint32_t n_values;     /* that would do: `value` is the first of them by name */
    sym nearest;           /* what was perhaps meant; SYM_NONE: nothing looks like it */
    sym object;            /* a volume; the name of a reservation, … */
    sym owner;             /* … the namespace of that */
    bool names_owner;      /* what is there may be named: the unit is there, too */
    const char *effect;    /* of a taint */
    bool is_known;         /* some node has the label's key */
    resource_id resource;
    int64_t ask, most; /* of the resource, or of GPU memory: by a pod; on any node */
    int64_t until_ms;  /* the room is kept; INT64_MAX: nobody knows */
    reason_id reason;
};

struct reservation_info;

/* One that nothing is known of yet; and room that is kept is, by this reservation. */
struct cause cause_of(uint32_t group, uint32_t need);
void cause_take_holder(const struct engine *k, const struct planner *planner, struct cause *x,
                       const struct reservation_info *b);

/* Of a pod on its own, which was just refused. */
struct cause engine_find_cause_alone(struct engine *k, struct planner *planner,
                                     const struct why *why, pod_id pod, struct class *class);

/* The same in words, which are kept for the next pod of its class: class_refusal.headline. What
 * needs many nodes to be asked is asked once, until a node is another one. */
void engine_word_alone(struct engine *k, struct planner *planner, const struct why *why, pod_id pod,
                       struct class *class);

/* Of the unit in the planner: is the cause what nodes are? Fills it in. */
bool engine_find_nature(struct engine *k, struct planner *planner, struct cause *x);

/* Of the unit in the planner, whose members and needs are there. */
struct cause engine_find_cause(struct engine *k, struct planner *planner, uint32_t group,
                               enum gang_outcome why);

/* The whole funnel, whatever the cause. */
void engine_list_funnel(struct engine *k, struct planner *planner, uint32_t group,
                        struct cause_steps *out);

/* Fills in what the rule is about: the label, the taint, the volume, the resource that it is that
 * these nodes were refused for. */
void engine_blame(struct engine *k, const struct planner *planner, struct cause *x,
                  const uint32_t *refused, uint32_t n);

/* The cause as the first sentence of what its owner reads. */
void engine_word_cause(struct engine *k, struct planner *planner, const struct cause *x,
                       struct buf *out);

/* "8 x (1 nvidia.com/gpu, 8 cpu) and 1 x (2 cpu)": what the unit in the planner needs. */
void engine_word_needs(const struct engine *k, const struct planner *planner, struct buf *out);

/* Calls for each resource that the pod asks for: devices first, by name. */
void engine_each_need(const struct engine *k, spec_id spec,
                      void (*fn)(void *ctx, resource_id resource, int64_t amount), void *ctx);

/* "8 nvidia.com/gpu", "500m cpu", "2Gi memory" */
void engine_word_amount(const struct engine *k, resource_id resource, int64_t amount,
                        struct buf *out);
