#include "io/loop/file_watch.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/base/mem.h"

struct file_watch {
    struct loop *loop;
    struct loop_fd fd;
    void (*changed)(void *ctx);
    void *ctx;
};

/* Many events of a turn are one call. */
static void drain(void *ctx, uint32_t events)
{
    struct file_watch *w = ctx;
    char room[4096];
    (void)events;
    while (read(w->fd.fd, room, sizeof(room)) > 0)
        continue;
    w->changed(w->ctx);
}

static int watch_folder(int fd, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = mem_alloc(n + 2);
    memcpy(folder, n ? path : ".", n ? n : 1);
    int rc = inotify_add_watch(fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE);
    mem_free(folder);
    return rc;
}

struct file_watch *file_watch_new(struct loop *l, const char *path, void (*changed)(void *ctx),
                                  void *ctx, struct error *e)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0 || watch_folder(fd, path) < 0) {
        error_set(e, ERROR_INVALID, "%s: cannot be watched: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct file_watch *w = mem_alloc(sizeof(*w));
    *w = (struct file_watch){.loop = l, .changed = changed, .ctx = ctx};
    w->fd = (struct loop_fd){.ready = drain, .ctx = w, .fd = fd};
    loop_fd_set(l, &w->fd, LOOP_READ);
    return w;
}

void file_watch_free(struct file_watch *w)
{
    if (!w)
        return;
    loop_fd_set(w->loop, &w->fd, 0);
    close(w->fd.fd);
    mem_free(w);
}
