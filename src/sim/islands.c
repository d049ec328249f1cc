#include "sim/islands.h"

#include "core/base/intern.h"
#include "core/model/resources.h"

static bool is_gpu(struct str resource)
{
    return str_ends(resource, STR("/gpu"));
}

static int64_t gpus_in(amount_list amounts)
{
    int64_t n = 0;
    list_each(&amounts, amount)
        n += is_gpu(amount->name) ? quantity_value(amount->quantity) : 0;
    return n;
}

static int64_t cpu_in(amount_list amounts)
{
    int64_t milli = 0;
    list_each(&amounts, amount)
        milli += str_equal(amount->name, STR("cpu")) ? quantity_milli(amount->quantity) : 0;
    return milli;
}

/* --- numbers over time --- */

static void bring_up_to(struct level_over_time *l, int64_t now_ms)
{
    l->total += l->value * (double)(now_ms - l->since_ms);
    l->since_ms = now_ms;
}

static void change(struct level_over_time *l, int64_t now_ms, double more)
{
    bring_up_to(l, now_ms);
    l->value += more;
}

/* --- what there is --- */

static void measure_templates(struct islands *is, struct arena *mem)
{
    static const struct request_rules rules = {.pod_level = true};
    const struct plan *plan = is->plan;
    is->gpus = mem_alloc(plan->templates.n * sizeof(*is->gpus));
    is->cpu_milli = mem_alloc(plan->templates.n * sizeof(*is->cpu_milli));
    for (uint32_t i = 0; i < plan->templates.n; i++) {
        amount_list requests = pod_requests(plan->templates.at[i], rules, mem);
        is->gpus[i] = gpus_in(requests);
        is->cpu_milli[i] = cpu_in(requests);
    }
}

static void measure_works(struct islands *is)
{
    is->work_gpus = mem_alloc((is->plan->works.n + 1) * sizeof(*is->work_gpus));
    vec_each(&is->plan->jobs, job)
        is->work_gpus[job->work - 1] += is->gpus[job->template] * job->pods;
}

static void add_size(struct islands *is, int64_t gpus, double pods)
{
    uint32_t i = 0;
    while (i < is->sizes.n && is->sizes.at[i].gpus != gpus)
        i++;
    if (i == is->sizes.n)
        vec_push(&is->sizes, (struct gpu_size){.gpus = gpus});
    is->sizes.at[i].share += pods;
}

/* The kinds of pods that GPUs are kept for: those of the plan. */
static void measure_sizes(struct islands *is)
{
    double all = 0;
    vec_each(&is->plan->jobs, job) {
        if (is->gpus[job->template] == 0)
            continue;
        add_size(is, is->gpus[job->template], job->pods);
        all += job->pods;
    }
    vec_each(&is->sizes, size)
        size->share /= all;
}

static struct str label_of(const struct node *node, struct str key)
{
    list_each(&node->meta.labels, label) {
        if (str_equal(label->key, key))
            return label->value;
    }
    return STR("");
}

static void join_clique(struct islands *is, struct intern *cliques, const struct node *node,
                        struct island *island)
{
    struct str name = label_of(node, STR(LABEL_CLIQUE));
    island->clique = name.n ? intern_get(cliques, name, NULL) : NO_CLIQUE;
    if (!name.n)
        return;
    if (island->clique == is->cliques.n)
        vec_push(&is->cliques, (struct clique_left){0});
    is->cliques.at[island->clique].gpus += island->gpus;
}

static void measure_zones(const struct node *node, struct island *island)
{
    struct hardware_room room;
    struct misreads misread = {0};
    const struct hardware *h = hardware_read(node, &room, &misread);
    island->n_zones = h->knows_gpu_zones ? h->n_zones : 0;
    for (uint32_t i = 0; i < island->n_zones; i++) {
        island->left[i].gpus = (int32_t)h->zones[i].gpus;
        island->left[i].cpu_milli = h->zones[i].cpu_milli;
    }
    vec_done(&misread);
}

void islands_init(struct islands *is, const struct plan *plan)
{
    struct arena mem = {0};
    struct intern racks = {0}, cliques = {0};
    *is = (struct islands){.plan = plan};
    measure_templates(is, &mem);
    measure_works(is);
    measure_sizes(is);
    vec_resize(&is->nodes, plan->nodes.n);
    for (uint32_t i = 0; i < plan->nodes.n; i++) {
        const struct node *node = plan->nodes.at[i].node;
        struct island *island = &is->nodes.at[i];
        island->gpus = (uint32_t)gpus_in(node->status.allocatable);
        island->rack = intern_get(&racks, label_of(node, STR(LABEL_RACK)), NULL);
        join_clique(is, &cliques, node, island);
        measure_zones(node, island);
        is->n += island->gpus > 1;
    }
    intern_done(&racks);
    intern_done(&cliques);
    arena_done(&mem);
}

void islands_done(struct islands *is)
{
    for (uint32_t i = 0; i < ISLAND_SIZES; i++)
        vec_done(&is->waits[i].waits_ms);
    vec_done(&is->nodes);
    vec_done(&is->cliques);
    vec_done(&is->sizes);
    mem_free(is->gpus);
    mem_free(is->cpu_milli);
    mem_free(is->work_gpus);
    *is = (struct islands){0};
}

/* --- use --- */

/* Of so many idle GPUs in one place, those that the next pod could not use, in the mean. */
static double fragments_of(const struct islands *is, uint32_t idle)
{
    double lost = 0;
    vec_each(&is->sizes, size)
        lost += size->gpus > (int64_t)idle ? size->share * idle : 0;
    return lost;
}

static void set_idle_in_clique(struct islands *is, int64_t now_ms, const struct island *island,
                               uint32_t idle)
{
    if (island->clique == NO_CLIQUE)
        return;
    struct clique_left *clique = &is->cliques.at[island->clique];
    bool was_whole = clique->gpus && clique->idle == clique->gpus;
    clique->idle += idle - island->idle;
    bool is_whole = clique->gpus && clique->idle == clique->gpus;
    change(&is->whole_cliques, now_ms, (double)is_whole - (double)was_whole);
}

static void set_idle(struct islands *is, int64_t now_ms, struct island *island, uint32_t idle)
{
    set_idle_in_clique(is, now_ms, island, idle);
    bool was_whole = island->gpus > 1 && island->idle == island->gpus;
    bool is_whole = island->gpus > 1 && idle == island->gpus;
    change(&is->whole, now_ms, (double)is_whole - (double)was_whole);
    change(&is->idle, now_ms, (double)idle - (double)island->idle);
    change(&is->fragments, now_ms, fragments_of(is, idle) - fragments_of(is, island->idle));
    island->idle = idle;
}

void islands_node(struct islands *is, int64_t now_ms, uint32_t node, bool is_up)
{
    struct island *island = &is->nodes.at[node];
    set_idle(is, now_ms, island, is_up ? island->gpus : 0);
}

static bool has_room(const struct island *island, uint32_t zone, int64_t gpus, int64_t cpu_milli)
{
    return island->left[zone].gpus >= gpus && island->left[zone].cpu_milli >= cpu_milli;
}

/* As a kubelet does that prefers one NUMA node: the lowest with room, else here and there. */
static void take_zones(struct islands *is, struct island *island, uint32_t template,
                       struct zones_taken *out)
{
    int64_t gpus = is->gpus[template], cpu = is->cpu_milli[template];
    uint32_t zone = 0;
    while (zone < island->n_zones && !has_room(island, zone, gpus, cpu))
        zone++;
    is->numa_local += zone < island->n_zones;
    if (zone < island->n_zones)
        out->gpus[zone] = (uint8_t)gpus;
    int64_t missing = zone < island->n_zones ? 0 : gpus;
    for (uint32_t i = 0; i < island->n_zones && missing > 0; i++) {
        int64_t part = MIN(missing, (int64_t)MAX(island->left[i].gpus, 0));
        out->gpus[i] = (uint8_t)part;
        missing -= part;
    }
}

static void charge_zones(struct islands *is, struct island *island, uint32_t template,
                         const struct zones_taken *taken, int sign)
{
    for (uint32_t i = 0; i < island->n_zones; i++) {
        int64_t gpus = taken->gpus[i];
        island->left[i].gpus -= (int32_t)(sign * gpus);
        island->left[i].cpu_milli -= sign * is->cpu_milli[template] * gpus / is->gpus[template];
    }
}

/* Could an empty host of this kind give it all from one NUMA node? */
static bool could_be_local(const struct islands *is, const struct island *island, uint32_t template)
{
    int64_t zones = island->n_zones;
    return zones > 0 && is->gpus[template] * zones <= island->gpus && is->gpus[template] < 256;
}

void islands_start(struct islands *is, int64_t now_ms, uint32_t node, uint32_t template,
                   struct zones_taken *out)
{
    struct island *island = &is->nodes.at[node];
    uint32_t gpus = (uint32_t)is->gpus[template];
    *out = (struct zones_taken){0};
    if (gpus == 0)
        return;
    set_idle(is, now_ms, island, island->idle - MIN(gpus, island->idle));
    uint64_t local = is->numa_local;
    take_zones(is, island, template, out);
    charge_zones(is, island, template, out, 1);
    if (could_be_local(is, island, template))
        is->numa_pods++;
    else
        is->numa_local = local;
}

void islands_stop(struct islands *is, int64_t now_ms, uint32_t node, uint32_t template,
                  const struct zones_taken *taken)
{
    struct island *island = &is->nodes.at[node];
    uint32_t gpus = (uint32_t)is->gpus[template];
    if (gpus == 0)
        return;
    set_idle(is, now_ms, island, MIN(island->idle + gpus, island->gpus));
    charge_zones(is, island, template, taken, -1);
}

/* --- jobs --- */

static uint32_t size_of(int64_t gpus)
{
    uint32_t i = 0;
    for (; gpus > 0 && i + 1 < ISLAND_SIZES; gpus /= 2)
        i++;
    return i;
}

const char *islands_size_name(uint32_t i)
{
    static const char *const names[ISLAND_SIZES] = {"none", "1",     "2-3",   "4-7",
                                                    "8-15", "16-31", "32-63", "64+"};
    return names[i];
}

static void count_racks(struct islands *is, const uint32_t *nodes, uint32_t n)
{
    uint32_t racks = 0, hops = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rack = is->nodes.at[nodes[i]].rack, before = 0;
        while (before < i && is->nodes.at[nodes[before]].rack != rack)
            before++;
        racks += before == i;
        hops += i > 0 && is->nodes.at[nodes[i - 1]].rack != rack;
    }
    is->placed++;
    is->apart += racks > 1;
    is->racks += racks;
    is->hops += hops;
}

void islands_work(struct islands *is, int64_t now_ms, uint32_t work, const uint32_t *nodes)
{
    const struct plan_work *w = &is->plan->works.at[work];
    bool is_gang = w->minimum > 1 && is->work_gpus[work] > 0;
    vec_push(&is->waits[size_of(is->work_gpus[work])].waits_ms, now_ms - w->at_ms);
    is->gangs += is_gang;
    if (nodes && is_gang)
        count_racks(is, nodes, w->pods);
}

void islands_close(struct islands *is, int64_t now_ms)
{
    bring_up_to(&is->whole, now_ms);
    bring_up_to(&is->whole_cliques, now_ms);
    bring_up_to(&is->idle, now_ms);
    bring_up_to(&is->fragments, now_ms);
}
