#include "core/cluster/change.h"

#include "support/test.h"

/* The newest entry of a node; NULL: none. */
static const struct change_entry *newest(const struct change_log *log, uint32_t node)
{
    return log->newest[node] ? change_log_at(log, log->newest[node]) : NULL;
}

TEST(change, entries_stand_in_order_and_each_node_knows_its_newest)
{
    AUTO(change_log) log = {0};
    change_log_grow(&log, 4);
    uint64_t start = log.end;
    change_log_add(&log, (node_id){1}, COLUMN_USED);
    change_log_add(&log, (node_id){2}, COLUMN_LABELS);
    change_log_add(&log, (node_id){1}, COLUMN_TAINTS);
    EXPECT_INT(log.end - start, 3);
    EXPECT_INT(change_log_at(&log, start)->columns, COLUMN_USED);
    EXPECT_INT(change_log_at(&log, start + 1)->node, 2);
    EXPECT_INT(newest(&log, 1)->columns, COLUMN_TAINTS);
    EXPECT_INT(newest(&log, 1)->before, start);
    EXPECT_INT(newest(&log, 2)->before, 0); /* its first */
    EXPECT(newest(&log, 3) == NULL);
}

TEST(change, a_cut_takes_back_what_nobody_has_read)
{
    AUTO(change_log) log = {0};
    change_log_grow(&log, 4);
    change_log_add(&log, (node_id){1}, COLUMN_USED);
    uint64_t mark = log.end;
    change_log_add(&log, (node_id){1}, COLUMN_LABELS);
    change_log_add(&log, (node_id){2}, COLUMN_LABELS);
    change_log_add(&log, (node_id){1}, COLUMN_TAINTS);

    EXPECT(change_log_cut(&log, mark));

    EXPECT_INT(log.end, mark);
    EXPECT_INT(newest(&log, 1)->columns, COLUMN_USED);
    EXPECT(newest(&log, 2) == NULL);
}

TEST(change, what_a_reader_has_seen_is_not_taken_back)
{
    AUTO(change_log) log = {0};
    change_log_grow(&log, 4);
    uint64_t mark = log.end;
    change_log_add(&log, (node_id){1}, COLUMN_LABELS);
    log.read_up_to = log.end;
    EXPECT(!change_log_cut(&log, mark));
    EXPECT_INT(log.end, mark + 1);
    EXPECT_INT(newest(&log, 1)->columns, COLUMN_LABELS);
    EXPECT(change_log_cut(&log, log.end)); /* nothing to take back */
}

TEST(change, the_ring_forgets_its_oldest_entries)
{
    AUTO(change_log) log = {0};
    change_log_grow(&log, 4);
    EXPECT_INT(log.size, 4096);
    uint64_t start = log.end;
    for (uint32_t i = 0; i < 4096; i++)
        change_log_add(&log, (node_id){i % 4}, COLUMN_USED);
    EXPECT_INT(log.oldest, start);
    change_log_add(&log, (node_id){0}, COLUMN_TAINTS);
    EXPECT_INT(log.oldest, start + 1);
    EXPECT_INT(change_log_at(&log, log.oldest)->node, 1);
    EXPECT_INT(newest(&log, 0)->columns, COLUMN_TAINTS);
    EXPECT(!change_log_cut(&log, start)); /* that far back there is nothing any more */
    EXPECT(change_log_cut(&log, log.oldest));
    EXPECT_INT(log.end, start + 1);
}

TEST(change, growing_keeps_the_entries_and_their_positions)
{
    AUTO(change_log) log = {0};
    change_log_grow(&log, 4);
    for (uint32_t i = 0; i < 5000; i++) /* once around */
        change_log_add(&log, (node_id){i % 4}, 1 + i % 7);
    uint64_t end = log.end, oldest = log.oldest;
    change_log_grow(&log, 100000);
    EXPECT_INT(log.size, 32768); /* a power of two, at least a quarter of the nodes */
    EXPECT_INT(log.end, end);
    EXPECT_INT(log.oldest, oldest);
    for (uint64_t p = oldest; p < end; p++)
        EXPECT_INT(change_log_at(&log, p)->columns, 1 + (p - 1) % 7);
    EXPECT_INT(log.newest[99999], 0);
    change_log_add(&log, (node_id){99999}, COLUMN_ALL);
    EXPECT_INT(log.newest[99999], end);
}
