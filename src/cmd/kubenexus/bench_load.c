#include "cmd/kubenexus/bench_load.h"

#include "core/base/hash.h"
#include "core/base/rng.h"

enum {
    CLASSES = 20,
    IMAGES = 200,
    NODE_IMAGES = 20,
    NODES_A_RACK = 40,
    ZONES = 3,
    MOST_PODS = 2000000
};

#define GIB  ((__int128)1 << 30)
#define NANO ((__int128)1000000000)

/* CPU in thousandths, memory in GiB, GPUs. */
static const struct bench_class {
    int32_t cpu_milli, memory_gib, gpus;
} classes[CLASSES] = {
    {100, 1, 0},  {250, 1, 0},   {500, 1, 0},   {500, 2, 0},   {1000, 2, 0},
    {1000, 4, 0}, {1500, 4, 0},  {2000, 4, 0},  {2000, 8, 0},  {3000, 8, 0},
    {4000, 8, 0}, {4000, 16, 0}, {6000, 16, 0}, {8000, 32, 0}, {1000, 4, 1},
    {2000, 8, 1}, {4000, 16, 1}, {4000, 16, 2}, {8000, 32, 4}, {8000, 64, 8},
};

enum { FIRST_GPU_CLASS = 14, GPU_TURNS = 4 };

const char *bench_shape_name(enum bench_shape shape)
{
    static const char *const names[BENCH_SHAPES] = {
        [BENCH_BASIC] = "basic",
        [BENCH_GPU] = "gpu",
        [BENCH_SPREAD_ZONE] = "spread-zone",
        [BENCH_SPREAD_HOST] = "spread-host",
        [BENCH_AFFINITY] = "affinity",
        [BENCH_ANTI] = "anti",
        [BENCH_PREFERRED] = "preferred",
        [BENCH_PREEMPT] = "preempt",
        [BENCH_DAEMONSET] = "daemonset",
        [BENCH_CLASSES_1000] = "classes-1000",
        [BENCH_CLASSES_5000] = "classes-5000",
        [BENCH_FULL_PROFILE] = "full-profile",
        [BENCH_GANG_1000] = "gang-1000",
        [BENCH_GANG_64] = "gang-64",
        [BENCH_NO_QUEUES] = "queues-0",
        [BENCH_QUEUES_1000] = "queues-1000",
        [BENCH_QUEUES_10000] = "queues-10000",
        [BENCH_QUEUES_FULL] = "queues-full",
    };
    return names[shape];
}

uint32_t bench_shape_classes(enum bench_shape shape)
{
    switch (shape) {
    case BENCH_GPU:
        return CLASSES - FIRST_GPU_CLASS;
    case BENCH_DAEMONSET:
    case BENCH_GANG_64:
        return 1;
    case BENCH_GANG_1000:
        return 4;
    case BENCH_CLASSES_1000:
        return 1000;
    case BENCH_CLASSES_5000:
        return 5000;
    case BENCH_BASIC:
    case BENCH_SPREAD_ZONE:
    case BENCH_SPREAD_HOST:
    case BENCH_AFFINITY:
    case BENCH_ANTI:
    case BENCH_PREFERRED:
    case BENCH_PREEMPT:
    case BENCH_FULL_PROFILE:
    case BENCH_NO_QUEUES:
    case BENCH_QUEUES_1000:
    case BENCH_QUEUES_10000:
    case BENCH_QUEUES_FULL:
    case BENCH_SHAPES:
        break;
    }
    return CLASSES;
}

/* --- lists in an arena --- */

#define ADD(mem, list, most, ...)                                                                  \
    do {                                                                                           \
        if (!(list)->at)                                                                           \
            (list)->at = arena_alloc((mem), (most) * sizeof(*(list)->at));                         \
        (list)->at[(list)->n++] = (__VA_ARGS__);                                                   \
    } while (0)

static void add_amount(struct arena *mem, amount_list *list, struct str name, __int128 nano)
{
    ADD(mem, list, 8, (struct amount){.name = name, .quantity = {.nano = nano}});
}

static void add_label(struct arena *mem, pair_list *list, struct str key, struct str value)
{
    ADD(mem, list, 64, (struct pair){key, value});
}

static struct str image(struct arena *mem, uint32_t i)
{
    return arena_printf(mem, "registry.example.com/team/image-%u:v1", i % IMAGES);
}

/* --- nodes --- */

static bool has_gpus(uint32_t i)
{
    return i % 3 != 2;
}

static void label_node(struct arena *mem, struct node *node, uint32_t i)
{
    pair_list *labels = &node->meta.labels;
    bool gpus = has_gpus(i);
    add_label(mem, labels, STR("kubernetes.io/hostname"), node->meta.name);
    add_label(mem, labels, STR("topology.kubernetes.io/zone"),
              arena_printf(mem, "zone-%u", i / NODES_A_RACK % ZONES));
    add_label(mem, labels, STR("topology.kubernetes.io/region"), STR("region-1"));
    add_label(mem, labels, STR("example.com/rack"), arena_printf(mem, "rack-%u", i / NODES_A_RACK));
    add_label(mem, labels, STR("node.kubernetes.io/instance-type"),
              gpus ? STR("gpu.64") : STR("cpu.96"));
    add_label(mem, labels, STR("kubernetes.io/arch"), STR("amd64"));
    add_label(mem, labels, STR("kubernetes.io/os"), STR("linux"));
    add_label(mem, labels, STR("nvidia.com/gpu.present"), gpus ? STR("true") : STR("false"));
    add_label(mem, labels, STR("nvidia.com/gpu.product"),
              gpus ? STR("NVIDIA-H100-80GB") : STR("none"));
    add_label(mem, labels, STR("nvidia.com/gpu.memory"), gpus ? STR("81559") : STR("0"));
    add_label(mem, labels, STR("nvidia.com/gpu.count"), gpus ? STR("8") : STR("0"));
    add_label(mem, labels, STR("example.com/generation"),
              arena_printf(mem, "%u", i / NODES_A_RACK % 4));
    while (labels->n < 25)
        add_label(mem, labels, arena_printf(mem, "example.com/fact-%u", labels->n),
                  arena_printf(mem, "value-%u", i / NODES_A_RACK % (labels->n - 10)));
}

static void add_images(struct arena *mem, struct node *node, uint32_t i)
{
    struct rng rng = rng_seeded(i);
    for (uint32_t k = 0; k < NODE_IMAGES; k++) { /* one of each ten: twenty different ones */
        uint32_t number =
            k * (IMAGES / NODE_IMAGES) + (uint32_t)rng_below(&rng, IMAGES / NODE_IMAGES);
        struct container_image entry = {.size_bytes = (int64_t)(50 + number * 10) << 20};
        ADD(mem, &entry.names, 1, image(mem, number));
        ADD(mem, &node->status.images, NODE_IMAGES, entry);
    }
}

/* Two NUMA nodes with half of everything each, the network, the tier and what the node costs. */
static void tell_hardware(struct arena *mem, struct node *node, uint32_t i)
{
    pair_list *labels = &node->meta.labels;
    uint32_t cpus = has_gpus(i) ? 32 : 48, memory = has_gpus(i) ? 256 : 192;
    add_label(mem, labels, STR("numa.kubenexus.io/node-count"), STR("2"));
    for (uint32_t z = 0; z < 2; z++) {
        add_label(mem, labels, arena_printf(mem, "numa.kubenexus.io/node-%u-cpus", z),
                  arena_printf(mem, "%u-%u", z * cpus, z * cpus + cpus - 1));
        add_label(mem, labels, arena_printf(mem, "numa.kubenexus.io/node-%u-memory", z),
                  arena_printf(mem, "%uGi", memory));
        add_label(mem, labels, arena_printf(mem, "numa.kubenexus.io/node-%u-bandwidth", z),
                  STR("200000"));
        add_label(mem, labels, arena_printf(mem, "numa.kubenexus.io/node-%u-distance-%u", z, 1 - z),
                  STR("21"));
    }
    for (uint32_t g = 0; has_gpus(i) && g < 8; g++)
        add_label(mem, labels, arena_printf(mem, "gpu.kubenexus.io/numa-node-%u", g),
                  g < 4 ? STR("0") : STR("1"));
    add_label(mem, labels, STR("network.kubenexus.io/rack-id"),
              arena_printf(mem, "rack-%u", i / NODES_A_RACK));
    add_label(mem, labels, STR("network.kubenexus.io/fabric-type"),
              i / NODES_A_RACK % 2 ? STR("infiniband") : STR("ethernet"));
    add_label(mem, labels, STR("hardware.kubenexus.io/cost-hour"),
              arena_printf(mem, "%u", 8 + i / NODES_A_RACK % 4));
}

struct node *bench_node(struct arena *mem, enum bench_shape shape, uint32_t i)
{
    struct node *node = arena_alloc(mem, sizeof(*node));
    node->meta.name = arena_printf(mem, "node-%07u", i);
    node->meta.created_ms = node->meta.deleted_ms = TIME_NONE;
    label_node(mem, node, i);
    if (shape == BENCH_FULL_PROFILE)
        tell_hardware(mem, node, i);
    amount_list *room = &node->status.allocatable;
    add_amount(mem, room, STR("cpu"), (has_gpus(i) ? 64 : 96) * NANO);
    add_amount(mem, room, STR("memory"), (has_gpus(i) ? 512 : 384) * GIB * NANO);
    add_amount(mem, room, STR("pods"), 110 * NANO);
    if (has_gpus(i))
        add_amount(mem, room, STR("nvidia.com/gpu"), 8 * NANO);
    if (i % 10 == 7) {
        ADD(mem, &node->spec.taints, 2,
            (struct taint){STR("example.com/team"), STR("research"), STR("NoSchedule")});
        ADD(mem, &node->spec.taints, 2,
            (struct taint){STR("example.com/spot"), STR("true"), STR("PreferNoSchedule")});
    }
    add_images(mem, node, i);
    return node;
}

/* --- pods --- */

static void require_label(struct arena *mem, struct pod *pod, struct str key, struct str value)
{
    struct affinity *affinity = arena_alloc(mem, sizeof(*affinity));
    affinity->node = arena_alloc(mem, sizeof(*affinity->node));
    affinity->node->required = arena_alloc(mem, sizeof(struct node_selector));
    struct requirement line = {.key = key, .op = STR("In")};
    ADD(mem, &line.values, 1, value);
    struct node_selector_term term = {0};
    ADD(mem, &term.match_expressions, 1, line);
    ADD(mem, &affinity->node->required->terms, 1, term);
    pod->spec.affinity = affinity;
}

static void pin_to_node(struct arena *mem, struct pod *pod, uint32_t i)
{
    require_label(mem, pod, STR("metadata.name"), arena_printf(mem, "node-%07u", i));
    struct node_selector_term *term = pod->spec.affinity->node->required->terms.at;
    term->match_fields.at = term->match_expressions.at;
    term->match_fields.n = 1;
    term->match_expressions.at = NULL;
    term->match_expressions.n = 0;
    ADD(mem, &pod->spec.tolerations, 1, (struct toleration){.op = STR("Exists")});
}

static void spread_over_zones(struct arena *mem, struct pod *pod)
{
    struct label_selector *selector = arena_alloc(mem, sizeof(*selector));
    selector->match_labels = pod->meta.labels;
    ADD(mem, &pod->spec.spread, 1,
        (struct spread_constraint){
            .max_skew = 1,
            .topology_key = STR("topology.kubernetes.io/zone"),
            .when_unsatisfiable = STR("ScheduleAnyway"),
            .label_selector = selector,
        });
}

static bool has_company(enum bench_shape shape)
{
    return shape == BENCH_AFFINITY || shape == BENCH_ANTI || shape == BENCH_PREFERRED;
}

/* Terms about the pods of its own class: near them by zone, apart from them by node. */
static void seek_company(struct arena *mem, struct pod *pod, enum bench_shape shape)
{
    struct label_selector *own = arena_alloc(mem, sizeof(*own));
    own->match_labels = pod->meta.labels;
    struct pod_affinity_term near = {own, .topology_key = STR("topology.kubernetes.io/zone")};
    struct pod_affinity_term apart = {own, .topology_key = STR("kubernetes.io/hostname")};
    if (!pod->spec.affinity)
        pod->spec.affinity = arena_alloc(mem, sizeof(struct affinity));
    pod->spec.affinity->pod = arena_alloc(mem, sizeof(struct pod_affinity));
    pod->spec.affinity->anti = arena_alloc(mem, sizeof(struct pod_affinity));
    if (shape == BENCH_AFFINITY)
        ADD(mem, &pod->spec.affinity->pod->required, 1, near);
    if (shape == BENCH_ANTI)
        ADD(mem, &pod->spec.affinity->anti->required, 1, apart);
    if (shape != BENCH_PREFERRED)
        return;
    ADD(mem, &pod->spec.affinity->pod->preferred, 1, (struct preferred_pod_term){10, near});
    ADD(mem, &pod->spec.affinity->anti->preferred, 1, (struct preferred_pod_term){50, apart});
}

/* Classes take turns; of those that ask for GPUs only every fourth turn, so that CPUs and GPUs fill
 * up together. The turns left out go to classes that ask for none. */
static uint32_t class_of(enum bench_shape shape, uint32_t i)
{
    uint32_t n = bench_shape_classes(shape);
    if (shape == BENCH_GPU)
        return FIRST_GPU_CLASS + i % n;
    uint32_t number = i % n, kind = number % CLASSES;
    bool is_skipped = kind >= FIRST_GPU_CLASS && i / n % GPU_TURNS != 0;
    return is_skipped ? number - kind + (kind - FIRST_GPU_CLASS + i / n) % FIRST_GPU_CLASS : number;
}

/* All that our own plugins look at. */
static void say_all(struct arena *mem, struct pod *pod, uint32_t number, int32_t gpus)
{
    pod->spec.scheduler_name = STR("kubenexus-scheduler");
    add_label(mem, &pod->meta.labels, STR("workload.kubenexus.io/type"),
              gpus         ? STR("training")
              : number % 2 ? STR("batch")
                           : STR("service"));
    if (!gpus)
        return;
    pod->spec.priority_class_name = STR("high-priority");
    add_label(mem, &pod->meta.annotations, STR("scheduling.kubenexus.io/vram-request"),
              STR("70Gi"));
}

/* Four classes with one GPU or none, then one class, then one that asks for more than there is. */
static uint32_t class_of_gang(uint32_t i)
{
    static const uint32_t mixed[] = {14, 4, 5, 6};
    switch (i / BENCH_GANG_PODS) {
    case 0:
        return mixed[i % LEN(mixed)];
    case 1:
    case 2:
        return 8;
    default:
        return CLASSES - 1;
    }
}

static void join_gang(struct arena *mem, struct pod *pod, uint32_t gang, int size)
{
    pod->spec.scheduler_name = STR("kubenexus-scheduler");
    add_label(mem, &pod->meta.labels, STR("pod-group.scheduling.kubenexus.io/name"),
              arena_printf(mem, "gang-%u", gang));
    add_label(mem, &pod->meta.labels, STR("pod-group.scheduling.kubenexus.io/min-available"),
              arena_printf(mem, "%d", size));
}

static void prefer_domains(struct arena *mem, struct pod *pod)
{
    add_label(mem, &pod->meta.annotations, STR("scheduling.kubenexus.io/preferred-topology"),
              STR("example.com/rack,topology.kubernetes.io/zone,topology.kubernetes.io/region"));
}

static uint32_t teams_of(enum bench_shape shape)
{
    return shape == BENCH_QUEUES_10000 ? 10000 : 1000;
}

enum { POD_RATE = 100 }; /* so many come in a second */

/* Where one queue is full every second pod is of its namespace. */
static void join_team(struct arena *mem, struct pod *pod, enum bench_shape shape, uint32_t i)
{
    bool is_in_full = shape == BENCH_QUEUES_FULL && i % 2;
    uint32_t turn = shape == BENCH_QUEUES_FULL ? i / 2 : i;
    pod->spec.scheduler_name = STR("kubenexus-scheduler");
    pod->meta.created_ms = (int64_t)(i / POD_RATE) * 1000;
    pod->meta.namespace =
        is_in_full ? STR("full") : arena_printf(mem, "team-%u", turn % teams_of(shape));
}

/* A team has pods of one class, in no order of the classes: queues change that of the teams. */
static uint32_t class_of_team(enum bench_shape shape, uint32_t i)
{
    return class_of(shape, (uint32_t)(hash_u64(i % teams_of(shape) + 1) >> 33));
}

struct pod *bench_pod(struct arena *mem, enum bench_shape shape, uint32_t i)
{
    uint32_t number = shape == BENCH_GANG_1000  ? class_of_gang(i)
                      : shape == BENCH_GANG_64  ? 4
                      : bench_has_queues(shape) ? class_of_team(shape, i)
                                                : class_of(shape, i);
    const struct bench_class *class = &classes[number % CLASSES];
    struct pod *pod = arena_alloc(mem, sizeof(*pod));
    pod->meta.name = arena_printf(mem, "pod-%u", i);
    pod->meta.namespace = STR("default");
    pod->meta.created_ms = pod->meta.deleted_ms = pod->status.start_ms = TIME_NONE;
    pod->spec.scheduler_name = STR("default-scheduler");
    add_label(mem, &pod->meta.labels, STR("app"), arena_printf(mem, "app-%u", number));

    struct container main = {.name = STR("main"), .image = image(mem, number * 7)};
    int64_t more = number / CLASSES; /* each twenty classes ask for a millicore more */
    add_amount(mem, &main.resources.requests, STR("cpu"), (class->cpu_milli + more) * NANO / 1000);
    add_amount(mem, &main.resources.requests, STR("memory"), class->memory_gib * GIB * NANO);
    if (class->gpus && shape != BENCH_DAEMONSET)
        add_amount(mem, &main.resources.requests, STR("nvidia.com/gpu"), class->gpus * NANO);
    if (shape == BENCH_GANG_1000 &&
        number == CLASSES - 1) /* as many as there are nodes with GPUs, and more */
        main.resources.requests.at[0].quantity.nano = 65 * NANO;
    ADD(mem, &pod->spec.containers, 1, main);

    if (shape == BENCH_DAEMONSET)
        pin_to_node(mem, pod, i);
    else if (number % 2)
        require_label(mem, pod, STR("nvidia.com/gpu.present"),
                      class->gpus ? STR("true") : STR("false"));
    if (shape == BENCH_SPREAD_ZONE)
        spread_over_zones(mem, pod);
    if (has_company(shape))
        seek_company(mem, pod, shape);
    if (shape == BENCH_FULL_PROFILE)
        say_all(mem, pod, number, class->gpus);
    if (shape == BENCH_GANG_1000)
        join_gang(mem, pod, i / BENCH_GANG_PODS, BENCH_GANG_PODS);
    if (shape == BENCH_GANG_1000 && i < BENCH_GANG_PODS)
        prefer_domains(mem, pod);
    if (shape == BENCH_GANG_64)
        join_gang(mem, pod, i / BENCH_MANY_PODS, BENCH_MANY_PODS);
    if (bench_has_queues(shape))
        join_team(mem, pod, shape, i);
    pod->spec.has_priority = shape == BENCH_PREEMPT;
    pod->spec.priority = shape == BENCH_PREEMPT ? 1000 : 0;
    return pod;
}

enum { FILLERS = 8 };

/* One of the pods that fill a node. */
static struct pod *filler(struct arena *mem, uint32_t i)
{
    struct pod *pod = bench_pod(mem, BENCH_BASIC, 0);
    uint32_t node = i / FILLERS;
    pod->meta.name = arena_printf(mem, "filler-%u", i);
    pod->spec.node_name = arena_printf(mem, "node-%07u", node);
    pod->status.start_ms = i;
    struct amount *cpu = pod->spec.containers.at[0].resources.requests.at;
    cpu->quantity.nano = (has_gpus(node) ? 64 : 96) / FILLERS * NANO;
    return pod;
}

struct pod *bench_placed(struct arena *mem, enum bench_shape shape, uint32_t nodes, uint32_t i)
{
    if (shape == BENCH_PREEMPT)
        return i < nodes * FILLERS ? filler(mem, i) : NULL;
    if (!has_company(shape) || i >= nodes)
        return NULL;
    struct pod *pod = bench_pod(mem, shape, i);
    pod->meta.name = arena_printf(mem, "placed-%u", i);
    pod->spec.node_name = arena_printf(mem, "node-%07u", i);
    return pod;
}

struct service *bench_service(struct arena *mem, enum bench_shape shape, uint32_t i)
{
    if (shape != BENCH_SPREAD_HOST || i >= CLASSES)
        return NULL;
    struct service *service = arena_alloc(mem, sizeof(*service));
    service->meta.name = arena_printf(mem, "app-%u", i);
    service->meta.namespace = STR("default");
    add_label(mem, &service->selector, STR("app"), service->meta.name);
    return service;
}

uint32_t bench_pods(enum bench_shape shape, uint32_t nodes)
{
    if (shape == BENCH_DAEMONSET)
        return nodes;
    if (shape == BENCH_GANG_1000)
        return BENCH_GANGS * BENCH_GANG_PODS;
    if (shape == BENCH_GANG_64)
        return BENCH_MANY_GANGS * BENCH_MANY_PODS;
    if (has_company(shape))
        return 2 * nodes;
    if (shape == BENCH_PREEMPT)
        return nodes / 5 + 1;
    int64_t cpu = 0, gpus = 0, n = (int64_t)bench_shape_classes(shape) * GPU_TURNS;
    for (uint32_t i = 0; i < n; i++) {
        cpu += classes[class_of(shape, i) % CLASSES].cpu_milli;
        gpus += classes[class_of(shape, i) % CLASSES].gpus;
    }
    int64_t by_cpu = (int64_t)nodes * 224000 / 3 * 7 / 10 * n / cpu;
    int64_t by_gpu = (int64_t)nodes * 16 / 3 * 7 / 10 * n / gpus;
    int64_t most = MIN(by_cpu, by_gpu);
    return (uint32_t)MIN(most, (int64_t)MOST_PODS);
}

/* --- queues --- */

enum { BENCH_ORGS = 10 };

/* Inner queues, then leaves; the last one, where there is one that is full, takes a pod. */
struct queue_object *bench_queue(struct arena *mem, enum bench_shape shape, uint32_t i)
{
    uint32_t teams = teams_of(shape);
    bool is_full = shape == BENCH_QUEUES_FULL && i == BENCH_ORGS + teams;
    if (!bench_has_queues(shape) || shape == BENCH_NO_QUEUES ||
        (i >= BENCH_ORGS + teams && !is_full))
        return NULL;
    struct queue_object *q = arena_alloc(mem, sizeof(*q));
    q->meta.created_ms = q->meta.deleted_ms = q->status.as_of_ms = TIME_NONE;
    q->meta.name = arena_printf(mem, "org-%u", i);
    if (i < BENCH_ORGS)
        return q;
    uint32_t team = i - BENCH_ORGS;
    q->meta.name = is_full ? STR("full") : arena_printf(mem, "team-%u", team);
    q->spec.parent = is_full ? STR("") : arena_printf(mem, "org-%u", team % BENCH_ORGS);
    q->spec.weight = 1 + team % 3;
    q->spec.has_weight = true;
    if (is_full)
        add_amount(mem, &q->spec.max, STR("pods"), 1 * NANO);
    else
        add_amount(mem, &q->spec.guaranteed, STR("cpu"), 8 * NANO);
    q->spec.namespaces = arena_alloc(mem, sizeof(*q->spec.namespaces));
    ADD(mem, &q->spec.namespaces->names, 1, q->meta.name);
    return q;
}
