/* Gangs through random histories: pods and nodes come and go, bindings fail, pods end, the
 * scheduler is started anew. Two engines, one with views and one without, live through the same and
 * never differ. After each step, by books that are kept here:
 *
 *  - no gang is begun with less than its minimum, and no member beyond it is placed while the
 * others that would make it up are there;
 *  - one whose pods are made one after the other is begun only when there is room for its minimum,
 *    and that is held for those to come;
 *  - no node holds more than it has;
 *  - who is evicted is less important than the gang that it goes for, and leaves no gang running
 * below its minimum; without the victims the gang fits, and without any victim group of them it
 * does
 *    not, as an engine says that sees nothing else;
 *  - when those who were evicted are gone, and nothing else happens, somebody is bound;
 *  - members of a gang that must stay in one rack do, and no two of them have one rank;
 *  - a step that places nobody leaves the cluster as it was;
 *  - when nothing moves any more, a new engine that sees the same finds nothing to place either: no
 *    wake-up was missed. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "core/engine/step/step.h"
#include "property/world.h"
#include "support/objects.h"
#include "support/test.h"

enum { SEEDS = 60, OPERATIONS = 300, NODES = 8, GANGS = 5, PODS = 8, ENGINES = 2 };

enum state { ABSENT, WAITING, ASSUMED, BOUND, GOING };

struct member {
    enum state state;
    uint32_t run; /* tells apart pods that had the same name */
    uint32_t node;
    int64_t came_ms;
    bool is_leaving;    /* the engines have asked for its eviction, */
    bool is_victim;     /* in the step that is looked at */
    uint32_t nominated; /* + 1; 0: no node */
};

struct company {
    int minimum, cpu[2], priority; /* members are of two kinds, in turn */
    bool in_one_rack, is_split, comes_in_turn;
    uint32_t ended, owner;
    struct member members[PODS];
};

struct pending {
    effect_id effect;
    uint32_t gang, pod, run;
    bool is_eviction;
};

struct history {
    uint64_t seed, operation;
    struct rng rng;
    int64_t now_ms;
    int node_cpu[NODES]; /* 0: it is not there */
    struct company gangs[GANGS];
    uint32_t runs;
    struct engine *engines[ENGINES];
    struct effects effects[ENGINES];
    VEC(struct pending) pending;
    struct arena mem;
    uint64_t placed, refused, evicted, checked, placed_before;
    uint32_t by_pod;   /* of the gang for which pods were evicted last */
    bool is_sparing;   /* it is judged whether a victim could stay */
    bool is_to_follow; /* pods were evicted, and nothing has happened since */
    bool has_failed;
};

static void fail(struct history *h, const char *what)
{
    if (!h->has_failed)
        printf("# seed %" PRIu64 ", operation %" PRIu64 ": %s\n", h->seed, h->operation, what);
    h->has_failed = true;
}

static uint32_t draw(struct history *h, uint32_t n)
{
    return (uint32_t)(rng_next(&h->rng) % n);
}

/* --- what the engines are told --- */

static void tell_engine(struct history *h, struct engine *k, enum change_kind kind,
                        const char *line)
{
    struct change change = {kind, object_of(&h->mem, line)};
    engine_apply(k, h->now_ms, &change);
    arena_reset(&h->mem);
}

static void tell(struct history *h, enum change_kind kind, const char *line)
{
    if (getenv("PROPERTY_TRACE"))
        printf("# %" PRId64 " %s %s\n", h->now_ms, kind == CHANGE_PUT ? "put" : "remove", line);
    for (int i = 0; i < ENGINES; i++)
        tell_engine(h, h->engines[i], kind, line);
}

static void node_line(const struct history *h, uint32_t node, char *line, size_t n)
{
    snprintf(line, n, "node n%u cpu=%d memory=64Gi label:rack=r%u", node, h->node_cpu[node],
             node / 3);
}

static void pod_line(const struct history *h, uint32_t g, uint32_t p, const char *more, char *line,
                     size_t n)
{
    const struct company *c = &h->gangs[g];
    const struct member *m = &c->members[p];
    char where[32] = "";
    if (m->state == BOUND || m->state == GOING)
        snprintf(where, sizeof(where), " on=n%u", m->node);
    else if (m->nominated)
        snprintf(where, sizeof(where), " nominated=n%u", m->nominated - 1);
    snprintf(line, n,
             "pod g%u-%u uid=u%u cpu=%d priority=%d gang=g%u:%d owner:Job=j%u-%u created=%" PRId64
             "%s%s%s%s%s",
             g, p, m->run, c->cpu[p % 2], c->priority, g, c->minimum, g, c->owner,
             m->came_ms / 1000, where,
             c->in_one_rack ? " note:scheduling.kubenexus.io/required-topology=rack" : "",
             c->comes_in_turn ? " note:kueue.x-k8s.io/pod-group-serving=true" : "",
             m->state != GOING ? ""
             : m->is_leaving   ? " preempted"
                               : " deleting",
             more);
}

static void tell_pod(struct history *h, uint32_t g, uint32_t p, const char *more)
{
    char line[400];
    pod_line(h, g, p, more, line, sizeof(line));
    tell(h, CHANGE_PUT, line);
}

/* All there is, to an engine that has seen nothing. */
static void tell_all(struct history *h, struct engine *k)
{
    char line[400];
    for (uint32_t i = 0; i < NODES; i++) {
        node_line(h, i, line, sizeof(line));
        if (h->node_cpu[i])
            tell_engine(h, k, CHANGE_PUT, line);
    }
    for (uint32_t g = 0; g < GANGS; g++)
        for (uint32_t p = 0; p < PODS; p++) {
            if (h->gangs[g].members[p].state == ABSENT)
                continue;
            pod_line(h, g, p, "", line, sizeof(line));
            tell_engine(h, k, CHANGE_PUT, line);
        }
}

/* --- the books --- */

static uint32_t running(const struct company *c)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < PODS; p++)
        n += !c->members[p].is_leaving &&
             (c->members[p].state == ASSUMED || c->members[p].state == BOUND);
    return n;
}

static uint32_t waiting(const struct company *c)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < PODS; p++)
        n += c->members[p].state == WAITING;
    return n;
}

/* The node got a pod in this step. */
static void check_node(struct history *h, struct str name)
{
    const struct cluster *c = h->engines[0]->cluster;
    node_id node = nodes_find(&c->nodes, names_find(&c->names, name));
    if (c->nodes.room[node.i].cpu_used > c->nodes.room[node.i].cpu_alloc)
        fail(h, "a node holds more than it has");
}

static void check_rack(struct history *h, const struct company *c)
{
    uint32_t rack = ID_NONE;
    for (uint32_t p = 0; p < PODS && c->in_one_rack && !c->is_split; p++) {
        const struct member *m = &c->members[p];
        if ((m->state != ASSUMED && m->state != BOUND) || m->is_leaving)
            continue;
        if (rack != ID_NONE && rack != m->node / 3)
            fail(h, "a gang is in two racks");
        rack = m->node / 3;
    }
}

/* The member was bound in this step. */
static void check_rank(struct history *h, const struct company *of, struct str name)
{
    const struct cluster *c = h->engines[0]->cluster;
    sym space = names_find(&c->names, STR("default"));
    pod_id pod = pods_find(&c->pods, space, name);
    const struct pod_row *row = pods_at(&c->pods, pod);
    if ((row->rank != 0) != of->in_one_rack)
        fail(h, "a member has no rank, or one without a tree");
    vec_each(&c->groups.at.at[groups_of(&c->groups, pod)].members, i) {
        const struct pod_row *other = pods_at(&c->pods, (pod_id){*i});
        if (*i != pod.i && row->rank && other->node != ID_NONE && !(other->flags & POD_GOING) &&
            other->rank == row->rank)
            fail(h, "two members have one rank");
    }
}

/* --- steps --- */

static bool same_effect(const struct effect *a, const struct effect *b)
{
    return a->kind == b->kind && str_equal(a->pod, b->pod) && str_equal(a->node, b->node) &&
           str_equal(a->message, b->message);
}

static void compare(struct history *h)
{
    const struct effects *a = &h->effects[0], *b = &h->effects[1];
    bool same = a->list.n == b->list.n;
    for (uint32_t i = 0; i < a->list.n && same; i++)
        same = same_effect(&a->list.at[i], &b->list.at[i]) && a->list.at[i].id == b->list.at[i].id;
    if (!same)
        fail(h, "engines with and without views differ");
    for (int k = 0; k < ENGINES && !same; k++)
        vec_each(&h->effects[k].list, e)
            printf("#    engine %d: %u " STR_FMT " " STR_FMT " " STR_FMT "\n", k, e->kind,
                   STR_ARG(e->pod), STR_ARG(e->node), STR_ARG(e->message));
}

static void take_binding(struct history *h, const struct effect *e, uint32_t placed[GANGS])
{
    uint32_t g = (uint32_t)(e->pod.p[1] - '0'), p = (uint32_t)(e->pod.p[3] - '0');
    struct member *m = &h->gangs[g].members[p];
    if (m->state != WAITING)
        fail(h, "a pod is placed that does not wait");
    m->state = ASSUMED;
    m->nominated = 0;
    m->node = (uint32_t)(e->node.p[1] - '0');
    if (getenv("PROPERTY_TRACE"))
        printf("# %" PRId64 " bind " STR_FMT " to " STR_FMT "\n", h->now_ms, STR_ARG(e->pod),
               STR_ARG(e->node));
    placed[g]++;
    h->placed++;
    vec_push(&h->pending, (struct pending){e->id, g, p, m->run, false});
}

static void trace(const struct history *h, const char *what, const struct effect *e)
{
    if (getenv("PROPERTY_TRACE"))
        printf("# %" PRId64 " %s " STR_FMT " " STR_FMT "\n", h->now_ms, what, STR_ARG(e->pod),
               STR_ARG(e->node));
}

static void take_nomination(struct history *h, const struct effect *e)
{
    trace(h, "nominate", e);
    uint32_t g = (uint32_t)(e->pod.p[1] - '0'), p = (uint32_t)(e->pod.p[3] - '0');
    h->gangs[g].members[p].nominated = e->node.n ? (uint32_t)(e->node.p[1] - '0') + 1 : 0;
}

/* --- evictions --- */

/* The gang of a member that was made in this run; the member is noted. */
static uint32_t gang_of_run(struct history *h, struct str uid)
{
    int64_t run;
    bool is_number = uid.n > 1 && str_int(str_part(uid, 1, uid.n), &run);
    for (uint32_t g = 0; g < GANGS && is_number; g++)
        for (uint32_t p = 0; p < PODS; p++)
            if (h->gangs[g].members[p].state != ABSENT && h->gangs[g].members[p].run == run) {
                h->by_pod = p;
                return g;
            }
    return ID_NONE;
}

/* Is the pod one of those for whom others go? */
static bool asks(const struct history *h, uint32_t by, uint32_t g, uint32_t p)
{
    bool is_alone = h->gangs[by].minimum == 1 && !h->gangs[by].in_one_rack;
    return g == by && (!is_alone || p == h->by_pod);
}

/* The member is going, but others of its gang were running when the victims were chosen: its room
 * was not counted on. */
static bool leaves_slot(const struct company *c, const struct member *m)
{
    bool is_gang = c->minimum > 1 || c->in_one_rack, goes_on = running(c);
    for (uint32_t p = 0; p < PODS; p++)
        goes_on |= c->members[p].is_victim;
    return m->state == GOING && !m->is_leaving && is_gang && goes_on;
}

/* The pod as an engine sees it that judges an eviction for the gang `by`; false: not at all. */
static bool line_alone(struct history *h, uint32_t by, uint32_t g, uint32_t p, bool waits,
                       bool is_spared, char *line, size_t n)
{
    struct member *m = &h->gangs[g].members[p], was = *m;
    bool is_kept = leaves_slot(&h->gangs[g], m);
    bool is_there = m->state == ASSUMED || m->state == BOUND || is_kept;
    bool is_gone = (is_there && m->is_leaving && !(m->is_victim && is_spared)) ||
                   (m->state == GOING && !is_kept) || m->state == ABSENT;
    if (is_gone || is_there == waits || (waits && !asks(h, by, g, p)))
        return false;
    m->state = is_kept ? GOING : is_there ? BOUND : WAITING;
    m->nominated = 0;
    m->is_leaving = false;
    /* The planner alone is asked whether a victim could stay, not another plan of evictions. */
    pod_line(h, g, p, h->is_sparing ? " preempts=Never" : "", line, n);
    *m = was;
    return true;
}

/* Would the gang `by` be begun if nobody else waited, those who leave were gone, and of the victims
 * of this step all but `spared` (a gang, or ID_NONE; a pod of it, or ID_NONE)? */
static bool would_fit(struct history *h, uint32_t by, uint32_t spared, uint32_t pod)
{
    struct engine *k = engine_new(&(struct engine_config){0});
    struct effects effects = {0};
    char line[400];
    h->is_sparing = spared != ID_NONE;
    for (uint32_t i = 0; i < NODES; i++) {
        node_line(h, i, line, sizeof(line));
        if (h->node_cpu[i])
            tell_engine(h, k, CHANGE_PUT, line);
    }
    for (int waits = 0; waits < 2; waits++)
        for (uint32_t i = 0; i < GANGS * PODS; i++) {
            uint32_t g = i / PODS, p = i % PODS;
            if (line_alone(h, by, g, p, waits, spared == g && (pod == ID_NONE || pod == p), line,
                           sizeof(line)))
                tell_engine(h, k, CHANGE_PUT, line);
        }
    while (engine_step(k, h->now_ms, &effects))
        continue;
    uint32_t bound = 0;
    vec_each(&effects.list, e) {
        bound += e->kind == EFFECT_BIND;
        if (getenv("PROPERTY_TRACE"))
            printf("#    alone: %d " STR_FMT " " STR_FMT " " STR_FMT "\n", e->kind, STR_ARG(e->pod),
                   STR_ARG(e->node), STR_ARG(e->message));
    }
    effects_done(&effects);
    engine_free(k);
    return bound > 0;
}

static void take_eviction(struct history *h, const struct effect *e, uint32_t *by)
{
    uint32_t g = (uint32_t)(e->pod.p[1] - '0'), p = (uint32_t)(e->pod.p[3] - '0');
    struct member *m = &h->gangs[g].members[p];
    *by = gang_of_run(h, e->by_uid);
    trace(h, "evict", e);
    if ((m->state != BOUND && m->state != ASSUMED) || m->is_leaving)
        fail(h, "a pod is evicted that is on no node, or leaves already");
    if (*by == ID_NONE || h->gangs[*by].priority <= h->gangs[g].priority)
        fail(h, "a pod is evicted for somebody who is not more important");
    m->is_leaving = m->is_victim = true;
    h->evicted++;
    vec_push(&h->pending, (struct pending){e->id, g, p, m->run, true});
}

/* The gang is one (a pod alone may evict as kube-scheduler does, node by node), nobody but itself
 * is nominated, and no room is kept. */
static bool is_plain(const struct history *h, uint32_t by)
{
    if (h->gangs[by].minimum == 1 && !h->gangs[by].in_one_rack)
        return false;
    for (uint32_t g = 0; g < GANGS; g++)
        for (uint32_t p = 0; p < PODS; p++)
            if (!asks(h, by, g, p) && h->gangs[g].members[p].nominated)
                return false;
    return h->engines[0]->reservations->of_pod.n == 0 && h->gangs[by].ended == 0;
}

static void check_victim_group(struct history *h, uint32_t by, uint32_t g)
{
    struct company *c = &h->gangs[g];
    bool is_whole = running(c) == 0;
    uint32_t victims = 0;
    for (uint32_t p = 0; p < PODS; p++)
        victims += c->members[p].is_victim;
    if (victims == 0)
        return;
    if (!is_whole && running(c) + c->ended < (uint32_t)c->minimum)
        fail(h, "a gang is evicted in part");
    if (!is_plain(h, by))
        return;
    for (uint32_t p = 0; p < PODS; p++)
        if (c->members[p].is_victim && !is_whole && would_fit(h, by, g, p))
            fail(h, "a pod is evicted that could stay");
    if (is_whole && would_fit(h, by, g, ID_NONE))
        fail(h, "a gang is evicted that could stay");
}

/* One step evicts for one gang. */
static void check_evictions(struct history *h, uint32_t by)
{
    for (uint32_t g = 0; g < GANGS && !h->has_failed; g++)
        check_victim_group(h, by, g);
    if (is_plain(h, by) && !h->has_failed) {
        h->checked++;
        if (!would_fit(h, by, ID_NONE, ID_NONE))
            fail(h, "pods are evicted for a gang that does not fit without them");
    }
    for (uint32_t g = 0; g < GANGS; g++)
        for (uint32_t p = 0; p < PODS; p++)
            h->gangs[g].members[p].is_victim = false;
    h->is_to_follow = true;
    h->placed_before = h->placed;
}

/* What is true of the nodes: counts that nobody asks for any more may come and go. */
static struct str rows_of(struct engine *k, struct buf *out)
{
    buf_clear(out);
    cluster_dump(k->cluster, out);
    struct str all = buf_str(out), rest = all;
    while (rest.n && !str_starts(rest, STR("tally")) && !str_starts(rest, STR("spread")))
        str_take(&rest, '\n');
    return str_part(all, 0, all.n - rest.n);
}

/* The gang, whose pods are made one after the other, began in this step with so many. */
static void check_turn(struct history *h, uint32_t g, uint32_t placed)
{
    const struct engine *k = h->engines[0];
    const struct cluster *c = k->cluster;
    char name[8];
    snprintf(name, sizeof(name), "g%u", g);
    sym group = names_find(&c->names, str_of(name));
    uint32_t held = 0;
    vec_each(&k->reservations->all, b)
        for (uint32_t i = 0; b->gang != ID_NONE && b->group == group && i < b->slots.n; i++)
            held += b->slots.at[i].is_lost || /* its namespace may not hold more */
                    pods_at(&c->pods, (pod_id){b->slots.at[i].pod})->node != ID_NONE;
    if (placed + held < (uint32_t)h->gangs[g].minimum)
        fail(h, "a gang is begun without room for those to come");
}

static bool step(struct history *h)
{
    uint32_t had[GANGS], ready[GANGS], placed[GANGS] = {0};
    for (uint32_t g = 0; g < GANGS; g++) {
        had[g] = running(&h->gangs[g]) + h->gangs[g].ended;
        ready[g] = waiting(&h->gangs[g]);
    }
    AUTO(buf) before = {0}, after = {0};
    struct str was = rows_of(h->engines[0], &before);
    bool had_slots = h->engines[0]->reservations->of_pod.n;
    bool goes_on = false;
    for (int i = 0; i < ENGINES; i++) {
        effects_clear(&h->effects[i]);
        goes_on = engine_step(h->engines[i], h->now_ms, &h->effects[i]);
    }
    compare(h);
    uint32_t n = 0, by = ID_NONE;
    vec_each(&h->effects[0].list, e) {
        h->refused += e->kind == EFFECT_REFUSE;
        n += e->kind == EFFECT_BIND || e->kind == EFFECT_NOMINATE;
        if (e->kind == EFFECT_NOMINATE)
            take_nomination(h, e);
        if (e->kind == EFFECT_EVICT)
            take_eviction(h, e, &by);
        if (e->kind != EFFECT_BIND)
            continue;
        take_binding(h, e, placed);
        check_node(h, e->node);
        check_rank(h, &h->gangs[e->pod.p[1] - '0'], e->pod);
    }
    if (by != ID_NONE)
        check_evictions(h, by);
    bool slots =
        had_slots || h->engines[0]->reservations->of_pod.n; /* they come and go by themselves */
    if (n == 0 && !slots && !str_equal(was, rows_of(h->engines[0], &after)))
        fail(h, "a step that placed nobody left a trace");
    for (uint32_t g = 0; g < GANGS; g++) {
        uint32_t minimum = (uint32_t)h->gangs[g].minimum;
        check_rack(h, &h->gangs[g]);
        if (h->gangs[g].comes_in_turn) {
            if (placed[g] && had[g] == 0)
                check_turn(h, g, placed[g]);
            continue;
        }
        if (placed[g] && had[g] + placed[g] < minimum && had[g] + ready[g] >= minimum)
            fail(h, "a gang is placed in part");
        if (placed[g] && had[g] == 0 && placed[g] < minimum)
            fail(h, "a gang is begun in part");
    }
    return goes_on && !h->has_failed;
}

static void decide(struct history *h)
{
    while (step(h))
        continue;
}

/* --- what happens --- */

/* How an eviction ends: the pod is on its way out, or gone at once if it never ran. */
static void end_eviction(struct history *h, struct pending x, bool fails, bool is_gone)
{
    struct member *m = &h->gangs[x.gang].members[x.pod];
    char line[64];
    if (m->run != x.run || m->state == ABSENT || m->state == GOING)
        return;
    if (fails) {
        m->is_leaving = false;
        h->gangs[x.gang].is_split = true; /* others may have gone elsewhere meanwhile */
    } else if (m->state == BOUND && !is_gone) {
        m->state = GOING;
        tell_pod(h, x.gang, x.pod, " phase=Running");
    } else {
        m->state = ABSENT;
        snprintf(line, sizeof(line), "pod g%u-%u", x.gang, x.pod);
        tell(h, CHANGE_REMOVE, line);
    }
}

static void settle(struct history *h)
{
    if (h->pending.n == 0)
        return;
    uint32_t i = draw(h, h->pending.n);
    struct pending x = h->pending.at[i];
    vec_remove(&h->pending, i);
    struct member *m = &h->gangs[x.gang].members[x.pod];
    bool is_there = m->run == x.run && m->state == ASSUMED;
    bool fails = draw(h, 5) == 0;
    struct error e = {0};
    error_set(&e, draw(h, 3) ? ERROR_CONFLICT : ERROR_DENIED, "no");
    for (int k = 0; k < ENGINES; k++)
        engine_settle(h->engines[k], h->now_ms, x.effect, fails ? &e : NULL);
    if (x.is_eviction)
        end_eviction(h, x, fails, false);
    if (!is_there || x.is_eviction)
        return;
    m->state = fails ? WAITING : BOUND;
    if (!fails)
        tell_pod(h, x.gang, x.pod, " phase=Running");
}

static void remove_leaving(struct history *h)
{
    char line[64];
    for (uint32_t g = 0; g < GANGS; g++)
        for (uint32_t p = 0; p < PODS; p++)
            if (h->gangs[g].members[p].state == GOING) {
                h->gangs[g].members[p].state = ABSENT;
                snprintf(line, sizeof(line), "pod g%u-%u", g, p);
                tell(h, CHANGE_REMOVE, line);
            }
}

/* Those who were evicted are gone. */
static void carry_out_evictions(struct history *h)
{
    for (uint32_t i = h->pending.n; i-- > 0;) {
        struct pending x = h->pending.at[i];
        if (!x.is_eviction)
            continue;
        vec_remove(&h->pending, i);
        for (int k = 0; k < ENGINES; k++)
            engine_settle(h->engines[k], h->now_ms, x.effect, NULL);
        end_eviction(h, x, false, true);
    }
    remove_leaving(h);
}

/* Those who were evicted just now are gone, as is who was leaving, and nothing else happens: then
 * somebody is bound. */
static void follow(struct history *h)
{
    uint64_t placed = h->placed_before;
    h->is_to_follow = false;
    for (int i = 0; i < 4;
         i++) { /* one who is nominated to the room may evict for another's sake */
        carry_out_evictions(h);
        decide(h);
        h->now_ms += 11000;
    }
    if (h->placed == placed)
        fail(h, "pods were evicted, and nobody is bound");
}

static void forget_run(struct company *c)
{
    for (uint32_t p = 0; p < PODS; p++)
        if (c->members[p].state != ABSENT)
            return;
    c->ended = 0;
    c->is_split = false;
    c->owner++;
}

static void end(struct history *h, uint32_t g, uint32_t p, bool well)
{
    tell_pod(h, g, p, well ? " phase=Succeeded" : " phase=Failed");
    h->gangs[g].members[p].state = ABSENT;
    h->gangs[g].ended += well;
}

static void come_or_go(struct history *h)
{
    uint32_t g = draw(h, GANGS), p = draw(h, PODS);
    struct company *c = &h->gangs[g];
    struct member *m = &c->members[p];
    char line[64];
    snprintf(line, sizeof(line), "pod g%u-%u", g, p);
    switch (m->state) {
    case ABSENT:
        *m = (struct member){.state = WAITING, .run = ++h->runs, .came_ms = h->now_ms};
        tell_pod(h, g, p, "");
        break;
    case WAITING:
    case ASSUMED:
    case GOING:
        if (draw(h, 3))
            break;
        m->state = ABSENT;
        tell(h, CHANGE_REMOVE, line);
        break;
    case BOUND:
        if (draw(h, 2)) {
            m->state = GOING;
            tell_pod(h, g, p, " phase=Running");
            break;
        }
        end(h, g, p, draw(h, 2) == 0);
        break;
    }
}

static void change_node(struct history *h)
{
    uint32_t i = draw(h, NODES);
    char line[100];
    h->node_cpu[i] = draw(h, 4) ? 1 + (int)draw(h, 6) : 0;
    node_line(h, i, line, sizeof(line));
    if (h->node_cpu[i])
        tell(h, CHANGE_PUT, line);
    else {
        snprintf(line, sizeof(line), "node n%u", i);
        tell(h, CHANGE_REMOVE, line);
    }
}

static void start_engines(struct history *h)
{
    for (int i = 0; i < ENGINES; i++) {
        engine_free(h->engines[i]);
        struct engine_config config = {.no_views = i == 1, .publishes = true};
        h->engines[i] = engine_new(&config);
        tell_all(h, h->engines[i]);
    }
}

/* What is not bound was not; who ended is not known any more. */
static void restart(struct history *h)
{
    vec_clear(&h->pending);
    for (uint32_t g = 0; g < GANGS; g++) {
        h->gangs[g].ended = 0;
        for (uint32_t p = 0; p < PODS; p++)
            if (h->gangs[g].members[p].state == ASSUMED)
                h->gangs[g].members[p].state = WAITING;
        for (uint32_t p = 0; p < PODS; p++)
            if (h->gangs[g].members[p].state != GOING && h->gangs[g].members[p].is_leaving) {
                h->gangs[g].members[p].is_leaving = false;
                h->gangs[g].is_split = true;
            }
    }
    start_engines(h);
}

static void operate(struct history *h)
{
    uint32_t what = draw(h, 100);
    if (what < 50)
        come_or_go(h);
    else if (what < 70)
        settle(h);
    else if (what < 80)
        change_node(h);
    else if (what < 98)
        h->now_ms += draw(h, 4000);
    else
        restart(h);
}

/* Nothing happens any more: then nothing is left to do. */
static void come_to_rest(struct history *h)
{
    for (int i = 0; i < 40 && !h->has_failed; i++) {
        carry_out_evictions(h);
        while (h->pending.n && !h->has_failed)
            settle(h);
        decide(h);
        h->now_ms += 11000;
    }
    if (h->has_failed)
        return;
    carry_out_evictions(h);
    uint64_t placed = h->placed;
    for (uint32_t g = 0; g < GANGS; g++)
        if (h->gangs[g].ended)
            return; /* a new engine would not know of them */
    if (h->engines[0]->reservations->of_pod.n)
        return; /* nor of the room that is kept for somebody */
    start_engines(h);
    decide(h);
    h->now_ms += 11000;
    decide(h);
    if (h->placed != placed)
        fail(h, "a new engine places pods that the old one let wait");
}

static void history_done(struct history *h)
{
    for (int i = 0; i < ENGINES; i++) {
        engine_free(h->engines[i]);
        effects_done(&h->effects[i]);
    }
    vec_done(&h->pending);
    arena_done(&h->mem);
}

static bool live(uint64_t seed, uint64_t operations)
{
    AUTO(history) h = {.seed = seed, .rng = rng_seeded(seed), .now_ms = 1000000};
    for (uint32_t g = 0; g < GANGS; g++)
        h.gangs[g] = (struct company){.minimum = 1 + (int)draw(&h, 5),
                                      .cpu = {1 + (int)draw(&h, 3), 1 + (int)draw(&h, 3)},
                                      .priority = 10 * (int)draw(&h, 4),
                                      .in_one_rack = draw(&h, 3) == 0};
    for (uint32_t g = 0; seed % 3 == 0 && g < 2; g++) /* holds of the others are what is watched */
        h.gangs[g].comes_in_turn = true;
    start_engines(&h);
    for (; h.operation < operations && !h.has_failed; h.operation++) {
        operate(&h);
        for (uint32_t g = 0; g < GANGS; g++)
            forget_run(&h.gangs[g]);
        decide(&h);
        if (h.is_to_follow && draw(&h, 2))
            follow(&h);
        h.is_to_follow = false;
    }
    come_to_rest(&h);
    if (getenv("PROPERTY_COUNTS"))
        printf("# seed %" PRIu64 ": %" PRIu64 " placed, %" PRIu64 " refused, %" PRIu64
               " evicted, %" PRIu64 " plans checked\n",
               seed, h.placed, h.refused, h.evicted, h.checked);
    return EXPECT(!h.has_failed);
}

TEST(property, gangs_are_placed_whole_or_not_at_all)
{
    uint64_t first = property_number("PROPERTY_SEED", 1);
    uint64_t seeds = property_number("PROPERTY_SEEDS", SEEDS);
    uint64_t operations = property_number("PROPERTY_OPERATIONS", OPERATIONS);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!live(seed, operations))
            return;
}
