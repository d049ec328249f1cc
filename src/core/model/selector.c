#include "core/model/selector.h"

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_label_value(struct str s)
{
    if (s.n == 0)
        return true;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    }
    return s.n <= 63 && is_alnum(s.p[0]) && is_alnum(s.p[s.n - 1]);
}

static bool is_name(struct str s, size_t most, struct str between)
{
    if (!s.n || s.n > most || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && str_find(between, s.p[i]) == between.n)
            return false;
    return true;
}

bool is_qualified_name(struct str s)
{
    size_t slash = str_find(s, '/');
    struct str prefix = str_part(s, 0, slash), name = str_part(s, slash + 1, s.n);
    if (slash == s.n)
        return is_name(s, 63, STR("-_."));
    return is_name(prefix, 253, STR("-.")) && is_name(name, 63, STR("-_."));
}

bool is_dns_name(struct str s)
{
    if (!s.n || s.n > 253 || s.p[s.n - 1] == '.')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= 'A' && s.p[i] <= 'Z')
            return false;
    for (struct str rest = s; rest.n;)
        if (!is_name(str_take(&rest, '.'), 253, STR("-")))
            return false;
    return true;
}

static const struct pair *find(pair_list labels, struct str key)
{
    list_each(&labels, label) {
        if (str_equal(label->key, key))
            return label;
    }
    return NULL;
}

static bool has(str_list values, struct str value)
{
    list_each(&values, v) {
        if (str_equal(*v, value))
            return true;
    }
    return false;
}

/* Both must be integers; there must be one value. */
static bool compares(const struct requirement *r, struct str value, bool greater)
{
    int64_t mine, theirs;
    if (r->values.n != 1 || !str_int(value, &mine) || !str_int(r->values.at[0], &theirs))
        return false;
    return greater ? mine > theirs : mine < theirs;
}

bool requirement_matches(const struct requirement *r, pair_list labels)
{
    const struct pair *label = find(labels, r->key);
    if (str_equal(r->op, STR("In")))
        return label && has(r->values, label->value);
    if (str_equal(r->op, STR("NotIn")))
        return !label || !has(r->values, label->value);
    if (str_equal(r->op, STR("Exists")))
        return label;
    if (str_equal(r->op, STR("DoesNotExist")))
        return !label;
    if (str_equal(r->op, STR("Gt")) || str_equal(r->op, STR("Lt")))
        return label && compares(r, label->value, r->op.p[0] == 'G');
    return false;
}

bool label_selector_matches(const struct label_selector *s, pair_list labels)
{
    if (!s)
        return false;
    list_each(&s->match_labels, wanted) {
        const struct pair *label = find(labels, wanted->key);
        if (!label || !str_equal(label->value, wanted->value))
            return false;
    }
    list_each(&s->match_expressions, r) {
        if (!requirement_matches(r, labels))
            return false;
    }
    return true;
}

bool node_term_matches(const struct node_selector_term *t, pair_list labels, struct str node_name)
{
    if (t->match_expressions.n == 0 && t->match_fields.n == 0)
        return false;
    list_each(&t->match_expressions, r) {
        if (!requirement_matches(r, labels))
            return false;
    }
    struct pair name = {STR("metadata.name"), node_name};
    pair_list fields = {&name, 1};
    list_each(&t->match_fields, r) {
        if (!requirement_matches(r, fields))
            return false;
    }
    return true;
}

bool node_selector_matches(const struct node_selector *s, pair_list labels, struct str node_name)
{
    list_each(&s->terms, t) {
        if (node_term_matches(t, labels, node_name))
            return true;
    }
    return false;
}
