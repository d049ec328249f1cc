#include "cmd/kubenexus/simulate_policy.h"

#include "core/plugins/plugins.h"

bool simulate_policy_parse(struct simulate_policy *p, const char *text)
{
    return line_policy_parse(str_of(text), &p->args.policy);
}

static struct profile_plugin line_plugin(const struct line_args *args)
{
    uint32_t i = 0;
    while (!plugins[i]->keeps_line)
        i++;
    return (struct profile_plugin){.plugin = plugins[i], .number = i, .args = args};
}

void simulate_policy_apply(struct simulate_policy *p, struct engine_rules *rules)
{
    assert(n_built_in_profiles <= LEN(p->profiles) && n_plugins < LEN(p->plugins[0]));
    for (uint32_t i = 0; i < n_built_in_profiles; i++) {
        const struct profile *from = &built_in_profiles[i];
        uint32_t n = 0;
        for (uint32_t k = 0; k < from->n; k++)
            if (!from->plugins[k].plugin->keeps_line)
                p->plugins[i][n++] = from->plugins[k];
        p->plugins[i][n++] = line_plugin(&p->args);
        p->profiles[i] = (struct profile){from->name, p->plugins[i], n};
    }
    rules->profiles = p->profiles;
    rules->n_profiles = n_built_in_profiles;
}
