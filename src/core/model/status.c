#include "core/model/status.h"

#include "core/base/hash.h"
#include "core/base/time_text.h"
#include "core/model/put.h"

/* The conditions that are ours to write, by kind. */
static const struct {
    enum kind kind;
    struct str types[STATUS_CONDITIONS_MOST];
} ours[] = {
    {KIND_POD_GROUP, {STR("PodGroupInitiallyScheduled")}},
    {KIND_POD_GROUP_ALPHA2, {STR("PodGroupScheduled")}},
    {KIND_VOLCANO_POD_GROUP, {STR("Unschedulable"), STR("Scheduled")}},
    {KIND_RESERVATION, {STR("ReservationActive"), STR("GangComplete")}},
};

/* --- reading --- */

static void read_conditions(enum kind kind, const condition_list *from, struct object_status *to)
{
    for (size_t i = 0; i < LEN(ours); i++)
        for (uint32_t j = 0; ours[i].kind == kind && j < STATUS_CONDITIONS_MOST; j++)
            list_each(from, c)
                if (ours[i].types[j].n && str_equal(c->type, ours[i].types[j]))
                    to->conditions[j] = (struct status_condition){
                        .type = c->type,
                        .is_true = str_equal(c->status, STR("True")),
                        .reason = c->reason,
                        .message = c->message,
                        .since_ms = c->since_ms,
                    };
}

struct object_status object_status_of(const struct object *o)
{
    struct object_status s = {0};
    if (o->kind == KIND_RESERVATION) {
        const struct reservation *r = o->reservation;
        read_conditions(o->kind, &r->status.conditions, &s);
        s.held = r->status.held;
        s.entries = r->status.entries;
        s.pods = r->status.pods;
    } else {
        read_conditions(o->kind, &o->pod_group->conditions, &s);
        s.phase = o->pod_group->phase;
    }
    return s;
}

static uint64_t add(uint64_t hash, struct str text)
{
    return hash_pair(hash, str_hash(text));
}

uint64_t object_status_hash(const struct object_status *s)
{
    uint64_t hash = add(hash_pair((uint64_t)s->held, (uint64_t)s->entries), s->phase);
    for (size_t i = 0; i < STATUS_CONDITIONS_MOST; i++) {
        const struct status_condition *c = &s->conditions[i];
        if (c->type.n)
            hash = add(add(add(hash_pair(hash, c->is_true), c->type), c->reason), c->message);
    }
    list_each(&s->pods, pod)
        if (pod->value.n)
            hash = add(add(hash, pod->key), pod->value);
    return hash;
}

/* --- writing --- */

static void put_condition(struct json_writer *j, const struct status_condition *c)
{
    AUTO(buf) since = {0};
    time_add_seconds(&since, MAX(c->since_ms, (int64_t)0));
    json_put_open(j, '{');
    put_text(j, "type", c->type);
    put_text(j, "status", c->is_true ? STR("True") : STR("False"));
    put_text(j, "reason", c->reason);
    put_text(j, "message", c->message);
    put_text(j, "lastTransitionTime", buf_str(&since));
    json_put_close(j, '}');
}

static void put_conditions(struct json_writer *j, const struct object_status *s)
{
    put_open(j, "conditions", '[');
    for (size_t i = 0; i < STATUS_CONDITIONS_MOST; i++)
        if (s->conditions[i].type.n)
            put_condition(j, &s->conditions[i]);
    json_put_close(j, ']');
}

/* Of a merge, null takes an entry away. */
static void put_pods(struct json_writer *j, const struct object_status *s)
{
    put_open(j, "pods", '{');
    list_each(&s->pods, pod) {
        json_put_key(j, pod->key);
        if (pod->value.n)
            json_put_str(j, pod->value);
        else
            json_put_null(j);
    }
    json_put_close(j, '}');
}

struct str object_status_text(enum kind kind, const struct object_status *s, struct arena *mem)
{
    AUTO(buf) text = {0};
    struct json_writer j = {.out = &text};
    json_put_open(&j, '{');
    if (s->phase.n)
        put_text(&j, "phase", s->phase);
    if (s->conditions[0].type.n || s->conditions[1].type.n)
        put_conditions(&j, s);
    if (kind == KIND_RESERVATION) {
        put_int(&j, "entries", s->entries);
        put_int(&j, "held", s->held);
        put_pods(&j, s);
    }
    json_put_close(&j, '}');
    return arena_printf(mem, "\"status\":" STR_FMT, STR_ARG(buf_str(&text)));
}
