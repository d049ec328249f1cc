/* Objects as facts. Facts are interned as bytes: every struct is zeroed first, so that padding
 * cannot tell two equal ones apart. */

#include "core/cluster/cluster.h"
#include "core/cluster/read.h"

#define ANNOTATION_CLASS    "volume.beta.kubernetes.io/storage-class"
#define ANNOTATION_BOUND    "pv.kubernetes.io/bind-completed"
#define ANNOTATION_NODE     "volume.kubernetes.io/selected-node"
#define ANNOTATION_MIGRATED "storage.alpha.kubernetes.io/migrated-plugins"

struct reading {
    struct cluster *c;
    struct arena *mem;
    VEC(sym) held;
};

static sym keep(struct reading *r, struct str text)
{
    sym s = names_get(&r->c->names, text);
    vec_push(&r->held, s);
    return s;
}

static sym keep_some(struct reading *r, struct str text)
{
    return text.n ? keep(r, text) : SYM_NONE;
}

static const struct str *annotation(const struct meta *meta, struct str key)
{
    list_each(&meta->annotations, a)
        if (str_equal(a->key, key))
            return &a->value;
    return NULL;
}

/* The class's name: an old annotation comes before the field. */
static sym read_class(struct reading *r, const struct meta *meta, struct str field)
{
    const struct str *old = annotation(meta, STR(ANNOTATION_CLASS));
    return keep_some(r, old ? *old : field);
}

static uint32_t read_access(const str_list *modes)
{
    static const struct str known[] = {STR("ReadWriteOnce"), STR("ReadOnlyMany"),
                                       STR("ReadWriteMany"), STR("ReadWriteOncePod")};
    uint32_t mask = 0;
    list_each(modes, mode)
        for (uint32_t i = 0; i < LEN(known); i++)
            if (str_equal(*mode, known[i]))
                mask |= (uint32_t)1 << i;
    return mask;
}

static struct storage read_storage(const amount_list *amounts, bool *has)
{
    *has = false;
    list_each(amounts, a)
        if (str_equal(a->name, STR("storage"))) {
            *has = true;
            return (struct storage){(uint64_t)a->quantity.nano, (int64_t)(a->quantity.nano >> 64),
                                    quantity_value(a->quantity)};
        }
    return (struct storage){0};
}

/* The rules of a pod that says the same of its nodes. */
static rules_id read_rules(struct reading *r, const struct node_selector *selector)
{
    struct node_affinity node = {.required = (struct node_selector *)selector};
    struct affinity affinity = {.node = &node};
    struct pod pod = {.spec.affinity = &affinity};
    return selector ? matches_rules(&r->c->matches, &r->c->names, &pod, NULL) : 0;
}

/* Which nodes reach a volume. Upstream asks nodes without telling their names, and what a term says
 * of a name it does not know holds. */
static rules_id read_reach(struct reading *r, const struct node_selector *from)
{
    struct node_selector s = {0};
    s.terms.at = arena_array(r->mem, struct node_selector_term, from ? from->terms.n : 0);
    for (uint32_t i = 0; from && i < from->terms.n; i++) {
        const struct node_selector_term *term = &from->terms.at[i];
        if (term->match_expressions.n == 0 && term->match_fields.n)
            return 0;
        s.terms.at[s.terms.n++].match_expressions = term->match_expressions;
    }
    return read_rules(r, from ? &s : NULL);
}

static rules_id read_topologies(struct reading *r, const struct storage_class *class)
{
    struct node_selector s = {0};
    s.terms.n = class->allowed_topologies.n;
    s.terms.at = arena_array(r->mem, struct node_selector_term, s.terms.n);
    for (uint32_t t = 0; t < s.terms.n; t++) {
        const struct topology_term *from = &class->allowed_topologies.at[t];
        struct requirement *all = arena_array(r->mem, struct requirement, from->all.n);
        for (uint32_t i = 0; i < from->all.n; i++)
            all[i] = (struct requirement){from->all.at[i].key, STR("In"), from->all.at[i].values};
        s.terms.at[t].match_expressions.at = all;
        s.terms.at[t].match_expressions.n = from->all.n;
    }
    return s.terms.n ? read_rules(r, &s) : 0;
}

/* A label selector, of nodes. */
static rules_id read_node_selector(struct reading *r, const struct label_selector *from)
{
    uint32_t n = 0, most = from->match_labels.n + from->match_expressions.n;
    struct requirement *all = arena_array(r->mem, struct requirement, most);
    list_each(&from->match_labels, l)
        all[n++] = (struct requirement){l->key, STR("In"), {&l->value, 1}};
    list_each(&from->match_expressions, e)
        all[n++] = *e;
    struct node_selector_term term = {.match_expressions = {all, n}};
    struct node_selector s = {.terms = {&term, 1}};
    return n ? read_rules(r, &s) : 0;
}

static void read_volume(struct reading *r, const struct persistent_volume *from,
                        struct volume_facts *f)
{
    bool has;
    f->capacity = read_storage(&from->spec.capacity, &has);
    f->class = read_class(r, &from->meta, from->spec.storage_class);
    f->spec_class = keep_some(r, from->spec.storage_class);
    f->attributes_class = keep_some(r, from->spec.attributes_class);
    f->labels = read_labels(r->c, &from->meta.labels);
    f->access = read_access(&from->spec.access_modes);
    f->is_available = str_equal(from->phase, STR("Available"));
    f->is_block = str_equal(from->spec.mode, STR("Block"));
    f->is_terminating = from->meta.deleted_ms != TIME_NONE;
    f->claim_namespace = f->claim_name = f->claim_uid = SYM_NONE;
    if (from->spec.claim_ref) {
        f->claim_namespace = keep(r, from->spec.claim_ref->namespace);
        f->claim_name = keep(r, from->spec.claim_ref->name);
        f->claim_uid = keep_some(r, from->spec.claim_ref->uid);
    }

    struct str handle;
    const struct node_selector *migrated;
    f->in_tree = migrate_volume(from, r->mem, &handle, &migrated);
    f->rules = read_reach(r, from->spec.node_affinity);
    f->migrated_rules = f->in_tree ? read_reach(r, migrated) : f->rules;
    f->driver = f->handle = SYM_NONE;
    if (from->spec.csi) {
        f->driver = keep_some(r, from->spec.csi->driver);
        f->handle = keep_some(r, from->spec.csi->handle);
    } else if (handle.p) {
        f->driver = keep(r, in_tree_driver((enum in_tree)f->in_tree));
        f->handle = keep_some(r, handle);
    }
}

static void read_claim(struct reading *r, const struct persistent_volume_claim *from,
                       struct claim_facts *f)
{
    const struct str *node = annotation(&from->meta, STR(ANNOTATION_NODE));
    f->request = read_storage(&from->spec.requests, &f->has_request);
    f->class = read_class(r, &from->meta, from->spec.storage_class);
    f->spec_class = keep_some(r, from->spec.storage_class);
    f->volume = keep_some(r, from->spec.volume_name);
    f->attributes_class = keep_some(r, from->spec.attributes_class);
    f->selected_node = node ? keep(r, *node) : SYM_NONE;
    f->uid = keep(r, from->meta.uid);
    f->owner_uid = SYM_NONE;
    list_each(&from->meta.owners, o)
        if (o->is_controller) {
            f->owner_uid = keep(r, o->uid);
            break;
        }
    f->selector = read_selector(r->c, from->spec.selector);
    f->access = read_access(&from->spec.access_modes);
    f->is_bound = from->spec.volume_name.n && annotation(&from->meta, STR(ANNOTATION_BOUND));
    f->is_annotated = from->meta.annotations.n > 0;
    f->is_lost = str_equal(from->phase, STR("Lost"));
    f->is_block = str_equal(from->spec.mode, STR("Block"));
    f->is_terminating = from->meta.deleted_ms != TIME_NONE;
}

static void read_storage_class(struct reading *r, const struct storage_class *from,
                               struct class_facts *f)
{
    f->provisioner = keep_some(r, from->provisioner);
    f->topologies = read_topologies(r, from);
    f->waits = str_equal(from->binding_mode, STR("WaitForFirstConsumer"));
    f->provides =
        from->provisioner.n && !str_equal(from->provisioner, STR("kubernetes.io/no-provisioner"));
}

static void read_capacity(struct reading *r, const struct csi_storage_capacity *from,
                          struct capacity_facts *f)
{
    f->class = keep_some(r, from->storage_class);
    f->has_topology = from->node_topology != NULL;
    f->topology = f->has_topology ? read_node_selector(r, from->node_topology) : 0;
    f->has_limit = from->has_most || from->has_capacity;
    f->capacity_bytes = from->has_capacity ? quantity_value(from->capacity) : 0;
    f->limit_bytes = from->has_most ? quantity_value(from->most) : f->capacity_bytes;
}

static struct csi_node_facts *read_csi_node(struct reading *r, const struct csi_node *from,
                                            size_t *bytes)
{
    *bytes = sizeof(struct csi_node_facts) + from->drivers.n * sizeof(struct csi_limit);
    struct csi_node_facts *f = arena_alloc(r->mem, *bytes);
    const struct str *migrated = annotation(&from->meta, STR(ANNOTATION_MIGRATED));
    f->annotation = migrated ? keep_some(r, *migrated) : SYM_NONE;
    f->migrated = migrated ? in_tree_named(*migrated) : 0;
    list_each(&from->drivers, d)
        f->drivers[f->n_drivers++] =
            (struct csi_limit){keep(r, d->name), d->has_count ? d->count : -1};
    return f;
}

/* Holds (+1) or drops (-1) what facts refer to by number, beside symbols. */
static void hold_parts(struct names *names, struct matches *matches, enum thing_kind kind,
                       const void *facts, int sign)
{
    void (*change)(struct intern *, uint32_t) = sign > 0 ? intern_hold : intern_drop;
    const struct volume_facts *volume = facts;
    const struct claim_facts *claim = facts;
    switch (kind) {
    case THING_VOLUME:
        change(&names->label_sets.table, volume->labels);
        change(&matches->rules.table, volume->rules);
        change(&matches->rules.table, volume->migrated_rules);
        break;
    case THING_CLAIM:
        if (claim->selector != ID_NONE)
            change(&matches->selectors.table, claim->selector);
        break;
    case THING_CLASS:
        change(&matches->rules.table, ((const struct class_facts *)facts)->topologies);
        break;
    case THING_CAPACITY:
        change(&matches->rules.table, ((const struct capacity_facts *)facts)->topology);
        break;
    case THING_DRIVER:
    case THING_CSI_NODE:
    case THING_ATTACHMENT:
    case N_THINGS:
        break;
    }
}

/* The number of these facts, which hold these symbols. */
static uint32_t intern_facts(struct cluster *c, enum thing_kind kind, const void *facts,
                             size_t bytes, const sym *held, uint32_t n_held)
{
    struct lists *table = &c->volumes.of[kind].facts;
    bool is_new;
    uint32_t id = lists_get(table, &c->names, facts, bytes, held, n_held, &is_new);
    if (is_new)
        hold_parts(&c->names, &c->matches, kind, intern_bytes(&table->table, id).p, +1);
    return id;
}

static uint32_t symbols_of_volume(const struct volume_facts *f, sym *out)
{
    const sym all[] = {f->class,  f->spec_class,      f->attributes_class, f->driver,
                       f->handle, f->claim_namespace, f->claim_name,       f->claim_uid};
    memcpy(out, all, sizeof(all));
    return LEN(all);
}

static uint32_t symbols_of_claim(const struct claim_facts *f, sym *out)
{
    const sym all[] = {f->class,         f->spec_class, f->volume,   f->attributes_class,
                       f->selected_node, f->uid,        f->owner_uid};
    memcpy(out, all, sizeof(all));
    return LEN(all);
}

uint32_t volumes_facts(struct cluster *c, enum thing_kind kind, const void *facts)
{
    bool is_volume = kind == THING_VOLUME;
    sym all[8];
    uint32_t n = is_volume ? symbols_of_volume(facts, all) : symbols_of_claim(facts, all), held = 0;
    for (uint32_t i = 0; i < n; i++)
        if (all[i] != SYM_NONE)
            all[held++] = all[i];
    size_t bytes = is_volume ? sizeof(struct volume_facts) : sizeof(struct claim_facts);
    return intern_facts(c, kind, facts, bytes, all, held);
}

uint32_t volumes_read(struct cluster *c, enum thing_kind kind, const struct object *object)
{
    struct arena mem = {0};
    struct reading r = {.c = c, .mem = &mem};
    union {
        struct volume_facts volume;
        struct claim_facts claim;
        struct class_facts class;
        struct driver_facts driver;
        struct capacity_facts capacity;
        struct attachment_facts attachment;
    } facts;
    memset(&facts, 0, sizeof(facts));
    const void *at = &facts;
    size_t bytes = 0;
    switch (kind) {
    case THING_VOLUME:
        read_volume(&r, object->persistent_volume, &facts.volume);
        bytes = sizeof(facts.volume);
        break;
    case THING_CLAIM:
        read_claim(&r, object->persistent_volume_claim, &facts.claim);
        bytes = sizeof(facts.claim);
        break;
    case THING_CLASS:
        read_storage_class(&r, object->storage_class, &facts.class);
        bytes = sizeof(facts.class);
        break;
    case THING_DRIVER:
        facts.driver.tracks_capacity = object->csi_driver->tracks_capacity;
        facts.driver.must_be_installed = object->csi_driver->must_be_installed;
        bytes = sizeof(facts.driver);
        break;
    case THING_CAPACITY:
        read_capacity(&r, object->csi_storage_capacity, &facts.capacity);
        bytes = sizeof(facts.capacity);
        break;
    case THING_CSI_NODE:
        at = read_csi_node(&r, object->csi_node, &bytes);
        break;
    case THING_ATTACHMENT:
        facts.attachment = (struct attachment_facts){
            keep(&r, object->volume_attachment->node_name),
            keep_some(&r, object->volume_attachment->attacher),
            keep_some(&r, object->volume_attachment->volume_name),
        };
        bytes = sizeof(facts.attachment);
        break;
    case N_THINGS:
        break;
    }
    uint32_t id = intern_facts(c, kind, at, bytes, r.held.at, r.held.n);
    vec_done(&r.held);
    arena_done(&mem);
    return id;
}

/* --- sweeping --- */

struct sweeping {
    struct volumes *volumes;
    struct names *names;
    struct matches *matches;
    enum thing_kind kind;
};

static void facts_gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    hold_parts(x->names, x->matches, x->kind,
               intern_bytes(&x->volumes->of[x->kind].facts.table, id).p, -1);
}

void volumes_tidy(struct volumes *v, struct names *names, struct matches *matches, enum tidy how)
{
    for (int kind = 0; kind < N_THINGS; kind++) {
        struct sweeping x = {v, names, matches, (enum thing_kind)kind};
        lists_tidy(&v->of[kind].facts, names, how, facts_gone, &x);
    }
}
