/* Between a decision and its binding: what a pod needs is written and waited for, while others are
 * decided. The pod is placed and keeps its room; each prebind task is a write of its own, all at
 * once. When they stand, the pod is bound; when one fails, it goes back to the queue.
 *
 * What a plugin took for a prebind task is given back in two ways only: the write was certainly not
 * carried out (release), or the object comes with another version and says itself what it is. So a
 * pod that is given up leaves its unsettled writes behind, as pending tasks without a pod. */

#include "core/engine/prebind/prebind.h"

static void add(struct engine *k, pod_id pod, const struct plugin *plugin,
                const struct prebind_task *prebind_task, int64_t timeout_ms)
{
    struct intern *text = &k->cluster->names.text;
    intern_hold(text, prebind_task->name);
    if (prebind_task->namespace != SYM_NONE)
        intern_hold(text, prebind_task->namespace);
    k->units.at[pod.i].prebinds = true;
    bool makes_claim = prebind_task->kind == KIND_RESOURCE_CLAIM && prebind_task->n_patches &&
                       prebind_task->patches[0].verb == OBJECT_CREATE;
    vec_push(&k->prebind->all, (struct pending_task){.pod = pod.i,
                                                     .plugin = plugin,
                                                     .prebind_task = *prebind_task,
                                                     .makes_claim = makes_claim,
                                                     .timeout_ms = timeout_ms,
                                                     .due_ms = INT64_MAX});
}

static void forget(struct engine *k, uint32_t i)
{
    struct pending_task *p = &k->prebind->all.at[i];
    struct intern *text = &k->cluster->names.text;
    intern_drop(text, p->prebind_task.name);
    if (p->prebind_task.namespace != SYM_NONE)
        intern_drop(text, p->prebind_task.namespace);
    mem_free(p->why);
    vec_remove(&k->prebind->all, i);
    k->prebind->looked_up_to = MIN(k->prebind->looked_up_to, i);
}

struct prebind *prebind_new(void)
{
    return mem_alloc(sizeof(struct prebind));
}

void engine_prebind_done(struct engine *k)
{
    vec_each(&k->prebind->all, p)
        mem_free(p->why);
    vec_done(&k->prebind->all);
    mem_free(k->prebind);
}

uint32_t engine_n_prebind_tasks(const struct engine *k)
{
    return k->prebind->all.n;
}

uint32_t engine_n_writes(const struct engine *k)
{
    return k->prebind->n_writes;
}

void engine_look_at_prebind_tasks(struct engine *k)
{
    k->prebind->looked_up_to = 0;
}

/* --- beginning --- */

void engine_reserve(struct engine *k, pod_id pod, const struct class *class, struct arena *mem)
{
    if (!class->reserves)
        return;
    struct reserving r = {.cluster = k->cluster, .pod = pod, .mem = mem};
    r.node.i = pods_at(&k->cluster->pods, pod)->node;
    for (uint32_t i = 0; i < class->n_parts; i++) {
        const struct class_part *part = &class->parts[i];
        if (!part->reserves)
            continue;
        vec_clear(&r.prebind_tasks);
        part->plugin->reserve(&r, part->state);
        vec_each(&r.prebind_tasks, prebind_task)
            add(k, pod, part->plugin, prebind_task, r.timeout_ms);
    }
    vec_done(&r.prebind_tasks);
}

static void write(struct engine *k, struct pending_task *p, struct effects *out)
{
    const struct names *names = &k->cluster->names;
    struct effect *effect = engine_emit(k, (pod_id){p->pod}, EFFECT_WRITE, out);
    effect->write = (struct object_write){
        .kind = p->prebind_task.kind,
        .namespace = names_text(names, p->prebind_task.namespace),
        .name = names_text(names, p->prebind_task.name),
        .version = p->prebind_task.version,
        .patches = p->prebind_task.patches,
        .n_patches = p->prebind_task.n_patches,
    };
    engine_expect(k, effect->id, OF_WRITE);
    p->effect = effect->id;
    k->prebind->n_writes++;
    p->prebind_task.patches = NULL;
    p->prebind_task.n_patches = 0;
}

void engine_run_post_filter(struct engine *k, pod_id pod, const struct plugin *whose,
                            const struct prebind_task *prebind_task, struct effects *out)
{
    if (prebind_task->n_patches == 0)
        return;
    bool prebinds = k->units.at[pod.i].prebinds;
    add(k, pod, whose, prebind_task, 0);
    write(k, &vec_last(&k->prebind->all), out);
    vec_last(&k->prebind->all).pod = ID_NONE;
    k->units.at[pod.i].prebinds = prebinds;
}

/* --- how writes end --- */

/* Others may have what was taken. */
static void release(struct engine *k, const struct pending_task *p)
{
    p->plugin->release(k->cluster, &p->prebind_task);
    struct event event = {
        .resource = engine_resource_of(p->prebind_task.kind),
        .actions = ACTION_OTHER | ACTION_CLAIM_FREED, /* which says something of devices alone */
        .namespace = p->prebind_task.namespace,
        .name = p->prebind_task.name,
        .pod_node = SYM_NONE,
    };
    engine_event(k, &event);
}

void engine_settle_write(struct engine *k, effect_id effect, const struct error *why)
{
    uint32_t i = 0;
    while (i < k->prebind->all.n && k->prebind->all.at[i].effect != effect)
        i++;
    assert(i < k->prebind->all.n);
    struct pending_task *p = &k->prebind->all.at[i];
    if (why && why->kind != ERROR_CONFLICT)
        release(k, p);
    p->effect = 0;
    k->prebind->n_writes--;
    k->figures->counts.claims_made += p->makes_claim && !why;
    k->figures->counts.claims_failed += p->makes_claim && why;
    if (p->pod == ID_NONE) {
        forget(k, i);
        return;
    }
    p->due_ms = k->now_ms + p->timeout_ms;
    p->is_contested = why && why->kind == ERROR_CONFLICT;
    if (why)
        p->why = mem_copy(why->text, strlen(why->text) + 1);
    k->prebind->looked_up_to = 0;
}

void engine_give_up(struct engine *k, pod_id pod)
{
    if (LIKELY(!k->units.at[pod.i].prebinds))
        return;
    k->units.at[pod.i].prebinds = false;
    for (uint32_t i = k->prebind->all.n; i-- > 0;) {
        if (k->prebind->all.at[i].pod != pod.i)
            continue;
        k->prebind->all.at[i].pod = ID_NONE;
        if (k->prebind->all.at[i].effect == 0)
            forget(k, i);
    }
}

void engine_send_prebind_tasks(struct engine *k, pod_id pod, struct effects *out)
{
    vec_each(&k->prebind->all, p) {
        if (p->pod != pod.i)
            continue;
        if (p->prebind_task.n_patches)
            write(k, p, out);
        else
            p->due_ms = k->now_ms + p->timeout_ms;
    }
    k->prebind->looked_up_to = 0;
}

/* --- going on --- */

static enum prebind_state look(struct engine *k, const struct pending_task *p, struct str *why)
{
    if (p->effect)
        return PREBIND_OPEN;
    struct prebind_ask ask = {
        .cluster = k->cluster,
        .pod = {p->pod},
        .prebind_task = &p->prebind_task,
        .is_late = p->due_ms <= k->now_ms,
        .mem = &k->mem,
    };
    bool is_failed = p->why && !p->is_contested;
    enum prebind_state state = is_failed ? PREBIND_FAILED : p->plugin->look(&ask);
    if (ask.is_void)
        release(k, p);
    *why = p->why && !ask.is_late ? str_of(p->why) : ask.why;
    return state;
}

/* How all that stand together from `first` on are: one that failed decides. */
static enum prebind_state look_at_pod(struct engine *k, uint32_t first, uint32_t *end,
                                      struct str *why, const struct plugin **whose)
{
    enum prebind_state state = PREBIND_DONE;
    uint32_t pod = k->prebind->all.at[first].pod, i = first;
    for (; i < k->prebind->all.n && k->prebind->all.at[i].pod == pod; i++) {
        const struct pending_task *p = &k->prebind->all.at[i];
        enum prebind_state one = state == PREBIND_FAILED ? PREBIND_OPEN : look(k, p, why);
        if (one == PREBIND_FAILED)
            *whose = p->plugin;
        state = MAX(state, one);
        k->prebind->next_ms = MIN(k->prebind->next_ms, p->due_ms);
    }
    *end = i;
    return state;
}

static void fail(struct engine *k, pod_id pod, const struct plugin *whose, struct str why,
                 struct effects *out)
{
    struct str text = arena_printf(&out->mem, "running PreBind plugin \"%s\": " STR_FMT,
                                   whose->name, STR_ARG(why));
    engine_give_up(k, pod);
    engine_tell_failure(k, pod, text, out);
    engine_emit(k, pod, EFFECT_NOMINATE, out)->node = STR("");
    k->above->take_back(k, pod);
}

void engine_call_off(struct engine *k, pod_id pod, struct str why, struct effects *out)
{
    uint32_t i = 0;
    while (k->prebind->all.at[i].pod != pod.i)
        i++;
    fail(k, pod, k->prebind->all.at[i].plugin, why, out);
}

bool engine_go_on(struct engine *k, struct effects *out)
{
    if (k->prebind->next_ms <= k->now_ms)
        k->prebind->looked_up_to = 0;
    if (k->prebind->looked_up_to == 0)
        k->prebind->next_ms = INT64_MAX;
    while (k->prebind->looked_up_to < k->prebind->all.n) {
        pod_id pod = {k->prebind->all.at[k->prebind->looked_up_to].pod};
        if (pod.i == ID_NONE) {
            k->prebind->looked_up_to++;
            continue;
        }
        struct str why = {0};
        const struct plugin *whose = NULL;
        uint32_t end;
        enum prebind_state state = look_at_pod(k, k->prebind->looked_up_to, &end, &why, &whose);
        if (state == PREBIND_OPEN) {
            k->prebind->looked_up_to = end;
        } else if (state == PREBIND_FAILED) {
            fail(k, pod, whose, why, out);
        } else {
            engine_give_up(k, pod);
            k->above->bind(k, pod, out);
        }
        arena_reset(&k->mem);
        if (state != PREBIND_OPEN)
            return true;
    }
    return false;
}

int64_t engine_go_on_ms(const struct engine *k, int64_t now_ms)
{
    if (k->prebind->all.n == 0)
        return INT64_MAX;
    return k->prebind->looked_up_to < k->prebind->all.n ? now_ms : k->prebind->next_ms;
}
