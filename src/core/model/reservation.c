#include "core/model/reservation.h"

#include "core/base/value.h"
#include "core/model/tables.h"

/* Custom resources travel as JSON only: their numbers are never used. */
static const struct field entry_value_fields[] = {
    {FIELD(SCALAR, "cpu", 1, struct reservation_entry, cpu), .scalar = &quantity_scalar,
     FIELD_HAS(struct reservation_entry, has_cpu)},
    {FIELD(SCALAR, "gpu", 2, struct reservation_entry, gpu), .scalar = &quantity_scalar,
     FIELD_HAS(struct reservation_entry, has_gpu)},
    {FIELD(SCALAR, "memory", 3, struct reservation_entry, memory), .scalar = &quantity_scalar,
     FIELD_HAS(struct reservation_entry, has_memory)},
    {FIELD(STR, "node", 4, struct reservation_entry, node)},
    {FIELD(SCALAR, "nvidia.com/gpu", 5, struct reservation_entry, gpu), .scalar = &quantity_scalar,
     FIELD_HAS(struct reservation_entry, has_gpu)},
    {FIELD_ENTRIES("resources", 6, struct reservation_entry, resources, amount_fields)},
    FIELD_END,
};

static const struct field entry_fields[] = {
    {FIELD(STR, "key", 1, struct reservation_entry, name)},
    {FIELD_PART("value", 2, entry_value_fields)},
    FIELD_END,
};

static const struct field spec_fields[] = {
    {FIELD(STR, "duration", 1, struct reservation, spec.duration)},
    {FIELD(STR, "podGroupName", 2, struct reservation, spec.group)},
    {FIELD_ENTRIES("reservations", 3, struct reservation, spec.entries, entry_fields)},
    {FIELD_ENTRIES("resources", 4, struct reservation, spec.resources, amount_fields)},
    FIELD_END,
};

static const struct field status_fields[] = {
    {FIELD_MESSAGES("conditions", 1, struct reservation, status.conditions, meta_condition_fields)},
    {FIELD(INT32, "entries", 2, struct reservation, status.entries)},
    {FIELD(INT32, "held", 3, struct reservation, status.held)},
    {FIELD_ENTRIES("pods", 4, struct reservation, status.pods, pair_fields)},
    FIELD_END,
};

const struct field reservation_fields[] = {
    {FIELD_STRUCT("metadata", 1, struct reservation, meta, meta_fields)},
    {FIELD_PART("spec", 2, spec_fields)},
    {FIELD_PART("status", 3, status_fields)},
    FIELD_END,
};

struct str reservation_group(const struct reservation *r)
{
    if (r->spec.group.n)
        return r->spec.group;
    list_each(&r->meta.labels, label)
        if (str_equal(label->key, STR("pod-group")))
            return label->value;
    return (struct str){0};
}

int64_t reservation_hold_ms(const struct reservation *r)
{
    enum { DEFAULT_MS = 30 * 60 * 1000, NS = 1000000 };
    int64_t ns;
    return value_duration(r->spec.duration, &ns) && ns >= NS ? ns / NS : DEFAULT_MS;
}

/* Adds an amount unless the map has it already. */
static void add_alias(amount_list *to, bool is_there, const char *name, struct quantity amount)
{
    list_each(to, a)
        is_there &= !str_equal(a->name, str_of(name));
    if (is_there)
        to->at[to->n++] = (struct amount){str_of(name), amount};
}

static amount_list amounts_of(const struct reservation_entry *e, struct arena *mem)
{
    enum { ALIASES = 3 };
    amount_list all = {.at = arena_array(mem, struct amount, e->resources.n + ALIASES)};
    list_each(&e->resources, a)
        all.at[all.n++] = *a;
    add_alias(&all, e->has_cpu, "cpu", e->cpu);
    add_alias(&all, e->has_memory, "memory", e->memory);
    add_alias(&all, e->has_gpu, "nvidia.com/gpu", e->gpu);
    return all;
}

static bool holds_something(const amount_list *amounts)
{
    list_each(amounts, a)
        if (a->quantity.nano > 0)
            return true;
    return false;
}

reserved_list reservation_read(const struct reservation *r, struct arena *mem)
{
    reserved_list all = {.at = arena_array(mem, struct reserved, r->spec.entries.n + 1)};
    if (holds_something(&r->spec.resources))
        all.at[all.n++] = (struct reserved){.amounts = r->spec.resources};
    list_each(&r->spec.entries, e) {
        struct reserved one = {e->name, e->node, amounts_of(e, mem)};
        if (holds_something(&one.amounts))
            all.at[all.n++] = one;
    }
    return all;
}
