#include "sim/scenario.h"

#include "core/model/check.h"
#include "core/wire/json_read.h"
#include "core/wire/yaml.h"
#include "sim/scenario_fields.h"
#include "sim/shapes.h"

/* A scenario while it is read: what errors need. */
struct reading {
    struct scenario *s;
    const char *file;
    const struct yaml_document *yaml;
    struct error *e;
};

/* The error is about the value at byte `offset` of the JSON text. */
static bool place_error(const struct reading *r, size_t offset)
{
    return error_wrap(r->e, "%s: line %u", r->file, yaml_document_line(r->yaml, offset));
}

/* The error is about the thing with this name: where that stands is where it is. */
static bool place_at_name(const struct reading *r, struct str name)
{
    uintptr_t start = (uintptr_t)r->s->json.p, at = (uintptr_t)name.p;
    bool is_inside = name.n && at >= start && at < start + r->s->json.n;
    return place_error(r, is_inside ? at - start : 0);
}

static bool nodes_error(const struct reading *r, const struct scenario_nodes *n, const char *field,
                        const char *text)
{
    error_set(r->e, ERROR_INVALID, "nodes[%zu].%s: %s", (size_t)(n - r->s->nodes.at), field, text);
    return place_at_name(r, n->name);
}

static bool job_error(const struct reading *r, const struct scenario_job *j, const char *field,
                      const char *text)
{
    error_set(r->e, ERROR_INVALID, "jobs[%zu].%s: %s", (size_t)(j - r->s->jobs.at), field, text);
    return place_at_name(r, j->name);
}

/* A name that can begin the names of nodes and pods. */
static bool is_label(struct str s)
{
    enum { LABEL_MOST = 50 }; /* a label has at most 63 characters, and a number follows */
    if (s.n == 0 || s.n > LABEL_MOST || s.p[0] == '-' || s.p[s.n - 1] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool is_good = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9');
        if (!is_good && s.p[i] != '-')
            return false;
    }
    return true;
}

static const char name_rule[] = "a name of 1 to 50 characters a-z, 0-9, - is wanted";

static bool check_taints(const struct reading *r, const struct scenario_nodes *n)
{
    list_each(&n->taints, taint) {
        bool is_effect = str_equal(taint->effect, STR("NoSchedule")) ||
                         str_equal(taint->effect, STR("PreferNoSchedule")) ||
                         str_equal(taint->effect, STR("NoExecute"));
        if (!is_effect || taint->key.n == 0)
            return nodes_error(r, n, "taints",
                               "a taint has a key, and the effect NoSchedule, PreferNoSchedule or "
                               "NoExecute");
    }
    return true;
}

static bool check_resources(const struct reading *r, const struct scenario_nodes *n)
{
    list_each(&n->resources, amount) {
        if (str_equal(amount->name, STR("cpu")) || str_equal(amount->name, STR("memory")) ||
            str_equal(amount->name, STR("pods")) || str_equal(amount->name, n->gpu_resource))
            return nodes_error(r, n, "resources",
                               "cpu, memory, pods, gpus are fields of their own");
    }
    return true;
}

static bool check_nodes(const struct reading *r, struct scenario_nodes *n)
{
    if (!is_label(n->name))
        return nodes_error(r, n, "name", name_rule);
    for (const struct scenario_nodes *other = r->s->nodes.at; other < n; other++) {
        if (str_equal(other->name, n->name))
            return nodes_error(r, n, "name", "another shape has this name already");
    }
    if (n->shape.n && !shape_complete(n, &r->s->mem))
        return nodes_error(
            r, n, "shape",
            arena_printf(&r->s->mem, "is none of " STR_FMT, STR_ARG(shape_names(&r->s->mem))).p);
    if (n->cpu.nano == 0)
        return nodes_error(r, n, "cpu", "missing");
    if (n->memory.nano == 0)
        return nodes_error(r, n, "memory", "missing");
    if (n->racks.count && n->racks.size)
        return nodes_error(r, n, "racks", "count or size, not both");
    if (n->count == 0)
        n->count = 1;
    if (n->pods.nano == 0)
        n->pods.nano = (__int128)110 * 1000000000;
    if (n->gpu_resource.n == 0)
        n->gpu_resource = STR("nvidia.com/gpu");
    return check_taints(r, n) && check_resources(r, n);
}

static double sum(const double *at, uint32_t n)
{
    double total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += at[i];
    return total;
}

static bool check_burst(const struct reading *r, struct scenario_job *j)
{
    struct scenario_arrival *a = &j->arrival;
    if (a->per_ms > 0 || a->profile.n || a->until_ms)
        return job_error(r, j, "arrival", "a burst has a count and times (at), nothing else");
    if (a->at_ms.n && a->from_ms)
        return job_error(r, j, "arrival", "at or from, not both");
    if (a->count == 0)
        a->count = 1;
    return true;
}

static bool check_flow(const struct reading *r, struct scenario_job *j)
{
    struct scenario_arrival *a = &j->arrival;
    if ((a->per_ms > 0) == (a->count > 0))
        return job_error(r, j, "arrival", "either rate or count is wanted");
    if (a->at_ms.n)
        return job_error(r, j, "arrival", "at is for bursts");
    if (a->until_ms == 0)
        a->until_ms = r->s->until_ms;
    if (a->until_ms == 0)
        return job_error(r, j, "arrival.until", "missing, and the scenario has no until either");
    if (a->until_ms <= a->from_ms)
        return job_error(r, j, "arrival.until", "is not after from");
    if (a->profile.n && sum(a->profile.at, a->profile.n) <= 0)
        return job_error(r, j, "arrival.profile", "all its numbers are 0");
    return a->profile.n <= 1440 || job_error(r, j, "arrival.profile", "has more than 1440 numbers");
}

static bool check_arrival(const struct reading *r, struct scenario_job *j)
{
    struct scenario_arrival *a = &j->arrival;
    if (a->process == ARRIVAL_UNSAID)
        a->process = a->per_ms > 0 || a->profile.n ? ARRIVAL_POISSON : ARRIVAL_BURST;
    return a->process == ARRIVAL_BURST ? check_burst(r, j) : check_flow(r, j);
}

/* Jobs of one size have a list of one. */
static bool check_sizes(const struct reading *r, struct scenario_job *j)
{
    bool is_single = j->sizes.n == 0;
    if (!is_single && (j->pods || j->requests.n))
        return job_error(r, j, "sizes", "either sizes, or pods and requests");
    if (is_single) {
        j->sizes.at = arena_array(&r->s->mem, struct scenario_size, 1);
        j->sizes.n = 1;
        j->sizes.at[0] = (struct scenario_size){.pods = j->pods, .requests = j->requests};
    }
    bool brings_containers = j->template && j->template->spec.containers.n;
    list_each(&j->sizes, size) {
        if (brings_containers && size->requests.n)
            return job_error(r, j, "requests", "the template has containers with their own");
        if (size->weight == 0)
            size->weight = 1;
        if (size->pods == 0)
            size->pods = 1;
    }
    return true;
}

static bool read_duration_form(const struct reading *r, struct scenario_job *j)
{
    struct duration_form f = {0};
    struct str text = j->duration_text;
    size_t where = 0;
    if (!fields_are_known(text, duration_form_fields, &where, r->e) ||
        !json_read(text, duration_form_fields, &f, &r->s->mem, &where, r->e)) {
        error_wrap(r->e, "jobs[%zu].duration", (size_t)(j - r->s->jobs.at));
        return place_error(r, (size_t)(text.p - r->s->json.p) + where);
    }
    int forms = (f.mean_ms > 0) + (f.median_ms || f.p90_ms) + (f.min_ms || f.max_ms);
    if (forms != 1 || !f.median_ms != !f.p90_ms || !f.min_ms != !f.max_ms)
        return job_error(r, j, "duration", "{mean}, {median, p90} or {min, max} is wanted");
    if (f.p90_ms < f.median_ms || f.max_ms < f.min_ms)
        return job_error(r, j, "duration", "the second number is less than the first");
    j->duration = f.mean_ms     ? (struct span){SPAN_EXPONENTIAL, f.mean_ms, 0}
                  : f.median_ms ? (struct span){SPAN_LOGNORMAL, f.median_ms, f.p90_ms}
                                : (struct span){SPAN_UNIFORM, f.min_ms, f.max_ms};
    return true;
}

static bool read_duration(const struct reading *r, struct scenario_job *j)
{
    struct str text = j->duration_text;
    if (text.n == 0)
        return true; /* stays */
    if (text.p[0] == '{')
        return read_duration_form(r, j);
    struct str bare = text.p[0] == '"' ? str_part(text, 1, text.n - 1) : text;
    int64_t ms;
    const char *wrong = duration_read(bare, &ms);
    if (wrong) {
        error_set(r->e, ERROR_INVALID, "jobs[%zu].duration: " STR_FMT " %s",
                  (size_t)(j - r->s->jobs.at), STR_ARG(str_part(text, 0, 60)), wrong);
        return place_error(r, (size_t)(text.p - r->s->json.p));
    }
    j->duration = (struct span){SPAN_FIXED, ms, 0};
    return true;
}

static bool check_job(const struct reading *r, struct scenario_job *j)
{
    if (!is_label(j->name))
        return job_error(r, j, "name", name_rule);
    for (const struct scenario_job *other = r->s->jobs.at; other < j; other++) {
        if (str_equal(other->name, j->name))
            return job_error(r, j, "name", "other jobs have this name already");
    }
    if (j->template && j->template->spec.node_name.n)
        return job_error(r, j, "template.spec.nodeName", "the scheduler is to choose the node");
    return check_arrival(r, j) && check_sizes(r, j) && read_duration(r, j);
}

/* What is wrong with a Queue, as its fields are called here. */
static bool queue_error(const struct reading *r, const struct queue_object *q)
{
    static const char spec[] = "spec.", meta[] = "metadata.";
    const char *text = r->e->text;
    text += !strncmp(text, spec, strlen(spec)) ? strlen(spec) : 0;
    text += !strncmp(text, meta, strlen(meta)) ? strlen(meta) : 0;
    struct str what = arena_str(&r->s->mem, str_of(text));
    error_set(r->e, ERROR_INVALID, "queues[%zu]." STR_FMT, (size_t)(q - r->s->queues.at),
              STR_ARG(what));
    return place_at_name(r, q->meta.name);
}

/* A queue at the top takes all namespaces unless it says which. */
static bool check_queue(const struct reading *r, struct queue_object *q)
{
    struct object object = {.kind = KIND_QUEUE, .queue = q};
    q->meta.created_ms = q->meta.deleted_ms = q->status.as_of_ms = TIME_NONE;
    if (!object_check(&object, r->e))
        return queue_error(r, q);
    for (const struct queue_object *other = r->s->queues.at; other < q; other++) {
        error_set(r->e, ERROR_INVALID, "name: another queue has this name already");
        if (str_equal(other->meta.name, q->meta.name))
            return queue_error(r, q);
    }
    if (q->spec.parent.n == 0 && !q->spec.namespaces) {
        q->spec.namespaces = arena_array(&r->s->mem, struct queue_namespaces, 1);
        q->spec.namespaces->selector = arena_array(&r->s->mem, struct label_selector, 1);
    }
    return true;
}

static bool check(const struct reading *r)
{
    struct scenario *s = r->s;
    int64_t nodes = 0;
    if (s->kind.n && !str_equal(s->kind, STR("Scenario"))) {
        error_set(r->e, ERROR_INVALID, "kind: \"" STR_FMT "\" is not Scenario", STR_ARG(s->kind));
        return place_at_name(r, s->kind);
    }
    list_each(&s->nodes, n) {
        if (!check_nodes(r, n))
            return false;
        nodes += n->count;
    }
    if (nodes > SCENARIO_NODES_MOST)
        return error_set(r->e, ERROR_INVALID, "%s: nodes: more than %d in all", r->file,
                         SCENARIO_NODES_MOST);
    list_each(&s->queues, q) {
        if (!check_queue(r, q))
            return false;
    }
    if (s->queues.n && !s->scheduler.n)
        s->scheduler = STR("kubenexus-scheduler");
    list_each(&s->jobs, j) {
        if (!check_job(r, j))
            return false;
    }
    if (s->faults.nodes.between_ms && !s->faults.nodes.repair_ms)
        return error_set(r->e, ERROR_INVALID, "%s: faults.nodeFailures.repair: missing", r->file);
    return true;
}

static bool read_document(struct scenario *s, const char *file, struct yaml_document *yaml,
                          struct error *e)
{
    struct reading r = {s, file, yaml, e};
    size_t where = 0;
    s->json = yaml->json;
    yaml->json = (struct buf){0};
    if (!fields_are_known(buf_str(&s->json), scenario_fields, &where, e) ||
        !json_read(buf_str(&s->json), scenario_fields, s, &s->mem, &where, e))
        return place_error(&r, where);
    return check(&r);
}

bool scenario_read(struct scenario *s, const char *file, struct str text, struct error *e)
{
    AUTO(yaml_document) yaml = {0};
    if (text.n > SCENARIO_BYTES_MOST)
        return error_set(e, ERROR_INVALID, "%s: larger than %d bytes", file, SCENARIO_BYTES_MOST);
    struct yaml_reader *y = yaml_reader_new(text);
    *e = (struct error){0};
    bool is_fine = yaml_reader_next(y, &yaml, e);
    if (!is_fine && e->kind == ERROR_NONE)
        error_set(e, ERROR_INVALID, "%s: empty", file);
    else if (!is_fine)
        error_wrap(e, "%s: line %u", file, yaml.line);
    is_fine = is_fine && read_document(s, file, &yaml, e);
    struct yaml_document more = {0};
    if (is_fine && yaml_reader_next(y, &more, e))
        is_fine = error_set(e, ERROR_INVALID, "%s: line %u: a second document", file, more.line);
    else if (is_fine && e->kind != ERROR_NONE)
        is_fine = error_wrap(e, "%s: line %u", file, more.line);
    yaml_document_done(&more);
    yaml_reader_free(y);
    if (!is_fine)
        scenario_done(s);
    return is_fine;
}

bool scenario_is(struct str text)
{
    struct head {
        struct str kind, nodes, jobs;
    } head = {0};
    static const struct field head_fields[] = {
        {FIELD(RAW, "jobs", 0, struct head, jobs)},
        {FIELD(RAW, "kind", 0, struct head, kind)},
        {FIELD(RAW, "nodes", 0, struct head, nodes)},
        FIELD_END,
    };
    AUTO(yaml_document) yaml = {0};
    AUTO(arena) mem = {0};
    struct error e = {0};
    size_t where = 0;
    if (text.n > SCENARIO_BYTES_MOST) /* large dumps are not read twice */
        return false;
    struct yaml_reader *y = yaml_reader_new(text);
    bool is_read = yaml_reader_next(y, &yaml, &e) &&
                   json_read(buf_str(&yaml.json), head_fields, &head, &mem, &where, &e);
    yaml_reader_free(y);
    if (!is_read)
        return false;
    return head.kind.n ? str_equal(head.kind, STR("\"Scenario\"")) : head.nodes.n || head.jobs.n;
}

void scenario_done(struct scenario *s)
{
    arena_done(&s->mem);
    buf_done(&s->json);
    *s = (struct scenario){0};
}
