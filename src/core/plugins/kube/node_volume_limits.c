/* A CSI driver can attach so many volumes to a node (its CSINode says how many), and a volume
 * counts once however many pods use it. Disks that stand in pods, and volumes of plugins that CSI
 * drivers took over, count for the driver wherever there is a CSINode. */

#include "core/framework/plugin.h"

/* What is attached: a volume by its driver's handle, or a claim that has none yet. */
struct attached {
    sym driver, handle;
    sym namespace;       /* of the claim `handle`; SYM_NONE: it is a real handle */
    bool needs_csi_node; /* counts only where there is a CSINode */
};

VEC_TYPE(attached_vec, struct attached);

struct needs {
    struct attached *all;
    uint32_t n;
    bool is_broken; /* a disk of the pod cannot be translated: an error where there is a CSINode */
    reason_id refusal;  /* the same for every node; 0: none */
    reason_id *missing; /* by volume: its driver must be on the node and is not; 0: it need not */
    reason_id full, error;
};

enum found { FOUND, NOT_COUNTED, CLAIM_MISSING, CLAIM_OF_ANOTHER, NOT_TRANSLATED };

/* A claim without a volume will have one of its class's driver. */
static enum found by_class(const struct volumes *v, const struct names *names,
                           const struct claim_facts *claim, sym namespace, sym name,
                           struct attached *out)
{
    const struct class_facts *class = volumes_class(v, claim->class);
    if (!class || class->provisioner == SYM_NONE)
        return NOT_COUNTED;
    enum in_tree plugin = in_tree_of(names_text(names, class->provisioner));
    if (plugin && !in_tree_is_migrated(plugin))
        return NOT_COUNTED;
    sym driver = plugin ? v->in_tree_driver[plugin] : class->provisioner;
    *out = (struct attached){driver, name, namespace, plugin != IN_TREE_NONE};
    return FOUND;
}

static enum found by_claim(const struct volumes *v, const struct names *names, sym namespace,
                           const struct volume_use *use, struct attached *out)
{
    const struct claim_facts *claim = volumes_claim(v, namespace, use->name);
    if (!claim)
        return CLAIM_MISSING;
    if (use->kind == VOLUME_EPHEMERAL && claim->owner_uid != use->pod_uid)
        return CLAIM_OF_ANOTHER;
    const struct volume_facts *volume = volumes_volume(v, claim->volume);
    if (!volume)
        return by_class(v, names, claim, namespace, use->name, out);
    if (volume->driver == SYM_NONE || volume->handle == SYM_NONE)
        return NOT_COUNTED;
    *out = (struct attached){volume->driver, volume->handle, SYM_NONE,
                             volume->in_tree != IN_TREE_NONE};
    return FOUND;
}

/* What a volume of a pod in this namespace attaches to its node. */
static enum found find(const struct volumes *v, const struct names *names, sym namespace,
                       const struct volume_use *use, struct attached *out)
{
    if (use->kind == VOLUME_CLAIM || use->kind == VOLUME_EPHEMERAL)
        return by_claim(v, names, namespace, use, out);
    if (use->kind != VOLUME_DISK || !in_tree_is_migrated((enum in_tree)use->in_tree))
        return NOT_COUNTED;
    sym driver = v->in_tree_driver[use->in_tree];
    *out = (struct attached){driver, use->handle, SYM_NONE, true};
    return use->handle == SYM_NONE ? NOT_TRANSLATED : FOUND;
}

static bool is_same(struct attached a, struct attached b)
{
    return a.driver == b.driver && a.handle == b.handle && a.namespace == b.namespace;
}

static bool has(const struct attached *all, uint32_t n, struct attached one)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_same(all[i], one))
            return true;
    return false;
}

/* --- learning --- */

/* A claim that is missing is named by VolumeBinding; here only profiles without it come. */
static void note_problem(struct learning *l, struct needs *needs, enum found found)
{
    if (found == NOT_TRANSLATED)
        needs->is_broken = true;
    if (found == CLAIM_OF_ANOTHER)
        needs->refusal = needs->error;
    if (found == CLAIM_MISSING)
        needs->refusal =
            learning_reason(l, CODE_UNRESOLVABLE, "looking up a PVC of the pod: not found");
}

static reason_id missing_driver(struct learning *l, sym driver)
{
    const struct driver_facts *facts = volumes_driver(&l->cluster->volumes, driver);
    if (!facts || !facts->must_be_installed || l->cluster->overlooks_drivers)
        return 0;
    struct str text = arena_printf(l->mem, STR_FMT " CSI driver is not installed on the node",
                                   STR_ARG(names_text(&l->cluster->names, driver)));
    return reasons_own(l->reasons, l->plugin, CODE_UNSCHEDULABLE, &text, 1);
}

static void learn(struct learning *l, void *cls)
{
    struct needs *needs = cls;
    needs->all = arena_array(l->mem, struct attached, l->spec->n_volumes);
    needs->missing = arena_array(l->mem, reason_id, l->spec->n_volumes);
    needs->full = learning_reason(l, CODE_UNSCHEDULABLE, "node(s) exceed max volume count");
    needs->error = learning_reason(l, CODE_ERROR,
                                   "running \"NodeVolumeLimits\" filter plugin: a volume is not "
                                   "made for its pod, or cannot be translated for a CSI driver");
    for (uint32_t i = 0; i < l->spec->n_volumes && !needs->refusal; i++) {
        const struct volume_use *use = &l->spec->volumes[i];
        struct attached one;
        bool may_count =
            use->kind == VOLUME_CLAIM || use->kind == VOLUME_EPHEMERAL || use->kind == VOLUME_DISK;
        l->filters |= may_count;
        enum found found =
            find(&l->cluster->volumes, &l->cluster->names, l->shape->namespace, use, &one);
        if (found != FOUND) {
            note_problem(l, needs, found);
        } else if (!has(needs->all, needs->n, one)) {
            needs->missing[needs->n] = missing_driver(l, one.driver);
            needs->all[needs->n++] = one;
        }
    }
    l->may_fail = true;
}

/* --- filtering --- */

static int32_t limit_of(const struct csi_node_facts *csi, sym driver)
{
    for (uint32_t i = 0; i < csi->n_drivers; i++)
        if (csi->drivers[i].driver == driver)
            return csi->drivers[i].most;
    return -1;
}

static bool has_driver(const struct csi_node_facts *csi, sym driver)
{
    for (uint32_t i = 0; csi && i < csi->n_drivers; i++)
        if (csi->drivers[i].driver == driver)
            return true;
    return false;
}

static bool has_limits(const struct csi_node_facts *csi)
{
    for (uint32_t i = 0; csi && i < csi->n_drivers; i++)
        if (csi->drivers[i].most >= 0)
            return true;
    return false;
}

/* What the pods on a node have attached, each once; false if that cannot be told. */
static bool attached_by_pods(const struct cluster *c, node_id node, struct attached_vec *out)
{
    for (uint32_t pod = c->nodes.first_pod[node.i]; pod != ID_NONE;
         pod = c->pods.rows.at[pod].after) {
        const struct spec *spec = cluster_spec(c, (pod_id){pod});
        sym namespace = pods_shape(&c->pods, (pod_id){pod})->namespace;
        for (uint32_t i = 0; i < spec->n_volumes; i++) {
            struct attached one;
            enum found found = find(&c->volumes, &c->names, namespace, &spec->volumes[i], &one);
            if (found == CLAIM_OF_ANOTHER || found == NOT_TRANSLATED)
                return false;
            if (found == FOUND && !has(out->at, out->n, one))
                vec_push(out, one);
        }
    }
    return true;
}

/* What is attached to the node although no pod on it has it, each once. */
static void attached_besides(const struct cluster *c, node_id node, struct attached_vec *all)
{
    const struct things *t = &c->volumes.of[THING_ATTACHMENT];
    uint32_t i = map_find(&c->volumes.attached, c->nodes.name[node.i]);
    for (; i != ID_NONE; i = t->at.at[i].next) {
        const struct attachment_facts *a = things_facts(t, i);
        const struct volume_facts *volume = volumes_volume(&c->volumes, a->volume);
        bool counts = a->attacher != SYM_NONE && volume && volume->driver != SYM_NONE &&
                      volume->in_tree == IN_TREE_NONE;
        struct attached one = {a->attacher, counts ? volume->handle : SYM_NONE, SYM_NONE, false};
        if (counts && !has(all->at, all->n, one))
            vec_push(all, one);
    }
}

static bool is_full(const struct needs *needs, const struct csi_node_facts *csi,
                    const struct attached_vec *all, uint32_t n_by_pods)
{
    for (uint32_t i = 0; i < needs->n; i++) {
        sym driver = needs->all[i].driver;
        int32_t most = limit_of(csi, driver);
        int64_t count = 0, added = 0;
        vec_each(all, a)
            count += a->driver == driver;
        for (uint32_t k = 0; k < needs->n; k++)
            added += needs->all[k].driver == driver && !has(all->at, n_by_pods, needs->all[k]);
        if (most >= 0 && added && count + added > most)
            return true;
    }
    return false;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct needs *needs = cls;
    const struct csi_node_facts *csi = volumes_csi_node(&c->volumes, c->nodes.name[node.i]);
    if (needs->refusal || (needs->is_broken && csi))
        return needs->refusal ? needs->refusal : needs->error;
    bool has_new = false;
    for (uint32_t i = 0; i < needs->n; i++) {
        if (needs->all[i].needs_csi_node && !csi)
            continue;
        has_new = true;
        if (needs->missing[i] && !has_driver(csi, needs->all[i].driver))
            return needs->missing[i];
    }
    if (!has_new || !has_limits(csi))
        return 0;
    struct attached_vec all = {0};
    bool is_clear = attached_by_pods(c, node, &all);
    uint32_t n_by_pods = all.n;
    attached_besides(c, node, &all);
    reason_id reason = !is_clear                              ? needs->error
                       : is_full(needs, csi, &all, n_by_pods) ? needs->full
                                                              : 0;
    vec_done(&all);
    return reason;
}

/* --- waking --- */

static bool may_be_attached(const struct volume_use *use)
{
    return use->kind == VOLUME_CLAIM || use->kind == VOLUME_EPHEMERAL || use->kind == VOLUME_DISK;
}

static bool hint_gone(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    (void)shape;
    if (e->pod_node == SYM_NONE || !e->old_shape)
        return false;
    const struct spec *gone = specs_at(&c->specs, e->old_shape->spec);
    for (uint32_t i = 0; i < gone->n_volumes; i++)
        if (may_be_attached(&gone->volumes[i]))
            return true;
    return false;
}

static bool hint_claim(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    return e->namespace == shape->namespace &&
           volumes_spec_has(specs_at(&c->specs, shape->spec), e->name, true);
}

static bool hint_detached(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    for (uint32_t i = 0; i < spec->n_volumes; i++) {
        const struct volume_use *use = &spec->volumes[i];
        if (use->kind == VOLUME_CLAIM ||
            (use->kind == VOLUME_DISK && c->volumes.in_tree_driver[use->in_tree] == e->name))
            return true;
    }
    return false;
}

static const struct wake wakes[] = {
    {EVENT_CSI_NODE, ACTION_ADD | ACTION_CSI_LIMIT, NULL},
    {EVENT_ASSIGNED_POD, ACTION_DELETE, hint_gone},
    {EVENT_CLAIM, ACTION_ADD, hint_claim},
    {EVENT_ATTACHMENT, ACTION_DELETE, hint_detached},
    {0},
};

const struct plugin plugin_node_volume_limits = {
    .name = "NodeVolumeLimits",
    .row_columns = COLUMN_USED | COLUMN_VOLUMES,
    .class_size = sizeof(struct needs),
    .learn = learn,
    .row_filter = row_filter,
    .wakes = wakes,
};
