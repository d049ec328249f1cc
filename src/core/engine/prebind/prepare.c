/* Between a decision and its binding: what a pod needs is written and waited for, while others are
 * decided. The pod is placed and keeps its room; each errand is a write of its own, all at once.
 * When they stand, the pod is bound; when one fails, it goes back to the queue.
 *
 * What a plugin took for an errand is given back in two ways only: the write was certainly not
 * carried out (release), or the object comes with another version and says itself what it is. So a
 * pod that is given up leaves its unsettled writes behind, as preparations without a pod. */

#include "core/engine/prebind/prebind.h"

static void add(struct engine *k, pod_id pod, const struct plugin *plugin,
                const struct errand *errand, int64_t timeout_ms)
{
    struct intern *text = &k->cluster->names.text;
    intern_hold(text, errand->name);
    if (errand->namespace != SYM_NONE)
        intern_hold(text, errand->namespace);
    k->units.at[pod.i].prepares = true;
    bool makes_claim = errand->kind == KIND_RESOURCE_CLAIM && errand->n_patches &&
                       errand->patches[0].verb == OBJECT_CREATE;
    vec_push(&k->prebind->all, (struct preparation){.pod = pod.i,
                                                    .plugin = plugin,
                                                    .errand = *errand,
                                                    .makes_claim = makes_claim,
                                                    .timeout_ms = timeout_ms,
                                                    .due_ms = INT64_MAX});
}

static void forget(struct engine *k, uint32_t i)
{
    struct preparation *p = &k->prebind->all.at[i];
    struct intern *text = &k->cluster->names.text;
    intern_drop(text, p->errand.name);
    if (p->errand.namespace != SYM_NONE)
        intern_drop(text, p->errand.namespace);
    mem_free(p->why);
    vec_remove(&k->prebind->all, i);
    k->prebind->looked_up_to = MIN(k->prebind->looked_up_to, i);
}

struct prebind *prebind_new(void)
{
    return mem_alloc(sizeof(struct prebind));
}

void engine_preparations_done(struct engine *k)
{
    vec_each(&k->prebind->all, p)
        mem_free(p->why);
    vec_done(&k->prebind->all);
    mem_free(k->prebind);
}

uint32_t engine_n_errands(const struct engine *k)
{
    return k->prebind->all.n;
}

uint32_t engine_n_writes(const struct engine *k)
{
    return k->prebind->n_writes;
}

void engine_look_at_errands(struct engine *k)
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
        vec_clear(&r.errands);
        part->plugin->reserve(&r, part->state);
        vec_each(&r.errands, errand)
            add(k, pod, part->plugin, errand, r.timeout_ms);
    }
    vec_done(&r.errands);
}

static void write(struct engine *k, struct preparation *p, struct effects *out)
{
    const struct names *names = &k->cluster->names;
    struct effect *effect = engine_emit(k, (pod_id){p->pod}, EFFECT_WRITE, out);
    effect->write = (struct object_write){
        .kind = p->errand.kind,
        .namespace = names_text(names, p->errand.namespace),
        .name = names_text(names, p->errand.name),
        .version = p->errand.version,
        .patches = p->errand.patches,
        .n_patches = p->errand.n_patches,
    };
    engine_expect(k, effect->id, OF_WRITE);
    p->effect = effect->id;
    k->prebind->n_writes++;
    p->errand.patches = NULL;
    p->errand.n_patches = 0;
}

void engine_relieve(struct engine *k, pod_id pod, const struct plugin *whose,
                    const struct errand *errand, struct effects *out)
{
    if (errand->n_patches == 0)
        return;
    bool prepares = k->units.at[pod.i].prepares;
    add(k, pod, whose, errand, 0);
    write(k, &vec_last(&k->prebind->all), out);
    vec_last(&k->prebind->all).pod = ID_NONE;
    k->units.at[pod.i].prepares = prepares;
}

/* --- how writes end --- */

/* Others may have what was taken. */
static void release(struct engine *k, const struct preparation *p)
{
    p->plugin->release(k->cluster, &p->errand);
    struct event event = {
        .resource = engine_resource_of(p->errand.kind),
        .actions = ACTION_OTHER | ACTION_CLAIM_FREED, /* which says something of devices alone */
        .namespace = p->errand.namespace,
        .name = p->errand.name,
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
    struct preparation *p = &k->prebind->all.at[i];
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
    if (LIKELY(!k->units.at[pod.i].prepares))
        return;
    k->units.at[pod.i].prepares = false;
    for (uint32_t i = k->prebind->all.n; i-- > 0;) {
        if (k->prebind->all.at[i].pod != pod.i)
            continue;
        k->prebind->all.at[i].pod = ID_NONE;
        if (k->prebind->all.at[i].effect == 0)
            forget(k, i);
    }
}

void engine_send_errands(struct engine *k, pod_id pod, struct effects *out)
{
    vec_each(&k->prebind->all, p) {
        if (p->pod != pod.i)
            continue;
        if (p->errand.n_patches)
            write(k, p, out);
        else
            p->due_ms = k->now_ms + p->timeout_ms;
    }
    k->prebind->looked_up_to = 0;
}

/* --- going on --- */

static enum errand_state look(struct engine *k, const struct preparation *p, struct str *why)
{
    if (p->effect)
        return ERRAND_OPEN;
    struct errand_ask ask = {
        .cluster = k->cluster,
        .pod = {p->pod},
        .errand = &p->errand,
        .is_late = p->due_ms <= k->now_ms,
        .mem = &k->mem,
    };
    bool is_failed = p->why && !p->is_contested;
    enum errand_state state = is_failed ? ERRAND_FAILED : p->plugin->look(&ask);
    if (ask.is_void)
        release(k, p);
    *why = p->why && !ask.is_late ? str_of(p->why) : ask.why;
    return state;
}

/* How all that stand together from `first` on are: one that failed decides. */
static enum errand_state look_at_pod(struct engine *k, uint32_t first, uint32_t *end,
                                     struct str *why, const struct plugin **whose)
{
    enum errand_state state = ERRAND_STANDS;
    uint32_t pod = k->prebind->all.at[first].pod, i = first;
    for (; i < k->prebind->all.n && k->prebind->all.at[i].pod == pod; i++) {
        const struct preparation *p = &k->prebind->all.at[i];
        enum errand_state one = state == ERRAND_FAILED ? ERRAND_OPEN : look(k, p, why);
        if (one == ERRAND_FAILED)
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
        enum errand_state state = look_at_pod(k, k->prebind->looked_up_to, &end, &why, &whose);
        if (state == ERRAND_OPEN) {
            k->prebind->looked_up_to = end;
        } else if (state == ERRAND_FAILED) {
            fail(k, pod, whose, why, out);
        } else {
            engine_give_up(k, pod);
            k->above->bind(k, pod, out);
        }
        arena_reset(&k->mem);
        if (state != ERRAND_OPEN)
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
