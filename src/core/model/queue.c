#include "core/model/queue.h"

#include "core/base/value.h"
#include "core/model/selector.h"
#include "core/model/tables.h"
#include "core/wire/json_read.h"

/* Custom resources travel as JSON only: their numbers are never used. */
static const struct field namespaces_fields[] = {
    {FIELD_STRS("names", 1, struct queue_namespaces, names)},
    {FIELD_REF("selector", 2, struct queue_namespaces, selector, label_selector_fields)},
    FIELD_END,
};

static const struct field each_fields[] = {
    {FIELD_ENTRIES("max", 1, struct queue_split, each_max, exact_amount_fields)},
    {FIELD(INT64, "maxJobs", 2, struct queue_split, each_max_jobs),
     FIELD_HAS(struct queue_split, has_each_max_jobs)},
    FIELD_END,
};

static const struct field split_fields[] = {
    {FIELD(STR, "by", 1, struct queue_split, by)},
    {FIELD_PART("each", 2, each_fields)},
    {FIELD(STR, "label", 3, struct queue_split, label)},
    FIELD_END,
};

static const struct field budget_fields[] = {
    {FIELD(STR, "action", 1, struct queue_budget, action)},
    {FIELD(INT64, "hours", 2, struct queue_budget, hours),
     FIELD_HAS(struct queue_budget, has_hours)},
    {FIELD(STR, "resource", 3, struct queue_budget, resource)},
    {FIELD(STR, "window", 4, struct queue_budget, window)},
    FIELD_END,
};

static const struct field provisioning_fields[] = {
    {FIELD(STR, "class", 1, struct queue_provisioning, class)},
    {FIELD(INT64, "delaySeconds", 2, struct queue_provisioning, delay_s)},
    {FIELD_ENTRIES("parameters", 3, struct queue_provisioning, parameters, pair_fields)},
    FIELD_END,
};

const struct field queue_spec_fields[] = {
    {FIELD_MESSAGES("budgets", 1, struct queue_object, spec.budgets, budget_fields)},
    {FIELD_ENTRIES("guaranteed", 2, struct queue_object, spec.guaranteed, exact_amount_fields)},
    {FIELD_ENTRIES("lend", 3, struct queue_object, spec.lend, exact_amount_fields)},
    {FIELD_ENTRIES("max", 4, struct queue_object, spec.max, exact_amount_fields)},
    {FIELD(INT64, "maxJobs", 5, struct queue_object, spec.max_jobs),
     FIELD_HAS(struct queue_object, spec.has_max_jobs)},
    {FIELD(INT64, "minRunSeconds", 6, struct queue_object, spec.min_run_s),
     FIELD_HAS(struct queue_object, spec.has_min_run)},
    {FIELD_REF("namespaces", 7, struct queue_object, spec.namespaces, namespaces_fields)},
    {FIELD(STR, "parent", 8, struct queue_object, spec.parent)},
    {FIELD_REF("provisioning", 9, struct queue_object, spec.provisioning, provisioning_fields)},
    {FIELD_REF("split", 10, struct queue_object, spec.split, split_fields)},
    {FIELD(STR, "stop", 11, struct queue_object, spec.stop)},
    {FIELD(INT64, "weight", 12, struct queue_object, spec.weight),
     FIELD_HAS(struct queue_object, spec.has_weight)},
    FIELD_END,
};

static const struct field spent_fields[] = {
    {FIELD(TIME, "from", 1, struct queue_spent, from_ms)},
    {FIELD(STR, "resource", 2, struct queue_spent, resource)},
    {FIELD(STR, "spent", 3, struct queue_spent, spent)},
    {FIELD(TIME, "until", 4, struct queue_spent, until_ms)},
    {FIELD(STR, "window", 5, struct queue_spent, window)},
    FIELD_END,
};

static const struct field history_fields[] = {
    {FIELD(STR, "amount", 1, struct queue_history, amount)},
    {FIELD(STR, "resource", 2, struct queue_history, resource)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD(TIME, "asOf", 1, struct queue_object, status.as_of_ms)},
    {FIELD_MESSAGES("budgets", 2, struct queue_object, status.budgets, spent_fields)},
    {FIELD_MESSAGES("conditions", 3, struct queue_object, status.conditions,
                    meta_condition_fields)},
    {FIELD_MESSAGES("history", 4, struct queue_object, status.history, history_fields)},
    FIELD_END,
};

const struct field queue_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct queue_object, meta, meta_fields)},
    {FIELD_PART("spec", 2, queue_spec_fields)},
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};

/* --- what its words mean --- */

uint32_t queue_weight(const struct queue_object *q)
{
    return q->spec.has_weight ? (uint32_t)q->spec.weight : 1;
}

/* Its place among the names; `n` if it is none of them. */
static uint32_t place_of(struct str word, const struct str *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !str_equal(word, names[i]))
        i++;
    return i;
}

static const struct str stops[] = {
    [QUEUE_OPEN] = STR("None"), [QUEUE_HOLD] = STR("Hold"), [QUEUE_DRAIN] = STR("Drain")};
static const struct str splits[] = {[SPLIT_NONE] = STR(""),
                                    [SPLIT_NAMESPACE] = STR("Namespace"),
                                    [SPLIT_USER] = STR("User"),
                                    [SPLIT_LABEL] = STR("Label")};
static const struct str windows[] = {[WINDOW_NONE] = STR(""),
                                     [WINDOW_DAY] = STR("Day"),
                                     [WINDOW_WEEK] = STR("Week"),
                                     [WINDOW_MONTH] = STR("Month")};

enum queue_stop queue_stop(const struct queue_object *q)
{
    uint32_t i = place_of(q->spec.stop, stops, LEN(stops));
    return i < LEN(stops) ? (enum queue_stop)i : QUEUE_OPEN;
}

enum queue_split_by queue_split_by(const struct queue_object *q)
{
    uint32_t i = q->spec.split ? place_of(q->spec.split->by, splits, LEN(splits)) : SPLIT_NONE;
    return i < LEN(splits) ? (enum queue_split_by)i : SPLIT_NONE;
}

bool queue_budget_is_hard(const struct queue_budget *b)
{
    return str_equal(b->action, STR("Hard"));
}

struct queue_window queue_window(struct str text)
{
    enum { NS = 1000000 };
    static const int64_t hour_ns = (int64_t)3600 * 1000 * NS;
    uint32_t i = place_of(text, windows, LEN(windows));
    int64_t ns;
    if (i < LEN(windows))
        return (struct queue_window){.kind = (enum queue_window_kind)i};
    if (!value_duration(text, &ns) || ns < hour_ns)
        return (struct queue_window){.kind = WINDOW_NONE};
    return (struct queue_window){WINDOW_SPAN, ns / NS};
}

struct str queue_resource(struct str key)
{
    return str_part(key, 0, str_find(key, '@'));
}

/* --- what makes no sense --- */

static bool refuse(struct error *e, const char *field, struct str value, const char *wrong)
{
    return error_set(e, ERROR_INVALID, "%s: \"" STR_FMT "\" %s", field,
                     STR_ARG(str_part(value, 0, 60)), wrong);
}

static bool check_range(struct error *e, const char *field, bool is_said, int64_t value,
                        int64_t low, int64_t high)
{
    return !is_said || (value >= low && value <= high) ||
           error_set(e, ERROR_INVALID, "%s: %ld is not in %ld to %ld", field, (long)value,
                     (long)low, (long)high);
}

static bool check_count(struct error *e, const char *field, uint32_t n, uint32_t most)
{
    return n <= most ||
           error_set(e, ERROR_INVALID, "%s: %u entries, of which there may be %u", field, n, most);
}

/* A kind is a GPU model, or a label and its value. */
static bool is_kind(struct str kind)
{
    size_t equals = str_find(kind, '=');
    if (equals == kind.n)
        return kind.n && is_label_value(kind);
    return is_qualified_name(str_part(kind, 0, equals)) &&
           is_label_value(str_part(kind, equals + 1, kind.n));
}

static bool is_key(struct str key)
{
    struct str resource = queue_resource(key);
    return is_qualified_name(resource) &&
           (resource.n == key.n || is_kind(str_part(key, resource.n + 1, key.n)));
}

static bool refuse_amount(struct error *e, const char *field, const struct amount *a,
                          const char *wrong)
{
    struct buf text = {0};
    quantity_print(a->quantity, &text);
    error_set(e, ERROR_INVALID, "%s[" STR_FMT "]: " STR_FMT " %s", field,
              STR_ARG(str_part(a->name, 0, 80)), STR_ARG(buf_str(&text)), wrong);
    buf_done(&text);
    return false;
}

static bool check_amounts(struct error *e, const char *field, const amount_list *amounts)
{
    if (!check_count(e, field, amounts->n, QUEUE_KEYS_MOST))
        return false;
    list_each(amounts, a) {
        if (!is_key(a->name))
            return refuse(e, field, a->name,
                          "is no resource (cpu, nvidia.com/gpu, nvidia.com/gpu@MODEL, "
                          "cpu@LABEL=VALUE)");
        if (a->quantity.nano < 0)
            return refuse_amount(e, field, a, "is below 0");
    }
    return true;
}

/* Of a map; NULL: it does not name the resource. */
static const struct amount *find(const amount_list *amounts, struct str name)
{
    list_each(amounts, a)
        if (str_equal(a->name, name))
            return a;
    return NULL;
}

static bool check_limits(const struct queue_object *q, struct error *e)
{
    static const struct amount none;
    list_each(&q->spec.max, max) {
        const struct amount *guaranteed = find(&q->spec.guaranteed, max->name);
        if (guaranteed && quantity_compare(max->quantity, guaranteed->quantity) < 0)
            return refuse_amount(e, "spec.max", max, "is less than guaranteed");
    }
    list_each(&q->spec.lend, lend) {
        const struct amount *guaranteed = find(&q->spec.guaranteed, lend->name);
        if (quantity_compare(lend->quantity, (guaranteed ? guaranteed : &none)->quantity) > 0)
            return refuse_amount(e, "spec.lend", lend, "is more than guaranteed");
    }
    return true;
}

static bool check_parent(const struct queue_object *q, struct error *e)
{
    struct str parent = q->spec.parent;
    if (parent.n && !is_dns_name(parent))
        return refuse(e, "spec.parent", parent, "is not a name");
    return !parent.n || !str_equal(parent, q->meta.name) ||
           refuse(e, "spec.parent", parent, "is the queue itself");
}

static bool check_namespaces(const struct queue_namespaces *n, struct error *e)
{
    if (!n)
        return true;
    if (!check_count(e, "spec.namespaces.names", n->names.n, QUEUE_NAMES_MOST))
        return false;
    list_each(&n->names, name)
        if (name->n > 63 || !is_dns_name(*name) || str_find(*name, '.') < name->n)
            return refuse(e, "spec.namespaces.names", *name, "is no name of a namespace");
    return true;
}

static bool check_split(const struct queue_split *s, struct error *e)
{
    if (!s)
        return true;
    uint32_t by = place_of(s->by, splits, LEN(splits));
    if (by == SPLIT_NONE || by == LEN(splits))
        return refuse(e, "spec.split.by", s->by, "is none of Namespace, User, Label");
    if (by == SPLIT_LABEL && !is_qualified_name(s->label))
        return refuse(e, "spec.split.label", s->label, "is no key of a label");
    if (by != SPLIT_LABEL && s->label.n)
        return refuse(e, "spec.split.label", s->label, "is there without by: Label");
    return check_amounts(e, "spec.split.each.max", &s->each_max) &&
           check_range(e, "spec.split.each.maxJobs", s->has_each_max_jobs, s->each_max_jobs, 0,
                       QUEUE_JOBS_MOST);
}

static bool check_budget(const struct queue_object *q, uint32_t i, struct error *e)
{
    const struct queue_budget *b = &q->spec.budgets.at[i];
    if (!is_key(b->resource))
        return refuse(e, "resource", b->resource, "is no resource");
    if (!b->has_hours)
        return error_set(e, ERROR_INVALID, "hours: missing");
    if (!check_range(e, "hours", true, b->hours, 0, INT64_MAX))
        return false;
    if (queue_window(b->window).kind == WINDOW_NONE)
        return refuse(e, "window", b->window,
                      "is none of Day, Week, Month, and no duration of an hour or more");
    if (b->action.n && !queue_budget_is_hard(b) && !str_equal(b->action, STR("Soft")))
        return refuse(e, "action", b->action, "is neither Soft nor Hard");
    for (uint32_t k = 0; k < i; k++)
        if (str_equal(q->spec.budgets.at[k].resource, b->resource) &&
            str_equal(q->spec.budgets.at[k].window, b->window))
            return refuse(e, "window", b->window, "is there twice for the resource");
    return true;
}

static bool check_budgets(const struct queue_object *q, struct error *e)
{
    if (!check_count(e, "spec.budgets", q->spec.budgets.n, QUEUE_BUDGETS_MOST))
        return false;
    for (uint32_t i = 0; i < q->spec.budgets.n; i++)
        if (!check_budget(q, i, e))
            return error_wrap(e, "spec.budgets[%u]", i);
    return true;
}

static bool check_provisioning(const struct queue_provisioning *p, struct error *e)
{
    if (!p)
        return true;
    if (!p->class.n)
        return error_set(e, ERROR_INVALID, "spec.provisioning.class: missing");
    return check_count(e, "spec.provisioning.parameters", p->parameters.n, QUEUE_PARAMETERS_MOST) &&
           check_range(e, "spec.provisioning.delaySeconds", true, p->delay_s, 0, INT32_MAX);
}

static bool check_stop(const struct queue_object *q, struct error *e)
{
    return !q->spec.stop.n || place_of(q->spec.stop, stops, LEN(stops)) < LEN(stops) ||
           refuse(e, "spec.stop", q->spec.stop, "is none of None, Hold, Drain");
}

static bool check_numbers(const struct queue_object *q, struct error *e)
{
    return check_range(e, "spec.weight", q->spec.has_weight, q->spec.weight, 1,
                       QUEUE_WEIGHT_MOST) &&
           check_range(e, "spec.maxJobs", q->spec.has_max_jobs, q->spec.max_jobs, 0,
                       QUEUE_JOBS_MOST) &&
           check_range(e, "spec.minRunSeconds", q->spec.has_min_run, q->spec.min_run_s, 0,
                       QUEUE_MIN_RUN_MOST_S);
}

bool queue_check(const struct queue_object *q, struct error *e)
{
    if (str_equal(q->meta.name, STR("root")))
        return refuse(e, "metadata.name", q->meta.name, "is what the top of the tree is called");
    return is_dns_name(q->meta.name)
               ? check_parent(q, e) && check_amounts(e, "spec.guaranteed", &q->spec.guaranteed) &&
                     check_amounts(e, "spec.max", &q->spec.max) &&
                     check_amounts(e, "spec.lend", &q->spec.lend) && check_limits(q, e) &&
                     check_numbers(q, e) && check_namespaces(q->spec.namespaces, e) &&
                     check_split(q->spec.split, e) && check_stop(q, e) && check_budgets(q, e) &&
                     check_provisioning(q->spec.provisioning, e)
               : refuse(e, "metadata.name", q->meta.name, "is not a name");
}

bool queue_read_amounts(struct str text, struct arena *mem, amount_list *out, struct error *e)
{
    struct queue_split max = {0}; /* whose only map it is, too */
    size_t where;
    struct str whole = arena_join(mem, STR("{\"max\":"), text, STR("}"));
    bool is_read = json_read(whole, each_fields, &max, mem, &where, e);
    *out = max.each_max;
    return is_read && check_amounts(e, "max", out);
}
