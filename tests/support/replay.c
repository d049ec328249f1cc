/* Stands in for libFuzzer where a corpus is only replayed: hands each file of a folder to the
 * target, and the start of each file too, so that every input is also tried cut short.
 *
 * usage: replay_<thing> <thing> <folder> */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint8_t *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    uint8_t *bytes = mem_alloc(1);
    size_t got;
    for (*n = 0; (got = 65536); *n += got) {
        bytes = mem_resize(bytes, *n + got);
        got = fread(bytes + *n, 1, got, file);
        if (got == 0)
            break;
    }
    fclose(file);
    return bytes;
}

/* Each try gets its own block of memory, so that reading one byte too many is seen. */
static void try_start(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = mem_copy(bytes, n);
    LLVMFuzzerTestOneInput(n ? copy : NULL, n);
    mem_free(copy);
}

static bool replay(const char *path)
{
    size_t n;
    uint8_t *bytes = read_file(path, &n);
    if (!bytes)
        return false;
    try_start(bytes, n);
    for (size_t cut = 1; cut < n; cut += cut / 8 + 1)
        try_start(bytes, n - cut);
    mem_free(bytes);
    return true;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int count = argc == 3 ? scandir(argv[2], &entries, NULL, alphasort) : -1;
    unsigned replayed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        int length = snprintf(path, sizeof(path), "%s/%s", argv[2], entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && length < (int)sizeof(path)) {
            printf("# %s\n", path);
            fflush(stdout);
            replayed += replay(path);
        }
        free(entries[i]);
    }
    free(entries);
    printf("%sok 1 - fuzz.%s # %u inputs\n1..1\n", replayed ? "" : "not ",
           argc == 3 ? argv[1] : "?", replayed);
    return replayed == 0;
}
