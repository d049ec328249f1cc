#include "core/model/driver.h"

static struct str said(const struct pod *pod, const char *key)
{
    list_each(&pod->meta.annotations, a)
        if (str_equal(a->key, str_of(key)))
            return a->value;
    return (struct str){0};
}

static void add_amount(const struct pod *pod, const char *key, const char *resource,
                       const char *otherwise, amount_list *to)
{
    struct quantity q;
    if (quantity_parse(said(pod, key), &q) ? q.nano > 0
                                           : otherwise && quantity_parse(str_of(otherwise), &q))
        to->at[to->n++] = (struct amount){str_of(resource), q};
}

bool driver_needs(const struct pod *pod, struct arena *mem, struct driver_needs *out)
{
    enum { RESOURCES = 3, MOST_WORKERS = 10000 };
    bool is_dynamic = str_equal(said(pod, "kubenexus.io/dynamic-allocation-enabled"), STR("true"));
    int64_t workers;
    if (!str_int(
            said(pod, is_dynamic ? "kubenexus.io/min-executors" : "kubenexus.io/executor-count"),
            &workers) ||
        workers < 1 || workers > MOST_WORKERS)
        return false;
    *out =
        (struct driver_needs){(uint32_t)workers, {arena_array(mem, struct amount, RESOURCES), 0}};
    add_amount(pod, "kubenexus.io/executor-cpu", "cpu", "1", &out->each);
    add_amount(pod, "kubenexus.io/executor-memory", "memory", "750M", &out->each);
    add_amount(pod, "kubenexus.io/executor-gpu", "nvidia.com/gpu", NULL, &out->each);
    return true;
}
