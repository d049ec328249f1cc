/* Streams all objects that a scheduler watches, throws them away, and says when it had them all
 * (seconds of the day's clock) and how long that took. Only the bookmark that ends each kind is
 * looked for. */

#include <stdio.h>

#include "client.h"
#include "core/wire/frames.h"
#include "kube/kinds.h"
#include "kube/limits.h"

enum { BOOKMARK_MOST = 4096 }; /* bytes; objects may well be shorter */

struct drain {
    struct desk desk;
    struct frames frames[WATCHED_COUNT];
    bool is_filled[WATCHED_COUNT];
    uint32_t filled;
    uint64_t bytes, objects;
};

static void see_filled(struct drain *d, uint32_t kind)
{
    d->filled += !d->is_filled[kind];
    d->is_filled[kind] = true;
}

static void see_frame(struct drain *d, uint32_t kind, struct str frame)
{
    static const char end[] = "k8s.io/initial-events-end";
    d->bytes += frame.n;
    d->objects++;
    if (frame.n <= BOOKMARK_MOST && memmem(frame.p, frame.n, end, sizeof(end) - 1))
        see_filled(d, kind);
}

static void hear(void *ctx, const struct reply *reply)
{
    struct drain *d = ctx;
    uint32_t kind = (uint32_t)reply->id - 1;
    struct str frame;
    struct error e;
    if (reply->status == 404) { /* nobody made this kind here: there are none */
        see_filled(d, kind);
        return;
    }
    if (reply->kind == REPLY_END || reply->status != 200)
        give_up(watched_kinds[kind].resource, STR("the server refused or ended the watch"));
    if (reply->kind == REPLY_HEAD)
        d->frames[kind] = (struct frames){.encoding = encoding_of(reply->content_type),
                                          .frame_most = FRAME_BYTES_MOST};
    if (reply->kind != REPLY_DATA)
        return;
    frames_put(&d->frames[kind], reply->data);
    while (frames_next(&d->frames[kind], &frame, &e))
        see_frame(d, kind, frame);
    if (e.kind != ERROR_NONE)
        give_up(watched_kinds[kind].resource, str_of(e.text));
}

int cmd_drain(int argc, char **argv)
{
    struct drain d = {.desk = {.hear = hear}};
    double begun_s = now_s();
    (void)argc;
    d.desk.ctx = &d;
    desk_open(&d.desk, argv[0]);
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        d.filled += watched_kinds[i].is_on_demand;
    for (uint32_t i = 0; i < WATCHED_COUNT && !watched_kinds[i].is_on_demand; i++)
        vec_push(&d.desk.out.list, watch_of(&d.desk, i + 1, i));
    while (d.filled < WATCHED_COUNT)
        desk_turn(&d.desk, -1);
    printf("{\"at\": %.6f, \"seconds\": %.6f, \"cpu\": %.6f, \"objects\": %llu, \"bytes\": %llu}\n",
           day_s(), now_s() - begun_s, cpu_s(), (unsigned long long)d.objects,
           (unsigned long long)d.bytes);
    desk_done(&d.desk);
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        frames_done(&d.frames[i]);
    return 0;
}
