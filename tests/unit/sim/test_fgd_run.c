#include "sim/fgd.h"

#include "support/test.h"

static const char nodes_csv[] = "sn,cpu_milli,memory_mib,gpu,model\n"
                                "n0,8000,1024,2,T4\n"
                                "n1,8000,1024,2,P100\n";

static const char pods_csv[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
                               "a,1000,1,2,1000,T4\n"
                               "b,1000,1,1,1000,T4\n"
                               "c,1000,1,1,1000,\n"
                               "d,9000,1,0,0,\n";

TEST(fgd_run, a_pod_that_fits_nowhere_is_dropped_and_counts_as_asked_for)
{
    AUTO(fgd_trace) t = {0};
    AUTO(fgd_order) o = {0};
    struct error e = {0};
    REQUIRE(fgd_read_nodes(&t, "n", str_of(nodes_csv), &e));
    REQUIRE(fgd_read_pods(&t, "p", str_of(pods_csv), &e));
    fgd_prepare(&t);
    static const uint32_t order[] = {0, 1, 2, 3, 2};
    for (size_t i = 0; i < LEN(order); i++)
        vec_push(&o.pods, order[i]);
    vec_push(&o.tie_orders, 1);
    vec_push(&o.tie_orders, 0);
    struct engine_config config = {0};
    struct fgd_result result = fgd_run(&t, &o, &config);
    EXPECT_INT(result.decisions, 5);
    EXPECT_INT(result.bound, 3);
    EXPECT(result.given[50] == 50);   /* a has both T4 */
    EXPECT(result.given[75] == 50);   /* b finds none  */
    EXPECT(result.given[100] == 75);  /* c is on the other node; d asks for no GPU */
    EXPECT(result.given[125] == 100); /* c again */
}
