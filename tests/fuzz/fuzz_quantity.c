/* Any bytes as a quantity: within bounds, and printed in a form that reads back as the same. */

#include "core/model/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct quantity q, again;
    if (!quantity_parse((struct str){(const char *)bytes, n}, &q))
        return 0;
    assert(q.nano <= QUANTITY_NANO_MOST && q.nano >= -QUANTITY_NANO_MOST);
    quantity_value(quantity_sum(q, q));
    quantity_milli(quantity_sum(q, q));
    struct buf text = {0};
    quantity_print(q, &text);
    bool is_read = quantity_parse(buf_str(&text), &again);
    assert(is_read && again.nano == q.nano);
    buf_done(&text);
    return 0;
}
