#include "fakes.h"

/* --- FakeLabel --- */

struct label_state {
    reason_id bad;
    sym key;
};

static void label_learn(struct learning *l, void *cls)
{
    struct label_state *s = cls;
    s->bad = learning_reason(l, CODE_UNRESOLVABLE, "is bad");
    s->key = names_get(&l->cluster->names, STR("bad"));
    intern_hold(&l->cluster->names.text, s->key);
    l->filters = true;
}

static reason_id label_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct label_state *s = cls;
    return cluster_label(c, node, s->key) == SYM_NONE ? 0 : s->bad;
}

const struct plugin fake_label = {
    .name = "FakeLabel",
    .row_columns = COLUMN_LABELS,
    .class_size = sizeof(struct label_state),
    .learn = label_learn,
    .row_filter = label_filter,
};

/* --- FakeRoom --- */

struct room_state {
    reason_id full;
    int64_t cpu_milli;
};

static void room_learn(struct learning *l, void *cls)
{
    struct room_state *s = cls;
    s->full = learning_reason(l, CODE_UNSCHEDULABLE, "no room");
    s->cpu_milli = l->spec->ask.cpu_milli;
    l->filters = l->scores = true;
}

static int64_t free_milli(const struct cluster *c, node_id node)
{
    return c->nodes.room[node.i].cpu_alloc - c->nodes.room[node.i].cpu_used;
}

static reason_id room_filter(const struct cluster *c, const void *cls, node_id node)
{
    const struct room_state *s = cls;
    return free_milli(c, node) < s->cpu_milli ? s->full : 0;
}

static int64_t room_score(const struct cluster *c, const void *cls, node_id node)
{
    (void)cls;
    return MIN(free_milli(c, node) / 1000, (int64_t)100);
}

const struct plugin fake_room = {
    .name = "FakeRoom",
    .row_columns = COLUMN_ALLOC | COLUMN_USED,
    .class_size = sizeof(struct room_state),
    .learn = room_learn,
    .row_filter = room_filter,
    .row_score = room_score,
};

/* --- FakeZone --- */

struct zone_state {
    reason_id closed;
    sym key, closed_zone;
};

static void zone_learn(struct learning *l, void *cls)
{
    struct zone_state *s = cls;
    s->closed = learning_reason(l, CODE_UNSCHEDULABLE, "zone is closed");
    s->key = names_get(&l->cluster->names, STR("z"));
    s->closed_zone = names_get(&l->cluster->names, STR("closed"));
    intern_hold(&l->cluster->names.text, s->key);
    intern_hold(&l->cluster->names.text, s->closed_zone);
    l->filters = l->scores = true;
    l->n_keys = 1;
}

static void zone_key(const struct cluster *c, const void *cls, node_id node, uint32_t *out)
{
    const struct zone_state *s = cls;
    *out = cluster_label(c, node, s->key);
}

static reason_id zone_filter(const struct cluster *c, const void *cls, const uint32_t *key)
{
    const struct zone_state *s = cls;
    (void)c;
    return *key == s->closed_zone ? s->closed : 0;
}

static void zone_score(const struct cluster *c, const void *cls, const struct feasible *f,
                       int64_t *raw, int64_t *normal)
{
    (void)cls;
    for (uint32_t i = 0; i < f->n; i++)
        if (!str_int(names_text(&c->names, *feasible_key(f, i)), &raw[i]))
            raw[i] = 0;
    normalise(raw, normal, f->n, false);
}

const struct plugin fake_zone = {
    .name = "FakeZone",
    .key_columns = COLUMN_LABELS,
    .class_size = sizeof(struct zone_state),
    .learn = zone_learn,
    .key = zone_key,
    .key_filter = zone_filter,
    .key_score = zone_score,
};

static const struct profile_plugin plugins_of_fake[] = {
    {.plugin = &fake_label, .number = 0},
    {.plugin = &fake_room, .number = 1, .weight = 2},
    {.plugin = &fake_zone, .number = 2, .weight = 3},
};

const struct profile fake_profile = {STR("default-scheduler"), plugins_of_fake,
                                     LEN(plugins_of_fake)};
