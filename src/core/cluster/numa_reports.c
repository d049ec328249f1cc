#include "core/cluster/numa_reports.h"

#include <stdlib.h>

#include "core/base/hash.h"
#include "core/cluster/gpu_facts.h"
#include "core/model/resources.h"

const struct numa_report *numa_reports_find(const struct cluster *c, node_id node)
{
    const struct numa_reports *r = &c->numa_reports;
    uint32_t i = r->by_node.n ? map_find(&r->by_node, c->nodes.name[node.i]) : MAP_NONE;
    return i == MAP_NONE || !r->at.at[i].n_zones ? NULL : &r->at.at[i];
}

/* --- fingerprints --- */

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool has_device(const struct numa_report *report, sym name)
{
    for (uint32_t i = 0; i < REPORTED_MOST && report->devices[i] != SYM_NONE; i++)
        if (report->devices[i] == name)
            return true;
    return false;
}

/* Has it something for itself for as long as it runs: cores, memory, or a device that zones have?
 * (scheduler-plugins: AreExclusiveForPod) */
static bool is_exclusive(const struct cluster *c, const struct numa_report *report,
                         const struct spec *spec)
{
    for (uint32_t i = 0; i < spec->n_pinned; i++)
        if (!spec->pinned[i].is_short_lived && spec->pinned[i].resources & (NUMA_CPU | NUMA_MEMORY))
            return true;
    for (uint32_t i = 0; i < spec->n_device_asks; i++)
        if (!spec->device_asks[i].is_short_lived &&
            has_device(report, c->specs.resources.names.at[spec->device_asks[i].resource]))
            return true;
    return false;
}

/* As k8stopologyawareschedwg/podfingerprint has it: of each pod XXH64 of its name, seeded with that
 * of its namespace; of all of them, sorted. */
uint64_t numa_reports_fingerprint(const struct cluster *c, node_id node,
                                  const struct numa_report *report)
{
    VEC(uint64_t) all = {0};
    for (uint32_t p = c->nodes.first_pod[node.i]; p != ID_NONE; p = c->pods.rows.at[p].after) {
        const struct pod_row *row = &c->pods.rows.at[p];
        const struct shape *shape = &c->pods.shapes.at[row->shape];
        struct str namespace = names_text(&c->names, shape->namespace);
        if (report->is_of_exclusive && !is_exclusive(c, report, specs_at(&c->specs, shape->spec)))
            continue;
        vec_push(&all, hash_xxh64(pod_name(row), hash_xxh64(namespace, 0)));
    }
    if (all.n > 1)
        qsort(all.at, all.n, sizeof(*all.at), by_size);
    uint64_t print = hash_xxh64((struct str){(const char *)all.at, all.n * sizeof(*all.at)}, 0);
    vec_done(&all);
    return print;
}

/* "pfp0v001" and 16 hex digits. */
static bool read_fingerprint(struct str text, uint64_t *out)
{
    static const struct str prefix = STR("pfp0v001");
    uint64_t value = 0;
    if (!str_starts(text, prefix) || text.n != prefix.n + 16)
        return false;
    for (size_t i = prefix.n; i < text.n; i++) {
        char x = text.p[i];
        bool is_digit = x >= '0' && x <= '9', is_letter = x >= 'a' && x <= 'f';
        if (!is_digit && !is_letter)
            return false;
        value = value << 4 | (uint64_t)(is_digit ? x - '0' : x - 'a' + 10);
    }
    *out = value;
    return true;
}

/* --- what is reported --- */

static int64_t value(struct quantity q)
{
    return MIN(MAX(quantity_value(q), (int64_t)0), (int64_t)1 << 50);
}

static void read_resource(const struct zone_resource *from, struct zone_report *out)
{
    int64_t has = value(from->allocatable), used = MAX(has - value(from->available), (int64_t)0);
    if (str_equal(from->name, STR("cpu"))) {
        out->has.cpu_milli = quantity_milli(from->allocatable);
        out->cpu_used = MAX(out->has.cpu_milli - quantity_milli(from->available), (int64_t)0);
    } else if (str_equal(from->name, STR("memory"))) {
        out->has.memory = has;
        out->memory_used = used;
    } else if (gpus_is_resource(from->name)) {
        out->has.gpus += (uint32_t)MIN(has, (int64_t)1024);
        out->gpus_used += used;
    }
}

static bool read_zone(const struct topology_zone *from, struct numa_report *out)
{
    int64_t id = topology_zone_id(from);
    if (id < 0) /* a socket, a die */
        return true;
    if (id >= MOST_ZONES)
        return false;
    struct zone_report *zone = &out->zones[id];
    zone->has.id = (uint32_t)id;
    list_each(&from->resources, resource)
        read_resource(resource, zone);
    list_each(&from->costs, cost)
        if (!str_equal(cost->name, from->name) && cost->value > 0 && cost->value < 256) {
            zone->has.distance_sum += (uint32_t)cost->value;
            zone->has.distances++;
        }
    out->n_zones = MAX(out->n_zones, (uint32_t)id + 1);
    out->knows_gpus |= zone->has.gpus > 0;
    return zone->has.cpu_milli > 0 && zone->has.memory > 0;
}

/* Whom it speaks of. */
static void read_print(const struct node_topology *t, struct numa_report *out)
{
    struct str method = node_topology_attribute(t, STR("nodeTopologyPodsFingerprintMethod"));
    struct str print = node_topology_attribute(t, STR("nodeTopologyPodsFingerprint"));
    out->is_of_exclusive = str_equal(method, STR("with-exclusive-resources"));
    bool is_known = method.n == 0 || str_equal(method, STR("all")) || out->is_of_exclusive;
    list_each(&t->meta.annotations, a)
        if (print.n == 0 && str_equal(a->key, STR("topology.node.k8s.io/fingerprint")))
            print = a->value;
    out->has_fingerprint = is_known && read_fingerprint(print, &out->fingerprint);
}

/* The names of devices are held for as long as the report is kept. */
static void read_devices(struct names *names, const struct node_topology *t,
                         struct numa_report *out)
{
    uint32_t n = 0;
    list_each(&t->zones, zone)
        list_each(&zone->resources, resource) {
            sym name = names_get(names, resource->name);
            bool is_device = topology_zone_id(zone) >= 0 && resource_is_extended(resource->name);
            if (is_device && n < REPORTED_MOST && !has_device(out, name))
                out->devices[n++] = name;
        }
}

/* Half a picture is none. */
static bool read_report(struct names *names, const struct node_topology *t, struct numa_report *out)
{
    for (uint32_t i = 0; i < REPORTED_MOST; i++)
        out->devices[i] = SYM_NONE;
    list_each(&t->zones, zone)
        if (!read_zone(zone, out))
            return false;
    for (uint32_t i = 0; i < out->n_zones; i++)
        if (out->zones[i].has.cpu_milli == 0)
            return false;
    out->kubelet = hardware_kubelet(t);
    read_print(t, out);
    read_devices(names, t, out);
    return out->n_zones > 0;
}

/* Does such a kubelet turn pods away? */
static bool is_strict(const struct numa_report *report)
{
    return report->n_zones > 1 && report->kubelet.policy >= NUMA_RESTRICTED;
}

static void hold_devices(struct names *names, const struct numa_report *report, int sign)
{
    for (uint32_t i = 0; i < REPORTED_MOST && report->n_zones; i++)
        if (report->devices[i] != SYM_NONE)
            (sign > 0 ? intern_hold : intern_drop)(&names->text, report->devices[i]);
}

/* From now on the row says this. */
static void replace(struct numa_reports *r, struct names *names, struct numa_report *row,
                    const struct numa_report *by)
{
    bool was_any = r->strict > 0;
    hold_devices(names, by, +1);
    hold_devices(names, row, -1);
    r->strict += is_strict(by);
    r->strict -= is_strict(row);
    r->generation += was_any != (r->strict > 0);
    memcpy(row, by, sizeof(*row));
}

bool numa_reports_put(struct cluster *c, struct str node, const struct node_topology *topology)
{
    struct numa_reports *r = &c->numa_reports;
    sym name = names_get(&c->names, node);
    uint32_t i = map_find(&r->by_node, name);
    struct numa_report report, none;
    memset(&none, 0, sizeof(none)); /* their bytes are compared */
    memset(&report, 0, sizeof(report));
    if (topology && !read_report(&c->names, topology, &report))
        memset(&report, 0, sizeof(report));
    if (i == MAP_NONE && report.n_zones == 0)
        return false;
    if (i == MAP_NONE) {
        i = r->free.n ? vec_pop(&r->free) : r->at.n;
        if (i == r->at.n)
            vec_push(&r->at, none);
        intern_hold(&c->names.text, name);
        map_put(&r->by_node, name, i);
    }
    report.node = name;
    bool differs = memcmp(&r->at.at[i], &report, sizeof(report)) != 0;
    replace(r, &c->names, &r->at.at[i], &report);
    if (!topology || report.n_zones == 0) {
        map_remove(&r->by_node, name);
        intern_drop(&c->names.text, name);
        vec_push(&r->free, i);
    }
    node_id id = nodes_find(&c->nodes, name);
    if (differs && id.i != ID_NONE) {
        gpu_facts_put_again(c, id);
        change_log_add(&c->log, id, COLUMN_USED);
    }
    return differs;
}

const struct hardware *numa_reports_join(const struct numa_report *report,
                                         const struct hardware *base, struct hardware_room *room)
{
    struct hardware_room copy;
    memset(&copy, 0, sizeof(copy));
    struct hardware *h = (struct hardware *)copy.bytes;
    memcpy(h, base, hardware_bytes(base));
    bool is_alike = base->n_zones == report->n_zones;
    h->n_zones = report->n_zones;
    for (uint32_t i = 0; i < report->n_zones; i++) {
        struct numa_zone was = h->zones[i];
        h->zones[i] = report->zones[i].has;
        h->zones[i].bandwidth = is_alike ? was.bandwidth : 0;
        if (!report->knows_gpus)
            h->zones[i].gpus = is_alike ? was.gpus : 0;
    }
    h->kubelet_policy = (uint8_t)report->kubelet.policy;
    h->kubelet_sees_pods = report->kubelet.sees_pods;
    h->knows_gpu_zones = report->knows_gpus || (is_alike && base->knows_gpu_zones);
    memcpy(room, &copy, sizeof(copy));
    return (const struct hardware *)room->bytes;
}

void numa_reports_done(struct numa_reports *r)
{
    map_done(&r->by_node);
    vec_done(&r->at);
    vec_done(&r->free);
}
