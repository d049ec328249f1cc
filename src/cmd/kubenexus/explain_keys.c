#include "cmd/kubenexus/explain_keys.h"

#include "core/model/our_keys.h"

/* A key, and the objects of one kind that have it. */
struct orphan_mirror {
    struct str key, object; /* the first of them by name */
    uint32_t n, on;
};

struct orphan_mirrors {
    VEC(struct orphan_mirror) at;
};

static void add(struct orphan_mirrors *all, struct str key, struct str object, uint32_t on)
{
    vec_each(&all->at, s) {
        if (s->on != on || !str_equal(s->key, key))
            continue;
        s->object = str_compare(object, s->object) < 0 ? object : s->object;
        s->n++;
        return;
    }
    vec_push(&all->at, ((struct orphan_mirror){key, object, 1, on}));
}

static void look(struct orphan_mirrors *all, const struct meta *meta, uint32_t on)
{
    struct misreads odd = {0};
    our_keys_check(&meta->labels, on, &odd);
    our_keys_check(&meta->annotations, on, &odd);
    vec_each(&odd, m)
        add(all, m->key, meta->name, on);
    vec_done(&odd);
}

static struct str say(const struct orphan_mirror *s, struct arena *mem)
{
    AUTO(buf) text = {0};
    buf_printf(&text, "%s " STR_FMT, s->on == ON_NODE ? "node" : "namespace", STR_ARG(s->object));
    if (s->n > 1)
        buf_printf(&text, " and %u more", s->n - 1);
    buf_add(&text, STR(": "));
    misread_say(s->key, (struct str){0}, s->on, &text);
    return arena_str(mem, buf_str(&text));
}

void explain_keys(const struct objects *set, const struct pod *pod, struct explanation *x)
{
    struct orphan_mirrors all = {0};
    vec_each(&set->all, o)
        if (o->kind == KIND_NAMESPACE && str_equal(o->meta->name, pod->meta.namespace))
            look(&all, o->meta, ON_NAMESPACE);
        else if (o->kind == KIND_NODE)
            look(&all, o->meta, ON_NODE);
    struct str *misread = arena_array(&x->mem, struct str, x->n_misread + all.at.n);
    for (uint32_t i = 0; i < x->n_misread; i++)
        misread[i] = x->misread[i];
    vec_each(&all.at, s)
        misread[x->n_misread++] = say(s, &x->mem);
    x->misread = misread;
    vec_done(&all.at);
}
