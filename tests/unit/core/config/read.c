#include "read.h"

bool config_of(struct scheduler_config *c, const char *text)
{
    AUTO(buf) all = {0};
    bool has_groups = c->has_groups;
    scheduler_config_done(c);
    c->has_groups = has_groups;
    buf_printf(&all,
               "apiVersion: kubescheduler.config.k8s.io/v1\n"
               "kind: KubeSchedulerConfiguration\n%s",
               text);
    return scheduler_config_read(c, buf_str(&all));
}

static const char *lines(struct scheduler_config *c, const struct config_message *at, uint32_t n)
{
    struct str all = STR("");
    for (uint32_t i = 0; i < n; i++)
        all = arena_printf(&c->mem, STR_FMT "%s%u " STR_FMT ": " STR_FMT, STR_ARG(all),
                           i ? "\n" : "", at[i].line, STR_ARG(at[i].path), STR_ARG(at[i].text));
    return all.p;
}

const char *config_errors(struct scheduler_config *c, const char *text)
{
    bool is_valid = config_of(c, text);
    EXPECT_INT(is_valid, c->errors.n == 0);
    return lines(c, c->errors.at, c->errors.n);
}

const char *config_notes(struct scheduler_config *c, const char *text)
{
    EXPECT_TEXT(config_errors(c, text), "");
    return lines(c, c->notes.at, c->notes.n);
}

const char *config_point(struct scheduler_config *c, enum point point)
{
    struct str all = STR("");
    list_each(&c->listings[0].points[point], p) {
        all = arena_printf(&c->mem, STR_FMT "%s" STR_FMT, STR_ARG(all), all.n ? " " : "",
                           STR_ARG(p->name));
        if (p->weight)
            all = arena_printf(&c->mem, STR_FMT " %lld", STR_ARG(all), (long long)p->weight);
    }
    return all.p;
}

struct engine_config config_engine(const struct scheduler_config *c)
{
    return (struct engine_config){
        .rules = {.profiles = c->profiles,
                  .n_profiles = c->n_profiles,
                  .first_backoff_ms = c->first_backoff_ms,
                  .most_backoff_ms = c->most_backoff_ms},
        .checks_views = true,
    };
}
