#include "core/cluster/gpu_facts.h"

#include "core/cluster/pools.h"

/* --- what drivers tell --- */

struct found {
    struct node_gpu gpu;
    int64_t number; /* that its name ends with; -1: none */
};

VEC_TYPE(founds, struct found);

/* The digits at the end of the name as a number; -1 if it has none, or a long one. */
static int64_t number_of(struct str name)
{
    size_t from = name.n;
    int64_t number;
    while (from > 0 && name.p[from - 1] >= '0' && name.p[from - 1] <= '9')
        from--;
    return str_int(str_part(name, from, name.n), &number) ? number : -1;
}

static int order(const struct found *a, const struct found *b)
{
    int by_bus = str_compare(a->gpu.is.bus, b->gpu.is.bus);
    return by_bus ? by_bus : str_compare(a->gpu.name, b->gpu.name);
}

/* Keeps them in order as they come: there are few. */
static void insert(struct founds *all, struct found found)
{
    uint32_t at = all->n;
    while (at > 0 && order(&found, &all->at[at - 1]) < 0)
        at--;
    vec_insert(all, at, found);
}

static void find_gpus(const struct cluster *c, node_id node, struct arena *mem, struct founds *out)
{
    bool has_whole = false;
    struct pools pools = pools_gather(c, node, mem);
    for (uint32_t i = 0; i < pools.n_candidates; i++) {
        const struct candidate *x = &pools.candidates[i];
        struct found found = {.gpu.name = x->device->name, .gpu.id = x->index->id};
        if (!x->slice->spec.node_name.n || !gpu_driver(x->slice->spec.driver) ||
            !gpu_facts_read(x->device, mem, &found.gpu.is))
            continue;
        found.number = number_of(x->device->name);
        has_whole |= !found.gpu.is.is_part;
        insert(out, found);
    }
    for (uint32_t i = out->n; has_whole && i > 0; i--)
        if (out->at[i - 1].gpu.is.is_part)
            vec_remove(out, i - 1);
}

/* Do the names number them all, each differently? */
static bool are_numbered(const struct founds *all)
{
    gpu_mask seen = 0;
    vec_each(all, x) {
        if (x->number < 0 || x->number >= GPUS_MOST || seen >> x->number & 1)
            return false;
        seen |= (gpu_mask)1 << x->number;
    }
    return true;
}

void gpu_facts_list_read(const struct cluster *c, node_id node, struct arena *mem,
                         struct gpu_facts_list *out)
{
    struct founds all = {0};
    *out = (struct gpu_facts_list){0};
    if (LIKELY(devices_first(&c->devices, OF_NODE, c->nodes.name[node.i]) == ID_NONE))
        return;
    find_gpus(c, node, mem, &all);
    bool by_name = are_numbered(&all);
    for (uint32_t i = 0; all.n <= GPUS_MOST && i < all.n; i++) {
        uint32_t number = by_name ? (uint32_t)all.at[i].number : i;
        out->at[number] = all.at[i].gpu;
        out->there |= (gpu_mask)1 << number;
        out->n = MAX(out->n, number + 1);
    }
    vec_done(&all);
}

static bool is_there(const struct gpu_facts_list *t, uint32_t i)
{
    return t->there >> i & 1;
}

/* Are the two joined by NVLink, as one of them says? */
static bool are_linked(const struct node_gpu *a, const struct node_gpu *b)
{
    return (a->is.domain.n && str_equal(a->is.domain, b->is.domain)) ||
           gpu_is_peer(a->is.peers, b->name, &b->is) || gpu_is_peer(b->is.peers, a->name, &a->is);
}

/* The number, + 1, of the first GPU on the same switch. */
static uint8_t root_of(const struct gpu_facts_list *t, uint32_t i)
{
    if (t->at[i].is.root.n == 0)
        return 0;
    for (uint32_t k = 0; k < i; k++)
        if (is_there(t, k) && str_equal(t->at[k].is.root, t->at[i].is.root))
            return (uint8_t)(k + 1);
    return (uint8_t)(i + 1);
}

static void tell_drivers(const struct gpu_facts_list *t, struct gpus_facts *out)
{
    out->n = t->n;
    out->there = t->there;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_there(t, i))
            continue;
        for (uint32_t k = 0; k < t->n; k++)
            if (k != i && is_there(t, k) && are_linked(&t->at[i], &t->at[k]))
                out->peers[i] |= (gpu_mask)1 << k;
        out->root[i] = root_of(t, i);
        int64_t zone = t->at[i].is.zone;
        out->zone[i] = (uint8_t)(zone >= 0 && zone < 255 ? zone + 1 : 0);
        out->vram_mib[i] = (uint32_t)MIN(t->at[i].is.vram_bytes >> 20, (int64_t)UINT32_MAX);
    }
}

static struct gpu_sum sum_up(const struct gpu_facts_list *t, const struct gpus_facts *told)
{
    struct gpu_sum sum = {.vram_bytes = INT64_MAX, .are_linked = true, .knows_zones = true};
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_there(t, i))
            continue;
        sum.gpus++;
        sum.vram_bytes = MIN(sum.vram_bytes, t->at[i].is.vram_bytes);
        sum.product = sum.product.n ? sum.product : t->at[i].is.product;
        sum.are_linked &= told->peers[i] != 0;
        sum.knows_zones &= told->zone[i] != 0;
        sum.zone_of[i] = told->zone[i];
    }
    return sum;
}

/* --- what the node itself tells --- */

static sym label_of(const struct cluster *c, node_id node, struct str key)
{
    sym s = names_find(&c->names, key);
    return s == SYM_NONE ? SYM_NONE : cluster_label(c, node, s);
}

/* Are its GPUs advertised more than once each? Then they are no devices to keep books of. */
static bool repeats_gpus(const struct cluster *c, node_id node, sym model)
{
    int64_t replicas;
    sym said = label_of(c, node, STR("nvidia.com/gpu.replicas"));
    bool is_said = said != SYM_NONE && str_int(names_text(&c->names, said), &replicas);
    return (is_said && replicas > 1) ||
           (model != SYM_NONE && str_ends(names_text(&c->names, model), STR("-SHARED")));
}

/* How many GPUs it offers as a resource. */
static int64_t amount(const struct cluster *c, node_id node)
{
    const struct cells *cells = c->nodes.room[node.i].cells;
    int64_t n = 0;
    for (uint32_t i = 0; cells && i < cells->n; i++)
        if (cells->at[i].alloc &&
            gpus_is_resource(
                names_text(&c->names, c->specs.resources.names.at[cells->at[i].resource])))
            n = MAX(n, cells->at[i].alloc);
    return n;
}

/* Where drivers say nothing of a thing, the labels do. */
static void tell_labels(const struct hardware *h, struct gpus_facts *out)
{
    bool knows_links = false, knows_zones = false;
    for (uint32_t i = 0; i < out->n; i++) {
        knows_links |= out->peers[i] != 0;
        knows_zones |= out->zone[i] != 0;
    }
    for (uint32_t i = 0; i < out->n; i++) {
        if (!(out->there >> i & 1))
            continue;
        if (!knows_links && h->links >= FABRIC_NVLINK)
            out->peers[i] = out->there & ~((gpu_mask)1 << i);
        if (!knows_zones)
            out->zone[i] = h->zone_of[i];
        if (!out->vram_mib[i])
            out->vram_mib[i] = (uint32_t)MIN(h->vram_bytes >> 20, (int64_t)UINT32_MAX);
    }
}

static gpu_mask claimed(const struct cluster *c, const struct gpu_facts_list *t)
{
    gpu_mask which = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (is_there(t, i) && (devices_is_taken(&c->devices, t->at[i].id) ||
                               devices_is_shared(&c->devices, t->at[i].id)))
            which |= (gpu_mask)1 << i;
    return which;
}

static bool put_books(struct cluster *c, node_id node, const struct gpu_facts_list *t,
                      struct gpus_facts *told)
{
    struct node_gpus **g = &c->nodes.gpus[node.i];
    int64_t n = amount(c, node);
    sym model = label_of(c, node, STR("nvidia.com/gpu.product"));
    if (model == SYM_NONE)
        model = label_of(c, node, STR("gpu.kubenexus.io/model"));
    if (t->n == 0 && n > 0 && n <= GPUS_MOST) {
        told->n = (uint32_t)n;
        told->there = UINT32_MAX >> (GPUS_MOST - n);
    }
    if (!nodes_is_present(&c->nodes, node) || repeats_gpus(c, node, model))
        *told = (struct gpus_facts){0};
    told->is_counted = n > 0;
    told->model = told->n ? model : SYM_NONE;
    told->has_only_pcie = nodes_hardware(&c->nodes, node)->has_only_pcie;
    tell_labels(nodes_hardware(&c->nodes, node), told);
    bool differs = gpus_put(g, told);
    gpu_mask taken = told->n ? claimed(c, t) : 0;
    if (*g && (*g)->claimed != taken) {
        (*g)->claimed = taken;
        differs = true;
    }
    return differs;
}

static bool put_hardware(struct cluster *c, node_id node, const struct gpu_facts_list *t,
                         const struct gpus_facts *told)
{
    hardware_id id = c->nodes.labelled[node.i];
    const struct numa_report *report = numa_reports_find(c, node);
    if ((t->n || report) && nodes_is_present(&c->nodes, node)) {
        struct hardware_room of_report, of_drivers;
        const struct hardware *h = nodes_hardware_at(&c->nodes, id);
        struct gpu_sum sum = sum_up(t, told);
        h = report ? numa_reports_join(report, h, &of_report) : h;
        id = nodes_hardware_get(&c->nodes, t->n ? hardware_join(h, &sum, &of_drivers) : h);
    }
    return nodes_put_hardware(&c->nodes, node, id);
}

uint32_t gpu_facts_put(struct cluster *c, node_id node)
{
    struct gpu_facts_list t;
    struct gpus_facts told = {0};
    AUTO(arena) mem = {0};
    gpu_facts_list_read(c, node, &mem, &t);
    tell_drivers(&t, &told);
    uint32_t columns = put_hardware(c, node, &t, &told) ? COLUMN_FEATURES : 0;
    columns |= put_books(c, node, &t, &told) ? COLUMN_ALLOC : 0;
    cliques_put(c, node);
    return columns;
}

/* --- when slices and claims come and go --- */

static bool each_node(struct cluster *c, uint64_t pool, uint32_t *slice, node_id *out)
{
    const struct kept_object *slices = c->devices.of[KEPT_SLICE].at.at;
    uint32_t at = *slice == ID_NONE ? devices_first(&c->devices, OF_POOL, pool)
                                    : slices[*slice].slice->next[OF_POOL];
    for (; at != ID_NONE; at = slices[at].slice->next[OF_POOL]) {
        sym name = slices[at].slice->node;
        *out = name == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&c->nodes, name);
        *slice = at;
        if (out->i != ID_NONE)
            return true;
    }
    return false;
}

void gpu_facts_price_all(struct cluster *c, node_id node)
{
    struct node_gpus **g = &c->nodes.gpus[node.i];
    for (uint32_t p = c->nodes.first_pod[node.i]; p != ID_NONE; p = c->pods.rows.at[p].after) {
        struct pod_row *row = &c->pods.rows.at[p];
        struct gpu_ask ask = cluster_spec(c, (pod_id){p})->gpus;
        if (LIKELY(!ask.share_mib || !row->gpus))
            continue;
        uint32_t price = gpus_price_of(*g, row->gpus, ask), was = row->gpu_milli;
        if (price == was)
            continue;
        cluster_tell(c, (pod_id){p}, -1);
        row->gpu_milli = price;
        cluster_tell(c, (pod_id){p}, +1);
        gpus_charge(g, row->gpus, price, +1); /* first: books that are empty go */
        gpus_charge(g, row->gpus, was, -1);
        cliques_use(c, node);
        change_log_add(&c->log, node, COLUMN_USED);
    }
}

void gpu_facts_put_again(struct cluster *c, node_id node)
{
    uint32_t columns = gpu_facts_put(c, node);
    if (columns && c->depth == 0)
        gpu_facts_price_all(c, node);
    if (columns & COLUMN_FEATURES && c->depth == 0)
        numa_zone_all(c, node);
    if (columns)
        change_log_add(&c->log, node, columns);
}

void gpu_facts_put_slice(struct cluster *c, struct slice_place at)
{
    uint32_t slice = ID_NONE;
    if (!at.is_told)
        return;
    node_id node = at.node == SYM_NONE ? (node_id){ID_NONE} : nodes_find(&c->nodes, at.node);
    if (node.i != ID_NONE)
        gpu_facts_put_again(c, node);
    while (each_node(c, at.pool, &slice, &node))
        gpu_facts_put_again(c, node);
}

void gpu_facts_claim_pool(struct cluster *c, uint64_t pool)
{
    uint32_t slice = ID_NONE;
    node_id node;
    while (each_node(c, pool, &slice, &node)) {
        struct node_gpus *g = c->nodes.gpus[node.i];
        if (!g || g->n == 0)
            continue;
        struct gpu_facts_list t;
        AUTO(arena) mem = {0};
        gpu_facts_list_read(c, node, &mem, &t);
        gpu_mask taken = claimed(c, &t);
        if (t.n && g->claimed != taken) {
            g->claimed = taken;
            cliques_use(c, node);
            change_log_add(&c->log, node, COLUMN_USED);
        }
    }
}
