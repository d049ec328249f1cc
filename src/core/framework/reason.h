#pragma once

#include "core/base/intern.h"
#include "core/base/str.h"
#include "core/base/vec.h"

/* Why a node was refused, as a number: (plugin, code, texts), interned. 0 is "it fits". Texts are
 * the ones kube-scheduler writes; nobody reads them until somebody asks.
 *
 * A reason that a class says is held by the class; what nobody holds is freed at quiet moments. */

typedef uint32_t reason_id;

enum code { CODE_SUCCESS, CODE_UNSCHEDULABLE, CODE_UNRESOLVABLE, CODE_ERROR };

const char *code_name(enum code code);

struct reason {
    uint32_t plugin; /* its number in the table of all plugins */
    enum code code;
    const struct str *texts;
    uint32_t n_texts;
};

struct reasons {
    struct intern table;
    VEC(struct reason) at; /* at[0] stands for "fits" */
};

/* Those that a class says. */
struct own_reasons {
    struct reasons *all;
    VEC(reason_id) held;
};

void reasons_init(struct reasons *r);
void reasons_done(struct reasons *r);

/* The number of this reason. Nobody holds a new one yet. */
reason_id reasons_get(struct reasons *r, uint32_t plugin, enum code code, const struct str *texts,
                      uint32_t n);

/* The same, held from now on by the class; so it is said once for each combination of texts. */
reason_id reasons_own(struct own_reasons *own, uint32_t plugin, enum code code,
                      const struct str *texts, uint32_t n);
void reasons_disown(struct own_reasons *own);

/* The same, held for ever: of words that are always the same. */
reason_id reasons_keep(struct reasons *r, uint32_t plugin, enum code code, struct str text);

/* Frees what nobody holds (intern_tidy()). */
void reasons_tidy(struct reasons *r, enum tidy how);

static inline const struct reason *reasons_at(const struct reasons *r, reason_id id)
{
    return &r->at.at[id];
}

/* The plugin as a bit; 0: the reason is nobody's of the table. */
static inline uint64_t reasons_plugin(const struct reasons *r, reason_id id)
{
    uint32_t plugin = reasons_at(r, id)->plugin;
    return plugin < 64 ? (uint64_t)1 << plugin : 0;
}
