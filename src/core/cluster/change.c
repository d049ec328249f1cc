/* Position p lives in ring[p mod size] while oldest ≤ p < end. Positions start at 1, so that 0 can
 * say "no entry". `newest` and `before` chain a node's entries backwards, which is what lets a cut
 * restore `newest` exactly. */

#include "core/cluster/change.h"

#include "core/base/mem.h"

enum { LEAST_SIZE = 4096 };

static void resize_ring(struct change_log *log, uint64_t size)
{
    struct change_entry *ring = mem_alloc(size * sizeof(*ring));
    for (uint64_t p = log->oldest; p < log->end; p++)
        ring[p & (size - 1)] = *change_log_at(log, p);
    mem_free(log->ring);
    log->ring = ring;
    log->size = size;
}

void change_log_grow(struct change_log *log, uint32_t nodes)
{
    if (log->size == 0)
        log->oldest = log->end = log->read_up_to = 1;
    uint64_t size = log->size ? log->size : LEAST_SIZE;
    while (size < nodes / 4)
        size *= 2;
    if (size > log->size)
        resize_ring(log, size);
    if (nodes > log->node_cap) {
        log->newest = mem_resize(log->newest, nodes * sizeof(*log->newest));
        memset(log->newest + log->node_cap, 0, (nodes - log->node_cap) * sizeof(*log->newest));
        log->node_cap = nodes;
    }
}

void change_log_add(struct change_log *log, node_id node, uint32_t columns)
{
    assert(node.i < log->node_cap && columns);
    log->ring[log->end & (log->size - 1)] =
        (struct change_entry){node.i, columns, log->newest[node.i]};
    log->newest[node.i] = log->end++;
    log->natures += (columns & COLUMN_NATURE) != 0;
    log->lasting = columns & COLUMN_LASTING ? log->end : log->lasting;
    if (log->end - log->oldest > log->size)
        log->oldest = log->end - log->size;
}

bool change_log_cut(struct change_log *log, uint64_t position)
{
    if (position < log->read_up_to || position < log->oldest)
        return false;
    while (log->end > position) {
        const struct change_entry *e = change_log_at(log, --log->end);
        log->newest[e->node] = e->before;
    }
    return true;
}

void change_log_done(struct change_log *log)
{
    mem_free(log->ring);
    mem_free(log->newest);
    *log = (struct change_log){0};
}
