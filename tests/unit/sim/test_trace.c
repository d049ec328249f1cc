#include "sim/trace.h"

#include "support/test.h"

static const char nodes_csv[] = "sn,cpu_milli,memory_mib,gpu,model\r\n"
                                "n0,64000,262144,2,P100\r\n"
                                "n1,96000,393216,0,\r\n";
static const char pods_csv[] = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
                               "creation_time,deletion_time,"
                               "scheduled_time\n"
                               "p0,4000,1024,1,460,,LS,Running,100,900,300\n"
                               "p1,4000,1024,2,1000,P100|T4,LS,Pending,0,50,\n";

TEST(trace, nodes_and_pods_become_objects)
{
    AUTO(plan) p = {0};
    struct error e = {0};
    plan_init(&p);
    REQUIRE(trace_add_nodes(&p, "n.csv", str_of(nodes_csv), &e));
    REQUIRE(trace_add_pods(&p, "p.csv", str_of(pods_csv), (struct trace_options){.speed = 10}, &e));
    REQUIRE(plan_finish(&p, &e));
    REQUIRE(p.nodes.n == 2 && p.jobs.n == 2);
    amount_list room = p.nodes.at[0].node->status.allocatable;
    REQUIRE(room.n == 4);
    EXPECT_STR(room.at[2].name, "nvidia.com/gpu-milli");
    EXPECT_INT(quantity_value(room.at[2].quantity), 2000);
    EXPECT_INT(p.nodes.at[1].node->status.allocatable.n, 3);
    EXPECT_STR(p.watched, "nvidia.com/gpu-milli");

    const struct plan_job *first = &p.jobs.at[0], *second = &p.jobs.at[1]; /* by time */
    EXPECT_STR(first->name, "p1");
    EXPECT_INT(first->runs_ms, 50000);
    EXPECT_STR(p.classes.at[first->class], "2 GPUs");
    const struct pod *pod = p.templates.at[first->template];
    EXPECT_INT(pod->spec.affinity->node->required->terms.at[0].match_expressions.at[0].values.n, 2);
    EXPECT_INT(second->at_ms, 10000); /* ten times as dense */
    EXPECT_INT(second->runs_ms, 600000);
    EXPECT_STR(p.classes.at[second->class], "part of a GPU");
    EXPECT(!p.templates.at[second->template]->spec.affinity);
    EXPECT_INT(p.notes.n, 1);
}

TEST(trace, filling_ignores_times)
{
    AUTO(plan) p = {0};
    struct error e = {0};
    plan_init(&p);
    struct trace_options fill = {.is_fill = true, .speed = 1};
    REQUIRE(trace_add_pods(&p, "p.csv", str_of(pods_csv), fill, &e));
    REQUIRE(plan_finish(&p, &e));
    EXPECT_STR(p.jobs.at[0].name, "p0");
    EXPECT_INT(p.jobs.at[1].at_ms, 1000);
    EXPECT_INT(p.jobs.at[1].runs_ms, INT64_MAX);
}

TEST(trace, bad_files_are_refused_with_line_column_and_value)
{
    static const struct {
        const char *csv, *error;
    } nodes[] = {
        {"", "f: empty"},
        {"a,b\n", "f: line 1: there is no column sn"},
        {"sn,cpu_milli,memory_mib,gpu,model\nn,1,2\n", "f: line 2: 3 cells instead of 5"},
        {"sn,cpu_milli,memory_mib,gpu,model\n\nn,1.5,2,0,\n",
         "f: line 3: cpu_milli: \"1.5\" is not a whole number from 0 to 10000000"},
        {"sn,cpu_milli,memory_mib,gpu,model\n,1,2,0,\n", "f: line 2: sn: empty"},
    };
    static const struct {
        const char *csv, *error;
    } pods[] = {
        {"name,cpu_milli,memory_mib,num_gpu,gpu_milli\n",
         "f: line 1: without creation_time and deletion_time only --fill can use it"},
        {"name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\np,1,1,1,2000,0,"
         "1\n",
         "f: line 2: gpu_milli: \"2000\" is not a whole number from 0 to 1000"},
        {"name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\np,1,1,1,0,0,\n",
         "f: line 2: deletion_time: \"\" is not a whole number from 0 to 10000000000"},
    };
    for (size_t i = 0; i < LEN(nodes); i++) {
        AUTO(plan) p = {0};
        struct error e = {0};
        plan_init(&p);
        EXPECT(!trace_add_nodes(&p, "f", str_of(nodes[i].csv), &e));
        EXPECT_TEXT(e.text, nodes[i].error);
    }
    for (size_t i = 0; i < LEN(pods); i++) {
        AUTO(plan) p = {0};
        struct error e = {0};
        plan_init(&p);
        EXPECT(
            !trace_add_pods(&p, "f", str_of(pods[i].csv), (struct trace_options){.speed = 1}, &e));
        EXPECT_TEXT(e.text, pods[i].error);
    }
}

TEST(trace, two_nodes_of_one_name_are_refused)
{
    AUTO(plan) p = {0};
    struct error e = {0};
    plan_init(&p);
    REQUIRE(trace_add_nodes(&p, "f", STR("sn,cpu_milli,memory_mib,gpu,model\nn,1,1,0,\nn,1,1,0,\n"),
                            &e));
    EXPECT(!plan_finish(&p, &e));
    EXPECT_TEXT(e.text, "two nodes are called n");
}
