#include "cmd/kubenexus/simulate_contest.h"

#include <stdio.h>
#include <unistd.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_read.h"
#include "core/plugins/plugins.h"

static const struct profile *find_profile(const struct profile *profiles, uint32_t n,
                                          struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_equal(profiles[i].name, name))
            return &profiles[i];
    }
    return NULL;
}

/* --- reading --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

bool simulate_contestant_configure(struct simulate_contestant *c, const char *file)
{
    if (!config_read_file(&c->config, file)) {
        config_print_errors(&c->config, file, stderr);
        return false;
    }
    if (c->config.n_extenders)
        fprintf(stderr, "simulate: %s: extenders are not asked\n", file);
    c->who.name = str_of(base_name(file));
    return true;
}

static bool read_file(struct simulate_contestant *c, const char *file)
{
    if (access(file, R_OK) != 0) {
        complain_text("simulate: --compare: \"%s\" is no profile (default-scheduler, "
                      "kubenexus-scheduler), no policy (first-fit, fifo, easy, sjf) and no file",
                      file);
        return false;
    }
    if (!simulate_contestant_configure(c, file))
        return false;
    if (c->config.n_profiles == 1)
        c->scheduler = c->config.profiles[0].name;
    return true;
}

static bool read_policy(struct simulate_contestant *c, const char *text)
{
    c->policy.args = LINE_DEFAULTS;
    return c->has_policy = simulate_policy_parse(&c->policy, text);
}

bool simulate_contestant_read(struct simulate_contestant *c, const char *text)
{
    *c = (struct simulate_contestant){.text = text};
    if (!text)
        return true;
    struct str rest = str_of(text), name = str_take(&rest, '+');
    c->who.name = str_of(text);
    const struct profile *profile = find_profile(built_in_profiles, n_built_in_profiles, name);
    if (profile)
        c->scheduler = profile->name;
    if (profile && rest.n == 0 && text[name.n] != '+')
        return true;
    if (read_policy(c, profile ? rest.p : text))
        return true;
    return read_file(c, text);
}

/* --- who it is --- */

static bool has_queues(const struct plan *plan)
{
    vec_each(&plan->objects, object)
        if (object->kind == KIND_QUEUE)
            return true;
    return false;
}

static const char *policy_text(const struct profile *profile, const struct plan *plan)
{
    static const char *const names[] = {
        [LINE_EASY] = "easy",
        [LINE_FIFO] = "fifo",
        [LINE_FIRST_FIT] = "first-fit",
        [LINE_SJF] = "sjf",
    };
    bool keeps_queues = false;
    for (uint32_t i = 0; i < profile->n; i++) {
        const struct line_args *args = profile->plugins[i].args;
        if (profile->plugins[i].plugin->keeps_line)
            return names[args ? args->policy : LINE_DEFAULTS.policy];
        keeps_queues |= profile->plugins[i].plugin->keeps_queues && has_queues(plan);
    }
    return keeps_queues ? "first-fit, by turns of queues" : "none (whoever fits starts)";
}

static void add_profile(struct simulate_contestant *c, const struct plan *plan, struct str name)
{
    const struct profile *profile =
        find_profile(c->engine.rules.profiles, c->engine.rules.n_profiles, name);
    if (c->profile.n)
        buf_add(&c->profile, STR(" and "));
    buf_add(&c->profile, name);
    if (!profile) {
        buf_add(&c->profile, STR(" (which nobody serves here)"));
        return;
    }
    if (c->engine.rules.profiles == built_in_profiles && profile == built_in_profiles)
        buf_add(&c->profile, STR(" (kube-scheduler's plugins)"));
    c->who.policy = str_of(policy_text(profile, plan));
    c->who.places_gangs = c->who.places_gangs || profile_gangs(profile);
}

static bool is_listed(const struct str *names, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_equal(names[i], name))
            return true;
    }
    return false;
}

/* Those that the plan's pods name, in the order in which they come. */
static void add_own_profiles(struct simulate_contestant *c, const struct plan *plan)
{
    enum { NAMES_MOST = 4 };
    struct str names[NAMES_MOST];
    uint32_t n = 0;
    vec_each(&plan->templates, template) {
        struct str name = (*template)->spec.scheduler_name;
        if (is_listed(names, n, name))
            continue;
        if (n == NAMES_MOST) {
            buf_add(&c->profile, STR(" and others"));
            return;
        }
        names[n++] = name;
        add_profile(c, plan, name);
    }
}

/* So long a plugin's arguments may make pods wait for others to have run. */
static int64_t wait_of(const struct profile_plugin *p)
{
    if (p->plugin->evicts && p->args)
        return ((const struct eviction_args *)p->args)->least_run_ms;
    if (p->plugin->keeps_queues && p->args)
        return ((const struct fair_queues_args *)p->args)->reclaim_delay_ms;
    return 0;
}

int64_t simulate_contestant_patience_ms(const struct simulate_contestant *c)
{
    int64_t wait_ms = 0;
    for (uint32_t i = 0; i < c->engine.rules.n_profiles; i++)
        for (uint32_t k = 0; k < c->engine.rules.profiles[i].n; k++)
            wait_ms = MAX(wait_ms, wait_of(&c->engine.rules.profiles[i].plugins[k]));
    return wait_ms;
}

void simulate_contestant_prepare(struct simulate_contestant *c, const struct plan *plan,
                                 const struct engine_config *engine)
{
    c->engine = *engine;
    if (c->config.n_profiles) {
        c->engine.rules.profiles = c->config.profiles;
        c->engine.rules.n_profiles = c->config.n_profiles;
    } else if (!c->engine.rules.n_profiles) {
        c->engine.rules.profiles = built_in_profiles;
        c->engine.rules.n_profiles = n_built_in_profiles;
    }
    if (c->has_policy)
        simulate_policy_apply(&c->policy, &c->engine.rules);
    c->who.policy = STR("none");
    if (c->scheduler.n)
        add_profile(c, plan, c->scheduler);
    else
        add_own_profiles(c, plan);
    c->who.profile = buf_str(&c->profile);
    if (!c->who.name.n)
        c->who.name = c->who.profile;
}

void simulate_contestant_done(struct simulate_contestant *c)
{
    scheduler_config_done(&c->config);
    buf_done(&c->profile);
}
