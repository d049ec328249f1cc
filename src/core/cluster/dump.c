/* The cluster as text. Numbers of interned things never show: two clusters that mean the same print
 * the same, whatever their history. */

#include <stdlib.h>

#include "core/base/buf.h"
#include "core/cluster/cluster.h"

static void dump_pairs(const struct cluster *c, label_set_id set, struct buf *out)
{
    uint32_t n;
    const struct pair_sym *pairs = lists_at(&c->names.label_sets, set, sizeof(*pairs), &n);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, " " STR_FMT "=" STR_FMT, STR_ARG(names_text(&c->names, pairs[i].key)),
                   STR_ARG(names_text(&c->names, pairs[i].value)));
}

static void dump_room(const struct cluster *c, const struct room *room, struct buf *out)
{
    buf_printf(out, "  cpu %ld/%ld memory %ld/%ld nonzero %ld %ld pods %d/%d\n", room->cpu_used,
               room->cpu_alloc, room->memory_used, room->memory_alloc, room->cpu_nonzero,
               room->memory_nonzero, room->pods_used, room->pods_alloc);
    for (uint32_t i = 0; room->cells && i < room->cells->n; i++)
        buf_printf(out, "  " STR_FMT " %ld/%ld\n",
                   STR_ARG(names_text(&c->names,
                                      c->specs.resources.names.at[room->cells->at[i].resource])),
                   room->cells->at[i].used, room->cells->at[i].alloc);
}

static void dump_gpus(const struct cluster *c, const struct node_gpus *g, struct buf *out)
{
    if (!g)
        return;
    buf_printf(out, "  %u GPUs " STR_FMT ", taken", g->n, STR_ARG(names_text(&c->names, g->model)));
    for (uint32_t i = 0; i < GPUS_MOST; i++)
        if (i < g->n || g->used[i])
            buf_printf(out, " %u:%d", i, g->used[i]);
    if (g->claimed)
        buf_printf(out, ", claimed %x", g->claimed);
    buf_add_char(out, '\n');
}

static void dump_node(const struct cluster *c, uint32_t i, struct buf *out)
{
    const struct nodes *n = &c->nodes;
    buf_printf(out, "node %u " STR_FMT " rank %lx flags %x host " STR_FMT " taints %u\n  labels", i,
               STR_ARG(names_text(&c->names, n->name[i])), n->tie_order[i], n->flags[i],
               STR_ARG(names_text(&c->names, n->hostname[i])), n->taints[i]);
    dump_pairs(c, n->labels[i], out);
    buf_add_char(out, '\n');
    dump_room(c, &n->room[i], out);
    dump_gpus(c, n->gpus[i], out);
    const struct clique *clique =
        cliques_find(&c->cliques, cliques_value(&c->cliques, (node_id){i}));
    if (clique)
        buf_printf(out, "  clique " STR_FMT " of %u nodes, %u of %u GPUs idle\n",
                   STR_ARG(names_text(&c->names, clique->value)), clique->nodes, clique->idle,
                   clique->gpus);
    for (uint32_t k = 0; k < n->images[i].n; k++)
        buf_printf(out, "  image " STR_FMT " %ld on %u\n",
                   STR_ARG(names_text(&c->names, n->images[i].at[k])),
                   images_state(&n->known_images, n->images[i].at[k]).size_bytes,
                   images_state(&n->known_images, n->images[i].at[k]).nodes);
    for (uint32_t k = 0; n->ports[i] && k < n->ports[i]->n; k++)
        buf_printf(out, "  port " STR_FMT ":%u/%u × %u\n",
                   STR_ARG(names_text(&c->names, n->ports[i]->at[k].port.ip)),
                   n->ports[i]->at[k].port.port, n->ports[i]->at[k].port.protocol,
                   n->ports[i]->at[k].uses);
    for (uint32_t p = n->first_pod[i]; p != ID_NONE; p = c->pods.rows.at[p].after) {
        buf_printf(out, "  pod %u %s gpus %x", p, c->pods.rows.at[p].text, c->pods.rows.at[p].gpus);
        if (c->pods.rows.at[p].zone)
            buf_printf(out, " zone %u", c->pods.rows.at[p].zone);
        buf_add_char(out, '\n');
    }
}

static int by_value(const void *a, const void *b)
{
    const struct domain *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static void dump_tally(const struct cluster *c, uint32_t i, struct buf *out)
{
    buf_add(out, STR("tally:"));
    for (uint32_t node = 0; i != ID_NONE && node < c->nodes.n; node++)
        if (counts_on_node(&c->counts, i, (node_id){node}))
            buf_printf(out, " %u×%ld", node, counts_on_node(&c->counts, i, (node_id){node}));
    buf_add_char(out, '\n');
}

static void dump_spread(const struct cluster *c, uint32_t i, struct buf *out)
{
    const struct spread *s = &c->counts.spreads.at[i];
    buf_printf(out, "spread by " STR_FMT " of ", STR_ARG(names_text(&c->names, s->key)));
    dump_tally(c, s->tally, out);
    struct domain *sorted = mem_copy(s->domains.at, s->domains.n * sizeof(*sorted));
    if (s->domains.n > 1)
        qsort(sorted, s->domains.n, sizeof(*sorted), by_value);
    for (uint32_t k = 0; k < s->domains.n; k++)
        buf_printf(out, "  " STR_FMT ": %ld pods, %u nodes\n",
                   STR_ARG(names_text(&c->names, sorted[k].value)), sorted[k].pods,
                   sorted[k].nodes);
    mem_free(sorted);
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct lines {
    VEC(struct str) at;
    struct arena mem;
};

static void add_line(struct lines *l, const struct buf *text)
{
    if (text->n)
        vec_push(&l->at, arena_str(&l->mem, buf_str(text)));
}

static void end_lines(struct lines *l, struct buf *out)
{
    if (l->at.n > 1)
        qsort(l->at.at, l->at.n, sizeof(*l->at.at), by_text);
    vec_each(&l->at, text)
        buf_add(out, *text);
    vec_done(&l->at);
    arena_done(&l->mem);
}

/* What is counted, in the order of its texts: which numbers tallies and spreads have depends on
 * when classes came and went. */
static void dump_counts(const struct cluster *c, struct buf *out)
{
    struct lines lines = {0};
    AUTO(buf) text = {0};
    for (uint32_t i = 0; i < c->counts.tallies.n + c->counts.spreads.n; i++) {
        bool is_tally = i < c->counts.tallies.n;
        uint32_t at = is_tally ? i : i - c->counts.tallies.n;
        buf_clear(&text);
        if (is_tally && c->counts.tallies.at[at].number)
            dump_tally(c, at, &text);
        else if (!is_tally && c->counts.spreads.at[at].uses)
            dump_spread(c, at, &text);
        add_line(&lines, &text);
    }
    end_lines(&lines, out);
}

static struct str text_of(const struct cluster *c, sym s)
{
    return names_text(&c->names, s);
}

static void dump_volume(const struct cluster *c, const struct thing *thing,
                        const struct volume_facts *f, struct buf *out)
{
    buf_printf(out, "volume " STR_FMT " for " STR_FMT "/" STR_FMT "\n",
               STR_ARG(text_of(c, thing->name)), STR_ARG(text_of(c, f->claim_namespace)),
               STR_ARG(text_of(c, f->claim_name)));
}

static void dump_claim(const struct cluster *c, const struct thing *thing,
                       const struct claim_facts *f, struct buf *out)
{
    buf_printf(out, "claim " STR_FMT "/" STR_FMT " for " STR_FMT "\n",
               STR_ARG(text_of(c, thing->namespace)), STR_ARG(text_of(c, thing->name)),
               STR_ARG(text_of(c, f->selected_node)));
}

/* Volumes and claims that are taken for more than they are yet. */
static void dump_assumed(const struct cluster *c, struct buf *out)
{
    struct lines lines = {0};
    AUTO(buf) text = {0};
    for (int kind = THING_VOLUME; kind <= THING_CLAIM; kind++) {
        const struct things *t = &c->volumes.of[kind];
        for (uint32_t i = 0; i < t->at.n; i++) {
            if (t->at.at[i].facts == ID_NONE || t->at.at[i].assumed == ID_NONE)
                continue;
            buf_clear(&text);
            if (kind == THING_VOLUME)
                dump_volume(c, &t->at.at[i], things_facts(t, i), &text);
            else
                dump_claim(c, &t->at.at[i], things_facts(t, i), &text);
            add_line(&lines, &text);
        }
    }
    end_lines(&lines, out);
}

void cluster_dump(const struct cluster *c, struct buf *out)
{
    buf_printf(out, "%u nodes, %u pods, %u shared hostnames\n", c->nodes.present, c->pods.n,
               c->nodes.shared_hostnames);
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (c->nodes.flags[i])
            dump_node(c, i, out);
    vec_each(&c->nodes.free, i)
        buf_printf(out, "free %u\n", *i);
    vec_each(&c->nominations, n)
        buf_printf(out, "nominated %u to " STR_FMT "\n", n->pod.i,
                   STR_ARG(names_text(&c->names, n->node)));
    dump_counts(c, out);
    dump_assumed(c, out);
}
