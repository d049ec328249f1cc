#include "core/cluster/devices.h"

#include "core/cluster/event.h"
#include "core/cluster/gpu_facts.h"
#include "core/cluster/read.h"
#include "core/model/claim_write.h"

/* --- finding --- */

static uint64_t key_of(sym namespace, sym name)
{
    return (uint64_t) namespace << 32 | name;
}

static uint32_t find(const struct kept_objects *k, sym namespace, sym name)
{
    return name == SYM_NONE ? MAP_NONE : map_find(&k->by_name, key_of(namespace, name));
}

const struct kept_object *devices_claim(const struct devices *d, sym namespace, sym name)
{
    uint32_t i = find(&d->of[KEPT_CLAIM], namespace, name);
    return i == MAP_NONE ? NULL : &d->of[KEPT_CLAIM].at.at[i];
}

const struct device_class *devices_class(const struct devices *d, sym name)
{
    uint32_t i = find(&d->of[KEPT_CLASS], SYM_NONE, name);
    return i == MAP_NONE ? NULL : d->of[KEPT_CLASS].at.at[i].object.device_class;
}

static uint32_t find_consumed(const struct devices *d, sym device, sym capacity)
{
    return device == SYM_NONE || capacity == SYM_NONE
               ? MAP_NONE
               : map_find(&d->consumed_at, key_of(device, capacity));
}

__int128 devices_consumed(const struct devices *d, sym device, sym capacity)
{
    uint32_t i = find_consumed(d, device, capacity);
    return i == MAP_NONE ? 0 : d->consumed.at[i].nano;
}

const struct promise *devices_promise(const struct devices *d, sym namespace, sym claim)
{
    vec_each(&d->promises, p)
        if (p->claim == claim && p->namespace == namespace)
            return p;
    return NULL;
}

sym devices_extended(const struct devices *d, sym uid)
{
    uint32_t i = uid == SYM_NONE ? MAP_NONE : map_find(&d->extended, uid);
    return i == MAP_NONE ? SYM_NONE : d->of[KEPT_CLAIM].at.at[i].name;
}

static bool is_newer(const struct device_class *a, const struct device_class *b)
{
    if (a->meta.created_ms != b->meta.created_ms)
        return a->meta.created_ms > b->meta.created_ms;
    return str_compare(a->meta.name, b->meta.name) < 0;
}

const struct device_class *devices_class_of(const struct devices *d, struct str resource)
{
    const struct device_class *best = NULL, *implicit = NULL;
    bool is_implicit = str_starts(resource, STR(DEVICE_CLASS_PREFIX));
    struct str name = str_part(resource, sizeof(DEVICE_CLASS_PREFIX) - 1, resource.n);
    vec_each(&d->of[KEPT_CLASS].at, k) {
        const struct device_class *class = k->mem ? k->object.device_class : NULL;
        if (class && resource.n && str_equal(class->extended_resource, resource) &&
            (!best || is_newer(class, best)))
            best = class;
        if (class && is_implicit && str_equal(class->meta.name, name))
            implicit = class;
    }
    return best ? best : implicit;
}

uint64_t devices_generation(const struct cluster *c, const struct spec *spec)
{
    const struct devices *d = &c->devices;
    if (spec->n_claims)
        return d->generation + 1;
    if (LIKELY(spec->n_device_asks == 0 || d->of[KEPT_CLASS].by_name.n == 0))
        return 0;
    for (uint32_t i = 0; i < spec->n_device_asks; i++) {
        sym name = c->specs.resources.names.at[spec->device_asks[i].resource];
        if (devices_class_of(d, names_text(&c->names, name)))
            return d->generation + 1;
    }
    return d->class_generation + 1;
}

/* --- who has which --- */

static sym device_id(struct cluster *c, struct str driver, struct str pool, struct str device)
{
    struct str text = arena_printf(&c->mem, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(driver),
                                   STR_ARG(pool), STR_ARG(device));
    sym id = names_get(&c->names, text);
    arena_reset(&c->mem);
    return id;
}

static void hold(struct cluster *c, sym s, int sign)
{
    if (s != SYM_NONE)
        (sign > 0 ? intern_hold : intern_drop)(&c->names.text, s);
}

/* The last takes the place of the one that goes. */
static void drop_consumed(struct cluster *c, uint32_t i)
{
    struct devices *d = &c->devices;
    struct consumed gone = d->consumed.at[i], last = vec_pop(&d->consumed);
    map_remove(&d->consumed_at, key_of(gone.device, gone.capacity));
    hold(c, gone.device, -1);
    hold(c, gone.capacity, -1);
    if (i < d->consumed.n) {
        d->consumed.at[i] = last;
        map_put(&d->consumed_at, key_of(last.device, last.capacity), i);
    }
}

static void consume(struct cluster *c, sym device, struct str capacity, __int128 nano)
{
    struct devices *d = &c->devices;
    sym name = names_get(&c->names, capacity);
    uint32_t i = find_consumed(d, device, name);
    if (i != MAP_NONE) {
        d->consumed.at[i].nano += nano;
        if (d->consumed.at[i].nano == 0)
            drop_consumed(c, i);
    } else if (nano) {
        hold(c, device, +1);
        hold(c, name, +1);
        map_put(&d->consumed_at, key_of(device, name), d->consumed.n);
        vec_push(&d->consumed, (struct consumed){device, name, nano});
    }
}

/* The devices of an allocation are given (+1), or come back (-1). Who only looks after a device
 * takes nothing. */
static void count(struct cluster *c, const struct device_allocation *allocation, int sign)
{
    struct devices *d = &c->devices;
    for (uint32_t i = 0; allocation && i < allocation->results.n; i++) {
        const struct device_result *r = &allocation->results.at[i];
        if (r->is_admin)
            continue;
        sym id = device_id(c, r->driver, r->pool, r->device);
        bool is_share = r->share_id.n > 0;
        hold(c, id, sign);
        map_add(is_share ? &d->shared : &d->taken, id, sign);
        if (is_share)
            list_each(&r->consumed, amount)
                consume(c, id, amount->name, sign * amount->quantity.nano);
        gpu_facts_claim_pool(
            c, devices_pool(names_find(&c->names, r->driver), names_find(&c->names, r->pool)));
    }
}

/* --- slices --- */

/* Rules that hold where the selector does; 0: there is none. */
static rules_id read_rules(struct cluster *c, const struct node_selector *selector)
{
    struct node_affinity node = {.required = (struct node_selector *)selector};
    struct affinity affinity = {.node = &node};
    struct pod pod = {.spec.affinity = &affinity};
    rules_id rules = selector ? matches_rules(&c->matches, &c->names, &pod, NULL) : 0;
    intern_hold(&c->matches.rules.table, rules);
    return rules;
}

static sym read_name(struct cluster *c, struct str text)
{
    sym s = text.n ? names_get(&c->names, text) : SYM_NONE;
    hold(c, s, +1);
    return s;
}

static struct slice_index *index_slice(struct cluster *c, const struct resource_slice *slice,
                                       struct arena *mem)
{
    struct slice_index *x = arena_alloc(mem, sizeof(*x));
    x->driver = read_name(c, slice->spec.driver);
    x->pool = read_name(c, slice->spec.pool.name);
    x->node = read_name(c, slice->spec.node_name);
    x->rules = read_rules(c, slice->spec.node_selector);
    x->next[OF_NODE] = x->next[OF_POOL] = ID_NONE;
    x->counts = true;
    x->devices = arena_array(mem, struct device_index, slice->spec.devices.n);
    for (uint32_t i = 0; i < slice->spec.devices.n; i++) {
        const struct device *device = &slice->spec.devices.at[i];
        sym id = device_id(c, slice->spec.driver, slice->spec.pool.name, device->name);
        hold(c, id, +1);
        x->devices[i] = (struct device_index){id, read_name(c, device->node_name),
                                              read_rules(c, device->node_selector)};
        list_each(&device->consumes, set)
            x->counts &= set->groups.n == 0;
    }
    return x;
}

static void drop_slice(struct cluster *c, const struct resource_slice *slice,
                       const struct slice_index *x)
{
    hold(c, x->driver, -1);
    hold(c, x->pool, -1);
    hold(c, x->node, -1);
    intern_drop(&c->matches.rules.table, x->rules);
    for (uint32_t i = 0; i < slice->spec.devices.n; i++) {
        hold(c, x->devices[i].id, -1);
        hold(c, x->devices[i].node, -1);
        intern_drop(&c->matches.rules.table, x->devices[i].rules);
    }
}

static uint64_t chain_key(const struct slice_index *x, enum slice_chain chain)
{
    return chain == OF_NODE ? x->node : devices_pool_key(x);
}

static void link_slice(struct devices *d, uint32_t number)
{
    struct slice_index *x = d->of[KEPT_SLICE].at.at[number].slice;
    if (x->node == SYM_NONE)
        vec_push(&d->elsewhere, number);
    for (int chain = x->node == SYM_NONE ? OF_POOL : OF_NODE; chain < N_CHAINS; chain++) {
        uint64_t key = chain_key(x, (enum slice_chain)chain);
        x->next[chain] = map_find(&d->first[chain], key);
        map_put(&d->first[chain], key, number);
    }
}

static void unchain(struct devices *d, uint32_t number, enum slice_chain chain)
{
    struct kept_object *slices = d->of[KEPT_SLICE].at.at;
    const struct slice_index *x = slices[number].slice;
    uint64_t key = chain_key(x, chain);
    uint32_t at = map_find(&d->first[chain], key);
    if (at == number && x->next[chain] == ID_NONE)
        map_remove(&d->first[chain], key);
    else if (at == number)
        map_put(&d->first[chain], key, x->next[chain]);
    for (; at != number; at = slices[at].slice->next[chain])
        if (slices[at].slice->next[chain] == number) {
            slices[at].slice->next[chain] = x->next[chain];
            return;
        }
}

static void unlink_slice(struct devices *d, uint32_t number)
{
    const struct slice_index *x = d->of[KEPT_SLICE].at.at[number].slice;
    unchain(d, number, OF_POOL);
    if (x->node != SYM_NONE) {
        unchain(d, number, OF_NODE);
        return;
    }
    uint32_t i = 0;
    while (d->elsewhere.at[i] != number)
        i++;
    vec_remove(&d->elsewhere, i);
}

/* --- promises --- */

void devices_give(struct cluster *c, struct promise promise)
{
    hold(c, promise.namespace, +1);
    hold(c, promise.claim, +1);
    count(c, promise.allocation, +1);
    vec_push(&c->devices.promises, promise);
    c->devices.generation++;
}

static void end_promise(struct cluster *c, uint32_t i)
{
    struct promise p = c->devices.promises.at[i];
    vec_remove(&c->devices.promises, i);
    count(c, p.allocation, -1);
    hold(c, p.namespace, -1);
    hold(c, p.claim, -1);
    arena_done(p.mem);
    mem_free(p.mem);
    c->devices.generation++;
}

void devices_take_back(struct cluster *c)
{
    end_promise(c, c->devices.promises.n - 1);
}

bool devices_break(struct cluster *c, sym namespace, sym claim)
{
    const struct promise *p = devices_promise(&c->devices, namespace, claim);
    if (p)
        end_promise(c, (uint32_t)(p - c->devices.promises.at));
    return p;
}

/* --- objects --- */

static enum kept_kind kind_of(enum kind kind)
{
    return kind == KIND_RESOURCE_CLAIM   ? KEPT_CLAIM
           : kind == KIND_RESOURCE_SLICE ? KEPT_SLICE
           : kind == KIND_DEVICE_CLASS   ? KEPT_CLASS
                                         : KEPT_TAINT_RULE;
}

static void moved(struct devices *d, enum kept_kind kind)
{
    d->generation++;
    d->class_generation += kind == KEPT_CLASS;
}

/* Lets go of what the object at this number is; the number stays. */
static void clear(struct cluster *c, enum kept_kind kind, uint32_t number)
{
    struct kept_object *k = &c->devices.of[kind].at.at[number];
    if (kind == KEPT_CLAIM) {
        count(c, k->object.resource_claim->status.allocation, -1);
        intern_drop(&c->matches.rules.table, k->rules);
        if (k->owner != SYM_NONE && map_find(&c->devices.extended, k->owner) == number)
            map_remove(&c->devices.extended, k->owner);
        hold(c, k->owner, -1);
    }
    if (kind == KEPT_SLICE) {
        unlink_slice(&c->devices, number);
        drop_slice(c, k->object.resource_slice, k->slice);
    }
    arena_done(k->mem);
    mem_free(k->mem);
    k->mem = NULL;
}

static void keep(struct cluster *c, enum kept_kind kind, uint32_t number, const struct object *from)
{
    const struct kind_info *info = kind_info_get(from->kind);
    struct kept_object *k = &c->devices.of[kind].at.at[number];
    k->mem = mem_alloc(sizeof(*k->mem));
    k->object = (struct object){.kind = from->kind};
    k->object.meta = arena_copy(k->mem, from->meta, info->size);
    fields_keep(info->fields, k->object.meta, k->mem);
    if (kind == KEPT_CLAIM) {
        const struct device_allocation *given = k->object.resource_claim->status.allocation;
        const struct owner *owner = claim_extended_owner(k->object.meta);
        k->rules = read_rules(c, given ? given->node_selector : NULL);
        count(c, given, +1);
        k->owner = owner ? read_name(c, owner->uid) : SYM_NONE;
        if (k->owner != SYM_NONE)
            map_put(&c->devices.extended, k->owner, number);
    }
    if (kind == KEPT_SLICE) {
        k->slice = index_slice(c, k->object.resource_slice, k->mem);
        link_slice(&c->devices, number);
    }
}

static uint32_t claim_number(struct cluster *c, struct kept_objects *k, sym namespace, sym name)
{
    uint32_t i = k->free.n ? vec_pop(&k->free) : k->at.n;
    if (i == k->at.n)
        vec_resize(&k->at, i + 1);
    k->at.at[i] = (struct kept_object){.namespace = namespace, .name = name};
    hold(c, namespace, +1);
    hold(c, name, +1);
    map_put(&k->by_name, key_of(namespace, name), i);
    return i;
}

/* Is it the same as before, in all that somebody reads? The metadata of a class says how old it
 * is, that of a claim whether it goes and whose it is. */
static bool is_same(const struct object *a, const struct object *b)
{
    const struct field *fields = kind_info_get(a->kind)->fields;
    assert(str_equal(fields[0].name, STR("metadata")));
    bool is_own = a->meta->finalizers.n == b->meta->finalizers.n &&
                  a->meta->owners.n == b->meta->owners.n &&
                  a->meta->annotations.n == b->meta->annotations.n;
    return str_equal(a->meta->uid, b->meta->uid) && a->meta->created_ms == b->meta->created_ms &&
           a->meta->deleted_ms == b->meta->deleted_ms && is_own &&
           fields_equal(fields + 1, a->meta, b->meta);
}

/* What an update of a claim, class or slice is. */
static uint32_t differences(const struct object *was, const struct object *is)
{
    if (is->kind == KIND_DEVICE_CLASS)
        return str_equal(was->device_class->extended_resource, is->device_class->extended_resource)
                   ? ACTION_OTHER
                   : ACTION_OTHER | ACTION_CLASS_RENAMED;
    if (is->kind != KIND_RESOURCE_CLAIM)
        return ACTION_OTHER;
    const struct field *status = &kind_info_get(is->kind)->fields[2];
    assert(str_equal(status->name, STR("status")));
    bool is_freed =
        was->resource_claim->status.allocation && !is->resource_claim->status.allocation;
    bool is_status = !fields_equal(status, was->meta, is->meta);
    return ACTION_OTHER | (is_freed ? ACTION_CLAIM_FREED : 0) |
           (is_status ? ACTION_CLAIM_STATUS : 0);
}

/* Whoever writes an object must know its version, also where nothing else has changed. */
static void keep_version(struct kept_object *k, struct str version)
{
    struct str *was = &k->object.meta->resource_version;
    if (version.n != was->n)
        *was = arena_str(k->mem, version);
    else if (version.n)
        memcpy((char *)was->p, version.p, version.n);
}

/* Has the claim got our finalizer, and nothing else yet? Or is it no other version at all? */
static bool is_half_written(const struct object *was, const struct object *is)
{
    bool is_same_version = str_equal(was->meta->resource_version, is->meta->resource_version);
    bool is_marked =
        !claim_has_finalizer(was->resource_claim) && claim_has_finalizer(is->resource_claim);
    return !is->resource_claim->status.allocation && (is_same_version || is_marked);
}

/* What is not there, or no slice of GPUs, is nowhere. */
static struct slice_place place_of(const struct cluster *c, enum kept_kind kind, uint32_t number)
{
    const struct kept_object *k = &c->devices.of[kind].at.at[number];
    if (kind != KEPT_SLICE || !gpu_driver(k->object.resource_slice->spec.driver))
        return (struct slice_place){0};
    return (struct slice_place){true, k->slice->node, devices_pool_key(k->slice)};
}

uint32_t devices_put(struct cluster *c, const struct object *object)
{
    enum kept_kind kind = kind_of(object->kind);
    struct kept_objects *k = &c->devices.of[kind];
    bool has_namespace = kind_info_get(object->kind)->is_namespaced;
    sym namespace = has_namespace ? names_get(&c->names, object->meta->namespace) : SYM_NONE;
    sym name = names_get(&c->names, object->meta->name);
    uint32_t i = find(k, namespace, name), actions = ACTION_ADD;
    struct slice_place was_at = {0};
    if (i == MAP_NONE && kind == KEPT_CLAIM && object->resource_claim->status.allocation)
        devices_break(c, namespace, name); /* it was made for a pod, and is all that was promised */
    if (i != MAP_NONE) {
        struct object *was = &k->at.at[i].object;
        bool is_broken = kind == KEPT_CLAIM && !is_half_written(was, object) &&
                         devices_break(c, namespace, name);
        if (is_same(was, object)) {
            keep_version(&k->at.at[i], object->meta->resource_version);
            return is_broken ? ACTION_OTHER | ACTION_CLAIM_FREED : 0;
        }
        actions = differences(was, object);
        if (is_broken && !object->resource_claim->status.allocation)
            actions |= ACTION_CLAIM_FREED;
        was_at = place_of(c, kind, i);
        clear(c, kind, i);
    } else {
        i = claim_number(c, k, namespace, name);
    }
    keep(c, kind, i, object);
    moved(&c->devices, kind);
    gpu_facts_put_slice(c, was_at);
    gpu_facts_put_slice(c, place_of(c, kind, i));
    return actions;
}

uint32_t devices_remove(struct cluster *c, const struct object *object)
{
    enum kept_kind kind = kind_of(object->kind);
    struct kept_objects *k = &c->devices.of[kind];
    bool has_namespace = kind_info_get(object->kind)->is_namespaced;
    sym namespace = has_namespace ? names_find(&c->names, object->meta->namespace) : SYM_NONE;
    sym name = names_find(&c->names, object->meta->name);
    uint32_t i = find(k, namespace, name);
    if (i == MAP_NONE)
        return 0;
    bool is_freed = kind == KEPT_CLAIM && k->at.at[i].object.resource_claim->status.allocation;
    if (kind == KEPT_CLAIM)
        devices_break(c, namespace, name);
    struct slice_place was_at = place_of(c, kind, i);
    clear(c, kind, i);
    map_remove(&k->by_name, key_of(namespace, name));
    vec_push(&k->free, i);
    hold(c, namespace, -1);
    hold(c, name, -1);
    moved(&c->devices, kind);
    gpu_facts_put_slice(c, was_at);
    return ACTION_DELETE | (is_freed ? ACTION_CLAIM_FREED : 0);
}

void devices_done(struct devices *d)
{
    for (int kind = 0; kind < N_KEPT; kind++) {
        vec_each(&d->of[kind].at, k)
            if (k->mem) {
                arena_done(k->mem);
                mem_free(k->mem);
            }
        map_done(&d->of[kind].by_name);
        vec_done(&d->of[kind].at);
        vec_done(&d->of[kind].free);
    }
    vec_each(&d->promises, p) {
        arena_done(p->mem);
        mem_free(p->mem);
    }
    vec_done(&d->promises);
    vec_done(&d->elsewhere);
    vec_done(&d->consumed);
    map_done(&d->consumed_at);
    map_done(&d->first[OF_NODE]);
    map_done(&d->first[OF_POOL]);
    map_done(&d->taken);
    map_done(&d->shared);
    map_done(&d->extended);
}
