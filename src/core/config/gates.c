#include "core/config/gates.h"

#include "core/base/value.h"

enum stage { ALPHA, BETA, GA, DEPRECATED };

/* clang-format off */
static const struct gate {
    struct str name;
    bool is_on;
    enum stage stage;
    bool is_locked;
} gates[] = {
#define GATE(name, is_on, stage, is_locked) {STR(#name), is_on, stage, is_locked},
#include "core/config/gates.def"
#undef GATE
};
/* clang-format on */

_Static_assert(LEN(gates) <= FEATURE_GATES_MOST, "a gate for each number");

/* Those that somebody here asks for. */
static bool has_effect(struct str name)
{
    static const struct str asked[] = {STR("TaintTolerationComparisonOperators"),
                                       STR("SchedulerPopFromBackoffQ"), STR("GenericWorkload"),
                                       STR("StorageCapacityScoring"), STR("VolumeLimitScaling")};
    for (size_t i = 0; i < LEN(asked); i++)
        if (str_equal(name, asked[i]))
            return true;
    return false;
}

/* LEN(gates): there is none. */
static size_t find(struct str name)
{
    size_t i = 0;
    while (i < LEN(gates) && !str_equal(gates[i].name, name))
        i++;
    return i;
}

static struct str trim(struct str s)
{
    while (s.n && s.p[0] == ' ')
        s = str_part(s, 1, s.n);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

/* Where a gate's value is kept; NULL, with e set, if it may not have this value. */
static uint8_t *place_of(struct feature_gates *g, struct str name, bool value, struct error *e)
{
    if (str_equal(name, STR("AllAlpha")))
        return &g->all_alpha;
    if (str_equal(name, STR("AllBeta")))
        return &g->all_beta;
    size_t i = find(name);
    if (i == LEN(gates)) {
        error_set(e, ERROR_INVALID, "unrecognized feature gate: " STR_FMT,
                  STR_ARG(str_part(name, 0, 100)));
        return NULL;
    }
    if (gates[i].is_locked && value != gates[i].is_on) {
        error_set(e, ERROR_INVALID, "cannot set feature gate %s to %s, feature is locked to %s",
                  gates[i].name.p, value ? "true" : "false", gates[i].is_on ? "true" : "false");
        return NULL;
    }
    return &g->said[i];
}

/* One "Name=value". */
static bool add_one(struct feature_gates *g, struct str pair, struct error *e)
{
    size_t equals = str_find(pair, '=');
    struct str name = trim(str_part(pair, 0, equals));
    if (str_starts(name, STR("kube:")))
        name = str_part(name, 5, name.n);
    if (equals == pair.n)
        return error_set(e, ERROR_INVALID, "missing bool value for " STR_FMT,
                         STR_ARG(str_part(name, 0, 100)));
    struct str text = trim(str_part(pair, equals + 1, pair.n));
    bool value;
    if (!value_bool(text, &value))
        return error_set(e, ERROR_INVALID, "invalid value of " STR_FMT "=" STR_FMT,
                         STR_ARG(str_part(name, 0, 100)), STR_ARG(str_part(text, 0, 60)));
    uint8_t *place = place_of(g, name, value, e);
    if (place)
        *place = (uint8_t)(1 + value);
    return place;
}

bool feature_gates_add(struct feature_gates *g, struct str flag, struct error *e)
{
    struct feature_gates all = *g;
    while (flag.n) {
        struct str pair = trim(str_take(&flag, ','));
        if (pair.n && !add_one(&all, pair, e))
            return false;
    }
    *g = all;
    return true;
}

bool feature_gate_is_on(const struct feature_gates *g, struct str name)
{
    size_t i = find(name);
    assert(i < LEN(gates));
    if (g->said[i])
        return g->said[i] == 2;
    if (gates[i].stage == ALPHA && g->all_alpha && !gates[i].is_locked)
        return g->all_alpha == 2;
    if (gates[i].stage == BETA && g->all_beta && !gates[i].is_locked)
        return g->all_beta == 2;
    return gates[i].is_on;
}

void feature_gates_without_effect(const struct feature_gates *g, struct buf *out)
{
    for (size_t i = 0; i < LEN(gates); i++)
        if (g->said[i] && !has_effect(gates[i].name))
            buf_printf(out, "%s%s=%s", out->n ? "," : "", gates[i].name.p,
                       g->said[i] == 2 ? "true" : "false");
}
