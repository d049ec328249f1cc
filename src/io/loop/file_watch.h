#pragma once

#include "core/base/error.h"
#include "io/loop/loop.h"

/* Says when a file may have changed, however it was done: written in place, replaced by a rename,
 * or as kubelet does it with mounted secrets, by turning a link beside it. What is watched is the
 * folder, so calls may be in vain: who cares compares. */

struct file_watch;

/* NULL with `e` set if the file's folder cannot be watched. The file need not exist. */
struct file_watch *file_watch_new(struct loop *l, const char *path, void (*changed)(void *ctx),
                                  void *ctx, struct error *e) MUST_USE;
void file_watch_free(struct file_watch *w);
