#include "sim/shapes.h"

/* The NUMA node of each GPU, as digits. */
struct machine {
    const char *name;
    int64_t cpu, memory_gib, gpus;
    const char *product;
    int64_t vram_mib;
    const char *links, *network;
    uint32_t zones;
    const char *gpu_zones;
    int64_t rack; /* nodes in one, if the rack is what holds them together; 0: not */
};

static const struct machine machines[] = {
    {"hgx-h100", 192, 2048, 8, "NVIDIA-H100-80GB-HBM3", 81559, "nvswitch", "infiniband", 2,
     "00001111", 0},
    {"hgx-h200", 192, 2048, 8, "NVIDIA-H200", 143771, "nvswitch", "infiniband", 2, "00001111", 0},
    {"hgx-b200", 224, 3072, 8, "NVIDIA-B200", 183359, "nvswitch", "infiniband", 2, "00001111", 0},
    {"dgx-a100", 256, 1024, 8, "NVIDIA-A100-SXM4-80GB", 81920, "nvswitch", "infiniband", 8,
     "33117755", 0},
    {"l40s-pcie", 128, 1024, 8, "NVIDIA-L40S", 46068, "pcie", "ethernet", 2, "00001111", 0},
    {"gb200-nvl72", 144, 960, 4, "NVIDIA-GB200", 189471, "nvswitch", "infiniband", 2, "0011", 18},
};

enum { LABELS_MOST = 40 };

static const struct machine *find(struct str name)
{
    for (size_t i = 0; i < LEN(machines); i++)
        if (str_equal(name, str_of(machines[i].name)))
            return &machines[i];
    return NULL;
}

struct str shape_names(struct arena *mem)
{
    struct str all = str_of(machines[0].name);
    for (size_t i = 1; i < LEN(machines); i++)
        all = arena_printf(mem, STR_FMT ", %s", STR_ARG(all), machines[i].name);
    return all;
}

static void add(pair_list *labels, struct str key, struct str value)
{
    list_each(labels, label) {
        if (str_equal(label->key, key)) /* the file's own wins */
            return;
    }
    assert(labels->n < LABELS_MOST);
    labels->at[labels->n++] = (struct pair){key, value};
}

static void add_zones(const struct machine *m, pair_list *labels, struct arena *mem)
{
    int64_t cores = m->cpu / m->zones;
    add(labels, STR("numa.kubenexus.io/node-count"), arena_printf(mem, "%u", m->zones));
    for (uint32_t i = 0; i < m->zones; i++) {
        add(labels, arena_printf(mem, "numa.kubenexus.io/node-%u-cpus", i),
            arena_printf(mem, "%lld-%lld", (long long)(cores * i),
                         (long long)(cores * (i + 1) - 1)));
        add(labels, arena_printf(mem, "numa.kubenexus.io/node-%u-memory", i),
            arena_printf(mem, "%lldGi", (long long)(m->memory_gib / m->zones)));
    }
    for (uint32_t i = 0; m->gpu_zones[i]; i++)
        add(labels, arena_printf(mem, "gpu.kubenexus.io/numa-node-%u", i),
            arena_printf(mem, "%c", m->gpu_zones[i]));
}

static void add_labels(const struct machine *m, struct scenario_nodes *n, struct arena *mem)
{
    pair_list labels = {arena_array(mem, struct pair, LABELS_MOST + n->labels.n), 0};
    list_each(&n->labels, label)
        labels.at[labels.n++] = *label;
    add(&labels, STR("nvidia.com/gpu.product"), str_of(m->product));
    add(&labels, STR("nvidia.com/gpu.memory"), arena_printf(mem, "%lld", (long long)m->vram_mib));
    add(&labels, STR("nvidia.com/gpu.count"), arena_printf(mem, "%lld", (long long)m->gpus));
    add(&labels, STR("gpu.kubenexus.io/topology"), str_of(m->links));
    add(&labels, STR("network.kubenexus.io/fabric-type"), str_of(m->network));
    add_zones(m, &labels, mem);
    n->labels = labels;
}

bool shape_complete(struct scenario_nodes *n, struct arena *mem)
{
    enum { NANO = 1000000000 };
    const struct machine *m = find(n->shape);
    if (!m)
        return false;
    if (n->cpu.nano == 0)
        n->cpu.nano = (__int128)m->cpu * NANO;
    if (n->memory.nano == 0)
        n->memory.nano = (__int128)(m->memory_gib << 30) * NANO;
    if (n->gpus == 0)
        n->gpus = m->gpus;
    if (m->rack && !n->racks.count && !n->racks.size)
        n->racks.size = m->rack;
    n->has_cliques = m->rack > 0;
    add_labels(m, n, mem);
    return true;
}
