/* A pod needs its volumes where it runs. Claims that are bound: the node must reach the volume.
 * Claims that wait for their first consumer: there must be a free volume that the node reaches, or
 * the class must be able to make one there. Any other unbound claim keeps the pod from everywhere.
 *
 * All that is asked of claims, volumes and classes is learned once: when one of them changes, the
 * class of the pod is another one. Only the node is left to ask.
 *
 * Once it is chosen, a free volume is told whose it is, and a claim that gets a new one for which
 * node; the rest is done by others (the PersistentVolume controller, a driver's provisioner), and
 * the pod is bound when its claims are. */

#include <stdlib.h>

#include "core/base/real.h"
#include "core/framework/plugin.h"
#include "core/plugins/args.h"
#include "core/wire/json_write.h"

enum {
    NO_NODE = 1, /* a bound volume is out of the node's reach; in upstream's order of texts */
    NO_VOLUME = 2,
    NO_SPACE = 4,
    NOT_THERE = 8, /* a claim is bound to a volume that is gone */
};

enum { DEFAULT_TIMEOUT_MS = 600000 };

struct candidate {
    uint32_t volume; /* its number: what is taken for one claim is not for the next */
    const struct volume_facts *facts;
    struct str name;
    bool is_promised; /* bound to this very claim already */
};

struct pool {
    const struct capacity_facts *facts;
    struct str namespace, name;
};

/* An unbound claim. */
struct wanted {
    sym name;
    const struct claim_facts *claim;
    const struct class_facts *class;
    const struct candidate
        *candidates; /* promised ones first, then by size; by name among equals */
    uint32_t n_candidates;
    const struct pool *pools; /* of the class, large enough; by name */
    uint32_t n_pools;
    bool checks_space;
    uint32_t order; /* as the pod lists them */
};

/* What a node would give to an unbound claim. */
struct gift {
    const struct candidate *volume;    /* NULL: one is made */
    const struct capacity_facts *pool; /* from this; NULL: nobody counts */
};

/* How full what a class gives would be. */
struct fill {
    sym class;
    int64_t requested, capacity;
};

struct needs {
    const struct volume_facts **bound; /* NULL: gone */
    uint32_t n_bound;
    struct wanted *wanted; /* those whose node is chosen already first, then by size */
    uint32_t n_wanted;
    struct gift *gifts; /* room for one node's, by wanted claim */
    struct fill *fills;
    sym namespace; /* of the pod and its claims */
    int64_t timeout_ms;
    const struct shape_point *shape;
    uint32_t n_shape;
    reason_id reasons[16]; /* by NO_* together */
    reason_id error;
};

/* --- learning --- */

static const struct shape_point default_shape[] = {{0, 10}, {100, 0}};

static bool is_promised_to(const struct volume_facts *v, const struct claim_facts *claim,
                           sym namespace, sym name)
{
    return v->claim_name == name && v->claim_namespace == namespace &&
           (v->claim_uid == SYM_NONE || v->claim_uid == claim->uid);
}

/* Could the volume be the claim's, wherever the pod goes? */
static bool may_match(const struct cluster *c, const struct volume_facts *v,
                      const struct claim_facts *claim, bool is_promised)
{
    if ((v->claim_name != SYM_NONE && !is_promised) || v->is_terminating ||
        v->class != claim->class || v->is_block != claim->is_block ||
        v->attributes_class != claim->attributes_class ||
        storage_compare(v->capacity, claim->request) < 0)
        return false;
    if (is_promised)
        return true;
    bool is_selected =
        claim->selector == ID_NONE ||
        selector_matches(matches_selector_at(&c->matches, claim->selector), &c->names, v->labels);
    return v->is_available && is_selected && (claim->access & ~v->access) == 0;
}

static int by_choice(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->is_promised != y->is_promised)
        return x->is_promised ? -1 : 1;
    int size = x->is_promised ? 0 : storage_compare(x->facts->capacity, y->facts->capacity);
    return size ? size : str_compare(x->name, y->name);
}

static void find_candidates(struct learning *l, struct wanted *w, sym claim_name)
{
    const struct cluster *c = l->cluster;
    const struct things *t = &c->volumes.of[THING_VOLUME];
    struct candidate *all = arena_array(l->mem, struct candidate, t->at.n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->at.n; i++) {
        if (t->at.at[i].facts == ID_NONE)
            continue;
        const struct volume_facts *v = things_facts(t, i);
        bool is_promised = is_promised_to(v, w->claim, l->shape->namespace, claim_name);
        if (may_match(c, v, w->claim, is_promised))
            all[n++] =
                (struct candidate){i, v, names_text(&c->names, t->at.at[i].name), is_promised};
    }
    if (n > 1)
        qsort(all, n, sizeof(*all), by_choice);
    w->candidates = all;
    w->n_candidates = n;
}

static int by_name(const void *a, const void *b)
{
    const struct pool *x = a, *y = b;
    int namespace = str_compare(x->namespace, y->namespace);
    return namespace ? namespace : str_compare(x->name, y->name);
}

/* Where a driver that keeps books says there is room for the claim. */
static void find_pools(struct learning *l, struct wanted *w)
{
    const struct cluster *c = l->cluster;
    const struct driver_facts *driver = volumes_driver(&c->volumes, w->class->provisioner);
    w->checks_space = w->claim->has_request && driver && driver->tracks_capacity;
    if (!w->checks_space)
        return;
    const struct things *t = &c->volumes.of[THING_CAPACITY];
    struct pool *all = arena_array(l->mem, struct pool, t->at.n);
    for (uint32_t i = 0; i < t->at.n; i++) {
        const struct thing *thing = &t->at.at[i];
        const struct capacity_facts *f = thing->facts == ID_NONE ? NULL : things_facts(t, i);
        bool is_usable = f && f->class == w->claim->class && f->has_topology && f->has_limit &&
                         f->limit_bytes >= w->claim->request.bytes;
        if (is_usable)
            all[w->n_pools++] = (struct pool){f, names_text(&c->names, thing->namespace),
                                              names_text(&c->names, thing->name)};
    }
    if (w->n_pools > 1)
        qsort(all, w->n_pools, sizeof(*all), by_name);
    w->pools = all;
}

static bool has_node(const struct wanted *w)
{
    return w->claim->selected_node != SYM_NONE;
}

static int by_turn(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    if (has_node(x) != has_node(y))
        return has_node(x) ? -1 : 1;
    int size = has_node(x) ? 0 : storage_compare(x->claim->request, y->claim->request);
    return size ? size : (x->order > y->order) - (x->order < y->order);
}

/* What is wrong with a claim before it is asked where it is. */
static bool is_usable(struct learning *l, const struct volume_use *use,
                      const struct claim_facts *claim)
{
    const struct names *names = &l->cluster->names;
    struct str name = names_text(names, use->name);
    bool is_ephemeral = use->kind == VOLUME_EPHEMERAL;
    struct str text = {0};
    if (!claim && is_ephemeral)
        text = arena_printf(l->mem,
                            "waiting for ephemeral volume controller to create the "
                            "persistentvolumeclaim \"" STR_FMT "\"",
                            STR_ARG(name));
    else if (!claim)
        text =
            arena_printf(l->mem, "persistentvolumeclaim \"" STR_FMT "\" not found", STR_ARG(name));
    else if (claim->is_lost)
        text = arena_printf(l->mem,
                            "persistentvolumeclaim \"" STR_FMT
                            "\" bound to non-existent persistentvolume \"" STR_FMT "\"",
                            STR_ARG(name), STR_ARG(names_text(names, claim->volume)));
    else if (claim->is_terminating)
        text = arena_printf(l->mem, "persistentvolumeclaim \"" STR_FMT "\" is being deleted",
                            STR_ARG(name));
    else if (is_ephemeral && claim->owner_uid != use->pod_uid) {
        struct str namespace = names_text(names, l->shape->namespace);
        text = arena_printf(l->mem,
                            "PVC " STR_FMT "/" STR_FMT " was not created for pod " STR_FMT
                            "/" STR_FMT " (pod is not owner)",
                            STR_ARG(namespace), STR_ARG(name), STR_ARG(namespace),
                            STR_ARG(names_text(names, use->pod)));
    }
    if (text.n)
        learning_refuse(l, text);
    return text.n == 0;
}

/* False if the claim should be bound by now and is not. */
static bool sort_claim(struct learning *l, struct needs *needs, const struct volume_use *use,
                       const struct claim_facts *claim)
{
    const struct volumes *v = &l->cluster->volumes;
    if (claim->is_bound) {
        needs->bound[needs->n_bound++] = volumes_volume(v, claim->volume);
        return true;
    }
    const struct class_facts *class = volumes_class(v, claim->class);
    if (!class || !class->waits || claim->volume != SYM_NONE)
        return false;
    struct wanted *w = &needs->wanted[needs->n_wanted];
    *w = (struct wanted){
        .name = use->name, .claim = claim, .class = class, .order = needs->n_wanted++};
    find_candidates(l, w, use->name);
    find_pools(l, w);
    return true;
}

static void make_reasons(struct learning *l, struct needs *needs)
{
    static const struct str texts[] = {
        STR("node(s) didn't match PersistentVolume's node affinity"),
        STR("node(s) didn't find available persistent volumes to bind"),
        STR("node(s) did not have enough free storage"),
        STR("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
    };
    for (uint32_t mask = 1; mask < LEN(needs->reasons); mask++) {
        struct str some[LEN(texts)];
        uint32_t n = 0;
        for (uint32_t i = 0; i < LEN(texts); i++)
            if (mask >> i & 1)
                some[n++] = texts[i];
        needs->reasons[mask] = reasons_own(l->reasons, l->plugin, CODE_UNRESOLVABLE, some, n);
    }
    needs->error = learning_reason(l, CODE_ERROR,
                                   "running \"VolumeBinding\" filter plugin: a volume cannot be "
                                   "translated for a CSI driver");
}

static bool is_claim(const struct volume_use *use)
{
    return use->kind == VOLUME_CLAIM || use->kind == VOLUME_EPHEMERAL;
}

static void learn(struct learning *l, void *cls)
{
    struct needs *needs = cls;
    const struct volume_args *args = l->args;
    const struct volumes *v = &l->cluster->volumes;
    l->scores = !l->cluster->overlooks_capacity;
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->spec->n_volumes; i++)
        n += is_claim(&l->spec->volumes[i]);
    l->scores_nothing = n == 0;
    if (n == 0)
        return;
    needs->namespace = l->shape->namespace;
    needs->timeout_ms = args ? args->timeout_ms : DEFAULT_TIMEOUT_MS;
    needs->shape = args && args->shape.n ? args->shape.at : default_shape;
    needs->n_shape = args && args->shape.n ? args->shape.n : LEN(default_shape);
    needs->bound = arena_array(l->mem, const struct volume_facts *, n);
    needs->wanted = arena_array(l->mem, struct wanted, n);
    needs->gifts = arena_array(l->mem, struct gift, n);
    needs->fills = arena_array(l->mem, struct fill, n);
    bool is_late = false;
    for (int pass = 0; pass < 2; pass++) /* all must be usable before any is asked where it is */
        for (uint32_t i = 0; i < l->spec->n_volumes; i++) {
            const struct volume_use *use = &l->spec->volumes[i];
            if (!is_claim(use))
                continue;
            const struct claim_facts *claim = volumes_claim(v, l->shape->namespace, use->name);
            if (pass == 0 && !is_usable(l, use, claim))
                return;
            if (pass == 1)
                is_late |= !sort_claim(l, needs, use, claim);
        }
    if (is_late) {
        learning_refuse(l, STR("pod has unbound immediate PersistentVolumeClaims"));
        return;
    }
    if (needs->n_wanted > 1)
        qsort(needs->wanted, needs->n_wanted, sizeof(struct wanted), by_turn);
    make_reasons(l, needs);
    l->filters = true;
    l->may_fail = true;
    l->reserves = needs->n_wanted > 0;
}

/* --- one node --- */

static bool reaches(const struct cluster *c, rules_id rules, node_id node)
{
    return cluster_rules_allow(c, rules, node, SYM_NONE);
}

/* The first bound volume that is gone or out of reach decides. `error` if one cannot be judged. */
static uint32_t check_bound(const struct cluster *c, const struct needs *needs, node_id node,
                            bool *is_error)
{
    const struct csi_node_facts *csi = volumes_csi_node(&c->volumes, c->nodes.name[node.i]);
    for (uint32_t i = 0; i < needs->n_bound; i++) {
        const struct volume_facts *v = needs->bound[i];
        if (!v)
            return NOT_THERE;
        bool is_migrated = csi && v->in_tree && csi->migrated >> v->in_tree & 1;
        if (is_migrated && v->handle == SYM_NONE) {
            *is_error = true;
            return 0;
        }
        if (!reaches(c, is_migrated ? v->migrated_rules : v->rules, node))
            return NO_NODE;
    }
    return 0;
}

/* The volume for a claim that none of the claims before it takes; NULL: none. */
static const struct candidate *find_match(const struct cluster *c, const struct needs *needs,
                                          const struct wanted *w, node_id node)
{
    for (uint32_t i = 0; i < w->n_candidates; i++) {
        const struct candidate *one = &w->candidates[i];
        bool is_taken = false;
        for (const struct gift *g = needs->gifts; g < needs->gifts + (w - needs->wanted); g++)
            is_taken |= g->volume && g->volume->volume == one->volume;
        if (is_taken)
            continue;
        if (reaches(c, one->facts->rules, node))
            return one;
        if (one->is_promised) /* the claim's volume, and not here: no other will do */
            return NULL;
    }
    return NULL;
}

/* Can a volume be made for the claim, for this node? */
static uint32_t check_provision(const struct cluster *c, const struct wanted *w, node_id node,
                                struct gift *gift)
{
    if (!w->class->provides || !reaches(c, w->class->topologies, node))
        return NO_VOLUME;
    if (!w->checks_space)
        return 0;
    for (uint32_t i = 0; i < w->n_pools; i++)
        if (reaches(c, w->pools[i].facts->topology, node)) {
            gift->pool = w->pools[i].facts;
            return 0;
        }
    return NO_SPACE;
}

/* What stands against the node, as NO_*; nothing: the gifts are filled. */
static uint32_t check_wanted(const struct cluster *c, const struct needs *needs, node_id node)
{
    for (uint32_t i = 0; i < needs->n_wanted; i++)
        if (has_node(&needs->wanted[i]) &&
            needs->wanted[i].claim->selected_node != c->nodes.name[node.i])
            return NO_VOLUME;
    for (uint32_t i = 0; i < needs->n_wanted; i++) {
        const struct wanted *w = &needs->wanted[i];
        needs->gifts[i] = (struct gift){has_node(w) ? NULL : find_match(c, needs, w, node), NULL};
    }
    for (uint32_t i = 0; i < needs->n_wanted; i++) {
        struct gift *gift = &needs->gifts[i];
        uint32_t wrong = gift->volume ? 0 : check_provision(c, &needs->wanted[i], node, gift);
        if (wrong)
            return wrong;
    }
    return 0;
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct needs *needs = cls;
    bool is_error = false;
    uint32_t wrong = check_bound(c, needs, node, &is_error);
    if (is_error)
        return needs->error;
    wrong |= check_wanted(c, needs, node);
    return needs->reasons[wrong];
}

/* --- scores --- */

static struct fill *fill_of(struct fill *all, uint32_t *n, sym class)
{
    for (uint32_t i = 0; i < *n; i++)
        if (all[i].class == class)
            return &all[i];
    all[*n] = (struct fill){class, 0, 0};
    return &all[(*n)++];
}

static int64_t score_fill(const struct needs *needs, const struct fill *f)
{
    bool is_full = f->capacity == 0 || f->requested > f->capacity;
    int64_t used = is_full ? 100 : wrap_mul(f->requested, 100) / f->capacity;
    return shape_value(needs->shape, needs->n_shape, used);
}

/* How full the volumes would be, or what they are made from; by class, all alike. */
static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct needs *needs = cls;
    const struct gift *gifts = needs->gifts;
    uint32_t n = 0;
    bool has_volume = false;
    if (needs->n_wanted == 0 || check_wanted(c, needs, node))
        return 0;
    for (uint32_t i = 0; i < needs->n_wanted; i++)
        has_volume |= gifts[i].volume != NULL;
    for (uint32_t i = 0; i < needs->n_wanted; i++) {
        const struct claim_facts *claim = needs->wanted[i].claim;
        if (has_volume && gifts[i].volume) {
            struct fill *f = fill_of(needs->fills, &n, gifts[i].volume->facts->spec_class);
            f->requested = wrap_add(f->requested, claim->request.bytes);
            f->capacity = wrap_add(f->capacity, gifts[i].volume->facts->capacity.bytes);
        } else if (!has_volume && gifts[i].pool) {
            struct fill *f = fill_of(needs->fills, &n, claim->spec_class);
            f->requested = wrap_add(f->requested, claim->request.bytes);
            f->capacity = gifts[i].pool->capacity_bytes;
        }
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += score_fill(needs, &needs->fills[i]);
    return n ? trunc_i64(real_round((double)sum / (double)n)) : 0;
}

/* --- binding --- */

/* One member of an object, as a patch has it: its value opens, is filled, and closes. */
static struct str members(struct buf *text, struct arena *mem)
{
    return arena_str(mem, str_part(buf_str(text), 1, text->n - 1));
}

static struct str write_annotation(const char *key, struct str value, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_open(&j, "annotations", '{');
    put_text(&j, key, value);
    json_put_close(&j, '}');
    json_put_close(&j, '}');
    return members(&text, mem);
}

static struct str write_claim_ref(const struct names *names, const struct needs *needs,
                                  const struct wanted *w, uint64_t version, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    put_open(&j, "spec", '{');
    put_open(&j, "claimRef", '{');
    put_text(&j, "apiVersion", STR("v1"));
    put_text(&j, "kind", STR("PersistentVolumeClaim"));
    put_text(&j, "name", names_text(names, w->name));
    put_text(&j, "namespace", names_text(names, needs->namespace));
    put_text(&j, "resourceVersion", arena_printf(mem, "%llu", (unsigned long long)version));
    put_text(&j, "uid", names_text(names, w->claim->uid));
    for (int i = 0; i < 3; i++)
        json_put_close(&j, '}');
    return members(&text, mem);
}

static void add_prebind_task(struct reserving *r, struct prebind_task prebind_task,
                             const struct patch *patch)
{
    if (patch) {
        prebind_task.patches = arena_copy(r->mem, patch, sizeof(*patch));
        prebind_task.n_patches = 1;
    }
    vec_push(&r->prebind_tasks, prebind_task);
}

/* The volume is told whose it is, unless it knows. */
static void reserve_volume(struct reserving *r, const struct needs *needs, const struct wanted *w,
                           const struct candidate *one)
{
    struct cluster *c = r->cluster;
    const struct thing *thing = &c->volumes.of[THING_VOLUME].at.at[one->volume];
    struct prebind_task prebind_task = {KIND_PERSISTENT_VOLUME, SYM_NONE, thing->name,
                                        thing->version,         NULL,     0};
    if (one->is_promised && one->facts->claim_uid == w->claim->uid) {
        add_prebind_task(r, prebind_task, NULL);
        return;
    }
    uint64_t version = volumes_version(&c->volumes, THING_CLAIM, needs->namespace, w->name);
    struct patch patch = {.body = write_claim_ref(&c->names, needs, w, version, r->mem)};
    if (!one->is_promised)
        patch.meta = write_annotation("pv.kubernetes.io/bound-by-controller", STR("yes"), r->mem);
    add_prebind_task(r, prebind_task, &patch);
    struct volume_facts facts;
    memcpy(&facts, one->facts, sizeof(facts));
    facts.claim_namespace = needs->namespace;
    facts.claim_name = w->name;
    facts.claim_uid = w->claim->uid;
    cluster_assume(c, THING_VOLUME, one->volume, volumes_facts(c, THING_VOLUME, &facts));
}

/* Whoever makes volumes of the claim's class is told for which node, unless he knows. */
static void reserve_provision(struct reserving *r, const struct needs *needs,
                              const struct wanted *w)
{
    struct cluster *c = r->cluster;
    uint32_t i = volumes_find(&c->volumes, THING_CLAIM, needs->namespace, w->name);
    const struct thing *thing = &c->volumes.of[THING_CLAIM].at.at[i];
    struct prebind_task prebind_task = {
        KIND_PERSISTENT_VOLUME_CLAIM, needs->namespace, w->name, thing->version, NULL, 0};
    sym node = c->nodes.name[r->node.i];
    if (w->claim->selected_node == node) {
        add_prebind_task(r, prebind_task, NULL);
        return;
    }
    struct patch patch = {.meta = write_annotation("volume.kubernetes.io/selected-node",
                                                   names_text(&c->names, node), r->mem)};
    add_prebind_task(r, prebind_task, &patch);
    struct claim_facts facts;
    memcpy(&facts, w->claim, sizeof(facts));
    facts.selected_node = node;
    facts.is_annotated = true;
    cluster_assume(c, THING_CLAIM, i, volumes_facts(c, THING_CLAIM, &facts));
}

static void reserve(struct reserving *r, const void *cls)
{
    const struct needs *needs = cls;
    bool is_clear = check_wanted(r->cluster, needs, r->node) == 0; /* fills the gifts */
    assert(is_clear);
    r->timeout_ms = needs->timeout_ms;
    for (uint32_t i = 0; i < needs->n_wanted; i++)
        if (needs->gifts[i].volume)
            reserve_volume(r, needs, &needs->wanted[i], needs->gifts[i].volume);
    for (uint32_t i = 0; i < needs->n_wanted; i++)
        if (!needs->gifts[i].volume)
            reserve_provision(r, needs, &needs->wanted[i]);
}

static void release(struct cluster *c, const struct prebind_task *e)
{
    enum thing_kind kind = e->kind == KIND_PERSISTENT_VOLUME ? THING_VOLUME : THING_CLAIM;
    volumes_unassume(&c->volumes, kind, e->namespace, e->name, e->version);
}

/* --- whether it is done --- */

static enum prebind_state fail(struct prebind_ask *ask, struct str why)
{
    ask->why = arena_printf(ask->mem, "binding volumes: " STR_FMT, STR_ARG(why));
    return PREBIND_FAILED;
}

static enum prebind_state fail_missing(struct prebind_ask *ask, const char *what, const char *kind,
                                       struct str name)
{
    return fail(
        ask, arena_printf(ask->mem, "%s: %s \"" STR_FMT "\" not found", what, kind, STR_ARG(name)));
}

/* Can the pod's node reach the volume? Its labels may be others by now. */
static bool is_in_reach(const struct prebind_ask *ask, const struct volume_facts *v)
{
    const struct cluster *c = ask->cluster;
    node_id node = {pods_at(&c->pods, ask->pod)->node};
    const struct csi_node_facts *csi = volumes_csi_node(&c->volumes, c->nodes.name[node.i]);
    bool is_migrated = csi && v->in_tree && csi->migrated >> v->in_tree & 1;
    return reaches(c, is_migrated ? v->migrated_rules : v->rules, node);
}

static enum prebind_state fail_reach(struct prebind_ask *ask, struct str volume, struct str node)
{
    return fail(ask, arena_printf(ask->mem,
                                  "pv \"" STR_FMT "\" node affinity doesn't match node \"" STR_FMT
                                  "\": no matching NodeSelectorTerms",
                                  STR_ARG(volume), STR_ARG(node)));
}

/* A volume that was told whose it is. */
static enum prebind_state look_at_volume(struct prebind_ask *ask, struct str node)
{
    const struct cluster *c = ask->cluster;
    const struct shape *shape = pods_shape(&c->pods, ask->pod);
    struct str name = names_text(&c->names, ask->prebind_task->name);
    const struct volume_facts *v = volumes_volume(&c->volumes, ask->prebind_task->name);
    if (!v)
        return fail_missing(ask, "failed to check binding", "persistentvolumes", name);
    if (!is_in_reach(ask, v))
        return fail_reach(ask, name, node);
    if (v->claim_name == SYM_NONE || v->claim_uid == SYM_NONE)
        return fail(ask, arena_printf(ask->mem, "ClaimRef got reset for pv \"" STR_FMT "\"",
                                      STR_ARG(name)));
    bool is_ours = v->claim_namespace == shape->namespace &&
                   volumes_spec_has(cluster_spec(c, ask->pod), v->claim_name, true);
    const struct claim_facts *claim =
        volumes_told_claim(&c->volumes, v->claim_namespace, v->claim_name);
    if (is_ours && !claim)
        return fail_missing(ask, "failed to check binding", "persistentvolumeclaims",
                            arena_printf(ask->mem, STR_FMT "/" STR_FMT,
                                         STR_ARG(names_text(&c->names, v->claim_namespace)),
                                         STR_ARG(names_text(&c->names, v->claim_name))));
    return is_ours && claim->is_bound ? PREBIND_DONE : PREBIND_OPEN;
}

/* A claim that was told for which node. Whoever cannot make the volume there takes that back. */
static enum prebind_state look_at_claim(struct prebind_ask *ask, struct str node)
{
    const struct cluster *c = ask->cluster;
    const struct prebind_task *e = ask->prebind_task;
    struct str name = names_text(&c->names, e->name);
    const struct claim_facts *claim = volumes_claim(&c->volumes, e->namespace, e->name);
    if (!claim)
        return fail_missing(ask, "failed to check provisioning pvc", "persistentvolumeclaims",
                            arena_printf(ask->mem, STR_FMT "/" STR_FMT,
                                         STR_ARG(names_text(&c->names, e->namespace)),
                                         STR_ARG(name)));
    if (!claim->is_annotated)
        return fail(ask,
                    arena_printf(ask->mem, "selectedNode annotation reset for PVC \"" STR_FMT "\"",
                                 STR_ARG(name)));
    if (!str_equal(names_text(&c->names, claim->selected_node), node))
        return fail(ask, arena_printf(ask->mem, "provisioning failed for PVC \"" STR_FMT "\"",
                                      STR_ARG(name)));
    if (claim->volume == SYM_NONE)
        return PREBIND_OPEN;
    const struct volume_facts *v = volumes_told_volume(&c->volumes, claim->volume);
    if (!v) /* it may not have come yet; if it never does, the claim is unbound some day */
        return PREBIND_OPEN;
    if (!is_in_reach(ask, v))
        return fail_reach(ask, names_text(&c->names, claim->volume), node);
    return claim->is_bound ? PREBIND_DONE : PREBIND_OPEN;
}

static enum prebind_state look(struct prebind_ask *ask)
{
    const struct cluster *c = ask->cluster;
    node_id node = {pods_at(&c->pods, ask->pod)->node};
    struct str name = names_text(&c->names, c->nodes.name[node.i]);
    if (!nodes_is_present(&c->nodes, node))
        return fail(ask, arena_printf(ask->mem,
                                      "failed to get node \"" STR_FMT "\": node \"" STR_FMT
                                      "\" not found",
                                      STR_ARG(name), STR_ARG(name)));
    enum prebind_state state = ask->prebind_task->kind == KIND_PERSISTENT_VOLUME
                                   ? look_at_volume(ask, name)
                                   : look_at_claim(ask, name);
    return state == PREBIND_OPEN && ask->is_late ? fail(ask, STR("context deadline exceeded"))
                                                 : state;
}

/* --- waking --- */

static bool hint_claim(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    return e->namespace == shape->namespace &&
           volumes_spec_has(specs_at(&c->specs, shape->spec), e->name, true);
}

static bool hint_driver(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    const struct spec *spec = specs_at(&c->specs, shape->spec);
    for (uint32_t i = 0; i < spec->n_volumes; i++)
        if (spec->volumes[i].kind == VOLUME_CSI && spec->volumes[i].name == e->name)
            return true;
    return false;
}

static const struct wake wakes[] = {
    {EVENT_STORAGE_CLASS, ACTION_ADD | ACTION_CLASS_TOPOLOGY, NULL},
    {EVENT_CLAIM, ACTION_ADD | ACTION_UPDATE, hint_claim},
    {EVENT_VOLUME, ACTION_ADD | ACTION_UPDATE, NULL},
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL, NULL},
    {EVENT_CSI_NODE, ACTION_ADD | ACTION_CSI_MIGRATED, NULL},
    {EVENT_CSI_DRIVER, ACTION_DRIVER_UNTRACKED, hint_driver},
    {EVENT_CAPACITY, ACTION_ADD | ACTION_CAPACITY_GREW, NULL},
    {0},
};

const struct plugin plugin_volume_binding = {
    .name = "VolumeBinding",
    .about = ABOUT_VOLUMES,
    .row_columns = COLUMN_LABELS | COLUMN_VOLUMES,
    .class_size = sizeof(struct needs),
    .learn = learn,
    .row_filter = row_filter,
    .row_score = row_score,
    .reserve = reserve,
    .look = look,
    .release = release,
    .wakes = wakes,
};
