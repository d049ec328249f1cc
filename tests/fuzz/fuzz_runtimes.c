/* Any bytes as run times that were learned: they are refused, or written again as they were read.
 */

#include "core/engine/backfill/runtimes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct runtimes first = {0}, second = {0};
    AUTO(buf) text = {0};
    AUTO(buf) again = {0};
    if (runtimes_read(&first, (struct str){(const char *)bytes, n})) {
        runtimes_write(&first, &text);
        bool is_read = runtimes_read(&second, buf_str(&text));
        assert(is_read && second.notes == first.notes);
        runtimes_write(&second, &again);
        assert(str_equal(buf_str(&text), buf_str(&again)));
    }
    assert(first.keys.n <= RUNTIMES_KEPT);
    runtimes_done(&first);
    runtimes_done(&second);
    return 0;
}
