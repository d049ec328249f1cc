/* Some disks cannot be used by two pods at once: on one node (GCE, EBS, iSCSI, Ceph RBD disks that
 * stand in pods, unless all use them read-only), or anywhere (claims with ReadWriteOncePod). */

#include "core/framework/plugin.h"

/* The volumes of a spec; they stay where they are as long as it is held, which a spec does not. */
struct disks {
    const struct volume_use *at;
    uint32_t n;
    const sym *monitors;
};

struct wants {
    struct disks disks;
    const sym *exclusive; /* claims that may have one user */
    uint32_t n_exclusive;
    sym namespace;
    int64_t correction; /* see add_exclusive() */
    reason_id no_disk, in_use;
};

static struct disks disks_of(const struct spec *spec)
{
    return (struct disks){spec->volumes, spec->n_volumes, spec->monitors};
}

static bool shares_monitor(struct disks a, const struct volume_use *x, struct disks b,
                           const struct volume_use *y)
{
    for (uint32_t i = 0; i < x->n_monitors; i++)
        for (uint32_t k = 0; k < y->n_monitors; k++)
            if (a.monitors[x->monitor_at + i] == b.monitors[y->monitor_at + k])
                return true;
    return false;
}

static bool is_restricted(const struct volume_use *v)
{
    bool is_disk =
        v->kind == VOLUME_DISK && (v->in_tree == IN_TREE_GCE || v->in_tree == IN_TREE_AWS);
    return is_disk || v->kind == VOLUME_ISCSI || v->kind == VOLUME_RBD;
}

static bool clash(struct disks a, const struct volume_use *x, struct disks b,
                  const struct volume_use *y)
{
    if (!is_restricted(x) || x->kind != y->kind || x->in_tree != y->in_tree || x->name != y->name)
        return false;
    if (x->kind == VOLUME_DISK && x->in_tree == IN_TREE_AWS)
        return true;
    if (x->kind == VOLUME_RBD && (x->pool != y->pool || !shares_monitor(a, x, b, y)))
        return false;
    return !(x->is_read_only && y->is_read_only);
}

static bool disks_clash(struct disks a, struct disks b)
{
    for (uint32_t i = 0; i < a.n; i++)
        for (uint32_t k = 0; k < b.n; k++)
            if (clash(a, &a.at[i], b, &b.at[k]))
                return true;
    return false;
}

/* Upstream counts a claim that is in use as one, and from then on every volume that comes or goes
 * with a pod and has that name, whatever its namespace: so what must be added to the number of
 * those volumes is fixed here. */
static void add_exclusive(struct learning *l, struct wants *wants, sym *exclusive, sym claim)
{
    for (uint32_t i = 0; i < wants->n_exclusive; i++)
        if (exclusive[i] == claim)
            return;
    uint32_t users = volumes_users(&l->cluster->volumes, wants->namespace, claim);
    exclusive[wants->n_exclusive++] = claim;
    wants->correction +=
        (users ? 1 : 0) - (int64_t)volumes_users_of_name(&l->cluster->volumes, claim);
    l->filters |= users > 0;
}

static void learn(struct learning *l, void *cls)
{
    struct wants *wants = cls;
    *wants = (struct wants){
        .disks = disks_of(l->spec),
        .namespace = l->shape->namespace,
        .no_disk = learning_reason(l, CODE_UNSCHEDULABLE, "node(s) had no available disk"),
        .in_use = learning_reason(l, CODE_UNSCHEDULABLE,
                                  "node(s) unavailable due to PersistentVolumeClaim with "
                                  "ReadWriteOncePod access mode already in-use by another pod"),
    };
    sym *exclusive = arena_array(l->mem, sym, l->spec->n_volumes);
    wants->exclusive = exclusive;
    for (uint32_t i = 0; i < l->spec->n_volumes; i++) {
        const struct volume_use *v = &l->spec->volumes[i];
        l->filters |= is_restricted(v);
        if (v->kind != VOLUME_CLAIM)
            continue;
        const struct claim_facts *claim =
            volumes_claim(&l->cluster->volumes, wants->namespace, v->name);
        if (!claim) {
            struct str name = names_text(&l->cluster->names, v->name);
            learning_refuse(l,
                            arena_printf(l->mem, "persistentvolumeclaim \"" STR_FMT "\" not found",
                                         STR_ARG(name)));
            return;
        }
        if (claim->access & ACCESS_RWOP)
            add_exclusive(l, wants, exclusive, v->name);
    }
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct wants *wants = cls;
    for (uint32_t pod = c->nodes.first_pod[node.i]; pod != ID_NONE;
         pod = c->pods.rows.at[pod].after)
        if (disks_clash(wants->disks, disks_of(cluster_spec(c, (pod_id){pod}))))
            return wants->no_disk;
    int64_t conflicts = wants->correction;
    for (uint32_t i = 0; i < wants->n_exclusive; i++)
        conflicts += volumes_users_of_name(&c->volumes, wants->exclusive[i]);
    return conflicts > 0 ? wants->in_use : 0;
}

static bool hint_gone(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    if (!e->old_shape || e->old_shape->namespace != shape->namespace)
        return false;
    const struct spec *mine = specs_at(&c->specs, shape->spec);
    const struct spec *gone = specs_at(&c->specs, e->old_shape->spec);
    for (uint32_t i = 0; i < gone->n_volumes; i++)
        if (gone->volumes[i].kind == VOLUME_CLAIM &&
            volumes_spec_has(mine, gone->volumes[i].name, false))
            return true;
    return disks_clash(disks_of(mine), disks_of(gone));
}

static bool hint_claim(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    return e->namespace == shape->namespace &&
           volumes_spec_has(specs_at(&c->specs, shape->spec), e->name, false);
}

static const struct wake wakes[] = {
    {EVENT_ASSIGNED_POD, ACTION_DELETE, hint_gone},
    {EVENT_NODE, ACTION_ADD, NULL},
    {EVENT_CLAIM, ACTION_ADD, hint_claim},
    {0},
};

const struct plugin plugin_volume_restrictions = {
    .name = "VolumeRestrictions",
    .row_columns = COLUMN_USED,
    .class_size = sizeof(struct wants),
    .learn = learn,
    .row_filter = row_filter,
    .wakes = wakes,
};
