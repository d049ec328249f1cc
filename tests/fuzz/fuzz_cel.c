/* Any bytes as a selector, asked of a device that has an attribute of every type: it answers, and
 * within bounds. */

#include "core/model/cel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct device_attribute attributes[] = {
        {.name = STR("b"), .has_bool = true, .bool_value = true},
        {.name = STR("i"), .has_int = true, .int_value = INT64_MIN},
        {.name = STR("s"), .has_string = true, .string = STR("A100")},
        {.name = STR("v"), .has_version = true, .version = STR("1.2.3-rc.1")},
    };
    struct device_capacity capacity[] = {
        {.name = STR("m"), .value = {.nano = (__int128)80 << 60}},
    };
    struct device device = {
        .attributes = {attributes, LEN(attributes)},
        .capacity = {capacity, LEN(capacity)},
    };
    struct arena mem = {0};
    struct str why = {0};
    const struct cel *cel = cel_compile((struct str){(const char *)bytes, n}, &mem, &why);
    assert(cel || why.n);
    if (cel && cel_match(cel, STR("d"), &device, &mem, &why) == CEL_FAILED)
        assert(why.n);
    arena_done(&mem);
    return 0;
}
