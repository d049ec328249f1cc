#include "core/plugins/external.h"

#include <kubenexus/plugin.h>

#include "core/cluster/cluster.h"

enum { REASONS_MOST = 16 };

struct kn_pod {
    struct cluster *cluster;
    const struct shape *shape;
    const struct kn_plugin *external;
};

struct kn_node {
    const struct cluster *cluster;
    node_id node;
    bool reads_room;
};

/* What is kept of a class; the external plugin's own state stands behind it. */
struct external_class {
    const struct kn_plugin *external;
    reason_id reasons[REASONS_MOST];
    max_align_t state[];
};

/* --- what it may ask --- */

static struct kn_text text_of(const struct cluster *c, sym s)
{
    struct str text = s == SYM_NONE ? (struct str){0} : names_text(&c->names, s);
    return (struct kn_text){text.p, text.n};
}

static bool reads_label(const struct kn_plugin *external, const char *key)
{
    for (const char *const *k = external->pod_labels; k && *k; k++)
        if (strcmp(*k, key) == 0)
            return true;
    return false;
}

static struct kn_text pod_label(const struct kn_pod *pod, const char *key)
{
    const struct names *names = &pod->cluster->names;
    sym name = reads_label(pod->external, key) ? names_find(names, str_of(key)) : SYM_NONE;
    sym value = name == SYM_NONE ? SYM_NONE : names_label(names, pod->shape->labels, name);
    return text_of(pod->cluster, value);
}

static int64_t pod_asks(const struct kn_pod *pod, const char *resource)
{
    struct cluster *c = pod->cluster;
    if (strcmp(resource, "pods") == 0)
        return 1;
    return request_amount(&specs_at(&c->specs, pod->shape->spec)->ask,
                          resources_find(&c->specs.resources, str_of(resource)));
}

static struct kn_text node_name(const struct kn_node *n)
{
    return text_of(n->cluster, n->cluster->nodes.name[n->node.i]);
}

static struct kn_text node_label(const struct kn_node *n, const char *key)
{
    sym name = names_find(&n->cluster->names, str_of(key));
    return text_of(n->cluster,
                   name == SYM_NONE ? SYM_NONE : cluster_label(n->cluster, n->node, name));
}

/* Allocatable, less what is used. */
static int64_t amount(const struct kn_node *n, const char *resource, bool is_left)
{
    const struct cluster *c = n->cluster;
    const struct room *room = &c->nodes.room[n->node.i];
    int64_t share = is_left ? -1 : 0;
    resource_id id = resources_find(&c->specs.resources, str_of(resource));
    if (id == RESOURCE_CPU)
        return wrap_add(room->cpu_alloc, share * room->cpu_used);
    if (id == RESOURCE_MEMORY)
        return wrap_add(room->memory_alloc, share * room->memory_used);
    if (id == RESOURCE_PODS)
        return room->pods_alloc + share * room->pods_used;
    const struct cell *cell = id == ID_NONE ? NULL : nodes_cell(&c->nodes, n->node, id);
    return cell ? wrap_add(cell->alloc, share * cell->used) : 0;
}

static int64_t node_has(const struct kn_node *n, const char *resource)
{
    return amount(n, resource, false);
}

/* Who did not say that it reads this would be told what is no longer so. */
static int64_t node_left(const struct kn_node *n, const char *resource)
{
    return n->reads_room ? amount(n, resource, true) : 0;
}

static const struct kn_host host = {
    .pod_label = pod_label,
    .pod_asks = pod_asks,
    .node_name = node_name,
    .node_label = node_label,
    .node_has = node_has,
    .node_left = node_left,
};

/* --- the plugin --- */

static void sign(struct cluster *c, const struct shape *shape, const void *args,
                 struct match_words *out)
{
    const struct kn_plugin *external = ((const struct external_args *)args)->external;
    for (const char *const *key = external->pod_labels; key && *key; key++) {
        sym name = names_find(&c->names, str_of(*key));
        vec_push(out, name == SYM_NONE ? SYM_NONE : names_label(&c->names, shape->labels, name));
    }
}

static void learn(struct learning *l, void *cls)
{
    const struct external_args *args = l->args;
    const struct kn_plugin *external = args->external;
    struct external_class *g = cls;
    struct kn_pod pod = {l->cluster, l->shape, external};
    struct kn_text json = {args->json.p, args->json.n};
    g->external = external;
    if (external->learn && !external->learn(&host, &pod, json, g->state))
        return;
    l->filters = external->filter != NULL;
    l->scores = external->score != NULL;
    for (uint32_t i = 0; external->reasons && external->reasons[i]; i++)
        g->reasons[i] = learning_reason(l, CODE_UNSCHEDULABLE, external->reasons[i]);
}

/* A number beyond its reasons is taken for the first of them. */
static reason_id row_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct external_class *g = cls;
    struct kn_node n = {c, node, g->external->reads_room};
    unsigned why = g->external->filter(&host, g->state, &n);
    return why == 0                                     ? 0
           : why <= REASONS_MOST && g->reasons[why - 1] ? g->reasons[why - 1]
                                                        : g->reasons[0];
}

static int64_t row_score(const struct cluster *c, const void *cls, node_id node)
{
    const struct external_class *g = cls;
    struct kn_node n = {c, node, g->external->reads_room};
    return g->external->score(&host, g->state, &n);
}

static const struct wake wakes[] = {
    {EVENT_NODE, ACTION_ADD | ACTION_NODE_ALLOCATABLE | ACTION_NODE_LABEL, NULL},
    {EVENT_ASSIGNED_POD, ACTION_DELETE | ACTION_UPDATE, NULL},
    {EVENT_TARGET_POD, ACTION_UPDATE | ACTION_POD_LABEL, NULL},
    {0},
};

struct plugin external_plugin(const struct kn_plugin *external)
{
    return (struct plugin){
        .name = external->name,
        .row_columns = COLUMN_LABELS | COLUMN_ALLOC | (external->reads_room ? COLUMN_USED : 0),
        .class_size = sizeof(struct external_class) + external->state_size,
        .sign = external->pod_labels ? sign : NULL,
        .learn = learn,
        .row_filter = external->filter ? row_filter : NULL,
        .row_score = external->score ? row_score : NULL,
        .wakes = wakes,
    };
}

const char *external_check(const struct kn_plugin *external, struct str name, struct arena *mem)
{
    enum { STATE_MOST = 1 << 16 };
    uint32_t n = 0;
    if (external->version != KN_PLUGIN_VERSION)
        return arena_printf(mem, "is built for version %u of the plugin interface, this is %d",
                            external->version, KN_PLUGIN_VERSION)
            .p;
    if (!external->name || !str_equal(str_of(external->name), name))
        return arena_printf(mem, "has the plugin \"%.80s\", not \"" STR_FMT "\"",
                            external->name ? external->name : "", STR_ARG(str_part(name, 0, 80)))
            .p;
    while (external->reasons && n <= REASONS_MOST && external->reasons[n])
        n++;
    if (!external->summary || n > REASONS_MOST || external->state_size > STATE_MOST)
        return "has no summary, more than 16 reasons, or more than 64 KiB to keep of a class";
    if (external->filter && n == 0)
        return "filters, and names no reason";
    return external->filter || external->score ? NULL : "neither filters nor scores";
}
