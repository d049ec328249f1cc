#include "core/cluster/volumes.h"

#include "core/cluster/event.h"

int storage_compare(struct storage a, struct storage b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
}

/* --- finding --- */

static uint64_t key_of(sym namespace, sym name)
{
    return (uint64_t) namespace << 32 | name;
}

static uint32_t find(const struct things *t, sym namespace, sym name)
{
    return name == SYM_NONE ? MAP_NONE : map_find(&t->by_name, key_of(namespace, name));
}

uint32_t volumes_find(const struct volumes *v, enum thing_kind kind, sym namespace, sym name)
{
    const struct things *t = &v->of[kind];
    uint32_t i = find(t, namespace, name);
    return i == MAP_NONE || t->at.at[i].facts == ID_NONE ? ID_NONE : i;
}

static const void *told_facts(const struct things *t, uint32_t thing)
{
    return intern_bytes(&t->facts.table, t->at.at[thing].facts).p;
}

const void *things_facts(const struct things *t, uint32_t thing)
{
    uint32_t assumed = t->at.at[thing].assumed;
    return assumed == ID_NONE ? told_facts(t, thing) : intern_bytes(&t->facts.table, assumed).p;
}

static const void *find_facts(const struct volumes *v, enum thing_kind kind, sym namespace,
                              sym name)
{
    uint32_t i = volumes_find(v, kind, namespace, name);
    return i == ID_NONE ? NULL : things_facts(&v->of[kind], i);
}

const struct volume_facts *volumes_told_volume(const struct volumes *v, sym name)
{
    uint32_t i = volumes_find(v, THING_VOLUME, SYM_NONE, name);
    return i == ID_NONE ? NULL : told_facts(&v->of[THING_VOLUME], i);
}

const struct claim_facts *volumes_told_claim(const struct volumes *v, sym namespace, sym name)
{
    uint32_t i = volumes_find(v, THING_CLAIM, namespace, name);
    return i == ID_NONE ? NULL : told_facts(&v->of[THING_CLAIM], i);
}

uint64_t volumes_version(const struct volumes *v, enum thing_kind kind, sym namespace, sym name)
{
    uint32_t i = volumes_find(v, kind, namespace, name);
    return i == ID_NONE ? 0 : v->of[kind].at.at[i].version;
}

const struct volume_facts *volumes_volume(const struct volumes *v, sym name)
{
    return find_facts(v, THING_VOLUME, SYM_NONE, name);
}

const struct claim_facts *volumes_claim(const struct volumes *v, sym namespace, sym name)
{
    return find_facts(v, THING_CLAIM, namespace, name);
}

const struct class_facts *volumes_class(const struct volumes *v, sym name)
{
    return find_facts(v, THING_CLASS, SYM_NONE, name);
}

const struct driver_facts *volumes_driver(const struct volumes *v, sym name)
{
    return find_facts(v, THING_DRIVER, SYM_NONE, name);
}

const struct csi_node_facts *volumes_csi_node(const struct volumes *v, sym node)
{
    return find_facts(v, THING_CSI_NODE, SYM_NONE, node);
}

sym volumes_attacher(const struct volumes *v, sym name)
{
    const struct attachment_facts *f = find_facts(v, THING_ATTACHMENT, SYM_NONE, name);
    return f ? f->attacher : SYM_NONE;
}

uint32_t volumes_users(const struct volumes *v, sym namespace, sym name)
{
    uint32_t i = find(&v->of[THING_CLAIM], namespace, name);
    return i == MAP_NONE ? 0 : v->of[THING_CLAIM].at.at[i].users;
}

uint32_t volumes_users_of_name(const struct volumes *v, sym name)
{
    uint32_t n = map_find(&v->named, name);
    return n == MAP_NONE ? 0 : n;
}

bool volumes_spec_has(const struct spec *spec, sym claim, bool also_ephemeral)
{
    for (uint32_t i = 0; i < spec->n_volumes; i++) {
        const struct volume_use *v = &spec->volumes[i];
        bool is_claim = v->kind == VOLUME_CLAIM || (also_ephemeral && v->kind == VOLUME_EPHEMERAL);
        if (is_claim && v->name == claim)
            return true;
    }
    return false;
}

/* --- things --- */

/* The number for a name, made if it is new. */
static uint32_t get(struct things *t, struct names *names, sym namespace, sym name)
{
    uint32_t i = find(t, namespace, name);
    if (i != MAP_NONE)
        return i;
    i = t->free.n ? vec_pop(&t->free) : t->at.n;
    if (i == t->at.n)
        vec_push(&t->at, (struct thing){0});
    t->at.at[i] = (struct thing){.namespace = namespace,
                                 .name = name,
                                 .facts = ID_NONE,
                                 .next = ID_NONE,
                                 .assumed = ID_NONE};
    map_put(&t->by_name, key_of(namespace, name), i);
    intern_hold(&names->text, name);
    if (namespace != SYM_NONE)
        intern_hold(&names->text, namespace);
    return i;
}

static void release_if_unused(struct things *t, struct names *names, uint32_t i)
{
    struct thing *thing = &t->at.at[i];
    if (thing->facts != ID_NONE || thing->users)
        return;
    map_remove(&t->by_name, key_of(thing->namespace, thing->name));
    intern_drop(&names->text, thing->name);
    if (thing->namespace != SYM_NONE)
        intern_drop(&names->text, thing->namespace);
    thing->name = SYM_NONE;
    vec_push(&t->free, i);
}

static enum thing_kind kind_of(enum kind kind)
{
    switch (kind) {
    case KIND_PERSISTENT_VOLUME:
        return THING_VOLUME;
    case KIND_PERSISTENT_VOLUME_CLAIM:
        return THING_CLAIM;
    case KIND_STORAGE_CLASS:
        return THING_CLASS;
    case KIND_CSI_DRIVER:
        return THING_DRIVER;
    case KIND_CSI_STORAGE_CAPACITY:
        return THING_CAPACITY;
    case KIND_CSI_NODE:
        return THING_CSI_NODE;
    case KIND_VOLUME_ATTACHMENT:
        return THING_ATTACHMENT;
    default:
        return N_THINGS;
    }
}

static sym namespace_of(struct cluster *c, const struct object *o)
{
    return kind_info_get(o->kind)->is_namespaced ? names_get(&c->names, o->meta->namespace)
                                                 : SYM_NONE;
}

/* --- attachments, by node --- */

static sym node_of_attachment(const struct things *t, uint32_t i)
{
    return ((const struct attachment_facts *)told_facts(t, i))->node;
}

static void link_attachment(struct volumes *v, uint32_t i)
{
    struct things *t = &v->of[THING_ATTACHMENT];
    sym node = node_of_attachment(t, i);
    t->at.at[i].next = map_find(&v->attached, node); /* MAP_NONE is ID_NONE */
    map_put(&v->attached, node, i);
}

static void unlink_attachment(struct volumes *v, uint32_t i)
{
    struct things *t = &v->of[THING_ATTACHMENT];
    sym node = node_of_attachment(t, i);
    uint32_t at = map_find(&v->attached, node), next = t->at.at[i].next;
    if (at != i) {
        while (t->at.at[at].next != i)
            at = t->at.at[at].next;
        t->at.at[at].next = next;
    } else if (next == ID_NONE) {
        map_remove(&v->attached, node);
    } else {
        map_put(&v->attached, node, next);
    }
}

/* --- changing --- */

void volumes_init(struct volumes *v, struct names *names)
{
    for (int i = IN_TREE_NONE + 1; i < N_IN_TREE; i++) {
        v->in_tree_driver[i] = names_get(names, in_tree_driver((enum in_tree)i));
        intern_hold(&names->text, v->in_tree_driver[i]);
    }
}

static bool limit_grew(const struct csi_node_facts *was, const struct csi_node_facts *is)
{
    for (uint32_t i = 0; i < is->n_drivers; i++) {
        int32_t before = 0, now = MAX(is->drivers[i].most, 0);
        for (uint32_t k = 0; k < was->n_drivers; k++)
            if (was->drivers[k].driver == is->drivers[i].driver)
                before = MAX(was->drivers[k].most, 0);
        if (now > before)
            return true;
    }
    return false;
}

static bool zones_differ(const struct cluster *c, label_set_id was, label_set_id is)
{
    static const struct str keys[] = {STR(LABEL_ZONE), STR(LABEL_REGION), STR(LABEL_BETA_ZONE),
                                      STR(LABEL_BETA_REGION)};
    for (size_t i = 0; i < LEN(keys); i++) {
        sym key = names_find(&c->names, keys[i]);
        if (key != SYM_NONE && names_label(&c->names, was, key) != names_label(&c->names, is, key))
            return true;
    }
    return false;
}

/* Which properties differ that somebody may wait for. */
static uint32_t differences(const struct cluster *c, enum thing_kind kind, const void *was,
                            const void *is)
{
    uint32_t actions = ACTION_OTHER;
    if (kind == THING_VOLUME && zones_differ(c, ((const struct volume_facts *)was)->labels,
                                             ((const struct volume_facts *)is)->labels))
        actions |= ACTION_VOLUME_ZONE;
    if (kind == THING_CLASS && ((const struct class_facts *)was)->topologies !=
                                   ((const struct class_facts *)is)->topologies)
        actions |= ACTION_CLASS_TOPOLOGY;
    if (kind == THING_DRIVER && ((const struct driver_facts *)was)->tracks_capacity &&
        !((const struct driver_facts *)is)->tracks_capacity)
        actions |= ACTION_DRIVER_UNTRACKED;
    if (kind == THING_CAPACITY) {
        const struct capacity_facts *a = was, *b = is;
        if (b->has_limit && (!a->has_limit || b->limit_bytes > a->limit_bytes))
            actions |= ACTION_CAPACITY_GREW;
    }
    if (kind == THING_CSI_NODE) {
        const struct csi_node_facts *a = was, *b = is;
        actions |= a->annotation != b->annotation ? ACTION_CSI_MIGRATED : 0;
        actions |= limit_grew(a, b) ? ACTION_CSI_LIMIT : 0;
    }
    return actions;
}

/* The facts of a CSINode or an attachment belong to a node's row; those of the others to no row. */
static void note_change(struct cluster *c, enum thing_kind kind, uint32_t i)
{
    const struct things *t = &c->volumes.of[kind];
    if (kind != THING_CSI_NODE && kind != THING_ATTACHMENT) {
        c->volumes.generation++;
        return;
    }
    sym name = kind == THING_CSI_NODE ? t->at.at[i].name : node_of_attachment(t, i);
    node_id node = nodes_find(&c->nodes, name);
    if (node.i != ID_NONE)
        change_log_add(&c->log, node, COLUMN_VOLUMES);
}

/* Counts the claim among those that one pod only may use, or out. */
static void count_exclusive(struct volumes *v, enum thing_kind kind, uint32_t i, int sign)
{
    if (kind != THING_CLAIM)
        return;
    const struct claim_facts *claim = told_facts(&v->of[kind], i);
    v->exclusive += claim->access & ACCESS_RWOP ? (uint32_t)sign : 0;
}

uint32_t volumes_set_assumed(struct volumes *v, enum thing_kind kind, uint32_t thing,
                             uint32_t facts)
{
    struct things *t = &v->of[kind];
    uint32_t was = t->at.at[thing].assumed;
    if (was == facts)
        return was;
    if (facts != ID_NONE)
        intern_hold(&t->facts.table, facts);
    if (was != ID_NONE)
        intern_drop(&t->facts.table, was);
    t->at.at[thing].assumed = facts;
    v->generation++;
    return was;
}

bool volumes_unassume(struct volumes *v, enum thing_kind kind, sym namespace, sym name,
                      uint64_t version)
{
    uint32_t i = volumes_find(v, kind, namespace, name);
    return i != ID_NONE && v->of[kind].at.at[i].version == version &&
           volumes_set_assumed(v, kind, i, ID_NONE) != ID_NONE;
}

/* An object of another version says for itself what it is. Returns whether something else was
 * assumed. */
static bool take_version(struct volumes *v, enum thing_kind kind, uint32_t i,
                         const struct meta *meta)
{
    struct thing *thing = &v->of[kind].at.at[i];
    int64_t version;
    if (!str_int(meta->resource_version, &version) || version < 0)
        version = 0;
    bool is_same = version && thing->version == (uint64_t)version;
    thing->version = (uint64_t)version;
    return !is_same && volumes_set_assumed(v, kind, i, ID_NONE) != ID_NONE;
}

/* Takes the facts of a thing away, as far as there are some. */
static void clear(struct cluster *c, enum thing_kind kind, uint32_t i)
{
    struct things *t = &c->volumes.of[kind];
    if (t->at.at[i].facts == ID_NONE)
        return;
    note_change(c, kind, i);
    volumes_set_assumed(&c->volumes, kind, i, ID_NONE);
    count_exclusive(&c->volumes, kind, i, -1);
    if (kind == THING_ATTACHMENT)
        unlink_attachment(&c->volumes, i);
    intern_drop(&t->facts.table, t->at.at[i].facts);
    t->at.at[i].facts = ID_NONE;
}

uint32_t volumes_put(struct cluster *c, const struct object *object)
{
    enum thing_kind kind = kind_of(object->kind);
    struct things *t = &c->volumes.of[kind];
    uint32_t facts = volumes_read(c, kind, object);
    uint32_t i =
        get(t, &c->names, namespace_of(c, object), names_get(&c->names, object->meta->name));
    uint32_t was = t->at.at[i].facts;
    bool was_assumed = take_version(&c->volumes, kind, i, object->meta);
    if (was == facts)
        return was_assumed ? ACTION_OTHER : 0;
    const void *now = intern_bytes(&t->facts.table, facts).p;
    uint32_t actions = ACTION_ADD;
    if (was != ID_NONE)
        actions = differences(c, kind, told_facts(t, i), now);
    else if (kind == THING_CLASS && ((const struct class_facts *)now)->waits)
        actions |= ACTION_CLASS_WAITS;
    intern_hold(&t->facts.table, facts);
    clear(c, kind, i);
    t->at.at[i].facts = facts;
    if (kind == THING_ATTACHMENT)
        link_attachment(&c->volumes, i);
    count_exclusive(&c->volumes, kind, i, +1);
    note_change(c, kind, i);
    return actions;
}

bool volumes_remove(struct cluster *c, const struct object *object)
{
    enum thing_kind kind = kind_of(object->kind);
    struct things *t = &c->volumes.of[kind];
    uint32_t i = find(t, namespace_of(c, object), names_find(&c->names, object->meta->name));
    if (i == MAP_NONE || t->at.at[i].facts == ID_NONE)
        return false;
    clear(c, kind, i);
    release_if_unused(t, &c->names, i);
    return true;
}

void volumes_use(struct cluster *c, pod_id pod, int sign)
{
    struct things *t = &c->volumes.of[THING_CLAIM];
    const struct spec *spec = cluster_spec(c, pod);
    sym namespace = pods_shape(&c->pods, pod)->namespace;
    for (uint32_t k = 0; k < spec->n_volumes; k++) {
        if (spec->volumes[k].kind != VOLUME_CLAIM)
            continue;
        sym name = spec->volumes[k].name;
        uint32_t i = get(t, &c->names, namespace, name);
        uint32_t n = volumes_users_of_name(&c->volumes, name) + (uint32_t)sign;
        t->at.at[i].users += (uint32_t)sign;
        if (n)
            map_put(&c->volumes.named, name, n);
        else
            map_remove(&c->volumes.named, name);
        if (c->volumes.exclusive) /* somebody may be kept out, or not any more */
            c->volumes.generation++;
        release_if_unused(t, &c->names, i);
    }
}

void volumes_done(struct volumes *v)
{
    for (int kind = 0; kind < N_THINGS; kind++) {
        map_done(&v->of[kind].by_name);
        vec_done(&v->of[kind].at);
        vec_done(&v->of[kind].free);
        lists_done(&v->of[kind].facts);
    }
    map_done(&v->attached);
    map_done(&v->named);
}
