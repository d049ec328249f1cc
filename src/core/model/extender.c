#include "core/model/extender.h"

#include "core/wire/json_read.h"

struct str extender_url(const struct extender *x, enum extender_verb verb, struct arena *mem)
{
    struct str url = x->url;
    while (str_ends(url, STR("/")))
        url.n--;
    return arena_printf(mem, STR_FMT "/" STR_FMT, STR_ARG(url), STR_ARG(x->verbs[verb]));
}

/* --- answers --- */

struct named {
    struct str name;
};

struct victims_value {
    LIST(struct named) pods;
    int64_t violations;
};

struct victims_entry {
    struct str node;
    struct victims_value value;
};

/* What any verb's answer may hold. */
struct answer_file {
    struct str error;
    LIST(struct extender_refusal) failed, unresolvable;
    LIST(struct str) names;
    bool has_names, has_nodes;
    LIST(struct named) nodes;
    LIST(struct victims_entry) victims;
    LIST(struct extender_score) scores;
};

/* clang-format off */

static const struct field refusal_fields[] = {
    {FIELD(STR, "key", 0, struct extender_refusal, node)},
    {FIELD(STR, "value", 0, struct extender_refusal, why)},
    FIELD_END,
};

static const struct field meta_fields[] = {
    {FIELD(STR, "name", 0, struct named, name)},
    FIELD_END,
};

static const struct field node_fields[] = {
    {FIELD_PART("metadata", 0, meta_fields)},
    FIELD_END,
};

static const struct field nodes_fields[] = {
    {FIELD_MESSAGES("items", 0, struct answer_file, nodes, node_fields)},
    FIELD_END,
};

static const struct field filter_fields[] = {
    {FIELD(STR, "Error", 0, struct answer_file, error)},
    {FIELD_ENTRIES("FailedAndUnresolvableNodes", 0, struct answer_file, unresolvable, refusal_fields)},
    {FIELD_ENTRIES("FailedNodes", 0, struct answer_file, failed, refusal_fields)},
    {FIELD_STRS("NodeNames", 0, struct answer_file, names), FIELD_HAS(struct answer_file, has_names)},
    {FIELD_PART("Nodes", 0, nodes_fields), FIELD_HAS(struct answer_file, has_nodes)},
    FIELD_END,
};

static const struct field score_fields[] = {
    {FIELD(STR, "Host", 0, struct extender_score, node)},
    {FIELD(INT64, "Score", 0, struct extender_score, score)},
    FIELD_END,
};

/* The answer is the list itself: it is read as a field of this name. */
static const struct field prioritize_fields[] = {
    {FIELD_MESSAGES("scores", 0, struct answer_file, scores, score_fields)},
    FIELD_END,
};

static const struct field pod_fields[] = {
    {FIELD(STR, "UID", 0, struct named, name)},
    FIELD_END,
};

static const struct field victims_fields[] = {
    {FIELD(INT64, "NumPDBViolations", 0, struct victims_value, violations)},
    {FIELD_MESSAGES("Pods", 0, struct victims_value, pods, pod_fields)},
    FIELD_END,
};

static const struct field entry_fields[] = {
    {FIELD(STR, "key", 0, struct victims_entry, node)},
    {FIELD_STRUCT("value", 0, struct victims_entry, value, victims_fields)},
    FIELD_END,
};

static const struct field preempt_fields[] = {
    {FIELD_ENTRIES("NodeNameToMetaVictims", 0, struct answer_file, victims, entry_fields)},
    FIELD_END,
};

static const struct field bind_fields[] = {
    {FIELD(STR, "Error", 0, struct answer_file, error)},
    FIELD_END,
};

/* clang-format on */

static const struct field *const fields_of[EXTENDER_VERBS] = {
    [EXTENDER_FILTER] = filter_fields,
    [EXTENDER_PRIORITIZE] = prioritize_fields,
    [EXTENDER_PREEMPT] = preempt_fields,
    [EXTENDER_BIND] = bind_fields,
};

static void take_names(const struct named *from, uint32_t n, struct arena *mem, struct str **out)
{
    *out = arena_array(mem, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        (*out)[i] = from[i].name;
}

static void take(const struct answer_file *from, struct arena *mem, struct extender_answer *out)
{
    *out = (struct extender_answer){
        .error = from->error,
        .has_names = from->has_names,
        .has_nodes = from->has_nodes,
    };
    out->names.at = from->names.at;
    out->names.n = from->names.n;
    take_names(from->nodes.at, from->nodes.n, mem, &out->nodes.at);
    out->nodes.n = from->nodes.n;
    out->failed.at = from->failed.at;
    out->failed.n = from->failed.n;
    out->unresolvable.at = from->unresolvable.at;
    out->unresolvable.n = from->unresolvable.n;
    out->scores.at = from->scores.at;
    out->scores.n = from->scores.n;
    out->victims.at = arena_array(mem, struct extender_victims, from->victims.n);
    out->victims.n = from->victims.n;
    for (uint32_t i = 0; i < from->victims.n; i++) {
        const struct victims_entry *entry = &from->victims.at[i];
        struct extender_victims *v = &out->victims.at[i];
        v->node = entry->node;
        v->violations = entry->value.violations;
        v->uids.n = entry->value.pods.n;
        take_names(entry->value.pods.at, entry->value.pods.n, mem, &v->uids.at);
    }
}

bool extender_read(enum extender_verb verb, struct str text, struct arena *mem,
                   struct extender_answer *out, struct error *e)
{
    struct answer_file file = {0};
    size_t where;
    struct str value;
    if (!json_take(&text, &value, &where, e)) /* what follows is nobody's business, as in Go */
        return e->kind ? false : error_set(e, ERROR_INVALID, "EOF");
    if (str_equal(value, STR("null")))
        value = verb == EXTENDER_PRIORITIZE ? STR("[]") : STR("{}");
    if (verb == EXTENDER_PRIORITIZE)
        value = arena_printf(mem, "{\"scores\":" STR_FMT "}", STR_ARG(value));
    if (!json_read_caseless(value, fields_of[verb], &file, mem, &where, e))
        return false;
    take(&file, mem, out);
    return true;
}
