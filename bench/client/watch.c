/* Watches pods, as a scheduler does, until so many are bound, and says when: a line "begun" when it
 * has seen what there is, "bound N" once a second, and at the end the times of the first and the
 * last binding. */

#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "core/base/intern.h"
#include "kube/watch.h"

struct watcher {
    struct desk desk;
    struct watch watch;
    struct intern bound; /* their uids */
    double first_s, last_s;
};

static void see_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct watcher *w = ctx;
    bool is_new = false;
    (void)now_ms;
    if (change->kind == CHANGE_REMOVE || change->object.pod->spec.node_name.n == 0)
        return;
    intern_get(&w->bound, change->object.meta->uid, &is_new);
    if (!is_new)
        return;
    w->last_s = now_s();
    if (w->first_s == 0)
        w->first_s = w->last_s;
}

static void see_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    (void)ctx, (void)now_ms;
    fprintf(stderr, "bench-client: %s " STR_FMT ": " STR_FMT "\n", notice->verb,
            STR_ARG(notice->what), STR_ARG(notice->text));
}

static void hear(void *ctx, const struct reply *reply)
{
    struct watcher *w = ctx;
    watch_hear(&w->watch, loop_now_ms(w->desk.loop), reply, &w->desk.out);
}

static void run(struct watcher *w, uint32_t most)
{
    bool has_begun = false;
    double said_s = 0;
    watch_discovered(&w->watch, loop_now_ms(w->desk.loop), w->watch.api_version, &w->desk.out);
    while (w->bound.live < most) {
        desk_turn(&w->desk, 1000);
        watch_tick(&w->watch, loop_now_ms(w->desk.loop), &w->desk.out);
        if (watch_is_synced(&w->watch) && !has_begun)
            has_begun = puts("begun");
        if (w->bound.live && now_s() - said_s > 1) {
            printf("bound %u\n", w->bound.live);
            said_s = now_s();
        }
    }
}

int cmd_watch(int argc, char **argv)
{
    struct watcher w = {.desk = {.hear = hear}};
    struct listener listener = {.ctx = &w, .change = see_change, .notice = see_notice};
    setvbuf(stdout, NULL, _IOLBF, 0);
    w.desk.ctx = &w;
    desk_open(&w.desk, argv[0]);
    watch_init(&w.watch, &watched_kinds[WATCHED_KIND_POD], 0, 0, &listener);
    run(&w, argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1);
    printf("{\"first\": %.6f, \"last\": %.6f}\n", w.first_s, w.last_s);
    desk_done(&w.desk);
    watch_done(&w.watch);
    intern_done(&w.bound);
    return 0;
}
