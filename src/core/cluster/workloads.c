#include "core/cluster/workloads.h"

static struct namespace_row *get(struct workloads *w, struct names *names, sym namespace)
{
    uint32_t i = map_find(&w->by_namespace, namespace);
    if (i == MAP_NONE) {
        i = w->free.n ? vec_pop(&w->free) : w->rows.n;
        if (i == w->rows.n)
            vec_push(&w->rows, (struct namespace_row){0});
        map_put(&w->by_namespace, namespace, i);
        intern_hold(&names->text, namespace);
        w->rows.at[i] = (struct namespace_row){.namespace = namespace};
    }
    return &w->rows.at[i];
}

static struct namespace_row *find(const struct workloads *w, sym namespace)
{
    uint32_t i = map_find(&w->by_namespace, namespace);
    return i == MAP_NONE ? NULL : &w->rows.at[i];
}

uint64_t workloads_generation(const struct workloads *w, sym namespace)
{
    const struct namespace_row *row = find(w, namespace);
    return row ? row->generation : w->forgotten;
}

/* Something about the namespace changed; it is forgotten once it has nothing. */
static void changed(struct workloads *w, struct names *names, struct namespace_row *row)
{
    row->generation = ++w->changes;
    if (row->is_there || row->services.n || row->owners.n)
        return;
    vec_done(&row->services);
    vec_done(&row->owners);
    map_remove(&w->by_namespace, row->namespace);
    intern_drop(&names->text, row->namespace);
    *row = (struct namespace_row){.namespace = SYM_NONE};
    vec_push(&w->free, (uint32_t)(row - w->rows.at));
    w->forgotten = w->changes;
}

void workloads_put_namespace(struct workloads *w, struct names *names, sym namespace, bool is_there)
{
    struct namespace_row *row = get(w, names, namespace);
    row->is_there = is_there;
    changed(w, names, row);
}

static struct service_row *find_service(struct namespace_row *row, sym name)
{
    vec_each(&row->services, s)
        if (s->name == name)
            return s;
    return NULL;
}

static struct owner_row *find_owner(struct namespace_row *row, enum owner_kind kind, sym name)
{
    vec_each(&row->owners, o)
        if (o->kind == kind && o->name == name)
            return o;
    return NULL;
}

/* Moves a hold from one selector to another; either may be ID_NONE. */
static void swap_selector(struct matches *m, selector_id *have, selector_id want)
{
    if (want != ID_NONE)
        intern_hold(&m->selectors.table, want);
    if (*have != ID_NONE)
        intern_drop(&m->selectors.table, *have);
    *have = want;
}

bool workloads_put_service(struct workloads *w, struct names *names, struct matches *m,
                           sym namespace, sym name, selector_id selector)
{
    struct namespace_row *row = get(w, names, namespace);
    struct service_row *s = find_service(row, name);
    if (s && s->selector == selector)
        return false;
    if (!s) {
        vec_push(&row->services, (struct service_row){name, ID_NONE});
        intern_hold(&names->text, name);
        s = &vec_last(&row->services);
    }
    swap_selector(m, &s->selector, selector);
    changed(w, names, row);
    return true;
}

bool workloads_put_owner(struct workloads *w, struct names *names, struct matches *m, sym namespace,
                         enum owner_kind kind, sym name, selector_id selector)
{
    struct namespace_row *row = get(w, names, namespace);
    struct owner_row *o = find_owner(row, kind, name);
    if (o && o->selector == selector)
        return false;
    if (!o) {
        vec_push(&row->owners, (struct owner_row){kind, name, ID_NONE});
        intern_hold(&names->text, name);
        o = &vec_last(&row->owners);
    }
    swap_selector(m, &o->selector, selector);
    changed(w, names, row);
    return true;
}

bool workloads_remove_service(struct workloads *w, struct names *names, struct matches *m,
                              sym namespace, sym name)
{
    struct namespace_row *row = find(w, namespace);
    struct service_row *s = row ? find_service(row, name) : NULL;
    if (!s)
        return false;
    swap_selector(m, &s->selector, ID_NONE);
    intern_drop(&names->text, name);
    vec_remove(&row->services, (uint32_t)(s - row->services.at));
    changed(w, names, row);
    return true;
}

bool workloads_remove_owner(struct workloads *w, struct names *names, struct matches *m,
                            sym namespace, enum owner_kind kind, sym name)
{
    struct namespace_row *row = find(w, namespace);
    struct owner_row *o = row ? find_owner(row, kind, name) : NULL;
    if (!o)
        return false;
    swap_selector(m, &o->selector, ID_NONE);
    intern_drop(&names->text, name);
    vec_remove(&row->owners, (uint32_t)(o - row->owners.at));
    changed(w, names, row);
    return true;
}

static void add_selector(struct match_vec *out, const struct matches *m, selector_id id)
{
    struct selector s = matches_selector_at(m, id);
    for (uint32_t i = 0; i < s.n; i++)
        vec_push(out, s.all[i]);
}

selector_id workloads_selector(const struct workloads *w, struct names *names, struct matches *m,
                               const struct shape *shape)
{
    const struct namespace_row *row = find(w, shape->namespace);
    if (!row)
        return ID_NONE;
    struct match_vec all = {0};
    vec_each(&row->services, s)
        if (selector_matches(matches_selector_at(m, s->selector), names, shape->labels))
            add_selector(&all, m, s->selector);
    if (shape->owner != SYM_NONE)
        vec_each(&row->owners, o)
            if (o->kind == shape->owner_kind && o->name == shape->owner && o->selector != ID_NONE)
                add_selector(&all, m, o->selector);
    selector_id id = all.n ? matches_selector(m, names, all.at, all.n) : ID_NONE;
    vec_done(&all);
    return id;
}

void workloads_done(struct workloads *w)
{
    vec_each(&w->rows, row) {
        vec_done(&row->services);
        vec_done(&row->owners);
    }
    vec_done(&w->rows);
    vec_done(&w->free);
    map_done(&w->by_namespace);
}
