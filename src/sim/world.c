/* Between turns: every pod is where its state says, in the engine's eyes too; nothing is unsettled;
 * the heaps hold what will happen by itself. */

#include "core/model/resources.h"
#include "core/model/run_time.h"
#include "sim/draw.h"
#include "sim/world_inside.h"

enum { ROUNDS_A_POD = 100 }; /* at most, of one moment */

static bool turns_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct world *w = ctx;
    int64_t x = w->nodes.at[a].turns_ms, y = w->nodes.at[b].turns_ms;
    return x != y ? x < y : a < b;
}

/* --- telling the engine --- */

struct str sim_pod_name(struct world *w, const struct sim_pod *pod)
{
    const struct plan_job *job = &w->plan->jobs.at[pod->job];
    if (job->pods == 1)
        return job->name;
    return arena_printf(&w->mem, STR_FMT ".%u", STR_ARG(job->name), pod->member);
}

/* What a pod of a gang says of it. */
static void join_gang(struct world *w, struct pod *pod, const struct plan_job *job)
{
    pair_list old = pod->meta.labels;
    pair_list labels = {arena_array(&w->mem, struct pair, old.n + 2), 0};
    list_each(&old, label)
        labels.at[labels.n++] = *label;
    labels.at[labels.n++] = (struct pair){STR("pod-group.scheduling.kubenexus.io/name"), job->name};
    labels.at[labels.n++] = (struct pair){STR("pod-group.scheduling.kubenexus.io/min-available"),
                                          arena_printf(&w->mem, "%u", job->minimum)};
    plan_sort_labels(&labels);
    pod->meta.labels = labels;
}

static void declare_run_time(struct world *w, struct pod *pod, int64_t runs_ms)
{
    pair_list old = pod->meta.annotations;
    pair_list notes = {arena_array(&w->mem, struct pair, old.n + 1), 0};
    list_each(&old, note)
        notes.at[notes.n++] = *note;
    notes.at[notes.n++] = (struct pair){STR(ANNOTATION_DURATION),
                                        arena_printf(&w->mem, "%lldms", (long long)runs_ms)};
    pod->meta.annotations = notes;
}

/* Whoever makes a gang's pods again is known as who made them: those that ended count on. */
static void name_owner(struct world *w, struct pod *pod, uint32_t job)
{
    struct owner *owner = arena_alloc(&w->mem, sizeof(*owner));
    *owner = (struct owner){.kind = STR("ScenarioJob"),
                            .name = w->plan->jobs.at[job].name,
                            .uid = arena_printf(&w->mem, "job-%u", job),
                            .is_controller = true};
    pod->meta.owners.at = owner;
    pod->meta.owners.n = 1;
}

/* As the API server would: the pod as it is now. Its uid is its number here. */
static void tell_pod(struct world *w, uint32_t i, enum change_kind kind)
{
    arena_reset(&w->mem);
    const struct sim_pod *sim = &w->pods.at[i];
    const struct plan_job *job = &w->plan->jobs.at[sim->job];
    struct pod pod = *w->plan->templates.at[job->template];
    pod.meta.name = sim_pod_name(w, sim);
    pod.meta.uid = arena_printf(&w->mem, "%u", i);
    if (pod.meta.created_ms == TIME_NONE || (sim->is_anew && !w->has_queues))
        pod.meta.created_ms = w->plan->epoch_ms + (w->has_queues ? job->at_ms : sim->created_ms);
    if (sim->is_anew)
        pod.status.start_ms = TIME_NONE;
    if (sim->is_leaving)
        pod.meta.deleted_ms = world_clock_ms(w);
    if (w->plan->scheduler.n)
        pod.spec.scheduler_name = w->plan->scheduler;
    if (w->plan->declares_run_times && job->runs_ms != NEVER)
        declare_run_time(w, &pod, job->runs_ms);
    if (job->minimum > 1)
        join_gang(w, &pod, job);
    if (job->minimum > 1 && w->has_queues)
        name_owner(w, &pod, sim->job);
    if (sim->node != NO_NODE) {
        struct str node = w->plan->nodes.at[sim->node].node->meta.name;
        bool runs = sim->state == POD_RUNNING;
        *(runs ? &pod.spec.node_name : &pod.status.nominated_node_name) = node;
        pod.status.phase = runs ? STR("Running") : STR("Pending");
        if (runs && w->has_queues && pod.status.start_ms == TIME_NONE)
            pod.status.start_ms = w->plan->epoch_ms + sim->started_ms;
    }
    struct change change = {.kind = kind, .object = {.kind = KIND_POD, .pod = &pod}};
    engine_apply(w->engine, world_clock_ms(w), &change);
}

static void tell_node(struct world *w, uint32_t i, enum change_kind kind)
{
    struct node node = *w->plan->nodes.at[i].node;
    struct change change = {.kind = kind, .object = {.kind = KIND_NODE, .node = &node}};
    engine_apply(w->engine, world_clock_ms(w), &change);
}

static void tell_object(void *ctx, enum change_kind kind, const struct object *object)
{
    struct world *w = ctx;
    struct change change = {.kind = kind, .object = *object};
    engine_apply(w->engine, world_clock_ms(w), &change);
}

/* --- what happens to pods --- */

static void book_pod(struct world *w, struct sim_pod *pod, int sign)
{
    const struct plan_job *job = &w->plan->jobs.at[pod->job];
    struct islands *is = &w->books.islands;
    books_pod(&w->books, w->now_ms, w->plan->nodes.at[pod->node].group, job->class,
              &w->needs[(size_t)job->template * w->books.resources.n], sign);
    if (sign > 0)
        islands_start(is, w->now_ms, pod->node, job->template, &pod->zones);
    else
        islands_stop(is, w->now_ms, pod->node, job->template, &pod->zones);
    timeline_set(&w->books.timeline, BOOKS_WHOLE, w->now_ms, is->whole.value);
}

static void forget_why(struct world *w, struct sim_pod *pod)
{
    if (pod->why != NOT_SAID)
        intern_drop(&w->whys, pod->why);
    pod->why = NOT_SAID;
}

static void start_pod(struct world *w, uint32_t i, uint32_t node, bool is_old)
{
    struct sim_pod *pod = &w->pods.at[i];
    forget_why(w, pod);
    pod->state = POD_RUNNING;
    pod->node = node;
    pod->started_ms = w->now_ms;
    book_pod(w, pod, 1);
    works_start(&w->works, w->now_ms, i, node, is_old);
    tell_pod(w, i, CHANGE_PUT);
}

static void stop_pod(struct world *w, uint32_t i, enum pod_state state)
{
    struct sim_pod *pod = &w->pods.at[i];
    book_pod(w, pod, -1);
    tell_pod(w, i, CHANGE_REMOVE);
    storage_leave(&w->storage, pod_namespace(w, pod), sim_pod_name(w, pod), tell_object, w);
    pod->state = (uint8_t)state;
}

static void end_pod(struct world *w, uint32_t i)
{
    world_log_end(w, &w->pods.at[i]);
    class_of(w, &w->pods.at[i])->ended++;
    stop_pod(w, i, POD_ENDED);
    works_end(&w->works, w->now_ms, i);
}

static uint32_t add_pod(struct world *w, uint32_t job, uint32_t member, int64_t done_ms)
{
    struct sim_pod pod = {.created_ms = w->now_ms, .job = job, .member = member};
    pod.node = NO_NODE;
    pod.why = NOT_SAID;
    vec_push(&w->pods, pod);
    works_add(&w->works, job, member, done_ms);
    return w->pods.n - 1;
}

static uint32_t create_pod(struct world *w, uint32_t job, uint32_t member)
{
    uint32_t i = add_pod(w, job, member, 0);
    class_of(w, &w->pods.at[i])->created++;
    timeline_add(&w->books.timeline, BOOKS_WAITING, w->now_ms, 1);
    if (w->log.out)
        vec_push(&w->waits, i);
    return i;
}

/* A pod that a plan finds in place: it neither waits nor counts as bound. */
static void place_pod(struct world *w, uint32_t job, struct str node)
{
    uint32_t at = intern_find(&w->node_names, node);
    if (at == INTERN_NONE) /* of a node that is gone: the engine would count it nowhere */
        return;
    start_pod(w, add_pod(w, job, 0, w->plan->jobs.at[job].ran_ms), at, true);
}

static void bind_pod(struct world *w, const struct decision *d)
{
    if (w->plan->bind_fault_share > 0 && rng_real(&w->bind_rng) < w->plan->bind_fault_share) {
        struct error why = {0};
        error_set(&why, ERROR_BUSY, "the scenario says so");
        engine_settle(w->engine, world_clock_ms(w), d->effect, &why);
        w->books.bind_faults++;
        return;
    }
    struct sim_pod *pod = &w->pods.at[d->pod];
    struct class_books *class = class_of(w, pod);
    assert(pod->state == POD_WAITING && d->node != NO_NODE && !w->nodes.at[d->node].is_down);
    engine_settle(w->engine, world_clock_ms(w), d->effect, NULL);
    class->bound++;
    vec_push(&class->waits_ms, w->now_ms - pod->created_ms);
    timeline_add(&w->books.timeline, BOOKS_WAITING, w->now_ms, -1);
    start_pod(w, d->pod, d->node, false);
}

/* Its owner makes a new pod, which begins from the start. */
static void lose_pod(struct world *w, uint32_t i, struct undone *undone)
{
    const struct plan_job *job = &w->plan->jobs.at[w->pods.at[i].job];
    w->pods.at[i].is_leaving = true; /* its end is not one of its own */
    tell_pod(w, i, CHANGE_PUT);
    stop_pod(w, i, POD_LOST);
    works_lose(&w->works, w->now_ms, i, undone);
    if (job->is_orphan)
        return;
    uint32_t anew = create_pod(w, w->pods.at[i].job, w->pods.at[i].member);
    w->pods.at[anew].is_anew = true;
    tell_pod(w, anew, CHANGE_PUT);
}

static void nominate_pod(struct world *w, const struct decision *d)
{
    if (w->pods.at[d->pod].state != POD_WAITING)
        return;
    w->pods.at[d->pod].node = d->node;
    tell_pod(w, d->pod, CHANGE_PUT);
}

/* At once: nobody here needs time to leave. */
static void evict_pod(struct world *w, const struct decision *d)
{
    if (w->pods.at[d->pod].state == POD_RUNNING) {
        world_log_eviction(w, &w->pods.at[d->pod]);
        class_of(w, &w->pods.at[d->pod])->evicted++;
        timeline_add(&w->books.timeline, BOOKS_EVICTED, w->now_ms, 1);
        lose_pod(w, d->pod, &w->books.evicted);
    }
    engine_settle(w->engine, world_clock_ms(w), d->effect, NULL);
}

static void write_object(struct world *w, const struct decision *d)
{
    struct error why = {0};
    bool is_done = storage_write(&w->storage, &d->write, tell_object, w, &why);
    engine_settle(w->engine, world_clock_ms(w), d->effect, is_done ? NULL : &why);
}

/* --- what happens to nodes --- */

static void node_up(struct world *w, uint32_t i)
{
    struct sim_node *node = &w->nodes.at[i];
    node->is_down = false;
    islands_node(&w->books.islands, w->now_ms, i, true);
    books_node(&w->books, w->now_ms, w->plan->nodes.at[i].group,
               &w->rooms[(size_t)i * w->books.resources.n], 1);
    tell_node(w, i, CHANGE_PUT);
    if (w->plan->nodes.at[i].has_tie_order)
        engine_set_tie_order(w->engine, w->plan->nodes.at[i].node->meta.name,
                             w->plan->nodes.at[i].tie_order);
    if (w->plan->node_between_ms) {
        struct span span = {SPAN_EXPONENTIAL, w->plan->node_between_ms, 0};
        node->turns_ms = w->now_ms + draw_span_ms(&w->node_rng, span);
        heap_add(&w->turns, i);
    }
}

static void node_down(struct world *w, uint32_t i)
{
    struct sim_node *node = &w->nodes.at[i];
    for (uint32_t k = 0; k < w->pods.n; k++) {
        const struct sim_pod *pod = &w->pods.at[k];
        if (pod->state != POD_RUNNING || pod->node != i)
            continue;
        class_of(w, pod)->lost++;
        lose_pod(w, k, &w->books.lost);
    }
    tell_node(w, i, CHANGE_REMOVE);
    node->is_down = true;
    islands_node(&w->books.islands, w->now_ms, i, false);
    w->nodes_down++;
    w->books.node_faults++;
    books_node(&w->books, w->now_ms, w->plan->nodes.at[i].group,
               &w->rooms[(size_t)i * w->books.resources.n], -1);
    node->turns_ms = w->now_ms + w->plan->node_repair_ms;
    heap_add(&w->turns, i);
}

/* --- time --- */

static int64_t next_arrival_ms(const struct world *w)
{
    return w->next_job < w->plan->jobs.n ? w->plan->jobs.at[w->next_job].at_ms : NEVER;
}

/* When something happens by itself. Nodes fail for ever: that alone keeps no world going. */
static int64_t next_own_ms(const struct world *w)
{
    int64_t next_ms = next_arrival_ms(w);
    next_ms = MIN(next_ms, works_next_ms(&w->works));
    bool goes_on = next_ms != NEVER || w->nodes_down || w->plan->until_ms != NEVER;
    if (w->turns.n && goes_on)
        next_ms = MIN(next_ms, w->nodes.at[w->turns.at[0]].turns_ms);
    return next_ms;
}

/* When the engine wants to go on, by our clock. */
static int64_t engine_own_ms(const struct world *w)
{
    int64_t next_ms = engine_next_ms(w->engine, world_clock_ms(w));
    return next_ms == NEVER ? NEVER : next_ms - w->plan->epoch_ms;
}

/* The engine looks again at pods that were refused from time to time. When nothing else will happen
 * that changes nothing, unless bindings failed: those are tried again within seconds; or somebody
 * waits until others have run for long enough. */
int64_t world_next_ms(const struct world *w)
{
    int64_t own_ms = next_own_ms(w);
    int64_t engine_ms = MAX(engine_own_ms(w), w->now_ms);
    if (own_ms == NEVER && engine_ms > w->moved_ms + w->patience_ms)
        return NEVER;
    return MIN(own_ms, engine_ms);
}

static void happen(struct world *w)
{
    if (next_own_ms(w) <= w->now_ms)
        w->moved_ms = w->now_ms;
    while (works_next_ms(&w->works) <= w->now_ms)
        end_pod(w, works_next(&w->works));
    decisions_write_ends(&w->log, w->now_ms);
    while (w->turns.n && w->nodes.at[w->turns.at[0]].turns_ms <= w->now_ms) {
        uint32_t i = heap_take(&w->turns);
        w->nodes_down -= w->nodes.at[i].is_down;
        if (w->nodes.at[i].is_down)
            node_up(w, i);
        else
            node_down(w, i);
    }
    for (; next_arrival_ms(w) <= w->now_ms; w->next_job++) {
        const struct plan_job *job = &w->plan->jobs.at[w->next_job];
        if (job->node.n)
            place_pod(w, w->next_job, job->node);
        for (uint32_t member = 0; !job->node.n && member < job->pods; member++)
            tell_pod(w, create_pod(w, w->next_job, member), CHANGE_PUT);
    }
}

/* --- obeying --- */

static void note_why(struct world *w, const struct effect *effect, uint32_t i)
{
    struct sim_pod *pod = &w->pods.at[i];
    uint32_t why = intern_get(&w->whys, effect->message, NULL);
    intern_hold(&w->whys, why);
    forget_why(w, pod);
    pod->why = why;
    pod->is_failed = effect->kind == EFFECT_FAIL;
    w->books.refusals += effect->kind == EFFECT_REFUSE;
    w->books.failures += effect->kind == EFFECT_FAIL;
    if (intern_wants_sweep(&w->whys))
        intern_sweep(&w->whys, NULL, NULL);
}

/* The texts of effects last only until the engine is told something: numbers instead. */
static void read_effects(struct world *w)
{
    vec_clear(&w->decisions);
    vec_each(&w->effects.list, effect) {
        struct decision d = {.effect = effect->id, .kind = effect->kind, .node = NO_NODE};
        if (effect->kind == EFFECT_PUBLISH)
            continue; /* nobody looks */
        int64_t pod;
        bool is_ours = str_int(effect->uid, &pod) && pod < w->pods.n;
        assert(is_ours);
        d.pod = (uint32_t)pod;
        if (effect->kind == EFFECT_REFUSE || effect->kind == EFFECT_FAIL)
            note_why(w, effect, d.pod);
        else if (effect->node.n)
            d.node = intern_find(&w->node_names, effect->node);
        d.write = effect->write; /* what it writes lasts: the engine waits for it */
        vec_push(&w->decisions, d);
    }
}

/* Whether the engine was told anything. */
static bool obey(struct world *w)
{
    bool is_told = false;
    read_effects(w);
    vec_each(&w->decisions, d) {
        switch (d->kind) {
        case EFFECT_BIND:
            bind_pod(w, d);
            w->moved_ms = w->now_ms;
            is_told = true;
            break;
        case EFFECT_NOMINATE:
            nominate_pod(w, d);
            is_told = true;
            break;
        case EFFECT_EVICT:
            evict_pod(w, d);
            w->moved_ms = w->now_ms;
            is_told = true;
            break;
        case EFFECT_WRITE:
            write_object(w, d);
            is_told = true;
            break;
        case EFFECT_PUBLISH:
        case EFFECT_ASK: /* nobody there */
        case EFFECT_WARN:
        case EFFECT_REFUSE:
        case EFFECT_FAIL:
            break; /* noted while reading */
        }
    }
    effects_clear(&w->effects);
    return is_told;
}

/* --- the face --- */

static void measure_objects(struct world *w)
{
    const struct plan *plan = w->plan;
    uint32_t resources = w->books.resources.n;
    static const struct request_rules rules = {.pod_level = true};
    w->needs = mem_alloc((size_t)plan->templates.n * resources * sizeof(*w->needs));
    w->rooms = mem_alloc((size_t)plan->nodes.n * resources * sizeof(*w->rooms));
    for (uint32_t i = 0; i < plan->templates.n; i++) {
        amount_list requests = pod_requests(plan->templates.at[i], rules, &w->mem);
        books_amounts(&w->books, requests, &w->needs[(size_t)i * resources]);
        arena_reset(&w->mem);
    }
    for (uint32_t i = 0; i < plan->nodes.n; i++)
        books_amounts(&w->books, plan->nodes.at[i].node->status.allocatable,
                      &w->rooms[(size_t)i * resources]);
}

struct world *world_new(const struct plan *plan, const struct engine_config *config)
{
    struct world *w = mem_alloc(sizeof(*w));
    struct engine_config own = *config;
    own.seed = plan->seed;
    w->plan = plan;
    w->engine = engine_new(&own);
    w->turns = (struct heap){.before = turns_before, .ctx = w};
    w->bind_rng = rng_seeded(plan->seed ^ 0x62696e64);
    w->node_rng = rng_seeded(plan->seed ^ 0x6e6f6465);
    books_init(&w->books, plan);
    measure_objects(w);
    works_init(&w->works, plan, &w->books, w->needs);
    storage_init(&w->storage, plan);
    vec_each(&plan->objects, object) {
        struct change change = {.kind = CHANGE_PUT, .object = *object};
        engine_apply(w->engine, world_clock_ms(w), &change);
    }
    w->log.books = &w->books;
    w->books.has_queues = w->has_queues = engine_has_queues(w->engine);
    w->patience_ms = world_patience_ms(w);
    vec_resize(&w->nodes, plan->nodes.n);
    for (uint32_t i = 0; i < plan->nodes.n; i++) {
        uint32_t id = intern_get(&w->node_names, plan->nodes.at[i].node->meta.name, NULL);
        assert(id == i); /* names are unique */
        intern_hold(&w->node_names, id);
        node_up(w, i);
    }
    return w;
}

void world_free(struct world *w)
{
    if (!w)
        return;
    engine_free(w->engine);
    books_done(&w->books);
    storage_done(&w->storage);
    vec_done(&w->pods);
    works_done(&w->works);
    vec_done(&w->nodes);
    intern_done(&w->node_names);
    intern_done(&w->whys);
    heap_done(&w->turns);
    mem_free(w->needs);
    mem_free(w->rooms);
    effects_done(&w->effects);
    vec_done(&w->decisions);
    vec_done(&w->waits);
    decisions_done(&w->log);
    arena_done(&w->mem);
    mem_free(w);
}

/* All is over when the last thing has happened; what runs or waits for ever does so until the
 * plan's end. */
static int64_t end_ms(const struct world *w, int64_t then_ms)
{
    const struct timeline_column *at = w->books.timeline.at;
    bool goes_on = then_ms != NEVER || at[BOOKS_RUNNING].value > 0 || at[BOOKS_WAITING].value > 0;
    return goes_on && w->plan->until_ms != NEVER ? w->plan->until_ms : w->moved_ms;
}

/* What is in use when all that was there from the start has come, and nothing has been decided. */
static void note_start(struct world *w)
{
    struct books *b = &w->books;
    for (uint32_t i = 0; i < b->resources.n && b->used_first.n < b->resources.n; i++)
        vec_push(&b->used_first, b->timeline.at[books_used(b, i)].value);
}

void world_watch(struct world *w, double (*now_s)(void))
{
    w->now_s = now_s;
}

void world_record(struct world *w, struct buf *out)
{
    w->log.out = w->has_queues ? out : NULL;
}

double world_longest_step_s(const struct world *w)
{
    return w->longest_step_s;
}

static bool step(struct world *w)
{
    double start_s = w->now_s ? w->now_s() : 0;
    bool has_stepped = engine_step(w->engine, world_clock_ms(w), &w->effects);
    if (w->now_s)
        w->longest_step_s = MAX(w->longest_step_s, w->now_s() - start_s);
    return has_stepped;
}

/* Until nothing is left to decide. With queues (true) until something is to be carried out: a
 * plan's victims are gone before anything else is decided. */
static bool decide(struct world *w)
{
    while (step(w)) {
        world_log_starts(w);
        if (w->has_queues && w->effects.list.n)
            return true;
    }
    return false;
}

bool world_turn(struct world *w)
{
    int64_t then_ms = world_next_ms(w);
    if (then_ms == NEVER || then_ms >= w->plan->until_ms) {
        world_close_books(w, end_ms(w, then_ms));
        return false;
    }
    w->now_ms = then_ms;
    happen(w);
    note_start(w);
    uint64_t rounds = 0;
    for (bool goes_on = true; goes_on;) {
        goes_on = decide(w);
        bool is_told = obey(w);
        goes_on |= is_told;
        /* Each round places or evicts, and whoever is evicted is less important: a moment has an
         * end. */
        rounds += is_told;
        assert(rounds <= ROUNDS_A_POD * ((uint64_t)w->pods.n + 1));
    }
    if (w->log.out)
        world_log_refusals(w);
    return true;
}

int64_t world_now_ms(const struct world *w)
{
    return w->now_ms;
}

const struct books *world_books(const struct world *w)
{
    return &w->books;
}

struct engine_stats world_engine_stats(const struct world *w)
{
    return engine_stats(w->engine);
}

const char *world_fate(struct world *w, const char *name)
{
    for (uint32_t i = w->pods.n; i-- > 0;) { /* the newest of a name */
        const struct sim_pod *pod = &w->pods.at[i];
        arena_reset(&w->mem);
        if (!str_equal(sim_pod_name(w, pod), str_of(name)))
            continue;
        if (pod->state == POD_RUNNING)
            return arena_printf(&w->mem, "runs on " STR_FMT,
                                STR_ARG(w->plan->nodes.at[pod->node].node->meta.name))
                .p;
        return pod->state == POD_WAITING ? "waits" : "ended";
    }
    return "never came";
}
