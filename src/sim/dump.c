#include "sim/dump.h"

#include "core/base/time_text.h"
#include "core/engine/engine.h"
#include "core/model/mirror.h"
#include "core/model/run_time.h"
#include "sim/dump_gangs.h"
#include "sim/text.h"

/* Older and newer spellings of where a node stands. */
static const struct {
    struct str key;
    const char *word;
} places[] = {
    {{LABEL_RACK, sizeof(LABEL_RACK) - 1}, "rack"},
    {{"topology.kubernetes.io/rack", 27}, "rack"},
    {{"fabric.kubenexus.io/rack", 24}, "rack"},
    {{LABEL_ZONE, sizeof(LABEL_ZONE) - 1}, "zone"},
};

static const struct str *find_value(pair_list labels, struct str key)
{
    list_each(&labels, label) {
        if (str_equal(label->key, key))
            return &label->value;
    }
    return NULL;
}

/* The first key that some node has; LEN(places) if none has any. */
static size_t choose_place(const struct object *objects, uint32_t n)
{
    for (size_t place = 0; place < LEN(places); place++) {
        for (uint32_t i = 0; i < n; i++) {
            if (objects[i].kind == KIND_NODE &&
                find_value(objects[i].meta->labels, places[place].key))
                return place;
        }
    }
    return LEN(places);
}

static void add_node(struct plan *p, const struct node *node, size_t place)
{
    const struct str *group =
        place < LEN(places) ? find_value(node->meta.labels, places[place].key) : NULL;
    struct str none = place < LEN(places) ? STR("elsewhere") : STR("all nodes");
    plan_add_node(p, node, group ? *group : none);
}

/* --- time --- */

/* The newest of these that is there. */
static int64_t newer(int64_t ms, int64_t than_ms)
{
    return ms == TIME_NONE ? than_ms : MAX(ms, than_ms);
}

static int64_t newest_ms(const struct object *objects, uint32_t n)
{
    int64_t ms = 0;
    for (uint32_t i = 0; i < n; i++) {
        ms = newer(objects[i].meta->created_ms, ms);
        if (objects[i].kind == KIND_POD)
            ms = newer(objects[i].pod->status.start_ms, ms);
    }
    return ms;
}

/* Its pods are made to be there, not to come to an end. */
static bool makes_services(struct str kind)
{
    static const struct str kinds[] = {STR("ReplicaSet"), STR("StatefulSet"), STR("DaemonSet"),
                                       STR("ReplicationController"), STR("Node")};
    for (size_t i = 0; i < LEN(kinds); i++) {
        if (str_equal(kind, kinds[i]))
            return true;
    }
    return false;
}

static bool runs_on(const struct pod *pod)
{
    list_each(&pod->meta.owners, owner) {
        if (makes_services(owner->kind))
            return true;
    }
    return false;
}

struct reading {
    struct plan *p;
    struct intern nodes;
    struct dump_gangs gangs;
    struct dump_options options;
    struct engine *memory; /* knows what was learned of run times; NULL: nothing was */
    uint32_t declared, learned, assumed, forever, homeless;
    struct error *e;
};

/* How long the pod runs in all. */
static int64_t expect_ms(struct reading *r, const struct pod *pod, int64_t ran_ms)
{
    int64_t run_ms = pod_declared_ms(pod);
    int64_t learned_ms =
        r->memory && !runs_on(pod)
            ? engine_learned_ms(r->memory, pod->meta.namespace, pod->meta.name, ran_ms)
            : 0;
    if (run_ms) {
        r->declared++;
    } else if (learned_ms) {
        r->learned++;
        run_ms = learned_ms;
    } else if (runs_on(pod)) {
        r->forever++;
        return INT64_MAX;
    } else {
        r->assumed++;
        run_ms = r->options.run_ms;
    }
    return run_ms > ran_ms ? run_ms : MAX(2 * ran_ms, (int64_t)1);
}

/* An engine that has read the whole dump, if there is something in it that was learned. */
static struct engine *remember(const struct object *objects, uint32_t n, int64_t now_ms)
{
    bool has_memory = false;
    for (uint32_t i = 0; i < n && !has_memory; i++)
        has_memory = objects[i].kind == KIND_RESERVATION && mirror_memory(objects[i].reservation).p;
    if (!has_memory)
        return NULL;
    struct engine *k = engine_new(&(struct engine_config){0});
    for (uint32_t i = 0; i < n; i++) {
        struct change change = {.kind = CHANGE_PUT, .object = objects[i]};
        engine_apply(k, now_ms, &change);
    }
    return k;
}

/* --- pods --- */

/* The pod before anybody placed it: it may have to be made again. */
static const struct pod *before_placing(struct plan *p, const struct pod *pod)
{
    struct pod *copy = arena_copy(&p->mem, pod, sizeof(*pod));
    copy->spec.node_name = copy->status.nominated_node_name = STR("");
    copy->status.phase = STR("Pending");
    return copy;
}

static bool is_left_out(struct reading *r, const struct pod *pod)
{
    struct str node = pod->spec.node_name, phase = pod->status.phase;
    if (str_equal(phase, STR("Succeeded")) || str_equal(phase, STR("Failed")))
        return true;
    if (node.n == 0)
        return pod->meta.deleted_ms != TIME_NONE;
    bool is_homeless = intern_find(&r->nodes, node) == INTERN_NONE;
    r->homeless += is_homeless;
    return is_homeless;
}

static bool has_ended_well(const struct pod *pod)
{
    return str_equal(pod->status.phase, STR("Succeeded"));
}

static bool add_pod(struct reading *r, const struct pod *pod)
{
    struct plan *p = r->p;
    uint32_t work = dump_gangs_join(&r->gangs, p, pod);
    if (work && has_ended_well(pod))
        p->works.at[work - 1].ended++;
    if (is_left_out(r, pod))
        return true;
    bool has_begun = pod->spec.node_name.n && pod->status.start_ms != TIME_NONE;
    int64_t ran_ms = has_begun ? MAX(p->epoch_ms - pod->status.start_ms, (int64_t)0) : 0;
    struct plan_job job = {
        .runs_ms = expect_ms(r, pod, ran_ms),
        .ran_ms = ran_ms,
        .work = work,
        .node = pod->spec.node_name,
        .is_orphan = pod->meta.owners.n == 0,
        .name = pod->meta.name,
        .pods = 1,
        .template = plan_add_template(p, before_placing(p, pod)),
        .class = plan_class(p, pod->meta.namespace),
    };
    return plan_add_job(p, job, r->e);
}

/* --- all --- */

static void note_times(const struct reading *r)
{
    struct buf when = {0};
    time_add_seconds(&when, r->p->epoch_ms);
    if (r->p->epoch_ms)
        plan_note(r->p, "time 0 is " STR_FMT ", the newest time in the dump",
                  STR_ARG(buf_str(&when)));
    buf_done(&when);
    if (r->declared)
        plan_note(r->p, "%u pods run as long as they declare", r->declared);
    if (r->learned)
        plan_note(r->p, "%u pods run as long as was learned of their kin", r->learned);
    if (r->assumed)
        plan_note(r->p,
                  "%u pods do not say how long they run: %s is assumed (--run-time), or as long "
                  "again as they have run if that is more",
                  r->assumed, text_ms(r->options.run_ms).s);
    if (r->forever)
        plan_note(r->p, "%u pods of ReplicaSets, StatefulSets and the like run on", r->forever);
    if (r->homeless)
        plan_note(r->p, "%u pods are left out: their nodes are not in the dump", r->homeless);
}

static void add_others(struct reading *r, const struct object *objects, uint32_t n)
{
    struct plan *p = r->p;
    size_t place = choose_place(objects, n);
    p->group_word = place < LEN(places) ? places[place].word : "group";
    for (uint32_t i = 0; i < n; i++) {
        if (objects[i].kind == KIND_NODE) {
            add_node(p, objects[i].node, place);
            intern_hold(&r->nodes, intern_get(&r->nodes, objects[i].meta->name, NULL));
        } else if (objects[i].kind != KIND_POD) {
            vec_push(&p->objects, objects[i]);
            dump_gangs_learn(&r->gangs, &objects[i]);
        }
    }
}

bool dump_add(struct plan *p, const struct object *objects, uint32_t n, struct dump_options options,
              struct error *e)
{
    struct reading r = {.p = p, .options = options, .e = e};
    bool is_fine = true;
    p->epoch_ms = newest_ms(objects, n);
    r.memory = remember(objects, n, p->epoch_ms);
    add_others(&r, objects, n);
    for (uint32_t i = 0; i < n && is_fine; i++)
        is_fine = objects[i].kind != KIND_POD || add_pod(&r, objects[i].pod);
    dump_gangs_finish(&r.gangs, p);
    note_times(&r);
    dump_gangs_done(&r.gangs);
    intern_done(&r.nodes);
    engine_free(r.memory);
    return is_fine;
}
