#include "core/model/run_time.h"

#include "core/base/value.h"

static int64_t annotated_ms(const struct pod *pod)
{
    int64_t ns;
    list_each(&pod->meta.annotations, a)
        if (str_equal(a->key, STR(ANNOTATION_DURATION)))
            return value_duration(a->value, &ns) && ns >= 1000000 ? ns / 1000000 : 0;
    return 0;
}

int64_t pod_declared_ms(const struct pod *pod)
{
    enum { MOST_S = 1000000000 }; /* 31 years: sums with the time do not overflow */
    int64_t ms = pod->meta.annotations.n ? annotated_ms(pod) : 0;
    if (ms == 0 && pod->spec.has_active_deadline && pod->spec.active_deadline_seconds > 0)
        ms = MIN(pod->spec.active_deadline_seconds, (int64_t)MOST_S) * 1000;
    return MIN(ms, (int64_t)MOST_S * 1000);
}

/* Does the text tell only which run it is? The letters are those of generated names: no vowels, and
 * no digits that look like one. */
static bool is_serial(struct str part)
{
    enum { RANDOM_LEAST = 5, RANDOM_MOST = 10 };
    static const struct str letters = STR("bcdfghjklmnpqrstvwxz2456789");
    bool is_number = true, is_random = part.n >= RANDOM_LEAST && part.n <= RANDOM_MOST;
    for (size_t i = 0; i < part.n; i++) {
        is_number = is_number && part.p[i] >= '0' && part.p[i] <= '9';
        is_random = is_random && str_find(letters, part.p[i]) < letters.n;
    }
    return is_number || is_random;
}

struct str name_stem(struct str name)
{
    for (size_t i = name.n; i-- > 1;) {
        if (name.p[i] != '-' && name.p[i] != '.')
            continue;
        if (!is_serial(str_part(name, i + 1, name.n)))
            break;
        name.n = i;
    }
    return name;
}
