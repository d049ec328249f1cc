#include "core/cluster/quotas.h"

static uint64_t key_of(sym namespace, sym name)
{
    return (uint64_t) namespace << 32 | name;
}

static sym held(struct names *names, struct str text)
{
    sym s = names_get(names, text);
    intern_hold(&names->text, s);
    return s;
}

/* --- parts --- */

static void clear_parts(struct quota *quota, struct names *names)
{
    vec_each(&quota->parts, part)
        intern_drop(&names->text, part->resource);
    vec_clear(&quota->parts);
    map_clear(&quota->places);
}

static int64_t amount_of(struct str resource, struct quantity q)
{
    return str_equal(resource, STR("cpu")) ? quantity_milli(q) : quantity_value(q);
}

/* Of two spellings of a resource the one that leaves less counts. */
static void add_part(struct quota *quota, struct names *names, struct str resource, int64_t left)
{
    sym s = names_get(names, resource);
    uint32_t at = map_find(&quota->places, s);
    if (at != MAP_NONE) {
        quota->parts.at[at].left = MIN(quota->parts.at[at].left, left);
        return;
    }
    intern_hold(&names->text, s);
    map_put(&quota->places, s, quota->parts.n);
    vec_push(&quota->parts, ((struct quota_part){s, left}));
}

/* What is used of it by the spelling, which `spelled` has. */
static struct quantity used_of(const struct resource_quota *from, const struct map *spelled,
                               sym spelling)
{
    uint32_t at = map_find(spelled, spelling);
    return at == MAP_NONE ? (struct quantity){0} : from->used.at[at].quantity;
}

static void read_line(struct quota *quota, struct names *names, struct str spelling,
                      struct quantity hard, struct quantity used)
{
    struct str resource = quota_resource(spelling);
    vec_push(&quota->lines.all, ((struct quota_line){held(names, spelling), hard, used}));
    if (resource.n)
        add_part(quota, names, resource,
                 wrap_sub(amount_of(resource, hard), amount_of(resource, used)));
}

/* The lines that were there are the caller's. */
static void read_lines(struct quota *quota, struct names *names, const struct resource_quota *from)
{
    struct map spelled = {0}; /* name of an amount → its place among those used */
    if (!quota_counts_all(from))
        return;
    for (uint32_t i = 0; i < from->used.n; i++)
        map_put(&spelled, names_get(names, from->used.at[i].name), i);
    list_each(&from->hard, amount) {
        struct quantity used = used_of(from, &spelled, names_get(names, amount->name));
        read_line(quota, names, amount->name, amount->quantity, used);
    }
    map_done(&spelled);
}

static void drop_lines(struct quota_lines *lines, struct names *names)
{
    vec_each(&lines->all, line)
        intern_drop(&names->text, line->key);
    vec_done(&lines->all);
}

static bool is_same(const struct quota_lines *a, const struct quota_lines *b)
{
    if (a->all.n != b->all.n)
        return false;
    for (uint32_t i = 0; i < a->all.n; i++) {
        const struct quota_line *x = &a->all.at[i], *y = &b->all.at[i];
        if (x->key != y->key || quantity_compare(x->hard, y->hard) != 0 ||
            quantity_compare(x->used, y->used) != 0)
            return false;
    }
    return true;
}

/* --- quotas --- */

static struct quota *add(struct quotas *q, struct names *names, const struct meta *meta)
{
    uint32_t at = q->free.n ? vec_pop(&q->free) : q->at.n;
    if (at == q->at.n)
        vec_push(&q->at, (struct quota){0});
    struct quota *quota = &q->at.at[at];
    quota->namespace = held(names, meta->namespace);
    quota->name = held(names, meta->name);
    quota->before = MAP_NONE;
    quota->after = map_find(&q->of_namespace, quota->namespace);
    if (quota->after != MAP_NONE)
        q->at.at[quota->after].before = at;
    map_put(&q->of_namespace, quota->namespace, at);
    map_put(&q->by_name, key_of(quota->namespace, quota->name), at);
    return quota;
}

bool quotas_put(struct quotas *q, struct names *names, const struct resource_quota *from)
{
    sym namespace = names_get(names, from->meta.namespace),
        name = names_get(names, from->meta.name);
    uint32_t at = map_find(&q->by_name, key_of(namespace, name));
    struct quota *quota = at == MAP_NONE ? add(q, names, &from->meta) : &q->at.at[at];
    struct quota_lines was = quota->lines;
    quota->lines = (struct quota_lines){0};
    clear_parts(quota, names);
    read_lines(quota, names, from);
    bool differs = !is_same(&was, &quota->lines);
    drop_lines(&was, names);
    return differs;
}

static void unlink_quota(struct quotas *q, const struct quota *quota)
{
    if (quota->after != MAP_NONE)
        q->at.at[quota->after].before = quota->before;
    if (quota->before != MAP_NONE)
        q->at.at[quota->before].after = quota->after;
    else if (quota->after != MAP_NONE)
        map_put(&q->of_namespace, quota->namespace, quota->after);
    else
        map_remove(&q->of_namespace, quota->namespace);
}

void quotas_remove(struct quotas *q, struct names *names, const struct meta *meta)
{
    sym namespace = names_find(names, meta->namespace), name = names_find(names, meta->name);
    bool may_be = namespace != SYM_NONE && name != SYM_NONE;
    uint32_t at = may_be ? map_remove(&q->by_name, key_of(namespace, name)) : MAP_NONE;
    if (at == MAP_NONE)
        return;
    struct quota *quota = &q->at.at[at];
    unlink_quota(q, quota);
    clear_parts(quota, names);
    drop_lines(&quota->lines, names);
    vec_done(&quota->parts);
    map_done(&quota->places);
    intern_drop(&names->text, quota->namespace);
    intern_drop(&names->text, quota->name);
    quota->namespace = SYM_NONE;
    vec_push(&q->free, at);
}

int64_t quotas_left(const struct quotas *q, sym namespace, sym resource)
{
    int64_t left = INT64_MAX;
    uint32_t at = q->of_namespace.n ? map_find(&q->of_namespace, namespace) : MAP_NONE;
    for (; at != MAP_NONE; at = q->at.at[at].after) {
        const struct quota *quota = &q->at.at[at];
        uint32_t place = map_find(&quota->places, resource);
        if (place != MAP_NONE)
            left = MIN(left, quota->parts.at[place].left);
    }
    return left;
}

const struct quota *quotas_first(const struct quotas *q, sym namespace)
{
    uint32_t at = q->of_namespace.n ? map_find(&q->of_namespace, namespace) : MAP_NONE;
    return at == MAP_NONE ? NULL : &q->at.at[at];
}

const struct quota *quotas_next(const struct quotas *q, const struct quota *quota)
{
    return quota->after == MAP_NONE ? NULL : &q->at.at[quota->after];
}

void quotas_done(struct quotas *q)
{
    vec_each(&q->at, quota) {
        vec_done(&quota->lines.all);
        vec_done(&quota->parts);
        map_done(&quota->places);
    }
    vec_done(&q->at);
    vec_done(&q->free);
    map_done(&q->by_name);
    map_done(&q->of_namespace);
}
