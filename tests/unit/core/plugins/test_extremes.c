/* Amounts are whatever somebody wrote: tenants in pods, kubelets in nodes. None of them is too
 * large or too small for any plugin; the sanitizer looks on. */

#include <stdio.h>

#include "core/base/rng.h"
#include "core/engine/explain.h"
#include "core/plugins/args.h"
#include "core/plugins/plugins.h"
#include "support/stage.h"
#include "support/test.h"

static const char *const amounts[] = {"0",
                                      "1",
                                      "1m",
                                      "1n",
                                      "7",
                                      "8",
                                      "64",
                                      "1Gi",
                                      "80Gi",
                                      "1Ti",
                                      "1P",
                                      "1Ei",
                                      "4Ei",
                                      "7Ei",
                                      "8Ei",
                                      "1e18",
                                      "9e18",
                                      "1e30",
                                      "4294967295",
                                      "4294967296",
                                      "9223372036854775",
                                      "9223372036854775806",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-1",
                                      "-1Ei",
                                      "-8Ei",
                                      "-9223372036854775808"};

/* In labels and annotations anything goes. */
static const char *const words[] = {"0",
                                    "1",
                                    "-1",
                                    "0.5",
                                    "0.999999",
                                    "80Gi",
                                    "8Ei",
                                    "1e30",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "4294967296",
                                    "1Ei",
                                    "x",
                                    "0-15",
                                    "0-9223372036854775807",
                                    "7"};

struct extremes {
    struct stage stage;
    struct rng rng;
    struct buf line;
    struct fragmentation_args args;
    struct profile_plugin plugins[64];
    struct profile profiles[2];
};

static void extremes_done(struct extremes *x)
{
    stage_done(&x->stage);
    buf_done(&x->line);
}

static const char *amount(struct extremes *x)
{
    return amounts[rng_below(&x->rng, LEN(amounts))];
}

static const char *word(struct extremes *x)
{
    return words[rng_below(&x->rng, LEN(words))];
}

static bool maybe(struct extremes *x)
{
    return rng_below(&x->rng, 3) == 0;
}

static void add(struct extremes *x, const char *key, const char *value)
{
    buf_printf(&x->line, " %s=%s", key, value);
}

static void add_amounts(struct extremes *x)
{
    static const char *const keys[] = {
        "cpu", "memory", "gpu", "storage", "amd.com/gpu", "hugepages-2Mi", "example.com/thing"};
    for (size_t i = 0; i < LEN(keys); i++)
        if (i < 3 || maybe(x))
            add(x, keys[i], amount(x));
}

static void add_words(struct extremes *x, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (maybe(x))
            add(x, keys[i], word(x));
}

static void put(struct extremes *x)
{
    stage_put(&x->stage, STR_FMT, STR_ARG(buf_str(&x->line)));
}

static void put_node(struct extremes *x, uint32_t i)
{
    static const char *const keys[] = {
        "label:gpu.kubenexus.io/vram",
        "label:gpu.kubenexus.io/count",
        "label:nvidia.com/gpu.memory",
        "label:nvidia.com/gpu.count",
        "label:nvidia.com/gpu.replicas",
        "label:numa.kubenexus.io/node-count",
        "label:numa.kubenexus.io/node-0-cpus",
        "label:numa.kubenexus.io/node-0-memory",
        "label:numa.kubenexus.io/node-0-bandwidth",
        "label:numa.kubenexus.io/node-0-distance-1",
        "label:numa.kubenexus.io/node-1-cpus",
        "label:numa.kubenexus.io/node-1-memory",
        "label:gpu.kubenexus.io/numa-node-0",
        "label:hardware.kubenexus.io/cost-hour",
        "label:network.kubenexus.io/rack-id",
        "label:nvidia.com/gpu.clique",
    };
    buf_clear(&x->line);
    buf_printf(&x->line, "node n%u pods=%s", i, maybe(x) ? amount(x) : "100");
    add_amounts(x);
    add_words(x, keys, LEN(keys));
    put(x);
}

static void put_pod(struct extremes *x, uint32_t i)
{
    static const char *const keys[] = {
        "note:gpu-fraction",
        "note:gpu-memory",
        "note:scheduling.kubenexus.io/gpu-fraction",
        "note:scheduling.kubenexus.io/gpu-memory",
        "note:scheduling.kubenexus.io/vram-request",
        "note:scheduling.kubenexus.io/numa-distance-weight",
        "note:scheduling.kubenexus.io/numa-affinity-node-id",
        "note:scheduling.kubenexus.io/expected-duration",
        "note:kubenexus.io/executor-count",
        "note:kubenexus.io/executor-cpu",
        "note:kubenexus.io/executor-memory",
        "label:pod-group.scheduling.kubenexus.io/min-available",
    };
    static const char *const types[] = {"training", "inference", "batch", "service"};
    static const char *const policies[] = {"single-numa-node", "best-effort", "restricted"};
    buf_clear(&x->line);
    buf_printf(&x->line, "pod p%u label:workload.kubenexus.io/type=%s", i,
               types[rng_below(&x->rng, LEN(types))]);
    if (!maybe(x))
        buf_printf(&x->line, " scheduler=kubenexus-scheduler");
    if (maybe(x))
        buf_printf(&x->line, " note:scheduling.kubenexus.io/numa-policy=%s",
                   policies[rng_below(&x->rng, LEN(policies))]);
    if (maybe(x))
        buf_printf(&x->line, " label:spark-role=driver");
    if (maybe(x))
        buf_printf(&x->line, " on=n%u", (uint32_t)rng_below(&x->rng, 3));
    if (maybe(x))
        buf_printf(&x->line, " label:pod-group.scheduling.kubenexus.io/name=g");
    if (maybe(x))
        buf_printf(&x->line, " priority=%d", maybe(x) ? INT32_MAX : INT32_MIN);
    add_amounts(x);
    add_words(x, keys, LEN(keys));
    put(x);
}

/* Our profile with another policy for GPUs, and kube-scheduler's. */
static void use_policy(struct extremes *x, uint32_t policy)
{
    memcpy(x->profiles, built_in_profiles, sizeof(x->profiles));
    x->args.policy = (enum gpu_policy)policy;
    x->args.all_pods = policy & 1;
    memcpy(x->plugins, x->profiles[1].plugins, x->profiles[1].n * sizeof(*x->plugins));
    for (uint32_t i = 0; i < x->profiles[1].n; i++)
        if (str_equal(str_of(x->plugins[i].plugin->name), STR("ResourceFragmentationScore")))
            x->plugins[i].args = &x->args;
    x->profiles[1].plugins = x->plugins;
    x->stage.config.rules.profiles = x->profiles;
    x->stage.config.rules.n_profiles = LEN(x->profiles);
}

static void explain(struct extremes *x, uint32_t i)
{
    struct explanation out = {0};
    char name[16];
    snprintf(name, sizeof(name), "p%u", i);
    if (engine_explain(x->stage.engine, STR("default"), str_of(name), &out)) {
    }
    explanation_done(&out);
}

TEST(extremes, no_amount_is_too_large_or_too_small_for_any_plugin)
{
    for (uint64_t world = 0; world < 600; world++) {
        AUTO(extremes) x = {.rng = rng_seeded(test_seed() * 10000 + world)};
        test_case("world %llu of seed %llu", (unsigned long long)world,
                  (unsigned long long)test_seed());
        use_policy(&x, (uint32_t)(world % N_GPU_POLICIES));
        for (uint32_t i = 0; i < 3; i++)
            put_node(&x, i);
        for (uint32_t i = 0; i < 8; i++)
            put_pod(&x, i);
        stage_run(&x.stage);
        for (uint32_t i = 0; i < 8; i++)
            explain(&x, i);
        x.stage.now_ms += 60000;
        for (uint32_t i = 0; i < 3; i++)
            put_node(&x, i);
        stage_run(&x.stage);
    }
}
