/* What objects say is interned, by whoever reads it, and held by whoever refers to it. What nobody
 * holds any more is freed here, and nowhere else: between two calls, when nothing is half done. So
 * names cost what those cost that are in use, and a few thousand beside. */

#include "core/engine/step/step.h"

/* What depends on others' numbers goes first: a class on those of names, for it remembers what it
 * was told of them. */
void engine_sweep(struct engine *k, enum tidy how)
{
    struct cluster *c = k->cluster;
    engine_hold_answers(k, true);
    classes_tidy(&k->classes, intern_wants_sweep(&c->names.text) ? TIDY_ALL : how);
    engine_hold_answers(k, false);
    cluster_tidy(c, how);
    if (how == TIDY_ALL) {
        intern_fit(&c->pods.shape_table, &k->classes.by_shape);
        engine_tidy_gangs(k);
        engine_tidy_preemption_waits(k);
        engine_tidy_gang_refusals(k);
    }
}

void engine_rest_classes(struct engine *k)
{
    enum { TALLIES_MANY = 8192 };
    const struct intern *tallies = &k->cluster->counts.tally_table;
    uint32_t *most = &k->cluster->counts.tallies_most;
    if (LIKELY(tallies->live <= MAX(*most, (uint32_t)TALLIES_MANY)))
        return;
    classes_rest(&k->classes);
    engine_hold_answers(k, true);
    classes_tidy(&k->classes, TIDY_ALL);
    engine_hold_answers(k, false);
    *most = 2 * tallies->live;
}

void engine_tidy(struct engine *k)
{
    const struct cluster *c = k->cluster;
    if (UNLIKELY(pods_want_trim(&c->pods)))
        engine_forget_gone(k);
    else if (intern_wants_sweep(&c->pods.shape_table) || intern_wants_sweep(&c->names.text) ||
             intern_wants_sweep(&k->classes.table) || intern_wants_sweep(&k->classes.reasons.table))
        engine_sweep(k, TIDY_IF_WANTED);
}
