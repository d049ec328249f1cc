#include "core/cluster/pods.h"

#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/base/spare.h"

struct str pod_name(const struct pod_row *row)
{
    return str_of(row->text);
}

struct str pod_uid(const struct pod_row *row)
{
    return str_of(row->text + strlen(row->text) + 1);
}

/* --- by name --- */

static uint32_t hash_name(const struct pods *p, sym namespace, struct str name)
{
    return (uint32_t)hash_pair(namespace, hash_secretly(name.p, name.n, p->secret));
}

static uint32_t *probe(const struct pods *p, sym namespace, struct str name)
{
    uint32_t i = hash_name(p, namespace, name) & (p->slot_cap - 1);
    for (; p->slots[i]; i = (i + 1) & (p->slot_cap - 1)) {
        const struct pod_row *row = &p->rows.at[p->slots[i] - 1];
        if (p->shapes.at[row->shape].namespace == namespace && str_equal(pod_name(row), name))
            break;
    }
    return &p->slots[i];
}

static uint32_t home(const struct pods *p, uint32_t pod)
{
    const struct pod_row *row = &p->rows.at[pod];
    return hash_name(p, p->shapes.at[row->shape].namespace, pod_name(row)) & (p->slot_cap - 1);
}

static void make_slots(struct pods *p, uint32_t cap)
{
    mem_free(p->slots);
    p->secret = hash_secret();
    p->slot_cap = cap;
    p->slots = mem_alloc(p->slot_cap * sizeof(*p->slots));
    for (uint32_t pod = 0; pod < p->rows.n; pod++) {
        if (!p->rows.at[pod].text)
            continue;
        uint32_t i = home(p, pod);
        while (p->slots[i])
            i = (i + 1) & (p->slot_cap - 1);
        p->slots[i] = pod + 1;
    }
}

/* Empties a slot, and shifts back what it kept from its home. */
static void empty_slot(struct pods *p, uint32_t hole)
{
    uint32_t mask = p->slot_cap - 1;
    for (uint32_t i = (hole + 1) & mask; p->slots[i]; i = (i + 1) & mask) {
        uint32_t wanted = home(p, p->slots[i] - 1);
        if (((i - wanted) & mask) < ((i - hole) & mask))
            continue;
        p->slots[hole] = p->slots[i];
        hole = i;
    }
    p->slots[hole] = 0;
}

pod_id pods_find(const struct pods *p, sym namespace, struct str name)
{
    if (p->n == 0 || namespace == SYM_NONE)
        return (pod_id){ID_NONE};
    uint32_t slot = *probe(p, namespace, name);
    return (pod_id){slot ? slot - 1 : ID_NONE};
}

/* --- rows --- */

pod_id pods_add(struct pods *p, shape_id shape, struct str name, struct str uid)
{
    uint32_t i = p->free.n ? vec_pop(&p->free) : p->rows.n;
    if (i == p->rows.n)
        vec_push(&p->rows, (struct pod_row){0});
    char *text = mem_alloc(name.n + uid.n + 2);
    memcpy(text, name.p, name.n);
    if (uid.n)
        memcpy(text + name.n + 1, uid.p, uid.n);
    p->rows.at[i] = (struct pod_row){
        .text = text,
        .shape = shape,
        .node = ID_NONE,
        .before = ID_NONE,
        .after = ID_NONE,
        .pin = SYM_NONE,
        .nominated = SYM_NONE,
    };
    intern_hold(&p->shape_table, shape);
    if ((p->n + 1) * (uint64_t)4 > p->slot_cap * (uint64_t)3) {
        p->n++;
        make_slots(p, p->slot_cap ? p->slot_cap * 2 : 64);
        return (pod_id){i};
    }
    uint32_t *slot = probe(p, p->shapes.at[shape].namespace, name);
    assert(*slot == 0);
    *slot = i + 1;
    p->n++;
    return (pod_id){i};
}

void pods_remove(struct pods *p, pod_id pod)
{
    struct pod_row *row = &p->rows.at[pod.i];
    assert(row->text && row->node == ID_NONE);
    uint32_t *slot = probe(p, p->shapes.at[row->shape].namespace, pod_name(row));
    assert(*slot == pod.i + 1);
    empty_slot(p, (uint32_t)(slot - p->slots));
    intern_drop(&p->shape_table, row->shape);
    mem_free(row->text);
    *row = (struct pod_row){.node = ID_NONE};
    vec_push(&p->free, pod.i);
    p->gone++;
    p->n--;
}

uint32_t pods_trim(struct pods *p)
{
    while (p->rows.n && !p->rows.at[p->rows.n - 1].text)
        p->rows.n--;
    vec_trim(&p->rows);
    spare_trim(&p->free, p->rows.n);
    uint32_t cap = 64;
    while ((p->n + 1) * (uint64_t)4 > cap * (uint64_t)3)
        cap *= 2;
    make_slots(p, cap);
    p->gone = 0;
    return p->rows.n;
}

void pods_reshape(struct pods *p, pod_id pod, shape_id shape)
{
    struct pod_row *row = &p->rows.at[pod.i];
    assert(p->shapes.at[row->shape].namespace == p->shapes.at[shape].namespace);
    intern_hold(&p->shape_table, shape);
    intern_drop(&p->shape_table, row->shape);
    row->shape = shape;
}

/* --- shapes --- */

shape_id pods_shape_get(struct pods *p, struct names *names, struct specs *specs,
                        struct shape parts, bool *is_new)
{
    _Static_assert(offsetof(struct shape, born) >= SHAPE_KEY_BYTES, "the parts come first");
    shape_id id =
        intern_get(&p->shape_table, (struct str){(const char *)&parts, SHAPE_KEY_BYTES}, is_new);
    if (!*is_new)
        return id;
    if (id >= p->shapes.n)
        vec_resize(&p->shapes, id + 1);
    struct shape *shape = &p->shapes.at[id];
    *shape = (struct shape){
        .spec = parts.spec,
        .labels = parts.labels,
        .namespace = parts.namespace,
        .owner_kind = parts.owner_kind,
        .owner = parts.owner,
        .app = SYM_NONE,
        .born = ++p->shapes_born,
    };
    intern_hold(&specs->table.table, parts.spec);
    intern_hold(&names->label_sets.table, parts.labels);
    intern_hold(&names->text, parts.namespace);
    if (parts.owner != SYM_NONE)
        intern_hold(&names->text, parts.owner);
    return id;
}

struct sweeping {
    struct pods *pods;
    struct names *names;
    struct specs *specs;
    struct terms *terms;
};

static void shape_gone(void *ctx, uint32_t id)
{
    struct sweeping *x = ctx;
    struct shape *shape = &x->pods->shapes.at[id];
    intern_drop(&x->specs->table.table, shape->spec);
    intern_drop(&x->names->label_sets.table, shape->labels);
    intern_drop(&x->names->text, shape->namespace);
    if (shape->owner != SYM_NONE)
        intern_drop(&x->names->text, shape->owner);
    vec_done(&shape->tallies);
    terms_leave(x->terms, shape);
    shape->born = 0;
}

void pods_tidy(struct pods *p, struct names *names, struct specs *specs, struct terms *terms,
               enum tidy how)
{
    struct sweeping x = {p, names, specs, terms};
    intern_tidy(&p->shape_table, how, shape_gone, &x);
    if (how == TIDY_ALL)
        intern_fit(&p->shape_table, &p->shapes);
}

void pods_done(struct pods *p)
{
    vec_each(&p->rows, row)
        mem_free(row->text);
    vec_done(&p->rows);
    vec_done(&p->free);
    mem_free(p->slots);
    vec_each(&p->shapes, shape) {
        vec_done(&shape->tallies);
        vec_done(&shape->terms);
        vec_done(&shape->meant_by);
    }
    vec_done(&p->shapes);
    intern_done(&p->shape_table);
}
