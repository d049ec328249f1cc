#include "cmd/kubenexus/run_memory.h"

#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/mem.h"

enum {
    MUCH = 1024, /* done, and it is worth while */
    FEW = 32,    /* done in a while: it is quiet, though on a large cluster never still */
    WHILE_MS = 500,
};

bool run_quiet_has_come(struct run_quiet *q, int64_t now_ms, uint64_t done)
{
    if (now_ms < q->begun_ms + WHILE_MS)
        return false;
    bool is_quiet = done - q->begun < FEW;
    q->begun = done;
    q->begun_ms = now_ms;
    return is_quiet && (q->is_wanted || done - q->settled >= MUCH);
}

int64_t run_quiet_next_ms(const struct run_quiet *q, uint64_t done)
{
    return q->is_wanted || done - q->settled >= MUCH ? q->begun_ms + WHILE_MS : INT64_MAX;
}

void run_quiet_settle(struct run_quiet *q, int64_t now_ms, uint64_t done)
{
    *q = (struct run_quiet){.settled = done, .begun = done, .begun_ms = now_ms};
}

/* Only segments that nobody can write to: they are as the file has them. */
static int give_back(struct dl_phdr_info *of, size_t bytes, void *ctx)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)bytes, (void)ctx;
    for (int i = 0; i < of->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &of->dlpi_phdr[i];
        if (s->p_type != PT_LOAD || (s->p_flags & PF_W))
            continue;
        uintptr_t from = (of->dlpi_addr + s->p_vaddr) & ~(page - 1);
        uintptr_t to = (of->dlpi_addr + s->p_vaddr + s->p_memsz + page - 1) & ~(page - 1);
        madvise((void *)from, to - from, MADV_DONTNEED); /* that it fails costs only memory */
    }
    return 0;
}

/* What the C library keeps for a thread: the last few blocks of each small size that it freed. */
enum { CACHED_FROM = 24, CACHED_TO = 1032, CACHED_STEP = 16, CACHED_EACH = 7 };

struct blocks {
    void *at[((CACHED_TO - CACHED_FROM) / CACHED_STEP + 1) * CACHED_EACH];
};

static void *free_blocks(void *ctx)
{
    struct blocks *b = ctx;
    for (size_t i = 0; i < LEN(b->at); i++)
        mem_free(b->at[i]);
    return NULL;
}

/* Blocks that are kept lie anywhere, and hold the pages around them. A thread that ends gives up
 * its own: so we ask for what is kept for us, and leave it to one that does nothing but end. */
static void give_up_kept(void)
{
    struct blocks b;
    size_t n = 0;
    pthread_t thread;
    for (size_t bytes = CACHED_FROM; bytes <= CACHED_TO; bytes += CACHED_STEP)
        for (int i = 0; i < CACHED_EACH; i++)
            b.at[n++] = mem_resize(NULL, bytes);
    mallopt(M_ARENA_MAX, 1); /* one heap for both */
    if (pthread_create(&thread, NULL, free_blocks, &b) == 0)
        pthread_join(thread, NULL);
    else
        free_blocks(&b);
}

void run_memory_settle(void)
{
    give_up_kept();
    malloc_trim(0);
    dl_iterate_phdr(give_back, NULL);
}
