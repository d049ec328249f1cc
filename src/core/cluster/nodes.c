#include "core/cluster/nodes.h"

#include "core/base/mem.h"
#include "core/cluster/change.h"

/* Every column but the room, for growing and freeing. */
#define COLUMNS(COLUMN)                                                                            \
    COLUMN(flags)                                                                                  \
    COLUMN(name)                                                                                   \
    COLUMN(hostname)                                                                               \
    COLUMN(labels)                                                                                 \
    COLUMN(features)                                                                               \
    COLUMN(taints)                                                                                 \
    COLUMN(labelled)                                                                               \
    COLUMN(hardware)                                                                               \
    COLUMN(tie_order)                                                                              \
    COLUMN(first_pod)                                                                              \
    COLUMN(images)                                                                                 \
    COLUMN(ports)                                                                                  \
    COLUMN(gpus)

static void grow(struct nodes *n)
{
    uint32_t cap = n->cap ? n->cap * 2 : 64;
#define GROW(column)                                                                               \
    n->column = mem_resize(n->column, cap * sizeof(*n->column));                                   \
    memset(n->column + n->cap, 0, (cap - n->cap) * sizeof(*n->column));
    COLUMNS(GROW)
#undef GROW
    n->room = mem_resize_aligned(n->room, n->cap * sizeof(*n->room), cap * sizeof(*n->room));
    n->cap = cap;
}

node_id nodes_claim(struct nodes *n, struct names *names, sym name, uint64_t tie_order)
{
    node_id found = nodes_find(n, name);
    if (found.i != ID_NONE)
        return found;
    uint32_t i = n->free.n ? vec_pop(&n->free) : n->n++;
    if (i == n->cap)
        grow(n);
    n->room[i] = (struct room){0};
    n->flags[i] = NODE_CLAIMED;
    n->name[i] = name;
    n->hostname[i] = SYM_NONE;
    n->labels[i] = n->features[i] = n->taints[i] = n->labelled[i] = n->hardware[i] = 0;
    n->tie_order[i] = tie_order;
    n->first_pod[i] = ID_NONE;
    intern_hold(&names->text, name);
    map_put(&n->by_name, name, i);
    return (node_id){i};
}

void nodes_release(struct nodes *n, struct names *names, node_id node)
{
    uint32_t i = node.i;
    assert(n->flags[i] == NODE_CLAIMED && n->first_pod[i] == ID_NONE && !n->room[i].cells &&
           !n->gpus[i]);
    map_remove(&n->by_name, n->name[i]);
    intern_drop(&names->text, n->name[i]);
    n->name[i] = SYM_NONE;
    n->flags[i] = 0;
    vec_push(&n->free, i);
}

/* --- cells --- */

/* Room for so many or more: a power of two, so that growing by one is cheap. */
static struct cells *cells_resize(struct cells *cells, uint32_t n)
{
    size_t room = 1;
    while (room < n)
        room *= 2;
    return mem_resize(cells, sizeof(*cells) + room * sizeof(struct cell));
}

/* The cell of a resource, made (with zeros) if it is not there. */
static struct cell *cell_get(struct cells **cells, resource_id resource)
{
    uint32_t n = *cells ? (*cells)->n : 0, i = cells_from(*cells, resource);
    if (i < n && (*cells)->at[i].resource == resource)
        return &(*cells)->at[i];
    if ((n & (n - 1)) == 0)
        *cells = cells_resize(*cells, n + 1);
    memmove(&(*cells)->at[i + 1], &(*cells)->at[i], (n - i) * sizeof(struct cell));
    (*cells)->at[i] = (struct cell){0, 0, resource};
    (*cells)->n = n + 1;
    return &(*cells)->at[i];
}

static void drop_if_empty(struct cells **cells, struct cell *cell)
{
    struct cell *end = &(*cells)->at[(*cells)->n];
    if (cell->alloc || cell->used)
        return;
    memmove(cell, cell + 1, (size_t)(end - cell - 1) * sizeof(*cell));
    if (--(*cells)->n == 0) {
        mem_free(*cells);
        *cells = NULL;
    }
}

static void drop_empty_cells(struct cells **cells)
{
    for (uint32_t i = *cells ? (*cells)->n : 0; i-- > 0;)
        drop_if_empty(cells, &(*cells)->at[i]);
}

/* Is it what the row says already? Both are sorted by resource. */
static bool cells_agree(const struct cells *cells, const struct node_row *row)
{
    uint32_t k = 0;
    for (uint32_t i = 0; cells && i < cells->n; i++) {
        const struct cell *cell = &cells->at[i];
        bool is_next = k < row->n_others && row->others[k].resource == cell->resource;
        if (cell->alloc != (is_next ? row->others[k].amount : 0))
            return false;
        k += is_next;
    }
    return k == row->n_others;
}

/* Holds what the node is to have, and drops what it had. */
static void hold_resources(struct intern *resources, const struct cells *had,
                           const struct node_row *row)
{
    for (uint32_t i = 0; i < row->n_others; i++)
        intern_hold(resources, row->others[i].resource);
    for (uint32_t i = 0; had && i < had->n; i++)
        if (had->at[i].alloc)
            intern_drop(resources, had->at[i].resource);
}

static bool put_cells(struct room *room, struct intern *resources, const struct node_row *row)
{
    const struct need *need = row->others, *end = need + row->n_others;
    uint32_t n = room->cells ? room->cells->n : 0;
    if (cells_agree(room->cells, row))
        return false;
    hold_resources(resources, room->cells, row);
    struct cells *all = mem_alloc(sizeof(*all) + (n + row->n_others) * sizeof(struct cell));
    for (uint32_t i = 0; i < n || need < end;) {
        bool is_new = i == n || (need < end && need->resource < room->cells->at[i].resource);
        struct cell *cell = &all->at[all->n++];
        *cell = is_new ? (struct cell){0, 0, need->resource} : room->cells->at[i++];
        cell->alloc = need < end && need->resource == cell->resource ? need++->amount : 0;
    }
    drop_empty_cells(&all);
    mem_free(room->cells);
    room->cells = all ? cells_resize(all, all->n) : NULL;
    return true;
}

/* --- ports --- */

static int port_order(struct host_port a, struct host_port b)
{
    if (a.port != b.port)
        return a.port < b.port ? -1 : 1;
    if (a.protocol != b.protocol)
        return a.protocol < b.protocol ? -1 : 1;
    return (a.ip > b.ip) - (a.ip < b.ip);
}

static void charge_port(struct used_ports **ports, struct host_port port, int sign)
{
    uint32_t n = *ports ? (*ports)->n : 0, i = 0;
    while (i < n && port_order((*ports)->at[i].port, port) < 0)
        i++;
    bool is_there = i < n && port_order((*ports)->at[i].port, port) == 0;
    assert(is_there || sign > 0);
    if (!is_there) {
        *ports = mem_resize(*ports, sizeof(**ports) + (n + 1) * sizeof(struct used_port));
        memmove(&(*ports)->at[i + 1], &(*ports)->at[i], (n - i) * sizeof(struct used_port));
        (*ports)->at[i] = (struct used_port){port, 0};
        (*ports)->n = ++n;
    }
    (*ports)->at[i].uses += (uint32_t)sign;
    if ((*ports)->at[i].uses)
        return;
    memmove(&(*ports)->at[i], &(*ports)->at[i + 1], (n - i - 1) * sizeof(struct used_port));
    if (--(*ports)->n == 0) {
        mem_free(*ports);
        *ports = NULL;
    }
}

bool nodes_port_taken(const struct nodes *n, node_id node, const struct host_port *ports,
                      uint32_t count, sym any_ip)
{
    const struct used_ports *used = n->ports[node.i];
    for (uint32_t i = 0; used && i < used->n; i++)
        for (uint32_t k = 0; k < count; k++) {
            struct host_port a = used->at[i].port, b = ports[k];
            if (a.port == b.port && a.protocol == b.protocol &&
                (a.ip == b.ip || a.ip == any_ip || b.ip == any_ip))
                return true;
        }
    return false;
}

/* --- images --- */

static void write_images(struct node_images *list, const struct node_row *row)
{
    list->n = row->n_images;
    list->at = list->n ? mem_resize(list->at, list->n * sizeof(sym)) : (mem_free(list->at), NULL);
    for (uint32_t i = 0; i < list->n; i++)
        list->at[i] = row->images[i].name;
}

/* Both lists are sorted: only what differs is written. */
static bool put_images(struct nodes *n, struct names *names, uint32_t node,
                       const struct node_row *row)
{
    struct node_images *have = &n->images[node];
    bool differs = false, is_new_list = false;
    for (uint32_t i = 0, k = 0; i < have->n || k < row->n_images;) {
        const struct node_image *image = k < row->n_images ? &row->images[k] : NULL;
        if (i < have->n && (!image || have->at[i] < image->name)) {
            images_remove(&n->known_images, names, have->at[i++], node);
            is_new_list = true;
        } else if (i == have->n || image->name < have->at[i]) {
            images_add(&n->known_images, names, image->name, image->size_bytes, node, n->cap);
            is_new_list = true;
            k++;
        } else {
            differs |= images_resize(&n->known_images, image->name, image->size_bytes);
            i++;
            k++;
        }
    }
    if (is_new_list)
        write_images(have, row);
    return differs || is_new_list;
}

bool nodes_has_image(const struct nodes *n, node_id node, sym image)
{
    struct node_images have = n->images[node.i];
    const sym *at = have.at; /* halved without a branch: which half it is cannot be foreseen */
    for (uint32_t left = have.n; left > 1;) {
        uint32_t half = left / 2;
        at += at[half] <= image ? half : 0;
        left -= half;
    }
    return have.n && *at == image;
}

/* --- rows --- */

struct node_row nodes_get(const struct nodes *n, node_id node, struct arena *mem)
{
    uint32_t i = node.i;
    const struct room *room = &n->room[i];
    struct node_row row = {
        .is_present = n->flags[i] & NODE_PRESENT,
        .is_cordoned = n->flags[i] & NODE_CORDONED,
        .hostname = n->hostname[i],
        .labels = n->labels[i],
        .features = n->features[i],
        .taints = n->taints[i],
        .hardware = n->labelled[i],
        .cpu_milli = room->cpu_alloc,
        .memory = room->memory_alloc,
        .pods = room->pods_alloc,
        .n_images = n->images[i].n,
    };
    struct need *others = arena_array(mem, struct need, room->cells ? room->cells->n : 0);
    for (uint32_t k = 0; room->cells && k < room->cells->n; k++)
        if (room->cells->at[k].alloc)
            others[row.n_others++] =
                (struct need){room->cells->at[k].resource, 0, room->cells->at[k].alloc};
    row.others = others;
    struct node_image *images = arena_array(mem, struct node_image, row.n_images);
    for (uint32_t k = 0; k < row.n_images; k++) {
        sym name = n->images[i].at[k];
        images[k] = (struct node_image){name, images_state(&n->known_images, name).size_bytes};
    }
    row.images = images;
    return row;
}

/* Counts a present node's hostname in or out. */
static void charge_hostname(struct nodes *n, sym hostname, int sign)
{
    if (hostname == SYM_NONE)
        return;
    uint32_t was = map_find(&n->by_hostname, hostname);
    uint32_t count = (was == MAP_NONE ? 0 : was) + (uint32_t)sign;
    if (count)
        map_put(&n->by_hostname, hostname, count);
    else
        map_remove(&n->by_hostname, hostname);
    if (sign > 0 && count == 2)
        n->shared_hostnames++;
    if (sign < 0 && count == 1)
        n->shared_hostnames--;
}

static uint32_t put_presence(struct nodes *n, uint32_t i, const struct node_row *row)
{
    bool was = n->flags[i] & NODE_PRESENT;
    if (was == row->is_present)
        return 0;
    n->flags[i] ^= NODE_PRESENT;
    n->present += row->is_present ? 1u : -1u;
    return COLUMN_PRESENCE;
}

static uint32_t put_labels(struct nodes *n, struct names *names, uint32_t i,
                           const struct node_row *row)
{
    if (n->labels[i] == row->labels && n->hostname[i] == row->hostname)
        return 0;
    if (row->labels) /* the empty set is held for ever */
        intern_hold(&names->label_sets.table, row->labels);
    if (n->labels[i])
        intern_drop(&names->label_sets.table, n->labels[i]);
    if (row->hostname != SYM_NONE)
        intern_hold(&names->text, row->hostname);
    if (n->hostname[i] != SYM_NONE)
        intern_drop(&names->text, n->hostname[i]);
    n->labels[i] = row->labels;
    n->hostname[i] = row->hostname;
    return COLUMN_LABELS;
}

static uint32_t put_features(struct nodes *n, struct names *names, uint32_t i,
                             const struct node_row *row)
{
    if (n->features[i] == row->features)
        return 0;
    if (row->features)
        intern_hold(&names->label_sets.table, row->features);
    if (n->features[i])
        intern_drop(&names->label_sets.table, n->features[i]);
    n->features[i] = row->features;
    return COLUMN_FEATURES;
}

static uint32_t put_taints(struct nodes *n, struct names *names, uint32_t i,
                           const struct node_row *row)
{
    if (n->taints[i] == row->taints)
        return 0;
    if (row->taints)
        intern_hold(&names->taint_sets.table, row->taints);
    if (n->taints[i])
        intern_drop(&names->taint_sets.table, n->taints[i]);
    n->taints[i] = row->taints;
    return COLUMN_TAINTS;
}

const struct hardware no_hardware;

hardware_id nodes_hardware_get(struct nodes *n, const struct hardware *hardware)
{
    if (memcmp(hardware, &no_hardware, sizeof(no_hardware)) == 0)
        return 0;
    struct str bytes = {(const char *)hardware, hardware_bytes(hardware)};
    return intern_get(&n->hardware_table, bytes, NULL) + 1;
}

void nodes_tidy(struct nodes *n, enum tidy how)
{
    intern_tidy(&n->hardware_table, how, NULL, NULL);
}

static bool set_hardware(struct nodes *n, hardware_id *at, hardware_id hardware)
{
    if (*at == hardware)
        return false;
    if (hardware)
        intern_hold(&n->hardware_table, hardware - 1);
    if (*at)
        intern_drop(&n->hardware_table, *at - 1);
    *at = hardware;
    return true;
}

bool nodes_put_hardware(struct nodes *n, node_id node, hardware_id hardware)
{
    return set_hardware(n, &n->hardware[node.i], hardware);
}

static uint32_t put_alloc(struct nodes *n, struct intern *resources, uint32_t i,
                          const struct node_row *row)
{
    struct room *room = &n->room[i];
    bool differs = room->cpu_alloc != row->cpu_milli || room->memory_alloc != row->memory ||
                   room->pods_alloc != row->pods;
    room->cpu_alloc = row->cpu_milli;
    room->memory_alloc = row->memory;
    room->pods_alloc = row->pods;
    differs |= put_cells(room, resources, row);
    return differs ? COLUMN_ALLOC : 0;
}

uint32_t nodes_put(struct nodes *n, struct names *names, struct intern *resources, node_id node,
                   const struct node_row *row)
{
    uint32_t i = node.i, columns = 0;
    if (n->flags[i] & NODE_PRESENT)
        charge_hostname(n, n->hostname[i], -1);
    columns |= put_presence(n, i, row);
    columns |= put_labels(n, names, i, row);
    columns |= put_features(n, names, i, row);
    columns |= put_taints(n, names, i, row);
    if (set_hardware(n, &n->labelled[i], row->hardware)) /* changes as rarely as features */
        columns |= COLUMN_FEATURES;
    columns |= put_alloc(n, resources, i, row);
    if (!(n->flags[i] & NODE_CORDONED) != !row->is_cordoned) {
        n->flags[i] ^= NODE_CORDONED;
        columns |= COLUMN_CORDON;
    }
    if (put_images(n, names, i, row))
        columns |= COLUMN_IMAGES;
    if (n->flags[i] & NODE_PRESENT)
        charge_hostname(n, n->hostname[i], +1);
    return columns;
}

/* 1 or -1 times the amount. (Multiplied, it would be: two at once, which takes many steps.) */
static int64_t times(int sign, int64_t amount)
{
    uint64_t flip = sign < 0 ? ~(uint64_t)0 : 0;
    return (int64_t)(((uint64_t)amount ^ flip) - flip);
}

void nodes_charge(struct nodes *n, node_id node, const struct spec *spec, int sign)
{
    struct room *room = &n->room[node.i];
    room->cpu_used = wrap_add(room->cpu_used, times(sign, spec->hold.cpu_milli));
    room->memory_used = wrap_add(room->memory_used, times(sign, spec->hold.memory));
    room->cpu_nonzero = wrap_add(room->cpu_nonzero, times(sign, spec->hold_nonzero_cpu_milli));
    room->memory_nonzero = wrap_add(room->memory_nonzero, times(sign, spec->hold_nonzero_memory));
    room->pods_used += sign;
    assert(room->pods_used >= 0);
    for (uint32_t i = 0; i < spec->hold.n_others; i++) {
        struct cell *cell = cell_get(&room->cells, spec->hold.others[i].resource);
        cell->used = wrap_add(cell->used, wrap_mul(sign, spec->hold.others[i].amount));
        drop_if_empty(&room->cells, cell);
    }
    for (uint32_t i = 0; i < spec->n_ports; i++)
        charge_port(&n->ports[node.i], spec->ports[i], sign);
}

void nodes_done(struct nodes *n)
{
    for (uint32_t i = 0; i < n->n; i++) {
        mem_free(n->room[i].cells);
        mem_free(n->images[i].at);
        mem_free(n->ports[i]);
        mem_free(n->gpus[i]);
    }
#define FREE(column) mem_free(n->column);
    COLUMNS(FREE)
#undef FREE
    mem_free(n->room);
    vec_done(&n->free);
    intern_done(&n->hardware_table);
    map_done(&n->by_name);
    map_done(&n->by_hostname);
    images_done(&n->known_images);
}
