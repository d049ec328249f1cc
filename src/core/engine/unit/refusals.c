/* What pods of a class were told when one of them was last refused: as long as nothing changes, the next
 * one would be told the same. */

#include "core/engine/unit/unit.h"

struct class_refusal *engine_refusal_of(struct engine *k, const struct class *class)
{
    struct class_refusal **row = class_row(&k->deciding.refusals, class);
    if (!*row)
        *row = mem_alloc(sizeof(**row));
    return *row;
}

const struct class_refusal *engine_last_refusal(const struct engine *k, const struct class *class)
{
    struct class_refusal *const *row = class_row_if(&k->deciding.refusals, class);
    return row ? *row : NULL;
}

bool engine_would_hear_the_same(const struct engine *k, pod_id pod, const struct class *class)
{
    const struct class_refusal *last = engine_last_refusal(k, class);
    return last && last->at == k->cluster->log.end && !class->is_pinned &&
           pods_at(&k->cluster->pods, pod)->nominated == SYM_NONE && !k->config.checks_views;
}

void engine_forget_refusal_of(struct engine *k, const struct class *class)
{
    struct class_refusal **row = class_row_if(&k->deciding.refusals, class);
    if (!row || !*row)
        return;
    buf_done(&(*row)->text);
    buf_done(&(*row)->headline);
    buf_done(&(*row)->for_holder);
    buf_done(&(*row)->nature);
    mem_free(*row);
    *row = NULL;
}
