/* In steady state a decision allocates nothing: queue, view, transaction, effect and settlement use
 * what is there. Pods of the same templates come, are bound, run and go; every call that could
 * allocate is counted while the engine steps and settles. (The linker puts our malloc in front.)
 *
 * And what many pods took is given back when they are gone: all bytes that the engine has are
 * counted between waves of them. */

#include <malloc.h>

#include "core/engine/engine.h"
#include "core/model/object.h"
#include "support/test.h"

enum { NODES = 60, RUNNING = 400, WARM_UP = 4000, DECISIONS = 10000 };

static bool is_counting;
static uint64_t allocations;
static int64_t bytes_held, bytes_most;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *p);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *p);

/* A block has room for what was asked for, which stands at its end: how much more a block has changes
 * from one time to the next. */
enum { ROOM = sizeof(size_t) };

static char *end_of(void *p)
{
    return (char *)p + malloc_usable_size(p) - ROOM;
}

static void forget(void *p)
{
    size_t asked = 0;
    if (p)
        memcpy(&asked, end_of(p), ROOM);
    bytes_held -= (int64_t)asked;
}

static void *count(void *p, size_t asked)
{
    memcpy(end_of(p), &asked, ROOM);
    allocations += is_counting;
    bytes_held += (int64_t)asked;
    bytes_most = MAX(bytes_most, bytes_held);
    return p;
}

void *__wrap_malloc(size_t bytes)
{
    return count(__real_malloc(bytes + ROOM), bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return count(__real_calloc(1, n * bytes + ROOM), n * bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    forget(p);
    return count(__real_realloc(p, bytes + ROOM), bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return count(__real_aligned_alloc(alignment, bytes + MAX(alignment, (size_t)ROOM)), bytes);
}

void __wrap_free(void *p)
{
    forget(p);
    __real_free(p);
}

/* --- objects --- */

static struct amount amount(struct str name, struct str text)
{
    struct amount a = {.name = name};
    EXPECT(quantity_parse(text, &a.quantity));
    return a;
}

static void put(struct engine *k, int64_t now_ms, struct object object)
{
    struct change change = {CHANGE_PUT, object};
    engine_apply(k, now_ms, &change);
}

static void add_node(struct engine *k, uint32_t i)
{
    struct arena mem = {0};
    struct node n = {0};
    struct amount have[] = {amount(STR("cpu"), STR("64")), amount(STR("memory"), STR("256Gi")),
                            amount(STR("pods"), STR("110")),
                            amount(STR("nvidia.com/gpu"), STR("8"))};
    n.meta.name = arena_printf(&mem, "n%u", i);
    struct pair labels[] = {{STR("kubernetes.io/hostname"), n.meta.name},
                            {STR("topology.kubernetes.io/zone"), arena_printf(&mem, "z%u", i % 3)},
                            {STR("disk"), i % 2 ? STR("ssd") : STR("hdd")}};
    struct taint soft = {STR("old"), STR(""), STR("PreferNoSchedule")};
    struct str image = STR("app:v1");
    struct container_image images = {{&image, 1}, 500 << 20};
    n.meta.labels = (pair_list){labels, LEN(labels)};
    n.status.allocatable = (amount_list){have, i % 4 ? 3 : 4};
    n.status.has_allocatable = true;
    n.spec.taints.at = &soft;
    n.spec.taints.n = i % 5 == 0;
    n.status.images.at = &images;
    n.status.images.n = i % 3 == 0;
    put(k, 0, (struct object){.kind = KIND_NODE, .node = &n});
    arena_done(&mem);
}

/* The pods: plain, with a GPU, with a preference, behind a Service (spread by default), with a hard
 * and with a soft constraint of their own. */
enum template { PLAIN, GPU, PREFERS, SERVED, HARD, SOFT, TEMPLATES };

static const struct str apps[] = {STR("plain"),  STR("gpu"),  STR("prefers"),
                                  STR("served"), STR("hard"), STR("soft")};

static void add_service(struct engine *k)
{
    struct service s = {.meta = {.name = STR("s"), .namespace = STR("ns")}};
    struct pair selector = {STR("app"), apps[SERVED]};
    s.selector = (pair_list){&selector, 1};
    put(k, 0, (struct object){.kind = KIND_SERVICE, .service = &s});
}

static void put_pod(struct engine *k, int64_t now_ms, struct str name, enum template template,
                    struct str node)
{
    struct amount asks[] = {amount(STR("cpu"), template == PLAIN ? STR("200m") : STR("1")),
                            amount(STR("memory"), STR("1Gi")),
                            amount(STR("nvidia.com/gpu"), STR("1"))};
    struct pair app = {STR("app"), apps[template]};
    struct container container = {.name = STR("main"), .image = STR("app:v1")};
    container.resources.requests = (amount_list){asks, template == GPU ? 3 : 2};
    struct label_selector selector = {.match_labels = {&app, 1}};
    struct spread_constraint spread = {
        .max_skew = 2,
        .topology_key = STR("topology.kubernetes.io/zone"),
        .when_unsatisfiable = template == HARD ? STR("DoNotSchedule") : STR("ScheduleAnyway"),
        .label_selector = &selector,
    };
    struct str ssd = STR("ssd");
    struct requirement line = {STR("disk"), STR("In"), {&ssd, 1}};
    struct preferred_node_term term = {.weight = 10};
    term.preference.match_expressions.at = &line;
    term.preference.match_expressions.n = 1;
    struct node_affinity node_affinity = {.preferred = {&term, 1}};
    struct affinity affinity = {.node = &node_affinity};

    struct pod pod = {0};
    pod.meta.name = pod.meta.uid = name;
    pod.meta.namespace = STR("ns");
    pod.meta.created_ms = pod.meta.deleted_ms = pod.status.start_ms = TIME_NONE;
    pod.meta.labels = (pair_list){&app, 1};
    pod.spec.scheduler_name = STR("default-scheduler");
    pod.spec.node_name = node;
    pod.spec.containers.at = &container;
    pod.spec.containers.n = 1;
    pod.spec.affinity = template == PREFERS ? &affinity : NULL;
    pod.spec.spread.at = &spread;
    pod.spec.spread.n = template == HARD || template == SOFT;
    put(k, now_ms, (struct object){.kind = KIND_POD, .pod = &pod});
}

/* --- one life --- */

static void remove_pod(struct engine *k, int64_t now_ms, struct str name)
{
    struct meta meta = {.name = name, .namespace = STR("ns")};
    struct change change = {CHANGE_REMOVE, {.kind = KIND_POD, .meta = &meta}};
    engine_apply(k, now_ms, &change);
}

/* Pod `i` comes and is bound, and the one that came RUNNING before it goes; true if it was. */
static bool turn(struct engine *k, uint32_t i, struct effects *out)
{
    char text[32], oldest[32];
    struct str name = {text, (size_t)snprintf(text, sizeof(text), "p%u", i)};
    struct str gone = {oldest, (size_t)snprintf(oldest, sizeof(oldest), "p%u", i - RUNNING)};
    enum template template = i % TEMPLATES;
    put_pod(k, i, name, template, (struct str){0});

    is_counting = i >= WARM_UP;
    effects_clear(out);
    bool is_bound =
        engine_step(k, i, out) && out->list.n == 1 && out->list.at[0].kind == EFFECT_BIND;
    if (is_bound)
        engine_settle(k, i, out->list.at[0].id, NULL);
    is_counting = false;

    if (is_bound)
        put_pod(k, i, name, template, out->list.at[0].node);
    if (i >= RUNNING)
        remove_pod(k, i, gone);
    return is_bound;
}

TEST(property, a_steady_cycle_allocates_nothing)
{
    struct engine *k = engine_new(&(struct engine_config){.seed = 1});
    struct effects out = {0};
    uint32_t bound = 0;
    is_counting = true;
    for (uint32_t i = 0; i < NODES; i++)
        add_node(k, i);
    EXPECT(allocations > NODES); /* it does count */
    allocations = 0;
    is_counting = false;
    add_service(k);
    for (uint32_t i = 0; i < WARM_UP + DECISIONS; i++)
        bound += turn(k, i, &out);
    EXPECT_INT(bound, WARM_UP + DECISIONS);
    EXPECT_INT(allocations, 0);
    EXPECT(engine_stats(k).by_view > DECISIONS);
    effects_done(&out);
    engine_free(k);
}

enum { WAVE = 3000, WAVES = 5 };

/* So many pods come, are bound as far as there is room, and go. Returns what the engine holds. */
static int64_t wave(struct engine *k, uint32_t first, struct effects *out)
{
    char text[32];
    for (uint32_t i = first; i < first + WAVE; i++) {
        struct str name = {text, (size_t)snprintf(text, sizeof(text), "p%u", i)};
        put_pod(k, first, name, i % TEMPLATES, (struct str){0});
    }
    while (engine_step(k, first, out)) {
        vec_each(&out->list, e)
            if (e->kind == EFFECT_BIND)
                engine_settle(k, first, e->id, NULL);
        effects_clear(out);
    }
    for (uint32_t i = first; i < first + WAVE; i++)
        remove_pod(k, first, (struct str){text, (size_t)snprintf(text, sizeof(text), "p%u", i)});
    engine_trim(k);
    return bytes_held;
}

TEST(property, waves_of_pods_leave_as_much_as_the_first)
{
    struct engine *k = engine_new(&(struct engine_config){.seed = 1});
    struct effects out = {0};
    for (uint32_t i = 0; i < NODES; i++)
        add_node(k, i);
    add_service(k);
    engine_trim(k);
    bytes_most = 0;
    int64_t before = bytes_held, first = wave(k, 0, &out);
    EXPECT(engine_stats(k).bound > WAVE / 4 && engine_stats(k).pods == 0);
    EXPECT(first - before < (bytes_most - before) / 4); /* classes, and what is learned of them */
    for (uint32_t i = 1; i < WAVES; i++)
        EXPECT_INT(wave(k, i * WAVE, &out), first);
    effects_done(&out);
    engine_free(k);
}
