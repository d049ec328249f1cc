#include "cmd/kubenexus/run_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/base.h"

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

void run_memory_settle(void)
{
    malloc_trim(0);
    dl_iterate_phdr(give_back, NULL);
}
