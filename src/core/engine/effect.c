#include "core/engine/effect.h"

void effects_clear(struct effects *e)
{
    vec_clear(&e->list);
    arena_reset(&e->mem);
}

void effects_done(struct effects *e)
{
    vec_done(&e->list);
    arena_done(&e->mem);
}
