#include "core/model/quota.h"

#include "core/model/tables.h"

static const struct field scope_fields[] = {
    {FIELD(STR, "operator", 2, struct requirement, op)},
    {FIELD(STR, "scopeName", 1, struct requirement, key)},
    {FIELD_STRS("values", 3, struct requirement, values)},
    FIELD_END,
};

static const struct field scopes_fields[] = {
    {FIELD_MESSAGES("matchExpressions", 1, struct quota_scopes, all, scope_fields)},
    FIELD_END,
};

static const struct field quota_spec_fields[] = {
    {FIELD_REF("scopeSelector", 3, struct resource_quota, selector, scopes_fields)},
    {FIELD_STRS("scopes", 2, struct resource_quota, scopes)},
    FIELD_END,
};

static const struct field quota_status_fields[] = {
    {FIELD_ENTRIES("hard", 1, struct resource_quota, hard, amount_fields)},
    {FIELD_ENTRIES("used", 2, struct resource_quota, used, amount_fields)},
    FIELD_END,
};

const struct field resource_quota_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct resource_quota, meta, meta_fields)},
    {FIELD_PART("spec", 2, quota_spec_fields)},
    {FIELD_PART("status", 3, quota_status_fields)},
    FIELD_END,
};

bool quota_counts_all(const struct resource_quota *q)
{
    return q->scopes.n == 0 && (!q->selector || q->selector->all.n == 0);
}

struct str quota_resource(struct str name)
{
    static const struct str requests = STR("requests."), limits = STR("limits."),
                            count = STR("count/");
    if (str_equal(name, STR("count/pods")))
        return STR("pods");
    if (str_starts(name, limits) || str_starts(name, count))
        return STR("");
    return str_starts(name, requests) ? str_part(name, requests.n, name.n) : name;
}
