/* Who goes instead: extenders may take nodes out of the choice, or others than we would evict. They
 * are asked one after the other; each is told what the one before it left. The choice among what is
 * left at the end is ours, of the pods that are still there. */

#include <stdlib.h>

#include "core/engine/extender/extender.h"

/* --- asking --- */

/* What a node costs, while those that cost least are sought. */
struct priced {
    uint32_t node;
    struct harm harm;
    uint64_t tie_order;
};

static int by_harm(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    if (harm_is_less(&x->harm, &y->harm))
        return -1;
    if (harm_is_less(&y->harm, &x->harm))
        return 1;
    return x->tie_order != y->tie_order ? (x->tie_order < y->tie_order ? -1 : 1)
                                        : (x->node > y->node) - (x->node < y->node);
}

static void offer(struct engine *k, struct extender_call *s, const struct class *class, pod_id pod,
                  const struct priced *p)
{
    struct cluster *c = k->cluster;
    struct offer offer = {.node = c->nodes.name[p->node], .violations = p->harm.violations};
    struct pod_vec victims = {0};
    engine_price(k, class, (node_id){p->node}, pod, &victims);
    offer.uids.n = victims.n;
    offer.uids.at = arena_array(&s->mem, struct str, victims.n);
    for (uint32_t i = 0; i < victims.n; i++)
        offer.uids.at[i] = arena_str(&s->mem, pod_uid(pods_at(&c->pods, victims.at[i])));
    intern_hold(&c->names.text, offer.node);
    vec_push(&s->offers, offer);
    vec_done(&victims);
}

/* As many as upstream would try: the best of them. */
static void offer_best(struct engine *k, struct extender_call *s, const struct class *class,
                       pod_id pod)
{
    enum { LEAST = 100, PART = 10 };
    struct cluster *c = k->cluster;
    VEC(struct priced) all = {0};
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        if (!nodes_is_present(&c->nodes, (node_id){i}))
            continue;
        struct price price = engine_price(k, class, (node_id){i}, pod, NULL);
        if (!price.refusal)
            vec_push(&all, (struct priced){i, price.harm, c->nodes.tie_order[i]});
    }
    if (all.n > 1)
        qsort(all.at, all.n, sizeof(*all.at), by_harm);
    uint32_t most = MAX((uint32_t)LEAST, c->nodes.present / PART);
    for (uint32_t i = 0; i < MIN(all.n, most); i++)
        offer(k, s, class, pod, &all.at[i]);
    vec_done(&all);
}

static pod_id find_on(const struct cluster *c, node_id node, struct str uid)
{
    for (uint32_t i = c->nodes.first_pod[node.i]; i != ID_NONE; i = c->pods.rows.at[i].after)
        if (str_equal(pod_uid(&c->pods.rows.at[i]), uid))
            return (pod_id){i};
    return (pod_id){ID_NONE};
}

static node_id find_node(const struct cluster *c, sym name)
{
    node_id node = name == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&c->nodes, name);
    return node.i != ID_NONE && nodes_is_present(&c->nodes, node) ? node : (node_id){ID_NONE};
}

/* Those of the offer that are still there. */
static void show_pods(const struct engine *k, const struct offer *offer,
                      struct extender_victims *out, struct arena *mem)
{
    const struct cluster *c = k->cluster;
    node_id node = find_node(c, offer->node);
    out->uids.at = arena_array(mem, struct str, offer->uids.n);
    out->pods.at = arena_array(mem, struct str, offer->uids.n);
    for (uint32_t i = 0; i < offer->uids.n && node.i != ID_NONE; i++) {
        pod_id pod = find_on(c, node, offer->uids.at[i]);
        if (pod.i == ID_NONE)
            continue;
        struct str namespace = names_text(&c->names, pods_shape(&c->pods, pod)->namespace);
        out->uids.at[out->uids.n++] = arena_str(mem, offer->uids.at[i]);
        out->pods.at[out->pods.n++] =
            arena_join(mem, namespace, STR("/"), pod_name(pods_at(&c->pods, pod)));
    }
}

/* False if nobody is left to be asked. */
static bool ask_next(struct engine *k, struct extender_call *s, const struct class *class,
                     struct effects *out)
{
    while (s->turn < k->config.rules.n_extenders && !(class->preempts >> s->turn & 1))
        s->turn++;
    if (s->turn == k->config.rules.n_extenders)
        return false;
    struct extender_ask *ask = engine_put_question(k, s, s->turn++, EXTENDER_PREEMPT, out);
    ask->victims.n = s->offers.n;
    ask->victims.at = arena_array(&out->mem, struct extender_victims, s->offers.n);
    for (uint32_t i = 0; i < s->offers.n; i++) {
        const struct offer *offer = &s->offers.at[i];
        struct extender_victims *v = &ask->victims.at[i];
        v->node = names_text(&k->cluster->names, offer->node);
        v->violations = offer->violations;
        show_pods(k, offer, v, &out->mem);
    }
    return true;
}

bool engine_ask_victims(struct engine *k, pod_id pod, struct class *class, const struct why *why,
                        struct effects *out)
{
    struct eviction_args rules;
    AUTO(eviction_plan) plan = {0};
    AUTO(buf) text = {0};
    int32_t priority = specs_at(&k->cluster->specs, class->spec)->priority;
    if (engine_eviction_rules(class->profile, true, &rules) ||
        !cluster_has_lower(k->cluster, priority) || !engine_begin_plan(k, pod, class, &plan, &text))
        return false;
    struct extender_call *s = engine_begin_extender_call(k, pod, ID_NONE);
    s->phase = ASKS_WHO_GOES;
    why_copy(&s->why, why);
    offer_best(k, s, class, pod);
    bool is_asked = s->offers.n && ask_next(k, s, class, out);
    if (!is_asked)
        engine_forget_extender_call(k, pod);
    return is_asked;
}

/* --- hearing --- */

/* What is wrong with it, in upstream's words; empty: nothing. */
static struct str wrong_with(struct engine *k, const struct extender *x,
                             const struct extender_victims *v)
{
    const struct cluster *c = k->cluster;
    node_id node = find_node(c, names_find(&c->names, v->node));
    if (node.i == ID_NONE)
        return arena_printf(&k->mem, "nodeinfo not found for node name \"" STR_FMT "\"",
                            STR_ARG(v->node));
    list_each(&v->uids, uid)
        if (find_on(c, node, *uid).i == ID_NONE)
            return arena_printf(&k->mem,
                                "extender: " STR_FMT " claims to preempt pod (UID: &{" STR_FMT
                                "}) on node: " STR_FMT ", but the pod is not found on that node",
                                STR_ARG(x->url), STR_ARG(*uid), STR_ARG(v->node));
    return (struct str){0};
}

static void take(struct engine *k, struct extender_call *s, const struct extender_victims *v)
{
    struct offer offer = {.node = names_find(&k->cluster->names, v->node),
                          .violations = v->violations};
    offer.uids.n = v->uids.n;
    offer.uids.at = arena_array(&s->mem, struct str, v->uids.n);
    for (uint32_t i = 0; i < v->uids.n; i++)
        offer.uids.at[i] = arena_str(&s->mem, v->uids.at[i]);
    intern_hold(&k->cluster->names.text, offer.node);
    vec_push(&s->offers, offer);
}

void engine_hear_victims(struct engine *k, struct extender_call *s, const struct extender *x,
                         const struct extender_answer *answer)
{
    list_each(&answer->victims, v) {
        struct str wrong = wrong_with(k, x, v);
        if (!wrong.n && v->uids.n == 0 && !x->is_ignorable)
            wrong =
                arena_printf(&k->mem, "expected at least one victim pod on node \"" STR_FMT "\"",
                             STR_ARG(v->node));
        if (wrong.n) {
            engine_note_failure(s, x, wrong);
            return;
        }
    }
    engine_drop_offers(k, s);
    list_each(&answer->victims, v)
        if (v->uids.n)
            take(k, s, v);
}

/* --- going on --- */

/* Those of the offer who are still there, and what they cost. */
static struct harm look_at(const struct engine *k, const struct offer *offer, node_id node,
                           struct pod_vec *out)
{
    const struct cluster *c = k->cluster;
    struct harm h = {.start_ms = INT64_MAX};
    vec_clear(out);
    list_each(&offer->uids, uid) {
        pod_id pod = find_on(c, node, *uid);
        if (pod.i == ID_NONE)
            continue;
        int32_t priority = cluster_spec(c, pod)->priority;
        int64_t start_ms = pods_at(&c->pods, pod)->start_ms;
        if (h.pods++ == 0)
            h.highest = priority;
        h.sum += (int64_t)priority + ((int64_t)1 << 31);
        if (priority == h.highest && start_ms != TIME_NONE)
            h.start_ms = MIN(h.start_ms, start_ms);
        vec_push(out, pod);
    }
    h.violations = (uint32_t)MIN(MAX(offer->violations, (int64_t)0), (int64_t)UINT32_MAX);
    return h;
}

/* The best of what is left, as a plan for the pod; false: nobody of them is there any more. */
static bool choose(const struct engine *k, const struct extender_call *s, pod_id pod,
                   struct eviction_plan *out)
{
    const struct cluster *c = k->cluster;
    uint32_t best = ID_NONE;
    struct harm least = {0};
    struct pod_vec pods = {0};
    vec_each(&s->offers, offer) {
        node_id node = find_node(c, offer->node);
        struct harm harm = node.i == ID_NONE ? (struct harm){0} : look_at(k, offer, node, &pods);
        if (harm.pods == 0 || (best != ID_NONE && harm_is_less(&least, &harm)) ||
            (best != ID_NONE && !harm_is_less(&harm, &least) && !cluster_wins_tie(c, node.i, best)))
            continue;
        best = node.i;
        least = harm;
        vec_clear(&out->victims);
        vec_each(&pods, victim)
            vec_push(&out->victims, (struct victim_note){.pod = *victim});
    }
    vec_done(&pods);
    if (best != ID_NONE)
        vec_push(&out->places, (struct eviction_place){pod.i, best});
    return best != ID_NONE;
}

static void conclude(struct engine *k, const struct extender_call *s, pod_id pod,
                     struct class *class, struct effects *out)
{
    AUTO(eviction_plan) plan = {0};
    AUTO(eviction_plan) found = {0};
    struct buf *text = &engine_refusal_of(k, class)->text;
    k->above->word_refusal(k, pod, class, &s->why);
    size_t at = text->n + 1;
    bool is_found = !s->error && choose(k, s, pod, &found);
    if (!engine_begin_plan(k, pod, class, &plan, text)) {
        ; /* it may evict nobody any more */
    } else if (s->error) {
        buf_add(text, str_of(s->error));
    } else if (!is_found) {
        buf_add(text, STR("no candidate node for preemption"));
    } else {
        eviction_plan_take(&plan, &found);
        engine_say_found(k, &plan, at, text);
    }
    k->above->end_refusal(k, pod, class, &plan, out);
}

void engine_resume_extender_call_for_victims(struct engine *k, struct extender_call *s, pod_id pod,
                                             struct class *class, struct effects *out)
{
    if (!s->error && s->offers.n && ask_next(k, s, class, out))
        return;
    AUTO(eviction_plan) left = {0};
    bool is_stale = !s->error && s->offers.n && !choose(k, s, pod, &left);
    if (is_stale) /* they have gone without our help: there is room */
        engine_ask_again(k, pod, class, false, out);
    else
        conclude(k, s, pod, class, out);
}
