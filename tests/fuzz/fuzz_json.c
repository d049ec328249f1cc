/* Any bytes as a pod in JSON: read or refused, within the limits, the same both times. What one
 * part of the reader takes as a value, the other must take, too. */

#include "core/model/object.h"
#include "core/wire/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = {(const char *)bytes, n}, rest = text, value;
    struct arena mem = {0};
    struct error e = {0};
    size_t where = 0;
    struct pod pod = {0};
    bool is_pod = json_read(text, kind_info_get(KIND_POD)->fields, &pod, &mem, &where, &e);
    assert(is_pod == (e.kind == ERROR_NONE));
    assert(is_pod || where <= n);
    assert(mem.used_bytes <= ((size_t)1 << 20) + 64 * n + 4096);
    for (uint32_t i = 1; i < pod.meta.labels.n && is_pod; i++)
        assert(str_compare(pod.meta.labels.at[i - 1].key, pod.meta.labels.at[i].key) < 0);
    bool is_value = json_take(&rest, &value, &where, &e);
    assert(is_value || where <= n);
    assert(is_value || !is_pod);
    arena_done(&mem);
    return 0;
}
