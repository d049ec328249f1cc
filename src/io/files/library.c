#include "io/files/library.h"

#include <dlfcn.h>
#include <kubenexus/plugin.h>

/* KUBENEXUS_EXTERNALS is EXTERNAL(table) for each that is built in. */
#define EXTERNAL(table) extern const struct kn_plugin table;
KUBENEXUS_EXTERNALS
#undef EXTERNAL

static const struct kn_plugin *find_built_in(struct str name, const char **why)
{
#define EXTERNAL(table) &table,
    static const struct kn_plugin *const all[] = {KUBENEXUS_EXTERNALS NULL};
#undef EXTERNAL
    for (size_t i = 0; all[i]; i++)
        if (all[i]->name && str_equal(str_of(all[i]->name), name))
            return all[i];
    *why = "this program has no such plugin";
    return NULL;
}

#ifdef KUBENEXUS_STATIC

static const struct kn_plugin *load(struct str path, struct arena *mem, const char **why)
{
    (void)path, (void)mem;
    *why = "this program is static and loads no library";
    return NULL;
}

#else

/* "PATH: wrong": the caller says the path. */
static struct str without_path(const char *said, struct str path)
{
    struct str text = said ? str_of(said) : STR("has no kubenexus_plugin");
    bool has_path = str_starts(text, path) && str_starts(str_part(text, path.n, text.n), STR(": "));
    return has_path ? str_part(text, path.n + 2, text.n) : text;
}

static const struct kn_plugin *load(struct str path, struct arena *mem, const char **why)
{
    struct str name = arena_str(mem, path);
    if (str_find(path, '/') == path.n) { /* or it would be searched for */
        *why = "is not a path";
        return NULL;
    }
    void *library = dlopen(name.p, RTLD_NOW | RTLD_LOCAL);
    const struct kn_plugin *plugin = library ? dlsym(library, "kubenexus_plugin") : NULL;
    if (!plugin)
        *why = arena_str(mem, without_path(dlerror(), path)).p;
    return plugin;
}

#endif

const struct kn_plugin *library_plugin(struct str path, struct str name, struct arena *mem,
                                       const char **why)
{
    return str_equal(path, STR("built-in")) ? find_built_in(name, why) : load(path, mem, why);
}
