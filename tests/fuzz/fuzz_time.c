/* Any bytes as a time: refused, or in a year of four digits. */

#include "core/base/time_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    int64_t ms;
    if (time_parse((struct str){(const char *)bytes, n}, &ms)) {
        assert(n >= 20);
        assert(ms >= -62167219200000 - 90000000 && ms <= 253402300799999 + 90000000);
    }
    return 0;
}
