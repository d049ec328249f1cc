#include "core/cluster/capacity.h"

struct capacity_share {
    struct capacity_share *next;
    __int128 *nano; /* by number of the device's capacity */
};

enum { UNIT_NANO = 1000000000, MILLI_NANO = 1000000 };

static const struct quantity *requested(const amount_list *requests, struct str name)
{
    list_each(requests, r)
        if (str_equal(r->name, name))
            return &r->quantity;
    return NULL;
}

static bool is_milli(struct quantity q)
{
    return q.nano % MILLI_NANO == 0 && q.nano / MILLI_NANO <= INT64_MAX &&
           q.nano / MILLI_NANO >= INT64_MIN;
}

/* Whether steps are counted in thousandths; else in whole units, rounded up. */
static int64_t step_unit(const struct capacity_range *range)
{
    bool is_fine = (!range->has_min || is_milli(range->min)) &&
                   (!range->has_max || is_milli(range->max)) &&
                   (!range->has_step || (is_milli(range->step) && range->step.nano >= MILLI_NANO));
    return is_fine ? MILLI_NANO : UNIT_NANO;
}

static int64_t in_units(struct quantity q, int64_t unit)
{
    return unit == MILLI_NANO ? (int64_t)(q.nano / MILLI_NANO) : quantity_value(q);
}

/* The next of min, min + step, … that is enough. False if numbers do not go so far. */
static bool round_up(struct quantity q, const struct capacity_range *range, __int128 *nano)
{
    *nano = q.nano;
    if (quantity_compare(q, range->min) < 0)
        *nano = range->min.nano;
    if (*nano != q.nano || !range->has_step)
        return true;
    int64_t unit = step_unit(range);
    if (unit == MILLI_NANO ? !is_milli(q) : q.nano > (__int128)INT64_MAX * UNIT_NANO)
        return false;
    int64_t min = in_units(range->min, unit), step = in_units(range->step, unit);
    if (step <= 0)
        return false;
    __int128 added = (__int128)in_units(q, unit) - min;
    __int128 steps = added / step + (added % step != 0);
    __int128 value = min + steps * step;
    *nano = value * unit;
    return value <= INT64_MAX;
}

/* How much of a capacity is taken. */
static bool amount_of(const struct device_capacity *c, const amount_list *requests, __int128 *nano)
{
    const struct quantity *q = requested(requests, c->name);
    const struct request_policy *policy = c->policy;
    if (!q) {
        *nano = policy && policy->has_default ? policy->default_value.nano : c->value.nano;
        return true;
    }
    *nano = q->nano;
    if (policy && policy->valid_range && policy->valid_range->has_min)
        return round_up(*q, policy->valid_range, nano);
    for (uint32_t i = 0; policy && i < policy->valid_values.n; i++)
        if (quantity_compare(*q, policy->valid_values.at[i]) <= 0) {
            *nano = policy->valid_values.at[i].nano;
            break;
        }
    return true;
}

static bool breaks_range(struct quantity q, const struct capacity_range *range)
{
    if (range->has_max && quantity_compare(q, range->max) > 0)
        return true;
    if (!range->has_step)
        return false;
    int64_t unit = step_unit(range), step = in_units(range->step, unit);
    if (unit == MILLI_NANO && !is_milli(q))
        return true;
    int64_t min = range->has_min ? in_units(range->min, unit) : 0;
    return step != 0 && wrap_sub(in_units(q, unit), min) % step != 0;
}

/* Is an amount one that the policy does not allow? Its default always is. */
static bool breaks_policy(__int128 nano, const struct request_policy *policy)
{
    struct quantity q = {.nano = nano};
    if (!policy || (policy->has_default && nano == policy->default_value.nano))
        return false;
    if (policy->valid_range)
        return breaks_range(q, policy->valid_range);
    for (uint32_t i = 0; i < policy->valid_values.n; i++)
        if (policy->valid_values.at[i].nano == nano)
            return false;
    return policy->valid_values.n > 0;
}

static enum capacity_verdict wrong(const struct device_capacity *c, const char *what,
                                   struct arena *mem, struct str *why)
{
    *why = arena_printf(mem, "capacity \"" STR_FMT "\": %s", STR_ARG(c->name), what);
    return CAPACITY_WRONG;
}

/* `c` NULL: nobody has any of it. */
static enum capacity_verdict check(const struct cluster *c, const struct candidate *x,
                                   const amount_list *requests, struct arena *mem, struct str *why)
{
    const struct device *device = x->device;
    list_each(requests, r) {
        bool is_known = false;
        list_each(&device->capacity, known)
            is_known |= str_equal(known->name, r->name);
        if (!is_known)
            return CAPACITY_LACKS;
    }
    for (uint32_t i = 0; i < device->capacity.n; i++) {
        __int128 nano;
        if (!amount_of(&device->capacity.at[i], requests, &nano))
            return wrong(&device->capacity.at[i],
                         "capacity request cannot be represented in the device's range arithmetic",
                         mem, why);
        if (nano < 0)
            return wrong(&device->capacity.at[i], "capacity value is negative", mem, why);
    }
    for (uint32_t i = 0; i < device->capacity.n; i++) {
        const struct device_capacity *of = &device->capacity.at[i];
        __int128 nano, all;
        amount_of(of, requests, &nano);
        all = nano;
        if (breaks_policy(nano, of->policy))
            return CAPACITY_LACKS;
        if (c)
            all += devices_consumed(&c->devices, x->index->id, names_find(&c->names, of->name));
        for (const struct capacity_share *s = x->shares; c && s; s = s->next)
            all += s->nano[i];
        if (all > of->value.nano)
            return CAPACITY_LACKS;
    }
    return CAPACITY_FITS;
}

enum capacity_verdict capacity_check(const struct cluster *c, const struct candidate *x,
                                     const amount_list *requests, struct arena *mem,
                                     struct str *why)
{
    return check(c, x, requests, mem, why);
}

enum capacity_verdict capacity_check_alone(const struct candidate *x, const amount_list *requests,
                                           struct arena *mem, struct str *why)
{
    return check(NULL, x, requests, mem, why);
}

struct capacity_share *capacity_take(struct candidate *x, const amount_list *requests,
                                     struct arena *mem)
{
    struct capacity_share *share = x->spare;
    if (share)
        x->spare = share->next;
    else {
        share = arena_alloc(mem, sizeof(*share));
        share->nano = arena_array(mem, __int128, x->device->capacity.n);
    }
    share->next = x->shares;
    for (uint32_t i = 0; i < x->device->capacity.n; i++)
        amount_of(&x->device->capacity.at[i], requests, &share->nano[i]);
    x->shares = share;
    return share;
}

void capacity_take_back(struct candidate *x, struct capacity_share *share)
{
    assert(x->shares == share);
    x->shares = share->next;
    share->next = x->spare;
    x->spare = share;
}

amount_list capacity_amounts(const struct candidate *x, const amount_list *requests,
                             struct arena *mem)
{
    amount_list out = {arena_array(mem, struct amount, x->device->capacity.n),
                       x->device->capacity.n};
    for (uint32_t i = 0; i < out.n; i++) {
        const struct device_capacity *c = &x->device->capacity.at[i];
        __int128 nano = 0;
        amount_of(c, requests, &nano);
        out.at[i] = (struct amount){c->name, {.nano = nano, .scale = -9}};
    }
    return out;
}
