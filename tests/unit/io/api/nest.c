#include "nest.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"

const char *nest_path(struct nest *n, const char *name)
{
    if (!n->folder[0]) {
        snprintf(n->folder, sizeof(n->folder), "/var/tmp/kubenexus.XXXXXX");
        assert(mkdtemp(n->folder));
    }
    snprintf(n->path, sizeof(n->path), "%s/%s", n->folder, name);
    return n->path;
}

void nest_done(struct nest *n)
{
    DIR *dir = n->folder[0] ? opendir(n->folder) : NULL;
    for (struct dirent *d; dir && (d = readdir(dir));)
        unlink(nest_path(n, d->d_name));
    if (dir)
        closedir(dir);
    rmdir(n->folder);
}

void nest_write(struct nest *n, const char *name, struct str text)
{
    char to[128];
    snprintf(to, sizeof(to), "%s", nest_path(n, name));
    FILE *f = fopen(nest_path(n, ".new"), "w");
    fwrite(text.p, 1, text.n, f);
    fclose(f);
    rename(n->path, to);
}

void nest_printf(struct nest *n, const char *name, const char *fmt, ...)
{
    char *text;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    assert(length >= 0);
    nest_write(n, name, (struct str){text, (size_t)length});
    free(text);
}

void nest_make_executable(struct nest *n, const char *name)
{
    chmod(nest_path(n, name), 0700);
}
