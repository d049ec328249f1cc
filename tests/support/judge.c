#include "support/judge.h"

#include "core/cluster/read.h"

static void class_gone(void *ctx, struct class *class)
{
    struct judge *j = ctx;
    views_drop(&j->views, class);
    scan_forget(&j->scan, class);
}

static void begin(struct judge *j)
{
    if (j->classes.cluster)
        return;
    classes_init(&j->classes, ground_cluster(&j->ground), j->profile, 1);
    j->classes.gone = class_gone;
    j->classes.ctx = j;
    j->views.cluster = j->ground.cluster;
    j->views.reasons = &j->classes.reasons;
    j->views.scan = &j->scan;
}

void judge_done(struct judge *j)
{
    if (j->classes.cluster)
        classes_done(&j->classes);
    views_done(&j->views);
    scan_done(&j->scan);
    buf_done(&j->text);
    ground_done(&j->ground);
}

struct class *judge_class(struct judge *j, const char *pod)
{
    begin(j);
    pod_id id = ground_pod(&j->ground, pod);
    return classes_of(&j->classes, pods_at(&j->ground.cluster->pods, id)->shape);
}

static const char *plugin_name(const struct judge *j, uint32_t number)
{
    for (uint32_t i = 0; i < j->profile->n; i++)
        if (j->profile->plugins[i].number == number)
            return j->profile->plugins[i].plugin->name;
    return "-";
}

static void say_reason(struct judge *j, reason_id id)
{
    const struct reason *reason = reasons_at(&j->classes.reasons, id);
    buf_printf(&j->text, "%s %s:", reason->code == CODE_UNRESOLVABLE ? "UU" : "U",
               plugin_name(j, reason->plugin));
    for (uint32_t i = 0; i < reason->n_texts; i++)
        buf_printf(&j->text, "%s " STR_FMT, i ? "," : "", STR_ARG(reason->texts[i]));
}

/* The text so far as a C string. */
static const char *said(struct judge *j)
{
    buf_add_char(&j->text, '\0');
    return j->text.p;
}

static struct decision decide(struct judge *j, const char *pod, const struct class *class)
{
    return scan_run(&j->scan, j->ground.cluster, class, ground_pod(&j->ground, pod), true);
}

const char *judge_verdict(struct judge *j, const char *pod, const char *node)
{
    const struct class *class = judge_class(j, pod);
    buf_clear(&j->text);
    if (class->error.n) {
        buf_printf(&j->text, "error: " STR_FMT, STR_ARG(class->error));
        return said(j);
    }
    if (class->refusal) {
        buf_printf(&j->text, "refused: ");
        if (class->refusal_text.n)
            buf_add(&j->text, class->refusal_text);
        else
            say_reason(j, class->refusal);
        return said(j);
    }
    decide(j, pod, class);
    uint32_t home = scan_home(&j->scan, j->ground.cluster, ground_node(&j->ground, node).i);
    assert(home != ID_NONE);
    reason_id reason =
        home & SCAN_REFUSED ? home & ~SCAN_REFUSED : j->scan.buckets.at.at[home].refused;
    if (reason)
        say_reason(j, reason);
    else
        buf_printf(&j->text, "fits");
    return said(j);
}

struct judge_score judge_score(struct judge *j, const struct plugin *plugin, const char *pod,
                               const char *node)
{
    const struct class *class = judge_class(j, pod);
    node_id id = ground_node(&j->ground, node);
    decide(j, pod, class);
    for (uint32_t p = 0; p < class->n_parts; p++) {
        const struct class_part *part = &class->parts[p];
        if (part->plugin != plugin || !part->scores)
            continue;
        struct judge_score score = {.takes_part = true};
        if (plugin->row_score)
            score.raw = score.normal = plugin->row_score(j->ground.cluster, part->state, id);
        if (!class_part_scores_keys(part))
            return score;
        struct decider *d = &j->scan.decider;
        buckets_score(j->ground.cluster, part, &j->scan.buckets, d);
        for (uint32_t i = 0; i < d->which.n; i++)
            if (d->which.at[i] == j->scan.home.at[id.i]) {
                score.raw += d->raw.at[i];
                score.normal += d->normal.at[i];
            }
        return score;
    }
    return (struct judge_score){0};
}

/* --- events --- */

/* The object of a line as an event shows it: a row, or a shape that is held from now on. */
struct seen {
    bool is_there;
    struct node_row row;
    const struct shape *shape;
    sym node;
};

static struct seen see(struct judge *j, const char *line)
{
    struct cluster *c = ground_cluster(&j->ground);
    struct seen seen = {.node = SYM_NONE};
    if (!line)
        return seen;
    struct object o = object_of(&j->ground.mem, line);
    seen.is_there = true;
    if (o.kind == KIND_NODE) {
        seen.row = read_node(c, o.node, &j->ground.mem);
        intern_hold(&c->names.label_sets.table, seen.row.labels);
        intern_hold(&c->names.taint_sets.table, seen.row.taints);
        return seen;
    }
    sym pin;
    shape_id shape = read_pod_shape(c, o.pod, &pin);
    intern_hold(&c->pods.shape_table, shape);
    struct shape *copy = arena_array(&j->ground.mem, struct shape, 1);
    *copy = c->pods.shapes.at[shape];
    seen.shape = copy;
    struct str name =
        o.pod->spec.node_name.n ? o.pod->spec.node_name : o.pod->status.nominated_node_name;
    if (name.n)
        seen.node = names_get(&c->names, name);
    return seen;
}

/* The number of the node that the line names. */
static node_id see_node(struct judge *j, const char *line)
{
    struct cluster *c = ground_cluster(&j->ground);
    return cluster_claim(c, names_get(&c->names, object_of(&j->ground.mem, line).meta->name));
}

static bool wakes(struct judge *j, const struct plugin *plugin, pod_id pod,
                  const struct event *event)
{
    const struct pods *pods = &j->ground.cluster->pods;
    for (const struct wake *w = plugin->wakes; w && w->resource; w++) {
        struct event part = *event;
        part.actions &= w->actions;
        part.pin = pods_at(pods, pod)->pin;
        if (w->resource == event->resource && part.actions &&
            (!w->hint || w->hint(j->ground.cluster, pods_shape(pods, pod), &part)))
            return true;
    }
    return false;
}

bool judge_wakes(struct judge *j, const struct plugin *plugin, const char *pod,
                 enum event_resource resource, uint32_t actions, const char *old_line,
                 const char *new_line)
{
    struct seen was = see(j, old_line), is = see(j, new_line);
    struct event event = {
        .resource = resource,
        .actions = actions,
        .node = resource == EVENT_NODE ? see_node(j, new_line ? new_line : old_line) : (node_id){0},
        .old_row = resource == EVENT_NODE && was.is_there ? &was.row : NULL,
        .new_row = resource == EVENT_NODE && is.is_there ? &is.row : NULL,
        .old_shape = was.shape,
        .new_shape = is.shape,
        .pod_node = is.is_there ? is.node : was.node,
    };
    return wakes(j, plugin, ground_pod(&j->ground, pod), &event);
}

/* --- decisions --- */

static const char *name_of(struct judge *j, struct decision d)
{
    const struct cluster *c = j->ground.cluster;
    buf_clear(&j->text);
    if (d.node != ID_NONE)
        buf_add(&j->text, names_text(&c->names, c->nodes.name[d.node]));
    return said(j);
}

const char *judge_scan(struct judge *j, const char *pod)
{
    return name_of(j, decide(j, pod, judge_class(j, pod)));
}

const char *judge_view(struct judge *j, const char *pod)
{
    struct class *class = judge_class(j, pod);
    struct decision d;
    views_tick(&j->views, class);
    return views_decide(&j->views, class, &d) ? name_of(j, d) : NULL;
}
