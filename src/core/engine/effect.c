#include "core/engine/effect.h"

void effects_clear(struct effects *e)
{
    vec_clear(&e->list);
    vec_clear(&e->turns);
    arena_reset(&e->mem);
}

void effects_done(struct effects *e)
{
    vec_done(&e->list);
    vec_done(&e->turns);
    arena_done(&e->mem);
}
