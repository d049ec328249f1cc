#include "sim/fgd.h"

#include "core/base/buf.h"
#include "support/test.h"

static const char nodes_csv[] = "sn,cpu_milli,memory_mib,gpu,model\n"
                                "n1,8000,1024,2,T4\n"
                                "n0,8000,1024,1,\n";

static const char pods_csv[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
                               "b,1000,1,1,500,\n"
                               "a,1000,1,1,500,\n"
                               "d,2000,1,1,1000,T4|T4\n"
                               "c,2000,1,1,1000,T4\n"
                               "e,2000,9,1,1000,T4\n";

static void trace_of(struct fgd_trace *t)
{
    struct error e = {0};
    REQUIRE(fgd_read_nodes(t, "n", str_of(nodes_csv), &e));
    REQUIRE(fgd_read_pods(t, "p", str_of(pods_csv), &e));
}

TEST(fgd, reads_a_trace_by_name_and_finds_what_comes_often)
{
    AUTO(fgd_trace) t = {0};
    trace_of(&t);
    EXPECT_INT(t.gpu_milli, 3000);
    EXPECT_STR(t.nodes.at[0].name, "n0");
    EXPECT_STR(t.pods.at[0].name, "a");
    REQUIRE(t.kinds.n == 3);                   /* models are told apart as they are spelled */
    EXPECT_INT(t.kinds.at[0].cpu_milli, 2000); /* twice, as the next, and larger */
    EXPECT_INT(t.kinds.at[0].pods, 2);
    EXPECT_INT(t.kinds.at[1].milli, 500);
    EXPECT_STR(t.kinds.at[2].models, "T4|T4");
    EXPECT(t.kinds.at[0].share == 0.4);
}

TEST(fgd, wrong_input_is_named)
{
    AUTO(fgd_trace) t = {0};
    struct fgd_seeds seeds = {0};
    struct error e = {0};
    EXPECT(!fgd_read_nodes(&t, "n", STR("sn,cpu_milli,memory_mib,gpu,model\nn,1,1,33,\n"), &e));
    EXPECT_TEXT(e.text, "n: line 2: gpu: \"33\" is not a whole number from 0 to 32");
    EXPECT(!fgd_read_nodes(&t, "n", STR("sn,cpu_milli,memory_mib,gpu,model\nn,1,1,0,\n"), &e));
    EXPECT_TEXT(e.text, "n: there are no GPUs");
    EXPECT(!fgd_read_pods(&t, "p", STR("name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"), &e));
    EXPECT_TEXT(e.text, "p: there are no pods");
    EXPECT(!fgd_read_seeds(&seeds, "s", STR("# head\nx,1\n"), &e));
    EXPECT_TEXT(e.text, "s: line 2: begins with no seed");
    EXPECT(!fgd_read_seeds(&seeds, "s", STR("42,1f,g\n"), &e));
    EXPECT_TEXT(e.text, "s: line 1: number 2 is not hexadecimal");
    vec_done(&seeds);
}

TEST(fgd, an_order_is_tuned_to_130_percent_and_the_tie_order_is_a_permutation)
{
    AUTO(fgd_trace) t = {0};
    AUTO(fgd_order) o = {0};
    struct fgd_seed seed = {.seed = 1};
    trace_of(&t);
    for (uint64_t i = 0; i < FGD_SEED_WORDS; i++)
        seed.first[i] = (i + 1) * 0x9e3779b97f4a7c15u;
    fgd_order_make(&o, &t, &seed);
    int64_t asked = 0;
    uint32_t seen = 0;
    vec_each(&o.pods, pod)
        asked += t.pods.at[*pod].milli;
    EXPECT(o.pods.n >= t.pods.n - 1 && asked <= 3900);
    for (uint32_t i = 0; i < t.nodes.n; i++)
        seen |= 1u << o.tie_orders.at[i];
    EXPECT_INT(seen, 3);
}
