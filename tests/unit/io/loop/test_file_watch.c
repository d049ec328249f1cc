#include "io/loop/file_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/test.h"

static void count(void *ctx)
{
    ++*(int *)ctx;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

/* What happened up to now has been seen when the loop has nothing left to do. */
static int calls_of(struct loop *l, int *calls)
{
    *calls = 0;
    loop_wait(l, 0);
    return *calls;
}

TEST(file_watch, notices_a_write_a_rename_and_a_link_that_turns)
{
    char folder[] = "/var/tmp/file_watch.XXXXXX", path[80], other[80];
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/token", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    struct loop *l = loop_new();
    struct error e = {0};
    int calls = 0;
    struct file_watch *w = file_watch_new(l, path, count, &calls, &e);
    REQUIRE(w);
    EXPECT_INT(calls_of(l, &calls), 0);
    write_file(path, "one");
    EXPECT_INT(calls_of(l, &calls), 1); /* created and written: one call */
    write_file(other, "two");
    calls_of(l, &calls);
    rename(other, path);
    EXPECT_INT(calls_of(l, &calls), 1);
    EXPECT_INT(symlink("token", other), 0);
    EXPECT_INT(calls_of(l, &calls), 1);
    EXPECT_INT(calls_of(l, &calls), 0);
    file_watch_free(w);
    unlink(other);
    unlink(path);
    rmdir(folder);
    loop_free(l);
}

TEST(file_watch, of_a_file_in_no_folder_is_an_error)
{
    struct loop *l = loop_new();
    struct error e = {0};
    EXPECT(!file_watch_new(l, "/nowhere/at/all/token", count, NULL, &e));
    EXPECT_TEXT(e.text, "/nowhere/at/all/token: cannot be watched: No such file or directory");
    loop_free(l);
}
