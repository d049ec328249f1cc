/* Any bytes as a configuration: what is refused says why in one line, what is accepted has a
 * profile with an order of the queue, and flags of feature gates are read or refused. */

#include "core/config/config.h"
#include "core/config/gates.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static bool has_order(const struct profile *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->plugins[i].plugin->before)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = {(const char *)bytes, n};
    AUTO(scheduler_config) c = {0};
    bool is_valid = scheduler_config_read(&c, text);
    assert(is_valid == (c.errors.n == 0) && (!is_valid || c.n_profiles > 0));
    vec_each(&c.errors, m)
        assert(m->text.n && str_find(m->text, '\n') == m->text.n && m->line <= n + 2);
    for (uint32_t i = 0; is_valid && i < c.n_profiles; i++)
        assert(c.profiles[i].name.n && has_order(&c.profiles[i]));

    AUTO(arena) mem = {0};
    struct externals externals = {0};
    scheduler_config_externals(text, &mem, &externals);
    vec_each(&externals, external)
        assert(external->library.n && !external->plugin);
    vec_done(&externals);

    struct feature_gates gates = {0};
    struct error e = {0};
    bool is_flag = feature_gates_add(&gates, text, &e);
    assert(is_flag || e.kind == ERROR_INVALID);
    return 0;
}
