#include "kube/request.h"

void requests_clear(struct requests *r)
{
    vec_clear(&r->list);
    vec_clear(&r->cancelled);
    arena_reset(&r->mem);
}

void requests_done(struct requests *r)
{
    vec_done(&r->list);
    vec_done(&r->cancelled);
    arena_done(&r->mem);
    buf_done(&r->scratch);
}
