/* Trees to answers. An error is a value like any other until somebody needs something else. */

#include "core/model/cel_inside.h"

struct cel_run {
    struct str driver;
    const struct device *device;
    struct arena *mem;
    size_t touched; /* bytes of text that were made or gone through */
    struct cel_value variables[CEL_VARIABLES_MOST];
};

static struct cel_value error(struct str text)
{
    return (struct cel_value){.type = CEL_ERROR, .text = text};
}

static struct cel_value no_overload(void)
{
    return error(STR("no such overload"));
}

/* A text may be made of texts that were made before: what is made of it can be long. False if it is
 * too much. */
static bool touch(struct cel_run *run, size_t bytes)
{
    run->touched += MIN(bytes, (size_t)CEL_TOUCHED_MOST);
    return run->touched <= CEL_TOUCHED_MOST;
}

static struct cel_value too_much(void)
{
    return error(STR("operation cancelled: actual cost limit exceeded"));
}

static struct cel_value yes_or_no(bool yes)
{
    return (struct cel_value){.type = CEL_BOOL, .yes = yes};
}

static struct cel_value number(int64_t n)
{
    return (struct cel_value){.type = CEL_INT, .number = n};
}

static struct cel_value optional(struct cel_run *run, struct cel_value of)
{
    return (struct cel_value){.type = CEL_OPTIONAL, .inner = arena_copy(run->mem, &of, sizeof(of))};
}

static const struct cel_value none = {.type = CEL_OPTIONAL};

/* --- the device --- */

/* Does the qualified name belong to the domain? Its id is what stands behind. */
static bool is_in_domain(struct str name, struct str driver, struct str domain, struct str *id)
{
    size_t slash = str_find(name, '/');
    *id = slash < name.n ? str_part(name, slash + 1, name.n) : name;
    return str_equal(slash < name.n ? str_part(name, 0, slash) : driver, domain);
}

static struct cel_value attribute_value(struct cel_run *run, const struct device_attribute *a)
{
    struct semver v;
    switch (attribute_type(a)) {
    case ATTRIBUTE_INT:
        return number(a->int_value);
    case ATTRIBUTE_BOOL:
        return yes_or_no(a->bool_value);
    case ATTRIBUTE_STRING:
        return (struct cel_value){.type = CEL_STRING, .text = a->string};
    case ATTRIBUTE_VERSION:
        if (semver_parse(a->version, &v))
            return (struct cel_value){.type = CEL_SEMVER, .semver = v, .text = a->version};
        break;
    case ATTRIBUTE_NONE:
        break;
    }
    return error(arena_printf(run->mem, "attribute " STR_FMT ": unsupported attribute value",
                              STR_ARG(a->name)));
}

/* False if the domain has no such id. A name with its domain written out comes before a bare one:
 * of two that mean the same the last of a list by name is taken. */
static bool find_id(struct cel_run *run, const struct cel_value *ids, struct str id,
                    struct cel_value *out)
{
    bool is_found = false;
    struct str own;
    if (ids->is_capacity)
        list_each(&run->device->capacity, c)
            if (is_in_domain(c->name, run->driver, ids->text, &own) && str_equal(own, id)) {
                *out = (struct cel_value){.type = CEL_QUANTITY, .quantity = c->value};
                is_found = true;
            }
    if (!ids->is_capacity)
        list_each(&run->device->attributes, a)
            if (is_in_domain(a->name, run->driver, ids->text, &own) && str_equal(own, id)) {
                *out = attribute_value(run, a);
                is_found = true;
            }
    return is_found;
}

static uint32_t count_ids(const struct cel_run *run, const struct cel_value *ids)
{
    uint32_t n = 0;
    struct str own;
    if (ids->is_capacity)
        list_each(&run->device->capacity, c)
            n += is_in_domain(c->name, run->driver, ids->text, &own);
    if (!ids->is_capacity)
        list_each(&run->device->attributes, a)
            n += is_in_domain(a->name, run->driver, ids->text, &own);
    return n;
}

static struct cel_value device_field(const struct cel_run *run, struct str name)
{
    if (str_equal(name, STR("driver")))
        return (struct cel_value){.type = CEL_STRING, .text = run->driver};
    if (str_equal(name, STR("allowMultipleAllocations")))
        return yes_or_no(run->device->is_shared);
    bool is_capacity = str_equal(name, STR("capacity"));
    if (is_capacity || str_equal(name, STR("attributes")))
        return (struct cel_value){.type = CEL_DOMAINS, .is_capacity = is_capacity};
    return error(STR("undefined field"));
}

/* What a key leads to; false if it leads nowhere. */
static bool find(struct cel_run *run, struct cel_value on, struct cel_value key,
                 struct cel_value *out)
{
    if (on.type == CEL_LIST && key.type == CEL_INT) {
        bool is_there = key.number >= 0 && key.number < on.list.n;
        if (is_there)
            *out = on.list.at[key.number];
        return is_there;
    }
    if (key.type != CEL_STRING || on.type < CEL_DEVICE) {
        *out = no_overload();
        return true;
    }
    if (on.type == CEL_DEVICE)
        *out = device_field(run, key.text);
    else if (on.type == CEL_DOMAINS)
        *out = (struct cel_value){.type = CEL_IDS, .is_capacity = on.is_capacity, .text = key.text};
    else
        return find_id(run, &on, key.text, out);
    return true;
}

/* on[key], on.key, on.?key: from an optional value, and where asked for, an optional one. */
static struct cel_value get(struct cel_run *run, struct cel_value on, struct cel_value key,
                            bool is_optional)
{
    if (on.type == CEL_ERROR || key.type == CEL_ERROR)
        return on.type == CEL_ERROR ? on : key;
    is_optional |= on.type == CEL_OPTIONAL;
    if (on.type == CEL_OPTIONAL) {
        if (!on.inner)
            return none;
        on = *on.inner;
    }
    struct cel_value out;
    if (!find(run, on, key, &out)) {
        if (is_optional)
            return none;
        return error(key.type == CEL_INT
                         ? arena_printf(run->mem, "index out of bounds: %ld", (long)key.number)
                         : arena_printf(run->mem, "no such key: " STR_FMT, STR_ARG(key.text)));
    }
    return is_optional && out.type != CEL_ERROR ? optional(run, out) : out;
}

/* --- comparing --- */

static bool is_number(struct cel_value v)
{
    return v.type == CEL_INT || v.type == CEL_UINT;
}

static int compare_numbers(struct cel_value a, struct cel_value b)
{
    if (a.type == CEL_INT && b.type == CEL_INT)
        return (a.number > b.number) - (a.number < b.number);
    if (a.type == CEL_INT && a.number < 0)
        return -1;
    if (b.type == CEL_INT && b.number < 0)
        return 1;
    return (a.natural > b.natural) - (a.natural < b.natural);
}

static struct cel_value equal(struct cel_run *run, struct cel_value a, struct cel_value b)
{
    if (!touch(run, 1 + (a.type == CEL_STRING ? a.text.n / 8 : 0)))
        return too_much();
    if (a.type == CEL_ERROR || b.type == CEL_ERROR)
        return a.type == CEL_ERROR ? a : b;
    if (is_number(a) && is_number(b))
        return yes_or_no(compare_numbers(a, b) == 0);
    bool is_strict = a.type == CEL_QUANTITY || a.type == CEL_SEMVER;
    if (a.type != b.type)
        return is_strict ? no_overload() : yes_or_no(false);
    switch (a.type) {
    case CEL_NULL:
        return yes_or_no(true);
    case CEL_BOOL:
        return yes_or_no(a.yes == b.yes);
    case CEL_STRING:
        return yes_or_no(str_equal(a.text, b.text));
    case CEL_QUANTITY:
        return yes_or_no(quantity_compare(a.quantity, b.quantity) == 0);
    case CEL_SEMVER:
        return yes_or_no(semver_compare(a.semver, b.semver) == 0);
    case CEL_LIST: {
        struct cel_value all = yes_or_no(a.list.n == b.list.n);
        for (uint32_t i = 0; all.type == CEL_BOOL && all.yes && i < a.list.n; i++)
            all = equal(run, a.list.at[i], b.list.at[i]);
        return all;
    }
    case CEL_OPTIONAL:
        if (!a.inner || !b.inner)
            return yes_or_no(a.inner == b.inner);
        return equal(run, *a.inner, *b.inner);
    case CEL_ERROR:
    case CEL_INT:
    case CEL_UINT:
    case CEL_DEVICE:
    case CEL_DOMAINS:
    case CEL_IDS:
        break;
    }
    return error(STR("not supported yet: CEL comparison of maps"));
}

/* a < b, a <= b, … */
static struct cel_value order(enum cel_op op, struct cel_value a, struct cel_value b)
{
    int way;
    if (a.type == CEL_ERROR || b.type == CEL_ERROR)
        return a.type == CEL_ERROR ? a : b;
    if (is_number(a) && is_number(b))
        way = compare_numbers(a, b);
    else if (a.type == CEL_STRING && b.type == CEL_STRING)
        way = str_compare(a.text, b.text);
    else if (a.type == CEL_BOOL && b.type == CEL_BOOL)
        way = a.yes - b.yes;
    else
        return no_overload();
    return yes_or_no(op == OP_LESS      ? way < 0
                     : op == OP_AT_MOST ? way <= 0
                     : op == OP_GREATER ? way > 0
                                        : way >= 0);
}

static struct cel_value is_in(struct cel_run *run, struct cel_value item, struct cel_value of)
{
    struct cel_value ignored, failure = {0};
    if (item.type == CEL_ERROR || of.type == CEL_ERROR)
        return item.type == CEL_ERROR ? item : of;
    if (of.type == CEL_IDS)
        return yes_or_no(item.type == CEL_STRING && find_id(run, &of, item.text, &ignored));
    if (of.type == CEL_DOMAINS) {
        struct cel_value ids = {.type = CEL_IDS, .is_capacity = of.is_capacity, .text = item.text};
        return yes_or_no(item.type == CEL_STRING && count_ids(run, &ids) > 0);
    }
    if (of.type != CEL_LIST)
        return no_overload();
    bool has_failed = false;
    for (uint32_t i = 0; i < of.list.n; i++) {
        struct cel_value is = equal(run, item, of.list.at[i]);
        if (is.type == CEL_BOOL && is.yes)
            return is;
        if (is.type == CEL_ERROR) {
            has_failed = true;
            failure = is;
        }
    }
    return has_failed ? failure : yes_or_no(false);
}

/* --- arithmetic --- */

static struct cel_value calculate_ints(enum cel_op op, int64_t a, int64_t b)
{
    int64_t out = 0;
    bool is_division = op == OP_DIVIDE || op == OP_MODULO;
    if (is_division && b == 0)
        return error(op == OP_DIVIDE ? STR("division by zero") : STR("modulus by zero"));
    if (is_division && a == INT64_MIN && b == -1)
        return error(STR("integer overflow"));
    bool overflows = op == OP_ADD        ? __builtin_add_overflow(a, b, &out)
                     : op == OP_SUBTRACT ? __builtin_sub_overflow(a, b, &out)
                     : op == OP_MULTIPLY ? __builtin_mul_overflow(a, b, &out)
                                         : false;
    if (is_division)
        out = op == OP_DIVIDE ? a / b : a % b;
    return overflows ? error(STR("integer overflow")) : number(out);
}

static struct cel_value calculate(struct cel_run *run, enum cel_op op, struct cel_value a,
                                  struct cel_value b)
{
    if (a.type == CEL_ERROR || b.type == CEL_ERROR)
        return a.type == CEL_ERROR ? a : b;
    if (a.type == CEL_INT && b.type == CEL_INT)
        return calculate_ints(op, a.number, b.number);
    if (op != OP_ADD || a.type != CEL_STRING || b.type != CEL_STRING)
        return no_overload();
    if (!touch(run, a.text.n + b.text.n))
        return too_much();
    return (struct cel_value){.type = CEL_STRING, .text = arena_join(run->mem, a.text, b.text)};
}

/* --- trees --- */

static struct cel_value evaluate(struct cel_run *run, const struct cel_node *node);

/* The side that decides wins, even over an error of the other. */
static struct cel_value decide(struct cel_run *run, const struct cel_node *node, bool deciding)
{
    struct cel_value a = evaluate(run, node->args[0]);
    if (a.type == CEL_BOOL && a.yes == deciding)
        return a;
    struct cel_value b = evaluate(run, node->args[1]);
    if (b.type == CEL_BOOL && (b.yes == deciding || a.type == CEL_BOOL))
        return b;
    if (a.type == CEL_ERROR)
        return a;
    return b.type == CEL_ERROR ? b : no_overload();
}

static struct cel_value choose(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value condition = evaluate(run, node->args[0]);
    if (condition.type == CEL_ERROR)
        return condition;
    if (condition.type != CEL_BOOL)
        return no_overload();
    return evaluate(run, node->args[condition.yes ? 1 : 2]);
}

static struct cel_value make_list(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value *all = arena_array(run->mem, struct cel_value, node->n);
    for (uint32_t i = 0; i < node->n; i++) {
        all[i] = evaluate(run, node->args[i]);
        if (all[i].type == CEL_ERROR)
            return all[i];
    }
    struct cel_value list = {.type = CEL_LIST};
    list.list.at = all;
    list.list.n = node->n;
    return list;
}

static struct cel_value has(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value on = evaluate(run, node->args[0]), ignored;
    struct cel_value key = {.type = CEL_STRING, .text = node->name};
    if (on.type == CEL_ERROR)
        return on;
    if (on.type == CEL_OPTIONAL)
        return yes_or_no(on.inner && find(run, *on.inner, key, &ignored));
    if (on.type < CEL_DEVICE)
        return no_overload();
    return yes_or_no(find(run, on, key, &ignored));
}

static struct cel_value negate(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value v = evaluate(run, node->args[0]);
    if (v.type == CEL_ERROR)
        return v;
    if (node->op == OP_NOT)
        return v.type == CEL_BOOL ? yes_or_no(!v.yes) : no_overload();
    return v.type == CEL_INT ? calculate_ints(OP_SUBTRACT, 0, v.number) : no_overload();
}

static struct cel_value call(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value args[3];
    assert(node->n <= LEN(args));
    for (uint32_t i = 0; i < node->n; i++) {
        args[i] = evaluate(run, node->args[i]);
        if (args[i].type == CEL_ERROR)
            return args[i];
        if (args[i].type == CEL_STRING && !touch(run, args[i].text.n))
            return too_much();
    }
    return node->call->run(run, args);
}

static struct cel_value matches(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value v = evaluate(run, node->args[0]);
    if (v.type != CEL_STRING)
        return v.type == CEL_ERROR ? v : no_overload();
    if (!touch(run, v.text.n * 16)) /* a step of a pattern takes as long */
        return too_much();
    return yes_or_no(pattern_matches(node->pattern, v.text, run->mem));
}

static struct cel_value bind(struct cel_run *run, const struct cel_node *node)
{
    run->variables[node->slot] = evaluate(run, node->args[0]);
    return evaluate(run, node->args[1]);
}

static struct cel_value evaluate(struct cel_run *run, const struct cel_node *node)
{
    struct cel_value name = {.type = CEL_STRING, .text = node->name};
    bool is_optional = node->op == OP_OPTIONAL_SELECT || node->op == OP_OPTIONAL_INDEX;
    switch (node->op) {
    case OP_LITERAL:
        return node->literal;
    case OP_DEVICE:
        return (struct cel_value){.type = CEL_DEVICE};
    case OP_VARIABLE:
        return run->variables[node->slot];
    case OP_LIST:
        return make_list(run, node);
    case OP_SELECT:
    case OP_OPTIONAL_SELECT:
        return get(run, evaluate(run, node->args[0]), name, is_optional);
    case OP_INDEX:
    case OP_OPTIONAL_INDEX:
        return get(run, evaluate(run, node->args[0]), evaluate(run, node->args[1]), is_optional);
    case OP_HAS:
        return has(run, node);
    case OP_BIND:
        return bind(run, node);
    case OP_CALL:
        return call(run, node);
    case OP_MATCHES:
        return matches(run, node);
    case OP_NOT:
    case OP_MINUS:
        return negate(run, node);
    case OP_AND:
        return decide(run, node, false);
    case OP_OR:
        return decide(run, node, true);
    case OP_CHOOSE:
        return choose(run, node);
    default:
        break;
    }
    struct cel_value a = evaluate(run, node->args[0]), b = evaluate(run, node->args[1]);
    switch (node->op) {
    case OP_EQUAL:
        return equal(run, a, b);
    case OP_UNEQUAL: {
        struct cel_value is = equal(run, a, b);
        return is.type == CEL_BOOL ? yes_or_no(!is.yes) : is;
    }
    case OP_LESS:
    case OP_AT_MOST:
    case OP_GREATER:
    case OP_AT_LEAST:
        return order(node->op, a, b);
    case OP_IN:
        return is_in(run, a, b);
    default:
        return calculate(run, node->op, a, b);
    }
}

enum cel_outcome cel_match(const struct cel *cel, struct str driver, const struct device *device,
                           struct arena *mem, struct str *why)
{
    struct cel_run run = {.driver = driver, .device = device, .mem = mem};
    struct cel_value v = evaluate(&run, cel->root);
    if (v.type == CEL_BOOL)
        return v.yes ? CEL_YES : CEL_NO;
    *why = v.type == CEL_ERROR ? v.text : STR("the result is no bool");
    return CEL_FAILED;
}

/* --- functions --- */

#define CALL(fn) static struct cel_value fn(struct cel_run *run, const struct cel_value *a)

static int64_t count_characters(struct str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((uint8_t)s.p[i] & 0xc0) != 0x80;
    return n;
}

CALL(call_size)
{
    if (a[0].type == CEL_STRING)
        return number(count_characters(a[0].text));
    if (a[0].type == CEL_LIST)
        return number(a[0].list.n);
    return a[0].type == CEL_IDS ? number(count_ids(run, &a[0])) : no_overload();
}

static bool are_strings(const struct cel_value *a)
{
    return a[0].type == CEL_STRING && a[1].type == CEL_STRING;
}

CALL(call_starts)
{
    (void)run;
    return are_strings(a) ? yes_or_no(str_starts(a[0].text, a[1].text)) : no_overload();
}

CALL(call_ends)
{
    (void)run;
    return are_strings(a) ? yes_or_no(str_ends(a[0].text, a[1].text)) : no_overload();
}

CALL(call_contains)
{
    bool is_found = false;
    if (are_strings(a) && !touch(run, a[0].text.n * a[1].text.n / 8))
        return too_much();
    for (size_t i = 0; are_strings(a) && !is_found && i + a[1].text.n <= a[0].text.n; i++)
        is_found = str_starts(str_part(a[0].text, i, a[0].text.n), a[1].text);
    return are_strings(a) ? yes_or_no(is_found) : no_overload();
}

static struct cel_value change_case(struct cel_run *run, struct cel_value v, char from)
{
    if (v.type != CEL_STRING)
        return no_overload();
    char *out = arena_alloc(run->mem, v.text.n + 1);
    for (size_t i = 0; i < v.text.n; i++) {
        char c = v.text.p[i];
        out[i] = c >= from && c < from + 26 ? (char)(c ^ 0x20) : c;
    }
    return (struct cel_value){.type = CEL_STRING, .text = {out, v.text.n}};
}

CALL(call_lower)
{
    return change_case(run, a[0], 'A');
}

CALL(call_upper)
{
    return change_case(run, a[0], 'a');
}

CALL(call_quantity)
{
    struct cel_value q = {.type = CEL_QUANTITY};
    if (a[0].type != CEL_STRING)
        return no_overload();
    if (quantity_parse(a[0].text, &q.quantity))
        return q;
    return error(arena_printf(run->mem, "\"" STR_FMT "\" is not a quantity", STR_ARG(a[0].text)));
}

CALL(call_is_quantity)
{
    struct quantity q;
    (void)run;
    return a[0].type == CEL_STRING ? yes_or_no(quantity_parse(a[0].text, &q)) : no_overload();
}

CALL(call_semver)
{
    struct cel_value v = {.type = CEL_SEMVER, .text = a[0].text};
    if (a[0].type != CEL_STRING)
        return no_overload();
    if (semver_parse(a[0].text, &v.semver))
        return v;
    return error(
        arena_printf(run->mem, "\"" STR_FMT "\" is not a semantic version", STR_ARG(a[0].text)));
}

CALL(call_is_semver)
{
    struct semver v;
    (void)run;
    return a[0].type == CEL_STRING ? yes_or_no(semver_parse(a[0].text, &v)) : no_overload();
}

/* Quantities and versions have the same three. */
static bool compare(const struct cel_value *a, int *way)
{
    bool are_alike = a[0].type == a[1].type;
    if (are_alike && a[0].type == CEL_QUANTITY)
        *way = quantity_compare(a[0].quantity, a[1].quantity);
    else if (are_alike && a[0].type == CEL_SEMVER)
        *way = semver_compare(a[0].semver, a[1].semver);
    else
        return false;
    return true;
}

CALL(call_compare)
{
    int way;
    (void)run;
    return compare(a, &way) ? number(way) : no_overload();
}

CALL(call_is_less)
{
    int way;
    (void)run;
    return compare(a, &way) ? yes_or_no(way < 0) : no_overload();
}

CALL(call_is_greater)
{
    int way;
    (void)run;
    return compare(a, &way) ? yes_or_no(way > 0) : no_overload();
}

CALL(call_sign)
{
    struct cel_value zero[] = {a[0], {.type = CEL_QUANTITY}};
    return call_compare(run, zero);
}

CALL(call_is_integer)
{
    int64_t value;
    (void)run;
    return a[0].type == CEL_QUANTITY ? yes_or_no(quantity_integer(a[0].quantity, &value))
                                     : no_overload();
}

CALL(call_as_integer)
{
    int64_t value;
    (void)run;
    if (a[0].type != CEL_QUANTITY)
        return no_overload();
    return quantity_integer(a[0].quantity, &value) ? number(value)
                                                   : error(STR("cannot convert value to integer"));
}

static struct cel_value sum(const struct cel_value *a, int sign)
{
    struct quantity b = {0};
    if (a[0].type == CEL_QUANTITY && a[1].type == CEL_QUANTITY)
        b = a[1].quantity;
    else if (a[0].type == CEL_QUANTITY && a[1].type == CEL_INT)
        b.nano = (__int128)a[1].number * 1000000000;
    else
        return no_overload();
    b.nano *= sign;
    return (struct cel_value){.type = CEL_QUANTITY, .quantity = quantity_sum(a[0].quantity, b)};
}

CALL(call_add)
{
    (void)run;
    return sum(a, 1);
}

CALL(call_sub)
{
    (void)run;
    return sum(a, -1);
}

static struct cel_value part_of(const struct cel_value *a, uint64_t part)
{
    return a->type == CEL_SEMVER ? number((int64_t)part) : no_overload();
}

CALL(call_major)
{
    (void)run;
    return part_of(a, a->semver.major);
}

CALL(call_minor)
{
    (void)run;
    return part_of(a, a->semver.minor);
}

CALL(call_patch)
{
    (void)run;
    return part_of(a, a->semver.patch);
}

CALL(call_has_value)
{
    (void)run;
    return a[0].type == CEL_OPTIONAL ? yes_or_no(a[0].inner != NULL) : no_overload();
}

CALL(call_value)
{
    (void)run;
    if (a[0].type != CEL_OPTIONAL)
        return no_overload();
    return a[0].inner ? *a[0].inner : error(STR("optional.none() dereference"));
}

CALL(call_or_value)
{
    (void)run;
    if (a[0].type != CEL_OPTIONAL)
        return no_overload();
    return a[0].inner ? *a[0].inner : a[1];
}

const struct cel_call cel_calls[] = {
    {STR("size"), 1, false, call_size},
    {STR("size"), 1, true, call_size},
    {STR("startsWith"), 2, true, call_starts},
    {STR("endsWith"), 2, true, call_ends},
    {STR("contains"), 2, true, call_contains},
    {STR("lowerAscii"), 1, true, call_lower},
    {STR("upperAscii"), 1, true, call_upper},
    {STR("quantity"), 1, false, call_quantity},
    {STR("isQuantity"), 1, false, call_is_quantity},
    {STR("semver"), 1, false, call_semver},
    {STR("isSemver"), 1, false, call_is_semver},
    {STR("compareTo"), 2, true, call_compare},
    {STR("isLessThan"), 2, true, call_is_less},
    {STR("isGreaterThan"), 2, true, call_is_greater},
    {STR("sign"), 1, false, call_sign},
    {STR("isInteger"), 1, true, call_is_integer},
    {STR("asInteger"), 1, true, call_as_integer},
    {STR("add"), 2, true, call_add},
    {STR("sub"), 2, true, call_sub},
    {STR("major"), 1, true, call_major},
    {STR("minor"), 1, true, call_minor},
    {STR("patch"), 1, true, call_patch},
    {STR("hasValue"), 1, true, call_has_value},
    {STR("value"), 1, true, call_value},
    {STR("orValue"), 2, true, call_or_value},
};

const uint32_t n_cel_calls = LEN(cel_calls);
