#include "core/framework/class.h"

#include <stdlib.h>

enum { SHARED_MOST = 64 }; /* plugins of a profile */

reason_id learning_reason(struct learning *l, enum code code, const char *text)
{
    struct str s = str_of(text);
    return reasons_own(l->reasons, l->plugin, code, &s, 1);
}

/* A text that names an object would be a reason for each of them: it must not become one. */
void learning_refuse(struct learning *l, struct str text)
{
    l->refusal = learning_reason(l, CODE_UNRESOLVABLE, "refused");
    l->refusal_text = text;
}

void normalise(const int64_t *raw, int64_t *normal, uint32_t n, bool is_reversed)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = MAX(most, raw[i]);
    for (uint32_t i = 0; i < n; i++) {
        int64_t score = most ? wrap_mul(100, raw[i]) / most : raw[i];
        normal[i] = is_reversed ? 100 - score : score;
    }
}

void classes_init(struct classes *k, struct cluster *c, const struct profile *profiles,
                  uint32_t n_profiles)
{
    *k = (struct classes){.cluster = c, .profiles = profiles, .n_profiles = n_profiles};
    reasons_init(&k->reasons);
    k->shared = mem_alloc(n_profiles * SHARED_MOST * sizeof(*k->shared));
    for (uint32_t i = 0; i < n_profiles; i++) {
        struct serving s = {names_get(&c->names, profiles[i].name), profile_gangs(&profiles[i])};
        intern_hold(&c->names.text, s.name);
        vec_push(&k->serving, s);
    }
}

const struct profile *classes_profile(const struct classes *k, struct str scheduler_name)
{
    for (uint32_t i = 0; i < k->n_profiles; i++)
        if (str_equal(k->profiles[i].name, scheduler_name))
            return &k->profiles[i];
    return NULL;
}

const struct profile *classes_serving(const struct classes *k, sym scheduler_name)
{
    for (uint32_t i = 0; i < k->serving.n; i++)
        if (k->serving.at[i].name == scheduler_name)
            return &k->profiles[i];
    return NULL;
}

const struct profile_plugin *classes_gangs(const struct classes *k, sym scheduler_name)
{
    const struct profile *profile = classes_serving(k, scheduler_name);
    return profile ? k->serving.at[profile - k->profiles].gangs : NULL;
}

static void free_class(struct classes *k, struct class *class)
{
    if (k->gone)
        k->gone(k->ctx, class);
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (class->parts[i].plugin->forget)
            class->parts[i].plugin->forget(k->cluster, class->parts[i].state);
    intern_drop(&k->cluster->specs.table.table, class->spec);
    reasons_disown(&class->reasons);
    arena_done(&class->mem);
    mem_free(class);
}

/* --- making --- */

static struct str plugin_name(const struct profile *p, uint32_t number)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->plugins[i].number == number)
            return str_of(p->plugins[i].plugin->name);
    return (struct str){0};
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* "A B", sorted: the plugins of a mask. */
static struct str names_of(struct class *class, uint64_t plugins)
{
    struct str names[64];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 64; i++)
        if (plugins >> i & 1)
            names[n++] = plugin_name(class->profile, i);
    if (n > 1)
        qsort(names, n, sizeof(*names), by_text);
    struct str joined = n ? names[0] : (struct str){0};
    for (uint32_t i = 1; i < n; i++)
        joined = arena_printf(&class->mem, STR_FMT " " STR_FMT, STR_ARG(joined), STR_ARG(names[i]));
    return joined;
}

/* No node is left that all these plugins name. */
static void refuse(struct class *class, uint64_t plugins)
{
    struct str names = names_of(class, plugins);
    bool is_one = (plugins & (plugins - 1)) == 0;
    struct str text =
        arena_printf(&class->mem, "node(s) didn't satisfy plugin%s" STR_FMT "%s",
                     is_one ? " " : "(s) [", STR_ARG(names), is_one ? "" : "] simultaneously");
    class->refusal = reasons_own(&class->reasons, 64, CODE_UNRESOLVABLE, &text, 1);
    class->refused_by = plugins;
}

/* What nodes are told that these plugins leave out. */
static void tell_absent(struct class *class, uint32_t plugin)
{
    class->restricted_by |= (uint64_t)1 << plugin;
    struct str names = names_of(class, class->restricted_by);
    struct str text =
        arena_printf(&class->mem, "node(s) didn't satisfy plugin(s) [" STR_FMT "]", STR_ARG(names));
    class->absent = reasons_own(&class->reasons, 64, CODE_UNRESOLVABLE, &text, 1);
}

/* Cuts the nodes that can do down to those that this plugin names, too. */
static void restrict_to(struct class *class, const struct learning *l)
{
    uint32_t n = 0;
    sym *both = arena_array(&class->mem, sym, l->n_only);
    for (uint32_t i = 0; i < l->n_only; i++)
        if (!class->only || class_names(class, l->only[i]))
            both[n++] = l->only[i];
    class->only = both;
    class->n_only = n;
    tell_absent(class, l->plugin);
    if (n == 0 && !class->refusal)
        refuse(class, class->restricted_by);
}

static void add_part(struct class *class, const struct profile_plugin *p, const struct learning *l,
                     void *state)
{
    struct class_part *part = &class->parts[class->n_parts++];
    *part = (struct class_part){
        .plugin = p->plugin,
        .number = p->number,
        .weight = p->weight,
        .state = state,
        .key_at = class->n_keys,
        .n_keys = l->n_keys,
        .key_columns = l->n_keys ? p->plugin->key_columns | l->key_columns : 0,
        .filters = l->filters,
        .scores = l->scores,
        .reserves = l->filters && l->reserves && !(p->off & PROFILE_NO_RESERVE),
        .scores_nothing = l->scores_nothing,
    };
    class->n_keys += l->n_keys;
    if (p->plugin->pick && !class->picker)
        class->picker = part;
    assert(l->n_keys <= PLUGIN_MOST_KEYS);
    if (p->plugin->row_filter || p->plugin->row_score)
        class->row_columns |= p->plugin->row_columns;
    class->key_columns |= part->key_columns;
    class->has_key_filter |= l->filters && p->plugin->key_filter;
    class->may_fail |= l->filters && l->may_fail;
    class->reserves |= part->reserves;
    if (l->filters && l->failure) {
        class->failure = l->failure;
        class->failure_of = p->number;
    }
    class->reads_hostnames |= l->reads_hostnames;
    class->is_costly |= p->plugin->is_costly;
    if (l->filters && p->plugin->row_filter) {
        class->filter_columns |= p->plugin->row_columns;
        struct class_filter filter = {p->plugin->row_filter, state, p->plugin->row_columns, part};
        class->filters[class->n_filters++] = filter;
        if (filter.columns & COLUMN_USED)
            class->use_filters[class->n_use_filters++] = filter;
    }
    if (l->scores && p->plugin->row_score && !l->scores_nothing) {
        class->scores[class->n_scores++] =
            (struct class_score){p->plugin->row_score, state, p->weight, part};
        class->most_row_score += 100 * p->weight;
    }
    class->columns_until[p->number] = class->filter_columns;
}

/* What the profile keeps the plugin out of, it has no say in. */
static void cut(struct learning *l, uint32_t off)
{
    if (off & PROFILE_NO_FILTER) {
        l->filters = l->is_pinned = false;
        l->refusal = 0;
        l->only = NULL;
    }
    if (off & PROFILE_NO_SCORE) {
        l->scores = false;
        l->score_error = (struct str){0};
    }
}

static bool is_taken(const struct class *class, const struct class_part *part,
                     const uint32_t *takes_over)
{
    for (uint32_t i = 0; i < class->n_parts; i++)
        if (&class->parts[i] != part && class->parts[i].scores &&
            takes_over[i] & part->plugin->subjects)
            return true;
    return false;
}

/* Leaves out the scores about what another plugin has taken over. */
static void hand_over(struct class *class, const uint32_t *takes_over)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < class->n_parts; i++)
        class->parts[i].scores &= !is_taken(class, &class->parts[i], takes_over);
    class->most_row_score = 0;
    for (uint32_t i = 0; i < class->n_scores; i++) {
        const struct class_part *part = class->scores[i].part;
        if (!part->scores)
            continue;
        class->most_row_score += 100 * part->weight;
        class->scores[kept++] = class->scores[i];
    }
    class->n_scores = kept;
}

/* What the plugin shares among the profile's classes. */
static void *shared_of(struct classes *k, const struct profile *profile, uint32_t i)
{
    const struct profile_plugin *p = &profile->plugins[i];
    if (!p->plugin->begin)
        return NULL;
    void **shared = &k->shared[(profile - k->profiles) * SHARED_MOST + i];
    if (!*shared) {
        *shared = mem_alloc(p->plugin->shared_size);
        p->plugin->begin(k->cluster, p->args, *shared);
    }
    return *shared;
}

static void end_shared(struct classes *k)
{
    for (uint32_t f = 0; f < k->n_profiles; f++)
        for (uint32_t i = 0; i < k->profiles[f].n; i++) {
            void *shared = k->shared[f * SHARED_MOST + i];
            if (shared)
                k->profiles[f].plugins[i].plugin->end(k->cluster, shared);
            mem_free(shared);
        }
    mem_free(k->shared);
}

/* Lets each plugin learn the class. An unresolvable refusal ends it; of several others the last
 * counts, as upstream's PreFilter does it. */
static bool picks_gpus(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->pick)
            return true;
    return false;
}

static void learn_all(struct classes *k, struct class *class, const struct shape *shape, sym within)
{
    const struct spec *spec = specs_at(&k->cluster->specs, class->spec);
    class->parts = arena_array(&class->mem, struct class_part, class->profile->n);
    class->filters = arena_array(&class->mem, struct class_filter, class->profile->n);
    class->use_filters = arena_array(&class->mem, struct class_filter, class->profile->n);
    class->scores = arena_array(&class->mem, struct class_score, class->profile->n);
    uint32_t *takes_over = arena_array(&class->mem, uint32_t, class->profile->n);
    uint32_t taken = 0;
    if (UNLIKELY(spec->excess != SYM_NONE)) {
        class->error = names_text(&k->cluster->names, spec->excess);
        return;
    }
    for (uint32_t i = 0; i < class->profile->n; i++) {
        const struct profile_plugin *p = &class->profile->plugins[i];
        if (!p->plugin->learn)
            continue;
        struct learning l = {
            .cluster = k->cluster,
            .spec = spec,
            .shape = shape,
            .identity = &class->identity,
            .args = p->args,
            .shared = shared_of(k, class->profile, i),
            .mem = &class->mem,
            .reasons = &class->reasons,
            .picks_gpus = picks_gpus(class->profile),
            .plugin = p->number,
            .within = within,
        };
        void *state = arena_alloc(&class->mem, p->plugin->class_size);
        p->plugin->learn(&l, state);
        bool takes_part = l.filters || l.scores;
        cut(&l, p->off);
        if (l.scores)
            taken |= takes_over[class->n_parts] = l.takes_over;
        if (l.filters || l.scores)
            add_part(class, p, &l, state);
        else if (takes_part && p->plugin->forget)
            p->plugin->forget(k->cluster, state);
        if (l.error.n && !class->error.n)
            class->error = l.error;
        if (l.score_error.n && !class->score_error.n)
            class->score_error = l.score_error;
        if (l.refusal) {
            class->refusal = l.refusal;
            class->refusal_text = l.refusal_text;
            class->refused_by = (uint64_t)1 << p->number;
        }
        if (l.only)
            restrict_to(class, &l);
        if (l.is_pinned) {
            class->is_pinned = true;
            tell_absent(class, p->number);
        }
        if (class->refusal && reasons_at(&k->reasons, class->refusal)->code == CODE_UNRESOLVABLE)
            break;
    }
    if (taken)
        hand_over(class, takes_over);
}

struct identity classes_identify(struct classes *k, const struct profile *profile,
                                 const struct shape *shape)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->identify)
            return profile->plugins[i].plugin->identify(k->cluster, shape,
                                                        profile->plugins[i].args);
    return (struct identity){.tenant = SYM_NONE};
}

const struct profile_plugin *profile_gangs(const struct profile *profile)
{
    const struct profile_plugin *natively = NULL;
    for (uint32_t i = 0; i < profile->n; i++) {
        const struct profile_plugin *p = &profile->plugins[i];
        if (!p->plugin->gangs || (p->off & PROFILE_NO_GANGS))
            continue;
        if (!p->plugin->gangs_natively)
            return p;
        natively = p;
    }
    return natively;
}

/* Does the extender mind pods of this spec? Upstream looks at limits, too, which for extended
 * resources are what is requested. */
static bool is_interested(const struct cluster *c, const struct extender *x,
                          const struct spec *spec)
{
    list_each(&x->resources, name)
        for (uint32_t i = 0; i < spec->ask.n_others; i++) {
            sym asked = c->specs.resources.names.at[spec->ask.others[i].resource];
            if (str_equal(names_text(&c->names, asked), *name))
                return true;
        }
    return x->resources.n == 0;
}

static void learn_extenders(const struct classes *k, struct class *class, const struct spec *spec)
{
    for (uint32_t i = 0; i < k->n_extenders; i++) {
        const struct extender *x = &k->extenders[i];
        if (!is_interested(k->cluster, x, spec))
            continue;
        if (x->verbs[EXTENDER_FILTER].n || x->verbs[EXTENDER_PRIORITIZE].n)
            class->asks |= (uint32_t)1 << i;
        if (x->verbs[EXTENDER_PREEMPT].n)
            class->preempts |= (uint32_t)1 << i;
        if (x->verbs[EXTENDER_BIND].n && !class->binder)
            class->binder = i + 1;
    }
}

static struct class *make_class(struct classes *k, const struct profile *profile,
                                const struct shape *shape, sym within)
{
    struct class *class = mem_alloc(sizeof(*class));
    class->number = ++k->made;
    class->reasons.all = &k->reasons;
    class->profile = profile;
    class->gangs = profile_gangs(profile);
    class->spec = shape->spec;
    class->identity = classes_identify(k, profile, shape);
    intern_hold(&k->cluster->specs.table.table, shape->spec);
    const struct spec *spec = specs_at(&k->cluster->specs, shape->spec);
    learn_all(k, class, shape, within);
    learn_extenders(k, class, spec);
    return class;
}

/* --- finding --- */

/* What a pod is stands in its spec; whose it is does not. Of tenants only those are told apart that
 * compete for accelerators. */
static void sign(struct classes *k, const struct profile *profile, const struct shape *shape,
                 sym within)
{
    struct identity identity = classes_identify(k, profile, shape);
    vec_clear(&k->scratch);
    vec_push(&k->scratch, (uint32_t)(profile - k->profiles));
    vec_push(&k->scratch, shape->spec);
    vec_push(&k->scratch, (uint32_t)identity.tier << 8 | (uint32_t)identity.tier_source);
    if (specs_at(&k->cluster->specs, shape->spec)->accelerators)
        vec_push(&k->scratch, identity.tenant);
    vec_push(&k->scratch, within);
    if (specs_at(&k->cluster->specs, shape->spec)->n_volumes) {
        vec_push(&k->scratch, (uint32_t)k->cluster->volumes.generation);
        vec_push(&k->scratch, (uint32_t)(k->cluster->volumes.generation >> 32));
        vec_push(&k->scratch, shape->namespace);
    }
    uint64_t devices = devices_generation(k->cluster, specs_at(&k->cluster->specs, shape->spec));
    if (UNLIKELY(devices)) {
        vec_push(&k->scratch, (uint32_t)devices);
        vec_push(&k->scratch, (uint32_t)(devices >> 32));
        vec_push(&k->scratch, shape->namespace);
    }
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->sign)
            profile->plugins[i].plugin->sign(k->cluster, shape, profile->plugins[i].args,
                                             &k->scratch);
}

/* The class of this signature, made if it is new. */
static uint32_t find_class(struct classes *k, const struct profile *profile,
                           const struct shape *shape, sym within)
{
    sign(k, profile, shape, within);
    bool is_new;
    struct str bytes = {(const char *)k->scratch.at, k->scratch.n * sizeof(uint32_t)};
    uint32_t id = intern_get(&k->table, bytes, &is_new);
    if (is_new) {
        if (id >= k->at.n)
            vec_resize(&k->at, id + 1);
        k->at.at[id] = make_class(k, profile, shape, within);
        k->at.at[id]->place = id;
    }
    return id;
}

static void let_go(struct classes *k, struct shape_class *memo)
{
    if (memo->class)
        intern_drop(&k->table, memo->class - 1);
    memo->class = 0;
}

struct class *classes_of(struct classes *k, shape_id shape_number)
{
    struct cluster *c = k->cluster;
    const struct shape *shape = &c->pods.shapes.at[shape_number];
    if (shape_number >= k->by_shape.n)
        vec_resize(&k->by_shape, shape_number + 1);
    struct shape_class *memo = &k->by_shape.at[shape_number];
    uint64_t generation = workloads_generation(&c->workloads, shape->namespace);
    generation += c->demand.generation;
    if (UNLIKELY(specs_at(&c->specs, shape->spec)->n_volumes))
        generation += c->volumes.generation; /* neither goes back: their sum moves if one does */
    if (specs_at(&c->specs, shape->spec)->accelerators ||
        specs_at(&c->specs, shape->spec)->queue != SYM_NONE)
        generation += c->kueue.generation; /* tiers, and what is to come */
    generation += devices_generation(c, specs_at(&c->specs, shape->spec));
    if (specs_at(&c->specs, shape->spec)->n_pinned)
        generation += c->numa_reports.generation;
    if (LIKELY(memo->class && memo->born == shape->born && memo->generation == generation &&
               memo->terms == c->terms.made))
        return k->at.at[memo->class - 1];

    const struct profile *profile =
        classes_serving(k, specs_at(&c->specs, shape->spec)->scheduler_name);
    if (!profile)
        return NULL;
    uint32_t id = find_class(k, profile, shape, SYM_NONE);
    memo = &k->by_shape.at[shape_number];
    intern_hold(&k->table, id);
    let_go(k, memo);
    *memo = (struct shape_class){shape->born, generation, c->terms.made, id + 1};
    return k->at.at[id];
}

struct class *classes_within(struct classes *k, shape_id shape_number, sym keys)
{
    const struct shape *shape = &k->cluster->pods.shapes.at[shape_number];
    const struct spec *spec = specs_at(&k->cluster->specs, shape->spec);
    const struct profile *profile = classes_serving(k, spec->scheduler_name);
    if (!profile)
        return NULL;
    uint32_t id = find_class(k, profile, shape, keys); /* first: it may make room for one more */
    return k->at.at[id];
}

struct str class_error_text(const struct class *class, const struct reasons *reasons,
                            reason_id error)
{
    bool is_own = class->failure && class->failure->n &&
                  class->failure_of == reasons_at(reasons, error)->plugin;
    return is_own ? *class->failure : reasons_at(reasons, error)->texts[0];
}

static void class_gone(void *ctx, uint32_t id)
{
    struct classes *k = ctx;
    free_class(k, k->at.at[id]);
    k->at.at[id] = NULL;
}

void classes_rest(struct classes *k)
{
    struct bits waits = {0};
    vec_each(&k->cluster->pods.rows, row)
        if (pod_is_waiting(row))
            bits_add(&waits, row->shape);
    for (uint32_t i = 0; i < k->by_shape.n; i++)
        if (!bits_has(&waits, i))
            let_go(k, &k->by_shape.at[i]);
    bits_done(&waits);
}

void classes_tidy(struct classes *k, enum tidy how)
{
    const struct pods *pods = &k->cluster->pods;
    for (uint32_t i = 0; i < k->by_shape.n; i++) {
        struct shape_class *memo = &k->by_shape.at[i];
        bool stands = i < pods->shapes.n && pods->shapes.at[i].born == memo->born &&
                      pods->shape_table.entries.at[i].holds;
        if (!stands)
            let_go(k, memo);
    }
    intern_tidy(&k->table, how, class_gone, k);
    reasons_tidy(&k->reasons, how);
    if (how == TIDY_ALL)
        intern_fit(&k->table, &k->at);
}

uint32_t classes_count(const struct classes *k)
{
    return k->table.live;
}

void classes_done(struct classes *k)
{
    vec_each(&k->at, class)
        if (*class)
            free_class(k, *class);
    end_shared(k);
    vec_each(&k->serving, s)
        intern_drop(&k->cluster->names.text, s->name);
    vec_done(&k->serving);
    vec_done(&k->at);
    vec_done(&k->by_shape);
    vec_done(&k->scratch);
    intern_done(&k->table);
    reasons_done(&k->reasons);
}
