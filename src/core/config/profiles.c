/* From the plugin sets of a file to what runs. In kube-scheduler's steps: the default set merged
 * with the file's, then MultiPoint expanded over the points each plugin implements. */

#include "core/config/inside.h"
#include "core/plugins/plugins.h"

#define MOST_WEIGHT 1000000 /* so that sums of weighted scores stay within 32 bits */

/* A plugin in a set, its name resolved. */
struct member {
    const struct known_plugin *plugin;
    int64_t weight;
    enum { BY_DEFAULT, BY_KUBENEXUS, BY_NAME } comes; /* a later one replaces an earlier one */
};

VEC_TYPE(members, struct member);

struct building {
    struct reading *r;
    const struct file_profile *file;
    uint32_t index; /* of the profile in the file */
    struct str name;
    struct members multi, own[N_POINTS]; /* the merged sets */
    bool all_off[N_POINTS];              /* "*" is disabled */
    struct members points[N_POINTS];     /* expanded */
    const void **args;                   /* by place in the file's list */
};

static void building_done(struct building *b)
{
    vec_done(&b->multi);
    for (uint32_t i = 0; i < N_POINTS; i++) {
        vec_done(&b->own[i]);
        vec_done(&b->points[i]);
    }
}

static struct member *find(const struct members *set, const struct known_plugin *plugin)
{
    vec_each(set, m)
        if (m->plugin == plugin)
            return m;
    return NULL;
}

/* --- names --- */

/* The plugin that a file names; NULL, with an error added, if there is none. */
static const struct known_plugin *resolve(struct reading *r, struct str name, struct str path,
                                          const char *type)
{
    bool is_alias;
    const struct known_plugin *plugin = externals_find(r, name, &is_alias);
    struct str shown = str_part(name, 0, 80);
    if (!name.n)
        config_error(r, path, "missing");
    else if (known_plugin_is_removed(name))
        config_error(r, path,
                     "\"" STR_FMT "\" was removed before kubescheduler.config.k8s.io/v1 "
                     "(NodeVolumeLimits does its work)",
                     STR_ARG(shown));
    else if (!plugin && !externals_is_broken(r, name))
        config_error(r, path, "%s \"" STR_FMT "\" does not exist", type, STR_ARG(shown));
    else if (plugin && is_alias)
        config_note(r, path, "\"" STR_FMT "\" is called " STR_FMT, STR_ARG(shown),
                    STR_ARG(plugin->name));
    return plugin;
}

static int64_t check_weight(struct reading *r, int32_t weight, struct str set, uint32_t i)
{
    if (weight >= 0 && weight <= MOST_WEIGHT)
        return weight;
    config_error(r, PATH(r, STR_FMT ".enabled[%u].weight", STR_ARG(set), i),
                 "%d: not in valid range [0, %d]", weight, MOST_WEIGHT);
    return 0;
}

/* --- merging --- */

static bool names_ours(struct str name)
{
    return str_equal(name, KNOWN_OURS);
}

static bool is_disabled(const struct reading *r, const struct file_set *file,
                        const struct known_plugin *plugin)
{
    for (uint32_t i = 0; i < file->disabled.n; i++) {
        struct str name = file->disabled.at[i].name;
        bool is_alias;
        if (externals_find(r, name, &is_alias) == plugin ||
            (names_ours(name) && known_plugin_is_ours(plugin)))
            return true;
    }
    return false;
}

static bool disables_all(const struct file_set *file)
{
    for (uint32_t i = 0; i < file->disabled.n; i++)
        if (str_equal(file->disabled.at[i].name, STR("*")))
            return true;
    return false;
}

/* Upstream lets a file disable what does not exist; we say so. */
static void check_disabled(struct reading *r, const struct file_set *file, struct str path)
{
    for (uint32_t i = 0; i < file->disabled.n; i++) {
        struct str name = file->disabled.at[i].name;
        bool is_alias;
        if (!str_equal(name, STR("*")) && !names_ours(name) && !externals_find(r, name, &is_alias))
            config_note(r, PATH(r, STR_FMT ".disabled[%u].name", STR_ARG(path), i),
                        "\"" STR_FMT "\" does not exist: nothing to disable",
                        STR_ARG(str_part(name, 0, 80)));
    }
}

/* KubeNexus is no plugin: it brings all of ours, each with its own weight. */
static void check_ours(struct building *b, const struct file_set *file, uint32_t i, struct str path,
                       uint32_t points)
{
    struct str at = PATH(b->r, STR_FMT ".enabled[%u].name", STR_ARG(path), i);
    uint32_t first = 0;
    while (!names_ours(file->enabled.at[first].name))
        first++;
    if (points != UINT32_MAX)
        config_error(b->r, at,
                     "KubeNexus stands for plugins of many points: enable it in multiPoint");
    else if (first < i)
        config_error(b->r, at, "KubeNexus is there twice");
    if (file->enabled.at[i].weight)
        config_error(b->r, PATH(b->r, STR_FMT ".enabled[%u].weight", STR_ARG(path), i),
                     "KubeNexus has no weight of its own: name the plugin that you mean beside it");
}

static void add_ours(struct building *b, const struct file_set *file)
{
    const struct known_plugin *plugin;
    for (uint32_t i = 0; (plugin = known_ours_at(i)); i++)
        if (!is_disabled(b->r, file, plugin))
            vec_push(&b->multi, (struct member){plugin, known_plugin_weight(plugin), BY_KUBENEXUS});
}

/* The file's plugins onto those that are in the set already: one that is there is replaced where
 * it stands, others follow. */
static void add_enabled(struct building *b, const struct file_set *file, struct members *set,
                        struct str path, uint32_t points, const char *type)
{
    struct reading *r = b->r;
    for (uint32_t i = 0; i < file->enabled.n; i++) {
        const struct file_plugin *p = &file->enabled.at[i];
        if (names_ours(p->name)) {
            check_ours(b, file, i, path, points);
            continue;
        }
        struct str at = PATH(r, STR_FMT ".enabled[%u].name", STR_ARG(path), i);
        const struct known_plugin *plugin = resolve(r, p->name, at, type);
        if (!plugin)
            continue;
        if (!(plugin->points & points))
            config_error(r, at, "plugin \"" STR_FMT "\" does not extend %s plugin",
                         STR_ARG(plugin->name), type);
        struct member new = {plugin, check_weight(r, p->weight, path, i), BY_NAME};
        struct member *old = find(set, plugin);
        if (!old)
            vec_push(set, new);
        else if (old->comes == BY_NAME)
            config_error(r, at, "plugin \"" STR_FMT "\" already registered as \"%s\"",
                         STR_ARG(plugin->name), type);
        else
            *old = new;
    }
}

static void merge_multi(struct building *b)
{
    const struct file_set *file = &b->file->multi_point;
    struct str path = PATH(b->r, "profiles[%u].plugins.multiPoint", b->index);
    for (uint32_t i = 0; i < n_known_plugins; i++) {
        const struct known_plugin *plugin = &known_plugins[i];
        bool is_default = plugin->kube.is_in ||
                          (b->r->out->has_groups && str_equal(plugin->name, STR("GangScheduling")));
        if (is_default && !disables_all(file) && !is_disabled(b->r, file, plugin))
            vec_push(&b->multi, (struct member){plugin, plugin->kube.weight, BY_DEFAULT});
    }
    check_disabled(b->r, file, path);
    for (uint32_t i = 0; i < file->enabled.n; i++)
        if (names_ours(file->enabled.at[i].name)) {
            add_ours(b, file);
            break;
        }
    add_enabled(b, file, &b->multi, path, UINT32_MAX, "MultiPointPlugin");
}

static void merge_point(struct building *b, enum point point)
{
    const struct file_set *file = &b->file->points[point];
    struct str path =
        PATH(b->r, "profiles[%u].plugins." STR_FMT, b->index, STR_ARG(point_name(point)));
    check_disabled(b->r, file, path);
    b->all_off[point] = disables_all(file);
    add_enabled(b, file, &b->own[point], path, 1u << point, point_type(point));
}

/* --- expanding --- */

/* First what is both in MultiPoint and here, in the order given here; then the rest of MultiPoint;
 * then the rest of what is here. A weight given here wins. */
static void expand(struct building *b, enum point point)
{
    const struct file_set *file = &b->file->points[point];
    struct members *own = &b->own[point], *out = &b->points[point];
    for (uint32_t i = 0; i < own->n; i++)
        if (!b->all_off[point] && find(&b->multi, own->at[i].plugin) &&
            !is_disabled(b->r, file, own->at[i].plugin))
            vec_push(out, own->at[i]);
    for (uint32_t i = 0; i < b->multi.n && !b->all_off[point]; i++) {
        const struct known_plugin *plugin = b->multi.at[i].plugin;
        if (plugin->points >> point & 1 && !is_disabled(b->r, file, plugin) && !find(own, plugin))
            vec_push(out, b->multi.at[i]);
    }
    for (uint32_t i = 0; i < own->n; i++)
        if (!find(out, own->at[i].plugin))
            vec_push(out, own->at[i]);
    bool has_weight = point == POINT_SCORE || point == POINT_PLACEMENT_SCORE;
    vec_each(out, m)
        m->weight = !has_weight ? 0 : m->weight ? m->weight : known_plugin_weight(m->plugin);
}

/* PrioritySort, when it comes by default only, makes room for the order that the file asks for:
 * upstream would refuse the file. */
static void settle_order(struct building *b)
{
    struct members *sorts = &b->points[POINT_QUEUE_SORT];
    for (uint32_t i = 0; i < sorts->n && sorts->n > 1; i++)
        if (sorts->at[i].comes == BY_DEFAULT) {
            vec_remove(sorts, i);
            break;
        }
    if (sorts->n != 1)
        config_error(b->r, PATH(b->r, "profiles[%u].plugins.queueSort", b->index),
                     "only one queue sort plugin required for profile with scheduler name "
                     "\"" STR_FMT "\", but got %u",
                     STR_ARG(str_part(b->name, 0, 80)), sorts->n);
    if (b->points[POINT_BIND].n == 0)
        config_error(b->r, PATH(b->r, "profiles[%u].plugins.bind", b->index),
                     "at least one bind plugin is needed for profile with scheduler name "
                     "\"" STR_FMT "\"",
                     STR_ARG(str_part(b->name, 0, 80)));
    if (b->points[POINT_PLACEMENT_GENERATE].n > 1)
        config_error(b->r, PATH(b->r, "profiles[%u].plugins.placementGenerate", b->index),
                     "at most one plugin is allowed, but got %u",
                     b->points[POINT_PLACEMENT_GENERATE].n);
}

/* --- what runs --- */

static enum plugin_presence presence(const struct reading *r, const struct known_plugin *plugin)
{
    return externals_as(r, plugin) ? PLUGIN_HERE : plugin->presence;
}

static uint32_t number_of(const struct reading *r, const struct known_plugin *plugin)
{
    const struct known_external *external = externals_as(r, plugin);
    return external ? external->number : known_plugin_number(plugin);
}

/* A plugin here learns a pod once for filtering and once for scoring: the points that prepare do
 * not stand alone. */
static void check_pairs(struct building *b, const struct known_plugin *plugin)
{
    bool pre_filters = find(&b->points[POINT_PRE_FILTER], plugin);
    bool filters = find(&b->points[POINT_FILTER], plugin);
    bool has_filter = plugin->points >> POINT_PRE_FILTER & plugin->points >> POINT_FILTER & 1;
    bool has_score = plugin->points >> POINT_PRE_SCORE & plugin->points >> POINT_SCORE & 1;
    if (has_filter && (pre_filters < filters || (plugin->restricts && pre_filters > filters)))
        config_error(b->r, PATH(b->r, "profiles[%u].plugins.preFilter", b->index),
                     STR_FMT " takes part in %s alone: not supported", STR_ARG(plugin->name),
                     filters ? "filter" : "preFilter");
    if (has_score && find(&b->points[POINT_SCORE], plugin) &&
        !find(&b->points[POINT_PRE_SCORE], plugin))
        config_error(b->r, PATH(b->r, "profiles[%u].plugins.preScore", b->index),
                     STR_FMT " takes part in score alone: not supported", STR_ARG(plugin->name));
}

/* Where the plugin could take part and does not. */
static uint32_t points_off(const struct building *b, const struct known_plugin *plugin)
{
    uint32_t off = 0;
    if (!find(&b->points[POINT_PRE_ENQUEUE], plugin))
        off |= PROFILE_NO_GATE;
    enum point filter = plugin->points >> POINT_FILTER & 1 ? POINT_FILTER : POINT_PRE_FILTER;
    if (!find(&b->points[filter], plugin))
        off |= PROFILE_NO_FILTER;
    if (!find(&b->points[POINT_SCORE], plugin))
        off |= PROFILE_NO_SCORE;
    if (!find(&b->points[POINT_POST_FILTER], plugin))
        off |= PROFILE_NO_POST_FILTER;
    if (plugin->points >> POINT_PERMIT & 1 && !find(&b->points[POINT_PERMIT], plugin))
        off |= PROFILE_NO_GANGS;
    if (!find(&b->points[POINT_RESERVE], plugin) || !find(&b->points[POINT_PRE_BIND], plugin))
        off |= PROFILE_NO_RESERVE;
    return off;
}

/* The place of a plugin in the file's list of arguments; behind its end if it has none. */
static uint32_t args_place(const struct building *b, const struct known_plugin *plugin)
{
    uint32_t i = 0;
    bool is_alias;
    while (i < b->file->args.n &&
           externals_find(b->r, b->file->args.at[i].name, &is_alias) != plugin)
        i++;
    return i;
}

static struct profile_plugin build_plugin(struct building *b, const struct known_plugin *plugin)
{
    uint32_t number = number_of(b->r, plugin);
    const struct member *score = find(&b->points[POINT_SCORE], plugin);
    const struct known_external *external = externals_as(b->r, plugin);
    uint32_t at = args_place(b, plugin);
    const void *args = at < b->file->args.n ? b->args[at]
                       : external           ? externals_args(b->r, external, (struct str){0})
                                            : NULL;
    check_pairs(b, plugin);
    return (struct profile_plugin){
        .plugin = external ? external->external->plugin : plugins[number],
        .number = number,
        .weight = score ? score->weight : 0,
        .args = args,
        .off = points_off(b, plugin),
    };
}

static bool has_plugin(const struct profile_plugin *all, uint32_t n, uint32_t number)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i].number == number)
            return true;
    return false;
}

/* The queue has an order even if the file, which is refused then, names none. */
static const struct known_plugin *order_of(const struct building *b)
{
    bool is_alias;
    const struct members *sorts = &b->points[POINT_QUEUE_SORT];
    return sorts->n ? sorts->at[0].plugin : known_plugin_find(STR("PrioritySort"), &is_alias);
}

/* What nodes share is judged after what each node has of its own. */
static void note_order(struct building *b, const struct profile_plugin *all, uint32_t n)
{
    const struct plugin *first = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct plugin *plugin = all[i].plugin;
        bool is_alias;
        const struct known_plugin *known = known_plugin_find(str_of(plugin->name), &is_alias);
        if (all[i].off & PROFILE_NO_FILTER || !known || !known->kube.is_in)
            continue; /* upstream has no such plugin to compare with */
        if (first && plugin->row_filter) {
            config_note(b->r, PATH(b->r, "profiles[%u].plugins.filter", b->index),
                        "%s is asked before %s: a node that both refuse is refused by the former",
                        plugin->name, first->name);
            return;
        }
        if (plugin->key_filter && !plugin->row_filter)
            first = plugin;
    }
}

/* Does it join the profile at this point? Who is a gate and filters, too, joins as a filter: pods
 * are learned in that order. */
static bool joins(const struct building *b, enum point point, const struct known_plugin *plugin)
{
    return presence(b->r, plugin) == PLUGIN_HERE &&
           (point != POINT_PRE_ENQUEUE || !find(&b->points[POINT_FILTER], plugin));
}

/* In the order in which a pod meets the plugins: gates, the queue, filters, scores; and those that
 * only look at pods. */
static void build_profile(struct building *b, struct profile *out)
{
    static const enum point order[] = {POINT_PRE_ENQUEUE, POINT_FILTER, POINT_POST_FILTER,
                                       POINT_SCORE,       POINT_PERMIT, POINT_PRE_FILTER};
    struct profile_plugin *all =
        arena_array(&b->r->out->mem, struct profile_plugin, n_plugins + b->r->n_known_externals);
    uint32_t n = 0;
    for (size_t k = 0; k < LEN(order); k++) {
        struct members *members = &b->points[order[k]];
        for (uint32_t i = 0; i < members->n; i++)
            if (joins(b, order[k], members->at[i].plugin) &&
                !has_plugin(all, n, number_of(b->r, members->at[i].plugin)))
                all[n++] = build_plugin(b, members->at[i].plugin);
        if (order[k] == POINT_PRE_ENQUEUE)
            all[n++] = build_plugin(b, order_of(b));
    }
    note_order(b, all, n);
    for (uint32_t i = 0; i < n; i++)
        extenders_ignore(b->r, &all[i]);
    *out = (struct profile){b->name, all, n};
}

/* --- what people read --- */

/* The points that are for groups of pods have nobody here yet. */
static bool is_served(enum point point)
{
    return point <= POINT_SCORE || point == POINT_PERMIT || point == POINT_BIND;
}

static void list_points(struct building *b, struct profile_listing *out)
{
    struct arena *mem = &b->r->out->mem;
    struct members missing = {0};
    for (uint32_t point = 0; point < N_POINTS; point++) {
        struct members *members = &b->points[point];
        out->points[point].n = members->n;
        out->points[point].at = arena_array(mem, struct point_plugin, members->n);
        for (uint32_t i = 0; i < members->n; i++) {
            const struct known_plugin *plugin = members->at[i].plugin;
            bool is_missing = presence(b->r, plugin) == PLUGIN_MISSING;
            out->points[point].at[i] = (struct point_plugin){plugin->name, members->at[i].weight,
                                                             !is_missing && is_served(point)};
            if (is_missing && !find(&missing, plugin))
                vec_push(&missing, members->at[i]);
        }
    }
    out->missing.at = arena_array(mem, struct str, missing.n);
    for (uint32_t i = 0; i < n_known_plugins; i++)
        if (find(&missing, &known_plugins[i]))
            out->missing.at[out->missing.n++] = known_plugins[i].name;
    vec_done(&missing);
    const struct file_config *file = &b->r->file;
    out->percentage_of_nodes = b->file->has_percentage ? b->file->percentage
                               : file->has_percentage  ? file->percentage
                                                       : 0;
}

/* --- all of them --- */

/* Arguments of plugins that do not run are checked, too. */
static void read_args(struct building *b)
{
    b->args = arena_array(&b->r->out->mem, const void *, b->file->args.n);
    for (uint32_t i = 0; i < b->file->args.n; i++) {
        const struct file_args *args = &b->file->args.at[i];
        struct str path = PATH(b->r, "profiles[%u].pluginConfig[%u]", b->index, i);
        const struct known_plugin *plugin =
            resolve(b->r, args->name, PATH(b->r, STR_FMT ".name", STR_ARG(path)), "plugin");
        if (!plugin)
            continue;
        if (args_place(b, plugin) < i)
            config_error(b->r, path, "\"" STR_FMT "\" is there twice", STR_ARG(plugin->name));
        b->args[i] =
            args_read(b->r, plugin, args->args, PATH(b->r, STR_FMT ".args", STR_ARG(path)));
    }
}

/* A file that names our profile and nothing else has kube-scheduler's plugins, which surprises. */
static void note_absence(struct building *b, const struct profile *p)
{
    bool has_ours = !str_equal(p->name, built_in_profiles[BUILT_IN_KUBENEXUS].name);
    for (uint32_t i = 0; i < p->n; i++) {
        bool is_alias;
        const struct known_plugin *known =
            known_plugin_find(str_of(p->plugins[i].plugin->name), &is_alias);
        has_ours |= known && known_plugin_is_ours(known);
    }
    if (!has_ours)
        config_note(b->r, PATH(b->r, "profiles[%u].schedulerName", b->index),
                    STR_FMT " has none of our plugins here, so no gangs: multiPoint: {enabled: "
                            "[{name: KubeNexus}]} brings them",
                    STR_ARG(p->name));
}

static void build(struct building *b, struct profile *out, struct profile_listing *listing)
{
    merge_multi(b);
    for (uint32_t point = 0; point < N_POINTS; point++) {
        merge_point(b, point);
        expand(b, point);
    }
    settle_order(b);
    read_args(b);
    build_profile(b, out);
    list_points(b, listing);
    note_absence(b, out);
}

/* Only a profile that is alone may go without a name. */
static void name_profile(struct building *b, uint32_t n)
{
    const struct file_config *file = &b->r->file;
    struct str path = PATH(b->r, "profiles[%u].schedulerName", b->index);
    bool is_default = n == 1 && !b->file->has_name;
    b->name = is_default ? STR("default-scheduler") : b->file->name;
    if (!b->name.n)
        config_error(b->r, path, "missing");
    for (uint32_t i = 0; i < b->index; i++)
        if (b->name.n && str_equal(file->profiles.at[i].name, b->name)) {
            config_error(b->r, path, "\"" STR_FMT "\" is there twice: profiles[%u] has it, too",
                         STR_ARG(str_part(b->name, 0, 80)), i);
            break;
        }
}

static struct str args_text(const struct building *b, const struct known_plugin *plugin)
{
    uint32_t i = args_place(b, plugin);
    return i < b->file->args.n ? b->file->args.at[i].args : (struct str){0};
}

/* One queue serves all profiles. Those of PrioritySort and of Coscheduling stand in it together:
 * the latter orders units that do not age as the former does. But one order has one set of
 * arguments. */
static void check_common_order(struct building *b, const struct building *before)
{
    const struct members *mine = &b->points[POINT_QUEUE_SORT];
    for (uint32_t i = 0; i < b->index && mine->n; i++) {
        const struct known_plugin *order = mine->at[0].plugin;
        const struct members *theirs = &before[i].points[POINT_QUEUE_SORT];
        if (!theirs->n || theirs->at[0].plugin != order ||
            str_equal(args_text(b, order), args_text(&before[i], order)))
            continue;
        config_error(b->r, PATH(b->r, "profiles[%u].pluginConfig", b->index),
                     "of " STR_FMT ": must be the same for all profiles", STR_ARG(order->name));
        return;
    }
}

/* No list that makes sense is longer. */
static bool is_short(const struct file_profile *p)
{
    enum { MOST_PLUGINS = 256 };
    uint32_t longest = p->args.n;
    for (uint32_t k = 0; k <= N_POINTS; k++) {
        const struct file_set *set = k < N_POINTS ? &p->points[k] : &p->multi_point;
        longest = MAX(longest, set->enabled.n);
        longest = MAX(longest, set->disabled.n);
    }
    return longest <= MOST_PLUGINS;
}

static bool check_lengths(struct reading *r)
{
    enum { MOST_PROFILES = 64 };
    size_t before = r->out->errors.n;
    if (r->file.profiles.n > MOST_PROFILES)
        config_error(r, STR("profiles"), "more than %d", MOST_PROFILES);
    for (uint32_t i = 0; i < r->file.profiles.n; i++)
        if (!is_short(&r->file.profiles.at[i]))
            config_error(r, PATH(r, "profiles[%u]", i), "a list of more than 256 plugins");
    return r->out->errors.n == before;
}

void profiles_build(struct reading *r)
{
    static const struct file_profile plain; /* what a file without profiles means */
    struct scheduler_config *c = r->out;
    uint32_t n = r->file.profiles.n ? r->file.profiles.n : 1;
    if (!check_lengths(r))
        return;
    c->n_profiles = n;
    c->profiles = arena_array(&c->mem, struct profile, n);
    c->listings = arena_array(&c->mem, struct profile_listing, n);
    struct building *all = arena_array(&c->mem, struct building, n);
    for (uint32_t i = 0; i < n; i++) {
        struct building *b = &all[i];
        *b = (struct building){.r = r, .index = i};
        b->file = r->file.profiles.n ? &r->file.profiles.at[i] : &plain;
        name_profile(b, n);
        build(b, &c->profiles[i], &c->listings[i]);
        check_common_order(b, all);
    }
    for (uint32_t i = 0; i < n; i++)
        building_done(&all[i]);
}
