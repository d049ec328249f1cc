#include "scene.h"

#include "support/objects.h"
#include "support/test.h"

void scene_done(struct scene *s)
{
    dispatch_done(&s->dispatch);
    events_done(&s->events);
    effects_done(&s->effects);
    arena_done(&s->mem);
    desk_done(&s->desk);
}

void scene_open(struct scene *s)
{
    desk_init(&s->desk);
    events_init(&s->events, STR("host"), 1000000, test_seed(), &s->desk.listener);
    dispatch_init(&s->dispatch, 100, test_seed(), &s->events, &s->desk.listener);
    s->now_ms = 1700000000000;
}

const char *scene_log(struct scene *s)
{
    return desk_log(&s->desk);
}

void scene_see(struct scene *s, enum change_kind kind, const char *line)
{
    struct change change = {.kind = kind, .object = object_of(&s->mem, line)};
    dispatch_see(&s->dispatch, s->now_ms, &change, &s->desk.out);
}

void scene_hear(struct scene *s, struct reply reply)
{
    dispatch_hear(&s->dispatch, s->now_ms, &reply, &s->desk.out);
}

void scene_answer_to(struct scene *s, request_id id, int status, const char *body)
{
    scene_hear(s, reply_head(id, status));
    scene_hear(s, reply_data(id, body));
    scene_hear(s, reply_end(id));
}

void scene_answer(struct scene *s, int status, const char *body)
{
    scene_answer_to(s, s->desk.last, status, body);
}

void scene_lose(struct scene *s, bool may_have_arrived)
{
    scene_hear(s, reply_lost(s->desk.last, may_have_arrived));
}

int64_t scene_wait(struct scene *s)
{
    int64_t waited = dispatch_next_ms(&s->dispatch) - s->now_ms;
    s->now_ms = dispatch_next_ms(&s->dispatch);
    dispatch_tick(&s->dispatch, s->now_ms, &s->desk.out);
    return waited;
}
