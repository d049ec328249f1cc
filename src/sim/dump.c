#include "sim/dump.h"

/* Older and newer spellings of where a node stands. */
static const struct {
    struct str key;
    const char *word;
} places[] = {
    {{LABEL_RACK, sizeof(LABEL_RACK) - 1}, "rack"},
    {{"topology.kubernetes.io/rack", 27},  "rack"},
    {{"fabric.kubenexus.io/rack", 24},     "rack"},
    {{LABEL_ZONE, sizeof(LABEL_ZONE) - 1}, "zone"},
};

static const struct str *find_value(pair_list labels, struct str key)
{
    list_each(&labels, label) {
        if (str_equal(label->key, key))
            return &label->value;
    }
    return NULL;
}

/* The first key that some node has; LEN(places) if none has any. */
static size_t choose_place(const struct object *objects, uint32_t n)
{
    for (size_t place = 0; place < LEN(places); place++) {
        for (uint32_t i = 0; i < n; i++) {
            if (objects[i].kind == KIND_NODE &&
                find_value(objects[i].meta->labels, places[place].key))
                return place;
        }
    }
    return LEN(places);
}

static void add_node(struct plan *p, const struct node *node, size_t place)
{
    const struct str *group =
        place < LEN(places) ? find_value(node->meta.labels, places[place].key) : NULL;
    struct str none = place < LEN(places) ? STR("elsewhere") : STR("all nodes");
    plan_add_node(p, node, group ? *group : none);
}

static bool add_pod(struct plan *p, const struct pod *pod, struct error *e)
{
    bool is_over = str_equal(pod->status.phase, STR("Succeeded")) ||
                   str_equal(pod->status.phase, STR("Failed"));
    bool is_leaving = pod->spec.node_name.n == 0 && pod->meta.deleted_ms != TIME_NONE;
    if (is_over || is_leaving)
        return true;
    struct plan_job job = {
        .runs_ms = INT64_MAX,
        .name = pod->meta.name,
        .pods = 1,
        .template = plan_add_template(p, pod),
        .class = plan_class(p, pod->meta.namespace),
    };
    return plan_add_job(p, job, e);
}

bool dump_add(struct plan *p, const struct object *objects, uint32_t n, struct error *e)
{
    size_t place = choose_place(objects, n);
    p->group_word = place < LEN(places) ? places[place].word : "group";
    for (uint32_t i = 0; i < n; i++) {
        if (objects[i].kind == KIND_NODE)
            add_node(p, objects[i].node, place);
        else if (objects[i].kind != KIND_POD)
            vec_push(&p->objects, objects[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (objects[i].kind == KIND_POD && !add_pod(p, objects[i].pod, e))
            return false;
    }
    return true;
}
