#include "core/cluster/idlers.h"

/* Rows are found by namespace, name and kind. */
static int compare(const struct names *names, const struct idler *x, enum kind kind,
                   const struct meta *meta)
{
    int order = str_compare(names_text(names, x->namespace), meta->namespace);
    order = order ? order : str_compare(names_text(names, x->name), meta->name);
    return order ? order : (x->kind > kind) - (x->kind < kind);
}

static void hold(struct names *names, const struct idler *x)
{
    intern_hold(&names->text, x->namespace);
    intern_hold(&names->text, x->name);
    intern_hold(&names->text, x->group);
}

static void drop(struct names *names, const struct idler *x)
{
    intern_drop(&names->text, x->namespace);
    intern_drop(&names->text, x->name);
    intern_drop(&names->text, x->group);
}

bool idlers_put(struct idlers *x, struct names *names, enum kind kind, const struct meta *meta,
                struct str group, enum kind object)
{
    uint32_t at = 0;
    while (at < x->at.n && compare(names, &x->at.at[at], kind, meta) < 0)
        at++;
    bool was = at < x->at.n && compare(names, &x->at.at[at], kind, meta) == 0;
    bool is = group.n > 0, differs = was != is;
    if (is) {
        struct idler now = {names_get(names, meta->namespace), names_get(names, meta->name), kind,
                            names_get(names, group), object};
        hold(names, &now);
        differs |= was && (x->at.at[at].group != now.group || x->at.at[at].object != object);
        vec_insert(&x->at, at, now);
    }
    if (was) {
        drop(names, &x->at.at[at + is]);
        vec_remove(&x->at, at + is);
    }
    return differs;
}

const struct idler *idlers_of(const struct idlers *x, sym namespace, sym group, enum kind object)
{
    vec_each(&x->at, idler)
        if (idler->namespace == namespace && idler->group == group && idler->object == object)
            return idler;
    return NULL;
}

void idlers_done(struct idlers *x)
{
    vec_done(&x->at);
}
