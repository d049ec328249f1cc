/* A volume that is labelled with a zone or region can be used there only. A node without any such
 * label is taken to be in the right one: a cluster of a single zone need not label its nodes. */

#include "core/framework/plugin.h"

/* In upstream's order; each beta key is followed two places on by the one that replaced it. */
static const struct str keys[] = {STR(LABEL_BETA_ZONE), STR(LABEL_BETA_REGION), STR(LABEL_ZONE),
                                  STR(LABEL_REGION)};

struct place {
    uint32_t key;     /* of `keys` */
    struct str zones; /* "a__b": one of these */
};

struct needs {
    sym keys[LEN(keys)]; /* held */
    struct place *places;
    uint32_t n;
    reason_id elsewhere;
};

/* A list of zones with a gap in it is not taken for one. */
static bool is_list(struct str zones)
{
    if (zones.n == 0 || str_ends(zones, STR("__")))
        return false;
    while (zones.n)
        if (zones_next(&zones).n == 0)
            return false;
    return true;
}

static bool has_zone(struct str zones, struct str zone)
{
    while (zones.n)
        if (str_equal(zones_next(&zones), zone))
            return true;
    return false;
}

static void add_places(struct learning *l, struct needs *needs, const struct volume_facts *volume)
{
    for (uint32_t k = 0; k < LEN(keys); k++) {
        sym value = names_label(&l->cluster->names, volume->labels, needs->keys[k]);
        struct str zones = names_text(&l->cluster->names, value);
        if (value != SYM_NONE && is_list(zones))
            needs->places[needs->n++] = (struct place){k, arena_str(l->mem, zones)};
    }
}

static void refuse_missing(struct learning *l, const char *kind, sym name)
{
    learning_refuse(l, arena_printf(l->mem, "%s \"" STR_FMT "\" not found", kind,
                                    STR_ARG(names_text(&l->cluster->names, name))));
}

/* A claim without a volume is no obstacle if it waits for its first consumer. */
static void judge_unbound(struct learning *l, const struct claim_facts *claim)
{
    const struct class_facts *class = volumes_class(&l->cluster->volumes, claim->class);
    if (claim->class == SYM_NONE)
        learning_refuse(l, STR("PersistentVolumeClaim had no pv name and storageClass name"));
    else if (!class)
        refuse_missing(l, "storageclass.storage.k8s.io", claim->class);
    else if (!class->waits)
        learning_refuse(l, STR("PersistentVolume had no name"));
}

static void judge_claim(struct learning *l, struct needs *needs, sym name)
{
    const struct volumes *v = &l->cluster->volumes;
    const struct claim_facts *claim = volumes_claim(v, l->shape->namespace, name);
    const struct volume_facts *volume = claim ? volumes_volume(v, claim->volume) : NULL;
    if (!claim)
        refuse_missing(l, "persistentvolumeclaim", name);
    else if (claim->volume == SYM_NONE)
        judge_unbound(l, claim);
    else if (!volume)
        refuse_missing(l, "persistentvolume", claim->volume);
    else
        add_places(l, needs, volume);
}

static void learn(struct learning *l, void *cls)
{
    struct needs *needs = cls;
    if (l->spec->n_volumes == 0)
        return;
    for (uint32_t k = 0; k < LEN(keys); k++)
        needs->keys[k] = names_get(&l->cluster->names, keys[k]);
    needs->places = arena_array(l->mem, struct place, l->spec->n_volumes * LEN(keys));
    needs->elsewhere =
        learning_reason(l, CODE_UNRESOLVABLE, "node(s) had no available volume zone");
    for (uint32_t i = 0; i < l->spec->n_volumes && !l->refusal; i++)
        if (l->spec->volumes[i].kind == VOLUME_CLAIM)
            judge_claim(l, needs, l->spec->volumes[i].name);
    l->filters = needs->n > 0 && !l->refusal;
    for (uint32_t k = 0; k < LEN(keys) && l->filters; k++)
        intern_hold(&l->cluster->names.text, needs->keys[k]);
}

static void forget(struct cluster *c, void *cls)
{
    const struct needs *needs = cls;
    for (uint32_t k = 0; k < LEN(keys); k++)
        intern_drop(&c->names.text, needs->keys[k]);
}

static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct needs *needs = cls;
    sym values[LEN(keys)];
    bool is_labelled = false;
    for (uint32_t k = 0; k < LEN(keys); k++) {
        values[k] = cluster_label(c, node, needs->keys[k]);
        is_labelled |= values[k] != SYM_NONE;
    }
    for (uint32_t i = 0; i < needs->n && is_labelled; i++) {
        uint32_t k = needs->places[i].key;
        sym value = values[k] == SYM_NONE && k < 2 ? values[k + 2] : values[k];
        if (value == SYM_NONE || !has_zone(needs->places[i].zones, names_text(&c->names, value)))
            return needs->elsewhere;
    }
    return 0;
}

static bool hint_claim(const struct cluster *c, const struct shape *shape, const struct event *e)
{
    return e->namespace == shape->namespace &&
           volumes_spec_has(specs_at(&c->specs, shape->spec), e->name, false);
}

static const struct wake wakes[] = {
    {EVENT_STORAGE_CLASS, ACTION_CLASS_WAITS, NULL},
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_LABEL, NULL},
    {EVENT_CLAIM, ACTION_ADD | ACTION_UPDATE, hint_claim},
    {EVENT_VOLUME, ACTION_ADD | ACTION_VOLUME_ZONE, NULL},
    {0},
};

const struct plugin plugin_volume_zone = {
    .name = "VolumeZone",
    .about = ABOUT_VOLUMES,
    .row_columns = COLUMN_LABELS,
    .class_size = sizeof(struct needs),
    .learn = learn,
    .forget = forget,
    .row_filter = row_filter,
    .wakes = wakes,
};
