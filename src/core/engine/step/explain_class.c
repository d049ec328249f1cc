/* Who and what the pod is, where it wants to be, and what the nodes are made of, in words. */

#include "core/engine/explain.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/engine/step/step.h"
#include "core/model/our_keys.h"

static struct str said(struct explanation *out, struct buf *text)
{
    struct str s = arena_str(&out->mem, buf_str(text));
    buf_clear(text);
    return s;
}

static void add_part(struct buf *text, const char *fmt, ...) PRINTF(2, 3);
static void add_part(struct buf *text, const char *fmt, ...)
{
    char part[120];
    va_list args;
    va_start(args, fmt);
    vsnprintf(part, sizeof(part), fmt, args);
    va_end(args);
    buf_printf(text, "%s%s", text->n ? ", " : "", part);
}

static long mebibytes(int64_t bytes)
{
    return (long)(bytes >> 20);
}

/* "2 accelerators, 71680Mi of each GPU, NUMA policy single-numa-node": all that it asks for. */
static void where_text(const struct spec *spec, struct buf *text)
{
    const struct wishes *w = &spec->wishes;
    if (spec->accelerators)
        add_part(text, "%ld accelerator%s", (long)spec->accelerators,
                 spec->accelerators == 1 ? "" : "s");
    if (w->vram_each_bytes)
        add_part(text, "%ldMi of each GPU", mebibytes(w->vram_each_bytes));
    if (w->vram_total_bytes)
        add_part(text, "%ldMi of its GPUs together", mebibytes(w->vram_total_bytes));
    if (w->numa_policy)
        add_part(text, "NUMA policy " STR_FMT, STR_ARG(numa_policy_name(w->numa_policy)));
    if (w->min_fabric)
        add_part(text, "fabric " STR_FMT " or better", STR_ARG(fabric_name(w->min_fabric)));
    if (w->network_sensitive == WISH_YES)
        add_part(text, "a fast network");
    if (w->spread_zones == WISH_YES)
        add_part(text, "zones apart");
    if (!text->n)
        buf_printf(text, "anywhere");
}

/* Values are read for profiles that classify pods; keys of ours by nobody. */
static void explain_misread(const struct engine *k, const struct spec *spec, bool is_classified,
                            struct explanation *out)
{
    const struct names *names = &k->cluster->names;
    AUTO(buf) text = {0};
    out->misread = arena_array(&out->mem, struct str, spec->n_misread);
    for (uint32_t i = 0; i < spec->n_misread; i++) {
        struct str key = names_text(names, spec->misread[i].key);
        struct str value = names_text(names, spec->misread[i].value);
        if (our_key_is_unknown(key, ON_POD))
            misread_say(key, value, ON_POD, &text);
        else if (is_classified)
            buf_printf(&text, STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(value));
        else
            continue;
        out->misread[out->n_misread++] = said(out, &text);
    }
}

void explain_class(struct engine *k, const struct class *class, struct explanation *out)
{
    const struct identity *identity = &class->identity;
    const struct names *names = &k->cluster->names;
    const struct spec *spec = specs_at(&k->cluster->specs, class->spec);
    bool is_classified = identity->is.workload != WORKLOAD_UNKNOWN;
    explain_misread(k, spec, is_classified, out);
    if (!is_classified)
        return;
    AUTO(buf) text = {0};
    struct explained_class *x = arena_array(&out->mem, struct explained_class, 1);
    x->tier = tier_name(identity->tier);
    identity_tier_text(identity, &text);
    x->tier_because = said(out, &text);
    x->tenant = arena_str(&out->mem, names_text(names, identity->tenant));
    x->workload = workload_name(identity->is.workload);
    sign_text(identity->is.workload_sign, &text);
    x->workload_because = said(out, &text);
    x->is_gang = identity->is.is_gang;
    x->is_preemptible = identity->is.is_preemptible;
    sign_text(identity->is.preemptible_sign, &text);
    x->preemptible_because = said(out, &text);
    where_text(spec, &text);
    x->where = said(out, &text);
    out->class = x;
}

void explain_hardware(const struct engine *k, node_id node, struct arena *mem,
                      struct explained_node *out)
{
    const struct hardware *h = nodes_hardware(&k->cluster->nodes, node);
    if (h == &no_hardware)
        return;
    struct explained_hardware *x = arena_array(mem, struct explained_hardware, 1);
    *x = (struct explained_hardware){
        .tier = hardware_tier_name(h->tier),
        .vram_source = vram_source_name(h->vram_source),
        .vram_mebibytes = h->vram_bytes >> 20,
        .fabric = fabric_name(h->fabric),
        .n_zones = h->n_zones,
    };
    out->hardware = x;
}
