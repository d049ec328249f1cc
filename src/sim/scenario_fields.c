#include "sim/scenario_fields.h"

#include "core/model/tables.h"
#include "core/wire/json_text.h"
#include "sim/scenario.h"

/* --- types --- */

/* Digits with or without a fraction, taken off the front of `s`. */
static bool take_number(struct str *s, double *out)
{
    double value = 0, scale = 1;
    size_t i = 0, digits = 0;
    bool is_fraction = false;
    for (; i < s->n && (s->p[i] == '.' || (s->p[i] >= '0' && s->p[i] <= '9')); i++) {
        if (s->p[i] == '.' && is_fraction)
            return false;
        if (s->p[i] == '.') {
            is_fraction = true;
            continue;
        }
        if (++digits > 15) /* more than a double holds exactly */
            return false;
        value = value * 10 + (s->p[i] - '0');
        scale *= is_fraction ? 10 : 1;
    }
    *s = str_part(*s, i, s->n);
    *out = value / scale;
    return digits > 0;
}

static bool take_unit(struct str *s, double *ms)
{
    static const struct {
        struct str name;
        double ms;
    } units[] = {
        {{"ms", 2}, 1}, {{"s", 1}, 1e3}, {{"m", 1}, 60e3}, {{"h", 1}, 3600e3}, {{"d", 1}, 86400e3},
    };
    for (size_t i = 0; i < LEN(units); i++) {
        if (str_starts(*s, units[i].name)) {
            *s = str_part(*s, units[i].name.n, s->n);
            *ms = units[i].ms;
            return true;
        }
    }
    return false;
}

bool scenario_duration(struct str text, int64_t *ms)
{
    static const double most_ms = 3.2e12; /* a hundred years */
    double sum_ms = 0;
    if (text.n == 0)
        return false;
    if (str_equal(text, STR("0"))) {
        *ms = 0;
        return true;
    }
    while (text.n) {
        double number, unit_ms;
        if (!take_number(&text, &number) || !take_unit(&text, &unit_ms))
            return false;
        sum_ms += number * unit_ms;
    }
    if (sum_ms > most_ms)
        return false;
    *ms = (int64_t)(sum_ms + 0.5);
    return true;
}

static bool parse_instant(struct str text, void *out)
{
    return scenario_duration(text, out);
}

static bool parse_duration(struct str text, void *out)
{
    int64_t ms;
    if (!scenario_duration(text, &ms) || ms <= 0)
        return false;
    *(int64_t *)out = ms;
    return true;
}

static bool parse_rate(struct str text, void *out)
{
    double number, unit_ms;
    if (!take_number(&text, &number) || text.n == 0 || text.p[0] != '/' || number <= 0)
        return false;
    text = str_part(text, 1, text.n);
    if (!take_unit(&text, &unit_ms) || text.n)
        return false;
    *(double *)out = number / unit_ms;
    return true;
}

static bool parse_number(struct str text, void *out)
{
    return take_number(&text, out) && text.n == 0;
}

static bool parse_share(struct str text, void *out)
{
    double share;
    if (!parse_number(text, &share) || share > 1)
        return false;
    *(double *)out = share;
    return true;
}

static bool parse_whole(struct str text, int64_t least, int64_t most, int64_t *out)
{
    int64_t n;
    if (!str_int(text, &n) || n < least || n > most)
        return false;
    *out = n;
    return true;
}

static bool parse_count(struct str text, void *out)
{
    return parse_whole(text, 1, SCENARIO_COUNT_MOST, out);
}

static bool parse_gpus(struct str text, void *out)
{
    return parse_whole(text, 0, 1024, out);
}

static bool parse_not_negative(struct str text, void *out)
{
    return parse_whole(text, 0, INT64_MAX, out);
}

static bool parse_amount(struct str text, void *out)
{
    struct quantity q;
    if (!quantity_parse(text, &q) || q.nano < 0)
        return false;
    *(struct quantity *)out = q;
    return true;
}

static bool parse_process(struct str text, void *out)
{
    static const struct {
        struct str name;
        enum arrival_process process;
    } names[] = {
        {{"burst", 5}, ARRIVAL_BURST},
        {{"uniform", 7}, ARRIVAL_UNIFORM},
        {{"poisson", 7}, ARRIVAL_POISSON},
    };
    for (size_t i = 0; i < LEN(names); i++) {
        if (str_equal(text, names[i].name)) {
            *(enum arrival_process *)out = names[i].process;
            return true;
        }
    }
    return false;
}

/* A type whose values parse_<name>() tells from others. */
#define TYPE(name, what)                                                                           \
    static const char *read_##name(struct str text, void *out)                                     \
    {                                                                                              \
        return parse_##name(text, out) ? NULL : "is not " what;                                    \
    }                                                                                              \
    static const struct field_scalar name = {"is not " what, read_##name, NULL}

TYPE(instant, "a time (0s, 90s, 15m, 1h30m, 2d)");
TYPE(duration, "a duration above 0 (90s, 15m, 1h30m, 2d)");
TYPE(rate, "a rate above 0 (30/h, 2/m, 0.5/s, 400/d)");
TYPE(number, "a number of at least 0");
TYPE(share, "a share from 0 to 1");
TYPE(count, "a whole number from 1 to 5000000");
TYPE(gpus, "a whole number from 0 to 1024");
TYPE(not_negative, "a whole number of at least 0");
TYPE(amount, "a quantity of at least 0 (500m, 8, 64Gi)");
TYPE(process, "burst, uniform or poisson");

const char *duration_read(struct str text, int64_t *ms)
{
    return read_duration(text, ms);
}

/* --- tables --- */

/* Version 14 breaks down over rows of different lengths. */
/* clang-format off */

#define SCALAR(text, s, member, type) {FIELD(SCALAR, text, 0, s, member), .scalar = &(type)}
#define SCALARS(text, s, member, type)                                                             \
    {FIELD(SCALAR, text, 0, s, member), .shape = FIELD_LIST, FIELD_SIZE(s, member),                \
     .scalar = &(type)}

static const struct field amounts_fields[] = {
    {FIELD(STR, "key", 0, struct amount, name)},
    SCALAR("value", struct amount, quantity, amount),
    FIELD_END,
};

static const struct field taint_fields[] = {
    {FIELD(STR, "effect", 0, struct taint, effect)},
    {FIELD(STR, "key", 0, struct taint, key)},
    {FIELD(STR, "value", 0, struct taint, value)},
    FIELD_END,
};

static const struct field racks_fields[] = {
    SCALAR("count", struct scenario_nodes, racks.count, count),
    SCALAR("size", struct scenario_nodes, racks.size, count),
    FIELD_END,
};

static const struct field nodes_fields[] = {
    SCALAR("count", struct scenario_nodes, count, count),
    SCALAR("cpu", struct scenario_nodes, cpu, amount),
    {FIELD(STR, "gpuResource", 0, struct scenario_nodes, gpu_resource)},
    SCALAR("gpus", struct scenario_nodes, gpus, gpus),
    {FIELD_ENTRIES("labels", 0, struct scenario_nodes, labels, pair_fields)},
    SCALAR("memory", struct scenario_nodes, memory, amount),
    {FIELD(STR, "name", 0, struct scenario_nodes, name)},
    SCALAR("pods", struct scenario_nodes, pods, amount),
    {FIELD_PART("racks", 0, racks_fields)},
    {FIELD(SCALAR, "rank", 0, struct scenario_nodes, tie_order), .scalar = &not_negative,
     FIELD_HAS(struct scenario_nodes, has_tie_order)},
    {FIELD_ENTRIES("resources", 0, struct scenario_nodes, resources, amounts_fields)},
    {FIELD(STR, "shape", 0, struct scenario_nodes, shape)},
    {FIELD_MESSAGES("taints", 0, struct scenario_nodes, taints, taint_fields)},
    {FIELD_STRS("zones", 0, struct scenario_nodes, zones)},
    FIELD_END,
};

static const struct field arrival_fields[] = {
    SCALARS("at", struct scenario_arrival, at_ms, instant),
    SCALAR("count", struct scenario_arrival, count, count),
    SCALAR("from", struct scenario_arrival, from_ms, instant),
    SCALAR("process", struct scenario_arrival, process, process),
    SCALARS("profile", struct scenario_arrival, profile, number),
    SCALAR("rate", struct scenario_arrival, per_ms, rate),
    SCALAR("until", struct scenario_arrival, until_ms, duration),
    FIELD_END,
};

static const struct field size_fields[] = {
    SCALAR("pods", struct scenario_size, pods, count),
    {FIELD_ENTRIES("requests", 0, struct scenario_size, requests, amounts_fields)},
    SCALAR("weight", struct scenario_size, weight, count),
    FIELD_END,
};

static const struct field gang_fields[] = {
    SCALAR("minAvailable", struct scenario_gang, min_available, count),
    FIELD_END,
};

static const struct field job_fields_of_scenario[] = {
    {FIELD_STRUCT("arrival", 0, struct scenario_job, arrival, arrival_fields)},
    {FIELD(RAW, "duration", 0, struct scenario_job, duration_text)},
    {FIELD_REF("gang", 0, struct scenario_job, gang, gang_fields)},
    {FIELD(STR, "name", 0, struct scenario_job, name)},
    SCALAR("pods", struct scenario_job, pods, count),
    {FIELD(INT32, "priority", 0, struct scenario_job, priority),
     FIELD_HAS(struct scenario_job, has_priority)},
    {FIELD(STR, "queue", 0, struct scenario_job, queue)},
    {FIELD_ENTRIES("requests", 0, struct scenario_job, requests, amounts_fields)},
    {FIELD(BOOL, "service", 0, struct scenario_job, has_service)},
    {FIELD_MESSAGES("sizes", 0, struct scenario_job, sizes, size_fields)},
    {FIELD_REF("template", 0, struct scenario_job, template, pod_fields)},
    {FIELD(STR, "user", 0, struct scenario_job, user)},
    FIELD_END,
};

/* A Queue, its spec and its name side by side. */
static const struct field queue_fields_of_scenario[] = {
    {FIELD_PART("", 0, queue_spec_fields)},
    {FIELD(STR, "name", 0, struct queue_object, meta.name)},
    FIELD_END,
};

static const struct field node_failure_fields[] = {
    SCALAR("meanTimeBetween", struct scenario, faults.nodes.between_ms, duration),
    SCALAR("repair", struct scenario, faults.nodes.repair_ms, duration),
    FIELD_END,
};

static const struct field fault_fields[] = {
    SCALAR("bindFailures", struct scenario, faults.bind_share, share),
    {FIELD_PART("nodeFailures", 0, node_failure_fields)},
    FIELD_END,
};

const struct field scenario_fields[] = {
    {FIELD(STR, "description", 0, struct scenario, summary)},
    {FIELD_PART("faults", 0, fault_fields)},
    {FIELD_MESSAGES("jobs", 0, struct scenario, jobs, job_fields_of_scenario)},
    {FIELD(STR, "kind", 0, struct scenario, kind)},
    {FIELD(STR, "name", 0, struct scenario, name)},
    {FIELD_MESSAGES("nodes", 0, struct scenario, nodes, nodes_fields)},
    {FIELD_MESSAGES("queues", 0, struct scenario, queues, queue_fields_of_scenario)},
    {FIELD(STR, "scheduler", 0, struct scenario, scheduler)},
    {FIELD(SCALAR, "seed", 0, struct scenario, seed), .scalar = &not_negative,
     FIELD_HAS(struct scenario, has_seed)},
    SCALAR("until", struct scenario, until_ms, duration),
    FIELD_END,
};

const struct field duration_form_fields[] = {
    SCALAR("max", struct duration_form, max_ms, duration),
    SCALAR("mean", struct duration_form, mean_ms, duration),
    SCALAR("median", struct duration_form, median_ms, duration),
    SCALAR("min", struct duration_form, min_ms, duration),
    SCALAR("p90", struct duration_form, p90_ms, duration),
    FIELD_END,
};

/* clang-format on */

/* --- unknown fields --- */

static const struct field *find(const struct field *fields, struct str name)
{
    for (const struct field *f = fields; f->name.p; f++) {
        if (str_equal(f->name, name) && name.n)
            return f;
        const struct field *inner = f->name.n ? NULL : find(f->fields, name);
        if (inner)
            return inner;
    }
    return NULL;
}

static bool walk_object(struct json_cursor *c, const struct field *fields, struct arena *mem);

/* A value of the field `f`. Values of the wrong type are left to the reader to refuse. */
static bool walk_value(struct json_cursor *c, const struct field *f, struct arena *mem)
{
    bool is_ours = f->type == FIELD_MESSAGE && f->shape != FIELD_MAP && f->fields != pod_fields;
    if (!is_ours || c->at == c->end)
        return json_skip(c);
    if (*c->at == '{')
        return walk_object(c, f->fields, mem);
    if (*c->at != '[')
        return json_skip(c);
    bool more;
    if (!json_open(c, ']', &more))
        return false;
    while (more) {
        bool is_fine =
            c->at < c->end && *c->at == '{' ? walk_object(c, f->fields, mem) : json_skip(c);
        if (!is_fine || !json_next(c, ']', &more))
            return false;
    }
    return true;
}

static bool walk_object(struct json_cursor *c, const struct field *fields, struct arena *mem)
{
    bool more;
    if (!json_open(c, '}', &more))
        return false;
    while (more) {
        struct str key;
        if (!json_key(c, mem, &key))
            return false;
        const struct field *f = find(fields, key);
        if (!f)
            return json_fail(c, c->at, STR_FMT ": there is no such field", STR_ARG(key));
        if (!walk_value(c, f, mem) || !json_next(c, '}', &more))
            return false;
    }
    return true;
}

bool fields_are_known(struct str text, const struct field *fields, size_t *where, struct error *e)
{
    struct arena mem = {0};
    struct json_cursor c = {text.p, text.p, text.p + text.n, e, 0, where};
    json_space(&c);
    bool is_fine = c.at == c.end || *c.at != '{' || walk_object(&c, fields, &mem);
    arena_done(&mem);
    return is_fine;
}
