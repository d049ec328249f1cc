#include "core/config/inside.h"
#include "core/plugins/external.h"
#include "core/plugins/plugins.h"
#include "core/wire/json_read.h"

struct args_library {
    struct str library;
};

static const struct field library_fields[] = {
    {FIELD(STR, "library", 0, struct args_library, library)},
    FIELD_END,
};

static struct str library_of(struct str args, struct arena *mem)
{
    struct args_library said = {0};
    struct error e;
    size_t where;
    bool is_read = args.n && json_read(args, library_fields, &said, mem, &where, &e);
    return is_read ? said.library : (struct str){0};
}

static const struct external *find_external(const struct externals *all, struct str name)
{
    for (uint32_t i = 0; all && i < all->n; i++)
        if (str_equal(all->at[i].name, name))
            return &all->at[i];
    return NULL;
}

static bool is_built_in(struct str name)
{
    bool is_alias;
    return known_plugin_find(name, &is_alias) != NULL;
}

static uint32_t points_of(const struct plugin *p)
{
    uint32_t filters = p->row_filter ? 1u << POINT_FILTER : 0;
    return filters | (p->row_score ? 1u << POINT_SCORE : 0);
}

/* Says what is wrong with an external plugin at each place that names it. */
static void check(struct reading *r, uint32_t profile, uint32_t i)
{
    const struct file_args *args = &r->file.profiles.at[profile].args.at[i];
    const struct external *external = find_external(r->externals, args->name);
    if (!external || is_built_in(args->name))
        return;
    struct str library = library_of(args->args, &r->out->mem);
    struct str path = PATH(r, "profiles[%u].pluginConfig[%u].args.library", profile, i);
    if (!external->plugin)
        config_error(r, path, "%s", external->error);
    else if (!str_equal(library, external->library))
        config_error(r, path, STR_FMT " has it in another profile: one library is enough",
                     STR_ARG(str_part(external->library, 0, 200)));
}

void externals_begin(struct reading *r)
{
    uint32_t n = r->externals ? r->externals->n : 0;
    r->known_externals = arena_array(&r->out->mem, struct known_external, n + 1);
    for (uint32_t i = 0; i < n && i < EXTERNALS_MOST; i++) {
        const struct external *external = &r->externals->at[i];
        if (!external->plugin)
            continue;
        struct known_external *known = &r->known_externals[r->n_known_externals++];
        known->is.name = arena_str(&r->out->mem, external->name);
        known->is.points = points_of(external->plugin);
        known->external = external;
        known->number = n_plugins + i;
    }
    if (n > EXTERNALS_MOST)
        config_error(r, STR("profiles"), "%u libraries with plugins: more than %d", n,
                     EXTERNALS_MOST);
    for (uint32_t p = 0; p < r->file.profiles.n; p++)
        for (uint32_t i = 0; i < r->file.profiles.at[p].args.n; i++)
            check(r, p, i);
}

const struct known_plugin *externals_find(const struct reading *r, struct str name, bool *is_alias)
{
    const struct known_plugin *known = known_plugin_find(name, is_alias);
    for (uint32_t i = 0; i < r->n_known_externals && !known; i++)
        if (str_equal(r->known_externals[i].is.name, name))
            known = &r->known_externals[i].is;
    return known;
}

const struct known_external *externals_as(const struct reading *r, const struct known_plugin *known)
{
    for (uint32_t i = 0; i < r->n_known_externals; i++)
        if (&r->known_externals[i].is == known)
            return &r->known_externals[i];
    return NULL;
}

bool externals_is_broken(const struct reading *r, struct str name)
{
    const struct external *external = find_external(r->externals, name);
    return external && !external->plugin;
}

const void *externals_args(struct reading *r, const struct known_external *known, struct str json)
{
    struct external_args *args = arena_array(&r->out->mem, struct external_args, 1);
    *args = (struct external_args){.external = known->external->table, .json = json};
    return args;
}

/* --- which there are --- */

static void add(struct externals *out, struct arena *mem, const struct file_args *args)
{
    struct str library = library_of(args->args, mem);
    if (!library.n || is_built_in(args->name) || find_external(out, args->name))
        return;
    vec_push(out, (struct external){.name = arena_str(mem, args->name),
                                    .library = arena_str(mem, library)});
}

void scheduler_config_externals(struct str text, struct arena *mem, struct externals *out)
{
    struct scheduler_config ignored = {0};
    struct reading r = {.out = &ignored};
    struct error e = {0};
    struct yaml_reader *y = text.n > CONFIG_BYTES_MOST ? NULL : yaml_reader_new(text);
    if (y && yaml_reader_next(y, &r.yaml, &e)) {
        ignored.json = r.yaml.json;
        r.yaml.json = (struct buf){0};
        if (walk_read(&r, buf_str(&ignored.json), file_config_fields, &r.file, (struct str){0}))
            list_each(&r.file.profiles, profile)
                list_each(&profile->args, args)
                    add(out, mem, args);
    }
    if (y)
        yaml_reader_free(y);
    yaml_document_done(&r.yaml);
    scheduler_config_done(&ignored);
}
